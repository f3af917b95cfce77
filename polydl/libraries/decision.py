"""The choice of a kernel by the sizes of a call: a small decision tree, fitted to measured times."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from polydl.libraries.shapes import Shape

# Conditions on one path from the root, at most: what a person reads at a glance.
_MOST_CONDITIONS = 5
# A condition is worth its line if it saves this share of the time, summed up in logarithms over all shapes.
_LEAST_GAIN = 0.02

# Seconds of each kernel at one shape.
Times = Mapping[str, float]


@dataclass(frozen=True)
class Leaf:
    """The kernel to take, by its id."""

    kernel: str


@dataclass(frozen=True)
class Condition:
    """Whether the product of some sizes is at most a bound."""

    sizes: tuple[str, ...]
    bound: int
    holds: Decision
    fails: Decision

    def test(self, shape: Shape) -> bool:
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
    Bounds lie in the middle between measured shapes, on a logarithmic scale.
    """
    costs = [_costs(at, kernels) for at in times]
    return _grown(shapes, costs, kernels, _MOST_CONDITIONS)


def _costs(times: Times, kernels: Sequence[str]) -> dict[str, float]:
    """The logarithm of how many times as long as the fastest each kernel takes."""
    best = min(times[kernel] for kernel in kernels if kernel in times)
    return {kernel: math.log(times[kernel] / best) if kernel in times else math.inf for kernel in kernels}


def _best(costs: Sequence[Mapping[str, float]], kernels: Sequence[str]) -> tuple[float, str]:
    return min((sum(at[kernel] for at in costs), kernel) for kernel in kernels)


def _grown(
    shapes: Sequence[Shape], costs: Sequence[Mapping[str, float]], kernels: Sequence[str], conditions: int
) -> Decision:
    total, kernel = _best(costs, kernels)
    if conditions == 0 or total <= _LEAST_GAIN:
        return Leaf(kernel)
    names = list(shapes[0])
    best: tuple[float, tuple[str, ...], int] | None = None
    for sizes in (chosen for count in range(1, len(names) + 1) for chosen in combinations(names, count)):
        values = [math.prod(shape[name] for name in sizes) for shape in shapes]
        for low, high in zip(sorted(set(values)), sorted(set(values))[1:], strict=False):
            bound = min(max(low, _round(math.sqrt(low * high))), high - 1)
            sides = ([], [])  # type: tuple[list[Mapping[str, float]], list[Mapping[str, float]]]
            for value, at in zip(values, costs, strict=True):
                sides[value > bound].append(at)
            cost = sum(_best(side, kernels)[0] for side in sides)
            if best is None or cost < best[0] - 1e-12:
                best = cost, sizes, bound
    if best is None or (total != math.inf and total - best[0] < max(_LEAST_GAIN, 0.05 * total)):
        return Leaf(kernel)
    _, sizes, bound = best
    below = [math.prod(shape[name] for name in sizes) <= bound for shape in shapes]
    holds, fails = (
        _grown(
            [shape for shape, side in zip(shapes, below, strict=True) if side is wanted],
            [at for at, side in zip(costs, below, strict=True) if side is wanted],
            kernels,
            conditions - 1,
        )
        for wanted in (True, False)
    )
    if holds == fails:
        return holds
    return Condition(sizes, bound, holds, fails)


def _round(value: float) -> int:
    """A number with two digits, as people like to read it."""
    digits = max(0, math.floor(math.log10(value)) - 1) if value >= 1 else 0
    step = int(10**digits)
    return round(value / step) * step
