"""The check of every kernel against a build of the original nest that reorders nothing (docs/guide/measuring.md).

Two checked runs, with other data each, show a kernel that keeps an operand from one call to the next.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, field, replace
from math import inf
from typing import Any

from polydl.execute.child import Child, ChildError, InputHolder
from polydl.execute.comparison import Noise, worst
from polydl.execute.contract import NO_REFERENCE, Built, Peer
from polydl.execute.expected import ONCE, ONCE_GIVEN, Exact, Expected, Marks, Originals, Wider
from polydl.execute.job import Job
from polydl.execute.participant import Participant
from polydl.execute.resources import free_cores
from polydl.execute.rounds import LONG_SECONDS
from polydl.execute.timing import calibrate, first_run
from polydl.execute.tolerance import LARGEST, with_source_error

# A reference, or a kernel, that runs longer than this is checked with one set of data.
_SECOND_REFERENCE_SECONDS = 20.0
# With a reference that runs longer than this, rounding errors are not measured.
_EXACT_SECONDS = 20.0
# Sets of data next to the given ones on which the source's rounding errors are measured; fewer where that takes long.
_NEIGHBOURS = 4
_NEIGHBOURS_SECONDS = 1.0
# Of an array's elements, as many may be nothing but rounding errors.
_MOST_NOISE = 0.5


@dataclass(frozen=True)
class _Run:
    """One checked run of the reference; ``Expected`` has what all of them have come to."""

    #: of each array in the file of its result, bytes
    offsets: dict[str, int]
    #: that it took
    seconds: float
    #: the largest norm-wise error of a right result
    tolerance: float
    #: None where its rounding errors were not measured, or are too large for that
    exact: Exact | None = None
    #: the elements that are rounding errors in the source itself
    noise: Marks = field(default_factory=Marks)
    #: its largest error, where that is too large and no elements tell why
    far: float | None = None


class _NoResultError(ChildError):
    """A run whose result can't be a reference, from the reply to ``Worker.store``."""

    def __init__(self, reply: Mapping[str, Any]) -> None:
        super().__init__("wrong", f"{NO_REFERENCE}: {reply['wrong']}")
        self.finite, self.damaged = reply["finite"], reply["damaged"]


class Checker:
    """Starts kernels and compares what they compute with the reference.

    Where there is memory for one process at a time, the original starts after the reference has ended.
    """

    def __init__(self, job: Job, holder: InputHolder | None, *, one_at_a_time: bool = False) -> None:
        self._job = job
        self._holder = holder
        self._one_at_a_time = one_at_a_time

    def launch(self, participant: Participant, signed: bool, stack: ExitStack) -> None:
        """Start a process. Raises ChildError if the kernel was not compiled."""
        program, job = participant.program, self._job
        cores = list(job.cores)
        if isinstance(program, Peer):
            child = Child(cores, job.directory, program.command, program.environment)
            participant.child = stack.enter_context(child)
            child.send("start", problem=dict(program.problem), cores=cores)
            return
        if program.library is None:
            raise ChildError("compile", program.message)
        data = job.contents(signed, 0)
        if self._holder is not None:
            self._holder.fill(data, job.walk_seconds)
        participant.child = stack.enter_context(Child(cores, job.directory, holder=self._holder))
        participant.child.send(
            "start",
            library=str(program.library.resolve()),
            parameters=job.parameters,
            global_arrays=job.global_arrays,
            cores=cores,
            data=asdict(data),
        )

    def wait(self, participant: Participant) -> None:
        """Wait until a process is ready."""
        note = participant.running.receive(self._job.walk_seconds).get("note", "")
        participant.notes += [note] if note else []

    def expect(self, originals: Originals, original: Participant, stack: ExitStack) -> Expected:
        """Store the reference's results, and start the build of the original that is to be timed, checked against it.

        Where the reference doesn't end in time, or can't be compiled, the original as it is timed takes its place.
        Raises ChildError if neither can be a reference, or no build of the original is right.
        """
        reference = Participant(originals.reference)
        try:
            with ExitStack() as passing:
                self.launch(reference, True, passing)
                if not self._one_at_a_time:
                    self.launch(original, True, stack)
                self.wait(reference)
                expected = self._store(reference, originals.wider)
                original.notes += [marks.note for marks in expected.noise[:1] if marks.arrays]
        except ChildError as failure:
            if failure.status not in ("timeout", "compile"):
                raise
            why = "did not end in time" if failure.status == "timeout" else "can't be compiled"
            original.notes.append(f"the build that reorders nothing {why}: the original itself is the reference")
            if original.child is None:
                self.launch(original, True, stack)
            self.wait(original)
            expected = self._store(original, originals.wider, timed=True)
            if self._job.shared:
                # Its inputs are copies now.
                self._restart(original, expected.signed, stack)
                self.check(original, expected)
                return expected
            original.error = 0.0
            calibrate(self._job, original)
            return expected
        if original.child is None:
            self.launch(original, expected.signed, stack)
            self.wait(original)
        elif expected.signed:
            self.wait(original)
        else:
            self._restart(original, False, stack)
        self._check_original(originals, original, expected, stack)
        return expected

    def _check_original(
        self, originals: Originals, original: Participant, expected: Expected, stack: ExitStack
    ) -> None:
        """Check the original as any candidate; where the compiler got it wrong, time it with fewer optimizations."""
        first, *others = originals.timed
        wrong: list[str] = []
        for flags, build in (first, *others):
            try:
                if wrong:
                    built = build()
                    assert isinstance(original.program, Built)
                    original.program = replace(original.program, library=built.library, message=built.message)
                    self._restart(original, expected.signed, stack)
                self.check(original, expected)
            except ChildError as failure:
                if failure.status != "wrong":
                    raise
                wrong.append(f"{flags} miscompiles the original nest: {failure.message}")
                continue
            if wrong:
                original.notes += [*wrong, f"it was timed as {flags} compiles it"]
            return
        raise ChildError("wrong", "; ".join(wrong))

    def _restart(self, original: Participant, signed: bool, stack: ExitStack) -> None:
        original.running.close()
        original.error = None
        self.launch(original, signed, stack)
        self.wait(original)

    def _store(self, participant: Participant, wider: Wider | None, *, timed: bool = False) -> Expected:
        """Run on signed data, and on positive data if those lead to NaN (a square root) or infinity.

        If the participant is to be ``timed`` afterwards, nothing runs beside it, and it gets no half of given numbers.
        """
        try:
            return self._checked_runs(participant, wider, True, timed=timed)
        except _NoResultError as failure:
            if failure.finite:
                raise
        return self._checked_runs(participant, wider, False, timed=timed)

    def _checked_runs(self, participant: Participant, wider: Wider | None, signed: bool, *, timed: bool) -> Expected:
        """Run on both sets of data, or on one where that takes long. Raises _NoResultError as ``_checked_run`` does."""
        given, runs, once = bool(self._job.data.given), list[_Run](), ONCE
        for turn in (0,) if timed and given else (0, 1):
            # Other data may magnify roundings more.
            needed = not runs or runs[0].tolerance > self._job.tolerance or bool(runs[0].noise.arrays)
            if turn or not signed:
                self.fill(participant, signed, turn)
            try:
                runs.append(self._checked_run(participant, wider if needed else None, signed, turn, timed=timed))
            except ChildError as failure:
                if not (turn and given and _has_no_result(failure)):
                    raise
                once = ONCE_GIVEN
                break
            if runs[-1].seconds > _SECOND_REFERENCE_SECONDS:
                break
        far = next((run.far for run in reversed(runs) if run.far is not None), None)
        offsets, tolerances = tuple(run.offsets for run in runs), tuple(run.tolerance for run in runs)
        return Expected(signed, offsets, tolerances, runs[0].exact, far, tuple(run.noise for run in runs), once)

    def _checked_run(
        self, participant: Participant, wider: Wider | None, signed: bool, turn: int, *, timed: bool
    ) -> _Run:
        """Run once, store the result, and measure its rounding errors, unless ``wider`` is None or it takes very long.

        Raises _NoResultError if the result can't be a reference.
        """
        with ExitStack() as stack:
            cores = () if wider is None or timed else free_cores(wider.job.cores)
            wide = self._start_wider(wider, cores, signed, turn, stack) if wider is not None and cores else None
            start = time.monotonic()
            first_run(self._job, participant)
            seconds, tolerance = time.monotonic() - start, self._job.tolerance
            path = str(self._job.result(turn))
            reply = participant.running.request("store", self._job.walk_seconds, path=path)
            if reply["wrong"] is not None:
                raise _NoResultError(reply)
            run = _Run(reply["offsets"], seconds, tolerance)
            if wider is None or seconds > _EXACT_SECONDS:
                return run
            wide = wide or self._start_wider(wider, wider.job.cores, signed, turn, stack)
            exact = self._exact(participant, wider, wide, signed, turn)
            if exact is None:
                return run
            error = exact.largest_error
            if error <= max(tolerance, LARGEST):
                return replace(run, tolerance=with_source_error(tolerance, error), exact=exact)
            noise = self._noise(participant, exact, turn)
            far = None if noise.arrays else error
            return replace(run, tolerance=with_source_error(tolerance, noise.error), noise=noise, far=far)

    def _start_wider(
        self, wider: Wider, cores: tuple[int, ...], signed: bool, turn: int, stack: ExitStack
    ) -> Participant:
        """Start a run of the nest in wider types, which is not waited for."""
        job = wider.job
        # A holder of arrays has those of the source's types.
        checker = Checker(replace(job, cores=cores), None if self._job.shared else self._holder)
        participant = Participant(wider.built)
        with suppress(ChildError):
            checker.launch(participant, signed, stack)
            if turn:
                participant.running.send("fill", data=asdict(job.contents(signed, turn)))
            participant.running.send("run")
        return participant

    def _exact(self, reference: Participant, wider: Wider, wide: Participant, signed: bool, turn: int) -> Exact | None:
        """The result in wider types; None where there is none, since what is wider can't be told from the text."""
        job, path = wider.job, wider.job.directory / f"wider{turn}"
        try:
            wide.running.receive(job.walk_seconds + job.policy.timeout_seconds)
            reply = wide.running.request("store", job.walk_seconds, path=str(path))
        except ChildError:
            return None
        exact = Exact(path, reply["offsets"], wider.elements, {}, 0.0)
        errors = self._errors(reference, exact) if reply["wrong"] is None else {}
        if not errors:
            return None
        for others in self._errors_on_neighbours(reference, exact, signed, turn):
            errors = {
                name: (max(norm, others[name][0]), max(most, others[name][1])) for name, (norm, most) in errors.items()
            }
        largest = max(each for _, each in errors.values())
        norms = {name: max(error, wider.least[name]) for name, (error, _) in errors.items()}
        return replace(exact, source_errors=norms, largest_error=largest)

    def _errors_on_neighbours(
        self, reference: Participant, exact: Exact, signed: bool, turn: int
    ) -> Iterator[dict[str, tuple[float, float]]]:
        """Errors of the source on data next to the given ones, against the result on these; none on random data.

        What is given often has few digits, on which the order of the source alone may be exact for a while by luck. An
        error that rounding the data would make as well is none of a candidate's.
        """
        if not self._job.data.given:
            return
        participant, start = Participant(reference.program), time.monotonic()
        with ExitStack() as stack, suppress(ChildError):
            for draw in range(1, _NEIGHBOURS + 1):
                job = replace(self._job, data=replace(self._job.data, neighbours=draw))
                # Not from the holder, whose arrays have the given data.
                checker = Checker(job, None)
                first = participant.child is None
                if first:
                    checker.launch(participant, signed, stack)
                    checker.wait(participant)
                if turn or not first:
                    checker.fill(participant, signed, turn)
                first_run(job, participant)
                errors = self._errors(participant, exact)
                # More is no rounding: a condition went the other way.
                if all(most <= max(job.tolerance, LARGEST) for _, most in errors.values()):
                    yield errors
                if time.monotonic() - start > _NEIGHBOURS_SECONDS:
                    break

    def _errors(self, participant: Participant, exact: Exact) -> dict[str, tuple[float, float]]:
        """By array, of the norm and the largest."""
        reply = participant.running.request(
            "distance",
            self._job.walk_seconds,
            path=str(exact.path),
            offsets=exact.offsets,
            elements=exact.elements,
        )
        return {name: (norm, largest) for name, (norm, largest) in reply["errors"].items()}

    def _noise(self, reference: Participant, exact: Exact, turn: int) -> Marks:
        """What of the reference's result is nothing but rounding errors; nothing where it is most of an array."""
        path = str(self._job.directory / f"noise{turn}")
        reply = reference.running.request(
            "mark_noise",
            self._job.walk_seconds,
            path=str(exact.path),
            offsets=exact.offsets,
            elements=exact.elements,
            most=self._job.tolerance,
            marks=path,
        )
        arrays = tuple(Noise(**each) for each in reply["arrays"])
        return Marks(path, arrays) if all(each.marked <= _MOST_NOISE * each.changed for each in arrays) else Marks()

    def _measure_accuracy(self, participant: Participant, exact: Exact, most_error: float) -> None:
        norms = {name: norm for name, (norm, _) in self._errors(participant, exact).items()}
        accuracy = worst(norms, exact.source_errors)
        participant.accuracy = accuracy
        if accuracy is not None and accuracy.ratio > most_error:
            raise ChildError(
                "inaccurate",
                f"its norm-wise error against the nest in a wider type is {accuracy.error:.3g}, {accuracy.ratio:.3g} "
                f"times the {accuracy.source_error:.3g} of the source's own arithmetic; {most_error:g} times is the "
                "most",
            )

    def fill(self, participant: Participant, signed: bool, turn: int) -> None:
        """Fill a kernel's arrays with the data of a run."""
        data = asdict(self._job.contents(signed, turn))
        participant.running.request("fill", self._job.walk_seconds, data=data)

    def check(self, participant: Participant, expected: Expected, most_error: float = inf) -> None:
        """The first run, whose result is compared.

        Raises ChildError if it is wrong, or if its rounding errors are more than ``most_error`` times those of the
        source's own arithmetic.
        """
        first_run(self._job, participant)
        if not isinstance(participant.program, Peer):
            self._compare(participant, expected, 0)
            if expected.exact is not None:
                self._measure_accuracy(participant, expected.exact, most_error)
        calibrate(self._job, participant)

    def check_again(self, participant: Participant, expected: Expected, *, leads: bool) -> None:
        """Verify again after timing, with other data, and end the process, whose inputs are its alone by then.

        A data race need not show the first time, nor what is kept of an earlier call. Where a run takes long, only a
        participant that ``leads`` is verified again, since it may be the winner; none whose run takes very long.
        """
        if isinstance(participant.program, Peer):
            return
        most_seconds = _SECOND_REFERENCE_SECONDS if leads else LONG_SECONDS
        if participant.seconds >= most_seconds or len(expected.offsets) < 2:
            participant.notes.append(ONCE if participant.seconds >= most_seconds else expected.once)
            return
        self.fill(participant, expected.signed, 1)
        participant.running.request("run", self._job.policy.timeout_seconds)
        self._compare(participant, expected, 1)
        participant.running.close()

    def _compare(self, participant: Participant, expected: Expected, turn: int) -> None:
        job = self._job
        reply = participant.running.request(
            "compare",
            job.walk_seconds,
            path=str(job.result(turn)),
            offsets=expected.offsets[turn],
            tolerance=expected.tolerances[turn],
            noise=expected.noise[turn].places,
        )
        if reply["error"] is not None:
            participant.error = max(participant.error or 0.0, reply["error"])
        if reply["wrong"] is not None:
            raise ChildError("wrong", reply["wrong"] + _unknown(expected))


def _has_no_result(failure: ChildError) -> bool:
    """Whether the source fails on its data, or makes nothing of them that can be compared; not where it does damage."""
    return failure.status in ("crash", "timeout") or (isinstance(failure, _NoResultError) and not failure.damaged)


def _unknown(expected: Expected) -> str:
    """What to say of another result where the reference's own may be nothing but rounding errors."""
    if expected.far is None:
        return ""
    return (
        f"; but with these data the source's own result is off by {expected.far:.2g} against its arithmetic in a wider "
        "type, so that no other order of its operations can be told right from wrong"
    )
