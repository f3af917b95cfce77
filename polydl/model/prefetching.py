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
    each page. More runs than the prefetcher follows, each left after a few lines, have to be found anew every time. A
    call that isn't known is taken to walk straight on.
    """
    if nest.calls:
        return 1.0
    core = nest.core
    walk = _interleaved(nest, stream)
    if nest.plain:
        return _plain_slowdown(walk, core) * _fetched_in_vain(nest, stream, walk)
    if walk.width > core.prefetch_streams and walk.visit < core.prefetch_ahead_bytes:
        slower = core.prefetch_lost_slowdown + core.prefetch_start_bytes / max(walk.visit, core.line_bytes)
    else:
        busy = core.prefetch_busy_streams
        idle = max(0.0, 1.0 - log(walk.width, busy)) if busy > 1 else 0.0
        slower = 1.0 + (core.prefetch_lost_slowdown - 1.0) * idle
    return slower * _fetched_in_vain(nest, stream, walk)


def _plain_slowdown(walk: _Walk, core: Core) -> float:
    """How much longer the lines of such a walk take in plain loops than those of a single run."""
    if walk.width > core.prefetch_streams:
        return 1.0 + core.prefetch_start_bytes / max(walk.visit, core.line_bytes)
    if walk.lines < 2:
        return 1.0
    return 1.0 + (core.prefetch_turns_slowdown - 1.0) * (1.0 - log(walk.lines, core.prefetch_streams))


class _Walk(NamedTuple):
    """``width`` runs in different pages are walked through in turn, ``visit`` bytes of each before the next.

    Of these so many are ``used``, with ``gap`` bytes from one piece to the next (0 without gaps). The loops from
    ``depth`` on do that. ``lines`` of the runs are visited for a line at most, and share nothing with those that a loop
    outside comes to.
    """

    width: int
    visit: int
    used: int
    gap: int
    depth: int
    lines: int = 1


def _interleaved(nest: NestStreams, stream: int) -> _Walk:
    """How the innermost loops walk, until they have used as much of each run as is fetched ahead, or come to more runs
    than are followed."""
    each, moved, core = nest.streams[stream].stream, nest.streams[stream].moves, nest.core
    width, visit, used, gap, depth = 1, each.element_bytes, each.element_bytes, 0, len(nest.loops)
    lines, jump = 1, core.prefetch_step_bytes if nest.plain else core.page_bytes
    if each.strides is None:
        return _Walk(width, visit, used, gap, depth)
    for (loop, count), moves in zip(reversed(nest.loops), reversed(moved), strict=True):
        depth -= 1
        if not moves:
            continue
        step = each.strides[loop.iterator] * loop.size
        if step >= jump:
            width = round(width * count)
            outside = (abs(each.strides[other.iterator]) * other.size for other, _ in nest.loops[:depth])
            if visit <= core.line_bytes and not any(step <= other < step * count for other in outside):
                lines = round(lines * count)
        else:
            if step > visit:
                gap, used = step, round(used * count)
            else:
                used += round(min(step, used) * (count - 1))
            visit += round(step * (count - 1))
        if width > core.prefetch_streams or visit >= core.prefetch_ahead_bytes:
            break
    return _Walk(width, visit, used, gap, depth, lines)


def _fetched_in_vain(nest: NestStreams, stream: int, walk: _Walk) -> float:
    """How much more comes than is used before it is gone: lines in the gaps of a walk whose turn comes much later."""
    strides = nest.streams[stream].stream.strides
    if strides is None or walk.gap < 2 * nest.core.line_bytes:
        return 1.0
    cache = nest.caches[min(1, len(nest.caches) - 1)]
    used = float(walk.used)
    for depth in range(walk.depth - 1, -1, -1):
        if used >= walk.visit or nest.lines_inside(depth + 1) > cache.sets * cache.ways:
            break
        loop, trips = nest.loops[depth]
        if 0 < strides[loop.iterator] * loop.size < walk.gap:
            # This loop comes to what lies in the gaps.
            used *= trips
    return min(nest.core.prefetch_most_in_vain, max(1.0, walk.visit / used))
