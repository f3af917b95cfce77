"""How an emitted folder is built into a program: shell lines, a package for CMake, and a README that shows both."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from pathlib import Path

from polydl.emitted_names import FileKind, package_name
from polydl.execute.toolchain import Toolchain
from polydl.ir.interface import Interface
from polydl.ir.kernel import KernelSource

_WIDTH = 100
_OPENMP = "-fopenmp"
_PKG_CONFIG = "$(PKG_CONFIG_PATH=$PWD pkg-config --cflags --libs {})"


def lines(kernel: KernelSource, toolchain: Toolchain, names: Mapping[FileKind, Path]) -> dict[str, str]:
    """Shell lines for the emitted C's folder, by what they make: an object, a shared library, a program with it."""
    source, library = names["c"].name, names["library"].name
    target = names["c"].with_suffix(".o").name
    link = (*toolchain.openmp_flags, *toolchain.emitted_link_flags(kernel))
    return {
        "object": toolchain.compile_line(kernel, source, target),
        "program": " ".join((toolchain.command, "program.c", target, *link, "-o", "program")),
        "library": toolchain.compile_line(kernel, source, library),
    }


def cmake_use(exported: str) -> list[str]:
    """What a CMakeLists.txt says to use the function."""
    package = package_name(exported)
    return [
        f"find_package({package} REQUIRED PATHS /path/of/this/folder)",
        f"target_link_libraries(program PRIVATE polydl::{exported})",
    ]


def cmake_package(kernel: KernelSource, toolchain: Toolchain) -> str:
    """A package configuration file, which compiles the emitted C beside it as a static library."""
    exported, package = kernel.function, package_name(kernel.function)
    flags = [flag for flag in toolchain.emitted_flags(kernel) if flag != _OPENMP]
    archives = [f"${{CMAKE_CURRENT_LIST_DIR}}/{each.archive.name}" for each in kernel.static_libraries]
    libraries = [*archives, *toolchain.emitted_link_flags(kernel)[len(archives) :]]
    link = ["OpenMP::OpenMP_C"] if _OPENMP in toolchain.flags else []
    quoted = [f'"{each}"' for each in libraries]
    rows = [
        f"# find_package({package}) offers polydl::{exported}: {package}.c beside this file as a static library.",
        f"if(TARGET polydl::{exported})",
        "  return()",
        "endif()",
        "enable_language(C)",
        *(["include(CMakeFindDependencyMacro)", "find_dependency(OpenMP COMPONENTS C)"] if link else []),
        f'add_library({package} STATIC "${{CMAKE_CURRENT_LIST_DIR}}/{package}.c")',
        f"set_target_properties({package} PROPERTIES POSITION_INDEPENDENT_CODE ON)",
        f"target_compile_options({package} PRIVATE {' '.join(_quoted(flag) for flag in flags)})",
        f'target_include_directories({package} INTERFACE "${{CMAKE_CURRENT_LIST_DIR}}")',
        f"target_link_libraries({package} PUBLIC {' '.join([*link, *quoted])})",
        f"add_library(polydl::{exported} ALIAS {package})",
    ]
    return "\n".join([*rows, ""])


def pkg_config(kernel: KernelSource) -> str:
    """The file by which ``pkg-config`` tells how a program is compiled and linked with the shared library beside it."""
    package = package_name(kernel.function)
    rows = [
        f"Name: {package}",
        f"Description: {kernel.function}, made by polydl",
        "Version: 1.0",
        "Cflags: -I${pcfiledir}",
        f"Libs: -L${{pcfiledir}} -Wl,-rpath,${{pcfiledir}} -l{package}",
    ]
    return "\n".join([*rows, ""])


def _quoted(flag: str) -> str:
    """As an argument of a command of CMake's."""
    escaped = flag.replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$").replace(";", "\\;")
    return flag if flag == escaped and not set(flag) & set(" ()#") else f'"{escaped}"'


def readme(
    kernel: KernelSource,
    content: Interface,
    toolchain: Toolchain,
    names: Mapping[FileKind, Path],
    document: tuple[str, str],
) -> str:
    """The text of the folder's README. ``document`` is the file with what was measured, and what it is."""
    shown = lines(kernel, toolchain, names)
    indent = 2 + max(len(clause.topic) for clause in content.clauses)
    clauses = [
        line
        for clause in content.clauses
        for line in textwrap.wrap(
            clause.text, _WIDTH, initial_indent=f"{clause.topic:{indent}}", subsequent_indent=" " * indent
        )
    ]
    needed = [each.archive.name for each in kernel.static_libraries]
    if any(flag.startswith("-I") for flag in kernel.compile_flags):
        needed.append("headers of the source (-I)")
    files = [
        (names["c"].name, f"the function, for a C compiler and {', '.join(needed) or 'nothing else'}"),
        (names["header"].name, "its declaration, for C and C++"),
        (names["library"].name, "the same, compiled"),
        (names["cmake"].name, "the package for CMake"),
        (names["pkgconfig"].name, "the same for pkg-config, of the shared library"),
        *((each.archive.name, "a library that the function calls") for each in kernel.static_libraries),
        *((each.licence.name, "the licence of that library") for each in kernel.static_libraries),
        document,
    ]
    return "\n".join(
        [
            f"{content.prototype.text};",
            *_prepared(content),
            "",
            f"was made by polydl. It takes the place of the source's function: include {names['header'].name} and link",
            "with one of these, in this folder.",
            "",
            "An object, and a program with it:",
            "",
            f"  {shown['object']}",
            f"  {shown['program']}",
            "",
            "A shared library:",
            "",
            f"  {shown['library']}",
            "",
            "With CMake, in CMakeLists.txt:",
            "",
            *(f"  {line}" for line in cmake_use(kernel.function)),
            "",
            "With pkg-config and the shared library:",
            "",
            f"  {toolchain.command} program.c {_PKG_CONFIG.format(names['pkgconfig'].stem)} -o program",
            "",
            "Where the path of this folder has blanks, with `eval` before that line.",
            "",
            "What callers can rely on, and must see to:",
            "",
            *(f"  {line}" for line in clauses),
            "",
            "Files:",
            "",
            *(f"  {name:{max(len(each) for each, _ in files)}}  {what}" for name, what in files),
            "",
        ]
    )


def _prepared(content: Interface) -> list[str]:
    """The prototypes of the functions for constants."""
    if content.prepared is None:
        return []
    prepared = content.prepared
    return [f"size_t {content.prepared_bytes}(void);", f"{prepared.prepare.text};", f"{prepared.run.text};"]
