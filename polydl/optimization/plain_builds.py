"""The builds of the plain nest: compilers, flags and threads.

Each is the user's source with nothing changed but compiler, flags and, where iterations of a loop are proved
independent, directives. All are verified and timed beside the candidates, as one of them.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from polydl import bfloat16
from polydl.codegen import function_text, team
from polydl.codegen.dealt import dealing
from polydl.codegen.original import defines, original
from polydl.codegen.parallel_source import (
    DirectedSource,
    makes_threads,
    own_threads,
    with_parallel_loops,
    without_directives,
)
from polydl.errors import AnalysisError, MissingComponentError, OptionError
from polydl.execute.contract import Built, Executor, ProgressCallback
from polydl.execute.toolchain import Toolchain
from polydl.ir.kernel import KernelSource
from polydl.ir.numerics import Numerics, keeps_precision, keeps_products, reassociates
from polydl.ir.scop import Scop
from polydl.optimization.added_numbers import may_add_numbers
from polydl.outcome.baselines import PlainBuild
from polydl.plan.rewriting import as_written
from polydl.vector_functions import called, leaves

_ASSOCIATIVE = "-fassociative-math"
# What lets a compiler reorder sums, and make instructions of square roots, which set no errno. Products, infinities and
# NaNs stay what they are.
_REASSOCIATED = (_ASSOCIATIVE, "-fno-signed-zeros", "-fno-trapping-math", "-fno-math-errno")
# By compiler and processor: what takes -ffast-math's leave to estimate reciprocals, and those of roots. gcc knows no
# such flag on ARM. On x86 it estimates reciprocals of roots all the same, unless it may make none of quotients.
_GCC_WITHOUT_ESTIMATES = ("-mno-recip",)
_WITHOUT_ESTIMATES: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("gcc", "x86_64"): _GCC_WITHOUT_ESTIMATES,
    ("clang", "x86_64"): ("-mrecip=none",),
    ("clang", "aarch64"): ("-mrecip=none",),
}


def plain_builds(scop: Scop, toolchain: Toolchain, threads: int, level: Numerics) -> tuple[PlainBuild, ...]:
    """The builds to compare with; the nest as it was written, with nothing but the toolchain's own flags, is the first.

    One thread, all ``threads`` as the compiler deals them out, and all as OpenMP does: a directive stands before each
    outermost loop that is proved parallel and has as many iterations, or else before the outermost one that is proved
    parallel. A source with OpenMP directives of its own is also built without them in these two ways, but for the
    second where they stand before the same loops, and for one thread. Each of these is built as it is, and once more
    with flags by which sums may be reordered, where ``level`` admits that. The other one of gcc and clang takes part
    where it is installed.
    """
    plain = original(scop)
    written = own_threads(scop, threads)
    further = _further(scop, plain, threads, level)
    builds: list[PlainBuild] = []
    for compiler in (toolchain, *_others(toolchain)):
        kind = "" if compiler is toolchain else f"-{compiler.kind}-{compiler.version}"
        fast = _emitted_flags(scop, level, compiler) if scop.rounds else ()
        for word, flags in dict.fromkeys((("original", ()), ("plain" if fast else "original", fast))):
            name = f"{word}{kind}"
            builds.append(replace(_build(name, plain, compiler, flags), threads=written))
            if further.bare is not None and written > 1:
                build = _build(f"{name}-one-thread", further.bare, compiler, flags, ", without its own directives")
                builds.append(replace(build, region=further.bare_region))
            if further.parallel is not None:
                directive = ", omp parallel for" + (" in place of its own" if further.bare is not None else "")
                build = _build(f"{name}-threads", further.parallel, compiler, flags, directive)
                build = replace(build, region=further.parallel_region, asking_region=further.asking_region)
                builds.append(replace(build, threads=threads))
            if further.serial is not None and compiler.kind == "gcc":
                dealt = (*flags, dealing(threads))
                without = ", without its own" if further.bare is not None else ""
                build = _build(f"{name}-dealt", further.serial, compiler, dealt, without)
                builds.append(replace(build, region=further.bare_region, threads=threads))
    return tuple(builds)


@dataclass(frozen=True)
class _Further:
    """What the nest is built from where there are several threads, beside the source as it was written."""

    #: with directives before the loops that were proved parallel; None where there are none, or the source's own stand
    #: there
    parallel: KernelSource | None = None
    #: its loops; "" where they are as they were written
    parallel_region: str = ""
    #: the same where each of these directives asks first
    asking_region: str = ""
    #: without the directives of the source's region; None where it has none
    bare: KernelSource | None = None
    #: its loops; "" where they are as they were written
    bare_region: str = ""
    #: without directives of its own, for a compiler that deals iterations out
    serial: KernelSource | None = None


def _further(scop: Scop, plain: KernelSource, threads: int, level: Numerics) -> _Further:
    """What more there is to build from. Nothing for one thread, and for a source with threads around the region."""
    if threads == 1 or makes_threads(scop, inside=False):
        return _Further()
    further, text = _Further(serial=plain), without_directives(scop)
    if text != scop.source:
        bare = replace(plain, c=_c(scop, text))
        further = _Further(bare=bare, bare_region=function_text.region(scop, text), serial=bare)
    directed = _parallel(scop, threads, level)
    if directed is None:
        return further
    return replace(
        further,
        parallel=replace(plain, c=_c(scop, directed.text())),
        parallel_region=function_text.region(scop, directed.text()),
        asking_region=function_text.region(scop, directed.text(team.QUESTION)),
    )


def fast_flags(level: Numerics) -> tuple[str, ...]:
    """The flags with which a compiler may do to sums and products what a level of numerics admits."""
    if not reassociates(level):
        return ()
    return _REASSOCIATED if keeps_products(level) else ("-ffast-math",)


def _emitted_flags(scop: Scop, level: Numerics, compiler: Toolchain) -> tuple[str, ...]:
    """``fast_flags``, without what has no error bound unless the level is ``fast``.

    Newton's step makes NaN of the estimates of 1/0 and 1/inf, and with them of a sigmoid of -100. clang is to reorder
    no sums where it would take some apart.
    """
    flags = fast_flags(level)
    if not reassociates(level) or not keeps_precision(level):
        return flags
    ordered = compiler.kind == "clang" and may_add_numbers(scop)
    if keeps_products(level):
        return tuple(flag for flag in flags if not (ordered and flag == _ASSOCIATIVE))
    without = _WITHOUT_ESTIMATES.get((compiler.kind, platform.machine()), ())
    if without == _GCC_WITHOUT_ESTIMATES and _calls_roots(scop):
        without = (*without, "-fno-reciprocal-math")
    return (*flags, *without, *(("-fno-associative-math",) if ordered else ()))


def _calls_roots(scop: Scop) -> bool:
    return any(name.endswith(("sqrt", "sqrtf")) for name in leaves(scop, called(scop.statements)))


def build_all(
    executor: Executor,
    builds: Sequence[PlainBuild],
    others: Sequence[KernelSource],
    toolchain: Toolchain,
    directory: Path,
    progress: ProgressCallback | None,
) -> Mapping[str, Built]:
    """Plain builds with their compilers and other kernels with ``toolchain``, by id. Raises ResourceError."""
    kernels = {toolchain: list(others)}
    for each in builds:
        kernels.setdefault(each.toolchain, []).append(each.kernel)
    built = (
        each
        for compiler, members in kernels.items()
        if members
        for each in executor.build(members, compiler, directory, progress=progress)
    )
    return {each.kernel.id: each for each in built}


def _name(toolchain: Toolchain, flags: Sequence[str] = (), directive: str = "") -> str:
    return " ".join((toolchain.kind, *toolchain.flags, *flags)) + directive


def _build(
    identity: str, kernel: KernelSource, toolchain: Toolchain, flags: tuple[str, ...], directive: str = ""
) -> PlainBuild:
    changed = replace(kernel, id=identity, compile_flags=(*kernel.compile_flags, *flags))
    return PlainBuild(_name(toolchain, flags, directive), changed, toolchain)


def _parallel(scop: Scop, threads: int, level: Numerics) -> DirectedSource | None:
    """The source with OpenMP's directive before its parallel loops; None where there is none to put in."""
    try:
        return with_parallel_loops(scop, as_written(scop, numerics=level).dependences, threads)
    except AnalysisError:
        return None


def _c(scop: Scop, source: str) -> str:
    """What is compiled of the nest's source with other lines in its region."""
    return defines(scop) + bfloat16.with_header(source)


def _others(toolchain: Toolchain) -> tuple[Toolchain, ...]:
    """The other of gcc and clang for the same processors, if it is installed and works."""
    kind = "clang" if toolchain.kind == "gcc" else "gcc"
    named = [flag.removeprefix("-march=") for flag in toolchain.flags if flag.startswith("-march=")]
    try:
        other = Toolchain.find(kind, "".join(named).replace("native", ""), toolchain.instructions)
    except (OptionError, MissingComponentError):
        return ()
    return (other,) if other.kind == kind else ()
