"""The names of what a winner is written to: its function, and its files."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from polydl.errors import OptionError

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_RESERVED = re.compile(r"polydl_|polydl$|POLYDL_|libxsmm_|omp_|GOMP_|kmp_|__|_[A-Z]")
#: what the linker and the files that it puts before a program define
OF_THE_LINKER = frozenset(("_init", "_fini", "_start", "_end", "_edata", "_etext", "__bss_start"))
# fmt: off
_KEYWORDS = frozenset((
    "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum", "extern", "float",
    "for", "goto", "if", "inline", "int", "long", "main", "register", "restrict", "return", "short", "signed", "sizeof",
    "static", "struct", "switch", "typedef", "union", "unsigned", "void", "volatile", "while",
))
#: what may be a name in C17, and not in C++, in C23 or in gcc's C
OTHER_KEYWORDS = frozenset((
    "alignas", "alignof", "and", "and_eq", "asm", "bitand", "bitor", "bool", "catch", "char8_t", "char16_t", "char32_t",
    "class", "co_await", "co_return", "co_yield", "compl", "concept", "const_cast", "consteval", "constexpr",
    "constinit", "decltype", "delete", "dynamic_cast", "explicit", "export", "false", "friend", "mutable", "namespace",
    "new", "noexcept", "not", "not_eq", "nullptr", "operator", "or", "or_eq", "private", "protected", "public",
    "reinterpret_cast", "requires", "static_assert", "static_cast", "template", "this", "thread_local", "throw", "true",
    "try", "typeid", "typename", "typeof", "typeof_unqual", "using", "virtual", "wchar_t", "xor", "xor_eq",
))
# fmt: on
# What headers that programs with emitted code include define besides functions, and what the compiler does.
_OF_HEADERS = re.compile(
    r"\w+_t|FILE|NULL|EOF|NAN|INFINITY|BUFSIZ|NFDBITS|bool|true|false|linux|unix|alloca|assert|errno|offsetof|va_list"
    r"|u(int|long|short)|u_(char|int|long|short)|fd_(set|mask)|std(in|out|err)|signbit|fpclassify|math_errhandling"
    r"|is(finite|inf|nan|normal|unordered|greater|greaterequal|less|lessequal|lessgreater)|(hto[bl]e|[bl]e)\d\d(toh)?"
    r"|(BIG|LITTLE|PDP|BYTE)_(ENDIAN|ORDER)|\w*_(MAX|MIN)|U?INT\w*_C|L_ctermid|[LP]_tmp\w+|MB_CUR_MAX|W[A-Z]{5,}"
    r"|(CLOCKS?|TIMER?|SEEK|EXIT|FD|FP|M|MATH|HUGE|MADV|POSIX_MADV|MAP|MCL|MS|PROT)_\w+"
)
FileKind = Literal["c", "header", "library", "readme", "cmake", "pkgconfig", "archive", "licence", "object"]
#: those that a winner is written to; models keep its object as well
FILE_KINDS: tuple[FileKind, ...] = tuple(kind for kind in get_args(FileKind) if kind != "object")
README_FILE = "README.txt"
#: what was tried and measured, beside what a nest's winner is written to
REPORT_FILE = "report.json"
#: the same beside the function for a range of sizes
LIBRARY_FILE = "library.json"
#: a figure of how far the library is from the fastest kernels, beside it
SLOWDOWN_FILE = "slowdown.svg"
#: those of a static library, which not every winner calls
OPTIONAL_FILES: frozenset[FileKind] = frozenset(("archive", "licence"))


@dataclass(frozen=True)
class Naming:
    """What the user wants the emitted function to be called."""

    #: in place of the source's; "" for that
    name: str = ""
    #: of all that the emitted library exports
    prefix: str = ""

    def of(self, function: str) -> str:
        """The name that a function of the source is exported under. Raises OptionError for what C or C++ can't have."""
        exported = self.prefix + (self.name or function)
        if exported == function:
            return exported
        option = "--name" if self.name else "--prefix"
        remedy = f"write {option} fast_{function if self.name else ''}"
        if not _IDENTIFIER.fullmatch(exported):
            raise OptionError(f"{option}: {exported!r} is no C identifier", remedy=remedy)
        if exported in _KEYWORDS | OTHER_KEYWORDS | OF_THE_LINKER or _RESERVED.match(exported):
            raise OptionError(f"{option}: {exported} is reserved", remedy=remedy)
        if _OF_HEADERS.fullmatch(exported) or _is_in_c_library(exported):
            raise OptionError(f"{option}: {exported} is a name of the C library", remedy=remedy)
        return exported


def _is_in_c_library(name: str) -> bool:
    """Whether the C library that is linked to programs, or that of mathematics, defines ``name``."""
    for library in ("libc.so.6", "libm.so.6"):
        try:
            if hasattr(ctypes.CDLL(library), name):
                return True
        except OSError:
            # Other systems than those of GNU.
            continue
    return False


def package_name(exported: str) -> str:
    """What CMake's ``find_package`` and ``pkg-config`` call the folder of a function's files."""
    return f"{exported}_polydl"


def emitted_names(exported: str, directory: Path) -> Mapping[FileKind, Path]:
    """The paths in a directory, by kind, for the winner of the nest in a function that is exported under that name.

    Those of ``OPTIONAL_FILES`` are there only if the winner calls a library.
    """
    package = package_name(exported)
    return {
        "c": directory / f"{package}.c",
        "header": directory / f"{package}.h",
        "library": directory / f"lib{package}.so",
        "readme": directory / README_FILE,
        "cmake": directory / f"{package}Config.cmake",
        "pkgconfig": directory / f"{package}.pc",
        "archive": directory / "libpolydl_xsmm.a",
        "licence": directory / "LICENSE.libxsmm.txt",
        "object": directory / f"{package}.o",
    }
