"""Algorithms 1 and 2 by enumeration: every instance in the order in which it runs, in NumPy arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np
import numpy.typing as npt
from nest_factory import Work

from polydl.ir.schedule import Loop, Schedule
from polydl.ir.scop import Scop
from polydl.ir.statement import AccessKind
from polydl.ir.working_sets import DependenceWorkingSet, WorkingSets
from polydl.reuse.caches import fit_caches

Integers = npt.NDArray[np.int64]
KINDS = {("write", "read"): "RAW", ("read", "write"): "WAR", ("write", "write"): "WAW", ("read", "read"): "RAR"}


@dataclass(frozen=True)
class _Trace:
    """The instances of one statement: their times [instance, level], and the linear elements of each access."""

    name: str
    times: Integers
    elements: list[tuple[AccessKind, str, Integers]]


@cache
def _compiled(expression: str) -> object:
    return compile(expression, "nest", "eval")


def _instances(work: Work) -> dict[str, Integers]:
    ranges = [np.arange(first, last + 1) for _, first, last in work.loops]
    grids = np.meshgrid(*ranges, indexing="ij") if ranges else []
    points = {name: grid.ravel() for (name, _, _), grid in zip(work.loops, grids, strict=True)}
    if work.condition:
        kept = np.broadcast_to(eval(work.condition.replace(" and ", " & "), {}, points), points[work.loops[0][0]].shape)
        points = {name: values[kept] for name, values in points.items()}
    return points


def _trace(work: Work, scop: Scop, dimensions: Sequence[int | Loop], levels: int) -> _Trace:
    points = _instances(work)
    count = len(next(iter(points.values()))) if points else 1
    names = work.iterators
    times = np.zeros((count, levels), dtype=np.int64)
    for level, d in enumerate(dimensions):
        times[:, level] = d if isinstance(d, int) else d.direction * ((points[names[d.iterator]] - d.origin) // d.size)
    elements: list[tuple[AccessKind, str, Integers]] = []
    for kind, name, subscripts in work.accesses:
        linear = np.zeros(count, dtype=np.int64)
        for subscript, stride in zip(subscripts, scop.array(name).strides, strict=True):
            linear += eval(_compiled(subscript), {}, points) * stride  # type: ignore[arg-type]
        elements.append((kind, name, linear))
    return _Trace(work.name, times, elements)


def enumerate_working_sets(
    works: Sequence[Work], scop: Scop, schedule: Schedule, caches: Sequence[int], *, line_bytes: int | None = None
) -> WorkingSets:
    """All but the method, which is left as that of the closed form."""
    dimensions = {work.name: schedule.of(work.name) for work in works}
    levels = max(len(each) for each in dimensions.values())
    traces = [_trace(work, scop, dimensions[work.name], levels) for work in works]
    found: dict[tuple[str, int, tuple[int, ...], tuple[int, ...], tuple[int, ...], str, str], set[str]] = {}
    for source, target in product(traces, repeat=2):
        parted = source.times[:, None] != target.times[None]
        level = np.where(parted.any(axis=2), parted.argmax(axis=2), levels)
        at = np.minimum(level, levels - 1)
        rows, columns = np.ogrid[: len(source.times), : len(target.times)]
        earlier = (level < levels) & (source.times[rows, at] < target.times[columns, at])
        # Ranks compare like times.
        _, ranks = np.unique(np.concatenate([source.times, target.times]), axis=0, return_inverse=True)
        first, second = np.split(ranks.reshape(-1), [len(source.times)])
        for (kind, array, one), (other_kind, other_array, other) in product(source.elements, target.elements):
            if array != other_array:
                continue
            meeting = np.where(earlier & (one[:, None] == other), level, levels)
            for carrier in set(np.unique(meeting).tolist()) - {levels}:
                pairs = meeting == carrier
                sources = np.nonzero(pairs.any(axis=1))[0]
                start = sources[first[sources].argmin()]
                targets = np.nonzero(pairs[start])[0]
                near, far = targets[second[targets].argmin()], targets[second[targets].argmax()]
                times = [tuple(map(int, t)) for t in (source.times[start], target.times[near], target.times[far])]
                key = (array, carrier, *times, source.name, target.name)
                found.setdefault(key, set()).add(KINDS[kind, other_kind])

    @cache
    def footprint(begin: tuple[int, ...], end: tuple[int, ...], length: int) -> tuple[int, int]:
        number = size = 0
        touched = {array.name: np.zeros(array.elements, dtype=bool) for array in scop.arrays}
        for trace in traces:
            inside = _not_before(trace.times, begin, length) & _not_before(-trace.times, [-t for t in end], length)
            for _, name, elements in trace.elements:
                touched[name][elements[inside]] = True
        for array in scop.arrays:
            used = touched[array.name]
            number += int(used.sum())
            if line_bytes is None:
                size += int(used.sum()) * array.element_bytes
            else:
                per_line = line_bytes // array.element_bytes
                padded = np.concatenate([used, np.zeros(-len(used) % per_line, dtype=bool)])
                size += int(padded.reshape(-1, per_line).any(axis=1).sum()) * line_bytes
        return number, size

    order = [array.name for array in scop.arrays]
    sets, sizes = [], []
    for reuse in sorted(found, key=lambda key: (order.index(key[0]), *key[1:])):
        array, carrier, begin, near, far, first_name, second_name = reuse
        loop = dimensions[first_name][carrier]
        parallel = isinstance(loop, Loop) and loop.parallel
        if parallel:
            low = high = footprint(begin, begin, carrier)
        else:
            low, high = footprint(begin, near, levels), footprint(begin, far, levels)
        sizes += [low[1]] if parallel or near == far else [low[1], high[1]]
        sets.append(
            DependenceWorkingSet(
                tuple(k for k in ("RAW", "WAR", "WAW", "RAR") if k in found[reuse]),
                array,
                first_name,
                second_name,
                loop.name if isinstance(loop, Loop) else "",
                parallel,
                low[0],
                high[0],
                low[1],
                high[1],
            )
        )
    held, memory = fit_caches(sizes, caches)
    return WorkingSets(tuple(sets), held, memory, "closed-form", line_bytes)


def _not_before(times: Integers, bound: Sequence[int], length: int) -> npt.NDArray[np.bool_]:
    """Which times, compared in their first ``length`` dimensions, are not before ``bound``."""
    apart = times[:, :length] - np.asarray(bound[:length], dtype=np.int64)
    if not length:
        return np.ones(len(times), dtype=bool)
    first = (apart != 0).argmax(axis=1)
    later: npt.NDArray[np.bool_] = apart[np.arange(len(times)), first] >= 0
    return later
