"""Which local integers hold data, and which are indices that follow from loop counters alone.

In a subscript, types that are wide enough make no difference: ``a[(size_t)i * 8]`` is ``a[i * 8]``. In a computation on
data they do: of ``int64_t p = (int64_t)a[i] * b[i];`` nothing is left without the cast. Runs in the child process that
holds libclang.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from clang.cindex import CursorKind, TypeKind

from polydl.frontend.integer_ranges import IntegerRanges
from polydl.frontend.walk import assignment_of, deciding_expressions, key_of, preorder

_FLOATS = (TypeKind.FLOAT, TypeKind.DOUBLE)
#: Their values are nothing that loop counters say.
LOADS = (CursorKind.ARRAY_SUBSCRIPT_EXPR, CursorKind.CALL_EXPR, CursorKind.MEMBER_REF_EXPR)


def data_integers(function: Any) -> frozenset[str]:
    """The keys (``key_of``) of the local variables of a function to which anything is assigned that depends on data.

    Data are elements, results of calls, floating-point numbers, parameters, variables of the file that may change, and
    local variables that hold data. Parameters are sizes to variables on which bounds or subscripts depend. What depends
    on loop counters alone and wraps around, as a hash does, is data unless bounds, conditions or subscripts depend on
    it.
    """
    assigned = _assigned(function)
    sizes = _sizes(function, assigned)
    held = _wrapping(function, _sizes(function, assigned, conditions=True))
    while True:
        more = {key for key, value in assigned if key not in held and _depends(value, held, key in sizes)}
        if not more:
            return frozenset(held)
        held |= more


def deciding(function: Any, *, conditions: bool = True) -> set[str]:
    """The keys of the variables of a function on which loops' headers or subscripts depend, or ``conditions``."""
    return _sizes(function, _assigned(function), conditions=conditions)


def index_expressions(function: Any) -> Iterator[tuple[Any, bool]]:
    """The expressions that decide which statements run and which elements they use, and whether they are subscripts.

    Those of integers on which others depend are among them.
    """
    deciders = deciding(function)
    for cursor in preorder(function):
        assignment = assignment_of(cursor)
        if assignment is not None and key_of(assignment[0]) in deciders:
            yield assignment[1], False
    # What is said last of a part holds: it lies in a subscript, wherever that stands.
    for expression, kind in deciding_expressions(function):
        yield expression, kind == CursorKind.ARRAY_SUBSCRIPT_EXPR


def _assigned(function: Any) -> list[tuple[str, Any]]:
    """The keys of variables, each with an expression that is assigned to it."""
    assignments = [each for each in map(assignment_of, preorder(function)) if each is not None]
    return [(key_of(declaration), value) for declaration, value in assignments]


def _wrapping(function: Any, sizes: set[str]) -> set[str]:
    """The keys of the variables, no ``sizes``, with values that types limit, and of those that are updated."""
    ranges = IntegerRanges(function)
    keys = set()
    for cursor in preorder(function):
        assignment = assignment_of(cursor)
        if assignment is None or key_of(assignment[0]) in sizes:
            continue
        updates = cursor.kind == CursorKind.COMPOUND_ASSIGNMENT_OPERATOR
        if updates or ranges.limited(assignment[1], assignment[0].type):
            keys.add(key_of(assignment[0]))
    return keys


def _sizes(function: Any, assigned: list[tuple[str, Any]], *, conditions: bool = False) -> set[str]:
    """The keys of the variables on which loops' headers or subscripts depend, perhaps ``conditions`` as well."""
    expressions = [
        expression for expression, kind in deciding_expressions(function) if conditions or kind != CursorKind.IF_STMT
    ]
    sizes: set[str] = set()
    while expressions:
        named = [each for part in expressions for each in preorder(part) if each.kind == CursorKind.DECL_REF_EXPR]
        more = {key_of(each.referenced) for each in named if each.referenced is not None} - sizes
        sizes |= more
        expressions = [value for key, value in assigned if key in more]
    return sizes


def _depends(value: Any, held: set[str], is_size: bool) -> bool:
    """Whether an expression depends on data; ``held`` has the keys of local variables that hold some.

    Parameters are no data where what is assigned is a size.
    """
    for cursor in preorder(value):
        if cursor.kind in LOADS or cursor.type.get_canonical().kind in _FLOATS:
            return True
        declared = cursor.referenced if cursor.kind == CursorKind.DECL_REF_EXPR else None
        if declared is None:
            continue
        if declared.kind == CursorKind.PARM_DECL and not is_size:
            return True
        if declared.kind == CursorKind.VAR_DECL and key_of(declared) in held:
            return True
        outside = declared.kind == CursorKind.VAR_DECL and declared.semantic_parent.kind == CursorKind.TRANSLATION_UNIT
        if outside and not declared.type.get_canonical().is_const_qualified():
            return True
    return False
