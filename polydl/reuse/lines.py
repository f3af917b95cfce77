"""Coordinates of cache lines, with which footprints count lines instead of elements.

Every array is assumed to begin at the start of a line. An outer dimension whose stride is a whole number of lines keeps
its coordinate, since no two of its indices share a line. The inner dimensions have one coordinate together: the linear
position, divided by the elements per line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Protocol

import numpy as np

from polydl.errors import OptionError
from polydl.ir.affine import Box
from polydl.ir.scop import Scop
from polydl.reuse.boxes import BoxNest, Subscript, value_range

# Lines at irregular distances are held as one bit per line.
MOST_LINES = 1 << 22


class _Sized(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def element_bytes(self) -> int: ...


def check_line_bytes(scop: Scop, line_bytes: int | None) -> None:
    """Raises OptionError unless a line holds a whole number of elements of every array."""
    if line_bytes is not None:
        for array in scop.arrays:
            elements_per_line(array, line_bytes)


def elements_per_line(array: _Sized, line_bytes: int) -> int:
    """The number of elements in a line. Raises OptionError unless it is a whole number."""
    if line_bytes < 1 or line_bytes % array.element_bytes:
        raise OptionError(
            f"a cache line of {line_bytes} bytes does not hold a whole number of `{array.name}`'s elements, "
            f"of {array.element_bytes} bytes each",
            remedy="give the machine's line size, such as 64",
        )
    return line_bytes // array.element_bytes


def first_of_aligned(units: Sequence[int], per_line: int) -> int:
    """The number of outer dimensions whose strides are whole numbers of lines.

    ``units`` are the strides in elements, outermost first. The innermost dimension never counts. Strides of digits need
    not be multiples of one another: a row of 3 pairs may begin at a line and the next row inside of one.
    """
    return next((dimension for dimension, unit in enumerate(units[:-1]) if unit % per_line), max(len(units) - 1, 0))


@lru_cache(maxsize=64)
def line_coordinates(nest: BoxNest, line_bytes: int) -> tuple[tuple[Subscript, ...], ...] | None:
    """The coordinates of the cache line that each reference touches; None where a bit per line would be too many.

    A dimension walked in steps of at most a line leaves no line out: its lines form a range.
    """
    coordinates = {number: reference.subscripts for number, reference in enumerate(nest.references)}
    for index, array in enumerate(nest.arrays):
        per_line = elements_per_line(array, line_bytes)
        if per_line == 1 or not array.units:
            continue
        first = first_of_aligned(array.units, per_line)
        uses = [number for number, reference in enumerate(nest.references) if reference.array == index]
        linear = [_linear(nest.references[number].digits[first:], array.units[first:], per_line) for number in uses]
        if any(abs(c) > per_line for subscript in linear for _, c in subscript.terms):
            if any(
                _greatest(subscript, nest.boxes[nest.references[number].statement]) // per_line >= MOST_LINES
                for number, subscript in zip(uses, linear, strict=True)
            ):
                return None
            linear = [replace(subscript, scattered=True) for subscript in linear]
        for number, subscript in zip(uses, linear, strict=True):
            coordinates[number] = (*nest.references[number].subscripts[:first], subscript)
    return tuple(coordinates.values())


def _linear(digits: Sequence[Subscript], units: Sequence[int], per_line: int) -> Subscript:
    parts = list(zip(units, digits, strict=True))
    terms = tuple((iterator, unit * c) for unit, digit in parts for iterator, c in digit.terms)
    return Subscript(terms, sum(unit * digit.constant for unit, digit in parts), divisor=per_line)


def _greatest(subscript: Subscript, box: Box) -> int:
    return subscript.constant + value_range(subscript.terms, box)[1]


@lru_cache(maxsize=1 << 12)
def line_mask(constant: int, terms: tuple[tuple[int, int, int], ...], per_line: int) -> int:
    """The lines of the positions ``constant + sum(coefficient * iterator)``, as bits.

    A term is (coefficient, first, last) of one iterator. Terms with coefficients of at most a line form runs of lines
    without gaps; the other terms give the starts of these runs.
    """
    low, length = constant, 0
    starts = np.zeros(1, dtype=np.int64)
    for coefficient, first, last in sorted(terms, key=lambda term: abs(term[0])):
        low += min(coefficient * first, coefficient * last)
        step = abs(coefficient)
        if step <= per_line:
            length += step * (last - first)
        else:
            starts = (starts[:, None] + step * np.arange(last - first + 1)).ravel()
    begin, end = (starts + low) // per_line, (starts + low + length) // per_line
    change = np.zeros(int(end.max()) + 2, dtype=np.int64)
    np.add.at(change, begin, 1)
    np.add.at(change, end + 1, -1)
    return int.from_bytes(np.packbits(np.cumsum(change) > 0, bitorder="little").tobytes(), "little")
