"""Kernels that may be the fastest are timed for further rounds, the others are left alone."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from execute_nests import matmul, matmul_kernel

from polydl.execute.contract import Finished, TimingPolicy
from polydl.execute.local import EXECUTOR
from polydl.execute.toolchain import Toolchain
from polydl.types import KernelSource

ADAPTIVE = TimingPolicy(
    rounds=12, adaptive=True, minimum_sample_seconds=1e-3, budget_seconds=20.0, timeout_seconds=20.0
)


@pytest.fixture(scope="module")
def toolchain() -> Toolchain:
    return Toolchain.find()


def slow_kernel(identity: str) -> KernelSource:
    """The same result, after a thousand cache lines' worth of other work."""
    work = "static volatile float sink; for (int n = 0; n < 60000; n++) sink += 1.0f;"
    return matmul_kernel(identity, before=work)


def test_rounds_go_on_for_those_that_may_be_the_fastest(toolchain: Toolchain, tmp_path: Path) -> None:
    kernels = [matmul_kernel("original"), slow_kernel("slow"), matmul_kernel("one"), matmul_kernel("two")]
    finished: list[Finished] = []
    built = EXECUTOR.build(kernels, toolchain, tmp_path)
    measured = EXECUTOR.measure(built[1:], built[0], matmul(), threads=1, policy=ADAPTIVE, finished=finished.append)
    by_id = {each.id: each for each in measured}
    assert {each.status for each in measured} == {"ok"}
    assert not by_id["slow"].final
    assert by_id["one"].final or by_id["two"].final
    fastest = min((by_id[name] for name in ("one", "two")), key=lambda each: each.seconds_minimum or 0.0)
    assert len(fastest.samples) >= len(by_id["slow"].samples)
    assert [each.measurement.id for each in finished][-1] == "original"
    assert {each.measurement.id: each.measurement.samples for each in finished} == {
        each.id: each.samples for each in measured
    }
    assert all(each.probe_gflops > 0 and each.baseline_seconds for each in finished)


@pytest.mark.parametrize("least", [0, 3])
def test_a_budget_does_not_cut_short_the_samples_that_everyone_needs(
    toolchain: Toolchain, tmp_path: Path, least: int
) -> None:
    kernels = [matmul_kernel("original"), matmul_kernel("one"), slow_kernel("slow")]
    built = EXECUTOR.build(kernels, toolchain, tmp_path)
    policy = replace(ADAPTIVE, warmup=0, budget_seconds=1e-3, least_undisturbed=least)
    original, *others = EXECUTOR.measure(built[1:], built[0], matmul(), threads=1, policy=policy)
    assert len(original.samples) == 2
    for each in others:
        undisturbed = sum(not sample.disturbed for sample in each.samples)
        assert len(each.samples) == 2 if not least else undisturbed >= least or len(each.samples) == 6


def test_the_fastest_of_all_waves_meet_in_the_end(
    toolchain: Toolchain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("polydl.execute.local.processes_at_once", lambda *_, **__: 5)
    names = ["a", "b", "c", "d", "e"]
    kernels = [matmul_kernel("original"), *map(matmul_kernel, names), slow_kernel("slow")]
    finished: list[str] = []
    built = EXECUTOR.build(kernels, toolchain, tmp_path)
    measured = EXECUTOR.measure(
        built[1:],
        built[0],
        matmul(),
        threads=1,
        policy=ADAPTIVE,
        finished=lambda each: finished.append(each.measurement.id),
    )
    assert {each.status for each in measured} == {"ok"}
    final = {each.id for each in measured if each.final}
    assert final
    assert "slow" not in final
    assert sorted(finished) != sorted([*names, "slow", "original"]), "the finalists are told once more"
    assert Counter(finished)["slow"] == Counter(finished)["original"] == 1
    assert sum(count == 2 for count in Counter(finished).values()) == 4
