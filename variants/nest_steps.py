"""Choices of a nest as the steps of a variant, and steps as values of its decisions."""

from __future__ import annotations

from polydl.ir.variant import Interchange, NestStep, Parallel, Stream, Tile, Unroll, UseMicrokernel, Vectors
from polydl.variants.choice import Choice
from polydl.variants.nest_facts import NestFacts
from polydl.variants.parallel_loops import combined


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
    block = choice.shape.block
    inner_loops = tuple(facts.name(loop) for loop in block.loops) if block is not None else ()
    if choice.order or inner_loops:
        result.append(Interchange(index, (*choice.order, *inner_loops)))
    if choice.parallel is not None:
        on = choice.parallel
        sums = combined(facts, choice.shape, choice.order, on)
        result.append(Parallel(index, on.loop, sums, on.inner, on.dynamic))
    if choice.together is not None:
        result.append(Unroll(index, choice.together[0]))
    result += [Unroll(index, loop) for loop in inner_loops[1:]]
    if choice.streamed:
        result.append(Stream(index, choice.streamed))
    if choice.vector_bytes:
        result.append(Vectors(index, choice.vector_bytes))
    return tuple(result)
