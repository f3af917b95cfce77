"""Programs of PolyBench beside compilers, on two of that shape."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from polybench_folder import polybench_folder

import polydl
from polydl import pipeline
from polydl.bench.driver import _result, known_peers
from polydl.bench.polybench import names, program
from polydl.bench.results import read
from polydl.cli import main
from polydl.errors import OptionError
from polydl.ir.measurement import Measurement
from polydl.ir.numerics import DEFAULT_NUMERICS
from polydl.machine import Machine
from polydl.optimization.peers import compare_with_peers
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


@pytest.mark.slow
@pytest.mark.native
def test_the_plain_nest_is_a_leader_where_it_wins(folder: Path) -> None:
    found = program("polybench_smoothed", folder, "MINI")
    nest = polydl.parse(found.path, defines=found.defines, include_directories=found.include_directories)
    result = polydl.optimize(nest, top_k=1, max_variants=4, records=False, calibrate=False)
    slow = (replace(each, measurement=_slowed(each.measurement), record=None) for each in result.tried)
    behind = replace(result, tried=tuple(slow))
    assert behind.plain is not None
    compared = compare_with_peers(behind, [], rounds=2, budget_seconds=1.0, records=False)
    assert compared.plain is not None
    assert compared.plain.name == behind.plain.name
    assert compared.plain.measurement.status == "ok"
    assert compared.plain.measurement.samples
    assert compared.peers == compared.builds == ()
    assert _result(behind, compared)["leaders"][-1]["rank"] is None


def _slowed(measurement: Measurement) -> Measurement:
    samples = tuple(replace(sample, seconds=1.0) for sample in measurement.samples)
    return replace(measurement, samples=samples, seconds_median=1.0, seconds_minimum=1.0)


def bench_document(programs: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """What ``polydl bench`` keeps of programs: by name, seconds of polydl, of each peer, and picks."""

    def timing(seconds: float) -> dict[str, Any]:
        samples = [{"seconds": seconds, "probe_gflops": [50.0, 50.0], "disturbed": False}] * 3
        return {"status": "ok", "note": "", "error": 0.0, "direct": True, "caveat": "", "samples": samples}

    results: dict[str, Any] = {}
    for name, each in programs.items():
        leader = {**timing(each["polydl"]), "variant": "v", "rank": each["rank"], "steps": [], "microkernels": []}
        picks = [{"rank": rank, "status": "ok", "seconds": seconds} for rank, seconds in each["picks"]]
        results[name] = {
            "description": name, "status": "ok", "leaders": [leader], "picks": picks, "optimize_seconds": 10.0,
            "peers": {peer: timing(each[peer]) for peer in ("gcc", "clang")},
        }  # fmt: skip
    return {"settings": {"peers": ["gcc", "clang", "polly"]}, "missing": {"polly": {}}, "results": results}


def test_tables_of_a_benchmark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1]))
    module = import_module("experiments.polybench")
    document = bench_document(
        {
            "polybench_ahead": {"polydl": 1.0, "gcc": 8.0, "clang": 4.0, "rank": 2, "picks": [(1, 2.0), (2, 1.0)]},
            "polybench_behind": {"polydl": 1.0, "gcc": 2.0, "clang": 0.9, "rank": None, "picks": [(3, 1.0)]},
            "polybench_level": {"polydl": 1.0, "gcc": 2.0, "clang": 1.0002, "rank": 1, "picks": [(1, 1.0)]},
        }
    )
    for each, seconds in zip(document["results"].values(), (8.0, 10.0, 9.0), strict=True):
        each["optimize_seconds"] = seconds
    clang = document["results"]["polybench_behind"]["peers"]["clang"]
    clang["samples"] = clang["samples"][:1]
    level = document["results"]["polybench_level"]["peers"]["clang"]
    for place, sample in enumerate(level["samples"]):
        level["samples"][place] = {**sample, "seconds": 0.9802 + 0.02 * place}
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in module.tables(document)]
    assert lines[0][:5] == ["program", "polydl", "gcc", "clang", "best of them"]
    assert lines[2] == ["ahead", "1000 ms", "8.00", "4.00", "4.00 [4.00, 4.00]", "loops", "50 %", "8 s"]
    assert lines[3][2:7] == ["2.00", "0.90 [one sample]", "0.90 [one sample]", "the plain nest", "100 %"]
    assert lines[4][3:5] == ["1.00", "1.00 [0.95, 1.05]"]
    summary = {line[0]: line[1] for line in lines[6:]}
    assert summary["verified"] == "3 of 3"
    assert summary["over gcc, geometric mean"] == "3.17 (of 3)"
    assert summary["ahead of the best of them"] == "1 of 3"
    assert summary["behind the best of them"] == "1"
    assert summary["neither, within the spread"] == "1"
    assert summary["seconds to an answer, median and most"] == "9, 10"
    assert summary["speed of the first pick that ran, of the fastest pick"] == "79 %"


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
    assert known_peers(["polybench_gemm"]) == ("gcc", "clang", "polly", "pluto-like", "pluto")
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


@pytest.mark.native
@pytest.mark.slow
def test_a_file_of_ones_own_is_timed_beside_compilers(folder: Path, tmp_path: Path) -> None:
    nest = tmp_path / "scaled.c"
    nest.write_text("void scaled(int n, float a[n])\n{\n  for (int i = 0; i < n; ++i)\n    a[i] = 2.0f * a[i];\n}\n")
    kept = ["--out", str(tmp_path / "results.json"), "--records", str(tmp_path / "kept")]
    shown = run(folder, str(nest), "-D", "n=64", "--peers", "gcc", *kept)
    (name,) = read(tmp_path / "results.json")["results"]
    assert name == f"{nest} -D n=64"
    assert "gcc / polydl" in shown
    assert "image" not in shown
    before = read(tmp_path / "results.json")["results"][name]
    assert run(folder, str(nest), "-D", "n=64", "--peers", "gcc", *kept)
    assert read(tmp_path / "results.json")["results"][name] == before, "it goes on with what is there"
    nest.write_text(nest.read_text().replace("2.0f", "3.0f"))
    run(folder, str(nest), "-D", "n=64", "--peers", "gcc", *kept)
    assert read(tmp_path / "results.json")["results"][name] != before


def test_files_of_sizes_and_of_c_are_told_apart(tmp_path: Path) -> None:
    sizes = tmp_path / "sizes.csv"
    sizes.write_text("m,n,k\n8,8,8\n")
    none = CliRunner().invoke(main, ["bench", str(sizes), "--peers", "no-such"])
    assert "there is no peer 'no-such'" in none.output
    missing = CliRunner().invoke(main, ["bench", str(tmp_path / "no.c")])
    assert missing.exit_code == 2
    assert "no.c" in missing.output
