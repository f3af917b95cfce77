"""Where results are written: files are replaced, what links lead to, too; pipes, devices and streams are written to."""

from __future__ import annotations

import json
import os
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from polydl import Machine
from polydl.errors import ResourceError
from polydl.system.files import write_atomically

COMMAND = (sys.executable, "-c", "from polydl.cli import main; main()")
LIST = ("records", "list", "--records", "none")


def listed(*arguments: str, cwd: Path, shell: str = '"$@"') -> subprocess.CompletedProcess[str]:
    """``polydl records list`` in a process of its own, as a shell line runs it."""
    return subprocess.run(
        ["sh", "-c", shell, "sh", *COMMAND, *LIST, *arguments], cwd=cwd, capture_output=True, text=True, timeout=120
    )


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    # So that the command finds a reader, and this one an end, should the command replace the pipe.
    with open(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK), "rb") as reader:
        ended = listed("--json", "pipe", cwd=tmp_path)
        read = reader.read()
    assert ended.returncode == 0, ended.stderr
    assert stat.S_ISFIFO(pipe.lstat().st_mode)
    assert json.loads(read)["schema"] == "polydl.records.list/1"
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]


def test_a_device_is_written_to() -> None:
    terminal, device = os.openpty()
    try:
        write_atomically(Path(os.ttyname(device)), "shown\n")
        assert os.read(terminal, 100) == b"shown\r\n"
        assert stat.S_ISCHR(os.stat(os.ttyname(device)).st_mode)
    finally:
        os.close(terminal)
        os.close(device)


@pytest.mark.parametrize("there", [True, False])
def test_what_a_link_leads_to_is_replaced_and_the_link_stays(there: bool, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    if there:
        (folder / "target").write_text("old")
        before = (folder / "target").stat().st_ino
    (tmp_path / "between").symlink_to("folder/target")
    (tmp_path / "link").symlink_to("between")
    write_atomically(tmp_path / "link", "new")
    assert (tmp_path / "link").readlink() == Path("between")
    assert (folder / "target").read_text() == "new"
    assert [path.name for path in folder.iterdir()] == ["target"]
    assert not there or (folder / "target").stat().st_ino != before


def test_a_link_to_a_pipe_stays(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    descriptor = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_atomically(tmp_path / "link", "through")
        assert os.read(descriptor, 100) == b"through"
    finally:
        os.close(descriptor)
    assert (tmp_path / "link").is_symlink()


@pytest.mark.parametrize(
    ("name", "shell"),
    [
        ("stdout", '"$@" > file'),
        ("stdout", '"$@" >> file'),
        ("stdout", '"$@" | cat > file'),
        ("link", '"$@" > file'),
        ("/dev/fd/1", '"$@" > file'),
        ("/proc/self/fd/1", '"$@" > file'),
    ],
)
def test_standard_output_by_name_keeps_what_went_there_before(name: str, shell: str, tmp_path: Path) -> None:
    # As in /dev, where a test that fails must replace nothing.
    (tmp_path / "stdout").symlink_to("/proc/self/fd/1")
    (tmp_path / "link").symlink_to("stdout")
    ended = listed("--json", name, cwd=tmp_path, shell=f"{shell}; echo after >> file")
    assert ended.returncode == 0, ended.stderr
    text, document = (tmp_path / "file").read_text().split("\n", 1)
    assert text == "no records in none"
    assert json.loads(document.removesuffix("after\n"))["settings"] == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "link", "stdout"]


def test_what_takes_no_output_stays_and_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder")
    (tmp_path / "round").symlink_to("round")
    with socket.socket(socket.AF_UNIX) as listening:
        here = os.open(tmp_path, os.O_RDONLY)
        listening.bind(f"/proc/self/fd/{here}/socket")
        os.close(here)
    before = {path.name: path.lstat() for path in tmp_path.iterdir()}
    assert len(before) == 4
    for name in before:
        with pytest.raises(ResourceError, match="can't write") as raised:
            write_atomically(tmp_path / name, "new")
        assert raised.value.remedy
    assert {path.name: path.lstat().st_ino for path in tmp_path.iterdir()} == {
        name: status.st_ino for name, status in before.items()
    }


def test_a_machine_is_saved_where_a_link_leads(tmp_path: Path) -> None:
    (tmp_path / "machine.toml").symlink_to("kept.toml")
    machine = Machine.detect()
    machine.save(tmp_path / "machine.toml")
    assert (tmp_path / "machine.toml").is_symlink()
    assert Machine.load(tmp_path / "kept.toml").name == machine.name
