"""How often nests run, and on how many iterations of parallel loops."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, prod

from polydl.ir.schedule import Loop
from polydl.ir.scop import Scop
from polydl.plan.nest_plan import NestPlan, Plan, trips


def parallel_iterations(scop: Scop, plan: Plan, threads: int) -> tuple[float, ...]:
    """Per nest, the iterations of the parallel loops that run it, if all were alike; 1 where nothing is parallel."""
    by_index = {each.nest.index: each for each in plan.nests}
    found: list[float] = []
    for nest in plan.nests:
        owner = nest if nest.follows is None else by_index[nest.follows]
        box = scop.statement(owner.nest.statements[0]).box
        running: list[float] = []
        for loop in owner.nest.prefix:
            if isinstance(loop, Loop) and loop.parallel and box is not None:
                low, high = box[loop.iterator]
                running = [high - low + 1]
        ranges = [high - low + 1 for low, high in owner.bounds]
        for loop in owner.loops[: owner.shared_depth] if nest.follows is not None else owner.loops:
            place = loop.iterator - owner.nest.depth
            if loop.parallel:
                running.append(max(1.0, ranges[place] / loop.size))
            ranges[place] = min(ranges[place], loop.size)
        found.append(equal_iterations(running, threads))
    return tuple(found)


def equal_iterations(counts: Sequence[float], threads: int) -> float:
    """How many iterations that are alike leave the busiest thread the part that it runs of nested parallel loops.

    A shorter last tile counts as the part of a tile that it is. Each thread gets a run of iterations, the first one a
    run of the longest. Of one loop it has no shorter tile, of several it may have the inner ones'.
    """
    total = prod(counts, start=1.0)
    if len(counts) < 2 or all(float(each).is_integer() for each in counts):
        return total
    most = -(-prod(map(ceil, counts)) // threads)
    return min(float(threads), total / _first(counts, most))


def _first(counts: Sequence[float], count: int) -> float:
    """The first ``count`` iterations of nested loops, in whole ones."""
    if not counts:
        return 1.0
    inner = counts[1:]
    rows, rest = divmod(count, prod(map(ceil, inner)))
    begun = min(1.0, counts[0] - rows) * _first(inner, rest) if rest else 0.0
    return min(rows, counts[0]) * prod(inner) + begun


def executions(scop: Scop, plan: NestPlan) -> float:
    """How often loops around the nest run it; a fraction where its domain is smaller than the box around it."""
    first = scop.statement(plan.nest.statements[0])
    return first.instances / max(1, prod(high - low + 1 for low, high in plan.bounds))


def parallel_starts(scop: Scop, plan: Plan) -> tuple[int, ...]:
    """Per nest, how often its own parallel loop starts; 0 if it has none, or runs with another nest's loops."""
    found = []
    for nest in plan.nests:
        place = next((place for place, loop in enumerate(nest.loops) if loop.parallel), None)
        if place is None or nest.follows is not None:
            found.append(0)
            continue
        found.append(max(1, round(executions(scop, nest))) * prod(trips(nest)[:place]))
    return tuple(found)


def tile_instances(nest: NestPlan) -> int:
    """Instances of an attached nest's statement in one execution, all loops around it being full."""
    assert nest.follows is not None
    total = 1
    for loop in nest.loops:
        low, high = nest.bounds[loop.iterator - nest.nest.depth]
        total *= min([high - low + 1, *(each.size for each in nest.shared if each.iterator == loop.iterator)])
    return total
