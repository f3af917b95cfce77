"""How working sets fit the caches (paper, §4.2 Algorithm 2), as printed and with two options.

As printed, caches are fully associative and exclusive, and each working set goes to the first level that has room for
it beside those already there, from the smallest to the largest. *Inclusive* caches also hold what the levels inside
them hold: a working set then fits where all up to it, those of inner levels included, fit together. A level that
threads *share* must hold what all of them have in use at once: ``reuse_threads`` says how much that is.
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


def threads_sharing(levels: Sequence[_Level], threads: int) -> tuple[int, ...]:
    """How many of ``threads`` threads have each cache in common, as many as can."""
    return tuple(max(1, min(threads, level.shared_by)) for level in levels)


def fit_caches(sizes: Iterable[int], caches: Sequence[int], *, inclusive: bool = False) -> tuple[tuple[int, ...], int]:
    """The sum of the working sets that each cache level holds, and of those that none does. All in bytes.

    With ``inclusive``, what a level holds for the levels inside it takes room, but is not in its own sum.
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
    """``fit_caches`` where a working set takes another size in each level, and one more, its own, in memory.

    They are taken in the order of their own sizes. A level's sum is of the sizes that they have there.
    """
    held = [0] * len(caches)
    # With ``inclusive``, what lies in the levels inside, in the sizes of this one.
    inside = [0] * len(caches)
    memory = 0
    for *in_level, own in sorted(sizes, key=lambda each: (each[-1], *each)):
        for level, capacity in enumerate(caches):
            if held[level] + inside[level] + in_level[level] <= capacity:
                held[level] += in_level[level]
                if inclusive:
                    for outer in range(level + 1, len(caches)):
                        inside[outer] += in_level[outer]
                break
        else:
            memory += own
    return tuple(held), memory


def fit_caches_of_many(
    count: int, owner: Integers, sizes: Integers, caches: Sequence[int], *, inclusive: bool = False
) -> tuple[Integers, Integers]:
    """``fit_caches`` for each of ``count`` owners of sizes, as [owner, level] and [owner].

    Since a level that is too full for one working set is so for all larger ones, each level holds a stretch of the
    sorted sizes.
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
