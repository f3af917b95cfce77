"""A search that goes on beyond the first picks: batches in one session, budgets, and what is said of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from execute_nests import matmul, matmul_kernel
from scripted_times import scripted

from polydl.cli import main
from polydl.errors import OptionError
from polydl.execute.contract import Batch, TimingPolicy
from polydl.execute.local import EXECUTOR
from polydl.execute.toolchain import Toolchain
from polydl.ir.measurement import Measurement
from polydl.optimization.budget import Budget
from polydl.records.store import read

pytestmark = pytest.mark.native

SCHEMA = json.loads((Path(__file__).parents[1] / "docs" / "optimize.schema.json").read_text(encoding="utf-8"))
MATMUL = """\
void matmul(float C[24][48], float A[24][40], float B[40][48]) {
#pragma scop
  for (int i = 0; i < 24; ++i)
    for (int j = 0; j < 48; ++j)
      for (int k = 0; k < 40; ++k)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""
POLICY = TimingPolicy(rounds=12, adaptive=True, minimum_sample_seconds=1e-3, timeout_seconds=20.0)


def test_further_batches_are_timed_against_the_fastest_and_meet_it_in_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = {"original": 4e-6, "a": 2e-6, "b": 3e-6, "c": 2.5e-6, "d": 1e-6, "e": 1.5e-6, "f": 9e-6}
    scripted(monkeypatch, seconds.__getitem__)
    toolchain = Toolchain.find()
    built = EXECUTOR.build([matmul_kernel(name) for name in ("original", *"abcdef")], toolchain, tmp_path)
    batches = iter([Batch(built[3:5]), Batch(built[5:7]), *[Batch()] * 3])
    finished: list[str] = []
    measured = EXECUTOR.measure(
        built[1:3],
        built[0],
        matmul(),
        threads=1,
        policy=POLICY,
        finished=lambda one: finished.extend([one.measurement.id] * one.measurement.complete),
        more=lambda: next(batches),
    )
    assert [each.id for each in measured] == ["original", *"abcdef"]
    assert {each.status for each in measured} == {"ok"}
    assert {each.id for each in measured if each.final} == {"d"}
    samples = {each.id: len(each.samples) for each in measured}
    assert samples["f"] == POLICY.fewest_rounds, "clearly behind the fastest"
    assert finished.index("original") == 2, "as soon as what it was timed beside is"
    assert Counter(finished) == {"original": 1, "b": 1, "f": 1, "a": 2, "c": 2, "d": 2, "e": 2}


def test_an_original_beside_complete_candidates_is_complete_when_it_is_interrupted(tmp_path: Path) -> None:
    def interrupt() -> Batch:
        raise KeyboardInterrupt

    original, *others = EXECUTOR.build(
        [matmul_kernel(name) for name in ("original", "a", "b")], Toolchain.find(), tmp_path
    )
    finished: list[Measurement] = []
    with pytest.raises(KeyboardInterrupt):
        EXECUTOR.measure(
            others,
            original,
            matmul(),
            threads=1,
            policy=POLICY,
            finished=lambda one: finished.append(one.measurement),
            more=interrupt,
        )
    assert [(each.id, each.complete) for each in finished][-3:] == [("a", True), ("b", True), ("original", True)]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    monkeypatch.chdir(tmp_path)
    Path("matmul.c").write_text(MATMUL)

    def run(*arguments: str) -> dict[str, Any]:
        words = ["optimize", "matmul.c", "--max-variants", "8", "--top-k", "2", "--threads", "1", "--records", "kept"]
        assert main.main([*words, "--json", "-", *arguments], standalone_mode=False) == 0
        document: dict[str, Any] = json.loads(capsys.readouterr().out)
        jsonschema.validate(document, SCHEMA)
        return document

    return run


@pytest.mark.slow
def test_a_budget_of_runs_is_kept_and_what_was_measured_is_not_measured_again(run: Callable[..., Any]) -> None:
    assert run()["search"] is None
    document = run("--budget", "7runs")
    search = document["search"]
    assert (search["strategy"], search["runs"]) == ("ranked", 7)
    assert len(document["candidates"]) == 7
    assert document["counts"]["ranked"] > 8, "further variants are drawn and ranked"
    best = [step["best"] for step in search["improvements"]]
    assert best == sorted(best, reverse=True)
    assert [step["runs"] for step in search["improvements"]] == sorted(step["runs"] for step in search["improvements"])
    assert 0 <= search["expected_gain"] <= 1
    before = Counter(record.id for record in read(Path("kept")) if record.kind == "variant")
    further = run("--budget", "9runs")
    assert len(further["candidates"]) == 9
    after = Counter(record.id for record in read(Path("kept")) if record.kind == "variant")
    again = [name for name in before if after[name] > before[name]]
    assert len(again) <= 2 + 4, "the first picks and the finalists, beside what is new"


@pytest.mark.slow
def test_a_budget_of_fewer_runs_than_picks_is_kept(run: Callable[..., Any]) -> None:
    document = run("--budget", "1run")
    assert document["search"]["runs"] == len(document["candidates"]) == 1
    assert document["search"]["gap"] is None


@pytest.mark.slow
def test_a_strategy_that_proves_something_says_so(run: Callable[..., Any]) -> None:
    assert 0 <= run("--budget", "4runs", "--strategy", "bound")["search"]["gap"] < 1


def test_the_time_of_a_command_is_counted_from_its_beginning(
    run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[Budget] = []

    def record(*_: object, budget: Budget, **__: object) -> None:
        given.append(budget)
        raise OptionError("that is all", remedy="none")

    monkeypatch.setattr("polydl.optimization.optimize.optimize", record)
    assert main.main(["optimize", "matmul.c", "--budget", "9s", "--records", "kept"], standalone_mode=False) == 2
    assert given[0].seconds == 9
    assert given[0].before > 0, "it is read first"


@pytest.mark.slow
def test_the_winner_is_the_fastest_of_all_batches(run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Here what comes later is faster."""
    order: list[str] = []

    def seconds(identity: str) -> float:
        order.extend([identity] * (identity not in order))
        return 1e-3 * 0.5 ** order.index(identity)

    scripted(monkeypatch, seconds)
    document = run("--budget", "6runs")
    assert document["best"]["id"] == order[-1]
    assert document["search"]["improvements"][-1]["runs"] == 6
    assert Path(document["files"]["library"]).exists()


@pytest.mark.slow
def test_what_a_search_gained_is_said(run: Callable[..., Any], capsys: pytest.CaptureFixture[str]) -> None:
    words = "optimize matmul.c --max-variants 8 --top-k 2 --threads 1 --records kept --budget 6runs --strategy random"
    assert main.main(words.split(), standalone_mode=False) == 0
    out = capsys.readouterr().out
    assert "Search  random, 6 runs in " in out
    assert "as many runs again may gain" in " ".join(out.split())


@pytest.mark.parametrize(("option", "said"), [(("--budget", "soon"), "no budget"), (("--strategy", "luck"), "strateg")])
def test_mistakes_are_told_before_anything_is_done(
    option: Sequence[str], said: str, run: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.main(["optimize", "matmul.c", *option], standalone_mode=False) == 2
    assert said in capsys.readouterr().err
    assert not Path("polydl-out").exists()


@pytest.mark.slow
def test_a_search_ends_when_nothing_is_left(run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("polydl.optimization.search_space.RankedSpace.draw", lambda *_: [])
    document = run("--budget", "30runs", "--microkernel", "c")
    assert len(document["candidates"]) == document["counts"]["ranked"] == document["search"]["runs"]
