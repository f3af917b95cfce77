"""Resources of this machine: cores to pin threads to, and free memory."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from polydl.errors import OptionError


def choose_cores(threads: int) -> tuple[int, ...]:
    """One logical processor per thread, on different physical cores while there are any left.

    Raises OptionError for more threads than processors that this process may use.
    """
    allowed = _processors()
    if not 1 <= threads <= len(allowed):
        raise OptionError(
            f"{threads} threads, but this process may use {len(allowed)} cores", remedy="change --threads"
        )
    return allowed[:threads]


def free_cores(used: Sequence[int]) -> tuple[int, ...]:
    """Logical processors for a process of one thread beside another that has so many to itself.

    Others than those, as many of them; if these are several and there are no others, the same in another order, for
    a process that runs on the first one it is given; else none.
    """
    others = tuple(each for each in _processors() if each not in used)
    return others[: len(used)] or ((*used[1:], used[0]) if len(used) > 1 else ())


def _processors() -> tuple[int, ...]:
    """Those that this process may use: the first one of each core, then the others."""
    first_of_core: list[int] = []
    others: list[int] = []
    seen: set[str] = set()
    for processor in sorted(os.sched_getaffinity(0)):
        siblings = _read(f"/sys/devices/system/cpu/cpu{processor}/topology/thread_siblings_list") or str(processor)
        (others if siblings in seen else first_of_core).append(processor)
        seen.add(siblings)
    return tuple(first_of_core + others)


def available_bytes() -> int:
    """Bytes of memory that new processes can get without swapping, within the limits of the control group."""
    available = 0
    for line in (_read("/proc/meminfo") or "").splitlines():
        name, _, value = line.partition(":")
        if name == "MemAvailable":
            available = int(value.split()[0]) * 1024
    if not available:
        available = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    for directory, limit_file, usage_file in _control_groups():
        limit, usage = _read(f"{directory}/{limit_file}"), _read(f"{directory}/{usage_file}")
        if limit is not None and usage is not None and limit.isdigit():
            # Inactive pages of files count as used memory, but are freed on demand.
            statistics = dict(line.split() for line in (_read(f"{directory}/memory.stat") or "").splitlines())
            used = int(usage) - int(statistics.get("inactive_file", 0))
            available = min(available, max(int(limit) - used, 0))
    return available


def _control_groups() -> list[tuple[str, str, str]]:
    """(directory, file of the limit, file of the usage) for both versions of control groups."""
    groups: list[tuple[str, str, str]] = []
    for line in (_read("/proc/self/cgroup") or "").splitlines():
        _, controllers, path = line.split(":", 2)
        # In a container the path may be that of the host, while the container's own group is mounted at the root.
        for group in dict.fromkeys((path.rstrip("/"), "")):
            if not controllers:
                groups.append((f"/sys/fs/cgroup{group}", "memory.max", "memory.current"))
            elif "memory" in controllers.split(","):
                groups.append((f"/sys/fs/cgroup/memory{group}", "memory.limit_in_bytes", "memory.usage_in_bytes"))
    return groups


def _read(path: str) -> str | None:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return None
