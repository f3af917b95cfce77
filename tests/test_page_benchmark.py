"""The page of a run of ``polydl bench``."""

from __future__ import annotations

import csv
import json
import lzma
import re
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from polydl.cli import main
from polydl.errors import OptionError
from polydl.page.benchmark import read_benchmark
from polydl.page.render import benchmark_page

DATA = Path(__file__).parents[1] / "experiments" / "data" / "resnet-zen5-28.json.xz"


def document(*workloads: str) -> dict[str, Any]:
    with lzma.open(DATA) as file:
        read: dict[str, Any] = json.load(file)
    return {**read, "results": {name: read["results"][name] for name in workloads}}


def test_workloads_have_their_times_ratios_and_what_failed() -> None:
    failed, timed = read_benchmark(document("resnet_00", "resnet_01"), "bench.json").workloads
    assert [each.kind for each in failed.timed] == ["variant", "variant", "baseline"]
    assert [title for title, _ in failed.failed] == ["onednn", "onednn-direct"]
    assert failed.failed[0][1].startswith("no answer within")
    assert failed.ratios == {}
    assert [each.name for each in timed.timed if each.kind == "peer"] == ["onednn", "onednn-direct"]
    assert all(len(each.samples) > 2 and each.quartiles for each in timed.timed)
    fastest = min((each for each in timed.timed if each.kind == "variant"), key=lambda variant: variant.seconds or 0)
    assert timed.best == fastest.name
    value, low, high = timed.ratios["onednn"]
    assert low < value < high


def test_the_command_makes_a_page_of_a_benchmark_and_of_that_page(tmp_path: Path) -> None:
    path, page, again = (tmp_path / name for name in ("bench.json", "bench.html", "again.html"))
    path.write_text(json.dumps(document("resnet_01")))
    for source, out in ((path, page), (page, again)):
        ended = CliRunner().invoke(main, ["report", str(source), "--out", str(out)])
        assert ended.exit_code == 0, ended.output
    text = page.read_text()
    assert text == again.read_text()
    for said in ("resnet_01", "onednn-direct", "the nest as written", "with 90 % certainty", "<svg"):
        assert said in text
    assert "<script>" not in text
    both = CliRunner().invoke(main, ["report", str(path), str(page), "--out", str(tmp_path / "both.html")])
    assert both.exit_code == 2
    assert "compared with nothing" in both.output


def test_all_numbers_are_in_files_of_the_page() -> None:
    content = document("resnet_00", "resnet_01")
    page = benchmark_page(read_benchmark(content, "bench.json"))
    files = dict(re.findall(r'<a download="([^"]*)" href="data:[^,]*,([^"]*)"', page))
    [table, whole] = [b64decode(text).decode() for _, text in sorted(files.items())]
    assert sorted(name.rpartition(".")[2] for name in files) == ["csv", "json"]
    assert json.loads(whole) == content
    rows = list(csv.DictReader(table.splitlines()))
    assert [row["name"] for row in rows if row["status"] == "failed"] == ["onednn", "onednn-direct"]
    timed = [row for row in rows if row["workload"] == "resnet_01"]
    result = content["results"]["resnet_01"]
    assert {row["name"] for row in timed} == {
        "the nest as written", *(leader["variant"] for leader in result["leaders"]), *result["peers"]
    }  # fmt: skip
    [peer] = [row for row in timed if row["name"] == "onednn"]
    assert float(peer["polydl_times_as_fast"]) == result["ratios"]["onednn"]["value"]
    assert float(peer["gflops"]) == pytest.approx(result["flops"] / float(peer["seconds_median"]) / 1e9)
    assert len(peer["sample_seconds"].split()) == int(peer["samples"]) > 2


def test_what_an_interrupted_benchmark_wrote_has_no_means() -> None:
    content = document("resnet_01")
    del content["summary"], content["results"]["resnet_01"]["ratios"]
    benchmark = read_benchmark(content, "bench.json")
    assert benchmark.means == {}
    assert benchmark.workloads[0].ratios == {}


def test_another_schema_and_damage_are_refused() -> None:
    with pytest.raises(OptionError, match="of schema 1, and pages are made of 2"):
        read_benchmark({**document("resnet_01"), "schema": 1}, "bench.json")
    with pytest.raises(OptionError, match="the document is damaged: KeyError"):
        read_benchmark({**document("resnet_01"), "machine": {}}, "bench.json")
