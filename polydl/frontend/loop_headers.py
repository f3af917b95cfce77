"""The header of a for loop: its constants, and what is wrong with it; the constants of expressions.

Runs in the child process that holds libclang.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from clang.cindex import Cursor, CursorKind, conf

from polydl.frontend.c_types import ELEMENTS
from polydl.frontend.counters import LIMITS, Header, wider
from polydl.frontend.operators import (
    ADD,
    ADD_ASSIGN,
    ASSIGN,
    COMMA,
    COMPARISONS,
    INCREMENTS,
    SUBTRACT,
    SUBTRACT_ASSIGN,
    binary_operator,
    unary_operator,
)
from polydl.frontend.source import one_line
from polydl.frontend.walk import OF_VARIABLES, initializer_of, preorder

_EVALUATED_INTEGER = 1  # of enum CXEvalResultKind
_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "!=": "!="}
_ADVANCING = (CursorKind.UNARY_OPERATOR, CursorKind.COMPOUND_ASSIGNMENT_OPERATOR, CursorKind.BINARY_OPERATOR)
#: Of a header that leaves none out.
HEADER_PARTS = 3
_TRANSPARENT = (CursorKind.UNEXPOSED_EXPR, CursorKind.PAREN_EXPR)


@dataclass(frozen=True)
class Counting:
    """How a loop counts: ``for (counter = first; counter < bound; counter += step)``."""

    #: the counter's declaration
    counter: Any
    #: the expression that it begins with
    first: Any
    #: ``<``, ``<=``, ``>``, ``>=`` or ``!=``, with the counter on the left
    comparison: str
    #: the expression that the counter is compared with
    bound: Any
    #: positive or negative
    step: int


def counting_of(header: Sequence[Any]) -> Counting | None:
    """How a loop counts, from its initialization, condition and step; None unless the step is a constant."""
    if len(header) != HEADER_PARTS:
        return None
    initial, condition, advance = header
    counter, first = _initialized(initial)
    step = step_of(advance, counter)
    compared = _comparison(condition, counter)
    if counter is None or first is None or step is None or compared is None:
        return None
    return Counting(counter, first, *compared, step)


def _header_of(header: Sequence[Any]) -> Header | None:
    """The header of a loop, as its initialization, condition and step; None unless bound and step are constants."""
    counting = counting_of(header)
    bound = integer_value(counting.bound) if counting is not None else None
    if counting is None or bound is None:
        return None
    element = ELEMENTS.get(counting.counter.type.get_canonical().kind, "")
    if element not in LIMITS:
        return None
    start = integer_value(counting.first)
    return Header(counting.counter.spelling, element, start, counting.comparison, bound, counting.step)


def problem_of(header: Sequence[Any]) -> tuple[Any, str, str] | None:
    """Why a loop's header doesn't advance the counter that it initializes up to a bound; None if it does.

    The part of the header that is wrong, what is wrong, and the remedy.
    """
    if len(header) < 2 or header[-1].kind not in _ADVANCING:
        return None
    declared = [each for each in header[0].get_children() if each.kind == CursorKind.VAR_DECL]
    if header[0].kind == CursorKind.DECL_STMT and len(declared) > 1:
        others = " and ".join(each.spelling for each in declared[1:])
        advanced = {each.spelling for each in preorder(header[-1]) if each.kind == CursorKind.DECL_REF_EXPR}
        remedy = f"declare {others} before the loop"
        if not advanced.isdisjoint(each.spelling for each in declared[1:]):
            remedy = in_place_of_counters(declared[0].spelling)
        return header[0], f"the loop declares {others} beside its counter", remedy
    advance = header[-1]
    target, *amount = advance.get_children()
    if len(header) == 2 and not _initializes(header[0]) and target.kind == CursorKind.DECL_REF_EXPR:
        name = target.spelling
        return advance, f"the loop doesn't set its counter {name}", starting_at_its_own(name)
    counters = [child for child in preorder(header[0]) if child.kind in OF_VARIABLES] if _initializes(header[0]) else []
    constants = _header_of(header)
    overflow = constants.overflow() if constants is not None else None
    if amount and advance.kind == CursorKind.COMPOUND_ASSIGNMENT_OPERATOR and integer_value(amount[0]) == 0:
        return advance, "the loop doesn't advance", "give it a step of 1 or more"
    if counters and target.kind == CursorKind.DECL_REF_EXPR and target.spelling != counters[0].spelling:
        message = f"the loop advances {target.spelling} and not its counter {counters[0].spelling}"
        return advance, message, f"advance {counters[0].spelling} in the loop's header"
    if _is_uneven(advance):
        message = "the loop's step is no sum of its counter and a constant"
        return advance, message, "write a loop that advances by a constant: ++i or i += 2"
    if counters and len(header) == HEADER_PARTS:
        compared = {child.spelling for child in preorder(header[1]) if child.kind == CursorKind.DECL_REF_EXPR}
        if counters[0].spelling not in compared:
            message = f"the loop's condition doesn't depend on its counter {counters[0].spelling}"
            return header[1], message, f"compare {counters[0].spelling} with a bound"
        if constants is not None and overflow is not None:
            return header[1], overflow, wider(constants.counter, constants.element)
    return None


def in_place_of_counters(counter: str) -> str:
    """The remedy for a loop with several counters, of which one is to stay."""
    return f"count with {counter} alone, and write the others as sums of it, such as x[15 - {counter}]"


def remedy_of_comma(comma: Any, header: Sequence[Any], text: str) -> str:
    """The remedy for a comma operator, which may stand in the ``header`` of a loop; without one, it is empty."""
    parts = comma_parts(comma)
    place = next((at for at, each in enumerate(header) if comma in preorder(each)), None)
    if place is None:
        return "write one statement for each part"
    variables = [each for each in map(_changed, parts) if each is not None]
    others = [each for each in parts if _changed(each) is None]
    if not others and variables:
        asked = {child.spelling for each in header[1:2] for child in preorder(each)}
        return in_place_of_counters(next((each for each in variables if each in asked), variables[0]))
    written = " and ".join(one_line(text[each.extent.start.offset : each.extent.end.offset]) for each in others)
    if place == 0 and len(header) == HEADER_PARTS:
        return f"write {written} in front of the loop"
    if place == len(header) - 1:
        return f"write {written} at the end of the loop's body"
    return "leave the comparison alone in the loop's condition, and write the rest as statements"


def _changed(part: Any) -> str | None:
    """The integer that a part of a header sets or steps; None where it does anything else."""
    target = next(iter(part.get_children()), None) if part.kind in _ADVANCING else None
    if target is None or target.kind != CursorKind.DECL_REF_EXPR:
        return None
    integer = ELEMENTS.get(target.type.get_canonical().kind) in LIMITS
    return str(target.spelling) if integer else None


def starting_at_its_own(counter: str) -> str:
    """The remedy for a loop that goes on counting where another one, or an assignment, has left its counter."""
    return (
        f"set {counter} in the loop's header to the value that it has there: {counter} = 0, or, behind "
        f"`{counter} + 3 < n; {counter} += 4` from 0, {counter} = n / 4 * 4"
    )


def _initializes(part: Any) -> bool:
    """Whether this part of a header is its first one, which may be missing."""
    assigns = part.kind == CursorKind.BINARY_OPERATOR and binary_operator(part) == ASSIGN
    return bool(assigns or part.kind == CursorKind.DECL_STMT)


def _initialized(initial: Any) -> tuple[Any | None, Any | None]:
    """The declaration of the counter and the expression of its first value, each of them or None."""
    if initial.kind == CursorKind.DECL_STMT:
        declared = list(initial.get_children())
        if len(declared) == 1 and declared[0].kind == CursorKind.VAR_DECL:
            return declared[0], initializer_of(declared[0])
    if initial.kind == CursorKind.BINARY_OPERATOR and binary_operator(initial) == ASSIGN:
        target, value = initial.get_children()
        if target.kind == CursorKind.DECL_REF_EXPR:
            return target.referenced, value
    return None, None


def comma_parts(expression: Any) -> list[Any]:
    """What the comma operator joins, in the order of the text; an expression without one alone."""
    if expression.kind != CursorKind.BINARY_OPERATOR or binary_operator(expression) != COMMA:
        return [expression]
    left, right = expression.get_children()
    return [*comma_parts(left), *comma_parts(right)]


def step_of(advance: Any, counter: Any) -> int | None:
    """What a part of a loop's header adds to the counter with this declaration; None if that is no constant."""
    target, *amount = advance.get_children()
    if not _is(target, counter):
        return None
    if advance.kind == CursorKind.UNARY_OPERATOR:
        return INCREMENTS.get(unary_operator(advance))
    if advance.kind == CursorKind.COMPOUND_ASSIGNMENT_OPERATOR:
        sign = {ADD_ASSIGN: 1, SUBTRACT_ASSIGN: -1}.get(binary_operator(advance), 0)
        return sign * (integer_value(amount[0]) or 0) or None
    return None


def _is_uneven(advance: Any) -> bool:
    """Whether a loop's header changes its counter otherwise than by adding or subtracting: ``i *= 2``."""
    if advance.kind == CursorKind.COMPOUND_ASSIGNMENT_OPERATOR:
        return binary_operator(advance) not in (ADD_ASSIGN, SUBTRACT_ASSIGN)
    if advance.kind != CursorKind.BINARY_OPERATOR or binary_operator(advance) != ASSIGN:
        return False
    _, value = advance.get_children()
    while value.kind in _TRANSPARENT and len(inner := list(value.get_children())) == 1:
        (value,) = inner
    return value.kind == CursorKind.BINARY_OPERATOR and binary_operator(value) not in (ADD, SUBTRACT)


def _comparison(condition: Any, counter: Any) -> tuple[str, Any] | None:
    """The operator, with the counter on its left, and what is on its right."""
    if condition.kind != CursorKind.BINARY_OPERATOR or binary_operator(condition) not in COMPARISONS:
        return None
    operator = COMPARISONS[binary_operator(condition)]
    left, right = condition.get_children()
    if _is(right, counter):
        left, right, operator = right, left, _MIRRORED[operator]
    return (operator, right) if _is(left, counter) else None


def _is(cursor: Any, counter: Any) -> bool:
    """Whether an expression is the counter itself, perhaps converted by the compiler."""
    while cursor.kind in _TRANSPARENT:
        inner = list(cursor.get_children())
        if len(inner) != 1:
            return False
        cursor = inner[0]
    return counter is not None and cursor.kind == CursorKind.DECL_REF_EXPR and cursor.referenced == counter


def integer_value(cursor: Any) -> int | None:
    """The value of an expression, or of a variable's initializer, if it is an integer constant."""
    library = conf.lib
    library.clang_Cursor_Evaluate.argtypes = [Cursor]
    library.clang_Cursor_Evaluate.restype = ctypes.c_void_p
    for name, result in (("getKind", ctypes.c_int), ("getAsLongLong", ctypes.c_longlong), ("dispose", None)):
        accessor = getattr(library, f"clang_EvalResult_{name}")
        accessor.argtypes, accessor.restype = [ctypes.c_void_p], result
    evaluated = library.clang_Cursor_Evaluate(cursor)
    if not evaluated:
        return None
    try:
        if library.clang_EvalResult_getKind(evaluated) != _EVALUATED_INTEGER:
            return None
        value = int(library.clang_EvalResult_getAsLongLong(evaluated))
        unsigned = ELEMENTS.get(cursor.type.get_canonical().kind, "").startswith("unsigned")
        # libclang's numbers have 64 bits and a sign.
        return value + (1 << 64) if unsigned and value < 0 else value
    finally:
        library.clang_EvalResult_dispose(evaluated)
