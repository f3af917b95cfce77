"""Many nests, optimized one after the other."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from machines import machine_with

from polydl.cli import command, main
from polydl.errors import OptionError
from polydl.optimization.tuning import Tuned, TuningTask, nests_of, tune
from polydl.presentation.tuning import document, line, tuned_text
from polydl.records.store import read
from polydl.system.interruption import Interrupted

REFUSED = """\
void chase(int n, int next[64])
{
  int at = 0;
  while (next[at] != n)
    at = next[at];
}
"""
SUM = """\
void total(float sums[16], const float values[16][8])
{
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < N; ++j)
      sums[i] += values[i][j];
}
"""
FILLED = """\
void fill(float values[16][8])
{
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 8; ++j)
      values[i][j] = 1.0f;
}
"""
BEST = {"id": "0123456789ab", "plain": False, "seconds": 1e-3, "gflops": 12.5, "speedup": 3.25}


def tuned(name: str, cpu: str = "A", **values: Any) -> Tuned:
    known = {"status": "ok", "message": "", "document": {"best": BEST}, "answered": False, "seconds": 1.0}
    return Tuned(TuningTask(name, Path("out", name)), cpu, **{**known, **values})


def test_each_nest_has_a_folder() -> None:
    nests = nests_of(["a/one.c", "a/one.c"], ["resnet_03"], Path("out"), defines={"N": "8"})
    assert [nest.name for nest in nests] == ["a/one.c", "resnet_03"]
    assert [str(nest.directory) for nest in nests] == ["out/one", "out/resnet_03"]
    assert nests[0].defines == {"N": "8"}


def test_a_file_that_is_named_in_two_ways_is_one_nest() -> None:
    nests = nests_of(["a/one.c", "./a/one.c", "a/../a/two.c"], [], Path("out"))
    assert [nest.name for nest in nests] == ["a/one.c", "a/../a/two.c"]


def test_options_of_files_need_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tune", "--workload", "gemm_8x8x8", "--function", "f"], standalone_mode=False) == 2
    said = capsys.readouterr().err
    assert "--function has no effect without FILE\n  remedy: leave it out, or add FILE" in said


def test_files_that_would_share_a_folder() -> None:
    with pytest.raises(OptionError, match=r"a/one.c and b/one.c would share"):
        nests_of(["a/one.c", "b/one.c"], [], Path("out"))


def test_the_table_has_a_row_for_each_nest() -> None:
    failed = tuned("two.c", status="failed", message="because", document=None)
    text = tuned_text([tuned("one.c"), failed, tuned("three.c", answered=True)])
    rows = {row.split()[0]: row for row in text.splitlines() if row.strip()}
    assert "1 ms" in rows["one.c"]
    assert "3.25" in rows["one.c"]
    assert "failed" in rows["two.c"]
    assert "as before" in rows["three.c"]
    assert text.endswith("3 nests: 2 optimized, 1 failed; 1 were answered before")
    assert "processor" not in text
    assert line(failed) == "polydl: two.c: because"
    assert line(replace(failed, message="two.c:3: because")) == "polydl: two.c:3: because"


def test_several_processors_are_told_apart() -> None:
    text = tuned_text([tuned("one.c"), tuned("one.c", "B")])
    assert "processor" in text


def test_the_document_says_what_won() -> None:
    [first, second] = document([tuned("one.c"), tuned("two.c", status="failed", document=None)])["nests"]
    assert first["best"] == BEST
    assert set(second["best"].values()) == {None}
    json.dumps([first, second])


def test_nothing_to_optimize() -> None:
    with pytest.raises(OptionError, match="nothing to optimize"):
        command("tune").main([], standalone_mode=False)


def test_a_file_that_is_missing_does_not_stop_the_others(tmp_path: Path) -> None:
    (tmp_path / "folder.c").mkdir()
    nests = nests_of([str(tmp_path / "missing.c"), str(tmp_path / "folder.c")], [], tmp_path / "out")
    results = {
        Path(result.nest.name).stem: result
        for result in tune(nests, machine=machine_with(1, 32), records=tmp_path / "records")
    }
    assert {result.status for result in results.values()} == {"failed"}
    assert "missing.c" in results["missing"].message
    assert "folder.c" in results["folder"].message


def test_a_folder_with_a_file_of_the_users_is_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / "out" / "gemm_8x8x8"
    folder.mkdir(parents=True)
    (folder / "README.txt").write_text("my project\n")
    nests = nests_of([], ["gemm_8x8x8"], tmp_path / "out")
    [result] = tune(nests, machine=machine_with(1, 32), records=tmp_path / "records")
    assert "README.txt in the folder of the results was not written by polydl" in result.message
    assert [path.name for path in folder.iterdir()] == ["README.txt"]


def test_what_is_no_budget_is_said_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = ["tune", "--suite", "resnet", "--budget", "lots", "--out", str(tmp_path / "out")]
    assert main(line, standalone_mode=False) == 2
    assert capsys.readouterr().err.count("'lots' is no budget") == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("more", "remedy"), [([], "the same command"), (["--fresh"], "the same command without")])
def test_an_interrupted_run_shows_what_was_done(
    more: list[str], remedy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(nests: Sequence[TuningTask], **_: object) -> Iterator[Tuned]:
        yield replace(tuned("one.c"), nest=nests[0])
        raise Interrupted

    monkeypatch.setattr("polydl.optimization.tuning.tune", interrupted)
    line = ["tune", "one.c", "two.c", "--out", str(tmp_path / "out"), "--records", str(tmp_path / "records"), *more]
    assert main([*line, "--json", str(tmp_path / "tuned.json")], standalone_mode=False) == 130
    said = capsys.readouterr()
    assert "1 nest: 1 optimized, 0 failed" in said.out
    assert "1 of 2 were done by then\n  remedy: " + remedy in said.err
    assert said.err.endswith("polydl: interrupted\n")
    assert not (tmp_path / "tuned.json").exists()


@pytest.mark.native
def test_one_of_several_functions_is_tuned_with_its_data(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "two.c"
    path.write_text(SUM + SUM.replace("total", "other") + FILLED)
    line = ["tune", str(path), "-D", "N=8", "--threads", "1", "--max-variants", "2", "--top-k", "1"]
    line += ["--out", str(tmp_path / "out"), "--records", str(tmp_path / "records")]
    assert main(line, standalone_mode=False) == 1
    assert "such as --function total" in capsys.readouterr().err
    chosen = [*line, "--function", "other", "--constant", "values", "--init", "fill"]
    assert main([*chosen, "--json", str(tmp_path / "tuned.json")], standalone_mode=False) == 0
    text = (tmp_path / "out" / "two" / "other_polydl.h").read_text()
    assert "values" in text
    report = json.loads((tmp_path / "out" / "two" / "report.json").read_text())
    assert report["input"]["function"] == "other"
    assert report["input"]["constants"] == ["values"]


@pytest.mark.native
def test_a_run_goes_on_where_it_stopped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {"refused.c": REFUSED, "total.c": SUM}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    records, path = tmp_path / "records", tmp_path / "tuned.json"
    line = ["tune", str(tmp_path / "refused.c"), str(tmp_path / "total.c"), "-D", "N=8", "--threads", "1"]
    line += ["--max-variants", "2", "--top-k", "1", "--out", str(tmp_path / "out"), "--records", str(records)]
    assert main([*line, "--json", str(path)], standalone_mode=False) == 1
    said = capsys.readouterr()
    assert "refused.c" in said.err
    assert "polydl: tune 2 of 2" in said.err
    assert "2 nests: 1 optimized, 1 failed" in said.out
    before = list(read(records))
    assert before
    nests = {Path(nest["name"]).name: nest for nest in json.loads(path.read_text())["nests"]}
    assert [nests[name]["status"] for name in files] == ["failed", "ok"]
    assert (tmp_path / "out" / "total" / "total_polydl.c").exists()
    # Again, with the same options: nothing is measured, and the files are there again.
    (tmp_path / "out" / "total" / "total_polydl.c").unlink()
    assert main([*line[:1], *line[2:], "--json", str(path)], standalone_mode=False) == 0
    [nest] = json.loads(path.read_text())["nests"]
    assert nest["answered"]
    assert nest["best"]["seconds"] == nests["total.c"]["best"]["seconds"]
    assert (tmp_path / "out" / "total" / "total_polydl.c").exists()
    assert list(read(records)) == before
