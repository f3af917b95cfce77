"""The strategy ``random``: any variant that was not measured, whatever was. Other strategies are to beat it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from polydl.contracts.search import Search, SearchSpace, Trial
from polydl.ir.variant import Variant


class _Shuffled:
    def __init__(self, space: SearchSpace, seed: int) -> None:
        self._space = space
        self._generator = random.Random(seed)
        self._waiting = {variant.id: variant for variant in space.ranked}

    def propose(self, count: int) -> Sequence[Variant]:
        self._waiting.update((variant.id, variant) for variant in self._space.draw(count, self._generator))
        chosen = self._generator.sample(list(self._waiting), min(count, len(self._waiting)))
        return [self._waiting.pop(identity) for identity in chosen]

    def told(self, trials: Sequence[Trial]) -> None:
        for trial in trials:
            self._waiting.pop(trial.variant.id, None)


@dataclass(frozen=True)
class Shuffled:
    """The strategy ``random``: uniform draws without replacement, whatever the ranker or the clock says."""

    name: str = "random"

    def begin(self, space: SearchSpace, *, seed: int) -> Search:
        return _Shuffled(space, seed)


RANDOM = Shuffled()
