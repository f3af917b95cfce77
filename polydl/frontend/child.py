"""Child processes for the passes of libclang and libpet, which may print, hang, abort or crash.

Requests and results are JSON files in a temporary folder. The output of the child is kept in full.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from polydl.frontend.fork_server import ForkServer
from polydl.frontend.forking import forked
from polydl.system.process_group import run_in_group

_MEMORY_BYTES = 4 << 30
# What Clang, pet and Python take for the walk over an expression that is nested as deeply as a line is long.
_STACK_BYTES, _FRAMES = 512 << 20, 1_000_000


@dataclass(frozen=True)
class ChildOutcome:
    """The end of a child process."""

    #: None if the child wrote none
    result: dict[str, Any] | None
    #: why there is no result, in words
    failure: str
    #: all that the child printed
    output: str


Run = Callable[[str, Sequence[str], Path, float], int]
"""Runs a module's main function in a forked process: ``polydl.frontend.forking.forked``."""

# What forks the passes; None where each is started anew.
_FORK: ContextVar[Run | None] = ContextVar("fork", default=None)


@contextmanager
def forked_children() -> Iterator[None]:
    """Inside, passes run in forked processes: their modules and libraries are loaded once, in this process.

    That takes a tenth of the time, for those who read very many files. Nothing of a pass runs in this process itself.
    It must hold no other copy of LLVM, as TensorFlow does: the two would take each other's symbols, and crash.
    """
    with _forking(forked):
        yield


@contextmanager
def fork_server() -> Iterator[None]:
    """Inside, passes run in processes that one other process forks, whatever this one holds (``ForkServer``).

    Nothing changes where they are forked already.
    """
    if _FORK.get() is not None:
        yield
        return
    server = ForkServer()
    try:
        with _forking(server.run):
            yield
    finally:
        server.close()


@contextmanager
def _forking(run: Run) -> Iterator[None]:
    token = _FORK.set(run)
    try:
        yield
    finally:
        _FORK.reset(token)


def run_child(module: str, request: Mapping[str, Any], folder: Path, timeout_seconds: float) -> ChildOutcome:
    """Run the main function of ``module`` in a process of its own.

    Raises OSError when a file in ``folder`` can't be written.
    """
    name = module.rpartition(".")[2]
    request_path, result_path = folder / f"{name}.request", folder / f"{name}.result"
    printed = folder / f"{name}.output"
    request_path.write_text(json.dumps(request), encoding="utf-8")
    arguments = (str(request_path), str(result_path))
    fork = _FORK.get()
    try:
        if fork is None:
            status, output = _spawned(module, arguments, timeout_seconds)
        else:
            status = fork(module, arguments, printed, timeout_seconds)
            output = _text(printed)
    except subprocess.TimeoutExpired as expired:
        said = expired.output.decode(errors="replace") if expired.output else _text(printed)
        return ChildOutcome(None, f"did not finish within {timeout_seconds:g} s", said)
    if status == os.EX_IOERR:
        number = int(output.split()[-1])
        raise OSError(number, os.strerror(number))
    if status == 0 and result_path.is_file():
        return ChildOutcome(json.loads(result_path.read_text(encoding="utf-8")), "", output)
    if status < 0:
        return ChildOutcome(None, f"was ended by signal {_signal_name(-status)}", output)
    return ChildOutcome(None, f"ended with status {status}", output)


def _spawned(module: str, arguments: tuple[str, ...], timeout_seconds: float) -> tuple[int, str]:
    # -P: a file json.py in the working folder must not shadow the module.
    command = [sys.executable, "-P", "-m", module, *arguments]
    ended = run_in_group(command, timeout_seconds=timeout_seconds, merged=True)
    return ended.returncode, ended.stdout


def _text(printed: Path) -> str:
    return printed.read_bytes().decode(errors="replace") if printed.exists() else ""


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)


def answer(request_path: str, result_path: str, work: Callable[[Any], Mapping[str, Any]]) -> None:
    """In the child: do ``work`` on the request, with limited resources and much stack, and write what it returns.

    When the result can't be written, the process ends with status ``EX_IOERR``, and the last that it prints is the
    number of the error.
    """
    _limit_resources()
    request = json.loads(Path(request_path).read_text(encoding="utf-8"))
    results: list[str] = []
    sys.setrecursionlimit(_FRAMES)
    threading.stack_size(_STACK_BYTES)
    thread = threading.Thread(target=lambda: results.append(json.dumps(work(request))))
    thread.start()
    thread.join()
    if not results:
        # The thread has printed why.
        sys.exit(1)
    try:
        Path(result_path).write_text(results[0], encoding="utf-8")
    except OSError as error:
        os.write(2, f"\n{error.errno}\n".encode())
        sys.exit(os.EX_IOERR)


def _limit_resources() -> None:
    """Limit the memory of this process, and disable core dumps, since an abort of pet is expected."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = _MEMORY_BYTES if hard == resource.RLIM_INFINITY else min(hard, _MEMORY_BYTES)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
