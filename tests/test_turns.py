"""Processes that compute beside each other are alone while they time. Here they are threads: each has its own locks."""

from __future__ import annotations

import fcntl
import threading
import time
from collections.abc import Callable
from pathlib import Path

from polydl.system.turns import alone, beside
from polydl.system.waiting import add_waited, waited

_ROUNDS, _THREADS = 20, 4


def started(work: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def ended(*threads: threading.Thread) -> None:
    for each in threads:
        each.join(60)
        assert not each.is_alive()


def is_waited_for(folder: Path) -> bool:
    """Whether somebody waits to be alone, or is."""
    with (folder / "waiting").open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False


def test_nobody_computes_while_one_times(tmp_path: Path) -> None:
    computing, timing, counted = set[int](), set[int](), list[tuple[int, int]]()
    together = threading.Barrier(_THREADS)

    def work() -> None:
        name = threading.get_ident()
        for number in range(_ROUNDS):
            with beside(tmp_path):
                computing.add(name)
                if number == 0:
                    # All compute at once, or this doesn't end.
                    together.wait(60)
                computing.remove(name)
                with alone():
                    timing.add(name)
                    time.sleep(1e-3)
                    counted.append((len(computing), len(timing)))
                    timing.remove(name)
                computing.add(name)
                computing.remove(name)

    ended(*(started(work) for _ in range(_THREADS)))
    assert counted == [(0, 1)] * (_ROUNDS * _THREADS)


def test_who_waits_to_time_comes_before_who_begins(tmp_path: Path) -> None:
    order: list[str] = []

    def times() -> None:
        with beside(tmp_path), alone():
            order.append("times")

    def begins() -> None:
        with beside(tmp_path):
            order.append("begins")

    with beside(tmp_path):
        first = started(times)
        while not is_waited_for(tmp_path):
            time.sleep(1e-3)
        second = started(begins)
        time.sleep(0.05)
        assert order == []
    ended(first, second)
    assert order == ["times", "begins"]


def test_alone_is_nothing_where_nobody_is_beside(tmp_path: Path) -> None:
    with alone(), beside(tmp_path), alone(), alone():
        assert is_waited_for(tmp_path)
    assert not is_waited_for(tmp_path)


def test_what_is_waited_for_a_turn_is_known(tmp_path: Path) -> None:
    known: list[float] = []

    def times() -> None:
        with beside(tmp_path), alone():
            # Also where it has the machine for itself.
            known.append(waited())

    with beside(tmp_path):
        before = waited()
        first = started(times)
        while not is_waited_for(tmp_path):
            time.sleep(1e-3)
        time.sleep(0.05)
        assert waited() == before, "it is another one that waits"
    ended(first)
    assert known[0] >= 0.05


def test_nobody_waits_for_less_than_no_time() -> None:
    before = waited()
    add_waited(-1.0)
    assert waited() == before
    add_waited(2.0)
    assert waited() == before + 2.0
