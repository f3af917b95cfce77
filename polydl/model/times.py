"""Predicted seconds of a variant's nests: arithmetic, what caches are filled with, and the start of threads, joined.

The arithmetic of the busiest thread hides what moves into the first cache, at the bandwidth of the level that it comes
from, until that takes longer itself: the innermost loops walk through it in an order that prefetchers and out-of-order
execution keep up with. What moves between the caches beyond and from memory hides only partly, as far as the
processor's constants say, and the start of threads not at all. Where one transfer takes longest, all else hides behind
it but for a small part.

A nest is run again and again, when it is timed as in most programs, and each run finds what the one before has left:
a cache that holds all of its arrays is never filled again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from polydl.contracts import Candidate
from polydl.machine import Machine

Numbers = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class NestTime:
    """Predicted seconds of one nest."""

    #: of the busiest thread: instructions whose operands are in the first-level cache, and how long they wait
    #: for copies and for lines that push each other out of that cache
    arithmetic: float
    #: into each cache, innermost first
    transfers: tuple[float, ...]
    #: the part of those into the second and further ones that is for what calls fetched or copied ahead
    fetched: tuple[float, ...]
    #: that threads take to start, for parallel loops
    starting: float
    #: of the nest: what is done at the same time is not counted twice
    total: float


@dataclass(frozen=True, eq=False)
class Times:
    """``NestTime`` of all nests of several candidates, those of each one after the other.

    Unless it says otherwise, an array has an entry for each nest.
    """

    #: nests of each candidate
    counts: Numbers
    #: seconds that operations take, with operands in the first cache
    arithmetic: Numbers
    #: [cache, nest]
    transfers: Numbers
    #: [cache, nest], from the second cache on
    fetched: Numbers
    #: seconds in which threads start
    starting: Numbers
    #: seconds of the nest in all
    total: Numbers

    def of(self, place: int) -> tuple[NestTime, ...]:
        """Times of the nests of the candidate at a place."""
        first = int(self.counts[:place].sum())
        return tuple(
            NestTime(
                float(self.arithmetic[nest]),
                tuple(self.transfers[:, nest].tolist()),
                tuple(self.fetched[:, nest].tolist()),
                float(self.starting[nest]),
                float(self.total[nest]),
            )
            for nest in range(first, first + int(self.counts[place]))
        )

    def summed(self, seconds: Numbers) -> Numbers:
        """Sums for each candidate, from seconds for each nest."""
        owner = np.repeat(np.arange(len(self.counts)), self.counts)
        return np.bincount(owner, weights=seconds, minlength=len(self.counts))


def predicted_times(candidates: Sequence[Candidate], machine: Machine) -> Times:
    """One prediction per nest, for the busiest thread."""
    caches = len(machine.caches)
    counts = np.array([len(each.cycles) for each in candidates], np.intp)
    iterations = np.array([own for each in candidates for own in each.parallel_iterations], np.float64)
    # A shorter last iteration counts as part of one.
    share = np.minimum(1.0, np.ceil(iterations / machine.threads) / iterations)
    arithmetic = (
        share * np.array([own for each in candidates for own in each.cycles], np.float64) * machine.cycle_seconds
    )
    moved = np.array([own for each in candidates for own in each.traffic], np.float64).reshape(-1, caches).T
    footprints = np.repeat(np.array([each.footprint for each in candidates], np.float64), counts)
    filled = footprints > np.array([[level.bytes] for level in machine.caches])
    running, place = np.unique(np.minimum(machine.threads, np.ceil(iterations)), return_inverse=True)
    rates = np.array([machine.bandwidths(int(threads))[1:] for threads in running]).reshape(-1, caches).T[:, place]
    transfers = np.where(filled, share * moved / rates, 0.0)
    # What is fetched ahead comes from the last-level cache. Calls that copy the next tile from wherever it is fetch
    # the next part of C as well, and B's rows are walked straight on.
    early = np.zeros((caches - 1, len(share)))
    first = 0
    for each in candidates:
        for use in each.microkernels:
            if use.copied:
                early[:, first + use.nest] = moved[1:, first + use.nest]
            elif use.ahead and caches > 2:
                early[0, first + use.nest] = use.ahead * each.calls[use.nest]
        first += len(each.cycles)
    fetched = transfers[1:] * np.minimum(1.0, early / np.maximum(1.0, moved[1:]))
    total = np.maximum(arithmetic, transfers[0])
    core = machine.core
    shown = [core.exposed_share] * (caches - 2) + [core.exposed_memory_share]
    for part, seconds, ahead in zip(shown, transfers[1:], fetched, strict=False):
        total += part * seconds - (part - core.exposed_ahead_share) * ahead
    slowest = transfers.max(axis=0)
    beside = arithmetic + transfers.sum(axis=0) - slowest
    total = np.maximum(total, slowest + core.exposed_beside_transfer_share * beside)
    starts = np.array([own for each in candidates for own in each.starts], np.float64)
    starting = core.thread_start_seconds * starts if machine.threads > 1 else np.zeros(len(share))
    return Times(counts, arithmetic, transfers, fetched, starting, total + starting)


def nest_times(candidate: Candidate, machine: Machine) -> tuple[NestTime, ...]:
    """``predicted_times`` of a single candidate."""
    return predicted_times((candidate,), machine).of(0)
