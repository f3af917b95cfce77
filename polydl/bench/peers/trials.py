"""Which of several ways to compute the same is the fastest here.

Imported by the peers' processes: the standard library only.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

_TRIALS = 9
# A way that takes so many seconds is tried once.
_LONG_SECONDS = 1.0


def seconds_of(compute: Callable[[], object]) -> float:
    """Seconds of one computation."""
    start = time.perf_counter()
    compute()
    return time.perf_counter() - start


def fastest_way(ways: Mapping[str, Callable[[], float]], flush: Callable[[], None] | None = None) -> str:
    """The name of the way with the shortest of several trials, after one that does not count.

    ``ways`` compute once and return their seconds; ``flush``, if there is one, empties the caches before each trial.
    """
    return min(ways, key=lambda name: _shortest(ways[name], flush))


def _shortest(timed: Callable[[], float], flush: Callable[[], None] | None) -> float:
    timed()
    times: list[float] = []
    while len(times) < _TRIALS and (not times or min(times) < _LONG_SECONDS):
        if flush is not None:
            flush()
        times.append(timed())
    return min(times)
