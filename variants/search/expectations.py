"""What strategies expect of variants: the ranker's prediction, corrected by how far it was off where much is alike."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from functools import cache
from itertools import chain

import numpy as np

from polydl.contracts.search import SearchSpace, Trial
from polydl.ir.variant import Variant
from polydl.variants.search.walk import Walked

# Of the variance of log(measured / predicted), what decisions don't explain, relative to what they do.
_NOISE = 0.3
# Of the last trials, so many are learned from.
_MOST = 400


class Expectations:
    """Remembers variants with their decisions, and what was measured.

    log(measured / predicted) is smoothed over variants that are decided alike (kernel ridge regression): how alike two
    are is the share of their decisions that agree, where the n-th decision weighs 1/n, as those that shape the code the
    most come first. As that is a sum over decisions, so is what is expected of a variant.
    """

    def __init__(self, space: SearchSpace) -> None:
        self._space = space
        self._values: dict[str, Mapping[str, Hashable]] = {}
        self.trials: list[Trial] = []
        self.seen: set[str] = set()
        self._mean = 0.0
        # What each decision adds to the correction of a variant that takes it.
        self._shares: dict[tuple[str, Hashable], float] = {}

    def remember(self, walked: Walked) -> Variant:
        """Keeps the decisions behind a variant that was walked to, and returns the variant."""
        self._values.setdefault(walked.variant.id, walked.values)
        return walked.variant

    def values(self, variant: Variant) -> Mapping[str, Hashable]:
        """The decisions of a variant, those that shape the code the most first; none if they are not known."""
        if variant.id not in self._values:
            self._values[variant.id] = self._space.decisions(variant)
        return self._values[variant.id]

    @property
    def best(self) -> float:
        """The shortest time so far, infinite without one."""
        return min((trial.seconds for trial in self.trials if trial.seconds is not None), default=math.inf)

    def fastest(self, count: int) -> list[Variant]:
        """The fastest variants that were measured, at most so many."""
        passed = [
            (trial.seconds, trial.variant.id, trial.variant) for trial in self.trials if trial.seconds is not None
        ]
        return [variant for _, _, variant in sorted(passed, key=lambda entry: entry[:2])[:count]]

    def told(self, trials: Sequence[Trial]) -> None:
        """Fits the correction anew, with these trials and the latest ones before; those that failed say nothing."""
        self.trials += trials
        self.seen.update(trial.variant.id for trial in trials)
        passed = [trial for trial in self.trials if trial.seconds is not None][-_MOST:]
        predicted = self._space.predicted([trial.variant for trial in passed])
        usable = [
            (trial.variant, math.log(trial.seconds / seconds))
            for trial, seconds in zip(passed, predicted, strict=True)
            if trial.seconds is not None and 0 < seconds < math.inf
        ]
        self._shares = {}
        if not usable:
            return
        off = np.array([deviation for _, deviation in usable])
        self._mean = float(off.mean())
        learned = [tuple(self.values(variant).items()) for variant, _ in usable]
        places = {decision: place for place, decision in enumerate(dict.fromkeys(chain.from_iterable(learned)))}
        taken, weighed = np.zeros((2, len(learned), len(places)))
        for row, decisions in enumerate(learned):
            columns = [places[decision] for decision in decisions]
            taken[row, columns] = 1.0
            weighed[row, columns] = _weights(len(decisions))
        weights = np.linalg.solve(weighed @ taken.T + _NOISE * np.eye(len(learned)), off - self._mean)
        self._shares = dict(zip(places, (weights @ taken).tolist(), strict=True))

    def of(self, variants: Sequence[Variant]) -> list[float]:
        """Seconds, or what the ranker compares by."""
        predicted = self._space.predicted(variants)
        if not self._shares:
            return list(predicted)
        return [
            seconds * math.exp(self._mean + self._correction(variant)) if seconds < math.inf else math.inf
            for variant, seconds in zip(variants, predicted, strict=True)
        ]

    def _correction(self, variant: Variant) -> float:
        decisions = self.values(variant)
        shares = (self._shares.get(decision, 0.0) for decision in decisions.items())
        return sum(weight * share for weight, share in zip(_weights(len(decisions)), shares, strict=True))

    def ordered(self, variants: Sequence[Variant]) -> list[Variant]:
        """Those that were not measured, the most promising first, each once."""
        fresh = list({variant.id: variant for variant in variants if variant.id not in self.seen}.values())
        expected = self.of(fresh)
        places = sorted(range(len(fresh)), key=lambda place: (expected[place], fresh[place].id))
        return [fresh[place] for place in places if expected[place] < math.inf]


@cache
def _weights(count: int) -> tuple[float, ...]:
    """Of so many decisions, the n-th by 1/n; 1 together."""
    total = sum(1.0 / place for place in range(1, count + 1))
    return tuple(1.0 / (place * total) for place in range(1, count + 1))
