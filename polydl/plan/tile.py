"""One nest after its steps: tiled, interchanged, parallel, unrolled, with a microkernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from polydl.errors import IllegalVariantError
from polydl.ir.affine import Box
from polydl.ir.schedule import Loop, Role
from polydl.ir.scop import Scop
from polydl.ir.variant import NestSchedule, Tile, UseMicrokernel
from polydl.plan.nest_plan import NestPlan
from polydl.poly.nests import Nest

# The longest loop that may be unrolled, and so the most sums side by side; and all instances in one body.
MOST_UNROLLED = 16
MOST_INSTANCES = 512
# The longest vectors of any instruction set (SVE).
MOST_VECTOR_BYTES = 256
# Of the nests of all scops, the plans made last that are remembered.
PLANS_KEPT = 4096


def _tiled(nest: Nest, directions: tuple[int, ...], steps: Sequence[Tile], bounds: Box) -> dict[str, Loop]:
    tiles: dict[str, tuple[int, ...]] = {}
    for step in steps:
        if step.loop not in nest.loops or step.loop in nest.call_loops:
            raise IllegalVariantError(f"nest {nest.index} has no loop `{step.loop}` to tile")
        if step.loop in tiles or not step.sizes or list(step.sizes) != sorted(set(step.sizes), reverse=True):
            raise IllegalVariantError(f"tile sizes of `{step.loop}` must be given once, largest first: {step.sizes}")
        if step.sizes[-1] < 1 or any(large % small for large, small in zip(step.sizes, step.sizes[1:], strict=False)):
            raise IllegalVariantError(f"each tile size of `{step.loop}` must be a multiple of the next: {step.sizes}")
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
def planned_nest(nest: Nest, directions: tuple[int, ...], bounds: Box, schedule: NestSchedule) -> NestPlan:
    """The nest after its steps. Variants that differ in other nests, or in what is attached, share it."""
    loops = _tiled(nest, directions, schedule.tiles, bounds)
    kernel = schedule.microkernel
    names = [step.json_name for step in schedule.steps if not step.repeatable]
    if kernel is not None and names.count(kernel.json_name) > 1:
        raise IllegalVariantError(f"nest {nest.index} uses more than one microkernel")
    if twice := {name for name in names if names.count(name) > 1}:
        raise IllegalVariantError(f"nest {nest.index} has more than one step `{min(twice)}`")
    if kernel is not None and nest.call is not None:
        raise IllegalVariantError(f"nest {nest.index} has a call of its own: `{nest.call.call}`")
    inner = _microkernel_loops(kernel, loops, nest, bounds) if kernel is not None else ()
    inner += tuple(replace(loops.pop(name), role="call") for name in nest.call_loops)
    order: Sequence[str] = _default_order(loops) if schedule.order is None else schedule.order
    if sorted(order) != sorted(loops):
        raise IllegalVariantError(
            f"the order of nest {nest.index} must name each of its loops once: {sorted(loops)}, not {list(order)}"
        )
    parallel = schedule.parallel
    if parallel is not None:
        if parallel.loop not in loops:
            raise IllegalVariantError(f"nest {nest.index} has no loop `{parallel.loop}` to run in parallel")
        loops[parallel.loop] = replace(
            loops[parallel.loop], parallel=True, combined=parallel.combined, dynamic=parallel.dynamic
        )
        if parallel.inner:
            if parallel.inner not in loops or parallel.combined:
                raise IllegalVariantError(f"nest {nest.index} can't run `{parallel.inner}` in parallel as well")
            loops[parallel.inner] = replace(loops[parallel.inner], parallel=True)
    _check_unrolled(nest, schedule.unrolled, loops, order, bounds)
    for name in schedule.unrolled:
        loops[name] = replace(loops[name], unrolled=True)
    if parallel is not None and parallel.inner and order.index(parallel.inner) != order.index(parallel.loop) + 1:
        raise IllegalVariantError(f"`{parallel.inner}` is not the next loop inside of `{parallel.loop}`")
    for loop in loops.values():
        sizes = [loops[name].size for name in order if loops[name].iterator == loop.iterator]
        if sizes != sorted(sizes, reverse=True):
            raise IllegalVariantError(f"the loops over `{loop.name}` must run over large tiles outside small ones")
    generated = tuple(loops[name] for name in order)
    return NestPlan(
        nest, generated, inner, bounds, kernel, streamed=schedule.streamed, vector_bytes=schedule.vector_bytes or 0
    )


def _check_unrolled(
    nest: Nest,
    names: Sequence[str],
    loops: dict[str, Loop],
    order: Sequence[str],
    bounds: Sequence[tuple[int, int]],
) -> None:
    """Raises IllegalVariantError if these loops can't be unrolled."""
    if twice := {name for name in names if names.count(name) > 1}:
        raise IllegalVariantError(f"nest {nest.index} unrolls `{min(twice)}` more than once")
    innermost = order[len(order) - len(names) :]
    instances = 1
    for name in names:
        if name not in nest.loops or name not in loops:
            raise IllegalVariantError(f"nest {nest.index} has no loop `{name}` over single iterations to unroll")
        loop = loops[name]
        low, high = bounds[nest.loops.index(name)]
        tiles = [loops[each].size for each in order if loops[each].iterator == loop.iterator]
        span = min([high - low + 1, *(size for size in tiles if size > 1)])
        if len(names) >= len(order) or name not in innermost or loop.parallel or span > MOST_UNROLLED:
            raise IllegalVariantError(
                f"only the innermost loops of nest {nest.index}, of at most {MOST_UNROLLED} iterations, can be "
                f"unrolled, not `{name}`"
            )
        instances *= span
    if instances > MOST_INSTANCES:
        raise IllegalVariantError(
            f"{' and '.join(f'`{name}`' for name in names)} of nest {nest.index} have {instances} iterations together, "
            f"and at most {MOST_INSTANCES} can be unrolled"
        )


def check_vectors(scop: Scop, nest: Nest, schedule: NestSchedule) -> None:
    """Raises IllegalVariantError for vectors of a length that no vector has, and for those that hold no element."""
    length = schedule.vector_bytes
    if length is None:
        return
    arrays = {access.array for name in nest.statements for access in scop.statement(name).accesses}
    least = max((scop.array(name).element_bytes for name in arrays), default=1)
    if not least <= length <= MOST_VECTOR_BYTES or length & (length - 1):
        raise IllegalVariantError(
            f"the vectors of nest {nest.index} can't have {length} bytes: give them a power of two, "
            f"{least} to {MOST_VECTOR_BYTES}"
        )
