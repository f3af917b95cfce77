"""Fitting working sets into caches (paper, §4.2, Algorithm 2), as printed and with two options.

As printed, caches are fully associative and exclusive. Working sets are taken from the smallest to the largest, and
each goes to the first level that has room for it beside those already there. There are two options. An *inclusive*
cache also holds everything that the levels inside of it hold. A cache that threads *share* must hold the working sets
that all of them have in use at the same time (``polydl.reuse.threads`` computes their size).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np

from polydl.reuse.encoding import Integers


class _Level(Protocol):
    @property
    def bytes(self) -> int: ...

    @property
    def shared_by(self) -> int: ...


def threads_sharing(levels: Sequence[_Level], threads: int, processors: int) -> tuple[int, ...]:
    """For each cache, the number of threads that share it: all ``threads``, up to as many as the cache serves.

    Of the logical ``processors`` those that share the first cache are one core's. Threads run on different cores while
    there are any left.
    """
    of_core = levels[0].shared_by
    on_core = min(of_core, -(-threads // max(1, processors // of_core)))
    return tuple(max(1, min(threads, on_core * (level.shared_by // of_core))) for level in levels)


def fit_caches(sizes: Iterable[int], caches: Sequence[int], *, inclusive: bool = False) -> tuple[tuple[int, ...], int]:
    """The bytes of working sets that each cache level holds, and the bytes that no level holds.

    ``sizes`` are those of the working sets, ``caches`` the capacities from the innermost level out, all in bytes. With
    ``inclusive``, data of inner levels takes room in a level, but isn't in its sum.
    """
    held = [0] * len(caches)
    memory = 0
    for size in sorted(sizes):
        for level, capacity in enumerate(caches):
            if (sum(held[: level + 1]) if inclusive else held[level]) + size <= capacity:
                held[level] += size
                break
        else:
            memory += size
    return tuple(held), memory


def fit_shared_caches(
    sizes: Iterable[Sequence[int]], caches: Sequence[int], *, inclusive: bool = False
) -> tuple[tuple[int, ...], int]:
    """``fit_caches`` for working sets whose size depends on the level, because threads share some of the levels.

    An entry of ``sizes`` has the size in each level and then the size for one thread alone. Working sets are taken in
    the order of the latter, which is also their size in memory. A level's sum is of the sizes in that level.
    """
    held = [0] * len(caches)
    # With ``inclusive``: bytes of the inner levels' working sets, by their sizes in this level.
    inside = [0] * len(caches)
    memory = 0
    for *in_level, in_memory in sorted(sizes, key=lambda entry: (entry[-1], *entry)):
        for level, capacity in enumerate(caches):
            if held[level] + inside[level] + in_level[level] <= capacity:
                held[level] += in_level[level]
                if inclusive:
                    for outer in range(level + 1, len(caches)):
                        inside[outer] += in_level[outer]
                break
        else:
            memory += in_memory
    return tuple(held), memory


def fit_caches_of_many(
    count: int, owner: Integers, sizes: Integers, caches: Sequence[int], *, inclusive: bool = False
) -> tuple[Integers, Integers]:
    """``fit_caches`` for ``count`` schedules at once.

    ``owner[i]`` is the schedule of ``sizes[i]``. Returns the bytes in each level, [owner, level], and in memory,
    [owner]. A level without room for one working set has none for a larger one, so that each level holds a contiguous
    range of the sorted sizes.
    """
    order = np.lexsort((sizes, owner))
    owner, sizes = owner[order], sizes[order]
    until = np.cumsum(sizes)
    before = np.zeros(count, dtype=np.int64)
    begins = np.nonzero(np.diff(owner, prepend=-1))[0]
    before[owner[begins]] = until[begins] - sizes[begins]
    until = until - before[owner]
    held = np.zeros((count, len(caches)), dtype=np.int64)
    waiting = np.ones(len(sizes), dtype=bool)
    for level, capacity in enumerate(caches):
        inner = 0 if inclusive else held.sum(axis=1)[owner]
        fits = waiting & (until - inner <= capacity)
        np.add.at(held[:, level], owner[fits], sizes[fits])
        waiting &= ~fits
    memory = np.zeros(count, dtype=np.int64)
    np.add.at(memory, owner[waiting], sizes[waiting])
    return held, memory
