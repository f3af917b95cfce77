"""From a nest to its fastest variant: generate, analyse, rank, run, emit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from polydl import registry
from polydl.calibration.first_use import FirstUse, first_use_of
from polydl.calibration.further import going_on
from polydl.emission.target import TargetProcessors
from polydl.emitted_names import Naming
from polydl.errors import OptionError
from polydl.execute.contract import Executor
from polydl.execute.toolchain import Toolchain
from polydl.frontend.data import with_data
from polydl.ir.numerics import DEFAULT_NUMERICS, Numerics, numerics_level
from polydl.ir.scop import Scop
from polydl.machine import Machine
from polydl.optimization.budget import Budget
from polydl.optimization.exact_winner import with_exactness
from polydl.optimization.measuring import Measuring, best_peak, timing_policy
from polydl.optimization.next_picks import NextPicks
from polydl.optimization.optimized import Optimization, OptimizationInterrupted
from polydl.optimization.plain_building import PlainBuilding, plain_building
from polydl.optimization.plain_builds import plain_builds
from polydl.optimization.ranked import RankedVariants, ranked_variants
from polydl.optimization.search_space import RankedSpace
from polydl.optimization.searching import Searching
from polydl.optimization.shards import Shard
from polydl.optimization.unprepared import with_unprepared
from polydl.pipeline import (
    AUTOMATIC,
    DEFAULT_MAX_VARIANTS,
    DEFAULT_RANKER,
    DEFAULT_SEED,
    DEFAULT_STRATEGY,
    ApplyOptions,
    ProgressCallback,
    Stage,
    generate,
    parse,
    ranker_named,
    space_on,
    strategy_named,
)
from polydl.records.resume import Book, book_of
from polydl.system.clock import Clock
from polydl.system.files import temporary_directory

if TYPE_CHECKING:
    from polydl.ir.ranking import RankedVariant
    from polydl.ir.variant import Variant
    from polydl.variants.generation import Generation
    from polydl.variants.variant_space import VariantSpace

DEFAULT_TOP_K = 5


@dataclass(frozen=True)
class _Platform:
    """The processors that code is made for, and who compiles and runs it."""

    machine: Machine
    #: None where nothing is compiled
    toolchain: Toolchain | None
    #: None for the machine at hand, with the compiler's own flags for it
    target: TargetProcessors | None
    #: the caller's own, for machines elsewhere
    executor: Executor | None
    #: names of microkernels that the processors can run, or ``AUTOMATIC``
    microkernel: str

    @property
    def lacking(self) -> tuple[str, ...]:
        """Instruction sets that the code may use and the processor that is to run it lacks."""
        # An executor runs elsewhere what this machine can't.
        return () if self.target is None or self.executor is not None else self.target.lacking

    @property
    def runs(self) -> Executor | None:
        """What compiles and runs candidates; None where nothing can, or nothing is to be run."""
        if self.toolchain is None:
            return None
        if self.executor is not None:
            return self.executor
        if self.lacking or not self.machine.at_hand:
            return None
        local: Executor = registry.load("executors", "local")
        return local


@dataclass(frozen=True)
class _Selection:
    """Which variants are run, beside what their ranking says."""

    #: how many of the ranking's picks come first; 0 for all variants
    count: int
    #: whether the variants are the caller's own
    given: bool
    #: whether decisions were taken beforehand
    pinned: bool
    #: whether the first variant that fuses nothing is run in any case
    with_unfused: bool
    #: the part of the picks that is run; None for all
    part: Shard | None
    #: how far a search goes on from the picks; None for no search
    limit: Budget | None
    #: the search's name
    strategy: str
    #: of what is drawn by lot
    seed: int

    @property
    def is_whole(self) -> bool:
        """Whether the ranking alone says what is run: all parts of a whole have the same one."""
        return not self.given and self.part is None


def optimize(
    nest: Scop | str | Path,
    *,
    machine: Machine | None = None,
    threads: int | None = None,
    top_k: int | None = DEFAULT_TOP_K,
    ranker: str = DEFAULT_RANKER,
    microkernel: str = AUTOMATIC,
    max_variants: int = DEFAULT_MAX_VARIANTS,
    seed: int = DEFAULT_SEED,
    numerics: Numerics = DEFAULT_NUMERICS,
    fuse: bool = True,
    fewer_products: bool = True,
    run: bool = True,
    with_unfused: bool = False,
    compiler: str | None = None,
    timeout_seconds: float = 60.0,
    cold: bool = False,
    out: str | Path | None = None,
    defines: Mapping[str, str | int] | None = None,
    constant: Sequence[str] = (),
    init: str = "",
    inputs: str | Path | None = None,
    function: str | None = None,
    include_directories: Sequence[str | Path] = (),
    records: str | Path | bool = True,
    fresh: bool = False,
    workload: str | None = None,
    space: VariantSpace | None = None,
    variants: Sequence[Variant] = (),
    pins: Sequence[str] = (),
    name: str = "",
    prefix: str = "",
    march: str = "",
    progress: ProgressCallback | None = None,
    budget: str | Budget | None = None,
    strategy: str = DEFAULT_STRATEGY,
    shard: str | Shard | None = None,
    executor: Executor | None = None,
    calibrate: bool | None = None,
) -> Optimization:
    """Find the fastest legal variant: generate, analyse, rank, run the best ``top_k``, check and time them.

    These are those of ``picks``; ``top_k`` None runs all variants. With ``threads``, code runs on so many, in place of
    as many as ``machine`` says (by default all cores of the one at hand). With a ``budget`` (``30s``, ``200runs``, or
    ``5%`` for as long as more is to be gained) the search goes on from there: ``strategy`` says what comes next.
    ``constant`` names arrays that hold the same at every call: what depends on them alone is prepared once, and not
    part of what is ranked, measured and compared (docs/guide/prepared.md). ``init`` names a function of the file that
    fills arrays first, ``inputs`` a NumPy file of arrays; others hold random data (docs/guide/measuring.md). With a
    ``shard`` (``2/4``), part of the picks is run and nothing further: together the parts run all picks. With ``out``,
    the winner's C and what goes with it are written there, each file complete or not at all; without, they live in a
    directory that goes away with the process. ``run=False`` stops after ranking. ``cold`` times with empty caches.
    Operators are fused where that is legal, unless ``fuse`` is False; ``with_unfused`` also runs the first variant of
    the ranking that fuses nothing. Without ``fewer_products`` every product of the source is computed: neither
    Winograd's nor Strassen's way. ``numerics`` says what may be done to sums and products (docs/guide/numerics.md).

    Each measurement is written to ``records`` as soon as it is there: a directory, True for the user's, False for none.
    One that can't be stored there ends nothing; ``Optimization.store`` says so.
    What they hold of the same code in the same setting is not run again unless ``fresh``. ``workload`` is the nest's
    name there. A ``space`` of the nest that was built already is searched as it is, whatever the options that shape
    one; without it, ``pins`` are decisions taken beforehand (``polydl.variants.pins``). ``variants`` of the caller's
    own take the place of all that would be generated, once they are proved legal. The emitted function has the source's
    name, or ``name``, after ``prefix``. ``march`` names processors, as compilers do, that code is made for in place of
    this machine's; where this one lacks something that they have, nothing is run (``Optimization.lacking``). Nor is it
    for a ``machine`` that is not at hand: then the first of the ranking is emitted, with flags that name instructions.
    With ``calibrate`` (by default if no ``machine`` is given), calls of microkernels that are used for the first time
    on this machine are timed before the final ranking, in under five seconds (docs/guide/measuring.md).
    An ``executor`` compiles and runs on machines like ``machine``, wherever they are, with such flags. Raises
    UserError for a mistake, IllegalVariantError for a variant of the caller's that is not legal, ExecutionError if the
    original nest itself can't be run; a candidate that fails is a value in ``tried``. A KeyboardInterrupt after a
    candidate was verified is raised as OptimizationInterrupted, once the best of them is emitted; the next call goes on
    with what was measured.
    """
    clock = Clock()
    limit, part = _limits(budget, shard, given=bool(variants))
    chosen_ranker = ranker_named(ranker)
    if top_k is not None and top_k < 1:
        raise OptionError(f"top_k is {top_k}", remedy="at least 1, or None to run all variants")
    selection = _Selection(top_k or 0, bool(variants), bool(pins), with_unfused, part, limit, strategy, seed)
    with clock.stage("parse"):
        scop = nest
        if not isinstance(scop, Scop):
            scop = parse(scop, function=function, defines=defines, include_directories=include_directories)
        scop = with_data(scop, constant=constant, init=init, inputs=inputs)
    exported = Naming(name, prefix).of(scop.function.name)
    platform = _platform(machine_on(machine, threads), microkernel, march, compiler, executor, run=run)
    if limit is not None and platform.runs is None:
        reason = "nothing is to be run" if not run else "this machine can't run such code"
        raise OptionError(f"a budget for measurements, and {reason}", remedy="leave out the budget (--budget)")
    level = numerics_level(numerics) if space is None else space.numerics
    options = ApplyOptions(microkernel=platform.microkernel, numerics=level)
    book: Book | None = None
    if platform.runs is not None and platform.toolchain is not None:
        book = book_of(scop, platform.machine, platform.toolchain, records, workload, numerics=level, cold=cold)
    with ExitStack() as stack:
        plain = stack.enter_context(_plain_building(scop, platform, level, None if fresh else book, clock))
        with clock.stage("variants"):
            space = space or space_on(
                scop, platform.machine, **options, fuse=fuse, fewer_products=fewer_products, pins=pins
            )
            generation = _given(space, variants) if variants else generate(space, max_variants=max_variants, seed=seed)
        ranked = ranked_variants(
            space, generation, chosen_ranker, options, platform.machine, clock=clock, progress=progress
        )
        first_use: FirstUse | None = None
        if (machine is None if calibrate is None else calibrate) and selection.is_whole:
            first_use = _first_use(ranked, platform, plain, clock, progress)
            if first_use is not None:
                ranked = ranked.on(first_use.machine, clock, progress)
        ranked, chosen = _chosen_picks(ranked, selection, runs=platform.runs is not None)
        if part is not None and not chosen:
            # Of fewer picks than parts, some have none.
            platform = replace(platform, toolchain=None)
        result = Optimization(
            scop,
            ranked.machine,
            space,
            generation,
            ranked.ranking,
            chosen,
            baselines=(),
            tried=(),
            files={},
            seconds={},
            toolchain=platform.toolchain,
            peak_gflops=best_peak(ranked.machine, None),
            numerics=level,
            analysed=ranked.analysed,
            exported=exported,
            lacking=platform.lacking if run else (),
            asked=bool(variants),
            first_use=first_use,
        )
        folder = Path(out) if out is not None else None
        if platform.runs is None or platform.toolchain is None:
            result = _emitted(result, folder)
            return replace(result, seconds=clock.total())
        further = _further(ranked, chosen, selection, clock)
        measuring = Measuring(
            space,
            chosen,
            ranked.machine,
            # With a budget, or with all variants, it takes as long as the caller wants.
            timing_policy(timeout_seconds, cold=cold, limited=limit is None and selection.count > 0),
            platform.toolchain,
            platform.runs,
            seed=seed,
            plain=plain,
            book=book,
            fresh=fresh,
            clock=clock,
            progress=progress,
            further=further,
            beside=partial(going_on, first_use),
        )
        result = _measured(result, measuring, further)
        try:
            # What was compiled has been measured. An interruption from now on leaves a winner to emit.
            stack.close()
            if not result.interrupted:
                with clock.stage("run"):
                    result = result if executor is not None else with_exactness(result, seed)
                    result = with_unprepared(result, platform.runs, seed)
            result = _emitted(result, folder)
        except KeyboardInterrupt:
            if result.interrupted or result.winner is None:
                raise
            result = _emitted(replace(result, interrupted=True), folder)
    result = replace(result, seconds=clock.total())
    if result.interrupted:
        raise OptimizationInterrupted(result)
    return result


def _limits(
    budget: str | Budget | None, shard: str | Shard | None, *, given: bool
) -> tuple[Budget | None, Shard | None]:
    """How far a search goes, and which part of the picks is run. Raises OptionError if they exclude each other.

    ``given`` says whether the variants are the caller's own.
    """
    limit = Budget.parse(budget) if isinstance(budget, str) else budget
    part = Shard.parse(shard) if isinstance(shard, str) else shard
    if limit is not None and part is not None:
        raise OptionError("a search with a budget has no parts", remedy="leave out --budget or --shard")
    if limit is not None and given:
        raise OptionError("a budget, and variants of the caller's own", remedy="leave one of them out")
    return limit, part


def machine_on(machine: Machine | None, threads: int | None) -> Machine:
    """The machine, or else the one at hand; on ``threads``, if they are given. Raises MachineError for too many."""
    if machine is None:
        return Machine.detect(threads=threads)
    return machine if threads is None else replace(machine, threads=threads)


def _platform(
    machine: Machine, microkernel: str, march: str, compiler: str | None, executor: Executor | None, *, run: bool
) -> _Platform:
    """Who compiles and runs for which processors. Raises OptionError for those that the compiler doesn't know."""
    target: TargetProcessors | None = None
    if march:
        target = TargetProcessors.find(march, machine, compiler)
    elif executor is not None or (run and not machine.at_hand):
        target = TargetProcessors.of(machine, compiler)
    if target is None:
        return _Platform(machine, Toolchain.find(compiler) if run else None, None, executor, microkernel)
    toolchain = target.toolchain if run else None
    return _Platform(target.machine, toolchain, target, executor, target.microkernel(microkernel))


@contextmanager
def _plain_building(
    scop: Scop, platform: _Platform, level: Numerics, book: Book | None, clock: Clock
) -> Iterator[PlainBuilding]:
    """The builds that variants are compared with; none where nothing is run.

    Those of which the book has no measurement are compiled from now on, if this machine runs them.
    """
    if platform.runs is None or platform.toolchain is None:
        yield PlainBuilding()
        return
    with clock.stage("compile"):
        builds = plain_builds(scop, platform.toolchain, platform.machine.threads, level)
    if platform.executor is not None:
        yield PlainBuilding(builds)
        return
    with plain_building(builds, book) as plain:
        yield plain


def _given(space: VariantSpace, variants: Sequence[Variant]) -> Generation:
    """Variants of a person's own, proved legal, in the place of generated ones."""
    from polydl.variants.generation import Generation

    proved = tuple(space.apply(variant).prove().variant for variant in variants)
    return Generation(proved, len(proved), len(proved), False)


def _first_use(
    ranked: RankedVariants,
    platform: _Platform,
    plain: PlainBuilding,
    clock: Clock,
    progress: ProgressCallback | None,
) -> FirstUse | None:
    """The calls that decide the ranking, timed once no compiler is at work.

    None if they all were before, and where code isn't run, or is made for other processors than the ones at hand.
    """
    if platform.toolchain is None or platform.runs is None or platform.target is not None:
        return None
    report = None if progress is None else lambda done, total: progress(Stage("calibrate", done, total))
    with clock.stage("analysis"):
        return first_use_of(
            ranked.ranking, ranked.space.apply, ranked.machine, platform.toolchain, report, quiet=plain.wait
        )


def _chosen_picks(
    ranked: RankedVariants, selection: _Selection, *, runs: bool
) -> tuple[RankedVariants, tuple[tuple[int, RankedVariant], ...]]:
    """What is run first, with places in a ranking that has all of it.

    Where anything ``runs`` and the search is not bound, forms of picks on one thread and what isl's scheduler gives
    join the picks.
    """
    chosen = ranked.first_picks(selection.count, with_unfused=selection.with_unfused)
    if runs and not selection.given and not selection.pinned:
        more = ranked.on_one_thread(chosen)
        if selection.part is None and selection.count:
            more += ranked.by_isl_alone(chosen)
        ranked, chosen = ranked.with_more(chosen, more)
    return ranked, chosen if selection.part is None else selection.part.of(chosen)


def _further(
    ranked: RankedVariants, chosen: Sequence[tuple[int, RankedVariant]], selection: _Selection, clock: Clock
) -> Searching | NextPicks | None:
    """What proposes variants beyond the picks: a search, or the next ones of the ranking; None for nothing."""
    if selection.limit is not None:
        space = RankedSpace(ranked)
        search = strategy_named(selection.strategy).begin(space, seed=selection.seed)
        return Searching(space, search, selection.strategy, selection.limit, clock.elapsed)
    return NextPicks(ranked.ranking, chosen, selection.count) if selection.is_whole else None


def _measured(result: Optimization, measuring: Measuring, further: Searching | NextPicks | None) -> Optimization:
    """With what was measured of plain builds, picks and what a search proposed beyond them.

    An interruption once a candidate is verified ends the measurement; before, it is raised.
    """
    interrupted = False
    try:
        with temporary_directory() as work_directory:
            measuring.run(work_directory)
    except KeyboardInterrupt:
        if not measuring.verified:
            raise
        interrupted = True
    measured = measuring.result(interrupted=interrupted)
    if isinstance(further, Searching):
        space = further.space
        result = replace(result, ranking=space.ranking, analysed=space.analysed, search=further.report)
    if isinstance(further, Searching) or len(measured.tried) > len(result.picks):
        result = replace(result, picks=tuple((each.rank, each.ranked) for each in measured.tried))
    return replace(
        result,
        baselines=measured.baselines,
        tried=measured.tried,
        peak_gflops=best_peak(result.machine, measured),
        store=measured.store,
        interrupted=measured.interrupted,
    )


def _emitted(result: Optimization, directory: Path | None) -> Optimization:
    """The result with the winner's files, if there is one."""
    from polydl.emission.emit import write_winner

    emits_first = not result.tried and (bool(result.lacking) or not result.machine.at_hand)
    if result.toolchain is None or (result.winner is None and not emits_first) or not result.ranking.entries:
        return result
    files = write_winner(result, directory)
    return replace(result, files=files.paths, library_sha256=files.library_sha256)
