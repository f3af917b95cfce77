"""What would have to shrink for the data between two uses to fit into a smaller cache."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from polydl.ir.schedule import Loop
from polydl.ir.scop import Array, Scop
from polydl.ir.working_sets import DependenceWorkingSet
from polydl.plan.nest_plan import NestPlan, Plan


@dataclass(frozen=True)
class Shrink:
    """If ``loop`` ran over ``to`` values at a time inside the carrying loop instead of ``now``, the reuse would fit."""

    loop: str
    now: int
    to: int


def _ranges(plan: NestPlan, loops: tuple[Loop, ...], depth: int) -> dict[int, int]:
    ranges = {plan.nest.depth + place: high - low + 1 for place, (low, high) in enumerate(plan.bounds)}
    for loop in loops[:depth]:
        ranges[loop.iterator] = min(ranges[loop.iterator], loop.size)
    return ranges


def _box_bytes(scop: Scop, plan: NestPlan, ranges: dict[int, int]) -> int:
    """Bytes of the smallest boxes that hold what the nest accesses over so many values of each iterator."""
    boxes: dict[str, list[tuple[int, int]]] = {}
    for name in plan.nest.statements:
        for access in scop.statement(name).accesses:
            array = scop.array(access.array)
            spans = boxes.setdefault(access.array, [(extent, -1) for extent in array.extents])
            for dimension, extent in enumerate(array.extents):
                low, high = 0, extent - 1
                if access.subscripts is not None:
                    form = access.subscripts[dimension]
                    reach = [c * (ranges.get(i, 1) - 1) for i, c in enumerate(form.coefficients)]
                    low = form.constant + sum(step for step in reach if step < 0)
                    high = form.constant + sum(step for step in reach if step > 0)
                spans[dimension] = (min(spans[dimension][0], low), max(spans[dimension][1], high))
    return sum(_bytes(scop.array(name), spans) for name, spans in boxes.items())


def _bytes(array: Array, spans: list[tuple[int, int]]) -> int:
    sides = [min(extent, high - low + 1) for extent, (low, high) in zip(array.extents, spans, strict=True)]
    return prod(sides) * array.element_bytes


def shrink_to_fit(scop: Scop, plan: Plan, dependence: DependenceWorkingSet, capacity: int) -> Shrink | None:
    """The one loop that has to give up least for the nearest reuse to fit into ``capacity`` bytes.

    Data between two uses is what one iteration of the carrying loop touches, and the little around it. None if no
    loop alone is enough, or if the reuse is not carried by a loop of one nest.
    """
    nest = plan.nest_of(dependence.source)
    loops = (*nest.loops, *nest.inner)
    names = [loop.name for loop in loops]
    if dependence.loop not in names or dependence.target not in nest.nest.statements:
        return None
    # A dependence across a parallel loop needs all its iterations.
    depth = names.index(dependence.loop) + (0 if dependence.parallel else 1)
    ranges = _ranges(nest, loops, depth)
    around = max(0, dependence.minimum_bytes - _box_bytes(scop, nest, ranges))
    found: list[Shrink] = []
    for iterator, now in ranges.items():
        low, high = 0, now
        while low < high:
            middle = (low + high + 1) // 2
            if _box_bytes(scop, nest, {**ranges, iterator: middle}) + around <= capacity:
                low = middle
            else:
                high = middle - 1
        if 0 < low < now:
            found.append(Shrink(nest.nest.loops[iterator - nest.nest.depth], now, low))
    return max(found, key=lambda shrink: (shrink.to / shrink.now, shrink.loop), default=None)
