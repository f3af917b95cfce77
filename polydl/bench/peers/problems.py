"""The problems that peers solve: arrays in plain layouts, their contents, and any element of the result.

Imported by the peers' processes: NumPy and the standard library only.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

Floats = np.ndarray[Any, np.dtype[np.float32]]

SOURCE, WEIGHTS = 0, 1
# A prime, so that no row of any matrix repeats the one before.
_PERIOD = 1_000_003
# A wrong sum of K products of such values is off by about 0.5 * sqrt(K); Winograd's roundings by far less than this.
_TOLERANCE = 0.01


class PeerError(Exception):
    """The peer can't solve this problem."""


@lru_cache(maxsize=2)
def _base(stream: int) -> Floats:
    return np.random.default_rng(stream).uniform(-1.0, 1.0, _PERIOD).astype(np.float32)


def values(stream: int, indices: np.ndarray[Any, Any]) -> Floats:
    """The random elements at flat indices of an array in its plain layout."""
    elements: Floats = _base(stream)[indices % _PERIOD]
    return elements


def fill(array: Floats, stream: int) -> None:
    """Give a flat array its contents."""
    base = _base(stream)
    for start in range(0, array.size, _PERIOD):
        part = array[start : start + _PERIOD]
        part[:] = base[: part.size]


@dataclass(frozen=True)
class ConvolutionProblem:
    """A convolution. Arrays are NCHW, OIHW (I: the channels of a group) and NCHW; the image has no padding."""

    #: in the order of peer.h
    sizes: tuple[int, ...]
    #: whether sums add to the result array
    accumulate: bool = False

    @property
    def shapes(self) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
        """The shapes of source, weights and result."""
        n, c, k, h, w, kh, kw, ph, pw, stride, groups, dilation = self.sizes
        height, width = (
            (extent + 2 * padding - (kernel - 1) * dilation - 1) // stride + 1
            for extent, padding, kernel in ((h, ph, kh), (w, pw, kw))
        )
        return (n, c, h, w), (k, c // groups, kh, kw), (n, k, height, width)

    @property
    def terms(self) -> int:
        """Products that each element of the result sums up: the channels of a group times the filter's taps."""
        return math.prod(self.shapes[1][1:])

    def expected(self, index: int) -> float:
        """One element of the result, in double precision."""
        _, c, filters, h, w, kh, kw, ph, pw, stride, groups, dilation = self.sizes
        n, k, row, column = (int(i) for i in np.unravel_index(index, self.shapes[2]))
        own = c // groups
        channel, y, x = np.meshgrid(np.arange(own), np.arange(kh), np.arange(kw), indexing="ij")
        top, left = row * stride - ph + y * dilation, column * stride - pw + x * dilation
        inside = (top >= 0) & (top < h) & (left >= 0) & (left < w)
        seen = k // (filters // groups) * own + channel
        image = values(SOURCE, ((n * c + seen) * h + top) * w + left).astype(np.float64)
        weights = values(WEIGHTS, ((k * own + channel) * kh + y) * kw + x).astype(np.float64)
        return float(np.sum(np.where(inside, image * weights, 0.0)))


@dataclass(frozen=True)
class ProductProblem:
    """A matrix product of row-major matrices."""

    #: m, n, k
    sizes: tuple[int, ...]
    #: whether sums add to the result array
    accumulate: bool = False

    @property
    def shapes(self) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
        """Rows and columns of A, B and the result."""
        m, n, k = self.sizes
        return (m, k), (k, n), (m, n)

    @property
    def terms(self) -> int:
        """Products that each element of the result sums up."""
        return self.sizes[2]

    def expected(self, index: int) -> float:
        """One element of the result, in double precision."""
        _, n, k = self.sizes
        row, column = divmod(index, n)
        along = np.arange(k, dtype=np.int64)
        left, right = values(SOURCE, row * k + along), values(WEIGHTS, along * n + column)
        return float(left.astype(np.float64) @ right.astype(np.float64))


Problem = ConvolutionProblem | ProductProblem


def problem_of(description: Mapping[str, Any]) -> Problem:
    """The problem that the parent describes by ``kind``, ``sizes`` and ``accumulate``."""
    sizes, accumulate = tuple(description["sizes"]), description["accumulate"]
    if description["kind"] == "convolution":
        return ConvolutionProblem(sizes, accumulate)
    return ProductProblem(sizes, accumulate)


def first_error(problem: Problem, result: Floats) -> str | None:
    """A message about the first wrong element; None if the corners and a sample of elements between them are right.

    ``result`` is in the plain layout.
    """
    flat = result.reshape(-1)
    for index in _looked_at(problem.shapes[2]):
        wanted, got = problem.expected(index), float(flat[index])
        if not abs(got - wanted) <= _TOLERANCE * math.sqrt(problem.terms):
            element = "".join(f"[{int(i)}]" for i in np.unravel_index(index, problem.shapes[2]))
            return f"element {element} of the result is {got:.6g} instead of {wanted:.6g}"
    return None


def _looked_at(shape: tuple[int, ...]) -> Iterator[int]:
    elements = math.prod(shape)
    yield from {0, shape[-1] - 1, math.prod(shape[-2:]) - 1, elements - 1}
    yield from (int(i) for i in np.random.default_rng(0).integers(0, elements, 8))
