"""Convolutions in steps of more than one, as several smaller ones in steps of one (the polyphase decomposition).

Outputs ``stride`` pixels apart meet a tap only at pixels of one residue modulo the stride. So the taps of one residue
along each axis, with the pixels that they meet, are a convolution by themselves, in steps of one over every
``stride``-th pixel; its sums add to those of the others. A filter of 3 by 3 taps in steps of two has four such parts,
of 2 by 2, 2 by 1, 1 by 2 and 1 by 1 taps. All but the last may be computed by fewer products (``winograd``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from math import prod
from random import Random
from typing import Annotated, ClassVar

import islpy as isl

from polydl.errors import IllegalVariantError
from polydl.ir.affine import Affine, iterator_form
from polydl.ir.families import BILINEAR, LAYOUT
from polydl.ir.numerics import REORDERED, Rounding
from polydl.ir.scop import Scop
from polydl.ir.statement import Statement
from polydl.ir.variant import RewriteStep, StatementName
from polydl.match.convolution import convolution, strided_axes
from polydl.poly.counting import count, limited
from polydl.poly.dependences import Dependence
from polydl.poly.legality import in_words
from polydl.poly.substitution import renamed, with_iterators
from polydl.rewrite_contract import Phase, Proposal, Request
from polydl.variants.rewrites.parts import in_parts, part_names, require_apart
from polydl.variants.rewrites.split import extents_of
from polydl.variants.rewrites.transform_domain import attached_zeros
from polydl.variants.rewrites.winograd import Room, Winograd, blocked_channels, rooms, tiled, winograd

# Pixels of a tile along each axis; larger tiles of two taps hardly save more and round more.
TILES = (4, 3)
# Of the source's products, for transforms to be worth while.
MOST_LEFT = 0.85


@dataclass(frozen=True)
class Polyphase(RewriteStep):
    """Run a statement once for each residue of loops modulo a number, one after the other.

    The first part keeps the statement's name. Parts are in the order of their residues, those of the last loop fastest.
    """

    json_name: ClassVar[str] = "polyphase"

    statement: StatementName
    loops: Annotated[tuple[tuple[str, int], ...], "Loops over taps, each with the number that residues are of."]


@dataclass(frozen=True)
class PolyphaseRewrite:
    """The rewrite ``polyphase``, which lets strided convolutions be computed by fewer products. It reorders sums."""

    step: type[Polyphase] = Polyphase
    families: frozenset[str] = frozenset({LAYOUT, BILINEAR})
    phase: Phase = Phase.PRODUCT

    def rounding(self, scop: Scop, step: Polyphase) -> Rounding:
        return REORDERED

    def apply(self, scop: Scop, step: Polyphase, dependences: Sequence[Dependence], *, reassociate: bool) -> Scop:
        return polyphase(scop, step, dependences, reassociate=reassociate)

    def propose(self, request: Request) -> Iterator[Proposal]:
        """Strided convolutions whose parts are computed in tiles, those sizes first that leave the fewest products."""
        statement = request.statement
        axes = strided_axes(request.scop, statement)
        if not axes or not request.reassociate:
            return
        step = Polyphase(statement.name, tuple((statement.iterators[tap], stride) for _, tap, stride in axes))
        apart = polyphase(request.scop, step, request.dependences, reassociate=True)
        conv = convolution(apart, apart.statement(statement.name))
        if conv is None:
            return
        room = Room.of(request.machine)
        # The loops of all parts are the statement's.
        blocked = blocked_channels(request.scop, statement, conv, room)
        apart = _apart(blocked.scop, step)
        names = part_names(blocked.scop, statement.name, prod(stride for _, _, stride in axes))
        extents = extents_of(statement)
        counts = [(extents[pixel], extents[tap], stride) for pixel, tap, stride in axes]
        left = {size: products_left(counts, size) for size in TILES}
        for size in sorted((size for size in TILES if left[size] <= MOST_LEFT), key=left.__getitem__):
            ways = [_tiled_parts(apart, names, size, each) for each in rooms(apart, conv, room)]
            for tiles in dict.fromkeys(filter(None, ways)):
                attached = tuple(attached_zeros(each.statement) for each in tiles)
                yield Proposal((*blocked.steps, step, *tiles), attached)

    def drawn(self, scop: Scop, statement: Statement, draw: Random) -> Iterator[tuple[Polyphase]]:
        """Residues of the taps modulo two, or modulo the stride."""
        strided = strided_axes(scop, statement)
        if strided:
            loops = tuple((statement.iterators[tap], draw.choice((2, stride))) for _, tap, stride in strided)
            yield (Polyphase(statement.name, loops),)

    def describe(self, scop: Scop, step: Polyphase) -> str:
        loops = " and ".join(f"{loop} modulo {number}" for loop, number in step.loops)
        return f"{step.statement} in parts by the residues of {loops} (polyphase)"


POLYPHASE = PolyphaseRewrite()


@limited
def polyphase(scop: Scop, step: Polyphase, known: Sequence[Dependence], *, reassociate: bool) -> Scop:
    """The scop with the statement in parts. ``known`` are the scop's dependences.

    Raises IllegalVariantError where an instance would run before one that it depends on; the terms of a sum may run in
    any order if they are to be ``reassociate``d.
    """
    parted = _apart(scop, step)
    parts = _instances(scop.statement(step.statement), step)
    for dependence in known:
        own = dependence.source == dependence.target == step.statement
        if own and not (dependence.reduction and reassociate):
            relation = isl.Map(dependence.relation)
            for earlier, later in combinations(parts, 2):
                if not relation.intersect_domain(later).intersect_range(earlier).is_empty():
                    raise IllegalVariantError(f"{in_words(scop, dependence)} goes back from one part to another")
    return parted


def _apart(scop: Scop, step: Polyphase) -> Scop:
    """The scop with the statement in parts, whatever depends on what."""
    statement = scop.statement(step.statement)
    require_apart(scop, statement)
    loops = [loop for loop, _ in step.loops]
    if not loops or len({*loops}) < len(loops) or not {*loops} <= {*statement.iterators} or statement.box is None:
        raise IllegalVariantError(f"{statement.name} has no rectangular loops {loops}")
    extents = extents_of(statement)
    if any(not 1 < number <= extents[statement.iterators.index(loop)] for loop, number in step.loops):
        raise IllegalVariantError(f"residues of {list(step.loops)} do not take the loops of {statement.name} apart")
    domains = _instances(statement, step)
    names = part_names(scop, statement.name, len(domains))
    parts = []
    for name, domain, residues in zip(names, domains, _residues(step), strict=True):
        part = replace(statement, domain=str(domain))
        old = [iterator_form(place, statement.depth) for place in range(statement.depth)]
        for (loop, number), residue in zip(step.loops, residues, strict=True):
            place = statement.iterators.index(loop)
            factors = tuple(number * factor for factor in old[place].coefficients)
            old[place] = Affine(factors, statement.box[place][0] + residue)
        moved = with_iterators(part, statement.iterators, old)
        parts.append(renamed(replace(moved, instances=count(moved.domain)), name))
    return in_parts(scop, statement, parts)


def _residues(step: Polyphase) -> Iterator[tuple[int, ...]]:
    return product(*(range(number) for _, number in step.loops))


def _instances(statement: Statement, step: Polyphase) -> list[isl.Set]:
    """The instances of each part."""
    assert statement.box is not None
    domain, names = isl.Set(statement.domain), ", ".join(statement.iterators)
    lows = {loop: statement.box[statement.iterators.index(loop)][0] for loop, _ in step.loops}
    parts = []
    for residues in _residues(step):
        conditions = " and ".join(
            f"({loop} - {lows[loop]}) mod {number} = {residue}"
            for (loop, number), residue in zip(step.loops, residues, strict=True)
        )
        parts.append(domain.intersect(isl.Set(f"{{ {statement.name}[{names}] : {conditions} }}")))
    return parts


def products_left(axes: Sequence[tuple[int, int, int]], size: int) -> float:
    """The part of all products that is left where parts are computed in tiles of ``size`` pixels along each axis.

    ``axes`` are the pixels, taps and stride of each. Parts of one tap along an axis are not tiled there.
    """
    left = 1.0
    for pixels, taps, stride in axes:
        counts = [-(-(taps - residue) // stride) for residue in range(stride)]
        tiles = -(-pixels // size)
        products = sum(tiles * (size + own - 1) if own > 1 else pixels * own for own in counts)
        left *= products / (pixels * taps)
    return left


def _tiled_parts(scop: Scop, names: Sequence[str], size: int, room: Room) -> tuple[Winograd, ...]:
    """The parts that are convolutions in tiles of ``size``; () if one of them can't be."""
    steps: list[Winograd] = []
    for name in names:
        statement = scop.statement(name)
        conv = convolution(scop, statement)
        if conv is not None:
            step = tiled(scop, statement, [size] * len(conv.axes), room)
            if step is None:
                return ()
            steps.append(step)
            scop = winograd(scop, step)
    return tuple(steps)
