"""Results of compiling and timing candidates. Times are in seconds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from polydl import durations

Status = Literal["ok", "unsupported", "compile", "timeout", "crash", "wrong", "inaccurate"]

# The median of fewer undisturbed samples, or of a smaller part of all, is a matter of luck.
_FEWEST_UNDISTURBED, _LEAST_PART = 2, 0.1


def counting(samples: Iterable[tuple[float, bool]]) -> list[float]:
    """The seconds of the samples that count, of all by (seconds, disturbed), in their order.

    They are the undisturbed ones, or all where fewer than two or less than a tenth are undisturbed.
    """
    taken = list(samples)
    undisturbed = [seconds for seconds, disturbed in taken if not disturbed]
    enough = len(undisturbed) >= max(_FEWEST_UNDISTURBED, _LEAST_PART * len(taken))
    return undisturbed if enough else [seconds for seconds, _ in taken]


@dataclass(frozen=True)
class Accuracy:
    """Rounding errors of one run: norm-wise, against the nest in the next wider floating-point type.

    Of the array where ``ratio`` is the largest.
    """

    #: of the kernel
    error: float
    #: of the source's own arithmetic on the same data; at least a quarter of half a unit in the last place
    source_error: float

    @property
    def ratio(self) -> float:
        """How many times the error of the source's own arithmetic the run's error is."""
        return self.error / self.source_error


@dataclass(frozen=True)
class Sample:
    """One timed sample."""

    #: of one run of the kernel
    seconds: float
    #: FMA rate of one core, in GFLOPS, just before and just after the sample
    probe_gflops: tuple[float, float]
    #: whether other work slowed the sample down, so that it doesn't count where there are enough others
    disturbed: bool


@dataclass(frozen=True, repr=False)
class Measurement:
    """The result of one candidate: its times, or the reason why there are none."""

    #: the variant's id
    id: str
    status: Status
    #: in the order in which they were taken
    samples: tuple[Sample, ...] = ()
    #: None unless the status is ``ok``
    seconds_minimum: float | None = None
    #: None unless the status is ``ok``
    seconds_median: float | None = None
    #: norm-wise, relative to the original nest's result, scaled as docs/guide/measuring.md says
    error: float | None = None
    #: None where it was not measured
    accuracy: Accuracy | None = None
    #: whole stderr of the step that failed
    message: str = ""
    #: path of the C, where it was kept
    source: str = ""
    #: False for a candidate that fell behind and was left out of the last rounds; its time is less certain
    final: bool = True
    #: False if an interruption cut it short: there may be more samples, and there is a second check still to come
    complete: bool = True

    def __repr__(self) -> str:
        return f"<Measurement of {self.id}: {self.outcome}>"

    @property
    def outcome(self) -> str:
        """Its median time, or what became of it if it has none."""
        return self.status if self.seconds_median is None else durations.shown(self.seconds_median)

    @property
    def undisturbed(self) -> bool:
        """Whether none of the samples that count was disturbed; False without samples."""
        undisturbed = sum(not sample.disturbed for sample in self.samples)
        return 0 < undisturbed == len(counting((sample.seconds, sample.disturbed) for sample in self.samples))


@dataclass(frozen=True)
class Exactness:
    """What the check without tolerance says of a candidate: the same computed over a ring, bit for bit."""

    #: ``not applicable`` where it could not be computed; ``reason`` says why
    verdict: Literal["agrees", "differs", "not applicable"]
    #: the numbers that took the place of floats, in words; "" if it was not computed
    ring: str
    #: where the first difference is, or why the check can't be done
    reason: str = ""
    #: that the check took
    seconds: float = 0.0
