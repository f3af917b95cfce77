"""The strategy ``generative``, after ISAAC (Tillet and Cox, 2017, §4): draws from distributions that are fitted.

Each decision has a distribution over its values, fitted to variants that are legal and fast: at first those that the
ranker puts first, then those that were. Variants are drawn from their product, with what propagation leaves at each
step, so that all are legal; of many that are drawn, the ones that are expected to be fastest are measured.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from polydl.contracts.search import Search, SearchSpace, Trial
from polydl.ir.variant import Variant
from polydl.variants.search.expectations import Expectations
from polydl.variants.search.walk import walked

# Drawn for each that is measured.
_DRAWS = 12
# Of what is ranked, and of what was measured, this part is fitted to; at least so many.
_RANKED, _MEASURED, _FEWEST = 0.1, 0.3, 3
# A value that none of them has counts as so many times had; a measured variant as so many ranked ones.
_PRIOR, _TRUST = 0.5, 4.0


class _Generative:
    def __init__(self, space: SearchSpace, seed: int) -> None:
        self._space = space
        self._generator = random.Random(seed)
        self._expectations = Expectations(space)
        self._proposed: set[str] = set()
        self._waiting = list(space.ranked)
        self._counts: Counter[tuple[str, Hashable]] = Counter()
        self._fit()

    def _fit(self) -> None:
        self._counts.clear()
        ranked = self._space.ranked[: max(_FEWEST, int(_RANKED * len(self._space.ranked)))]
        count = max(_FEWEST, int(_MEASURED * len(self._expectations.trials)))
        for variants, weight in (
            (ranked, 1.0 / max(1, len(ranked))),
            (self._expectations.fastest(count), _TRUST / count),
        ):
            for variant in variants:
                for decision in self._expectations.values(variant).items():
                    self._counts[decision] += weight  # type: ignore[assignment]

    def _weights(self, name: str, values: Sequence[Hashable]) -> list[float]:
        return [_PRIOR / len(values) + self._counts[name, value] for value in values]

    def propose(self, count: int) -> Sequence[Variant]:
        drawn = []
        for _ in range(_DRAWS * count):
            found = walked(self._space.root, self._generator, self._weights)
            if found is not None:
                drawn.append(self._expectations.remember(found))
        self._waiting += self._space.draw(count, self._generator)
        fresh = [each for each in self._expectations.ordered(drawn) if each.id not in self._proposed][:count]
        if len(fresh) < count:
            known = {*self._proposed, *(each.id for each in fresh)}
            left = [each for each in self._expectations.ordered(self._waiting) if each.id not in known]
            fresh += left[: count - len(fresh)]
        self._proposed.update(each.id for each in fresh)
        return fresh

    def told(self, trials: Sequence[Trial]) -> None:
        self._expectations.told(trials)
        self._fit()


@dataclass(frozen=True)
class Generative:
    """The strategy ``generative``: draws from a product of distributions, one for each decision (ISAAC, §4)."""

    name: str = "generative"

    def begin(self, space: SearchSpace, *, seed: int) -> Search:
        return _Generative(space, seed)


GENERATIVE = Generative()
