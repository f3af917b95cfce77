"""Files that are used together: all are new, or the one that makes them count is gone; one alone is replaced."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from polydl.errors import ResourceError
from polydl.system.files import temporary_directory, write_together


def contents(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}


def failing(monkeypatch: pytest.MonkeyPatch, name: str, call: int = 1) -> None:
    """Let that call of a function of ``os`` fail as on a full disk; no call after it does."""
    real: Callable[..., Any] = getattr(os, name)
    left = iter(range(call))

    def failed(*arguments: Any, **options: Any) -> Any:
        if next(left, None) == call - 1:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(*arguments, **options)

    monkeypatch.setattr(os, name, failed)


def test_what_is_written_together_replaces_what_was_there(tmp_path: Path) -> None:
    (tmp_path / "old.c").write_text("old", encoding="utf-8")
    (tmp_path / "new.c").write_text("old", encoding="utf-8")
    folder = tmp_path / "new" / "folder"
    write_together({tmp_path / "new.c": "new", folder / "text": b"bytes"}, [tmp_path / "old.c", tmp_path / "no.c"])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new", "new.c"]
    assert (tmp_path / "new.c").read_text(encoding="utf-8") == "new"
    assert contents(folder) == {"text": "bytes"}


@pytest.mark.parametrize("name", ["fsync", "replace"])
def test_a_single_file_is_the_old_one_until_it_is_the_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (tmp_path / "report").write_text("old", encoding="utf-8")
    failing(monkeypatch, name)
    with pytest.raises(ResourceError, match="No space left"):
        write_together({tmp_path / "report": "new"})
    assert contents(tmp_path) == {"report": "old"}


@pytest.mark.parametrize(
    ("call", "left"),
    [
        (1, {"first": "old", "second": "old"}),
        (2, {"first": "new", "second": "old"}),
        (3, {"first": "new", "second": "new"}),
    ],
)
def test_the_last_of_several_files_is_gone_while_the_others_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: int, left: dict[str, str]
) -> None:
    names = ("first", "second", "manifest")
    for name in names:
        (tmp_path / name).write_text("old", encoding="utf-8")
    failing(monkeypatch, "replace", call)
    with pytest.raises(ResourceError):
        write_together({tmp_path / name: "new" for name in names})
    assert contents(tmp_path) == left


def test_all_are_on_the_disk_before_any_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("first", "second")
    for name in names:
        (tmp_path / name).write_text("old", encoding="utf-8")
    failing(monkeypatch, "fsync", 2)
    with pytest.raises(ResourceError):
        write_together({tmp_path / name: "new" for name in names}, [tmp_path / "stale"])
    assert contents(tmp_path) == {"first": "old", "second": "old"}


def test_an_error_names_the_folder_that_has_no_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failing(monkeypatch, "fsync", 2)
    with pytest.raises(ResourceError) as raised:
        write_together({tmp_path / "here" / "first": "1", tmp_path / "there" / "second": "2"})
    assert raised.value.message == f"can't write to {tmp_path / 'here'}: No space left on device"
    assert raised.value.remedy == "free some space there, or name another folder"


def test_an_error_names_the_folder_and_no_temporary_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(path: Path, *_: Any, **__: Any) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(os, "open", refused)
    with pytest.raises(ResourceError) as raised:
        write_together({tmp_path / "name": ""})
    assert raised.value.message == f"can't write to {tmp_path}: Permission denied"


@pytest.mark.parametrize("names", [["alone"], ["alone", "last"], ["first", "alone"]])
def test_an_error_names_a_folder_in_the_place_of_a_file(tmp_path: Path, names: list[str]) -> None:
    (tmp_path / "alone").mkdir()
    with pytest.raises(ResourceError) as raised:
        write_together({tmp_path / name: "" for name in names})
    assert raised.value.message.startswith(f"can't write to {tmp_path / 'alone'}: ")


def test_an_error_names_a_file_in_the_place_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(ResourceError) as raised:
        write_together({tmp_path / "file" / "name": ""})
    assert raised.value.message.startswith(f"can't write to {tmp_path / 'file'}: ")


def test_a_full_disk_is_said_of_the_temporary_folder_on_it() -> None:
    with pytest.raises(ResourceError, match="the disk is full") as raised, temporary_directory() as folder:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert raised.value.file == str(folder)
    assert raised.value.remedy is not None
    assert "TMPDIR=FOLDER" in raised.value.remedy
    assert not folder.exists()


def test_an_error_of_another_place_is_not_said_of_the_temporary_folder() -> None:
    with pytest.raises(OSError, match="elsewhere"), temporary_directory():
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/elsewhere")


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o644)])
def test_a_new_file_is_for_whom_the_mask_lets_and_an_older_one_keeps_its_mode(
    tmp_path: Path, mask: int, mode: int
) -> None:
    for name, older in (("private", 0o600), ("of the group", 0o664)):
        (tmp_path / name).write_text("old")
        (tmp_path / name).chmod(older)
    before = os.umask(mask)
    try:
        write_together({tmp_path / name: "new" for name in ("new", "private", "of the group")})
    finally:
        os.umask(before)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert modes == {"new": mode, "private": 0o600, "of the group": 0o664}
