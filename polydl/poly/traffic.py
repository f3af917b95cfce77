"""How many bytes a plan moves into each level of cache, estimated from the footprints of its loops.

For one nest and one cache, find the outermost loop whose body's data fits. Everything inside runs from that
cache; each array's data for one more loop outwards must be brought in once per iteration of the loops around
that one, since consecutive iterations of the loop itself find what they share still there. A fast estimate
for ranking; what each level can hold exactly is the business of ``polydl.poly.reuse``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from polydl.poly.plans import NestPlan, Plan
from polydl.types import Access, Array, Loop, Scop

# Some of a cache is always taken by what the model doesn't see.
_USABLE = 0.9
# What a prefetcher could have fetched while it was finding the next run.
_START_BYTES = 128


def inner_ranges(plan: NestPlan, loops: Sequence[Loop], depth: int) -> dict[int, int]:
    """Iterations that each own iterator of the nest runs through inside the first ``depth`` loops."""
    ranges = {plan.nest.depth + position: high - low + 1 for position, (low, high) in enumerate(plan.bounds)}
    for loop in loops[:depth]:
        ranges[loop.iterator] = min(ranges[loop.iterator], loop.size)
    return ranges


def trips(plan: NestPlan) -> tuple[int, ...]:
    """Iterations of each time loop, for one execution of it."""
    loops = (*plan.loops, *plan.inner)
    return tuple(-(-inner_ranges(plan, loops, depth)[loop.iterator] // loop.size) for depth, loop in enumerate(loops))


def _spans(array: Array, accesses: Sequence[Access], ranges: dict[int, int]) -> list[int]:
    """Extent of the smallest box that holds all elements accessed, per dimension."""
    spans = []
    for dimension, extent in enumerate(array.extents):
        lows, highs = [], []
        for access in accesses:
            if access.subscripts is None:
                lows, highs = [0], [extent - 1]
                break
            form = access.subscripts[dimension]
            reach = [c * (ranges.get(iterator, 1) - 1) for iterator, c in enumerate(form.coefficients)]
            lows.append(form.constant + sum(r for r in reach if r < 0))
            highs.append(form.constant + sum(r for r in reach if r > 0))
        spans.append(min(extent, max(highs) - min(lows) + 1))
    return spans


def _footprint(array: Array, spans: Sequence[int], line_bytes: int) -> int:
    """Bytes of the cache lines that the box touches, lines counted whole."""
    run, outer = 1, 1
    joined = True
    for span, extent in zip(reversed(spans), reversed(array.extents), strict=True):
        if joined:
            run *= span
            joined = span == extent
        else:
            outer *= span
    return outer * -(-run * array.element_bytes // line_bytes) * line_bytes


def _run_bytes(scop: Scop, access: Access, loops: Sequence[Loop], counts: Sequence[int]) -> int:
    """Bytes that the innermost loops walk through one after the other before they jump."""
    array = scop.array(access.array)
    if access.subscripts is None:
        return array.element_bytes
    run = 1
    for loop, count in zip(reversed(loops), reversed(counts), strict=True):
        if count == 1:
            continue
        stride = loop.size * sum(
            step * form.coefficients[loop.iterator] for step, form in zip(array.strides, access.subscripts, strict=True)
        )
        if stride not in (0, run):
            break
        run *= count if stride else 1
    return run * array.element_bytes


def nest_traffic(scop: Scop, plan: NestPlan, caches: Sequence[int], line_bytes: int) -> tuple[int, ...]:
    """Bytes that one execution of the nest brings into each cache, innermost first.

    Written lines count twice. Data that is walked through in short runs counts more, up to three times for single
    lines: prefetchers need a start each time.
    """
    loops = (*plan.loops, *plan.inner)
    counts = trips(plan)
    by_array: dict[str, list[Access]] = {}
    for name in plan.nest.statements:
        for access in scop.statement(name).accesses:
            by_array.setdefault(access.array, []).append(access)
    weights = {
        name: (2 if any(a.kind == "write" for a in uses) else 1)
        * (1 + _START_BYTES / max(line_bytes, min(_run_bytes(scop, a, loops, counts) for a in uses)))
        for name, uses in by_array.items()
    }
    footprints: list[dict[str, int]] = []
    for depth in range(len(loops) + 1):
        ranges = inner_ranges(plan, loops, depth)
        footprints.append(
            {
                name: _footprint(scop.array(name), _spans(scop.array(name), uses, ranges), line_bytes)
                for name, uses in by_array.items()
            }
        )
    found = []
    for capacity in caches:
        fits = next((d for d in range(len(loops) + 1) if sum(footprints[d].values()) <= _USABLE * capacity), len(loops))
        # Loops of one iteration bring in nothing new.
        around = fits - 1
        while around > 0 and counts[around] == 1:
            around -= 1
        around = max(around, 0)
        executions = prod(counts[:around])
        found.append(round(sum(weights[name] * size * executions for name, size in footprints[around].items())))
    return tuple(found)


def traffic(scop: Scop, plan: Plan, caches: Sequence[int], line_bytes: int) -> tuple[tuple[int, ...], ...]:
    """``nest_traffic`` of each nest, times the executions of it by loops that it shares with others."""
    found = []
    for nest in plan.nests:
        shared = 1
        first = scop.statement(nest.nest.statements[0])
        if nest.nest.depth:
            own = prod(high - low + 1 for low, high in nest.bounds)
            shared = max(1, first.instances // max(1, own))
        found.append(tuple(shared * moved for moved in nest_traffic(scop, nest, caches, line_bytes)))
    return tuple(found)
