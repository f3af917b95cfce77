"""The pages of results: what they name exists, and their tables are those that scripts make of the data."""

from __future__ import annotations

import json
import lzma
import re
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet
from marks import parametrized

from polydl.cli import main as polydl_command

ROOT = Path(__file__).parents[1]
DATA = ROOT / "experiments" / "data"
PAGES = [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md"]
RESULTS = sorted((ROOT / "docs" / "results").glob("2*.md"))
# A module that is run, a file of the folder, or data that is linked to.
MODULE = re.compile(r"python -m (experiments(?:\.\w+)+)")
FILE = re.compile(r"\bexperiments/[\w./-]+\.(?:py|cpp|csv|json|jsonl|toml|xz)\b")
# Where the samples behind a table are.
ORIGIN = re.compile(r"experiments/data/")
MEASURED = re.compile(r"\d\.\d|\d (?:ms|s|%|GFLOPS|GB/s)")
# A cell that begins with a measured number. Pages that explain also have tables of sizes, versions and defaults.
MEASURED_CELL = re.compile(r"\| (?:about |up to )?\d+(?:\.\d+(?! or later)| (?:ms|s|%|GFLOPS|GB/s|times)\b)")
# What describes the machine, the data or the code.
DESCRIBES = re.compile(r"^\| (?:processor|records|choice|addition|peer|what changed) ", re.MULTILINE)


def table_lines(page: Path) -> set[tuple[str, ...]]:
    return {cells(line) for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("|")}


def cells(line: str) -> tuple[str, ...]:
    found = (cell.strip() for cell in line.strip().strip("|").split("|"))
    return tuple("---" if set(cell) == {"-"} else cell for cell in found)


def printed(
    module: str, arguments: list[object], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> list[str]:
    """What the main function of an experiment prints."""
    monkeypatch.syspath_prepend(str(ROOT))
    monkeypatch.setattr(sys, "argv", [module, *map(str, arguments)])
    main = import_module(module).main
    with suppress(SystemExit):
        main()
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_experiments_that_a_page_names_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    named = [Path(*module.split(".")) for module in MODULE.findall(text)]
    missing = [str(path) for path in named if not (ROOT / path.with_suffix(".py")).is_file()]
    missing += [path for path in FILE.findall(text) if not (ROOT / path).is_file()]
    assert not missing


@pytest.mark.parametrize("page", RESULTS, ids=lambda page: page.stem)
def test_a_page_of_results_names_a_command_and_its_data(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert re.search(r"experiments[./]|polydl (?:bench|evaluate)", text), "no command"
    assert re.search(r"experiments/data/", text), "no data"


@pytest.mark.parametrize("page", RESULTS, ids=lambda page: page.stem)
def test_each_measured_table_has_its_samples(page: Path) -> None:
    """In the section of the table, or in a sentence before the first section of the page."""
    head, *sections = re.split(r"^(?=##+ )", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    described = "".join(re.findall(r"^[^|\n].*\n", head, re.MULTILINE))
    outside = [
        section.splitlines()[0]
        for section in sections
        for table in re.findall(r"(?:^\|.*\n)+", section, re.MULTILINE)
        if MEASURED.search(table) and not DESCRIBES.search(table) and not ORIGIN.search(section + described)
    ]
    assert not outside


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page not in RESULTS], ids=lambda page: str(page.relative_to(ROOT))
)
def test_each_measured_table_of_other_pages_has_its_samples_or_leads_to_them(page: Path) -> None:
    """In the section of the table, or before the first section of the page: data, or a result."""
    head, *sections = re.split(r"^(?=##+ )", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    origin = re.compile(rf"{ORIGIN.pattern}|\((?:[\w./]*results/)?\d{{4}}-[\w-]+\.md")
    outside = [
        section.splitlines()[0]
        for section in (head, *sections)
        for table in re.findall(r"(?:^\|.*\n)+", section, re.MULTILINE)
        if MEASURED_CELL.search(table) and not origin.search(section + head)
    ]
    assert not outside


# Bytes of compressed samples from which a table takes more than a second.
_LARGE = 25_000


def by_size(*cases: tuple[str, str, list[object]]) -> list[ParameterSet]:
    """Tables, those of many samples marked slow."""

    def large(case: tuple[str, str, list[object]]) -> bool:
        return any(isinstance(each, Path) and each.suffix == ".xz" and each.stat().st_size > _LARGE for each in case[2])

    return [pytest.param(*case, marks=[pytest.mark.slow] if large(case) else []) for case in cases]


@pytest.mark.parametrize(
    ("page", "module", "arguments"),
    by_size(
        ("2026-11-21-cachegrind", "experiments.cachegrind.report", [DATA / "cachegrind.json"]),
        ("2026-11-21-cachegrind", "experiments.cachegrind.report", [DATA / "cachegrind_unseen.json"]),
        ("2026-11-23-epyc-zen5", "experiments.layers", ["table", DATA / "resnet-zen5.json.xz"]),
        ("2026-11-23-epyc-zen5", "experiments.layers", ["table", DATA / "gemm-zen5.json.xz"]),
        ("2026-11-24-newcomer", "experiments.newcomer", ["--table", DATA / "newcomer.json"]),
        ("2026-11-26-newcomer", "experiments.newcomer", ["--table", DATA / "newcomer-zen5.json"]),
        ("2026-11-27-newcomer", "experiments.newcomer", ["--table", DATA / "newcomer-zen4.json"]),
        ("2026-11-24-epyc-zen3", "experiments.layers", ["table", DATA / "resnet-zen3.json.xz"]),
        ("2026-11-24-epyc-zen3", "experiments.layers", ["table", DATA / "strided-zen3.json.xz"]),
        ("2026-11-24-epyc-zen3", "experiments.layers", ["table", DATA / "resnet-zen3-later.json.xz"]),
        ("2026-11-23-before-and-after", "experiments.kept_speed", ["table", DATA / "kept_speed.jsonl"]),
        ("2026-11-23-before-and-after", "experiments.kept_speed", ["table", DATA / "kept_speed_zen5.jsonl"]),
        (
            "2026-11-23-before-and-after",
            "experiments.kept_code_speed",
            ["table", DATA / "kept_code_speed_zen5.jsonl"],
        ),
        ("2026-11-23-before-and-after", "experiments.kept_variants", ["table", DATA / "kept_variants.json"]),
        ("2026-11-23-before-and-after", "experiments.two_versions", ["--table", DATA / "two_versions.json"]),
        ("2026-11-23-before-and-after", "experiments.two_versions", ["--table", DATA / "two_versions_zen3.json"]),
        ("2026-11-23-before-and-after", "experiments.two_versions", ["--table", DATA / "two_versions_zen5.json"]),
        ("2026-11-23-robustness", "experiments.robustness.kills", ["--table", DATA / "kills.jsonl"]),
        ("2026-11-23-robustness", "experiments.robustness.kills", ["--table", DATA / "kills_one_commit.jsonl"]),
        ("2026-11-23-robustness", "experiments.robustness.tuners", ["--table", DATA / "tuners.jsonl"]),
        ("2026-11-24-library", "experiments.library_peers", ["table", DATA / "library-peers-zen3.json.xz"]),
        ("2026-11-26-epyc-zen5", "experiments.layers", ["table", DATA / "products-zen5.json.xz"]),
        ("2026-11-26-library", "experiments.library_peers", ["table", DATA / "library-peers-zen5.json.xz"]),
        ("2026-11-30-library", "experiments.library_peers", ["table", DATA / "library-peers-zen4-last-rows.json.xz"]),
        ("2026-11-30-library", "experiments.library_peers", ["table", DATA / "library-peers-zen4-doubt.json.xz"]),
        ("2026-11-27-library", "experiments.library_peers", ["table", DATA / "library-peers-zen4.json.xz"]),
        ("2026-11-30-library", "experiments.library", ["table", DATA / "library-products-zen4.json"]),
        ("2026-11-27-library", "experiments.library", ["table", DATA / "library-held-out-zen4.json"]),
        *(
            ("2026-12-01-library-families", "experiments.library_families", ["table", DATA / f"library-{data}.json.xz"])
            for data in ("scores-xeon", "convolution-xeon")
        ),
        ("2026-12-01-polybench", "experiments.polybench", ["table", DATA / "polybench-pluto-zen5.json.xz"]),
        ("2026-12-01-polybench", "experiments.polybench", ["table", DATA / "polybench-pluto-zen5-after.json.xz"]),
        *(
            ("2026-12-01-polybench-xeon", "experiments.polybench", ["table", DATA / f"polybench-{name}-xeon.json.xz"])
            for name in ("heat-3d", "fdtd-2d", "floyd-warshall", "stencils-2-threads")
        ),
        ("2026-12-01-operators", "experiments.polybench", ["table", DATA / "operators-zen5.json.xz"]),
        ("2026-12-01-c-files", "experiments.c_files", ["table", DATA / "pet-inputs.json"]),
        ("2026-11-24-polybench", "experiments.polybench", ["table", DATA / "polybench-medium-zen3.json.xz"]),
        ("2026-11-23-models", "experiments.models", ["table", DATA / "models.jsonl"]),
        ("2026-11-24-models", "experiments.models", ["table", DATA / "models-zen3.jsonl"]),
        ("2026-11-24-models", "experiments.models", ["memory", DATA / "models-zen3.jsonl"]),
        ("2026-11-24-models", "experiments.models", ["operators", DATA / "models-zen3.jsonl", "vgg16"]),
        ("2026-11-25-models", "experiments.models", ["table", DATA / "models-zen3-again.jsonl"]),
        ("2026-11-25-models", "experiments.models", ["table", "--least", DATA / "models-zen3-again.jsonl"]),
        (
            "2026-11-24-threads-that-wait",
            "experiments.waiting_kernels",
            ["table", DATA / "waiting-kernels-zen4.json"],
        ),
        (
            "2026-11-24-threads-that-wait",
            "experiments.waiting_kernels",
            ["table", DATA / "waiting-kernels-zen4-before.json"],
        ),
        ("2026-11-23-robustness", "experiments.robustness.interruptions", ["--table", DATA / "interruptions.jsonl"]),
        (
            "2026-11-26-epyc-zen4",
            "experiments.prefetch_distances",
            ["table", DATA / "prefetch-distances-zen4.jsonl"],
        ),
        (
            "2026-11-27-epyc-zen3",
            "experiments.prefetch_distances",
            ["table", DATA / "prefetch-distances-zen3.jsonl"],
        ),
        ("2026-11-27-epyc-zen3", "experiments.conditions", ["table", DATA / "conditions-zen3.jsonl"]),
        ("2026-11-26-epyc-zen4", "experiments.stages", ["--show", DATA / "stages-zen4.json"]),
        ("2026-11-26-epyc-zen4", "experiments.layers", ["table", DATA / "resnet-zen4.json.xz"]),
        ("2026-11-26-epyc-zen4", "experiments.layers", ["table", DATA / "products-zen4.json.xz"]),
        ("2026-11-26-epyc-zen4", "experiments.fusion.bnorm", ["--table", "--out", DATA / "fusion-bnorm-zen4.json"]),
        (
            "2026-11-26-epyc-zen4",
            "experiments.fusion.conv_postops",
            ["--table", "--out", DATA / "fusion-postops-zen4.json"],
        ),
        (
            "2026-11-26-epyc-zen4",
            "experiments.fusion.sequences",
            ["--table", "--out", DATA / "fusion-sequences-zen4.json"],
        ),
        ("2026-11-25-epyc-zen5", "experiments.layers", ["table", DATA / "resnet-zen5-prepared.json.xz"]),
        ("2026-11-25-epyc-zen5", "experiments.layers", ["table", DATA / "resnet-zen5-again.json.xz"]),
        ("2026-11-25-epyc-zen5", "experiments.layers", ["table", DATA / "depthwise-zen5.json.xz"]),
        ("2026-11-28-epyc-zen3", "experiments.layers", ["table", DATA / "depthwise-zen3-before.json.xz"]),
        ("2026-11-28-epyc-zen3", "experiments.layers", ["table", DATA / "depthwise-zen3.json.xz"]),
        ("2026-11-25-epyc-zen5", "experiments.layers", ["table", DATA / "depthwise-zen5-skipped.json.xz"]),
        ("2026-11-25-epyc-zen5", "experiments.models", ["table", "--float", DATA / "models-zen5.jsonl"]),
        ("2026-11-25-epyc-zen5", "experiments.models", ["memory", DATA / "models-zen5.jsonl"]),
        ("2026-11-25-epyc-zen5", "experiments.models", ["operators", DATA / "models-zen5.jsonl", "resnet50"]),
        ("2026-11-25-epyc-zen5", "experiments.fusion.bnorm", ["--out", DATA / "fusion-bnorm-zen5.json", "--table"]),
        (
            "2026-11-25-epyc-zen5",
            "experiments.fusion.bnorm",
            ["--out", DATA / "fusion-bnorm-zen5-again.json", "--table"],
        ),
        (
            "2026-11-25-epyc-zen5",
            "experiments.fusion.conv_postops",
            ["--out", DATA / "fusion-postops-zen5.json", "--table"],
        ),
        (
            "2026-11-25-epyc-zen5",
            "experiments.fusion.sequences",
            ["--out", DATA / "fusion-sequences-zen5.json", "--table"],
        ),
        ("2026-11-28-xeon", "experiments.rows_by_rows", ["table", DATA / "rows-by-rows-xeon.jsonl"]),
        ("2026-11-28-xeon", "experiments.rows_by_rows", ["table", DATA / "rows-by-rows-xeon-before.jsonl"]),
        ("2026-11-28-xeon", "experiments.rows_by_rows", ["table", DATA / "rows-by-rows-xeon-one-thread.jsonl"]),
        ("2026-11-28-xeon", "experiments.narrow_types", ["table", DATA / "narrow-types-xeon.jsonl"]),
        ("2026-11-28-xeon", "experiments.newcomer", ["--table", DATA / "newcomer-xeon.json"]),
        ("2026-11-28-xeon", "experiments.models", ["table", "--float", DATA / "models-xeon.jsonl"]),
        *(
            ("2026-12-01-models-xeon", "experiments.models", [*arguments])
            for arguments in (
                ["table", DATA / "models-xeon-cold-constants.jsonl"],
                ["table", "--least", DATA / "models-xeon-cold-constants.jsonl"],
                ["memory", DATA / "models-xeon-cold-constants.jsonl"],
                ["operators", DATA / "models-xeon-cold-constants.jsonl", "resnet50"],
            )
        ),
        *(
            ("2026-12-01-models-xeon-float", "experiments.models", [*arguments])
            for arguments in (
                ["table", "--float", DATA / "models-xeon-float.jsonl"],
                ["table", "--float", "--least", DATA / "models-xeon-float.jsonl"],
                ["memory", DATA / "models-xeon-float.jsonl"],
                ["operators", DATA / "models-xeon-float.jsonl", "resnet50"],
                ["operators", DATA / "models-xeon-float.jsonl", "googlenet"],
                ["table", "--float", DATA / "models-xeon-float-later.jsonl"],
                ["table", "--float", "--least", DATA / "models-xeon-float-later.jsonl"],
            )
        ),
        ("2026-12-01-resnet-xeon", "experiments.layers", ["table", DATA / "resnet-xeon.json.xz"]),
        (
            "2026-12-01-resnet-xeon",
            "experiments.model_constants",
            [
                *("table", DATA / "tile-registers" / "constants.jsonl"),
                *("--constant", "tile_hidden_share", "--constant", "tile_held_share"),
            ],
        ),
        ("2026-11-29-models", "experiments.models", ["table", DATA / "models-xeon-bfloat16.jsonl"]),
        ("2026-11-29-models", "experiments.models", ["table", "--least", DATA / "models-xeon-bfloat16.jsonl"]),
        ("2026-11-29-models", "experiments.models", ["operators", DATA / "models-xeon-bfloat16.jsonl", "resnet50"]),
        ("2026-11-29-models", "experiments.models", ["memory", DATA / "models-xeon-bfloat16.jsonl"]),
        ("2026-11-30-models-zen4", "experiments.models", ["table", DATA / "mixed-precision-zen4.jsonl"]),
        ("2026-11-30-models-zen4", "experiments.models", ["table", DATA / "googlenet-bfloat16-zen4.jsonl"]),
        ("2026-11-30-models-zen4", "experiments.models", ["table", "--least", DATA / "googlenet-bfloat16-zen4.jsonl"]),
        ("2026-11-30-models-zen4", "experiments.models", ["table", "--least", DATA / "mixed-precision-zen4.jsonl"]),
        ("2026-11-30-models-zen4", "experiments.models", ["operators", DATA / "mixed-precision-zen4.jsonl", "vgg16"]),
        ("2026-11-30-models-zen4", "experiments.models", ["memory", DATA / "mixed-precision-zen4.jsonl"]),
        ("2026-11-29-models-zen4", "experiments.models", ["table", DATA / "bfloat16-zen4.jsonl"]),
        ("2026-11-29-models-zen4", "experiments.models", ["table", "--least", DATA / "bfloat16-zen4.jsonl"]),
        ("2026-11-29-models-zen4", "experiments.models", ["operators", DATA / "bfloat16-zen4.jsonl", "resnet50"]),
        ("2026-11-29-models-zen4", "experiments.models", ["memory", DATA / "bfloat16-zen4.jsonl"]),
        ("2026-11-29-models-zen3", "experiments.models", ["table", DATA / "resnet50-zen3.jsonl"]),
        ("2026-11-29-models-zen3", "experiments.models", ["table", "--least", DATA / "resnet50-zen3.jsonl"]),
        ("2026-11-29-models-zen3", "experiments.models", ["operators", DATA / "resnet50-zen3.jsonl", "resnet50"]),
        ("2026-11-26-epyc-zen5", "experiments.narrow_types", ["table", DATA / "narrow-types-zen5.jsonl"]),
        ("2026-11-26-epyc-zen5", "experiments.quantized_layers", ["table", DATA / "quantized-layers-zen5.jsonl"]),
        ("2026-11-26-epyc-zen5", "experiments.layers", ["table", DATA / "resnet-zen5-28.json.xz"]),
        ("2026-11-26-layers", "experiments.layers", ["table", DATA / "layers-zen5.json.xz"]),
        ("2026-11-26-layers", "experiments.layers", ["table", DATA / "layers-zen5-60-picks.json.xz"]),
        ("2026-11-26-epyc-zen5", "experiments.budget", ["table", DATA / "budget-zen5.jsonl"]),
        ("2026-11-26-polybench", "experiments.polybench", ["table", DATA / "polybench-large-zen5.json.xz"]),
        ("2026-11-26-polybench", "experiments.polybench", ["table", DATA / "polybench-large-zen5-2.json.xz"]),
        ("2026-11-26-polybench", "experiments.polybench", ["table", DATA / "polybench-large-zen4.json.xz"]),
        ("2026-11-26-models", "experiments.models", ["table", "--float", DATA / "models-zen5-blocks.jsonl"]),
        ("2026-11-26-models", "experiments.models", ["memory", DATA / "models-zen5-blocks.jsonl"]),
        ("2026-11-26-models", "experiments.models", ["operators", DATA / "models-zen5-blocks.jsonl", "resnet50"]),
        *(
            ("2026-12-01-models-zen5", "experiments.models", [*arguments])
            for arguments in (
                ["table", "--float", DATA / "models-zen5-cold-constants.jsonl"],
                ["table", "--float", "--least", DATA / "models-zen5-cold-constants.jsonl"],
                ["memory", DATA / "models-zen5-cold-constants.jsonl"],
                ["operators", DATA / "models-zen5-cold-constants.jsonl", "resnet50"],
                ["table", "--float", DATA / "resnet50-zen5-before.jsonl"],
                ["memory", DATA / "resnet50-zen5-before.jsonl"],
                ["operators", DATA / "resnet50-zen5-before.jsonl", "resnet50"],
                ["table", DATA / "resnet50-bfloat16-zen5.jsonl"],
                ["table", "--least", DATA / "resnet50-bfloat16-zen5.jsonl"],
            )
        ),
        ("2026-11-25-search", "experiments.autotuners.compare", ["table", DATA / "autotuners-zen5.json"]),
        ("2026-11-24-random-nests", "experiments.random_nests", ["--table", DATA / "random_nests.jsonl"]),
        (
            "2026-11-26-epyc-zen5",
            "experiments.prefetch_distances",
            ["table", DATA / "prefetch-distances-zen5.jsonl"],
        ),
        ("2026-11-26-random-nests", "experiments.random_nests", ["--table", DATA / "random_nests_one_commit.jsonl"]),
        ("2026-11-26-epyc-zen4", "experiments.first_picks", ["table", DATA / "first-picks-zen4.jsonl"]),
        ("2026-11-30-constants", "experiments.model_constants", ["table", DATA / "model-constants.jsonl"]),
        ("2026-11-30-constants", "experiments.code_constants", ["table", DATA / "code-constants-zen4.jsonl"]),
        ("2026-11-30-constants", "experiments.code_constants", ["table", DATA / "code-constants-xeon.jsonl"]),
        ("2026-11-26-epyc-zen4", "experiments.same_set", ["table", DATA / "same-set-zen4.jsonl"]),
        ("2026-11-21-analysis", "experiments.analysis_benchmark", ["--table", "--out", DATA / "analysis.json"]),
    ),
)  # fmt: skip
def test_tables_are_those_of_the_data(
    page: str, module: str, arguments: list[object], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    output = printed(module, arguments, monkeypatch, capsys)
    lines = [line for line in output if line.startswith("|")]
    assert len(lines) > 2
    path = ROOT / "docs" / "results" / f"{page}.md"
    shown = table_lines(path)
    if "gemm" in str(arguments[-1]) or "strided" in str(arguments[-1]):
        # The mean over so few workloads is not shown.
        lines = [line for line in lines if cells(line)[0] not in ("workloads", "gemm", "conv")]
    assert [line for line in lines if cells(line) not in shown and not set(line) <= set("|- ")] == []
    words = " ".join(path.read_text(encoding="utf-8").split())
    assert [line for line in output if "AVX2 path" in line and line[0] != "|" and line.rstrip(".") not in words] == []


@parametrized(("data", "layers"), [("resnet-xeon-16-cores", 6), ("resnet-xeon-16-cores-2", 10)], quick=1)
def test_the_runs_on_sixteen_cores_are_those_of_the_data(
    data: str, layers: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = tmp_path / "resnet.json"
    document.write_bytes(lzma.decompress((DATA / f"{data}.json.xz").read_bytes()))
    assert polydl_command(["bench", "--out", str(document), "--show"], standalone_mode=False) == 0
    page = (ROOT / "docs" / "results" / "2026-11-26-xeon-16-cores.md").read_text(encoding="utf-8")
    shown = {line.strip() for line in page.splitlines()}
    printed = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert sum(line.startswith("resnet_") for line in printed) == layers
    assert [line for line in printed if line not in shown] == []


@pytest.mark.slow
def test_what_records_say_of_rankers_is_that_of_the_data(capsys: pytest.CaptureFixture[str]) -> None:
    """What a ranker predicts is of the code of its day; the page has more lines and columns, of such rankers."""
    text = (ROOT / "docs" / "results" / "2026-11-28-ranking.md").read_text(encoding="utf-8")
    sources = [DATA / "ranking" / f"{name}.jsonl.xz" for name in ("records", "zen3", "zen4", "zen5")]
    for source in sources:
        with lzma.open(source) as lines:
            assert re.search(rf"^\| \[`{source.name}`\].* \| {sum(1 for _ in lines):,} \|", text, re.MULTILINE)
    data = [word for source in sources for word in ("--data", str(source))]
    assert polydl_command(["evaluate", "--ranker", "equation-1", *data], standalone_mode=False) == 0
    shown = [in_columns(line) for line in text.splitlines()]
    rows = [in_columns(line) for line in capsys.readouterr().out.splitlines() if line.strip(" ─")]
    assert len(rows) > 50
    assert [row for row in rows if not any(line[: len(row)] == row for line in shown)] == []


def in_columns(line: str) -> list[str]:
    """The cells of a table's line that is printed with spaces between them."""
    return re.split(r"\s{2,}", line.strip())


@pytest.mark.parametrize("data", ["waiting", "waiting-zen5"])
def test_the_table_of_waiting_threads_is_that_of_the_data(data: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    waiting = import_module("experiments.waiting")
    document = json.loads((DATA / f"{data}.json").read_text(encoding="utf-8"))
    shown = table_lines(ROOT / "docs" / "results" / "2026-11-24-threads-that-wait.md")
    rows = list(waiting.ratios(document))
    assert len(rows) == 2 + 12
    assert [row for row in rows if cells(row) not in shown] == []


def test_the_table_of_decisions_is_that_of_the_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    rows = import_module("experiments.decision_tree").rows(json.loads((DATA / "decision_tree.json").read_text("utf-8")))
    shown = table_lines(ROOT / "docs" / "results" / "2026-11-27-decision-tree.md")
    assert len(rows) == 4 * 3
    assert [row for row in rows if tuple(row) not in shown] == []


@pytest.mark.slow
def test_the_table_of_additions_is_that_of_the_history_and_of_the_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    additions = import_module("experiments.additions")
    page = ROOT / "docs" / "results" / "2026-11-23-before-and-after.md"
    shown = {line[0].partition(",")[0]: line for line in table_lines(page) if "`" in line[0]}
    assert [name for name in additions.ADDITIONS if shown[f"`{name}`"][-1] != additions.named_today(name)] == []
    # The history of a shallow clone has none of the commits.
    if all(additions.is_known(commit) for *_, commit in additions.ADDITIONS.values()):
        assert [line for line in additions.table()[2:] if cells(line) not in shown.values()] == []


def test_the_run_that_readme_shows_is_that_of_the_data(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    *answer, _, interchanged = printed("experiments.readme", ["show", DATA / "readme.json.xz"], monkeypatch, capsys)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "\n".join(answer).strip() in readme
    assert f"{interchanged.split()[0]} times as fast as that" in readme
