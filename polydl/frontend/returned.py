"""What a function of the file returns, where that is all that it does. Runs in the child process that holds libclang.

It returns one expression, or one of several: ``if (i < 0) return 0; return i;`` is a conditional expression.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from clang.cindex import CursorKind, StorageClass

from polydl.frontend.walk import preorder

# No text has it.
_RESULT = "\0"
_PARAMETER = r"(?<![\w.])[A-Za-z_]\w*"


@dataclass(frozen=True)
class Returned:
    """What a function returns."""

    #: C of it, where each place of a conversion to the result's type is marked by a character that no text has
    written: str
    #: libclang's cursors of what it consists of
    parts: tuple[Any, ...]
    #: those of the expressions of which it is one, in the order of the marks; of the only one, which has no mark
    values: tuple[Any, ...]

    @property
    def chosen(self) -> bool:
        """Whether it is one of several expressions."""
        return len(self.values) > 1

    @property
    def words(self) -> list[str]:
        """Names and keywords in it, as often as they stand there."""
        return re.findall(_PARAMETER, self.written)

    def of(self, arguments: dict[str, str], casts: Sequence[str]) -> str:
        """C of it with ``arguments`` in the place of the parameters, and a cast, or none (""), at each mark."""
        inner = re.sub(_PARAMETER, lambda word: arguments.get(word[0], word[0]), self.written)
        first, *others = inner.split(_RESULT)
        return first + "".join(f"{cast}{part}" for cast, part in zip(casts, others, strict=True))


def returned(definition: Any, text: str, is_part: Callable[[Any], bool]) -> Returned | None:
    """What a function's body returns, if that is all that it does; None for any other function.

    Each of libclang's cursors in it must be one that ``is_part`` takes. ``text`` has no comments.
    """
    if definition is None or definition.storage_class not in (StorageClass.STATIC, StorageClass.NONE):
        return None
    blocks = [child for child in definition.get_children() if child.kind == CursorKind.COMPOUND_STMT]
    return _returned_by(list(blocks[0].get_children()), text, is_part) if blocks else None


def whole(written: str) -> bool:
    """Whether an expression stands in the text by itself, and not in the words of a macro."""
    return bool(written.strip()) and written.count("(") == written.count(")") and "#" not in written


def _returned_by(statements: Sequence[Any], text: str, is_part: Callable[[Any], bool]) -> Returned | None:
    """What statements return, of which the first decides whether the others run; None if they may return nothing."""
    if not statements:
        return None
    first, *others = statements
    parts = list(first.get_children())
    if first.kind == CursorKind.COMPOUND_STMT:
        return _returned_by(parts, text, is_part)
    start = first.extent.start.offset
    if first.kind == CursorKind.RETURN_STMT and len(parts) == 1:
        plain = text[start : parts[0].extent.start.offset].strip() == "return"
        return _expression(parts[0], text, is_part) if plain else None
    if first.kind != CursorKind.IF_STMT or text[start : parts[0].extent.start.offset].replace(" ", "") != "if(":
        return None
    condition, taken = _expression(parts[0], text, is_part), _returned_by(parts[1:2], text, is_part)
    other = _returned_by([*parts[2:], *others], text, is_part)
    if condition is None or taken is None or other is None:
        return None
    written = f"({condition.written}) ? {_marked(taken)} : {_marked(other)}"
    return Returned(written, (*condition.parts, *taken.parts, *other.parts), (*taken.values, *other.values))


def _marked(value: Returned) -> str:
    """One of several. Each is of the result's type before it is chosen, and not of the type that all have in common."""
    return f"({value.written})" if value.chosen else f"{_RESULT}({value.written})"


def _expression(cursor: Any, text: str, is_part: Callable[[Any], bool]) -> Returned | None:
    """An expression that stands in the text by itself; None for any other."""
    parts = tuple(preorder(cursor))
    written = text[cursor.extent.start.offset : cursor.extent.end.offset]
    return Returned(written, parts, (cursor,)) if all(map(is_part, parts)) and whole(written) else None
