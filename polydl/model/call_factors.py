"""What calls of a microkernel that were timed one by one say of others.

A microkernel's own formula says well how its time grows, and is wrong by a factor that changes slowly with the sizes of
the call. The factor is known where a call was timed. Between such calls it is interpolated by inverse squares of
distances (Shepard, 1968), on logarithms of sizes and factors, over the nearest few: calls of a single row, whose factor
is many times as large, say nothing of others.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from polydl.contracts import GemmShape
from polydl.machine.call_times import CallTime, CallTimes

# What a difference in kind is worth, in doublings of one size: a part of a vector at the end of m, another layout of B.
_PARTIAL, _TRANSPOSED = 1.0, 2.0
# Timed calls that a factor is interpolated between.
_NEAREST = 4

_Sizes = tuple[int, int, int, int, bool]


class CallFactors:
    """How many times the cycles that ``formula`` predicts a call takes, by its sizes; 1 if nothing was timed."""

    def __init__(self, times: CallTimes, formula: Callable[[GemmShape], float], peak_cycle: float) -> None:
        """``peak_cycle`` is the time of two vector multiply-adds, in cycles of the core."""
        self._vector_elements = times.vector_elements
        shapes = ((packed_shape(call, times.element), call.cycles * peak_cycle) for call in times.calls)
        timed = [(self._place(_sizes(shape)), math.log(cycles / formula(shape))) for shape, cycles in shapes]
        # [call, coordinate], and the factors' logarithms
        self._places = np.array([place for place, _ in timed])
        self._logarithms = np.array([logarithm for _, logarithm in timed])
        self._known: dict[_Sizes, float] = {}

    def of(self, shape: GemmShape) -> float:
        """The factor of a call of this shape; it was timed, or lies between nearest ones that were."""
        sizes = _sizes(shape)
        if sizes not in self._known:
            self._known[sizes] = self._interpolated(self._place(sizes))
        return self._known[sizes]

    def _place(self, sizes: _Sizes) -> tuple[float, ...]:
        """Where a call stands among others: a difference of 1 in one coordinate is a doubling."""
        *lengths, transposed = sizes
        partial = _PARTIAL if sizes[0] % self._vector_elements else 0.0
        return (*(math.log2(length) for length in lengths), partial, _TRANSPOSED if transposed else 0.0)

    def _interpolated(self, place: tuple[float, ...]) -> float:
        if not len(self._places):
            return 1.0
        squares = ((self._places - place) ** 2).sum(axis=1)
        nearest = np.argsort(squares, kind="stable")[:_NEAREST]
        if squares[nearest[0]] == 0.0:
            return math.exp(self._logarithms[nearest[0]])
        weights = 1.0 / squares[nearest]
        return math.exp(float(weights @ self._logarithms[nearest]) / float(weights.sum()))


def packed_shape(call: CallTime, element: str) -> GemmShape:
    """The call as it was timed."""
    strides = (1, call.n) if call.transposed else (call.k, 1)
    return GemmShape(element, element, call.m, call.n, call.k, call.batch, call.m, call.m, *strides)


def _sizes(shape: GemmShape) -> _Sizes:
    return shape.m, shape.columns, shape.k, shape.batch, shape.transposed
