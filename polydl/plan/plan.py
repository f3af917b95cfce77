"""A variant applied to a scop: where every loop goes. Analysis and code generation both start from a Plan.

Loops of a nest, once tiled, are named after the loop they come from: ``i_t2`` and ``i_t1`` run over the tiles,
``i`` inside the innermost tile.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from math import prod

import islpy as isl

from polydl.errors import IllegalVariantError
from polydl.ir.affine import Box
from polydl.ir.schedule import Loop, Role, Schedule
from polydl.ir.scop import Scop
from polydl.ir.variant import (
    Attach,
    Interchange,
    NestStep,
    Parallel,
    Stream,
    Tile,
    Unroll,
    UseMicrokernel,
    Variant,
    Vectors,
)
from polydl.match.alignment import aligned_loops
from polydl.plan.streaming import streamable
from polydl.poly.boxes import bounding_box
from polydl.poly.domains import independent_loops
from polydl.poly.nests import Nest

# The longest loop that may be unrolled, and so the most sums side by side.
MOST_UNROLLED = 16
# Of the nests of all spaces, the plans made last that are remembered.
PLANS_KEPT = 4096


@dataclass(frozen=True)
class NestPlan:
    """``loops`` are generated, outermost first; ``inner`` are run by the microkernel, if there is one.

    ``bounds`` holds the inclusive range of each own loop of the nest, in the order of ``nest.loops``. Where
    element-wise nests are attached to this one, they and what is inside its outermost ``cut`` loops run in the order of
    their ``position``; an attached one ``follows`` the nest of that index, with the shared loops in its prefix. What is
    attached was inside of the outermost ``begun_inside`` loops before. Arrays that are ``streamed`` are written past
    the caches. Its loops use vectors of ``vector_bytes``, 0 for the largest.
    """

    nest: Nest
    loops: tuple[Loop, ...]
    inner: tuple[Loop, ...]
    bounds: tuple[tuple[int, int], ...]
    microkernel: UseMicrokernel | None
    cut: int = 0
    position: int | None = None
    follows: int | None = None
    begun_inside: int = 0
    streamed: tuple[str, ...] = ()
    vector_bytes: int = 0

    @property
    def around(self) -> tuple[int | Loop, ...]:
        """Time dimensions that are generated, outermost first: the shared ones, its own, its position beside others."""
        if self.position is None:
            return (*self.nest.prefix, *self.loops)
        return (*self.nest.prefix, *self.loops[: self.cut], self.position, *self.loops[self.cut :])

    @property
    def places(self) -> tuple[int, ...]:
        """Where in ``around`` each of the own loops is."""
        first = len(self.nest.prefix)
        beside = self.position is not None
        return tuple(first + number + (beside and number >= self.cut) for number in range(len(self.loops)))

    def tile_of(self, loop: str) -> Loop | None:
        """The innermost tile loop over ``loop``, or None if it isn't tiled."""
        return self._by_name.get(f"{loop}_t1")

    def extent(self, loop: str) -> int:
        return self._extents[loop]

    @cached_property
    def _by_name(self) -> dict[str, Loop]:
        return {each.name: each for each in self.loops}

    @cached_property
    def _extents(self) -> dict[str, int]:
        return {name: high - low + 1 for name, (low, high) in zip(self.nest.loops, self.bounds, strict=True)}

    def order(self) -> tuple[int, ...]:
        """Each time dimension by the position, in ``nest.loops``, of the loop that it belongs to."""
        return tuple(loop.iterator - self.nest.depth for loop in (*self.loops, *self.inner))


@dataclass(frozen=True)
class Plan:
    variant: Variant
    nests: tuple[NestPlan, ...]
    schedule: Schedule

    def nest_of(self, statement: str) -> NestPlan:
        for plan in self.nests:
            if statement in plan.nest.statements:
                return plan
        raise KeyError(statement)


def loop_bounds(scop: Scop, nest: Nest) -> tuple[tuple[int, int], ...]:
    """Inclusive range of each own loop over all statements of the nest."""
    statements = [scop.statement(name) for name in nest.statements]
    return _ranges(tuple([(s.box, s.domain) for s in statements]), nest.depth, len(nest.loops))


@lru_cache(maxsize=1024)
def _ranges(domains: tuple[tuple[Box | None, str], ...], depth: int, count: int) -> Box:
    boxes = [bounding_box(isl.Set(domain)) if box is None else box for box, domain in domains]
    own = [box[depth : depth + count] for box in boxes]
    return tuple((min(low for low, _ in ranges), max(high for _, high in ranges)) for ranges in zip(*own, strict=True))


def _tiled(nest: Nest, directions: tuple[int, ...], steps: Sequence[NestStep], bounds: Box) -> dict[str, Loop]:
    tiles: dict[str, tuple[int, ...]] = {}
    for step in steps:
        if isinstance(step, Tile):
            if step.loop not in nest.loops or step.loop in nest.call_loops:
                raise IllegalVariantError(f"nest {nest.index} has no loop `{step.loop}` to tile")
            if step.loop in tiles or not step.sizes or list(step.sizes) != sorted(set(step.sizes), reverse=True):
                raise IllegalVariantError(
                    f"tile sizes of `{step.loop}` must be given once, largest first: {step.sizes}"
                )
            if step.sizes[-1] < 1 or any(
                large % small for large, small in zip(step.sizes, step.sizes[1:], strict=False)
            ):
                raise IllegalVariantError(
                    f"each tile size of `{step.loop}` must be a multiple of the next: {step.sizes}"
                )
            tiles[step.loop] = step.sizes
    loops: dict[str, Loop] = {}
    for position, name in enumerate(nest.loops):
        iterator = nest.depth + position
        low, direction = bounds[position][0], directions[iterator]
        sizes = tiles.get(name, ())
        for level, size in zip(range(len(sizes), 0, -1), sizes, strict=True):
            loops[f"{name}_t{level}"] = Loop(f"{name}_t{level}", iterator, size, low, direction)
        loops[name] = Loop(name, iterator, direction=direction)
    return loops


def _microkernel_loops(
    step: UseMicrokernel, loops: dict[str, Loop], nest: Nest, bounds: Sequence[tuple[int, int]]
) -> tuple[Loop, ...]:
    roles: list[tuple[Role, str]] = [*(("batch", name) for name in step.batch)]
    roles += [("rows", name) for name in step.rows]
    roles += [("n", step.n), ("k", step.k), ("m", step.m)]
    names = [name for _, name in roles]
    unknown = [name for name in names if name not in nest.loops]
    if unknown or len(set(names)) != len(names):
        raise IllegalVariantError(f"the microkernel's loops {names} must be different loops of nest {nest.index}")
    for name in step.batch[1:]:
        if f"{name}_t1" in loops:
            raise IllegalVariantError(f"only the first batch loop may be tiled, not `{name}`")
    for name in step.rows:
        low, high = bounds[nest.loops.index(name)]
        if f"{name}_t1" in loops and (high - low + 1) % loops[f"{name}_t1"].size:
            raise IllegalVariantError(
                f"a tile of `{name}`, which makes rows of a call, must divide its {high - low + 1}"
            )
    return tuple(replace(loops.pop(name), role=role) for role, name in roles)


def _default_order(loops: dict[str, Loop]) -> list[str]:
    """All tile loops outside, coarse before fine, each level in the source's order."""
    finer: dict[int, int] = {}
    level = {}
    for name in reversed(loops):
        level[name] = finer[loops[name].iterator] = finer.get(loops[name].iterator, -1) + 1
    return sorted(loops, key=lambda name: -level[name])


@lru_cache(maxsize=PLANS_KEPT)
def _nest_plan(nest: Nest, directions: tuple[int, ...], bounds: Box, steps: tuple[NestStep, ...]) -> NestPlan:
    """The nest after its steps. Variants that differ in other nests, or in what is attached, share it."""
    loops = _tiled(nest, directions, steps, bounds)
    kernels = [step for step in steps if isinstance(step, UseMicrokernel)]
    if len(kernels) > 1:
        raise IllegalVariantError(f"nest {nest.index} uses more than one microkernel")
    if kernels and nest.call is not None:
        raise IllegalVariantError(f"nest {nest.index} has a call of its own: `{nest.call.call}`")
    inner = _microkernel_loops(kernels[0], loops, nest, bounds) if kernels else ()
    inner += tuple(replace(loops.pop(name), role="call") for name in nest.call_loops)
    order = _default_order(loops)
    for step in steps:
        if isinstance(step, Interchange):
            if sorted(step.order) != sorted(loops):
                raise IllegalVariantError(
                    f"the order of nest {nest.index} must name each of its loops once: {sorted(loops)}, "
                    f"not {list(step.order)}"
                )
            order = list(step.order)
        elif isinstance(step, Parallel):
            if step.loop not in loops:
                raise IllegalVariantError(f"nest {nest.index} has no loop `{step.loop}` to run in parallel")
            outer = replace(loops[step.loop], parallel=True, combined=step.combined, dynamic=step.dynamic)
            loops[step.loop] = outer
            if step.inner:
                if step.inner not in loops or step.combined:
                    raise IllegalVariantError(f"nest {nest.index} can't run `{step.inner}` in parallel as well")
                loops[step.inner] = replace(loops[step.inner], parallel=True)
    for step in steps:
        if isinstance(step, Unroll):
            loops[step.loop] = replace(_unrollable(nest, step, loops, order, bounds), unrolled=True)
    for step in steps:
        if isinstance(step, Parallel) and step.inner and order.index(step.inner) != order.index(step.loop) + 1:
            raise IllegalVariantError(f"`{step.inner}` is not the next loop inside of `{step.loop}`")
    for loop in loops.values():
        sizes = [loops[name].size for name in order if loops[name].iterator == loop.iterator]
        if sizes != sorted(sizes, reverse=True):
            raise IllegalVariantError(f"the loops over `{loop.name}` must run over large tiles outside small ones")
    streamed = tuple(name for step in steps if isinstance(step, Stream) for name in step.arrays)
    width = next((step.bytes for step in steps if isinstance(step, Vectors)), 0)
    used = kernels[0] if kernels else None
    made = tuple(loops[name] for name in order)
    return NestPlan(nest, made, inner, bounds, used, streamed=streamed, vector_bytes=width)


def _unrollable(
    nest: Nest, step: Unroll, loops: dict[str, Loop], order: Sequence[str], bounds: Sequence[tuple[int, int]]
) -> Loop:
    loop = loops.get(step.loop)
    low, high = bounds[nest.loops.index(step.loop)] if step.loop in nest.loops else (0, -1)
    tiles = [loops[name].size for name in order if loop is not None and loops[name].iterator == loop.iterator]
    span = min([high - low + 1, *(size for size in tiles if size > 1)])
    if loop is None or len(order) < 2 or order[-1] != step.loop or loop.parallel or span > MOST_UNROLLED:
        raise IllegalVariantError(
            f"only the innermost loop of nest {nest.index}, of at most {MOST_UNROLLED} iterations, can be unrolled, "
            f"not `{step.loop}`"
        )
    return loop


def attached(scop: Scop, plans: Sequence[NestPlan], steps: Sequence[Attach]) -> tuple[NestPlan, ...]:
    """The plans with element-wise nests put inside the loops of others.

    They share all of its loops over tiles of the output. Where a loop of a reduction lies outside of one of these, they
    run in its last iteration (or the first one); otherwise they come after all of the reduction, and before it.
    Raises IllegalVariantError if the loops can't be aligned.
    """
    made = list(plans)
    for heavy in dict.fromkeys(_index_of(plans, step.to) for step in steps):
        own = [step for step in steps if _index_of(plans, step.to) == heavy]
        before = [step for step in own if step.place == "first"]
        ordered = [*before, None, *(step for step in own if step.place == "last")]
        cut = None
        for position, step in enumerate(ordered):
            if step is None:
                continue
            light = _index_of(plans, step.statement)
            cut, made[light] = _follower(scop, plans[heavy], plans[light], step, position)
        assert cut is not None
        inside = min(plans[_index_of(plans, step.statement)].nest.depth for step in own)
        made[heavy] = replace(plans[heavy], cut=cut, position=len(before), begun_inside=inside)
    return tuple(made)


def _index_of(plans: Sequence[NestPlan], statement: str) -> int:
    for index, plan in enumerate(plans):
        if statement in plan.nest.statements:
            return index
    raise IllegalVariantError(f"there is no statement {statement}")


def _follower(scop: Scop, heavy: NestPlan, light: NestPlan, step: Attach, position: int) -> tuple[int, NestPlan]:
    """Up to which loop the light nest shares those of the heavy one, and its plan."""
    shared = light.nest.depth
    one, other = (scop.statement(nest.nest.statements[0]) for nest in (heavy, light))
    pairs = aligned_loops(one, other, shared)
    same = shared == heavy.nest.depth and light.nest.prefix[:-1] == heavy.nest.prefix[:-1]
    if pairs is None or (shared and not same):
        raise IllegalVariantError(f"the loops of {step.statement} can't be aligned with those of {step.to}")
    writing = [place for place, loop in enumerate(heavy.loops) if loop.iterator in pairs]
    cut = writing[-1] + 1 if writing else 0
    if heavy.microkernel is None:
        # Inside plain loops a test would cost as much as the work.
        summing = [place for place, loop in enumerate(heavy.loops) if loop.iterator not in pairs]
        cut = min([cut, *summing])
    prefix: list[int | Loop] = []
    done = set()
    ranges = independent_loops(scop.statement(heavy.nest.statements[0]))
    for loop in (*heavy.nest.prefix, *heavy.loops[:cut]):
        if isinstance(loop, int) or loop.iterator < shared:
            prefix.append(loop)
        elif loop.iterator in pairs:
            iterator, ahead = pairs[loop.iterator]
            prefix.append(replace(loop, iterator=iterator, origin=loop.origin + ahead))
            done |= {iterator} if loop.size == 1 else set()
        else:
            if loop.iterator not in ranges:
                raise IllegalVariantError(f"the first and last iteration of `{loop.name}` depend on other loops")
            low, high = ranges[loop.iterator]
            prefix.append(loop.last(low, high) if step.place == "last" else loop.first(low, high))
    nest = replace(light.nest, prefix=(*prefix, position))
    loops = tuple(loop for loop in light.loops if loop.iterator not in done)
    return cut, replace(light, nest=nest, loops=loops, follows=heavy.nest.index)


def ends(plan: NestPlan, loop: str) -> tuple[int, int]:
    """Iterations of a full and of the last tile of a microkernel's loop."""
    extent, tile = plan.extent(loop), plan.tile_of(loop)
    if tile is None or tile.size >= extent:
        return extent, extent
    return tile.size, extent % tile.size or tile.size


def offsets(plan: NestPlan, strides: Sequence[int], loops: Sequence[str]) -> tuple[int, ...]:
    """Where each iteration of a microkernel's loops, in full tiles, is from the first, in elements."""
    found = [0]
    for loop in loops:
        stride = strides[plan.nest.depth + plan.nest.loops.index(loop)]
        found = [base + step * stride for base in found for step in range(ends(plan, loop)[0])]
    return tuple(found)


def trips(plan: NestPlan) -> tuple[int, ...]:
    """Iterations of each time loop, for one execution of it; of a shorter last tile's loops, as of a full one's."""
    ranges = [high - low + 1 for low, high in plan.bounds]
    counts = []
    for loop in (*plan.loops, *plan.inner):
        place = loop.iterator - plan.nest.depth
        counts.append(-(-ranges[place] // loop.size))
        ranges[place] = min(ranges[place], loop.size)
    return tuple(counts)


def parallel_iterations(scop: Scop, plan: Plan) -> tuple[float, ...]:
    """Per nest, the iterations of the parallel loops that run it; 1 where nothing is parallel.

    A shorter last tile counts as the part of a tile that it is.
    """
    by_index = {each.nest.index: each for each in plan.nests}
    found: list[float] = []
    for nest in plan.nests:
        owner = nest if nest.follows is None else by_index[nest.follows]
        box = scop.statement(owner.nest.statements[0]).box
        iterations = 1.0
        for loop in owner.nest.prefix:
            if isinstance(loop, Loop) and loop.parallel and box is not None:
                low, high = box[loop.iterator]
                iterations = high - low + 1
        ranges = [high - low + 1 for low, high in owner.bounds]
        for loop in owner.loops[: owner.cut] if nest.follows is not None else owner.loops:
            place = loop.iterator - owner.nest.depth
            if loop.parallel:
                iterations *= max(1.0, ranges[place] / loop.size)
            ranges[place] = min(ranges[place], loop.size)
        found.append(iterations)
    return tuple(found)


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
    around = [each for each in nest.nest.prefix if isinstance(each, Loop)]
    total = 1
    for loop in nest.loops:
        low, high = nest.bounds[loop.iterator - nest.nest.depth]
        total *= min([high - low + 1, *(each.size for each in around if each.iterator == loop.iterator)])
    return total


def make_plan(scop: Scop, nests: Sequence[Nest], variant: Variant) -> Plan:
    """Apply the steps. Raises IllegalVariantError for a step that names what isn't there.

    Whether the order keeps the dependences is not decided here (see ``polydl.poly.legality``).
    """
    known = {nest.index for nest in nests}
    stray = [step for step in variant.nest_steps if step.nest not in known]
    if stray:
        raise IllegalVariantError(f"there is no nest {stray[0].nest}; the scop has {len(known)}")
    plans: tuple[NestPlan, ...] = tuple(
        _nest_plan(
            nest,
            scop.statement(nest.statements[0]).directions,
            loop_bounds(scop, nest),
            variant.of_nest(nest.index),
        )
        for nest in nests
    )
    for plan in plans:
        allowed = {array.name for array in streamable(scop, nests, plan.nest)} if plan.streamed else set()
        if stray_arrays := set(plan.streamed) - allowed:
            raise IllegalVariantError(
                f"`{min(stray_arrays)}` can't be written past the caches by nest {plan.nest.index}"
            )
    plans = attached(scop, plans, [step for step in variant.rewrites if isinstance(step, Attach)])
    times: dict[str, tuple[int | Loop, ...]] = {}
    for plan in plans:
        for position, name in enumerate(plan.nest.statements):
            tail = (position,) if len(plan.nest.statements) > 1 else ()
            times[name] = (*plan.around, *plan.inner, *tail)
    return Plan(variant, plans, Schedule(tuple((s.name, times[s.name]) for s in scop.statements)))
