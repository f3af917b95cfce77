"""The default ranker: predicted time from arithmetic and from what moves between the caches.

The paper's equation 1 weighs what each cache holds but not how often it is filled, nor how well the
microkernel runs, nor how evenly the threads are loaded. Here the arithmetic of the busiest thread hides what
moves into the first cache, at the bandwidth of the level that it comes from, until that takes longer itself: the
innermost loops walk through it in an order that prefetchers and out-of-order execution keep up with. What moves
between the caches beyond hides only partly, and what comes from memory not at all.

A nest is run again and again, when it is timed as in most programs, and each run finds what the one before has left:
a cache that holds all of its arrays is never filled again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from polydl.contracts import Candidate
from polydl.machine import Machine
from polydl.ranking.equation_1 import cost
from polydl.ranking.ordering import busiest_share, ordered, where_reused
from polydl.types import Ranking

# How much of the time for what moves between the caches beyond the first still shows: of what comes when it is asked
# for, and of what a microkernel's calls fetched ahead.
EXPOSED = 0.5
EXPOSED_AHEAD = 0.1


@dataclass(frozen=True)
class NestTime:
    """Predicted seconds of one nest: ``arithmetic``, and ``transfers`` into each cache, innermost first.

    So many seconds of those into the second and further ones are for what calls ``fetched`` or copied ahead.
    """

    arithmetic: float
    transfers: tuple[float, ...]
    fetched: tuple[float, ...] = ()

    @property
    def total(self) -> float:
        near, *far = self.transfers
        seconds = max(self.arithmetic, near) + EXPOSED * sum(far[:-1]) + sum(far[-1:])
        if any(self.fetched):
            shown = [EXPOSED] * (len(far) - 1) + [1.0]
            seconds -= sum([(show - EXPOSED_AHEAD) * each for show, each in zip(shown, self.fetched, strict=False)])
        return seconds


def nest_times(candidate: Candidate, machine: Machine) -> tuple[NestTime, ...]:
    """One prediction per nest, for the busiest thread.

    A core's peak is two multiply-adds per lane of a vector of floats and cycle.
    """
    cycle = machine.vector_bytes / (machine.peak_gflops * 1e9)
    sources = machine.bandwidths()[1:]
    found = []
    ahead = {use.nest: use.ahead * candidate.calls[use.nest] for use in candidate.microkernels}
    copying = {use.nest for use in candidate.microkernels if use.copied}
    nests = zip(candidate.cycles, candidate.parallel_iterations, candidate.traffic, strict=True)
    for index, (cycles, iterations, traffic) in enumerate(nests):
        share = busiest_share(iterations, machine.threads)
        transfers = tuple(
            [
                share * size / rate if candidate.footprint > level.bytes else 0.0
                for size, rate, level in zip(traffic, sources, machine.caches, strict=True)
            ]
        )
        # What is fetched ahead comes from the last-level cache. Calls that copy the next tile from wherever it is fetch
        # the next part of C as well, and B's rows are walked straight on.
        early = [ahead.get(index, 0)] + [0] * (len(traffic) - 3) if len(traffic) > 2 else []
        if index in copying:
            early = list(traffic[1:])
        fetched = tuple(
            seconds * min(1.0, size / max(1, whole))
            for seconds, size, whole in zip(transfers[1:], early, traffic[1:], strict=False)
        )
        found.append(NestTime(share * cycles * cycle, transfers, fetched))
    return tuple(found)


def reason(candidate: Candidate, machine: Machine, times: Sequence[NestTime] | None = None) -> str:
    """What the predicted time is made of, and where data is reused. ``times`` are its ``nest_times`` if known."""
    times = nest_times(candidate, machine) if times is None else times
    parts = [("arithmetic", sum([time.arithmetic for time in times]))]
    parts += [
        (f"filling {level.name}", sum([time.transfers[place] for time in times]))
        for place, level in enumerate(machine.caches)
    ]
    words = ", ".join([f"{name} {seconds * 1e3:.3g} ms" for name, seconds in parts])
    return f"{words}; {where_reused(candidate.working_sets, machine)}"


@dataclass(frozen=True)
class CostModel:
    """The ``cost-model`` ranker; scores are predicted seconds."""

    name: str = "cost-model"

    def rank(self, candidates: Sequence[Candidate], machine: Machine) -> Ranking:
        largest = max((cost(c.working_sets, machine) for c in candidates), default=0.0) or 1.0

        def score(candidate: Candidate) -> float:
            # Where the prediction is the same, the paper's cost function decides.
            seconds = sum(time.total for time in nest_times(candidate, machine))
            return seconds * (1.0 + 1e-6 * cost(candidate.working_sets, machine) / largest)

        return ordered(
            self.name,
            candidates,
            machine,
            scores=[score(c) for c in candidates],
            reason=lambda candidate: reason(candidate, machine),
        )


COST_MODEL = CostModel()
