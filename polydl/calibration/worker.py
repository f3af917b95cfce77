"""The child process that times calls: ``python -m polydl.calibration.worker COMMANDS REPLIES`` (file descriptors)."""

from __future__ import annotations

import ctypes
import os
import random
import sys
from typing import Any

import numpy as np

from polydl import bfloat16
from polydl.element_types import Values, element_dtype, is_floating
from polydl.execute.sampling import MOST_REPEATS, Reply, serve
from polydl.native import runtime

_PROBE_ITERATIONS = 20_000
_SAMPLE_SECONDS = 2.5e-4
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
# Of the places of two operands in their pages.
_APART_BYTES = 1344


def _values(generator: np.random.Generator, element: str, count: int) -> Values:
    """Reals from -1 to 1, or small whole numbers."""
    if element == bfloat16.ELEMENT:
        return bfloat16.from_float(generator.uniform(-1, 1, count))
    if is_floating(element_dtype(element)):
        return generator.uniform(-1, 1, count)
    return generator.integers(0, 8, count)


class CalibrationWorker:
    """Loaded programs with their operands. Each public method answers the command of its name."""

    def start(self, elements: list[str], core: int) -> Reply:
        """Pin this process to the core. ``elements`` are those of A, B and C."""
        os.sched_setaffinity(0, {core})
        self._probe = runtime().fma_gflops
        self._elements = elements
        self._lengths = [0, 0, 0]
        self._time: list[Any] = []
        return {}

    def load(self, libraries: list[str], lengths: list[int]) -> Reply:
        """Load further programs. All share their operands, of so many elements at least."""
        try:
            for path in libraries:
                library = ctypes.CDLL(path, mode=os.RTLD_NOW | os.RTLD_LOCAL)
                library.polydl_prepare()
                function = library.polydl_time_calls
                function.restype = ctypes.c_double
                function.argtypes = [*[ctypes.c_int] * 4, *[ctypes.c_long] * 2, *[ctypes.c_void_p] * 3]
                self._time.append(function)
        except (OSError, AttributeError) as error:
            return {"failed": "unsupported", "message": f"the library can't be used: {error}"}
        longest = [max(pair) for pair in zip(lengths, self._lengths, strict=True)]
        if longest != self._lengths:
            self._lengths = longest
            self._fill()
        return {}

    def _fill(self) -> None:
        generator = np.random.default_rng(0)
        self._operands = []
        for number, (element, length) in enumerate(zip(self._elements, self._lengths, strict=True)):
            # So many bytes after the beginning of a page, so that no run is luckier than another. Operands at the same
            # place of their pages would wait for each other: a load that differs from a store before it in its page
            # alone is taken for one of what that stores.
            space = np.empty(length * 8 + 3 * _PAGE_BYTES, np.uint8)
            first = -space.ctypes.data % _PAGE_BYTES + number * _APART_BYTES
            dtype = element_dtype(element)
            operand = space[first : first + length * dtype.itemsize].view(dtype)
            operand[:] = _values(generator, element, operand.size)
            self._operands.append(operand)

    def measure(self, calls: list[list[int]], rounds: int, seed: int) -> Reply:
        """For each call (library, site, last m, n, k, batch), in random order, round by round: seconds and probes."""
        addresses = [operand.ctypes.data for operand in self._operands]
        repeats = []
        for library, *numbers in calls:
            count, seconds = 2, 0.0
            while (seconds := self._time[library](*numbers, count, *addresses)) < 3e-5 and count < MOST_REPEATS:
                count *= 4
            repeats.append(max(2, int(count * _SAMPLE_SECONDS / max(seconds, 1e-9))))
        samples: list[list[list[float]]] = [[] for _ in calls]
        order = list(range(len(calls)))
        generator = random.Random(seed)
        for _ in range(rounds):
            generator.shuffle(order)
            after = self._probe(_PROBE_ITERATIONS)
            for place in order:
                before = after
                library, *numbers = calls[place]
                self._time[library](*numbers, 2, *addresses)
                seconds = self._time[library](*numbers, repeats[place], *addresses) / repeats[place]
                after = self._probe(_PROBE_ITERATIONS)
                samples[place].append([seconds, before, after])
        return {"samples": samples}

    def probe(self, library: str, cases: list[list[int]], rounds: int) -> Reply:
        """The seconds of each case of a probe in each round, all cases in turns, and rates before and after rounds."""
        try:
            function = ctypes.CDLL(library, mode=os.RTLD_NOW | os.RTLD_LOCAL).polydl_probe
        except (OSError, AttributeError) as error:
            return {"failed": "unsupported", "message": f"the library can't be used: {error}"}
        function.restype, function.argtypes = ctypes.c_double, [ctypes.c_void_p]
        rate = runtime().fma_gflops
        numbers = [(ctypes.c_long * len(case))(*case) for case in cases]
        taken, gflops = [], [rate(_PROBE_ITERATIONS)]
        for _ in range(rounds):
            taken.append([function(case) for case in numbers])
            gflops.append(rate(_PROBE_ITERATIONS))
        return {"seconds": [list(column) for column in zip(*taken, strict=True)], "gflops": gflops}


if __name__ == "__main__":
    worker = CalibrationWorker()
    serve(int(sys.argv[1]), int(sys.argv[2]), (worker.start, worker.load, worker.measure, worker.probe))
