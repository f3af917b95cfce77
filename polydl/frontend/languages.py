"""Files in other languages than C: what they are called, and what to write in their place."""

from __future__ import annotations

import re
from pathlib import PurePath

from polydl.errors import SourceError
from polydl.frontend.source import one_line, without_comments

_FORTRAN = (
    "write the nest as a C function whose subscripts stand in reverse order and count from 0, c[j][i] for c(i+1, j+1), "
    "and call what polydl emits through an interface with bind(C)"
)
_CPP = (
    "write the nest as a C function over arrays or pointers, in a file of its own, and declare what polydl emits with "
    'extern "C" in the C++ program'
)
_KERNEL = "write the nest as a C function with loops over what the threads do, since polydl makes code for processors"
_OTHER = "write the nest as a C function, and call the library that polydl emits"
_SUFFIXES = {
    **dict.fromkeys((".f", ".for", ".ftn", ".f77", ".f90", ".f95", ".f03", ".f08"), ("Fortran", _FORTRAN)),
    **dict.fromkeys((".cc", ".cpp", ".cxx", ".c++", ".hh", ".hpp", ".hxx"), ("C++", _CPP)),
    **dict.fromkeys((".cu", ".cuh"), ("CUDA", _KERNEL)),
    ".cl": ("OpenCL", _KERNEL),
    ".rs": ("Rust", _OTHER),
    ".jl": ("Julia", _OTHER),
    ".py": ("Python", _OTHER),
}
# What only these languages have at the start of a line.
_SIGNS = (
    (re.compile(r"^\s*(?:pure |elemental |recursive )*subroutine\s+\w+\s*(?:\(|$)", re.I | re.M), ".f90"),
    (re.compile(r"^\s*(?:end\s+do|enddo|implicit\s+none|end\s+subroutine)\b", re.I | re.M), ".f90"),
    (re.compile(r"^\s*(?:__global__|__device__)\b", re.M), ".cu"),
    (re.compile(r"^\s*(?:template\s*<|namespace\b|using\s+namespace\b|class\s+\w+\s*[:{])|\bstd::", re.M), ".cpp"),
    (re.compile(r"^\s*#\s*include\s*<(?:[a-z_]+)>", re.M), ".cpp"),
    (re.compile(r'^\s*extern\s*"C"', re.M), ".cpp"),
)


def named(error: SourceError, text: str) -> SourceError:
    """The error that Clang's stands for: that the file is in another language, if its name or its text says so.

    A file that Clang reads as C is C, whatever its name is.
    """
    assert error.file is not None
    language = _SUFFIXES.get(PurePath(error.file).suffix.lower())
    blank = without_comments(text, keep_strings=True)
    signs = [(sign, _SUFFIXES[suffix]) for pattern, suffix in _SIGNS if (sign := pattern.search(blank))]
    sign = next((sign for sign, meant in signs if language in (None, meant)), None)
    language = language or next((meant for _, meant in signs), None)
    if language is None:
        return error
    line, construct = error.line, error.construct
    if sign is not None:
        start = sign.start() + len(sign[0]) - len(sign[0].lstrip())
        line = text.count("\n", 0, start) + 1
        construct = one_line(text.split("\n")[line - 1])
    name, remedy = language
    return SourceError(
        f"this is {name}, and polydl reads C", file=error.file, line=line, construct=construct, remedy=remedy
    )
