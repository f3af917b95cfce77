"""The process that forks the front-end's passes: what it inherits, and what becomes of it when one is cut short."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from polydl.errors import ResourceError
from polydl.frontend import child
from polydl.frontend.fork_server import ForkServer
from polydl.frontend.pet import parse

SOURCE = "void f(float a[4])\n{\n  for (int i = 0; i < 4; ++i)\n    a[i] = 0;\n}\n"


@pytest.fixture
def server() -> Iterator[ForkServer]:
    """One that nothing else uses, for the passes of this test."""
    server = ForkServer()
    token = child._FORK.set(server.run)
    yield server
    child._FORK.reset(token)
    server.close()


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "nest.c"
    path.write_text(SOURCE)
    return path


def process_of(server: ForkServer) -> subprocess.Popen[bytes]:
    assert server._process is not None
    return server._process


def test_passes_share_one_process_that_ends_with_the_last(server: ForkServer, source: Path) -> None:
    assert parse(source) == parse(source)
    process = process_of(server)
    assert parse(source).function.name == "f"
    assert process_of(server) is process
    server.close()
    assert process.returncode == -signal.SIGKILL


def test_passes_run_in_the_present_folder(
    server: ForkServer, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert parse(source)
    for size in (3, 5):
        folder = tmp_path / str(size)
        folder.mkdir()
        (folder / "size.h").write_text(f"#define SIZE {size}\n")
        monkeypatch.chdir(folder)
        source.write_text('#include "size.h"\n' + SOURCE.replace("4", "SIZE"))
        assert parse(source, include_directories=["."]).arrays[0].extents == (size,)


class Interrupted:
    """A socket whose answer does not come before an interruption."""

    def __init__(self, genuine: socket.socket) -> None:
        self.sendmsg, self.close = genuine.sendmsg, genuine.close

    def recv(self, _: int) -> bytes:
        raise KeyboardInterrupt


def test_after_an_interruption_another_process_answers(server: ForkServer, source: Path) -> None:
    """Else the answer to the pass that was cut short would be taken for that to the next."""
    assert parse(source)
    process = process_of(server)
    server._socket = Interrupted(server._socket)  # type: ignore[assignment]
    with pytest.raises(KeyboardInterrupt):
        parse(source)
    assert process.returncode == -signal.SIGKILL
    assert parse(source).function.name == "f"
    assert process_of(server) is not process


def test_a_process_that_was_killed_is_an_error_and_the_next_pass_starts_another(
    server: ForkServer, source: Path
) -> None:
    assert parse(source)
    process = process_of(server)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    with pytest.raises(ResourceError):
        parse(source)
    assert parse(source).function.name == "f"
    assert process_of(server) is not process


def test_inside_of_another_there_is_one_process(source: Path) -> None:
    with child.fork_server():
        outer = child._FORK.get()
        with child.fork_server():
            assert child._FORK.get() is outer
            assert parse(source).function.name == "f"
