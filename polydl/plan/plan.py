"""A variant's steps applied to the nests of a scop: the complete schedule."""

from __future__ import annotations

from collections.abc import Sequence

from polydl.errors import IllegalVariantError
from polydl.ir.schedule import Loop, Schedule
from polydl.ir.scop import Scop
from polydl.ir.variant import Variant
from polydl.plan.attach import attached
from polydl.plan.nest_plan import NestPlan, Plan, loop_bounds
from polydl.plan.streaming import streamable
from polydl.plan.tile import check_vectors, planned_nest
from polydl.poly.nests import Nest


def make_plan(scop: Scop, nests: Sequence[Nest], variant: Variant) -> Plan:
    """Apply the steps. Raises IllegalVariantError for a step that names what isn't there.

    Whether the order keeps the dependences is not decided here (see ``polydl.poly.legality``).
    """
    known = {nest.index for nest in nests}
    if stray := variant.nests.keys() - known:
        raise IllegalVariantError(f"there is no nest {min(stray)}; the scop has {len(known)}")
    plans: tuple[NestPlan, ...] = tuple(
        planned_nest(
            nest,
            scop.statement(nest.statements[0]).directions,
            loop_bounds(scop, nest),
            variant.nest(nest.index),
        )
        for nest in nests
    )
    for plan in plans:
        check_vectors(scop, plan.nest, variant.nest(plan.nest.index))
        allowed = {array.name for array in streamable(scop, nests, plan.nest)} if plan.streamed else set()
        if stray_arrays := set(plan.streamed) - allowed:
            raise IllegalVariantError(
                f"`{min(stray_arrays)}` can't be written past the caches by nest {plan.nest.index}"
            )
    plans = attached(scop, plans, variant.attached)
    times: dict[str, tuple[int | Loop, ...]] = {}
    for plan in plans:
        for position, name in enumerate(plan.nest.statements):
            tail = (position,) if len(plan.nest.statements) > 1 else ()
            times[name] = (*plan.around, *plan.inner, *tail)
    return Plan(variant, plans, Schedule(tuple((s.name, times[s.name]) for s in scop.statements)))
