"""The values that C's integer expressions can have, as far as loops' headers and constants say.

pet computes indices and bounds without limits. Where each step of a computation fits into its type, that is what C
computes. Runs in the child process that holds libclang.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from clang.cindex import CursorKind

from polydl.frontend.c_types import ELEMENTS
from polydl.frontend.counters import LIMITS
from polydl.frontend.loop_headers import Counting, counting_of, integer_value
from polydl.frontend.operators import (
    ADD,
    ADDRESS_OF,
    AND,
    COMPARISONS,
    DIVIDE,
    INCREMENTS,
    MINUS,
    MULTIPLY,
    NOT,
    PLUS,
    REMAINDER,
    SHIFT_LEFT,
    SHIFT_RIGHT,
    SUBTRACT,
    TRUTHS,
    binary_operator,
    unary_operator,
)
from polydl.frontend.walk import assignment_of, key_of, preorder

_CONSTANTS = (CursorKind.INTEGER_LITERAL, CursorKind.CHARACTER_LITERAL, CursorKind.CXX_UNARY_EXPR)
# Of a type that is converted to and from.
_CONVERSIONS = (CursorKind.CSTYLE_CAST_EXPR, CursorKind.UNEXPOSED_EXPR)
_MOST_SHIFTED = 63
_INT = LIMITS["int"]


@dataclass(frozen=True)
class Range:
    """The values that an expression can have."""

    #: inclusive
    low: int
    #: inclusive
    high: int
    #: whether it is the same number without types: nothing on the way to it wraps around
    exact: bool = True


def limits(type_: Any) -> tuple[int, int] | None:
    """The smallest and the largest value of a libclang type; None if it is no integer type."""
    return LIMITS.get(ELEMENTS.get(type_.get_canonical().kind, ""))


class IntegerRanges:
    """Ranges of expressions of one function."""

    def __init__(self, function: Any) -> None:
        self._countings: dict[str, list[Counting]] = {}
        #: what is assigned outside of loops' headers; None for what isn't known
        self._assigned: dict[str, list[Any | None]] = {}
        self._asked: set[str] = set()
        self._known: dict[str, Range | None] = {}
        cursors = preorder(function)
        self._collect(cursors, self._headers(cursors))

    def _headers(self, cursors: Iterable[Any]) -> set[int]:
        """Hashes of what loops' headers write counters with."""
        inside: set[int] = set()
        for cursor in cursors:
            if cursor.kind != CursorKind.FOR_STMT:
                continue
            header = list(cursor.get_children())[:-1]
            counting = counting_of(header)
            if counting is not None:
                self._countings.setdefault(key_of(counting.counter), []).append(counting)
                inside |= {each.hash for part in (header[0], header[2]) for each in preorder(part)}
        return inside

    def _collect(self, cursors: Iterable[Any], headers: set[int]) -> None:
        for cursor in cursors:
            if cursor.hash in headers:
                continue
            changes = cursor.kind == CursorKind.COMPOUND_ASSIGNMENT_OPERATOR
            if cursor.kind == CursorKind.UNARY_OPERATOR:
                changes = unary_operator(cursor) in INCREMENTS or unary_operator(cursor) == ADDRESS_OF
            if changes:
                target, value = next(iter(cursor.get_children())).referenced, None
            else:
                target, value = assignment_of(cursor) or (None, None)
            if target is not None:
                self._assigned.setdefault(key_of(target), []).append(value)

    def limited(self, value: Any, type_: Any) -> bool:
        """Whether an integer that is assigned to a variable of a type is another number than without types.

        Numbers that int can't hold are taken for such, too; for what isn't known or no integer, nothing is.
        """
        values, allowed = self.of(value), limits(type_)
        if values is None or allowed is None:
            return False
        if not values.exact or values.low < allowed[0] or values.high > allowed[1]:
            return True
        unknown = values.low == allowed[0] or values.high == allowed[1]
        return not unknown and not _INT[0] <= values.low <= values.high <= _INT[1]

    def in_int(self, operation: Any) -> bool:
        """Whether int holds what an operation and all of its parts compute, so that their types make no difference."""
        parts = [self.of(each) for each in preorder(operation) if each.kind.is_expression()]
        known = [each for each in parts if each is not None]
        return len(known) == len(parts) and all(
            each.exact and _INT[0] <= each.low and each.high <= _INT[1] for each in known
        )

    def of(self, cursor: Any) -> Range | None:
        """The values of an expression; None if it isn't an integer, or depends on elements or calls."""
        allowed = limits(cursor.type)
        if allowed is None:
            return None
        kind, children = cursor.kind, list(cursor.get_children())
        if kind in _CONSTANTS:
            return _constant(cursor)
        if kind == CursorKind.PAREN_EXPR:
            return self.of(children[0])
        if kind in _CONVERSIONS and children:
            inner = self.of(children[-1])
            return None if inner is None else _fitted(inner.low, inner.high, cursor.type, inner.exact, converts=True)
        if kind == CursorKind.DECL_REF_EXPR:
            return self._variable(cursor.referenced)
        if kind == CursorKind.UNARY_OPERATOR:
            return self._unary(cursor, children[0])
        if kind == CursorKind.BINARY_OPERATOR:
            return self._binary(cursor, *children)
        if kind == CursorKind.CONDITIONAL_OPERATOR:
            ranges = [self.of(child) for child in children[1:]]
            if any(each is None for each in ranges):
                return None
            known = [each for each in ranges if each is not None]
            return _extremum(children, known) or _union(known)
        return None

    def _variable(self, declaration: Any) -> Range | None:
        if declaration is None:
            return None
        if declaration.kind == CursorKind.ENUM_CONSTANT_DECL:
            return Range(declaration.enum_value, declaration.enum_value)
        allowed = limits(declaration.type)
        key = key_of(declaration)
        if declaration.kind not in (CursorKind.VAR_DECL, CursorKind.PARM_DECL) or allowed is None:
            return None
        if key not in self._known and key not in self._asked:
            # A value that depends on itself isn't known.
            self._asked.add(key)
            self._known[key] = self._assignments(declaration, key)
        known = self._known.get(key)
        if known is None or known.low < allowed[0] or known.high > allowed[1]:
            return Range(*allowed)
        # What doesn't fit into a variable is refused where it is assigned.
        return Range(known.low, known.high)

    def _assignments(self, declaration: Any, key: str) -> Range | None:
        assigned = self._assigned.get(key, [])
        countings = self._countings.get(key, [])
        if declaration.kind != CursorKind.VAR_DECL or not (assigned or countings):
            return None
        ranges = [self.of(value) if value is not None else None for value in assigned]
        ranges += [self._counted(each) for each in countings]
        known = [each for each in ranges if each is not None]
        return _union(known) if len(known) == len(ranges) else None

    def _counted(self, counting: Counting) -> Range | None:
        """The values of a counter in its loop, where the condition holds."""
        first, bound = self.of(counting.first), self.of(counting.bound)
        allowed = limits(counting.counter.type)
        if first is None or allowed is None:
            return None
        low, high = allowed
        within = len(counting.comparison) == 1 or counting.comparison == "!="
        if counting.step > 0:
            low = first.low
            if bound is not None and counting.comparison in ("<", "<=", "!="):
                high = bound.high - within
        else:
            high = first.high
            if bound is not None and counting.comparison in (">", ">=", "!="):
                low = bound.low + within
        return Range(low, high) if low <= high else Range(first.low, first.high)

    def _unary(self, cursor: Any, operand: Any) -> Range | None:
        inner, operator = self.of(operand), unary_operator(cursor)
        if inner is None or operator not in (PLUS, MINUS, NOT):
            return None
        if operator == NOT:
            return Range(0, 1, inner.exact)
        if operator == PLUS:
            return inner
        return _fitted(-inner.high, -inner.low, cursor.type, inner.exact)

    def _binary(self, cursor: Any, left_cursor: Any, right_cursor: Any) -> Range | None:
        left, right = self.of(left_cursor), self.of(right_cursor)
        operator, allowed = binary_operator(cursor), limits(cursor.type)
        if left is None or right is None or allowed is None:
            return None
        exact = left.exact and right.exact
        if operator in TRUTHS:
            return Range(0, 1, exact)
        ends = _ends(operator, left, right)
        return Range(*allowed, exact) if ends is None else _fitted(*ends, cursor.type, exact)


def _extremum(parts: Sequence[Any], ranges: Sequence[Range]) -> Range | None:
    """The range of ``x < y ? x : y``, and of its like, from those of both; None for any other choice."""
    condition, *values = parts
    while condition.kind == CursorKind.PAREN_EXPR:
        condition = next(iter(condition.get_children()))
    operator = COMPARISONS.get(binary_operator(condition)) if condition.kind == CursorKind.BINARY_OPERATOR else None
    if operator not in ("<", "<=", ">", ">="):
        return None
    compared = [_form(each) for each in condition.get_children()]
    chosen = [_form(each) for each in values]
    if None in (*compared, *chosen) or compared not in (chosen, chosen[::-1]):
        return None
    least = (operator[0] == "<") == (compared == chosen)
    exact = all(each.exact for each in ranges)
    choice = min if least else max
    return Range(choice(each.low for each in ranges), choice(each.high for each in ranges), exact)


def _form(cursor: Any) -> tuple[Any, ...] | None:
    """What tells an expression of integers from others of another value, whatever converts it; None for any other."""
    children = list(cursor.get_children())
    if cursor.kind in (CursorKind.PAREN_EXPR, CursorKind.UNEXPOSED_EXPR):
        return _form(children[0])
    if cursor.kind == CursorKind.DECL_REF_EXPR:
        return (key_of(cursor.referenced),) if cursor.referenced is not None else None
    if cursor.kind in _CONSTANTS:
        return (integer_value(cursor),)
    if cursor.kind not in (CursorKind.BINARY_OPERATOR, CursorKind.CONDITIONAL_OPERATOR):
        return None
    parts = [_form(child) for child in children]
    operator = binary_operator(cursor) if cursor.kind == CursorKind.BINARY_OPERATOR else "?:"
    return None if None in parts else (operator, *parts)


def _constant(cursor: Any) -> Range | None:
    value = integer_value(cursor)
    return None if value is None else Range(value, value)


def _ends(operator: int, left: Range, right: Range) -> tuple[int, int] | None:
    """The least and the greatest result without regard to types; None where that isn't known."""
    if operator == ADD:
        return left.low + right.low, left.high + right.high
    if operator == SUBTRACT:
        return left.low - right.high, left.high - right.low
    if operator == MULTIPLY:
        products = [one * other for one in (left.low, left.high) for other in (right.low, right.high)]
        return min(products), max(products)
    if operator == SHIFT_LEFT and right.low >= 0 and right.high <= _MOST_SHIFTED:
        shifted = [one << other for one in (left.low, left.high) for other in (right.low, right.high)]
        return min(shifted), max(shifted)
    if operator == REMAINDER and right.low > 0:
        most = right.high - 1
        return (0 if left.low >= 0 else -most), (most if left.low < 0 else min(most, left.high))
    if operator == SHIFT_RIGHT and right.low >= 0 and right.high <= _MOST_SHIFTED:
        shifted = [one >> other for one in (left.low, left.high) for other in (right.low, right.high)]
        return min(shifted), max(shifted)
    if operator == AND and right.low >= 0:
        return 0, right.high if left.low < 0 else min(left.high, right.high)
    if operator == DIVIDE and left.low >= 0 and right.low > 0:
        return left.low // right.high, left.high // right.low
    return None


def _fitted(low: int, high: int, type_: Any, exact: bool, *, converts: bool = False) -> Range | None:
    """The range of a result in its type, where it may wrap around. Overflow of signed arithmetic is no C."""
    allowed = limits(type_)
    if allowed is None:
        return None
    if allowed[0] <= low and high <= allowed[1]:
        return Range(low, high, exact)
    wraps = converts or allowed[0] == 0
    return Range(*allowed, exact and not wraps)


def _union(ranges: list[Range]) -> Range:
    return Range(
        min(each.low for each in ranges), max(each.high for each in ranges), all(each.exact for each in ranges)
    )
