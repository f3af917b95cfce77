"""Emitted functions, compiled by hand and called in turns: what experiments on C alone share."""

from __future__ import annotations

import ctypes
import math
import subprocess
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from polydl.ir.scop import Scop

_LINE_BYTES = 64


def built(c: str, flags: Sequence[str], links: Sequence[str], path: Path) -> ctypes.CDLL:
    """The C as a library at ``path``, by gcc. Raises CalledProcessError if it does not compile.

    It is linked without the flags: with -ffast-math, this process would take subnormal numbers as zeros.
    """
    source, target = path.with_suffix(".c"), path.with_suffix(".o")
    source.write_text(c, encoding="utf-8")
    subprocess.run(["gcc", "-fopenmp", "-fPIC", "-w", *flags, "-c", source, "-o", target], check=True)
    subprocess.run(["gcc", "-fopenmp", "-shared", target, "-o", path, *links, "-lm"], check=True)
    return ctypes.CDLL(str(path))


def at_a_line(contents: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A copy of an array that begins at a line of the cache."""
    space = np.zeros(contents.nbytes + _LINE_BYTES, np.uint8)
    first = -space.ctypes.data % _LINE_BYTES
    place: np.ndarray[Any, Any] = space[first : first + contents.nbytes].view(contents.dtype)
    place[:] = contents
    return place


def elements(nest: Scop) -> list[int]:
    """How many each parameter has."""
    return [nest.array(parameter.array).elements for parameter in nest.function.parameters]


def floats(counts: Iterable[int]) -> list[np.ndarray[Any, Any]]:
    """Arrays of so many random floats, each at the beginning of a line."""
    generator = np.random.default_rng(0)
    return [at_a_line(generator.uniform(-1, 1, count).astype(np.float32)) for count in counts]


def in_turns(functions: Sequence[Any], passed: Sequence[Any], rounds: int, least_seconds: float) -> list[list[float]]:
    """Seconds of a call of each function in each round.

    ``passed`` are arrays and numbers of C. A turn lasts ``least_seconds`` at least, in as many calls as that takes.
    """
    given = [ctypes.c_void_p(each.ctypes.data) if isinstance(each, np.ndarray) else each for each in passed]

    def seconds(function: Any, repeats: int) -> float:
        start = time.perf_counter()
        for _ in range(repeats):
            function(*given)
        return (time.perf_counter() - start) / repeats

    for function in functions:
        function.restype = None
    repeats = [max(1, math.ceil(least_seconds / min(seconds(each, 1) for _ in range(3)))) for each in functions]
    taken = [[seconds(each, many) for each, many in zip(functions, repeats, strict=True)] for _ in range(rounds)]
    return [list(column) for column in zip(*taken, strict=True)]
