"""Latencies, bandwidths and peak of one core, measured once for each kind of processor and kept."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median

import tomli_w

from polydl.machine.profile import Profile, is_usable
from polydl.native import Runtime, runtime
from polydl.system.files import locked, replacing
from polydl.system.turns import alone

# Of the probes; what earlier ones measured is measured again.
_VERSION = 4
# The last cache is asked for that many parts of its size, as long as a walk through them takes no longer than this.
_PARTS = 16
_LARGEST_WALK = 128 << 20
_WALKS = 3


@dataclass(frozen=True)
class Speeds:
    """Of one core; the last latency and bandwidth are those of memory."""

    #: Seconds of a load from each level, the innermost first.
    latencies: tuple[float, ...]
    #: Bytes per second from each level, the innermost first.
    bandwidths: tuple[float, ...]
    #: 10^9 floating-point operations per second.
    peak_gflops: float
    #: As many bytes of the last cache as a program gets, beside others that share it.
    usable_bytes: int


def calibrated_speeds(profile: Profile) -> Speeds:
    """The speeds that ``polydl calibrate`` has measured; all of the last cache is usable if it doesn't say how much."""
    return Speeds(
        tuple(level.latency_seconds for level in profile.levels),
        tuple(level.bandwidth_bytes_per_second for level in profile.levels),
        profile.peak_gflops,
        profile.usable_bytes or profile.identity.cache_bytes[-1],
    )


def stored_or_measured(cpu_id: str, sizes: tuple[int, ...], memory_bytes: int, directory: Path) -> Speeds:
    """The speeds that a directory has of a kind of processor with such caches; if none, they are measured and kept.

    ``sizes`` are the caches' in bytes, innermost first. While another process measures, this one waits, and takes what
    that one has kept; processes that compute beside this one are waited for too. A directory that can't be written to
    is no error.
    """
    path = directory / f"{cpu_id}.toml"
    known = _read_speeds(path, cpu_id, sizes)
    if known is not None:
        return known
    with alone(), ExitStack() as stack:
        with suppress(OSError):  # a directory that can't be written only costs the next process its own measurement
            stack.enter_context(locked(path.with_suffix(".lock")))
        known = _read_speeds(path, cpu_id, sizes)
        if known is not None:
            return known
        speeds = measure(runtime(), sizes, memory_bytes)
        with suppress(OSError), replacing(path) as file:
            file.write(tomli_w.dumps({"version": _VERSION, "cpu_id": cpu_id, **asdict(speeds)}).encode())
    return speeds


def _read_speeds(path: Path, cpu_id: str, sizes: tuple[int, ...]) -> Speeds | None:
    """None for a file that is absent, damaged, of other probes or of another processor."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        latencies = tuple(float(x) for x in table["latencies"])
        bandwidths = tuple(float(x) for x in table["bandwidths"])
        peak, usable = float(table["peak_gflops"]), int(table["usable_bytes"])
    except (OSError, ValueError, OverflowError, KeyError, TypeError):
        return None
    sound = all(math.isfinite(x) and x > 0 for x in (*latencies, *bandwidths, peak)) and is_usable(usable, sizes)
    if (table.get("version"), table.get("cpu_id")) != (_VERSION, cpu_id) or not sound:
        return None
    if {len(latencies), len(bandwidths)} != {len(sizes) + 1}:
        return None
    return Speeds(latencies, bandwidths, peak, usable)


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
    found = [usable_bytes(probe, sizes, latencies, beyond) for _ in range(_WALKS)]
    return Speeds(tuple(latencies), tuple(bandwidths), peak, int(median(found)))


def usable_bytes(probe: Runtime, sizes: Sequence[int], latencies: Sequence[float], beyond_bytes: int) -> int:
    """How many bytes of the last cache a random walk finds there, in sixteenths of its size.

    Others share it, on the other cores of a processor of which a virtual machine has a few. A walk lies within the
    cache if it is nearer to its latency than to that of memory, on a logarithmic scale; ``latencies`` are those of all
    levels, memory's with ``beyond_bytes``. A cache that is too large to be walked through or to tell from memory, and a
    single one, are taken to be whole.
    """
    last = sizes[-1]
    if len(sizes) == 1 or beyond_bytes <= last:
        return last
    limit = math.sqrt(latencies[-2] * latencies[-1])
    most = min(_PARTS, _LARGEST_WALK * _PARTS // last)
    least = math.ceil(_PARTS * math.isqrt(sizes[-2] * last) / last)
    if least >= most:
        return last
    # The most parts within the cache, and the fewest beyond: the set that its latency was measured with lies within.
    within, beyond = least, most + 1
    while beyond - within > 1:
        parts = (within + beyond) // 2
        if probe.latency(last * parts // _PARTS, accesses=50_000, repeats=1) <= limit:
            within = parts
        else:
            beyond = parts
    return last if within == most else last * within // _PARTS
