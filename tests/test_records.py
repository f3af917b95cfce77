"""The store of measurements: lines that survive, writers side by side, merging, pruning, who else may write."""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import resource
import signal
import stat
import subprocess
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from records_by_hand import NEST, OTHER, SETTING, VARIANT, record

from polydl.errors import RecordsError, ResourceError
from polydl.ir.interface import Interface
from polydl.ir.kernel import KernelSource
from polydl.ir.measurement import Status
from polydl.ir.numerics import Numerics
from polydl.records.line import MOST_LINE_BYTES, VERSION, from_line, to_line
from polydl.records.queries import Pruning
from polydl.records.record import Record, code_digest, now
from polydl.records.resume import Book
from polydl.records.store import (
    Damage,
    append,
    directory_of,
    exposure,
    file_of,
    files,
    merge,
    prune,
    read,
    read_file,
    refusal,
)


def texts(directory: Path, nest: str = NEST) -> list[bytes]:
    return file_of(directory, nest).read_bytes().splitlines(keepends=True)


@pytest.mark.parametrize("status", ["inaccurate", "wrong", "crash", "compile", "ok"])
@pytest.mark.parametrize("seed", [None, 3])
def test_what_failed_on_other_data_is_not_known_of_these(tmp_path: Path, status: Status, seed: int | None) -> None:
    """Verdicts of an earlier polydl, which noted no seed, are none of any."""
    kernel = KernelSource(VARIANT.id, "matmul", "void matmul(void) {}", Interface("matmul"), "")
    made = record(status=status, code=code_digest(kernel), seed=seed)
    append(tmp_path, [made])
    scop: Any = SimpleNamespace(digest=NEST)
    known = {wanted: Book(tmp_path, scop, SETTING, None, wanted).known([kernel]).records for wanted in (0, 3)}
    assert [*read(tmp_path)] == [made]
    depends = status in ("inaccurate", "wrong", "crash")
    assert bool(known[0]) is not depends
    assert bool(known[3]) is (seed == 3 or not depends)


@pytest.mark.parametrize("seeds", [(0, 1), (1, 0)])
def test_what_failed_on_these_data_has_failed_whatever_it_did_on_others(tmp_path: Path, seeds: tuple[int, int]) -> None:
    kernel = KernelSource(VARIANT.id, "matmul", "void matmul(void) {}", Interface("matmul"), "")
    scop: Any = SimpleNamespace(digest=NEST)

    def known(seed: int) -> str:
        return Book(tmp_path, scop, SETTING, None, seed).known([kernel]).records[kernel.id].status

    code = code_digest(kernel)
    append(tmp_path, [record(status="ok" if seed else "wrong", code=code, seed=seed) for seed in seeds])
    assert (known(0), known(1)) == ("wrong", "ok")
    append(tmp_path, [record(status="ok", code=code, seed=0)])
    assert known(0) == "ok"


def test_places_that_the_system_does_not_know_are_no_files(tmp_path: Path) -> None:
    long = tmp_path / ("a" * 300)
    assert directory_of(long) == long


def test_a_record_is_one_line_of_json_both_ways() -> None:
    line = to_line(record(message="two\nlines, \u00e4"))
    assert line.count(b"\n") == 1
    assert json.loads(line)["version"] == VERSION
    assert from_line(line) == record(message="two\nlines, \u00e4")
    assert from_line(to_line(record(None, error=float("inf")))).error is None


@pytest.mark.parametrize(("strict", "level"), [(True, "strict"), (False, "fast")])
def test_a_record_of_the_first_form_is_read(strict: bool, level: Numerics) -> None:
    content = json.loads(to_line(record()))
    del content["setting"]["numerics"]
    content["setting"]["strict_fp"] = strict
    content["version"] = 1
    assert from_line(json.dumps(content).encode()) == record(setting=replace(SETTING, numerics=level))


def test_records_come_back_in_order_by_nest(tmp_path: Path) -> None:
    append(tmp_path, [record(), record(nest=OTHER)])
    append(tmp_path, [record(2.0)])
    assert [each.seconds_minimum for each in read(tmp_path, nest=NEST)] == [1.25e-3, 2.0]
    assert [each.nest for each in read(tmp_path)] == [NEST, NEST, OTHER]
    assert list(read(tmp_path / "nowhere")) == []


def test_a_nest_can_not_name_a_file_elsewhere(tmp_path: Path) -> None:
    with pytest.raises(RecordsError):
        append(tmp_path / "records", [record(nest="../outside")])
    assert os.listdir(tmp_path) == []


def write_many(directory: Path, writer: int, count: int) -> None:
    for number in range(count):
        # Lines of some thousand bytes, more than a pipe or a page writes at once.
        append(directory, [record(message="x" * (500 * (number % 20)), run=f"{writer}-{number}")])


def test_two_processes_write_at_a_time(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=write_many, args=(tmp_path, number, 150)) for number in range(2)]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        # A reader beside them sees whole lines only.
        damaged: list[Damage] = []
        assert all(each.nest == NEST for each in read(tmp_path, damaged=damaged.append))
        assert damaged == []
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0
    runs = [each.run for each in read(tmp_path)]
    assert sorted(runs) == sorted(f"{writer}-{number}" for writer in range(2) for number in range(150))
    for number in range(2):
        own = [int(run.split("-")[1]) for run in runs if run.startswith(f"{number}-")]
        assert own == sorted(own)


def test_a_torn_last_line_is_said_and_survived(tmp_path: Path) -> None:
    append(tmp_path, [record(), record()])
    path = file_of(tmp_path, NEST)
    whole = path.read_bytes()
    path.write_bytes(whole[:-30])
    damaged: list[Damage] = []
    assert len(list(read(tmp_path, damaged=damaged.append))) == 1
    assert [(each.file, each.line, each.torn) for each in damaged] == [(path, 2, True)]
    append(tmp_path, [record(7.0)])
    damaged.clear()
    assert [each.seconds_minimum for each in read(tmp_path, damaged=damaged.append)] == [1.25e-3, 7.0]
    assert [(each.line, each.torn) for each in damaged] == [(2, False)]


def test_a_last_line_that_only_lacks_its_break_counts(tmp_path: Path) -> None:
    append(tmp_path, [record()])
    path = file_of(tmp_path, NEST)
    path.write_bytes(path.read_bytes()[:-1])
    assert len(list(read(tmp_path))) == 1
    append(tmp_path, [record(7.0)])
    assert len(list(read(tmp_path))) == 2


def test_a_newer_form_is_passed_over_and_never_removed(tmp_path: Path) -> None:
    append(tmp_path, [record()])
    newer = json.dumps({"version": VERSION + 1, "everything": "else"}).encode() + b"\n"
    with open(file_of(tmp_path, NEST), "ab") as file:
        file.write(newer)
    damaged: list[Damage] = []
    assert list(read(tmp_path, damaged=damaged.append)) == [record()]
    assert [(each.line, each.elsewhere) for each in damaged] == [(2, True)]
    assert f"its form is {VERSION + 1}" in damaged[0].reason
    done = prune(tmp_path, lambda records: [True] * len(records))
    assert (done.removed, done.damaged) == (1, 0)
    assert texts(tmp_path) == [newer]


def test_a_line_without_end_does_not_fill_the_memory(tmp_path: Path) -> None:
    append(tmp_path, [record()])
    with open(file_of(tmp_path, NEST), "ab") as file:
        file.write(b'"' + b"x" * (10 * MOST_LINE_BYTES) + b"\n")
    append(tmp_path, [record(7.0)])
    damaged: list[Damage] = []
    tracemalloc.start()
    assert len(list(read(tmp_path, damaged=damaged.append))) == 2
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 5 * MOST_LINE_BYTES
    assert [(each.line, each.torn) for each in damaged] == [(2, False)]
    assert "longer than" in damaged[0].reason


def test_what_a_compiler_says_is_cut_to_a_line_that_can_be_read() -> None:
    line = to_line(record(None, message="x" * MOST_LINE_BYTES))
    assert from_line(line).message.startswith("xxx")
    with pytest.raises(RecordsError, match="too long"):
        to_line(record(features={"a": "x" * MOST_LINE_BYTES}))


def test_a_pipe_is_no_file_of_records(tmp_path: Path) -> None:
    os.mkfifo(file_of(tmp_path, NEST))
    with pytest.raises(RecordsError, match="no ordinary file") as raised:
        list(read_file(file_of(tmp_path, NEST)))
    assert raised.value.remedy
    with pytest.raises(ResourceError, match="no ordinary file"):
        append(tmp_path, [record()])


def test_what_is_no_file_is_passed_over(tmp_path: Path) -> None:
    append(tmp_path, [record()])
    os.mkfifo(file_of(tmp_path, "a-pipe"))
    file_of(tmp_path, "a-folder").mkdir()
    file_of(tmp_path, "to-a-device").symlink_to("/dev/zero")
    file_of(tmp_path, "to-nothing").symlink_to("nothing")
    file_of(tmp_path, "to-a-file").symlink_to(file_of(tmp_path, NEST).name)
    odd = [file_of(tmp_path, name) for name in ("a-folder", "a-pipe", "to-a-device", "to-nothing")]
    damaged: list[Damage] = []
    assert list(read(tmp_path, damaged=damaged.append)) == [record()] * 2
    assert [(each.file, each.line, each.torn) for each in damaged] == [(path, None, False) for path in odd]
    assert list(read(tmp_path, nest="a-pipe")) == []
    done = merge(tmp_path / "elsewhere", [tmp_path])
    assert (done.added, [each.file for each in done.damaged]) == (1, odd)
    file_of(tmp_path, "to-a-file").unlink()
    pruned = prune(tmp_path, lambda records: [True] * len(records))
    assert (pruned.removed, [each.file for each in pruned.passed_over]) == (1, odd)
    assert all(os.path.lexists(path) for path in odd)


def test_records_are_not_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("precious")
    file_of(tmp_path, NEST).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ResourceError):
        append(tmp_path, [record()])
    assert (tmp_path / "elsewhere").read_text() == "precious"


def test_a_directory_that_takes_no_records_is_known_beforehand(tmp_path: Path) -> None:
    assert refusal(tmp_path / "new") is None
    assert os.listdir(tmp_path / "new") == []
    (tmp_path / "file").touch()
    refused = refusal(tmp_path / "file" / "below")
    assert refused is not None
    assert "can't write the records" in refused.message


def append_within(directory: Path, most_bytes: int) -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))
    try:
        append(directory, [record(9.0)])
    except ResourceError:
        os._exit(17)


def test_a_write_that_fails_leaves_nothing_torn(tmp_path: Path) -> None:
    append(tmp_path, [record()])
    before = file_of(tmp_path, NEST).read_bytes()
    process = multiprocessing.get_context("spawn").Process(target=append_within, args=(tmp_path, len(before) + 100))
    process.start()
    process.join()
    assert process.exitcode == 17
    assert file_of(tmp_path, NEST).read_bytes() == before


# ---- merging and pruning


def test_merging_takes_each_record_once(tmp_path: Path) -> None:
    ours, theirs, file = tmp_path / "ours", tmp_path / "theirs", tmp_path / "sent.jsonl"
    append(ours, [record(), record(2.0)])
    append(theirs, [record(2.0), record(3.0), record(nest=OTHER)])
    file.write_bytes(to_line(record(4.0)) + to_line(record(nest=OTHER)) + to_line(record(4.0)) + b"torn")
    done = merge(ours, [theirs, file])
    assert (done.added, done.known, len(done.damaged)) == (3, 3, 1)
    assert [each.seconds_minimum for each in read(ours, nest=NEST)] == [1.25e-3, 2.0, 3.0, 4.0]
    again = merge(ours, [theirs, file])
    assert (again.added, again.known) == (0, 6)
    with pytest.raises(RecordsError, match="no records"):
        merge(ours, [tmp_path / "nowhere"])


def test_pruning_keeps_what_was_there_as_a_backup(tmp_path: Path) -> None:
    append(tmp_path, [record(), record(None), record(nest=OTHER)])
    before = texts(tmp_path)
    assert prune(tmp_path, Pruning(failed=True), dry_run=True).removed == 1
    assert texts(tmp_path) == before
    done = prune(tmp_path, Pruning(failed=True))
    assert (done.removed, done.kept, done.damaged) == (1, 2, 0)
    assert [path.read_bytes() for path in done.backups] == [b"".join(before)]
    assert texts(tmp_path) == before[:1]
    assert [path.stem for path in files(tmp_path)] == [NEST, OTHER]
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".")]


def test_pruning_everything_leaves_the_backup_alone(tmp_path: Path) -> None:
    append(tmp_path, [record()])
    assert prune(tmp_path, lambda records: [True] * len(records)).kept == 0
    assert os.listdir(tmp_path) == [f"{NEST}.jsonl.bak"]
    assert list(read(tmp_path)) == []


def keep_writing(directory: Path, ready: Any, pruned: Any) -> None:
    ready.set()
    pruned.wait(60)
    for number in range(200):
        append(directory, [record(run=str(number))])


def test_a_writer_that_waits_while_a_file_is_pruned_loses_nothing(tmp_path: Path) -> None:
    append(tmp_path, [record(None, run="old")] * 50)
    context = multiprocessing.get_context("spawn")
    ready, pruned = context.Event(), context.Event()
    writer = context.Process(target=keep_writing, args=(tmp_path, ready, pruned))
    writer.start()
    assert ready.wait(60)
    pruned.set()
    removed = prune(tmp_path, Pruning(failed=True)).removed
    while writer.is_alive():
        removed += prune(tmp_path, Pruning(failed=True)).removed
    writer.join()
    assert removed == 50
    assert [each.run for each in read(tmp_path)] == [str(number) for number in range(200)]


def test_what_pruning_removes(tmp_path: Path) -> None:
    old, slow, fast = record(1.0), record(3.0, id="b", code="b"), record(2.0, id="c", code="c", date=now())
    again, original = record(1.5), record(9.0, id="original", kind="original", code="o", variant=None)
    records = [old, slow, fast, again, original]
    assert Pruning(superseded=True)(records) == [True, False, False, False, False]
    assert Pruning(older_than_days=1)(replaced_dates(records)) == [True, True, False, True, True]
    assert Pruning(keep_best=1)(records) == [True, True, True, False, False]


def test_what_was_interrupted_replaces_nothing_complete() -> None:
    complete, begun = record(2.0), record(1.0, complete=False)
    assert Pruning(superseded=True)([begun, begun, complete, begun]) == [True, True, False, True]
    assert Pruning(superseded=True)([replace(begun), replace(begun)]) == [True, False]
    other = record(1.5, id="b", code="b", complete=False)
    assert Pruning(keep_best=1)([complete, begun, other]) == [False, True, True]


def replaced_dates(records: list[Record]) -> list[Record]:
    return [each if each.id == "c" else replace(each, date="2020-01-01T00:00:00+00:00") for each in records]


# ---- reading


def test_reading_streams(tmp_path: Path) -> None:
    append(tmp_path, [record(message="x" * 2000)] * 3000)
    tracemalloc.start()
    assert sum(1 for _ in read(tmp_path)) == 3000
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < file_of(tmp_path, NEST).stat().st_size / 5


# ---- who else may write there


@pytest.mark.parametrize("make", [refusal, lambda directory: append(directory, [record()])], ids=["refusal", "append"])
def test_others_may_not_write_a_directory_that_is_made(make: Callable[[Path], object], tmp_path: Path) -> None:
    """As they might where users have groups of their own and a mask to match."""
    assert exposure(tmp_path / "kept") is None, "it is not there"
    before = os.umask(0o002)
    try:
        make(tmp_path / "kept")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "kept").stat().st_mode) == 0o755
    assert exposure(tmp_path / "kept") is None


@pytest.mark.parametrize("mode", [0o775, 0o757, 0o700, 0o1777, 0o2755])
def test_a_directory_that_others_may_write_is_named_with_its_mode_and_a_remedy_that_helps(
    mode: int, tmp_path: Path
) -> None:
    place = tmp_path / "of mine"
    place.mkdir()
    place.chmod(mode)
    error = exposure(place)
    if mode in (0o700, 0o2755):
        assert error is None
        return
    assert error is not None
    assert (error.file, f"its mode is {mode:04o}" in error.message) == (str(place), True)
    assert error.remedy is not None
    assert "--records" in error.remedy
    command = re.search("`(.*)`", error.remedy)
    # What makes a place for all is left alone.
    assert (command is None) == (mode == 0o1777)
    if command is not None:
        subprocess.run(command[1], shell=True, check=True)
        assert exposure(place) is None


def test_a_directory_of_another_user_is_named_with_both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("polydl.records.store.os.geteuid", lambda: 1 << 29)
    error = exposure(tmp_path)
    assert error is not None
    assert re.search(rf"belongs to .+, not to user {1 << 29} \(its mode is 0700\)", error.message)
    assert error.remedy == "name another directory (--records)"
