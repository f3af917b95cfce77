"""Layouts of ready nests: blocks of channels that fill vectors, and where pixels fill them better."""

from __future__ import annotations

from polydl.divisors import divisors
from polydl.workloads.nests import Convolution, Layout

# Floats of a vector, how long a block had better be, and how long it may be.
_VECTOR, _LONG_BLOCK, _LONGEST_BLOCK = 16, 64, 256
# What rows in one vector are worth, which meet only one column at a time, and how close to the best is good enough.
_SINGLE, _ENOUGH = 0.85, 0.97
# The part of their vectors that channels of the output fill at least, unless pixels are to fill them.
_FILLED = 0.95


def _filled(size: int) -> float:
    """The part of its vectors that a block fills."""
    return size / (-(-size // _VECTOR) * _VECTOR)


def usual_block(extent: int) -> int:
    """A divisor that fills its vectors about as well as any, and more than one of them: up to 64 the longest, else the
    shortest."""

    def worth(size: int) -> float:
        return _filled(size) * (_SINGLE if size <= _VECTOR else 1.0)

    sizes = [size for size in divisors(extent) if size <= _LONGEST_BLOCK]
    most = max(worth(size) for size in sizes)
    good = [size for size in sizes if worth(size) >= _ENOUGH * most]
    return max((size for size in good if size <= _LONG_BLOCK), default=good[0])


def fitting_layout(problem: Convolution) -> Layout:
    """``nchw`` for convolutions in steps of one whose few output channels leave much of their vectors empty.

    There pixels fill them, which follow each other along a row, and from row to row where the filter has one element.
    """
    if problem.depthwise or problem.stride > 1:
        return "blocked"
    channels = _filled(usual_block(problem.filters // problem.groups))
    whole = problem.kernel_height == problem.kernel_width == 1 and not problem.pad_width
    pixels = problem.output_width * (problem.output_height if whole else 1)
    return "nchw" if channels < _FILLED and _filled(pixels) > channels else "blocked"
