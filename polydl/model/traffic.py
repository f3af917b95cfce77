"""How much a plan moves into each level of cache, estimated from footprints (``misses``, ``footprints``).

``missed_lines`` predicts which lines miss, by nest, and knows what an earlier nest has left in a cache. ``traffic``
weighs them for rankers. Estimates, fast enough to rank hundreds of thousands of variants; how much each reuse needs
exactly is the business of ``polydl.reuse.working_sets``. ``docs/reference/cache-model.md`` compares them with simulated
caches.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import numpy as np

from polydl.ir.scop import Scop
from polydl.machine import Core
from polydl.model.cache_sets import Geometry, Occupancy, evicted, geometry
from polydl.model.misses import NestMisses, Touched, Walk, nest_misses
from polydl.plan.execution_counts import executions, tile_instances
from polydl.plan.nest_plan import NestPlan, Plan

# Points per dimension at which two nests' ways through an array are compared, and dimensions that are.
_POINTS = 10
_DIMENSIONS = 2

Places = np.ndarray[Any, np.dtype[np.int64]]
# Loops of a way through an array, outermost first: the dimension, and the tile of each of the points along it.
Visits = tuple[tuple[int, tuple[int, ...]], ...]


@dataclass(frozen=True)
class _Nest:
    """A nest beside the others."""

    plan: NestPlan
    #: what it brings into caches by itself
    alone: NestMisses
    #: how often the loops around it run it
    times: float
    #: numbers of the nests in the same loops, itself among them
    alike: tuple[int, ...]


# By the number of a nest, the rows and columns that its microkernel keeps in registers, where they are known.
Blocks = Mapping[int, tuple[int, int]]
NO_BLOCKS: Blocks = MappingProxyType({})


def _beside(scop: Scop, plan: Plan, caches: tuple[Geometry, ...], core: Core, blocks: Blocks) -> list[_Nest]:
    shared = [nest.shared for nest in plan.nests]
    return [
        _Nest(
            nest,
            nest_misses(scop, nest, core, caches, blocks.get(nest.nest.index)),
            executions(scop, nest),
            tuple([other for other, around in enumerate(shared) if around == own]),
        )
        for nest, own in zip(plan.nests, shared, strict=True)
    ]


def missed_lines(
    scop: Scop, plan: Plan, caches: Sequence[Geometry], core: Core, blocks: Blocks = NO_BLOCKS
) -> tuple[tuple[Mapping[str, float], ...], ...]:
    """For each nest and cache, the lines of each array that all its executions bring in; the caches start empty."""
    nests = _beside(scop, plan, tuple(caches), core, blocks)
    found = []
    for number, nest in enumerate(nests):
        per_cache: list[dict[str, float]] = [{} for _ in caches]
        for stream, each in enumerate(nest.alone.streams):
            array = each.stream.array
            for lines, level in zip(per_cache, _stream_misses(nests, number, stream), strict=True):
                lines[array] = lines.get(array, 0.0) + level
        found.append(tuple(per_cache))
    return tuple(found)


def traffic(
    scop: Scop,
    plan: Plan,
    caches: Sequence[int],
    core: Core,
    ways: Sequence[int] | None = None,
    blocks: Blocks = NO_BLOCKS,
    contracted: Collection[str] = (),
) -> tuple[tuple[int, ...], ...]:
    """For each nest, the bytes brought into each cache (of ``caches`` bytes), innermost first.

    Written lines count twice. What comes from beyond the second cache counts the more, the worse prefetchers keep up
    with the way that it is walked through. ``ways`` are the places that each cache has in a set, if known; ``blocks``
    those of microkernels in registers. Arrays that are ``contracted`` have the memory of one tile, which all nests find
    where it fits, with as much again.
    """
    known = ways if ways is not None else [None] * len(caches)
    nests = _beside(scop, plan, _geometries(tuple(caches), core, tuple(known)), core, blocks)
    found = []
    for number, nest in enumerate(nests):
        moved = [0.0] * len(caches)
        for stream, each in enumerate(nest.alone.streams):
            size = core.line_bytes * (2 if each.stream.written else 1)
            brought = _stream_misses(nests, number, stream)
            brought[1:] = [lines * nest.alone.slowdowns[stream] for lines in brought[1:]]
            if each.stream.array in contracted:
                brought = _left_where_it_fits(each.stream.array_bytes, brought, caches)
            elif nest.plan.follows is not None:
                brought = _left_by_leader(scop, nest.plan, each.stream.array, brought, caches)
            moved = [before + size * lines for before, lines in zip(moved, brought, strict=True)]
        found.append(tuple([round(size) for size in moved]))
    return tuple(found)


@lru_cache(maxsize=64)
def _geometries(caches: tuple[int, ...], core: Core, ways: tuple[int | None, ...]) -> tuple[Geometry, ...]:
    return tuple([geometry(size, core, each) for size, each in zip(caches, ways, strict=True)])


def _left_by_leader(scop: Scop, nest: NestPlan, array: str, brought: list[float], caches: Sequence[int]) -> list[float]:
    """An attached nest finds what the other one has just written wherever a tile of it fits, with as much again."""
    statements = [scop.statement(name) for name in nest.nest.statements]
    if all(access.array != array for s in statements for access in s.writes):
        return brought
    return _left_where_it_fits(tile_instances(nest) * scop.array(array).element_bytes, brought, caches)


def _left_where_it_fits(size: int, brought: list[float], caches: Sequence[int]) -> list[float]:
    """The lines that are brought into caches but those with room for twice so many bytes."""
    return [0.0 if 2 * size <= cache else lines for lines, cache in zip(brought, caches, strict=True)]


def _stream_misses(nests: Sequence[_Nest], number: int, stream: int) -> list[float]:
    """Lines of one stream of a nest that all its executions bring into each cache."""
    nest = nests[number].alone
    brought = [nests[number].times * nest.lines(stream, level) for level in range(len(nest.caches))]
    before = _used_before(nests, number, stream)
    if before is not None:
        earlier, between, repeats = before
        for level in range(len(brought)):
            cached = _still_cached(nests, number, stream, earlier, between, level)
            kept = cached * nest.streams[stream].whole.lines
            if not between:
                # What the last iterations used, of the lines that the first ones begin with, is there anyway.
                kept += (1.0 - cached) * nest.torn(stream, 0, level)
            brought[level] = max(0.0, brought[level] - repeats * kept)
    return brought


# --------------------------------------------------------------------------------------
# What another nest has left


def _used_before(nests: Sequence[_Nest], number: int, stream: int) -> tuple[int, list[int], float] | None:
    """The nest that used a stream's array last, the nests run since, and how often that is so; None if it is never.

    Only nests in the same loops count. Where none of them comes earlier, the last one of the iteration before does,
    or the nest itself.
    """
    nest = nests[number]
    own = nest.alone.streams[stream].stream
    earlier = [other for other in nest.alike if other < number]
    between: list[int] = []
    for other in reversed(earlier):
        if own.array in nests[other].alone.used:
            return other, between[::-1], nest.times
        between.append(other)
    moved = own.strides is None or any(own.strides[: nest.alone.shared])
    if nest.times <= 1.0 or moved:
        return None
    last = max(other for other in nest.alike if own.array in nests[other].alone.used)
    return last, [other for other in nest.alike if other > last or other < number], nest.times - 1.0


def _still_cached(
    nests: Sequence[_Nest], number: int, stream: int, earlier: int, between: Sequence[int], level: int
) -> float:
    """The share of a stream's lines that are still in a cache since the nest ``earlier``."""
    before, nest = nests[earlier].alone, nests[number].alone
    array = nest.streams[stream].stream.array
    touched = tuple([nests[other].alone.touched[level] for other in between])
    gone, room = _gone(array, before.touched[level], nest.touched[level], touched, nest.caches[level])
    if gone == 0.0 or room >= 1.0:
        return 1.0 - gone
    shares = _between(before.ways[array], nest.ways[array])
    return max(1.0 - gone, bisect_right(shares, room) / len(shares))


@lru_cache(maxsize=1 << 14)
def _gone(
    array: str, before: Touched, after: Touched, between: tuple[Touched, ...], cache: Geometry
) -> tuple[float, float]:
    """The share of an array's lines that leave a cache from one nest to a later one, and its size over all touched.

    Nests that are planned in other ways touch the same as a whole: few of all variants differ here.
    """
    # Between two uses of a line lie the end of the earlier nest and the beginning of this one.
    ends = [before.by_array, after.by_array]
    touched = {}
    for name in dict.fromkeys([*ends[0], *ends[1]]):
        found = [end[name] for end in ends if name in end]
        touched[name] = Occupancy(sum(o.lines for o in found) / 2, max(o.sets for o in found))
    for other in between:
        for name, occupancy in other.by_array.items():
            if name not in touched or occupancy.lines > touched[name].lines:
                touched[name] = occupancy
    gone = evicted(touched[array], tuple([o for name, o in touched.items() if name != array]), cache)
    return gone, cache.sets * cache.ways / sum(o.lines for o in touched.values())


@lru_cache(maxsize=1 << 14)
def _between(before: Walk, after: Walk) -> tuple[float, ...]:
    """For points all over an array, the share of all that is used between two ways through it, in ascending order.

    Between the use of a point on the first way and on the second, all comes by that follows it on the first or
    precedes it on the second. On two equal ways that is everything, for every point.
    """
    strides = tuple(dict.fromkeys(stride for stride, _, _ in (*before, *after)))[:_DIMENSIONS]
    if not strides:
        return (1.0,)
    return _shares_between(len(strides), _visits(before, strides), _visits(after, strides))


def _visits(walk: Walk, strides: tuple[int, ...]) -> Visits:
    """The loops of a way in the dimensions with these strides; only those that tell points apart, if there are any."""
    visits = [(strides.index(stride), _tiles(size, extent)) for stride, size, extent in walk if stride in strides]
    return tuple([visit for visit in visits if visit[1][-1]] or visits[:1])


@lru_cache(maxsize=1 << 10)
def _tiles(size: int, extent: int) -> tuple[int, ...]:
    """The tile of each of the points, evenly spread over a loop's iterations; tiles without points are left out."""
    tiles = (np.arange(_POINTS) + 0.5) / _POINTS * extent // size
    return tuple(np.unique(tiles, return_inverse=True)[1].tolist())


@lru_cache(maxsize=1 << 12)
def _shares_between(dimensions: int, before: Visits, after: Visits) -> tuple[float, ...]:
    first, second = _places(dimensions, before), _places(dimensions, after)
    used = (first[:, None] < first) | (second[:, None] > second)
    return tuple(np.sort(np.count_nonzero(used, axis=1) / len(used)).tolist())


@lru_cache(maxsize=1 << 10)
def _places(dimensions: int, visits: Visits) -> Places:
    """When each of the points, evenly spread over all dimensions, comes on a way."""
    points = np.indices((_POINTS,) * dimensions).reshape(dimensions, -1)
    keys = [np.array(tiles)[points[dimension]] for dimension, tiles in visits]
    return np.argsort(np.lexsort(keys[::-1])) if keys else np.zeros(points.shape[1], np.int64)
