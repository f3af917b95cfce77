"""The strategy ``evolutionary``: children of the fastest, which take each decision after one of two parents.

Where what propagation has left allows neither parent's value, or now and then, any value is taken. The half that is
expected to be fastest of many children is measured, with a few variants that have no parents.
"""

from __future__ import annotations

import random
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from polydl.contracts.search import Search, SearchSpace, Trial
from polydl.ir.variant import Variant
from polydl.variants.search.expectations import Expectations
from polydl.variants.search.walk import Weights, walked

# The fastest so far that children take after: with fewer, these are soon all alike.
_PARENTS = 8
# Children for each that is measured.
_CHILDREN = 8
# The chance of a value that no parent has, all of them together.
_MUTATION = 0.08
# The part of a batch that has no parents.
_STRANGERS = 0.2


class _Evolutionary:
    def __init__(self, space: SearchSpace, seed: int) -> None:
        self._space = space
        self._generator = random.Random(seed)
        self._expectations = Expectations(space)
        self._proposed: set[str] = set()
        self._waiting = list(space.ranked)

    def propose(self, count: int) -> Sequence[Variant]:
        parents = [self._expectations.values(each) for each in self._expectations.fastest(_PARENTS)]
        parents = [each for each in parents if each]
        children: list[Variant] = []
        for _ in range(_CHILDREN * count if parents else 0):
            both = self._generator.choices(parents, [1.0 / (1 + place) for place in range(len(parents))], k=2)
            found = walked(self._space.root, self._generator, inherited(*both))
            if found is not None:
                children.append(self._expectations.remember(found))
        strangers = max(1, int(_STRANGERS * count))
        chosen = self._fresh(children)[: max(0, count - strangers)]
        self._waiting += self._space.draw(_CHILDREN * strangers, self._generator)
        known = {each.id for each in chosen}
        chosen += [each for each in self._fresh(self._waiting) if each.id not in known][: count - len(chosen)]
        self._proposed.update(each.id for each in chosen)
        return chosen

    def _fresh(self, variants: Sequence[Variant]) -> list[Variant]:
        return [each for each in self._expectations.ordered(variants) if each.id not in self._proposed]

    def told(self, trials: Sequence[Trial]) -> None:
        self._expectations.told(trials)


def inherited(one: Mapping[str, Hashable], other: Mapping[str, Hashable]) -> Weights:
    """Weights by which values are drawn: about one half for those of each parent, and little for any other."""

    def weights(name: str, values: Sequence[Hashable]) -> list[float]:
        parents = [each[name] for each in (one, other) if name in each]
        return [_MUTATION / len(values) + parents.count(value) / 2 for value in values]

    return weights


@dataclass(frozen=True)
class Evolutionary:
    """The strategy ``evolutionary``: uniform crossover of the fastest variants, with mutation."""

    name: str = "evolutionary"

    def begin(self, space: SearchSpace, *, seed: int) -> Search:
        return _Evolutionary(space, seed)


EVOLUTIONARY = Evolutionary()
