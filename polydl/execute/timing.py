"""The rounds in which kernels that were verified take samples (docs/guide/measuring.md)."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Sequence

from polydl.execute.contract import Built, Progress
from polydl.execute.job import Job
from polydl.execute.participant import Participant
from polydl.execute.rounds import (
    FAR_BEHIND,
    OVERHEAD_SECONDS,
    RawSample,
    contenders,
    hopeless,
    sample_counts,
    settled,
    takes_part,
    usual_rate,
)
from polydl.execute.sampling import Reply

_FEWEST_SAMPLES = 2
# A kernel that is far behind is no contender if its checked run takes as many seconds.
_BEHIND_SECONDS = 0.02
# An invocation of a kernel that takes so long is a sample, without trying.
_ONE_INVOCATION_SECONDS = 0.1

Attempt = Callable[[Participant, Callable[[Participant], None]], None]
"""Does a step of a participant; if it fails, the failure is kept."""


def first_run(job: Job, participant: Participant) -> None:
    """Run a kernel once on fresh data. The time of a long run counts as a sample."""
    reply = participant.running.request("run", min(job.policy.timeout_seconds, participant.limit))
    participant.seconds = participant.cost = reply["seconds"]
    participant.first = None if job.policy.cold else sample_of(reply)
    timed = [participant.first] if participant.long and participant.first is not None else []
    participant.raw = [*participant.earlier, *timed]


def calibrate(job: Job, participant: Participant) -> None:
    """Find how many invocations a sample takes."""
    if participant.long:
        return
    policy = job.policy
    least = max(_ONE_INVOCATION_SECONDS, policy.minimum_sample_seconds)
    if participant.seconds >= least and not policy.cold and isinstance(participant.program, Built):
        participant.cost = (1 + policy.warmup) * participant.seconds + OVERHEAD_SECONDS
        return
    reply = participant.running.request(
        "calibrate",
        job.limit(policy.minimum_sample_seconds + participant.seconds),
        minimum_seconds=policy.minimum_sample_seconds,
        warmup=policy.warmup,
        cold=policy.cold,
    )
    participant.seconds, participant.repeats = reply["seconds"], reply["repeats"]
    participant.cost = reply["cost"] + OVERHEAD_SECONDS


class Timer:
    """Times participants in interleaved rounds, in random order; few samples of a slow original are enough."""

    def __init__(
        self,
        job: Job,
        original: Participant,
        attempt: Attempt,
        report: Callable[[Progress], None],
        rounds: int,
        after_round: Callable[[], None],
    ) -> None:
        self._job = job
        self._original = original
        self._attempt = attempt
        self._report = report
        self._after_round = after_round
        self._order = random.Random(job.data.seed)
        self._rounds_done = 0
        self._rounds = rounds
        self._end = math.inf

    def end_at(self, moment: float) -> None:
        """No sample of what has one begins that would end after this moment of the monotonic clock."""
        self._end = moment

    def expect(self, rounds: int) -> None:
        """There will be so many rounds more."""
        self._rounds += rounds

    def time(self, participants: Sequence[Participant], budget_seconds: float, best: Sequence[float] = ()) -> None:
        """Take the samples of all of them. ``best`` are those of the fastest that was timed before."""
        if self._job.policy.adaptive:
            self._time_contenders(participants, budget_seconds, best)
        else:
            self._time_all(participants, budget_seconds)

    def _time_contenders(
        self, participants: Sequence[Participant], budget_seconds: float, best: Sequence[float]
    ) -> None:
        """Time the participants that may be the fastest, until that is settled.

        A slow original is in the first rounds only. Samples that every participant needs are taken in any case, and not
        charged to the budget.
        """
        policy = self._job.policy
        active = _worth_timing(participants)
        deadline = min(time.monotonic() + budget_seconds, self._end)
        # Rounds of an interrupted measurement count.
        first = min((len(p.earlier) for p in active if p is not self._original), default=0)
        self._rounds_done += min(first, policy.rounds - 1)
        for index in range(min(first, policy.rounds - 1), policy.rounds):
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
            self._after_round()
            if not chosen:
                break
            if index + 1 >= policy.fewest_rounds:
                usual = usual_rate(sample for participant in participants for sample in participant.raw)
                active = [p for p in active if not self._is_slow_original(p)]
                kept = contenders([*(p.undisturbed(usual) for p in active), best or ()], policy.fewest_rounds)
                # Those that lack undisturbed samples alone; the fastest of them may be what the speed-up is over.
                lost = hopeless([[sample.seconds for sample in p.raw] for p in active], policy.fewest_rounds)[1:]
                lost = tuple(each for each in lost if not self._lacks_samples(active[each], index + 1, usual))
                kept = tuple(each for each in kept if each < len(active) and each not in lost)
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
        if participant.raw and time.monotonic() + participant.cost > self._end:
            return False
        if len(participant.raw) < _FEWEST_SAMPLES:
            return True
        policy = self._job.policy
        lacking = len(participant.undisturbed(usual)) < policy.least_undisturbed
        return lacking and index < 2 * policy.fewest_rounds and participant is not self._original

    def _time_all(self, participants: Sequence[Participant], budget_seconds: float) -> None:
        """Time all; those with too few undisturbed samples get a few more.

        Samples that every participant needs are taken in any case, and not charged to the budget.
        """
        rounds = self._job.policy.rounds
        costs = [participant.cost for participant in participants]
        long = [participant.long for participant in participants]
        counts = sample_counts(costs, long, budget_seconds, self._job.policy)
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
            self._after_round()
            if index < rounds:
                self._rounds_done += 1
                self._report(Progress("time", self._rounds_done, self._rounds))
            elif not chosen or time.monotonic() > deadline:
                break

    def _sample(self, participant: Participant) -> None:
        reply = participant.running.request(
            "sample",
            self._job.limit(participant.cost),
            repeats=participant.repeats,
            warmup=self._warmup(participant),
            cold=self._job.policy.cold,
        )
        participant.raw.append(sample_of(reply))

    def _is_slow_original(self, participant: Participant) -> bool:
        """Whether it is the original and slow: a few samples of it are enough, and more would take the others' time."""
        return participant is self._original and participant.long

    def _warmup(self, participant: Participant) -> int:
        return 0 if participant.long else self._job.policy.warmup


def _worth_timing(participants: Sequence[Participant]) -> list[Participant]:
    """All but those whose checked run is sample enough: of all that are far behind the fastest, all but the first."""
    fastest = min((p.seconds for p in participants), default=0.0)
    least = max(_BEHIND_SECONDS, FAR_BEHIND * fastest)
    behind = [p for p in participants if p.seconds > least and (p.raw or p.first is not None)]
    behind.sort(key=lambda p: p.seconds)
    for participant in behind[1:]:
        participant.final = False
        if not participant.raw and participant.first is not None:
            participant.raw = [participant.first]
    return [p for p in participants if p not in behind[1:]]


def sample_of(reply: Reply) -> RawSample:
    """The sample that a worker replies with."""
    before, after = reply["probes"]
    return RawSample(reply["seconds"], (before, after), reply["waited"])
