"""Assignments in forms that pet doesn't read, as ones that it reads.

``if (x < 0) x = 0;`` chooses by data what is assigned, and pet takes conditions on loop counters alone. As ``x = (x <
0) ? 0 : x;`` it is a plain statement. Of several under one condition, each asks for it, and what it depends on is
assigned last; ``x++;`` there is ``x += 1;``. ``a = b = 0;`` is two statements, ``{ b = 0; a = b; }``, and so is ``a +=
b *= 2;``. Of variables that one declaration has together, ``int a = i / 2, b = a + 1;``, pet knows no values; it is
two. All mean the same in C, but that an element is assigned to itself where data forbids the assignment; where counters
do, it stays untouched. Runs in the child process that holds libclang.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from clang.cindex import CursorKind

from polydl.frontend.c_types import shape_of
from polydl.frontend.function_reader import FunctionReader
from polydl.frontend.guards import guards_of
from polydl.frontend.operators import ASSIGN, INCREMENTS, binary_operator, unary_operator
from polydl.frontend.source import Edit, without_comments
from polydl.frontend.walk import preorder

_TRANSPARENT = (CursorKind.PAREN_EXPR, CursorKind.UNEXPOSED_EXPR)
_OPERATORS = ("=", "+=", "-=", "*=", "/=")
_FLOATS = ("float", "double")


@dataclass(frozen=True)
class _Assignment:
    """One assignment in the text. Offsets are those of the text."""

    #: what is assigned to, as it is written
    target: str
    #: ``=``, ``+=`` and so on
    operator: str
    #: of the statement
    start: int
    #: of the value
    value_start: int
    #: behind the value
    value_end: int
    #: of the semicolon
    semicolon: int
    #: whether its value can also be one of the target's, without a loss
    mixes: bool
    #: types of the target and of what it gets, as C calls them
    types: tuple[str, str]
    #: the variable or the array that is assigned to, whatever macro names it
    variable: str
    #: variables and arrays that its value and the subscripts of its target read
    reads: frozenset[str]

    @property
    def prefix(self) -> str:
        """What stands before the value that the target gets."""
        return "" if self.operator == "=" else f"{self.target} {self.operator[0]} "

    def cast_beside(self, other: _Assignment) -> str:
        """What converts the value that the target gets where ``?:`` would convert it otherwise, beside another value.

        That has a type which both have in common. It loses nothing if one of them has the target's type or theirs is
        the same.
        """
        types = {self.types[1], other.types[1]}
        return "" if len(types) == 1 or self.types[0] in types else f"({self.types[0]})"


def assignment_edits(reader: FunctionReader) -> list[Edit]:
    """Edits that make plain assignments of the innermost ones that are not; none is left when there are no edits."""
    blank = without_comments(reader.text)
    by_data = _decided_by_data(reader, blank)
    edits: list[Edit] = []
    chosen_up_to = 0
    for cursor in preorder(reader.function):
        if cursor.kind == CursorKind.IF_STMT and cursor.extent.start.offset in by_data:
            # One of a choice by data has to stay an assignment, of which the choice can be made.
            inner = cursor.extent.start.offset < chosen_up_to
            edits += _selection(cursor, None if inner else reader, blank)
            chosen_up_to = max(chosen_up_to, cursor.extent.end.offset)
        elif cursor.kind in (CursorKind.COMPOUND_STMT, CursorKind.FOR_STMT):
            children = list(cursor.get_children())
            for child in children if cursor.kind == CursorKind.COMPOUND_STMT else children[-1:]:
                edits += _declarations(child, blank) if child.kind == CursorKind.DECL_STMT else _chain(child, blank)
    return edits


def _declarations(statement: Any, text: str) -> Iterator[Edit]:
    """``int a = x, b = y;`` as ``int a = x; int b = y;``, where what stands before the first name is a type alone."""
    declared = list(statement.get_children())
    if len(declared) < 2 or any(each.kind != CursorKind.VAR_DECL for each in declared):
        return
    kind = text[statement.extent.start.offset : declared[0].location.offset]
    if not re.fullmatch(r"[\w\s]+", kind):
        return
    between = [(one.extent.end.offset, other.location.offset) for one, other in pairwise(declared)]
    if all(text[start:end].strip() == "," for start, end in between):
        for start, end in between:
            yield Edit(text.index(",", start), text.index(",", start) + 1, ";")
            yield Edit(end, end, kind)


def _decided_by_data(reader: FunctionReader, text: str) -> set[int]:
    """The offsets of the ``if`` whose condition depends on elements, or on variables that hold data.

    An integer holds data if the loops change it, or if it is an element of an array at first, and nothing but
    conditions depends on it.
    """
    conditions = {}
    for branch in reader.branches:
        opening = text.find("(", branch.offset)
        closing = matching(text, opening) if branch.kind == "if" and opening >= 0 else None
        if closing is not None:
            conditions[branch.offset] = range(opening, closing)
    data = {branch.offset for branch in reader.branches if branch.kind == "if" and branch.data_dependent}
    for variable in reader.variables.values():
        if variable.storage != "local" or variable.loop_counter or not variable.shape.is_scalar_integer:
            continue
        changed = any(reference.role in ("write", "update") for reference in variable.references)
        loaded = any(each.kind == CursorKind.ARRAY_SUBSCRIPT_EXPR for each in preorder(variable.declaration))
        places = [reference.offset for reference in variable.references if reference.control]
        deciding = {start for start, inside in conditions.items() if any(place in inside for place in places)}
        elsewhere = [place for place in places if not any(place in inside for inside in conditions.values())]
        if (changed or loaded) and not elsewhere:
            data |= deciding
    return data


def _selection(statement: Any, reader: FunctionReader | None, text: str) -> Iterator[Edit]:
    """``if (c) x = y;`` with or without an else that assigns to x, too, and ``if (c) { x = y; z = w; }``.

    Without a ``reader``, parts of the condition on counters stay where they are.
    """
    asked, *branches = statement.get_children()
    start, end = statement.extent.start.offset, statement.extent.end.offset
    opening = text.find("(", start)
    closing = matching(text, opening)
    steps = [step for branch in branches for step in _steps(branch, text)]
    if steps:
        yield from steps
        return
    # A character constant is an argument of a macro, in whose place the text has blanks.
    if any(each.kind == CursorKind.CHARACTER_LITERAL for each in preorder(statement)):
        return
    if closing is not None and text[start:opening].strip() == "if" and len(branches) == 1:
        several = _in_order(_assignments(branches[0], text), asked)
        if several:
            condition = text[opening : closing + 1]
            values = [f"{each.prefix}({text[each.value_start : each.value_end]})" for each in several]
            copies = [
                f"{each.target} = {condition} ? {value} : {each.target};"
                for each, value in zip(several, values, strict=True)
            ]
            opened, closed = _guarded(several, asked, reader, text)
            yield Edit(start, end, " ".join([f"{opened}{{", *copies, f"}}{closed}"]))
            return
    chosen = [_only_assignment(branch, text) for branch in branches]
    first, last = chosen[0], chosen[-1]
    if first is None or last is None or closing is None or text[start:opening].strip() != "if":
        return
    if not all(each is not None and each.mixes and each.target == first.target for each in chosen):
        return
    opened, brace = _guarded([first], asked, reader, text) if len(chosen) == 1 else ("", "")
    yield Edit(start, opening, f"{opened}{first.target} = ")
    cast, closed = first.cast_beside(last), ")"
    if cast:
        cast, closed = f"{cast}(", "))"
    yield Edit(closing + 1, first.value_start, f" ? {cast}{first.prefix}(")
    if len(chosen) == 2:
        yield Edit(first.value_end, last.value_start, f"{closed} : {cast}{last.prefix}(")
        yield Edit(last.value_end, last.semicolon, closed)
    else:
        yield Edit(first.value_end, first.semicolon, f") : {first.target}")
    behind = last.semicolon + 1
    if behind < end:
        # A closing brace, which the macro of a header could have opened.
        yield Edit(behind, end, brace or " " * (end - behind))
    elif brace:
        yield Edit(behind, behind, brace)


def _guarded(
    assignments: Sequence[_Assignment], condition: Any, reader: FunctionReader | None, text: str
) -> tuple[str, str]:
    """What to write before and behind assignments, whose ``condition`` may have parts on counters alone.

    These decide first, so that elements which may not be there aren't touched. What C reads before it asks for them is
    read by a statement of its own.
    """
    if reader is None or all(each.target.isidentifier() for each in assignments):
        return "", ""
    guards = guards_of(condition, reader, text)
    if not guards.parts:
        return "", ""
    read = f"{text[condition.extent.start.offset : condition.extent.end.offset]}; " if guards.late else ""
    return f"{{ {read}if ({' && '.join(f'({part})' for part in guards.parts)}) ", " }"


def _steps(branch: Any, text: str) -> Iterator[Edit]:
    """``x++;`` and its kin as ``x += 1;``, where a branch holds it."""
    for each in branch.get_children() if branch.kind == CursorKind.COMPOUND_STMT else [branch]:
        step = INCREMENTS.get(unary_operator(each)) if each.kind == CursorKind.UNARY_OPERATOR else None
        target = quoted(next(iter(each.get_children())), text) if step is not None else None
        if target is None:
            continue
        start, end = each.extent.start.offset, each.extent.end.offset
        sign = "+" if step == 1 else "-"
        # Else a macro stands there, whose call may be the target itself.
        written = text[start:end]
        if 2 * sign in written and " ".join(written.replace(2 * sign, "").split()) == target:
            yield Edit(start, end, f"{target} {sign}= 1")


def _in_order(assignments: Sequence[_Assignment], condition: Any) -> list[_Assignment]:
    """Assignments to different variables and arrays in an order in which the condition can be asked before each.

    One that the condition depends on comes last. None where that is not possible.
    """
    variables = {each.variable for each in assignments}
    mixed = all(each.mixes for each in assignments)
    # To ask twice is to call twice. What else could make a difference, as ``k++`` does, is refused in any expression.
    calls = any(each.kind == CursorKind.CALL_EXPR for each in preorder(condition))
    if len(assignments) < 2 or len(variables) < len(assignments) or not mixed or calls:
        return []
    depends = variables.intersection(_variables(condition))
    place = next((place for place, each in enumerate(assignments) if each.variable in depends), len(assignments) - 1)
    last, later = assignments[place], assignments[place + 1 :]
    crossed = any(last.variable in each.reads or each.variable in last.reads for each in later)
    return [] if len(depends) > 1 or crossed else [*assignments[:place], *later, last]


def _variables(expression: Any) -> list[str]:
    """The variables and arrays that an expression names, macros included, in their order."""
    return [each.spelling for each in preorder(expression) if each.kind == CursorKind.DECL_REF_EXPR]


def _chain(statement: Any, text: str) -> Iterator[Edit]:
    """``x = y = z;`` and ``x += y *= z;``, of two targets or more."""
    if not _is_assignment(statement):
        return
    #: those around the innermost assignment, with their operators
    targets: list[tuple[str, str]] = []
    last = statement
    while True:
        value = _inside(list(last.get_children())[1]) if _is_assignment(last) else None
        if value is None or not _is_assignment(value):
            break
        outer = next(iter(last.get_children()))
        target, operator = quoted(outer, text), text[outer.extent.end.offset : value.extent.start.offset].strip()
        if operator not in _OPERATORS or target is None:
            return
        targets.append((target, operator))
        last = value
    innermost = _assignment(last, text) if targets else None
    start = statement.extent.start.offset
    if innermost is None or ")" in text[innermost.value_end : innermost.semicolon]:
        return
    following = [(innermost.target, "="), *reversed(targets)]
    copies = "".join(f" {to} {operator} {of};" for (of, _), (to, operator) in pairwise(following))
    yield Edit(start, innermost.start, "{ ")
    # In place of the semicolon, which is in the region also where the statement is the region's last.
    yield Edit(innermost.semicolon, innermost.semicolon + 1, f";{copies} }}")


def _inside(cursor: Any) -> Any:
    """An expression without parentheses and conversions around it."""
    while cursor.kind in _TRANSPARENT:
        children = list(cursor.get_children())
        if len(children) != 1:
            break
        [cursor] = children
    return cursor


def _is_assignment(cursor: Any) -> bool:
    if cursor.kind == CursorKind.COMPOUND_ASSIGNMENT_OPERATOR:
        return True
    return bool(cursor.kind == CursorKind.BINARY_OPERATOR and binary_operator(cursor) == ASSIGN)


def _only_assignment(statement: Any, text: str) -> _Assignment | None:
    """The assignment that a statement or a block consists of."""
    if statement.kind == CursorKind.COMPOUND_STMT:
        children = list(statement.get_children())
        if len(children) != 1:
            return None
        found = _only_assignment(children[0], text)
        end = statement.extent.end.offset
        alone = found is not None and text[found.semicolon + 1 : end].strip() == "}"
        return found if alone else None
    return _assignment(statement, text) if _is_assignment(statement) else None


def _assignments(statement: Any, text: str) -> list[_Assignment]:
    """The assignments that a block consists of; none for anything else."""
    if statement.kind != CursorKind.COMPOUND_STMT:
        return []
    found = [_assignment(each, text) if _is_assignment(each) else None for each in statement.get_children()]
    whole = [each for each in found if each is not None]
    if len(whole) < len(found) or not whole:
        return []
    # Nothing stands between them, before them or after them: what a macro of a header makes has no place in the text.
    gaps = [
        text[statement.extent.start.offset : whole[0].start].strip() == "{",
        *(text[one.semicolon + 1 : other.start].strip() == "" for one, other in pairwise(whole)),
        text[whole[-1].semicolon + 1 : statement.extent.end.offset].strip() == "}",
    ]
    return whole if all(gaps) else []


def _assignment(cursor: Any, text: str) -> _Assignment | None:
    """An assignment that stands in the text itself and whose value assigns nothing; None for any other."""
    left, right = cursor.get_children()
    target = quoted(left, text)
    start, end = right.extent.start.offset, right.extent.end.offset
    operator = text[left.extent.end.offset : start].strip()
    semicolon = text.find(";", end)
    value = text[start:semicolon]
    if target is None or operator not in _OPERATORS or _is_assignment(_inside(right)):
        return None
    if not value.strip() or not _balanced(value) or "#" in value:
        return None
    given = _inside(right).type
    stored, assigned = shape_of(left.type), shape_of(given)
    mixes = stored.element in _FLOATS or (stored.is_integer and assigned.is_integer)
    variable, *subscripts = _variables(left)
    reads = frozenset([*subscripts, *_variables(right)])
    types = _type_name(left.type), _type_name(given)
    if operator != "=":
        types = types[0], _computed_in(*types)
    begin = left.extent.start.offset
    return _Assignment(target, operator, begin, start, semicolon, semicolon, mixes, types, variable, reads)


def _computed_in(target: str, value: str) -> str:
    """The type of what ``target += value`` computes; of two integers, the target's, to which all others are alike."""
    return next((each for each in ("double", "float") if each in (target, value)), target)


def _type_name(type_: Any) -> str:
    return " ".join(word for word in type_.get_canonical().spelling.split() if word not in ("const", "volatile"))


def quoted(cursor: Any, text: str) -> str | None:
    """What a variable or an element is called in the text; None for anything with an effect of its own."""
    if _inside(cursor).kind not in (CursorKind.DECL_REF_EXPR, CursorKind.ARRAY_SUBSCRIPT_EXPR):
        return None
    quoted = " ".join(text[cursor.extent.start.offset : cursor.extent.end.offset].split())
    effects = ("++", "--", "=")
    return quoted if quoted and _balanced(quoted) and not any(effect in quoted for effect in effects) else None


def _balanced(text: str) -> bool:
    depth = 0
    for character in text:
        depth += (character in "([") - (character in ")]")
        if depth < 0:
            return False
    return depth == 0


def matching(text: str, opening: int) -> int | None:
    """The offset of the parenthesis that closes the one at ``opening``."""
    depth = 0
    for offset in range(opening, len(text)):
        depth += (text[offset] == "(") - (text[offset] == ")")
        if depth == 0:
            return offset
    return None
