"""Processes that compute beside each other, and of which one at a time is alone on the machine, to time something.

A readers-writer lock of two files: who computes shares one of them, and who times has it alone. The other one lets
those who wait to time go first, so that all who compute come to an end before anyone begins again.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from polydl.system.waiting import waiting


class _Turns:
    def __init__(self, folder: Path) -> None:
        # Descriptors that a program which is started doesn't inherit. A process that ends gives its locks back.
        self._waiting, self._machine = (
            os.open(folder / name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600) for name in ("waiting", "machine")
        )

    def share(self) -> None:
        """Compute beside others, once nobody times or waits to."""
        with waiting():
            fcntl.flock(self._waiting, fcntl.LOCK_EX)
            fcntl.flock(self._machine, fcntl.LOCK_SH)
            fcntl.flock(self._waiting, fcntl.LOCK_UN)

    def take(self) -> None:
        """Be alone, once all who compute have ended or wait for the same. This process must not share meanwhile."""
        with waiting():
            fcntl.flock(self._waiting, fcntl.LOCK_SH)
            fcntl.flock(self._machine, fcntl.LOCK_EX)

    def give_back(self) -> None:
        """Neither share nor be alone any more."""
        fcntl.flock(self._machine, fcntl.LOCK_UN)
        fcntl.flock(self._waiting, fcntl.LOCK_UN)

    def close(self) -> None:
        os.close(self._machine)
        os.close(self._waiting)


_TURNS: ContextVar[_Turns | None] = ContextVar("turns", default=None)


@contextmanager
def beside(folder: Path) -> Iterator[None]:
    """Compute beside the processes that do so with the same folder, while none of them is ``alone``."""
    turns = _Turns(folder)
    try:
        turns.share()
        token = _TURNS.set(turns)
        try:
            yield
        finally:
            _TURNS.reset(token)
    finally:
        turns.close()


@contextmanager
def alone() -> Iterator[None]:
    """Nobody computes ``beside`` this process meanwhile. It must not hold a lock that another one may wait for.

    Outside of ``beside``, and inside of another ``alone``, it does nothing.
    """
    turns = _TURNS.get()
    if turns is None:
        yield
        return
    token = _TURNS.set(None)
    turns.give_back()
    try:
        turns.take()
        yield
    finally:
        turns.give_back()
        turns.share()
        _TURNS.reset(token)
