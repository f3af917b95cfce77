"""How a peer's times compare with polydl's: the ratio of medians, with the choice among several leaders in its bracket.

The smallest of several noisy medians lies below the true one. So in each of many draws, the leader whose time counts,
and the peer's timing where it has two, is chosen by other samples than those of which that time is the median, and the
ratio is the mean over all draws (bagging): no sample both chooses and counts. Its standard deviation is that of Efron,
Estimation and accuracy after model selection, 2014, section 3 (the infinitesimal jackknife), without the part that is
due to the number of draws (Wager, Hastie and Efron, Confidence intervals for random forests, 2014, equation 7). Times
are in seconds.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from polydl.ir.measurement import counting

_DRAWS = 2000
# A library that is asked for direct algorithms alone has its name with this behind it.
_DIRECT = "-direct"
# In what a library says of a way that is no direct one, or may be none.
_NOT_DIRECT = ("Winograd", "automatic")
# The part of a distribution below the upper bound of a 90 % interval.
_BELOW = 0.95

Document = dict[str, Any]
Floats = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Ratio:
    """A peer's time divided by polydl's: above 1, polydl is faster."""

    #: geometric mean over all draws
    value: float
    #: lower bound of its 90 % interval
    low: float
    #: upper bound
    high: float
    #: False for a single sample of either, of which no spread is known: both bounds are the value, and say nothing
    bracketed: bool = True

    @property
    def bracket(self) -> str:
        """Both bounds as tables show them."""
        return f"[{self.low:.2f}, {self.high:.2f}]" if self.bracketed else "[one sample]"


@dataclass(frozen=True)
class _Estimate:
    """The logarithm of a ratio or of a time."""

    value: float
    #: standard deviation
    deviation: float
    #: samples of each participant
    count: int


def seconds(timing: Mapping[str, Any]) -> list[float]:
    """The samples of a timing that count."""
    return counting((sample["seconds"], sample["disturbed"]) for sample in timing["samples"])


def leaders(result: Mapping[str, Any], direct: bool = False) -> list[Mapping[str, Any]]:
    """Those of polydl's variants that have times; with ``direct``, that compute every product of the source."""
    return [leader for leader in result["leaders"] if leader["status"] == "ok" and (leader["direct"] or not direct)]


def fastest_leader(result: Mapping[str, Any], direct: bool = False) -> Mapping[str, Any] | None:
    """The timing with the smallest median of all samples among ``leaders``; None without any."""
    return min(leaders(result, direct), key=lambda leader: float(np.median(seconds(leader))), default=None)


def own_seconds(result: Mapping[str, Any], direct: bool = False) -> float | None:
    """The time of polydl's variants, chosen among and timed by different samples; None without a time."""
    fastest = fastest_leader(result, direct)
    if fastest is None:
        return None
    candidates = [seconds(leader) for leader in leaders(result, direct)]
    draws = _times_of_the_chosen(candidates, len(seconds(fastest)), _generator(result, "polydl"))
    return math.exp(float(np.mean(np.log(draws.times))))


def ratio(result: Mapping[str, Any], peer: str) -> Ratio | None:
    """The ratio for one workload; None if polydl or the peer has no time."""
    estimate = _estimate(result, peer)
    return None if estimate is None else _ratio(estimate.value, estimate.deviation, estimate.count - 1)


def mean_ratio(results: Iterable[Mapping[str, Any]], peer: str) -> tuple[Ratio, list[float]] | None:
    """The geometric mean over workloads, and the ratio of each workload; None if there is no ratio.

    A workload with a single sample counts as if its deviation were the largest of the others'.
    """
    estimates = [estimate for result in results if (estimate := _estimate(result, peer)) is not None]
    if not estimates:
        return None
    ratios = [math.exp(estimate.value) for estimate in estimates]
    largest = max(estimate.deviation for estimate in estimates)
    deviations = (estimate.deviation if estimate.count > 1 else largest for estimate in estimates)
    deviation = math.hypot(*deviations) / len(estimates)
    freedom = sum(estimate.count - 1 for estimate in estimates)
    return _ratio(math.log(geometric_mean(ratios)), deviation, freedom), ratios


def geometric_mean(values: Sequence[float]) -> float:
    """The geometric mean. Raises ZeroDivisionError without values."""
    return math.exp(sum(math.log(value) for value in values) / len(values))


@dataclass(frozen=True)
class _Draws:
    """Samples drawn anew, with replacement."""

    #: [draw]: the median of those drawn
    times: Floats
    #: [draw]: the median of those not drawn
    others: Floats
    #: [draw, sample]: how often each was drawn
    counts: Floats


def _drawn(samples: Sequence[float], count: int, generator: np.random.Generator) -> _Draws:
    """``count`` samples in each draw; at least one of several is not drawn, and a single one counts as not drawn."""
    values = np.asarray(samples, np.float64)
    places = generator.integers(values.size, size=(_DRAWS, count))
    spared = generator.integers(values.size, size=(_DRAWS, 1))
    # Where all were drawn, one of them gives way to its neighbour.
    everything = (_counts(places, values.size) > 0).all(axis=1, keepdims=True)
    places = np.where(everything & (places == spared), (places + 1) % values.size, places)
    counts = _counts(places, values.size)
    left = (counts == 0) | (values.size == 1)
    others: Floats = np.nanmedian(np.where(left, values, np.nan), axis=1)
    return _Draws(np.median(values[places], axis=1), others, counts)


def _counts(places: np.ndarray[Any, Any], size: int) -> Floats:
    """[draw, sample]: how often each of so many samples occurs in a draw."""
    flat = np.arange(len(places))[:, np.newaxis] * size + places
    counts: Floats = np.bincount(flat.ravel(), minlength=len(places) * size).reshape(-1, size).astype(np.float64)
    return counts


def _times_of_the_chosen(candidates: Sequence[Sequence[float]], count: int, generator: np.random.Generator) -> _Draws:
    """The fastest of several candidates, each given by its samples, where every draw chooses anew.

    The candidate whose samples that were not drawn have the smallest median is chosen, and its time is the median of
    those that were. ``counts`` are of all candidates' samples, one after the other.
    """
    draws = [_drawn(samples, count, generator) for samples in candidates]
    others = np.stack([one.others for one in draws])
    chosen = np.argmin(others, axis=0)[np.newaxis]
    times = np.take_along_axis(np.stack([one.times for one in draws]), chosen, axis=0)[0]
    counts = np.concatenate([one.counts for one in draws], axis=1)
    return _Draws(times, np.take_along_axis(others, chosen, axis=0)[0], counts)


def _estimate(result: Mapping[str, Any], peer: str) -> _Estimate | None:
    """The logarithm of the ratio; None without times of both.

    Every draw takes equally many samples of each of the peer's timings and of each leader, and chooses on both sides.
    """
    theirs = [seconds(each) for each in _timings(result, peer)]
    if not theirs:
        return None
    direct = result["peers"][peer].get("direct", False)
    fastest = fastest_leader(result, direct)
    if fastest is None:
        return None
    candidates = [seconds(leader) for leader in leaders(result, direct)]
    count = min(len(min(theirs, key=np.median)), len(seconds(fastest)))
    generator = _generator(result, peer)
    ours, drawn = (_times_of_the_chosen(each, count, generator) for each in (candidates, theirs))
    ratios = np.log(drawn.times / ours.times)
    return _Estimate(float(ratios.mean()), _deviation(ratios, np.hstack([drawn.counts, ours.counts])), count)


def has_ratio(result: Mapping[str, Any], peer: str) -> bool:
    """Whether ``ratio`` gives one."""
    return bool(_timings(result, peer)) and bool(leaders(result, result["peers"][peer].get("direct", False)))


def other_choice(peer: str) -> str:
    """The name under which a library is asked for direct algorithms alone, and the other way round."""
    return peer.removesuffix(_DIRECT) if peer.endswith(_DIRECT) else f"{peer}{_DIRECT}"


def _timings(result: Mapping[str, Any], peer: str) -> list[Mapping[str, Any]]:
    """All timings of what the peer might have run; none where it was not asked.

    A library that was also asked for direct algorithms alone chose twice, and either choice may have been a poor one:
    what it ran as its best direct algorithm is one of all that it has, and the other way round.
    """
    if peer not in result["peers"]:
        return []
    timings = [result["peers"][peer]]
    other = result["peers"].get(other_choice(peer))
    if other is not None and (other.get("direct") or not any(word in other["note"] for word in _NOT_DIRECT)):
        timings.append(other)
    return [each for each in timings if each["status"] == "ok"]


def _deviation(values: Floats, counts: Floats) -> float:
    """The standard deviation of the mean of ``values`` ([draw]), by how they go with what was drawn."""
    covariances = (counts - counts.mean(axis=0)).T @ (values - values.mean()) / len(values)
    variance = float(np.sum(covariances**2) - counts.shape[1] / len(values) * values.var())
    return math.sqrt(max(variance, 0.0))


def _ratio(value: float, deviation: float, freedom: int) -> Ratio:
    """The ratio of a logarithm, its interval by Student's distribution with so many degrees of freedom."""
    if not freedom:
        return Ratio(math.exp(value), math.exp(value), math.exp(value), bracketed=False)
    reach = deviation * _student(freedom)
    return Ratio(math.exp(value), math.exp(value - reach), math.exp(value + reach))


def _student(freedom: int) -> float:
    """The quantile of Student's distribution (Fisher's expansion: Abramowitz and Stegun, 26.7.5).

    With one and two degrees of freedom the expansion is far off, and there are closed forms.
    """
    if freedom == 1:
        return math.tan(math.pi * (_BELOW - 0.5))
    if freedom == 2:
        return (2 * _BELOW - 1) / math.sqrt(2 * _BELOW * (1 - _BELOW))
    z = NormalDist().inv_cdf(_BELOW)
    first = (z**3 + z) / (4 * freedom)
    return z + first + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)


def _generator(result: Mapping[str, Any], name: str) -> np.random.Generator:
    """One random stream for each workload and name, so that the draws of different workloads are independent."""
    return np.random.default_rng(zlib.crc32(f"{result['description']} {name}".encode()))
