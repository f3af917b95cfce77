"""Which candidate is emitted: the fastest, or one that is nearly as fast and needs no library."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from polydl.execute.toolchain import Toolchain
from polydl.ir.interface import Interface, Prototype
from polydl.ir.kernel import KernelSource
from polydl.ir.measurement import Measurement, Sample, Status, counting
from polydl.ir.ranking import RankedVariant
from polydl.ir.variant import Variant
from polydl.ir.working_sets import WorkingSets
from polydl.outcome.baselines import Baseline, PlainBuild
from polydl.outcome.tried import Tried
from polydl.outcome.winning import fastest, winner
from polydl.records.record import Setting, make_record


def tried(name: str, seconds: float, library: bool = False, *, final: bool = True, status: Status = "ok") -> Tried:
    flags = ("libother.so",) if library else ()
    kernel = KernelSource(name, "f", "", Interface("f", Prototype("void f(void)")), "", link_flags=flags)
    measurement = Measurement(name, status, (Sample(seconds, (1.0, 1.0), False),), seconds_median=seconds, final=final)
    ranked = RankedVariant(Variant(()), WorkingSets((), (), 0, "closed-form"), None, "")
    return Tried(1, ranked, kernel, measurement)


@pytest.mark.parametrize(
    ("candidates", "emitted"),
    [
        ([tried("a", 1.0, True), tried("b", 1.02)], "b"),
        ([tried("a", 1.0, True), tried("b", 1.04)], "a"),
        ([tried("a", 1.0), tried("b", 0.98, True), tried("c", 0.99)], "c"),
        ([tried("a", 1.0), tried("b", 1.01, True)], "a"),
        # The time of one that was left out of the last rounds is less certain.
        ([tried("a", 1.0, True), tried("b", 1.01, final=False)], "a"),
        ([tried("a", 1.0, True), tried("b", 1.01, status="wrong")], "a"),
    ],
)
def test_a_candidate_without_a_library_may_be_slower_by_little(candidates: list[Tried], emitted: str) -> None:
    best = winner(candidates)
    assert best is not None
    assert best.kernel.id == emitted


@pytest.mark.parametrize(("plain", "emitted"), [(0.9, "b"), (1.005, "a"), (1.1, "b")])
def test_none_is_preferred_that_the_plain_nest_is_faster_than(plain: float, emitted: str) -> None:
    build = PlainBuild("plain", tried("plain", plain).kernel, Toolchain(Path("gcc"), "gcc", "12.2.0", ()))
    best = winner([tried("a", 1.0, True), tried("b", 1.02)], [Baseline(build, tried("plain", plain).measurement)])
    assert best is not None
    assert best.kernel.id == emitted


def recorded(candidate: Tried, run: str, *, peak_gflops: float, disturbed: bool = False) -> Tried:
    """It, measured by an earlier run beside a probe of so many GFLOPS."""
    samples = tuple(replace(sample, disturbed=disturbed) for sample in candidate.measurement.samples)
    measurement = replace(candidate.measurement, samples=samples)
    setting = Setting("cpu", 1, "gcc")
    record = make_record(
        measurement, kind="variant", nest="n", function="f", flops=1, setting=setting, run=run, peak_gflops=peak_gflops
    )
    return replace(candidate, measurement=measurement, record=record)


@pytest.mark.parametrize(
    ("candidates", "emitted"),
    [
        # The probe is noisy beside each of them.
        ([recorded(tried("a", 1.0), "one", peak_gflops=11), recorded(tried("b", 1.02), "one", peak_gflops=10)], "a"),
        # In a run with a slow clock all take longer.
        ([recorded(tried("a", 1.0), "one", peak_gflops=20), recorded(tried("b", 1.5), "two", peak_gflops=10)], "b"),
        (
            [
                recorded(tried("a", 1.0), "one", peak_gflops=10, disturbed=True),
                recorded(tried("b", 1.02), "one", peak_gflops=10),
            ],
            "b",
        ),
        # The best of an earlier run was timed again beside what is new.
        ([recorded(tried("a", 0.9), "one", peak_gflops=10), tried("b", 1.0)], "b"),
    ],
)
def test_records_of_one_run_are_judged_as_in_that_run(candidates: list[Tried], emitted: str) -> None:
    best = winner(candidates)
    assert best is not None
    assert best.kernel.id == emitted
    fresh = [replace(each, record=None) for each in candidates if each.record is not None and each.record.run == "one"]
    if len(fresh) == len(candidates):
        assert winner(fresh) == replace(best, record=None)


def sampled(name: str, undisturbed: Sequence[float], disturbed: Sequence[float], *, final: bool = True) -> Tried:
    samples = tuple(
        Sample(seconds, (1.0, 1.0), place >= len(undisturbed))
        for place, seconds in enumerate((*undisturbed, *disturbed))
    )
    counted = counting((sample.seconds, sample.disturbed) for sample in samples)
    candidate = tried(name, statistics.median(counted), final=final)
    return replace(candidate, measurement=replace(candidate.measurement, samples=samples))


CERTAIN = sampled("a", (100, 101, 102), (150, 900, 99))
SLOW_IN_THE_MEDIAN = sampled("b", (), (20, 25, 33, 120, 150, 110, 300))


@pytest.mark.parametrize(
    ("candidates", "emitted"),
    [
        ([CERTAIN, sampled("b", (), (20, 25, 33, 81, 95, 101, 150))], "b"),
        ([CERTAIN, SLOW_IN_THE_MEDIAN], "b"),
        ([CERTAIN, sampled("b", (), (89, 89, 89, 89))], "b"),
        # The clock may have been as much faster.
        ([CERTAIN, sampled("b", (), (91, 91, 91, 91))], "a"),
        # One or two samples may be an accident.
        ([CERTAIN, sampled("b", (), (20, 25, 100, 120))], "a"),
        ([CERTAIN, sampled("b", (), (20, 25))], "a"),
        # Some of the other one's samples are as short, whatever its median is.
        ([sampled("a", (100, 101, 102), (35,)), SLOW_IN_THE_MEDIAN], "a"),
        # It was left out of the last rounds.
        ([CERTAIN, sampled("b", (), (20, 25, 33), final=False)], "a"),
        ([CERTAIN, SLOW_IN_THE_MEDIAN, sampled("c", (), (40, 45, 50, 55))], "c"),
        # A single sample is no match for one that was undisturbed, too, and shorter.
        ([sampled("a", (100,), ()), sampled("b", (40,), [110] * 24)], "b"),
        ([sampled("a", (100,), ()), sampled("b", (), [110] * 25)], "a"),
        ([sampled("a", (100,), ()), sampled("b", (95,), [110] * 24)], "a"),
        ([CERTAIN, sampled("b", (40,), [110] * 24)], "a"),
        ([CERTAIN, sampled("b", (40,), [110] * 24), sampled("c", (99,), ())], "c"),
        # The best of those that are certain is compared with.
        ([sampled("a", (200, 201, 202), ()), sampled("c", (100, 101, 102), ()), sampled("b", (), [150] * 5)], "c"),
    ],
)
def test_what_is_clearly_faster_wins_though_its_samples_are_disturbed(candidates: list[Tried], emitted: str) -> None:
    for ordered in (candidates, candidates[::-1]):
        best = winner(ordered)
        assert best is not None
        assert best.kernel.id == emitted


def test_samples_of_different_runs_say_nothing_of_each_other() -> None:
    candidates = [recorded(CERTAIN, "one", peak_gflops=10)]
    fast = recorded(SLOW_IN_THE_MEDIAN, "two", peak_gflops=10, disturbed=True)
    best = winner([*candidates, fast])
    assert best is not None
    assert best.kernel.id == "a"


def test_none_is_emitted_where_none_passed() -> None:
    assert winner([]) is None
    assert fastest([tried("a", 1.0, status="crash")]) is None


def test_the_fastest_is_known_beside_it() -> None:
    first = fastest([tried("a", 1.0, True), tried("b", 1.01)])
    assert first is not None
    assert first.kernel.id == "a"
