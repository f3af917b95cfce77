"""Kernels that may be the fastest are timed for further rounds, the others are left alone.

All of them are compiled, run and checked; only what clock and probes said of a sample is replaced by what the test
wants, so that nothing depends on what else the machine does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from execute_nests import matmul, matmul_kernel

from polydl.execute import timing
from polydl.execute.contract import Batch, Finished, Progress, TimingPolicy
from polydl.execute.job import Job
from polydl.execute.local import EXECUTOR
from polydl.execute.participant import Participant
from polydl.execute.rounds import RawSample
from polydl.execute.timing import Timer
from polydl.execute.toolchain import Toolchain

pytestmark = pytest.mark.native

ADAPTIVE = TimingPolicy(
    rounds=12, adaptive=True, minimum_sample_seconds=1e-3, budget_seconds=600.0, timeout_seconds=20.0
)
# Of samples with which the order of equally fast ones is settled.
MANY = 9


@pytest.fixture(scope="module")
def toolchain() -> Toolchain:
    return Toolchain.find()


def script(monkeypatch: pytest.MonkeyPatch, seconds: Mapping[str, float], probe: float = 100.0) -> None:
    """Every sample of a kernel takes its ``seconds``, or one microsecond; ``probe`` is the rate after it, of 100."""
    measured = Timer._sample

    def sample(timer: Timer, participant: Participant) -> None:
        measured(timer, participant)
        assert participant.raw[-1].seconds > 0
        participant.raw[-1] = RawSample(seconds.get(participant.id, 1e-6), (100.0, probe))

    monkeypatch.setattr(Timer, "_sample", sample)


def test_rounds_go_on_for_those_that_may_be_the_fastest(
    toolchain: Toolchain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(monkeypatch, {"original": 5e-6, "slow": 1.01e-6})
    kernels = [matmul_kernel(name) for name in ("original", "slow", "one", "two")]
    finished: list[Finished] = []
    built = EXECUTOR.build(kernels, toolchain, tmp_path)
    measured = EXECUTOR.measure(built[1:], built[0], matmul(), threads=1, policy=ADAPTIVE, finished=finished.append)
    assert {each.status for each in measured} == {"ok"}
    assert {each.id for each in measured if each.final} == {"one", "two"}
    fewest = ADAPTIVE.fewest_rounds
    assert {each.id: len(each.samples) for each in measured} == {
        "original": fewest,
        "slow": fewest,
        "one": MANY,
        "two": MANY,
    }
    assert [each.measurement.id for each in finished][-1] == "original"
    assert {each.measurement.id: each.measurement.samples for each in finished} == {
        each.id: each.samples for each in measured
    }
    assert all(each.probe_gflops == 100.0 and each.baseline_seconds == 5e-6 for each in finished)


def test_where_all_samples_are_disturbed_those_far_behind_leave_but_the_fastest_of_them(
    toolchain: Toolchain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be what the speed-up is over."""
    script(monkeypatch, {"original": 5e-6, "slow": 4e-6, "close": 1.9e-6}, probe=50.0)
    built = EXECUTOR.build([matmul_kernel(name) for name in ("original", "slow", "close", "one")], toolchain, tmp_path)
    measured = EXECUTOR.measure(built[1:], built[0], matmul(), threads=1, policy=ADAPTIVE)
    assert {each.id: len(each.samples) for each in measured} == {
        "original": ADAPTIVE.fewest_rounds,
        "slow": ADAPTIVE.rounds,
        "close": ADAPTIVE.rounds,
        "one": ADAPTIVE.rounds,
    }
    assert not next(each.final for each in measured if each.id == "original")


def test_the_original_is_a_contender_as_any(
    toolchain: Toolchain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(monkeypatch, {"original": 5e-7})
    built = EXECUTOR.build([matmul_kernel(name) for name in ("original", "one", "two")], toolchain, tmp_path)
    measured = EXECUTOR.measure(built[1:], built[0], matmul(), threads=1, policy=ADAPTIVE)
    assert {each.id for each in measured if each.final} == {"original"}
    assert [len(each.samples) for each in measured] == [5, 3, 3]


def test_long_kernels_far_behind_are_timed_by_their_checked_run(
    toolchain: Toolchain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All but the fastest of them: it may be what the speed-up is over."""
    lasting = {"original": 9.0, "a": 4.0, "b": 3.0, "c": 1.0}
    run = timing.first_run

    def first_run(job: Job, participant: Participant) -> None:
        run(job, participant)
        participant.seconds = participant.cost = seconds = lasting.get(participant.id, 0.0)
        participant.raw = [RawSample(seconds, (100.0, 100.0))] if seconds else []

    monkeypatch.setattr("polydl.execute.checking.first_run", first_run)
    script(monkeypatch, lasting)
    built = EXECUTOR.build([matmul_kernel(name) for name in ("original", "a", "b", "c")], toolchain, tmp_path)
    measured = EXECUTOR.measure(built[1:], built[0], matmul(), threads=1, policy=ADAPTIVE)
    assert {each.status for each in measured} == {"ok"}
    counts = {each.id: len(each.samples) for each in measured}
    assert (counts["original"], counts["a"]) == (1, 1)
    assert min(counts["b"], counts["c"]) > 1


@pytest.mark.parametrize(("least", "probe", "samples"), [(0, 100.0, 2), (3, 100.0, 3), (3, 50.0, 6)])
def test_a_budget_does_not_cut_short_the_samples_that_everyone_needs(
    toolchain: Toolchain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, least: int, probe: float, samples: int
) -> None:
    """Twice the fewest rounds are the end where every sample is disturbed."""
    script(monkeypatch, {"slow": 2e-6}, probe)
    built = EXECUTOR.build([matmul_kernel(name) for name in ("original", "one", "slow")], toolchain, tmp_path)
    policy = replace(ADAPTIVE, warmup=0, budget_seconds=1e-3, least_undisturbed=least)
    original, *others = EXECUTOR.measure(built[1:], built[0], matmul(), threads=1, policy=policy)
    assert len(original.samples) == 2
    assert [len(each.samples) for each in others] == [samples, samples]


def test_the_fastest_of_all_waves_meet_in_the_end(
    toolchain: Toolchain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("polydl.execute.local.processes_at_once", lambda *_, **__: 5)
    script(monkeypatch, {"slow": 2e-6, "e": 1.01e-6})
    names = ["a", "b", "c", "d", "e"]
    finished: list[str] = []
    built = EXECUTOR.build([matmul_kernel(name) for name in ("original", *names, "slow")], toolchain, tmp_path)
    measured = EXECUTOR.measure(
        built[1:],
        built[0],
        matmul(),
        threads=1,
        policy=ADAPTIVE,
        finished=lambda result: finished.extend([result.measurement.id] * result.measurement.complete),
    )
    assert {each.status for each in measured} == {"ok"}
    assert {each.id for each in measured if each.final} == {"original", "a", "b", "c", "d"}
    # The finalists are told once more.
    assert Counter(finished) == {"original": 1, "slow": 1, "e": 1, "a": 2, "b": 2, "c": 2, "d": 2}


def test_a_long_nest_is_measured_for_so_many_of_its_runs_and_says_so_beforehand(
    toolchain: Toolchain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All runs count as long, and the time for candidates is spent when the references are there."""
    for name in ("participant", "rounds"):
        monkeypatch.setattr(f"polydl.execute.{name}.LONG_SECONDS", 0.0)
    monkeypatch.setattr("polydl.execute.rounds.LONG_EXTRA_SECONDS", 0.0)
    kernels = [matmul_kernel(name) for name in ("original", "first", "second", "third")]
    built = EXECUTOR.build(kernels, toolchain, tmp_path)
    reports: list[Progress] = []
    asked: list[int] = []

    def measure(policy: TimingPolicy) -> list[str]:
        def further() -> Batch:
            asked.append(1)
            return Batch()

        measured = EXECUTOR.measure(
            built[1:], built[0], matmul(), threads=1, policy=policy, progress=reports.append, more=further
        )
        assert all(len(each.samples) == 1 for each in measured if each.status == "ok" and policy.most_originals)
        return [each.status for each in measured]

    # An invocation takes some microseconds, and a reference milliseconds to start.
    assert measure(replace(ADAPTIVE, rounds=2, most_originals=1)) == ["ok", "ok", "timeout", "timeout"]
    (note,) = (each.note for each in reports if each.note)
    assert "its candidates are measured for 0 s at most" in note
    assert asked == []
    assert measure(replace(ADAPTIVE, rounds=2)) == ["ok"] * 4
    assert asked == [1]


def test_a_candidate_that_is_clearly_slower_than_a_long_nest_is_stopped(
    toolchain: Toolchain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("participant", "rounds"):
        monkeypatch.setattr(f"polydl.execute.{name}.LONG_SECONDS", 0.01)
    sleeping = {"head": "#include <unistd.h>", "before": "usleep(20000);"}
    endless = {"head": "#include <unistd.h>", "before": "for (;;) sleep(1000);"}
    kernels = [matmul_kernel("original", **sleeping), matmul_kernel("first"), matmul_kernel("second", **endless)]
    built = EXECUTOR.build(kernels, toolchain, tmp_path)
    policy = replace(ADAPTIVE, rounds=2, most_originals=20)
    *others, stopped = EXECUTOR.measure(built[1:], built[0], matmul(), threads=1, policy=policy)
    assert [each.status for each in others] == ["ok", "ok"]
    assert stopped.status == "timeout"
    assert "stopped after 0.0" in stopped.message
    assert ": the nest as it is written takes 0.0" in stopped.message
