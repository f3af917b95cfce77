"""Programs of PolyBench beside compilers, on two of that shape."""

from __future__ import annotations

import json
import shutil
from importlib import import_module
from pathlib import Path

import pytest
from click.testing import CliRunner
from polybench_folder import polybench_folder

import polydl
from polydl import pipeline
from polydl.bench.driver import known_peers
from polydl.bench.polybench import names, program
from polydl.bench.results import read
from polydl.cli import main
from polydl.errors import OptionError
from polydl.ir.numerics import DEFAULT_NUMERICS
from polydl.machine import Machine
from polydl.variants.plain_schedule import TILE, plain_schedule
from polydl.variants.rewrites.reschedule import Reschedule


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return polybench_folder(tmp_path)


def run(folder: Path, *more: str) -> str:
    tiny = ["--max-variants", "4", "--top-k", "1", "--rounds", "2", "--budget", "1", "--timeout", "20"]
    done = CliRunner().invoke(main, ["bench", "--polybench", str(folder), *tiny, *more])
    assert done.exit_code == 0, done.output
    return done.output


@pytest.mark.native
@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc")
@pytest.mark.slow
def test_the_suite_is_verified_and_timed_beside_compilers(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "results.json"
    kept = ["--out", str(out), "--records", str(tmp_path / "kept")]
    shown = run(folder, "--suite", "polybench", "--dataset", "MINI", "--peers", "gcc,pluto-like", *kept)
    document = read(out)
    assert [*document["results"]] == ["polybench_added_product", "polybench_smoothed"]
    assert document["settings"]["dataset"] == "MINI"
    for result in document["results"].values():
        assert result["status"] == "ok", result["message"]
        assert result["leaders"][0]["status"] == "ok"
        assert {name: timing["status"] for name, timing in result["peers"].items()} == {"gcc": "ok", "pluto-like": "ok"}
        assert all("-ffast-math" in timing["note"] for timing in result["peers"].values())
        assert set(result["ratios"]) == {"gcc", "pluto-like"}
    assert document["results"]["polybench_added_product"]["flops"] == 3 * 12**3
    assert "PolyBench MINI" in shown
    assert "pluto-like / polydl" in shown
    other = ["bench", "--polybench", str(folder), "--suite", "polybench", "--dataset", "SMALL", "--out", str(out)]
    assert "other settings: " in CliRunner().invoke(main, other).output
    assert json.loads(out.read_text())["results"] == document["results"]


def test_programs_are_listed_with_their_macros(folder: Path) -> None:
    assert names(folder) == ("polybench_added_product", "polybench_smoothed")
    found = program("polybench_added_product", folder, "SMALL")
    assert found.function == "kernel_added_product"
    nest = polydl.parse(
        found.path,
        function=found.function,
        defines=found.defines,
        include_directories=found.include_directories,
    )
    assert nest.array("c").extents == (40, 40)


def test_only_compilers_know_programs() -> None:
    assert known_peers(["polybench_gemm"]) == ("gcc", "clang", "polly", "pluto-like")
    assert "pluto-like" not in known_peers(["gemm_8x8x8"])
    assert known_peers(["gemm_8x8x8", "polybench_gemm"])[0] == "onednn"


def test_a_folder_without_polybench_is_named_with_the_remedy(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="PolyBench is not there") as raised:
        names(tmp_path)
    assert "make polybench" in str(raised.value)
    with pytest.raises(OptionError, match="no program") as raised:
        program("polybench_smothed", folder, "SMALL")
    assert (raised.value.remedy or "").startswith("one of polybench_smoothed")
    (folder / "stencils/smoothed/smoothed.c").unlink()
    with pytest.raises(OptionError, match="not there"):
        program("polybench_smoothed", folder, "SMALL")


def test_a_data_set_is_for_programs_alone() -> None:
    done = CliRunner().invoke(main, ["bench", "--workload", "gemm_8x8x8", "--dataset", "MINI"])
    assert done.exit_code == 2
    assert "programs of PolyBench" in done.output


@pytest.mark.parametrize("threads", [1, 2])
def test_the_plain_schedule_is_legal_and_in_tiles(folder: Path, threads: int) -> None:
    found = program("polybench_smoothed", folder, "SMALL")
    nest = polydl.parse(found.path, defines=found.defines, include_directories=found.include_directories)
    variant = plain_schedule(nest, threads=threads, numerics=DEFAULT_NUMERICS)
    (step,) = variant.steps
    assert isinstance(step, Reschedule)
    assert step.sizes == (TILE, TILE)
    assert step.wavefront == (threads > 1)
    pipeline.apply(nest, variant, machine=Machine.detect(cache_sizes="32K,1M", threads=1)).prove()


@pytest.mark.native
@pytest.mark.slow
def test_the_experiment_says_what_was_verified(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1]))
    out = tmp_path / "small.json"
    few = ["--max-variants", "4", "--top-k", "1", "--program", "polybench_added_product"]
    import_module("experiments.polybench").main(["--polybench", str(folder), "--out", str(out), *few])
    result = json.loads(out.read_text())["results"]["polybench_added_product"]
    assert result["status"] == "verified"
    assert set(result["candidates"]) == {"ok"}
