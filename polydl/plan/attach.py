"""Element-wise nests put inside the loops of others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from polydl.errors import IllegalVariantError
from polydl.ir.schedule import Loop
from polydl.ir.scop import Scop
from polydl.ir.variant import (
    Attach,
)
from polydl.match.alignment import aligned_loops
from polydl.plan.nest_plan import NestPlan, trips
from polydl.poly.domains import independent_loops


def attached(scop: Scop, plans: Sequence[NestPlan], steps: Sequence[Attach]) -> tuple[NestPlan, ...]:
    """The plans with element-wise nests put inside the loops of others.

    They share all of its loops over tiles of the output. Where a loop of a reduction lies outside of one of these, they
    run in its last iteration (or the first one); otherwise they come after all of the reduction, and before it.
    Raises IllegalVariantError if the loops can't be aligned, and for a chain: all of it is attached to the heavy nest.
    """
    made = list(plans)
    _check_links(plans, steps)
    for heavy in dict.fromkeys(_index_of(plans, step.to) for step in steps):
        own = [step for step in steps if _index_of(plans, step.to) == heavy]
        before = [step for step in own if step.place == "first"]
        ordered = [*before, None, *(step for step in own if step.place == "last")]
        depth = None
        for position, step in enumerate(ordered):
            if step is None:
                continue
            light = _index_of(plans, step.statement)
            depth, made[light] = _follower(scop, plans[heavy], plans[light], step, position)
        assert depth is not None
        inside = min(plans[_index_of(plans, step.statement)].nest.depth for step in own)
        made[heavy] = replace(plans[heavy], shared_depth=depth, position=len(before), unattached_depth=inside)
    return tuple(made)


def blocked_from(heavy: NestPlan, depth: int) -> bool:
    """Whether all loops of a nest but the ``depth`` outermost ones are unrolled: what is attached there is so, too."""
    return heavy.microkernel is None and depth < len(heavy.loops) and all(loop.unrolled for loop in heavy.loops[depth:])


def _index_of(plans: Sequence[NestPlan], statement: str) -> int:
    for index, plan in enumerate(plans):
        if statement in plan.nest.statements:
            return index
    raise IllegalVariantError(f"`attach`: there is no statement {statement}")


def _check_links(plans: Sequence[NestPlan], steps: Sequence[Attach]) -> None:
    """Raises IllegalVariantError for a nest that is attached twice, and for what is attached to one that is itself."""
    lights = [_index_of(plans, step.statement) for step in steps]
    for step, light in zip(steps, lights, strict=True):
        if lights.count(light) > 1:
            raise IllegalVariantError(f"`attach`: the nest of {step.statement} is attached more than once")
        if _index_of(plans, step.to) in lights:
            raise IllegalVariantError(
                f"`attach`: {step.statement} can't be attached to {step.to}, which is attached itself"
            )


def _follower(scop: Scop, heavy: NestPlan, light: NestPlan, step: Attach, position: int) -> tuple[int, NestPlan]:
    """Up to which loop the light nest shares those of the heavy one, and its plan."""
    if light.nest.call is not None:
        raise IllegalVariantError(f"`attach`: {step.statement} stands for a call, which would run in each iteration")
    shared = light.nest.depth
    one, other = (scop.statement(nest.nest.statements[0]) for nest in (heavy, light))
    pairs = aligned_loops(one, other, shared)
    same = shared == heavy.nest.depth and light.nest.prefix[:-1] == heavy.nest.prefix[:-1]
    if pairs is None or (shared and not same):
        light_place, heavy_place = (scop.statement(name).place for name in (step.statement, step.to))
        raise IllegalVariantError(f"`attach`: the loops of {light_place} can't be aligned with those of {heavy_place}")
    writing = [place for place, loop in enumerate(heavy.loops) if loop.iterator in pairs]
    depth = writing[-1] + 1 if writing else 0
    if heavy.microkernel is None:
        # Inside plain loops a test would cost as much as the work.
        counts = trips(heavy)
        summing = [p for p, loop in enumerate(heavy.loops) if loop.iterator not in pairs and counts[p] > 1]
        depth = min([depth, *summing])
    prefix: list[int | Loop] = []
    done = set()
    ranges = independent_loops(scop.statement(heavy.nest.statements[0]))
    for loop in (*heavy.nest.prefix, *heavy.loops[:depth]):
        if isinstance(loop, int) or loop.iterator < shared:
            prefix.append(loop)
        elif loop.iterator in pairs:
            iterator, ahead = pairs[loop.iterator]
            prefix.append(replace(loop, iterator=iterator, origin=loop.origin + ahead))
            done |= {iterator} if loop.size == 1 else set()
        else:
            if loop.iterator not in ranges:
                raise IllegalVariantError(
                    f"`attach`: the first and last iteration of `{loop.name}` depend on other loops"
                )
            low, high = ranges[loop.iterator]
            prefix.append(loop.last(low, high) if step.place == "last" else loop.first(low, high))
    nest = replace(light.nest, prefix=(*prefix, position))
    loops = tuple(loop for loop in light.loops if loop.iterator not in done)
    if blocked_from(heavy, depth):
        loops = tuple(replace(loop, unrolled=True) for loop in loops)
    return depth, replace(light, nest=nest, loops=loops, follows=heavy.nest.index)
