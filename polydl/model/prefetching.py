"""How well prefetchers keep up with the way that a nest walks through what lies beyond the second cache.

A microkernel works on each line for some hundred cycles and asks for few at a time: what is not there when it is asked
for costs time, where a loop that only reads has many loads under way. What follows was seen in the times of calls, and
agrees with what is known of the prefetcher of the second-level cache.

Plain loops were timed too: tensors of 1.6 to 25 MB in runs of 64 bytes to 16 KB, 2 to 1,024 runs in turn. A single run
is as fast there as several in turn, and up to 32 of them cost nothing, however short. Of more, each has to be found
anew at each visit, for the time of about 128 bytes: visits of 64 bytes take 2 to 4.5 times as long as one long run,
those of 512 bytes 1.1 to 1.5 times. There, two rows half a page apart are different runs already.

On a Zen 4, few runs do cost something where each visit is to one line: rows of a matrix of 16 MB that are summed up
eight or four at a time take about twice as long as one by one. What two iterations of a loop outside have in common is
near already, and is no run of its own.
"""

from __future__ import annotations

from math import log
from typing import NamedTuple

from polydl.machine import Core
from polydl.model.nest_streams import NestStreams


def slowdown(nest: NestStreams, stream: int) -> float:
    """How much longer a stream's lines take than those of several streams that are walked through in turn.

    The columns of a tile that lie rows of an image apart are such streams: each call goes a little further in every
    one of them, and the prefetcher has the next lines ready when it comes back. A single long run stops at the end of
    each page. More runs than the prefetcher follows, each left after a few lines, have to be found anew every time, and
    the beginning of each run comes before it is followed. A call that isn't known is taken to walk straight on.
    """
    if nest.calls:
        return 1.0
    core = nest.core
    walk = _interleaved(nest, stream)
    if nest.plain:
        return _plain_slowdown(walk, core) * _fetched_in_vain(nest, stream, walk)
    if walk.width > core.prefetch_streams and walk.visit.span < core.prefetch_ahead_bytes:
        slower = core.prefetch_lost_slowdown + core.prefetch_start_bytes / max(walk.visit.span, core.line_bytes)
    else:
        busy = core.prefetch_busy_streams
        idle = max(0.0, 1.0 - log(walk.width, busy)) if busy > 1 else 0.0
        beginning = min(1.0, core.prefetch_ahead_bytes / _run_bytes(nest, stream))
        slower = 1.0 + (core.prefetch_lost_slowdown - 1.0) * (idle + beginning)
    return slower * _fetched_in_vain(nest, stream, walk)


def _plain_slowdown(walk: _Walk, core: Core) -> float:
    """How much longer the lines of such a walk take in plain loops than those of a single run."""
    if walk.width > core.prefetch_streams:
        return 1.0 + core.prefetch_start_bytes / max(walk.visit.span, core.line_bytes)
    if walk.lines < 2:
        return 1.0
    return 1.0 + (core.prefetch_turns_slowdown - 1.0) * (1.0 - log(walk.lines, core.prefetch_streams))


class _Visit(NamedTuple):
    """What is used of a run before the next one is walked through: equal pieces, evenly spread over ``span`` bytes."""

    #: bytes from the beginning of the first piece to the end of the last one
    span: float
    #: how many there are
    pieces: float
    #: bytes of each piece
    piece: float
    #: bytes from the beginning of one piece to that of the next; 0 for a single one
    pitch: float

    @property
    def used(self) -> float:
        """Bytes of all pieces."""
        return self.pieces * self.piece

    def repeated(self, step: float, count: float) -> _Visit:
        """The same ``count`` times, each time ``step`` bytes further on."""
        span = self.span + step * (count - 1.0)
        if step > self.span:
            # Of two kinds of gaps the larger ones count.
            return _Visit(span, count, self.span, step)
        if not self.pitch:
            return _without_gaps(span)
        if step >= self.pitch:
            return _Visit(span, self.pieces + step / self.pitch * (count - 1.0), self.piece, self.pitch)
        piece = self.piece + min(step, self.piece) * (count - 1.0)
        return _Visit(span, self.pieces, piece, self.pitch) if piece < self.pitch else _without_gaps(span)


def _without_gaps(span: float) -> _Visit:
    return _Visit(span, 1.0, span, 0.0)


class _Walk(NamedTuple):
    """``width`` runs in different pages are walked through in turn, one visit to each after the other.

    The loops from ``depth`` on do that. ``lines`` of the runs are visited for a line at most, and share nothing with
    those that a loop outside comes to.
    """

    width: int
    visit: _Visit
    depth: int
    lines: int = 1


def _interleaved(nest: NestStreams, stream: int) -> _Walk:
    """How the innermost loops walk, until they have used as much of each run as is fetched ahead, or come to more runs
    than are followed."""
    each, moved, core = nest.streams[stream].stream, nest.streams[stream].moves, nest.core
    width, depth, lines, visited = 1, len(nest.loops), 1, _without_gaps(each.element_bytes)
    jump = core.prefetch_step_bytes if nest.plain else core.page_bytes
    if each.strides is None:
        return _Walk(width, visited, depth, lines)
    for (loop, count), moves in zip(reversed(nest.loops), reversed(moved), strict=True):
        depth -= 1
        if not moves:
            continue
        step = each.strides[loop.iterator] * loop.size
        if step >= jump:
            width = round(width * count)
            outside = (abs(each.strides[other.iterator]) * other.size for other, _ in nest.loops[:depth])
            if visited.span <= core.line_bytes and not any(step <= other < step * count for other in outside):
                lines = round(lines * count)
        else:
            visited = visited.repeated(step, count)
        if width > core.prefetch_streams or visited.span >= core.prefetch_ahead_bytes:
            break
    return _Walk(width, visited, depth, lines)


def _run_bytes(nest: NestStreams, stream: int) -> int:
    """Bytes of each run from its first line to where it is left for others and must be found anew.

    That is for more of them than are followed, or after a page, behind which nothing was fetched ahead.
    """
    each, moved, core = nest.streams[stream].stream, nest.streams[stream].moves, nest.core
    if each.strides is None:
        return each.array_bytes
    length, width = each.element_bytes, 1
    for (loop, count), moves in zip(reversed(nest.loops), reversed(moved), strict=True):
        step = each.strides[loop.iterator] * loop.size
        if moves and step >= max(length + 1, core.page_bytes):
            width = round(width * count)
        elif moves and (width == 1 or (width <= core.prefetch_streams and length < core.page_bytes)):
            length += round(step * (count - 1))
        elif moves:
            break
    return length


def _fetched_in_vain(nest: NestStreams, stream: int, walk: _Walk) -> float:
    """How much more comes than is used before it is gone: lines in the gaps of a walk whose turn comes much later."""
    strides, visit = nest.streams[stream].stream.strides, walk.visit
    if strides is None or visit.pitch < 2 * nest.core.line_bytes:
        return 1.0
    cache = nest.caches[min(1, len(nest.caches) - 1)]
    used = visit.used
    for depth in range(walk.depth - 1, -1, -1):
        if used >= visit.span or nest.lines_inside(depth + 1) > cache.sets * cache.ways:
            break
        loop, trips = nest.loops[depth]
        if 0 < strides[loop.iterator] * loop.size < visit.pitch:
            # This loop comes to what lies in the gaps.
            used *= trips
    return min(nest.core.prefetch_most_in_vain, max(1.0, visit.span / used))
