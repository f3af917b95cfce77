"""The plain nest as a peer: the workload's C function as a compiler translates it, in the workload's layout."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from polydl.bench.peers.problems import SOURCE, WEIGHTS, ConvolutionProblem, Floats, Problem, fill
from polydl.native import runtime


class NestBackend:
    """``description`` names the ``library``, the ``layout``, the ``blocks`` and the ``padding`` of the workload."""

    def __init__(self, problem: Problem, description: dict[str, Any]) -> None:
        self._shapes, self._layout = problem.shapes, description["layout"]
        self.note = description["compiler"]
        library = ctypes.CDLL(description["library"])
        self._time = library.time_nest
        self._time.restype = ctypes.c_double
        self._time.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_long]
        source, weights = _plain(self._shapes[0], SOURCE), _plain(self._shapes[1], WEIGHTS)
        blocks = description["blocks"]
        if isinstance(problem, ConvolutionProblem):
            rows, columns = problem.sizes[7:9]
            # A nest that skips rows of padding has none in memory.
            rows = 0 if description["padding"] == "skipped" else rows
            source = np.pad(source, ((0, 0), (0, 0), (rows, rows), (columns, columns)))
            arrange = _CONVOLUTIONS[self._layout]
        else:
            arrange = _PRODUCTS[self._layout]
        cleared = np.zeros(self._shapes[2], np.float32)
        arranged = (np.ascontiguousarray(array) for array in arrange(source, weights, cleared, blocks))
        source, weights, self._result = arranged
        # The C functions' own order.
        inputs = (weights, source) if isinstance(problem, ConvolutionProblem) else (source, weights)
        self._arrays = (self._result, *inputs)

    def run(self, repeats: int) -> float:
        return float(self._time(*(array.ctypes.data for array in self._arrays), repeats))

    def flush(self) -> None:
        for array in self._arrays:
            runtime().flush(array.ctypes.data, array.nbytes)

    def result(self) -> Floats:
        result = self._result
        if self._layout == "nhwc":
            result = result.transpose(0, 3, 1, 2)
        elif self._layout == "blocked":
            result = result.transpose((0, 1, 4, 2, 3) if result.ndim == 5 else (0, 2, 1, 3))
        return np.ascontiguousarray(result).reshape(self._shapes[2])


_Arrays = tuple[Floats, Floats, Floats]


def _plain(shape: tuple[int, ...], stream: int) -> Floats:
    array = np.empty(shape, np.float32)
    fill(array.reshape(-1), stream)
    return array


def _as_is(source: Floats, weights: Floats, result: Floats, _blocks: list[int]) -> _Arrays:
    return source, weights, result


def _nhwc(source: Floats, weights: Floats, result: Floats, _blocks: list[int]) -> _Arrays:
    return source.transpose(0, 2, 3, 1), weights.transpose(2, 3, 1, 0), result.transpose(0, 2, 3, 1)


def _blocked_convolution(source: Floats, weights: Floats, result: Floats, blocks: list[int]) -> _Arrays:
    (block_c, block_k), (k, c, *kernel) = blocks, weights.shape
    # A filter of a depthwise convolution has one channel, whatever blocks the image is in.
    own = min(block_c, c)
    filters = weights.reshape(k // block_k, block_k, c // own, own, *kernel)
    return _channels(source, block_c), filters.transpose(0, 2, 4, 5, 3, 1), _channels(result, block_k)


def _channels(images: Floats, block: int) -> Floats:
    n, c, h, w = images.shape
    return images.reshape(n, c // block, block, h, w).transpose(0, 1, 3, 4, 2)


def _blocked_product(a: Floats, b: Floats, c: Floats, blocks: list[int]) -> _Arrays:
    block_m, block_n, block_k = blocks
    return _tiles(a, block_m, block_k), _tiles(b, block_k, block_n).swapaxes(0, 1), _tiles(c, block_m, block_n)


def _tiles(matrix: Floats, rows: int, columns: int) -> Floats:
    height, width = matrix.shape
    return matrix.reshape(height // rows, rows, width // columns, columns).swapaxes(1, 2)


_Arrange = Callable[[Floats, Floats, Floats, list[int]], _Arrays]
_CONVOLUTIONS: dict[str, _Arrange] = {"blocked": _blocked_convolution, "nhwc": _nhwc, "nchw": _as_is}
_PRODUCTS: dict[str, _Arrange] = {"blocked": _blocked_product, "row-major": _as_is}
