"""``polydl bench``: real runs at a tiny size, mistakes and settings."""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from polydl.bench.driver import BenchSettings, workload_of
from polydl.bench.ratios import ratio
from polydl.bench.results import read
from polydl.cli import main
from polydl.errors import ResourceError
from polydl.records.store import read as read_records


def options(*more: str) -> list[str]:
    tiny = ["--max-variants", "4", "--top-k", "2", "--rounds", "2", "--budget", "1", "--timeout", "20"]
    return ["bench", "--workload", "gemm_32x32x32", "--peers", "gcc", *tiny, *more]


@pytest.mark.native
@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc")
def test_a_tiny_run_is_stored_and_not_repeated(tmp_path: Path) -> None:
    out = tmp_path / "results.json"
    first = CliRunner().invoke(main, options("--out", str(out), "--records", str(tmp_path / "kept")))
    assert first.exit_code == 0, first.output
    document = read(out)
    result = document["results"]["gemm_32x32x32"]
    assert result["status"] == "ok", result["message"]
    assert result["flops"] == 2 * 32**3
    assert result["peers"]["gcc"]["status"] == "ok"
    assert result["peers"]["gcc"]["note"].startswith("gcc -O3")
    assert len(result["leaders"]) == 2
    assert ratio(result, "gcc") is not None
    assert "gcc / polydl" in first.output
    found = ratio(result, "gcc")
    assert found is not None
    assert result["ratios"]["gcc"] == asdict(found)
    assert document["summary"]["peers"]["gcc"]["value"] == pytest.approx(found.value)
    assert document["summary"]["of_probe"] == pytest.approx(result["of_probe"])
    records = list(read_records(tmp_path / "kept"))
    assert {each.kind for each in records} == {"variant", "original", "baseline", "peer"}
    assert {each.workload for each in records} == {"gemm_32x32x32"}
    peers = [each for each in records if each.kind == "peer"]
    assert {each.message[:7] for each in peers} == {"gcc -O3"}
    assert sum(each.measurement.complete for each in peers) == 1
    again = CliRunner().invoke(main, options("--out", str(out), "--records", str(tmp_path / "kept")))
    assert again.exit_code == 0, again.output
    assert read(out) == document, "what is there is not measured again"
    cold = CliRunner().invoke(main, options("--out", str(out), "--cold"))
    assert cold.exit_code == 2
    assert "other settings: cold" in cold.output
    other = CliRunner().invoke(main, options("--out", str(out), "--seed", "1"))
    assert other.exit_code == 2
    assert "other settings: seed" in other.output


@pytest.mark.slow
@pytest.mark.native
@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc")
def test_a_run_with_empty_caches_says_so(tmp_path: Path) -> None:
    out = tmp_path / "cold.json"
    done = CliRunner().invoke(main, options("--cold", "--out", str(out), "--records", str(tmp_path / "kept")))
    assert done.exit_code == 0, done.output
    document = read(out)
    assert document["settings"]["cold"] is True
    assert "empty caches" in done.output
    assert ratio(document["results"]["gemm_32x32x32"], "gcc") is not None
    records = list(read_records(tmp_path / "kept"))
    assert {each.kind for each in records} == {"variant", "original", "baseline", "peer"}
    assert all(each.setting.cold for each in records)


@pytest.mark.slow
@pytest.mark.native
@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc")
def test_weights_are_prepared_before_the_timing_if_that_is_asked_for(tmp_path: Path) -> None:
    out = tmp_path / "prepared.json"
    kept = ("--records", str(tmp_path / "kept"), "--max-variants", "40")
    done = CliRunner().invoke(main, options("--weights", "prepared", "--out", str(out), *kept))
    assert done.exit_code == 0, done.output
    assert "weights prepared" in done.output
    document = read(out)
    assert document["settings"]["weights"] == "prepared"
    [result] = document["results"].values()
    assert result["status"] == "ok", result["message"]
    # B is 32 by 32 floats.
    sizes = {leader["prepared_bytes"] for leader in result["leaders"]}
    assert max(sizes) in (0, 4 * 32 * 32), "a buffer holds B, or nothing"
    assert ratio(result, "gcc") is not None
    other = CliRunner().invoke(main, options("--weights", "each-call", "--out", str(out)))
    assert other.exit_code == 2
    assert "weights" in other.output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "name a C file, a workload or a --suite"),
        (["--suite", "resnett"], "did you mean resnet"),
        (["--suite", "foo"], "gemm-paper, polybench"),
        (["--workload", "resnet_3"], "did you mean"),
        (["--workload", "resnet_03", "--peers", "mkl"], "the peers are onednn"),
        (["--workload", "resnet_03", "--layout", "row-major"], "no layout"),
        (["resnet_3"], "resnet_3 is neither a file nor a workload"),
        (["resnet_3"], "did you mean resnet_"),
        (["gemm_0x8x8"], "there is no workload 'gemm_0x8x8'"),
        (["--show"], "--show needs --out"),
        (["--workload", "resnet_03", "--threads", "4096"], "4096 threads"),
    ],
)
def test_mistakes_are_named(arguments: list[str], words: str) -> None:
    result = CliRunner().invoke(main, ["bench", *arguments])
    assert result.exit_code != 0
    assert words in result.output


@pytest.mark.parametrize("name", ["conv_8x16x6x6x3x3s1p1", "resnet_03", "dwconv_16x8x8x3x3s1p1", "polybench_gemm"])
def test_arguments_are_ready_workloads_unless_files_are_called_so(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    taken: list[tuple[list[str], list[str]]] = []

    def measured(chosen: list[str], *rest: Any) -> None:
        taken.append((chosen, list(rest[3])))
        raise ResourceError("enough")

    monkeypatch.setattr("polydl.commands.bench._run", measured)
    CliRunner().invoke(main, ["bench", name, "--workload", "gemm_8x8x8"])
    Path(name).write_text("void f(float a[8]) { for (int i = 0; i < 8; i++) a[i] = 1; }")
    CliRunner().invoke(main, ["bench", name])
    assert taken == [([name, "gemm_8x8x8"], []), ([f"./{name}"], [f"./{name}"])]


def test_every_setting_is_stored() -> None:
    settings = BenchSettings(("gcc",), 1, 1, None, 10, 3, 400, 15, 30.0, 120.0, 0, False)
    assert json.loads(json.dumps(settings.to_json())) == settings.to_json()


def test_padding_is_for_convolutions_alone() -> None:
    settings = BenchSettings(("gcc",), 1, 2, None, 10, 3, 400, 15, 30.0, 120.0, 0, False, padding="skipped")
    assert "if (" in workload_of("resnet_17", settings).source
    assert "if (" not in workload_of("resnet_17", replace(settings, padding=None)).source
    assert workload_of("gemm_8x8x8", settings).flops == 2 * 8**3


@pytest.mark.native
def test_a_workload_without_a_time_of_polydl_gives_the_exit_status(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nest = tmp_path / "gather.c"
    nest.write_text("void gather(float a[8]) {\n  for (int i = 0; i < 8; i++) a[b[i]] = 1;\n}\n")
    out = tmp_path / "results.json"
    kept = ["--peers", "gcc", "--out", str(out), "--records", str(tmp_path / "kept")]
    for run in ("measured", "stored"):
        broken = CliRunner().invoke(main, ["bench", str(nest), *kept])
        assert broken.exit_code == 2, (run, broken.output)
    assert "undeclared identifier" in read(out)["results"][str(nest)]["message"]
    assert CliRunner().invoke(main, ["bench", "--show", "--out", str(out)]).exit_code == 0

    def refused(*_: object, **_options: object) -> None:
        raise ResourceError("nothing passed")

    monkeypatch.setattr("polydl.bench.driver.optimize", refused)
    failed = CliRunner().invoke(main, options("--out", str(tmp_path / "failed.json"), "--records", str(tmp_path)))
    assert failed.exit_code == 1, failed.output
