"""A process that works on tasks, one after the other, beside others that do the same.

It is started by ``python -m polydl.system.side_process SOCKET FOLDER``, where SOCKET is a file descriptor, and FOLDER
is the same for all. Each of them is alone while it times something (``polydl.system.turns.alone``).
"""

from __future__ import annotations

import sys
import warnings
from contextlib import ExitStack, suppress
from multiprocessing.connection import Connection
from pathlib import Path

from polydl.system.interruption import INTERRUPTION
from polydl.system.turns import beside


def main(descriptor: int, folder: Path) -> None:
    """Receives what to do with a task, context managers to do that in, and then tasks until the socket is closed.

    To each it replies with the answer, or with an exception, and with the texts of the warnings that it gave rise to.
    """
    INTERRUPTION.unwind()
    with suppress(KeyboardInterrupt, EOFError, OSError), Connection(descriptor) as connection, ExitStack() as stack:
        work, contexts = connection.recv()
        for context in contexts:
            stack.enter_context(context())
        while True:
            task = connection.recv()
            answer = failure = None
            with beside(folder), warnings.catch_warnings(record=True) as given:
                warnings.simplefilter("always")
                try:
                    answer = work(task)
                except Exception as error:
                    failure = error
            connection.send((answer, failure, [str(each.message) for each in given]))


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
