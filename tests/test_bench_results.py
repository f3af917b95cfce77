"""What is made of recorded results: ratios to peers, means, tables, the file."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from machines import machine_with
from marks import parametrized
from rich.console import Console

from polydl import registry
from polydl.bench.parts import merged
from polydl.bench.peers.kinds import KINDS, PeerSetting
from polydl.bench.ratios import Document, _student, fastest_leader, mean_ratio, own_seconds, ratio, seconds
from polydl.bench.results import concluded, rate, read, write
from polydl.cli import main
from polydl.errors import OptionError
from polydl.ir.families import BILINEAR
from polydl.ir.measurement import Measurement
from polydl.ir.variant import Variant
from polydl.optimization.peers import leading
from polydl.optimization.shards import Shard
from polydl.plan.rewrite_steps import has_fewer_products
from polydl.presentation.bench import print_table, result_line, summary_table, workloads_table
from polydl.workloads import workload

RECORDED = Path(__file__).parent / "data" / "bench_results.json"


@pytest.fixture
def recorded() -> Document:
    return read(RECORDED)


def timing(*samples: float, disturbed: tuple[int, ...] = (), direct: bool = False) -> Document:
    return {
        "status": "ok",
        "direct": direct,
        "note": "",
        "caveat": "",
        "samples": [{"seconds": each, "disturbed": place in disturbed} for place, each in enumerate(samples)],
    }


def test_only_undisturbed_samples_count_unless_there_are_too_few() -> None:
    assert seconds(timing(1.0, 2.0, 3.0, disturbed=(0,))) == [2.0, 3.0]
    assert seconds(timing(1.0, 2.0, disturbed=(0, 1))) == [1.0, 2.0]
    assert seconds(timing(1.0, 2.0, disturbed=(0,))) == [1.0, 2.0], "one alone has no bracket"


def test_a_ratio_is_of_medians_with_the_interval_around_it() -> None:
    result = {
        "description": "a layer",
        "leaders": [timing(9.0, 9.0), timing(1.0, 2.0, 3.0), {"status": "wrong", "samples": []}],
        "peers": {"other": timing(2.0, 3.0, 4.0, 100.0, disturbed=(3,)), "broken": {"status": "crash", "samples": []}},
    }
    assert fastest_leader(result) == timing(1.0, 2.0, 3.0)
    found = ratio(result, "other")
    assert found is not None
    assert found.value == pytest.approx(1.5, rel=0.1)
    assert found.low < 1.5 < found.high
    assert ratio(result, "broken") is None
    assert ratio(result, "absent") is None
    assert ratio({**result, "leaders": []}, "other") is None


def test_a_single_sample_has_no_bracket_and_makes_no_mean_certain() -> None:
    single = {"description": "a", "leaders": [timing(2.0)], "peers": {"other": timing(3.0)}}
    several = {"description": "b", "leaders": [timing(1.9, 2.0, 2.1)], "peers": {"other": timing(2.8, 3.0, 3.2)}}
    alone, beside = ratio(single, "other"), ratio(several, "other")
    assert alone is not None
    assert beside is not None
    assert alone.value == pytest.approx(1.5)
    assert not alone.bracketed
    assert alone.bracket == "[one sample]"
    assert beside.bracketed
    assert beside.bracket == f"[{beside.low:.2f}, {beside.high:.2f}]"
    both, twice = (mean_ratio([other, several], "other") for other in (single, {**several, "description": "a"}))
    assert both is not None
    assert twice is not None
    assert both[0].high / both[0].low > 0.99 * twice[0].high / twice[0].low


def test_the_mean_is_geometric_and_steadier_than_its_parts() -> None:
    def layer(number: int, factor: float) -> Document:
        samples = [1.0 + 0.01 * place for place in range(10)]
        own, other = timing(*samples), timing(*(factor * each for each in samples))
        return {"description": f"layer {number}", "leaders": [own], "peers": {"other": other}}

    layers = [layer(number, factor) for number, factor in enumerate([0.5, 2.0, 4.0, 1.0] * 4)]
    found = mean_ratio(layers, "other")
    assert found is not None
    mean, each = found
    assert mean.value == pytest.approx(math.sqrt(2.0), rel=1e-3)
    assert each == pytest.approx([0.5, 2.0, 4.0, 1.0] * 4, rel=2e-3)
    single = ratio(layers[0], "other")
    assert single is not None
    assert mean.high / mean.low < single.high / single.low
    assert mean_ratio(layers, "absent") is None


def layer_of(name: str, leaders: Sequence[Document], **peers: Document) -> Document:
    return {"description": name, "flops": 1e9, "leaders": list(leaders), "peers": peers}


@parametrized(("samples", "leaders"), [(9, 1), (9, 3), (15, 3)], quick=1)
def test_choosing_among_leaders_that_are_alike_is_no_advantage(samples: int, leaders: int) -> None:
    """5 % noise and no difference: the centre is 1, and nine of ten brackets hold it."""
    generator = np.random.default_rng(18)

    def noisy() -> Document:
        return timing(*(1 + 0.05 * generator.standard_normal(samples)))

    layers = [layer_of(f"layer {number}", [noisy() for _ in range(leaders)], other=noisy()) for number in range(400)]
    found = mean_ratio(layers, "other")
    assert found is not None
    assert found[0].value == pytest.approx(1.0, abs=3e-3)
    assert found[0].low < 1 < found[0].high
    brackets = [one for each in layers if (one := ratio(each, "other")) is not None]
    assert len(brackets) == 400
    assert sum(each.low <= 1 <= each.high for each in brackets) / 400 == pytest.approx(0.9, abs=0.05)


def test_a_leader_that_is_faster_is_chosen() -> None:
    slow, fast = (
        timing(*(2.0 + 0.01 * place for place in range(9))),
        timing(*(1.0 + 0.01 * place for place in range(9))),
    )
    assert own_seconds(layer_of("x", [slow, fast, slow])) == pytest.approx(1.04, abs=0.01)
    single = own_seconds(layer_of("x", [timing(3.0), timing(2.0)]))
    assert single == pytest.approx(2.0), "a single sample both chooses and counts"


@pytest.mark.slow
def test_every_draw_takes_equally_many_samples_of_both() -> None:
    """The median of few samples of a skewed distribution lies above that of many."""
    generator = np.random.default_rng(4)
    layers = [
        layer_of(
            f"layer {number}",
            [timing(*(1 + generator.exponential(0.05, 25)))],
            other=timing(*(1 + generator.exponential(0.05, 5))),
        )
        for number in range(200)
    ]
    found = mean_ratio(layers, "other")
    assert found is not None
    assert found[0].value == pytest.approx(1.0, abs=5e-3)


def test_what_a_library_ran_as_its_best_direct_way_is_one_of_all_its_ways() -> None:
    """A library that is asked twice chooses twice, and either choice may be a poor one."""
    ours = timing(*[1.0] * 5, direct=True)
    slow, fast = timing(*[3.0] * 5), timing(*[2.0] * 5, direct=True)
    poor = layer_of("x", [ours], onednn=slow, **{"onednn-direct": fast})
    assert [ratio(poor, peer).value for peer in ("onednn", "onednn-direct")] == pytest.approx([2.0, 2.0])  # type: ignore[union-attr]
    slow, fast = timing(*[3.0] * 5, direct=True), {**timing(*[2.0] * 5), "note": "oneDNN 2.6.3, direct jit, nhwc"}
    poor = layer_of("x", [ours], onednn=fast, **{"onednn-direct": slow})
    assert ratio(poor, "onednn-direct").value == pytest.approx(2.0)  # type: ignore[union-attr]
    winograd = {**fast, "note": "oneDNN 2.6.3, Winograd jit, nhwc"}
    other = layer_of("x", [ours], onednn=winograd, **{"onednn-direct": slow})
    assert ratio(other, "onednn-direct").value == pytest.approx(3.0)  # type: ignore[union-attr]


def test_a_library_that_failed_once_is_compared_by_its_other_choice() -> None:
    ours, failed = timing(*[1.0] * 5, direct=True), {"status": "timeout", "direct": True, "note": "", "samples": []}
    best = {**timing(*[2.0] * 5), "note": "oneDNN 2.6.3, direct jit, nhwc"}
    layer = layer_of("x", [ours], onednn=best, **{"onednn-direct": failed})
    assert ratio(layer, "onednn-direct").value == pytest.approx(2.0)  # type: ignore[union-attr]
    winograd = {**best, "note": "oneDNN 2.6.3, Winograd jit, nhwc"}
    assert ratio(layer_of("x", [ours], onednn=winograd, **{"onednn-direct": failed}), "onednn-direct") is None
    assert ratio(layer_of("x", [ours], **{"onednn-direct": failed}), "onednn-direct") is None


def test_direct_peers_are_compared_with_variants_that_compute_every_product() -> None:
    winograd, direct = timing(1.0, 1.0), timing(2.0, 2.0, direct=True)
    peers = {"best": timing(1.5, 1.5), "direct": timing(3.0, 3.0, direct=True)}
    layer = layer_of("x", [winograd, direct], **peers)
    found = {peer: ratio(layer, peer) for peer in peers}
    assert [one and one.value for one in found.values()] == [pytest.approx(1.5)] * 2
    assert rate(layer) == pytest.approx(1.0)
    assert rate(layer, direct=True) == pytest.approx(0.5)
    assert ratio(layer_of("x", [winograd], **peers), "direct") is None
    assert [kind.name for kind in KINDS.values() if kind.direct] == ["onednn-direct"]


@dataclass(frozen=True)
class _Ranked:
    variant: Any


@dataclass(frozen=True)
class _Run:
    """What ``leading`` looks at of a candidate that was run."""

    ranked: _Ranked
    measurement: Measurement


def test_the_fastest_that_compute_every_product_are_among_the_leaders() -> None:
    fewer = [registry.load("rewrites", name) for name in registry.names("rewrites")]
    [step, *_] = [rewrite.step for rewrite in fewer if BILINEAR in rewrite.families]

    def run(name: str, median: float, direct: bool) -> Any:
        steps = () if direct else (object.__new__(step),)
        measurement = Measurement(name, "ok", seconds_minimum=1.0, seconds_median=median)
        return _Run(_Ranked(Variant(steps)), measurement)

    runs = [run("a", 1.0, False), run("b", 2.0, False), run("c", 3.0, True), run("d", 2.5, False), run("e", 9.0, True)]
    assert [each.measurement.id for each in leading(runs, 2)] == ["a", "b", "c", "e"]
    assert has_fewer_products(runs[0].ranked.variant)
    assert not has_fewer_products(runs[2].ranked.variant)


def test_a_ratio_to_mkl_on_a_processor_of_amd_says_which_path_it_takes(recorded: Document) -> None:
    machine = replace(machine_with(1, 32), cpu_id="AuthenticAMD-25-1-1-32K")
    amd, intel = PeerSetting(1, cpu_id=machine.cpu_id), PeerSetting(1, cpu_id="GenuineIntel-6-143-8-48K")
    product, layer = workload("gemm_8x8x8"), workload("resnet_03")
    caveat = KINDS["torch"].caveat(product, amd)
    assert "AVX2 path" in caveat
    assert KINDS["torch"].caveat(product, intel) == ""
    assert KINDS["torch"].caveat(layer, amd) == "", "convolutions are oneDNN's"
    assert {name for name, kind in KINDS.items() if kind.caveat(product, amd)} == {"torch"}
    table = workloads_table(recorded)
    assert caveat in str(table.caption)
    [column] = [column for column in table.columns if str(column.header).startswith("torch")]
    assert ["¹" in str(cell) for cell in column.cells] == [name.startswith("gemm") for name in recorded["results"]]
    for each in recorded["results"].values():
        each["peers"]["torch"]["caveat"] = ""
    assert "AVX2" not in str(workloads_table(recorded).caption)


def test_the_tables_of_recorded_results(recorded: Document) -> None:
    rows = workloads_table(recorded)
    assert rows.row_count == len(recorded["results"]) == 3
    result = CliRunner().invoke(main, ["bench", "--show", "--out", str(RECORDED)])
    assert result.exit_code == 0, result.output
    assert [line for line in result.output.splitlines() if line != line.rstrip()] == []
    for name, layer in recorded["results"].items():
        own = rate(layer)
        assert own is not None
        line = next(line for line in result.output.splitlines() if name in line)
        assert f"{own:.1f}" in line
        found = ratio(layer, "onednn")
        assert found is not None
        assert f"{found.value:.3f} [{found.low:.2f}, {found.high:.2f}]" in line
    summary = next(line for line in result.output.splitlines() if line.strip().startswith("openblas"))
    assert summary.endswith(" of 1"), "OpenBLAS has no convolutions"


def test_failures_stay_in_the_tables(recorded: Document) -> None:
    layers = recorded["results"]
    layers["resnet_18"]["peers"]["torch"] |= {"status": "crash", "samples": [], "note": "SIGSEGV\nmore"}
    layers["mobilenet_11"] |= {"status": "failed", "message": "nothing passed", "leaders": [], "peers": {}}
    assert workloads_table(recorded).row_count == 3
    cells = [list(column.cells) for column in workloads_table(recorded).columns]
    assert "[red]failed[/red]" in cells[1]
    assert any("[red]crash[/red]" in column for column in cells)
    summary = summary_table(recorded)
    assert "2 of 3 workloads" in str(summary.title)
    means, *lines = str(summary.caption).splitlines()
    assert means.startswith("Means are of the workloads at which both have a time.")
    assert "polydl at mobilenet_11: failed (nothing passed)" in lines
    assert "torch at resnet_18: crash (SIGSEGV)" in lines
    assert "openblas at resnet_18: not asked" in lines
    assert len(lines) == 3


def test_what_a_mean_lacks_is_said() -> None:
    ours, winograd = timing(*[1.0] * 5, direct=True), timing(*[1.0] * 5)
    late = {"status": "timeout", "direct": True, "note": "no answer within 60 s", "samples": []}
    best = {**timing(*[2.0] * 5), "note": "oneDNN 2.6.3, direct jit, nhwc"}
    direct = timing(*[2.0] * 5, direct=True)
    layers = {
        "both": layer_of("both", [ours], onednn=best, **{"onednn-direct": direct}),
        "late": layer_of("late", [ours], onednn=late | {"direct": False}, **{"onednn-direct": late}),
        "later": layer_of("later", [ours], onednn=late | {"direct": False}, **{"onednn-direct": late}),
        "by the other": layer_of("by the other", [ours], onednn=best, **{"onednn-direct": late}),
        "fewer": layer_of("fewer", [winograd], onednn=best, **{"onednn-direct": direct}),
    }
    whole = {
        "settings": {"peers": ["onednn", "onednn-direct"], "threads": 1},
        "results": {name: {**layer, "status": "ok", "best_probe_gflops": 1.0} for name, layer in layers.items()},
    }
    summary = concluded(whole)["summary"]
    assert {name: peer["workloads"] for name, peer in summary["peers"].items()} == {"onednn": 3, "onednn-direct": 2}
    assert [(one["peer"], one["workload"], one["status"]) for one in summary["untimed"]] == [
        ("onednn", "late", "timeout"),
        ("onednn-direct", "late", "timeout"),
        ("onednn", "later", "timeout"),
        ("onednn-direct", "later", "timeout"),
        ("onednn-direct", "by the other", "timeout"),
        ("onednn-direct", "fewer", "no ratio"),
    ]
    assert str(summary_table(whole).caption).splitlines()[1:] == [
        "onednn at late, later: timeout (no answer within 60 s)",
        "onednn-direct at late, later: timeout (no answer within 60 s)",
        "onednn-direct at by the other: timeout (no answer within 60 s); its ratio is of onednn's time",
        "onednn-direct at fewer: no ratio (polydl has no time of a variant that computes every product)",
    ]


def test_results_are_written_whole_and_read_back(recorded: Document, tmp_path: Path) -> None:
    path = tmp_path / "new" / "results.json"
    write(recorded, path)
    assert read(path) == recorded
    assert [each.name for each in path.parent.iterdir()] == ["results.json"]
    other = copy.deepcopy(recorded)
    other["schema"] = 0
    path.write_text(json.dumps(other))
    with pytest.raises(OptionError, match="schema"):
        read(path)


# ---- parts


def parts_of(whole: Document, folder: Path, count: int) -> list[Path]:
    """What ``--shard 1/count`` to ``--shard count/count`` write of a run, the last part first."""
    paths = []
    for number in range(count, 0, -1):
        shard = Shard(number, count)
        results = {name: whole["results"][name] for name in shard.of(tuple(whole["results"]))}
        paths.append(folder / f"{number}.json")
        write(concluded({**whole, "shard": str(shard), "results": results}), paths[-1])
    return paths


@pytest.mark.parametrize("count", [1, 2, 3])
def test_merged_parts_are_the_whole_run(recorded: Document, tmp_path: Path, count: int) -> None:
    whole = {**recorded, "shard": None}
    paths = parts_of(whole, tmp_path, count)
    write(concluded(whole), tmp_path / "whole.json")
    line = ["bench", *(word for path in paths for word in ("--merge", str(path))), "--out", str(tmp_path / "all.json")]
    shown = CliRunner().invoke(main, line)
    assert shown.exit_code == 0, shown.output
    assert shown.output == CliRunner().invoke(main, ["bench", "--show", "--out", str(tmp_path / "whole.json")]).output
    assert (tmp_path / "all.json").read_text() == (tmp_path / "whole.json").read_text()


def test_only_the_parts_of_one_run_are_merged(recorded: Document, tmp_path: Path) -> None:
    second, first = (read(path) for path in parts_of({**recorded, "shard": None}, tmp_path, 2))
    assert list(merged({"1": first, "2": second})["results"]) == list(recorded["results"])
    for others, words in (
        ({}, "results of 2/2 are not named"),
        ({"again": first}, "is part 1/2 like 1"),
        ({"3": {**second, "shard": "2/3"}}, "3: is part 2/3, and 1 another whole's"),
        ({"3": {**second, "shard": "1/1"}}, "3: is part 1/1, and 1 another whole's"),
        ({"whole": {**second, "shard": None}}, "a whole one"),
        ({"2": {**second, "settings": {**second["settings"], "seed": 5}}}, "other settings: seed"),
        ({"2": {**second, "machine": {**second["machine"], "cpu_id": "another"}}}, "another machine"),
    ):
        with pytest.raises(OptionError, match=words):
            merged({"1": first, **others})


def test_brackets_of_two_and_of_three_samples_are_those_of_tables_of_students_distribution() -> None:
    """Of 1, 2, 3, 10 and 100 degrees of freedom."""
    freedoms = (1, 2, 3, 10, 100)
    assert [_student(freedom) for freedom in freedoms] == pytest.approx([6.314, 2.920, 2.353, 1.812, 1.660], rel=0.02)


def of_programs(*names: str, flops: float) -> Document:
    """Results of C files, of which one peer has a time."""
    ours, other = timing(*[1.0] * 5, direct=True), timing(*[2.0] * 5)
    layers = {name: layer_of(name, [{**ours, "rank": 1}], gcc=other) for name in names}
    common = {"status": "ok", "message": "", "flops": flops, "best_probe_gflops": 1.0, "seconds_spent": 3.0}
    return {
        "settings": {"peers": ["gcc"], "threads": 1, "cold": False, "images": 1},
        "machine": {"name": "a processor"},
        "started": "2026-12-01",
        "results": {name: {**layer, **common} for name, layer in layers.items()},
    }


def test_a_nest_without_arithmetic_has_no_part_of_the_probe() -> None:
    whole = concluded(of_programs("transpose.c", flops=0))
    assert whole["summary"]["of_probe"] is None
    assert whole["results"]["transpose.c"]["of_probe"] is None
    assert whole["summary"]["peers"]["gcc"]["value"] == pytest.approx(2.0)
    assert "probe" not in str(summary_table(whole).title)
    row = [next(iter(column.cells)) for column in workloads_table(whole).columns]
    assert row[:5] == ["transpose.c", "0.0", "0.0", "", "1"]


@pytest.mark.parametrize("name", ["runs[old]/t.c", "a[/b]/t.c"])
def test_brackets_in_names_of_files_are_shown(name: str) -> None:
    whole = of_programs(name, flops=1e9)
    screen = Console(width=200, file=StringIO())
    print_table(workloads_table(whole), screen)
    screen.print(result_line(name, whole["results"][name], ["gcc"]), highlight=False)
    failed = {**whole["results"][name], "status": "failed", "message": "nothing passed", "leaders": []}
    print_table(workloads_table({**whole, "results": {name: failed}}), screen)
    screen.print(result_line(name, failed, ["gcc"]), highlight=False)
    assert isinstance(screen.file, StringIO)
    assert screen.file.getvalue().count(name) == 4
