"""What the system says of this machine, before anything is measured."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from polydl.errors import MachineError
from polydl.machine.caches import CACHE_SIZES_EXAMPLE, parse_cache_sizes, size_text
from polydl.machine.core import Core, CoreConstant, cache_constants, constants
from polydl.machine.processors import published
from polydl.machine.profile import Identity, Profile, Surroundings, read_for
from polydl.system.control_groups import memory_limits, processors, usable_processors

_ISA = re.compile(r"sse4_2|avx|avx2|fma|f16c|avx512\w*|avx_vnni|amx_\w+|asimd\w*|neon|sve\w*")


@dataclass(frozen=True)
class _Processor:
    name: str
    identity: str
    #: Instruction sets, as the system names them.
    isa: tuple[str, ...]


@dataclass(frozen=True)
class Cache:
    """One level of data cache, as the system describes it."""

    #: Of the whole cache, whoever shares it.
    bytes: int
    #: Of one line.
    line_bytes: int
    #: Logical processors that share it, of those that this process may run on where the system says which they are.
    shared_by: int
    #: Places of a line in its set; 0 where the system does not say.
    ways: int = 0

    @property
    def same_set_bytes(self) -> int:
        """The distance at which addresses fall into the same set, of a cache whose ways are known."""
        return self.bytes // self.ways


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
class System:
    """What the system says of this machine, before anything is measured."""

    identity: Identity
    #: Of data, the innermost first.
    caches: tuple[Cache, ...]
    #: that this process may use: the machine's memory, or what its control group leaves of it
    memory_bytes: int
    #: of the longest vectors that the processor computes with
    vector_bytes: int
    #: of one page of memory
    page_bytes: int

    @staticmethod
    def of_profile(identity: Identity, told: Surroundings) -> System:
        """The machine that a calibration was taken on."""
        ways = told.ways or (0,) * len(told.line_bytes)
        caches = zip(identity.cache_bytes, told.line_bytes, told.shared_by, ways, strict=True)
        shapes = tuple(Cache(*cache) for cache in caches)
        return System(identity, shapes, told.memory_bytes, _vector_bytes(identity.features), told.page_bytes)

    @property
    def surroundings(self) -> Surroundings:
        """What a calibration keeps of the system."""
        facts = ((cache.line_bytes, cache.shared_by, cache.ways) for cache in self.caches)
        lines, sharing, ways = zip(*facts, strict=True)
        return Surroundings(self.memory_bytes, self.page_bytes, lines, sharing, ways)

    @property
    def core(self) -> Core:
        """The constants of a core that were published, and in place of some those that the system tells."""
        core = published(self.identity.cpu_id, self.identity.features, self.vector_bytes, self.caches[0].line_bytes)
        return core.having((*cache_constants([cache.bytes for cache in self.caches]), *self.constants))

    @property
    def constants(self) -> tuple[CoreConstant, ...]:
        """The constants of a core that the system tells, beside the sizes of caches."""
        told: dict[str, int | tuple[int, int]] = {"page_bytes": self.page_bytes}
        first, second = self.caches[0], self.caches[:2][-1]
        if first.ways and second.ways:
            told["same_set_bytes"] = first.same_set_bytes, second.same_set_bytes
        return constants(told, "detected")

    def calibration_path(self, directory: Path) -> Path:
        """Where ``polydl calibrate`` keeps what it measures on this kind of processor, in a directory of profiles."""
        return directory / f"{self.identity.cpu_id}.calibration.toml"

    def calibration(self, directory: Path) -> Profile | None:
        """What ``polydl calibrate`` stored; None if it never ran. Raises MachineError if it is of another processor."""
        path = self.calibration_path(directory)
        return read_for(path, self.identity) if path.exists() else None


def default_directory() -> Path:
    """Where profiles are kept: in the user's cache directory."""
    return platformdirs.user_cache_path("polydl") / "machines"


def find(sizes: Sequence[int] | None = None) -> System:
    """The machine that this process runs on; ``sizes`` are for a system that does not describe its caches.

    Raises MachineError without either.
    """
    # Threads are pinned to these, the first ones of as many as there is time for.
    allowed = sorted(processors()[: usable_processors()])
    cpu = _cpuinfo(Path("/proc/cpuinfo").read_text(encoding="utf-8"))
    directory = Path(f"/sys/devices/system/cpu/cpu{allowed[0]}/cache")
    found = _sysfs_caches(directory, allowed) or _lscpu_caches()
    if not found and sizes is not None:
        found = tuple(Cache(size, 64, 1) for size in sizes)
    if not found:
        raise MachineError(
            "the sizes of the caches can't be found in /sys or with lscpu",
            remedy="let this process read /sys/devices/system/cpu; `polydl calibrate` and what optimizes take them, "
            f"innermost first, such as --cache-sizes {CACHE_SIZES_EXAMPLE}",
        )
    cache_bytes = tuple(cache.bytes for cache in found)
    cpu_id = "-".join([cpu.identity, *(size_text(size) for size in cache_bytes)])
    identity = Identity(cpu.name, cpu_id, cpu.isa, cache_bytes, usable_processors())
    return System(identity, found, _memory_bytes(), _vector_bytes(cpu.isa), os.sysconf("SC_PAGE_SIZE"))


def _vector_bytes(isa: Sequence[str]) -> int:
    return 64 if "avx512f" in isa else 32 if "avx2" in isa else 16


def _sysfs_caches(directory: Path, processors: Sequence[int]) -> tuple[Cache, ...]:
    """The data caches of one of the ``processors``, innermost first; none if the system does not describe them."""
    found: list[tuple[int, Cache]] = []
    for index in sorted(directory.glob("index*")):
        with suppress(OSError, ValueError, MachineError):
            if (index / "type").read_text().strip() in ("Data", "Unified"):
                [size] = parse_cache_sizes((index / "size").read_text())
                line = int((index / "coherency_line_size").read_text())
                sharing = _numbers((index / "shared_cpu_list").read_text())
                shared_by = max(1, len(sharing.intersection(processors)))
                ways = _ways(index / "ways_of_associativity")
                found.append((int((index / "level").read_text()), Cache(size, line, shared_by, ways)))
    return _growing(found)


def _ways(file: Path) -> int:
    with suppress(OSError, ValueError):
        return int(file.read_text())
    return 0


def _lscpu_caches() -> tuple[Cache, ...]:
    """Containers may hide the caches in /sys from us that lscpu still finds through the processor itself."""
    command = ["lscpu", "--caches=LEVEL,TYPE,ONE-SIZE,ALL-SIZE,COHERENCY-SIZE,WAYS", "--bytes", "--json"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, check=True, timeout=10)
        return _lscpu_answer(answer.stdout)
    except (OSError, subprocess.SubprocessError):
        return ()


def _lscpu_answer(text: str) -> tuple[Cache, ...]:
    found: list[tuple[int, Cache]] = []
    with suppress(ValueError, KeyError, TypeError):
        for cache in json.loads(text)["caches"]:
            if cache["type"] in ("Data", "Unified"):
                size, line = int(cache["one-size"]), int(cache.get("coherency-size") or 64)
                instances = max(1, int(cache["all-size"]) // size)
                shared_by = max(1, (os.cpu_count() or 1) // instances)
                found.append((int(cache["level"]), Cache(size, line, shared_by, int(cache.get("ways") or 0))))
    return _growing(found)


def _growing(levels: list[tuple[int, Cache]]) -> tuple[Cache, ...]:
    """By level, without one that is no larger than the level before (virtual machines report such)."""
    kept: list[Cache] = []
    for _, cache in sorted(levels, key=lambda level: level[0]):
        if cache.bytes > (kept[-1].bytes if kept else 0):
            kept.append(cache)
    return tuple(kept[:4])


def _numbers(text: str) -> frozenset[int]:
    """``0-3,8`` are the numbers 0, 1, 2, 3 and 8."""
    ranges = (part.partition("-") for part in text.strip().split(","))
    return frozenset(number for low, _, high in ranges for number in range(int(low), int(high or low) + 1))


def _memory_bytes() -> int:
    """The memory that this process may use: the machine's, or what its control groups leave of it."""
    whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min([whole, *(limit for limit, _ in memory_limits())])
