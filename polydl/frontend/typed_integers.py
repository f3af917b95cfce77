"""Integers in computations on data whose types matter, and the edits that keep these types.

``a[i] * 3U`` multiplies by an unsigned 3, which pet would convert to int; it is shown ``a[i] * ((unsigned int)3U)``. A
constant of a macro's body becomes that in the macro's definition; a variable there is refused. Runs in the child
process that holds libclang.
"""

from __future__ import annotations

import re
from typing import Any

from clang.cindex import CursorKind, TypeKind

from polydl.frontend.c_types import ELEMENTS
from polydl.frontend.counters import LIMITS
from polydl.frontend.macro_definitions import macro_definitions, reachable
from polydl.frontend.operators import ASSIGN, binary_operator
from polydl.frontend.source import Enclosure
from polydl.frontend.walk import text_offset

# Integers of these types keep their type in arithmetic; pet would convert them to int.
_UNPROMOTED = (TypeKind.UINT, TypeKind.LONG, TypeKind.ULONG, TypeKind.LONGLONG, TypeKind.ULONGLONG)
_NUMBER = re.compile(r"\d[\w']*")
_WORD = re.compile(r"[A-Za-z_]\w*")
_CONDITION = re.compile(r"^[ \t]*#[ \t]*(?:el)?if\b((?:[^\\\n]|\\\r?\n|\\.)*)", re.MULTILINE)
_CONSTANT = re.compile(r"(?P<digits>0[xX][\da-fA-F]+|0[bB][01]+|\d+)(?P<suffix>[uUlL]*)")


class TypedIntegers:
    """Those of a function whose view has that ``text``."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._types: dict[tuple[int, int], str] = {}
        #: where integers stand that bounds or subscripts depend on
        self._deciding: set[int] = set()
        #: macros with constants in their bodies, with a constant and its type
        self._macros: dict[tuple[str, str], Any] = {}
        self._deciding_macros: set[str] = set()
        #: those whose types count, by where they stand
        self._counting: dict[int, Any] = {}
        #: variables of macros' bodies whose types count
        self._unshown: list[Any] = []

    def constant(self, cursor: Any, around: Any | None, decides: bool) -> None:
        """Note an integer constant inside of the operation ``around``, perhaps one that ``decides`` a subscript."""
        type_ = _kept(cursor)
        start = text_offset(cursor.location)
        if type_ is None:
            return
        spelled = _NUMBER.match(self._text, start)
        whole = (start, spelled.end()) if spelled is not None else self._macro(cursor, around)
        name = _WORD.match(self._text, start)
        if whole is not None:
            self._note(*whole, cursor, around, decides)
        elif name is not None and decides:
            self._deciding_macros.add(name[0])
        elif name is not None:
            self._macros.setdefault((name[0], type_), cursor)

    def variable(self, cursor: Any, start: int, around: Any | None, decides: bool) -> None:
        """Note the use of an integer variable inside of an operation, at ``start`` or, if that is -1, in a macro."""
        if _kept(cursor) is None:
            return
        whole = (start, start + len(cursor.spelling)) if start >= 0 else self._macro(cursor, around)
        if whole is not None:
            self._note(*whole, cursor, around, decides)
        elif not decides and _counts(around):
            self._unshown.append(cursor)

    def _macro(self, cursor: Any, around: Any | None) -> tuple[int, int] | None:
        """Where the macro stands that stands for an integer; None if that is only a part of what it stands for."""
        start = text_offset(cursor.location)
        if start == cursor.location.offset:
            extent = _extent(cursor)
            return extent if around is None or extent != _extent(around) else None
        name = _WORD.match(self._text, start)
        part = around is not None and text_offset(around.extent.start) == start
        if part or name is None or self._text[name.end() :].lstrip().startswith("("):
            return None
        return start, name.end()

    def _note(self, start: int, end: int, cursor: Any, around: Any | None, decides: bool) -> None:
        type_ = _kept(cursor)
        if decides:
            self._deciding.add(start)
        elif type_ is not None:
            self._types[start, end] = type_
            if _counts(around):
                self._counting[start] = cursor

    def shown(self) -> list[Enclosure]:
        """The integers that are converted to their types where they stand.

        What a macro uses for a subscript as well stays as it is.
        """
        return [
            Enclosure(start, end, f"(({type_})")
            for (start, end), type_ in self._types.items()
            if start not in self._deciding
        ]

    def macros(self) -> tuple[list[Enclosure], list[tuple[Any, str]]]:
        """The same in macros' definitions; and integers of which that isn't possible, each with why."""
        shown: set[Enclosure] = set()
        problems = [(cursor, "the body of a macro names it") for cursor in self._unshown]
        problems += [
            (cursor, "a macro uses it in a subscript as well")
            for start, cursor in self._counting.items()
            if start in self._deciding
        ]
        definitions = macro_definitions(self._text) if self._macros else []
        deciding = reachable(self._deciding_macros | _asked(self._text), definitions)
        for (name, type_), cursor in self._macros.items():
            names = reachable({name}, definitions)
            numbers = [each for definition in definitions if definition.name in names for each in definition.numbers()]
            typed = [(start, start + len(text)) for start, text in numbers if _type_of(text) == type_]
            shown |= {Enclosure(start, end, f"(({type_})") for start, end in typed}
            if not typed:
                problems.append((cursor, f"the definition of {name} isn't in this file"))
            elif names & deciding:
                problems.append((cursor, f"{name} decides bounds or subscripts as well"))
        return list(shown), problems


def _kept(cursor: Any) -> str | None:
    """The type that an integer keeps in arithmetic; None for another one."""
    kind = cursor.type.get_canonical().kind
    return ELEMENTS[kind] if kind in _UNPROMOTED else None


def _counts(around: Any | None) -> bool:
    """Whether the type of an integer counts inside of an operation, and not its value alone.

    The value does where it is assigned, or converted to a floating-point number.
    """
    if around is None or around.type.get_canonical().kind in (TypeKind.FLOAT, TypeKind.DOUBLE):
        return False
    return around.kind != CursorKind.BINARY_OPERATOR or binary_operator(around) != ASSIGN


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
