"""Tables in Markdown from raw data alone: nothing is measured here."""

from __future__ import annotations

import ast
import csv
import ctypes
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import pytest

import polydl
from polydl.workloads import workload

ROOT = Path(__file__).parents[1]
RECORDED = Path(__file__).parent / "data" / "bench_results.json"
Row = dict[str, Any]
TableOf = Callable[[str, dict[str, Row]], list[list[str]]]


class Printed(Protocol):
    def __call__(self, module: str, *arguments: object) -> list[str]: ...


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Printed:
    """Runs the main function of an experiment with arguments; what it prints, line by line."""
    monkeypatch.syspath_prepend(str(ROOT))

    def call(module: str, *arguments: object) -> list[str]:
        monkeypatch.setattr(sys, "argv", [module, *map(str, arguments)])
        with suppress(SystemExit):
            import_module(module).main()
        return capsys.readouterr().out.splitlines()

    return call


def test_experiments_import_what_there_is() -> None:
    """Of polydl, and without what needs PyTorch."""
    imported = {
        (node.module, alias.name)
        for path in sorted((ROOT / "experiments").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module is not None and re.match(r"polydl(?!\.torch)", node.module)
        for alias in node.names
    }
    assert len(imported) >= 40
    missing = [
        (module, name)
        for module, name in imported
        if not hasattr(import_module(module), name) and find_spec(f"{module}.{name}") is None
    ]
    assert sorted(missing) == []


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_layers_of_a_benchmark_become_raw_data_tables_and_a_file(tmp_path: Path, run: Printed) -> None:
    kept, again, table = tmp_path / "kept.json.xz", tmp_path / "again.json.xz", tmp_path / "layers.csv"
    run("experiments.layers", "keep", RECORDED, "--out", kept)
    run("experiments.layers", "keep", RECORDED, "--out", again)
    assert kept.read_bytes() == again.read_bytes()
    lines = run("experiments.layers", "table", kept)
    assert run("experiments.layers", "table", RECORDED) == lines
    assert cells(lines[0])[:3] == ["workloads", "number", "onednn / polydl"]
    rows = {cells(line)[0]: cells(line) for line in lines}
    assert rows["all"][1] == "3"
    assert rows["all"][2].endswith("of 3")
    assert "AVX2 path" in rows["gemm_84x1024x4096"][6]
    assert any("oneDNN 2.6.3, sgemm" in line for line in lines), "which algorithm it was"
    run("experiments.layers", "csv", kept, "--out", table)
    found = list(csv.DictReader(table.open(encoding="utf-8")))
    assert [line["workload"] for line in found] == list(json.loads(RECORDED.read_text())["results"])
    assert all(float(line["onednn_low"]) <= float(line["onednn_value"]) <= float(line["onednn_high"]) for line in found)


def timed(compared: list[list[str]], **seconds: list[float]) -> Row:
    return {"compared": compared, "seconds": seconds, "threads": 1}


@pytest.fixture
def table_of(tmp_path: Path, run: Printed) -> TableOf:
    """The cells of the table that an experiment prints of raw data."""

    def cells_of(module: str, rows: dict[str, Row]) -> list[list[str]]:
        path = tmp_path / "raw.json"
        path.write_text(json.dumps(rows))
        return [cells(line) for line in run(module, "--out", path, "--table")]

    return cells_of


def test_fused_convolutions_are_compared_direct_and_best(table_of: TableOf) -> None:
    pairs = [["unfused", "fused"], ["unfused", "alone"], ["onednn_direct", "direct_fused"], ["onednn", "fused"]]
    row = timed(
        pairs,
        fused=[2.0, 2.0, 9.0],
        direct_fused=[3.0, 3.0, 3.0],
        unfused=[4.0, 4.0, 4.0],
        unfused_apart=[3.0, 3.0, 3.0],
        alone=[2.5, 2.5, 2.5],
        onednn_direct=[6.0, 6.0, 6.0],
        onednn_other=[5.0, 5.0, 1.0],
    )
    found = table_of("experiments.fusion.conv_postops", {"resnet_03:relu6": row})
    assert found[0][-2:] == ["oneDNN / fused, both direct", "oneDNN / fused, both best"]
    means = [cell.split()[0] for cell in found[2][2:]]
    assert found[2][:2] == ["resnet, relu6", "1"]
    assert means == ["1.50", "1.20", "2.00", "2.50"], "of the medians"


def test_batch_normalizations_are_grouped_by_size(table_of: TableOf) -> None:
    kinds = [("onednn", "infer"), ("unfused", "infer"), ("onednn", "train"), ("unfused", "train")]
    pairs = [[f"{peer}_{kind}", f"fused_{kind}"] for peer, kind in kinds] + [["partly_fused_train", "fused_train"]]
    jobs = {name: [2.0, 2.0, 2.0] for pair in pairs for name in pair} | {"fused_infer": [1.0, 1.0, 1.0]}
    rows = {
        "64,8,8": timed(pairs, **jobs) | {"bytes": 16_384},
        "64,800,800": timed(pairs, **jobs) | {"bytes": 163_840_000},
    }
    found = table_of("experiments.fusion.bnorm", rows)
    assert [line[0] for line in found[2:]] == ["in the second cache", "larger", "all"]
    assert [cell.split()[0] for cell in found[2][2:4]] == ["2.00", "2.00"]
    assert [cell.split()[0] for cell in found[2][5:]] == ["1.00", "1.00", "1.00"]


def test_pytorch_has_a_column_where_it_was_asked(table_of: TableOf) -> None:
    thrice = {name: [2.0] * 3 for name in ("unfused", "alone", "onednn_direct", "direct_fused", "openblas")}
    seconds = thrice | {"fused": [1.0] * 3, "torch": [3.0] * 3}
    pairs = [["unfused", "fused"], ["unfused", "alone"], ["onednn_direct", "direct_fused"]]
    torch = [["torch", "direct_fused"], ["torch", "fused"]]
    found = table_of("experiments.fusion.conv_postops", {"resnet_03:relu6": timed(pairs + torch, **seconds)})
    assert found[0][-2:] == ["PyTorch / fused, both direct", "PyTorch / fused"]
    assert [cell.split()[0] for cell in found[2][-2:]] == ["1.50", "3.00"]
    row = timed([["openblas", "fused"], ["torch", "fused"]], **seconds)
    row |= {"n": 640, "cpu": "GenuineIntel-6-143-8-48K", "implementations": 4, "run": 2, "rank_of_best": 1}
    row |= {"first_of_best": 1.0, "worst_of_best": 0.5, "speedup_over_unfused": None}
    found = table_of("experiments.fusion.sequences", {"atax:l2": row})
    assert found[0][2:5] == ["OpenBLAS / polydl", "MKL / polydl", "PyTorch / polydl"]
    assert found[2][2:5] == ["2.00 (2.00-2.00)", "", "3.00 (3.00-3.00)"]
    kinds = [("torch", "infer"), ("torch", "train"), ("onednn", "infer"), ("onednn", "train")]
    pairs = [[f"{peer}_{kind}", f"fused_{kind}"] for peer, kind in kinds]
    jobs = {name: [2.0] * 3 for pair in pairs for name in pair}
    found = table_of("experiments.fusion.bnorm", {"64,8,8": timed(pairs, **jobs) | {"bytes": 16_384}})
    assert found[0][2:8] == ["inference: oneDNN", "PyTorch", "unfused", "GB/s", "training: oneDNN", "PyTorch"]
    assert [found[2][place].split()[0] for place in (3, 7)] == ["1.00", "1.00"]


@pytest.mark.native
@pytest.mark.parametrize("name", sorted(path.stem for path in (ROOT / "examples" / "sequences").glob("*.c")))
def test_the_sequences_of_pytorch_are_those_of_c(name: str, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    sequences = import_module("experiments.fusion.sequences_pytorch")
    n, library = 24, tmp_path / "sequence.so"
    source = sequences.EXAMPLES / f"{name}.c"
    subprocess.run(["gcc", "-O1", "-w", "-shared", "-fPIC", f"-DN={n}", source, "-o", library], check=True)
    given = sequences.operands(name, n)
    expected = [each.clone() if isinstance(each, torch.Tensor) else each for each in given]
    passed = [
        ctypes.c_void_p(each.data_ptr()) if isinstance(each, torch.Tensor) else ctypes.c_float(each)
        for each in expected
    ]
    getattr(ctypes.CDLL(str(library)), name)(*passed)
    sequences.SEQUENCES[name](*given)
    for computed, right in zip(given, expected, strict=True):
        if isinstance(computed, torch.Tensor):
            torch.testing.assert_close(computed, right, rtol=1e-4, atol=1e-5)


def test_processes_time_their_jobs_in_the_same_rounds(run: Printed) -> None:
    rounds = import_module("experiments.fusion.rounds")
    says = """import json
print(json.dumps({"jobs": ["one", "other"], "note": 1}), flush=True)
while True:
    try: job, repeats = map(int, input().split())
    except EOFError: break
    print((job + 1) / 1000, flush=True)
"""
    with (
        rounds.Process((sys.executable, "-c", says), {}) as first,
        rounds.Process((sys.executable, "-c", says), {}) as second,
    ):
        assert first.described() == second.described() == {"jobs": ["one", "other"], "note": 1}
        samples = rounds.in_rounds({"a": (first, 0), "b": (first, 1), "c": (second, 0)}, 1, 0.0)
    assert samples == {"a": [1e-3] * 5, "b": [2e-3] * 5, "c": [1e-3] * 5}
    ended = rounds.Process((sys.executable, "-c", "raise SystemExit(3)"), {})
    with ended, pytest.raises(ChildProcessError, match="status 3"):
        ended.described()


@pytest.mark.parametrize(("cpu", "says"), [("AuthenticAMD-25-1-1-32K", True), ("GenuineIntel-6-143-8-48K", False)])
def test_sequences_say_which_path_mkl_takes(cpu: str, says: bool, table_of: TableOf) -> None:
    row = timed([["openblas", "fused"], ["mkl", "fused"]], fused=[1.0] * 3, openblas=[2.0] * 3, mkl=[3.0] * 3)
    row |= {"n": 640, "cpu": cpu, "implementations": 4, "run": 2, "rank_of_best": 1}
    row |= {"first_of_best": 1.0, "worst_of_best": 0.5, "speedup_over_unfused": None}
    found = table_of("experiments.fusion.sequences", {"atax:l2": row})
    assert found[2][:4] == ["atax:l2", "640", "2.00 (2.00-2.00)", "3.00 (3.00-3.00)"]
    assert found[3][0] == "all l2"
    assert any("AVX2 path on processors of AMD" in cell for line in found for cell in line) == says


@pytest.mark.parametrize(("cpu", "says"), [("AuthenticAMD-26-2-1-48K", True), ("GenuineIntel-6-143-8-48K", False)])
def test_models_say_which_path_mkl_takes(cpu: str, says: bool, tmp_path: Path, run: Printed) -> None:
    file = tmp_path / "models.jsonl"
    operator = {"operator": "linear, 4 to 2", "kernel": "a", "alone": 0.1, "within": 0.1, "torch": 0.2}
    row = {"model": "one", "images": 1, "threads": 1, "machine": "a name", "cpu": cpu, "optimize_seconds": 1.0}
    row |= {"seconds": {"polydl": [1.0], "torch eager": [2.0]}, "operators": [operator]}
    file.write_text(json.dumps(row) + "\n", encoding="utf-8")
    for arguments in (["table", file], ["operators", file, "one"]):
        lines = run("experiments.models", *arguments)
        assert len(lines) >= 3
        assert any("AVX2 path on processors of AMD" in line for line in lines) == says
    row["operators"] = [operator | {"operator": "convolution 1x1"}]
    file.write_text(json.dumps(row) + "\n", encoding="utf-8")
    assert not any("AVX2 path" in line for line in run("experiments.models", "operators", file, "one"))


def test_ratios_in_float_are_to_no_peer_that_rounds(tmp_path: Path, run: Printed) -> None:
    file = tmp_path / "models.jsonl"
    row = {"model": "one", "images": 1, "threads": 1, "machine": "a name", "optimize_seconds": 1.0}
    seconds = {"polydl": 2.0, "torch eager": 5.0, "torch.compile, bfloat16": 1.0, "OpenVINO, as it comes": 3.0}
    row |= {"seconds": {name: [each] for name, each in seconds.items()}}
    file.write_text(json.dumps(row) + "\n", encoding="utf-8")
    ratios = [cells(run("experiments.models", "table", *more, file)[2])[-2] for more in ((), ("--float",))]
    assert ratios == ["0.50", "2.50"]


def test_strategies_are_replayed_on_recorded_nests(tmp_path: Path, run: Printed) -> None:
    records = ROOT / "experiments" / "data" / "ranking" / "records.jsonl.xz"
    raw = tmp_path / "replay.csv"
    options = ("--seeds", 2, "--nests", 1, "--strategies", "ranked,random", "--out", raw)
    lines = run("experiments.replay", records, *options)
    assert lines[0].startswith("1 nests of ")
    assert [cells(line)[0] for line in lines[1:]] == ["strategy", "---", "ranked", "random"]
    with raw.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * 2 * 4
    assert all(0 < float(row["share"]) <= 1 for row in rows)


def test_the_stages_are_those_of_the_pipeline(run: Printed) -> None:
    """The same variant comes first as by ``polydl.rank``, and every stage has its time."""
    [printed] = run("experiments.stage_times", ROOT / "examples" / "matmul.c", 30, 1, 0, "M=96", "N=64", "K=80")
    document = json.loads(printed)
    nest = polydl.parse(ROOT / "examples" / "matmul.c", defines={"M": 96, "N": 64, "K": 80})
    machine = polydl.Machine.detect(threads=1)
    variants = polydl.generate_variants(nest, machine=machine, max_variants=30)
    assert document["variants"] == len(variants)
    assert document["best"] == polydl.rank(nest, variants, machine=machine).entries[0].variant.id
    stages = ["import", "parse", "space", "generate", "apply", "working sets", "model", "score"]
    assert list(document["seconds"]) == stages
    stages_module = import_module("experiments.stages")
    assert stages_module.per_second(document) > 0
    assert len(stages_module.table([{**document, "nest": "product"}])) == 2 + len(stages) + 2


def test_tables_are_worked_out_of_samples_as_of_the_medians_of_older_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of three samples the disturbed one does not count."""
    monkeypatch.syspath_prepend(str(ROOT))
    thrice = [[2.0, False], [9.0, True], [4.0, False]]
    budget = import_module("experiments.budget")
    assert budget.seconds({"samples": {"first": thrice}}, "first") == budget.seconds(
        {"seconds": {"first": 3.0}}, "first"
    )
    picks = import_module("experiments.first_picks")
    line = {"state": "fresh", "workload": "one", "version": "before"}
    kept, older = {"samples": dict.fromkeys(("first", "fastest"), thrice)}, {"first": 3.0, "fastest": 3.0}
    assert list(picks.rows([line | kept])) == list(picks.rows([line | older]))
    calls = import_module("experiments.foreign_calls")
    assert calls.table({"one": [7.0, 5.0, 6.0]}) == calls.table({"one": 5.0})
    stages = import_module("experiments.stages")
    names = ("apply", "working sets", "model", "score")
    spent = [
        {"variants": 2, "seconds": {name: {"cpu": cpu, "wall": 1.0, "children": 0.0} for name in names}}
        for cpu in (3.0, 1.0)
    ]
    older_stages = {"nest": "one", **spent[1], "answer": 4.0}
    assert stages.table([{"nest": "one", "rounds": spent, "answers": [5.0, 4.0]}]) == stages.table([older_stages])
    analysis = import_module("experiments.analysis_benchmark")
    result, condensed = analysis.summary([3.0, 1.0, 2.0]), {"median_ms": 2e3, "shortest_ms": 1e3, "longest_ms": 3e3}
    assert [of(result) for of in (analysis.middle, analysis.shortest, analysis.longest)] == list(condensed.values())
    assert analysis.middle(condensed) == 2e3
    library = import_module("experiments.library")
    assert (
        library.with_medians({"samples": {"tuned": thrice}})["tuned"] == library.with_medians({"tuned": 3.0})["tuned"]
    )


def test_problems_of_newcomers_become_a_table(tmp_path: Path, run: Printed) -> None:
    wrong, plain = {"name": "cc", "seconds": None}, {"name": "gcc -O3", "seconds": 3e-3}
    steps = [{"step": "attach"}, {"step": "use_microkernel", "name": "c"}]
    runs = [
        {"problem": "a.c", "threads": 2, "status": 0, "error": "", "baselines": [wrong, plain],
         "best": {"plain": False, "seconds": 1e-3, "speedup": 3.0, "steps": steps}},
        {"problem": "b.c", "threads": 2, "status": 0, "error": "", "baselines": [plain],
         "best": {"plain": True, "seconds": 3e-3, "speedup": 1.0, "steps": []}},
        {"problem": "b.c", "threads": 1, "status": 0, "error": "", "baselines": [plain],
         "best": {"plain": False, "seconds": 2e-3, "speedup": 1.2, "steps": []}},
        {"problem": "c.c", "threads": 2, "status": 2,
         "error": "polydl: error: /x/c.c:5: no bounds\nremedy: write them"},
    ]  # fmt: skip
    path = tmp_path / "newcomer.json"
    path.write_text(json.dumps({"runs": runs}), encoding="utf-8")
    lines = run("experiments.newcomer", "--table", path)
    assert cells(lines[2]) == ["a.c", "2", "gcc -O3", "3 ms", "1 ms", "3.00", "microkernel c; attach; one thread"]
    assert cells(lines[3])[4:] == ["3 ms", "1.00", "the plain nest"]
    assert cells(lines[4])[4:6] == ["2 ms", "1.20*"], "the quotient of both times is 1.5"
    assert cells(lines[5])[-1] == "refused: no bounds"
    assert lines[-1] == "2 threads: geometric mean 1.73 of 2 problems, least 1.00"
    runs[0]["problem"], runs[1]["problem"] = "softmax.c", "lstm.c"
    path.write_text(json.dumps({"runs": runs}), encoding="utf-8")
    assert run("experiments.newcomer", "--table", path)[-1] == (
        "2 threads, layers of networks that are no plain product (softmax.c): "
        "geometric mean 3.00 of 1 problems, least 3.00"
    )


def test_problems_of_newcomers_have_the_sizes_that_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    newcomer = import_module("experiments.newcomer")
    assert newcomer.TEXT_SIZES
    for name, sizes in newcomer.TEXT_SIZES.items():
        text = newcomer.with_sizes((newcomer.PROBLEMS / name).read_text(encoding="utf-8"), sizes)
        assert all(f"{size} {value}" in text or f"{size} = {value}" in text for size, value in sizes.items())
    with pytest.raises(ValueError, match="no size Q"):
        newcomer.with_sizes("#define N 4\n", {"Q": 3})


def test_waiting_threads_become_a_table(run: Printed) -> None:
    lines = run("experiments.waiting", "--table", ROOT / "experiments" / "data" / "waiting.json")
    document = json.loads((ROOT / "experiments" / "data" / "waiting.json").read_text(encoding="utf-8"))
    between = lines.index("")
    ratios, lines = lines[:between], lines[between + 1 :]
    assert len(ratios) == 2 + 4 * 3
    assert len(lines) == 2 + 4 * 3 * 9
    assert len(document["cells"]) % (len(lines) - 2) == 0
    assert all(cells(line)[6] == "1.00" for line in lines[2:] if cells(line)[2] == "1")
    assert {cells(line)[3] for line in lines[2:]} == {"all", "all or one"}


def test_held_out_shapes_of_a_library_become_a_table(tmp_path: Path, run: Printed) -> None:
    shapes = [
        {"sizes": {"M": m, "N": 8}, "chosen": "aa", "seconds": seconds, "tuned": 1e-3, "original": 8e-3}
        for m, seconds in ((1, 1e-3), (2, 4e-3), (3, 1e-3), (4, 1.2e-3))
    ]
    document = {
        "machine": "one", "threads": 2, "ranges": ["M=1..9", "N=8"], "kernels": 3, "bytes": {"library": 10240},
        "sampled": {"shapes": 5, "worst": 1.1}, "held_out": shapes,
    }  # fmt: skip
    path = tmp_path / "library.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    lines = run("experiments.library", "table", path)
    assert lines[0] == "one, 2 threads; M=1..9 N=8; 3 kernels from 5 shapes, 10 KB"
    assert cells(lines[4]) == ["4", "1.48", "4.00", "2", "3", "3", "5.4"]
    assert cells(lines[8]) == ["2", "8", "0.004 s", "0.001 s", "4.00", "aa"]


def test_two_versions_take_turns_and_are_compared_round_by_round(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    versions = import_module("experiments.two_versions")
    programs = Path(sys.executable).parent
    document = versions.measure("import polydl", [programs, programs], [], 2, [os.environ, os.environ])
    assert {name: len(taken) for name, taken in document["samples"].items()} == {"before": 2, "after": 2}
    assert all(seconds > 0 for taken in document["samples"].values() for one in taken for seconds in one.values())
    document["samples"] = {
        "before": [{"wall": 2.0, "cpu": 1.0}, {"wall": 4.0, "cpu": 1.0}],
        "after": [{"wall": 1.0, "cpu": 1.0}, {"wall": 6.0, "cpu": 3.0}],
    }
    assert versions.ratios(document, "wall") == [0.5, 1.5]
    assert versions.ratios(document, "cpu") == [1.0, 3.0]
    assert versions.table([document]).row_count == 1
    with pytest.raises(subprocess.CalledProcessError) as failure:
        versions.run([sys.executable, "-c", "raise SystemExit('no such nest')"], os.environ, tmp_path)
    assert "no such nest" in failure.value.stderr


def test_runs_of_random_nests_take_the_place_of_earlier_ones_and_their_tables_that_of_the_page(
    tmp_path: Path, run: Printed
) -> None:
    kinds = {
        "kinds": {"product": 3},
        "steps": {"tile": 5},
        "failures": {},
        "exact": {"agrees": 1},
        "stages": {"run": 90},
    }
    document = {"nests": 3, "variants": {"ok": 30, "wrong": 1}, "refusals": {"parse: a|b": 2}, **kinds}
    written, data, page = tmp_path / "run.json", tmp_path / "runs.jsonl", tmp_path / "page.md"
    for nests in (2, 3):
        written.write_text(json.dumps({**document, "nests": nests, "findings": ["somewhere"]}), encoding="utf-8")
        run("experiments.random_nests", "--data", data, "--add", written, "--run", "gcc", "--command", "fuzz")
    assert "somewhere" not in data.read_text(encoding="utf-8")
    headings = ("Counts", "Failures", "Nests", "Steps", "Refusals", "Processor time")
    page.write_text("".join(f"## {each}\n\nWords.\n\n| old |\n| --- |\n\n" for each in headings), encoding="utf-8")
    run("experiments.random_nests", "--data", data, "--page", page)
    text = page.read_text(encoding="utf-8")
    assert "old" not in text
    assert "| `fuzz` |  | 3 | 31 | 30 | 0 | 1 |" in text
    assert text.count("Words.") == len(headings)
    assert "| parse: a\\|b | 2 |" in text
    for line in run("experiments.random_nests", "--table", data):
        assert line in text


def test_problems_of_the_autotuners_are_those_of_the_workloads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    problems = import_module("experiments.autotuners.problems").PROBLEMS
    assert problems
    for name, problem in problems.items():
        assert problem.operations == workload(name).flops, name
