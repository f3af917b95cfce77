"""The header of a kernel: its prototype, what callers can rely on, and the two functions beside it."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from polydl import bfloat16
from polydl.codegen.kept_memory import SCRATCH, KeptMemory
from polydl.codegen.team import ALL_THREADS
from polydl.errors import UnsupportedConstructError
from polydl.ir.interface import Clause, Interface, PreparedCalls, Prototype
from polydl.ir.scop import Parameter, Scop

# Characters of a line of a comment.
_WIDTH = 110
_BOOL = "_Bool"
_IN_HEADER = {_BOOL: "bool", bfloat16.ELEMENT: "unsigned short"}


@dataclass(frozen=True)
class Threads:
    """What the loops of a function run on, beside the calling thread; nothing by default."""

    #: whether some run on OpenMP's
    used: bool = False
    #: whether each call chooses between all and one
    chosen: bool = False
    #: whether they sum up parts
    combined: bool = False
    #: how many gcc dealt them out to
    dealt: int = 0
    #: whether directives of the source's own say how many
    numbered: bool = False


_WAITING = (
    "Beside other busy programs OMP_WAIT_POLICY=passive has threads that wait give way to those that they wait for."
)


def prototype(scop: Scop, exported: str = "") -> Prototype:
    """The function's, under its own name or the one that it is exported under."""
    function = scop.function
    return _prototype(scop, function.return_type, exported or function.name, function.parameters)


def preparing_prototype(scop: Scop, name: str, buffer: str) -> Prototype:
    """That of the function that fills a ``buffer``."""
    return _prototype(scop, "void", name, prepared_parameters(scop), f"void *{buffer}")


def running_prototype(scop: Scop, name: str, buffer: str) -> Prototype:
    """That of the function that uses what a ``buffer`` was filled with."""
    return _prototype(scop, scop.function.return_type, name, scop.function.parameters, f"const void *{buffer}")


def type_in_header(type_: str) -> str:
    """A type of elements, or one that a function returns, as headers for C and C++ say it."""
    return _IN_HEADER.get(type_, type_)


def _prototype(scop: Scop, returned: str, name: str, parameters: Sequence[Parameter], *others: str) -> Prototype:
    """``others`` are declarations of parameters behind the source's."""

    def shown(type_: str, declared: Iterable[str]) -> str:
        return f"{type_} {name}({', '.join([*declared, *others]) or 'void'})"

    in_header = type_in_header(returned)
    sized = shown(in_header, (each.sized_in_header or each.in_header for each in parameters))
    return Prototype(
        shown(returned, (each.sized or each.declaration for each in parameters)),
        shown(in_header, (each.in_header for each in parameters)),
        sized if any(each.sized_in_header for each in parameters) else "",
        _BOOL in (returned, *(scop.array(each.array).element for each in parameters)),
    )


def prepared_parameters(scop: Scop) -> tuple[Parameter, ...]:
    """Those of the function that prepares: the constants, and integers that were fixed, since extents may need them."""
    return tuple(each for each in scop.function.parameters if each.array in scop.constants or each.value is not None)


def _prepared_calls(scop: Scop, plain: Interface, memory: KeptMemory) -> PreparedCalls | None:
    if not scop.constants:
        return None
    names = {parameter.name for parameter in scop.function.parameters}
    name = "polydl_prepared" if "prepared" in names else "prepared"
    return PreparedCalls(
        preparing_prototype(scop, plain.prepare, name), running_prototype(scop, plain.run, name), memory.prepared
    )


def interface(
    scop: Scop,
    memory: KeptMemory,
    kept: Sequence[str] = (),
    threads: Threads = Threads(),
    *,
    exported: str = "",
) -> Interface:
    """What callers of a variant are told.

    ``kept`` is what its microkernels say of memory of their own (``Microkernel.kept_memory``), ``exported`` how the
    function is called there if not as in the source. Raises UnsupportedConstructError if the source has names that the
    emitted functions need.
    """
    plain = Interface(exported or scop.function.name, prototype(scop, exported))
    renamed = [plain.function] if plain.function != scop.function.name else []
    steps = [plain.prepare, plain.run, plain.prepared_bytes] if scop.constants else []
    for name in (*renamed, plain.release, plain.missing, *steps):
        taken = re.search(rf"\b{name}\b", scop.source)
        if taken:
            raise _taken(name, scop, exported=name == plain.function)
    return Interface(
        plain.function,
        plain.prototype,
        (
            Clause("Sizes", _sizes(scop)),
            Clause("Alignment", "That of each element's type suffices."),
            Clause("Overlap", _overlap(scop)),
            *_variables(scop),
            *_constants(scop, plain, memory),
            Clause("Threads", _threads(memory, threads)),
            Clause("Memory", _memory(plain, memory, kept)),
        ),
        _prepared_calls(scop, plain, memory),
    )


def _taken(name: str, scop: Scop, *, exported: bool) -> UnsupportedConstructError:
    """The error for a name of the source that an emitted function needs, the ``exported`` one or one beside it."""
    is_parameter = any(parameter.name == name for parameter in scop.function.parameters)
    has = f"{'a parameter of the source' if is_parameter else 'the source'} has that name"
    message = f"the emitted library has a function {name} of its own, and {has}"
    return UnsupportedConstructError(
        f"the emitted function can't be called {name}: {has}" if exported else message,
        file=scop.file,
        construct=name,
        remedy=f"name it otherwise (--name), or rename the source's {'parameter ' if is_parameter else ''}{name}",
    )


def _sizes(scop: Scop) -> str:
    fixed = ", ".join(f"{p.name} = {p.value}" for p in scop.function.parameters if p.value is not None)
    if not fixed:
        return "Those of the prototype."
    return f"Made for {fixed}. For other values the loops run as they were written."


def _overlap(scop: Scop) -> str:
    written = {access.array for statement in scop.statements for access in statement.writes}
    passed = [array for array in scop.arrays if array.storage in ("parameter", "global")]
    outputs = ", ".join(array.name for array in passed if array.name in written)
    return f"What is written ({outputs}) must share no memory with any other array."


def _variables(scop: Scop) -> list[Clause]:
    """What a program that defines them as well has to know of the source's global variables."""
    names = [array.name for array in scop.arrays if array.storage == "global"]
    shared, private = ([name for name in names if (name in scop.private) == alone] for alone in (False, True))
    texts = []
    if shared:
        texts.append(f"{', '.join(shared)}: the program's, where it defines them, too (here they are weak).")
    if private:
        texts.append(
            f"{', '.join(private)}: static in the source, so that these are others than the source's. "
            "To share them, leave out static."
        )
    return [Clause("Variables", " ".join(texts))] if texts else []


def _constants(scop: Scop, plain: Interface, memory: KeptMemory) -> list[Clause]:
    """How constants are prepared once."""
    if not scop.constants:
        return []
    names = ", ".join(scop.constants)
    text = (
        f"{plain.prepare} fills a buffer of {memory.prepared:,} bytes ({plain.prepared_bytes}), aligned to 64, from "
        f"{names}; {plain.run} then does what {plain.function} does, for as long as {names} hold the same. Any number "
        "of threads may run with one buffer at once; it may be copied, and belongs to this library alone."
    )
    if not memory.prepared:
        text = (
            f"{names}: nothing is prepared, and {plain.prepared_bytes} is 0; {plain.run} does what {plain.function} "
            "does, and takes NULL."
        )
    return [Clause("Constants", text)]


def _threads(memory: KeptMemory, threads: Threads) -> str:
    where = "On the calling thread alone."
    if threads.dealt:
        where = (
            f"Loops that gcc deals out by itself run on {threads.dealt}; on the calling thread alone where OpenMP is "
            "told to use fewer (OMP_NUM_THREADS, omp_set_num_threads), and within a parallel region of the caller, "
            "unless OMP_MAX_ACTIVE_LEVELS is more than one. For one thread the loops are compiled once more: last bits "
            f"of sums may differ. {_WAITING}"
        )
    elif threads.used:
        where = (
            "On as many threads as OpenMP is told to use (OMP_NUM_THREADS, omp_set_num_threads); within a parallel "
            f"region of the caller on one, unless OMP_MAX_ACTIVE_LEVELS is more than one. {_WAITING}"
        )
    if threads.used or threads.dealt:
        where += " A child of fork must not call the function if its parent has: OpenMP's threads are missing there."
    if threads.numbered:
        where += " Where the source's own directives say how many (num_threads), that many run."
    if threads.chosen:
        where += (
            " The first two calls run on one thread (only the first, if it takes a tenth of a second), and so do later "
            "ones while calls on all threads take longer than those, as they may beside other programs. Compiled with "
            f"-D{ALL_THREADS}, all calls take all threads."
        )
    if threads.combined:
        where += " Sums are parts that threads add up: their last bits depend on the number of threads."
    signals = " Not to be called in a signal handler." if memory.arrays else ""
    return (
        f"{where} Several threads may call the function at once, unless one writes an array that another uses, "
        f"global and static ones of the source included.{signals}"
    )


def _memory(plain: Interface, memory: KeptMemory, kept: Sequence[str]) -> str:
    if memory.arrays:
        text = (
            f"Each calling thread keeps {memory.bytes:,} bytes for its next call, until it ends, calls "
            f"{plain.release}, or the library is closed. If there is no memory, the loops run as they were written."
        )
        text += (
            f" Compiled with -D{SCRATCH}=NAME, it takes {sum(memory.arrays):,} bytes from the program's thread-local "
            "pointer NAME on instead, a multiple of 64."
        )
        if memory.prepared:
            needed = KeptMemory(memory.reserved).bytes
            text += f" One that calls {plain.run} alone keeps {f'{needed:,} bytes' if needed else 'none'}."
    else:
        text = f"None is allocated and kept from one call to the next; {plain.release} has nothing to do."
    return " ".join([text, *dict.fromkeys(kept)])


def _steps(content: Interface) -> list[str]:
    """The lines of a header on the functions that prepare and run."""
    if content.prepared is None:
        return []
    return [
        "/* The same in two steps: the constants are prepared once, in a buffer of the caller's, and used often. */",
        f"size_t {content.prepared_bytes}(void);",
        *_declarations(content.prepared.prepare),
        *_declarations(content.prepared.run),
        "",
    ]


def _declarations(declared: Prototype) -> list[str]:
    """The lines that declare a function, once, or once for C++ and once for C."""
    if not declared.sized_in_header:
        return [f"{declared.in_header};"]
    return ["#ifdef __cplusplus", f"{declared.in_header};", "#else", f"{declared.sized_in_header};", "#endif"]


def header(content: Interface) -> str:
    """The text of a header, for C and C++."""
    guard = f"POLYDL_{content.function.upper()}_H"
    indent = " " * (2 + max((len(clause.topic) for clause in content.clauses), default=0))
    rows = [
        line
        for clause in content.clauses
        for line in textwrap.wrap(
            clause.text, _WIDTH, initial_indent=f"{clause.topic:{len(indent)}}", subsequent_indent=indent
        )
    ]
    declared = _declarations(content.prototype)
    lines = [
        f"#ifndef {guard}",
        f"#define {guard}",
        "",
        "/*",
        *(f" * {row}".replace("*/", "* /") for row in rows),
        " */",
        "",
        *(["#include <stddef.h>", ""] if content.prepared is not None else []),
        *(["#ifndef __cplusplus", "#include <stdbool.h>", "#endif", ""] if content.prototype.has_bool else []),
        "#ifdef __cplusplus",
        'extern "C" {',
        "#endif",
        "",
        *declared,
        "",
        *_steps(content),
        "/* Frees what the calling thread keeps. Its next call allocates it again. */",
        f"void {content.release}(void);",
        "",
        "/* An instruction set that the function was compiled to use and this processor lacks, or 0 if it lacks none.",
        "   Where it lacks one, the loops run as they were written. */",
        f"const char *{content.missing}(void);",
        "",
        "#ifdef __cplusplus",
        "}",
        "#endif",
        "",
        "#endif",
    ]
    return "\n".join([*lines, ""])
