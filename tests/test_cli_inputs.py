"""What is given to a command and can't be used: files that are none, empty words, options that leave others no part."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import click
import pytest
from command_line import matmul, polydl

from polydl.cli import COMMANDS, command
from polydl.presentation.checked_command import CheckedCommand

__all__ = ["matmul", "polydl"]


@pytest.mark.parametrize("more", [(), ("--no-run",)])
@pytest.mark.parametrize("kind", ["a pipe", "a device"])
def test_inputs_that_are_no_file_are_refused_and_not_waited_for(
    polydl: Any, matmul: str, tmp_path: Path, kind: str, more: tuple[str, ...]
) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    ended = polydl(
        "optimize", matmul, "--threads", "1", "--inputs", str(path) if kind == "a pipe" else "/dev/zero", *more
    )
    assert ended.status == 2
    assert "it is no ordinary file" in ended.err
    assert "name a file that numpy.savez wrote" in ended.err


def test_an_option_of_earlier_versions_names_what_replaced_it(polydl: Any, matmul: str) -> None:
    ended = polydl("optimize", matmul, "--strict-fp")
    assert ended.status == 2
    assert ended.err == "polydl: error: No such option '--strict-fp'.\n  remedy: write --numerics strict\n"
    # It has no such option.
    assert "--numerics" not in polydl("parse", matmul, "--strict-fp").err
    assert "optimize --help" in polydl("optimize", matmul, "--strict").err


def test_all_commands_refuse_empty_words() -> None:
    commands = [command(name) for name in COMMANDS]
    commands += [each for group in commands if isinstance(group, click.Group) for each in group.commands.values()]
    assert [each.name for each in commands if not isinstance(each, CheckedCommand | click.Group)] == []


@pytest.mark.parametrize(
    ("arguments", "construct"),
    [
        (("optimize", ""), 'FILE ""'),
        (("optimize", "matmul.c", "--out", ""), '--out ""'),
        (("optimize", "matmul.c", "--records="), '--records ""'),
        (("optimize", "matmul.c", "--name", ""), '--name ""'),
        (("optimize", "matmul.c", "--march", ""), '--march ""'),
        (("optimize", "matmul.c", "-I", "include", "-I", ""), '-I ""'),
        (("parse", "matmul.c", "--json", ""), '--json ""'),
        (("records", "list", "--records", ""), '--records ""'),
        (("records", "merge", "matmul.c", ""), 'SOURCE... ""'),
        (("bench", "matmul.c", "--out", ""), '--out ""'),
        (("optimize", "-"), "FILE -"),
        (("optimize", "matmul.c", "--html", "-"), "--html -"),
        (("report", "--out", "-"), "--out -"),
        (("analyze", "matmul.c", "--plot", "-"), "--plot -"),
    ],
)
def test_empty_words_and_streams_in_place_of_paths_are_refused(
    polydl: Any, matmul: str, tmp_path: Path, arguments: tuple[str, ...], construct: str
) -> None:
    ended = polydl(*arguments)
    assert ended.status == 2
    assert f"  in: {construct}\n  remedy: " in ended.err
    assert os.listdir(tmp_path) == ["matmul.c"]


def test_a_file_called_like_a_stream_is_named_with_its_folder(polydl: Any, matmul: str) -> None:
    Path(matmul).rename("-")
    assert polydl("parse", "./-").status == 0


@pytest.mark.parametrize("option", ["--top-k", "--ranker"])
def test_an_option_of_a_figure_is_refused_where_none_is_drawn(polydl: Any, matmul: str, option: str) -> None:
    ended = polydl("analyze", matmul, option, {"--top-k": "3", "--ranker": "cost-model"}[option])
    assert ended.status == 2
    assert f"{option} has no effect without --plot\n  remedy: leave it out, or add --plot" in ended.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("optimize", "--all", "--top-k", "3"), "both --all and --top-k"),
        (("fuse", "--top-k", "3", "--all"), "both --all and --top-k"),
        (("optimize", "--variant", "00", "--all"), "both --variant and --all"),
        (("optimize", "--variant", "00", "--top-k", "3"), "both --variant and --top-k"),
        (("rank", "--variant", "00", "--top-k", "3"), "both --variant and --top-k"),
        (("optimize", "--variant", "00", "--ranker", "cost-model"), "both --variant and --ranker"),
        (("optimize", "--variant", "00", "--budget", "5%"), "both --variant and --budget"),
        (("optimize", "--variant", "00", "--strategy", "random"), "both --variant and --strategy"),
        (("rank", "--variant", "00", "--explain"), "both --variant and --explain"),
        (("rank", "--variant", "00", "--ranker", "cost-model"), "both --variant and --ranker"),
        (("parse", "--workload", "gemm_8x8x8"), "both a FILE and a --workload"),
    ],
)
def test_an_option_that_leaves_another_no_part_is_refused_beside_it(
    polydl: Any, matmul: str, arguments: tuple[str, ...], words: str
) -> None:
    ended = polydl(arguments[0], matmul, *arguments[1:])
    assert ended.status == 2
    assert f"{words} are given\n  remedy: leave one of them out" in ended.err


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("optimize", "-D"), "optimize"),
        (("bench", "--merge"), "bench"),
        (("records", "show", "--nest"), "records show"),
    ],
)
def test_an_option_without_a_value_leads_to_the_help_of_its_command(
    polydl: Any, arguments: tuple[str, ...], named: str
) -> None:
    ended = polydl(*arguments)
    assert ended.status == 2
    assert "requires an argument.\n  remedy: see " in ended.err
    assert ended.err.endswith(f" {named} --help\n")


@pytest.mark.parametrize(
    "arguments",
    [
        ("optimize", "--variant", "--pin", "order=i,j"),
        ("optimize", "--variant", "--max-variants", "3"),
        ("optimize", "--variant", "--no-fewer-products"),
        ("optimize", "--variant", "--no-fusion"),
        ("variants", "--show", "--pin", "order=i,j"),
        ("variants", "--show", "--seed", "1"),
        ("rank", "--variant", "--pin", "order=i,j"),
        ("rank", "--variant", "--seed", "1"),
        ("analyze", "--variant", "--pin", "order=i,j"),
        ("analyze", "--variant", "--max-variants", "3"),
    ],
)
def test_what_chooses_among_generated_variants_is_refused_beside_a_file_of_steps(
    polydl: Any, matmul: str, arguments: tuple[str, ...]
) -> None:
    Path("steps.json").write_text("[]")
    command, named, option, *value = arguments
    ended = polydl(command, matmul, named, "steps.json", option, *value)
    assert ended.status == 2
    assert f"both {named} FILE and {option} are given\n  remedy: leave one of them out" in ended.err


def test_an_id_is_looked_up_among_the_variants_that_agree_with_pins(polydl: Any, matmul: str) -> None:
    pinned = ("variants", matmul, "--threads", "1", "--max-variants", "5", "--pin", "microkernel=none")
    first = polydl(*pinned, "--json", "-").document["variants"][0]["id"]
    assert "void matmul(" in polydl(*pinned, "--show", first).out


def test_an_error_in_a_file_of_steps_names_the_file_and_the_step(polydl: Any, matmul: str) -> None:
    order = {"step": "interchange", "nest": 0, "order": ["i", "j", "k"]}
    for wrong, words in (
        ({"step": "attach", "to": "S0"}, "`attach` has the wrong fields: Object missing"),
        (
            {"step": "attach", "heavy": "S0"},
            "`attach` has the wrong fields: it has no heavy",
        ),
        ({"step": "skew"}, "unknown step 'skew'"),
        ({}, "a step is called None"),
    ):
        Path("steps.json").write_text(json.dumps([order, wrong]))
        ended = polydl("variants", matmul, "--show", "steps.json")
        assert ended.status == 2
        assert f"steps.json: step 2 of the 2 in the list: {words}" in ended.err
        assert f"\n  in: {json.dumps(wrong)}\n" in ended.err
        assert "\n  remedy: " in ended.err


def test_a_figure_of_an_unknown_kind_is_refused_before_any_work(polydl: Any) -> None:
    ended = polydl("analyze", "no-such.c", "--plot", "sets.txt")
    assert ended.status == 2
    assert "no figure is written as .txt\n  in: --plot sets.txt\n" in ended.err
    assert "ends with .svg, .png or .pdf" in ended.err


def test_the_help_of_library_says_what_machine_it_takes(polydl: Any) -> None:
    said = " ".join(polydl("library", "--help").out.split())
    assert "Another machine is refused." in said
    assert "Nothing is run then" not in said
