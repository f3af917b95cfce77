"""The measurement of one nest: every candidate is verified against the original, then all are timed in turns."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from polydl.execute.child import Child, ChildError, InputHolder
from polydl.execute.contract import Built, Finished, FinishedCallback, Peer, Progress, TimingPolicy
from polydl.execute.rounds import (
    LONG_SECONDS,
    RawSample,
    contenders,
    is_disturbed,
    sample_counts,
    settled,
    summarise,
    takes_part,
    usual_rate,
)
from polydl.ir.measurement import Measurement

# Time limits for filling or comparing all arrays, on however slow a machine.
_PREPARE_SECONDS = 60.0
_PREPARE_BYTES_PER_SECOND = 20e6
# A kernel that ran once within the limit, and now takes that many times longer, hangs.
_SLOWEST = 100
_FEWEST_SAMPLES = 2
# Most participants of the final, if there are several waves.
_FINALISTS = 4
# The probes before and after a sample, and the pipe.
_OVERHEAD_SECONDS = 0.004


@dataclass(frozen=True)
class Job:
    """The facts that all children of one measurement have in common."""

    #: of the function, as ``Worker.start`` takes them
    parameters: list[dict[str, Any]]
    global_arrays: list[dict[str, Any]]
    #: of all arrays of one child
    bytes: int
    #: arrays that no kernel writes, and that all children read from the same memory
    shared: list[dict[str, Any]]
    shared_bytes: int
    #: to pin threads to
    cores: tuple[int, ...]
    #: of the random data
    seed: int
    #: largest norm-wise error of a correct result
    tolerance: float
    #: for temporary files
    directory: Path
    policy: TimingPolicy

    @property
    def result(self) -> Path:
        return self.directory / "original"

    @property
    def walk_seconds(self) -> float:
        return _PREPARE_SECONDS + self.bytes / _PREPARE_BYTES_PER_SECOND


@dataclass
class Participant:
    """The state of one kernel, or of a peer, during a measurement."""

    program: Built | Peer
    #: a peer's description of itself
    note: str = ""
    #: its process, while it runs
    child: Child | None = None
    failure: ChildError | None = None
    #: norm-wise error of its result
    error: float | None = None
    #: of one invocation
    seconds: float = 0.0
    #: invocations in one sample
    repeats: int = 1
    #: seconds that one sample takes, with warm-up and probes
    cost: float = 0.0
    raw: list[RawSample] = field(default_factory=list)
    #: False once it has fallen behind, and others are timed without it
    final: bool = True

    @property
    def id(self) -> str:
        return self.program.name if isinstance(self.program, Peer) else self.program.kernel.id

    @property
    def running(self) -> Child:
        if self.child is None:
            raise ChildError("unsupported", "the kernel was not started")
        return self.child

    @property
    def long(self) -> bool:
        return self.seconds >= LONG_SECONDS

    def undisturbed(self, usual: float) -> list[float]:
        """Seconds of the samples that nothing disturbed."""
        return [sample.seconds for sample in self.raw if not is_disturbed(sample, usual)]

    def measurement(self, usual: float) -> Measurement:
        source = "" if isinstance(self.program, Peer) else str(self.program.source)
        if self.failure is not None:
            status, message = self.failure.status, self.failure.message
            return Measurement(self.id, status, error=self.error, message=message, source=source)
        summary = summarise(self.raw, usual)
        return Measurement(
            self.id,
            "ok",
            samples=summary.samples,
            seconds_minimum=summary.minimum,
            seconds_median=summary.median,
            error=self.error,
            message="; ".join(filter(None, (self.note, summary.message))),
            source=source,
            final=self.final,
        )


@dataclass(frozen=True)
class _Expected:
    """The stored result of the original nest."""

    #: whether the input data are signed
    signed: bool
    #: of each array in the file, bytes
    offsets: dict[str, int]


class Session:
    """One measurement; its results are in the fields of the participants afterwards."""

    def __init__(
        self,
        job: Job,
        original: Participant,
        others: Sequence[Participant],
        report: Callable[[Progress], None],
        finished: FinishedCallback | None = None,
    ) -> None:
        self._job = job
        self._original = original
        self._others = others
        self._report = report
        self._finished = finished
        self._announced: set[int] = set()
        self._order = random.Random(job.seed)
        self._checked = 0
        self._rounds_done = 0
        self._rounds = 0
        self._holder: InputHolder | None = None

    def run(self, capacity: int) -> None:
        """Measure in waves of at most ``capacity`` processes, the original among them if there is room."""
        job = self._job
        with ExitStack() as outer:
            if job.shared:
                self._holder = outer.enter_context(InputHolder(job.cores, job.directory, job.shared))
            self._run(capacity)

    def _run(self, capacity: int) -> None:
        size = max(capacity - 1, 1)
        waves = [self._others[first : first + size] for first in range(0, len(self._others), size)]
        policy = self._job.policy
        with ExitStack() as stack:
            expected = self._reference(stack)
            if expected is None:
                return
            if capacity == 1 or not waves:
                self._rounds = (len(waves) + 1) * policy.rounds
                self._time([self._original], policy.budget_seconds / (len(waves) + 1))
                stack.close()
                self._announce(self._original)
                for wave in waves:
                    self._wave(wave, expected, [], policy.budget_seconds / (len(waves) + 1))
                return
            self._rounds = len(waves) * policy.rounds
            for wave in waves:
                budget = policy.budget_seconds * len(wave) / len(self._others)
                # A slow original was timed with the first wave, and must not eat up the others' time.
                again = not self._original.raw or self._original.cost <= budget / (len(wave) + 1)
                first = wave is waves[0]
                self._wave(wave, expected, [self._original] if first or again else [], budget)
            if policy.adaptive and len(waves) > 1 and size > 1:
                self._final(expected, min(size, _FINALISTS), policy.budget_seconds / len(waves))
            self._announce(self._original)

    def _final(self, expected: _Expected, count: int, budget_seconds: float) -> None:
        """Time the ``count`` fastest of all waves in the same rounds; their earlier samples are dropped."""
        usual = usual_rate(sample for participant in self._others for sample in participant.raw)
        passed = [participant for participant in self._others if participant.failure is None and participant.raw]
        passed.sort(key=lambda participant: participant.measurement(usual).seconds_median or 0.0)
        finalists = passed[:count]
        for participant in passed:
            participant.final = participant in finalists
        for participant in finalists:
            participant.raw = []
            self._announced.discard(id(participant))
        self._rounds += self._job.policy.rounds
        self._wave(finalists, expected, [], budget_seconds)

    def _wave(
        self, wave: Sequence[Participant], expected: _Expected, company: list[Participant], budget_seconds: float
    ) -> None:
        with ExitStack() as stack:
            # Started side by side, as they spend their time on imports and random data.
            for participant in wave:
                self._attempt(participant, lambda p: self._launch(p, expected.signed, stack))
            for participant in wave:
                self._attempt(participant, self._await)
            for participant in wave:
                self._attempt(participant, lambda p: self._check(p, expected))
                self._report_check(participant)
            self._time([p for p in (*company, *wave) if p.failure is None], budget_seconds)
            for participant in wave:
                self._attempt(participant, lambda p: self._check_again(p, expected))
                self._announce(participant)

    def _attempt(self, participant: Participant, step: Callable[[Participant], None]) -> None:
        """Do a step unless the participant has failed. If it fails now, its failure is kept and its process ended."""
        if participant.failure is not None:
            return
        try:
            step(participant)
        except ChildError as failure:
            participant.failure = failure
            if participant.child is not None:
                participant.child.close()
            if participant is not self._original:
                self._announce(participant)

    def _announce(self, participant: Participant) -> None:
        """Report the measurement of a participant, once."""
        if self._finished is None or id(participant) in self._announced:
            return
        self._announced.add(id(participant))
        everyone = (self._original, *self._others)
        usual = usual_rate(sample for member in everyone for sample in member.raw)
        baseline = self._original.measurement(usual).seconds_minimum if self._original.raw else None
        self._finished(Finished(participant.measurement(usual), baseline, usual))

    def _report_check(self, participant: Participant) -> None:
        self._checked = min(self._checked + 1, len(self._others) + 1)
        self._report(Progress("check", self._checked, len(self._others) + 1, participant.id))

    # ---- starting and checking

    def _launch(self, participant: Participant, signed: bool, stack: ExitStack) -> None:
        program, job = participant.program, self._job
        cores = list(job.cores)
        if isinstance(program, Peer):
            child = Child(cores, job.directory, program.command, program.environment)
            participant.child = stack.enter_context(child)
            child.send("start", problem=dict(program.problem), cores=cores)
            return
        if program.library is None:
            raise ChildError("compile", program.message)
        if self._holder is not None:
            self._holder.fill(job.seed, signed, job.walk_seconds)
        participant.child = stack.enter_context(Child(cores, job.directory, holder=self._holder))
        participant.child.send(
            "start",
            library=str(program.library.resolve()),
            parameters=job.parameters,
            global_arrays=job.global_arrays,
            cores=cores,
            seed=job.seed,
            signed=signed,
        )

    def _await(self, participant: Participant) -> None:
        participant.note = participant.running.receive(self._job.walk_seconds).get("note", "")

    def _reference(self, stack: ExitStack) -> _Expected | None:
        """Run the original nest and keep its result; None if it fails."""
        references: list[_Expected] = []
        self._attempt(self._original, lambda p: self._launch(p, True, stack))
        self._attempt(self._original, self._await)
        self._attempt(self._original, lambda p: references.append(self._store(p)))
        self._report_check(self._original)
        return references[0] if references and self._original.failure is None else None

    def _store(self, participant: Participant) -> _Expected:
        """Run on signed data, and on positive data if those lead to NaN (a square root) or infinity."""
        child, job = participant.running, self._job
        for signed in (True, False):
            if not signed:
                child.request("fill", job.walk_seconds, seed=job.seed, signed=False)
            self._first_run(participant)
            reply = child.request("store", job.walk_seconds, path=str(job.result))
            if reply["wrong"] is None:
                participant.error = 0.0
                self._calibrate(participant)
                return _Expected(signed, reply["offsets"])
            if reply["finite"]:
                break
        raise ChildError("wrong", f"the original nest can't be a reference: {reply['wrong']}")

    def _check(self, participant: Participant, expected: _Expected) -> None:
        self._first_run(participant)
        if not isinstance(participant.program, Peer):
            self._compare(participant, expected)
        self._calibrate(participant)

    def _check_again(self, participant: Participant, expected: _Expected) -> None:
        """Verify again after timing, since a data race need not show the first time; not where it would take long."""
        if participant.long or isinstance(participant.program, Peer):
            return
        child, job = participant.running, self._job
        child.request("fill", job.walk_seconds, seed=job.seed, signed=expected.signed)
        child.request("run", job.policy.timeout_seconds)
        self._compare(participant, expected)

    def _compare(self, participant: Participant, expected: _Expected) -> None:
        job = self._job
        reply = participant.running.request(
            "compare", job.walk_seconds, path=str(job.result), offsets=expected.offsets, tolerance=job.tolerance
        )
        if reply["error"] is not None:
            participant.error = max(participant.error or 0.0, reply["error"])
        if reply["wrong"] is not None:
            raise ChildError("wrong", reply["wrong"])

    def _first_run(self, participant: Participant) -> None:
        reply = participant.running.request("run", self._job.policy.timeout_seconds)
        participant.seconds = participant.cost = reply["seconds"]
        participant.raw = [_raw(reply)] if participant.long and not self._job.policy.cold else []

    # ---- timing

    def _calibrate(self, participant: Participant) -> None:
        if participant.long:
            return
        policy = self._job.policy
        reply = participant.running.request(
            "calibrate",
            self._limit(policy.minimum_sample_seconds + participant.seconds),
            minimum_seconds=policy.minimum_sample_seconds,
            warmup=policy.warmup,
            cold=policy.cold,
        )
        participant.seconds, participant.repeats = reply["seconds"], reply["repeats"]
        participant.cost = reply["cost"] + _OVERHEAD_SECONDS

    def _time(self, participants: Sequence[Participant], budget_seconds: float) -> None:
        """See docs/guide/measuring.md."""
        if self._job.policy.adaptive:
            self._time_contenders(participants, budget_seconds)
        else:
            self._time_all(participants, budget_seconds)

    def _time_contenders(self, participants: Sequence[Participant], budget_seconds: float) -> None:
        """Time in interleaved rounds, in random order, the participants that may be the fastest, until that is settled.

        The original is in the first rounds only. Samples that every participant needs are taken in any case, and not
        charged to the budget.
        """
        policy = self._job.policy
        active = list(participants)
        deadline = time.monotonic() + budget_seconds
        for index in range(policy.rounds):
            self._rounds_done += 1
            self._report(Progress("time", self._rounds_done, self._rounds))
            usual = usual_rate(sample for participant in participants for sample in participant.raw)
            needed = [p for p in active if self._lacks_samples(p, index, usual)]
            chosen = active if time.monotonic() + sum(p.cost for p in active) <= deadline else list(needed)
            self._order.shuffle(chosen)
            for participant in chosen:
                start = time.monotonic()
                self._attempt(participant, self._sample)
                if participant in needed:
                    deadline += time.monotonic() - start
            active = [p for p in active if p.failure is None]
            if not chosen:
                break
            if index + 1 >= policy.fewest_rounds:
                usual = usual_rate(sample for participant in participants for sample in participant.raw)
                active = [p for p in active if p is not self._original]
                kept = contenders([p.undisturbed(usual) for p in active], policy.fewest_rounds)
                for position, participant in enumerate(active):
                    participant.final = position in kept
                active = [active[position] for position in kept]
                if settled([p.undisturbed(usual) for p in active]):
                    break
            elif self._is_slow_original(self._original) and len(self._original.raw) >= _FEWEST_SAMPLES:
                active = [p for p in active if p is not self._original]
        skipped = policy.rounds - 1 - index
        if skipped:
            self._rounds_done += skipped
            self._report(Progress("time", self._rounds_done, self._rounds))

    def _lacks_samples(self, participant: Participant, index: int, usual: float) -> bool:
        """Whether the participant must be in this round even if the budget is spent."""
        if len(participant.raw) < _FEWEST_SAMPLES:
            return True
        policy = self._job.policy
        lacking = len(participant.undisturbed(usual)) < policy.least_undisturbed
        return lacking and index < 2 * policy.fewest_rounds and participant is not self._original

    def _time_all(self, participants: Sequence[Participant], budget_seconds: float) -> None:
        """Time all in interleaved rounds, in random order; those with too few undisturbed samples get a few more.

        Samples that every participant needs are taken in any case, and not charged to the budget.
        """
        rounds = self._job.policy.rounds
        costs = [participant.cost for participant in participants]
        counts = sample_counts(costs, budget_seconds, self._job.policy)
        entries = [
            (participant, cost, min(count, _FEWEST_SAMPLES) if self._is_slow_original(participant) else count)
            for participant, cost, count in zip(participants, costs, counts, strict=True)
        ]
        deadline = time.monotonic() + budget_seconds
        for index in range(2 * rounds):
            if index < rounds:
                chosen = [entry for entry in entries if takes_part(index, entry[2], rounds)]
            else:
                usual = usual_rate(sample for participant in participants for sample in participant.raw)
                chosen = [
                    entry
                    for entry in entries
                    if len(entry[0].undisturbed(usual)) < (entry[2] + 1) // 2 and not self._is_slow_original(entry[0])
                ]
            self._order.shuffle(chosen)
            for participant, cost, _ in chosen:
                start = time.monotonic()
                needed = len(participant.raw) < _FEWEST_SAMPLES
                if needed or start + cost < deadline:
                    self._attempt(participant, self._sample)
                if needed:
                    deadline += time.monotonic() - start
            if index < rounds:
                self._rounds_done += 1
                self._report(Progress("time", self._rounds_done, self._rounds))
            elif not chosen or time.monotonic() > deadline:
                break

    def _sample(self, participant: Participant) -> None:
        reply = participant.running.request(
            "sample",
            self._limit(participant.cost),
            repeats=participant.repeats,
            warmup=self._warmup(participant),
            cold=self._job.policy.cold,
        )
        participant.raw.append(_raw(reply))

    def _is_slow_original(self, participant: Participant) -> bool:
        """Whether it is the original and slow: a few samples of it are enough, and more would take the others' time."""
        return participant is self._original and participant.long

    def _warmup(self, participant: Participant) -> int:
        return 0 if participant.long else self._job.policy.warmup

    def _limit(self, seconds: float) -> float:
        """Time limit of a command that runs a kernel for ``seconds`` and may fill its arrays again."""
        job = self._job
        return job.policy.timeout_seconds + _SLOWEST * seconds + job.bytes / _PREPARE_BYTES_PER_SECOND


def _raw(reply: dict[str, Any]) -> RawSample:
    before, after = reply["probes"]
    return RawSample(reply["seconds"], (before, after), reply["waited"])
