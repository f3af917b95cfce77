"""Explanation of a working set: the loop that would have to shrink for it to fit into a smaller cache."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from polydl.ir.schedule import Loop
from polydl.ir.scop import Array, Scop
from polydl.ir.working_sets import DependenceWorkingSet
from polydl.plan.nest_plan import NestPlan, Plan


@dataclass(frozen=True)
class Shrink:
    """A working set would fit if a loop had fewer iterations inside of the loop that carries the reuse."""

    #: name of the loop to tile
    loop: str
    #: its iterations inside of the carrying loop
    now: int
    #: the most iterations with which the working set fits
    to: int


def _ranges(plan: NestPlan, loops: tuple[Loop, ...], depth: int) -> dict[int, int]:
    """``{iterator: values}`` that the nest's iterators take in one iteration of the ``depth`` outermost loops."""
    ranges = {plan.nest.depth + index: high - low + 1 for index, (low, high) in enumerate(plan.bounds)}
    for loop in loops[:depth]:
        ranges[loop.iterator] = min(ranges[loop.iterator], loop.size)
    return ranges


def _box_bytes(scop: Scop, plan: NestPlan, ranges: dict[int, int]) -> int:
    """Bytes of the bounding boxes of all elements that the nest accesses; ``ranges`` has each iterator's values."""
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
    """The loop that needs to shrink by the smallest factor for the nearest reuse to fit into ``capacity`` bytes.

    The data between two uses is approximately that of one iteration of the carrying loop. None if shrinking one loop
    is never enough, and if no loop inside of one nest carries the dependence.
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
    shrinks: list[Shrink] = []
    for iterator, now in ranges.items():
        low, high = 0, now
        while low < high:
            middle = (low + high + 1) // 2
            if _box_bytes(scop, nest, {**ranges, iterator: middle}) + around <= capacity:
                low = middle
            else:
                high = middle - 1
        if 0 < low < now:
            shrinks.append(Shrink(nest.nest.loops[iterator - nest.nest.depth], now, low))
    return max(shrinks, key=lambda shrink: (shrink.to / shrink.now, shrink.loop), default=None)
