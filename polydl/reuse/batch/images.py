"""What boxes of instances touch of each array, as boxes in coordinates in which they are ranges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np

from polydl.reuse.batch.intervals import Pieces
from polydl.reuse.batch.unions import union_sizes
from polydl.reuse.boxes import BoxNest, Subscript, value_range
from polydl.reuse.encoding import LARGEST, Integers

_MOST_RESIDUES = 64


@dataclass(frozen=True)
class _ArrayImages:
    """References by (statement, subscripts), and for each dimension the modulus by which its values are split.

    In a dimension with scattered subscripts, such as ``2 * i + k``, the values of one residue are a range.
    """

    references: tuple[tuple[int, tuple[Subscript, ...]], ...]
    moduli: tuple[int, ...]


class Images:
    """Counts elements or lines, whichever the subscripts are coordinates of."""

    def __init__(self, arrays: Sequence[_ArrayImages]) -> None:
        self._arrays = arrays

    def sizes(self, count: int, pieces: Sequence[Pieces]) -> list[Integers]:
        """Of each array, what the pieces of each statement touch in each of ``count`` intervals."""
        return [self._size(array, count, pieces) for array in self._arrays]

    @staticmethod
    def _size(array: _ArrayImages, count: int, pieces: Sequence[Pieces]) -> Integers:
        total = np.zeros(count, dtype=np.int64)
        for residues in product(*(range(modulus) for modulus in array.moduli)):
            owners, lows, highs = [], [], []
            for statement, subscripts in array.references:
                own = pieces[statement]
                low = np.empty((len(subscripts), len(own.span)), dtype=np.int64)
                high = np.empty_like(low)
                there = np.ones(len(own.span), dtype=bool)
                columns = zip(subscripts, array.moduli, residues, strict=True)
                for dimension, (subscript, modulus, residue) in enumerate(columns):
                    if modulus == 1:
                        low[dimension], high[dimension] = _range(subscript, own)
                    else:
                        least, most, some = _residue_range(subscript, modulus, residue, own)
                        low[dimension], high[dimension] = least, most
                        there &= some
                if there.all():
                    owners.append(own.span)
                    lows.append(low)
                    highs.append(high)
                else:
                    owners.append(own.span[there])
                    lows.append(low[:, there])
                    highs.append(high[:, there])
            if owners:
                low, high = np.concatenate(lows, axis=1), np.concatenate(highs, axis=1)
                total += union_sizes(count, np.concatenate(owners), low, high)
        return total


def images(nest: BoxNest, coordinates: Sequence[tuple[Subscript, ...]]) -> Images | None:
    """None where some array's values fall into no few ranges, or where sizes would not fit into 64 bits."""
    arrays = []
    for index, array in enumerate(nest.arrays):
        own = [(r.statement, c) for r, c in zip(nest.references, coordinates, strict=True) if r.array == index]
        moduli = []
        size = array.element_bytes
        for column in zip(*(subscripts for _, subscripts in own), strict=True):
            modulus = _modulus(column)
            if modulus is None:
                return None
            moduli.append(modulus)
            ranges = [value_range(s.terms, nest.boxes[owner]) for (owner, _), s in zip(own, column, strict=True)]
            low = min(s.constant + least for s, (least, _) in zip(column, ranges, strict=True))
            high = max(s.constant + most for s, (_, most) in zip(column, ranges, strict=True))
            if max(-low, high) >= LARGEST:
                return None
            size *= high - low + 1
        if prod(moduli) > _MOST_RESIDUES or size >= 1 << 48:
            return None
        arrays.append(_ArrayImages(tuple(own), tuple(moduli)))
    return Images(arrays)


def _modulus(column: Sequence[Subscript]) -> int | None:
    """1 for ranges; else one by which all coefficients are either 1 or the modulus itself, up to sign."""
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


def _residue_range(
    subscript: Subscript, modulus: int, residue: int, pieces: Pieces
) -> tuple[Integers, Integers, np.ndarray[tuple[int, ...], np.dtype[np.bool_]]]:
    """Quotients of the values that leave ``residue``, and whether there are any."""
    coarse = [(iterator, c // modulus) for iterator, c in subscript.terms if abs(c) == modulus]
    fine = [(iterator, c) for iterator, c in subscript.terms if abs(c) != modulus]
    low, high = _extremes(coarse, pieces)
    least, most = _extremes(fine, pieces)
    from_here, to_here = -(-(least + subscript.constant - residue) // modulus), (most + subscript.constant - residue)
    to_here = to_here // modulus
    return low + from_here, high + to_here, from_here <= to_here
