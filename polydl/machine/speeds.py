"""Latencies, bandwidths and peak of one core, measured once for each kind of processor and kept."""

from __future__ import annotations

import math
import tomllib
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path

import tomli_w

from polydl.files import replacing
from polydl.machine.profile import Profile
from polydl.native import Runtime, runtime

# Of the probes; what earlier ones measured is measured again.
_VERSION = 2


@dataclass(frozen=True)
class Speeds:
    """Of one core; the last latency and bandwidth are those of memory."""

    latencies: tuple[float, ...]
    bandwidths: tuple[float, ...]
    peak_gflops: float


def calibrated_speeds(profile: Profile) -> Speeds:
    return Speeds(
        tuple(level.latency_seconds for level in profile.levels),
        tuple(level.bandwidth_bytes_per_second for level in profile.levels),
        profile.peak_gflops,
    )


def stored_or_measured(cpu_id: str, sizes: tuple[int, ...], memory_bytes: int, directory: Path) -> Speeds:
    path = directory / f"{cpu_id}.toml"
    known = _read_speeds(path, cpu_id, len(sizes))
    if known is not None:
        return known
    speeds = measure(runtime(), sizes, memory_bytes)
    with suppress(OSError):  # a directory that can't be written only costs the next process its own measurement
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as file:
            file.write(tomli_w.dumps({"version": _VERSION, "cpu_id": cpu_id, **asdict(speeds)}).encode())
    return speeds


def _read_speeds(path: Path, cpu_id: str, levels: int) -> Speeds | None:
    """None for a file that is absent, damaged, of other probes or of another processor."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        latencies = tuple(float(x) for x in table["latencies"])
        bandwidths = tuple(float(x) for x in table["bandwidths"])
        peak = float(table["peak_gflops"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    sound = all(math.isfinite(x) and x > 0 for x in (*latencies, *bandwidths, peak))
    if (table.get("version"), table.get("cpu_id")) != (_VERSION, cpu_id) or not sound:
        return None
    if {len(latencies), len(bandwidths)} != {levels + 1}:
        return None
    return Speeds(latencies, bandwidths, peak)


def measure(probe: Runtime, sizes: tuple[int, ...], memory_bytes: int) -> Speeds:
    """The best of several short rounds, since whoever shares the machine can only make a round worse.

    A level's working set lies halfway, on a logarithmic scale, between the level before and its own size: a shared
    cache rarely has its whole size to give.
    """
    beyond = min(max(2 * sizes[-1], 32 << 20), 256 << 20, memory_bytes // 8)
    sets = [sizes[0] // 2, *(math.isqrt(inner * outer) for inner, outer in pairwise(sizes)), beyond]
    latencies = [math.inf] * len(sets)
    bandwidths = [0.0] * len(sets)
    peak, rounds, start = 0.0, 0, probe.seconds()
    while rounds < 2 or probe.seconds() - start < 1.0:
        rounds += 1
        peak = max([peak, *(probe.fma_gflops() for _ in range(20))])
        for i, size in enumerate(sets):
            latencies[i] = min(latencies[i], probe.latency(size, accesses=50_000, repeats=3 if size == beyond else 10))
            bandwidths[i] = max(bandwidths[i], probe.read_bandwidth(size, bytes_read=max(size, 4 << 20)))
    # An outer level can't be faster than an inner one; noise alone makes it look so.
    for i in range(1, len(sets)):
        latencies[i] = max(latencies[i], latencies[i - 1])
        bandwidths[i] = min(bandwidths[i], bandwidths[i - 1])
    return Speeds(tuple(latencies), tuple(bandwidths), peak)
