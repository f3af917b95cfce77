"""Integers that a loop steps by a constant, written in terms of its counter.

``int k = 3; for (int i = 0; i < n; ++i) { a[k] = 0; k += 2; }`` is shown to pet as ``a[(3 + (i - 0) * 2)] = 0;``, since
it takes what iterations before have left for data. So is one that alternates, ``k = 1 - k``, or that goes round,
``k = (k + 1) % 3``. Runs in the child process that holds libclang.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from clang.cindex import CursorKind

from polydl.frontend.c_types import literal
from polydl.frontend.data_integers import LOADS, deciding
from polydl.frontend.facts import VariableUse
from polydl.frontend.function_reader import FunctionReader, Variable
from polydl.frontend.integer_ranges import limits
from polydl.frontend.loop_headers import Counting, counting_of, integer_value
from polydl.frontend.operators import (
    ADD,
    ADD_ASSIGN,
    INCREMENTS,
    REMAINDER,
    SUBTRACT,
    SUBTRACT_ASSIGN,
    binary_operator,
    unary_operator,
)
from polydl.frontend.row_pointers import inside
from polydl.frontend.source import Edit, without_comments
from polydl.frontend.walk import assignment_of, key_of, preorder, text_offset

_CHANGES = ("write", "update", "address")
_JUMPS = (CursorKind.BREAK_STMT, CursorKind.CONTINUE_STMT, CursorKind.GOTO_STMT, CursorKind.RETURN_STMT)
# Arithmetic is done in it; narrower integers wrap around.
_INT_BYTES = 4


@dataclass(frozen=True)
class _Step:
    """How a statement changes an integer from the value that it had."""

    #: ``+`` and ``-`` for an amount that is added or subtracted, ``~`` for ``amount - value``, ``%`` for
    #: ``(value + amount) % turn``
    kind: str
    #: an expression, or a number
    amount: Any
    #: a number
    turn: int = 0


@dataclass(frozen=True)
class _Stepped:
    """A variable with a value before a loop that steps it."""

    variable: Variable
    #: the statement that gives it its first value
    begun: Any
    #: that value
    first: Any
    loop: Any
    counting: Counting
    #: the statement of the loop's body that steps it
    statement: Any
    step: _Step

    @property
    def uses(self) -> list[VariableUse]:
        """All but that of the step."""
        return [each for each in self.variable.references if not _within(each.offset, self.statement)]

    def has_no_other_value(self) -> bool:
        """Whether it gets no other values, and is read in the loop's body alone."""
        shape = self.variable.shape
        if self.variable.storage != "local" or not shape.is_scalar_integer or shape.element_bytes < _INT_BYTES:
            return False
        body = list(self.loop.get_children())[-1]
        # Else a macro stands there, which may do more.
        if any(use.spelled != use.offset for use in self.variable.references):
            return False
        return all(
            _within(use.offset, body) if use.role == "read" else use.role == "write" and _within(use.offset, self.begun)
            for use in self.uses
        )

    def is_steady(self, reader: FunctionReader) -> bool:
        """Whether all that its value in an iteration is computed from stays the same, and can be written there."""
        body = list(self.loop.get_children())[-1]
        computed = [self.first, self.counting.first, *([] if isinstance(self.step.amount, int) else [self.step.amount])]
        parts = [each for each in computed if integer_value(each) is None]
        cursors = [each for part in parts for each in preorder(part)]
        named = [each.referenced for each in cursors if each.kind == CursorKind.DECL_REF_EXPR]
        counter = reader.variables.get(key_of(self.counting.counter))
        variables = [reader.variables.get(key_of(each)) for each in named if each is not None]
        known = [each for each in variables if each is not None]
        if counter is None or len(known) < len(named) or any(each.kind in LOADS for each in cursors):
            return False
        changing = range(self.begun.extent.start.offset, self.loop.extent.end.offset)
        if any(use.role in _CHANGES and use.offset in changing for each in known for use in each.references):
            return False
        if any(use.role in _CHANGES and _within(use.offset, body) for use in counter.references):
            return False
        if any(each.kind in _JUMPS for each in preorder(body)):
            return False
        names = {each.name for each in (*known, counter)}
        hidden = any(each.name in names and _within(each.offset, body) for each in reader.variables.values())
        return not hidden and all(_stands(part) and part.kind != CursorKind.INIT_LIST_EXPR for part in parts)

    def written(self, use: VariableUse, text: str) -> str:
        """What the variable is where it is used; "" if that can't be written."""
        count = self._count(text)
        if not count:
            return ""
        if use.offset > self.statement.extent.start.offset:
            count = f"({count} + 1)"
        type_ = self.variable.declaration.type
        kind, amount, turn = self.step.kind, self.step.amount, self.step.turn
        value = integer_value(self.first)
        if kind == "~":
            return "" if value is None else f"({value} + ({amount - 2 * value}) * ({count} % 2))"
        if kind == "%":
            return f"(({value} + {count} * {amount}) % {turn})" if value is not None and 0 <= value < turn else ""
        steps = str(amount) if isinstance(amount, int) else _operand(amount, type_, text)
        first = _operand(self.first, type_, text)
        return f"({first} {kind} {count} * {steps})" if first and steps else ""

    def _count(self, text: str) -> str:
        """How many iterations came before."""
        counter = self.counting.counter.spelling
        first = _operand(self.counting.first, self.counting.counter.type, text)
        if not first:
            return ""
        count = f"({counter} - {first})" if self.counting.step > 0 else f"({first} - {counter})"
        if abs(self.counting.step) > 1:
            count = f"({count} / {abs(self.counting.step)})"
        type_, own = (each.type.get_canonical() for each in (self.counting.counter, self.variable.declaration))
        return count if type_.kind == own.kind else f"(({own.spelling}){count})"


def stepped_edits(reader: FunctionReader) -> list[Edit]:
    """Edits that write one such integer in terms of a counter; none is left when there are no edits."""
    keys = deciding(reader.function, conditions=False)
    cursors = preorder(reader.function)
    if any(each.kind in (CursorKind.GOTO_STMT, CursorKind.SWITCH_STMT) for each in cursors):
        # What comes right before a loop may not run before it.
        return []
    text = without_comments(reader.text)
    for block in cursors:
        if block.kind != CursorKind.COMPOUND_STMT:
            continue
        begun: dict[str, tuple[Any, Any]] = {}
        for statement in block.get_children():
            if statement.kind == CursorKind.FOR_STMT:
                for key in sorted(begun.keys() & keys):
                    stepped = _stepped(reader.variables.get(key), *begun[key], statement)
                    edits = _edits(stepped, reader, text) if stepped is not None else []
                    if edits:
                        return edits
            parts = statement.get_children() if statement.kind == CursorKind.DECL_STMT else [statement]
            for assignment in filter(None, map(assignment_of, parts)):
                begun[key_of(assignment[0])] = (statement, assignment[1])
    return []


def _stepped(variable: Variable | None, begun: Any, first: Any, loop: Any) -> _Stepped | None:
    *header, body = loop.get_children()
    counting = counting_of(header)
    if variable is None or counting is None or body.kind != CursorKind.COMPOUND_STMT:
        return None
    key = key_of(variable.declaration)
    steps = [(each, step) for each in body.get_children() if (step := _step(each, key)) is not None]
    return _Stepped(variable, begun, first, loop, counting, *steps[0]) if len(steps) == 1 else None


def _edits(stepped: _Stepped, reader: FunctionReader, text: str) -> list[Edit]:
    if not stepped.has_no_other_value() or not stepped.is_steady(reader):
        return []
    start, end = stepped.statement.extent.start.offset, stepped.statement.extent.end.offset
    semicolon = text.find(";", end)
    reads = [use for use in stepped.uses if use.role == "read"]
    written = [stepped.written(use, text) for use in reads]
    if not reads or not all(written) or not _stands(stepped.statement) or text[end:semicolon].strip():
        return []
    length = len(stepped.variable.name)
    edits = [Edit(use.offset, use.offset + length, each) for use, each in zip(reads, written, strict=True)]
    return [Edit(start, semicolon + 1, ";"), *edits]


def _step(statement: Any, key: str) -> _Step | None:
    """How a statement steps the variable of that key; None if it does something else."""
    children = list(statement.get_children())
    if statement.kind == CursorKind.UNARY_OPERATOR and unary_operator(statement) in INCREMENTS:
        return _Step("+", INCREMENTS[unary_operator(statement)]) if _is(children[0], key) else None
    if statement.kind == CursorKind.COMPOUND_ASSIGNMENT_OPERATOR and _is(children[0], key):
        operator, amount = binary_operator(statement), children[1]
        return {ADD_ASSIGN: _Step("+", amount), SUBTRACT_ASSIGN: _Step("-", amount)}.get(operator)
    assignment = assignment_of(statement) if statement.kind == CursorKind.BINARY_OPERATOR else None
    if assignment is None or key_of(assignment[0]) != key:
        return None
    value = inside(assignment[1])
    if value.kind != CursorKind.BINARY_OPERATOR:
        return None
    operator, (left, right) = binary_operator(value), value.get_children()
    if operator == ADD and (_is(left, key) or _is(right, key)):
        return _Step("+", right if _is(left, key) else left)
    if operator == SUBTRACT and _is(left, key):
        return _Step("-", right)
    if operator == SUBTRACT and _is(right, key):
        total = integer_value(left)
        return None if total is None else _Step("~", total)
    turn = integer_value(right)
    added = _step_of_sum(inside(left), key) if operator == REMAINDER else None
    return _Step("%", added, turn) if turn is not None and turn > 0 and added is not None and added > 0 else None


def _step_of_sum(value: Any, key: str) -> int | None:
    """The constant that an expression adds to the variable of that key."""
    if value.kind != CursorKind.BINARY_OPERATOR or binary_operator(value) != ADD:
        return None
    left, right = value.get_children()
    if _is(left, key):
        return integer_value(right)
    return integer_value(left) if _is(right, key) else None


def _is(expression: Any, key: str) -> bool:
    """Whether an expression is the variable of that key, perhaps converted by the compiler."""
    named = inside(expression)
    if named.kind != CursorKind.DECL_REF_EXPR or named.referenced is None:
        return False
    return key_of(named.referenced) == key


def _within(offset: int, cursor: Any) -> bool:
    return int(cursor.extent.start.offset) <= offset < int(cursor.extent.end.offset)


def _stands(cursor: Any) -> bool:
    """Whether what a cursor stands for begins in the text itself."""
    return text_offset(cursor.extent.start) == int(cursor.extent.start.offset)


def _operand(cursor: Any, type_: Any, text: str) -> str:
    """An expression where it is computed with in a type; "" where that may have another result than the type itself."""
    value, allowed, own = integer_value(cursor), limits(type_), limits(inside(cursor).type)
    if value is not None:
        return literal(value, type_)
    if allowed is None or own is None or own[0] < allowed[0] or own[1] > allowed[1]:
        return ""
    return f"({text[cursor.extent.start.offset : cursor.extent.end.offset]})"
