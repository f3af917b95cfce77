"""Products of a batch that are groups of k evenly apart, so that loops and tile products take several at once."""

from __future__ import annotations

from math import gcd

from polydl.contracts import GemmSite
from polydl.divisors import divisors


def group_run(site: GemmSite, most: int, *, beside: int = 0) -> tuple[int, int, int]:
    """How many groups, at most ``most``, follow each other evenly, and their distances in A and in B, in elements.

    They divide the batch of every call. The distance in B is ``beside`` unless that is 0. Where no two are evenly
    apart, a run has one group.
    """
    for groups in sorted(divisors(gcd(*site.batch)), reverse=True):
        if groups > most:
            continue
        steps = {
            (site.offsets_a[r + 1] - site.offsets_a[r], site.offsets_b[r + 1] - site.offsets_b[r])
            for first in range(0, len(site.offsets_a), groups)
            for r in range(first, first + groups - 1)
        }
        if not steps:
            break
        [(in_a, in_b), *others] = steps
        if not others and beside in (0, in_b):
            return groups, in_a, in_b
    return 1, 0, 0
