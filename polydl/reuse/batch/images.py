"""The elements or lines that boxes of instances touch in each array, as boxes of coordinates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
# Boxes and intervals that wait to be counted with those of other arrays; more only means more memory.
_MOST_WAITING = 1 << 16


@dataclass(frozen=True)
class _ArrayImages:
    """The references to one array."""

    #: (statement, subscripts) of each
    references: tuple[tuple[int, tuple[Subscript, ...]], ...]
    #: for each dimension: coefficients above 1 of scattered subscripts, each a multiple of the one before; none where
    #: all values are a range. Those with one residue modulo the last, such as 2 in ``2 * i + k``, always are.
    scales: tuple[tuple[int, ...], ...]


class Images:
    """Counts the elements or lines of a nest's arrays that instances touch."""

    def __init__(self, arrays: Sequence[_ArrayImages]) -> None:
        self._arrays = arrays

    def sizes(self, count: int, pieces: Sequence[Pieces]) -> list[Integers]:
        """[array][interval]: elements or lines touched in each of ``count`` intervals; ``pieces`` are by statement."""
        totals = [np.zeros(count, dtype=np.int64) for _ in self._arrays]
        waiting: dict[int, _Waiting] = {}
        for array, total in zip(self._arrays, totals, strict=True):
            together = waiting.setdefault(len(array.scales), _Waiting(count))
            for alike, *boxes in _boxes(array, pieces):
                together.add(total, alike, *boxes)
        for each in waiting.values():
            each.count()
        return totals


class _Waiting:
    """Unions of boxes in equally many dimensions, of any arrays, which are counted together.

    To count a few takes hardly less than to count thousands.
    """

    def __init__(self, intervals: int) -> None:
        self._intervals = intervals
        self._totals: list[tuple[Integers, int]] = []
        self._boxes: list[tuple[Integers, Integers, Integers]] = []
        self._held = 0

    def add(self, total: Integers, alike: int, owners: Integers, low: Integers, high: Integers) -> None:
        """Once they are counted, ``total`` has grown by ``alike`` times the size of each interval's boxes."""
        self._boxes.append((owners + len(self._totals) * self._intervals, low, high))
        self._totals.append((total, alike))
        self._held += len(owners) + self._intervals
        if self._held >= _MOST_WAITING:
            self.count()

    def count(self) -> None:
        """Count what waits."""
        if self._boxes:
            owners, lows, highs = zip(*self._boxes, strict=True)
            count = len(self._totals) * self._intervals
            low, high = np.concatenate(lows, axis=1), np.concatenate(highs, axis=1)
            sizes = union_sizes(count, np.concatenate(owners), low, high)
            for (total, alike), size in zip(self._totals, sizes.reshape(-1, self._intervals), strict=True):
                total += alike * size
        self._totals, self._boxes, self._held = [], [], 0


def _boxes(array: _ArrayImages, pieces: Sequence[Pieces]) -> Iterator[tuple[int, Integers, Integers, Integers]]:
    """What is touched of an array as unions of boxes, as (how many alike, interval of each box, low, high)."""
    columns_of = zip(*(subscripts for _, subscripts in array.references), strict=True)
    classes = [
        _residue_classes(scales, [(s, pieces[owner]) for (owner, _), s in zip(array.references, column, strict=True)])
        for scales, column in zip(array.scales, columns_of, strict=True)
    ]
    for chosen in product(*classes):
        residues = [residue for residue, _ in chosen]
        owners, lows, highs = [], [], []
        for statement, subscripts in array.references:
            boxes = pieces[statement]
            low = np.empty((len(subscripts), len(boxes.span)), dtype=np.int64)
            high = np.empty_like(low)
            there = np.ones(len(boxes.span), dtype=bool)
            columns = zip(subscripts, array.scales, residues, strict=True)
            for dimension, (subscript, scales, digits) in enumerate(columns):
                if not scales:
                    low[dimension], high[dimension] = _range(subscript, boxes)
                else:
                    low[dimension], high[dimension], some = _quotients(subscript, scales, digits, boxes)
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
            yield prod(number for _, number in chosen), np.concatenate(owners), low, high


def images(nest: BoxNest, coordinates: Sequence[tuple[Subscript, ...]]) -> Images | None:
    """The images of a nest's references in the ``coordinates`` given for each.

    None where the values of an array don't form a few ranges, and where sizes could overflow 64 bits.
    """
    arrays = []
    for index, array in enumerate(nest.arrays):
        references = [(r.statement, c) for r, c in zip(nest.references, coordinates, strict=True) if r.array == index]
        scales = []
        size = array.element_bytes
        for column in zip(*(subscripts for _, subscripts in references), strict=True):
            chain = _scales(column)
            if chain is None:
                return None
            scales.append(chain)
            ranges = [value_range(s.terms, nest.boxes[owner]) for (owner, _), s in zip(references, column, strict=True)]
            low = min(s.constant + least for s, (least, _) in zip(column, ranges, strict=True))
            high = max(s.constant + most for s, (_, most) in zip(column, ranges, strict=True))
            if max(-low, high) >= LARGEST:
                return None
            size *= high - low + 1
        if prod(chain[-1] for chain in scales if chain) > _MOST_RESIDUES or size >= 1 << 48:
            return None
        arrays.append(_ArrayImages(tuple(references), tuple(scales)))
    return Images(arrays)


def _scales(column: Sequence[Subscript]) -> tuple[int, ...] | None:
    """``_ArrayImages.scales`` of a dimension; None if one of the coefficients is no multiple of the one before."""
    if not any(subscript.scattered for subscript in column):
        return ()
    scales = sorted({abs(c) for subscript in column for _, c in subscript.terms} - {1})
    multiples = all(coarse % fine == 0 for fine, coarse in pairwise(scales))
    return tuple(scales) if multiples and all(s.divisor == 1 for s in column) else None


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


def _residue_classes(
    scales: tuple[int, ...], column: Sequence[tuple[Subscript, Pieces]]
) -> list[tuple[tuple[int, ...], int]]:
    """Residues that stand for all, each with the number of those for which every piece has the same quotients.

    A residue is written in digits, the finest first: the values from one scale to the next.
    """
    return _digit_classes(scales, 1, column, [_begin(subscript, pieces) for subscript, pieces in column])


def _digit_classes(
    scales: tuple[int, ...],
    scale: int,
    column: Sequence[tuple[Subscript, Pieces]],
    ranges: Sequence[tuple[Integers, Integers]],
) -> list[tuple[tuple[int, ...], int]]:
    """``_residue_classes`` of what is left above ``scale``, of which the pieces' quotients are in ``ranges``.

    Quotients change where a digit passes that of the first or of the last value of a piece.
    """
    if not scales:
        return [((), 1)]
    ratio = scales[0] // scale
    starts = {0}
    for low, high in ranges:
        starts.update(np.unique(low % ratio).tolist())
        starts.update((np.unique(high % ratio) + 1).tolist())
    classes = []
    for digit, end in pairwise([*sorted(starts - {ratio}), ratio]):
        finer = [
            _coarser(subscript, pieces, scales[0], _divided(low, high, ratio, digit))
            for (subscript, pieces), (low, high) in zip(column, ranges, strict=True)
        ]
        further = _digit_classes(scales[1:], scales[0], column, finer)
        classes += [((digit, *digits), (end - digit) * alike) for digits, alike in further]
    return classes


def _quotients(
    subscript: Subscript, scales: tuple[int, ...], digits: tuple[int, ...], pieces: Pieces
) -> tuple[Integers, Integers, np.ndarray[tuple[int, ...], np.dtype[np.bool_]]]:
    """The range of quotients of the values with those digits, and whether there are any such values, for each piece.

    Of values with one digit, those of all finer terms are a range, and their quotients are, too; the coarser term adds
    another range.
    """
    low, high = _begin(subscript, pieces)
    there = np.ones(len(pieces.span), dtype=bool)
    fine = 1
    for scale, digit in zip(scales, digits, strict=True):
        low, high = _divided(low, high, scale // fine, digit)
        there &= low <= high
        low, high = _coarser(subscript, pieces, scale, (low, high))
        fine = scale
    return low, high, there


def _begin(subscript: Subscript, pieces: Pieces) -> tuple[Integers, Integers]:
    """The range of the terms with coefficient 1 and of the constant, for each piece."""
    low, high = _extremes(_terms(subscript, 1), pieces)
    return low + subscript.constant, high + subscript.constant


def _divided(low: Integers, high: Integers, ratio: int, digit: int) -> tuple[Integers, Integers]:
    """The quotients by ``ratio`` of the values with remainder ``digit``; ``low`` is the larger where there are none."""
    return -(-(low - digit) // ratio), (high - digit) // ratio


def _coarser(
    subscript: Subscript, pieces: Pieces, scale: int, quotients: tuple[Integers, Integers]
) -> tuple[Integers, Integers]:
    """The quotients by ``scale`` with the terms of that coefficient."""
    low, high = _extremes(_terms(subscript, scale), pieces)
    return quotients[0] + low, quotients[1] + high


def _terms(subscript: Subscript, scale: int) -> list[tuple[int, int]]:
    """The terms with a coefficient, over that coefficient."""
    return [(iterator, c // scale) for iterator, c in subscript.terms if abs(c) == scale]
