"""What takes part in a measurement."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import inf

from polydl.execute.child import Child, ChildError
from polydl.execute.contract import Built, Peer
from polydl.execute.rounds import LONG_SECONDS, RawSample, is_disturbed, summarise
from polydl.ir.measurement import Accuracy, Measurement


@dataclass
class Participant:
    """The state of one kernel, or of a peer, during a measurement."""

    program: Built | Peer
    #: what a reader of the result should know, besides a failure
    notes: list[str] = field(default_factory=list)
    #: its process, while it runs
    child: Child | None = None
    failure: ChildError | None = None
    #: norm-wise error of its result
    error: float | None = None
    #: None where it was not measured
    accuracy: Accuracy | None = None
    #: of one invocation
    seconds: float = 0.0
    #: invocations in one sample
    repeats: int = 1
    #: whether its first result was right
    verified: bool = False
    #: its checked run; None where caches are to be cold, and before it
    first: RawSample | None = None
    #: samples of an interrupted measurement, with which this one goes on
    earlier: tuple[RawSample, ...] = ()
    #: seconds that its checked run may take, if fewer than the policy says
    limit: float = inf
    #: seconds that one sample takes, with warm-up and probes
    cost: float = 0.0
    raw: list[RawSample] = field(default_factory=list)
    #: False once it has fallen behind, and others are timed without it
    final: bool = True
    #: its complete measurement as it was reported, which the probes of later samples don't change
    told: Measurement | None = None

    @property
    def id(self) -> str:
        """The kernel's id, or the peer's name."""
        return self.program.name if isinstance(self.program, Peer) else self.program.kernel.id

    @property
    def running(self) -> Child:
        """The process that runs the kernel. Raises ChildError if it was not started."""
        if self.child is None:
            raise ChildError("unsupported", "the kernel was not started")
        return self.child

    @property
    def long(self) -> bool:
        """Whether an invocation takes so long that it has no warm-up, and its verified run counts as a sample."""
        return self.seconds >= LONG_SECONDS

    def undisturbed(self, usual: float) -> list[float]:
        """Seconds of the samples that nothing disturbed."""
        return [sample.seconds for sample in self.raw if not is_disturbed(sample, usual)]

    def measurement(self, usual: float, *, complete: bool = True) -> Measurement:
        """``usual`` is the rate of an undisturbed core. Only what is not ``complete`` may be without a sample."""
        source = "" if isinstance(self.program, Peer) else str(self.program.source)
        if self.failure is not None:
            status, message = self.failure.status, self.failure.message
            return Measurement(
                self.id, status, error=self.error, accuracy=self.accuracy, message=message, source=source
            )
        if not self.raw:
            return self._untimed(source)
        summary = summarise(self.raw, usual)
        return Measurement(
            self.id,
            "ok",
            samples=summary.samples,
            seconds_minimum=summary.minimum,
            seconds_median=summary.median,
            error=self.error,
            accuracy=self.accuracy,
            message="; ".join(filter(None, (*self.notes, summary.message))),
            source=source,
            final=self.final,
            complete=complete,
        )

    def outcome(self, usual: float) -> Measurement:
        """The measurement as it was reported; one that was not reported by now is judged by ``usual``."""
        if self.told is None:
            return self.measurement(usual)
        return replace(self.told, final=self.final) if self.told.status == "ok" else self.told

    def _untimed(self, source: str) -> Measurement:
        """Of a verified kernel, the time in which it ran before the first sample."""
        return Measurement(
            self.id,
            "ok",
            seconds_minimum=self.seconds,
            seconds_median=self.seconds,
            error=self.error,
            accuracy=self.accuracy,
            message="; ".join((*self.notes, "timed while it was verified, without samples")),
            source=source,
            final=self.final,
            complete=False,
        )
