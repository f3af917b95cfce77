"""Operators on bits in what loops, conditions and subscripts depend on, as arithmetic, which pet reads.

``a[i << 2]`` is ``a[((i) * 4)]``: both have one type, and where one of them overflows or wraps around, the other does.
What is or-ed into bits that such a product leaves empty is added. Of a number that is never negative, ``i >> 2`` is
``((i) / 4)``, ``i & 3`` is ``((i) % 4)``, and ``i & 4`` is ``((i) / 4 % 2 * 4)``; of 0 and 1, ``i ^ 1`` is
``(1 - (i))``. Runs in the child process that holds libclang.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from clang.cindex import CursorKind

from polydl.frontend.c_types import literal
from polydl.frontend.data_integers import LOADS, index_expressions
from polydl.frontend.function_reader import FunctionReader
from polydl.frontend.integer_ranges import IntegerRanges, limits
from polydl.frontend.loop_headers import integer_value
from polydl.frontend.operators import AND, MULTIPLY, OR, SHIFT_LEFT, SHIFT_RIGHT, XOR, binary_operator
from polydl.frontend.row_pointers import inside
from polydl.frontend.source import Edit, without_comments
from polydl.frontend.walk import preorder, text_offset

_SIGNS = {SHIFT_LEFT: "<<", SHIFT_RIGHT: ">>", AND: "&", XOR: "^", OR: "|"}


def shift_edits(reader: FunctionReader) -> list[Edit]:
    """Edits that write arithmetic in the place of the outermost such operations; none is left without edits."""
    operations = sorted(_operations(reader.function), key=_place)
    if not operations:
        return []
    text, ranges = without_comments(reader.text), IntegerRanges(reader.function)
    edits: list[Edit] = []
    seen_up_to = 0
    for operation in operations:
        start, end = operation.extent.start.offset, operation.extent.end.offset
        changed = list(_written(operation, ranges, text)) if start >= seen_up_to else []
        if changed:
            edits += changed
            seen_up_to = end
    return edits


def _operations(function: Any) -> list[Any]:
    """Shifts, and-, or- and exclusive-or-operations."""
    operations: dict[int, Any] = {}
    for root, _ in index_expressions(function):
        for each in preorder(root):
            if each.kind == CursorKind.BINARY_OPERATOR and binary_operator(each) in _SIGNS:
                operations.setdefault(each.hash, each)
    return list(operations.values())


def _place(operation: Any) -> tuple[int, int]:
    """What sorts operations by where they begin, the outermost first."""
    return operation.extent.start.offset, -operation.extent.end.offset


def _written(operation: Any, ranges: IntegerRanges, text: str) -> Iterator[Edit]:
    left, right = operation.get_children()
    amount, allowed = integer_value(right), limits(operation.type)
    if amount is None or amount < 0 or allowed is None or any(each.kind in LOADS for each in preorder(left)):
        return
    opening, operator, values = "((", binary_operator(operation), ranges.of(left)
    positive = values is not None and values.low >= 0
    fits = amount < allowed[1].bit_length()
    if operator == SHIFT_LEFT and fits:
        between, value = " * ", literal(1 << amount, operation.type)
    elif operator == OR and amount < _empty(left):
        between, value = " + ", literal(amount, right.type)
    elif operator == SHIFT_RIGHT and positive and fits:
        between, value = " / ", literal(1 << amount, operation.type)
    elif operator == AND and positive and amount & (amount + 1) == 0 and amount < allowed[1]:
        between, value = " % ", literal(amount + 1, operation.type)
    elif operator == AND and positive and amount & (amount - 1) == 0:
        bit, two = literal(amount, operation.type), literal(2, operation.type)
        between, value = " / ", f"{bit} % {two} * {bit}"
    elif operator == XOR and amount == 1 and values is not None and values.low >= 0 and values.high <= 1:
        opening, between, value = f"({literal(1, operation.type)} - (", "", ""
    else:
        return
    start, end = operation.extent.start.offset, operation.extent.end.offset
    first, last = left.extent.end.offset, right.extent.start.offset
    # Else a part of it stands in a macro's definition.
    written = text_offset(operation.extent.start) == start and text_offset(left.extent.start) == start
    if written and text[first:last].strip() == _SIGNS[operator] and text_offset(right.extent.start) == last:
        yield Edit(start, start, opening)
        yield Edit(first, end, f"){between}{value})")


def _empty(operand: Any) -> int:
    """A power of two of which an operand is a multiple, so that its lower bits are 0."""
    operand = inside(operand)
    if operand.kind != CursorKind.BINARY_OPERATOR:
        return 1
    left, right = operand.get_children()
    value = integer_value(right)
    if binary_operator(operand) == SHIFT_LEFT and value is not None and 0 <= value < 8 * operand.type.get_size():
        return 1 << value
    if binary_operator(operand) == MULTIPLY:
        factors = [each for each in (integer_value(left), value) if each]
        return max((factor & -factor for factor in factors), default=1)
    return 1
