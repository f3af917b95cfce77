"""The arithmetic of timing, without any process: how many samples to take, and their statistics.

The procedure is in docs/guide/measuring.md.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from polydl.execute.contract import TimingPolicy
from polydl.ir.measurement import Measurement, Sample, counting

# A sample is disturbed if its two probes differ by more than this part, or if one is this far below the usual rate,
_PROBE_SPREAD = 0.10
# or if its threads waited for a core during more than this part of its time.
_MOST_WAITED = 0.02
# Standard deviations of the rank sum: 3 samples that are all larger than 3 others are 1.96.
_CLEARLY = 1.9
# Medians that differ by less than _EQUAL after _MANY samples count as equal; a last contender needs _SOME samples.
_EQUAL, _SOME, _MANY = 0.01, 5, 9
# Samples that are no accident.
FEW = 3
# Times as long as the fastest kernel: one is far behind then.
FAR_BEHIND = 2.0
#: Of a sample: the probes before and after it, and the pipe.
OVERHEAD_SECONDS = 0.004
#: Most participants of the final, if there are several waves.
FINALISTS = 4
# An invocation of this many seconds gets no warm-up, and the run that was verified counts as a sample.
LONG_SECONDS = 0.5


# And measuring kernels like it takes so many seconds at most, besides the policy's ``most_originals``.
LONG_EXTRA_SECONDS = 20.0


@dataclass(frozen=True)
class RawSample:
    """A sample as a worker reports it."""

    #: of one invocation
    seconds: float
    #: FMA rate of one core before and after the sample, GFLOPS
    probes: tuple[float, float]
    #: part of the time in which a thread waited for its core
    waited: float = 0.0


@dataclass(frozen=True)
class SampleSummary:
    """What the samples of one participant come to. Times are in seconds."""

    minimum: float
    median: float
    #: all of them, disturbed ones too
    samples: tuple[Sample, ...]
    message: str


def sample_counts(
    costs: Sequence[float], long: Sequence[bool], budget_seconds: float, policy: TimingPolicy
) -> tuple[int, ...]:
    """The number of samples of each participant.

    ``costs`` are the seconds that one sample of each takes, with its warm-up, and ``long`` is whether its invocation is
    so long that it has none.

    It is the number that fits into an equal share of the budget, but at most the policy's rounds and at least 2 (1 for
    a long invocation, since its verified run counts too).
    """
    share = budget_seconds / max(len(costs), 1)
    counts: list[int] = []
    for cost, is_long in zip(costs, long, strict=True):
        fewest = min(1 if is_long else 2, policy.rounds)
        counts.append(max(fewest, min(policy.rounds, int(share / max(cost, 1e-9)))))
    return tuple(counts)


def longest_seconds(original_seconds: float, policy: TimingPolicy) -> float:
    """For how long candidates are measured at most where an invocation of the original takes so many seconds.

    The rest of the policy says how long others are measured: infinity.
    """
    if not policy.most_originals or original_seconds < LONG_SECONDS:
        return math.inf
    return policy.most_originals * original_seconds + LONG_EXTRA_SECONDS


def final_seconds(medians: Iterable[float], policy: TimingPolicy) -> float:
    """How long the final takes at most, once kernels with these times are measured: all rounds of the fastest."""
    fastest = sorted(medians)[:FINALISTS]
    samples = (max(policy.minimum_sample_seconds, each) + policy.warmup * each + OVERHEAD_SECONDS for each in fastest)
    return min(policy.rounds * sum(samples), policy.budget_seconds)


def takes_part(round_index: int, count: int, rounds: int) -> bool:
    """Whether a participant with ``count`` samples has one in this round; they are spread evenly from the first on."""
    return (round_index * count) // rounds != ((round_index - 1) * count) // rounds


def usual_rate(samples: Iterable[RawSample]) -> float:
    """The upper quartile of all probes, GFLOPS: the rate of a core that nothing else disturbs.

    The maximum is no measure: where the clock changes with the load, a few probes of hundreds are far above the others.
    """
    rates = sorted(probe for sample in samples for probe in sample.probes)
    return rates[(3 * len(rates)) // 4] if rates else 0.0


def is_disturbed(sample: RawSample, usual: float) -> bool:
    """Whether other work slowed a sample down; ``usual`` is the FMA rate of an undisturbed core, in GFLOPS.

    It did if the two probes differ, if one is below the usual rate, or if threads waited for a core.
    """
    low, high = min(sample.probes), max(sample.probes)
    slow = high - low > _PROBE_SPREAD * high or low < (1.0 - _PROBE_SPREAD) * usual
    return slow or sample.waited > _MOST_WAITED


def raw_sample(sample: Sample) -> RawSample:
    """A recorded sample as if it had just been taken; one that was disturbed stays so."""
    return RawSample(sample.seconds, sample.probe_gflops, 1.0 if sample.disturbed else 0.0)


def summarise(raw: Sequence[RawSample], usual: float) -> SampleSummary:
    """Minimum and median of the samples that count; the message says if disturbed ones are among them."""
    samples = tuple(Sample(s.seconds, s.probes, is_disturbed(s, usual)) for s in raw)
    used, disturbed = _seconds(samples), sum(sample.disturbed for sample in samples)
    message = ""
    if disturbed and len(used) == len(samples):
        part = "all" if disturbed == len(samples) else f"{disturbed} of {len(samples)}"
        message = f"{part} samples were disturbed by other work on the machine"
    return SampleSummary(min(used), statistics.median(used), samples, message)


def spread(samples: Sequence[Sample]) -> float | None:
    """The interquartile range of the samples that count, relative to their median; None for a single sample."""
    used = _seconds(samples)
    if len(used) < 2:
        return None
    low, middle, high = statistics.quantiles(used, method="inclusive")
    return (high - low) / middle


def _seconds(samples: Sequence[Sample]) -> list[float]:
    """Of the samples that count."""
    return counting((sample.seconds, sample.disturbed) for sample in samples)


@dataclass(frozen=True)
class EqualSamples:
    """What a speed-up is made of: the median times of two, each over the same number of samples."""

    #: 0 where samples are not known, and these are the medians of all
    count: int
    seconds: float
    other_seconds: float

    @property
    def speedup(self) -> float:
        """How many times as long the other takes."""
        return self.other_seconds / self.seconds


def equal_samples(measurement: Measurement, other: Measurement) -> EqualSamples | None:
    """The medians of equally many samples; None if either has no time.

    Those of the one with more are spread evenly over its rounds, in each way that there is, and these medians have a
    mean. The median of few samples of a skewed distribution lies above that of many.
    """
    if not measurement.seconds_median or not other.seconds_median:
        return None
    times, longer = _seconds(measurement.samples), _seconds(other.samples)
    count = min(len(times), len(longer))
    if not count:
        return EqualSamples(0, measurement.seconds_median, other.seconds_median)
    return EqualSamples(count, _median_of(times, count), _median_of(longer, count))


def times_as_fast(measurement: Measurement, other: Measurement) -> float | None:
    """How many times as long ``other`` takes, by ``equal_samples``; None if either has no time."""
    equal = equal_samples(measurement, other)
    return None if equal is None else equal.speedup


def _median_of(samples: Sequence[float], count: int) -> float:
    """What the median of ``count`` of at least as many samples is in the mean, one of each of ``count`` stretches."""
    begins = [place * len(samples) // count for place in range(count)]
    ways = len(samples) // count
    return statistics.fmean(statistics.median(samples[begin + way] for begin in begins) for way in range(ways))


def contenders(times: Sequence[Sequence[float]], fewest: int) -> tuple[int, ...]:
    """The indices of the participants that may still be the fastest; ``times`` are their undisturbed samples.

    The leader is the one with the smallest median. A participant is out when its samples are larger than the leader's
    by a rank-sum test (Mann and Whitney's U, about 3 % one-sided); three samples each are just enough if none overlap.
    A participant with fewer than ``fewest`` samples stays in.
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


def hopeless(times: Sequence[Sequence[float]], fewest: int) -> tuple[int, ...]:
    """The indices of the participants that are far behind, fastest first; ``times`` are all samples, disturbed or not.

    What disturbs a sample does not halve a kernel's speed in each of ``fewest``: all samples of such a participant take
    more than twice as long as so many of another one.
    """
    judged = [index for index, samples in enumerate(times) if len(samples) >= fewest]
    limit = FAR_BEHIND * min((sorted(times[index])[fewest - 1] for index in judged), default=math.inf)
    return tuple(sorted((place for place in judged if min(times[place]) > limit), key=lambda place: min(times[place])))


def clearly_faster(times: Sequence[float], other: Sequence[float], undisturbed: Sequence[float] = ()) -> bool:
    """Whether three samples at least are clearly shorter than all of another participant's, disturbed or not.

    What disturbs a sample makes it longer. A clock that is faster than usual makes it shorter, by as much as two probes
    may differ. Of a participant that has less than three samples itself, it is enough that one of those that are
    ``undisturbed`` is shorter than them.
    """
    limit = min(other, default=0.0) / (1 + _PROBE_SPREAD)
    if len(times) >= FEW and sorted(times)[FEW - 1] < limit:
        return True
    return len(other) < FEW and min(undisturbed, default=math.inf) < limit


def settled(times: Sequence[Sequence[float]]) -> bool:
    """Whether timing may end: one contender with enough samples is left, or the medians of many samples are equal."""
    if len(times) <= 1:
        return all(len(samples) >= _SOME for samples in times)
    medians = sorted(statistics.median(samples) if samples else 0.0 for samples in times)
    return min(len(samples) for samples in times) >= _MANY and medians[-1] <= (1 + _EQUAL) * medians[0]


def _slower(samples: Sequence[float], other: Sequence[float]) -> float:
    """By how many standard deviations ``samples`` are larger than ``other`` in a rank-sum test (U)."""
    pairs = len(samples) * len(other)
    larger = sum((a > b) + 0.5 * (a == b) for a in samples for b in other)
    return (larger - pairs / 2) / math.sqrt(pairs * (len(samples) + len(other) + 1) / 12)
