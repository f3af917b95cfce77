"""What strategies share: walks from a partly decided candidate to a variant."""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass

from polydl.contracts.search import Node
from polydl.ir.variant import Variant

#: Weights of the values that are left to a decision.
Weights = Callable[[str, Sequence[Hashable]], Sequence[float]]
# Walks that may end without a variant, before it is given up.
_TRIES = 20


@dataclass(frozen=True)
class Walked:
    """A variant, and the decisions behind it."""

    variant: Variant
    #: By the name of the decision.
    values: Mapping[str, Hashable]


def evenly(_name: str, values: Sequence[Hashable]) -> Sequence[float]:
    """Equal weights for all values that are left to a decision."""
    return [1.0] * len(values)


def walked(node: Node, generator: random.Random, weights: Weights = evenly) -> Walked | None:
    """A variant that a candidate may become: decisions are taken one by one, each value with a chance of its weight.

    A value that leads to a dead end at once is left out. None if no walk of several ends at a variant.
    """
    for _ in range(_TRIES):
        found = _walk(node, generator, weights)
        if found is not None:
            return found
    return None


def _walk(node: Node, generator: random.Random, weights: Weights) -> Walked | None:
    while (name := node.next_decision) is not None:
        values = list(node.values(name))
        chances = list(weights(name, values))
        narrower = None
        while values and narrower is None:
            [place] = generator.choices(range(len(values)), chances if sum(chances) > 0 else None)
            narrower = node.take(name, values.pop(place))
            chances.pop(place)
        if narrower is None:
            return None
        node = narrower
    variant = node.variant()
    return None if variant is None else Walked(variant, node.decided)
