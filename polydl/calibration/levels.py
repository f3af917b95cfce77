"""Peak, latency and bandwidth of one core while the others are idle, and of all cores at once.

Whoever shares the machine can only make a probe worse, so that the best of many short ones, taken in turns over a
second or two, is nearest to what the machine can do.
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import TypeVar

from polydl.machine.profile import LevelSpeed
from polydl.machine.speeds import usable_bytes
from polydl.native import Runtime, runtime

_Value = TypeVar("_Value")

_LATENCY_ACCESSES = 50_000
_BYTES_PER_PROBE = 64 << 20
# Sets so large that making them takes longer than walking through them, and in how many rounds they take part.
_LARGE_SET = 128 << 20
_TURNS_OF_LARGE_SETS = 2


@dataclass(frozen=True)
class Levels:
    """What ``measure`` saw of a machine's cores, caches and memory."""

    #: Of one core while the others are idle.
    peak_gflops: float
    #: Of all cores at once.
    total_peak_gflops: float
    #: How far the median of the first core's probes lies below its peak, as a part of that.
    spread: float
    #: The caches, innermost first, and memory.
    levels: tuple[LevelSpeed, ...]
    #: As many bytes of the last cache as a program gets.
    usable_bytes: int


def working_sets(sizes: Sequence[int], memory_bytes: int) -> tuple[int, ...]:
    """Bytes to walk through for each cache, and for memory.

    A level's working set lies halfway, on a logarithmic scale, between the level before and its own size: a shared
    cache rarely has its whole size to give.
    """
    beyond = min(max(2 * sizes[-1], 32 << 20), 512 << 20, memory_bytes // 16)
    return (sizes[0] // 2, *(math.isqrt(inner * outer) for inner, outer in pairwise(sizes)), beyond)


def measure(
    sizes: Sequence[int],
    memory_bytes: int,
    cores: Sequence[int],
    *,
    rounds: int = 8,
    progress: Callable[[int, int], None] | None = None,
) -> Levels:
    """``sizes`` are the caches' in bytes, innermost first. ``progress`` gets the rounds done and all of them."""
    probe = runtime()
    sets = working_sets(sizes, memory_bytes)
    count = len(sets)
    peaks: list[float] = []
    totals: list[float] = []
    usable: list[int] = []
    latencies, loaded = [math.inf] * count, [math.inf] * count
    bandwidths, total_bandwidths = [0.0] * count, [0.0] * count
    for turn in range(rounds):
        peaks += [on_each(cores[:1], probe.fma_gflops)[0] for _ in range(10)]
        totals += [sum(on_each(cores, probe.fma_gflops)) for _ in range(10)]
        for place, size in enumerate(sets):
            if size > _LARGE_SET and turn >= _TURNS_OF_LARGE_SETS:
                continue
            latency, bandwidth = _latency(probe, size), _bandwidth(probe, size)
            latencies[place] = min(latencies[place], *on_each(cores[:1], latency))
            bandwidths[place] = max(bandwidths[place], *on_each(cores[:1], bandwidth))
            if len(cores) > 1:
                loaded[place] = min(loaded[place], max(on_each(cores, latency)))
                total_bandwidths[place] = max(total_bandwidths[place], sum(on_each(cores, bandwidth)))
        usable += on_each(cores[:1], lambda: usable_bytes(probe, sizes, latencies, sets[-1]))
        if progress is not None:
            progress(turn + 1, rounds)
    if len(cores) == 1:
        loaded, total_bandwidths = latencies, bandwidths
    # An outer level can't be faster than an inner one; noise alone makes it look so.
    for place in range(1, count):
        for rising in (latencies, loaded):
            rising[place] = max(rising[place], rising[place - 1])
        for falling in (bandwidths, total_bandwidths):
            falling[place] = min(falling[place], falling[place - 1])
    names = [*(f"L{place + 1}" for place in range(count - 1)), "memory"]
    speeds = zip(names, sets, latencies, bandwidths, loaded, total_bandwidths, strict=True)
    best = max(peaks)
    levels = tuple(LevelSpeed(*speed) for speed in speeds)
    return Levels(best, max(totals), (best - median(peaks)) / best, levels, int(median(usable)))


def _latency(probe: Runtime, size: int) -> Callable[[], float]:
    return lambda: probe.latency(size, accesses=_LATENCY_ACCESSES, repeats=3)


def _bandwidth(probe: Runtime, size: int) -> Callable[[], float]:
    return lambda: probe.read_bandwidth(size, bytes_read=max(size, _BYTES_PER_PROBE), repeats=3)


def on_each(cores: Sequence[int], probe: Callable[[], _Value]) -> list[_Value]:
    """What the probe says on each core, all of them at once; each thread is pinned to its own."""
    barrier = threading.Barrier(len(cores))

    def run(core: int) -> _Value:
        os.sched_setaffinity(0, {core})
        barrier.wait()
        return probe()

    with ThreadPoolExecutor(max_workers=len(cores)) as pool:
        return list(pool.map(run, cores))
