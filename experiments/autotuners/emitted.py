"""The library that polydl emitted for a problem: writes the seconds of a call for each line of its standard input.

``python emitted.py NAME LIBRARY``
"""

from __future__ import annotations

import ctypes
import sys
import time

import numpy as np
from problems import PROBLEMS, Product, inputs, is_right, output

# A sample takes at least so many seconds.
_SAMPLE = 0.02


def main() -> None:
    name, library = sys.argv[1:]
    problem = PROBLEMS[name]
    generator = np.random.default_rng(0)
    image, weights = (generator.random(shape, dtype=np.float32) for shape in inputs(problem))
    answer = np.zeros(output(problem), np.float32)
    # polydl compares convolutions itself, whose channels are blocked: the same elements in another order.
    arrays = [answer, image, weights] if isinstance(problem, Product) else [answer, weights, image]
    function = getattr(ctypes.CDLL(library), name)
    function.restype = None
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in arrays]
    function(*pointers)
    if isinstance(problem, Product) and not is_right(problem, [image, weights], answer):
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
