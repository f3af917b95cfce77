"""What rankers share: a stable order without measurements, and words for where data is reused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from polydl.contracts import Candidate
from polydl.ir.ranking import RankedVariant, Ranking
from polydl.ir.working_sets import WorkingSets
from polydl.machine import Machine


def ordered(
    ranker: str,
    candidates: Sequence[Candidate],
    machine: Machine,
    scores: Sequence[float],
    reason: Callable[[int], str],
    second: Sequence[float] = (),
) -> Ranking:
    """Candidates by score, lower first. There is one score per candidate, and a reason for that at each place.

    ``second`` are scores by another predictor, for ``Ranking.second``.

    Equal scores are ordered by the time that threads wait for the busiest one, then by the bytes that no cache
    holds, then by how few steps a variant has, then by its id.
    """
    idle = [idle_share(each, machine) for each in candidates] if machine.threads > 1 else [0.0] * len(candidates)
    ties = [
        (waiting, each.working_sets.memory, len(each.variant.steps), each.variant.id)
        for waiting, each in zip(idle, candidates, strict=True)
    ]

    def by(numbers: Sequence[float]) -> list[int]:
        return sorted(range(len(numbers)), key=lambda place: (numbers[place], *ties[place]))

    return Ranking(
        ranker,
        tuple(
            RankedVariant(candidates[place].variant, candidates[place].working_sets, scores[place], reason(place))
            for place in by(scores)
        ),
        tuple(candidates[place].variant.id for place in by(second)),
    )


def busiest_share(iterations: float, threads: int) -> float:
    """The part of a parallel loop's iterations that the busiest thread runs; the last of them may be shorter."""
    return min(1.0, -(-iterations // threads) / iterations)


def idle_share(candidate: Candidate, machine: Machine) -> float:
    """The part of all threads' time spent waiting for the busiest one, weighted by the nests' work."""
    work = sum(candidate.cycles)
    if not work:
        return 0.0
    nests = zip(candidate.cycles, candidate.parallel_iterations, strict=True)
    longest = sum([cycles * busiest_share(iterations, machine.threads) for cycles, iterations in nests])
    return 1.0 - work / (machine.threads * longest)


def where_reused(working_sets: WorkingSets, machine: Machine) -> str:
    """What each level of cache holds, in words: ``3.1 MB reused from L2, nothing beyond L2``."""
    held = [(size, level.name) for size, level in zip(working_sets.levels, machine.caches, strict=True)]
    if working_sets.memory:
        held.append((working_sets.memory, "memory"))
    used = [(size, name) for size, name in held if size]
    if not used:
        return "nothing is reused"
    words = ", ".join(f"{in_units(size)} reused from {name}" for size, name in used)
    outermost = used[-1][1]
    return words if outermost == "memory" else f"{words}, nothing beyond {outermost}"


@lru_cache(maxsize=65536)
def in_units(size: int) -> str:
    """A number of bytes to two or three digits: ``870 B``, ``3.1 KB``, ``40 MB``."""
    amount, unit = float(size), "B"
    for larger in ("KB", "MB", "GB", "TB", "PB"):
        if amount < 1000:
            break
        amount, unit = amount / 1024, larger
    return f"{amount:.0f} {unit}" if unit == "B" or amount >= 10 else f"{amount:.1f} {unit}"
