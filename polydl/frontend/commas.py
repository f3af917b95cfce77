"""The comma operator, as statements of their own, and loops with several counters, as loops with one.

``a[i] = 0, b[i] = 1;`` is ``{ a[i] = 0; b[i] = 1; }``. In ``for (i = 0, j = n - 1; i < n; i++, j--)`` the second
counter is ``n - 1 - i`` wherever the loop reads it, and what a loop sets without counting with it is set in front of
the loop. Runs in the child process that holds libclang.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from clang.cindex import CursorKind, TypeKind

from polydl.frontend.assignments import matching
from polydl.frontend.function_reader import FunctionReader
from polydl.frontend.loop_headers import HEADER_PARTS, comma_parts, step_of
from polydl.frontend.row_pointers import inside as enclosed
from polydl.frontend.source import Edit, without_comments
from polydl.frontend.walk import assignment_of, key_of, preorder

# Which of their children are statements.
_HOLDING = {
    CursorKind.COMPOUND_STMT: slice(None),
    CursorKind.FOR_STMT: slice(-1, None),
    CursorKind.IF_STMT: slice(1, None),
}
_SIGNED = {TypeKind.INT, TypeKind.LONG, TypeKind.LONGLONG}
_UNSIGNED = {TypeKind.UINT, TypeKind.ULONG, TypeKind.ULONGLONG}
_IN_FIRST_VALUES = (
    *(CursorKind.BINARY_OPERATOR, CursorKind.DECL_REF_EXPR, CursorKind.INTEGER_LITERAL, CursorKind.PAREN_EXPR),
    CursorKind.UNEXPOSED_EXPR,
)
# Of a header with commas: what it sets, and its steps.
_FEWEST_PARTS = 3
_CHANGES = ("write", "update", "address")


@dataclass(frozen=True)
class _First:
    """A variable that the header of a loop gives its first value."""

    declaration: Any
    #: libclang's cursor of the value
    value: Any
    #: how the value is written
    written: str
    #: how the header is, without what it does to other variables: its first part, and the last
    parts: tuple[str, str]
    #: what the header adds to it
    step: int

    @property
    def key(self) -> str:
        """What tells it from other variables (``key_of``)."""
        return key_of(self.declaration)


@dataclass(frozen=True)
class _Loop:
    """A loop whose header sets several variables, or steps them."""

    #: libclang's
    cursor: Any
    #: of which the header sets one and steps it, and the condition asks for it
    counter: _First
    others: tuple[_First, ...]
    #: start and end in the text of the first part of the header
    set_at: tuple[int, int]
    #: and of the last one
    stepped_at: tuple[int, int]
    #: whether the header declares the variables
    declares: bool

    @property
    def extent(self) -> tuple[int, int]:
        """Its start and end in the text."""
        return self.cursor.extent.start.offset, self.cursor.extent.end.offset


def comma_edits(reader: FunctionReader) -> list[Edit]:
    """Edits that leave fewer commas; none is left when there are no edits."""
    text = without_comments(reader.text)
    for cursor in preorder(reader.function):
        if cursor.kind not in _HOLDING:
            continue
        children = list(cursor.get_children())
        edits = [edit for child in children[_HOLDING[cursor.kind]] for edit in _statements(child, cursor, text)]
        if cursor.kind == CursorKind.FOR_STMT and not edits:
            edits += _with_one_counter(cursor, reader, text)
        if edits:
            return edits
    return []


def _statements(statement: Any, holder: Any, text: str) -> Iterator[Edit]:
    """``a, b;`` as ``{ a; b; }``, without braces in a ``holder`` that has some; ``(a);`` as ``a;``."""
    parts = comma_parts(statement)
    if enclosed := [place for each in parts for place in _parentheses(each, text)]:
        yield from (Edit(place, place + 1, " ") for place in enclosed)
        return
    end = statement.extent.end.offset
    semicolon = re.match(r"\s*;", text[end:])
    commas = _commas(parts, text)
    if len(parts) > 1 and commas is not None and semicolon is not None:
        yield from (Edit(comma, comma + 1, ";") for comma in commas)
        if holder.kind != CursorKind.COMPOUND_STMT:
            yield Edit(parts[0].extent.start.offset, parts[0].extent.start.offset, "{ ")
            yield Edit(end + semicolon.end() - 1, end + semicolon.end(), "; }")


def _parentheses(statement: Any, text: str) -> tuple[int, ...]:
    """Where the parentheses round a statement, or a part of one, stand in the text."""
    start, last = statement.extent.start.offset, statement.extent.end.offset - 1
    stand = statement.kind == CursorKind.PAREN_EXPR and text.startswith("(", start) and matching(text, start) == last
    return (start, last) if stand else ()


def _commas(parts: Sequence[Any], text: str) -> list[int] | None:
    """Where the commas between parts stand; None where a macro has one."""
    between = [(one.extent.end.offset, other.extent.start.offset) for one, other in pairwise(parts)]
    if any(text[start:end].strip() != "," for start, end in between):
        return None
    return [text.index(",", start) for start, _ in between]


def _with_one_counter(cursor: Any, reader: FunctionReader, text: str) -> Iterator[Edit]:
    """A loop that sets or steps several variables, as one that counts with one of them."""
    loop = _loop(cursor, text)
    if loop is None:
        return
    edits: list[Edit] = []
    before: list[str] = []
    for other in loop.others:
        read = _read_as_sums(other, loop, reader)
        if read is not None:
            edits += read
        elif other.step or loop.declares or not _may_be_set_before(other, loop):
            return
        else:
            before.append(f"{other.parts[0]}; ")
    yield from edits
    for place, part in zip((loop.set_at, loop.stepped_at), loop.counter.parts, strict=True):
        yield Edit(*place, part)
    if before:
        # A condition or a loop may hold it without braces.
        start, end = loop.extent
        semicolon = re.match(r"\s*;", text[end:]) if text[end - 1] not in ";}" else None
        end += semicolon.end() if semicolon is not None else 0
        yield Edit(start, start, "{ " + "".join(before))
        yield Edit(end, end, " }")


def _loop(cursor: Any, text: str) -> _Loop | None:
    """A loop whose header sets variables alone, of which one counts, and steps no others; None for any other."""
    header = list(cursor.get_children())[:-1]
    if len(header) != HEADER_PARTS:
        return None
    declares = header[0].kind == CursorKind.DECL_STMT
    parts = list(header[0].get_children()) if declares else comma_parts(header[0])
    assignments = [assignment for each in parts if (assignment := _set_by(each)) is not None]
    steps = comma_parts(header[2])
    begins = [each.location.offset if declares else each.extent.start.offset for each in parts]
    ends = [each.extent.end.offset for each in parts]
    start = header[0].extent.start.offset
    kind = text[start : begins[0]]
    apart = [text[end:begin].strip() for end, begin in zip(ends, begins[1:], strict=False)]
    plain = re.fullmatch(r"[\w\s]+" if declares else "", kind) is not None and all(each == "," for each in apart)
    if len(assignments) < len(parts) or len(parts) + len(steps) < _FEWEST_PARTS or not plain:
        return None
    firsts = []
    for (declaration, value), begin, end in zip(assignments, begins, ends, strict=True):
        own = [(step, each) for each in steps if (step := step_of(each, declaration)) is not None]
        written = [
            text[each.extent.start.offset : each.extent.end.offset] for each in (value, *(part for _, part in own))
        ]
        both = f"{kind}{text[begin:end]}", ", ".join(written[1:])
        firsts.append(_First(declaration, value, written[0], both, sum(step for step, _ in own)))
    stepped = [first for each in steps for first in firsts if step_of(each, first.declaration) is not None]
    asked = {key_of(each.referenced) for each in preorder(header[1]) if each.referenced is not None}
    counter = next((each for each in firsts if each.step and each.key in asked), None)
    if counter is None or len(stepped) < len(steps) or _commas(steps, text) is None:
        return None
    if len({each.key for each in firsts}) < len(firsts) or len(stepped) > len({each.key for each in stepped}):
        return None
    others = tuple(each for each in firsts if each is not counter)
    stepped_at = steps[0].extent.start.offset, steps[-1].extent.end.offset
    return _Loop(cursor, counter, others, (start, ends[-1]), stepped_at, declares)


def _set_by(part: Any) -> tuple[Any, Any] | None:
    """The variable that a part of a header gives a value of its own, and that; None for ``j += 3``."""
    return None if part.kind == CursorKind.COMPOUND_ASSIGNMENT_OPERATOR else assignment_of(part)


def _read_as_sums(other: _First, loop: _Loop, reader: FunctionReader) -> list[Edit] | None:
    """Edits that read a variable as a sum of the loop's counter; None where it may be anything else."""
    counter, (start, end) = loop.counter, loop.extent
    type_, *others = (each.type.get_canonical() for each in (other.declaration, counter.declaration))
    kinds = {type_.kind, *(each.kind for each in others)}
    if not {counter.key, other.key} <= reader.variables.keys() or other.step % counter.step:
        return None
    # An unsigned number would be another one in a wider type.
    if not kinds <= _SIGNED and (len(kinds) > 1 or not kinds <= _UNSIGNED):
        return None
    named = [each for first in (counter, other) for each in preorder(first.value)]
    names = {each.spelling: key_of(each.referenced) for each in named if each.referenced is not None}
    simple = all(each.kind in _IN_FIRST_VALUES for each in named)
    if not simple or not {counter.key, *(each.key for each in loop.others)}.isdisjoint(names.values()):
        return None
    names[counter.declaration.spelling] = counter.key
    header = (*range(*loop.set_at), *range(*loop.stepped_at))
    inside = {
        key: [use for use in variable.references if start <= use.offset < end and use.offset not in header]
        for key, variable in reader.variables.items()
    }
    changed = any(use.role in _CHANGES for key in (*names.values(), other.key) for use in inside.get(key, ()))
    hidden = any(
        variable.name in names and names[variable.name] != key and start <= variable.offset < end
        for key, variable in reader.variables.items()
    )
    written = all(use.spelled >= 0 for use in inside[other.key])
    if changed or hidden or not written or not _is_set_by_loops(other, loop, reader):
        return None
    distance = f"({counter.declaration.spelling} - ({counter.written}))"
    factor = other.step // counter.step
    value = f"(({other.written}) {'-' if factor < 0 else '+'} {abs(factor)} * {distance})"
    if {*kinds, *(enclosed(first.value).type.get_canonical().kind for first in (counter, other))} != {type_.kind}:
        value = f"(({type_.spelling}){value})"
    length = len(other.declaration.spelling)
    return [Edit(use.spelled, use.spelled + length, value) for use in inside[other.key]]


def _is_set_by_loops(other: _First, loop: _Loop, reader: FunctionReader) -> bool:
    """Whether a variable of the function is used in this loop alone, or in others whose headers set it, too.

    Those around this loop would read what it leaves behind.
    """
    variable = reader.variables[other.key]
    setting = [
        (each.extent.start.offset, each.extent.end.offset)
        for each in preorder(reader.function)
        if each.kind == CursorKind.FOR_STMT
        and not (each.extent.start.offset <= loop.extent[0] and loop.extent[1] <= each.extent.end.offset)
        and any(
            (assignment := _set_by(part)) is not None and key_of(assignment[0]) == other.key
            for part in preorder(next(iter(each.get_children())))
        )
    ]
    return variable.storage == "local" and all(
        any(start <= use.offset < end for start, end in (loop.extent, *setting)) for use in variable.references
    )


def _may_be_set_before(other: _First, loop: _Loop) -> bool:
    """Whether no value of the header's first part depends on another one."""
    keys = {each.key for each in (loop.counter, *loop.others)}
    named = [each.referenced for first in (loop.counter, other) for each in preorder(first.value)]
    return keys.isdisjoint(key_of(each) for each in named if each is not None)
