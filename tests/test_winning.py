"""Which candidate is emitted: the fastest, or one that is nearly as fast and needs no library."""

from __future__ import annotations

from pathlib import Path

import pytest

from polydl.execute.toolchain import Toolchain
from polydl.ir.interface import Interface
from polydl.ir.kernel import KernelSource
from polydl.ir.measurement import Measurement, Sample, Status
from polydl.ir.ranking import RankedVariant
from polydl.ir.variant import Variant
from polydl.ir.working_sets import WorkingSets
from polydl.outcome.baselines import Baseline, PlainBuild
from polydl.outcome.tried import Tried
from polydl.outcome.winning import fastest, winner


def tried(name: str, seconds: float, library: bool = False, *, final: bool = True, status: Status = "ok") -> Tried:
    flags = ("libother.so",) if library else ()
    kernel = KernelSource(name, "f", "", Interface("f", "void f(void)"), "", link_flags=flags)
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


def test_none_is_emitted_where_none_passed() -> None:
    assert winner([]) is None
    assert fastest([tried("a", 1.0, status="crash")]) is None


def test_the_fastest_is_known_beside_it() -> None:
    first = fastest([tried("a", 1.0, True), tried("b", 1.01)])
    assert first is not None
    assert first.kernel.id == "a"
