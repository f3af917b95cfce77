"""The process that forks the workers, with the large arrays that no kernel writes:
``python -m polydl.execute.input_holder SOCKET COMMANDS REPLIES`` (three file descriptors).

An interpreter takes a tenth of a second to import NumPy, and a fork milliseconds. Fifty processes with a copy each of
two gigabytes don't fit into memory, and to fill and map them takes longer than to time the kernels. Forked processes
share the pages, huge ones included, for as long as nobody writes to them. This process never runs a kernel, since
OpenMP's threads would not survive the fork.
"""

from __future__ import annotations

import os
import socket
import sys
import time
import traceback
from contextlib import suppress

from polydl.element_types import element_dtype
from polydl.execute.arrays import Buffer, Data
from polydl.execute.sampling import Reply, serve
from polydl.execute.worker import FilledArrays, Worker, methods

_POLL_SECONDS = 0.002


class Holder:
    """Each public method answers the command of its name.

    Forked workers close the descriptors ``not_for_workers``.
    """

    def __init__(self, connection: int, not_for_workers: tuple[int, ...]) -> None:
        self._socket = socket.socket(fileno=connection)
        self._not_for_workers = not_for_workers
        self._buffers: dict[str, Buffer] = {}
        self._data = Data(0, True)
        self._exits: dict[int, int] = {}

    def fill(self, arrays: list[Reply], data: Reply) -> Reply:
        """Fill arrays with random data; they are allocated the first time. An array's ``stream`` selects its data."""
        self._data = Data(**data)
        for array in arrays:
            name = array["name"]
            if name not in self._buffers:
                dtype, extents = element_dtype(array["element"]), tuple(array["extents"])
                self._buffers[name] = Buffer(name, dtype, extents, array["stream"])
            self._buffers[name].fill(self._data)
        return {}

    def fork(self) -> Reply:
        """Fork a worker. Its descriptors for commands, replies and errors come over the socket."""
        _, descriptors, _, _ = socket.recv_fds(self._socket, 1, 3)
        process = os.fork()
        self._exits.pop(process, None)
        if process == 0:
            self._work(*descriptors)
        # In both processes, since the worker must lead its group before anyone kills the group.
        with suppress(OSError):
            os.setpgid(process, process)
        for descriptor in descriptors:
            os.close(descriptor)
        return {"process": process}

    def _work(self, commands: int, replies: int, errors: int) -> None:
        """The whole life of a forked worker. It never returns, or it would answer the holder's commands."""
        status = 1
        try:
            os.setpgid(0, 0)
            os.dup2(errors, 2)
            os.close(errors)
            for descriptor in (self._socket.detach(), *self._not_for_workers):
                os.close(descriptor)
            serve(commands, replies, methods(Worker(FilledArrays(self._buffers, self._data))))
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)

    def reap(self, process: int, seconds: float) -> Reply:
        """Wait for a worker: its exit status, or minus the signal that killed it; None if it still runs afterwards.

        It can be asked for again: the caller may have been interrupted before it read the first reply.
        """
        deadline = time.monotonic() + seconds
        while process not in self._exits:
            ended, status = os.waitpid(process, os.WNOHANG)
            if ended:
                self._exits[process] = os.waitstatus_to_exitcode(status)
            elif time.monotonic() >= deadline:
                return {"exit": None}
            else:
                time.sleep(_POLL_SECONDS)
        return {"exit": self._exits[process]}


def main(connection: int, commands: int, replies: int) -> None:
    """Answers ``fill``, ``fork`` and ``reap``, on these file descriptors, until the parent closes the pipe or dies."""
    holder = Holder(connection, (commands, replies))
    serve(commands, replies, (holder.fill, holder.fork, holder.reap))


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
