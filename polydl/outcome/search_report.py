"""What a search beyond the first picks gained."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Improvement:
    """The best time after so many seconds and runs."""

    #: since the work on the nest began, without the time in which it waited for a machine
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
    #: of all work on the nest until the search ended, without the time in which it waited for a machine
    seconds: float
    #: each time when there was a faster candidate
    improvements: tuple[Improvement, ...]
    #: ``expected_gain`` of as many runs again
    expected_gain: float
    #: part of the best time that any variant may still save, as the strategy proves it; None if it proves none
    gap: float | None = None
