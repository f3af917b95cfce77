"""How many samples, in which rounds, and what they come to."""

from __future__ import annotations

import math
import random
import statistics
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import pytest

from polydl.errors import OptionError
from polydl.execute.contract import Peer, TimingPolicy
from polydl.execute.participant import Participant
from polydl.execute.rounds import (
    EqualSamples,
    RawSample,
    contenders,
    equal_samples,
    final_seconds,
    hopeless,
    is_disturbed,
    longest_seconds,
    sample_counts,
    settled,
    spread,
    summarise,
    takes_part,
    times_as_fast,
    usual_rate,
)
from polydl.execute.sampling import MOST_REPEATS, TimingSampler
from polydl.ir.measurement import Measurement, Sample

POLICY = TimingPolicy(rounds=8)


def test_counts_follow_the_share_of_the_budget() -> None:
    assert sample_counts([0.01, 0.5, 3.0, 40.0], [False, True, True, True], 12.0, POLICY) == (8, 6, 1, 1)
    assert sample_counts([0.4, 0.01], [False, False], 0.1, POLICY) == (2, 5)
    assert sample_counts([0.001], [False], 5.0, TimingPolicy(rounds=1)) == (1,)


def test_one_sample_is_enough_only_where_the_verified_run_is_another() -> None:
    """With its warm-up, a sample of an invocation of 0.4 s takes 0.8 s."""
    assert sample_counts([0.8, 0.8], [False, True], 0.1, POLICY) == (2, 1)


@pytest.mark.parametrize("rounds", [1, 2, 7, 16])
def test_samples_are_spread_over_the_rounds(rounds: int) -> None:
    for count in range(1, rounds + 1):
        taken = [index for index in range(rounds) if takes_part(index, count, rounds)]
        assert len(taken) == count
        assert taken[0] == 0
        gaps = {later - earlier for earlier, later in pairwise(taken)}
        assert len(gaps) == 0 or max(gaps) - min(gaps) <= 1


@pytest.mark.parametrize(
    ("probes", "disturbed"),
    [
        ((100.0, 100.0), False),
        ((95.0, 91.0), False),
        ((89.0, 89.0), True),
        ((100.0, 89.0), True),
        ((40.0, 100.0), True),
    ],
)
def test_probes_tell_disturbed_samples(probes: tuple[float, float], disturbed: bool) -> None:
    assert is_disturbed(RawSample(1.0, probes), usual=100.0) is disturbed


@pytest.mark.parametrize(("waited", "disturbed"), [(0.0, False), (0.015, False), (0.03, True)])
def test_waiting_for_a_core_disturbs_a_sample(waited: float, disturbed: bool) -> None:
    assert is_disturbed(RawSample(1.0, (100.0, 100.0), waited), usual=100.0) is disturbed


def test_a_few_lucky_probes_disturb_no_other_sample() -> None:
    raw = [RawSample(1.0, (100.0, 98.0))] * 9 + [RawSample(1.0, (125.0, 124.0)), RawSample(2.0, (60.0, 61.0))]
    usual = usual_rate(raw)
    assert usual == 100.0
    assert [is_disturbed(sample, usual) for sample in raw] == [False] * 10 + [True]
    assert usual_rate([]) == 0.0


def test_only_undisturbed_samples_count() -> None:
    calm, busy = (100.0, 99.0), (50.0, 50.0)
    raw = [RawSample(0.5, busy), RawSample(3.0, calm), RawSample(1.0, calm), RawSample(2.0, calm)]
    summary = summarise(raw, 100.0)
    assert (summary.minimum, summary.median, summary.message) == (1.0, 2.0, "")
    assert [sample.disturbed for sample in summary.samples] == [True, False, False, False]


def test_disturbed_samples_are_better_than_none_and_it_is_said() -> None:
    summary = summarise([RawSample(2.0, (50.0, 50.0)), RawSample(4.0, (40.0, 50.0))], 100.0)
    assert (summary.minimum, summary.median) == (2.0, 3.0)
    assert summary.message.startswith("all samples were disturbed")


@pytest.mark.parametrize(("calm", "others", "enough"), [(1, 0, True), (1, 2, False), (2, 18, True), (2, 19, False)])
def test_few_undisturbed_samples_are_no_median(calm: int, others: int, enough: bool) -> None:
    """One alone, or less than a tenth of all."""
    raw = [*[RawSample(1.0, (100.0, 100.0))] * calm, *[RawSample(2.0, (50.0, 50.0))] * others]
    summary = summarise(raw, 100.0)
    assert summary.median == (1.0 if enough else 2.0)
    assert summary.message == (
        "" if enough else f"{others} of {len(raw)} samples were disturbed by other work on the machine"
    )


def test_a_time_is_undisturbed_where_only_such_samples_count() -> None:
    assert timed(1.0, 2.0).undisturbed
    assert timed(1.0, 2.0, disturbed=9).undisturbed
    assert not timed(1.0, disturbed=1).undisturbed
    assert not Measurement("x", "crash").undisturbed


def test_later_probes_change_nothing_that_was_reported() -> None:
    one = Participant(Peer("library", (), {}, 0))
    one.raw = [RawSample(1.0, (90.0, 90.0)), *[RawSample(seconds, (100.0, 100.0)) for seconds in (2.0, 3.0, 4.0)]]
    one.told = one.measurement(90.0)
    assert one.told.seconds_median == 2.5
    assert one.measurement(110.0).seconds_median == 3.0
    one.final = False
    assert one.outcome(110.0) == replace(one.told, final=False)
    one.told = Measurement("library", "wrong")
    assert one.outcome(110.0) == one.told, "a failure is neither in the last rounds nor out of them"
    one.told = None
    assert one.outcome(110.0) == one.measurement(110.0)


@pytest.mark.parametrize(
    "fields", [{"rounds": 0}, {"warmup": -1}, {"budget_seconds": 0.0}, {"timeout_seconds": float("nan")}]
)
def test_policies_that_make_no_sense(fields: dict[str, float]) -> None:
    with pytest.raises(OptionError, match=next(iter(fields))):
        TimingPolicy(**fields)  # type: ignore[arg-type]


def test_whoever_is_clearly_slower_is_no_contender() -> None:
    fast, close, slow = [1.0, 1.1, 1.2], [1.05, 1.15, 1.3], [1.21, 1.4, 1.3]
    assert contenders([slow, fast, close], 3) == (1, 2)
    assert contenders([fast, [1.3, 1.4]], 3) == (0, 1), "two samples say nothing"
    assert contenders([[9.0], [8.0, 7.0]], 3) == (0, 1)
    assert contenders([], 3) == ()


def test_one_lucky_or_unlucky_sample_decides_nothing() -> None:
    leader = [1.0, 1.01, 1.02, 1.03, 1.0, 1.02, 9.0]
    assert contenders([leader, [0.5, 1.1, 1.11, 1.12, 1.13]], 3) == (0, 1)
    assert contenders([leader, [1.1, 1.11, 1.12, 1.13, 1.14] * 2], 3) == (0,)


def test_who_is_far_behind_is_told_by_samples_that_may_all_be_disturbed() -> None:
    leader, twice, thrice, lucky = [1.0, 1.2, 5.0, 1.1], [2.4, 2.5, 2.6], [3.0, 9.0, 3.1], [7.0, 2.3, 8.0]
    assert hopeless([leader, thrice, twice, lucky], 3) == (1,)
    assert hopeless([leader, [2.5, 2.6, 2.7], thrice], 3) == (1, 2), "the fastest of them first"
    assert hopeless([leader, [9.0, 9.0]], 3) == (), "two samples say nothing"
    assert hopeless([[1.0, 1.0], thrice], 3) == (), "nor do two of the fastest"
    assert hopeless([], 3) == ()


@pytest.mark.parametrize("spread", [0.0, 0.02])
def test_equals_stay_contenders_most_of_the_time(spread: float) -> None:
    generator = random.Random(0)
    together = 0
    for _ in range(300):
        times = [[1.0 + spread * generator.random() for _ in range(6)] for _ in range(2)]
        together += len(contenders(times, 3)) == 2
    assert together >= 250


def test_when_the_order_is_settled() -> None:
    assert settled([])
    assert settled([[1.0] * 5])
    assert not settled([[1.0] * 4]), "the winner's time rests on some samples"
    assert settled([[1.0] * 9, [1.005] * 9])
    assert not settled([[1.0] * 9, [1.005] * 8])
    assert not settled([[1.0] * 9, [1.02] * 9])


def test_the_spread_is_that_of_the_middle_half() -> None:
    samples = [Sample(seconds, (100.0, 100.0), False) for seconds in (1.0, 2.0, 2.0, 3.0, 50.0)]
    assert spread([*samples, Sample(99.0, (1.0, 1.0), True)]) == pytest.approx((3.0 - 2.0) / 2.0)
    assert spread(samples[:1]) is None


def timed(*seconds: float, disturbed: int = 0) -> Measurement:
    """With so many disturbed samples before the others."""
    samples = tuple(Sample(each, (100.0, 100.0), False) for each in seconds)
    median = statistics.median(seconds)
    return Measurement("x", "ok", (*[Sample(99.0, (1.0, 100.0), True)] * disturbed, *samples), min(seconds), median)


def test_a_speed_up_is_of_medians_of_equally_many_samples() -> None:
    original = timed(8.0, 9.0, 12.0)
    assert times_as_fast(timed(3.0, 2.0, 4.0), original) == 3.0
    drifting = timed(*(float(each) for each in range(1, 10)), disturbed=2)
    assert times_as_fast(drifting, original) == 9.0 / 5.0, "of the whole time, not of its beginning"
    assert times_as_fast(timed(1.0, 1.0, 1.0, 5.0, 5.0, 5.0, 10.0), timed(8.0)) == 2.0
    assert times_as_fast(Measurement("x", "crash"), original) is None
    assert times_as_fast(original, Measurement("x", "crash")) is None
    recorded = Measurement("x", "ok", seconds_minimum=1.0, seconds_median=2.0)
    assert times_as_fast(recorded, replace(recorded, seconds_median=5.0)) == 2.5, "samples are not known"


def test_the_times_of_a_speed_up_are_known() -> None:
    equal = equal_samples(timed(*(1.0, 4.0, 1.0) * 3), timed(8.0, 9.0, 12.0))
    assert equal == EqualSamples(3, 2.0, 9.0)
    assert equal.speedup == 4.5
    assert equal_samples(timed(1.0), Measurement("x", "crash")) is None


def test_many_samples_are_no_advantage() -> None:
    """The shortest of 25 samples lies below that of three; the ratio of medians stays at 1, skewed noise or not."""
    generator = random.Random(3)

    def noisy(count: int) -> Measurement:
        return timed(*(1.0 + generator.expovariate(20.0) for _ in range(count)))

    ratios = [times_as_fast(noisy(25), noisy(3)) or 0.0 for _ in range(4000)]
    assert statistics.fmean(ratios) == pytest.approx(1.0, abs=3e-3)


def test_a_sample_is_short_where_most_of_its_time_is_not_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("polydl.execute.sampling.time", SimpleNamespace(monotonic=lambda: now))

    def timed(repeats: int) -> float:
        nonlocal now
        now += 1e-3 * repeats
        return 1e-9 * repeats

    sampler = object.__new__(TimingSampler)
    reply = sampler.calibrate(5e-3, MOST_REPEATS, timed, most_cost=0.05)
    assert reply["repeats"] == 55
    assert reply["cost"] >= 0.05
    assert reply["seconds"] == pytest.approx(1e-9)


@pytest.mark.parametrize("interrupted", [1, 2, 3, 4])
def test_what_interrupts_a_try_does_not_shorten_samples(interrupted: int) -> None:
    """A run of 27 us needs some 400 invocations for 10 ms, whichever try is held up for 20 ms."""
    tries = 0

    def timed(repeats: int) -> float:
        nonlocal tries
        tries += 1
        return 27e-6 * repeats + (0.02 if tries == interrupted else 0.0)

    reply = object.__new__(TimingSampler).calibrate(0.01, MOST_REPEATS, timed)
    assert 0.9 * 0.01 <= 27e-6 * reply["repeats"] <= 1.3 * 0.01


def test_long_invocations_are_not_tried_twice() -> None:
    lengths: list[float] = []

    def timed(repeats: int) -> float:
        lengths.append(0.3 * repeats)
        return lengths[-1]

    assert object.__new__(TimingSampler).calibrate(0.01, MOST_REPEATS, timed)["repeats"] == 1
    assert lengths == [0.3]


def test_only_long_nests_have_a_longest_time() -> None:
    limited = TimingPolicy(most_originals=20)
    assert longest_seconds(6.0, limited) == 140.0
    assert longest_seconds(0.5, limited) == 30.0
    assert longest_seconds(0.4, limited) == math.inf
    assert longest_seconds(6.0, TimingPolicy()) == math.inf


def test_the_final_takes_all_rounds_of_the_fastest_at_most() -> None:
    policy = TimingPolicy(rounds=10, adaptive=True, minimum_sample_seconds=0.016, warmup=1, budget_seconds=20.0)
    assert final_seconds([], policy) == 0.0
    assert final_seconds([1e-6] * 2, policy) == pytest.approx(10 * 2 * 0.02, rel=1e-3)
    assert final_seconds([1e-6] * 9, policy) == pytest.approx(10 * 4 * 0.02, rel=1e-3)
    assert final_seconds([0.048, 9.0, 9.0, 0.048, 0.048, 0.048], policy) == pytest.approx(10 * 4 * 0.1)
    assert final_seconds([9.0], policy) == 20.0
