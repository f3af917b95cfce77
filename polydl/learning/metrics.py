"""Metrics of an order of measured variants, with confidence intervals. Arithmetic alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, comb
from typing import Any

import numpy as np

TOP = (1, 3, 5)
TOP_PART = 0.05
RESAMPLES = 2000

Values = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Quality:
    """The quality of one order of one nest's variants. Performance is relative to the best variant, at most 1."""

    #: performance of the best of the first k variants, for each k of ``TOP``
    top: tuple[float, ...]
    #: performance of the best of the first ``TOP_PART`` of the variants
    top_part: float
    #: Kendall's tau; None for a single pick
    tau: float | None
    #: part of all pairs that are in the right order; None for a single pick
    pairs: float | None


@dataclass(frozen=True)
class Interval:
    """A value with the bounds of its 95 % confidence interval."""

    #: the estimate
    value: float
    #: lower bound
    low: float
    #: upper bound
    high: float


def quality(seconds: Sequence[float]) -> Quality:
    """The quality of an order; ``seconds`` are the variants' times in that order."""
    times = np.asarray(seconds, np.float64)
    best = float(times.min())
    first, second = np.triu_indices(len(times), 1)
    signs = np.sign(times[second] - times[first])
    right, wrong = int((signs > 0).sum()), int((signs < 0).sum())
    decided = right + wrong
    # Times may be equal, but the order has no ties.
    tau = (right - wrong) / np.sqrt(max(len(signs), 1) * max(decided, 1))
    return Quality(
        top=tuple(best / float(times[:count].min()) for count in TOP),
        top_part=best / float(times[: ceil(TOP_PART * len(times))].min()),
        tau=float(tau),
        pairs=right / decided if decided else 1.0,
    )


def random_quality(seconds: Sequence[float]) -> Quality:
    """The expected quality of a random order."""
    times = sorted(seconds)
    return Quality(
        top=tuple(_expected_best(times, count) for count in TOP),
        top_part=_expected_best(times, ceil(TOP_PART * len(times))),
        tau=0.0,
        pairs=0.5,
    )


def _expected_best(times: Sequence[float], count: int) -> float:
    """The expected performance of the best of ``count`` variants drawn without replacement; ``times`` ascend."""
    total = len(times)
    count = min(count, total)
    chances = (comb(total - 1 - position, count - 1) / comb(total, count) for position in range(total - count + 1))
    return sum(chance * times[0] / time for chance, time in zip(chances, times, strict=False))


def geomean(values: Sequence[float]) -> float:
    """The geometric mean of positive values; NaN for none."""
    return float(np.exp(np.mean(np.log(np.asarray(values, np.float64)))))


def bootstrap(values: Sequence[float], *, seed: int, geometric: bool = True) -> Interval:
    """The (geometric) mean with its 95 % confidence interval, by resampling ``values`` with replacement."""
    numbers = np.asarray(values, np.float64)
    numbers = np.log(numbers) if geometric else numbers
    generator = np.random.default_rng(seed)
    means = numbers[generator.integers(0, len(numbers), (RESAMPLES, len(numbers)))].mean(axis=1)
    points = (numbers.mean(), *np.percentile(means, (2.5, 97.5)))
    value, low, high = (float(np.exp(point)) if geometric else float(point) for point in points)
    return Interval(value, low, high)
