"""A process that forks the passes of many files: ``python -m polydl.frontend.fork_server SOCKET`` (a file descriptor).

An interpreter takes a tenth of a second to start and to load libclang or libpet, and a fork milliseconds. The process
holds these libraries and nothing else, so that it may be forked at any time, whatever the process that asks has loaded.
It ends when that one closes the socket or ends.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from polydl.frontend.forking import forked
from polydl.system.interruption import INTERRUPTION
from polydl.system.process_group import kill_group

# Of a question or an answer; both name files.
_MESSAGE_BYTES = 1 << 16


class ForkServer:
    """The asking side of such a process, which is started with the first pass, and anew after one was cut short."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def run(self, module: str, arguments: Sequence[str], printed: Path, timeout_seconds: float) -> int:
        """Run the main function of a module in the present folder; the exit status, or minus the signal that ended it.

        ``arguments`` are the paths of the request and of the result, ``printed`` is where its output goes. It sees the
        environment that this process had when it first asked. Raises OSError, TimeoutExpired.
        """
        if self._process is None:
            self._start()
        question = json.dumps([module, list(arguments), str(printed), timeout_seconds]).encode()
        folder = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
        try:
            socket.send_fds(self._socket, [question], [folder])
            answer = self._socket.recv(_MESSAGE_BYTES)
        except BaseException:
            # The answer of a pass that was cut short would be taken for that of the next.
            self.close()
            raise
        finally:
            os.close(folder)
        if not answer:
            self.close()
            raise ChildProcessError("the process that forks the passes has ended")
        status: int | None = json.loads(answer)
        if status is None:
            raise subprocess.TimeoutExpired(module, timeout_seconds)
        return status

    def close(self) -> None:
        """End the process, and a pass that still runs."""
        if self._process is not None:
            process, self._process = self._process, None
            self._socket.close()
            # It leads a group, to which the passes belong.
            kill_group(process.pid)
            process.wait()

    def _start(self) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs, INTERRUPTION.deferred():
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "polydl.frontend.fork_server", str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )


def _serve(descriptor: int) -> None:
    with socket.socket(fileno=descriptor) as questions:
        while True:
            question, folders, _, _ = socket.recv_fds(questions, _MESSAGE_BYTES, 1)
            if not question:
                return
            os.fchdir(folders[0])
            os.close(folders[0])
            module, arguments, printed, timeout_seconds = json.loads(question)
            try:
                status = forked(module, arguments, Path(printed), timeout_seconds)
            except subprocess.TimeoutExpired:
                status = None
            with suppress(BrokenPipeError):
                questions.send(json.dumps(status).encode())


if __name__ == "__main__":
    _serve(int(sys.argv[1]))
