"""The library that polydl emitted for a problem: writes the seconds of a call for each line of its standard input.

``python emitted.py NAME LIBRARY``
"""

from __future__ import annotations

import ctypes
import sys
import time
from math import prod

import numpy as np
from problems import PROBLEMS, Convolution

# A sample takes at least so many seconds.
_SAMPLE = 0.02


def main() -> None:
    name, library = sys.argv[1:]
    problem = PROBLEMS[name]
    if isinstance(problem, Convolution):
        output = (problem.height, problem.width, problem.filters)
        inputs = [(problem.kernel, problem.kernel, problem.channels, problem.filters), problem.image]
    else:
        output, inputs = (problem.m, problem.n), [(problem.m, problem.k), (problem.k, problem.n)]
    generator = np.random.default_rng(0)
    # polydl blocks channels: the same elements in another order.
    arrays = [np.zeros(prod(output), np.float32)]
    arrays += [generator.random(prod(shape), dtype=np.float32) for shape in inputs]
    function = getattr(ctypes.CDLL(library), name)
    function.restype = None
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in arrays]
    function(*pointers)
    if not isinstance(problem, Convolution):
        expected = arrays[1].reshape(inputs[0]) @ arrays[2].reshape(inputs[1])
        if not np.allclose(arrays[0].reshape(output), expected, rtol=1e-3):
            sys.exit(f"{name}: the answer is wrong")
    print("ready", flush=True)
    for _ in sys.stdin:
        begin, calls = time.perf_counter(), 0
        while (spent := time.perf_counter() - begin) < _SAMPLE:
            function(*pointers)
            calls += 1
        print(f"{spent / calls:.9f}", flush=True)


if __name__ == "__main__":
    main()
