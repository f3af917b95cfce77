"""The parent's side of a child process that runs one kernel."""

from __future__ import annotations

import atexit
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any

from polydl.errors import MissingComponentError, ResourceError
from polydl.execute.arrays import Data
from polydl.ir.measurement import Status
from polydl.system.files import write_all
from polydl.system.full_disk import DISK_FULL, disk_full
from polydl.system.interruption import INTERRUPTION
from polydl.system.sandbox import environment, exit_status_of, inside, is_sandboxed

_STDERR_BYTES = 1 << 20
WORKER = (sys.executable, "-P", "-m", "polydl.execute.worker")
_HOLDER = (sys.executable, "-P", "-m", "polydl.execute.input_holder")
# Time limit for forking a process, or for noticing that one has ended.
_FORK_SECONDS = 20.0
# What the system waits for at once: its milliseconds are a C int.
_MOST_WAIT_SECONDS = 86_400.0


class ChildError(Exception):
    """The kernel crashed, exceeded its time limit, or can't be run."""

    def __init__(self, status: Status, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


class Child:
    """A worker process, or another program with the same protocol, in a process group of its own.

    It runs on ``cores``. With a ``holder``, it is a worker that the holder forks. It is a context manager, at whose end
    the process group is killed.
    """

    def __init__(
        self,
        cores: Sequence[int],
        directory: Path,
        command: Sequence[str] = WORKER,
        environment: Mapping[str, str | None] | None = None,
        holder: InputHolder | None = None,
        pass_fds: Sequence[int] = (),
    ) -> None:
        self._directory = directory
        self._stderr = bytearray()
        # Commands whose replies were not read yet, and what came of the next one: an interruption may come meanwhile,
        # and the child is asked for something else afterwards.
        self._awaited = 0
        self._line = bytearray()
        self._ended = False
        self._sandboxed = is_sandboxed()
        command_reader, self._commands = os.pipe()
        self._replies, reply_writer = os.pipe()
        self._errors, error_writer = os.pipe()
        self._process: subprocess.Popen[bytes] | _Forked
        try:
            if holder is not None:
                self._process = holder.fork(command_reader, reply_writer, error_writer)
            else:
                program = [*command, str(command_reader), str(reply_writer)]
                self._process = subprocess.Popen(
                    inside(program, directory) if self._sandboxed else program,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=error_writer,
                    pass_fds=(command_reader, reply_writer, *pass_fds),
                    env=_environment(cores, environment or {}),
                    start_new_session=True,
                )
        except OSError as error:
            self._close_pipes()
            raise ResourceError(f"no process can be started: {error.strerror}") from None
        except BaseException:
            self._close_pipes()
            raise
        finally:
            for descriptor in (command_reader, reply_writer, error_writer):
                os.close(descriptor)
        atexit.register(self.close)

    def __enter__(self) -> Child:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Kill the process group and close the pipes. Closing twice does no harm."""
        atexit.unregister(self.close)
        self._kill()
        self._close_pipes()

    def _close_pipes(self) -> None:
        for descriptor in (self._commands, self._replies, self._errors):
            if descriptor >= 0:
                os.close(descriptor)
        self._commands = self._replies = self._errors = -1

    def send(self, command: str, **arguments: Any) -> None:
        """Start a command. If the child has ended, ``receive`` reports it."""
        request = json.dumps({"command": command} | arguments) + "\n"
        with INTERRUPTION.deferred(), suppress(BrokenPipeError):
            self._awaited += 1
            write_all(self._commands, request.encode())

    def receive(self, timeout_seconds: float) -> dict[str, Any]:
        """The reply to the last command. Raises ChildError, or ResourceError if memory or disk ran out."""
        line = b""
        while self._awaited:
            complete = self._read_line(timeout_seconds)
            if complete is None:
                self._kill()
                self._drain()
                raise ChildError("timeout", self._with_stderr(f"no answer within {timeout_seconds:g} s"))
            if not complete.endswith(b"\n"):
                raise self._death()
            line = complete
        reply: dict[str, Any] = json.loads(line)
        if "failed" in reply:
            raise ChildError(reply["failed"], reply["message"])
        if "missing" in reply:
            raise MissingComponentError(reply["missing"], remedy=reply["remedy"])
        if "resource" in reply:
            if reply["resource"] in DISK_FULL:
                raise disk_full(self._directory)
            raise ResourceError(f"the process that runs a kernel failed: {reply['message']}")
        return reply

    def request(self, command: str, timeout_seconds: float, **arguments: Any) -> dict[str, Any]:
        """Send a command and wait for its reply. Raises what ``receive`` does."""
        self.send(command, **arguments)
        return self.receive(timeout_seconds)

    def _read_line(self, timeout_seconds: float) -> bytes | None:
        """One line; a part of one if the child closed the pipe; None after the time limit."""
        deadline = time.monotonic() + timeout_seconds
        if b"\n" in self._line:
            return self._next_line()
        with selectors.DefaultSelector() as selector:
            selector.register(self._replies, selectors.EVENT_READ)
            selector.register(self._errors, selectors.EVENT_READ)
            while True:
                remaining = deadline - time.monotonic()
                if remaining <= 0:
                    return None
                for key, _ in selector.select(min(remaining, _MOST_WAIT_SECONDS)):
                    if key.fd != self._replies:
                        data = os.read(key.fd, 1 << 16)
                        self._keep_stderr(data)
                        if not data:
                            selector.unregister(key.fileobj)
                        continue
                    with INTERRUPTION.deferred():
                        data = os.read(key.fd, 1 << 16)
                        self._line += data
                    if not data or b"\n" in self._line:
                        return self._next_line()

    def _next_line(self) -> bytes:
        with INTERRUPTION.deferred():
            line, end, self._line = self._line.partition(b"\n")
            self._awaited -= 1
        return bytes(line + end)

    def _keep_stderr(self, data: bytes) -> None:
        """Keep stderr up to a limit, and beyond it the last part, since a kernel may print without end."""
        self._stderr += data
        if len(self._stderr) > 2 * _STDERR_BYTES:
            del self._stderr[:-_STDERR_BYTES]

    def _drain(self) -> None:
        os.set_blocking(self._errors, False)
        with suppress(BlockingIOError):
            while data := os.read(self._errors, 1 << 16):
                self._keep_stderr(data)

    def _death(self) -> ChildError:
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._kill()
            self._drain()
            return ChildError("crash", self._with_stderr("the kernel closed its process's pipe"))
        self._kill()
        self._drain()
        exit_status = self._process.wait()
        if self._sandboxed:
            exit_status = exit_status_of(exit_status)
        if exit_status < 0:
            number = -exit_status
            with suppress(ValueError):
                what = f"killed by {signal.Signals(number).name} ({signal.strsignal(number)})"
                return ChildError("crash", self._with_stderr(what))
            return ChildError("crash", self._with_stderr(f"killed by signal {number}"))
        return ChildError("crash", self._with_stderr(f"the kernel ended its process with exit status {exit_status}"))

    def _with_stderr(self, text: str) -> str:
        printed = self._stderr.decode(errors="replace").strip()
        return f"{text}\n{printed}" if printed else text

    def _kill(self) -> None:
        if self._ended:
            return
        # The group outlives its leader if the kernel started processes.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._ended = True


class InputHolder:
    """A process with NumPy and with large arrays that no kernel writes; workers are forked from it, and share them.

    It is a context manager, and must be closed after its workers, which end with it.
    """

    def __init__(self, cores: Sequence[int], directory: Path, arrays: Sequence[Mapping[str, Any]]) -> None:
        self._arrays = list(arrays)
        self._filled: Data | None = None
        self._socket, theirs = socket.socketpair()
        with theirs:
            command = (*_HOLDER, str(theirs.fileno()))
            self._child = Child(cores, directory, command, pass_fds=(theirs.fileno(),))

    def __enter__(self) -> InputHolder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._child.close()
        self._socket.close()

    def fill(self, data: Data, timeout_seconds: float) -> None:
        """Fill the arrays, for workers that are forked afterwards. Raises as ``Child.receive`` does."""
        if self._arrays and self._filled != data:
            self._child.request("fill", timeout_seconds, arrays=self._arrays, data=asdict(data))
            self._filled = data

    def fork(self, *descriptors: int) -> _Forked:
        """Fork a worker that uses these descriptors for commands, replies and errors."""
        socket.send_fds(self._socket, [b"f"], descriptors)
        return _Forked(int(self._child.request("fork", _FORK_SECONDS)["process"]), self._child)


class _Forked:
    """A worker that an input holder forked, with the used part of ``Popen``. Only the holder can wait for it."""

    def __init__(self, process: int, holder: Child) -> None:
        self.pid = process
        self.returncode: int | None = None
        self._holder = holder

    def wait(self, timeout: float = _FORK_SECONDS) -> int:
        """The exit status; unknown if the holder has ended, since the worker ends with it. Raises TimeoutExpired."""
        if self.returncode is None:
            try:
                reply = self._holder.request("reap", timeout + _FORK_SECONDS, process=self.pid, seconds=timeout)
            except ChildError:
                reply = {"exit": -signal.SIGKILL}
            if reply["exit"] is None:
                raise subprocess.TimeoutExpired(_HOLDER, timeout)
            self.returncode = int(reply["exit"])
        return self.returncode


def _environment(cores: Sequence[int], others: Mapping[str, str | None]) -> dict[str, str]:
    """What a child sees of the caller's environment, with the same settings for threads always, and with ``others``."""
    wanted = environment(os.environ) | {
        "OMP_NUM_THREADS": str(len(cores)),
        "OMP_DYNAMIC": "false",
        "OMP_PROC_BIND": "true",
        "OMP_PLACES": ",".join(f"{{{core}}}" for core in cores),
        # How long idle threads spin (libgomp: rounds, 0.2 to 0.5 ms; libomp: ms). Enough to go from one parallel loop
        # to the next without sleeping, and not so long that they disturb the probe or another child.
        "GOMP_SPINCOUNT": "10000",
        "KMP_BLOCKTIME": "1",
        # NumPy's own threads are not wanted.
        "OPENBLAS_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        # glibc's last words go to the terminal otherwise.
        "LIBC_FATAL_STDERR_": "1",
        **others,
    }
    return {name: value for name, value in wanted.items() if value is not None}
