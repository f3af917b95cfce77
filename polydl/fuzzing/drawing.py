"""Variants of a nest at random: from its space, not by rank, and steps that the space does not hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING

from polydl.errors import PolydlError
from polydl.ir.scop import Scop
from polydl.ir.statement import Statement
from polydl.ir.variant import Interchange, NestStep, Parallel, RewriteStep, Step, Tile, Unroll, Variant, Vectors
from polydl.machine import Machine
from polydl.pipeline import space_on
from polydl.plan.rewriting import rewritten

if TYPE_CHECKING:
    from polydl.variants.generate import VariantSpace

# Draws until one of a space is legal.
_TRIES = 8
_SIZES = (2, 3, 4, 5, 8, 16)


def from_space(space: VariantSpace, draw: Random) -> Variant | None:
    """A variant of the space or of one of its alternatives, each as likely; None if none that was drawn is legal."""
    spaces = [each for each in (space, *space.alternatives) if each.size()]
    if not spaces:
        return None
    chosen = draw.choice(spaces)
    for _ in range(_TRIES):
        steps: list[Step] = [*chosen.rewrites]
        choices = [each.sample(draw) for each in chosen.spaces]
        complete = [choice for choice in choices if choice is not None]
        if len(complete) == len(choices):
            for each, choice in zip(chosen.spaces, complete, strict=True):
                steps += each.steps(choice)
            return Variant(tuple(steps))
    return None


def after_rewrites(space: VariantSpace, machine: Machine, microkernel: str, draw: Random) -> VariantSpace | None:
    """What can be decided after rewrites that the search tries for large sizes alone; None if none drawn is legal."""
    heaviest = max(space.source.statements, key=lambda statement: statement.instances)
    for _ in range(_TRIES):
        statement = heaviest if draw.random() < 0.7 else draw.choice(space.source.statements)
        transforms = list(_transforms(space.source, statement, draw))
        others = list(small_rewrites(statement, draw))
        if not transforms and not others:
            continue
        steps = draw.choice(transforms if transforms and draw.random() < 0.6 else others or transforms)
        try:
            left = rewritten(space.source, steps, numerics=space.numerics)
            after = space_on(
                left.scop, machine, microkernel=microkernel, numerics=space.numerics, fuse=False, fewer_products=False
            )
        except PolydlError:
            continue
        return replace(after, source=space.source, rewrites=steps, alternatives=())
    return None


def beyond_space(variant: Variant, scop: Scop, draw: Random) -> Variant:
    """The variant with some steps changed at random, as a person may write them. What is illegal must be refused."""
    steps = list(variant.steps)
    for _ in range(draw.choice((1, 1, 2, 3))):
        steps = _changed(steps, scop, draw)
    return Variant(tuple(steps))


def _changed(steps: list[Step], scop: Scop, draw: Random) -> list[Step]:
    from polydl.variants.rewrites.reschedule import Reschedule

    kind = draw.choice(("drop", "size", "order", "parallel", "tile", "rewrite", "vectors", "unroll", "common"))
    tiles = [step for step in steps if isinstance(step, Tile)]
    orders = [step for step in steps if isinstance(step, Interchange) and len(step.order) > 1]
    if kind == "drop" and steps:
        gone = draw.choice(steps)
        return [step for step in steps if step is not gone]
    if kind == "size" and tiles:
        old = draw.choice(tiles)
        return _with(steps, old, replace(old, sizes=tuple(sorted(draw.sample(_SIZES, len(old.sizes)), reverse=True))))
    if kind == "order" and orders:
        order = draw.choice(orders)
        return _with(steps, order, replace(order, order=tuple(draw.sample(order.order, len(order.order)))))
    if kind == "parallel" and orders:
        loop = draw.choice((chosen := draw.choice(orders)).order)
        others = [step for step in steps if not (isinstance(step, Parallel) and step.nest == chosen.nest)]
        return [*others, Parallel(chosen.nest, loop, dynamic=draw.random() < 0.3)]
    if kind == "tile":
        statement = draw.choice(scop.statements)
        if statement.iterators:
            nest = draw.randrange(len(scop.statements))
            loop = draw.choice(statement.iterators)
            kept = [s for s in steps if not (isinstance(s, Interchange | Parallel | Unroll) and s.nest == nest)]
            return [*kept, Tile(nest, loop, (draw.choice(_SIZES),))]
    if kind == "vectors":
        nests = [step.nest for step in steps if isinstance(step, NestStep)]
        return [*steps, Vectors(draw.choice(nests), draw.choice((8, 16, 32)))] if nests else steps
    if kind == "unroll" and orders:
        order = draw.choice(orders)
        return [*steps, *(Unroll(order.nest, loop) for loop in order.order[-draw.choice((1, 1, 2, 3)) :])]
    common = [step for step in steps if isinstance(step, Reschedule)]
    if kind in ("common", "size") and common:
        old_loops = draw.choice(common)
        sizes = tuple(draw.choice((2, 3, 5, 8, 16)) if size > 1 else 1 for size in old_loops.sizes)
        return _with(steps, old_loops, replace(old_loops, sizes=sizes, wavefront=draw.random() < 0.5))
    if kind == "rewrite":
        statement = draw.choice(scop.statements)
        rewrites = [*small_rewrites(statement, draw), *_transforms(scop, statement, draw)]
        kept = [step for step in steps if not isinstance(step, NestStep)]
        return [*kept, *draw.choice(rewrites)] if rewrites else steps
    return steps


def _with(steps: Sequence[Step], old: Step, new: Step) -> list[Step]:
    return [new if step is old else step for step in steps]


def small_rewrites(statement: Statement, draw: Random) -> Iterator[tuple[RewriteStep, ...]]:
    """Rewrites of a statement that the search would try for large sizes alone."""
    from polydl.variants.rewrites.coalesce import Coalesce
    from polydl.variants.rewrites.cut_triangle import CutTriangle
    from polydl.variants.rewrites.gather import Gather
    from polydl.variants.rewrites.pack import Pack
    from polydl.variants.rewrites.pack_panels import PackPanels
    from polydl.variants.rewrites.pack_tiles import PackTiles
    from polydl.variants.rewrites.pad import Pad
    from polydl.variants.rewrites.split import Split

    loops = statement.iterators
    name = statement.name
    if not loops:
        return
    yield (Split(name, draw.choice(loops), draw.choice(_SIZES)),)
    if len(loops) > 1:
        at = draw.randrange(len(loops) - 1)
        yield (Coalesce(name, loops[at], loops[at + 1]),)
        yield (Coalesce(name, *draw.sample(loops, 2)),)
        rows, columns = draw.sample(loops, 2)
        yield (CutTriangle(name, rows, columns, draw.choice((2, 4, 8, 12, 16))),)
    reads = [access for access in statement.reads if access.subscripts]
    if not reads:
        return
    access = draw.choice(reads)
    assert access.subscripts is not None
    dimensions = len(access.subscripts)
    yield (Pack(name, access.array, tuple(draw.sample(range(dimensions), dimensions))),)
    yield (Pad(name, access.array),)
    moving = [loop for place, loop in enumerate(loops) if any(form.coefficients[place] for form in access.subscripts)]
    if moving:
        order = tuple(draw.sample(moving, len(moving)))
        yield (PackPanels(name, access.array, order),)
        yield (Gather(name, access.array, order, (1,) * len(order)),)
        shared = tuple(draw.sample(loops, draw.randint(1, len(loops))))
        inner = tuple(loop for loop in order if loop not in shared)
        if inner:
            yield (PackTiles(name, access.array, shared, inner),)


def _transforms(scop: Scop, statement: Statement, draw: Random) -> Iterator[tuple[RewriteStep, ...]]:
    """Winograd's and Strassen's ways, with tiles and quarters of small nests, and parts of strided convolutions."""
    from polydl.match.convolution import convolution, strided_axes
    from polydl.variants.rewrites.polyphase import Polyphase
    from polydl.variants.rewrites.split import Split
    from polydl.variants.rewrites.strassen import Strassen, block_product
    from polydl.variants.rewrites.winograd import Winograd

    names = statement.iterators
    conv = convolution(scop, statement)
    if conv is not None and conv.axes:
        axes = tuple((names[pixel], names[tap], draw.choice((2, 3, 4))) for pixel, tap in conv.axes)
        yield (Winograd(statement.name, axes, draw.randint(1, max(1, len(conv.columns)))),)
    strided = strided_axes(scop, statement)
    if strided:
        yield (Polyphase(statement.name, tuple((names[tap], draw.choice((2, stride))) for _, tap, stride in strided)),)
    product = block_product(scop, statement)
    box = statement.box
    if product is None or box is None:
        return
    form = product.form
    roles: list[list[int]] = [[], [], []]
    for loop, moves in enumerate(zip(form.strides_c, form.strides_a, form.strides_b, strict=True)):
        kind = tuple(map(bool, moves))
        for role, wanted in zip(roles, ((True, True, False), (True, False, True), (False, True, True)), strict=True):
            if kind == wanted and box[loop][0] == 0:
                role.append(loop)
    parts = draw.choice((2, 2, 4))
    if not all(roles):
        return
    # Loops that can be cut, where there are any.
    roles = [[loop for loop in role if not (box[loop][1] + 1) % parts] or role for role in roles]
    cuts: list[RewriteStep] = []
    halves = []
    for role in roles:
        loop = draw.choice(role)
        extent = box[loop][1] + 1
        if extent % parts or extent == parts:
            return
        cuts.append(Split(statement.name, names[loop], extent // parts))
        halves.append(f"{names[loop]}_block")
    yield (*cuts, Strassen(statement.name, (halves[0], halves[1], halves[2])))
