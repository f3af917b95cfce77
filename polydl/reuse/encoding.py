"""Schedules of one nest as arrays, so that many can be analysed in one go.

Every different time dimension (a position or a loop) gets a number. A schedule is then one row of numbers for each
statement, and what the dimensions are is looked up by number. Rows are filled up to one length with position 0, in
which no two instances differ.
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

# Times, positions in arrays and their differences stay far below 2^63 when what they are made of is below this.
LARGEST = 1 << 40


class DimensionTable:
    """Numbers for time dimensions, and for the step that each makes whatever its loop is called.

    A step is (iterator, size, origin, direction); a position's iterator is -1, and its origin the position.
    """

    def __init__(self) -> None:
        self.steps: list[tuple[int, int, int, int]] = []
        self.names: list[str] = []
        self._dimensions: dict[int | Loop, int] = {}
        self._step_numbers: dict[tuple[int, int, int, int], int] = {}
        self._name_numbers: dict[str, int] = {}
        self._columns: list[tuple[int, ...]] = []

    def number(self, dimension: int | Loop) -> int:
        found = self._dimensions.get(dimension)
        if found is None:
            found = self._dimensions[dimension] = len(self._columns)
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
        return found

    def columns(self) -> Integers:
        """One row for each field of ``StatementTimes``, by number."""
        return np.array(self._columns, dtype=np.int64).reshape(len(self._columns), 8).T


@dataclass(frozen=True)
class StatementTimes:
    """The time dimensions of one statement, in arrays of [schedule, level].

    ``large`` are those with numbers that don't fit this arithmetic; their other fields mean nothing.
    """

    iterator: Integers
    size: Integers
    origin: Integers
    direction: Integers
    step: Integers
    name: Integers
    parallel: Integers
    large: Integers

    @property
    def levels(self) -> int:
        return int(self.iterator.shape[1])

    def of(self, rows: Integers) -> StatementTimes:
        return StatementTimes(*(getattr(self, name)[rows] for name in self.__dataclass_fields__))


@dataclass(frozen=True)
class EncodedSchedules:
    """``common[s, t]`` counts the leading dimensions that two statements share, as ``divergence`` does."""

    statements: tuple[StatementTimes, ...]
    common: dict[tuple[int, int], Integers]
    aligned: Flags

    def of(self, rows: Integers) -> EncodedSchedules:
        return EncodedSchedules(
            tuple(times.of(rows) for times in self.statements),
            {key: levels[rows] for key, levels in self.common.items()},
            self.aligned[rows],
        )


def encode(nest: BoxNest, schedules: Sequence[Schedule], table: DimensionTable) -> EncodedSchedules:
    """``aligned`` says which schedules are in the class that ``reuse_closed_form`` describes."""
    number = table.number
    rows: list[list[list[int]]] = []
    for schedule in schedules:
        dimensions = dict(schedule.statements)
        rows.append([[number(dimension) for dimension in dimensions[name]] for name in nest.statements])
    longest = max((len(row) for each in rows for row in each), default=0)
    zero = number(0)
    columns = table.columns()
    statements, lengths = [], []
    for place in range(len(nest.statements)):
        lengths.append(np.array([len(each[place]) for each in rows], dtype=np.int64))
        padded = [each[place] + [zero] * (longest - len(each[place])) for each in rows]
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
                # Without a position that tells them apart, two instances run at the same time.
                aligned &= common[first, second] < np.minimum(lengths[first], lengths[second])
    return EncodedSchedules(tuple(statements), common, aligned)


def _common(own: StatementTimes, other: StatementTimes) -> Integers:
    differ = (own.iterator < 0) & (other.iterator < 0) & (own.origin != other.origin)
    return np.where(differ.any(axis=1), differ.argmax(axis=1), own.levels).astype(np.int64)


def _aligned(
    own: StatementTimes, other: StatementTimes, common: Integers, nest: BoxNest, first: int, second: int
) -> Flags:
    """Where the common dimensions are the same loops, each over one iterator of either statement."""
    shared = np.arange(own.levels) < common[:, None]
    loops = shared & (own.iterator >= 0)
    alike = (own.size == other.size) & (own.origin == other.origin) & (own.direction == other.direction)
    good: Flags = (~shared | (((own.iterator >= 0) == (other.iterator >= 0)) & ((own.iterator < 0) | alike))).all(
        axis=1
    )
    # Each iterator has one partner, and no two have the same.
    for times, partners, count in (
        (own, other.iterator, len(nest.boxes[first])),
        (other, own.iterator, len(nest.boxes[second])),
    ):
        for iterator in range(count):
            used = loops & (times.iterator == iterator)
            least = np.where(used, partners, np.iinfo(np.int64).max).min(axis=1, initial=np.iinfo(np.int64).max)
            most = np.where(used, partners, -1).max(axis=1, initial=-1)
            good &= (most < 0) | (least == most)
    return good
