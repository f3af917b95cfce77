"""Which samples to take, and what to make of them: the arithmetic of timing, without any process.

The procedure is in docs/measuring.md.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from polydl.execute.contract import TimingPolicy
from polydl.types import Sample

# A sample is disturbed if its two probes differ by more than this, or one lies this far below the usual rate.
_PROBE_SPREAD = 0.10
# ... or if its threads were kept from their cores for more than this part of its time.
_MOST_WAITED = 0.02
# One invocation of that many seconds needs no warm-up, and the run that was checked counts as a sample.
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
