"""Which parts of the source the preprocessor leaves out, and whether macros of the command line have an effect."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from clang.cindex import SourceLocation, SourceRange, TokenKind, conf

from polydl.errors import OptionError

# That no backslash joins to the next one.
_END_OF_LINE = re.compile(r"(?<!\\)\n")
_CONDITION = re.compile(r"^\s*#\s*if", re.MULTILINE)


def has_conditions(text: str) -> bool:
    """Whether the preprocessor may leave out parts of a text."""
    return _CONDITION.search(text) is not None


def inactive(unit: Any, text: str, file: Any = None) -> list[tuple[int, int]]:
    """The ranges of the main file, or another one of the unit with that ``text``, that ``#if`` excludes.

    The unit was parsed with a detailed record of preprocessing.
    """
    if not has_conditions(text):
        return []

    class Ranges(ctypes.Structure):
        _fields_ = (("count", ctypes.c_uint), ("ranges", ctypes.POINTER(SourceRange)))

    library = conf.lib
    library.clang_getSkippedRanges.restype = ctypes.POINTER(Ranges)
    library.clang_disposeSourceRangeList.argtypes = [ctypes.POINTER(Ranges)]
    skipped = library.clang_getSkippedRanges(unit, file or unit.get_file(unit.spelling))
    if not skipped:
        return []
    ranges = [skipped.contents.ranges[i] for i in range(skipped.contents.count)]
    excluded = [(skipped.start.offset, skipped.end.offset) for skipped in ranges]
    library.clang_disposeSourceRangeList(skipped)
    return excluded


def check_macros(
    unit: Any, macros: Mapping[str, str], text: str, file: str, with_conditions: Callable[[], Any]
) -> None:
    """Check that each macro of the command line has an effect: the file uses it and gives it no other value.

    ``text`` is that of the unit. ``with_conditions`` parses it with a detailed record of preprocessing. Raises
    OptionError.
    """
    for diagnostic in unit.diagnostics:
        redefined = re.fullmatch(r"'(\w+)' macro redefined", diagnostic.spelling)
        if redefined and redefined[1] in macros:
            name, place = redefined[1], diagnostic.location
            raise OptionError(
                f"-D {name}={macros[name]} has no effect, since {name} is defined here",
                file=file if place.file is None else place.file.name,
                line=place.line,
                construct=f"#define {name}",
                remedy=f"leave out -D {name}, or put #ifndef {name} and #endif around the definition",
            )
    unused, detailed = dict(macros), False
    for where, content in _texts(unit, text):
        mentioned = [name for name in unused if re.search(rf"\b{re.escape(name)}\b", content)]
        if mentioned:
            if has_conditions(content) and not detailed:
                unit, detailed = with_conditions(), True
            used = _words(unit, unit.get_file(where), content)
            unused = {name: value for name, value in unused.items() if name not in used}
    for name, value in unused.items():
        raise OptionError(
            f"-D {name}={value} has no effect: neither the file nor a header of its own has the word {name} "
            "where the compiler reads it",
            file=file,
            remedy=f"leave out -D {name}, or correct its name",
        )


def _texts(unit: Any, text: str) -> Iterator[tuple[str, str]]:
    """The files of a unit by name, the main one with that text first."""
    yield unit.spelling, text
    for name in dict.fromkeys(each.include.name for each in unit.get_includes()):
        try:
            yield name, Path(name).read_text(encoding="latin-1")
        except OSError:
            continue


def _words(unit: Any, file: Any, text: str) -> set[str]:
    """The words of a file that the compiler reads, directives included: not comments, literals and what is left out."""
    # What is left out begins with its condition, which was read.
    excluded = [(_end_of_line(text, start), end) for start, end in inactive(unit, text, file)]
    ends = [SourceLocation.from_offset(unit, file, offset) for offset in (0, len(text))]
    tokens = unit.get_tokens(extent=SourceRange.from_locations(*ends))
    return {
        token.spelling
        for token in tokens
        if token.kind in (TokenKind.IDENTIFIER, TokenKind.KEYWORD)
        and not any(start <= token.location.offset < end for start, end in excluded)
    }


def _end_of_line(text: str, offset: int) -> int:
    found = _END_OF_LINE.search(text, offset)
    return len(text) if found is None else found.start()
