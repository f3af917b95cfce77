"""Picks are compiled, verified and timed beside the original nest; what the records hold is not run again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from polydl import registry
from polydl.baselines import Baseline
from polydl.clock import Clock
from polydl.errors import IllegalVariantError, PolydlError
from polydl.execute.contract import Built, Executor, Finished, Progress, TimingPolicy
from polydl.execute.toolchain import Toolchain
from polydl.ir.kernel import KernelSource
from polydl.ir.measurement import Measurement
from polydl.ir.ranking import RankedVariant
from polydl.machine import Machine
from polydl.pipeline import ProgressCallback, Stage, kernel
from polydl.plain_builds import build_all, plain_builds
from polydl.records.record import Record
from polydl.records.resume import LEADERS, ORIGINAL, Book, Known, Recorder, wanted_again
from polydl.records.store import Damage
from polydl.unmeasured import unmeasured

if TYPE_CHECKING:
    from polydl.next_picks import NextPicks
    from polydl.searching import Searching
    from polydl.variants.generate import VariantSpace


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
class StoreState:
    """What was wrong with the records while an optimization used them; nothing by default."""

    #: lines that were passed over
    damaged: tuple[Damage, ...] = ()
    #: measurements that were not stored
    lost: int = 0
    #: why they were not, or why no earlier ones could be read
    refusal: PolydlError | None = None


@dataclass(frozen=True)
class Measured:
    """Every plain build and every pick with its measurement, and what befell the records."""

    #: the nest as it was written, with the toolchain's own flags, is the first
    baselines: tuple[Baseline, ...]
    tried: tuple[Tried, ...]
    store: StoreState
    #: whether it ended before all was measured
    interrupted: bool = False


def relayed(progress: ProgressCallback | None) -> Callable[[Progress], None] | None:
    """For an executor: its progress as stages of the job."""
    if progress is None:
        return None
    names = {"build": "compile", "check": "verify", "time": "time"}
    return lambda event: progress(Stage(names[event.stage], event.done, event.total))


def measure_picks(
    space: VariantSpace,
    chosen: Sequence[tuple[int, RankedVariant]],
    machine: Machine,
    policy: TimingPolicy,
    toolchain: Toolchain,
    directory: Path,
    clock: Clock,
    seed: int,
    book: Book | None,
    fresh: bool,
    progress: ProgressCallback | None,
    searching: Searching | NextPicks | None = None,
) -> Measured:
    """Compile and measure what the book does not hold; with ``fresh``, everything.

    With ``searching``, it goes on with the batches that this proposes. A KeyboardInterrupt while it is measured ends it
    with what is known by then; it passes where no candidate is.
    """
    executor: Executor = registry.load("executors", "local")
    with clock.stage("compile"):
        plain = plain_builds(space.scop, toolchain, machine.threads, space.numerics)
        kernels = [kernel(space.apply(each.variant), machine.vector_bytes) for _, each in chosen]
        # The picks first, so that one is verified soon, should it be interrupted.
        everyone = [plain[0].kernel, *kernels, *(each.kernel for each in plain[1:])]
        earlier = book.known(everyone) if book is not None and not fresh else Known({})
        known = dict(earlier.records)
        again = searching is not None and searching.leaders_again
        least = [each.id for each in kernels[:LEADERS]] if again else []
        wanted = wanted_again([each.kernel.id for each in plain], [each.id for each in kernels], known, least)
        needed = [each for each in kernels if each.id in wanted]
        builds = [each for each in plain if each.kernel.id in wanted]
        built = build_all(executor, builds, needed, toolchain, directory, relayed(progress))
    picked = list(zip(chosen, kernels, strict=True))

    def tried() -> tuple[Tried, ...]:
        """What is known by now."""
        return tuple(
            Tried(number, ranked, source, answers[source.id])
            if source.id in answers
            else Tried(number, ranked, source, known[source.id].measurement, known[source.id])
            for (number, ranked), source in picked
            if source.id in answers or source.id in known
        )

    def plain_seconds() -> float | None:
        """The shortest median of the plain builds by now."""
        done = {**{one: record.measurement for one, record in known.items()}, **answers}
        times = [done[each.kernel.id].seconds_median for each in plain if each.kernel.id in done]
        return min((each for each in times if each is not None), default=None)

    recorder: Recorder | None = None
    answers: dict[str, Measurement] = {}
    interrupted = False
    if builds:
        variants = {each.id: ranked.variant for each, (_, ranked) in zip(kernels, chosen, strict=True)}
        recorder = book.recorder(everyone, variants) if book is not None else None

        def finished(one: Finished) -> None:
            answers[one.measurement.id] = one.measurement
            if recorder is not None:
                recorder(one)

        def more() -> Sequence[Built]:
            assert searching is not None
            searching.tell(tried(), plain_seconds())
            while batch := searching.more():
                later: list[KernelSource] = []
                for entry in batch:
                    try:
                        later.append(kernel(space.apply(entry[1].variant), machine.vector_bytes))
                    except IllegalVariantError:
                        searching.refuse(entry[1].variant)
                    else:
                        picked.append((entry, later[-1]))
                if book is not None and not fresh:
                    known.update(book.known(later).records)
                fresh_ones = [each for each in later if each.id not in known]
                if recorder is not None:
                    recorder.add(fresh_ones, {each.variant.id: each.variant for _, each in batch})
                if fresh_ones:
                    return executor.build(fresh_ones, toolchain, directory)
                searching.tell(tried(), plain_seconds())
            return ()

        try:
            with clock.stage("run"):
                measured = executor.measure(
                    [built[each.id] for each in everyone[1:] if each.id in built],
                    built[ORIGINAL],
                    space.scop,
                    threads=machine.threads,
                    policy=policy,
                    seed=seed,
                    progress=relayed(progress),
                    most_error=space.most_error,
                    finished=finished,
                    more=more if searching is not None else None,
                    earlier={identity: record.samples for identity, record in earlier.begun.items()},
                )
                answers = {each.id: each for each in measured}
        except KeyboardInterrupt:
            interrupted = True
            statuses = {
                **{one.id: one.status for one in known.values()},
                **{one.id: one.status for one in answers.values()},
            }
            if ORIGINAL not in statuses or "ok" not in (statuses.get(each.id) for each in kernels):
                raise
    baselines = tuple(
        Baseline(each, answers[each.kernel.id])
        if each.kernel.id in answers
        else Baseline(each, known[each.kernel.id].measurement, known[each.kernel.id])
        for each in plain
        if each.kernel.id in answers or each.kernel.id in known
    )
    written = baselines[0].measurement
    if written.status != "ok":
        raise unmeasured(space.scop, written)
    lost = recorder.lost if recorder is not None else 0
    refusal = recorder.refusal if recorder is not None and recorder.lost else earlier.refusal
    return Measured(baselines, tried(), StoreState(earlier.damaged, lost, refusal), interrupted)
