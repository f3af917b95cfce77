"""How often one execution of a nest brings each line into a cache, from the footprints of its loops.

A line that one iteration of a loop has used is still there for the next one if the lines used in between leave it in
its set. What lies in between is one execution of the loops inside, counted from the first of them that moves the
line's own stream: loops that don't move it come back to the line at once. So each stream has a distance for each
loop. From the innermost outwards, a loop multiplies what the loops inside it bring in by its iterations where that
distance is too long, and adds only what is new where it isn't.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import accumulate
from math import gcd, prod

from polydl.ir.affine import Box
from polydl.ir.scop import Scop
from polydl.machine import Core
from polydl.model.cache_sets import Geometry, Occupancy, evicted
from polydl.model.footprints import Footprint, ReferenceStream, footprint, streams, torn_lines
from polydl.model.nest_loops import Extent, NestLoop, SteppedLoop, repeated_loops, time_loops
from polydl.model.nest_streams import Extents, Inside, NestStream, NestStreams
from polydl.model.prefetching import slowdown
from polydl.plan.nest_plan import NestPlan

# Nests of which what is known is kept: about as many as the variants that are looked at together.
_KEPT = 1024

# (stride, tile, iterations) of loops.
Walk = tuple[tuple[int, int, int], ...]


@dataclass(frozen=True, eq=False)
class Touched:
    """What one execution of a nest touches of each array, as a cache holds it; compared by identity."""

    by_array: Mapping[str, Occupancy]


@lru_cache(maxsize=1 << 12)
def _touched(by_array: tuple[tuple[str, Occupancy], ...]) -> Touched:
    """One object for equal ones, so that what follows from them is found without comparing them."""
    return Touched(dict(by_array))


@dataclass(frozen=True, eq=False)
class NestMisses(NestStreams):
    """How often what a nest touches has to be brought into each cache again; compared by identity."""

    #: what was asked for already: by the numbers of a stream and of a cache
    _lines: dict[tuple[int, int], float] = field(default_factory=dict, repr=False)

    @cached_property
    def used(self) -> frozenset[str]:
        """Names of arrays."""
        return frozenset([each.stream.array for each in self.streams])

    @cached_property
    def slowdowns(self) -> list[float]:
        """How much longer the lines of each stream take from beyond the second cache than they need to."""
        return [slowdown(self, stream) for stream in range(len(self.streams))]

    @cached_property
    def ways(self) -> dict[str, Walk]:
        """The way through each array: from the outermost loop that moves it on, its stride, tile and iterations."""
        found = {}
        extents = self.extents[0].by_iterator
        for each in reversed(self.streams):
            strides = each.stream.strides or ()
            found[each.stream.array] = tuple(
                [
                    (strides[loop.iterator], loop.size, extents[loop.iterator - self.shared].full)
                    for (loop, _), moved in zip(self.loops, each.moves, strict=True)
                    if moved and strides
                ]
            )
        return found

    @cached_property
    def touched(self) -> tuple[Touched, ...]:
        """What one execution of the nest touches of each array, as each cache holds it."""
        return tuple([self._touched(level) for level in range(len(self.caches))])

    def _touched(self, level: int) -> Touched:
        found: dict[str, Occupancy] = {}
        for each in self.streams:
            own, array = each.whole.occupancy[level], each.stream.array
            before = found.get(array, Occupancy(0.0, 0.0))
            sets = min(float(self.caches[level].sets), before.sets + own.sets)
            found[array] = Occupancy(before.lines + own.lines, sets)
        return _touched(tuple(found.items()))

    def lines(self, stream: int, level: int) -> float:
        """Lines of a stream that one execution of the nest brings into a cache that held none of them."""
        if (stream, level) not in self._lines:
            self._lines[stream, level] = self._brought(stream, level)
        return self._lines[stream, level]

    def _brought(self, stream: int, level: int) -> float:
        inside, following = self.streams[stream].inside, self.streams[stream].following
        harmless = self._harmless[level]
        depth = min(harmless, len(self.loops))
        brought, missing = inside[depth].average.lines, 0.0
        while depth:
            depth -= 1
            if following[depth] < harmless:
                missing = max(missing, self._missing(stream, depth, following[depth], level))
                if missing == 1.0:
                    return brought * prod([loop.trips for loop in self.loops[: depth + 1]])
            new = (inside[depth].average.lines + self.torn(stream, depth, level)) / inside[depth + 1].average.lines
            trips = self.loops[depth].trips
            brought *= (1.0 - missing) * min(new, trips) + missing * trips
        return brought

    def torn(self, stream: int, depth: int, level: int) -> float:
        """Lines that the loop at ``depth`` uses in its first and its last iterations only and that are gone by then."""
        own = self.streams[stream].inside[depth]
        if depth >= len(self.loops):
            # All of its loops are shared with other nests.
            return 0.0
        place = self.loops[depth].walked.iterator - self.shared
        if not self.streams[stream].moves[depth] or not (torn := own.torn.get(place, 0.0)):
            return 0.0
        others = [(other.inside[depth], 1.0) for number, other in enumerate(self.streams) if number != stream]
        return torn * self._evicted(own, others, -1, level)

    @cached_property
    def _harmless(self) -> tuple[int, ...]:
        """By cache: the outermost depth inside of which nothing is evicted."""
        return tuple([self._first_harmless(level) for level in range(len(self.caches))])

    def _first_harmless(self, level: int) -> int:
        """The outermost depth so that no set ever holds more, of what the loops inside touch, than it has places for.

        Streams that are in use as a whole before and after count twice.
        """
        ways = self.caches[level].ways
        for depth in range(len(self.loops), -1, -1):
            most = 0
            for each in self.streams:
                once = depth == 0 or (depth < len(each.moves) and each.moves[depth])
                full = each.inside[depth].full
                most += full.most[level] if once else full.most_twice[level]
            if most > ways:
                return depth + 1
        return 0

    def _missing(self, stream: int, depth: int, inner: int, level: int) -> float:
        """The share of a stream that is gone when the loop at ``depth`` comes back to it.

        The loops from ``inner`` on run in between, once in full tiles and once in the last tile of each loop.
        """
        extents, ragged = self.extents[inner]
        if not ragged:
            least = sum([each.inside[inner].full.least[level] for each in self.streams])
            if least > self.caches[level].ways:
                return 1.0
        own = self.streams[stream].inside[inner]
        others = [
            (other.inside[inner], self._again(other, depth, inner))
            for number, other in enumerate(self.streams)
            if number != stream
        ]
        missing, full_share = 0.0, 1.0
        for place in ragged:
            extent = extents[place]
            share = (extent.last if place in own.last else extent.average) / extent.whole
            missing += share * self._evicted(own, others, place, level)
            full_share -= share
        return missing + max(0.0, full_share) * self._evicted(own, others, -1, level)

    def _evicted(self, inside: Inside, others: Sequence[tuple[Inside, float]], last: int, level: int) -> float:
        cache = self.caches[level]
        between = [each.last.get(last, each.full).occupancy[level].again(again, cache.sets) for each, again in others]
        return evicted(inside.last.get(last, inside.full).occupancy[level], tuple(between), cache)

    def _again(self, stream: NestStream, depth: int, inner: int) -> float:
        """How much of a stream lies between two iterations, relative to one execution of the loops from ``inner`` on.

        A stream that the loop at ``inner`` doesn't move is in use as a whole both before and after.
        """
        moves, inside = stream.moves, stream.inside
        if inner < len(moves) and moves[inner]:
            return 1.0
        used = inside[depth + 1].average.lines
        if moves[depth]:
            used += (inside[depth].average.lines - used) / (self.loops[depth].trips - 1.0)
        return min(2.0, used / inside[inner].average.lines)


@lru_cache(maxsize=_KEPT)
def misses_of(
    touched: tuple[ReferenceStream, ...],
    shared: int,
    bounds: Box,
    loops: tuple[SteppedLoop, ...],
    core: Core,
    caches: tuple[Geometry, ...],
    plain: bool,
    calls: bool = False,
) -> NestMisses:
    """What is known of a nest with these ``loops``, of which some may run only once."""
    repeated, extents = repeated_loops(shared, bounds, loops)
    ragged = [tuple([place for place, each in enumerate(inside) if each.last != each.full]) for inside in extents]
    streams = []
    for stream in touched:
        moves = _moves(stream, repeated)
        inside = _footprints(stream, moves, repeated, shared, bounds, core.line_bytes, caches)
        streams.append(NestStream(stream, moves, inside, _next_moving(moves)))
    return NestMisses(
        tuple(streams), repeated, tuple(map(Extents, extents, ragged)), shared, core, caches, plain, calls
    )


def _footprints(
    stream: ReferenceStream,
    moves: Sequence[bool],
    loops: Sequence[NestLoop],
    shared: int,
    bounds: Box,
    line_bytes: int,
    caches: tuple[Geometry, ...],
) -> tuple[Inside, ...]:
    """What a stream touches inside the first 0, 1, 2, … loops."""
    if stream.strides is None:
        elements = ((stream.element_bytes, float(stream.array_bytes // stream.element_bytes)),)
        everything = footprint(stream, elements, line_bytes, line_bytes, caches)
        return (Inside(everything, everything, {}, {}),) * (len(loops) + 1)
    own = tuple([loop.walked for loop, each in zip(loops, moves, strict=True) if each])
    different = _nested(stream, shared, bounds, own, line_bytes, caches)
    return tuple([different[number] for number in (0, *accumulate(moves))])


def nest_misses(
    scop: Scop,
    plan: NestPlan,
    core: Core,
    caches: tuple[Geometry, ...],
    block: tuple[int, int] | None = None,
) -> NestMisses:
    """What is known of a nest as it is planned. A microkernel keeps a ``block`` of rows and columns in registers.

    Variants whose loops are the same here share it, whatever microkernel runs the innermost ones and whatever is
    attached.
    """
    touched = streams(scop, plan.nest.statements)
    calls = plan.nest.call is not None
    plain = plan.microkernel is None and not calls
    loops = time_loops(scop, plan, block, core)
    return misses_of(touched, plan.nest.depth, plan.bounds, loops, core, caches, plain, calls)


@lru_cache(maxsize=4 * _KEPT)
def _nested(
    stream: ReferenceStream,
    shared: int,
    bounds: Box,
    loops: tuple[SteppedLoop, ...],
    line_bytes: int,
    caches: tuple[Geometry, ...],
) -> tuple[Inside, ...]:
    """A stream inside the first 0, 1, 2, ... of the loops that move it, whatever other loops lie between them."""
    strides = stream.strides
    assert strides is not None
    start = gcd(line_bytes, *strides[:shared])
    found = []
    for depth, extents in enumerate(repeated_loops(shared, bounds, loops)[1]):
        if depth:
            start = gcd(start, strides[loops[depth - 1].iterator] * loops[depth - 1].size)
        own = tuple([(place, extents[place]) for place, stride in enumerate(strides[shared:]) if stride])
        found.append(_inside(stream, shared, own, start, line_bytes, caches))
    return tuple(found)


@lru_cache(maxsize=1 << 14)
def _inside(
    stream: ReferenceStream,
    shared: int,
    extents: tuple[tuple[int, Extent], ...],
    start: int,
    line_bytes: int,
    caches: tuple[Geometry, ...],
) -> Inside:
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
    rows = {place: stride for (place, extent), stride in zip(extents, strides, strict=True) if extent.full > 1}
    lines = torn_lines(stream, steps, start, line_bytes, tuple(rows.values())) if rows else ()
    torn = {place: number for place, number in zip(rows, lines, strict=True) if number}
    return Inside(touched(average), touched(full), last, torn)


def _moves(stream: ReferenceStream, loops: Sequence[NestLoop]) -> tuple[bool, ...]:
    """Which loops move a stream."""
    strides = stream.strides
    return (True,) * len(loops) if strides is None else tuple([strides[loop.walked.iterator] > 0 for loop in loops])


def _next_moving(moves: Sequence[bool]) -> tuple[int, ...]:
    """For each loop the next one inside that moves the stream, or the number of loops."""
    found, following = [], len(moves)
    for depth in range(len(moves) - 1, -1, -1):
        found.append(following)
        if moves[depth]:
            following = depth
    return tuple(found[::-1])
