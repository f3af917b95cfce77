"""A peer's process. docs/guide/benchmarking.md describes the commands that it answers."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any, Protocol

from polydl.bench.peers.problems import Floats, PeerError, Problem, first_error, problem_of
from polydl.execute.sampling import MOST_COLD_REPEATS, MOST_REPEATS, Reply, TimingSampler, serve

BACKENDS = {
    "library": "polydl.bench.peers.library:LibraryBackend",
    "nest": "polydl.bench.peers.nest:NestBackend",
    "onnxruntime": "polydl.bench.peers.onnx_runtime:OnnxRuntimeBackend",
    "openvino": "polydl.bench.peers.open_vino:OpenVinoBackend",
    "pytorch": "polydl.bench.peers.pytorch:PyTorchBackend",
}


class Backend(Protocol):
    """Solves one problem repeatedly.

    It is constructed in the peer's process, once that is pinned to its cores. The constructor allocates and fills the
    arrays, chooses an algorithm, and clears the result.
    """

    @property
    def note(self) -> str:
        """Version and algorithm."""

    def run(self, repeats: int) -> float:
        """Seconds of ``repeats`` computations in a row."""

    def flush(self) -> None:
        """Drop the arrays that a computation reads or writes from all caches."""

    def result(self) -> Floats:
        """The result in the problem's plain layout."""


class Process:
    """Each public method answers the command of its name."""

    def __init__(self, backend: str) -> None:
        self._module, _, self._class = BACKENDS[backend].partition(":")
        self._checked = False

    def start(self, problem: dict[str, Any], cores: list[int]) -> Reply:
        """Pin this process to the cores and get everything ready."""
        self._sampler = TimingSampler(cores)
        self._problem = problem_of(problem)
        try:
            make: Callable[[Problem, dict[str, Any]], Backend] = getattr(import_module(self._module), self._class)
            self._backend = make(self._problem, problem)
        except (PeerError, ImportError, OSError) as error:
            return {"failed": "unsupported", "message": str(error)}
        return {"note": self._backend.note}

    def run(self) -> Reply:
        """One computation; the first one's result is checked."""
        reply = self._sampler.sample(1, self._backend.run)
        if not self._checked:
            self._checked = True
            if error := first_error(self._problem, self._backend.result()):
                return {"failed": "wrong", "message": error}
        return reply

    def calibrate(self, minimum_seconds: float, warmup: int, cold: bool) -> Reply:
        """How many computations a sample of ``minimum_seconds`` has (``TimingSampler.calibrate``), cold ones fewer."""
        most = MOST_COLD_REPEATS if cold else MOST_REPEATS
        return self._sampler.calibrate(minimum_seconds, most, self._cold if cold else self._warm(warmup))

    def sample(self, repeats: int, warmup: int, cold: bool) -> Reply:
        """One sample of ``repeats`` computations, after ``warmup`` others or, if ``cold``, with flushed caches each."""
        return self._sampler.sample(repeats, self._cold if cold else self._warm(warmup))

    def _cold(self, repeats: int) -> float:
        """Seconds of computations that each start with empty caches, as in the workers of kernels."""
        seconds = 0.0
        for _ in range(repeats):
            self._backend.flush()
            seconds += self._backend.run(1)
        return seconds

    def _warm(self, warmup: int) -> Callable[[int], float]:
        def timed(repeats: int) -> float:
            if warmup:
                self._backend.run(warmup)
            return self._backend.run(repeats)

        return timed


def main(backend: str, commands: str, replies: str) -> None:
    """Answers for a backend of ``BACKENDS``, on two file descriptors, until the parent closes the pipe or dies."""
    process = Process(backend)
    serve(int(commands), int(replies), (process.start, process.run, process.calibrate, process.sample))


if __name__ == "__main__":
    main(*sys.argv[1:])
