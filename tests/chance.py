"""What rankers reach that order variants by lot, so that a test of a ranker asks for what chance does not reach."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from polydl.contracts.ranking import MeasuredNest
from polydl.learning.metrics import Values

RANKERS = 1000


def tops_by_lot(nests: Sequence[MeasuredNest]) -> Values:
    """The geometric mean, over nests, of the performance of the first variant, for each of 1,000 rankers."""
    generator = np.random.default_rng(0)
    logarithms = np.zeros(RANKERS)
    for nest in nests:
        seconds = np.array(nest.seconds)
        logarithms += np.log(seconds.min() / seconds[generator.integers(0, len(seconds), RANKERS)])
    tops: Values = np.exp(logarithms / len(nests))
    return tops


def pairs_by_lot(nests: Sequence[MeasuredNest]) -> Values:
    """The mean, over nests, of the part of all pairs in the right order, for each of 1,000 rankers."""
    generator = np.random.default_rng(0)
    parts = np.zeros(RANKERS)
    for nest in nests:
        seconds = np.array(nest.seconds)
        orders = generator.permuted(np.tile(seconds, (RANKERS, 1)), axis=1)
        first, second = np.triu_indices(len(seconds), 1)
        right = (orders[:, first] < orders[:, second]).sum(axis=1)
        wrong = (orders[:, first] > orders[:, second]).sum(axis=1)
        parts += right / (right + wrong)
    return parts / len(nests)
