"""The instances between pairs of points in time, in boxes, for many intervals and schedules together.

The pieces are those of ``reuse_intervals``. Arrays hold one column per interval.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polydl.ir.affine import Box
from polydl.reuse.encoding import Flags, Integers, StatementTimes


@dataclass(frozen=True)
class Spans:
    """Intervals from ``first`` to ``last``, [row, level], which differ first at ``level``.

    Where ``prefix`` is set, the interval is instead all that shares the dimensions before ``level`` with ``first``.
    """

    schedule: Integers
    level: Integers
    prefix: Flags
    first: Integers
    last: Integers


@dataclass(frozen=True)
class Pieces:
    """Boxes of instances of one statement, ``low`` and ``high`` as [iterator, piece], and the interval of each."""

    span: Integers
    low: Integers
    high: Integers


@dataclass(frozen=True)
class _Levels:
    """The dimensions of a statement for each interval, as [level, interval]."""

    iterator: Integers
    size: Integers
    origin: Integers
    upward: Flags


@dataclass(frozen=True)
class _Path:
    """A region that one point in time narrows down level by level.

    ``low`` and ``high`` hold the statement's box first, then for each level the bounds of its iterator once the level
    is fixed. ``begin`` and ``end`` are the values of that iterator at the point's time, ``before`` and ``after`` say
    whether the region has earlier and later instances than these, and ``alive`` whether it has any at all so far.
    """

    low: Integers
    high: Integers
    begin: Integers
    end: Integers
    before: Flags
    after: Flags
    alive: Flags


class StatementIntervals:
    """Pieces of one statement's instances, for any intervals of the schedules given."""

    def __init__(self, times: StatementTimes, box: Box) -> None:
        self._times = times
        # A statement without loops has an iterator of one value.
        self._box = box or ((0, 0),)
        self._columns = self._sources()

    def _sources(self) -> Integers:
        """Where each iterator's bounds stand before each level, as [level, iterator, schedule]: a row of ``_Path.low``.

        The last level is that after all.
        """
        iterators = len(self._box)
        current = np.tile(np.arange(iterators)[:, None], (1, len(self._times.iterator)))
        found = [current]
        for level in range(self._times.levels):
            current = np.where(
                np.arange(iterators)[:, None] == self._times.iterator[:, level], iterators + level, current
            )
            found.append(current)
        return np.stack(found)

    def pieces(self, spans: Spans) -> Pieces:
        times, rows = self._times, spans.schedule
        levels = _Levels(times.iterator[rows].T, times.size[rows].T, times.origin[rows].T, times.direction[rows].T > 0)
        head = self._path(levels, rows, spans.first.T)
        tail = self._path(levels, rows, spans.last.T)
        inside = (np.arange(times.levels)[:, None] > spans.level) & ~spans.prefix
        found = [
            *self._side(levels, rows, head, head.before & inside, head.after & inside, later=True),
            *self._side(levels, rows, tail, tail.after & inside, tail.before & inside, later=False),
            self._middle(levels, spans, head, tail, inside),
        ]
        return Pieces(*(np.concatenate(parts, axis=-1) for parts in zip(*found, strict=True)))

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
        """What leaves the path beyond the point down to the last level where something is left out, and the rest.

        If nothing is left out anywhere, there are no such pieces: the middle has all.
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
        """What lies between the points where they part, with each side that is there as a whole; or a whole prefix."""
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
        """The regions before ``level`` as boxes, [iterator, piece]."""
        columns = self._columns[level, :, rows[span]].T
        return path.low[columns, span], path.high[columns, span]


def last_true(flags: Flags) -> Integers:
    """The last row in which each column is set, -1 where none is."""
    found = len(flags) - 1 - np.argmax(flags[::-1], axis=0)
    return np.where(flags.any(axis=0), found, -1).astype(np.int64)
