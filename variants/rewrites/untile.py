"""A nest without the tiles that its source has: ``for ii, for kk, for i in ii, for k in kk`` as ``for i, for k``.

Loops that were cut into tiles by hand hide what they compute: the statement's domain is no box, and a matrix product
has six loops. A loop over tiles that no element depends on, and that follows from the loops inside of it, says in which
order instances run and nothing else. Where dependences allow the order without it, the nest is one of plain loops,
which all other rewrites and tilings start from.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated, ClassVar

import islpy as isl

from polydl.errors import AnalysisError, IllegalVariantError
from polydl.ir.affine import Affine, Box, box_extents
from polydl.ir.construct import make_access, make_domain
from polydl.ir.families import SCHEDULING
from polydl.ir.numerics import EXACT, Rounding
from polydl.ir.schedule import Loop, Schedule
from polydl.ir.scop import Scop
from polydl.ir.statement import Statement
from polydl.ir.variant import LoopName, RewriteStep, StatementName
from polydl.poly.boxes import bounding_box
from polydl.poly.counting import limited
from polydl.poly.dependences import Dependence
from polydl.poly.legality import violations
from polydl.poly.schedules import original_schedule
from polydl.rewrite_contract import Phase, Proposal, Request
from polydl.variants.rewrites.parts import require_own_loops

if TYPE_CHECKING:
    from random import Random

_SET = isl.dim_type.set


@dataclass(frozen=True)
class Untile(RewriteStep):
    """Run a statement in its other loops alone, in their order, and in a nest of its own.

    Each loop that goes follows from the ones that stay, which then form a box.
    """

    json_name: ClassVar[str] = "untile"

    statement: StatementName
    loops: Annotated[tuple[LoopName, ...], "The loops over tiles, outermost first."]


@dataclass(frozen=True)
class UntileRewrite:
    """The rewrite ``untile``, for loops that were tiled by hand. It is exact: the order of every sum stays."""

    step: type[Untile] = Untile
    families: frozenset[str] = frozenset({SCHEDULING})
    phase: Phase = Phase.PREPARATION

    def rounding(self, scop: Scop, step: Untile) -> Rounding:
        return EXACT

    def apply(self, scop: Scop, step: Untile, dependences: Sequence[Dependence], *, reassociate: bool) -> Scop:
        return untile(scop, step, dependences)

    def propose(self, request: Request) -> Iterator[Proposal]:
        """All loops over tiles of all statements in an outermost loop, in the order in which these stand there."""
        scop, first = request.scop, request.statement.betas[0]
        inside = sorted((each for each in scop.statements if each.betas[0] == first), key=attrgetter("betas"))
        try:
            steps = [Untile(each.name, loops) for each in inside if (loops := tile_loops(scop, each))]
        except AnalysisError:
            return
        if steps:
            yield Proposal(tuple(steps), for_microkernel=False)

    def drawn(self, scop: Scop, statement: Statement, draw: Random) -> Iterator[tuple[Untile]]:
        """Some loops, or those over tiles."""
        if statement.iterators:
            loops = tuple(each for each in statement.iterators if draw.random() < 1 / statement.depth)
            yield (Untile(statement.name, tile_loops(scop, statement) or loops or statement.iterators[:1]),)

    def describe(self, scop: Scop, step: Untile) -> str:
        return f"{step.statement} without the source's tiles, the loops {', '.join(step.loops)}"


UNTILE = UntileRewrite()


@limited
def tile_loops(_scop: Scop, statement: Statement) -> tuple[str, ...]:
    """The loops of a statement that no element depends on and that follow from the others; none where it has a box.

    Raises AnalysisError when isl's quota is used up.
    """
    if statement.box is not None or any(access.subscripts is None for access in statement.accesses):
        return ()
    unused = set(range(statement.depth)).difference(*(access.moving_loops for access in statement.accesses))
    gone: list[int] = []
    for place in sorted(unused):
        if _follow(statement, [*gone, place]):
            gone.append(place)
    return tuple(statement.iterators[place] for place in gone)


def _follow(statement: Statement, places: Sequence[int]) -> bool:
    """Whether iterators follow from all others: no two instances differ in them alone."""
    instances = isl.Set(statement.domain)
    others = instances.identity()
    for place in sorted(places, reverse=True):
        others = others.project_out(isl.dim_type.out, place, 1)
    return bool(others.is_injective())


@limited
def untile(scop: Scop, step: Untile, known: Sequence[Dependence]) -> Scop:
    """The scop with a statement in a nest without these loops. ``known`` are the scop's dependences.

    Raises IllegalVariantError where a loop says more than in which order instances run, where a dependence needs it,
    and for a statement between others in the same loops.
    """
    statement = scop.statement(step.statement)
    if not step.loops or not set(step.loops) <= set(statement.iterators):
        raise IllegalVariantError(f"{statement.name} has no loops {list(step.loops)}")
    require_own_loops(scop, statement)
    if any(access.subscripts is None for access in statement.accesses):
        raise IllegalVariantError(f"a subscript of {statement.name} is not affine")
    if any(node.kind == "affine" for node in statement.body.walk()):
        raise IllegalVariantError(f"{statement.name} computes with its loop counters")
    gone = [statement.iterators.index(loop) for loop in step.loops]
    if any(not access.moving_loops.isdisjoint(gone) for access in statement.accesses) or not _follow(statement, gone):
        raise IllegalVariantError(f"{', '.join(step.loops)} of {statement.name} are no loops over tiles of others")
    kept = [place for place in range(statement.depth) if place not in gone]
    box = _box(statement, gone)
    places = _places(scop, statement)
    times = tuple(
        (name, (places[name], *dimensions[1:])) if name != statement.name else (name, _times(statement, kept, places))
        for name, dimensions in original_schedule(scop).statements
    )
    broken = violations(scop, Schedule(times), known, reassociate=False)
    if broken:
        raise IllegalVariantError(broken[0].reason(scop, f"leaving out {', '.join(step.loops)}"))
    statements = (
        _without(each, kept, box, places[each.name])
        if each.name == statement.name
        else replace(each, betas=(places[each.name], *each.betas[1:]))
        for each in scop.statements
    )
    return replace(scop, statements=tuple(statements))


def _box(statement: Statement, gone: Sequence[int]) -> Box:
    """The bounds of the other loops. Raises IllegalVariantError where these depend on each other."""
    domain = isl.Set(statement.domain)
    for place in sorted(gone, reverse=True):
        domain = domain.project_out(_SET, place, 1)
    box = bounding_box(domain)
    names = [f"i{place}" for place in range(len(box))]
    if not box or not isl.Set(make_domain("", names, box)).is_subset(domain.reset_tuple_id()):
        raise IllegalVariantError(f"the other loops of {statement.name} are not rectangular")
    return box


def _places(scop: Scop, statement: Statement) -> dict[str, int]:
    """Where the nest of each statement stands once a statement has one of its own.

    Raises IllegalVariantError where others in its outermost loop stand before it as well as behind it.
    """
    first = statement.betas[0]
    others = [each for each in scop.statements if each.betas[0] == first and each.name != statement.name]
    before = all(each.betas > statement.betas for each in others)
    if not before and any(each.betas > statement.betas for each in others):
        raise IllegalVariantError(f"{statement.name} stands between others in the same loops")
    places = {each.name: each.betas[0] + (bool(others) and each.betas[0] > first) for each in scop.statements}
    for each in others if before else [statement] if others else []:
        places[each.name] += 1
    return places


def _times(statement: Statement, kept: Sequence[int], places: dict[str, int]) -> tuple[int | Loop, ...]:
    loops = (Loop(statement.iterators[place], place, direction=statement.directions[place]) for place in kept)
    return (places[statement.name], *loops)


def _without(statement: Statement, kept: Sequence[int], box: Box, place: int) -> Statement:
    """The statement in the loops that are kept, in a nest at that place."""
    iterators = tuple(statement.iterators[each] for each in kept)
    accesses = []
    for access in statement.accesses:
        assert access.subscripts is not None
        forms = tuple(Affine(tuple(f.coefficients[each] for each in kept), f.constant) for f in access.subscripts)
        reference, array, kind = access.reference, access.array, access.kind
        accesses.append(make_access(statement.name, iterators, box, reference, array, kind, forms))
    return replace(
        statement,
        iterators=iterators,
        domain=make_domain(statement.name, iterators, box),
        box=box,
        instances=prod(box_extents(box)),
        betas=(place, *(0 for _ in kept)),
        directions=tuple(statement.directions[each] for each in kept),
        accesses=tuple(accesses),
    )
