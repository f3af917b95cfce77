"""The builds of the plain nest: compilers, flags and threads.

Each is the user's source with nothing changed but compiler, flags and, where iterations of a loop are proved
independent, one directive. All are verified and timed beside the candidates, as one of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from polydl.baselines import PlainBuild
from polydl.bfloat16 import CONVERSIONS
from polydl.codegen import function_text
from polydl.codegen.original import defines, original
from polydl.codegen.parallel_source import with_parallel_loops
from polydl.errors import AnalysisError, MissingComponentError, OptionError
from polydl.execute.contract import Built, Executor, ProgressCallback
from polydl.execute.toolchain import Toolchain
from polydl.ir.kernel import KernelSource
from polydl.ir.numerics import Numerics, keeps_products, reassociates
from polydl.ir.scop import Scop
from polydl.plan.rewriting import as_written

_FLOATING = frozenset({"float", "double", "long double", "_Float16"})
_OWN_THREADS = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+omp\b.*\b(?:parallel|target|task)", re.MULTILINE)
# What lets a compiler reorder sums and leaves products, infinities and NaNs what they are.
_REASSOCIATED = ("-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math")


def plain_builds(scop: Scop, toolchain: Toolchain, threads: int, level: Numerics) -> tuple[PlainBuild, ...]:
    """The builds to compare with; the nest as it was written, with nothing but the toolchain's own flags, is the first.

    One thread, all ``threads`` as the compiler deals them out, and all as OpenMP does: a directive stands before each
    outermost loop that is proved parallel, unless the source has its own. Sums may be reordered where ``level`` admits
    that. The other one of gcc and clang takes part where it is installed.
    """
    plain = original(scop)
    fast = fast_flags(level) if _rounds(scop) else ()
    builds = [PlainBuild(_name(toolchain), plain, toolchain)]
    own_threads = _OWN_THREADS.search(scop.source) is not None
    parallel = _parallel(scop, plain, threads, level) if threads > 1 and not own_threads else None
    for compiler in (toolchain, *_others(toolchain)):
        word = "plain" if compiler is toolchain else f"plain-{compiler.kind}-{compiler.version}"
        if fast or compiler is not toolchain:
            builds.append(_build(word, plain, compiler, fast))
        if parallel is not None:
            kernel, region = parallel
            build = _build(f"{word}-threads", kernel, compiler, fast, ", omp parallel for")
            builds.append(replace(build, region=region))
        if threads > 1 and not own_threads and compiler.kind == "gcc":
            builds.append(_build(f"{word}-dealt", plain, compiler, (*fast, f"-ftree-parallelize-loops={threads}")))
    return tuple(builds)


def fast_flags(level: Numerics) -> tuple[str, ...]:
    """The flags with which a compiler may do to sums and products what a level of numerics admits."""
    if not reassociates(level):
        return ()
    return _REASSOCIATED if keeps_products(level) else ("-ffast-math",)


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


def _rounds(scop: Scop) -> bool:
    """Whether a statement computes with floating-point numbers."""
    if any(scop.array(access.array).element in _FLOATING for each in scop.statements for access in each.accesses):
        return True
    nodes = (node for statement in scop.statements for node in statement.body.walk())
    return any(
        (node.kind == "cast" and node.text in _FLOATING) or (node.kind == "call" and node.text in CONVERSIONS)
        for node in nodes
    )


def _parallel(scop: Scop, plain: KernelSource, threads: int, level: Numerics) -> tuple[KernelSource, str] | None:
    """The nest with OpenMP's directive before its parallel loops, and these; None where none is proved parallel."""
    try:
        source = with_parallel_loops(scop, as_written(scop, numerics=level).dependences, threads)
    except AnalysisError:
        return None
    if source is None:
        return None
    from polydl import bfloat16

    return replace(plain, c=defines(scop) + bfloat16.with_header(source)), function_text.region(scop, source)


def _others(toolchain: Toolchain) -> tuple[Toolchain, ...]:
    """The other of gcc and clang for the same processors, if it is installed and works."""
    kind = "clang" if toolchain.kind == "gcc" else "gcc"
    named = [flag.removeprefix("-march=") for flag in toolchain.flags if flag.startswith("-march=")]
    try:
        other = Toolchain.find(kind, "".join(named).replace("native", ""), toolchain.instructions)
    except (OptionError, MissingComponentError):
        return ()
    return (other,) if other.kind == kind else ()
