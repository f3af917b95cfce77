"""From a nest to its fastest variant: generate, analyse, rank, run, emit."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from polydl.arguments import listed, of_type, seconds_of, seed_of, whole
from polydl.calibration.first_use import FirstUse, first_use_of
from polydl.calibration.further import going_on
from polydl.emitted_names import Naming
from polydl.errors import OptionError, RecordsWarning
from polydl.execute.contract import Executor
from polydl.execute.rounds import final_seconds
from polydl.frontend.data import with_data
from polydl.ir.cold import Cold, cold_of
from polydl.ir.numerics import DEFAULT_NUMERICS, Numerics, numerics_level
from polydl.ir.scop import Scop
from polydl.ir.variant import Variant
from polydl.machine import Machine
from polydl.optimization.budget import Budget
from polydl.optimization.exact_winner import with_exactness
from polydl.optimization.measuring import Measuring, best_peak, timing_policy
from polydl.optimization.nest import nest_of
from polydl.optimization.next_picks import NextPicks
from polydl.optimization.optimized import Optimization, OptimizationInterrupted
from polydl.optimization.plain_building import PlainBuilding, plain_building
from polydl.optimization.plain_builds import plain_builds
from polydl.optimization.platform import Platform, machine_on, platform_for
from polydl.optimization.ranked import RankedVariants, ranked_variants
from polydl.optimization.searching import Searching
from polydl.optimization.selection import Selection, chosen_picks, further_picks, limit_and_part, spending
from polydl.optimization.shards import Shard
from polydl.optimization.unmeasured import check_results
from polydl.optimization.unprepared import with_unprepared
from polydl.pipeline import (
    AUTOMATIC,
    DEFAULT_MAX_VARIANTS,
    DEFAULT_SEED,
    ApplyOptions,
    ProgressCallback,
    Stage,
    generate,
    ranker_named,
    space_on,
    with_cold_constants,
)
from polydl.records.resume import Book, book_of
from polydl.registry import DEFAULT_RANKER, DEFAULT_STRATEGY
from polydl.system.clock import Clock
from polydl.system.files import temporary_directory

if TYPE_CHECKING:
    from polydl.variants.generation import Generation
    from polydl.variants.variant_space import VariantSpace

DEFAULT_TOP_K = 5


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
    cold: Cold = False,
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
    """Find the fastest legal variant: generate, analyse, rank, run the best ``top_k``, check and time them, emit one.

    What is optimized:

    * ``nest``: a scop, or a C file, in which ``function`` (needed where there are several) is read with the macros
      ``defines`` and the folders ``include_directories``
    * ``constant``: names of arrays that hold the same at every call; what depends on them alone is prepared once, and
      not part of what is ranked, measured and compared (docs/guide/prepared.md)
    * ``init``, ``inputs``: a function of the file that fills arrays first, a NumPy file of arrays; others hold random
      data (docs/guide/measuring.md)

    For which machine:

    * ``machine``: by default the one at hand. For another one nothing is run here: the first of the ranking is emitted,
      with flags that name instructions.
    * ``threads``: that code runs on, in place of the machine's own number (of the one at hand, all cores)
    * ``march``: processors, named as by compilers, in place of the machine's. Where this one lacks something that they
      have, nothing is run (``Optimization.lacking``).
    * ``compiler``: a name or a path; by default the first that works
    * ``executor``: compiles and runs on machines like ``machine``, wherever they are, with flags that name instructions
    * ``calibrate``: whether calls of microkernels that are used for the first time on this machine are timed before the
      final ranking, in under five seconds (docs/guide/measuring.md); by default if no ``machine`` is given

    Which variants there are:

    * ``microkernel``, ``numerics``, ``pins``: as in ``polydl.pipeline.SpaceOptions``
    * ``fuse``: whether operators are fused where that is legal; ``with_unfused`` also runs the first variant of the
      ranking that fuses nothing
    * ``fewer_products``: whether rewrites that compute fewer products than the source are admitted
    * ``max_variants``: where there are more, so many are drawn; ``seed`` is that of the draw and of the data
    * ``space``: of the nest, built already; it is searched as it is, whatever the options that shape one
    * ``variants``: of the caller's own, in the place of all that would be generated; they are proved legal first

    Which of them run:

    * ``ranker``, ``top_k``: so many ``picks`` of the ranking; all variants for None
    * ``budget``: ``30s``, ``200runs``, or ``5%`` for as long as more is to be gained. The search goes on from the
      picks, and ``strategy`` says what comes next.
    * ``shard``: ``2/4`` runs this part of the picks and nothing further; together the parts run all picks
    * ``run``: False stops after ranking
    * ``timeout_seconds``: for one run of a candidate
    * ``cold``: whether caches are empty when a run begins; with ``"constants"``, they hold all but those

    What is kept:

    * ``out``: a folder for the winner's C and what goes with it, each file complete or not at all; without, they live
      in a directory that goes away with the process
    * ``name``, ``prefix``: the emitted function is called ``name``, or as in the source, after ``prefix``
    * ``records``: a directory, True for the user's, False for none. Each measurement is written there as soon as it is
      there. One that can't be stored ends nothing; a warning and ``Optimization.store`` say so. What they hold of the
      same code in the same setting is not run again unless ``fresh``.
    * ``workload``: the nest's name there
    * ``progress``: is told of each stage as it goes on

    Raises UserError for a mistake, IllegalVariantError for a variant of the caller's that is not legal, ExecutionError
    if the original nest itself can't be run; a candidate that fails is a value in ``tried``. A KeyboardInterrupt after
    a candidate was verified is raised as OptimizationInterrupted, once the best of them is emitted; the next call goes
    on with what was measured.
    """
    clock = Clock()
    seed, max_variants, cold = seed_of(seed), whole("max_variants", max_variants, 1), cold_of(cold)
    timeout_seconds = seconds_of("timeout_seconds", timeout_seconds)
    variants = listed("variants", variants, Variant)
    constant, pins = listed("constant", constant, str), listed("pins", pins, str)
    if workload is not None:
        of_type("workload", workload, str, remedy="the nest's name in the records, such as resnet_03, or None")
    limit, part = limit_and_part(budget, shard, strategy, given=bool(variants))
    spent = spending(clock, limit)
    chosen_ranker = ranker_named(ranker)
    if top_k is not None:
        top_k = whole("top_k", top_k, 1, remedy="at least 1, or None to run all variants")
    selection = Selection(top_k or 0, bool(variants), bool(pins), with_unfused, part, limit, strategy, seed)
    with clock.stage("parse"):
        scop = nest_of(nest, function=function, defines=defines, include_directories=include_directories, init=init)
        check_results(scop)
        scop = with_data(scop, constant=constant, init=init, inputs=inputs)
        if cold == "constants":
            chosen_ranker = with_cold_constants(chosen_ranker, scop)
    exported = Naming(name, prefix).of(scop.function.name)
    platform = platform_for(machine_on(machine, threads), microkernel, march, compiler, executor, run=run)
    if limit is not None and platform.runs is None:
        reason = "nothing is to be run" if not run else "this machine can't run such code"
        raise OptionError(f"a budget for measurements, and {reason}", remedy="leave out the budget (--budget)")
    if part is not None and run and platform.runs is None:
        text = "a part of the measurements, and this machine can't run such code"
        raise OptionError(text, construct=f"--shard {part}", remedy="leave out the part (--shard)")
    level = numerics_level(numerics) if space is None else space.numerics
    options = ApplyOptions(microkernel=platform.microkernel, numerics=level)
    book: Book | None = None
    if platform.runs is not None and platform.toolchain is not None:
        book = book_of(
            scop, platform.machine, platform.toolchain, records, workload, seed=seed, numerics=level, cold=cold
        )
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
        ranked, chosen = chosen_picks(ranked, selection, runs=platform.runs is not None)
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
            peak_gflops=best_peak(scop, ranked.machine, None),
            numerics=level,
            cold=cold,
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
        # With a budget, or with all variants, it takes as long as the caller wants.
        policy = timing_policy(timeout_seconds, cold=cold, limited=limit is None and selection.count > 0)
        final = partial(final_seconds, policy=policy) if executor is None else lambda _: 0.0
        further = further_picks(ranked, chosen, selection, spent, final)
        measuring = Measuring(
            space,
            chosen,
            ranked.machine,
            policy,
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
                    result = with_unprepared(result, platform.runs, policy, seed)
            result = _emitted(result, folder)
        except KeyboardInterrupt:
            if result.interrupted or result.winner is None:
                raise
            result = _emitted(replace(result, interrupted=True), folder)
    result = replace(result, seconds=clock.total())
    if result.store.refused:
        warnings.warn(result.store.refused, RecordsWarning, stacklevel=2)
    if result.interrupted:
        raise OptimizationInterrupted(result)
    return result


@contextmanager
def _plain_building(
    scop: Scop, platform: Platform, level: Numerics, book: Book | None, clock: Clock
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
    platform: Platform,
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
        # Also of the batch that was under way.
        further.tell(measured.tried, measured.baselines)
        space = further.space
        result = replace(result, ranking=space.ranking, analysed=space.analysed, search=further.report)
    tried = tuple((each.rank, each.ranked) for each in measured.tried)
    # Further ones may have taken part in the place of some that were left out.
    if isinstance(further, Searching) or not {rank for rank, _ in tried} <= {rank for rank, _ in result.picks}:
        result = replace(result, picks=tried)
    return replace(
        result,
        baselines=measured.baselines,
        tried=measured.tried,
        peak_gflops=best_peak(result.scop, result.machine, measured),
        store=measured.store,
        interrupted=measured.interrupted,
    )


def _emitted(result: Optimization, directory: Path | None) -> Optimization:
    """The result with the winner's files, if there is one."""
    from polydl.emission.emit import write_winner

    emits_first = not result.tried and (bool(result.lacking) or not result.machine.at_hand)
    wins = result.winner is not None or result.plain is not None
    if result.toolchain is None or not (wins or emits_first) or not result.ranking.entries:
        return result
    files = write_winner(result, directory)
    return replace(result, files=files.paths, library_sha256=files.library_sha256)
