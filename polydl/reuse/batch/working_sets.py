"""Working sets of many schedules of one nest of boxes: ``polydl.reuse.closed_form`` as arrays over schedules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from polydl.ir.schedule import Schedule
from polydl.reuse.batch.dependences import Dependences, Points, first_of_equal_rows
from polydl.reuse.batch.images import Images, images
from polydl.reuse.batch.intervals import Spans, StatementIntervals
from polydl.reuse.batch.repetitions import without_repetitions
from polydl.reuse.boxes import BoxNest
from polydl.reuse.encoding import LARGEST, DimensionTable, EncodedSchedules, Flags, Integers, encode
from polydl.reuse.lines import line_coordinates


@dataclass(frozen=True)
class BatchWorkingSets:
    """One row per dependence, schedule by schedule, in the order in which ``working_sets`` lists them."""

    #: [schedule]: whether it is in the class; the others have no rows
    analysed: Flags
    #: index of the row's schedule
    schedule: Integers
    #: one bit for each of ``KINDS``
    kinds: Integers
    #: index of the array, as in ``BoxNest``
    array: Integers
    #: index of the statement, as in ``BoxNest``
    source: Integers
    target: Integers
    #: index into ``BatchReuse.loops``
    loop: Integers
    #: whether the dependence spans a parallel loop
    parallel: Flags
    #: whether the nearest target is also the farthest
    single: Flags
    minimum_elements: Integers
    maximum_elements: Integers
    minimum_bytes: Integers
    maximum_bytes: Integers


class BatchReuse:
    """Answers for one nest. Facts about the nest are kept from one batch of schedules to the next."""

    def __init__(self, nest: BoxNest, elements: Images, lines: Images | None, line_bytes: int | None) -> None:
        self._nest = nest
        self._elements = elements
        self._lines = lines
        self._line_bytes = line_bytes or 0
        self._element_bytes = [array.element_bytes for array in nest.arrays]
        self._table = DimensionTable()
        self._dependences = Dependences(nest, self._table)
        by_name = sorted(nest.statements)
        self._name_order = np.array([by_name.index(name) for name in nest.statements], dtype=np.int64)

    @property
    def loops(self) -> list[str]:
        """Names of loops, indexed by ``BatchWorkingSets.loop``."""
        return self._table.names

    def working_sets(self, schedules: Sequence[Schedule]) -> BatchWorkingSets:
        """The working sets of those schedules that are in the class (Algorithm 1)."""
        encoded = encode(self._nest, schedules, self._table)
        rows = np.nonzero(encoded.aligned)[0]
        within = encoded.of(rows)
        points, hard = self._dependences.points(within)
        if hard.any():
            rows = rows[~hard]
            within = encoded.of(rows)
            points, _ = self._dependences.points(within)
        points, packed = _merged(points, self._name_order)
        names = np.stack([times.name for times in within.statements])
        parallel = np.stack([times.parallel for times in within.statements]) > 0
        carrier = points.source, points.schedule, points.level
        spans_parallel = parallel[carrier]
        minimum, maximum = self._footprints(within, points, spans_parallel, packed)
        analysed = np.zeros(len(schedules), dtype=bool)
        analysed[rows] = True
        return BatchWorkingSets(
            analysed,
            rows[points.schedule],
            points.kinds,
            points.array,
            points.source,
            points.target,
            names[carrier],
            spans_parallel,
            spans_parallel | (packed.nearest == packed.farthest).all(axis=0),
            minimum[0],
            maximum[0],
            minimum[1],
            maximum[1],
        )

    def _footprints(
        self, schedules: EncodedSchedules, points: Points, parallel: Flags, packed: _Packed
    ) -> tuple[tuple[Integers, Integers], tuple[Integers, Integers]]:
        """(elements, bytes) touched from each source to its nearest target, and to its farthest target."""
        count = len(points.level)
        if not count:
            none = np.zeros(0, dtype=np.int64)
            return (none, none), (none, none)
        # Dependences through several arrays have the same representatives, so that intervals occur more than once.
        # What lies inside of one nest is the same in all schedules that run that nest alike.
        alike = _first_alike(schedules)[points.schedule, np.where(points.level > 0, points.source, -1)]
        schedule = np.concatenate([alike, alike])
        level = np.concatenate([points.level, points.level])
        prefix = np.concatenate([parallel, parallel])
        first = np.concatenate([points.first, points.first])
        last = np.where(prefix[:, None], first, np.concatenate([points.nearest, points.farthest]))
        words = np.concatenate([packed.first, packed.first], axis=1)
        ends = np.where(prefix, words, np.concatenate([packed.nearest, packed.farthest], axis=1))
        keys = np.stack([schedule, prefix, level * prefix, *words, *ends])
        order = np.lexsort(keys[::-1])
        keys = keys[:, order]
        new = np.concatenate([[True], (keys[:, 1:] != keys[:, :-1]).any(axis=0)])
        number = np.empty(2 * count, dtype=np.int64)
        number[order] = np.cumsum(new) - 1
        kept = order[new]
        spans = Spans(schedule[kept], level[kept], prefix[kept], first[kept], last[kept])
        pieces = [
            StatementIntervals(times, box).pieces(spans)
            for times, box in zip(schedules.statements, self._nest.boxes, strict=True)
        ]
        different, pieces, of = without_repetitions(len(kept), pieces)
        touched = self._elements.sizes(different, pieces)
        elements = np.sum(touched, axis=0)[of]
        if self._lines is None:
            size = np.sum(
                [n * element_bytes for n, element_bytes in zip(touched, self._element_bytes, strict=True)], axis=0
            )[of]
        else:
            size = (np.sum(self._lines.sizes(different, pieces), axis=0) * self._line_bytes)[of]
        nearest, farthest = number[:count], number[count:]
        return (elements[nearest], size[nearest]), (elements[farthest], size[farthest])


@dataclass(frozen=True)
class _Packed:
    """Times packed into few words, which compare like the times. All arrays are [word, row]."""

    #: of the source
    first: Integers
    nearest: Integers
    farthest: Integers


@lru_cache(maxsize=16)
def batch_reuse(nest: BoxNest, line_bytes: int | None) -> BatchReuse | None:
    """The analysis of a nest; None where 64-bit ranges can't count its elements or lines."""
    if any(max(-low, high) >= LARGEST for box in nest.boxes for low, high in box) or not nest.statements:
        return None
    elements = images(nest, [reference.subscripts for reference in nest.references])
    lines = None
    if line_bytes is not None:
        coordinates = line_coordinates(nest, line_bytes)
        lines = None if coordinates is None else images(nest, coordinates)
        if lines is None:
            return None
    return None if elements is None else BatchReuse(nest, elements, lines, line_bytes)


def _first_alike(schedules: EncodedSchedules) -> Integers:
    """[schedule, statement]: the first schedule that runs alike all statements at the statement's outermost position.

    In the last column are the schedules themselves.
    """
    themselves = np.arange(len(schedules.aligned))
    statements = schedules.statements
    columns = []
    for times in statements:
        position = times.origin[:1, 0] if times.levels else np.zeros(0, dtype=np.int64)
        beside = [
            other.step
            for other in statements
            if not other.levels or (other.iterator[:, 0] >= 0).any() or (other.origin[:, 0] == position).any()
        ]
        alone = times.levels and (times.iterator[:, 0] < 0).all() and (times.origin[:, 0] == position).all()
        first, number = first_of_equal_rows(np.concatenate(beside, axis=1)) if alone else (themselves, themselves)
        columns.append(first[number])
    return np.stack([*columns, themselves], axis=1)


def _merged(points: Points, name_order: Integers) -> tuple[Points, _Packed]:
    """The representatives without duplicates (rows that differ in kinds alone are one), in the order of results."""
    first, nearest, farthest = _pack(points.first, points.nearest, points.farthest)
    if not len(points.level):
        return points, _Packed(first, nearest, farthest)
    source = name_order[points.source]
    order = np.lexsort(
        (
            points.target,
            source,
            *farthest[::-1],
            *nearest[::-1],
            *first[::-1],
            points.level,
            points.array,
            points.schedule,
        )
    )
    keys = np.stack([points.schedule, points.array, points.level, *first, *nearest, *farthest, source, points.target])
    keys = keys[:, order]
    new = np.nonzero(np.concatenate([[True], (keys[:, 1:] != keys[:, :-1]).any(axis=0)]))[0]
    kinds = np.bitwise_or.reduceat(points.kinds[order], new)
    kept = order[new]
    merged = Points(*(column[kept] for column in vars(points).values()))
    merged = Points(**{**vars(merged), "kinds": kinds})
    return merged, _Packed(first[:, kept], nearest[:, kept], farthest[:, kept])


def _pack(*times: Integers) -> tuple[Integers, ...]:
    """Times, [row, level], packed into few words, [word, row], of which the first is the most significant."""
    low = np.min([column.min(axis=0, initial=0) for column in times], axis=0)
    extent = np.max([column.max(axis=0, initial=0) for column in times], axis=0) - low + 1
    words: list[list[Integers]] = [[] for _ in times]
    room = 0
    for level in range(len(extent)):
        wide = int(extent[level])
        fresh = room < wide
        room = (1 << 62) // wide if fresh else room // wide
        for column, packed in zip(times, words, strict=True):
            digit = column[:, level] - low[level]
            if fresh:
                packed.append(digit)
            else:
                packed[-1] = packed[-1] * wide + digit
    return tuple(np.stack(packed) if packed else np.zeros((0, len(times[0])), dtype=np.int64) for packed in words)
