"""How many samples, in which rounds, and what they come to."""

from __future__ import annotations

from itertools import pairwise

import pytest

from polydl.errors import OptionError
from polydl.execute.contract import TimingPolicy
from polydl.execute.rounds import RawSample, is_disturbed, sample_counts, summarise, takes_part, usual_rate

POLICY = TimingPolicy(rounds=8)


def test_counts_follow_the_share_of_the_budget() -> None:
    assert sample_counts([0.01, 0.5, 3.0, 40.0], 12.0, POLICY) == (8, 6, 1, 1)
    assert sample_counts([0.4, 0.01], 0.1, POLICY) == (2, 5)
    assert sample_counts([0.001], 5.0, TimingPolicy(rounds=1)) == (1,)


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
    assert "disturbed" in summary.message


@pytest.mark.parametrize(
    "fields", [{"rounds": 0}, {"warmup": -1}, {"budget_seconds": 0.0}, {"timeout_seconds": float("nan")}]
)
def test_policies_that_make_no_sense(fields: dict[str, float]) -> None:
    with pytest.raises(OptionError, match=next(iter(fields))):
        TimingPolicy(**fields)  # type: ignore[arg-type]
