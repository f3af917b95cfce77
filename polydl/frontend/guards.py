"""Parts of conditions that pet reads as they are: those on loop counters alone.

What ``if (i < 31 && b[i] > 0) a[i + 1] = b[i];`` assigns to is there only where ``i < 31`` holds. Runs in the child
process that holds libclang.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from clang.cindex import CursorKind

from polydl.frontend.function_reader import FunctionReader
from polydl.frontend.loop_headers import integer_value
from polydl.frontend.operators import (
    ADD,
    COMPARISONS,
    DIVIDE,
    EQUALS,
    LOGICAL,
    MINUS,
    MULTIPLY,
    NOT,
    REMAINDER,
    SUBTRACT,
    binary_operator,
    unary_operator,
)
from polydl.frontend.row_pointers import inside
from polydl.frontend.walk import initializer_of, key_of

_AND = LOGICAL[0]


@dataclass(frozen=True)
class Guards:
    """The conditions of those that ``&&`` joins which are affine in loop counters."""

    #: as the text has them
    parts: tuple[str, ...]
    #: whether C asks for others before one of them
    late: bool


def guards_of(condition: Any, reader: FunctionReader, text: str) -> Guards:
    """The guards among the parts of a condition."""
    parts = _parts(condition, text)
    guarding = [integer_value(part) is None and _is_condition(part, reader) for part in parts]
    quoted = (text[part.extent.start.offset : part.extent.end.offset] for part in parts)
    chosen = tuple(words for words, guards in zip(quoted, guarding, strict=True) if guards)
    return Guards(chosen, late=not all(guarding[: len(chosen)]))


def _parts(condition: Any, text: str) -> list[Any]:
    """What ``&&`` joins in the text itself."""
    condition = inside(condition)
    if condition.kind == CursorKind.BINARY_OPERATOR and binary_operator(condition) == _AND:
        left, right = condition.get_children()
        # Else a macro stands there.
        if text[left.extent.end.offset : right.extent.start.offset].strip() == "&&":
            return [*_parts(left, text), *_parts(right, text)]
    return [condition]


def _is_condition(expression: Any, reader: FunctionReader) -> bool:
    expression = inside(expression)
    if expression.kind == CursorKind.UNARY_OPERATOR and unary_operator(expression) == NOT:
        return all(_is_condition(each, reader) for each in expression.get_children())
    operator = binary_operator(expression) if expression.kind == CursorKind.BINARY_OPERATOR else None
    if operator in LOGICAL:
        return all(_is_condition(each, reader) for each in expression.get_children())
    if operator in COMPARISONS or operator == EQUALS:
        return all(_is_affine(each, reader) for each in expression.get_children())
    return _is_affine(expression, reader)


def _is_affine(expression: Any, reader: FunctionReader) -> bool:
    expression = inside(expression)
    if integer_value(expression) is not None:
        return True
    parts = list(expression.get_children())
    if expression.kind == CursorKind.DECL_REF_EXPR:
        return expression.referenced is not None and _counts(key_of(expression.referenced), reader)
    if expression.kind == CursorKind.UNARY_OPERATOR:
        return unary_operator(expression) == MINUS and _is_affine(parts[0], reader)
    if expression.kind != CursorKind.BINARY_OPERATOR:
        return False
    operator, constants = binary_operator(expression), [integer_value(part) for part in parts]
    known = {
        ADD: True,
        SUBTRACT: True,
        MULTIPLY: constants != [None, None],
        DIVIDE: (constants[1] or 0) > 0,
        REMAINDER: (constants[1] or 0) > 0,
    }
    return known.get(operator, False) and all(_is_affine(part, reader) for part in parts)


def _counts(key: str, reader: FunctionReader) -> bool:
    """Whether a variable is a loop counter, or computed of counters where it is declared and never changed."""
    variable = reader.variables.get(key)
    if variable is None or variable.storage != "local" or not variable.shape.is_scalar_integer:
        return False
    changes = [reference for reference in variable.references if reference.role not in ("read", "element")]
    if changes:
        # What a condition or a subscript changes is refused.
        return all(change.control and change.role != "address" for change in changes)
    value = initializer_of(variable.declaration)
    return value is not None and key not in reader.data_integers and _is_affine(value, reader)
