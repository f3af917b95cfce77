"""Which variants of a nest to measure, so that a ranker can learn from few of them."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Hashable, Sequence

from polydl.ir.variant import Interchange, Parallel, Tile, UseMicrokernel, Variant


def decisions(variant: Variant) -> tuple[Hashable, ...]:
    """What was decided for it, one by one: rewrites, each tile size, the microkernel's loops, which loops come first
    and last, the parallel loop."""
    taken: list[Hashable] = [("rewrites", variant.rewrites)]
    for step in variant.nest_steps:
        if isinstance(step, Tile):
            taken += [("tile", step.nest, step.loop, size) for size in step.sizes]
        elif isinstance(step, Interchange) and step.order:
            taken += [("outermost", step.nest, step.order[0]), ("innermost", step.nest, step.order[-1])]
        elif isinstance(step, UseMicrokernel):
            taken.append(("microkernel", step))
        elif isinstance(step, Parallel):
            taken.append(("parallel", step.nest, step.loop, step.inner, step.dynamic))
    return tuple(taken)


def balanced(variants: Sequence[Variant], count: int, seed: int, *, first: Sequence[Variant] = ()) -> list[Variant]:
    """``first``, and then so many more that each decision is taken about as often as its alternatives.

    The next one is always that whose decisions were taken the least often so far, on average; the seed decides
    between equals. ``count`` includes ``first``.
    """
    chosen = list(dict.fromkeys(first))[:count]
    known = {variant.id for variant in chosen}
    left = [variant for variant in variants if variant.id not in known]
    random.Random(seed).shuffle(left)
    decisions_of = {variant.id: decisions(variant) for variant in (*chosen, *left)}
    taken = Counter(decision for variant in chosen for decision in decisions_of[variant.id])

    def frequency(variant: Variant) -> float:
        return sum(taken[decision] for decision in decisions_of[variant.id]) / len(decisions_of[variant.id])

    while left and len(chosen) < count:
        index = min(range(len(left)), key=lambda number: frequency(left[number]))
        variant = left.pop(index)
        chosen.append(variant)
        taken.update(decisions_of[variant.id])
    return chosen


def spread_evenly(names: Sequence[str], count: int) -> tuple[str, ...]:
    """So many of them, from the first to the last at even distances; all if there are fewer."""
    if count >= len(names):
        return tuple(names)
    if count == 1:
        return (names[len(names) // 2],)
    return tuple(names[round(index * (len(names) - 1) / (count - 1))] for index in range(count))


def leading(total: int, count: int) -> tuple[int, ...]:
    """So many places of an order: the first ones, and as many that lie ever further apart, up to the middle.

    Those at the very top differ little, and a ranker must also know what it needn't try.
    """
    near = min(-(-count // 2), total)
    last = max(total // 2, near)
    far: list[int] = []
    for number in range(1, count - near + 1):
        position = round(near * (last / near) ** (number / (count - near)))
        far.append(max(position, far[-1] + 1 if far else near))
    return (*range(near), *(position for position in far if position < total))
