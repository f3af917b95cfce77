"""The part that all timed processes have in common, workers of kernels and programs of peers.

A process pins itself to its cores, answers one JSON object per line, and takes samples with a probe before and after.
Imported by processes that must start quickly: the standard library only, beside the C runtime.
"""

from __future__ import annotations

import ctypes
import json
import math
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

from polydl.errors import MissingComponentError
from polydl.native import runtime

Reply = dict[str, Any]
MOST_REPEATS = 1 << 24
# A flush precedes each of these and may take far longer.
MOST_COLD_REPEATS = 50

_PR_SET_PDEATHSIG = 1
_PROBE_ITERATIONS = 250_000
# A kernel that moves much data, or keeps the widest vectors busy, draws the clock down by a tenth and more while it
# runs, which is its own business; it comes back in steps, within some ten milliseconds. And after a rest the clock is
# higher than under any load. Multiply-adds before each of the two probes beside a sample that lasts so long make them
# comparable: until one is about as fast as the fastest so far, but no longer than that, or than that part of a very
# long sample.
_LONG_SECONDS, _RECOVERED, _RECOVERY_SECONDS, _LOAD_PART, _LOAD_SECONDS = 0.004, 0.97, 0.013, 0.25, 0.02
# As many times as long as it needs to be, a sample is long enough whatever interrupted it.
_CERTAIN = 10
# OpenMP's threads spin a while after a parallel loop; the probe must not share its core with them.
_SETTLE_SECONDS = 0.002


class TimingSampler:
    """Pins this process to ``cores``. Make one before OpenMP starts a thread, since threads inherit it."""

    def __init__(self, cores: list[int]) -> None:
        os.sched_setaffinity(0, cores)
        self._cores = cores
        self._fma_gflops = runtime().fma_gflops
        self._last_seconds = self._fastest = 0.0

    def sample(self, repeats: int, timed: Callable[[int], float]) -> Reply:
        """One sample: seconds of one invocation (the mean of ``repeats``), and the probes before and after.

        ``timed(n)`` runs ``n`` invocations and returns their seconds. ``waited`` is the part of the time in which a
        thread of this process was ready and had no core.
        """
        self._load()
        before = self._probe()
        start, waiting = time.monotonic(), _waiting_seconds()
        seconds = self._last_seconds = timed(repeats)
        # A thread that ended meanwhile takes its share along.
        waited = max(0.0, _waiting_seconds() - waiting) / max(time.monotonic() - start, 1e-9)
        self._load()
        return {"seconds": seconds / repeats, "probes": [before, self._probe()], "waited": waited}

    def calibrate(
        self, minimum_seconds: float, most: int, timed: Callable[[int], float], most_cost: float = math.inf
    ) -> Reply:
        """The number of invocations that last ``minimum_seconds``, the seconds of one, and those of a whole sample.

        There are fewer of them where what lies between the invocations takes a sample ``most_cost`` seconds. A try that
        lasts long enough, though by the fastest one before it should not, is made again: what interrupts it may have
        taken most of its time.
        """
        repeats, fastest = 1, 0.0
        while True:
            seconds, cost = _timed(timed, repeats)
            enough = seconds >= 0.9 * minimum_seconds
            if enough and fastest * repeats < 0.9 * minimum_seconds and seconds < _CERTAIN * minimum_seconds:
                seconds, cost = min((seconds, cost), _timed(timed, repeats))
                enough = seconds >= 0.9 * minimum_seconds
            if enough or repeats == most or cost >= most_cost:
                return {"repeats": repeats, "seconds": seconds / repeats, "cost": cost}
            fastest = min(fastest or math.inf, seconds / repeats)
            growth = min(1.1 * minimum_seconds / max(seconds, 1e-9), 1.1 * most_cost / max(cost, 1e-9), 16.0)
            repeats = min(max(math.ceil(growth * repeats), repeats + 1), most)

    def _load(self) -> None:
        """After a long sample, keep all cores busy until their clock is what it was before."""
        if self._last_seconds < _LONG_SECONDS:
            return
        longest = max(_RECOVERY_SECONDS, min(_LOAD_SECONDS, _LOAD_PART * self._last_seconds))
        deadline = time.monotonic() + longest
        while time.monotonic() < deadline and self._probe() < _RECOVERED * self._fastest:
            pass

    def _probe(self) -> float:
        """The FMA rate of the slowest core, GFLOPS; all cores are probed at once."""
        rate = self._probe_cores()
        self._fastest = max(self._fastest, rate)
        return rate

    def _probe_cores(self) -> float:
        if len(self._cores) == 1:
            return float(self._fma_gflops(_PROBE_ITERATIONS))
        time.sleep(_SETTLE_SECONDS)
        rates: list[float] = []
        probes = [threading.Thread(target=self._probe_core, args=(core, rates)) for core in self._cores]
        for probe in probes:
            probe.start()
        for probe in probes:
            probe.join()
        return min(rates)

    def _probe_core(self, core: int, rates: list[float]) -> None:
        os.sched_setaffinity(0, {core})
        rates.append(float(self._fma_gflops(_PROBE_ITERATIONS)))


def _timed(timed: Callable[[int], float], repeats: int) -> tuple[float, float]:
    """The seconds of so many invocations, and those with all that lies between them."""
    start = time.monotonic()
    seconds = timed(repeats)
    return seconds, time.monotonic() - start


def _waiting_seconds() -> float:
    """The time in which threads of this process were ready to run and did not; 0 where Linux doesn't report it."""
    nanoseconds = 0
    with suppress(OSError):
        for thread in os.listdir("/proc/self/task"):
            # A thread may end meanwhile.
            with suppress(OSError, ValueError, IndexError), open(f"/proc/self/task/{thread}/schedstat") as file:
                nanoseconds += int(file.read().split()[1])
    return nanoseconds / 1e9


def serve(commands: int, replies: int, methods: Iterable[Callable[..., Reply]]) -> None:
    """Answer requests until the parent closes the pipe or dies; a command is the name of a method."""
    _die_with_parent()
    # Output of the kernel must neither fill a pipe nor be taken for a reply.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    named = {method.__name__: method for method in methods}
    with open(commands, encoding="utf-8") as requests, open(replies, "w", encoding="utf-8") as answers:
        for line in requests:
            request = json.loads(line)
            try:
                reply = named[request.pop("command")](**request)
            except (OSError, MemoryError) as error:
                reply = {"resource": getattr(error, "errno", None), "message": str(error) or "not enough memory"}
            except MissingComponentError as error:
                reply = {"missing": error.message, "remedy": error.remedy}
            answers.write(json.dumps(reply) + "\n")
            answers.flush()


def _die_with_parent() -> None:
    libc = ctypes.CDLL(None)
    if hasattr(libc, "prctl"):
        libc.prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
