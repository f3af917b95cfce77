"""Whose code runs when: what only reads a file runs nothing of it, and what runs it is limited (docs/security.md)."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from pathlib import Path

import pytest
from click.testing import CliRunner

import polydl
from polydl.cli import main
from polydl.codegen.original import original
from polydl.errors import MissingComponentError
from polydl.execute.contract import TimingPolicy
from polydl.execute.exactness import compare_exactly
from polydl.execute.local import EXECUTOR
from polydl.execute.toolchain import Toolchain
from polydl.system import sandbox
from polydl.system.system_calls import without_sockets

NEST = """void f(float a[64][64]) {
#pragma scop
  for (int i = 0; i < 64; i++)
    for (int j = 0; j < 64; j++)
      a[i][j] += 1;
#pragma endscop
}
"""
# Leaves a mark, tells what it can see and do, and ends the process.
CONSTRUCTOR = r"""
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <arpa/inet.h>
__attribute__((constructor)) static void constructor(void)
{
  struct rlimit core, file;
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(PORT), .sin_addr.s_addr = htonl(0x7f000001)};
  int at_first = open("MARK", O_WRONLY | O_CREAT, 0600);
  int connected = connect(socket(AF_INET, SOCK_STREAM, 0), (struct sockaddr *)&address, sizeof address);
  struct sockaddr_un other = {AF_UNIX, "SOCKET"};
  int asked = connect(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&other, sizeof other);
  getrlimit(RLIMIT_CORE, &core);
  getrlimit(RLIMIT_FSIZE, &file);
  fprintf(stderr, "mark %d, connection %d, asked %d, token %s, path %d, core %lu, file %d, extra %d\n",
          at_first >= 0, connected == 0, asked == 0, getenv("SECRET_TOKEN") ? getenv("SECRET_TOKEN") : "none",
          getenv("PATH") != 0, (unsigned long)core.rlim_cur, file.rlim_cur < (1 << 24), fcntl(LEAKED, F_GETFD) >= 0);
  abort();
}
"""

# Ends the process with 64 if it sees no token and must leave no core and no large file, plus 1 if it left its mark.
RING_CONSTRUCTOR = r"""
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>
__attribute__((constructor)) static void constructor(void)
{
  struct rlimit core, file, memory;
  int marked = open("MARK", O_WRONLY | O_CREAT, 0600) >= 0;
  getrlimit(RLIMIT_CORE, &core);
  getrlimit(RLIMIT_FSIZE, &file);
  getrlimit(RLIMIT_AS, &memory);
  if (getenv("SECRET_TOKEN") || core.rlim_cur || file.rlim_cur > (1 << 24) || memory.rlim_cur == RLIM_INFINITY)
    _exit(1);
  _exit(64 + marked);
}
"""


def planted(tmp_path: Path, port: int = 1, leaked: int = 99, service: str = "none") -> tuple[Path, Path]:
    """A file that includes a constructor, and the mark that it leaves when it runs."""
    source, mark = tmp_path / "nest.c", tmp_path / "PLANTED"
    text = CONSTRUCTOR.replace("MARK", str(mark)).replace("PORT", str(port)).replace("LEAKED", str(leaked))
    (tmp_path / "planted.h").write_text(text.replace('"SOCKET"', f'"{service}"'))
    source.write_text('#include "planted.h"\n' + NEST)
    return source, mark


@pytest.mark.parametrize(
    "arguments",
    [
        ("parse",),
        ("variants", "--max-variants", "2"),
        ("rank", "--max-variants", "2"),
        ("analyze", "--max-variants", "2"),
        ("optimize", "--no-run", "--max-variants", "2"),
        ("fuse", "--no-run", "--max-variants", "2"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_what_only_reads_a_file_runs_nothing_of_it(
    arguments: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    source, mark = planted(tmp_path)
    command, *options = arguments
    ended = CliRunner().invoke(main, [command, str(source), *options], standalone_mode=False)
    assert (ended.exception, ended.return_value) == (None, 0)
    assert not mark.exists()
    assert not list(tmp_path.rglob("*.so"))


def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, bool]:
    """What the constructor said when the nest was measured, and whether it left its mark."""
    import socket

    monkeypatch.setenv("SECRET_TOKEN", "hunter2")
    # The name of a socket must be short.
    with (
        tempfile.TemporaryDirectory() as folder,
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_server(f"{folder}/service", family=socket.AF_UNIX) as service,
        (tmp_path / "open").open("w") as leaked,
    ):
        os.set_inheritable(leaked.fileno(), True)
        source, mark = planted(tmp_path, server.getsockname()[1], leaked.fileno(), service.getsockname())
        scop = polydl.parse(source)
        work = tmp_path / "work"
        work.mkdir()
        [built] = EXECUTOR.build([original(scop)], Toolchain.find(), work)
        policy = TimingPolicy(rounds=1, minimum_sample_seconds=1e-4, budget_seconds=0.1)
        [measured] = EXECUTOR.measure([], built, scop, threads=1, policy=policy)
    assert measured.status == "crash"
    assert "SIGABRT" in measured.message
    return measured.message, mark.exists()


@pytest.mark.native
def test_code_that_runs_sees_no_secrets_and_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    message, marked = told(tmp_path, monkeypatch)
    assert "token none, path 1, core 0, file 1, extra 0" in message
    assert marked, "without a sandbox it has the user's rights"
    assert "mark 1, connection 1, asked 1" in message


@pytest.mark.native
def test_in_the_sandbox_there_is_no_network_and_nothing_to_write_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    try:
        with sandbox.sandboxed():
            message, marked = told(tmp_path, monkeypatch)
    except MissingComponentError as error:
        pytest.skip(f"the system makes no sandboxes: {error.message}")
    assert not marked
    assert "mark 0, connection 0, asked 0, token none, path 1, core 0, file 1, extra 0" in message


@pytest.mark.native
@pytest.mark.parametrize("sandboxed", [False, True], ids=["limited", "sandboxed"])
def test_the_program_of_the_check_over_a_ring_is_limited_too(
    sandboxed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The constructor tells by its exit status what it sees: the check names the status."""
    monkeypatch.setenv("SECRET_TOKEN", "hunter2")
    mark = tmp_path / "PLANTED"
    (tmp_path / "planted.h").write_text(RING_CONSTRUCTOR.replace("MARK", str(mark)))
    (tmp_path / "nest.c").write_text('#include "planted.h"\n' + NEST)
    scop = polydl.parse(tmp_path / "nest.c")
    with contextlib.ExitStack() as stack:
        if sandboxed:
            try:
                stack.enter_context(sandbox.sandboxed())
            except MissingComponentError as error:
                pytest.skip(f"the system makes no sandboxes: {error.message}")
        result = compare_exactly(scop, original(scop), Toolchain.find(), tmp_path / "ring")
    assert result.verdict == "not applicable"
    assert result.reason.endswith(f"with status {64 if sandboxed else 65}")
    assert mark.exists() != sandboxed


@pytest.mark.slow
@pytest.mark.native
def test_the_sandbox_changes_no_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("nest.c").write_text(NEST)
    arguments = ["optimize", "nest.c", "--threads", "1", "--top-k", "1", "--max-variants", "2", "--sandbox"]
    ended = CliRunner().invoke(main, arguments, standalone_mode=False)
    if "namespaces" in ended.output or "bubblewrap" in ended.output:
        pytest.skip("the system makes no sandboxes")
    assert (ended.exception, ended.return_value) == (None, 0), ended.output
    assert "Winner" in ended.output
    assert Path("polydl-out/f/libf_polydl.so").is_file()
    assert not sandbox.is_sandboxed()


@pytest.mark.parametrize("command", ["optimize", "fuse", "tune", "library", "bench", "collect"])
def test_without_bubblewrap_the_remedy_is_named(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    ended = CliRunner().invoke(main, [command, "--sandbox"], standalone_mode=False)
    assert ended.return_value == 1
    assert "bubblewrap, which is not installed" in ended.output
    assert "apt-get install -y bubblewrap" in ended.output


def test_a_bubblewrap_that_may_not_make_namespaces_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\necho 'No permissions to create new namespace' >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert shutil.which("bwrap") == str(fake)
    with pytest.raises(MissingComponentError, match="No permissions to create") as raised, sandbox.sandboxed():
        pass
    assert raised.value.remedy


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_the_filter_knows_the_calls_of_a_machine(machine: str) -> None:
    assert len(without_sockets(machine)) % 8 == 0


def test_on_an_unknown_machine_there_is_no_sandbox() -> None:
    with pytest.raises(MissingComponentError, match="sockets on riscv64") as raised:
        without_sockets("riscv64")
    assert raised.value.remedy


def test_an_environment_keeps_what_programs_need() -> None:
    given = {"PATH": "/bin", "LC_ALL": "C", "AWS_SECRET_ACCESS_KEY": "x", "GITHUB_TOKEN": "y", "HOME": "/root"}
    assert sandbox.environment(given) == {"PATH": "/bin", "LC_ALL": "C", "HOME": "/root"}
