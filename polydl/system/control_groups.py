"""What the control groups of this process, of both versions, leave it of the machine: memory and time of processors."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

_MEMBERSHIP = "/proc/self/cgroup"
_MOUNTED = "/sys/fs/cgroup"
# Of each version: files of a group that limit its memory and say how much of it is used.
_MEMORY = {2: ("memory.max", "memory.current"), 1: ("memory.limit_in_bytes", "memory.usage_in_bytes")}


def usable_processors() -> int:
    """How many this process may keep busy: those that it may run on, or fewer if it gets no more time than theirs."""
    count = len(os.sched_getaffinity(0))
    for version, folder in _groups("cpu"):
        if version == 2:
            quota, _, period = (read(f"{folder}/cpu.max") or "").partition(" ")
        else:
            quota, period = (read(f"{folder}/cpu.cfs_{name}_us") or "" for name in ("quota", "period"))
        # There is no limit where the quota is "max" or -1.
        if quota.isdigit() and period.isdigit() and int(quota) and int(period):
            count = min(count, -(-int(quota) // int(period)))
    return count


def processors() -> tuple[int, ...]:
    """Those that this process may run on: the first one of each core, then the others."""
    first_of_core: list[int] = []
    others: list[int] = []
    seen: set[str] = set()
    for processor in sorted(os.sched_getaffinity(0)):
        siblings = read(f"/sys/devices/system/cpu/cpu{processor}/topology/thread_siblings_list") or str(processor)
        (others if siblings in seen else first_of_core).append(processor)
        seen.add(siblings)
    return tuple(first_of_core + others)


def memory_limits() -> tuple[tuple[int, int], ...]:
    """Bytes that each group with a limit may use, and those of them that it uses and that can't be freed on demand."""
    limits = []
    for version, folder in _groups("memory"):
        limit, usage = (read(f"{folder}/{name}") for name in _MEMORY[version])
        if limit is not None and usage is not None and limit.isdigit():
            # Inactive pages of files count as used memory, but are freed on demand.
            statistics = dict(line.split() for line in (read(f"{folder}/memory.stat") or "").splitlines())
            # In the first version a group's usage counts the groups inside of it, and only "total" statistics do.
            freed = statistics.get("total_inactive_file", statistics.get("inactive_file", 0))
            limits.append((int(limit), int(usage) - int(freed)))
    return tuple(limits)


def _groups(controller: str) -> Iterator[tuple[int, str]]:
    """Version and folder of the group that limits something, and of those around it, which do so too."""
    for line in (read(_MEMBERSHIP) or "").splitlines():
        _, controllers, path = line.split(":", 2)
        # In a container the path may be that of the host, while the container's own group is mounted at the root.
        for group in (path, *map(str, PurePosixPath(path).parents)):
            if not controllers:
                yield 2, f"{_MOUNTED}{group}"
            elif controller in controllers.split(","):
                yield 1, f"{_MOUNTED}/{controller}{group}"


def read(path: str) -> str | None:
    """What a file of the system says, without white space around it; None if it can't be read."""
    try:
        return Path(path).read_text().strip()
    except OSError:
        return None
