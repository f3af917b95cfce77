"""The machine that code is ranked for: its caches, cores, instruction sets and measured speeds.

Sizes are in bytes, times in seconds, rates in bytes per second and GFLOPS (fp32, a multiply-add
counts 2). Latencies, bandwidths and the peak are those of *one core* while the others are idle, unless a name says
``total``: then of all cores at once.
"""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import tomllib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import platformdirs
import tomli_w

from polydl.calibration import profile as calibrations
from polydl.calibration.profile import Identity, Profile
from polydl.errors import MachineError
from polydl.native import Runtime, runtime
from polydl.throughput import Throughput

CACHE_SIZES_EXAMPLE = "32K,1M,36608K"
_Kind = TypeVar("_Kind")
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_ISA = re.compile(r"sse4_2|avx|avx2|fma|f16c|avx512\w*|avx_vnni|amx_\w+|asimd\w*|neon|sve\w*")


@dataclass(frozen=True)
class CacheLevel:
    """One level of data cache, with its latency and its read bandwidth as one core sees them.

    ``shared_by`` counts the logical processors that share one such cache.
    """

    name: str
    bytes: int
    line_bytes: int
    shared_by: int
    latency_seconds: float
    bandwidth_bytes_per_second: float


@dataclass(frozen=True)
class Machine:
    """``caches`` go from the innermost outwards; ``threads`` is how many of the ``cores`` a kernel may use.

    ``cpu_id`` names the kind of processor (vendor, family, model, stepping and cache sizes), whatever
    sizes ``caches`` was given. ``total_bandwidths`` (of each cache, then of memory), ``total_peak_gflops`` and the
    microkernels' ``throughputs`` come from ``polydl calibrate`` and are empty or 0 without it. Raises MachineError if
    the numbers contradict each other.
    """

    name: str
    cpu_id: str
    cores: int
    threads: int
    isa: tuple[str, ...]
    vector_bytes: int
    caches: tuple[CacheLevel, ...]
    memory_latency_seconds: float
    memory_bandwidth_bytes_per_second: float
    memory_bytes: int
    peak_gflops: float
    total_bandwidths: tuple[float, ...] = ()
    total_peak_gflops: float = 0.0
    throughputs: tuple[Throughput, ...] = ()

    def __post_init__(self) -> None:
        if self.cores < 1 or self.vector_bytes < 1 or self.memory_bytes < 1:
            raise MachineError("a machine's cores, vector_bytes and memory_bytes are at least 1")
        if not 1 <= self.threads <= self.cores:
            raise MachineError(
                f"{self.threads} threads on {self.cores} cores",
                remedy=f"ask for 1 to {self.cores} threads (--threads), the processors that this process may use",
            )
        check_cache_sizes(tuple(level.bytes for level in self.caches))
        rates = [self.memory_latency_seconds, self.memory_bandwidth_bytes_per_second, self.peak_gflops]
        for level in self.caches:
            rates += [level.latency_seconds, level.bandwidth_bytes_per_second]
            if level.line_bytes < 1 or level.shared_by < 1:
                raise MachineError(f"line_bytes and shared_by of cache {level.name} are at least 1")
        if not all(math.isfinite(rate) and rate > 0 for rate in rates):
            raise MachineError("a machine's latencies, bandwidths and peak are positive and finite")

    @staticmethod
    def detect(
        cache_sizes: str | None = None, threads: int | None = None, profile_directory: Path | None = None
    ) -> Machine:
        """The machine that this process runs on.

        Speeds are those that ``polydl calibrate`` found, or else are measured once (under two seconds); both are kept
        in ``profile_directory`` (by default the user's cache directory) for this kind of processor, so that later
        calls agree with the first. ``cache_sizes``,
        such as ``32K,1M,36608K``, replaces the sizes found, innermost first; each level keeps the speeds of the
        level found in its place. Raises MachineError for sizes or threads that make no sense and for a calibration of
        another processor, and MissingComponentError if the speeds must be measured and the runtime library is missing.
        """
        sizes = None if cache_sizes is None else parse_cache_sizes(cache_sizes)
        cores = len(os.sched_getaffinity(0))
        if threads is not None and not 1 <= threads <= cores:
            raise MachineError(
                f"{threads} threads asked for",
                remedy=f"ask for 1 to {cores} threads (--threads), the processors that this process may use",
            )
        found = find(sizes)
        directory = profile_directory or default_directory()
        calibration = found.calibration(directory)
        if calibration is not None:
            speeds = _calibrated_speeds(calibration)
        else:
            speeds = _speeds(found.identity.cpu_id, found.identity.cache_bytes, found.memory_bytes, directory)
        machine = Machine(
            name=found.identity.name,
            cpu_id=found.identity.cpu_id,
            cores=cores,
            threads=threads or cores,
            isa=found.identity.features,
            vector_bytes=found.vector_bytes,
            caches=tuple(
                CacheLevel(f"L{i + 1}", cache.bytes, cache.line_bytes, cache.shared_by, latency, bandwidth)
                for i, (cache, latency, bandwidth) in enumerate(
                    zip(found.caches, speeds.latencies, speeds.bandwidths, strict=False)
                )
            ),
            memory_latency_seconds=speeds.latencies[-1],
            memory_bandwidth_bytes_per_second=speeds.bandwidths[-1],
            memory_bytes=found.memory_bytes,
            peak_gflops=speeds.peak_gflops,
        )
        if calibration is not None and calibration.identity.cores == cores:
            machine = replace(
                machine,
                total_bandwidths=tuple(level.total_bandwidth_bytes_per_second for level in calibration.levels),
                total_peak_gflops=calibration.total_peak_gflops,
            )
        if calibration is not None:
            machine = replace(machine, throughputs=calibration.throughputs)
        return machine if sizes is None else machine.with_cache_sizes(sizes)

    def bandwidths(self) -> tuple[float, ...]:
        """Bytes per second that each of the ``threads`` reads from each cache, then from memory, all at once."""
        return self._bandwidths

    @cached_property
    def _bandwidths(self) -> tuple[float, ...]:
        alone = (*(level.bandwidth_bytes_per_second for level in self.caches), self.memory_bandwidth_bytes_per_second)
        if self.threads == 1 or len(self.total_bandwidths) != len(alone):
            return alone
        return tuple(min(one, total / self.threads) for one, total in zip(alone, self.total_bandwidths, strict=True))

    def with_cache_sizes(self, sizes: Sequence[int]) -> Machine:
        """The same machine with caches of other sizes (bytes, innermost first).

        Each level keeps the speeds of the level in its place; one that this machine doesn't have lies halfway, on a
        logarithmic scale, between the last cache and memory.
        """
        check_cache_sizes(sizes)
        last = self.caches[-1]
        beyond = replace(
            last,
            latency_seconds=math.sqrt(last.latency_seconds * self.memory_latency_seconds),
            bandwidth_bytes_per_second=math.sqrt(
                last.bandwidth_bytes_per_second * self.memory_bandwidth_bytes_per_second
            ),
        )
        return replace(
            self,
            caches=tuple(
                replace(self.caches[i] if i < len(self.caches) else beyond, name=f"L{i + 1}", bytes=size)
                for i, size in enumerate(sizes)
            ),
        )

    @staticmethod
    def load(path: str | Path) -> Machine:
        """Reads what ``save`` wrote, or a person. Raises MachineError, with the file, if it is no description."""
        try:
            table = tomllib.loads(Path(path).read_text(encoding="utf-8"))
            isa = table.get("isa", [])
            if not isinstance(isa, list) or not all(isinstance(flag, str) for flag in isa):
                raise ValueError("isa is a list of names")
            levels = tuple(_typed(CacheLevel, level) for level in table.get("caches", []))
            totals = tuple(float(rate) for rate in table.get("total_bandwidths", []))
            tables = tuple(Throughput.from_table(each) for each in table.get("throughputs", []))
            others = {"caches": levels, "isa": tuple(isa), "total_bandwidths": totals, "throughputs": tables}
            return _typed(Machine, {"total_peak_gflops": 0.0, **table, **others})
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise MachineError(
                f"not a machine description: {error}", file=str(path), remedy="see what Machine.detect().save() writes"
            ) from None
        except MachineError as error:
            raise MachineError(error.message, file=str(path), remedy=error.remedy) from None

    def save(self, path: str | Path) -> None:
        """Writes a TOML file, whole or not at all. Raises MachineError if it can't be written."""
        try:
            calibrations.write_whole(Path(path), tomli_w.dumps(asdict(self)))
        except OSError as error:
            raise MachineError(
                f"can't write the machine description: {error.strerror}", file=str(path), remedy="choose another path"
            ) from None

    def to_json(self) -> dict[str, Any]:
        """What reports say of the machine."""
        return {
            "name": self.name,
            "cores": self.cores,
            "threads": self.threads,
            "cache_bytes": [level.bytes for level in self.caches],
            "peak_gflops": self.peak_gflops,
        }


def parse_cache_sizes(text: str) -> tuple[int, ...]:
    """``32K,1M,36608K`` in bytes: K, M and G are powers of 1024, and ``B`` or ``iB`` may follow.

    Raises MachineError unless there are 1 to 4 positive sizes, each larger than the one before.
    """
    sizes = []
    for part in text.split(","):
        match = re.fullmatch(r"(\d+)\s*([KMG]?)(?:I?B)?", part.strip().upper(), re.ASCII)
        if match is None:
            raise MachineError(
                f"{part.strip()!r} is not a cache size",
                construct=f"--cache-sizes {text}",
                remedy=f"write sizes in bytes or with K, M or G, such as {CACHE_SIZES_EXAMPLE}",
            )
        sizes.append(int(match[1]) * _UNITS[match[2]])
    check_cache_sizes(sizes, construct=f"--cache-sizes {text}")
    return tuple(sizes)


def check_cache_sizes(sizes: Sequence[int], construct: str | None = None) -> None:
    """Raises MachineError unless there are 1 to 4 positive sizes, each larger than the one before."""
    wrong = None
    if not 1 <= len(sizes) <= 4:
        wrong = f"{len(sizes)} cache sizes"
    elif min(sizes) < 1:
        wrong = "a cache of 0 bytes" if min(sizes) == 0 else "a cache of negative size"
    elif any(outer <= inner for inner, outer in pairwise(sizes)):
        wrong = f"cache sizes that do not grow: {', '.join(_size_text(size) for size in sizes)}"
    if wrong:
        raise MachineError(
            wrong,
            construct=construct,
            remedy=f"give 1 to 4 sizes, from the innermost cache to the outermost, such as {CACHE_SIZES_EXAMPLE}",
        )


def _size_text(size: int) -> str:
    return f"{size >> 10}K" if size % 1024 == 0 else str(size)


def _typed(kind: type[_Kind], table: dict[str, Any]) -> _Kind:
    """An instance from TOML's values, each of the type that the field declares."""
    wanted: dict[str, tuple[type, ...]] = {"str": (str,), "int": (int,), "float": (int, float)}
    for name, declared in kind.__annotations__.items():
        if name not in table:
            raise ValueError(f"{name} is missing")
        value = table[name]
        if declared in wanted and (not isinstance(value, wanted[declared]) or isinstance(value, bool)):
            raise ValueError(f"{name} = {value!r} is not of type {declared}")
    if unknown := table.keys() - kind.__annotations__.keys():
        raise ValueError(f"{min(unknown)} is not known")
    return kind(**table)


# --------------------------------------------------------------------------------------
# What the system says


@dataclass(frozen=True)
class _Processor:
    name: str
    identity: str
    isa: tuple[str, ...]


@dataclass(frozen=True)
class _Cache:
    bytes: int
    line_bytes: int
    shared_by: int


def _cpuinfo(text: str) -> _Processor:
    """The first processor of /proc/cpuinfo, whose keys differ between x86 and Arm."""
    entries: dict[str, str] = {}
    for line in text.splitlines():
        key, _, value = line.partition(":")
        entries.setdefault(key.strip().lower(), value.strip())

    def first(*keys: str) -> str:
        return next((entries[key] for key in keys if entries.get(key)), "unknown")

    identity = [
        first("vendor_id", "cpu implementer"),
        first("cpu family", "cpu architecture"),
        first("model", "cpu part"),
        first("stepping", "cpu revision"),
    ]
    flags = first("flags", "features").split()
    return _Processor(
        name=first("model name", "hardware", "cpu part"),
        identity=re.sub(r"[^\w-]", "_", "-".join(identity)),
        isa=tuple(sorted({flag for flag in flags if _ISA.fullmatch(flag)})),
    )


@dataclass(frozen=True)
class Found:
    """What the system says of this machine, before anything is measured."""

    identity: Identity
    caches: tuple[_Cache, ...]
    memory_bytes: int
    vector_bytes: int

    def calibration_path(self, directory: Path) -> Path:
        return directory / f"{self.identity.cpu_id}.calibration.toml"

    def calibration(self, directory: Path) -> Profile | None:
        """What ``polydl calibrate`` stored; None if it never ran. Raises MachineError if it is of another processor."""
        path = self.calibration_path(directory)
        return calibrations.read_for(path, self.identity) if path.exists() else None


def default_directory() -> Path:
    """Where profiles are kept: in the user's cache directory."""
    return platformdirs.user_cache_path("polydl") / "machines"


def find(sizes: Sequence[int] | None = None) -> Found:
    """The machine that this process runs on; ``sizes`` are for a system that does not describe its caches.

    Raises MachineError without either.
    """
    processors = sorted(os.sched_getaffinity(0))
    cpu = _cpuinfo(Path("/proc/cpuinfo").read_text(encoding="utf-8"))
    found = _sysfs_caches(Path(f"/sys/devices/system/cpu/cpu{processors[0]}/cache")) or _lscpu_caches()
    if not found and sizes is not None:
        found = tuple(_Cache(size, 64, 1) for size in sizes)
    if not found:
        raise MachineError(
            "the sizes of the caches can't be found in /sys or with lscpu",
            remedy=f"give them, innermost first, such as --cache-sizes {CACHE_SIZES_EXAMPLE}",
        )
    cache_bytes = tuple(cache.bytes for cache in found)
    cpu_id = "-".join([cpu.identity, *(_size_text(size) for size in cache_bytes)])
    vector_bytes = 64 if "avx512f" in cpu.isa else 32 if "avx2" in cpu.isa else 16
    identity = Identity(cpu.name, cpu_id, cpu.isa, cache_bytes, len(processors))
    return Found(identity, found, _memory_bytes(), vector_bytes)


def _sysfs_caches(directory: Path) -> tuple[_Cache, ...]:
    """The data caches of one processor, innermost first; none if the system does not describe them."""
    found: list[tuple[int, _Cache]] = []
    for index in sorted(directory.glob("index*")):
        with suppress(OSError, ValueError, MachineError):
            if (index / "type").read_text().strip() in ("Data", "Unified"):
                [size] = parse_cache_sizes((index / "size").read_text())
                line = int((index / "coherency_line_size").read_text())
                shared_by = _count_processors((index / "shared_cpu_list").read_text())
                found.append((int((index / "level").read_text()), _Cache(size, line, shared_by)))
    return _growing(found)


def _lscpu_caches() -> tuple[_Cache, ...]:
    """Containers may hide the caches in /sys from us that lscpu still finds through the processor itself."""
    command = ["lscpu", "--caches=LEVEL,TYPE,ONE-SIZE,ALL-SIZE,COHERENCY-SIZE", "--bytes", "--json"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, check=True, timeout=10)
        return _lscpu_answer(answer.stdout)
    except (OSError, subprocess.SubprocessError):
        return ()


def _lscpu_answer(text: str) -> tuple[_Cache, ...]:
    found: list[tuple[int, _Cache]] = []
    with suppress(ValueError, KeyError, TypeError):
        for cache in json.loads(text)["caches"]:
            if cache["type"] in ("Data", "Unified"):
                size, line = int(cache["one-size"]), int(cache.get("coherency-size") or 64)
                instances = max(1, int(cache["all-size"]) // size)
                shared_by = max(1, (os.cpu_count() or 1) // instances)
                found.append((int(cache["level"]), _Cache(size, line, shared_by)))
    return _growing(found)


def _growing(levels: list[tuple[int, _Cache]]) -> tuple[_Cache, ...]:
    """By level, without one that is no larger than the level before (virtual machines report such)."""
    kept: list[_Cache] = []
    for _, cache in sorted(levels, key=lambda level: level[0]):
        if cache.bytes > (kept[-1].bytes if kept else 0):
            kept.append(cache)
    return tuple(kept[:4])


def _count_processors(text: str) -> int:
    """``0-3,8`` is 5 processors."""
    count = 0
    for part in text.strip().split(","):
        low, _, high = part.partition("-")
        count += int(high or low) - int(low) + 1
    return count


def _memory_bytes() -> int:
    """The memory that this process may use: the machine's, or its control group's if that is less."""
    sizes = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for limit in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        with suppress(OSError, ValueError):
            sizes.append(int(Path(limit).read_text()))
    return min(sizes)


# --------------------------------------------------------------------------------------
# What is measured, once for each kind of processor


@dataclass(frozen=True)
class _Speeds:
    """Of one core; the last latency and bandwidth are those of memory."""

    latencies: tuple[float, ...]
    bandwidths: tuple[float, ...]
    peak_gflops: float


def _calibrated_speeds(profile: Profile) -> _Speeds:
    return _Speeds(
        tuple(level.latency_seconds for level in profile.levels),
        tuple(level.bandwidth_bytes_per_second for level in profile.levels),
        profile.peak_gflops,
    )


def _speeds(cpu_id: str, sizes: tuple[int, ...], memory_bytes: int, directory: Path) -> _Speeds:
    path = directory / f"{cpu_id}.toml"
    known = _read_speeds(path, cpu_id, len(sizes))
    if known is not None:
        return known
    speeds = _measure(runtime(), sizes, memory_bytes)
    with suppress(OSError):  # a directory that can't be written only costs the next process its own measurement
        path.parent.mkdir(parents=True, exist_ok=True)
        calibrations.write_whole(path, tomli_w.dumps({"cpu_id": cpu_id, **asdict(speeds)}))
    return speeds


def _read_speeds(path: Path, cpu_id: str, levels: int) -> _Speeds | None:
    """None for a file that is absent, damaged, or of another processor."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        latencies = tuple(float(x) for x in table["latencies"])
        bandwidths = tuple(float(x) for x in table["bandwidths"])
        peak = float(table["peak_gflops"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    sound = all(math.isfinite(x) and x > 0 for x in (*latencies, *bandwidths, peak))
    if table.get("cpu_id") != cpu_id or not sound or {len(latencies), len(bandwidths)} != {levels + 1}:
        return None
    return _Speeds(latencies, bandwidths, peak)


def _measure(probe: Runtime, sizes: tuple[int, ...], memory_bytes: int) -> _Speeds:
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
    return _Speeds(tuple(latencies), tuple(bandwidths), peak)
