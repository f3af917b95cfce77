"""Tasks in several processes: what computes does so side by side, and what is timed is alone on the machine."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from multiprocessing.connection import Pipe, wait
from pathlib import Path
from typing import Any, Generic, TypeVar

from polydl.errors import ResourceError
from polydl.system.control_groups import usable_processors
from polydl.system.files import temporary_directory
from polydl.system.interruption import INTERRUPTION
from polydl.system.process_group import wait_for_end
from polydl.system.sandbox import is_sandboxed, sandboxed

_COMMAND = (sys.executable, "-P", "-m", "polydl.system.side_process")
# More would mostly wait for their turn to time, and each holds some hundreds of MB.
_MOST_PROCESSES = 8

Task = TypeVar("Task")
Answer = TypeVar("Answer")


class _Process(Generic[Task, Answer]):
    """A process that works on one task at a time. Raises ResourceError if it can't be started."""

    def __init__(self, folder: Path, *setting: Any) -> None:
        self.connection, theirs = Pipe()
        self._task: Task
        try:
            # A process that has just been started must be known before it can be ended.
            with theirs, INTERRUPTION.deferred():
                self._process = subprocess.Popen(
                    [*_COMMAND, str(theirs.fileno()), str(folder)],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    pass_fds=(theirs.fileno(),),
                    start_new_session=True,
                )
        except OSError as error:
            self.connection.close()
            raise ResourceError(f"no process can be started: {error.strerror}") from None
        self._send(setting)

    def begin(self, task: Task) -> None:
        """Begin with a task. If the process has ended, ``reply`` says so."""
        self._task = task
        self._send(task)

    def reply(self) -> tuple[Task, Answer | None]:
        """The task and its answer; None if the process ended before that was there.

        Raises and warns as that one did.
        """
        try:
            answer, failure, texts = self.connection.recv()
        except (EOFError, OSError):
            return self._task, None
        for text in texts:
            warnings.warn(text, stacklevel=3)
        if failure is not None:
            raise failure
        return self._task, answer

    def end(self) -> None:
        """Tell the process to end."""
        self.connection.close()
        self._process.terminate()

    def wait(self) -> None:
        """Wait for its end, with all that it started."""
        wait_for_end(self._process)

    def _send(self, message: object) -> None:
        with suppress(OSError):
            self.connection.send(message)


@contextmanager
def _ending(processes: Sequence[_Process[Any, Any]]) -> Iterator[None]:
    """End the processes that are in the list by then."""
    try:
        yield
    finally:
        with INTERRUPTION.deferred():
            for process in processes:
                process.end()
            for process in processes:
                process.wait()


def answers(
    work: Callable[[Task], Answer],
    tasks: Sequence[Task],
    contexts: Sequence[Callable[[], AbstractContextManager[Any]]] = (),
) -> Iterator[tuple[Task, Answer | None]]:
    """Each task with its answer, as soon as it is there, in the order in which they come; None if a process ended.

    There is a process for each core, unless there are fewer tasks. In it, ``work`` is called within ``contexts``, and
    ``sandboxed`` if this is; what is in ``polydl.system.turns.alone`` has the machine for itself. ``work``,
    ``contexts``, tasks and answers are pickled. Raises what ``work`` raises, and ResourceError if no process can be
    started.
    """
    left = list(reversed(tasks))
    contexts = (*contexts, sandboxed) if is_sandboxed() else contexts
    processes: list[_Process[Task, Answer]] = []
    with temporary_directory() as folder, _ending(processes):
        for _ in range(min(len(left), usable_processors(), _MOST_PROCESSES)):
            processes.append(_Process(folder, work, contexts))
            processes[-1].begin(left.pop())
        busy = list(processes)
        while busy:
            ready = wait([process.connection for process in busy])
            for process in [each for each in busy if each.connection in ready]:
                busy.remove(process)
                task, answer = process.reply()
                if left:
                    if answer is None:
                        process = _Process(folder, work, contexts)
                        processes.append(process)
                    process.begin(left.pop())
                    busy.append(process)
                yield task, answer
