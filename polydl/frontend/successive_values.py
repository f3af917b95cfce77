"""Integers that get several values one after the other, as several integers.

pet knows the value of an index that is assigned once: ``int y = i - 1; if (y < 0) y = 0; a[y]`` is shown to it as
``int y = i - 1; int y_2 = (y < 0) ? (0) : y; a[y_2]``. Runs in the child process that holds libclang.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from clang.cindex import CursorKind

from polydl.frontend.data_integers import LOADS, deciding
from polydl.frontend.function_reader import FunctionReader
from polydl.frontend.integer_ranges import limits
from polydl.frontend.operators import ASSIGN, INCREMENTS, binary_operator, unary_operator
from polydl.frontend.source import Edit, without_comments
from polydl.frontend.walk import initializer_of, key_of, preorder

_BINARY = (CursorKind.BINARY_OPERATOR, CursorKind.COMPOUND_ASSIGNMENT_OPERATOR)
_ASSIGNMENTS = (*_BINARY, CursorKind.UNARY_OPERATOR)


@dataclass(frozen=True)
class _Value:
    """A statement of a block that gives a variable a value."""

    #: offset of the statement's beginning in the text
    start: int
    #: and of what follows its semicolon
    end: int
    #: parts of the text, and what stands between them where the new variable is declared; ``None`` is the last value
    parts: tuple[tuple[int, int] | str | None, ...]
    #: how often the variable is assigned to in it
    targets: int


def successive_edits(reader: FunctionReader) -> list[Edit]:
    """Edits that give the values of one index names of their own; none is left when there are no edits."""
    text = without_comments(reader.text)
    keys = deciding(reader.function, conditions=False)
    for block in preorder(reader.function):
        if block.kind != CursorKind.COMPOUND_STMT:
            continue
        values: dict[str, list[_Value]] = {}
        targets: dict[str, Any] = {}
        for statement in block.get_children():
            for target, value in _values(statement, text):
                if key_of(target) in keys and limits(target.type) is not None:
                    values.setdefault(key_of(target), []).append(value)
                    targets[key_of(target)] = target
        for key, found in values.items():
            edits = _renamed(targets[key], found, block, reader, text)
            if edits:
                return edits
    return []


def _values(statement: Any, text: str) -> Iterator[tuple[Any, _Value]]:
    """The variables that a statement of a block gives a value, with that."""
    start, end = statement.extent.start.offset, statement.extent.end.offset
    if any(each.kind in LOADS for each in preorder(statement)):
        return
    if statement.kind == CursorKind.DECL_STMT:
        for each in statement.get_children():
            if each.kind == CursorKind.VAR_DECL:
                yield each, _Value(start, end, (), 0)
        return
    if statement.kind in _ASSIGNMENTS:
        assigned = _assigned(statement, text)
        semicolon = text.find(";", end)
        if assigned is not None and text[end:semicolon].strip() == "":
            yield assigned[0], _Value(start, semicolon + 1, assigned[1], 1)
        return
    if statement.kind != CursorKind.IF_STMT:
        return
    condition, *branches = statement.get_children()
    assigned_in = [_assigned(_alone(branch), text) for branch in branches]
    known = [each for each in assigned_in if each is not None]
    if len(known) < len(branches) or len({key_of(each[0]) for each in known}) != 1:
        return
    last = text.find(";", _alone(branches[-1]).extent.end.offset)
    behind = max(last + 1, end)
    asked = (condition.extent.start.offset, condition.extent.end.offset)
    other = known[1][1] if known[1:] else (None,)
    parts = ("(", asked, ") ? (", *known[0][1], ") : (", *other, ")")
    yield known[0][0], _Value(start, behind, parts, len(known))


def _text_of(cursor: Any, text: str) -> str:
    return text[cursor.extent.start.offset : cursor.extent.end.offset]


def _alone(branch: Any) -> Any:
    """The statement that a block consists of; any other statement itself."""
    children = list(branch.get_children()) if branch.kind == CursorKind.COMPOUND_STMT else []
    return children[0] if len(children) == 1 else branch


def _assigned(statement: Any, text: str) -> tuple[Any, tuple[tuple[int, int] | str | None, ...]] | None:
    """The variable that an assignment gives a value, and the parts of that."""
    if statement.kind == CursorKind.UNARY_OPERATOR and unary_operator(statement) in INCREMENTS:
        (operand,) = statement.get_children()
        step = INCREMENTS[unary_operator(statement)]
        stands = re.fullmatch(r"(\+\+|--)\s*\w+|\w+\s*(\+\+|--)", _text_of(statement, text)) is not None
        plain = stands and operand.kind == CursorKind.DECL_REF_EXPR and operand.referenced is not None
        return (operand.referenced, (None, f" + {step}" if step > 0 else " - 1")) if plain else None
    if statement.kind not in _BINARY:
        return None
    left, right = statement.get_children()
    between = text[left.extent.end.offset : right.extent.start.offset].strip()
    if left.kind != CursorKind.DECL_REF_EXPR or left.referenced is None:
        return None
    value = (right.extent.start.offset, right.extent.end.offset)
    if statement.kind == CursorKind.BINARY_OPERATOR:
        return (left.referenced, (value,)) if binary_operator(statement) == ASSIGN and between == "=" else None
    return (left.referenced, (None, f" {between[:-1]} (", value, ")")) if between in ("+=", "-=", "*=", "/=") else None


def _renamed(declared: Any, values: Sequence[_Value], block: Any, reader: FunctionReader, text: str) -> list[Edit]:
    """Edits that give each value but that of the declaration a variable of its own; none where that isn't possible."""
    variable = reader.variables.get(key_of(declared))
    assigned = [value for value in values if value.parts]
    if variable is None or variable.storage != "local" or len(values) < 2 or not assigned:
        return []
    inside = range(values[0].start, block.extent.end.offset)
    uses = sorted(reference.spelled for reference in variable.references)
    writes = sum(reference.role != "read" for reference in variable.references)
    whole = all(each.spelled == each.offset and each.spelled in inside for each in variable.references)
    if not whole or writes != sum(value.targets for value in assigned):
        return []
    if values[0].parts and _reads(values[0], uses):
        # It reads what an iteration before, or what stands before the block, has left.
        return []
    names: list[tuple[int, str]] = []
    edits: list[Edit] = []
    latest = variable.name if initializer_of(declared) is not None else None
    for number, value in enumerate(assigned):
        if latest is None and None in value.parts:
            return []
        name = f"{variable.name}_{number + 2}"
        while name in text:
            name += "_"
        parts = [_substituted(part, latest, uses, variable.name, text) for part in value.parts]
        type_ = declared.type.get_canonical().spelling
        edits.append(Edit(value.start, value.end, f"{type_} {name} = {''.join(parts)};"))
        names.append((value.end, name))
        latest = name
    for use in uses:
        if not any(value.start <= use < value.end for value in assigned):
            since = [name for end, name in names if end <= use]
            if since:
                edits.append(Edit(use, use + len(variable.name), since[-1]))
    return edits


def _reads(value: _Value, uses: Sequence[int]) -> bool:
    """Whether a value depends on the variable, of which these are the ``uses``."""
    places = [part for part in value.parts if not isinstance(part, str)]
    return any(part is None or any(part[0] <= use < part[1] for use in uses) for part in places)


def _substituted(
    part: tuple[int, int] | str | None, latest: str | None, uses: Sequence[int], name: str, text: str
) -> str:
    """A part of a new value, with the variable that has the value before in place of the one of that ``name``."""
    if isinstance(part, str):
        return part
    if part is None:
        return latest or ""
    start, end = part
    pieces = []
    for use in uses:
        if part[0] <= use < end:
            pieces += [text[start:use], latest or name]
            start = use + len(name)
    return "".join([*pieces, text[start:end]])
