"""What a ranker sees of a variant: predicted cycles, bytes moved, calls and parallel iterations of each nest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polydl.codegen import transforms
from polydl.codegen.kernel import make_site, with_epilogue
from polydl.codegen.next_tile import NextTile, copied_inside
from polydl.contracts import Candidate
from polydl.ir.kernel import MicrokernelUse
from polydl.ir.variant import Variant
from polydl.ir.working_sets import WorkingSets
from polydl.machine import Machine
from polydl.model.plain_loops import cycles as plain_cycles
from polydl.model.plain_loops import finishing_cycles
from polydl.model.tile_copies import waiting_cycles
from polydl.model.traffic import traffic
from polydl.plan.plan import Plan, parallel_iterations, parallel_starts
from polydl.plan.zeroing import absorbed

if TYPE_CHECKING:
    from polydl.variants.generate import VariantSpace


def predicted_candidate(
    space: VariantSpace, variant: Variant, plan: Plan, working_sets: WorkingSets, machine: Machine
) -> Candidate:
    """The variant of the space, whose rewrites it has, planned there."""
    matches = space.matches(plan)
    uses: list[MicrokernelUse] = []
    cycles: list[float] = []
    calls: list[int] = []
    tiles: dict[int, NextTile] = {}
    finished: set[int] = set()
    blocks: dict[int, tuple[int, int]] = {}
    zeroed = absorbed(space.scop, plan, space.kernels)
    for nest in plan.nests:
        if nest.nest.index in zeroed:
            cycles.append(0.0)
            calls.append(0)
            continue
        statements = [space.scop.statement(name) for name in nest.nest.statements]
        width = max(space.scop.array(s.writes[0].array).element_bytes for s in statements)
        vector_elements = max(1, machine.vector_bytes // width)
        if nest.microkernel is not None:
            index = nest.nest.index
            kernel = space.kernels[nest.microkernel.name]
            site = make_site(space.scop, nest, matches[index], kernel, overwrites=index in zeroed.values())
            site = with_epilogue(space.scop, plan, site, machine.vector_bytes)
            finished |= {*site.epilogue.nests} if site.epilogue else set()
            uses.append(site.use)
            if site.next_tile is not None:
                tiles[index] = site.next_tile
            cycles.append(site.predicted_cycles(vector_elements))
            calls.append(site.calls)
            if block := site.register_block(vector_elements):
                blocks[index] = block
        elif nest.nest.transform is not None:
            cycles.append(transforms.cycles(statements[0], nest.nest.transform, vector_elements))
            calls.append(0)
        elif nest.nest.index in finished:
            cycles.append(finishing_cycles(space.scop, nest, vector_elements))
            calls.append(0)
        else:
            found = space.directions[nest.nest.index]
            waiting = waiting_cycles(space.scop, nest.nest)
            cycles.append(plain_cycles(space.scop, nest, found, vector_elements) + waiting)
            calls.append(0)
    sizes = [level.bytes for level in machine.caches]
    moved = traffic(space.scop, plan, sizes, machine.caches[0].line_bytes, blocks=blocks)
    cycles, moved = copied_inside(plan, tiles, cycles, moved)
    return Candidate(
        variant=variant,
        working_sets=working_sets,
        cycles=tuple(cycles),
        traffic=moved,
        parallel_iterations=parallel_iterations(space.scop, plan),
        starts=parallel_starts(space.scop, plan),
        microkernels=tuple(uses),
        calls=tuple(calls),
        flops=space.scop.flops,
        footprint=space.scop.footprint,
    )
