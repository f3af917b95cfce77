"""Picks are compiled, verified and timed beside the original nest; what the records hold is not run again."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from polydl.errors import IllegalVariantError, RecordsError
from polydl.execute.contract import SAMPLE_SECONDS, Batch, Executor, Finished, Progress, TimingPolicy
from polydl.execute.toolchain import Toolchain
from polydl.ir.cold import Cold
from polydl.ir.kernel import KernelSource
from polydl.ir.measurement import Measurement, Sample
from polydl.ir.ranking import RankedVariant
from polydl.ir.scop import Scop
from polydl.machine import Machine
from polydl.optimization.plain_building import PlainBuilding
from polydl.optimization.plain_builds import build_all
from polydl.optimization.unmeasured import unmeasured
from polydl.outcome.baselines import Baseline
from polydl.outcome.store_state import StoreState
from polydl.outcome.tried import Tried
from polydl.pipeline import ProgressCallback, Stage, kernel
from polydl.records.record import Record
from polydl.records.resume import LEADERS, ORIGINAL, Book, Recorder, wanted_again
from polydl.records.store import Damage
from polydl.system.clock import Clock

if TYPE_CHECKING:
    from polydl.optimization.next_picks import NextPicks
    from polydl.optimization.searching import Searching
    from polydl.variants.variant_space import VariantSpace


_FLOAT_BYTES, _DOUBLE_BYTES = 4, 8
_MOST_ROUNDS = 25
# Of a nest that takes long, as many runs of it as its candidates may take together.
_MOST_ORIGINALS = 20


@dataclass(frozen=True)
class Measured:
    """Every plain build and every pick with its measurement, and what befell the records."""

    #: the nest as it was written, with the toolchain's own flags, is the first
    baselines: tuple[Baseline, ...]
    #: picks, and what was measured beyond them, in the order of their places
    tried: tuple[Tried, ...]
    store: StoreState
    #: whether it ended before all was measured
    interrupted: bool = False


def best_peak(scop: Scop, machine: Machine, measured: Measured | None) -> float:
    """GFLOPS of the fastest probe beside measurements, or the machine's peak without any, for what a nest computes in.

    Probes multiply and add floats; a vector has half as many doubles.
    """
    seen: list[Measurement] = []
    if measured is not None:
        seen += [each.measurement for each in measured.baselines]
        seen += [each.measurement for each in measured.tried]
    probes = [rate for measurement in seen for sample in measurement.samples for rate in sample.probe_gflops]
    return max(probes, default=machine.peak_gflops) * share_of_peak(scop, machine)


def share_of_peak(scop: Scop, machine: Machine) -> float:
    """The peak of the types that a nest computes in, as a part of that of ``float``.

    A statement that reads or writes a double computes in doubles.
    """
    as_floats = 0.0
    for statement in scop.statements:
        is_double = any(scop.array(access.array).element == "double" for access in statement.accesses)
        width = _DOUBLE_BYTES if is_double else _FLOAT_BYTES
        as_floats += statement.flops * machine.vector_elements(_FLOAT_BYTES) / machine.vector_elements(width)
    return scop.flops / as_floats if as_floats else 1.0


def timing_policy(timeout_seconds: float, *, cold: Cold, limited: bool) -> TimingPolicy:
    """How candidates of a nest are timed; where ``limited``, those of one that takes long are measured a few times."""
    return TimingPolicy(
        rounds=_MOST_ROUNDS,
        minimum_sample_seconds=SAMPLE_SECONDS,
        adaptive=True,
        timeout_seconds=timeout_seconds,
        cold=cold,
        most_originals=_MOST_ORIGINALS if limited else 0,
    )


def relayed(progress: ProgressCallback | None) -> Callable[[Progress], None] | None:
    """For an executor: its progress as stages of the job."""
    if progress is None:
        return None
    names = {"build": "compile", "check": "verify", "time": "time"}
    return lambda event: progress(Stage(names[event.stage], event.done, event.total, event.note))


class Measuring:
    """The measurement of plain builds and picks. Where ``run`` is cut short, ``result`` is what was known by then."""

    def __init__(
        self,
        space: VariantSpace,
        chosen: Sequence[tuple[int, RankedVariant]],
        machine: Machine,
        policy: TimingPolicy,
        toolchain: Toolchain,
        executor: Executor,
        *,
        seed: int,
        plain: PlainBuilding,
        book: Book | None,
        fresh: bool,
        clock: Clock,
        progress: ProgressCallback | None,
        further: Searching | NextPicks | None = None,
        beside: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        """What the book holds is not run again, unless ``fresh``. ``plain`` has the builds to compare with, and
        ``further`` proposes what follows the first picks.

        What ``beside`` does goes on while they are compiled.
        """
        self._beside = beside
        self._space = space
        self._machine = machine
        self._policy = policy
        self._toolchain = toolchain
        self._seed = seed
        self._book = book
        self._fresh = fresh
        self._clock = clock
        self._progress = progress
        self._further = further
        self._executor = executor
        self._plain = plain
        with clock.stage("compile"):
            self._picked = self._with_kernels(chosen)
        self._known: dict[str, Record] = {}
        self._begun: dict[str, Record] = {}
        self._damaged: tuple[Damage, ...] = ()
        self._unread: RecordsError | None = None
        self._answers: dict[str, Measurement] = {}
        self._recorder: Recorder | None = None
        # Whether the records held some of what was looked up last. What follows it may then be there, too.
        self._on_record = False

    def _with_kernels(
        self, chosen: Sequence[tuple[int, RankedVariant]]
    ) -> list[tuple[tuple[int, RankedVariant], KernelSource]]:
        """The picks and their kernels. One that isl proves illegal is left out, which a warning says.

        Raises IllegalVariantError if that leaves none.
        """
        picked: list[tuple[tuple[int, RankedVariant], KernelSource]] = []
        refusals: list[IllegalVariantError] = []
        for entry in chosen:
            try:
                picked.append((entry, self._kernel(entry)))
            except IllegalVariantError as error:
                refusals.append(error)
                if self._further is not None:
                    self._further.refuse(entry[1].variant)
        if refusals and not picked:
            raise refusals[0]
        for refusal in refusals:
            warnings.warn(f"a pick is left out: {refusal.message}", stacklevel=4)
        return picked

    def _kernel(self, entry: tuple[int, RankedVariant]) -> KernelSource:
        return kernel(self._space.apply(entry[1].variant), self._machine.vector_bytes)

    def run(self, directory: Path) -> None:
        """Compile in ``directory``, verify and time what is not known yet, and what is proposed further."""
        self._look_up([*(source for _, source in self._picked), *(each.kernel for each in self._plain.builds)])
        wanted = self._wanted()
        # Where all picks are known, what followed them may be, too.
        while not wanted and self._next_batch():
            wanted = self._wanted()
        builds = [each for each in self._plain.builds if each.kernel.id in wanted]
        if not builds:
            return
        kernels = [source for _, source in self._picked]
        # The picks first, so that one is verified soon, should it be interrupted.
        everyone = [self._plain.builds[0].kernel, *kernels, *(each.kernel for each in self._plain.builds[1:])]
        with self._clock.stage("compile"), self._beside():
            needed = [each for each in kernels if each.id in wanted]
            later = [each for each in builds if each.kernel.id not in self._plain.ids]
            report = relayed(self._progress)
            built = {
                **build_all(self._executor, later, needed, self._toolchain, directory, report),
                **self._plain.wait(report),
            }
        if self._book is not None:
            variants = {source.id: ranked.variant for (_, ranked), source in self._picked}
            self._recorder = self._book.recorder(everyone, variants)
        with self._clock.stage("run"):
            measured = self._executor.measure(
                [built[each.id] for each in everyone[1:] if each.id in built],
                built[ORIGINAL],
                self._space.scop,
                threads=self._machine.threads,
                policy=self._policy,
                seed=self._seed,
                progress=relayed(self._progress),
                most_error=self._space.most_error,
                finished=self._finished,
                more=None if self._further is None else partial(self._more, directory),
                earlier=self._earlier(everyone),
            )
            self._answers = {each.id: each for each in measured}

    @property
    def verified(self) -> bool:
        """Whether the original and at least one pick were verified by now."""
        picks = (self._outcome(source.id) for _, source in self._picked)
        return self._outcome(ORIGINAL) is not None and any(each[0].status == "ok" for each in picks if each is not None)

    def result(self, *, interrupted: bool = False) -> Measured:
        """What is known by now. Raises ExecutionError if the original can't be run."""
        baselines = self._baselines()
        written = baselines[0].measurement
        if written.status != "ok":
            raise unmeasured(self._space.scop, written)
        lost = self._recorder.lost if self._recorder is not None else 0
        refusal = self._recorder.refusal if self._recorder is not None and lost else self._unread
        return Measured(baselines, self._tried(), StoreState(self._damaged, lost, refusal), interrupted)

    def _finished(self, one: Finished) -> None:
        self._answers[one.measurement.id] = one.measurement
        if self._recorder is not None:
            self._recorder(one)

    def _look_up(self, kernels: Sequence[KernelSource]) -> None:
        """Take over what the records hold of them."""
        if self._book is None or self._fresh:
            return
        known = self._book.known(kernels)
        self._on_record = bool(known.records)
        self._known.update(known.records)
        self._begun.update(known.begun)
        self._damaged, self._unread = known.damaged, known.refusal

    def _recorded(self, entries: Sequence[tuple[int, RankedVariant]]) -> frozenset[str]:
        """The ids of variants that need not be run: those in the records, and what isl proves illegal."""
        kernels: list[KernelSource] = []
        refused: list[str] = []
        for entry in entries:
            try:
                kernels.append(self._kernel(entry))
            except IllegalVariantError:
                refused.append(entry[1].variant.id)
        known = frozenset[str]() if self._book is None else frozenset(self._book.known(kernels).records)
        return known.union(refused)

    def _wanted(self) -> frozenset[str]:
        """The ids of the picks and plain builds to measure."""
        again = self._further is not None and self._further.leaders_again
        picks = [source.id for _, source in self._picked]
        plain = [each.kernel.id for each in self._plain.builds]
        return wanted_again(plain, picks, self._known, picks[:LEADERS] if again else ())

    def _earlier(self, kernels: Sequence[KernelSource]) -> Mapping[str, Sequence[Sample]]:
        """The samples that an interrupted run took of them, by id, those of its complete measurements among them."""
        runs = {record.run for record in self._begun.values()}
        complete = {identity: record for identity, record in self._known.items() if record.run in runs}
        records = {**complete, **self._begun}
        return {each.id: records[each.id].samples for each in kernels if each.id in records}

    def _more(self, directory: Path) -> Batch:
        """The next batch that has something to run; an empty one once nothing is proposed."""
        while batch := self._next_batch():
            needed = [source for _, source in batch if source.id not in self._known]
            if self._recorder is not None:
                self._recorder.add(needed, {entry[1].variant.id: entry[1].variant for entry, _ in batch})
            if needed:
                return Batch(self._executor.build(needed, self._toolchain, directory), self._earlier(needed))
        return Batch()

    def _next_batch(self) -> Sequence[tuple[tuple[int, RankedVariant], KernelSource]]:
        """What is proposed next, which joins the picks; nothing once nothing is."""
        further = self._further
        if further is None:
            return ()
        further.tell(self._tried(), self._baselines())
        # What it is told to be refused, it knows without being told again.
        while proposed := further.more(self._recorded if self._on_record else None):
            batch: list[tuple[tuple[int, RankedVariant], KernelSource]] = []
            for entry in proposed:
                try:
                    batch.append((entry, self._kernel(entry)))
                except IllegalVariantError:
                    further.refuse(entry[1].variant)
            if batch:
                self._look_up([source for _, source in batch])
                self._picked += batch
                return batch
        return ()

    def _outcome(self, identity: str) -> tuple[Measurement, Record | None] | None:
        """The measurement of a kernel, and the record that it is if it was not measured now; None if there is none."""
        if identity in self._answers:
            return self._answers[identity], None
        record = self._known.get(identity)
        return None if record is None else (record.measurement, record)

    def _tried(self) -> tuple[Tried, ...]:
        outcomes = ((entry, source, self._outcome(source.id)) for entry, source in self._picked)
        return tuple(Tried(*entry, source, *outcome) for entry, source, outcome in outcomes if outcome is not None)

    def _baselines(self) -> tuple[Baseline, ...]:
        outcomes = ((build, self._outcome(build.kernel.id)) for build in self._plain.builds)
        return tuple(Baseline(build, *outcome) for build, outcome in outcomes if outcome is not None)
