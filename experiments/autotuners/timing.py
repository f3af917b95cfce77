"""What holds the best of a search does: it says that it is ready, then times calls whenever it is asked."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

READY = "ready"
#: A sample takes at least so long.
SAMPLE_SECONDS = 0.02


def seconds_of(call: Callable[[], object]) -> float:
    """Of a call, in the mean of those that fit a sample."""
    begin, calls = time.perf_counter(), 0
    while (spent := time.perf_counter() - begin) < SAMPLE_SECONDS:
        call()
        calls += 1
    return spent / calls


def answer(seconds: Callable[[], float]) -> None:
    """Write the seconds of a call for each line of standard input, until that ends."""
    print(READY, flush=True)
    for _ in sys.stdin:
        print(f"{seconds():.9f}", flush=True)
