"""What became of candidates that were run. Times are in seconds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Status = Literal["ok", "unsupported", "compile", "timeout", "crash", "wrong"]


@dataclass(frozen=True)
class Sample:
    """One timed sample. ``probe_gflops`` is the FMA rate of one core just before and just after."""

    seconds: float
    probe_gflops: tuple[float, float]
    disturbed: bool


@dataclass(frozen=True)
class Measurement:
    """What became of one candidate. ``seconds`` are None unless the status is ``ok``.

    ``error`` is norm-wise against the original nest, scaled as docs/measuring.md says;
    ``message`` holds the full stderr of whatever failed, ``source`` the path of the kept C. Not ``final`` is the time
    of a candidate that fell behind, and was not in the last rounds with the fastest.
    """

    id: str
    status: Status
    samples: tuple[Sample, ...] = ()
    seconds_minimum: float | None = None
    seconds_median: float | None = None
    error: float | None = None
    message: str = ""
    source: str = ""
    final: bool = True
