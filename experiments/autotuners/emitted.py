"""The library that polydl emitted for a problem: writes the seconds of a call for each line of its standard input.

``python emitted.py NAME LIBRARY``
"""

from __future__ import annotations

import ctypes
import sys

import numpy as np
from problems import PROBLEMS, Product, drawn, is_right, output
from timing import answer, seconds_of


def main() -> None:
    name, library = sys.argv[1:]
    problem = PROBLEMS[name]
    first, second = drawn(problem)
    result = np.zeros(output(problem), np.float32)
    # polydl compares convolutions itself, whose channels are blocked: the same elements in another order.
    arrays = [result, first, second] if isinstance(problem, Product) else [result, second, first]
    function = getattr(ctypes.CDLL(library), name)
    function.restype = None
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in arrays]
    function(*pointers)
    if isinstance(problem, Product) and not is_right(problem, [first, second], result):
        sys.exit(f"{name}: the answer is wrong")
    answer(lambda: seconds_of(lambda: function(*pointers)))


if __name__ == "__main__":
    main()
