"""Processes that examine nests, each under limits of memory and time, and replaced when it ends before its nest."""

from __future__ import annotations

import ctypes
import gc
import multiprocessing
import os
import resource
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any, Generic, TypeVar

from polydl.fuzzing.limits import limit_processor_seconds

_MEMORY_BYTES = 12 << 30
# The limit of the clock, in that of processor time: for processes that wait for something that does not come.
_CLOCK = 10.0
# Nests after which a process is replaced, since what isl and polydl remember of them grows.
_NESTS = 100
_TELL_WHEN_PARENT_ENDS = 1
_OBJECTS_BETWEEN_COLLECTIONS = 100_000

Answer = TypeVar("Answer")
Task = TypeVar("Task")


@dataclass(frozen=True)
class Lost:
    """Why there is no answer: the process ended, or was ended after the limit of time."""

    #: whether it was ended after the limit
    timed_out: bool
    message: str


@dataclass
class _Worker(Generic[Task]):
    process: Any
    connection: Connection
    task: Task | None = None
    #: when it is ended, on the monotonic clock; of use while it has a task
    deadline: float = 0.0
    #: tasks that it has answered
    done: int = 0


class Pool(Generic[Task, Answer]):
    """``work`` on tasks in ``jobs`` processes at once, each with at most so many ``seconds`` of its own for a task.

    These are of processor time; what it starts and waits for has limits of its own.

    A context manager, at whose end all processes are killed.
    """

    def __init__(
        self, work: Callable[[Task], Answer], jobs: int, seconds: float, environment: Mapping[str, str]
    ) -> None:
        self._environment = dict(environment)
        self._work = work
        self._jobs = jobs
        self._seconds = seconds
        # Not forked: libpet must not meet another copy of LLVM that the caller's libraries brought along.
        self._context = multiprocessing.get_context("spawn")
        self._workers: list[_Worker[Task]] = []

    def __enter__(self) -> Pool[Task, Answer]:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            _end(worker)

    def answers(self, tasks: Iterator[Task], until: Callable[[], float]) -> Iterator[tuple[Task, Answer | Lost]]:
        """The answer to each task, in the order in which they come.

        ``until`` gives the moment (``time.monotonic``) after which no answer is waited for.
        """
        self._workers = [self._started() for _ in range(self._jobs)]
        for worker in self._workers:
            self._give(worker, tasks)
        while busy := [worker for worker in self._workers if worker.task is not None]:
            limit = min([until(), *(worker.deadline for worker in busy)])
            ready = wait([worker.connection for worker in busy], max(0.0, limit - time.monotonic()))
            if not ready and time.monotonic() >= until():
                return
            for worker in busy:
                overdue = not ready and time.monotonic() >= worker.deadline
                if worker.connection not in ready and not overdue:
                    continue
                task = worker.task
                assert task is not None
                answer = self._lost(worker, "timeout") if overdue else self._received(worker)
                if isinstance(answer, Lost) or worker.done >= _NESTS:
                    _end(worker)
                    self._workers[self._workers.index(worker)] = worker = self._started()
                self._give(worker, tasks)
                yield task, answer

    def _started(self) -> _Worker[Task]:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=_serve, args=(theirs, self._work, self._environment, self._seconds))
        process.start()
        theirs.close()
        return _Worker(process, ours)

    def _give(self, worker: _Worker[Task], tasks: Iterator[Task]) -> None:
        worker.task = next(tasks, None)
        worker.deadline = time.monotonic() + _CLOCK * self._seconds
        if worker.task is not None:
            worker.connection.send(worker.task)

    def _received(self, worker: _Worker[Task]) -> Answer | Lost:
        try:
            answer: Answer = worker.connection.recv()
        except (EOFError, OSError):
            return self._lost(worker, "end")
        worker.done += 1
        return answer

    def _lost(self, worker: _Worker[Task], why: str) -> Lost:
        if why == "timeout":
            return Lost(True, f"no answer within {_CLOCK * self._seconds:g} s")
        worker.process.join(5)
        status = worker.process.exitcode
        if status == -signal.SIGXCPU:
            return Lost(True, f"no answer within {self._seconds:g} s of processor time")
        if status is not None and status < 0:
            return Lost(False, f"killed by {signal.Signals(-status).name}")
        return Lost(False, f"exit status {status}")


def _end(worker: _Worker[Any]) -> None:
    # The whole group: compilers and kernels that it started go, too.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(worker.process.pid, signal.SIGKILL)
    worker.process.kill()
    worker.process.join()
    worker.connection.close()


def _serve(connection: Connection, work: Callable[[Any], Any], environment: Mapping[str, str], seconds: float) -> None:
    os.environ.update(environment)
    os.setpgid(0, 0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    ctypes.CDLL(None).prctl(_TELL_WHEN_PARENT_ENDS, signal.SIGKILL)
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    gc.freeze()
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    while True:
        try:
            task = connection.recv()
        except (EOFError, OSError):
            return
        limit_processor_seconds(seconds)
        connection.send(work(task))
