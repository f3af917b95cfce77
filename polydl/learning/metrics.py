"""How good an order of measured variants is, and how sure that is. Arithmetic alone."""

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
    """Of one order of one nest's variants.

    ``top`` is the performance of the best among the first 1, 3 and 5, and ``top_part`` among the first 5 %, relative
    to the best variant of all. ``tau`` is Kendall's, ``pairs`` the part of all pairs in the right order; None where
    there is a single pick and no order.
    """

    top: tuple[float, ...]
    top_part: float
    tau: float | None
    pairs: float | None


@dataclass(frozen=True)
class Interval:
    """A value with the bounds of its 95 % confidence interval."""

    value: float
    low: float
    high: float


def quality(seconds: Sequence[float]) -> Quality:
    """``seconds`` in the predicted order, the most promising variant first."""
    times = np.asarray(seconds, np.float64)
    best = float(times.min())
    first, second = np.triu_indices(len(times), 1)
    signs = np.sign(times[second] - times[first])
    right, wrong = int((signs > 0).sum()), int((signs < 0).sum())
    decided = right + wrong
    # Only the times can be equal: an order has no ties.
    tau = (right - wrong) / np.sqrt(max(len(signs), 1) * max(decided, 1))
    return Quality(
        top=tuple(best / float(times[:count].min()) for count in TOP),
        top_part=best / float(times[: ceil(TOP_PART * len(times))].min()),
        tau=float(tau),
        pairs=right / decided if decided else 1.0,
    )


def random_quality(seconds: Sequence[float]) -> Quality:
    """The expected quality of an order drawn by lot."""
    times = sorted(seconds)
    return Quality(
        top=tuple(_expected_best(times, count) for count in TOP),
        top_part=_expected_best(times, ceil(TOP_PART * len(times))),
        tau=0.0,
        pairs=0.5,
    )


def _expected_best(times: Sequence[float], count: int) -> float:
    """The expected performance of the best of ``count`` that are drawn without putting back; ascending ``times``."""
    total = len(times)
    count = min(count, total)
    chances = (comb(total - 1 - position, count - 1) / comb(total, count) for position in range(total - count + 1))
    return sum(chance * times[0] / time for chance, time in zip(chances, times, strict=False))


def geomean(values: Sequence[float]) -> float:
    return float(np.exp(np.mean(np.log(np.asarray(values, np.float64)))))


def bootstrap(values: Sequence[float], *, seed: int, geometric: bool = True) -> Interval:
    """The (geometric) mean, and how far it varies when the nests are drawn anew with putting back."""
    numbers = np.asarray(values, np.float64)
    numbers = np.log(numbers) if geometric else numbers
    generator = np.random.default_rng(seed)
    means = numbers[generator.integers(0, len(numbers), (RESAMPLES, len(numbers)))].mean(axis=1)
    points = (numbers.mean(), *np.percentile(means, (2.5, 97.5)))
    value, low, high = (float(np.exp(point)) if geometric else float(point) for point in points)
    return Interval(value, low, high)
