"""A loop of a statement as two: one over blocks, one over the iterations of a block.

A loop that is split runs in the same order as before, so that nothing has to be proved.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod
from random import Random
from typing import Annotated, ClassVar

from polydl.divisors import divisors
from polydl.errors import IllegalVariantError
from polydl.ir.affine import Affine
from polydl.ir.construct import fresh_name, make_access, make_domain
from polydl.ir.families import LAYOUT
from polydl.ir.numerics import EXACT, Rounding
from polydl.ir.scop import Scop
from polydl.ir.statement import Statement
from polydl.ir.variant import LoopName, RewriteStep, StatementName
from polydl.match.alignment import loops_alike
from polydl.match.product import GemmMatch
from polydl.poly.dependences import Dependence
from polydl.rewrite_contract import Phase, Proposal, Request
from polydl.variants.rewrites.coalesce import coalescing_choices

# Steps of k, those of a batch included, that calls sum over where there are more than twice as many.
SUMMED = 512


@dataclass(frozen=True)
class Split(RewriteStep):
    """Run a loop of a statement as two: one over blocks, and one over the iterations of a block.

    Other statements inside the loop are so, too.

    The inner one keeps the loop's name; the outer one is named ``<loop>_block``, with underscores after it until
    nothing else has that name.
    """

    json_name: ClassVar[str] = "split"

    statement: StatementName
    loop: LoopName
    size: Annotated[int, "Iterations of a block.", {"minimum": 2}]


@dataclass(frozen=True)
class SplitRewrite:
    """The rewrite ``split``, which gives other rewrites a loop over blocks. It is exact: the order stays."""

    step: type[Split] = Split
    families: frozenset[str] = frozenset({LAYOUT})
    phase: Phase = Phase.STATEMENT

    def rounding(self, scop: Scop, step: Split) -> Rounding:
        return EXACT

    def apply(self, scop: Scop, step: Split, dependences: Sequence[Dependence], *, reassociate: bool) -> Scop:
        return split(scop, step)

    def propose(self, request: Request) -> Iterator[Proposal]:
        """The outermost loop that a call may sum over, where all of its products read more than a cache holds."""
        joined = coalescing_choices(request.statement, request.matches)
        for step in batch_choices(request.statement, request.matches):
            # Of loops that walk on through memory as one, the pair that comes first is the one to be tiled for parts.
            yield Proposal((*joined[:1], step))

    def drawn(self, scop: Scop, statement: Statement, draw: Random) -> Iterator[tuple[Split]]:
        """Any loop, in small blocks of any size."""
        if statement.iterators:
            yield (Split(statement.name, draw.choice(statement.iterators), draw.choice((2, 3, 4, 5, 8, 16))),)

    def describe(self, scop: Scop, step: Split) -> str:
        return f"{step.loop} of {step.statement} in blocks of {step.size}"


SPLIT = SplitRewrite()


def split(scop: Scop, step: Split) -> Scop:
    """The scop with one loop of a statement as two, and so of others that run inside it.

    Raises IllegalVariantError if the size doesn't divide it.
    """
    statement = scop.statement(step.statement)
    if step.loop not in statement.iterators or statement.box is None:
        raise IllegalVariantError(f"{statement.name} has no rectangular loop `{step.loop}`")
    place = statement.iterators.index(step.loop)
    low, high = statement.box[place]
    extent = high - low + 1
    if not 1 < step.size < extent or extent % step.size:
        raise IllegalVariantError(f"blocks of {step.size} don't divide the {extent} iterations of `{step.loop}`")
    if any(statement.name in group.statements for group in scop.shared):
        raise IllegalVariantError(f"loops of {statement.name} are fused with others already")
    inside = [each for each in scop.statements if each.betas[: place + 1] == statement.betas[: place + 1]]
    outer = fresh_name(scop, f"{step.loop}_block")
    changed = {each.name: _split(scop, each, place, step.size, outer, statement.box[place]) for each in inside}
    return replace(scop, statements=tuple(changed.get(each.name, each) for each in scop.statements))


def _split(scop: Scop, statement: Statement, place: int, size: int, outer: str, bounds: tuple[int, int]) -> Statement:
    """One of the statements inside a loop, which is to have these bounds, with it in blocks."""
    loop = statement.iterators[place]
    if statement.box is None or statement.box[place] != bounds:
        raise IllegalVariantError(f"{statement.name} has no rectangular loop `{loop}`")
    if scop.has_call(statement.name):
        raise IllegalVariantError(f"loops of {statement.name} are those of a call")
    if any(node.kind == "affine" for node in statement.body.walk()):
        raise IllegalVariantError(f"{statement.name} computes with its loop counters")
    if any(access.subscripts is None for access in statement.accesses) or statement.directions[place] != 1:
        raise IllegalVariantError(f"the subscripts of {statement.name} are not affine, or `{loop}` runs backwards")
    low, high = bounds

    def spread(values: tuple[int, ...], one: int, two: int) -> tuple[int, ...]:
        return (*values[:place], one, two, *values[place + 1 :])

    iterators = (*statement.iterators[:place], outer, *statement.iterators[place:])
    blocks = (0, (high - low + 1) // size - 1)
    box = (*statement.box[:place], blocks, (0, size - 1), *statement.box[place + 1 :])
    accesses = []
    for access in statement.accesses:
        assert access.subscripts is not None
        forms = tuple(
            Affine(
                spread(f.coefficients, f.coefficients[place] * size, f.coefficients[place]),
                f.constant + f.coefficients[place] * low,
            )
            for f in access.subscripts
        )
        accesses.append(make_access(statement.name, iterators, box, access.reference, access.array, access.kind, forms))
    return replace(
        statement,
        iterators=iterators,
        domain=make_domain(statement.name, iterators, box),
        box=box,
        betas=(*statement.betas[: place + 1], 0, *statement.betas[place + 1 :]),
        directions=spread(statement.directions, 1, 1),
        accesses=tuple(accesses),
    )


def batch_choices(statement: Statement, matches: Sequence[GemmMatch]) -> tuple[Split, ...]:
    """The outermost loop that a call may sum over split, where all of its products read more than a cache holds."""
    if statement.box is None or not matches:
        return ()
    match = matches[0]
    extents = extents_of(statement)
    summed = sorted(loop for loop in match.batchable if extents[loop] > 1)
    if not summed:
        return ()
    outermost, *others = summed
    inside = extents[match.k] * prod(extents[loop] for loop in others)
    size = max((d for d in divisors(extents[outermost]) if d * inside <= SUMMED), default=1)
    if 1 < size < extents[outermost] and extents[outermost] * inside > SUMMED * 2:
        return (Split(statement.name, statement.iterators[outermost], size),)
    return ()


# ----------------------------------------------------------------------------------
# For other rewrites, which work on blocks


@dataclass(frozen=True)
class Blocked:
    """A scop some of whose loops were split, and the steps that did it."""

    scop: Scop
    steps: tuple[Split, ...] = ()

    def after(self, steps: Sequence[Split]) -> Blocked:
        """Split more loops. Raises IllegalVariantError."""
        scop = self.scop
        for step in steps:
            scop = split(scop, step)
        return Blocked(scop, (*self.steps, *steps))

    def outside(self, statement: str, loop: str) -> str:
        """The name of the loop around one of a statement's: that over blocks, if it was split."""
        iterators = self.scop.statement(statement).iterators
        return iterators[iterators.index(loop) - 1]


def extents_of(statement: Statement) -> list[int]:
    """Iterations of each loop. Raises IllegalVariantError for loops that bound each other."""
    if statement.box is None:
        raise IllegalVariantError(f"loops of {statement.name} bound each other")
    return [high - low + 1 for low, high in statement.box]


def block_of(extent: int, sizes: Sequence[int]) -> int:
    """The first of the sizes that divides a loop into more than one block, or 0."""
    return next((size for size in sizes if size < extent and extent % size == 0), 0)


def splits_of(scop: Scop, statement: Statement, loop: int, size: int) -> list[Split]:
    """A loop of the statement split, and with it those of other statements that write the same dimension.

    So are the loops of element-wise statements that read all of the output, which may be attached to its tiles. Others'
    loops that can't be split stay as they are.
    """
    steps = [Split(statement.name, statement.iterators[loop], size)]
    # What shares a loop is split with it.
    loops = {statement.betas[: loop + 1]}

    def add(other: Statement, place: int) -> None:
        step = Split(other.name, other.iterators[place], size)
        if other.betas[: place + 1] not in loops and _is_legal(scop, step):
            loops.add(other.betas[: place + 1])
            steps.append(step)

    output = statement.writes[0]
    assert output.subscripts is not None
    dimensions = [d for d, form in enumerate(output.subscripts) if form.coefficients[loop]]
    for other in scop.statements:
        if other.name == statement.name:
            continue
        walked = [access.subscripts for access in other.writes if access.array == output.array]
        for subscripts in filter(None, walked):
            for dimension in dimensions:
                used = [i for i, c in enumerate(subscripts[dimension].coefficients) if c]
                if len(used) == 1:
                    add(other, used[0])
        pairs = None if walked else loops_alike(statement, other)
        if pairs is not None and loop in pairs and len(pairs) == other.depth:
            add(other, pairs[loop][0])
    return steps


def _is_legal(scop: Scop, step: Split) -> bool:
    try:
        split(scop, step)
    except IllegalVariantError:
        return False
    return True
