"""Constants that are flushed before each timed invocation, and when a model's are taken to be cold."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from packed_nest import NEST

import polydl
from polydl import pipeline
from polydl.cli import main
from polydl.errors import OptionError
from polydl.execute.sampling import MOST_REPEATS
from polydl.execute.worker import Worker
from polydl.frontend.data import with_data
from polydl.ir.cold import cold_of
from polydl.machine import Machine
from polydl.models.kernels import constants_are_cold
from polydl.ranking.explanation import explain
from polydl.records.store import read


class _Buffer:
    def __init__(self, address: int) -> None:
        self.address, self.values = address, np.zeros(address, np.uint8)


@pytest.mark.parametrize(
    ("cold", "expected"),
    [
        (False, ["warm", "run 3"]),
        (True, ["flush 1", "flush 2", "flush 7", "run 1"] * 3),
        ("constants", ["warm", *["flush 2", "flush 7", "run 1"] * 3]),
    ],
    ids=["warm", "cold", "cold constants"],
)
def test_what_is_flushed_before_each_invocation(
    cold: Any, expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    worker: Any = Worker()
    worker._buffers, worker._prepared, worker._batch = [_Buffer(1), _Buffer(2)], (7, 70), MOST_REPEATS
    worker._data = replace(worker._inputs.data, constant=(1,))
    done: list[str] = []

    def invocations(count: int) -> float:
        done.append(f"run {count}")
        return 0.5

    worker._flush = lambda address, size: done.append(f"flush {address}")
    monkeypatch.setattr(worker, "_warm", lambda warmup: done.append("warm"))
    monkeypatch.setattr(worker, "_drifted", lambda: False)
    monkeypatch.setattr(worker, "_invocations", invocations)
    worker._sample(3, 1, cold)
    assert done == expected


def test_other_words_for_caches_are_refused() -> None:
    assert [cold_of(each) for each in (False, np.bool_(True), "constants")] == [False, True, "constants"]
    with pytest.raises(OptionError, match="cold is 'arrays'") as raised:
        cold_of("arrays")
    assert '"constants"' in (raised.value.remedy or "")


def test_constants_are_cold_beyond_half_of_the_last_cache() -> None:
    machine = Machine.detect(threads=1)
    last = machine.caches[-1].bytes
    assert not constants_are_cold(last // 8, "float", machine)
    assert constants_are_cold(last // 8 + 1, "float", machine)
    assert not constants_are_cold(last // 4, "bfloat16", machine)
    assert constants_are_cold(last // 4 + 1, "bfloat16", machine)


@pytest.mark.native
def test_times_with_cold_constants_are_times_apart(tmp_path: Path) -> None:
    path = tmp_path / "packed.c"
    path.write_text(NEST)
    common: dict[str, Any] = {"threads": 1, "max_variants": 4, "top_k": 1, "constant": ["B"], "calibrate": False}
    for cold in (False, "constants"):
        result = polydl.optimize(path, **common, cold=cold, records=tmp_path / "kept")
        assert result.tried
        assert all(each.measurement.status == "ok" for each in result.tried)
        assert ("of constants from memory" in result.ranking.entries[0].reason) == bool(cold)
    assert {each.setting.cold for each in read(tmp_path / "kept")} == {False, "constants"}


@pytest.mark.native
def test_the_command_line_keeps_cold_constants_apart(tmp_path: Path) -> None:
    path = tmp_path / "packed.c"
    path.write_text(NEST)
    given = ["optimize", str(path), "--threads", "1", "--max-variants", "4", "--top-k", "1", "--constant", "B"]
    given += ["--cold-constants", "--records", str(tmp_path / "kept"), "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(main, [*given, "--no-calibration", "--json", str(tmp_path / "answer.json")])
    assert done.exit_code == 0, done.output
    assert "constants from memory" in " ".join(done.output.split())
    assert json.loads((tmp_path / "answer.json").read_text())["cold"] == "constants"
    assert ", constants from memory." in (tmp_path / "out" / "packed_polydl.c").read_text()
    assert {each.setting.cold for each in read(tmp_path / "kept")} == {"constants"}
    shown = CliRunner().invoke(main, ["records", "list", "--records", str(tmp_path / "kept")])
    assert "1 cold constants" in " ".join(shown.output.split())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--cold-constants"], "constants are to be cold, and none are named"),
        (["--cold", "--cold-constants", "--constant", "B"], "--cold flushes all arrays"),
    ],
)
@pytest.mark.native
def test_cold_constants_without_any_or_beside_all_arrays_are_refused(
    options: list[str], words: str, tmp_path: Path
) -> None:
    path = tmp_path / "packed.c"
    path.write_text(NEST)
    done = CliRunner().invoke(main, ["optimize", str(path), *options, "--out", str(tmp_path / "out")])
    assert done.exit_code == 2
    assert words in " ".join(done.output.split())
    assert "remedy: " in done.output


def ranked(path: Path, *options: str) -> tuple[int, str, dict[str, Any]]:
    """The exit status of ``polydl rank``, what it prints, and its document."""
    document = path.with_suffix(".json")
    given = ["rank", str(path), "--threads", "1", "--max-variants", "40", "--ranker", "cost-model", "--constant", "B"]
    done = CliRunner().invoke(main, [*given, "--all", "--explain", *options, "--json", str(document)])
    return done.exit_code, " ".join(done.output.split()), json.loads(document.read_text()) if document.exists() else {}


def test_a_ranking_adds_the_time_of_reading_constants(tmp_path: Path) -> None:
    path = tmp_path / "packed.c"
    path.write_text(NEST)
    (_, warm_text, warm), (status, cold_text, cold) = ranked(path), ranked(path, "--cold-constants")
    assert status == 0, cold_text
    assert "of constants from memory" in cold_text
    assert "of constants from memory" not in warm_text
    costs = [{each["id"]: each["score"] for each in document["entries"]} for document in (warm, cold)]
    assert all(costs[1][name] > costs[0][name] for name in costs[0])


def test_a_reason_may_be_how_long_constants_are_read(tmp_path: Path) -> None:
    path = tmp_path / "packed.c"
    path.write_text(NEST)
    nest, machine = with_data(polydl.parse(path), constant=["B"]), Machine.detect(threads=1)
    variants = pipeline.generate_variants(nest, machine=machine, max_variants=4)
    first, second = pipeline.candidates(nest, variants[:2], machine=machine)
    given = replace(first, constant_bytes=1000), replace(second, constant_bytes=1 << 30)
    words = explain(*given, machine, cold_constants=True)
    assert any("less time on reading constants from memory" in each for each in words)
    assert "In total" in words[-1]
    assert not any("constants" in each for each in explain(*given, machine))
    assert pipeline.explain(nest, *variants[:2], machine=machine, cold_constants=True)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--cold-constants"], "constants are to be cold, and none are named"),
        (["--cold-constants", "--constant", "B", "--variant", "0"], "both --variant and --cold-constants are given"),
    ],
)
def test_a_ranking_with_cold_constants_that_can_not_be(options: list[str], words: str, tmp_path: Path) -> None:
    path = tmp_path / "packed.c"
    path.write_text(NEST)
    done = CliRunner().invoke(main, ["rank", str(path), "--threads", "1", "--max-variants", "4", *options])
    assert done.exit_code == 2
    assert words in " ".join(done.output.split())
    assert "remedy: " in done.output
