"""The smallest set of kernels that is fast enough at every measured shape."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import combinations
from math import comb, inf, log

import numpy as np

from polydl.libraries.decision import Times

# Sets that are tried one by one, at most; beyond that kernels are added one after the other.
_MOST_SETS = 20_000


def slowdowns(times: Sequence[Times], kernels: Collection[str]) -> list[float]:
    """How many times as long as the fastest of all kernels the fastest of some takes at each shape."""
    return [min((at[kernel] for kernel in kernels if kernel in at), default=inf) / min(at.values()) for at in times]


def smallest_cover(
    times: Sequence[Times], kernels: Sequence[str], most: int, slowdown: float, free: Collection[str] = ()
) -> tuple[str, ...]:
    """The fewest kernels, at most ``most``, of which one is within ``slowdown`` of the fastest at every shape.

    ``times[n]`` are seconds at shape n, by kernel; those that are ``free`` are there in any case. Among sets of one
    size, the fastest in the geometric mean is taken. If ``most`` kernels are not enough, they are those that come
    closest: with the least that shapes exceed ``slowdown`` by, summed up in logarithms.
    """

    at_best = [min(at.values()) for at in times]
    factors = {
        kernel: np.array(
            [log(at[kernel] / best) if kernel in at else inf for at, best in zip(times, at_best, strict=True)]
        )
        for kernel in (*kernels, *free)
    }
    nothing = np.full(len(times), inf)

    def cost(chosen: Sequence[str]) -> tuple[float, float]:
        least = np.minimum.reduce([nothing, *(factors[kernel] for kernel in (*chosen, *free))])
        if np.isinf(least).any():
            return (inf, inf)
        return float(np.maximum(least - log(slowdown), 0.0).sum()), float(least.sum())

    count = 0
    while count <= min(most, len(kernels)) and comb(len(kernels), count) <= _MOST_SETS:
        best = min(combinations(kernels, count), key=cost)
        if cost(best)[0] == 0:
            return best
        count += 1
    chosen: list[str] = []
    while len(chosen) < min(most, len(kernels)) and cost(chosen)[0] > 0:
        left = [kernel for kernel in kernels if kernel not in chosen]
        chosen.append(min(left, key=lambda kernel: cost([*chosen, kernel])))
    return tuple(chosen)
