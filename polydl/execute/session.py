"""The measurement of one nest: every candidate is verified against the original, then all are timed in turns."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial

from polydl.execute.checking import Checker
from polydl.execute.child import ChildError, InputHolder
from polydl.execute.contract import Built, Finished, FinishedCallback, Peer, Progress
from polydl.execute.expected import Expected, Originals
from polydl.execute.job import Job
from polydl.execute.participant import Participant
from polydl.execute.rounds import FINALISTS, longest_seconds, usual_rate
from polydl.execute.timing import Timer
from polydl.ir.measurement import Measurement
from polydl.system.interruption import INTERRUPTION

# Of the time for all candidates, one of a further batch gets this part.
_FIRST = 20
# Of a nest that takes long, a run of a candidate is stopped after as many times the original's.
_SLOWER = 1.5


class Session:
    """One measurement; its results are in the fields of the participants afterwards."""

    def __init__(
        self,
        job: Job,
        originals: Callable[[], Originals],
        original: Participant,
        others: Sequence[Participant],
        report: Callable[[Progress], None],
        finished: FinishedCallback | None = None,
        further: Callable[[], Sequence[Participant]] = tuple,
    ) -> None:
        self._job = job
        self._originals = originals
        self._original = original
        self._others = list(others)
        self._further = further
        self._report = report
        self._finished = finished
        self._announced: set[int] = set()
        self._checked = 0
        # Of the monotonic clock, when no further candidate is begun.
        self._end = math.inf

    def run(self, capacity: int) -> None:
        """Measure in waves of at most ``capacity`` processes, the original among them if there is room.

        When it is interrupted, it tells what was measured by then.
        """
        job = self._job
        with ExitStack() as outer:
            holder = outer.enter_context(InputHolder(job.cores, job.directory, job.shared)) if job.forks else None
            self._checker = Checker(job, holder, one_at_a_time=capacity == 1)
            try:
                self._run(capacity)
            except KeyboardInterrupt:
                # Beside candidates that are all complete, the original is, too: none of them need be timed again.
                if self._others and all(each.told is not None for each in self._others):
                    self._announce(self._original)
                self._tell()
                raise

    def _run(self, capacity: int) -> None:
        size = max(capacity - 1, 1)
        waves = [self._others[first : first + size] for first in range(0, len(self._others), size)]
        policy = self._job.policy
        alone = capacity == 1 or not waves
        rounds = (len(waves) + (1 if alone else 0)) * policy.rounds
        self._timer = Timer(self._job, self._original, self._attempt, self._report, rounds, self._tell)
        originals = self._originals()
        begun = time.monotonic()
        with ExitStack() as stack:
            expected = self._expect(originals, stack)
            if expected is None:
                return
            self._limit(begun)
            if alone:
                self._timer.time([self._original], policy.budget_seconds / (len(waves) + 1))
                stack.close()
                self._announce(self._original)
                for wave in waves:
                    self._wave(wave, expected, [], policy.budget_seconds / (len(waves) + 1))
                self._go_on(expected, size)
                return
            for wave in waves:
                budget = policy.budget_seconds * len(wave) / len(self._others)
                # A slow original was timed with the first wave, and must not eat up the others' time.
                again = not self._original.raw or self._original.cost <= budget / (len(wave) + 1)
                first = wave is waves[0]
                self._wave(wave, expected, [self._original] if first or again else [], budget)
            self._announce(self._original)
            batches = self._go_on(expected, size)
            while policy.adaptive and len(waves) + batches > 1 and size > 1 and time.monotonic() < self._end:
                self._final(expected, min(size, FINALISTS), policy.budget_seconds / len(waves))
                # Timed side by side, they may call for further ones.
                if not self._go_on(expected, size):
                    break

    def _limit(self, begun: float) -> None:
        """Where the original runs long, say beforehand for how long its candidates are measured."""
        seconds = self._original.seconds
        longest = longest_seconds(seconds, self._job.policy)
        if longest == math.inf:
            return
        self._end = begun + longest
        self._timer.end_at(self._end)
        note = f"the nest takes {seconds:.3g} s a run: its candidates are measured for {longest:.0f} s at most"
        self._report(Progress("check", self._checked, len(self._others) + 1, self._original.id, note))

    def _check(self, participant: Participant, expected: Expected) -> None:
        """Verify a candidate. Of a nest that takes long, once there is one, no more than is needed: none when the time
        is spent, and none to its end that is clearly slower than the original.
        """
        original = self._original.seconds
        if self._end < math.inf and any(each.verified for each in self._others):
            left = self._end - time.monotonic()
            if left < original:
                raise ChildError("timeout", "not run: the time for candidates of so long a nest is spent")
            participant.limit = min(left, _SLOWER * original)
        try:
            self._checker.check(participant, expected, self._job.most_error)
        except ChildError as failure:
            if failure.status == "timeout" and participant.limit < self._job.policy.timeout_seconds:
                stopped = f"stopped after {participant.limit:.3g} s"
                raise ChildError("timeout", f"{stopped}: the nest as it is written takes {original:.3g}") from None
            raise

    def _go_on(self, expected: Expected, size: int) -> int:
        """Measure further candidates while there are any. The number of batches."""
        batches = 0
        while time.monotonic() < self._end and (later := list(self._further())):
            batches += 1
            self._others += later
            for first in range(0, len(later), size):
                wave = later[first : first + size]
                usual = usual_rate(sample for participant in self._others for sample in participant.raw)
                passed = [each for each in self._others if each.failure is None and each.undisturbed(usual)]
                best = min((each.undisturbed(usual) for each in passed), key=statistics.median, default=[])
                self._timer.expect(self._job.policy.rounds)
                self._wave(wave, expected, [], self._job.policy.budget_seconds * len(wave) / _FIRST, best)
        return batches

    def _expect(self, originals: Originals, stack: ExitStack) -> Expected | None:
        """Run the reference and the original, and keep the reference's results; None if the original fails."""
        results: list[Expected] = []
        self._attempt(self._original, lambda original: results.append(self._checker.expect(originals, original, stack)))
        self._original.verified = bool(results)
        self._report_check(self._original)
        return results[0] if results else None

    def _final(self, expected: Expected, count: int, budget_seconds: float) -> None:
        """Time the ``count`` fastest of all waves in the same rounds; their earlier samples are dropped."""
        passed = self._fastest_first(self._others)
        finalists = passed[:count]
        for participant in passed:
            participant.final = participant in finalists
        for participant in finalists:
            participant.raw = []
            participant.earlier = ()
            participant.notes = []
            self._announced.discard(id(participant))
        self._timer.expect(self._job.policy.rounds)
        self._wave(finalists, expected, [], budget_seconds)

    def _wave(
        self,
        wave: Sequence[Participant],
        expected: Expected,
        company: list[Participant],
        budget_seconds: float,
        best: Sequence[float] = (),
    ) -> None:
        checker = self._checker
        with ExitStack() as stack:
            # A peer tries its ways when it starts, and is alone meanwhile.
            peers = [participant for participant in wave if isinstance(participant.program, Peer)]
            for participant in peers:
                self._attempt(participant, lambda p: checker.launch(p, expected.signed, stack))
                self._attempt(participant, checker.wait)
            # Others are started side by side, as they spend their time on imports and random data.
            kernels = [participant for participant in wave if isinstance(participant.program, Built)]
            for participant in kernels:
                self._attempt(participant, lambda p: self._launch(p, expected.signed, stack))
            for participant in kernels:
                self._attempt(participant, checker.wait)
            for participant in wave:
                self._attempt(participant, lambda p: self._check(p, expected))
                participant.verified = participant.failure is None
                self._report_check(participant)
            self._timer.time([p for p in (*company, *wave) if p.failure is None], budget_seconds, best)
            leads = True
            for participant in self._fastest_first(wave):
                self._attempt(participant, partial(checker.check_again, expected=expected, leads=leads))
                leads = leads and (participant.failure is not None or isinstance(participant.program, Peer))
            # All of a wave or none, so that what goes on after an interruption compares them alike.
            with INTERRUPTION.deferred():
                for participant in wave:
                    self._announce(participant)

    def _launch(self, candidate: Participant, signed: bool, stack: ExitStack) -> None:
        """Start a candidate's process. Raises ChildError if it was not compiled, with what its compiler came to.

        Of the original, ``Checker.launch`` says ``compile`` in any case: that is attempted by each command.
        """
        program = candidate.program
        if isinstance(program, Built) and program.library is None:
            raise ChildError(program.status, program.message)
        self._checker.launch(candidate, signed, stack)

    def _fastest_first(self, participants: Sequence[Participant]) -> list[Participant]:
        """Those that were timed and have not failed, by their medians."""
        usual = self._usual()
        timed = [participant for participant in participants if participant.failure is None and participant.raw]
        return sorted(timed, key=lambda participant: participant.measurement(usual).seconds_median or 0.0)

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
        """Report a measurement, and keep it as it was reported: once, and once more after the final."""
        if id(participant) in self._announced:
            return
        self._announced.add(id(participant))
        participant.told = self._tell_of(participant, self._usual(), complete=True)

    def _tell(self) -> None:
        """Report what is verified and not complete, as far as it is measured.

        After each round, so that a process that is killed loses no more than that.
        """
        usual = self._usual()
        for participant in (self._original, *self._others):
            if participant.verified and participant.failure is None and participant.told is None:
                self._tell_of(participant, usual, complete=False)

    def _usual(self) -> float:
        return usual_rate(sample for member in (self._original, *self._others) for sample in member.raw)

    def _tell_of(self, participant: Participant, usual: float, *, complete: bool) -> Measurement:
        measurement = participant.measurement(usual, complete=complete)
        if self._finished is not None:
            baseline = self._original.measurement(usual).seconds_median if self._original.raw else None
            self._finished(Finished(measurement, baseline, usual))
        return measurement

    def _report_check(self, participant: Participant) -> None:
        self._checked = min(self._checked + 1, len(self._others) + 1)
        self._report(Progress("check", self._checked, len(self._others) + 1, participant.id))
