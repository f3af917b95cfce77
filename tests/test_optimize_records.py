"""What was measured is not measured again: resumed work, remembered answers, and what makes either impossible."""

from __future__ import annotations

import errno
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from few_samples import PRELUDE, SECOND_LEVEL
from sized_matmul import write_matmul

import polydl
from polydl.cli import main
from polydl.machine import Machine, Throughput
from polydl.model.calibrated import Calibrated
from polydl.records.answers import Answer, find, keep
from polydl.records.record import Record, Setting, now
from polydl.records.resume import to_run
from polydl.records.store import append, file_of, read

ROOT = Path(__file__).parents[1]
SCHEMA = json.loads((ROOT / "docs" / "optimize.schema.json").read_text(encoding="utf-8"))


pytestmark = [pytest.mark.usefixtures("variants_win"), pytest.mark.usefixtures("second_level")]


@pytest.fixture
def matmul(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return write_matmul(tmp_path)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], matmul: Path) -> Any:
    """The document of ``polydl optimize`` with these options."""

    def run(*arguments: object, file: object = matmul) -> dict[str, Any]:
        quick = ("--max-variants", 8, "--top-k", 2, "--threads", 1, "--records", "kept", "--json", "-")
        words = ["optimize", *([file] if file else []), *quick, *arguments]
        assert main.main([str(word) for word in words], standalone_mode=False) == 0
        document: dict[str, Any] = json.loads(capsys.readouterr().out)
        jsonschema.validate(document, SCHEMA)
        return document

    return run


AGAIN = "optimize matmul.c --max-variants 8 --top-k 2 --threads 1 --records kept"


def kept(tmp_path: Path) -> list[Record]:
    return [record for record in read(tmp_path / "kept") if record.complete]


# ---- the same question again


@pytest.mark.native
def test_the_same_is_answered_from_memory(run: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = run()
    assert first["records"] == {"answered": False, "reused": 0, "measured": None}
    library = Path(first["files"]["library"]).read_bytes()
    before = kept(tmp_path)
    kinds = Counter(each.kind for each in before if each.kind != "baseline")
    assert kinds == {"variant": 2, "original": 1}
    assert {each.workload for each in before} == {None}
    second = run("--out", tmp_path / "elsewhere")
    assert second["records"]["answered"]
    assert before[-1].date <= second["records"]["measured"] <= now()
    assert second["best"] == first["best"]
    assert second["candidates"] == first["candidates"]
    assert Path(second["files"]["library"]).read_bytes() == library
    assert {Path(path).parent for path in second["files"].values() if path} == {tmp_path / "elsewhere"}
    assert kept(tmp_path) == before
    main.main(AGAIN.split(), standalone_mode=False)
    out = capsys.readouterr().out
    assert "the same was asked before" in out
    assert first["best"]["id"] in out


@pytest.mark.native
def test_the_remembered_answer_loads_no_isl_and_no_numpy(run: Any, tmp_path: Path) -> None:
    run()
    arguments = [
        "optimize",
        "matmul.c",
        "--max-variants",
        "8",
        "--top-k",
        "2",
        "--threads",
        "1",
        "--records",
        "kept",
        "--json",
        "out.json",
    ]
    code = (
        f"from polydl.cli import main\nassert main.main({arguments!r}, standalone_mode=False) == 0\n"
        "import sys\nprint(sorted({'islpy', 'numpy', 'clang'} & set(sys.modules)))"
    )
    # The path is part of the answer's files only: a relative one is the same question.
    ended = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert json.loads((tmp_path / "out.json").read_text())["records"]["answered"]
    assert ended.stdout.splitlines()[-1] == "[]"


@pytest.mark.slow
@pytest.mark.native
def test_fresh_measures_again(run: Any, tmp_path: Path) -> None:
    run()
    again = run("--fresh")
    assert again["records"] == {"answered": False, "reused": 0, "measured": None}
    assert len({each.run for each in kept(tmp_path)}) == 2


@pytest.mark.slow
@pytest.mark.native
def test_another_ranking_of_the_same_reuses_what_was_measured(run: Any, tmp_path: Path, matmul: Path) -> None:
    first = run()
    before = kept(tmp_path)
    # A comment changes the text, and nothing that is compiled.
    matmul.write_text("/* the same */\n" + matmul.read_text())
    second = run()
    assert second["records"] == {"answered": False, "reused": 2, "measured": min(each.date for each in before[:2])}
    assert second["best"]["seconds"] == first["best"]["seconds"]
    assert kept(tmp_path) == before


@pytest.mark.slow
@pytest.mark.native
def test_more_picks_run_beside_the_best_of_the_earlier_ones(run: Any, tmp_path: Path) -> None:
    run("--top-k", 4)
    compared = [each for each in kept(tmp_path) if each.kind in ("variant", "baseline")]
    leaders = sorted(compared, key=lambda record: (not record.final, record.cost))[:3]
    # A sample that was disturbed may put a build of the plain nest among them.
    again = {each.id for each in leaders if each.kind == "variant"}
    document = run("--top-k", 6)
    counts = Counter(each.id for each in kept(tmp_path) if each.kind == "variant")
    assert len(document["candidates"]) == len(counts) == 6
    assert document["records"]["reused"] == 4 - len(again)
    assert {identity for identity, count in counts.items() if count == 2} == again
    assert [each["recorded"] is not None for each in document["candidates"]].count(True) == 4 - len(again)
    winner = next(each for each in document["candidates"] if each["id"] == document["best"]["id"])
    assert winner["recorded"] is None


@pytest.mark.slow
@pytest.mark.native
def test_the_files_are_made_again_if_they_are_gone(run: Any, tmp_path: Path) -> None:
    run()
    for path in (tmp_path / "kept" / "answers").glob("*/library"):
        path.unlink()
    document = run()
    assert not document["records"]["answered"]
    assert document["records"]["reused"] == 2
    assert Path(document["files"]["library"]).exists()


@pytest.mark.slow
@pytest.mark.native
def test_a_library_that_was_put_there_is_never_delivered(run: Any, tmp_path: Path, matmul: Path) -> None:
    library = Path(run()["files"]["library"]).read_bytes()
    [stored] = (tmp_path / "kept" / "answers").glob("*/library")
    stored.write_bytes(b"planted")
    document = run("--out", "again")
    assert not document["records"]["answered"]
    assert document["records"]["reused"] == 2
    assert Path(document["files"]["library"]).read_bytes() != b"planted"
    assert stored.read_bytes() == Path(document["files"]["library"]).read_bytes(), "the odd one is replaced"
    assert len(stored.read_bytes()) == len(library)
    assert run("--out", "third")["records"]["answered"]


@pytest.mark.slow
@pytest.mark.native
def test_an_answer_that_lacks_something_is_said_once_and_made_anew(
    matmul: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.main(AGAIN.split(), standalone_mode=False) == 0
    [folder] = (tmp_path / "kept" / "answers").iterdir()
    answer = find(tmp_path / "kept", folder.name)
    assert isinstance(answer, Answer)
    bare = {name: answer.document[name] for name in ("input", "records")}
    keep(tmp_path / "kept", folder.name, Answer(bare, answer.files))
    (folder / "library").unlink()
    capsys.readouterr()
    for said in ("its library is gone", None, "lacks something", None):
        if said == "lacks something":
            keep(tmp_path / "kept", folder.name, Answer(bare, answer.files))
        assert main.main(AGAIN.split(), standalone_mode=False) == 0
        captured = capsys.readouterr()
        assert ("the same was asked before" in captured.out) == (said is None)
        assert captured.err.count("passed over") == (said is not None)
        assert (said or "") in captured.err


@pytest.mark.slow
@pytest.mark.native
def test_no_answer_is_lost_for_the_sake_of_the_store(
    matmul: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("polydl.records.store.write_all", full)
    monkeypatch.setattr("polydl.records.answers._write", full)
    assert main.main(AGAIN.split(), standalone_mode=False) == 0
    captured = capsys.readouterr()
    assert "Winner" in captured.out
    assert (tmp_path / "polydl-out" / "matmul" / "libmatmul_polydl.so").exists()
    assert re.search(r"\d+ measurements not stored", captured.err)
    assert "the disk is full" in captured.err
    assert "the result is not kept" in captured.err
    assert kept(tmp_path) == []


@pytest.mark.slow
@pytest.mark.native
def test_a_directory_that_takes_nothing_is_said_at_once(
    matmul: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # Not even root can make a folder there.
    words = AGAIN.replace("--records kept", "--records /proc/records").split()
    assert main.main(words, standalone_mode=False) == 0
    captured = capsys.readouterr()
    assert captured.err.startswith("polydl: warning: measurements can't be stored")
    assert re.search(r"\d+ measurements not stored", captured.err)
    assert "Winner" in captured.out


@pytest.mark.slow
@pytest.mark.native
def test_a_directory_that_others_may_write_is_said_once_and_used(
    matmul: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept").chmod(0o775)
    assert main.main(AGAIN.split(), standalone_mode=False) == 0
    captured = capsys.readouterr()
    assert captured.err.startswith("polydl: warning: others could change the measurements that are used: kept: ")
    assert captured.err.count("polydl: warning") == 1
    assert "may write the directory (its mode is 0775)\n  remedy: run `chmod go-w kept`" in captured.err
    assert kept(tmp_path)
    (tmp_path / "kept").chmod(0o755)
    assert main.main([*AGAIN.split(), "--fresh"], standalone_mode=False) == 0
    assert "polydl: warning" not in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.native
def test_damaged_records_are_said_and_made_again(run: Any, tmp_path: Path, matmul: Path) -> None:
    first = run()
    path = file_of(tmp_path / "kept", first["input"]["digest"])
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"[" * 200_000 + b"\n" + b"".join(lines[1:]))
    matmul.write_text("/* the same */\n" + matmul.read_text())
    assert not run()["records"]["answered"]
    counts = Counter(each.id for each in kept(tmp_path) if each.kind != "baseline")
    assert len(counts) == 3


@pytest.mark.slow
@pytest.mark.native
def test_pruned_records_answer_nothing(run: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run()
    time.sleep(1.1)  # dates have whole seconds
    main.main(["records", "prune", "--older-than", "0", "--records", "kept"], standalone_mode=False)
    capsys.readouterr()
    assert kept(tmp_path) == []
    assert run()["records"] == {"answered": False, "reused": 0, "measured": None}


@pytest.mark.slow
@pytest.mark.native
def test_another_question_is_not_answered(run: Any) -> None:
    run()
    assert not run("--cache-sizes", "32K,1M")["records"]["answered"]
    cold = run("--cold")
    assert cold["records"] == {"answered": False, "reused": 0, "measured": None}, "warm times are no cold ones"


@pytest.mark.slow
@pytest.mark.native
def test_an_included_file_is_part_of_the_question(run: Any, tmp_path: Path) -> None:
    first = run()
    (tmp_path / "sizes.h").write_text("#define M 48\n")
    second = run()
    assert not second["records"]["answered"]
    assert second["input"]["digest"] != first["input"]["digest"]


# ---- interrupted work


# Ends itself in the middle: after more than one wave of kernels, and before all are measured.
KILLED = """\
import os, signal
from itertools import count
from polydl.cli import main
from polydl.records import resume
number, append = count(1), resume.append
def append_and_die(directory, records):
    append(directory, records)
    if records[0].complete and records[0].kind == "variant" and next(number) == 8:
        os.kill(os.getpid(), signal.SIGKILL)
resume.append = append_and_die
main()
"""


@pytest.mark.native
@pytest.mark.slow
def test_work_that_was_killed_goes_on(matmul: Path, tmp_path: Path) -> None:
    options = ["--max-variants", "24", "--all", "--threads", "1", "--records", "kept"]
    command = [sys.executable, "-c", PRELUDE + SECOND_LEVEL + KILLED, "optimize", "matmul.c", *options]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    before = {each.id for each in kept(tmp_path) if each.kind == "variant"}
    assert len(before) == 8
    result = polydl.optimize(
        matmul, machine=Machine.detect(threads=1), max_variants=24, top_k=None, records=tmp_path / "kept"
    )
    counts = Counter(each.id for each in kept(tmp_path) if each.kind == "variant")
    assert len(result.tried) == 24
    assert len(counts) == 24
    # Three leaders of the earlier waves beside the new ones, and four finalists of all waves.
    assert sum(counts.values()) <= 24 + 3 + 4, "only the fastest ran again"
    reused = {each.ranked.variant.id for each in result.tried if each.record is not None}
    assert reused
    assert reused <= before
    assert result.winner is not None
    assert result.winner.record is None


@pytest.mark.native
def test_what_is_to_run() -> None:
    def known(name: str, seconds: float | None, run: str) -> Record:
        status: Any = "ok" if seconds is not None else "crash"
        setting = Setting("cpu", 1, "gcc 12")
        return Record("variant", name, "n", "f", 1, setting, status, run, "2026", seconds_median=seconds)

    one = {name: known(name, seconds, "r1") for name, seconds in {"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0}.items()}
    assert to_run("abcd", one) == ()
    assert to_run("abcde", one) == ("a", "b", "c", "e")
    assert to_run("ab", {}) == ("a", "b")
    two = {**one, "b": known("b", 2.0, "r2")}
    assert to_run("abcd", two) == ("a", "b", "c"), "the leaders were never side by side"
    failed = {"a": known("a", None, "r1"), "b": known("b", None, "r2")}
    assert to_run("ab", failed) == ()
    slow = {**one, "d": known("d", 4.0, "r2")}
    assert to_run("abcd", slow) == ()


@pytest.mark.slow
@pytest.mark.native
def test_records_can_be_left_out(matmul: Path, tmp_path: Path) -> None:
    result = polydl.optimize(matmul, machine=Machine.detect(threads=1), max_variants=4, top_k=1, records=False)
    assert result.source == result.files["c"].read_text(encoding="utf-8")
    assert result.winner is not None
    assert result.report(tmp_path / "page.html") == (tmp_path / "page.html").read_text(encoding="utf-8")
    assert list(Path(os.environ["XDG_DATA_HOME"]).rglob("*.jsonl")) == []
    polydl.optimize(matmul, machine=Machine.detect(threads=1), max_variants=4, top_k=1)
    [path] = Path(os.environ["XDG_DATA_HOME"]).rglob("*.jsonl")
    assert path == file_of(path.parent, result.scop.digest)


@pytest.mark.slow
@pytest.mark.native
def test_another_code_of_the_same_variant_is_measured(matmul: Path, tmp_path: Path) -> None:
    machine = Machine.detect(threads=1)
    options: dict[str, Any] = {"machine": machine, "max_variants": 4, "top_k": 1, "records": tmp_path / "kept"}
    first = polydl.optimize(matmul, **options)
    records = kept(tmp_path)
    # As an earlier polydl would have left it, which generated other code.
    append(tmp_path / "old", [replace(each, code="0" * 16) for each in records])
    again = polydl.optimize(matmul, **{**options, "records": tmp_path / "old"})
    assert first.winner is not None
    assert [each.record for each in again.tried] == [None]
    assert [each.record is not None for each in polydl.optimize(matmul, **options).tried] == [True]


# ---- ready workloads


@pytest.mark.slow
@pytest.mark.native
def test_a_workload_is_optimized_by_its_name(run: Any, tmp_path: Path) -> None:
    document = run("--workload", "gemm_48x64x32", file=None)
    assert document["input"]["file"] == "polydl-out/gemm_48x64x32/gemm_48x64x32.c"
    assert (tmp_path / document["input"]["file"]).exists()
    assert document["input"]["flops"] == 2 * 48 * 64 * 32
    assert {each.workload for each in kept(tmp_path)} == {"gemm_48x64x32"}
    again = run("--workload", "gemm_48x64x32", "--out", tmp_path / "b", file=None)
    assert again["records"]["answered"]
    assert again["input"]["file"] == str(tmp_path / "b" / "gemm_48x64x32.c")
    assert not run("--workload", "gemm_48x64x32", "--layout", "blocked", file=None)["records"]["answered"]


def test_other_commands_take_workloads_too(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["parse", "--workload", "resnet_03", "--images", "2", "--layout", "nhwc", "--json", "-"]
    assert main.main(words, standalone_mode=False) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["input"]["file"] == "resnet_03.c"
    [output] = [each for each in document["arrays"] if each["name"] == "output"]
    assert output["extents"] == [2, 56, 56, 64]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("parse --workload resnet_3", "resnet_03"),
        ("parse --workload resnet_03 --layout row-major", "no layout"),
        ("parse --workload gemm_8x8x8 --images 2", "no images"),
        ("parse", "neither a FILE nor a --workload"),
        ("parse a.c --workload resnet_03", "both a FILE and a --workload"),
        ("parse a.c --images 2", "--images"),
    ],
)
def test_mistakes_with_workloads(words: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(words.split(), standalone_mode=False) == 2
    assert said in capsys.readouterr().err


@pytest.mark.native
def test_an_optimization_holds_the_space_that_its_variants_come_from(matmul: Path) -> None:
    table = Throughput("c", "float", 16, (16, 64), (1, 16), ((20.0, 5.0, 2.0),) * 4, 1.0, 0.0, 0.0, 4)
    machine = replace(Machine.detect(threads=1), throughputs=(table,))
    result = polydl.optimize(matmul, machine=machine, max_variants=20, run=False, records=False)
    assert isinstance(result.space.kernels["c"], Calibrated)
    assert len(result.ranking.entries) == 20
    assert all(result.applied(entry.variant).violations == () for entry in result.ranking.entries)
