"""The elements or lines that boxes of instances touch in each array, as boxes of coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from math import prod

import numpy as np

from polydl.reuse.batch.intervals import Pieces
from polydl.reuse.batch.unions import union_sizes
from polydl.reuse.boxes import BoxNest, Subscript, value_range
from polydl.reuse.encoding import LARGEST, Integers

# Most combinations of residues that one array is split into.
_MOST_RESIDUES = 64


@dataclass(frozen=True)
class _ArrayImages:
    """The references to one array."""

    #: (statement, subscripts) of each
    references: tuple[tuple[int, tuple[Subscript, ...]], ...]
    #: for each dimension: the values with one residue modulo this are a range. It is 1 where all values are a range,
    #: and 2 for scattered subscripts such as ``2 * i + k``.
    moduli: tuple[int, ...]


class Images:
    """Counts the elements or lines of a nest's arrays that instances touch."""

    def __init__(self, arrays: Sequence[_ArrayImages]) -> None:
        self._arrays = arrays

    def sizes(self, count: int, pieces: Sequence[Pieces]) -> list[Integers]:
        """[array][interval]: elements or lines touched in each of ``count`` intervals; ``pieces`` are by statement."""
        return [self._size(array, count, pieces) for array in self._arrays]

    @staticmethod
    def _size(array: _ArrayImages, count: int, pieces: Sequence[Pieces]) -> Integers:
        total = np.zeros(count, dtype=np.int64)
        columns_of = zip(*(subscripts for _, subscripts in array.references), strict=True)
        classes = [
            _residue_classes(
                modulus, [(s, pieces[owner]) for (owner, _), s in zip(array.references, column, strict=True)]
            )
            for modulus, column in zip(array.moduli, columns_of, strict=True)
        ]
        for chosen in product(*classes):
            residues = [residue for residue, _ in chosen]
            owners, lows, highs = [], [], []
            for statement, subscripts in array.references:
                boxes = pieces[statement]
                low = np.empty((len(subscripts), len(boxes.span)), dtype=np.int64)
                high = np.empty_like(low)
                there = np.ones(len(boxes.span), dtype=bool)
                columns = zip(subscripts, array.moduli, residues, strict=True)
                for dimension, (subscript, modulus, residue) in enumerate(columns):
                    if modulus == 1:
                        low[dimension], high[dimension] = _range(subscript, boxes)
                    else:
                        least, most, some = _residue_range(subscript, modulus, residue, boxes)
                        low[dimension], high[dimension] = least, most
                        there &= some
                if there.all():
                    owners.append(boxes.span)
                    lows.append(low)
                    highs.append(high)
                else:
                    owners.append(boxes.span[there])
                    lows.append(low[:, there])
                    highs.append(high[:, there])
            if owners:
                low, high = np.concatenate(lows, axis=1), np.concatenate(highs, axis=1)
                alike = prod(number for _, number in chosen)
                total += alike * union_sizes(count, np.concatenate(owners), low, high)
        return total


def images(nest: BoxNest, coordinates: Sequence[tuple[Subscript, ...]]) -> Images | None:
    """The images of a nest's references in the ``coordinates`` given for each.

    None where the values of an array don't form a few ranges, and where sizes could overflow 64 bits.
    """
    arrays = []
    for index, array in enumerate(nest.arrays):
        references = [(r.statement, c) for r, c in zip(nest.references, coordinates, strict=True) if r.array == index]
        moduli = []
        size = array.element_bytes
        for column in zip(*(subscripts for _, subscripts in references), strict=True):
            modulus = _modulus(column)
            if modulus is None:
                return None
            moduli.append(modulus)
            ranges = [value_range(s.terms, nest.boxes[owner]) for (owner, _), s in zip(references, column, strict=True)]
            low = min(s.constant + least for s, (least, _) in zip(column, ranges, strict=True))
            high = max(s.constant + most for s, (_, most) in zip(column, ranges, strict=True))
            if max(-low, high) >= LARGEST:
                return None
            size *= high - low + 1
        if prod(moduli) > _MOST_RESIDUES or size >= 1 << 48:
            return None
        arrays.append(_ArrayImages(tuple(references), tuple(moduli)))
    return Images(arrays)


def _modulus(column: Sequence[Subscript]) -> int | None:
    """1 where values are ranges; else the modulus, if all coefficients are 1 or the modulus up to sign; else None."""
    if not any(subscript.scattered for subscript in column):
        return 1
    coefficients = {abs(c) for subscript in column for _, c in subscript.terms}
    modulus = max(coefficients)
    return modulus if coefficients <= {1, modulus} and all(s.divisor == 1 for s in column) else None


def _extremes(terms: Sequence[tuple[int, int]], pieces: Pieces) -> tuple[Integers, Integers]:
    low = high = np.zeros(len(pieces.span), dtype=np.int64)
    for iterator, coefficient in terms:
        first, last = pieces.low[iterator], pieces.high[iterator]
        if coefficient < 0:
            first, last = last, first
        low, high = low + coefficient * first, high + coefficient * last
    return low, high


def _range(subscript: Subscript, pieces: Pieces) -> tuple[Integers, Integers]:
    low, high = _extremes(subscript.terms, pieces)
    low, high = low + subscript.constant, high + subscript.constant
    return (low, high) if subscript.divisor == 1 else (low // subscript.divisor, high // subscript.divisor)


def _residue_classes(modulus: int, column: Sequence[tuple[Subscript, Pieces]]) -> list[tuple[int, int]]:
    """Residues that stand for all, each with the number of those for which every piece has the same quotients.

    Quotients change where a residue passes that of the first or of the last value of a piece.
    """
    if modulus == 1:
        return [(0, 1)]
    starts = {0}
    for subscript, pieces in column:
        least, most = _extremes(_fine(subscript, modulus), pieces)
        starts.update(np.unique((least + subscript.constant) % modulus).tolist())
        starts.update(np.unique((most + subscript.constant) % modulus + 1).tolist())
    ordered = sorted(starts - {modulus})
    return [(start, end - start) for start, end in pairwise([*ordered, modulus])]


def _fine(subscript: Subscript, modulus: int) -> list[tuple[int, int]]:
    """The terms of a subscript that determine its residue."""
    return [(iterator, c) for iterator, c in subscript.terms if abs(c) != modulus]


def _residue_range(
    subscript: Subscript, modulus: int, residue: int, pieces: Pieces
) -> tuple[Integers, Integers, np.ndarray[tuple[int, ...], np.dtype[np.bool_]]]:
    """The range of quotients of the values with that residue, and whether there are any such values, for each piece."""
    coarse = [(iterator, c // modulus) for iterator, c in subscript.terms if abs(c) == modulus]
    low, high = _extremes(coarse, pieces)
    least, most = _extremes(_fine(subscript, modulus), pieces)
    from_here, to_here = -(-(least + subscript.constant - residue) // modulus), (most + subscript.constant - residue)
    to_here = to_here // modulus
    return low + from_here, high + to_here, from_here <= to_here
