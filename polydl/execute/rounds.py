"""Which samples to take, and what to make of them: the arithmetic of timing, without any process.

The procedure is in docs/guide/measuring.md.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from polydl.execute.contract import TimingPolicy
from polydl.ir.measurement import Sample

# A sample is disturbed if its two probes differ by more than this, or one lies this far below the usual rate.
_PROBE_SPREAD = 0.10
# ... or if its threads were kept from their cores for more than this part of its time.
_MOST_WAITED = 0.02
# Standard deviations of the rank sum: 3 samples that are all larger than 3 others are 1.96.
_CLEARLY = 1.9
# Medians that are this close after so many samples are as good as equal.
_EQUAL, _SOME, _MANY = 0.01, 5, 9
# One invocation of that many seconds is not warmed up by another one, and the run that was checked counts as a sample.
LONG_SECONDS = 0.5


@dataclass(frozen=True)
class RawSample:
    """Seconds of one invocation, the probes before and after it in GFLOPS, and the part of the time spent waiting."""

    seconds: float
    probes: tuple[float, float]
    waited: float = 0.0


@dataclass(frozen=True)
class Summary:
    minimum: float
    median: float
    samples: tuple[Sample, ...]
    message: str


def sample_counts(costs: Sequence[float], budget_seconds: float, policy: TimingPolicy) -> tuple[int, ...]:
    """How many samples each participant gets, from the seconds that one of its samples takes.

    What fits into an equal share of the budget, but at least 2 (1 if one invocation is long, since its checked run
    counts too) and at most the policy's rounds.
    """
    share = budget_seconds / max(len(costs), 1)
    counts: list[int] = []
    for cost in costs:
        fewest = min(1 if cost >= LONG_SECONDS else 2, policy.rounds)
        counts.append(max(fewest, min(policy.rounds, int(share / max(cost, 1e-9)))))
    return tuple(counts)


def takes_part(round_index: int, count: int, rounds: int) -> bool:
    """Is a participant with ``count`` samples in that round? They are spread evenly, from the first round on."""
    return (round_index * count) // rounds != ((round_index - 1) * count) // rounds


def usual_rate(samples: Iterable[RawSample]) -> float:
    """The upper quartile of all probes: what a core does while it has the machine for itself.

    Not their maximum: where the clock changes with the load, a few probes out of hundreds are far above all others.
    """
    rates = sorted(probe for sample in samples for probe in sample.probes)
    return rates[(3 * len(rates)) // 4] if rates else 0.0


def is_disturbed(sample: RawSample, usual: float) -> bool:
    low, high = min(sample.probes), max(sample.probes)
    slow = high - low > _PROBE_SPREAD * high or low < (1.0 - _PROBE_SPREAD) * usual
    return slow or sample.waited > _MOST_WAITED


def summarise(raw: Sequence[RawSample], usual: float) -> Summary:
    """Minimum and median of the undisturbed samples, or of all if there is no other."""
    samples = tuple(Sample(s.seconds, s.probes, is_disturbed(s, usual)) for s in raw)
    undisturbed = [sample.seconds for sample in samples if not sample.disturbed]
    message = "" if undisturbed else "all samples were disturbed by other work on the machine"
    used = undisturbed or [sample.seconds for sample in samples]
    return Summary(min(used), statistics.median(used), samples, message)


def spread(samples: Sequence[Sample]) -> float | None:
    """How far apart the quartiles of the undisturbed samples lie (of all, if there is no other), by the median.

    None for a single one.
    """
    used = [sample.seconds for sample in samples if not sample.disturbed] or [sample.seconds for sample in samples]
    if len(used) < 2:
        return None
    low, middle, high = statistics.quantiles(used, method="inclusive")
    return (high - low) / middle


def contenders(times: Sequence[Sequence[float]], fewest: int) -> tuple[int, ...]:
    """Who may still be the fastest, from the undisturbed samples of each.

    The leader is the one with the smallest median. Behind it for good is one whose samples are larger than the leader's
    by a rank-sum test (Mann and Whitney's U, some 3 % one-sided); three samples each are just enough if none overlap.
    Whoever has fewer than ``fewest`` samples can't be judged yet.
    """
    judged = [index for index, samples in enumerate(times) if len(samples) >= fewest]
    if not judged:
        return tuple(range(len(times)))
    leader = min(judged, key=lambda index: statistics.median(times[index]))
    return tuple(
        index
        for index, samples in enumerate(times)
        if index not in judged or index == leader or _slower(samples, times[leader]) < _CLEARLY
    )


def settled(times: Sequence[Sequence[float]]) -> bool:
    """Is the order of the contenders known, or of no consequence: one alone, or medians within 1 % of many samples?

    What is left has some samples at least, so that its time is one to rely on.
    """
    if len(times) <= 1:
        return all(len(samples) >= _SOME for samples in times)
    medians = sorted(statistics.median(samples) if samples else 0.0 for samples in times)
    return min(len(samples) for samples in times) >= _MANY and medians[-1] <= (1 + _EQUAL) * medians[0]


def _slower(samples: Sequence[float], other: Sequence[float]) -> float:
    """How many standard deviations of U the samples are larger than the other's, if both came from one distribution."""
    pairs = len(samples) * len(other)
    larger = sum((a > b) + 0.5 * (a == b) for a in samples for b in other)
    return (larger - pairs / 2) / math.sqrt(pairs * (len(samples) + len(other) + 1) / 12)
