"""From a rewritten scop to its space: shapes of calls for each of its nests, and what else is decided about these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from polydl.contracts import Microkernel
from polydl.ir.schedule import Loop
from polydl.ir.scop import Scop
from polydl.ir.variant import Attach, ScopStep
from polydl.machine import Machine
from polydl.match.product import GemmMatch, NoMatch
from polydl.plan.nest_plan import loop_bounds
from polydl.plan.rewriting import RewrittenScop
from polydl.plan.streaming import streamable
from polydl.poly.legality import Directions
from polydl.poly.nests import Nest, distributed
from polydl.variants.shapes import Shape, best_shapes, by_cycles, plain_shapes, shapes_of, sum_shapes
from polydl.variants.space import MINOR_SHARE, NestSpace
from polydl.variants.variant_space import NestReport, VariantSpace


def space_of(
    left: RewrittenScop, source: Scop, kernels: Sequence[Microkernel], machine: Machine, rewrites: tuple[ScopStep, ...]
) -> VariantSpace:
    """The space of what ``rewrites`` have left of a source; none of its alternatives."""
    scop, nests = left.scop, left.nests
    matches = {(nest.index, kernel.name): left.matches(nest, kernel) for nest in nests for kernel in kernels}
    spaces, reports = [], []
    work = {nest.index: _accesses(scop, nest) for nest in nests}
    for nest in nests:
        way = left.directions[nest.index]
        shapes, refusals = _nest_shapes(scop, nest, kernels, matches, way, machine)
        if not left.reassociate:
            shapes = tuple(shape for shape in shapes if _sums_forwards(scop, nest, shape))
        kernel = next((shape.match.kernel for shape in shapes if shape.match is not None), None)
        if kernel is None:
            shapes = plain_shapes(scop, nest, way, machine)
        # In loops of isl's there is nothing left to decide.
        fixed = any(group.fixed and nest.statements[0] in group.statements for group in scop.shared)
        minor = fixed or nest.transform is not None or work[nest.index] < MINOR_SHARE * sum(work.values())
        outside = any(isinstance(each, Loop) and each.parallel for each in nest.prefix)
        own_threads = 1 if outside or fixed else machine.threads
        streams = _past_caches(scop, nests, nest, machine.second_cache_bytes)
        space = NestSpace(scop, nest, way, shapes, machine, own_threads, minor, streamable=streams)
        if kernel is not None and not any(
            shape.match is not None and space.legal_order(shape, space.default(shape).order) for shape in shapes
        ):
            refusals, kernel = {"": NoMatch("the order of the sum must be kept")}, None
            space = replace(space, shapes=(Shape(None),))
        spaces.append(space)
        reports.append(NestReport(nest, kernel, refusals, sum(scop.statement(name).flops for name in nest.statements)))
    return VariantSpace(
        source,
        scop,
        left.dependences,
        nests,
        left.directions,
        tuple(spaces),
        tuple(reports),
        {kernel.name: kernel for kernel in kernels},
        {key: found for key, found in matches.items() if not isinstance(found, NoMatch)},
        left.numerics,
        rewrites,
    )


def with_attached(space: NestSpace, steps: tuple[Attach, ...]) -> NestSpace:
    """What is left to decide about a nest once ``steps`` attach it, or others to it."""
    names = set(space.nest.statements)
    following = any(step.statement in names for step in steps)
    return replace(space, attached=following, leading=any(step.to in names for step in steps))


def is_distributed(space: VariantSpace) -> bool:
    """Whether the nests of a space's scop come one after the other, as rewrites need it."""
    return distributed(space.scop, space.nests) is not None


def _nest_shapes(
    scop: Scop,
    nest: Nest,
    kernels: Sequence[Microkernel],
    matches: Mapping[tuple[int, str], tuple[GemmMatch, ...] | NoMatch],
    directions: Directions,
    machine: Machine,
) -> tuple[tuple[Shape, ...], dict[str, NoMatch]]:
    """Shapes of calls, with register blocks along the sum beside them; and why kernels asked for before are of no use.

    There is no shape where no kernel is of use.
    """
    if nest.call is not None:
        return (), {"": NoMatch(f"it calls `{nest.call.call}`")}
    order = [kernel.name for kernel in kernels]
    refusals: dict[str, NoMatch] = {}
    usable: list[tuple[Shape, ...]] = []
    bounds = loop_bounds(scop, nest)
    extents = {nest.depth + position: high - low + 1 for position, (low, high) in enumerate(bounds)}
    for kernel in kernels:
        found = matches[nest.index, kernel.name]
        if isinstance(found, NoMatch):
            refusals[kernel.name] = found
            continue
        width = scop.array(found[0].form.c.array).element_bytes
        shapes, reason = shapes_of(found, kernel, extents, machine.vector_elements(width))
        if shapes:
            usable.append(shapes)
        elif reason is not None:
            refusals[kernel.name] = NoMatch(reason)
    if not usable:
        return (), refusals or {"": NoMatch("no microkernel was asked for")}
    called = best_shapes(usable)
    assert called[0].match is not None
    used = called[0].match.kernel
    before = {name: each for name, each in refusals.items() if order.index(name) < order.index(used)}
    return by_cycles((*called, *sum_shapes(scop, nest, directions, extents, machine))), before


def _past_caches(scop: Scop, nests: Sequence[Nest], nest: Nest, second_cache: int) -> tuple[str, ...]:
    """Arrays that a nest may write past the caches, and better does where the others then stay in the second one."""
    used = dict.fromkeys(access.array for name in nest.statements for access in scop.statement(name).accesses)
    if sum(scop.array(name).bytes for name in used) <= second_cache:
        return ()
    return tuple(each.name for each in streamable(scop, nests, nest) if each.bytes > second_cache // 4)


def _sums_forwards(scop: Scop, nest: Nest, shape: Shape) -> bool:
    """Whether the loops that a microkernel sums over run as the microkernel does."""
    if shape.match is None:
        return True
    ways = scop.statement(nest.statements[0]).directions
    return all(ways[loop] == 1 for loop in (shape.match.k, *shape.batch))


def _accesses(scop: Scop, nest: Nest) -> int:
    statements = [scop.statement(name) for name in nest.statements]
    return sum(statement.instances * len(statement.accesses) for statement in statements)
