"""How often one execution of a nest brings each line into a cache, from the footprints of its loops.

A line that one iteration of a loop has used is still there for the next one if the lines used in between leave it in
its set. What lies in between is one execution of the loops inside, counted from the first of them that moves the
line's own stream: loops that don't move it come back to the line at once. So each stream has a distance for each
loop. From the innermost outwards, a loop multiplies what the loops inside it bring in by its iterations where that
distance is too long, and adds only what is new where it isn't.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate
from math import gcd, prod
from typing import NamedTuple

from polydl.ir.affine import Box
from polydl.ir.scop import Scop
from polydl.machine import Core
from polydl.model.cache_sets import Geometry, Occupancy, evicted
from polydl.model.footprints import Footprint, Stream, footprint, streams, torn_lines
from polydl.model.prefetching import slowdown
from polydl.plan.nest_plan import NestPlan

# Nests of which what is known is kept: about as many as the variants that are looked at together.
_KEPT = 1024

# (stride, tile, iterations) of loops.
Walk = tuple[tuple[int, int, int], ...]


class Walked(NamedTuple):
    """A loop as far as it matters here: over tiles of ``size`` iterations of a statement's iterator."""

    iterator: int
    size: int
    unrolled: bool = False


def _time_loops(scop: Scop, plan: NestPlan, block: tuple[int, int] | None, core: Core) -> tuple[Walked, ...]:
    """The loops of a nest as they run, outermost first; those of a microkernel with its tiles for registers.

    ``block`` are the rows and columns of these tiles, None if they are not known.
    """
    step = plan.microkernel
    if plan.nest.call is not None:
        # What a call uses several times it holds in registers, or near.
        return tuple([Walked(loop.iterator, loop.size) for loop in plan.loops])
    if step is None:
        return tuple([Walked(loop.iterator, loop.size, loop.unrolled) for loop in (*plan.loops, *plan.inner)])
    roles = {loop.role: loop for loop in plan.inner}
    lengths = [tile.size if (tile := plan.tile_of(name)) else plan.extent(name) for name in (step.m, step.n)]
    if block is None:
        element = scop.array(scop.statement(plan.nest.statements[0]).writes[0].array).element_bytes
        rows = _even_piece(lengths[0], max(1, core.column_bytes // element))
        block = rows, _even_piece(lengths[1], max(1, core.accumulator_bytes // (rows * element)))
    rows, columns = (min(each) for each in zip(block, lengths, strict=True))
    batch = tuple(loop for loop in plan.inner if loop.role == "batch")
    further = tuple(loop for loop in plan.inner if loop.role == "rows")
    m, n, k = roles["m"], roles["n"], roles["k"]
    outer = [Walked(loop.iterator, loop.size, loop.unrolled) for loop in (*plan.loops, *further)]
    inner = [Walked(loop.iterator, loop.size, loop.unrolled) for loop in (*batch, k, n, m)]
    return (*outer, Walked(n.iterator, columns), Walked(m.iterator, rows), *inner)


def _even_piece(length: int, largest: int) -> int:
    """The size of the pieces, as even as can be, that a length is split into if none may be longer than ``largest``."""
    return -(-length // -(-length // largest))


@dataclass(frozen=True, eq=False)
class Touched:
    """What one execution of a nest touches of each array, as a cache holds it; compared by identity."""

    by_array: Mapping[str, Occupancy]


@lru_cache(maxsize=1 << 12)
def _touched(by_array: tuple[tuple[str, Occupancy], ...]) -> Touched:
    """One object for equal ones, so that what follows from them is found without comparing them."""
    return Touched(dict(by_array))


class Extent(NamedTuple):
    """Iterations of an iterator inside some loops: on average, in a full tile, in the last one, and in all tiles."""

    average: float
    full: int
    last: int
    whole: int


@dataclass(frozen=True)
class _Inside:
    """A stream inside some loops: on average, in full tiles, and in the last tile of each loop by its place.

    ``torn`` counts, by the place of the outermost of the loops, lines between the rows that it runs along.
    """

    average: Footprint
    full: Footprint
    last: dict[int, Footprint]
    torn: dict[int, float]


class Refills:
    """The streams of one nest, and what they touch inside its first 0, 1, 2, ... loops.

    ``loops`` are those that run more than once; ``trips`` says how often, on average. ``plain`` ones call nothing, and
    in those with ``calls`` that the source or a rewrite put there, the innermost loops are unknown.
    """

    def __init__(
        self,
        touched: tuple[Stream, ...],
        shared: int,
        bounds: Box,
        loops: tuple[Walked, ...],
        core: Core,
        caches: tuple[Geometry, ...],
        plain: bool,
        calls: bool = False,
    ) -> None:
        self.streams = touched
        self.caches = caches
        self.core = core
        self.plain = plain
        self.calls = calls
        self.loops, self.trips, self.extents = _extents(shared, bounds, loops)
        self.shared = shared
        self._ragged = [tuple([p for p, e in enumerate(each) if e.last != e.full]) for each in self.extents]
        self.moves = [_moves(stream, self.loops) for stream in self.streams]
        self._inside = [
            self._footprints(s, m, bounds, core.line_bytes) for s, m in zip(self.streams, self.moves, strict=True)
        ]
        self._next = [_next_moving(moves) for moves in self.moves]
        self._lines: dict[tuple[int, int], float] = {}
        self._harmless = [self._first_harmless(level) for level in range(len(caches))]

    @cached_property
    def used(self) -> frozenset[str]:
        """Names of arrays."""
        return frozenset([stream.array for stream in self.streams])

    @cached_property
    def slowdowns(self) -> list[float]:
        """How much longer the lines of each stream take from beyond the second cache than they need to."""
        return [slowdown(self, stream) for stream in range(len(self.streams))]

    def lines_inside(self, depth: int) -> float:
        """Lines that all streams touch inside the first ``depth`` loops."""
        return sum([inside[depth].average.lines for inside in self._inside])

    @cached_property
    def ways(self) -> dict[str, Walk]:
        """The way through each array: from the outermost loop that moves it on, its stride, tile and iterations."""
        found = {}
        for stream, moves in reversed(list(zip(self.streams, self.moves, strict=True))):
            strides, extents = stream.strides or (), self.extents[0]
            found[stream.array] = tuple(
                [
                    (strides[loop.iterator], loop.size, extents[loop.iterator - self.shared].full)
                    for loop, moved in zip(self.loops, moves, strict=True)
                    if moved and strides
                ]
            )
        return found

    def whole(self, stream: int) -> Footprint:
        """What one execution of the nest touches."""
        return self._inside[stream][0].average

    @cached_property
    def touched(self) -> tuple[Touched, ...]:
        """What one execution of the nest touches of each array, as each cache holds it."""
        return tuple([self._touched(level) for level in range(len(self.caches))])

    def _touched(self, level: int) -> Touched:
        found: dict[str, Occupancy] = {}
        for stream, each in enumerate(self.streams):
            own, before = self.whole(stream).occupancy[level], found.get(each.array, Occupancy(0.0, 0.0))
            sets = min(float(self.caches[level].sets), before.sets + own.sets)
            found[each.array] = Occupancy(before.lines + own.lines, sets)
        return _touched(tuple(found.items()))

    def lines(self, stream: int, level: int) -> float:
        """Lines of a stream that one execution of the nest brings into a cache that held none of them."""
        if (stream, level) not in self._lines:
            self._lines[stream, level] = self._brought(stream, level)
        return self._lines[stream, level]

    def _brought(self, stream: int, level: int) -> float:
        inside, following, harmless = self._inside[stream], self._next[stream], self._harmless[level]
        depth = min(harmless, len(self.loops))
        brought, missing = inside[depth].average.lines, 0.0
        while depth:
            depth -= 1
            if following[depth] < harmless:
                missing = max(missing, self._missing(stream, depth, following[depth], level))
                if missing == 1.0:
                    return brought * prod(self.trips[: depth + 1])
            new = (inside[depth].average.lines + self.torn(stream, depth, level)) / inside[depth + 1].average.lines
            brought *= (1.0 - missing) * min(new, self.trips[depth]) + missing * self.trips[depth]
        return brought

    def torn(self, stream: int, depth: int, level: int) -> float:
        """Lines that the loop at ``depth`` uses in its first and its last iterations only and that are gone by then."""
        own = self._inside[stream][depth]
        if depth >= len(self.loops):
            # All of its loops are shared with other nests.
            return 0.0
        if not self.moves[stream][depth] or not (torn := own.torn.get(self.loops[depth].iterator - self.shared, 0.0)):
            return 0.0
        return torn * self._evicted(
            own, [(o[depth], 1.0) for n, o in enumerate(self._inside) if n != stream], -1, level
        )

    def _first_harmless(self, level: int) -> int:
        """The outermost depth so that no set ever holds more, of what the loops inside touch, than it has places for.

        Streams that are in use as a whole before and after count twice.
        """
        ways = self.caches[level].ways
        for depth in range(len(self.loops), -1, -1):
            most = 0
            for inside, moves in zip(self._inside, self.moves, strict=True):
                once = depth == 0 or (depth < len(moves) and moves[depth])
                most += inside[depth].full.most[level] if once else inside[depth].full.most_twice[level]
            if most > ways:
                return depth + 1
        return 0

    def _missing(self, stream: int, depth: int, inner: int, level: int) -> float:
        """The share of a stream that is gone when the loop at ``depth`` comes back to it.

        The loops from ``inner`` on run in between, once in full tiles and once in the last tile of each loop.
        """
        ragged = self._ragged[inner]
        if not ragged and sum([inside[inner].full.least[level] for inside in self._inside]) > self.caches[level].ways:
            return 1.0
        own = self._inside[stream][inner]
        others = [
            (inside[inner], self._again(other, depth, inner))
            for other, inside in enumerate(self._inside)
            if other != stream
        ]
        missing, full_share = 0.0, 1.0
        for place in ragged:
            extent = self.extents[inner][place]
            share = (extent.last if place in own.last else extent.average) / extent.whole
            missing += share * self._evicted(own, others, place, level)
            full_share -= share
        return missing + max(0.0, full_share) * self._evicted(own, others, -1, level)

    def _evicted(self, inside: _Inside, others: Sequence[tuple[_Inside, float]], last: int, level: int) -> float:
        cache = self.caches[level]
        between = [each.last.get(last, each.full).occupancy[level].again(again, cache.sets) for each, again in others]
        return evicted(inside.last.get(last, inside.full).occupancy[level], tuple(between), cache)

    def _again(self, stream: int, depth: int, inner: int) -> float:
        """How much of a stream lies between two iterations, relative to one execution of the loops from ``inner`` on.

        A stream that the loop at ``inner`` doesn't move is in use as a whole both before and after.
        """
        moves, inside = self.moves[stream], self._inside[stream]
        if inner < len(moves) and moves[inner]:
            return 1.0
        used = inside[depth + 1].average.lines
        if moves[depth]:
            used += (inside[depth].average.lines - used) / (self.trips[depth] - 1.0)
        return min(2.0, used / inside[inner].average.lines)

    def _footprints(self, stream: Stream, moves: Sequence[bool], bounds: Box, line_bytes: int) -> list[_Inside]:
        if stream.strides is None:
            elements = ((stream.element_bytes, float(stream.array_bytes // stream.element_bytes)),)
            everything = footprint(stream, elements, line_bytes, line_bytes, self.caches)
            return [_Inside(everything, everything, {}, {})] * len(self.extents)
        own = tuple([loop for loop, each in zip(self.loops, moves, strict=True) if each])
        different = _nested(stream, self.shared, bounds, own, line_bytes, self.caches)
        return [different[number] for number in (0, *accumulate(moves))]


_refills = lru_cache(maxsize=_KEPT)(Refills)


def refills(
    scop: Scop,
    plan: NestPlan,
    core: Core,
    caches: tuple[Geometry, ...],
    block: tuple[int, int] | None = None,
) -> Refills:
    """What is known of a nest as it is planned. A microkernel keeps a ``block`` of rows and columns in registers.

    Variants whose loops are the same here share it, whatever microkernel runs the innermost ones and whatever is
    attached.
    """
    touched = streams(scop, plan.nest.statements)
    calls = plan.nest.call is not None
    plain = plan.microkernel is None and not calls
    loops = _time_loops(scop, plan, block, core)
    return _refills(touched, plan.nest.depth, plan.bounds, loops, core, caches, plain, calls)


@lru_cache(maxsize=4 * _KEPT)
def _nested(
    stream: Stream,
    shared: int,
    bounds: Box,
    loops: tuple[Walked, ...],
    line_bytes: int,
    caches: tuple[Geometry, ...],
) -> tuple[_Inside, ...]:
    """A stream inside the first 0, 1, 2, ... of the loops that move it, whatever other loops lie between them."""
    strides = stream.strides
    assert strides is not None
    start = gcd(line_bytes, *strides[:shared])
    found = []
    for depth, extents in enumerate(_extents(shared, bounds, loops)[2]):
        if depth:
            start = gcd(start, strides[loops[depth - 1].iterator] * loops[depth - 1].size)
        own = tuple([(place, extents[place]) for place, stride in enumerate(strides[shared:]) if stride])
        found.append(_inside(stream, shared, own, start, line_bytes, caches))
    return tuple(found)


@lru_cache(maxsize=1 << 14)
def _inside(
    stream: Stream,
    shared: int,
    extents: tuple[tuple[int, Extent], ...],
    start: int,
    line_bytes: int,
    caches: tuple[Geometry, ...],
) -> _Inside:
    """``extents`` are those of the iterators that move the stream, by place; ``shared`` iterators come before them."""
    assert stream.strides is not None
    strides = [stream.strides[shared + place] for place, _ in extents]

    def touched(ranges: Sequence[float]) -> Footprint:
        steps = [(stride, float(r)) for stride, r in zip(strides, ranges, strict=True) if r > 1.0]
        return footprint(stream, tuple(steps), start, line_bytes, caches)

    full = [extent.full for _, extent in extents]
    last = {}
    for number, (place, extent) in enumerate(extents):
        if extent.last != extent.full:
            last[place] = touched([*full[:number], extent.last, *full[number + 1 :]])
    average = [extent.average for _, extent in extents]
    steps = tuple([(stride, r) for stride, r in zip(strides, average, strict=True) if r > 1.0])
    torn = {}
    for (place, extent), stride in zip(extents, strides, strict=True):
        if extent.full > 1 and (lines := torn_lines(stream, steps, start, line_bytes, stride)):
            torn[place] = lines
    return _Inside(touched(average), touched(full), last, torn)


def _moves(stream: Stream, loops: Sequence[Walked]) -> list[bool]:
    """Which loops move a stream."""
    strides = stream.strides
    return [True] * len(loops) if strides is None else [strides[loop.iterator] > 0 for loop in loops]


def _next_moving(moves: Sequence[bool]) -> list[int]:
    """For each loop the next one inside that moves the stream, or the number of loops."""
    found, following = [], len(moves)
    for depth in range(len(moves) - 1, -1, -1):
        found.append(following)
        if moves[depth]:
            following = depth
    return found[::-1]


def _extents(
    shared: int, bounds: Box, loops: Sequence[Walked]
) -> tuple[tuple[Walked, ...], list[float], list[tuple[Extent, ...]]]:
    """The loops that run more than once, how often on average, and extents inside the first 0, 1, 2, ... of them."""
    inside = [Extent(float(n), n, n, n) for n in [high - low + 1 for low, high in bounds]]
    tiles = [1] * len(inside)
    extents, trips, kept = [tuple(inside)], [], []
    for loop in loops:
        place = loop.iterator - shared
        whole = inside[place].whole
        count = -(-whole // loop.size)
        if count == tiles[place]:
            continue
        trips.append(count / tiles[place])
        tiles[place] = count
        inside[place] = Extent(whole / count, min(loop.size, whole), whole - (count - 1) * loop.size, whole)
        extents.append(tuple(inside))
        kept.append(loop)
    return tuple(kept), trips, extents
