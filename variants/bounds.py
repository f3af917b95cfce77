"""What bounds the time of all variants that a partly decided candidate may become."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from math import inf, prod

from polydl.contracts import Calls, Outlook
from polydl.contracts.ranking import distinct, in_tiles, within_peak
from polydl.ir.schedule import Loop
from polydl.match.product import GemmMatch
from polydl.plan.execution_counts import equal_iterations
from polydl.variants.decisions import Partial
from polydl.variants.nest_facts import TimeLoop
from polydl.variants.nest_model import NestModel, ParallelLoop, tile_name
from polydl.variants.shapes import Shape
from polydl.variants.space import NestSpace
from polydl.variants.variant_space import VariantSpace


def outlook(space: VariantSpace, partials: Mapping[int, Partial]) -> Outlook:
    """What is known of a space's variants, if its nests are decided as far as ``partials`` say, by nest index.

    Of other nests nothing is decided. Alternatives are spaces of their own. No candidate may be a dead end.
    """
    scop = space.scop
    flops, footprint = space.least_work
    tiles = {name for name, kernel in space.kernels.items() if in_tiles(kernel.family)}
    known: set[Calls] = set()
    may_be_in_tiles = False
    for nest in space.spaces:
        partial = None if nest.settled else partials.get(nest.nest.index, nest.root)
        may_be_in_tiles |= any(match.kernel in tiles for match in _matches(nest, partial))
        work = sum(scop.statement(name).instances for name in nest.nest.statements if name not in space.preparable)
        if not nest.settled and nest.even and 2 * work == flops:
            assert partial is not None
            known = set(_calls(nest, partial, work, tiles))
    flops = within_peak(flops, (array.element_bytes for array in scop.arrays))
    return Outlook(flops, footprint, frozenset(known or {Calls(in_tiles=may_be_in_tiles)}))


def _matches(nest: NestSpace, partial: Partial | None) -> Iterator[GemmMatch]:
    """The products of the shapes that are left; of all where nothing is to decide."""
    shapes = nest.shapes if partial is None else [nest.shapes[number] for number in partial.values("shape")]
    return (shape.match for shape in shapes if shape.match is not None)


def _calls(nest: NestSpace, partial: Partial, work: int, tiles: Container[str]) -> Iterator[Calls]:
    """For each shape that is left its calls, which do ``work`` multiply-adds, by parallel loop.

    ``tiles`` are the names of microkernels that compute in tile registers.
    """
    for number in partial.values("shape"):
        shape = nest.shapes[number]
        if shape.match is None:
            yield Calls()
            continue
        in_these = shape.match.kernel in tiles
        if not _alike(nest, shape):
            yield Calls(in_tiles=in_these)
            continue
        count, operands = work // prod(nest.roles(shape).values()), _operand_bytes(nest, shape)
        for on in partial.values("parallel"):
            for iterations in _iterations(nest, partial, number, on):
                yield Calls(shape.m, iterations, count, operands, in_these)


def _operand_bytes(nest: NestSpace, shape: Shape) -> int:
    """Distinct bytes of A and B that each call reads at least: those of a single entry of its batch, and of one row."""
    match = shape.match
    assert match is not None
    a, b = (nest.scop.array(operand.array).element_bytes for operand in (match.form.a, match.form.b))
    columns = distinct(shape.n, match.stride_bn, shape.k, match.stride_bk)
    return a * distinct(shape.m, match.stride_am, shape.k, match.lda) + b * columns


def _alike(nest: NestSpace, shape: Shape) -> bool:
    """Whether all calls have the same sizes."""
    return all(nest.extents[loop] % size == 0 for loop, size in nest.roles(shape).items())


def _iterations(nest: NestSpace, partial: Partial, shape: int, on: ParallelLoop | None) -> Iterator[float]:
    """How many iterations a parallel loop may have; infinitely many stand for a number that is not known."""
    if any(isinstance(loop, Loop) and loop.parallel for loop in nest.nest.prefix):
        yield inf
    elif on is None:
        yield 1.0
    elif not on.collapsed:
        yield from _trips(nest.model, partial, shape, on.loop)
    else:
        inner = _next_inside(nest.model, partial, on.loop)
        if inner is None:
            yield inf
            return
        for outer_trips in _trips(nest.model, partial, shape, on.loop):
            for inner_trips in _trips(nest.model, partial, shape, inner):
                yield equal_iterations((outer_trips, inner_trips), nest.threads)


def _next_inside(model: NestModel, partial: Partial, loop: TimeLoop) -> TimeLoop | None:
    """The time loop right inside of another one; None if that is not known."""
    if not partial.undecided.isdisjoint(model.form_scope):
        return None
    order = model.placed(partial.decided)
    assert order is not None
    inside = [model.loops[place] for place in order]
    return inside[inside.index(loop) + 1]


def _trips(model: NestModel, partial: Partial, shape: int, loop: TimeLoop) -> Iterator[float]:
    """Iterations of a time loop for each size of the tile that bounds it; a shorter last one counts as part."""
    facts = model.facts
    extent = facts.extents[loop.loop]
    step = facts.roles(facts.shapes[shape]).get(loop.loop, 1)
    sizes = partial.values(tile_name(loop.loop)) if loop.loop in model.tiled else (0,)
    for size in sizes:
        if loop.coarse:
            if size:
                yield max(1.0, extent / size)
        else:
            yield max(1.0, (size or extent) / step)
