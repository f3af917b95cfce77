"""The whole job as plain functions: parse, generate, analyse, rank, run, emit.

This is the only module that joins the parts; it finds them through the registry.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polydl import registry
from polydl.codegen.kernel import generate as generate_code
from polydl.codegen.kernel import make_site, original
from polydl.contracts import Candidate, Microkernel, Ranker
from polydl.errors import AnalysisError, ExecutionError, IllegalVariantError, OptionError
from polydl.execute.contract import Built, Executor, Progress, TimingPolicy
from polydl.execute.toolchain import Toolchain
from polydl.machine import Machine
from polydl.poly.cache_sets import geometry
from polydl.poly.dependences import dependences
from polydl.poly.iterators import with_own_names
from polydl.poly.nests import distribute
from polydl.poly.plain_loops import cycles as plain_cycles
from polydl.poly.plans import Plan, make_plan, parallel_iterations
from polydl.poly.reuse import Method, working_sets, working_sets_of_many
from polydl.poly.reuse_caches import threads_sharing
from polydl.poly.reuse_table import WorkingSetsTable
from polydl.poly.scalars import without_local_scalars
from polydl.poly.traffic import fills, traffic
from polydl.poly.zeroing import absorbed
from polydl.throughput import Throughput, calibrated
from polydl.types import (
    KernelSource,
    Measurement,
    MicrokernelUse,
    RankedVariant,
    Ranking,
    Rewrite,
    Scop,
    Variant,
    WorkingSets,
)

if TYPE_CHECKING:
    from polydl.variants.generate import Generation, VariantSpace

DEFAULT_MAX_VARIANTS = 400
DEFAULT_TOP_K = 5
DEFAULT_SEED = 0
DEFAULT_RANKER = "cost-model"
AUTOMATIC = "auto"
NO_MICROKERNEL = "none"

# Variants that are analysed together, between two reports of progress.
_BATCH = 256


@dataclass(frozen=True)
class Stage:
    """Progress of a long job: ``done`` of ``total`` in a stage named ``name``."""

    name: str
    done: int
    total: int


ProgressCallback = Callable[[Stage], None]


@dataclass(frozen=True)
class Tried:
    """A variant that was compiled and run, with its place in the ranking (1 is first)."""

    rank: int
    ranked: RankedVariant
    kernel: KernelSource
    measurement: Measurement


@dataclass(frozen=True)
class Optimization:
    """Everything that one ``optimize`` found. ``files`` are paths by kind: c, header, library, report.

    ``seconds`` are wall-clock per stage. ``peak_gflops`` is the best FMA rate of one core seen in this run.
    """

    scop: Scop
    machine: Machine
    space: VariantSpace
    generation: Generation
    ranking: Ranking
    baseline: Measurement | None
    tried: tuple[Tried, ...]
    files: Mapping[str, Path]
    seconds: Mapping[str, float]
    toolchain: Toolchain | None
    peak_gflops: float

    @property
    def winner(self) -> Tried | None:
        """The fastest verified candidate, or None if none was run or none passed."""
        passed = [each for each in self.tried if each.measurement.status == "ok"]
        return min(passed, key=lambda each: each.measurement.seconds_minimum or 0.0, default=None)

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


def parse(
    path: str | Path,
    *,
    function: str | None = None,
    defines: Mapping[str, str | int] | None = None,
    include_directories: Sequence[str | Path] = (),
    frontend: str = "pet",
) -> Scop:
    """Read the loop nest of a C file.

    ``defines`` are macros, or values of the function's integer parameters. Raises UserError for anything wrong
    with the file, MissingComponentError without pet.
    """
    found: Scop = registry.load("frontends", frontend)(
        path, function=function, defines=defines, include_directories=include_directories
    )
    return without_local_scalars(with_own_names(found))


def _kernels(name: str) -> tuple[Microkernel, ...]:
    if name == NO_MICROKERNEL:
        return ()
    if name == AUTOMATIC:
        return tuple(registry.load("microkernels", each) for each in registry.names("microkernels"))
    try:
        return (registry.load("microkernels", name),)
    except OptionError as error:
        known = ", ".join((AUTOMATIC, NO_MICROKERNEL, *registry.names("microkernels")))
        raise OptionError(f"unknown microkernel {name!r}", remedy=f"one of {known}") from error


@lru_cache(maxsize=16)
def variant_space(
    nest: Scop,
    *,
    threads: int,
    vector_bytes: int,
    microkernel: str = AUTOMATIC,
    strict_fp: bool = False,
    throughputs: tuple[Throughput, ...] = (),
) -> VariantSpace:
    """Dependences, distributed nests, matched microkernels and decisions of a nest.

    ``throughputs`` are measured tables that predict the microkernels' time in place of their own formulas.
    """
    from polydl.variants.generate import build_space

    kernels = tuple(calibrated(kernel, throughputs) for kernel in _kernels(microkernel))
    return build_space(
        nest,
        kernels,
        threads=threads,
        vector_bytes=vector_bytes,
        reassociate=not strict_fp,
        fusions=fusion_choices(nest),
    )


def fusion_choices(nest: Scop) -> tuple[tuple[Rewrite, ...], ...]:
    """The fusions of a nest's operators that are worth a space of their own."""
    from polydl.fusion.choices import elementwise_fusions

    found = dependences(nest)
    return elementwise_fusions(nest, distribute(nest, found), found)


def _space(nest: Scop, machine: Machine, microkernel: str, strict_fp: bool) -> VariantSpace:
    return variant_space(
        nest,
        threads=machine.threads,
        vector_bytes=machine.vector_bytes,
        microkernel=microkernel,
        strict_fp=strict_fp,
        throughputs=machine.throughputs,
    )


def generate(
    nest: Scop,
    *,
    machine: Machine,
    max_variants: int = DEFAULT_MAX_VARIANTS,
    seed: int = DEFAULT_SEED,
    microkernel: str = AUTOMATIC,
    strict_fp: bool = False,
) -> Generation:
    """Legal variants with the counts of what was looked at. ``max_variants`` of at least 1."""
    from polydl.variants.generate import generate as generate_from

    if max_variants < 1:
        raise OptionError(f"max_variants is {max_variants}", remedy="at least 1")
    return generate_from(_space(nest, machine, microkernel, strict_fp), max_variants=max_variants, seed=seed)


def generate_variants(
    nest: Scop,
    *,
    machine: Machine,
    max_variants: int = DEFAULT_MAX_VARIANTS,
    seed: int = DEFAULT_SEED,
    microkernel: str = AUTOMATIC,
    strict_fp: bool = False,
) -> tuple[Variant, ...]:
    """Legal variants of a nest, the same ones in the same order for the same seed."""
    return generate(
        nest, machine=machine, max_variants=max_variants, seed=seed, microkernel=microkernel, strict_fp=strict_fp
    ).variants


def plan_of(
    nest: Scop, variant: Variant, *, machine: Machine, microkernel: str = AUTOMATIC, strict_fp: bool = False
) -> tuple[Scop, Plan]:
    """The nest as the variant's rewrites leave it, and where the variant puts every loop of that."""
    space = _space(nest, machine, microkernel, strict_fp).of(variant)
    return space.scop, make_plan(space.scop, space.nests, variant)


def analyze(
    nest: Scop,
    plan: Plan,
    machine: Machine,
    *,
    line_bytes: int | None = None,
    inclusive: bool = False,
    shared: bool = False,
) -> WorkingSets:
    """Working sets of one variant (paper, Algorithms 1 and 2), against the machine's caches.

    ``line_bytes`` counts whole cache lines; ``inclusive`` lets each cache hold what the smaller ones hold as well, and
    ``shared`` what all of the machine's threads that share it have in use at once.
    """
    caches = [level.bytes for level in machine.caches]
    sharing = (machine.threads, threads_sharing(machine.caches, machine.threads)) if shared else None
    return working_sets(nest, plan.schedule, caches, line_bytes=line_bytes, inclusive=inclusive, sharing=sharing)


@dataclass(frozen=True, eq=False)
class AnalysedVariants:
    """``analyze`` of many variants in columns, with a table for each way in which their nest was rewritten.

    Variant n is row ``rows[n]`` of ``tables[table_of[n]]``. ``analysed[n]`` is its ``WorkingSets``, or raises the
    AnalysisError for which it is in ``failures``.
    """

    tables: tuple[WorkingSetsTable, ...]
    table_of: tuple[int, ...]
    rows: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, number: int) -> WorkingSets:
        return self.tables[self.table_of[number]][self.rows[number]]

    @cached_property
    def failures(self) -> Mapping[int, AnalysisError]:
        places = enumerate(zip(self.table_of, self.rows, strict=True))
        return {n: self.tables[t].failures[row] for n, (t, row) in places if row in self.tables[t].failures}


def analyze_variants(
    nest: Scop,
    variants: Sequence[Variant],
    *,
    machine: Machine,
    microkernel: str = AUTOMATIC,
    strict_fp: bool = False,
    method: Method | None = None,
    line_bytes: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> AnalysedVariants:
    """``analyze`` for each variant: fit for hundreds of thousands of them.

    A variant's plan is made when it is needed, and not kept. ``method`` and ``line_bytes`` are those of
    ``working_sets``. ``progress`` is told how many are done.
    """
    space = _space(nest, machine, microkernel, strict_fp)
    numbers: dict[tuple[Rewrite, ...], int] = {}
    spaces: list[VariantSpace] = []
    counts: list[int] = []
    table_of, rows = [], []
    for variant in variants:
        number = numbers.setdefault(variant.rewrites, len(numbers))
        if number == len(spaces):
            spaces.append(space.of(variant))
            counts.append(0)
        table_of.append(number)
        rows.append(counts[number])
        counts[number] += 1
    tables = []
    done = 0
    for number, own in enumerate(spaces):
        chosen = (variant for variant, table in zip(variants, table_of, strict=True) if table == number)
        tables.append(
            working_sets_of_many(
                own.scop,
                (make_plan(own.scop, own.nests, variant).schedule for variant in chosen),
                [level.bytes for level in machine.caches],
                method=method,
                line_bytes=line_bytes,
                progress=None if progress is None else partial(_advance, progress, done),
            )
        )
        done += counts[number]
    return AnalysedVariants(tuple(tables), tuple(table_of), tuple(rows))


def _advance(progress: Callable[[int], None], before: int, done: int) -> None:
    progress(before + done)


def candidate(
    space: VariantSpace, variant: Variant, machine: Machine, *, known: WorkingSets | None = None
) -> Candidate:
    """What a ranker sees of a variant: working sets (unless they are known), predicted compute time, parallelism."""
    space = space.of(variant)
    plan = make_plan(space.scop, space.nests, variant)
    matches = space.matches(plan)
    uses: list[MicrokernelUse] = []
    cycles: list[float] = []
    calls: list[int] = []
    zeroed = absorbed(space.scop, plan, space.kernels)
    for nest in plan.nests:
        if nest.nest.index in zeroed:
            cycles.append(0.0)
            calls.append(0)
            continue
        statements = [space.scop.statement(name) for name in nest.nest.statements]
        width = max(space.scop.array(s.writes[0].array).element_bytes for s in statements)
        vector_elements = max(1, machine.vector_bytes // width)
        if nest.microkernel is not None:
            index = nest.nest.index
            kernel = space.kernels[nest.microkernel.name]
            site = make_site(space.scop, nest, matches[index], kernel, overwrites=index in zeroed.values())
            uses.append(site.use)
            cycles.append(site.predicted_cycles(vector_elements))
            calls.append(site.calls)
        else:
            found = space.directions[nest.nest.index]
            cycles.append(plain_cycles(space.scop, nest, found, vector_elements))
            calls.append(0)
    return Candidate(
        variant=variant,
        working_sets=known or analyze(space.scop, plan, machine),
        cycles=tuple(cycles),
        traffic=traffic(space.scop, plan, [level.bytes for level in machine.caches], machine.caches[0].line_bytes),
        parallel_iterations=parallel_iterations(space.scop, plan),
        microkernels=tuple(uses),
        calls=tuple(calls),
        flops=space.scop.flops,
    )


def candidates(
    nest: Scop,
    variants: Sequence[Variant],
    *,
    machine: Machine,
    microkernel: str = AUTOMATIC,
    strict_fp: bool = False,
    progress: ProgressCallback | None = None,
) -> tuple[Candidate, ...]:
    """Analyse each variant. Those that isl gives up on are left out; raises its AnalysisError if that leaves none."""
    space = _space(nest, machine, microkernel, strict_fp)
    found: list[Candidate] = []
    failures: list[AnalysisError] = []
    for start in range(0, len(variants), _BATCH):
        batch = variants[start : start + _BATCH]
        known = analyze_variants(nest, batch, machine=machine, microkernel=microkernel, strict_fp=strict_fp)
        failures += known.failures.values()
        for number, variant in enumerate(batch):
            if number not in known.failures:
                found.append(candidate(space, variant, machine, known=known[number]))
            if progress is not None:
                progress(Stage("analyse", start + number + 1, len(variants)))
    if failures and not found:
        raise failures[0]
    return tuple(found)


def predicted_misses(
    nest: Scop,
    variants: Sequence[Variant],
    *,
    machine: Machine,
    ways: Sequence[int] | None = None,
    microkernel: str = AUTOMATIC,
    strict_fp: bool = False,
) -> tuple[tuple[float, ...], ...]:
    """For each variant, the lines that it brings into each of the machine's caches, which are empty at first.

    ``ways`` are the places that the caches have in a set, if they are known.
    """
    space = _space(nest, machine, microkernel, strict_fp)
    line_bytes = machine.caches[0].line_bytes
    known = ways if ways is not None else [None] * len(machine.caches)
    caches = [geometry(level.bytes, line_bytes, each) for level, each in zip(machine.caches, known, strict=True)]
    found = []
    for variant in variants:
        own = space.of(variant)
        filled = fills(own.scop, make_plan(own.scop, own.nests, variant), caches, line_bytes)
        found.append(tuple(sum(sum(arrays.values()) for arrays in level) for level in zip(*filled, strict=True)))
    return tuple(found)


def _ranker(name: str) -> Ranker:
    found: Ranker = registry.load("rankers", name)
    return found


def rank(
    nest: Scop,
    variants: Sequence[Variant],
    *,
    machine: Machine,
    ranker: str = DEFAULT_RANKER,
    microkernel: str = AUTOMATIC,
    strict_fp: bool = False,
    progress: ProgressCallback | None = None,
) -> Ranking:
    """Order variants, the most promising first. Raises OptionError for an unknown ranker."""
    chosen = _ranker(ranker)
    analysed = candidates(
        nest, variants, machine=machine, microkernel=microkernel, strict_fp=strict_fp, progress=progress
    )
    return chosen.rank(analysed, machine)


def kernel(space: VariantSpace, variant: Variant, vector_bytes: int) -> KernelSource:
    """The C of a variant, after isl has proved the complete schedule legal. Raises IllegalVariantError."""
    space = space.of(variant)
    plan = make_plan(space.scop, space.nests, variant)
    broken = space.violations(plan)
    if broken:
        raise IllegalVariantError(f"variant {variant.id} is illegal: {broken[0]}")
    directions = dict(enumerate(space.directions))
    return generate_code(space.scop, plan, directions, space.matches(plan), space.kernels, vector_bytes)


def _relay(progress: ProgressCallback | None) -> Callable[[Progress], None] | None:
    if progress is None:
        return None
    names = {"build": "compile", "check": "verify", "time": "time"}
    return lambda event: progress(Stage(names[event.stage], event.done, event.total))


@dataclass(frozen=True)
class RunOptions:
    """How the top picks are compiled and run."""

    top_k: int = DEFAULT_TOP_K
    compiler: str | None = None
    timeout_seconds: float = 60.0
    rounds: int = 9
    budget_seconds: float = 20.0


def _run(
    space: VariantSpace,
    chosen: Sequence[RankedVariant],
    machine: Machine,
    options: RunOptions,
    toolchain: Toolchain,
    directory: Path,
    clock: _Clock,
    seed: int,
    progress: ProgressCallback | None,
) -> tuple[Measurement, tuple[Tried, ...], dict[str, Built]]:
    executor: Executor = registry.load("executors", "local")
    with clock.stage("compile"):
        kernels = [kernel(space, each.variant, machine.vector_bytes) for each in chosen]
        built = executor.build([original(space.scop), *kernels], toolchain, directory, progress=_relay(progress))
    with clock.stage("run"):
        policy = TimingPolicy(
            rounds=options.rounds, budget_seconds=options.budget_seconds, timeout_seconds=options.timeout_seconds
        )
        measured = executor.measure(
            built[1:],
            built[0],
            space.scop,
            threads=machine.threads,
            policy=policy,
            seed=seed,
            progress=_relay(progress),
        )
    if measured[0].status != "ok":
        raise ExecutionError(
            f"the original nest itself can't be measured ({measured[0].status}): {measured[0].message}",
            file=space.scop.file,
            line=space.scop.line,
            remedy="make the function compile and run on random data, or raise --timeout",
        )
    tried = tuple(
        Tried(number, ranked, source, measurement)
        for number, (ranked, source, measurement) in enumerate(zip(chosen, kernels, measured[1:], strict=True), 1)
    )
    return measured[0], tried, {each.kernel.id: each for each in built}


def _peak(machine: Machine, baseline: Measurement | None, tried: Sequence[Tried]) -> float:
    seen = [each.measurement for each in tried] + ([baseline] if baseline is not None else [])
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
    run: bool = True,
    compiler: str | None = None,
    timeout_seconds: float = 60.0,
    out: str | Path | None = None,
    defines: Mapping[str, str | int] | None = None,
    function: str | None = None,
    include_directories: Sequence[str | Path] = (),
    progress: ProgressCallback | None = None,
) -> Optimization:
    """Find the fastest legal variant: generate, analyse, rank, run the first ``top_k``, check and time them.

    ``top_k`` 0 runs all variants. With ``out``, the winner's C, header and library are written there, each
    complete or not at all; without, they live in a directory that goes away with the process.
    ``run=False`` stops after ranking. Raises UserError for a mistake, ExecutionError if the original nest itself
    can't be run; a candidate that fails is a value in ``tried``.
    """
    clock = _Clock()
    chosen_ranker = _ranker(ranker)
    if top_k < 0:
        raise OptionError(f"top_k is {top_k}", remedy="0 (all) or more")
    with clock.stage("parse"):
        scop = nest
        if not isinstance(scop, Scop):
            scop = parse(scop, function=function, defines=defines, include_directories=include_directories)
    found_machine = machine or Machine.detect()
    toolchain = Toolchain.find(compiler) if run else None
    with clock.stage("variants"):
        space = _space(scop, found_machine, microkernel, strict_fp)
        generation = generate(
            scop,
            machine=found_machine,
            max_variants=max_variants,
            seed=seed,
            microkernel=microkernel,
            strict_fp=strict_fp,
        )
    with clock.stage("analysis"):
        analysed = candidates(
            scop,
            generation.variants,
            machine=found_machine,
            microkernel=microkernel,
            strict_fp=strict_fp,
            progress=progress,
        )
    with clock.stage("ranking"):
        ranking = chosen_ranker.rank(analysed, found_machine)
    chosen = ranking.entries[: top_k or len(ranking.entries)]
    baseline: Measurement | None = None
    tried: tuple[Tried, ...] = ()
    files: dict[str, Path] = {}
    if run:
        assert toolchain is not None
        from polydl.emit import write_kernel

        options = RunOptions(top_k=top_k, compiler=compiler, timeout_seconds=timeout_seconds)
        work_directory = Path(tempfile.mkdtemp(prefix="polydl-"))
        try:
            baseline, tried, _ = _run(
                space, chosen, found_machine, options, toolchain, work_directory, clock, seed, progress
            )
            result = Optimization(
                scop,
                found_machine,
                space,
                generation,
                ranking,
                baseline,
                tried,
                {},
                {},
                toolchain,
                _peak(found_machine, baseline, tried),
            )
            if result.winner is not None:
                files = write_kernel(result, result.winner, toolchain, Path(out) if out is not None else None)
        finally:
            shutil.rmtree(work_directory, ignore_errors=True)
    return Optimization(
        scop,
        found_machine,
        space,
        generation,
        ranking,
        baseline,
        tried,
        files,
        clock.total(),
        toolchain,
        _peak(found_machine, baseline, tried),
    )
