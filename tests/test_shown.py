"""What commands show: tables that fit the terminal, the answer of a run on one screen, progress, steps in words."""

from __future__ import annotations

import copy
import os
import subprocess
from dataclasses import replace
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from machines import machine_with
from marks import parametrized
from measured import NESTS
from page_documents import document as run_document
from rich.console import Console
from test_page import recorded

from polydl import pipeline
from polydl.cli import main
from polydl.doctor import Component
from polydl.ir.numerics import INTEGERS
from polydl.ir.variant import (
    Interchange,
    NestSchedule,
    Parallel,
    Stream,
    Tile,
    Unroll,
    UseMicrokernel,
    Variant,
    Vectors,
)
from polydl.learning import evaluation
from polydl.machine.profile import read
from polydl.models.manifest import Entry
from polydl.pipeline import Stage
from polydl.plan.step_words import AS_WRITTEN, nest_in_words, variant_in_words
from polydl.presentation import learning, results
from polydl.presentation.answer import answer_text
from polydl.presentation.calibration import profile_text
from polydl.presentation.progress import lines
from polydl.presentation.records import records_table, summaries_table
from polydl.presentation.tables import parts, rendered, table
from polydl.records.queries import summaries

ROOT = Path(__file__).parents[1]


def longest(text: str) -> int:
    return max(map(len, text.splitlines()))


def test_a_table_that_is_too_wide_becomes_several_and_loses_nothing(width: int) -> None:
    headings = [f"column {number}" for number in range(12)]
    wide = table("#", "id", *headings, right=headings[:3])
    for row in range(3):
        wide.add_row(str(row), f"row{row}", *(f"{row}.{number} ms" for number in range(12)))
    text = rendered(wide, keys=2)
    assert longest(text) <= width
    assert [f"{row}.{number} ms" in text for row in range(3) for number in range(12)] == [True] * 36
    assert (text.count("row1") > 1) == (width < 200)


def test_later_parts_have_no_rows_and_columns_without_entries() -> None:
    content = table("id", "loops", "time", "note", "rate", fold=["loops"])
    content.add_row("a", "i j k " * 20, "1.5 ms", "", "x" * 30)
    content.add_row("", "second nest", "", "", "")
    first, second = parts(content, Console(width=60))
    assert [str(column.header) for column in first.columns] == ["id", "loops", "time"]
    assert [str(column.header) for column in second.columns] == ["id", "rate"]
    assert (first.row_count, second.row_count) == (2, 1)


def test_a_column_that_may_break_takes_the_room_there_is(width: int) -> None:
    content = table("id", "loops", fold=["loops"])
    content.add_row("a", "word " * 100)
    assert width - 6 <= longest(rendered(content)) <= width


def test_long_keys_are_broken_so_that_headings_and_units_stay_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    headings = ["threads", "best", "GFLOPS", "speed-up", "variants", "compiler"]
    content = table("nest", "of", *headings, right=headings[:5], fold=["compiler"])
    name = "a_function_of_a_model_whose_name_says_all_of_its_sizes_1x64x56x56_3x3"
    content.add_row("5ce539e40a093293", name, "2 cold", "254.4 us", "908.9", "401.43", "12", "gcc 12.2.0 -O3 " * 4)
    text = rendered(content, keys=2)
    assert longest(text) <= 80
    words = text.split()
    assert all(each in words for each in (*headings, "us", "908.9", "401.43", "5ce539e40a093293", "cold"))
    assert text.count("nest") <= 3
    assert name in "".join(line.split()[line.startswith("  5")] for line in text.split("\n\n")[0].splitlines()[2:])


def test_a_command_that_explains_wraps_its_sentences(width: int) -> None:
    first, second = (Variant((Interchange(0, (name,)),)) for name in "ij")
    text = results.explanation_text(first, second, ["it reads less from memory " * 12])
    assert longest(text) <= min(width, 110)
    component = Component("gcc", True, True, True, "12", "/usr/bin/gcc", "", "compiled a program that adds " * 8)
    assert longest(results.components_text([component])) <= min(width, 110)


def test_operators_of_a_model_fit_the_terminal(width: int) -> None:
    choice = "tiles of 4 of y by 4 of x in S0 by products of their transforms; " * 6
    entries = [Entry(["node"], "convolution 3x3, 3 to 32 channels, relu", "k", 1.63e-4, choice)] * 2
    text = results.operators_table(entries)
    assert longest(text) <= width
    assert "0.163" in text


def many(document: dict[str, Any]) -> dict[str, Any]:
    """The document of a run with as much to say as there can be."""
    document["candidates"] += [copy.deepcopy(document["candidates"][0]) for _ in range(30)]
    document["best"]["words"] = [
        "tiles of 4 of oj by 4 of oi in S0 by products of their transforms (Winograd)",
        *(f"nest {nest}: loops {', '.join(['tiles of 32 of point'] * 5)}; point on threads" for nest in range(5)),
        "nest 5: loops oj, oi; microkernel libxsmm for ofm by oj, sums over ifm; oj on threads",
    ]
    document["baseline"]["message"] = "23 of 25 samples were disturbed by other work on the machine"
    document["baselines"][0]["message"] = "all samples were disturbed by other work on the machine"
    document["best"]["equal_samples"] = {"count": 4, "seconds": 0.00112, "baseline_seconds": 0.0184}
    document["records"] = {"answered": True, "reused": 0, "measured": "2026-11-23T12:45:01+00:00"}
    names = ("conv_polydl.c", "conv_polydl.h", "libconv_polydl.so", "README.txt", "conv_polydlConfig.cmake", "a.a", "L")
    document["files"] = {f"kind {place}": f"polydl-out/conv/{name}" for place, name in enumerate(names)}
    return document


@pytest.mark.parametrize("full", [False, True])
def test_the_answer_fits_a_screen_and_begins_with_the_winner(width: int, full: bool) -> None:
    document = many(run_document()) if full else run_document()
    text = answer_text(document, verbose=False)
    rows = text.splitlines()
    assert longest(text) <= width
    assert len(rows) <= 23, "and the prompt below"
    assert rows[0] == "Winner  1.12 ms on 2 threads, 16.43 times as fast as the plain nest (18.4 ms)"
    assert document["best"]["id"] in text
    assert "conv_polydl.c" in text
    assert "Total  12.9 s: analysis 2.9, run 6.5" in text
    assert text.count("disturbed by") == full, "only those of the build that is named"
    if full:
        assert "microkernel libxsmm" in text, "of many nests, those with the products are shown"
        assert "further steps in the head of the C" in text
        assert "32 more, with -v" in text
        assert "asked before, 2026-11-23 12:45 UTC" in text


@pytest.mark.parametrize("verbose", [False, True])
def test_a_table_says_why_a_longer_time_can_have_the_higher_speed_up(verbose: bool) -> None:
    note = "orders may differ"
    document = run_document()
    assert note not in answer_text(document, verbose=verbose)
    first, second = sorted(
        (each for each in document["candidates"] if each["status"] == "ok"), key=itemgetter("seconds_median")
    )[:2]
    second["speedup"] = first["speedup"] + 0.004
    assert (note in answer_text(document, verbose=verbose)) == (f"{second['speedup']:.2f}" > f"{first['speedup']:.2f}")
    second["speedup"] = first["speedup"] + 1
    text = answer_text(document, verbose=verbose)
    assert text.count(note) == 1
    assert all(len(row) <= 80 for row in text.splitlines() if note in row)


def test_a_nest_without_arithmetic_has_no_rate() -> None:
    document = run_document()
    document["best"]["gflops"] = 0.0
    rows = answer_text(document, verbose=False).splitlines()
    assert rows[1].startswith("  variant ")
    assert not any("FMA peak" in row for row in rows)


def test_the_speed_up_over_the_original_is_the_winners() -> None:
    text = " ".join(answer_text(run_document(), verbose=True).split())
    assert "plain nest: gcc -O3 -march=native -fopenmp -ffast-math; the winner is 32.86 times as fast as gcc" in text


def test_of_integers_nothing_is_said_of_rounding_errors() -> None:
    document = run_document()
    document["best"] |= {"rounding": {"method": INTEGERS, "rounds": False, "error_factor": 1.0}, "accuracy": None}
    rows = answer_text(document, verbose=False).splitlines()
    assert "  numerics bounded: integers alone, of which nothing is rounded" in rows


def test_a_search_of_one_run_promises_nothing() -> None:
    document = run_document()
    document["search"] = {
        "strategy": "ranked",
        "runs": 1,
        "seconds": 2.0,
        "improvements": [{"seconds": 2.0, "runs": 1, "best": 1e-3}],
        "expected_gain": 1.0,
    }
    text = " ".join(answer_text(document, verbose=False).split())
    assert "Search ranked, 1 run in 2 s: 1 ms after 1 (2 s); what further runs may gain is not known yet" in text
    document["search"]["expected_gain"] = 0.25
    assert "as many runs again may gain 25%" in " ".join(answer_text(document, verbose=False).split())


@pytest.mark.parametrize(
    ("gap", "said"),
    [
        (None, "may gain 25%"),
        (1.0, "may gain 25%"),
        (0.125, "may gain 25%; no variant saves more than 12%, by the bound"),
        (0.0, "may gain 25%; none is faster, by the bound"),
    ],
)
def test_what_a_search_proves_is_said(gap: float | None, said: str) -> None:
    document = run_document()
    document["search"] = {
        "strategy": "bound",
        "runs": 9,
        "seconds": 2.0,
        "improvements": [{"seconds": 2.0, "runs": 1, "best": 1e-3}],
        "expected_gain": 0.25,
        "gap": gap,
    }
    text = " ".join(answer_text(document, verbose=False).split())
    assert f"1 ms after 1 (2 s); as many runs again {said} " in text.replace("\n", " ") + " "
    assert ("by the bound" in text) == ("by the bound" in said)


def test_verbose_shows_all_candidates_and_all_steps(width: int) -> None:
    document = many(run_document())
    text = answer_text(document, verbose=True)
    assert longest(text) <= width
    assert text.startswith("Nest  examples/a/rather/long")
    assert text.count("nest ") >= 6
    assert text.count("samples") >= 1
    assert "more, with -v" not in text


def test_an_answer_without_a_winner_shows_the_candidates_and_the_files() -> None:
    document = run_document()
    document["best"] = None
    for candidate in document["candidates"]:
        candidate |= {"status": "crash", "seconds_median": None, "speedup": None, "gflops": None, "error": None}
    text = answer_text(document, verbose=False)
    assert text.count("crash") >= 3
    assert "Winner" not in text
    document["baseline"] = None
    assert "crash" not in answer_text(document, verbose=False), "nothing was run"


STEPS = (
    Tile(0, "i", (256, 64)),
    Tile(0, "j", (32,)),
    UseMicrokernel(0, "c", "j", "i", "k", ("l",), ("h",)),
    Interchange(0, ("i_t2", "i_t1", "j_t1", "k")),
    Parallel(0, "i_t2", ("s",), "j_t1", True),
    Unroll(0, "l"),
    Stream(0, ("y", "z")),
    Vectors(0, 32),
)


def test_steps_of_a_nest_read_as_a_sentence() -> None:
    assert nest_in_words(NestSchedule(STEPS)) == (
        "loops tiles of 256 of i, tiles of 64 of i, tiles of 32 of j, k; "
        "microkernel c for j by i in rows of h, sums over l, k; "
        "tiles of 256 of i and tiles of 32 of j on threads, the next one free, each with sums of s; "
        "l unrolled; y, z written past the caches; vectors of 32 bytes"
    )
    assert nest_in_words(NestSchedule((Tile(0, "i", (8,)),))) == "i in tiles of 8"


@parametrized("example", ["conv.c", "matmul.c", "bnorm_residual.c"], quick=1)
def test_every_variant_has_words_without_names_of_generated_loops(example: str) -> None:
    defines = {"conv.c": {"nImg": 1}, "matmul.c": {"M": 96, "N": 1024, "K": 256}}.get(example, {})
    scop = pipeline.parse(ROOT / "examples" / example, defines=defines)
    space = pipeline.space_on(scop, machine_with(2, 64))
    variants = pipeline.generate(space, max_variants=30).variants
    assert len(variants) >= 10
    for variant in variants:
        words = variant_in_words(scop, variant)
        assert len(words) >= 1
        assert all(line and "_t1" not in line and "{" not in line for line in words), words
    assert variant_in_words(scop, Variant(())) == [AS_WRITTEN]


def test_progress_without_a_terminal_is_lines(capsys: pytest.CaptureFixture[str]) -> None:
    times = iter([0.0, 1.0, 6.0, 7.0, 8.0, 20.0, 21.0])
    show = lines(lambda: next(times))
    for done in (1, 2, 3, 4):
        show(Stage("analyse", done, 4))
    show(Stage("nests", 1, 0))
    show(Stage("nests", 9, 0))
    show(Stage("nests", 9, 0, "a word before"))
    captured = capsys.readouterr()
    assert captured.err.splitlines() == [
        "polydl: analyse 3 of 4",
        "polydl: analyse 4 of 4",
        "polydl: nests 9",
        "polydl: a word before",
    ]
    assert captured.out == ""


@parametrized("command", ["rank", "variants"], quick=1)
def test_tables_of_a_space_fit_the_terminal(command: str, width: int, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [command, str(ROOT / "examples" / "conv.c"), "-D", "nImg=1", "--max-variants", "6"]
    assert main.main(arguments, standalone_mode=False) == 0
    text = capsys.readouterr().out
    assert "ofm" in text
    assert longest(text) <= width


def test_reasons_for_other_types_of_elements_are_details(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["variants", str(ROOT / "examples" / "stencil.c"), "--max-variants", "2"]
    assert main.main(arguments, standalone_mode=False) == 0
    plain = capsys.readouterr().out
    assert main.main([*arguments, "-v"], standalone_mode=False) == 0
    detailed = capsys.readouterr().out
    assert "plain loops" in plain
    assert "does not multiply" not in plain
    assert len(detailed) >= len(plain)


def test_verbose_and_quiet_together_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["optimize", "x.c", "-v", "-q"], standalone_mode=False) == 2
    assert "both --verbose and --quiet" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.native
def test_quiet_shows_nothing_and_verbose_all(tmp_path: Path, quick_command: Path) -> None:
    command = [str(quick_command), "optimize", str(ROOT / "examples" / "matmul.c")]
    command += ["-D", "M=16", "-D", "N=32", "-D", "K=8", "--max-variants", "6", "--top-k", "2", "--threads", "1"]
    environment = os.environ | {"COLUMNS": "80", "XDG_DATA_HOME": str(tmp_path)}

    def run(*options: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*command, *options], cwd=tmp_path, env=environment, capture_output=True, text=True)

    default = run()
    assert default.returncode == 0
    assert default.stdout.startswith("Winner  ")
    assert longest(default.stdout) <= 80
    assert "polydl: compile " in default.stderr
    quiet = run("-q", "--fresh")
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (0, "", "")
    verbose = run("-v", "--fresh").stdout
    for words in ("Machine  ", "for i in 0..15  (16)", "Picks  2 of 6", "Winner  ", "shortest"):
        assert words in verbose
    head = (tmp_path / "polydl-out" / "matmul" / "matmul_polydl.c").read_text(encoding="utf-8").split("*/")[0]
    assert "{'step'" not in head


@pytest.fixture(scope="module")
def judged() -> evaluation.Evaluation:
    return evaluation.evaluate(NESTS, rankers=("equation-1", "cost-model"))


def test_judged_rankers_fit_the_terminal(width: int, judged: evaluation.Evaluation) -> None:
    text = learning.evaluation_text(judged)
    assert longest(text) <= width
    for name in ("default order", "oracle", "equation-1", "cost-model", *{nest.group for nest in NESTS}):
        assert name in text


def test_a_calibration_fits_the_terminal(width: int) -> None:
    profile = read(Path(__file__).parent / "data" / "calibration.toml")
    text = profile_text(profile, machine_with(1, 64).core)
    assert longest(text) <= width
    assert f"measured {profile.measured}" in " ".join(text.split())
    assert all(table.microkernel in text for table in profile.throughputs)


def test_records_fit_the_terminal(width: int) -> None:
    kept = [recorded("a" * 12, "variant", f"{number:012x}", 1e-3 * (1 + number)) for number in range(3)]
    kept += [replace(kept[0], function="a_function_whose_name_is_quite_long", workload="resnet_03, 28 images, blocked")]
    for text in (summaries_table(summaries(kept)), records_table(kept)):
        assert longest(text) <= width
        assert "resnet_03, 28 images, blocked" in " ".join(text.split())


def test_a_quiet_benchmark_shows_nothing() -> None:
    file = Path(__file__).parent / "data" / "bench_results.json"
    told = CliRunner().invoke(main, ["bench", "--show", "--out", str(file)])
    quiet = CliRunner().invoke(main, ["bench", "--show", "--out", str(file), "--quiet"])
    assert (told.exit_code, quiet.exit_code) == (0, 0)
    assert "workload" in told.output
    assert quiet.output == ""
