"""A compiled kernel called as a program calls it: again and again, from several threads, on any memory."""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from polydl.element_types import Values, element_dtype, is_floating, numbers
from polydl.execute.arrays import Data
from polydl.ir.scop import Array, Scop

PAGE = mmap.PAGESIZE
THREADS = 4
_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.mmap.restype = ctypes.c_void_p
_LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
_LIBC.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
_LIBC.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]


@dataclass(frozen=True)
class Libraries:
    """The libraries of a kernel and of its original."""

    kernel: Path
    original: Path


class Guarded:
    """Memory that ends at a page that can't be touched, or begins so many bytes after one."""

    def __init__(self, size: int, *, at_end: bool, after: int = 0) -> None:
        whole = -(-(size + after) // PAGE) * PAGE
        self._bytes = whole + 2 * PAGE
        self._start = _LIBC.mmap(None, self._bytes, 0, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
        assert self._start not in (None, ctypes.c_void_p(-1).value)
        assert _LIBC.mprotect(self._start + PAGE, whole, mmap.PROT_READ | mmap.PROT_WRITE) == 0
        self.address = self._start + PAGE + (whole - size if at_end else after)

    def free(self) -> None:
        _LIBC.munmap(self._start, self._bytes)


def _arrays(scop: Scop) -> list[tuple[Array, int | None]]:
    return [(scop.array(parameter.array), parameter.value) for parameter in scop.function.parameters]


def _invoke(library: Path) -> Callable[[Any], None]:
    function = ctypes.CDLL(str(library)).polydl_invoke
    function.restype = None
    return function


def _prepare(library: Path) -> Callable[[Any], None]:
    """What prepares constants, once for all threads."""
    function = ctypes.CDLL(str(library)).polydl_prepare
    function.restype = ctypes.c_long
    place = ctypes.c_void_p()

    def prepare(arguments: Any) -> None:
        assert function(arguments, ctypes.byref(place)) > 0
        assert place.value is not None
        assert place.value % 64 == 0

    return prepare


def _called(
    scop: Scop, invoke: Callable[[Any], None], seed: int, *, at_end: bool, shifted: bool = False
) -> list[Values]:
    """What a function leaves in the arrays, filled from the seed, that lie flush with a guard page.

    With ``shifted`` they begin one element after it, so that none is aligned to more than its elements.
    """
    places: list[Guarded] = []
    views: list[Values] = []
    for stream, (array, value) in enumerate(_arrays(scop)):
        dtype = element_dtype(array.element)
        after = dtype.itemsize if shifted else 0
        place = Guarded(array.elements * dtype.itemsize, at_end=at_end, after=after)
        block = (ctypes.c_ubyte * (array.elements * dtype.itemsize)).from_address(place.address)
        view = np.ctypeslib.as_array(block).view(dtype)
        if value is not None:
            view[:] = value
        else:
            # Constants hold the same at every call.
            fixed = 0 if array.name in scop.constants else seed
            for start, chunk in Data(fixed, signed=False).chunks(stream, dtype, array.elements):
                view[start : start + chunk.size] = chunk
        places.append(place)
        views.append(view)
    invoke((ctypes.c_void_p * len(places))(*(place.address for place in places)))
    results = [view.copy() for view in views]
    for place in places:
        place.free()
    return results


def _differences(scop: Scop, results: Sequence[Values], expected: Sequence[Values], tolerance: float) -> list[str]:
    wrong = []
    for (array, _), result, right in zip(_arrays(scop), results, expected, strict=True):
        dtype = element_dtype(array.element)
        if not is_floating(dtype):
            if not np.array_equal(result, right):
                wrong.append(array.name)
            continue
        one, other = (numbers(values, dtype).astype(np.float64) for values in (result, right))
        if not np.max(np.abs(one - other)) <= tolerance * max(np.max(np.abs(other)), 1e-30):
            wrong.append(array.name)
    return wrong


def wrong_calls(scop: Scop, libraries: Libraries, tolerance: float) -> list[str]:
    """The calls that leave other values than the original: two in a row per thread, on other data each.

    Threads call at once. Every second call has arrays that end at a guard page; the others have arrays that begin after
    one, of the last thread by an element, so that they are aligned to their elements alone.
    """
    kernel, original = _invoke(libraries.kernel), _invoke(libraries.original)
    if scop.constants:
        _called(scop, _prepare(libraries.kernel), 0, at_end=True)

    def calls(thread: int) -> list[str]:
        wrong = []
        for turn in (0, 1):
            seed = 10 * thread + turn
            at_end, shifted = (thread + turn) % 2 == 0, thread == THREADS - 1
            results = _called(scop, kernel, seed, at_end=at_end, shifted=shifted and not at_end)
            expected = _called(scop, original, seed, at_end=False)
            names = _differences(scop, results, expected, tolerance)
            wrong += [f"call {turn} of thread {thread}: {', '.join(names)}"] if names else []
        return wrong

    with ThreadPoolExecutor(THREADS) as pool:
        return [each for calls_of_one in pool.map(calls, range(THREADS)) for each in calls_of_one]
