"""What a search beyond the first picks gained."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Improvement:
    """The best time after so many seconds and runs."""

    #: since the search began
    seconds: float
    #: variants that were run until then
    runs: int
    #: seconds of one invocation of the best variant so far
    best: float


@dataclass(frozen=True)
class SearchReport:
    """What a search gained, and by when."""

    strategy: str
    #: candidates that were measured, also those that failed
    runs: int
    #: of the whole search
    seconds: float
    #: each time when there was a faster candidate
    improvements: tuple[Improvement, ...]
    #: ``expected_gain`` of as many runs again
    expected_gain: float
