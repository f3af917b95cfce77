"""Stored answers: what was stored comes back, and whatever else stands in their place is no answer."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from polydl.emitted_names import FileKind
from polydl.errors import ResourceError
from polydl.records.answers import Answer, Refused, find, forget, keep, restore, written_files

QUESTION, OTHER = "0123456789abcdef01234567", "f" * 24
FILES: dict[FileKind, bytes] = {
    "c": b"int x;\n", "header": b"extern int x;\n", "library": b"\x7fELF...", "readme": b"x\n", "cmake": b"# x\n",
    "pkgconfig": b"Name: x\n",
}  # fmt: skip
DOCUMENT = {"input": {"exported": "matmul", "digest": "n1"}, "records": {"measured": None}, "files": {"c": "/etc/x"}}


@pytest.fixture
def records(tmp_path: Path) -> Path:
    """A directory with one answer."""
    keep(tmp_path / "kept", QUESTION, Answer(DOCUMENT, FILES))
    return tmp_path / "kept"


def folder(records: Path, question: str = QUESTION) -> Path:
    return records / "answers" / question


def document(records: Path) -> dict[str, Any]:
    stored: dict[str, Any] = json.loads((folder(records) / "document.json").read_bytes())
    return stored


def test_files_that_another_result_has_replaced_are_no_answer(tmp_path: Path) -> None:
    """At whatever moment the other one is written."""
    written = {str(kind): path for kind, path in restore(Answer(DOCUMENT, FILES), tmp_path).items()}
    digest = hashlib.sha256(FILES["library"]).hexdigest()
    assert written_files(written, digest) == FILES
    (tmp_path / "libmatmul_polydl.so").write_bytes(b"another")
    with pytest.raises(ResourceError, match="another has taken its place"):
        written_files(written, digest)
    (tmp_path / "libmatmul_polydl.so").unlink()
    with pytest.raises(ResourceError, match="the result is not kept: No such file"):
        written_files(written, digest)


def test_what_is_replaced_while_it_is_read_is_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = {str(kind): path for kind, path in restore(Answer(DOCUMENT, FILES), tmp_path).items()}
    real = Path.read_bytes

    def replaced(path: Path) -> bytes:
        content = real(path)
        if path == written["readme"]:
            restore(Answer(DOCUMENT, dict.fromkeys(FILES, b"another")), tmp_path)
        return content

    monkeypatch.setattr(Path, "read_bytes", replaced)
    with pytest.raises(ResourceError, match="another has taken its place"):
        written_files(written, hashlib.sha256(FILES["library"]).hexdigest())


def test_an_answer_comes_back(records: Path) -> None:
    answer = find(records, QUESTION)
    assert isinstance(answer, Answer)
    assert answer.files == FILES
    assert answer.document["records"]["measured"] is not None
    assert find(records, OTHER) is None
    assert find(records / "nowhere", QUESTION) is None


def test_an_answer_is_replaced_as_a_whole(records: Path) -> None:
    keep(records, QUESTION, Answer(DOCUMENT, {**FILES, "c": b"int y;\n"}))
    answer = find(records, QUESTION)
    assert isinstance(answer, Answer)
    assert answer.files["c"] == b"int y;\n"
    assert os.listdir(records / "answers") == [QUESTION]


def test_an_object_may_be_kept_as_well(records: Path) -> None:
    keep(records, QUESTION, Answer(DOCUMENT, {**FILES, "object": b"\x7fELF object"}))
    answer = find(records, QUESTION)
    assert isinstance(answer, Answer)
    assert answer.files["object"] == b"\x7fELF object"


def test_answers_of_changed_records_are_forgotten(records: Path) -> None:
    forget(records, ["n2"])
    assert isinstance(find(records, QUESTION), Answer)
    forget(records, ["n1"])
    assert find(records, QUESTION) is None
    assert os.listdir(records / "answers") == []


def test_the_names_of_files_are_fixed(records: Path, tmp_path: Path) -> None:
    answer = find(records, QUESTION)
    assert isinstance(answer, Answer)
    written = restore(answer, tmp_path / "out")
    assert {kind: path.name for kind, path in written.items()} == {
        "c": "matmul_polydl.c", "header": "matmul_polydl.h", "library": "libmatmul_polydl.so",
        "readme": "README.txt", "cmake": "matmul_polydlConfig.cmake",
        "pkgconfig": "matmul_polydl.pc",
    }  # fmt: skip
    assert {kind: path.read_bytes() for kind, path in written.items()} == FILES


def test_an_interrupted_answer_leaves_no_library_of_an_older_one(
    records: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = find(records, QUESTION)
    assert isinstance(answer, Answer)
    written = restore(answer, tmp_path / "out")
    real, calls = os.replace, iter(range(len(FILES)))

    def interrupted(*paths: str) -> None:
        if next(calls) == 2:
            raise KeyboardInterrupt
        real(*paths)

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        restore(answer, tmp_path / "out")
    assert not written["library"].exists()
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        path.name for kind, path in written.items() if kind != "library"
    }


def with_document(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    """Changes the stored document, and makes its digest right again."""

    def damage(records: Path) -> None:
        stored = document(records)
        change(stored)
        raw = json.dumps(stored.pop("document"))
        digest = hashlib.sha256(raw.encode()).hexdigest()
        text = json.dumps({**stored, "digest": digest})[:-1] + f', "document": {raw}}}'
        (folder(records) / "document.json").write_text(text)

    return damage


def instead_of(name: str, make: Callable[[Path], object]) -> Callable[[Path], None]:
    """Puts something in the place of a file."""

    def damage(records: Path) -> None:
        path = folder(records) / name
        path.unlink()
        make(path)

    return damage


def moved(records: Path) -> None:
    keep(records, OTHER, Answer(DOCUMENT, FILES))
    for path in folder(records).iterdir():
        path.unlink()
    for path in folder(records, OTHER).iterdir():
        path.rename(folder(records) / path.name)


def linked(records: Path) -> None:
    folder(records).rename(records / "elsewhere")
    folder(records).symlink_to(records / "elsewhere")


ODD: dict[str, Callable[[Path], object]] = {
    "a planted library": instead_of("library", lambda path: path.write_bytes(b"\x7fELF planted")),
    "a truncated library": instead_of("library", lambda path: path.write_bytes(FILES["library"][:-1])),
    "no library": instead_of("library", lambda path: None),
    "a link to a file": instead_of("c", lambda path: path.symlink_to("/etc/passwd")),
    "a pipe": instead_of("c", os.mkfifo),
    "a folder": instead_of("c", Path.mkdir),
    "no document": instead_of("document.json", lambda path: None),
    "an empty object": instead_of("document.json", lambda path: path.write_text("{}")),
    "an empty document": with_document(lambda stored: stored["document"].clear()),
    "brackets": instead_of("document.json", lambda path: path.write_text("[" * 200_000)),
    "another form": with_document(lambda stored: stored.update(form=1)),
    "kinds with a path": with_document(lambda stored: stored["files"].update({"../../../../etc/passwd": "0" * 64})),
    "too few kinds": with_document(lambda stored: stored["files"].pop("library")),
    "a function elsewhere": with_document(lambda stored: stored["document"]["input"].update(exported="../../x")),
    "a digest that is none": with_document(lambda stored: stored["files"].update(c="x")),
    "a document of no letter": instead_of("document.json", Path.touch),
    "the answer to another question": moved,
    "a folder that others may write": lambda records: folder(records).chmod(0o777),
    "a file that others may write": lambda records: (folder(records) / "c").chmod(0o666),
    "a link to a folder": linked,
}


@pytest.mark.parametrize("damage", ODD.values(), ids=ODD.keys())
def test_what_is_odd_is_no_answer_and_is_replaced(records: Path, damage: Callable[[Path], object]) -> None:
    damage(records)
    found = find(records, QUESTION)
    assert isinstance(found, Refused)
    assert found.reason
    assert found.remedy == ""
    keep(records, QUESTION, Answer(DOCUMENT, FILES))
    assert isinstance(find(records, QUESTION), Answer)
    assert not [name for name in os.listdir(records / "answers") if name.startswith(".")]


def test_a_document_that_was_changed_by_a_letter_is_no_answer(records: Path) -> None:
    path = folder(records) / "document.json"
    path.write_bytes(path.read_bytes().replace(b'"n1"', b'"n2"'))
    assert isinstance(find(records, QUESTION), Refused)


@pytest.mark.parametrize("mode", [0o720, 0o702, 0o777])
def test_answers_that_others_may_write_are_neither_read_nor_written(records: Path, mode: int) -> None:
    (records / "answers").chmod(mode)
    found = find(records, QUESTION)
    assert isinstance(found, Refused)
    assert "others" in found.reason
    assert "--records" in found.remedy
    with pytest.raises(ResourceError, match="others"):
        keep(records, QUESTION, Answer(DOCUMENT, FILES))


def test_answers_of_another_user_are_refused(records: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("polydl.records.answers.os.geteuid", lambda: os.getuid() + 1)
    found = find(records, QUESTION)
    assert isinstance(found, Refused)
    assert "another user" in found.reason


def test_answers_behind_a_link_are_refused(records: Path) -> None:
    (records / "answers").rename(records / "elsewhere")
    (records / "answers").symlink_to("elsewhere")
    found = find(records, QUESTION)
    assert isinstance(found, Refused)
    assert "symbolic link" in found.reason


def test_the_folder_of_answers_is_the_users_alone_whatever_the_mask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        keep(tmp_path / "kept", QUESTION, Answer(DOCUMENT, FILES))
    finally:
        os.umask(before)
    assert isinstance(find(tmp_path / "kept", QUESTION), Answer)
    assert (tmp_path / "kept" / "answers").stat().st_mode & 0o777 == 0o700


# Is killed while an answer is half written.
KILLED = """\
import os, signal, sys
from pathlib import Path
from polydl.emitted_names import FILE_KINDS
from polydl.records import answers
answers._put = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
answers.keep(Path(sys.argv[1]), "f" * 24, answers.Answer(
    {"input": {"exported": "f", "digest": "n"}, "records": {"measured": None}}, dict.fromkeys(FILE_KINDS, b"")
))
"""


def test_what_a_killed_process_leaves_is_swept(records: Path) -> None:
    subprocess.run([sys.executable, "-c", KILLED, str(records)], check=False)
    assert len(os.listdir(records / "answers")) == 2
    assert isinstance(find(records, QUESTION), Answer)
    assert find(records, OTHER) is None
    keep(records, QUESTION, Answer(DOCUMENT, FILES))
    assert os.listdir(records / "answers") == [QUESTION]
