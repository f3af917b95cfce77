"""What the user takes home: C, a header, a shared library, and how to link them. Each file is complete or not there."""

from __future__ import annotations

import atexit
import textwrap
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from polydl import durations, registry
from polydl.codegen import processor
from polydl.codegen.header import header
from polydl.codegen.parallel_source import variant_threads
from polydl.codegen.plain_unit import plain_unit
from polydl.codegen.tvm_ffi import ForeignCall, foreign_call
from polydl.emission.linking import cmake_package, cmake_use, lines, pkg_config, readme
from polydl.emission.replaced import check_replaced
from polydl.emitted_names import REPORT_FILE, FileKind, emitted_names
from polydl.errors import ExecutionError
from polydl.execute.toolchain import Toolchain
from polydl.ir.cold import COLD_IN_WORDS, Cold
from polydl.ir.counts import counted
from polydl.ir.interface import Clause, Interface
from polydl.ir.kernel import KernelSource
from polydl.ir.measurement import Measurement
from polydl.ir.numerics import Numerics, Rounding, in_words
from polydl.ir.scop import Scop
from polydl.ir.variant import Variant
from polydl.machine import Machine
from polydl.outcome.baselines import Baseline, plain_rounding
from polydl.pipeline import kernel
from polydl.plan.step_words import variant_in_words
from polydl.system.files import temporary_directory, write_atomically, write_together
from polydl.system.process_group import run_in_group
from polydl.system.sandbox import inside, is_sandboxed

if TYPE_CHECKING:
    from polydl.outcome.outcome import Outcome


#: The file of a run's measurements, and what it is.
REPORT = (REPORT_FILE, "what was tried and measured, where `polydl optimize` wrote it")
_LACKING = "Neither run nor checked: the processor on which it was made lacks some of its instructions."
_ELSEWHERE = "Neither run nor checked: it is for another machine than the one on which it was made."
_NOT_TIMED = "Checked, and not timed: the run was interrupted."


@dataclass(frozen=True)
class Winner:
    """What is emitted: the variant that won, with its code and its time, and what it was chosen among."""

    scop: Scop
    machine: Machine
    kernel: KernelSource
    variant: Variant
    #: None if this processor can't run the code
    measurement: Measurement | None
    #: what the code was allowed to do to sums and products
    numerics: Numerics
    #: what it does to them
    rounding: Rounding
    #: the nest as it was written
    baseline: Measurement | None
    #: place in the ranking, 1 is the first
    rank: int
    #: how many variants were ranked
    ranked: int
    #: on how many it runs
    threads: int
    #: how the plain nest was built, where no variant was as fast, or none passed
    plain: str = ""
    #: whether a variant passed
    passed: bool = True
    #: whether the processor at hand lacks instructions of the code
    lacking: bool = False
    #: what was flushed before each invocation
    cold: Cold = False
    #: the function that prepares its constants at every call; None where that was not measured
    unprepared: Measurement | None = None


@dataclass(frozen=True)
class EmittedFiles:
    """What was written."""

    #: by kind: the ``FileKind`` of what every emission has, and that of further documents
    paths: Mapping[str, Path]
    #: of the bytes that were written of the library, in hexadecimal digits
    library_sha256: str


def _numerics(winner: Winner) -> str:
    said = in_words(
        winner.numerics,
        winner.rounding,
        winner.kernel.vector_functions,
        flushes=winner.kernel.flushes,
        rounds=winner.scop.rounds,
    )
    if not winner.scop.rounds:
        return f"{winner.numerics}; {said}."
    accuracy = winner.measurement.accuracy if winner.measurement is not None else None
    if accuracy is None:
        return f"{winner.numerics}; {said}. Rounding errors were not measured."
    times = f"{accuracy.ratio:.2g} times that of the source's own arithmetic"
    return f"{winner.numerics}; {said}. Norm-wise error {accuracy.error:.2g}, {times}."


def _head(winner: Winner, toolchain: Toolchain, names: Mapping[FileKind, Path]) -> str:
    scop = winner.scop
    seconds = (winner.measurement.seconds_median if winner.measurement is not None else None) or 0.0
    measured = _NOT_TIMED
    if winner.measurement is None:
        measured = _LACKING if winner.lacking else _ELSEWHERE
    elif seconds:
        said = [durations.shown(seconds), f"{scop.flops / seconds / 1e9:.4g} GFLOPS", COLD_IN_WORDS[winner.cold]]
        measured = f"Measured {', '.join(filter(None, said))}."
    uses = [
        f"{use.name} m={use.m} n={use.n} k={use.k} batch={use.batch} rows={use.rows}, "
        f"{use.operands[0]} += {use.operands[1]} * {use.operands[2]}"
        for use in winner.kernel.microkernels
    ]
    defines = " ".join(f"-D {name}={value}" for name, value in scop.defines)
    threads = counted(winner.threads, "thread")
    who = [
        f"Variant {winner.kernel.id}, rank {winner.rank} of {winner.ranked},",
        f"tuned for {winner.machine.name},",
        f"{threads}, on {datetime.now(UTC):%Y-%m-%d}:",
        *(line for words in variant_in_words(scop, winner.variant) for line in _indented(words)),
        *(f"Microkernel: {use}" for use in uses),
    ]
    if winner.plain:
        lacks = "is as fast as they are, built by" if winner.passed else "passed. They are built by"
        who = [
            f"The source's own loops: no variant that was measured {lacks}",
            *_indented(winner.plain),
            f"on {winner.machine.name}, {threads}, on {datetime.now(UTC):%Y-%m-%d}.",
        ]
    rows = [
        f"Generated by polydl from {Path(scop.file).name} (function {scop.function.name}, nest {scop.digest}).",
        *([f"Sizes: {defines}"] if defines else []),
        *who,
        *textwrap.wrap(f"Numerics: {_numerics(winner)}", 100),
        measured,
        *_prepared(winner),
    ]
    return head_comment(rows, winner.kernel, toolchain, names)


def _prepared(winner: Winner) -> list[str]:
    """Rows of the head on what is prepared of constants."""
    contents = winner.kernel.interface
    if contents.prepared is None or not contents.prepared.bytes:
        return []
    names = ", ".join(winner.scop.constants)
    size = f"{contents.prepared.bytes:,} bytes"
    text = f"That is {contents.run}, once {contents.prepare} has prepared {size} of {names}."
    seconds = winner.unprepared.seconds_median if winner.unprepared is not None else None
    if seconds:
        text += f" {contents.function}, which prepares at every call, takes {durations.shown(seconds)}."
    return textwrap.wrap(text, 100)


def head_comment(rows: Sequence[str], code: KernelSource, toolchain: Toolchain, names: Mapping[FileKind, Path]) -> str:
    """The comment at the head of emitted C: these rows, then how it is built into a program."""
    rows = [
        *rows,
        "Arrays must not overlap. An object, a program with it, or a shared library:",
        *(f"  {line}" for line in lines(code, toolchain, names).values()),
        "With CMake:",
        *(f"  {line}" for line in cmake_use(code.function)),
    ]
    return "/*\n" + "".join(f" * {row}".rstrip() + "\n" for row in rows).replace("*/", "* /") + " */\n"


def _indented(text: str) -> list[str]:
    return textwrap.wrap(text, 100, initial_indent="  ", subsequent_indent="      ")


def processor_clause(machine: Machine, toolchain: Toolchain, code: KernelSource, remedy: str) -> Clause:
    """What code was tuned for and is compiled with. ``remedy`` is what to do where a processor lacks something."""
    used = ", ".join(processor.used_sets(toolchain.macros()))
    flags = [flag for flag in toolchain.emitted_flags(code) if not flag.startswith("-I")]
    text = f"Tuned for {machine.name}, and compiled with {' '.join(flags)}."
    if used:
        text += (
            f" That uses {used}. On a processor that lacks any of these the loops run as they were written, and "
            f"{code.interface.missing} names it: then {remedy} there."
        )
    return Clause("Processor", " ".join([text, *_asked_for(code)]))


def _asked_for(code: KernelSource) -> list[str]:
    """Sentences on instructions of microkernels that no check of the processor covers: their code asks by itself."""
    names = dict.fromkeys(use.name for use in code.microkernels)
    macros = {name: registry.load("microkernels", name).macros for name in names}
    return [
        f"{name} needs {', '.join(further)} as well; where a process may not use these, plain loops compute its "
        f"products, and {code.interface.missing} does not say so."
        for name in names
        if (further := processor.further_sets(macros[name]))
    ]


def _interface(winner: Winner, toolchain: Toolchain, foreign: ForeignCall | None) -> Interface:
    """What the kernel's callers are told, with what is known of the library that is compiled now."""
    interface = winner.kernel.interface
    tuned = processor_clause(winner.machine, toolchain, winner.kernel, "optimize again")
    clauses = [
        replace(clause, text=f"{clause.text}{_other_sizes(winner)}") if clause.topic == "Sizes" else clause
        for clause in interface.clauses
    ]
    more = [Clause("Numerics", _numerics(winner)), tuned]
    if foreign is not None:
        more.append(tensors_clause(foreign))
    return replace(interface, clauses=(*clauses, *more))


def tensors_clause(foreign: ForeignCall) -> Clause:
    """How the function is called with tensors."""
    return Clause(
        "Tensors",
        f"{foreign.symbol} is the same for callers by the C ABI of Apache TVM FFI, such as NumPy, PyTorch and JAX: its "
        "arguments are tensors of DLPack and numbers, which are checked.",
    )


def _other_sizes(winner: Winner) -> str:
    """What those who pass other sizes can expect."""
    if (
        winner.baseline is None
        or winner.measurement is None
        or all(p.value is None for p in winner.scop.function.parameters)
    ):
        return ""
    plain, tuned = winner.baseline.seconds_median, winner.measurement.seconds_median
    if not plain or not tuned:
        return ""
    return (
        f" For these sizes that takes {plain / tuned:.3g} times as long ({durations.shown(plain)} in place of "
        f"{durations.shown(tuned)}). Other sizes are a run of polydl of their own, with --name, in the same program."
    )


def write_kernel(winner: Winner, toolchain: Toolchain, directory: Path | None) -> EmittedFiles:
    """Write the winner's C and header and what helps to link them, and compile them with the line that the C shows.

    Without a directory, one is made that goes away with the process. Raises ResourceError, ExecutionError.
    """
    code = winner.kernel
    names = emitted_names(code.function, directory or own_directory())
    foreign = foreign_call(winner.scop, code.function)
    if foreign is not None:
        code = replace(code, c="".join([foreign.definitions, code.c, foreign.function]))
    content = _interface(winner, toolchain, foreign)
    return write_unit(code, content, _head(winner, toolchain, names), toolchain, names, REPORT)


def own_directory() -> Path:
    """A directory that goes away with the process."""
    stack = ExitStack()
    directory = stack.enter_context(temporary_directory())
    atexit.register(stack.close)
    return directory


def write_unit(
    code: KernelSource,
    content: Interface,
    head: str,
    toolchain: Toolchain,
    names: Mapping[FileKind, Path],
    document: tuple[str, str],
    measured: str = "",
) -> EmittedFiles:
    """Write C after its ``head``, its header and what helps to link them, and compile them with the line it shows.

    ``document`` is the file with what was measured, and what it is; ``measured`` is its text if it changes with the
    library, or "" if it is written apart. Older files stay until all is compiled, and of a failed compile the C is left
    without a library. Raises ResourceError, ExecutionError, OptionError where a file that polydl did not write would be
    replaced.
    """
    described = names["c"].parent / document[0]
    check_replaced(described.parent, described.name)
    line = lines(code, toolchain, names)["library"]
    files: dict[FileKind, str | bytes] = {
        "c": head + code.c,
        "header": header(content),
        "readme": readme(code, content, toolchain, names, document),
        "cmake": cmake_package(code, toolchain),
        "pkgconfig": pkg_config(code),
    }
    for library in code.static_libraries:
        files["archive"] = library.archive.read_bytes()
        files["licence"] = library.licence.read_bytes()
    with temporary_directory() as build:
        for kind in ("c", "archive"):
            if kind in files:
                write_atomically(build / names[kind].name, files[kind])
        command = ["/bin/sh", "-c", line]
        done = run_in_group(inside(command, build) if is_sandboxed() else command, build, timeout_seconds=None)
        library_file = build / names["library"].name
        if done.returncode or not library_file.exists():
            gone = [names["library"], *([described] if measured else [])]
            write_together({names[kind]: text for kind, text in files.items()}, gone)
            raise ExecutionError(f"the emitted C does not compile:\n{done.stderr}", file=str(names["c"]), remedy=line)
        files["library"] = compiled = library_file.read_bytes()
    written = {names[kind]: each for kind, each in files.items()}
    write_together({**({described: measured} if measured else {}), **written})
    return EmittedFiles({kind: path for kind, path in names.items() if kind in files}, sha256(compiled).hexdigest())


def write_winner(result: Outcome, directory: Path | None) -> EmittedFiles:
    """``write_kernel`` for the winner of an optimization, under the name that it is to have.

    Where nothing can be run, that is the first of the ranking; where no variant is as fast, the plain nest.
    """
    best, toolchain = result.winner, result.toolchain
    assert toolchain is not None
    if result.plain is not None:
        return _write_plain(result, result.plain, directory)
    ranked = best.ranked if best is not None else result.ranking.entries[0]
    applied = result.applied(ranked.variant)
    code = best.kernel if best is not None and best.kernel.function == result.exported else None
    winner = Winner(
        result.scop,
        result.machine,
        code or kernel(applied, result.machine.vector_bytes, result.exported),
        ranked.variant,
        best.measurement if best is not None else None,
        numerics=result.numerics,
        rounding=applied.rounding,
        baseline=result.baselines[0].measurement if result.baselines else None,
        rank=best.rank if best is not None else 1,
        ranked=len(result.ranking.entries),
        threads=variant_threads(result.scop, ranked.variant, result.machine.threads),
        unprepared=result.unprepared,
        lacking=bool(result.lacking),
        cold=result.cold,
    )
    return write_kernel(winner, toolchain, directory)


def _write_plain(result: Outcome, plain: Baseline, directory: Path | None) -> EmittedFiles:
    build = plain.build
    winner = Winner(
        result.scop,
        result.machine,
        plain_unit(result.scop, build.kernel, build.region, result.exported, asking_region=build.asking_region),
        Variant(()),
        plain.measurement,
        numerics=result.numerics,
        rounding=plain_rounding(plain),
        baseline=result.baselines[0].measurement,
        rank=0,
        ranked=len(result.ranking.entries),
        threads=build.threads,
        plain=plain.name,
        passed=result.winner is not None,
        cold=result.cold,
    )
    return write_kernel(winner, build.toolchain, directory)
