"""Child processes for the passes of libclang and libpet, which may print, hang, abort or crash.

Requests and results are JSON files in a temporary folder. The output of the child is kept in full.
"""

from __future__ import annotations

import faulthandler
import json
import os
import resource
import select
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from polydl.execute.process_group import run_in_group

_MEMORY_BYTES = 4 << 30
# What Clang, pet and Python take for the walk over an expression that is nested as deeply as a line is long.
_STACK_BYTES, _FRAMES = 512 << 20, 1_000_000


@dataclass(frozen=True)
class Outcome:
    """The end of a child process."""

    #: None if the child wrote none
    result: dict[str, Any] | None
    #: why there is no result, in words
    failure: str
    #: all that the child printed
    output: str


# Whether passes run in processes that are forked from this one.
_FORKING: ContextVar[bool] = ContextVar("forking", default=False)


@contextmanager
def forked_children() -> Iterator[None]:
    """Inside, passes run in forked processes: their modules and libraries are loaded once, in this process.

    That takes a tenth of the time, for those who read very many files. Nothing of a pass runs in this process itself.
    It must hold no other copy of LLVM, as TensorFlow does: the two would take each other's symbols, and crash.
    """
    token = _FORKING.set(True)
    try:
        yield
    finally:
        _FORKING.reset(token)


def run_child(module: str, request: Mapping[str, Any], folder: Path, timeout_seconds: float) -> Outcome:
    """Run the main function of ``module`` in a process of its own.

    Raises OSError when a file in ``folder`` can't be written.
    """
    name = module.rpartition(".")[2]
    request_path, result_path = folder / f"{name}.request", folder / f"{name}.result"
    request_path.write_text(json.dumps(request), encoding="utf-8")
    try:
        if _FORKING.get():
            status, output = _forked(module, request, (str(request_path), str(result_path)), folder, timeout_seconds)
        else:
            status, output = _spawned(module, (str(request_path), str(result_path)), timeout_seconds)
    except subprocess.TimeoutExpired as expired:
        printed = expired.output.decode(errors="replace") if expired.output else ""
        return Outcome(None, f"did not finish within {timeout_seconds:g} s", printed)
    if status == os.EX_IOERR:
        number = int(output.split()[-1])
        raise OSError(number, os.strerror(number))
    if status == 0 and result_path.is_file():
        return Outcome(json.loads(result_path.read_text(encoding="utf-8")), "", output)
    if status < 0:
        return Outcome(None, f"was ended by signal {_signal_name(-status)}", output)
    return Outcome(None, f"ended with status {status}", output)


def _spawned(module: str, arguments: tuple[str, ...], timeout_seconds: float) -> tuple[int, str]:
    # -P: a file json.py in the working folder must not shadow the module.
    command = [sys.executable, "-P", "-m", module, *arguments]
    ended = run_in_group(command, timeout_seconds=timeout_seconds, merged=True)
    return ended.returncode, ended.stdout


def _forked(
    module: str, request: Mapping[str, Any], arguments: tuple[str, ...], folder: Path, timeout_seconds: float
) -> tuple[int, str]:
    worker = import_module(module)
    worker.prepare(request)
    printed = folder / f"{module}.output"
    child = os.fork()
    if child == 0:
        status = 1
        try:
            text = os.open(printed, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            for standard, descriptor in enumerate((os.open(os.devnull, os.O_RDONLY), text, text)):
                os.dup2(descriptor, standard)
            # A fault of the pass is the parent's to report.
            faulthandler.disable()
            worker.main(*arguments)
            status = 0
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else 1
        except BaseException:
            os.write(2, traceback.format_exc().encode())
        finally:
            os._exit(status)
    descriptor = os.pidfd_open(child)
    try:
        ready, _, _ = select.select([descriptor], [], [], timeout_seconds)
    finally:
        os.close(descriptor)
    if not ready:
        os.kill(child, signal.SIGKILL)
    _, ended = os.waitpid(child, 0)
    output = printed.read_bytes() if printed.exists() else b""
    if not ready:
        raise subprocess.TimeoutExpired(module, timeout_seconds, output)
    return os.waitstatus_to_exitcode(ended), output.decode(errors="replace")


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
