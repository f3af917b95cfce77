"""The choice of a kernel by the sizes of a call: a small decision tree, fitted to measured times."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from polydl.libraries.shapes import Shape

Array = npt.NDArray[Any]

# Conditions on one path from the root, at most: what a person reads at a glance.
_MOST_CONDITIONS = 5
# Up to so many sizes, all of their products are compared with bounds; of more, products of two.
_FEW_SIZES = 4
# A condition is worth its line if it saves so much of the time, and this share of what could be saved, summed up in
# logarithms over all shapes.
_LEAST_GAIN, _LEAST_SHARE = 0.02, 0.05
# A condition has at least so many shapes on either side, or half of all that were measured where these are few: one by
# itself says little of those around it. And at each of them a kernel counts as at most so many times as slow as the
# fastest.
_LEAST_SHAPES, MOST_SLOWDOWN = 3, 2.0
# What times of one kernel at one shape differ by from one run to the next. Kernels that are less apart are told from
# each other by a tenth of the difference: enough to choose one of them for many shapes, too little for a condition.
_REPEATED, _WITHIN = math.log(1.03), 0.1
# The cost of a kernel that failed at a shape: more than all others together.
_FAILED = 1e6

# Seconds of each kernel at one shape.
Times = Mapping[str, float]


@dataclass(frozen=True)
class Leaf:
    """The kernel to take, by its id."""

    kernel: str


@dataclass(frozen=True)
class Condition:
    """Whether the product of some sizes is at most a bound."""

    #: names of the sizes, each once
    sizes: tuple[str, ...]
    #: the largest product for which it holds
    bound: int
    #: what is taken where it holds
    holds: Decision
    #: what is taken elsewhere
    fails: Decision

    def test(self, shape: Shape) -> bool:
        """Whether it holds for these sizes, by their names."""
        return math.prod(shape[name] for name in self.sizes) <= self.bound


Decision = Leaf | Condition


def choose(decision: Decision, shape: Shape) -> str:
    """The id of the kernel for a shape."""
    while isinstance(decision, Condition):
        decision = decision.holds if decision.test(shape) else decision.fails
    return decision.kernel


def kernels_of(decision: Decision) -> Iterator[str]:
    """The ids of all kernels that a decision may take, each once, in the order in which they stand."""
    seen: dict[str, None] = {}
    left = [decision]
    while left:
        node = left.pop()
        if isinstance(node, Leaf):
            seen[node.kernel] = None
        else:
            left += [node.fails, node.holds]
    return iter(seen)


def fitted(shapes: Sequence[Shape], times: Sequence[Times], kernels: Sequence[str]) -> Decision:
    """The tree over these kernels that loses least time, in the geometric mean over the shapes.

    ``times[n]`` are those at ``shapes[n]``; a kernel without a time there was wrong or failed, and is not taken for it.
    Bounds lie in the middle between measured shapes, on a logarithmic scale. A condition is chosen with the best one
    behind it on each side in view: what it takes for a kernel to be fast is often a bound of two sizes.
    """
    names = list(shapes[0])
    # Of many sizes there are too many products to look one condition ahead with.
    most = len(names) if len(names) <= _FEW_SIZES else 2
    products = [chosen for count in range(1, most + 1) for chosen in combinations(names, count)]
    values = np.array([[math.prod(shape[name] for name in sizes) for shape in shapes] for sizes in products])
    # Of equals the first by name is taken, so that the same times give the same tree.
    ordered = sorted(kernels)
    costs = np.array([logarithmic_costs(at, ordered) for at in times])
    costs = np.where(costs < _REPEATED, costs * _WITHIN, costs - _REPEATED * (1 - _WITHIN))
    least = min(_LEAST_SHAPES, len(shapes) // 2)
    measured = _Measured(tuple(products), values, costs, tuple(ordered), least)
    return _grown(measured, np.arange(len(shapes)), _MOST_CONDITIONS)


@dataclass(frozen=True, eq=False)
class _Measured:
    """What was measured at each shape, as tables."""

    #: names of sizes
    products: tuple[tuple[str, ...], ...]
    #: what each product of sizes is at each shape
    values: Array
    #: the logarithm of how many times as long as the fastest each kernel takes, beyond what repeated measurements
    #: differ by; a row for each shape
    costs: Array
    #: their ids, one for each column of ``costs``
    kernels: tuple[str, ...]
    #: how many shapes a condition has on either side at least
    least: int


def logarithmic_costs(times: Times, kernels: Sequence[str]) -> list[float]:
    """The logarithm of how many times as slow as the fastest each kernel is at a shape, in their order, up to a limit.

    Beyond it lie kernels without a time.
    """
    best = min(times[kernel] for kernel in kernels if kernel in times)
    return [math.log(min(times[kernel] / best, MOST_SLOWDOWN)) if kernel in times else _FAILED for kernel in kernels]


def _grown(measured: _Measured, rows: Array, conditions: int) -> Decision:
    """The tree for some of the shapes, which are ``rows`` in ascending order."""
    sums = measured.costs[rows].sum(axis=0)
    total, leaf = float(sums.min()), Leaf(measured.kernels[int(sums.argmin())])
    if conditions == 0 or total <= _LEAST_GAIN:
        return leaf
    best: tuple[float, int, int] | None = None
    for number, values in enumerate(measured.values):
        for low in np.unique(values[rows])[:-1].tolist():
            below = values[rows] <= low
            sides = (rows[below], rows[~below])
            if min(map(len, sides)) < measured.least:
                continue
            cost = sum(_least(measured, side, further=conditions > 1) for side in sides)
            if best is None or cost < best[0] - 1e-12:
                best = cost, number, low
    if best is None or total - best[0] < _worth(total):
        return leaf
    _, number, low = best
    values = measured.values[number]
    below = values[rows] <= low
    high = int(values[rows][~below].min())
    bound = min(max(low, _round(math.sqrt(low * high))), high - 1)
    holds, fails = (_grown(measured, side, conditions - 1) for side in (rows[below], rows[~below]))
    return holds if holds == fails else Condition(measured.products[number], bound, holds, fails)


def _least(measured: _Measured, rows: Array, *, further: bool) -> float:
    """The cost of some shapes with one kernel for all, or with the best condition between two if it is worth it."""
    costs = measured.costs[rows]
    least = float(costs.sum(axis=0).min())
    if not further or len(rows) == 1 or least <= _LEAST_GAIN:
        return least
    line = _worth(least)
    for values in measured.values[:, rows]:
        order = np.argsort(values, kind="stable")
        ahead = np.cumsum(costs[order], axis=0)
        behind = ahead[-1] - ahead
        both = ahead.min(axis=1) + behind.min(axis=1)
        apart = values[order][1:] > values[order][:-1]
        least = min(least, float(both[:-1].min(initial=math.inf, where=apart)) + line)
    return least


def _worth(cost: float) -> float:
    """What a condition has to gain of a cost."""
    return max(_LEAST_GAIN, _LEAST_SHARE * cost) if cost < _FAILED else _LEAST_GAIN


def _round(value: float) -> int:
    """A number with two digits, as people like to read it."""
    digits = max(0, math.floor(math.log10(value)) - 1) if value >= 1 else 0
    step = int(10**digits)
    return round(value / step) * step
