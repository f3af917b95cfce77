"""Which cache lines a box of iterations touches, and how evenly they fall into the sets of a cache.

The references of a nest to one array that move alike are one *stream*: over a box of iterations it touches runs of
bytes that follow each other at fixed distances. That is all that is needed to count lines, and to see that rows
4096 bytes apart compete for the same few sets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, gcd, prod
from typing import NamedTuple

from polydl.ir.scop import Scop
from polydl.model.cache_sets import Geometry, Occupancy

# Runs that begin within a line are told apart by this many parts of it.
_PARTS = 4

Steps = tuple[tuple[int, float], ...]


@dataclass(frozen=True, eq=False)
class ReferenceStream:
    """References to one array whose addresses move alike. Compared by identity, so that it is a cheap key."""

    array: str
    #: bytes from one iteration of each of the statement's iterators to the next, without sign; None where that is not
    #: known, and every element may be touched at any time
    strides: tuple[int, ...] | None
    #: how far apart the references themselves lie, as (bytes, count), such as the five points of a stencil
    spread: Steps
    #: of one element of the array
    element_bytes: int
    #: of the whole array
    array_bytes: int
    #: whether one of the statements writes the array
    written: bool


@dataclass(frozen=True)
class Footprint:
    """Lines that a stream touches, on average, and how they fall into the sets of each cache."""

    #: their average number
    lines: float
    #: of each cache
    occupancy: tuple[Occupancy, ...]
    #: the fewest lines that any one set holds of them, in each cache
    least: tuple[int, ...]
    #: the most lines that any one set holds of them, in each cache
    most: tuple[int, ...]
    #: the same if they were twice as many
    most_twice: tuple[int, ...]


_streams: dict[tuple[str, tuple[str, ...]], tuple[ReferenceStream, ...]] = {}


def streams(scop: Scop, statements: tuple[str, ...]) -> tuple[ReferenceStream, ...]:
    """What the statements touch. They have the same iterators."""
    key = (scop.digest, statements)
    if key not in _streams:
        if len(_streams) >= 1024:
            _streams.clear()
        _streams[key] = _find_streams(scop, statements)
    return _streams[key]


def _find_streams(scop: Scop, statements: Sequence[str]) -> tuple[ReferenceStream, ...]:
    offsets: dict[tuple[str, tuple[int, ...] | None], set[int]] = {}
    written = set()
    for statement in map(scop.statement, statements):
        for access in statement.accesses:
            array = scop.array(access.array)
            strides, offset = None, 0
            if access.subscripts is not None:
                forms = list(zip(array.strides, access.subscripts, strict=True))
                strides = tuple(
                    array.element_bytes * sum(step * form.coefficients[iterator] for step, form in forms)
                    for iterator in range(statement.depth)
                )
                offset = array.element_bytes * sum(step * form.constant for step, form in forms)
            offsets.setdefault((array.name, strides), set()).add(offset)
            if access.kind == "write":
                written.add(array.name)
    found = []
    for (name, signed), places in offsets.items():
        array = scop.array(name)
        strides = None if signed is None else tuple(abs(stride) for stride in signed)
        steps = {array.element_bytes * step for step in array.strides}
        found.append(
            ReferenceStream(
                array=name,
                strides=strides,
                spread=_spread(places, steps.union(stride for stride in strides or () if stride)),
                element_bytes=array.element_bytes,
                array_bytes=array.bytes,
                written=name in written,
            )
        )
    return tuple(found)


def _spread(offsets: set[int], steps: set[int]) -> Steps:
    """The offsets as a box over ``steps``: each is written as a sum of multiples of them, the largest first."""
    ranges = dict.fromkeys(sorted(steps, reverse=True), (0, 0))
    least = min(offsets)
    for offset in offsets:
        rest = offset - least
        for step, (low, high) in ranges.items():
            count = round(rest / step)
            rest -= count * step
            ranges[step] = min(low, count), max(high, count)
    return tuple((step, float(high - low + 1)) for step, (low, high) in ranges.items() if high > low)


@lru_cache(maxsize=1 << 14)
def footprint(
    stream: ReferenceStream, ranges: Steps, start: int, line_bytes: int, caches: tuple[Geometry, ...]
) -> Footprint:
    """What a box touches. ``ranges`` are (stride, iterations); its first byte lies in a line at a multiple of
    ``start`` bytes, at any of them as often.
    """
    covered = _covered(stream, ranges, start, line_bytes, None)
    lines = float(min(_lines(covered, line_bytes), -(-stream.array_bytes // line_bytes)))
    sets = {
        number: _sets(covered.run, covered.steps, line_bytes, number, lines)
        for number in {cache.sets for cache in caches}
    }
    held = tuple([Occupancy(lines, sets[cache.sets]) for cache in caches])
    return Footprint(
        lines,
        held,
        least=tuple([each.least(cache.sets) for each, cache in zip(held, caches, strict=True)]),
        most=tuple([each.most() for each in held]),
        most_twice=tuple([Occupancy(2 * lines, each.sets).most() for each in held]),
    )


@lru_cache(maxsize=1 << 14)
def torn_lines(
    stream: ReferenceStream, ranges: Steps, start: int, line_bytes: int, strides: tuple[int, ...]
) -> tuple[float, ...]:
    """How many lines of a box hold the end of one row and the beginning of the next, for rows of several kinds: what
    iterations so many bytes apart run through. The loop over them uses such lines in its first and last iterations.
    """
    whole = _covered(stream, ranges, start, line_bytes, None)
    if min(strides) >= whole.longest:
        return (0.0,) * len(strides)
    lines = _lines(whole, line_bytes)
    return tuple(
        [
            max(0.0, _lines(_covered(stream, ranges, start, line_bytes, stride), line_bytes) - lines)
            if stride < whole.longest
            else 0.0
            for stride in strides
        ]
    )


class _Covered(NamedTuple):
    """Runs of bytes without gaps as long as a line."""

    #: bytes in the lines of one run
    run: float
    #: (bytes, count) from run to run
    steps: list[tuple[int, float]]
    #: the longest stride in bytes that a run goes on over, 0 for none
    longest: int


def _lines(covered: _Covered, line_bytes: int) -> float:
    return prod([count for _, count in covered.steps]) * covered.run / line_bytes


def _covered(stream: ReferenceStream, ranges: Steps, start: int, line_bytes: int, most: int | None) -> _Covered:
    """The runs of a box. Strides of more than ``most`` bytes lead from run to run even where there is no gap."""
    run, steps, longest = _runs((*ranges, *stream.spread), stream.element_bytes, line_bytes, most)
    for step, _ in steps:
        start = gcd(start, step)
    if start > stream.element_bytes:
        run = ceil(run / start - 1e-9) * start
    # A run shares its first line with what lies before it: on average, of all the places where it may begin.
    return _Covered(run + line_bytes - start, steps, longest)


def _runs(
    ranges: Steps, element_bytes: int, line_bytes: int, most: int | None
) -> tuple[float, list[tuple[int, float]], int]:
    """Bytes of one run, (bytes, count) from run to run, and the longest stride that a run goes on over."""
    counts: dict[int, float] = {}
    for stride, count in ranges:
        counts[stride] = counts.get(stride, 1.0) + count - 1.0
    run, longest = float(element_bytes), 0
    steps: list[tuple[int, float]] = []
    for stride in sorted(counts):
        count = counts[stride]
        if count <= 1.0:
            continue
        if not steps and stride - run < line_bytes and (most is None or stride <= most):
            run += (count - 1.0) * stride
            longest = stride
        elif steps and stride % steps[-1][0] == 0 and stride <= steps[-1][0] * steps[-1][1]:
            last, times = steps[-1]
            steps[-1] = (last, times + (count - 1.0) * (stride // last))
        else:
            steps.append((stride, count))
    return run, steps, longest


def _sets(run: float, steps: Sequence[tuple[int, float]], line_bytes: int, sets: int, lines: float) -> float:
    """How many sets the runs fall into: where they lie modulo the bytes after which sets repeat, in parts of lines."""
    unit = line_bytes / _PARTS
    period = sets * _PARTS
    everywhere = (1 << period) - 1
    mask = (1 << min(period, ceil(run / unit - 1e-9))) - 1
    for step, count in steps:
        reached, wanted = 1, ceil(count - 1e-9)
        while reached < wanted and mask != everywhere:
            more = min(reached, wanted - reached)
            shift = round(more * step / unit) % period
            mask |= (mask << shift | mask >> (period - shift)) & everywhere
            reached += more
    return max(1.0, min(mask.bit_count() / _PARTS, lines))
