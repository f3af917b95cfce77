"""``polydl records``: what it lists, exports, merges and removes."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path
from typing import Any

import pytest
from records_by_hand import NEST, OTHER, VARIANT, record

from polydl import pipeline, workloads
from polydl.cli import main
from polydl.ir.variant import Interchange, Tile, Variant
from polydl.records.line import to_line
from polydl.records.store import Damage, append, file_of, read


def changed(**changes: Any) -> bytes:
    """A line of a record with other values."""
    return json.dumps({**json.loads(to_line(record())), **changes}).encode() + b"\n"


NO_RECORDS = {
    "an array": b"[]\n",
    "null": b"null\n",
    "an empty object": b"{}\n",
    "no Unicode": b"\xff\xfe\n",
    "too few fields": b'{"version": 1}\n',
    "a version that is a text": changed(version="1"),
    "brackets": b"[" * 200_000 + b"\n",
    "brackets in a field": changed(function=0).replace(b'"function": 0', b'"function": ' + b"[" * 200_000),
    "nested features": changed(features={"a": [[[1]]]}),
    "features that are an array": changed(features=[1]),
    "a time that is a text": changed(seconds_minimum="abc"),
    "a negative time": changed(seconds_minimum=-1),
    "no time at all": changed(seconds_median=0),
    "NaN": changed(seconds_minimum=float("nan")),
    "samples that are a text": changed(samples="x"),
    "a sample that is too short": changed(samples=[[1.0, 2.0]]),
    "a date that is none": changed(date="never"),
    "no setting": changed(setting=None),
    "steps that are a number": changed(variant=7),
    "a step of no name": changed(variant=[{"step": ["tile"]}]),
    "a step of wrong types": changed(variant=[{"step": "tile", "nest": 0, "loop": 3, "sizes": "x"}]),
    "a negative count": changed(flops=-5),
    "a count that is a text": changed(flops="x"),
    "a count that no float holds": changed(flops=10**400),
    "a feature that no float holds": changed(features={"a": 10**400}),
    "a nest elsewhere": changed(nest="../../../../evil"),
    "no run": changed(run=None),
    "an unknown field": changed(more=1),
    "an unknown status": changed(status="fine"),
}


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Any:
    def run(*arguments: object) -> tuple[int, str, str]:
        status = main.main(["records", *map(str, arguments)], standalone_mode=False)
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run


def test_the_command_shows_what_there_is(tmp_path: Path, run: Any) -> None:
    append(tmp_path, [record(), record(None, id="x"), record(nest=OTHER, workload="resnet_03")])
    status, out, _ = run("list", "--records", tmp_path)
    assert status == 0
    assert NEST in out
    assert "resnet_03" in out
    status, out, _ = run("list", "--records", tmp_path, "--nest", OTHER, "--json", "-")
    [entry] = json.loads(out)["settings"]
    assert (entry["nest"], entry["setting"]["libraries"]) == (OTHER, {"libxsmm": "1.17"})
    _, out, _ = run("show", VARIANT.id[:4], "--records", tmp_path, "--json", "-")
    assert [each["id"] for each in json.loads(out)["records"]] == [VARIANT.id] * 2
    _, out, _ = run("best", "--records", tmp_path)
    assert "i:64 j i:16" in out
    _, out, _ = run("list", "--records", tmp_path / "empty")
    assert "no records" in out
    for more in (("--workload", "nosuch"), ("--nest", "ffff")):
        assert run("list", "--records", tmp_path, *more)[1] == f"no such records in {tmp_path}\n"


def test_the_command_exports_what_merge_takes(tmp_path: Path, run: Any) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    append(ours, [record(), record(nest=OTHER)])
    assert run("export", "--format", "json", "--out", tmp_path / "all.jsonl", "--records", ours)[0] == 0
    assert run("merge", tmp_path / "all.jsonl", "--records", theirs)[0] == 0
    assert list(read(theirs)) == list(read(ours))
    assert run("export", "--out", tmp_path / "all.csv", "--nest", OTHER, "--records", ours)[0] == 0
    assert len(list(csv.DictReader((tmp_path / "all.csv").open()))) == 1


def test_the_command_says_what_is_damaged_and_drops_it(tmp_path: Path, run: Any) -> None:
    append(tmp_path, [record(), record(nest=OTHER)])
    for nest in (NEST, OTHER):
        with open(file_of(tmp_path, nest), "ab") as file:
            file.write(b'[]\n{"version": 1, "kind"')
    status, _, err = run("list", "--records", tmp_path)
    assert status == 0
    [said] = err.splitlines()
    assert "4 lines passed over" in said
    assert f"{NEST}.jsonl:2, 3; " in said
    status, out, _ = run("damaged", "--records", tmp_path)
    assert status == 0
    assert f"{NEST}.jsonl:2: Expected `object`" in out
    assert f"{NEST}.jsonl:3: the last line is torn" in out
    document = json.loads(run("damaged", "--records", tmp_path, "--json", "-")[1])
    assert (document["records"], [each["line"] for each in document["damaged"]]) == (2, [2, 3, 2, 3])
    assert "Removed  0 records and 4 damaged lines, 2 stay" in run("prune", "--damaged", "--records", tmp_path)[1]
    assert run("list", "--records", tmp_path)[2] == ""
    assert run("damaged", "--records", tmp_path)[1] == "no line of 2 is damaged\n"


def test_what_is_no_file_ends_no_command(tmp_path: Path, run: Any) -> None:
    append(tmp_path, [record()])
    os.mkfifo(file_of(tmp_path, "pipe"))
    said = f"polydl: warning: passed over, no ordinary file: {file_of(tmp_path, 'pipe')} (move it elsewhere)\n"
    for command in ("list", "show", "best", "export"):
        status, out, err = run(command, "--records", tmp_path)
        assert (status, err) == (0, said)
        assert NEST in out
    file_of(tmp_path, "folder").mkdir()
    for arguments in (["prune", "--damaged"], ["prune", "--damaged", "--dry-run"], ["merge", tmp_path]):
        status, _, err = run(*arguments, "--records", tmp_path)
        assert status == 0
        assert f"no ordinary files: {file_of(tmp_path, 'folder')}; {file_of(tmp_path, 'pipe')} (move them" in err
    status, out, _ = run("damaged", "--records", tmp_path)
    assert (status, out.splitlines()) == (
        0, [f"{file_of(tmp_path, name)}: it is no ordinary file" for name in ("folder", "pipe")]
    )  # fmt: skip
    document = json.loads(run("damaged", "--json", "-", "--records", tmp_path)[1])
    assert [each["line"] for each in document["damaged"]] == [None, None]
    assert (file_of(tmp_path, "pipe").is_fifo(), file_of(tmp_path, "folder").is_dir()) == (True, True)


def test_the_command_prunes_only_what_is_named(tmp_path: Path, run: Any) -> None:
    append(tmp_path, [record(), record(None)])
    status, _, err = run("prune", "--records", tmp_path)
    assert status == 2
    assert "--older-than" in err
    assert "Would remove  1" in run("prune", "--failed", "--dry-run", "--records", tmp_path)[1]
    assert len(list(read(tmp_path))) == 2
    assert ".bak" in run("prune", "--failed", "--records", tmp_path)[1]
    assert len(list(read(tmp_path))) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["prune", "--older-than", "nan"], "nan is no finite number"),
        (["prune", "--older-than", "inf"], "inf is no finite number"),
        (["best", "--since", "yesterday"], "'yesterday' is no date"),
        (["list", "--until", "2026-1"], "'2026-1' is no date"),
    ],
)
def test_what_is_no_number_and_no_date_is_refused(tmp_path: Path, run: Any, arguments: list[str], message: str) -> None:
    append(tmp_path, [record()])
    status, _, err = run(*arguments, "--records", tmp_path)
    assert status == 2
    assert message in err


def test_nothing_is_older_than_the_calendar(tmp_path: Path, run: Any) -> None:
    append(tmp_path, [record()])
    assert "Removed  0 records, 1 stay" in run("prune", "--older-than", "1e9", "--records", tmp_path)[1]


def test_recorded_variants_are_applied_to_what_the_workload_is_today(tmp_path: Path, run: Any) -> None:
    workload = "gemm_48x64x64"
    order = Variant((Interchange(1, ("i", "j", "k")),))
    gone = Variant((Tile(1, "kk", (16,)),))
    nest = pipeline.parse(workloads.workload(workload).write(tmp_path)).digest
    append(
        tmp_path,
        [
            record(nest=nest, workload=workload, variant=order, id=order.id),
            record(nest=OTHER, workload=workload, variant=order, id=order.id),
            record(nest=nest, workload=workload, variant=gone, id=gone.id),
            record(variant=order, id=order.id),
        ],
    )
    lost = to_line(record(nest=nest, workload=workload)).replace(b'"step":"tile"', b'"step":"skew_no_more"')
    with open(file_of(tmp_path, nest), "ab") as file:
        file.write(lost)
    status, out, err = run("replay", "--records", tmp_path)
    assert (status, err) == (1, "")
    assert "1 can't: unknown step 'skew_no_more'" in out
    assert "2 of 4 recorded variants can be applied" in out
    assert f"1 of them to {workload}, whose nest has changed" in out
    assert "1 can't: nest 1 has no loop `kk` to tile" in out
    document = json.loads(run("replay", "--json", "-", "--records", tmp_path)[1])
    assert (document["applied"], document["changed"]) == (2, [order.id])
    assert [one["id"] for one in document["failed"]] == [gone.id]
    assert [one["line"] for one in document["unreadable"]] == [3]
    assert "Removed  0 records, 4 stay" in run("prune", "--damaged", "--records", tmp_path)[1]


@pytest.mark.slow
def test_every_committed_record_can_be_applied_today(run: Any) -> None:
    data = Path(__file__).parents[1] / "experiments" / "data"
    files = [path for name in ("ranking", "replay") for path in sorted((data / name).glob("*.jsonl.xz"))]
    assert len(files) >= 4
    status, out, _ = run("replay", *files, "--json", "-")
    document = json.loads(out)
    assert (status, document["failed"]) == (0, [])
    assert document["applied"] > 23000


@pytest.mark.parametrize("line", NO_RECORDS.values(), ids=NO_RECORDS.keys())
def test_what_is_no_record_is_passed_over_and_said(tmp_path: Path, line: bytes, run: Any) -> None:
    append(tmp_path, [record()])
    with open(file_of(tmp_path, NEST), "ab") as file:
        file.write(line)
    append(tmp_path, [record()])
    damaged: list[Damage] = []
    assert len(list(read(tmp_path, damaged=damaged.append))) == 2
    assert [(each.line, each.torn, each.elsewhere) for each in damaged] == [(2, False, False)]
    for command in ("list", "show", "best", "export"):
        status, _, err = run(command, "--records", tmp_path)
        assert status == 0
        assert f"1 line passed over, no record ({file_of(tmp_path, NEST)}:2)" in err
