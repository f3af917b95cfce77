"""What a ranker sees of a variant: predicted cycles, bytes moved, calls and parallel iterations of each nest."""

from __future__ import annotations

from dataclasses import replace
from itertools import compress

from polydl.contracts import Candidate
from polydl.contracts.first_cache import waiting_cycles
from polydl.ir.scop import Scop
from polydl.ir.working_sets import WorkingSets
from polydl.machine import Machine
from polydl.model.calls import call_cycles, register_block
from polydl.model.plain_loops import cycles as plain_cycles
from polydl.model.plain_loops import finishing_cycles
from polydl.model.tile_copies import copied_inside
from polydl.model.tile_copies import waiting_cycles as copy_waiting_cycles
from polydl.model.traffic import traffic
from polydl.model.transforms import transform_cycles
from polydl.plan.apply import Applied
from polydl.plan.attach import blocked_from
from polydl.plan.execution_counts import parallel_iterations, parallel_starts
from polydl.plan.nest_plan import NestPlan
from polydl.plan.rewrite_steps import families


def predicted_candidate(applied: Applied, working_sets: WorkingSets, machine: Machine) -> Candidate:
    """What rankers see of an applied variant whose working sets are known. What is prepared takes no time."""
    (scop, plan), sites = applied.modelled, applied.sites
    finished, prepared = applied.finished, applied.prepared
    running = [nest.nest.index not in prepared.nests for nest in plan.nests]
    left = applied.rewritten.without(prepared.statements) if prepared.nests else applied.rewritten.scop
    footprint = left.footprint - sum(
        left.array(each.array.name).bytes - each.array.bytes for each in applied.contractions
    )
    cycles = [
        _nest_cycles(applied, nest, finished, machine) if runs else 0.0
        for nest, runs in zip(plan.nests, running, strict=True)
    ]
    blocks = {
        index: block
        for index, site in sites.items()
        if (block := register_block(site, _vector_elements(applied, site.plan, machine)))
    }
    sizes = [level.bytes for level in machine.caches]
    called = plan if all(running) else replace(plan, nests=tuple(compress(plan.nests, running)))
    contracted = {each.array.name for each in applied.contractions}
    rows = iter(traffic(scop, called, sizes, machine.core, blocks=blocks, contracted=contracted))
    moved = tuple(next(rows) if runs else (0,) * len(sizes) for runs in running)
    # Where all arrays fit into the first-level cache, they stay there from one run to the next.
    if footprint > machine.core.first_cache_bytes:
        for place, nest in enumerate(plan.nests):
            site = sites.get(nest.nest.index)
            if site and site.kernel.waits(site.gemm.element, _vector_elements(applied, nest, machine)):
                cycles[place] += waiting_cycles(moved[place][0], machine.core)
    tiles = {index: site.next_tile for index, site in sites.items() if site.next_tile is not None}
    cycles, moved = copied_inside(plan, tiles, cycles, moved)
    return Candidate(
        variant=applied.variant,
        working_sets=working_sets,
        cycles=tuple(cycles),
        traffic=moved,
        parallel_iterations=parallel_iterations(scop, plan, machine.threads),
        starts=tuple(starts if runs else 0 for starts, runs in zip(parallel_starts(scop, plan), running, strict=True)),
        microkernels=tuple(use for use in applied.uses if use.nest not in prepared.nests),
        calls=tuple(
            sites[nest.nest.index].calls if runs and nest.nest.index in sites else 0
            for nest, runs in zip(plan.nests, running, strict=True)
        ),
        flops=left.flops,
        footprint=footprint,
        constant_bytes=_constant_bytes(left, prepared.bytes),
        families=families(applied.variant.rewrites),
    )


def _constant_bytes(running: Scop, prepared_bytes: int) -> int:
    """What a run reads of constants, without the statements that prepare them, and of the buffer that they fill."""
    if not running.constants:
        return 0
    read = {access.array for statement in running.statements for access in statement.reads}
    return prepared_bytes + sum(running.array(name).bytes for name in read.intersection(running.constants))


def _vector_elements(applied: Applied, nest: NestPlan, machine: Machine) -> int:
    """Elements of a vector of the widest type that a nest writes."""
    statements = [applied.scop.statement(name) for name in nest.nest.statements]
    width = max(applied.scop.array(statement.writes[0].array).element_bytes for statement in statements)
    return machine.vector_elements(width)


def _nest_cycles(applied: Applied, nest: NestPlan, finished: frozenset[int], machine: Machine) -> float:
    """Core cycles of a nest's arithmetic, operands in the first-level cache; ``finished`` are those in epilogues."""
    (scop, _), index = applied.modelled, nest.nest.index
    if index in applied.absorbed:
        return 0.0
    vector_elements = _vector_elements(applied, nest, machine)
    if index in applied.sites:
        return call_cycles(applied.sites[index], vector_elements, machine.core)
    call = nest.nest.transform
    if call is not None:
        return transform_cycles(scop.statement(call.statement), call.transform, vector_elements, machine.core)
    heavy = next((each for each in applied.plan.nests if each.nest.index == nest.follows), None)
    if index in finished or (heavy is not None and blocked_from(heavy, heavy.shared_depth)):
        return finishing_cycles(scop, nest, vector_elements, machine.core)
    cycles = plain_cycles(scop, nest, applied.directions[index], vector_elements, machine.core)
    return cycles + copy_waiting_cycles(scop, nest.nest, machine.core)
