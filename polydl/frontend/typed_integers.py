"""Integers in computations on data whose types matter, and the edits that keep these types.

``a[i] * 3U`` multiplies by an unsigned 3, which pet would convert to int; it is shown ``a[i] * ((unsigned int)3U)``. A
constant of a macro's body becomes that in the macro's definition. Runs in the child process that holds libclang.
"""

from __future__ import annotations

import re
from typing import Any

from clang.cindex import TypeKind

from polydl.frontend.c_types import ELEMENTS
from polydl.frontend.counters import LIMITS
from polydl.frontend.macro_definitions import macro_definitions, reachable
from polydl.frontend.source import Enclosure
from polydl.frontend.walk import spelling_offset

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

    def constant(self, cursor: Any, around: Any | None, decides: bool) -> None:
        """Note an integer constant inside of the operation ``around``, perhaps one that ``decides`` a subscript."""
        type_ = _kept(cursor)
        start = spelling_offset(cursor.location)
        if type_ is None:
            return
        spelled = _NUMBER.match(self._text, start)
        if spelled is not None:
            self._note(start, spelled.end(), type_, decides)
            return
        name = _WORD.match(self._text, start)
        extent = _extent(cursor)
        passed = start != cursor.location.offset
        if passed and name is not None and not self._text[name.end() :].lstrip().startswith("("):
            self._note(start, name.end(), type_, decides)
        elif not passed and (around is None or extent != _extent(around)):
            # All that the macro stands for.
            self._note(*extent, type_, decides)
        elif name is not None and decides:
            self._deciding_macros.add(name[0])
        elif name is not None:
            self._macros.setdefault((name[0], type_), cursor)

    def variable(self, cursor: Any, name: str, start: int, decides: bool) -> None:
        """Note the use of an integer variable of that name, which stands at ``start``."""
        type_ = _kept(cursor)
        if type_ is not None:
            self._note(start, start + len(name), type_, decides)

    def _note(self, start: int, end: int, type_: str, decides: bool) -> None:
        if decides:
            self._deciding.add(start)
        else:
            self._types[start, end] = type_

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
        """The same in macros' definitions; and constants of which that isn't possible, each with why."""
        shown: set[Enclosure] = set()
        problems: list[tuple[Any, str]] = []
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
