"""How experiments measure what they compare: with which threads, arrays and libraries."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))


def test_libraries_of_another_commit_or_other_options_are_prepared_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    comparison = import_module("experiments.fusion.comparison")
    monkeypatch.setattr(comparison, "BUILD", tmp_path)
    prepared = list[Path]()

    def prepare(_problem: str, folder: Path) -> dict[str, Any]:
        prepared.append(folder)
        return {}

    def times_prepared(commit: str, images: int = 1) -> int:
        monkeypatch.setattr(comparison, "commit", lambda: commit)
        given = comparison.options("Something.").parse_args(["--out", str(tmp_path / "out.json"), "--prepare"])
        given.images = images
        comparison.run_all(given, ["one"], prepare, lambda _problem, row: row)
        return len(prepared)

    assert times_prepared("1234567") == times_prepared("1234567") == 1
    assert times_prepared("89abcde") == 2
    assert times_prepared("89abcde", images=28) == 3


@pytest.mark.native
def test_openvino_copies_neither_inputs_nor_results_of_models(tmp_path: Path) -> None:
    pytest.importorskip("openvino")
    onnx_models = pytest.importorskip("onnx_models")
    maker, path = onnx_models.ModelMaker(x=(2, 3)), tmp_path / "model.onnx"
    maker.add("Add", "x", maker.constant(np.ones((2, 3))))
    path.write_bytes(maker.model().SerializeToString())
    data = np.zeros((2, 3), np.float32)
    run = import_module("experiments.model_peers").openvino_float(path, data, 1)
    first = run()[0]
    data += 1
    second = run()[0]
    assert np.shares_memory(first, second)
    np.testing.assert_array_equal(second, np.full((2, 3), 2, np.float32))


def test_the_median_of_an_even_number_is_between_the_two_in_the_middle() -> None:
    summary = import_module("experiments.robustness.observed").summary
    assert summary([5.0, 1.0, 4.0, 2.0]) == {"median": 3.0, "longest": 5.0}
    assert summary([]) == {"median": 0.0, "longest": 0.0}


def test_rows_by_rows_are_measured_by_a_process_whose_numpy_has_one_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = list[tuple[list[str], dict[str, str]]]()

    def execve(_program: str, arguments: list[str], environment: dict[str, str]) -> None:
        started.append((arguments, environment))
        raise SystemExit

    monkeypatch.setattr(os, "execve", execve)
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    monkeypatch.setattr(sys, "argv", ["rows_by_rows", "measure", "--out", str(tmp_path / "rows.jsonl")])
    with pytest.raises(SystemExit):
        import_module("experiments.rows_by_rows").main()
    [(arguments, environment)] = started
    assert arguments[1:] == sys.orig_argv[1:]
    assert (environment["OPENBLAS_NUM_THREADS"], environment["OMP_NUM_THREADS"]) == ("1", "1")


def test_arrays_of_a_nest_beside_the_autotuners_are_as_large_as_it_declares_them() -> None:
    """The image of resnet_00 has a row and a column that nothing reads."""
    script = "from emitted import arrays; print([each.shape for each in arrays('resnet_00')])"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT / "experiments" / "autotuners", capture_output=True, text=True
    )
    assert ast.literal_eval(done.stdout) == [(1, 1, 112, 112, 64), (1, 1, 7, 7, 3, 64), (1, 1, 230, 230, 3)]
