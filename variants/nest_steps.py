"""Choices of a nest as the steps of a variant, and steps as values of its decisions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from polydl.ir.variant import Interchange, NestStep, Parallel, Stream, Tile, Unroll, UseMicrokernel, Vectors
from polydl.variants.choice import Choice
from polydl.variants.nest_facts import NestFacts, fixed_and_free
from polydl.variants.nest_model import NestModel
from polydl.variants.parallel_loops import Threads, combined
from polydl.variants.shapes import Shape


def steps(facts: NestFacts, choice: Choice) -> tuple[NestStep, ...]:
    """The choice as steps of a variant."""
    index = facts.nest.index
    roles = facts.roles(choice.shape)
    tiles = dict(choice.tiles)
    result: list[NestStep] = []
    for name, extent in facts.extents.items():
        inner = roles.get(name, 0)
        if choice.together is not None and choice.together[0] == name:
            inner = choice.together[1]
        sizes = [size for size in (tiles.get(name), inner) if size and size < extent]
        if sizes:
            result.append(Tile(index, name, tuple(sizes)))
    match = choice.shape.match
    if match is not None:
        m, n, k = (facts.name(loop) for loop in (match.m, match.n, match.k))
        batch = tuple(facts.name(loop) for loop in choice.shape.batch)
        rows = tuple(facts.name(loop) for loop, _ in choice.shape.rows)
        result.append(UseMicrokernel(index, match.kernel, m, n, k, batch, rows))
    if choice.order:
        result.append(Interchange(index, choice.order))
    if choice.parallel is not None:
        on = choice.parallel
        sums = combined(facts, choice.shape, choice.order, on)
        result.append(Parallel(index, on.loop, sums, on.inner, on.dynamic))
    if choice.together is not None:
        result.append(Unroll(index, choice.together[0]))
    if choice.streamed:
        result.append(Stream(index, choice.streamed))
    if choice.vector_bytes:
        result.append(Vectors(index, choice.vector_bytes))
    return tuple(result)


def located(model: NestModel, nest_steps: Sequence[NestStep]) -> tuple[dict[str, Any], str | None]:
    """The values of a nest's decisions that its steps stand for, and None, or why they stand for none, in words.

    The values may break constraints, which ``DecisionSpace.check`` tells.
    """
    facts = model.facts
    tiles = {step.loop: step.sizes for step in nest_steps if isinstance(step, Tile)}
    kernel = next((step for step in nest_steps if isinstance(step, UseMicrokernel)), None)
    unroll = next((step.loop for step in nest_steps if isinstance(step, Unroll)), None)
    shape = _shape(facts, kernel, tiles)
    if shape is None:
        return {}, f"no shape of a call that is tried is like {kernel} with tiles {tiles}"
    roles = facts.roles(shape)
    together = None
    outer: dict[str, int] = {}
    for loop, sizes in tiles.items():
        left = list(sizes)
        if loop not in facts.extents:
            return {}, f"there is no loop `{loop}`"
        if loop in roles and roles[loop] < facts.extents[loop]:
            left.pop()
        if loop == unroll and _has_tile_for(loop, sizes, nest_steps):
            together = loop, left.pop()
        if len(left) > 1:
            return {}, f"loop `{loop}` has more than one tile for caches"
        outer.update(zip([loop], left, strict=False))
    if unroll is not None and together is None:
        together = unroll, 0
    kept = tuple((loop, outer[loop]) for loop in facts.nest.loops if loop in outer)
    choice = Choice(
        shape,
        kept,
        _order(facts, shape, kept, nest_steps),
        next((Threads(s.loop, s.inner, s.dynamic) for s in nest_steps if isinstance(s, Parallel)), None),
        together,
        next((step.arrays for step in nest_steps if isinstance(step, Stream)), ()),
        next((step.bytes for step in nest_steps if isinstance(step, Vectors)), 0),
    )
    number = facts.shapes.index(shape)
    named = {*choice.order, *([choice.parallel.loop] if choice.parallel is not None else [])}
    generated = {*model.names(number)[0], *model.places(number), f"{unroll}_t2"}
    if stray := named - generated:
        return {}, f"there is no loop `{min(stray)}`"
    # What threads add up and which arrays are streamed follows from the values.
    return model.values(choice), None


def _shape(facts: NestFacts, kernel: UseMicrokernel | None, tiles: dict[str, tuple[int, ...]]) -> Shape | None:
    """The shape of a call with these innermost tiles, if it is one of those that are tried."""
    if kernel is None:
        return next((shape for shape in facts.shapes if shape.match is None), None)
    for shape in facts.shapes:
        match = shape.match
        if match is None:
            continue
        m, n, k = (facts.name(loop) for loop in (match.m, match.n, match.k))
        batch, rows = (tuple(map(facts.name, loops)) for loops in (shape.batch, [loop for loop, _ in shape.rows]))
        if (match.kernel, m, n, k, batch, rows) != (
            kernel.name,
            kernel.m,
            kernel.n,
            kernel.k,
            kernel.batch,
            kernel.rows,
        ):
            continue
        lengths = {loop: tiles.get(loop, (facts.extents[loop],))[-1] for loop in (m, n, k, *rows)}
        if all(facts.roles(shape)[loop] == length for loop, length in lengths.items()):
            return shape
    return None


def _has_tile_for(loop: str, sizes: Sequence[int], nest_steps: Sequence[NestStep]) -> bool:
    """Whether the last tile of an unrolled loop is there to be unrolled, and not a tile for caches."""
    order = next((step.order for step in nest_steps if isinstance(step, Interchange)), ())
    # Right around the innermost two loops lies the loop over such tiles.
    return len(sizes) > 1 or (len(order) > 2 and order[-3] == f"{loop}_t1")


def _order(
    facts: NestFacts, shape: Shape, tiles: tuple[tuple[str, int], ...], nest_steps: Sequence[NestStep]
) -> tuple[str, ...]:
    given = next((step.order for step in nest_steps if isinstance(step, Interchange)), None)
    if given is not None:
        return given
    once, free = fixed_and_free(facts.loop_trips(shape, dict(tiles)))
    return (*once, *free)
