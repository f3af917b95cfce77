"""The C compiler: finding one that works, and its command lines."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Literal

from polydl.errors import MissingComponentError, OptionError
from polydl.ir.kernel import KernelSource
from polydl.native import privileged
from polydl.system.files import reason_of, temporary_directory
from polydl.system.full_disk import DISK_FULL, disk_full
from polydl.system.process_group import run_in_group
from polydl.vector_functions import SCALAR_MATH, arguments, prototypes

_OPENMP = "-fopenmp"
# The second is for compilers that know the processor by -mcpu alone, as some do for ARM.
_FLAGS = (("-O3", "-march=native", _OPENMP), ("-O3", "-mcpu=native", _OPENMP))
# A nest may call sqrtf or expf.
_LIBRARIES = ("-lm",)
_FAST_MATH = "-ffast-math"
_TIMEOUT_SECONDS = 60.0
# Where Debian puts each version of LLVM.
_LLVM = Path("/usr/lib")
# What makes a compiler call the vector versions of such functions that are declared.
_VECTOR_FUNCTIONS = {"gcc": (), "clang": ("-fveclib=libmvec", "-fno-math-errno")}
_SEARCHED = ("gcc", "clang", "cc")
# Operations stay in the order of the source, whatever the processor, the pragmas and the vectorizers would allow.
_IN_ORDER = ("-O2", "-fno-tree-vectorize", "-fno-tree-slp-vectorize", "-fno-strict-aliasing", "-ffp-contract=off")

# Without omp.h, which distributions ship apart from the library.
_OPENMP_PROGRAM = """\
int omp_get_max_threads(void);
int main(void) {
  int threads = 0;
#pragma omp parallel reduction(+ : threads)
  threads += 1;
  return threads <= omp_get_max_threads() ? 0 : 1;
}
"""


@dataclass(frozen=True)
class Toolchain:
    """A compiler that works: it has linked an OpenMP program."""

    #: of the compiler
    path: Path
    kind: Literal["gcc", "clang"]
    #: as the compiler says it, such as ``13.2.0``
    version: str
    #: with which it linked the program
    flags: tuple[str, ...]
    #: flags that link OpenMP's library with C whose directives are not compiled
    openmp_linked: tuple[str, ...] = ()

    @staticmethod
    def find(name: str | None = None, march: str = "", instructions: Sequence[str] = ()) -> Toolchain:
        """The compiler of that name or path, or else the first of gcc, clang and cc that works.

        It compiles for this machine, or for processors that it calls ``march`` and that have further ``instructions``,
        as its options name them (``-mamx-tile``), but for those that it doesn't know. Raises OptionError if the one
        named is not there or is neither gcc nor clang, or knows no such processors, and MissingComponentError if there
        is none at all or it has no OpenMP.
        """
        if march:
            return _for_processors(Toolchain.find(name), march, instructions)
        if name is not None:
            return _examine(found_compilers(name)[0])
        refusals: list[str] = []
        for path in found_compilers():
            try:
                return _examine(path)
            except (OptionError, MissingComponentError) as error:
                refusals.append(error.message)
        raise MissingComponentError(
            "; ".join(refusals) or f"there is no C compiler ({', '.join(_SEARCHED)})",
            remedy=privileged("apt-get install -y gcc libc6-dev"),
        )

    @property
    def command(self) -> str:
        """The compiler as a user would type it: its name alone if it is the one in the search path."""
        return self.path.name if _on_path(self.path.name) == self.path else str(self.path)

    @property
    def name(self) -> str:
        """The compiler with its version and its flags, for messages."""
        return " ".join((self.kind, self.version, *self.flags))

    @property
    def instructions(self) -> tuple[str, ...]:
        """Its flags that name instructions beyond those of the processors that ``-march`` names."""
        return tuple(flag for flag in self.flags if flag.startswith("-m") and not flag.startswith(("-march", "-mcpu")))

    @property
    def in_order(self) -> Toolchain:
        """The same compiler with flags that reorder nothing: for the reference of every check.

        Directives of OpenMP are not compiled, so that one thread runs the source. What it calls of OpenMP is linked.
        """
        processor = (flag for flag in self.flags if flag.startswith("-m"))
        flags = (*_IN_ORDER, *self.plain_addresses, *processor)
        return replace(self, flags=flags, openmp_linked=self.openmp_flags)

    @property
    def plain_addresses(self) -> tuple[str, ...]:
        """Flags with which gcc writes to the addresses that the source names.

        gcc 12 computes others from a loop's counter, and may then take a function for one that writes nothing and leave
        out its calls: ``B[2 * i][j] = B[i][j]`` over j and i, for one.
        """
        return ("-fno-ivopts",) if self.kind == "gcc" else ()

    @property
    def openmp_flags(self) -> tuple[str, ...]:
        """Its flags that link OpenMP's library, which may be another version's in a folder of its own."""
        return self.openmp_linked or tuple(flag for flag in self.flags if flag == _OPENMP or flag.startswith("-L"))

    @property
    def cautious(self) -> Toolchain:
        """The same compiler with ``-O2`` for ``-O3``: for a nest that it gets wrong."""
        return replace(self, flags=tuple("-O2" if flag == "-O3" else flag for flag in self.flags))

    def compile_line(self, kernel: KernelSource, source: str | Path, output: str | Path) -> str:
        """The shell line that compiles an emitted file. The suffix of ``output`` selects library, object or program."""
        suffix = Path(output).suffix
        if suffix == ".so" and _FAST_MATH in kernel.compile_flags:
            # Linked with the flag, the library would have its whole process take subnormal numbers as zeros.
            target = Path(output).with_suffix(".o")
            link = (*self.openmp_flags, *self.emitted_link_flags(kernel))
            linked = shlex.join((self.command, "-shared", str(target), "-o", str(output), *link))
            return f"{self.compile_line(kernel, source, target)} && {linked}"
        kind = {".so": ("-shared", "-fPIC"), ".o": ("-c", "-fPIC")}.get(suffix, ())
        link = () if suffix == ".o" else self.emitted_link_flags(kernel)
        if suffix == ".so" and kernel.static_libraries:
            # They are this library's own.
            link = ("-Wl,--exclude-libs,ALL", *link)
        words = (self.command, *self.emitted_flags(kernel), *kind, str(source), "-o", str(output), *link)
        return shlex.join(words)

    def emitted_link_flags(self, kernel: KernelSource) -> tuple[str, ...]:
        """What is linked with an emitted file, in whose folder the static libraries lie."""
        if not kernel.static_libraries:
            return (*kernel.link_flags, *_LIBRARIES)
        archives = (each.archive.name for each in kernel.static_libraries)
        system = (flag for each in kernel.static_libraries for flag in each.link_flags)
        return (*dict.fromkeys(archives), *dict.fromkeys(system), *_LIBRARIES)

    def emitted_flags(self, kernel: KernelSource) -> tuple[str, ...]:
        """What an emitted file is compiled with."""
        return (*self.flags, *self._function_flags(kernel), *kernel.compile_flags)

    def macros(self) -> frozenset[str]:
        """The macros that the compiler defines by itself with its flags: what its target has, among other things."""
        return frozenset(_macros(self.path, self.flags))

    def library_commands(
        self, kernel: KernelSource, source: Path, output: Path, objects: Sequence[Path] = ()
    ) -> tuple[tuple[str, ...], ...]:
        """The commands that build the library which is timed, in turn: of a source that has the kernel.

        Functions of the library take precedence over those of the process that loads it (a nest may be called
        ``gamma``). An undefined function is an error of these commands, not of loading. What the first of two leaves is
        ``output`` with the suffix ``.o``.
        """
        compiler, flags, first = str(self.path), self.emitted_flags(kernel), source
        compiling: tuple[tuple[str, ...], ...] = ()
        # Of the former as for the library that is emitted, so that both compute with subnormal numbers.
        if _FAST_MATH in kernel.compile_flags or self.openmp_linked:
            first = output.with_suffix(".o")
            compiling = ((compiler, *flags, "-fPIC", "-c", str(source), "-o", str(first)),)
            flags = self.openmp_flags
        kind = ("-shared", "-fPIC", "-Wl,-Bsymbolic", "-Wl,-z,defs")
        files = (str(first), *map(str, objects), "-o", str(output))
        return (*compiling, (compiler, *flags, *kind, *files, *kernel.link_flags, *_LIBRARIES))

    def object_command(self, source: Path, output: Path) -> tuple[str, ...]:
        """The command that compiles C which is linked with kernels, whatever these are compiled with."""
        return (str(self.path), "-O2", "-fPIC", "-c", str(source), "-o", str(output))

    def _function_flags(self, kernel: KernelSource) -> tuple[str, ...]:
        """Flags for the functions that the kernel calls with whole vectors, if their vector versions can be linked."""
        return _linked_functions(self, kernel.vector_functions) if kernel.vector_functions else ()


def found_compilers(name: str | None = None) -> tuple[Path, ...]:
    """The compiler of that name or path, or all compilers that ``Toolchain.find`` would try in turn. None is run.

    Raises OptionError if the one named doesn't exist.
    """
    if name is None:
        return tuple(path for path in map(_on_path, _SEARCHED) if path is not None)
    path = _on_path(name)
    if path is None:
        remedy = f"name one that is installed ({', '.join(_SEARCHED)}), or leave the choice to polydl"
        raise OptionError(f"there is no compiler {name!r}", remedy=remedy)
    return (path,)


def _on_path(name: str) -> Path | None:
    """The program of that name or path; None if there is none.

    Absolute, since it runs in other folders. A link stays one: by its name a program may know what it is to do.
    """
    path = shutil.which(name)
    return None if path is None else Path(path).absolute()


def examine_compilers() -> None:
    """Find out what works with gcc and clang, which this process keeps for when it asks for them."""
    for kind in ("gcc", "clang"):
        with suppress(OptionError, MissingComponentError):
            Toolchain.find(kind)


@lru_cache(maxsize=64)
def _linked_functions(toolchain: Toolchain, names: tuple[str, ...]) -> tuple[str, ...]:
    """Flags with which a program that calls these functions with whole vectors can be linked, by trial."""
    flags = _VECTOR_FUNCTIONS[toolchain.kind]
    # One argument is enough for testing whether the declared vector versions can be linked.
    lines = [*prototypes(names), "volatile float polydl_values[64];", "int main(void) {", "  float values[64];"]
    lines += ["  for (int i = 0; i < 64; ++i) values[i] = polydl_values[i];", "#pragma omp simd"]
    calls = " + ".join(f"{name}({', '.join(['values[i]'] * arguments(name))})" for name in names)
    lines += [f"  for (int i = 0; i < 64; ++i) values[i] = {calls};"]
    lines += ["  for (int i = 0; i < 64; ++i) polydl_values[i] = values[i];", "  return 0;", "}", ""]
    with temporary_directory() as directory:
        source, program = Path(directory, "functions.c"), Path(directory, "functions")
        source.write_text("\n".join(lines))
        command = [str(toolchain.path), *toolchain.flags, *flags, str(source), "-o", str(program), *_LIBRARIES]
        return flags if _run(command, directory).returncode == 0 else (f"-D{SCALAR_MATH}",)


def _examine(path: Path) -> Toolchain:
    return _examined(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=64)
def _examined(path: Path, _changed: int) -> Toolchain:
    """What works with a compiler. A process asks once, unless the file changes."""
    kind, version = _identify(path)
    stderr = ""
    with temporary_directory() as directory:
        source, program = Path(directory, "openmp.c"), Path(directory, "openmp")
        source.write_text(_OPENMP_PROGRAM)
        for flags in (*_FLAGS, *(_with_other_runtimes() if kind == "clang" else ())):
            result = _run([str(path), *flags, str(source), "-o", str(program)], directory)
            if result.returncode == 0:
                return Toolchain(path, kind, version, flags)
            if any(os.strerror(number) in result.stderr for number in DISK_FULL):
                raise disk_full(directory)
            stderr = stderr or result.stderr
    package = f"libomp-{version.split('.')[0]}-dev" if kind == "clang" else "gcc libc6-dev"
    raise MissingComponentError(
        f"{path} can't link an OpenMP program:\n{stderr.strip()}",
        remedy=f"{privileged(f'apt-get install -y {package}')}, or name another compiler",
    )


def _with_other_runtimes() -> tuple[tuple[str, ...], ...]:
    """Flags with which a clang links the OpenMP library of another version: its interface stays the same.

    Of Debian's versions, just one may have it installed.
    """
    folders = sorted({library.parent for library in _LLVM.glob("llvm-*/lib/libomp.so")}, reverse=True)
    return tuple((*flags, f"-L{folder}") for folder in folders for flags in _FLAGS)


def _for_processors(native: Toolchain, march: str, instructions: Sequence[str]) -> Toolchain:
    """The compiler with another target. Raises OptionError if it has none of that name."""
    first = next(place for place, flag in enumerate(native.flags) if flag.endswith("=native"))
    flags = (*native.flags[:first], f"-march={march}", *native.flags[first + 1 :])
    with temporary_directory() as directory:
        source, program = Path(directory, "openmp.c"), Path(directory, "openmp")
        source.write_text(_OPENMP_PROGRAM)

        def tried(*more: str) -> subprocess.CompletedProcess[str]:
            words = (*flags[: first + 1], *more, *flags[first + 1 :])
            return _run([str(native.path), *words, str(source), "-o", str(program)], directory)

        result = tried()
        known = tuple(instructions)
        if not result.returncode and known and tried(*known).returncode:
            known = tuple(each for each in known if not tried(each).returncode)
    if result.returncode:
        said = next((line for line in result.stderr.splitlines() if "error" in line), "it can't link a program")
        raise OptionError(
            f"{native.path} doesn't compile for {march}: {said.strip()}",
            construct=f"--march {march}",
            remedy="name processors as the compiler does, such as x86-64-v3 or skylake-avx512",
        )
    return replace(native, flags=(*flags[: first + 1], *known, *flags[first + 1 :]))


def _identify(path: Path) -> tuple[Literal["gcc", "clang"], str]:
    """Kind and version of a compiler, from its predefined macros, since any program may be called cc."""
    macros = _macros(path)
    if "__clang__" in macros:
        return "clang", ".".join(macros[f"__clang_{part}__"] for part in ("major", "minor", "patchlevel"))
    if "__GNUC__" in macros:
        return "gcc", ".".join(macros[name] for name in ("__GNUC__", "__GNUC_MINOR__", "__GNUC_PATCHLEVEL__"))
    raise OptionError(f"{path} is neither gcc nor clang", remedy="name one of those")


def _macros(path: Path, flags: Sequence[str] = ()) -> dict[str, str]:
    """The macros of one word that a compiler predefines."""
    output = _run([str(path), *flags, "-dM", "-E", "-x", "c", "/dev/null"]).stdout
    return dict(re.findall(r"^#define (\w+) (\S+)$", output, re.MULTILINE))


def _run(command: list[str], folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    try:
        return run_in_group(command, folder, timeout_seconds=_TIMEOUT_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise OptionError(f"{command[0]} can't be run: {reason_of(error)}", remedy="name another compiler") from None
