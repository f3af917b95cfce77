"""Functions that compute floating-point numbers, put where they are called.

With ``static float relu(float x) { return fmaxf(x, 0.0f); }``, ``y[i] = relu(x[i]);`` is ``y[i] = fmaxf(x[i], 0.0f);``,
and a product that a function adds up is a product. Only then do matchers and generated code see what is computed; other
functions stay calls. Runs in the child process that holds libclang.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from clang.cindex import CursorKind, TypeKind

from polydl.bfloat16 import CONVERSIONS
from polydl.frontend.c_types import ELEMENTS
from polydl.frontend.function_reader import FunctionReader
from polydl.frontend.macro_definitions import hold_throughout, macro_definitions, reachable
from polydl.frontend.operators import ASSIGN, COMMA, INCREMENTS, binary_operator, unary_operator
from polydl.frontend.purity import impurity
from polydl.frontend.returned import Returned, returned, whole
from polydl.frontend.row_pointers import inside
from polydl.frontend.source import Edit, without_comments
from polydl.frontend.walk import key_of, preorder
from polydl.vector_functions import EXTREMA

# The wider ones convert what is computed with them; integers come before both.
_FLOATS = {TypeKind.FLOAT: 1, TypeKind.DOUBLE: 2}
_OPERATIONS = (
    CursorKind.BINARY_OPERATOR,
    CursorKind.CALL_EXPR,
    CursorKind.CONDITIONAL_OPERATOR,
    CursorKind.UNARY_OPERATOR,
)
_INSIDE = (
    *(*_OPERATIONS, CursorKind.CSTYLE_CAST_EXPR, CursorKind.DECL_REF_EXPR),
    *(CursorKind.FLOATING_LITERAL, CursorKind.INTEGER_LITERAL, CursorKind.PAREN_EXPR, CursorKind.TYPE_REF),
    CursorKind.UNEXPOSED_EXPR,
)
_OF_PARAMETERS = (CursorKind.PARM_DECL, CursorKind.FUNCTION_DECL)
# Most operations of an argument that stands in several places then.
_MOST_REPEATED = 3
# Most operations of a function, with those of the functions that it calls.
_MOST_OPERATIONS = 32


def inlining_edits(reader: FunctionReader) -> list[Edit]:
    """Edits that put what such functions return in the place of the innermost of their calls."""
    text = without_comments(reader.text) if reader.callees else ""
    edits: list[Edit] = []
    sizes: dict[str, int] = {}
    for call in reversed(preorder(reader.function)):
        if call.kind != CursorKind.CALL_EXPR or call.spelling not in reader.callees or call.spelling in CONVERSIONS:
            continue
        start, end = call.extent.start.offset, call.extent.end.offset
        # What is inside of another call comes before it here.
        inner = any(start < each.end and each.start < end for each in edits)
        if not inner and _operations(call.referenced, sizes) <= _MOST_OPERATIONS:
            edits += (Edit(start, end, written) for written in _replaced(call, reader, text))
    return edits


def _replaced(call: Any, reader: FunctionReader, text: str) -> Iterator[str]:
    """What takes the place of a call; nothing for one that stays."""
    function = call.referenced
    body = returned(function.get_definition(), text, _is_part)
    parameters, arguments = list(function.get_arguments()), list(call.get_arguments())
    types = [each.get_canonical().kind for each in (function.result_type, *(each.type for each in parameters))]
    if body is None or len(arguments) != len(parameters) or not _FLOATS.keys() >= {*types}:
        return
    if impurity(function, reader.main_file) is not None:
        return
    given = [inside(each).type.get_canonical().kind for each in arguments]
    values = [inside(each).type.get_canonical().kind for each in body.values]
    if not ELEMENTS.keys() >= {*given, *values} or not _is_the_same(body, parameters, function, reader, text):
        return
    written = _arguments(call, arguments, text)
    uses = Counter(each.spelling for each in body.parts if each.kind == CursorKind.DECL_REF_EXPR)
    repeated = [each for each, name in zip(arguments, parameters, strict=True) if uses[name.spelling] > 1]
    if written is None or not all(map(_may_be_repeated, repeated)):
        return
    result, *expected = types
    casts = [_cast(kind, to) for kind, to in zip(given, expected, strict=True)]
    shown = {
        name.spelling: f"({cast}({value}))" if cast else f"({value})"
        for name, cast, value in zip(parameters, casts, written, strict=True)
    }
    # Of several values, a float beside a double is converted without a loss; none may be wider than the result.
    narrowed = [_cast(kind, result) if _FLOATS.get(kind, 0) > _FLOATS[result] else "" for kind in values]
    widest = max(min(_FLOATS.get(kind, 0), _FLOATS[result]) for kind in values)
    whole_cast = "" if widest == _FLOATS[result] and (body.chosen or not narrowed[0]) else f"({ELEMENTS[result]})"
    yield f"({whole_cast}({body.of(shown, narrowed if body.chosen else [])}))"


def _operations(function: Any, known: dict[str, int]) -> int:
    """How many operations a pure function consists of, with those of its calls; ``known`` keeps the answers."""
    if (definition := function.get_definition()) is None:
        return 1
    key = key_of(definition)
    if key not in known:
        parts = [each for each in preorder(definition) if each.kind in _OPERATIONS]
        calls = [each.referenced for each in parts if each.kind == CursorKind.CALL_EXPR]
        known[key] = len(parts) + sum(_operations(each, known) for each in calls if each is not None)
    return known[key]


def _is_part(cursor: Any) -> bool:
    """Whether what is returned may have such a part: parameters, constants, calls, and operators without an effect."""
    if cursor.kind == CursorKind.BINARY_OPERATOR:
        return binary_operator(cursor) not in (ASSIGN, COMMA)
    if cursor.kind == CursorKind.UNARY_OPERATOR:
        return unary_operator(cursor) not in INCREMENTS
    if cursor.kind == CursorKind.DECL_REF_EXPR:
        return cursor.referenced is not None and cursor.referenced.kind in _OF_PARAMETERS
    if cursor.kind == CursorKind.CSTYLE_CAST_EXPR:
        return cursor.type.get_canonical().kind in ELEMENTS
    return cursor.kind in _INSIDE


def _is_the_same(body: Returned, parameters: Sequence[Any], function: Any, reader: FunctionReader, text: str) -> bool:
    """Whether what a body returns is the same where the function is called: its macros and functions are.

    A macro names a parameter as its argument at most.
    """
    names = {each.spelling for each in parameters}
    words = set(body.words)
    hidden = {each.name for each in reader.variables.values()} & (words - names)
    definitions = macro_definitions(text)
    macros = reachable(words, definitions)
    used = [each for each in definitions if each.name in macros]
    named = any(not names.isdisjoint(each.words() - {*(each.parameters or ())}) for each in used)
    before = all(each.start < function.get_definition().extent.start.offset for each in used)
    return (
        not hidden and not named and before and names.isdisjoint(macros) and hold_throughout(macros, definitions, text)
    )


def _arguments(call: Any, arguments: Sequence[Any], text: str) -> list[str] | None:
    """The arguments of a call as they are written; None where a macro stands for it, or for a part of one."""
    extents = [(each.extent.start.offset, each.extent.end.offset) for each in arguments]
    written = [text[start:end] for start, end in extents]
    places = [call.extent.start.offset, *(place for extent in extents for place in extent), call.extent.end.offset]
    around = [text[places[at] : places[at + 1]] for at in range(0, len(places), 2)]
    expected = [f"{call.spelling}(", *[","] * (len(written) - 1), ")"] if written else [f"{call.spelling}()"]
    stands = ["".join(each.split()) for each in around] == expected
    return written if stands and all(map(whole, written)) else None


def _may_be_repeated(argument: Any) -> bool:
    """Whether an argument may stand in several places: it is computed in few operations."""
    operations = 0
    rest = [argument]
    while rest:
        cursor = rest.pop()
        if cursor.kind == CursorKind.CALL_EXPR and cursor.spelling not in EXTREMA:
            return False
        operations += cursor.kind in _OPERATIONS
        if cursor.kind != CursorKind.ARRAY_SUBSCRIPT_EXPR:
            rest += cursor.get_children()
    return operations <= _MOST_REPEATED


def _cast(kind: Any, to: Any) -> str:
    """What converts a number of one type to the other."""
    return "" if kind == to else f"({ELEMENTS[to]})"
