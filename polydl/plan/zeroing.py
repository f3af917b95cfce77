"""Zeroing passes that a microkernel's first call on each tile makes superfluous.

A nest that sets to zero what a matrix product then adds to, and that a variant attaches to the product's tiles, needs
no code of its own if the microkernel can write a tile without reading it (beta = 0).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from polydl.contracts import Microkernel
from polydl.ir.scop import Scop
from polydl.ir.statement import Access
from polydl.match.zero import sets_to_zero
from polydl.plan.nest_plan import NestPlan, Plan
from polydl.poly.domains import independent_loops, sums_run_alike
from polydl.poly.texts import map_of


def absorbed(scop: Scop, plan: Plan, kernels: Mapping[str, Microkernel]) -> dict[int, int]:
    """Nests that are left out, by index, each with the nest whose microkernel overwrites instead."""
    found: dict[int, int] = {}
    by_index = {nest.nest.index: nest for nest in plan.nests}
    for light in plan.nests:
        heavy = by_index.get(light.follows) if light.follows is not None else None
        if heavy is None or heavy.microkernel is None or heavy.position is None:
            continue
        *_, own = light.nest.prefix
        statements = [scop.statement(name) for name in light.nest.statements]
        if (
            own == heavy.position - 1
            and len(statements) == 1
            and sets_to_zero(statements[0])
            and _are_the_same(statements[0].writes[0], scop.statement(heavy.nest.statements[0]).writes[0])
            # Threads that add up copies of the output begin theirs with zeros, and leave what the output was.
            and not any(loop.combined for loop in (*heavy.shared, *heavy.loops))
            and "overwrite" in kernels[heavy.microkernel.name].abilities
            and _first_is_fixed(scop, heavy)
        ):
            found[light.nest.index] = heavy.nest.index
    return found


def _are_the_same(one: Access, other: Access) -> bool:
    """Whether two accesses touch the same elements of one array."""
    return one.array == other.array and _same_range(one.relation, other.relation)


@lru_cache(maxsize=4096)
def _same_range(one: str, other: str) -> bool:
    return bool(map_of(one).range().is_equal(map_of(other).range()))


def _first_is_fixed(scop: Scop, heavy: NestPlan) -> bool:
    around = [each.iterator for each in (*heavy.shared, *heavy.loops)]
    return sums_run_alike(scop.statement(heavy.nest.statements[0]), around)


def first_values(scop: Scop, plan: NestPlan, moves_output: Mapping[int, bool]) -> tuple[tuple[int, int], ...]:
    """The loops around a nest's calls, shared ones first, that don't move the output.

    Each is given by its place among them all, with its value in its first iteration. Loops inside of which sums begin
    anew are left out.
    """
    ranges = independent_loops(scop.statement(plan.nest.statements[0]))
    found = []
    for place, loop in enumerate((*plan.shared, *plan.loops)):
        if place >= plan.unattached_depth and not moves_output[loop.iterator]:
            found.append((place, loop.first(*ranges[loop.iterator])))
    return tuple(found)
