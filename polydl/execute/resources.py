"""Resources of this machine: cores to pin threads to, and free memory."""

from __future__ import annotations

import os
from collections.abc import Sequence

from polydl.errors import OptionError
from polydl.system.control_groups import memory_limits, processors, read


def choose_cores(threads: int) -> tuple[int, ...]:
    """One logical processor per thread, on different physical cores while there are any left.

    Raises OptionError for more threads than processors that this process may use.
    """
    allowed = processors()
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
    others = tuple(each for each in processors() if each not in used)
    return others[: len(used)] or ((*used[1:], used[0]) if len(used) > 1 else ())


def available_bytes() -> int:
    """Bytes of memory that new processes can get without swapping, within the limits of its control groups."""
    available = 0
    for line in (read("/proc/meminfo") or "").splitlines():
        name, _, value = line.partition(":")
        if name == "MemAvailable":
            available = int(value.split()[0]) * 1024
    if not available:
        available = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return min([available, *(max(limit - used, 0) for limit, used in memory_limits())])
