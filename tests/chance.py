"""What is reached by lot, so that a test of a ranker or of a search asks for what chance does not reach."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from polydl.contracts.ranking import MeasuredNest
from polydl.learning.metrics import Values
from polydl.learning.recorded_space import RecordedSpace

RANKERS = 1000
SEARCHES = 1000


def picks_by_lot(times: Sequence[Sequence[float]]) -> Values:
    """The geometric mean of the performance of one pick of each, relative to the best, for each of 1,000 rankers."""
    generator = np.random.default_rng(0)
    logarithms = np.zeros(RANKERS)
    for each in times:
        seconds = np.array(each)
        logarithms += np.log(seconds.min() / seconds[generator.integers(0, len(seconds), RANKERS)])
    tops: Values = np.exp(logarithms / len(times))
    return tops


def tops_by_lot(nests: Sequence[MeasuredNest]) -> Values:
    """The geometric mean, over nests, of the performance of the first variant, for each of 1,000 rankers."""
    return picks_by_lot([nest.seconds for nest in nests])


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


def shares_by_lot(spaces: Sequence[RecordedSpace], runs: int, batch: int = 5) -> Values:
    """The mean, over spaces, of the best's share after so many runs, for each of 1,000 searches.

    They begin with the ``batch`` that is ranked first, as ``recorded_space.measured`` does.
    """
    generator = np.random.default_rng(0)
    shares = np.zeros(SEARCHES)
    for space in spaces:
        first = [variant.id for variant in space.ranked[:batch]]
        times = {name: row.seconds or math.inf for name, row in space.rows.items()}
        known = min(times[name] for name in first)
        others = np.array([seconds for name, seconds in times.items() if name not in first])
        drawn = generator.permuted(np.tile(others, (SEARCHES, 1)), axis=1)[:, : runs - batch]
        shares += min(times.values()) / np.minimum(known, drawn.min(axis=1))
    return shares / len(spaces)
