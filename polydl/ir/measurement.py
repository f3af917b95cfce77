"""Results of compiling and timing candidates. Times are in seconds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Status = Literal["ok", "unsupported", "compile", "timeout", "crash", "wrong"]


@dataclass(frozen=True)
class Sample:
    """One timed sample."""

    #: of one run of the kernel
    seconds: float
    #: FMA rate of one core, in GFLOPS, just before and just after the sample
    probe_gflops: tuple[float, float]
    #: whether other work slowed the sample down, so that it doesn't count
    disturbed: bool


@dataclass(frozen=True)
class Measurement:
    """The result of one candidate: its times, or the reason why there are none."""

    #: the variant's id
    id: str
    status: Status
    samples: tuple[Sample, ...] = ()
    #: None unless the status is ``ok``
    seconds_minimum: float | None = None
    #: None unless the status is ``ok``
    seconds_median: float | None = None
    #: norm-wise, relative to the original nest's result, scaled as docs/guide/measuring.md says
    error: float | None = None
    #: whole stderr of the step that failed
    message: str = ""
    #: path of the C, where it was kept
    source: str = ""
    #: False for a candidate that fell behind and was left out of the last rounds; its time is less certain
    final: bool = True
