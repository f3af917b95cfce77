"""For how long work stood still until a machine that others were using was free."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager


class _Waited(threading.local):
    """Of each thread by itself, as each may be at work on another nest."""

    seconds = 0.0


_WAITED = _Waited()


def waited() -> float:
    """Seconds for which this thread has waited for machines by now, since it began."""
    return _WAITED.seconds


def add_waited(seconds: float) -> None:
    """This thread has waited for so many seconds more."""
    _WAITED.seconds += max(seconds, 0.0)


@contextmanager
def waiting() -> Iterator[None]:
    """All of this time is spent waiting."""
    start = time.perf_counter()
    try:
        yield
    finally:
        add_waited(time.perf_counter() - start)
