"""The instances between pairs of points in time as boxes, for many intervals and schedules at once.

The boxes are the regions of ``polydl.reuse.intervals``. Arrays have one column per interval.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polydl.ir.affine import Box
from polydl.reuse.encoding import Flags, Integers, StatementTimes


@dataclass(frozen=True)
class Spans:
    """Intervals of time, one per row; both ends are included."""

    #: index of the schedule
    schedule: Integers
    #: first time dimension in which ``first`` and ``last`` differ
    level: Integers
    #: whether the interval is all instances with the time prefix of ``first`` before ``level`` instead
    prefix: Flags
    #: [row, level]
    first: Integers
    #: [row, level]
    last: Integers


@dataclass(frozen=True)
class Pieces:
    """Boxes of instances of one statement."""

    #: [piece]: index of its interval
    span: Integers
    #: [iterator, piece]: inclusive bounds
    low: Integers
    #: [iterator, piece]
    high: Integers


@dataclass(frozen=True)
class _Levels:
    """The time dimensions of a statement in each interval's schedule. All arrays are [level, interval]."""

    #: -1 for a position
    iterator: Integers
    size: Integers
    origin: Integers
    upward: Flags


@dataclass(frozen=True)
class _Path:
    """The regions of the time prefixes of one point per interval: each level fixes one more time dimension."""

    #: [row, interval]: bounds of the iterators in the statement's box, then for each level the bounds of its iterator
    #: once the level is fixed
    low: Integers
    high: Integers
    #: [level, interval]: first value of the level's iterator at the point's time
    begin: Integers
    #: [level, interval]: last value of the level's iterator at the point's time
    end: Integers
    #: [level, interval]: whether the region has instances before the point's time
    before: Flags
    #: [level, interval]: whether the region has instances after the point's time
    after: Flags
    #: [level, interval]: whether the region before the level isn't empty; the last row is for the whole point
    alive: Flags


class StatementIntervals:
    """Answers for one statement: its instances in intervals of the given schedules."""

    def __init__(self, times: StatementTimes, box: Box) -> None:
        self._times = times
        # A statement without loops has an iterator of one value.
        self._box = box or ((0, 0),)
        self._columns = self._sources()

    def _sources(self) -> Integers:
        """[level, iterator, schedule]: the row of ``_Path.low`` with the iterator's bounds before that level.

        The last level stands for all levels being fixed.
        """
        iterators = len(self._box)
        current = np.tile(np.arange(iterators)[:, None], (1, len(self._times.iterator)))
        columns = [current]
        for level in range(self._times.levels):
            current = np.where(
                np.arange(iterators)[:, None] == self._times.iterator[:, level], iterators + level, current
            )
            columns.append(current)
        return np.stack(columns)

    def pieces(self, spans: Spans) -> Pieces:
        """The instances in each interval as disjoint boxes."""
        possible = self._possible(spans)
        if possible.all():
            return self._pieces(spans)
        kept = np.nonzero(possible)[0]
        found = self._pieces(Spans(*(column[kept] for column in vars(spans).values())))
        return Pieces(kept[found.span], found.low, found.high)

    def _possible(self, spans: Spans) -> Flags:
        """Whether each interval may have instances of the statement: none has that lies inside of another nest."""
        times = self._times
        if not times.levels:
            return np.ones(len(spans.level), dtype=bool)
        elsewhere = (times.iterator[:, 0] < 0)[spans.schedule] & (times.origin[spans.schedule, 0] != spans.first[:, 0])
        possible: Flags = ~elsewhere | (spans.level == 0)
        return possible

    def _pieces(self, spans: Spans) -> Pieces:
        times, rows = self._times, spans.schedule
        levels = _Levels(times.iterator[rows].T, times.size[rows].T, times.origin[rows].T, times.direction[rows].T > 0)
        head = self._path(levels, rows, spans.first.T)
        tail = self._path(levels, rows, spans.last.T)
        inside = (np.arange(times.levels)[:, None] > spans.level) & ~spans.prefix
        parts = [
            *self._side(levels, rows, head, head.before & inside, head.after & inside, later=True),
            *self._side(levels, rows, tail, tail.after & inside, tail.before & inside, later=False),
            self._middle(levels, spans, head, tail, inside),
        ]
        return Pieces(*(np.concatenate(columns, axis=-1) for columns in zip(*parts, strict=True)))

    def _path(self, levels: _Levels, rows: Integers, point: Integers) -> _Path:
        iterators, count = len(self._box), point.shape[1]
        depth = len(point)
        low = np.empty((iterators + depth, count), dtype=np.int64)
        high = np.empty_like(low)
        for iterator, (least, most) in enumerate(self._box):
            low[iterator], high[iterator] = least, most
        position = levels.iterator < 0
        tile = np.where(levels.upward, point, -point)
        # A position is a range of one value.
        begin = np.where(position, point, levels.origin + tile * levels.size)
        end = begin + levels.size - 1
        before, after = np.empty(point.shape, dtype=bool), np.empty(point.shape, dtype=bool)
        alive = np.ones((depth + 1, count), dtype=bool)
        at = np.arange(count)
        for level in range(depth):
            source = self._columns[level, levels.iterator[level], rows]
            here = position[level]
            least = np.where(here, levels.origin[level], low[source, at])
            most = np.where(here, levels.origin[level], high[source, at])
            below, above = least < begin[level], most > end[level]
            before[level] = np.where(levels.upward[level], below, above) & alive[level]
            after[level] = np.where(levels.upward[level], above, below) & alive[level]
            np.maximum(least, begin[level], out=low[iterators + level])
            np.minimum(most, end[level], out=high[iterators + level])
            alive[level + 1] = alive[level] & (low[iterators + level] <= high[iterators + level])
        return _Path(low, high, begin, end, before, after, alive)

    def _side(
        self, levels: _Levels, rows: Integers, path: _Path, left_out: Flags, beyond: Flags, *, later: bool
    ) -> list[tuple[Integers, Integers, Integers]]:
        """The pieces that share a prefix with one end of the interval, as (intervals, low, high).

        Up to the last level where ``left_out`` is set (the region has instances outside of the interval), each level of
        ``beyond`` gives a piece; the region after that level is one more. If nothing is left out at any level, there
        are no such pieces, and ``_middle`` has all instances.
        """
        last = last_true(left_out)
        level, span = np.nonzero(beyond & (np.arange(len(beyond))[:, None] <= last))
        low, high = self._boxes(path, rows, level, span)
        iterator = levels.iterator[level, span]
        loops = np.nonzero(iterator >= 0)[0]
        iterator, at, of = iterator[loops], level[loops], span[loops]
        raised = levels.upward[at, of] == later
        low[iterator[raised], loops[raised]] = np.maximum(
            low[iterator[raised], loops[raised]], path.end[at[raised], of[raised]] + 1
        )
        lowered = ~raised
        high[iterator[lowered], loops[lowered]] = np.minimum(
            high[iterator[lowered], loops[lowered]], path.begin[at[lowered], of[lowered]] - 1
        )
        rest = np.nonzero((last >= 0) & path.alive[last + 1, np.arange(len(last))])[0]
        return [(span, low, high), (rest, *self._boxes(path, rows, last[rest] + 1, rest))]

    def _middle(
        self, levels: _Levels, spans: Spans, head: _Path, tail: _Path, inside: Flags
    ) -> tuple[Integers, Integers, Integers]:
        """The piece between the two ends, at the level where they differ, as (intervals, low, high).

        It includes the instances that share a prefix with one end where none of these is left out. For a ``prefix``
        interval it is the whole region.
        """
        span = np.nonzero(head.alive[spans.level, np.arange(len(spans.level))])[0]
        level = spans.level[span]
        low, high = self._boxes(head, spans.schedule, level, span)
        whole_head = ~(head.before & inside)[:, span].any(axis=0)
        whole_tail = ~(tail.after & inside)[:, span].any(axis=0)
        prefix = spans.prefix[span]
        first = head.begin[level, span], head.end[level, span]
        last = tail.begin[level, span], tail.end[level, span]
        upward = levels.upward[level, span]
        least = np.where(
            upward, np.where(whole_head, first[0], first[1] + 1), np.where(whole_tail, last[0], last[1] + 1)
        )
        most = np.where(
            upward, np.where(whole_tail, last[1], last[0] - 1), np.where(whole_head, first[1], first[0] - 1)
        )
        iterator, position = levels.iterator[level, span], levels.origin[level, span]
        loops = np.nonzero((iterator >= 0) & ~prefix)[0]
        low[iterator[loops], loops] = np.maximum(low[iterator[loops], loops], least[loops])
        high[iterator[loops], loops] = np.minimum(high[iterator[loops], loops], most[loops])
        kept = np.where(iterator < 0, (least <= position) & (position <= most), True) | prefix
        kept &= (low <= high).all(axis=0)
        return span[kept], low[:, kept], high[:, kept]

    def _boxes(self, path: _Path, rows: Integers, level: Integers, span: Integers) -> tuple[Integers, Integers]:
        """The regions before ``level`` as bounds of boxes, [iterator, piece]."""
        columns = self._columns[level, :, rows[span]].T
        return path.low[columns, span], path.high[columns, span]


def last_true(flags: Flags) -> Integers:
    """The last row in which each column is set; -1 for a column that is set nowhere."""
    last = len(flags) - 1 - np.argmax(flags[::-1], axis=0)
    return np.where(flags.any(axis=0), last, -1).astype(np.int64)
