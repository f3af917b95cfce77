"""Names that a file may not define, since generated code, its libraries or the compiler mean something else by them.

Nor may headers of its own, which generated code includes, too. Variables also need names that isl can read.

Runs in the child process that holds libclang.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from clang.cindex import CursorKind, SourceLocation, StorageClass, conf

from polydl.emitted_names import OF_THE_LINKER
from polydl.errors import SourceError
from polydl.frontend.source import line_of, one_line
from polydl.ir.interface import Interface

#: What generated code includes, depending on the variant.
HEADERS = ("stdint.h", "stdlib.h", "string.h", "pthread.h", "sys/mman.h")

# Code that gcc and clang generate calls OpenMP's library and these functions of the C library, without a declaration.
_OF_THE_COMPILER = ("memcpy", "memmove", "memset", "memcmp", "abort")
_OF_OTHERS = "|".join((*_OF_THE_COMPILER, *sorted(OF_THE_LINKER)))
# What is called polydl would have the names of generated code beside it, such as polydl_release.
_LINKED = re.compile(rf"libxsmm_\w*|omp_\w*|GOMP_\w*|kmp_\w*|__kmpc_\w*|polydl|{_OF_OTHERS}")
_OWN = re.compile(r"polydl_\w*|POLYDL_\w*")
# What generated code can't do without. Types and qualifiers may be macros: what these mean is what Clang reads.
_KEYWORDS = re.compile("break|case|continue|default|do|else|for|goto|if|return|sizeof|switch|while")
_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.MULTILINE)
# The guard of a header that polydl emitted, which a file may include.
_GUARD = re.compile(r"POLYDL_\w*_H")
_LINKED_KINDS = (CursorKind.FUNCTION_DECL, CursorKind.VAR_DECL)
_CONFLICT = re.compile(r"'(\w+)'")


def check_names(
    unit: Any, function: str, variables: Iterable[tuple[str, int]], text: str, file: str, shipped: Sequence[str]
) -> None:
    """Check what the file, headers of its own and the function, whose ``variables`` are (name, offset), define.

    Headers in the directories ``shipped`` are polydl's or the compiler's. Raises SourceError.
    """
    emitted = Interface(function)
    beside = re.compile(f"{_OWN.pattern}|{emitted.release}|{emitted.missing}")
    linked = re.compile(f"{_LINKED.pattern}|{beside.pattern}")
    for match in _MACRO.finditer(text):
        _check(beside, match[1], match.start(1), text, file)
        _check(_KEYWORDS, match[1], match.start(1), text, file)
    headers = dict(_own_headers(unit, shipped))
    for name, content in headers.items():
        for match in _MACRO.finditer(content):
            if not _GUARD.fullmatch(match[1]):
                _check(beside, match[1], match.start(1), content, name)
    for cursor in unit.cursor.get_children():
        place = cursor.location
        if conf.lib.clang_Location_isFromMainFile(place):
            pattern = linked if _is_defined(cursor) else beside
            _check(pattern, cursor.spelling, place.offset, text, file)
        elif headers and not conf.lib.clang_Location_isInSystemHeader(place):
            header = place.file.name if place.file is not None else None
            if header not in headers:
                continue
            pattern = beside
            if cursor.kind in _LINKED_KINDS:
                # An emitted header declares what stands beside a function.
                pattern = linked if _is_defined(cursor) and not _is_of_libxsmm(header) else _OWN
            _check(pattern, cursor.spelling, place.offset, headers[header], header)
    for name, offset in variables:
        _check(_OWN, name, offset, text, file)
        if not name.isascii():
            remedy = f"give {name} another name, of letters from A to Z, digits and underscores"
            raise _named(f"the name {name} has other characters than ASCII's", offset, text, file, remedy)


def _is_defined(cursor: Any) -> bool:
    """Whether the program gets a function or a variable here, as from ``float a[64];``, which Clang calls tentative."""
    if cursor.kind == CursorKind.VAR_DECL and cursor.storage_class != StorageClass.EXTERN:
        return True
    return cursor.kind in _LINKED_KINDS and bool(cursor.is_definition())


def _is_of_libxsmm(header: str) -> bool:
    return Path(header).name.startswith("libxsmm")


def _own_headers(unit: Any, shipped: Sequence[str]) -> Iterator[tuple[str, str]]:
    """(name, text) of the headers that are neither the system's nor ``shipped``."""
    for inclusion in unit.get_includes():
        header = inclusion.include
        if conf.lib.clang_Location_isInSystemHeader(SourceLocation.from_offset(unit, header, 0)):
            continue
        path = Path(header.name)
        if not any(path.is_relative_to(folder) for folder in shipped) and path.is_file():
            yield header.name, path.read_bytes().decode("latin-1")


def _check(pattern: re.Pattern[str], name: str, offset: int, text: str, file: str) -> None:
    if not pattern.fullmatch(name):
        return
    owner = "generated code"
    if name in _OF_THE_COMPILER:
        owner = "the compiler"
    elif name in OF_THE_LINKER:
        owner = "the linker"
    elif _KEYWORDS.fullmatch(name):
        owner = "C"
    elif name.startswith("libxsmm_"):
        owner = "LIBXSMM"
    elif name.startswith(("omp_", "GOMP_", "kmp_", "__kmpc_")):
        owner = "OpenMP's library"
    message, remedy = f"the name {name} belongs to {owner}", f"give {name} another name in the file"
    raise _named(message, offset, text, file, remedy)


def _named(message: str, offset: int, text: str, file: str, remedy: str) -> SourceError:
    """The error for a name that stands at an offset, or, if that is -1, elsewhere."""
    line = line_of(text, offset) if offset >= 0 else None
    construct = one_line(text.split("\n")[line - 1]) if line is not None else None
    return SourceError(message, file=file, line=line, construct=construct, remedy=remedy)


def conflict(message: str) -> tuple[str, str] | None:
    """Message and remedy for what Clang says of a file that only fails after ``HEADERS``; None if they aren't there."""
    if "file not found" in message:
        return None
    name = _CONFLICT.search(message)
    what = f"`{name[1]}`" if name is not None else "a name"
    if "undeclared" in message:
        return (
            f"{what} is not declared where the C library's headers come first, as in generated code: {message}",
            "define _GNU_SOURCE in the file itself, before it includes anything",
        )
    return (
        f"{what} is something else in the C library's headers, which generated code includes: {message}",
        f"give {name[1] if name is not None else 'it'} another name in the file",
    )
