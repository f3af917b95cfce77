"""Jobs of several processes, timed side by side: in each round every job once, in random order.

Each process prints one line of JSON when it is ready, in which ``jobs`` are the names of what it can time. Then it
answers each line ``number repeats`` with the seconds of that job: the mean of so many runs, after one that does not
count (``jobs.hpp``, ``pytorch.py``). The others wait meanwhile.
"""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from types import TracebackType
from typing import Any

_SAMPLE_SECONDS = 4e-3
_LEAST_ROUNDS, _MOST_ROUNDS = 5, 60
# Threads of OpenMP that have nothing to do spin for a while before they sleep.
_UNTIL_OTHERS_SLEEP = 10e-3


class Process:
    """A process that times jobs when it is asked to; it ends with the block that it is used in."""

    def __init__(self, command: Sequence[object], environment: Mapping[str, str], folder: Path | None = None) -> None:
        self._process = subprocess.Popen(
            [*map(str, command)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, cwd=folder
        )

    def __enter__(self) -> Process:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if kind is not None:
            self._process.kill()
        self._process.communicate()

    def described(self) -> dict[str, Any]:
        """What the process says of itself when it is ready. Raises ChildProcessError if it ends before."""
        said: dict[str, Any] = json.loads(self._line())
        return said

    def seconds(self, job: int, repeats: int) -> float:
        """Of one run."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{job} {repeats}\n")
        self._process.stdin.flush()
        return float(self._line())

    def _line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise ChildProcessError(f"{self._process.args!r} ended with status {self._process.wait()}")
        return line


def in_rounds(jobs: Mapping[str, tuple[Process, int]], threads: int, budget_seconds: float) -> dict[str, list[float]]:
    """Seconds of a run of each job in each round, by name, until the time is up; at least five rounds, at most sixty.

    ``jobs`` say of which process each is, and its number there. Each sample lasts some milliseconds at least.
    """
    repeats = {
        name: max(1, int(_SAMPLE_SECONDS / max(1e-7, process.seconds(number, 1))))
        for name, (process, number) in jobs.items()
    }
    samples: dict[str, list[float]] = {name: [] for name in jobs}
    order, draw = list(jobs), Random(11)
    end, last = time.monotonic() + budget_seconds, None
    for done in range(_MOST_ROUNDS):
        if done >= _LEAST_ROUNDS and time.monotonic() > end:
            break
        draw.shuffle(order)
        for name in order:
            process, number = jobs[name]
            if threads > 1 and process is not last:
                time.sleep(_UNTIL_OTHERS_SLEEP)
            samples[name].append(process.seconds(number, repeats[name]))
            last = process
    return samples
