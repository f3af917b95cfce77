"""The strategy ``ranked``: the ranking's order, corrected by what was measured of each kind of variant.

Where a prediction is wrong, those of its kind are wrong alike (``polydl.plan.kinds``): the mean of
log(measured / predicted) of a kind, drawn to that of all variants while few of it were measured, moves all of the kind
up or down. A variant also waits the longer, the more of its kind were measured. With each batch, further variants are
drawn and ranked.
"""

from __future__ import annotations

import math
import random
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from polydl.contracts.search import Search, SearchSpace, Trial
from polydl.ir.variant import Variant
from polydl.plan.kinds import kind

# Variants that are drawn for each batch.
DRAWN = 200
# Measured variants of a kind with which half of its mean deviation is believed.
_DOUBT = 1.0


class _Ranked:
    def __init__(self, space: SearchSpace, seed: int) -> None:
        self._space = space
        self._generator = random.Random(seed)
        self._waiting = {variant.id: variant for variant in space.ranked}
        self._deviations: dict[Hashable, list[float]] = {}
        self._measured: dict[Hashable, int] = {}

    def propose(self, count: int) -> Sequence[Variant]:
        self._waiting.update((variant.id, variant) for variant in self._space.draw(DRAWN, self._generator))
        variants = list(self._waiting.values())
        kinds = {variant.id: kind(variant) for variant in variants}
        corrected = {
            variant.id: seconds * math.exp(self._correction(kinds[variant.id]))
            for variant, seconds in zip(variants, self._space.predicted(variants), strict=True)
            if seconds < math.inf
        }
        groups: dict[Hashable, list[tuple[int, str]]] = {}
        for place, identity in enumerate(sorted(corrected, key=corrected.__getitem__), 1):
            groups.setdefault(kinds[identity], []).append((place, identity))
        picked = dict(self._measured)
        chosen: list[Variant] = []
        for group in groups.values():
            group.reverse()
        while len(chosen) < count and groups:
            nearest = min(groups, key=lambda kind_of: groups[kind_of][-1][0] * (1 + picked.get(kind_of, 0)))
            chosen.append(self._waiting.pop(groups[nearest].pop()[1]))
            picked[nearest] = picked.get(nearest, 0) + 1
            if not groups[nearest]:
                del groups[nearest]
        return chosen

    def _correction(self, of_kind: Hashable) -> float:
        """The logarithm of what predictions of a kind are multiplied by, beside what all are."""
        everything = [each for deviations in self._deviations.values() for each in deviations]
        own = self._deviations.get(of_kind)
        if not own:
            return 0.0
        mean = sum(everything) / len(everything)
        return (sum(own) / len(own) - mean) * len(own) / (len(own) + _DOUBT)

    def told(self, trials: Sequence[Trial]) -> None:
        for trial, seconds in zip(trials, self._space.predicted([each.variant for each in trials]), strict=True):
            self._waiting.pop(trial.variant.id, None)
            of_kind = kind(trial.variant)
            self._measured[of_kind] = self._measured.get(of_kind, 0) + 1
            if trial.seconds is not None and 0 < seconds < math.inf:
                self._deviations.setdefault(of_kind, []).append(math.log(trial.seconds / seconds))


@dataclass(frozen=True)
class Ranked:
    """The strategy ``ranked``, which is the default: the ranking's order, corrected as times come in."""

    name: str = "ranked"

    def begin(self, space: SearchSpace, *, seed: int) -> Search:
        return _Ranked(space, seed)


RANKED = Ranked()
