"""Schedules of one nest encoded as arrays, so that many can be analysed at once.

Every different time dimension (a position or a loop) gets a number, and a schedule is one row of numbers for each
statement. All rows are padded to one length with position 0, which changes no order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from polydl.ir.schedule import Loop, Schedule
from polydl.reuse.boxes import BoxNest

Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

# Bound on iterators, sizes and coefficients that keeps times, linear positions and their differences far below 2^63.
LARGEST = 1 << 40


class DimensionTable:
    """Numbers of time dimensions, and of their steps.

    A step is a time dimension without its name: (iterator, size, origin, direction). The step of a position is (-1, 1,
    position, 1).
    """

    def __init__(self) -> None:
        self.steps: list[tuple[int, int, int, int]] = []
        self.names: list[str] = []
        self._dimensions: dict[int | Loop, int] = {}
        self._step_numbers: dict[tuple[int, int, int, int], int] = {}
        self._name_numbers: dict[str, int] = {}
        self._columns: list[tuple[int, ...]] = []

    def number(self, dimension: int | Loop) -> int:
        """The number of a time dimension, a new one at its first occurrence."""
        known = self._dimensions.get(dimension)
        if known is None:
            known = self._dimensions[dimension] = len(self._columns)
            if isinstance(dimension, int):
                step, name, parallel = (-1, 1, dimension, 1), "", False
            else:
                step = (dimension.iterator, dimension.size, dimension.origin, dimension.direction)
                name, parallel = dimension.name, dimension.parallel
            if step not in self._step_numbers:
                self._step_numbers[step] = len(self.steps)
                self.steps.append(step)
            if name not in self._name_numbers:
                self._name_numbers[name] = len(self.names)
                self.names.append(name)
            large = max(map(abs, step)) >= LARGEST
            numbers = self._step_numbers[step], self._name_numbers[name], int(parallel), int(large)
            self._columns.append((*((-1, 1, 0, 1) if large else step), *numbers))
        return known

    def columns(self) -> Integers:
        """The fields of ``StatementTimes`` of each dimension, [field, number]."""
        return np.array(self._columns, dtype=np.int64).reshape(len(self._columns), 8).T


@dataclass(frozen=True)
class StatementTimes:
    """The time dimensions of one statement in many schedules. All arrays are [schedule, level]."""

    #: -1 for a position
    iterator: Integers
    size: Integers
    #: the position itself for a position
    origin: Integers
    direction: Integers
    #: number of the step in the ``DimensionTable``
    step: Integers
    #: number of the loop's name in the ``DimensionTable``
    name: Integers
    #: 1 for a parallel loop
    parallel: Integers
    #: 1 where numbers are too large for 64-bit arithmetic; the other fields then mean nothing
    large: Integers

    @property
    def levels(self) -> int:
        """The number of time dimensions."""
        return int(self.iterator.shape[1])

    def of(self, rows: Integers) -> StatementTimes:
        """The same of the schedules ``rows``."""
        return StatementTimes(*(getattr(self, name)[rows] for name in self.__dataclass_fields__))


@dataclass(frozen=True)
class EncodedSchedules:
    """Many schedules of one nest."""

    #: for each statement of the nest
    statements: tuple[StatementTimes, ...]
    #: ``divergence`` of two statements in each schedule
    common: dict[tuple[int, int], Integers]
    #: [schedule]: whether it is in the class of ``polydl.reuse.closed_form``
    aligned: Flags

    def of(self, rows: Integers) -> EncodedSchedules:
        """The same of the schedules ``rows``."""
        return EncodedSchedules(
            tuple(times.of(rows) for times in self.statements),
            {key: levels[rows] for key, levels in self.common.items()},
            self.aligned[rows],
        )


def encode(nest: BoxNest, schedules: Sequence[Schedule], table: DimensionTable) -> EncodedSchedules:
    """Encodes ``schedules``. Dimensions that are new get numbers in ``table``."""
    number = table.number
    rows: list[list[list[int]]] = []
    for schedule in schedules:
        dimensions = dict(schedule.statements)
        rows.append([[number(dimension) for dimension in dimensions[name]] for name in nest.statements])
    longest = max((len(row) for schedule_rows in rows for row in schedule_rows), default=0)
    zero = number(0)
    columns = table.columns()
    statements, lengths = [], []
    for statement in range(len(nest.statements)):
        lengths.append(np.array([len(schedule_rows[statement]) for schedule_rows in rows], dtype=np.int64))
        padded = [
            schedule_rows[statement] + [zero] * (longest - len(schedule_rows[statement])) for schedule_rows in rows
        ]
        statements.append(StatementTimes(*columns[:, np.array(padded, dtype=np.int64).reshape(len(rows), longest)]))
    aligned = np.ones(len(rows), dtype=bool)
    for times, box in zip(statements, nest.boxes, strict=True):
        aligned &= ~times.large.any(axis=1)
        for iterator, (low, high) in enumerate(box):
            if low < high:
                aligned &= ((times.iterator == iterator) & (times.size == 1)).any(axis=1)
    common = {}
    for first in range(len(statements)):
        for second in range(len(statements)):
            common[first, second] = _common(statements[first], statements[second])
            if first < second:
                aligned &= _aligned(statements[first], statements[second], common[first, second], nest, first, second)
                # Without different positions, instances of the two statements could have the same time.
                aligned &= common[first, second] < np.minimum(lengths[first], lengths[second])
    return EncodedSchedules(tuple(statements), common, aligned)


def _common(one: StatementTimes, other: StatementTimes) -> Integers:
    differ = (one.iterator < 0) & (other.iterator < 0) & (one.origin != other.origin)
    return np.where(differ.any(axis=1), differ.argmax(axis=1), one.levels).astype(np.int64)


def _aligned(
    one: StatementTimes, other: StatementTimes, common: Integers, nest: BoxNest, first: int, second: int
) -> Flags:
    """[schedule]: whether the common dimensions of two statements are the same loops, each over one iterator of either.

    ``first`` and ``second`` are the indices of the statements.
    """
    shared = np.arange(one.levels) < common[:, None]
    loops = shared & (one.iterator >= 0)
    alike = (one.size == other.size) & (one.origin == other.origin) & (one.direction == other.direction)
    good: Flags = (~shared | (((one.iterator >= 0) == (other.iterator >= 0)) & ((one.iterator < 0) | alike))).all(
        axis=1
    )
    # Each iterator has one partner, and no two have the same.
    for times, partners, count in (
        (one, other.iterator, len(nest.boxes[first])),
        (other, one.iterator, len(nest.boxes[second])),
    ):
        for iterator in range(count):
            used = loops & (times.iterator == iterator)
            least = np.where(used, partners, np.iinfo(np.int64).max).min(axis=1, initial=np.iinfo(np.int64).max)
            most = np.where(used, partners, -1).max(axis=1, initial=-1)
            good &= (most < 0) | (least == most)
    return good
