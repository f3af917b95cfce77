"""Representatives of all dependences, for many schedules of one nest.

A schedule determines the order of the steps of each group of coupled iterators, and nothing else about a pair of
references matters. Few orders occur, however many schedules there are. Each order is searched once
(``polydl.reuse.groups``) for every number of common steps, and schedules look their representatives up.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from polydl.reuse.batch.single_iterators import Dimension, single_iterator_points
from polydl.reuse.boxes import BoxNest
from polydl.reuse.closed_form import Pair, reference_pair
from polydl.reuse.encoding import DimensionTable, EncodedSchedules, Flags, Integers, StatementTimes
from polydl.reuse.groups import (
    Bounds,
    CoupledDimension,
    CoupledIterators,
    GroupTable,
    Linear,
    SearchLimitError,
    group_table,
)
from polydl.reuse.references import KINDS, Couples, pair_kinds

# Who runs in a step: both, the source alone, the target alone.
_SHARED, _SOURCE, _TARGET = range(3)
AnyTable = TypeVar("AnyTable", Integers, Flags)
# Codes of a group's steps, outermost first: 1 + 3 * (number of the step) + (who runs in it).
Order = tuple[int, ...]


@dataclass(frozen=True)
class Points:
    """Representatives, one per row. Arrays, statements and schedules are indices; times are [row, level]."""

    schedule: Integers
    #: time dimension that carries the dependence
    level: Integers
    array: Integers
    #: statement of the source
    source: Integers
    #: statement of the target
    target: Integers
    #: one bit for each of ``KINDS``
    kinds: Integers
    #: time of the earliest source
    first: Integers
    #: time of its first target
    nearest: Integers
    #: time of its last target
    farthest: Integers


@dataclass(frozen=True)
class _GroupKey:
    """A group of a pair of references, without a schedule. Fields are those of ``Pair``, for one group."""

    sources: tuple[int, ...]
    targets: tuple[int, ...]
    source_bounds: tuple[Bounds, ...]
    target_bounds: tuple[Bounds, ...]
    equations: tuple[Linear, ...]
    couples: Couples


@dataclass(frozen=True)
class _Orders:
    """The orders of a group's steps in all schedules."""

    #: the different orders
    unique: list[Order]
    #: [schedule]: index into ``unique``
    of_schedule: Integers
    #: [schedule, level]: number of shared steps before the level
    passed: Integers
    #: [schedule, level]: 1 where the level is a shared step of the group
    owned: Integers


@dataclass(frozen=True)
class _LookedUp:
    """The answers of one group for all schedules."""

    key: _GroupKey
    #: as in ``_Answers``
    points: Integers
    #: [schedule]: index of its order in ``points``
    row: Integers
    orders: _Orders
    #: [schedule, level]: whether the group has a representative when that level carries the dependence
    feasible: Flags


class _Answers:
    """The representatives of one group of iterators, for all orders so far.

    ``feasible`` is [order, common steps, strict]: whether there is a representative. ``points`` has one dimension more,
    for the group's iterators of the source, of the nearest target and of the farthest target. ``hard`` is [order]:
    whether the search exceeded its limit.
    """

    def __init__(self, key: _GroupKey, steps: list[tuple[int, int, int, int]]) -> None:
        self._key = key
        self._sources = {iterator: at for at, iterator in enumerate(key.sources)}
        self._targets = {iterator: at for at, iterator in enumerate(key.targets)}
        self._partners = dict(key.couples)
        self._steps = steps
        self._rows: dict[Order, int] = {}
        width = len(self._sources) + 2 * len(self._targets)
        self.feasible = np.zeros((0, 1, 2), dtype=bool)
        self.points = np.zeros((0, 1, 2, width), dtype=np.int64)
        self.hard = np.zeros(0, dtype=bool)

    def rows(self, orders: list[Order], most: int) -> Integers:
        """The index of each order in ``feasible`` and ``points``; orders have at most ``most`` shared steps."""
        new = [order for order in orders if order not in self._rows]
        for order in new:
            self._rows[order] = len(self._rows)
        known = len(self.feasible)
        longer = max(most + 1 - self.feasible.shape[1], 0)
        if new or longer:
            self.feasible = _grown(self.feasible, len(new), longer)
            self.points = _grown(self.points, len(new), longer)
            self.hard = np.concatenate([self.hard, np.zeros(len(new), dtype=bool)])
        for row, order in enumerate(new, known):
            self._fill(row, order)
        return np.array([self._rows[order] for order in orders], dtype=np.int64)

    def _fill(self, row: int, order: Order) -> None:
        known = single_iterator_points(
            self._key.source_bounds, self._key.target_bounds, self._key.equations, list(map(self._dimension, order))
        )
        if known is not None:
            for common, either in enumerate(known):
                for strict, values in enumerate(either):
                    if values is not None:
                        self.feasible[row, common, strict] = True
                        self.points[row, common, strict] = values
            return
        steps = tuple(self._step(code) for code in order)
        table: GroupTable = group_table(
            CoupledIterators(self._key.source_bounds, self._key.target_bounds, self._key.equations, steps)
        )
        shared = sum(step.is_shared for step in steps)
        try:
            for common in range(shared + 1):
                for strict in (False, True) if common < shared else (False,):
                    points = table.points(common, strict)
                    if points is not None:
                        self.feasible[row, common, int(strict)] = True
                        self.points[row, common, int(strict)] = (*points.source, *points.nearest, *points.farthest)
        except SearchLimitError:
            self.hard[row] = True

    def _dimension(self, code: int) -> Dimension:
        number, side = divmod(code - 1, 3)
        _, size, origin, direction = self._steps[number]
        return Dimension(side == _SHARED, size, origin, direction)

    def _step(self, code: int) -> CoupledDimension:
        number, side = divmod(code - 1, 3)
        iterator, size, origin, direction = self._steps[number]
        source = -1 if side == _TARGET else self._sources[iterator]
        partner = self._partners[iterator] if side == _SHARED else iterator
        target = -1 if side == _SOURCE else self._targets[partner]
        return CoupledDimension(source, target, size, origin, direction)


def _grown(table: AnyTable, rows: int, steps: int) -> AnyTable:
    """The table with so many more rows and common steps, all of them zeros."""
    grown = np.zeros((len(table) + rows, table.shape[1] + steps, *table.shape[2:]), dtype=table.dtype)
    grown[: len(table), : table.shape[1]] = table
    return grown


class Dependences:
    """The representatives of one nest; searches are kept from one batch of schedules to the next."""

    def __init__(self, nest: BoxNest, table: DimensionTable) -> None:
        self._nest = nest
        self._table = table
        self._answers: dict[_GroupKey, _Answers] = {}
        self._keys: dict[tuple[int, int, Couples], tuple[Pair, list[_GroupKey]] | None] = {}
        # By source and target, the pairs of their references that are to the same array.
        self._pairs: dict[tuple[int, int], list[tuple[int, int]]] = {}
        for first, one in enumerate(nest.references):
            for second, other in enumerate(nest.references):
                if one.array == other.array:
                    self._pairs.setdefault((one.statement, other.statement), []).append((first, second))

    def points(self, schedules: EncodedSchedules) -> tuple[Points, Flags]:
        """All representatives, and [schedule]: whether a search exceeded its limit for it."""
        hard = np.zeros(len(schedules.aligned), dtype=bool)
        parts: list[Points] = []
        for source, target in sorted(self._pairs):
            for rows, couples in _couplings(schedules, source, target, self._nest):
                parts += self._of_rows(schedules, source, target, couples, rows, hard)
        if not parts:
            levels = schedules.statements[0].levels if schedules.statements else 0
            none, times = np.zeros(0, dtype=np.int64), np.zeros((0, levels), dtype=np.int64)
            return Points(none, none, none, none, none, none, times, times, times), hard
        columns = zip(*(vars(part).values() for part in parts), strict=True)
        return Points(*(np.concatenate(column) for column in columns)), hard

    def _of_rows(
        self, schedules: EncodedSchedules, source: int, target: int, couples: Couples, rows: Integers, hard: Flags
    ) -> Iterator[Points]:
        """The representatives between two statements in the schedules ``rows``.

        Schedules that run the two alike are searched once.
        """
        source_times, target_times = schedules.statements[source], schedules.statements[target]
        common = schedules.common[source, target]
        steps = [source_times.step[rows], common[rows][:, None]]
        if source != target:
            steps.append(target_times.step[rows])
        first, number = first_of_equal_rows(np.concatenate(steps, axis=1))
        chosen = rows[first]
        times = source_times.of(chosen)
        others = times if source == target else target_times.of(chosen)
        refused = np.zeros(len(chosen), dtype=bool)
        for points in self._of_statements(times, others, common[chosen], source, target, couples, refused):
            yield points if len(chosen) == len(rows) == len(hard) else _for_all(points, rows, number)
        hard[rows] |= refused[number]

    def _of_statements(
        self,
        source_times: StatementTimes,
        target_times: StatementTimes,
        common_levels: Integers,
        source: int,
        target: int,
        couples: Couples,
        hard: Flags,
    ) -> Iterator[Points]:
        nest = self._nest
        common = common_levels[:, None]
        levels = np.arange(source_times.levels)
        loops = (levels < common) & (source_times.iterator >= 0)
        carrying = loops | ((levels == common) & (source_times.origin < target_times.origin))
        orders: dict[tuple[tuple[int, ...], tuple[int, ...]], _Orders] = {}
        looked_up: dict[_GroupKey, _LookedUp] = {}
        for first, second in self._pairs[source, target]:
            known = self._groups(first, second, couples)
            if known is None:
                continue
            pair, keys = known
            feasible = carrying
            for key in keys:
                if key not in looked_up:
                    members = key.sources, key.targets
                    if members not in orders:
                        orders[members] = _orders(source_times, target_times, loops, levels >= common, *members)
                    looked_up[key] = self._look_up(key, orders[members], source_times.levels, hard)
                feasible = feasible & looked_up[key].feasible
            schedule, level = np.nonzero(feasible)
            if not len(schedule):
                continue
            source_point = np.zeros((len(schedule), len(pair.source_group) + 1), dtype=np.int64)
            nearest = np.zeros((len(schedule), len(pair.target_group) + 1), dtype=np.int64)
            farthest = nearest.copy()
            for group in (looked_up[key] for key in keys):
                passed, owned = group.orders.passed[schedule, level], group.orders.owned[schedule, level]
                values = group.points[group.row[schedule], passed, owned]
                sources, targets = list(group.key.sources), list(group.key.targets)
                middle, end = len(sources), len(sources) + len(targets)
                source_point[:, sources] = values[:, :middle]
                nearest[:, targets] = values[:, middle:end]
                farthest[:, targets] = values[:, end:]
            kinds = pair_kinds(nest.references[first].kinds, nest.references[second].kinds)
            bits = sum(1 << bit for bit, kind in enumerate(KINDS) if kind in kinds)
            ones = np.ones(len(schedule), dtype=np.int64)
            yield Points(
                schedule,
                level,
                ones * nest.references[first].array,
                ones * source,
                ones * target,
                ones * bits,
                times_of(source_times, schedule, source_point),
                times_of(target_times, schedule, nearest),
                times_of(target_times, schedule, farthest),
            )

    def _groups(self, first: int, second: int, couples: Couples) -> tuple[Pair, list[_GroupKey]] | None:
        at = first, second, couples
        if at not in self._keys:
            pair = reference_pair(self._nest, first, second, couples)
            if pair is None:
                self._keys[at] = None
            else:
                parts = zip(
                    pair.sources, pair.targets, pair.source_bounds, pair.target_bounds, pair.equations, strict=True
                )
                keys = [_GroupKey(*part, tuple(c for c in couples if c[0] in part[0])) for part in parts]
                self._keys[at] = pair, keys
        return self._keys[at]

    def _look_up(self, key: _GroupKey, orders: _Orders, most: int, hard: Flags) -> _LookedUp:
        if key not in self._answers:
            self._answers[key] = _Answers(key, self._table.steps)
        answers = self._answers[key]
        row = answers.rows(orders.unique, most)[orders.of_schedule]
        hard |= answers.hard[row]
        return _LookedUp(key, answers.points, row, orders, answers.feasible[row[:, None], orders.passed, orders.owned])


def times_of(times: StatementTimes, schedule: Integers, points: Integers) -> Integers:
    """The times of instances, [row, level].

    ``points`` has one row per instance, with a column for each iterator and an unused last one; ``schedule`` has the
    row's schedule.
    """
    iterator, origin = times.iterator[schedule], times.origin[schedule]
    values = np.take_along_axis(points, np.where(iterator < 0, points.shape[1] - 1, iterator), axis=1)
    steps = times.direction[schedule] * ((values - origin) // times.size[schedule])
    return np.where(iterator < 0, origin, steps)


def _couplings(
    schedules: EncodedSchedules, source: int, target: int, nest: BoxNest
) -> Iterator[tuple[Integers, Couples]]:
    """The schedules (indices) grouped by the pairs of source and target iterators that run in a common loop."""
    source_times, target_times = schedules.statements[source], schedules.statements[target]
    shared = (np.arange(source_times.levels) < schedules.common[source, target][:, None]) & (source_times.iterator >= 0)
    partners = [
        np.where(shared & (source_times.iterator == iterator), target_times.iterator, -1).max(axis=1, initial=-1)
        for iterator in range(len(nest.boxes[source]))
    ]
    table = np.stack(partners, axis=1) if partners else np.zeros((len(source_times.iterator), 0), dtype=np.int64)
    unique, inverse = unique_rows(table)
    for number, row in enumerate(unique):
        couples = tuple((iterator, int(partner)) for iterator, partner in enumerate(row) if partner >= 0)
        yield np.nonzero(inverse == number)[0], couples


def _orders(
    source_times: StatementTimes,
    target_times: StatementTimes,
    shared: Flags,
    apart: Flags,
    sources: tuple[int, ...],
    targets: tuple[int, ...],
) -> _Orders:
    """The orders of the steps of one group: of its shared steps, then the source's alone, then the target's alone.

    ``shared`` and ``apart`` are [schedule, level]: whether the level is a common loop, and whether it is not common.
    """
    of_source = _among(source_times.iterator, sources)
    of_target = _among(target_times.iterator, targets) & apart
    codes = 1 + 3 * source_times.step + np.where(shared, _SHARED, _SOURCE)
    key = np.concatenate(
        [np.where(of_source, codes, 0), np.where(of_target, 1 + 3 * target_times.step + _TARGET, 0)], axis=1
    )
    key = np.take_along_axis(key, np.argsort(key == 0, axis=1, kind="stable"), axis=1)
    key = key[:, : int((key > 0).sum(axis=1).max(initial=0))]
    unique, inverse = unique_rows(key)
    owned = (of_source & shared).astype(np.int64)
    passed = np.cumsum(owned, axis=1) - owned
    return _Orders([tuple(int(code) for code in row if code) for row in unique], inverse, passed, owned)


def _among(iterators: Integers, chosen: tuple[int, ...]) -> Flags:
    """Whether each is one of those chosen; -1 is none."""
    flags = np.zeros(max(int(iterators.max(initial=-1)), *chosen, 0) + 2, dtype=bool)
    flags[list(chosen)] = True
    return np.asarray(flags[iterators])


def _for_all(points: Points, rows: Integers, number: Integers) -> Points:
    """Representatives of schedules by their ``number``, for each of the ``rows`` that has that number."""
    order = np.argsort(number, kind="stable")
    counts = np.bincount(number)
    starts = np.cumsum(counts) - counts
    times = counts[points.schedule]
    owner = np.repeat(np.arange(len(times)), times)
    within = np.arange(len(owner)) - np.repeat(np.cumsum(times) - times, times)
    columns = {name: column[owner] for name, column in vars(points).items() if name != "schedule"}
    return Points(schedule=rows[order[starts[points.schedule[owner]] + within]], **columns)


def unique_rows(table: Integers) -> tuple[Integers, Integers]:
    """The different rows of a table, and for each of its rows the index among them."""
    first, number = first_of_equal_rows(table)
    return table[first], number


def first_of_equal_rows(table: Integers) -> tuple[Integers, Integers]:
    """The index of the first of all rows that are equal, and for each row the index among these."""
    numbers: dict[bytes, int] = {}
    width = table.itemsize * table.shape[1]
    whole = np.ascontiguousarray(table).tobytes()
    number = np.array(
        [numbers.setdefault(whole[at : at + width], len(numbers)) for at in range(0, len(table) * width, width)]
        if width
        else [0] * len(table),
        dtype=np.int64,
    )
    if not width:
        return np.arange(min(1, len(table))), number
    first = np.empty(len(numbers), dtype=np.int64)
    first[number[::-1]] = np.arange(len(table))[::-1]
    return first, number
