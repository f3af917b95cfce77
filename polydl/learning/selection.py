"""Selection of the variants of a nest that are measured as training data, few as they are."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import TypeVar

from polydl.ir.variant import Variant

_Item = TypeVar("_Item")


def decisions(variant: Variant) -> tuple[Hashable, ...]:
    """The decisions that make up a variant: its rewrites, each tile size, the microkernel and its loops, the outermost
    and the innermost loop, the parallel loop."""
    rewrites: Hashable = ("rewrites", variant.scop_steps)
    return (rewrites, *(decision for step in variant.nest_steps for decision in step.decisions))


def balanced(variants: Sequence[Variant], count: int, seed: int, *, first: Sequence[Variant] = ()) -> list[Variant]:
    """``count`` variants, beginning with ``first``, in which each decision occurs about as often as its alternatives.

    The next variant is always the one whose decisions have occurred least often so far, on average; ``seed`` decides
    between equals.
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


def spread_evenly(items: Sequence[_Item], count: int) -> tuple[_Item, ...]:
    """``count`` of the items at even distances, from the first to the last; all items if there are fewer."""
    if count >= len(items):
        return tuple(items)
    if count == 1:
        return (items[len(items) // 2],)
    return tuple(items[round(index * (len(items) - 1) / (count - 1))] for index in range(count))


def leading(total: int, count: int) -> tuple[int, ...]:
    """``count`` positions of an order of ``total``: half are the first ones, half get sparser up to the middle.

    The first variants of an order differ little, and training data must contain slower variants too.
    """
    near = min(-(-count // 2), total)
    last = max(total // 2, near)
    far: list[int] = []
    for number in range(1, count - near + 1):
        position = round(near * (last / near) ** (number / (count - near)))
        far.append(max(position, far[-1] + 1 if far else near))
    return (*range(near), *(position for position in far if position < total))
