"""From a nest to its fastest variant: generate, analyse, rank, run, emit."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polydl import registry
from polydl.codegen.original import original
from polydl.errors import ExecutionError, OptionError
from polydl.execute.contract import Executor, Progress, TimingPolicy
from polydl.execute.toolchain import Toolchain
from polydl.ir.kernel import KernelSource
from polydl.ir.measurement import Measurement
from polydl.ir.ranking import RankedVariant, Ranking
from polydl.ir.scop import Scop
from polydl.machine import Machine
from polydl.picks import picks
from polydl.pipeline import (
    AUTOMATIC,
    DEFAULT_MAX_VARIANTS,
    DEFAULT_RANKER,
    DEFAULT_SEED,
    ApplyOptions,
    ProgressCallback,
    Stage,
    candidates,
    generate,
    kernel,
    parse,
    ranker_named,
    space_on,
)
from polydl.plan.rewrite_steps import is_fused
from polydl.records.record import Record
from polydl.records.resume import ORIGINAL, Book, book_of, to_run

if TYPE_CHECKING:
    from polydl.ir.variant import Variant
    from polydl.plan.apply import Applied
    from polydl.variants.generate import VariantSpace
    from polydl.variants.generation import Generation

DEFAULT_TOP_K = 5
_MOST_ROUNDS = 25


@dataclass(frozen=True)
class Tried:
    """A variant that was compiled and run, with its place in the ranking (1 is first).

    ``record`` is the earlier measurement that this one is, None if it was measured now.
    """

    rank: int
    ranked: RankedVariant
    kernel: KernelSource
    measurement: Measurement
    record: Record | None = None


@dataclass(frozen=True)
class Optimization:
    """Everything that one ``optimize`` found. ``files`` are paths by kind: c, header, library, report.

    ``picks`` are the variants that were run, or would have been, each after its place in the ranking. ``seconds`` are
    wall-clock per stage. ``peak_gflops`` is the best FMA rate of one core seen beside the measurements.
    """

    scop: Scop
    machine: Machine
    space: VariantSpace
    generation: Generation
    ranking: Ranking
    picks: tuple[tuple[int, RankedVariant], ...]
    baseline: Measurement | None
    tried: tuple[Tried, ...]
    files: Mapping[str, Path]
    seconds: Mapping[str, float]
    toolchain: Toolchain | None
    peak_gflops: float
    strict_fp: bool = False

    @property
    def winner(self) -> Tried | None:
        """The fastest verified candidate, or None if none was run or none passed.

        Of those that were measured now, if there are any: they include the best of the earlier ones.
        """
        passed = [each for each in self.tried if each.measurement.status == "ok"]
        now = [each for each in passed if each.record is None and each.measurement.final]
        if now:
            return min(now, key=lambda tried: tried.measurement.seconds_minimum or 0.0)
        recorded = [(each.record.final, each.record.cost, each) for each in passed if each.record is not None]
        return min(recorded, key=lambda entry: (not entry[0], entry[1]), default=(True, 0.0, None))[2]

    @property
    def recorded(self) -> tuple[Record, ...]:
        """The earlier measurements that were taken over."""
        return tuple(each.record for each in self.tried if each.record is not None)

    def applied(self, variant: Variant) -> Applied:
        """A variant as it was applied to the nest."""
        return self.space.apply(variant)

    @property
    def best(self) -> Callable[..., None]:
        """The winner as a Python callable over numpy arrays, by parameter name.

        Raises ExecutionError if nothing was run or emitted.
        """
        if "library" not in self.files:
            raise ExecutionError("there is no compiled winner", remedy="run optimize without no_run")
        from polydl.execute.callable import load

        return load(self.files["library"], self.scop)


@dataclass
class _Clock:
    seconds: dict[str, float] = field(default_factory=dict)
    started: float = field(default_factory=time.perf_counter)

    @contextmanager
    def stage(self, name: str) -> Any:
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start

    def total(self) -> dict[str, float]:
        return {**self.seconds, "total": time.perf_counter() - self.started}


@dataclass(frozen=True)
class _Measured:
    baseline: Measurement
    tried: tuple[Tried, ...]


def relayed(progress: ProgressCallback | None) -> Callable[[Progress], None] | None:
    """For an executor: its progress as stages of the job."""
    if progress is None:
        return None
    names = {"build": "compile", "check": "verify", "time": "time"}
    return lambda event: progress(Stage(names[event.stage], event.done, event.total))


def _run(
    space: VariantSpace,
    chosen: Sequence[tuple[int, RankedVariant]],
    machine: Machine,
    policy: TimingPolicy,
    toolchain: Toolchain,
    directory: Path,
    clock: _Clock,
    seed: int,
    book: Book | None,
    fresh: bool,
    progress: ProgressCallback | None,
) -> _Measured:
    """Compile and measure what the book does not hold; with ``fresh``, everything."""
    executor: Executor = registry.load("executors", "local")
    with clock.stage("compile"):
        plain = original(space.scop)
        kernels = [kernel(space.apply(each.variant), machine.vector_bytes) for _, each in chosen]
        known = book.known([plain, *kernels]) if book is not None and not fresh else {}
        wanted = set(to_run([each.id for each in kernels], known))
        if not wanted and (ORIGINAL not in known or known[ORIGINAL].status != "ok"):
            # Killed before the original's own record; the leaders run beside it again.
            wanted = {each.id for each in kernels}
        needed = [each for each in kernels if each.id in wanted]
        built = executor.build([plain, *needed], toolchain, directory, progress=relayed(progress)) if needed else ()
    measured: dict[str, Measurement] = {}
    with clock.stage("run"):
        if needed:
            variants = {each.id: ranked.variant for each, (_, ranked) in zip(kernels, chosen, strict=True)}
            answers = executor.measure(
                built[1:],
                built[0],
                space.scop,
                threads=machine.threads,
                policy=policy,
                seed=seed,
                progress=relayed(progress),
                finished=book.writer([plain, *needed], variants) if book is not None else None,
            )
            measured = {each.id: each for each in answers}
    baseline = measured.get(ORIGINAL) or known[ORIGINAL].measurement
    if baseline.status != "ok":
        raise ExecutionError(
            f"the original nest itself can't be measured ({baseline.status}): {baseline.message}",
            file=space.scop.file,
            line=space.scop.line,
            remedy="make the function compile and run on random data, or raise --timeout",
        )
    tried = tuple(
        Tried(number, ranked, source, measured[source.id])
        if source.id in measured
        else Tried(number, ranked, source, known[source.id].measurement, known[source.id])
        for (number, ranked), source in zip(chosen, kernels, strict=True)
    )
    return _Measured(baseline, tried)


def _given(space: VariantSpace, variants: Sequence[Variant]) -> Generation:
    """Variants of a person's own, proved legal, in the place of generated ones."""
    from polydl.variants.generation import Generation

    for variant in variants:
        space.apply(variant).prove()
    return Generation(tuple(variants), len(variants), len(variants), False)


def _peak(machine: Machine, measured: _Measured | None) -> float:
    if measured is None:
        return machine.peak_gflops
    seen = [measured.baseline, *(each.measurement for each in measured.tried)]
    probes = [rate for measurement in seen for sample in measurement.samples for rate in sample.probe_gflops]
    return max(probes, default=machine.peak_gflops)


def optimize(
    nest: Scop | str | Path,
    *,
    machine: Machine | None = None,
    top_k: int = DEFAULT_TOP_K,
    ranker: str = DEFAULT_RANKER,
    microkernel: str = AUTOMATIC,
    max_variants: int = DEFAULT_MAX_VARIANTS,
    seed: int = DEFAULT_SEED,
    strict_fp: bool = False,
    fuse: bool = True,
    fewer_products: bool = True,
    run: bool = True,
    with_unfused: bool = False,
    compiler: str | None = None,
    timeout_seconds: float = 60.0,
    cold: bool = False,
    out: str | Path | None = None,
    defines: Mapping[str, str | int] | None = None,
    function: str | None = None,
    include_directories: Sequence[str | Path] = (),
    records: str | Path | bool = True,
    fresh: bool = False,
    workload: str | None = None,
    space: VariantSpace | None = None,
    variants: Sequence[Variant] = (),
    pins: Sequence[str] = (),
    progress: ProgressCallback | None = None,
) -> Optimization:
    """Find the fastest legal variant: generate, analyse, rank, run the best ``top_k``, check and time them.

    These are those of ``picks``; ``top_k`` 0 runs all variants. With ``out``, the winner's C, header and library are
    written there, each complete or not at all; without, they live in a directory that goes away with the process.
    ``run=False`` stops after ranking. ``cold`` times with empty caches. Operators are fused where that is legal, unless
    ``fuse`` is False; ``with_unfused`` also runs the first variant of the ranking that fuses nothing. Without
    ``fewer_products`` every product of the source is computed: neither Winograd's nor Strassen's way.

    Each measurement is written to ``records`` as soon as it is there: a directory, True for the user's, False for none.
    What they hold of the same code in the same setting is not run again unless ``fresh``. ``workload`` is the nest's
    name there. A ``space`` of the nest that was built already is searched as it is, whatever the options that shape
    one; without it, ``pins`` are decisions taken beforehand (``polydl.variants.pins``). ``variants`` of the caller's
    own take the place of all that would be generated, once they are proved legal. Raises UserError for a mistake,
    IllegalVariantError for a variant of the caller's that is not legal, ExecutionError if the original nest itself
    can't be run; a candidate that fails is a value in ``tried``.
    """
    clock = _Clock()
    chosen_ranker = ranker_named(ranker)
    if top_k < 0:
        raise OptionError(f"top_k is {top_k}", remedy="0 (all) or more")
    with clock.stage("parse"):
        scop = nest
        if not isinstance(scop, Scop):
            scop = parse(scop, function=function, defines=defines, include_directories=include_directories)
    found_machine = machine or Machine.detect()
    toolchain = Toolchain.find(compiler) if run else None
    options = ApplyOptions(microkernel=microkernel, strict_fp=strict_fp)
    with clock.stage("variants"):
        space = space or space_on(scop, found_machine, **options, fuse=fuse, fewer_products=fewer_products, pins=pins)
        generation = _given(space, variants) if variants else generate(space, max_variants=max_variants, seed=seed)
    with clock.stage("analysis"):
        analysed = candidates(scop, generation.variants, machine=found_machine, progress=progress, **options)
    with clock.stage("ranking"):
        ranking = chosen_ranker.rank(analysed, found_machine)
    chosen = picks(ranking, top_k)
    if with_unfused and all(is_fused(scop, each.variant) for _, each in chosen):
        unfused = ((place, each) for place, each in enumerate(ranking.entries, 1) if not is_fused(scop, each.variant))
        chosen += tuple(islice(unfused, 1))
    measured: _Measured | None = None
    if toolchain is not None:
        book = book_of(scop, found_machine, toolchain, records, workload, strict_fp=strict_fp, cold=cold)
        policy = TimingPolicy(rounds=_MOST_ROUNDS, adaptive=True, timeout_seconds=timeout_seconds, cold=cold)
        work_directory = Path(tempfile.mkdtemp(prefix="polydl-"))
        try:
            measured = _run(
                space, chosen, found_machine, policy, toolchain, work_directory, clock, seed, book, fresh, progress
            )
        finally:
            shutil.rmtree(work_directory, ignore_errors=True)
    result = Optimization(
        scop,
        found_machine,
        space,
        generation,
        ranking,
        chosen,
        measured.baseline if measured is not None else None,
        measured.tried if measured is not None else (),
        {},
        {},
        toolchain,
        _peak(found_machine, measured),
        strict_fp,
    )
    files: Mapping[str, Path] = {}
    if result.winner is not None and toolchain is not None:
        from polydl.emit import Winner, write_kernel

        best = result.winner
        winner = Winner(
            scop,
            found_machine,
            best.kernel,
            best.ranked.variant,
            best.measurement,
            rank=best.rank,
            ranked=len(ranking.entries),
        )
        files = write_kernel(winner, toolchain, Path(out) if out is not None else None)
    return replace(result, files=files, seconds=clock.total())
