"""Parts of the work for machines that know nothing of each other: together they do the whole."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polydl.cli import command as command_named
from polydl.cli import main
from polydl.errors import OptionError
from polydl.optimization.shards import Shard
from polydl.records.store import read

pytestmark = pytest.mark.usefixtures("second_level")

SCRIPT = Path(__file__).parents[1] / "examples" / "slurm" / "collect.sh"
PRODUCT = """\
void product(float c[16][64], const float a[16][12], const float b[12][64])
{
#pragma scop
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 64; ++j)
      for (int k = 0; k < 12; ++k)
        c[i][j] += a[i][k] * b[k][j];
#pragma endscop
}
"""
SMALL = ["--workload", "gemm_24x24x24", "--workload", "gemm_32x24x16", "--workload", "gemm_16x32x24"]


@given(st.lists(st.integers()), st.integers(1, 9))
def test_parts_are_the_whole_and_have_nothing_in_common(items: list[int], count: int) -> None:
    numbered = list(enumerate(items))
    parts = [Shard(number, count).of(numbered) for number in range(1, count + 1)]
    assert sorted(item for part in parts for item in part) == numbered
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


@pytest.mark.parametrize("text", ["", "1", "0/4", "5/4", "1/0", "-1/4", "1/4/2", "a/b", "1.0/2", f"1/{'9' * 5000}"])
def test_what_is_no_part(text: str) -> None:
    with pytest.raises(OptionError) as caught:
        Shard.parse(text)
    assert caught.value.construct == f"--shard {text}"


def test_a_part_is_written_as_it_is_read() -> None:
    assert str(Shard.parse(" 2/4 ")) == "2/4"


@pytest.mark.parametrize("command", ["optimize", "collect", "bench"])
def test_parts_need_records_of_their_own(command: str) -> None:
    line = [command, "--workload", "gemm_24x24x24", "--shard", "1/2"]
    with pytest.raises(OptionError, match="same records") as caught:
        command_named(command).main(line[1:], standalone_mode=False)
    assert "records merge" in (caught.value.remedy or "")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (["bench", "--merge", "a.json", "--shard", "3/3"], "both --merge and --shard are given"),
        (["bench", "--merge", "a.json", "--suite", "resnet"], "both --merge and --suite are given"),
        (["bench", "--merge", "a.json", "resnet_03"], "both --merge and [FILE|WORKLOAD]... are given"),
        (["bench", "--merge", "a.json", "--show"], "both --merge and --show are given"),
        (["bench", "--show", "--out", "a.json", "--shard", "1/2"], "both --show and --shard are given"),
        (["bench", "--show", "--out", "a.json", "--limit", "1"], "both --show and --limit are given"),
        (["collect", "--shard", "2/2", "--export", "a.jsonl.xz"], "both --export and --shard are given"),
        (["collect", "--suite", "resnet", "--export", "a.jsonl.xz"], "both --export and --suite are given"),
    ],
)
def test_what_has_no_effect_is_refused(line: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(line, standalone_mode=False) == 2
    assert f"{words}\n  remedy: leave one of them out" in capsys.readouterr().err


def test_a_part_that_is_missing_has_a_remedy_of_parts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--merge", str(tmp_path / "absent.json")], standalone_mode=False) == 2
    said = capsys.readouterr().err
    assert "absent.json: can't be read: No such file or directory\n" in said
    assert "remedy: name the results of each part of one run, once" in said


def test_parts_of_a_benchmark_are_the_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[list[str]] = []

    def record(whole: list[str], shard: Shard, *_: object) -> dict[str, object]:
        taken.append(list(shard.of(whole)))
        return {"results": {}}

    monkeypatch.setattr("polydl.commands.bench._run", record)
    monkeypatch.setattr("polydl.commands.bench._print", lambda *_: None)
    whole: list[set[str]] = []
    for count in (1, 2, 4):
        taken.clear()
        for number in range(1, count + 1):
            line = ["bench", "--suite", "resnet", "--shard", f"{number}/{count}", "--records", str(tmp_path)]
            assert main(line, standalone_mode=False) == 0
        assert sum(map(len, taken)) == len({name for names in taken for name in names})
        whole.append({name for names in taken for name in names})
    assert len(whole[0]) == 20
    assert whole[0] == whole[1] == whole[2]


def test_parts_of_a_collection_are_the_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[str] = []

    def record(names: tuple[str, ...], *_: object, **__: object) -> tuple[()]:
        taken.extend(names)
        return ()

    monkeypatch.setattr("polydl.learning.collection.collect", record)
    whole = []
    for count in (1, 2, 4):
        taken.clear()
        for number in range(1, count + 1):
            line = ["collect", "--suite", "resnet", "--shard", f"{number}/{count}", "--records", str(tmp_path)]
            assert main(line, standalone_mode=False) == 0
        assert len(taken) == len(set(taken)) >= 15
        whole.append(set(taken))
    assert whole[0] == whole[1] == whole[2]


def measured(directory: Path) -> set[tuple[str | None, str]]:
    return {(record.workload, record.id) for record in read(directory) if record.kind == "variant"}


def merged(tmp_path: Path, parts: list[Path]) -> Path:
    together = tmp_path / f"merged-{len(parts)}"
    line = ["records", "merge", *map(str, parts), "--records", str(together)]
    assert main(line, standalone_mode=False) == 0
    return together


@pytest.mark.native
@pytest.mark.slow
def test_1_2_and_4_parts_of_an_optimization_measure_the_same_variants(tmp_path: Path) -> None:
    source = tmp_path / "product.c"
    source.write_text(PRODUCT)
    results = {}
    for count in (1, 2, 4):
        parts = [tmp_path / f"{number}-of-{count}" for number in range(1, count + 1)]
        for number, part in enumerate(parts, 1):
            line = ["optimize", str(source), "--shard", f"{number}/{count}", "--records", str(part), "--all"]
            line += ["--microkernel", "none", "--max-variants", "3", "--threads", "1", "-q", "--out", str(part / "out")]
            assert main(line, standalone_mode=False) == 0
        results[count] = measured(merged(tmp_path, parts))
    assert len(results[1]) == 3
    assert results[1] == results[2] == results[4]


@pytest.mark.slow
@pytest.mark.native
def test_what_the_parts_measured_answers_the_whole(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "product.c"
    source.write_text(PRODUCT)
    line = ["optimize", str(source), "--all", "--microkernel", "none", "--max-variants", "3", "--threads", "1"]
    parts = [tmp_path / "1", tmp_path / "2"]
    for number, part in enumerate(parts, 1):
        shard = ["--shard", f"{number}/2", "--records", str(part), "--out", str(part / "out"), "-q"]
        assert main([*line, *shard], standalone_mode=False) == 0
    together, path = merged(tmp_path, parts), tmp_path / "whole.json"
    whole = [*line, "--records", str(together), "--out", str(tmp_path / "out"), "--json", str(path)]
    assert main(whole, standalone_mode=False) == 0
    document = json.loads(path.read_text())
    assert document["best"] is not None
    assert {candidate["id"] for candidate in document["candidates"]} == {one for _, one in measured(together)}


def job_array(
    tmp_path: Path, task: int, tasks: tuple[int, ...], folder: Path = Path(sys.executable).parent, **more: str
) -> subprocess.CompletedProcess[str]:
    """One task of the array, as SLURM would start it, with the ``polydl`` of a folder."""
    numbers = {"ID": task, "COUNT": len(tasks), "MIN": min(tasks), "MAX": max(tasks)}
    environment = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}", **more}
    environment |= {f"SLURM_ARRAY_TASK_{name}": str(number) for name, number in numbers.items()}
    options = ["--variants", "2", "--rounds", "2", "--nest-budget", "1s", "--microkernel", "c"]
    return subprocess.run(
        ["bash", str(SCRIPT), *SMALL, *options], cwd=tmp_path, env=environment, capture_output=True, text=True
    )


@pytest.mark.slow
@pytest.mark.native
def test_the_job_array_collects_every_nest_once(tmp_path: Path) -> None:
    for task in (1, 2):
        ended = job_array(tmp_path, task, (1, 2))
        assert ended.returncode == 0, ended.stderr
    parts = [{record.workload for record in read(tmp_path / "records" / str(part))} for part in (1, 2)]
    assert not parts[0] & parts[1]
    assert parts[0] | parts[1] == {SMALL[1], SMALL[3], SMALL[5]}


@pytest.mark.parametrize(
    ("tasks", "parts", "shard"),
    [((1, 2, 3), {}, "2/3"), ((2,), {"POLYDL_PARTS": "8"}, "2/8"), ((2, 5), {"POLYDL_PARTS": "8"}, "2/8")],
)
def test_a_task_keeps_its_part_when_it_is_submitted_again(
    tmp_path: Path, tasks: tuple[int, ...], parts: dict[str, str], shard: str
) -> None:
    command = tmp_path / "polydl"
    command.write_text('#!/bin/sh\necho "$@"\n')
    command.chmod(0o755)
    ended = job_array(tmp_path, 2, tasks, tmp_path, **parts)
    assert ended.stdout.endswith(f"--shard {shard} --records records/2\n")


@pytest.mark.parametrize("tasks", [(1,), (3,), (2, 3), (0, 1), (1, 3)])
def test_a_task_does_not_guess_of_how_many_it_is_a_part(tmp_path: Path, tasks: tuple[int, ...]) -> None:
    ended = job_array(tmp_path, tasks[-1], tasks)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "POLYDL_PARTS" in ended.stderr


def test_the_script_is_clean_and_says_how_to_submit_it(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SLURM")}
    ended = subprocess.run(["bash", str(SCRIPT)], env=environment, capture_output=True, text=True)
    assert ended.returncode != 0
    assert "--array=1-N" in ended.stderr
    checker = Path(sys.executable).with_name("shellcheck")
    checked = subprocess.run([str(checker), str(SCRIPT)], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout
