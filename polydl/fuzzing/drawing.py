"""Variants of a nest at random: from its space, not by rank, and steps that the space does not hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Any

from polydl import registry
from polydl.errors import PolydlError
from polydl.ir.families import BILINEAR
from polydl.ir.scop import Scop
from polydl.ir.statement import Statement
from polydl.ir.variant import Interchange, NestStep, Parallel, RewriteStep, Step, Tile, Unroll, Variant, Vectors
from polydl.machine import Machine
from polydl.pipeline import space_on
from polydl.plan.rewrite_steps import rewrite_of
from polydl.plan.rewriting import rewritten
from polydl.rewrite_contract import DrawsSteps, VariesSteps

if TYPE_CHECKING:
    from polydl.variants.variant_space import VariantSpace

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
        transforms, others = (_drawn(rewrites, space.source, statement, draw) for rewrites in _drawing())
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
    kind = draw.choice(("drop", "size", "order", "parallel", "tile", "rewrite", "vectors", "unroll", "vary"))
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
    varying = _varying(steps)
    if kind in ("vary", "size") and varying:
        step, rewrite = draw.choice(varying)
        return _with(steps, step, rewrite.varied(step, draw))
    if kind == "rewrite":
        statement = draw.choice(scop.statements)
        transforming, further = _drawing()
        sequences = _drawn((*further, *transforming), scop, statement, draw)
        kept = [step for step in steps if not isinstance(step, NestStep)]
        return [*kept, *draw.choice(sequences)] if sequences else steps
    return steps


def _with(steps: Sequence[Step], old: Step, new: Step) -> list[Step]:
    return [new if step is old else step for step in steps]


def _drawing() -> tuple[list[DrawsSteps], list[DrawsSteps]]:
    """The rewrites that can draw steps: those for fewer products, and the others."""
    transforming: list[DrawsSteps] = []
    others: list[DrawsSteps] = []
    for name in registry.names("rewrites"):
        rewrite: Any = registry.load("rewrites", name)
        if hasattr(rewrite, "drawn"):
            (transforming if BILINEAR in rewrite.families else others).append(rewrite)
    return transforming, others


def _drawn(
    rewrites: Sequence[DrawsSteps], scop: Scop, statement: Statement, draw: Random
) -> list[tuple[RewriteStep, ...]]:
    """Sequences of steps that rewrites draw for a statement."""
    return [steps for rewrite in rewrites for steps in rewrite.drawn(scop, statement, draw)]


def _varying(steps: Sequence[Step]) -> list[tuple[RewriteStep, VariesSteps]]:
    """The steps whose rewrites know others like them."""
    rewrites: list[tuple[RewriteStep, Any]] = [
        (step, rewrite_of(step)) for step in steps if isinstance(step, RewriteStep)
    ]
    return [(step, rewrite) for step, rewrite in rewrites if hasattr(rewrite, "varied")]
