"""The library that polydl emitted for a problem: writes the seconds of a call for each line of its standard input.

``python emitted.py NAME LIBRARY``
"""

from __future__ import annotations

import ctypes
import re
import sys
from typing import Any

import numpy as np
from problems import PROBLEMS, Product, is_right
from timing import answer, seconds_of

from polydl.workloads import workload


def arrays(name: str) -> list[Any]:
    """Result and operands of a nest, as large as it declares them: an image may have more rows than are read."""
    generator = np.random.default_rng(0)
    declared = re.findall(r"float \w+((?:\[\d+\])+)", workload(name).source)
    return [generator.random(tuple(map(int, re.findall(r"\d+", each))), dtype=np.float32) for each in declared]


def main() -> None:
    name, library = sys.argv[1:]
    problem, (result, *operands) = PROBLEMS[name], arrays(name)
    function = getattr(ctypes.CDLL(library), name)
    function.restype = None
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (result, *operands)]
    function(*pointers)
    # polydl compares convolutions itself, whose channels are blocked.
    if isinstance(problem, Product) and not is_right(problem, operands, result):
        sys.exit(f"{name}: the answer is wrong")
    answer(lambda: seconds_of(lambda: function(*pointers)))


if __name__ == "__main__":
    main()
