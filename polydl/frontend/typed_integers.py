"""Integers in computations on data whose types matter, and the edits that keep these types.

``a[i] * 3U`` multiplies by an unsigned 3, which pet would convert to int; it is shown ``a[i] * ((unsigned int)3U)``. A
constant of a macro's body becomes that in the macro's definition. Where neither is possible, it is refused unless int
holds all that is computed with it, so that its type makes no difference. Runs in the child process that holds libclang.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from clang.cindex import CursorKind, TypeKind

from polydl.frontend.c_types import ELEMENTS
from polydl.frontend.counters import LIMITS
from polydl.frontend.integer_ranges import IntegerRanges, limits
from polydl.frontend.macro_definitions import MacroDefinition, macro_definitions, reachable
from polydl.frontend.operators import ASSIGN, TRUTHS, binary_operator
from polydl.frontend.source import Enclosure
from polydl.frontend.walk import text_offset

# Integers of these types keep their type in arithmetic; pet would convert them to int.
_UNPROMOTED = (TypeKind.UINT, TypeKind.LONG, TypeKind.ULONG, TypeKind.LONGLONG, TypeKind.ULONGLONG)
_NUMBER = re.compile(r"\d[\w']*")
_WORD = re.compile(r"[A-Za-z_]\w*")
_CONDITION = re.compile(r"^[ \t]*#[ \t]*(?:el)?if\b((?:[^\\\n]|\\\r?\n|\\.)*)", re.MULTILINE)
_CONSTANT = re.compile(r"(?P<digits>0[xX][\da-fA-F]+|0[bB][01]+|\d+)(?P<suffix>[uUlL]*)")


@dataclass(frozen=True)
class _Use:
    """An integer in a computation on data."""

    cursor: Any
    #: the outermost operation whose result its type can change; the integer itself where its value alone counts
    decided: Any

    @staticmethod
    def within(around: Sequence[Any]) -> _Use:
        """The use of the last of these operations, which lies in the others, the outermost first."""
        decided = around[-1]
        for each in reversed(around):
            operator = binary_operator(each) if each.kind == CursorKind.BINARY_OPERATOR else None
            if limits(each.type) is None or operator == ASSIGN:
                break
            decided = each
            if operator in TRUTHS:
                break
        return _Use(around[-1], decided)


class TypedIntegers:
    """Those of a function whose view has that ``text``."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._types: dict[tuple[int, int], str] = {}
        #: where integers stand that bounds or subscripts depend on
        self._deciding: set[int] = set()
        #: constants of macros' bodies, by the macro and their type
        self._macros: dict[tuple[str, str], list[_Use]] = {}
        self._deciding_macros: set[str] = set()
        #: whether macros stand for one operand, as far as that was asked
        self._operands: dict[str, bool] = {}
        #: what is computed with, by where it stands
        self._computed: dict[int, list[_Use]] = {}
        #: variables of macros' bodies that are computed with
        self._unshown: list[_Use] = []

    def constant(self, cursor: Any, around: Sequence[Any], decides: bool) -> None:
        """Note an integer constant, perhaps one that ``decides`` a subscript.

        ``around`` are the operations that it lies in, from the outermost to itself.
        """
        type_ = _kept(cursor)
        if type_ is None:
            return
        start = text_offset(cursor.location)
        spelled = _NUMBER.match(self._text, start)
        whole = (start, spelled.end()) if spelled is not None else self._macro(cursor, around)
        name = _WORD.match(self._text, start)
        if name is not None and decides:
            self._deciding_macros.add(name[0])
        if whole is not None:
            self._note(*whole, type_, around, decides)
        elif name is not None and not decides:
            self._macros.setdefault((name[0], type_), []).append(_Use.within(around))

    def variable(self, cursor: Any, start: int, around: Sequence[Any], decides: bool) -> None:
        """Note the use of an integer variable, at ``start`` or, if that is -1, in a macro."""
        type_ = _kept(cursor)
        if type_ is None:
            return
        whole = (start, start + len(cursor.spelling)) if start >= 0 else self._macro(cursor, around)
        if whole is not None:
            self._note(*whole, type_, around, decides)
        elif not decides and _is_computed(around):
            self._unshown.append(_Use.within(around))

    def _macro(self, cursor: Any, around: Sequence[Any]) -> tuple[int, int] | None:
        """Where the macro stands that stands for an integer; None if that is only a part of what it stands for."""
        start, outer = text_offset(cursor.location), around[-2] if around[1:] else None
        name = _WORD.match(self._text, start)
        if name is not None and not self._is_operand(name[0]):
            return None
        if start == cursor.location.offset:
            extent = _extent(cursor)
            return extent if outer is None or extent != _extent(outer) else None
        if name is None or self._text[name.end() :].lstrip().startswith("("):
            return None
        ends = [text_offset(each) for each in (outer.extent.start, outer.extent.end)] if outer is not None else []
        part = bool(ends) and ends[0] == start and ends[1] <= name.end()
        return None if part else (start, name.end())

    @cached_property
    def _definitions(self) -> list[MacroDefinition]:
        return macro_definitions(self._text)

    def _is_operand(self, name: str) -> bool:
        """Whether all that a macro stands for is one operand wherever it stands, as ``4u + 2u`` is not."""
        if name not in self._operands:
            names = reachable({name}, self._definitions)
            self._operands[name] = all(each.is_operand for each in self._definitions if each.name in names)
        return self._operands[name]

    def _note(self, start: int, end: int, type_: str, around: Sequence[Any], decides: bool) -> None:
        if decides:
            self._deciding.add(start)
            return
        self._types[start, end] = type_
        if _is_computed(around):
            self._computed.setdefault(start, []).append(_Use.within(around))

    def shown(self) -> list[Enclosure]:
        """The integers that are converted to their types where they stand.

        What a macro uses for a subscript as well stays as it is.
        """
        return [
            Enclosure(start, end, f"(({type_})")
            for (start, end), type_ in self._types.items()
            if start not in self._deciding
        ]

    def macros(self, function: Any) -> tuple[list[Enclosure], list[tuple[Any, str]]]:
        """The same in macros' definitions; and integers of the function of which that isn't possible, each with why."""
        shown: set[Enclosure] = set()
        problems = [(use, "the body of a macro names it") for use in self._unshown]
        problems += [
            (use, "a macro uses it in a subscript as well")
            for start, uses in self._computed.items()
            if start in self._deciding
            for use in uses
        ]
        deciding = reachable(self._deciding_macros | _asked(self._text), self._definitions)
        for (name, type_), uses in self._macros.items():
            names = reachable({name}, self._definitions)
            bodies = [definition for definition in self._definitions if definition.name in names]
            numbers = [number for body in bodies for number in body.numbers()]
            typed = [(start, start + len(text)) for start, text in numbers if _type_of(text) == type_]
            if not typed:
                problems += [(use, f"the definition of {name} isn't in this file") for use in uses]
            elif names & deciding:
                problems += [(use, f"{name} decides bounds or subscripts as well") for use in uses]
            else:
                shown |= {Enclosure(start, end, f"(({type_})") for start, end in typed}
        if not problems:
            return list(shown), []
        ranges = IntegerRanges(function)
        decided = {use.decided.hash: use.decided for use, _ in problems}
        counting = {key for key, operation in decided.items() if not ranges.in_int(operation)}
        return list(shown), [(use.cursor, reason) for use, reason in problems if use.decided.hash in counting]


def _kept(cursor: Any) -> str | None:
    """The type that an integer keeps in arithmetic; None for another one."""
    kind = cursor.type.get_canonical().kind
    return ELEMENTS[kind] if kind in _UNPROMOTED else None


def _is_computed(around: Sequence[Any]) -> bool:
    """Whether something is computed with an integer inside of these operations, whose last is itself.

    It is not where it is assigned, or converted to a floating-point number, and its value alone counts.
    """
    if not around[1:] or around[-2].type.get_canonical().kind in (TypeKind.FLOAT, TypeKind.DOUBLE):
        return False
    return around[-2].kind != CursorKind.BINARY_OPERATOR or binary_operator(around[-2]) != ASSIGN


def _extent(cursor: Any) -> tuple[int, int]:
    return cursor.extent.start.offset, cursor.extent.end.offset


def _asked(text: str) -> set[str]:
    """The words of the preprocessor's conditions."""
    return {word for condition in _CONDITION.findall(text) for word in _WORD.findall(condition)}


def _type_of(constant: str) -> str | None:
    """The type of an integer constant (C11, 6.4.4.1) if it is none that is an int; None for any other number."""
    match = _CONSTANT.fullmatch(constant)
    if match is None:
        return None
    octal = match["digits"].isdigit() and match["digits"].startswith("0")
    value, suffix = int(match["digits"], 8 if octal else 0), match["suffix"].lower()
    long = "long long" if "ll" in suffix else "long"
    types = [long, f"unsigned {long}"] if "l" in suffix else ["int", "unsigned int", "long", "unsigned long"]
    if "u" in suffix:
        types = [type_ for type_ in types if type_.startswith("unsigned")]
    elif match["digits"].isdigit() and not octal:
        types = [type_ for type_ in types if not type_.startswith("unsigned")]
    fitting = next((type_ for type_ in types if value <= LIMITS[type_][1]), "int")
    return None if fitting == "int" else fitting
