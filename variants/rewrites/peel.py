"""One iteration of a loop apart from those before and after it (loop peeling, in the middle of a loop).

In ``path[i][j] = min(path[i][j], path[i][k] + path[k][j])`` the iteration ``j = k`` writes ``path[i][k]``, which all
others read: those before it the old value, those after it the new one. No dependence joins any two of the others, so
that without this iteration the loop fills vectors. So it is in any elimination in place, where the pivot's column is
updated along with the columns that are computed from it (Gauss-Jordan). It is index-set splitting (Griebl, Feautrier
and Lengauer, 2000) at a value that loops around decide. The order of all instances stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

import islpy as isl

from polydl.errors import AnalysisError, IllegalVariantError
from polydl.ir.affine import Affine
from polydl.ir.construct import has_loops_alone
from polydl.ir.families import LAYOUT
from polydl.ir.numerics import EXACT, Rounding
from polydl.ir.scop import Scop
from polydl.ir.statement import Statement
from polydl.ir.variant import LoopName, RewriteStep, StatementName
from polydl.poly.boxes import loop_ranges
from polydl.poly.counting import limited
from polydl.poly.dependences import Dependence
from polydl.poly.iterations import in_one_iteration
from polydl.poly.substitution import renamed
from polydl.rewrite_contract import Phase, Proposal, Request
from polydl.variants.rewrites.parts import in_parts, on_part, part_names, require_own_loops

if TYPE_CHECKING:
    from random import Random


@dataclass(frozen=True)
class Peel(RewriteStep):
    """Run one iteration of a loop apart: the iterations before it, itself, then those after it.

    The first part that is not empty keeps the statement's name.
    """

    json_name: ClassVar[str] = "peel"

    statement: StatementName
    loop: LoopName
    value: Annotated[tuple[int, ...], "The iteration: a factor for each loop around, outermost first, and a constant."]


@dataclass(frozen=True)
class PeelRewrite:
    """The rewrite ``peel``, for loops whose iterations depend on one of them alone. It is exact."""

    step: type[Peel] = Peel
    families: frozenset[str] = frozenset({LAYOUT})
    phase: Phase = Phase.PREPARATION

    def rounding(self, scop: Scop, step: Peel) -> Rounding:
        return EXACT

    def apply(self, scop: Scop, step: Peel, dependences: Sequence[Dependence], *, reassociate: bool) -> Scop:
        return peel(scop, step)

    def propose(self, request: Request) -> Iterator[Proposal]:
        """For all statements of an outermost loop whose contiguous loop has no dependences but for one iteration."""
        sharing = [s for s in request.scop.statements if s.betas[0] == request.statement.betas[0]]
        try:
            steps = [_step(request.scop, s, request.dependences, request.reassociate) for s in sharing]
        except AnalysisError:
            return
        found = tuple(step for step in steps if step is not None)
        if found:
            yield Proposal(found, for_microkernel=False)

    def drawn(self, scop: Scop, statement: Statement, draw: Random) -> Iterator[tuple[Peel]]:
        """Any loop at the iteration of any loop around it, or at any value."""
        if statement.iterators:
            place = draw.randrange(statement.depth)
            factors = [0] * place
            constant = draw.randint(*loop_ranges(statement)[place])
            if place and draw.random() < 0.7:
                factors[draw.randrange(place)], constant = 1, draw.choice((-1, 0, 1))
            yield (Peel(statement.name, statement.iterators[place], (*factors, constant)),)

    def describe(self, scop: Scop, step: Peel) -> str:
        statement = next((each for each in scop.statements if each.name == step.statement), None)
        where = step.statement if statement is None else f"line {statement.line}"
        known = statement.iterators if statement is not None else ()
        names = [*known, *(f"loop {place}" for place in range(len(known), len(step.value)))]
        terms = [
            name if factor == 1 else f"{factor} {name}"
            for name, factor in zip(names, step.value[:-1], strict=False)
            if factor
        ]
        value = " + ".join([*terms, *([str(step.value[-1])] if step.value[-1] or not terms else [])])
        return f"iteration {step.loop} = {value} of {where} apart"


PEEL = PeelRewrite()


def peel(scop: Scop, step: Peel) -> Scop:
    """The scop with a statement in parts. Raises IllegalVariantError where the loop has no such iteration to peel."""
    statement = scop.statement(step.statement)
    if step.loop not in statement.iterators:
        raise IllegalVariantError(f"{statement.name} has no loop `{step.loop}`")
    place = statement.iterators.index(step.loop)
    if len(step.value) != place + 1:
        raise IllegalVariantError(f"an iteration of `{step.loop}` has a factor for each loop around it, and a constant")
    require_own_loops(scop, statement)
    if not has_loops_alone(scop, statement, place):
        raise IllegalVariantError(f"{statement.name} shares the loop `{step.loop}`")
    domains = [each for each in _domains(scop, statement, place, step.value) if not each.is_empty()]
    if len(domains) < 2:
        raise IllegalVariantError(f"`{step.loop}` of {statement.name} has no iteration apart from others")
    names = part_names(scop, statement.name, len(domains))
    parts = [renamed(on_part(statement, domain), name) for name, domain in zip(names, domains, strict=True)]
    return in_parts(scop, statement, parts, place)


@limited
def _domains(_scop: Scop, statement: Statement, place: int, value: Sequence[int]) -> tuple[isl.Set, isl.Set, isl.Set]:
    """The instances before an iteration of a loop, in it, and after it, in the order in which the loop runs."""
    whole = isl.Set(statement.domain)
    form = Affine((*value[:-1], *(0,) * (statement.depth - place)), value[-1]).text(statement.iterators)
    head = f"{statement.name}[{', '.join(statement.iterators)}]"
    below, at, above = (
        whole.intersect(isl.Set(f"{{ {head} : {statement.iterators[place]} {relation} {form} }}")).coalesce()
        for relation in ("<", "=", ">")
    )
    return (below, at, above) if statement.directions[place] == 1 else (above, at, below)


@limited
def _step(scop: Scop, statement: Statement, known: Sequence[Dependence], reassociate: bool) -> Peel | None:
    """The step after which the loop along which a statement writes side by side runs in any order; None without one."""
    if len(statement.writes) != 1 or statement.writes[0].subscripts is None:
        return None
    place = next((p for p in range(statement.depth) if abs(scop.stride(statement.writes[0], p)) == 1), None)
    if place is None or scop.has_call(statement.name) or not has_loops_alone(scop, statement, place):
        return None
    others = [p for p in range(statement.depth) if p != place]
    relations = [
        in_one_iteration(isl.Map(d.relation), others)
        for d in known
        if d.source == d.target == statement.name and not (d.reduction and reassociate)
    ]
    carried = [relation for relation in relations if not relation.is_empty()]
    for value in _values(statement, place) if carried else ():
        before, at, after = _domains(scop, statement, place, value)
        free = all(
            relation.intersect_domain(part).intersect_range(part).is_empty()
            for relation in carried
            for part in (before, after)
        )
        if free and not at.is_empty():
            return Peel(statement.name, statement.iterators[place], value)
    return None


def _values(statement: Statement, place: int) -> Iterator[tuple[int, ...]]:
    """The iterations of a loop in which a statement writes what its other iterations read, as a step has them."""
    (write,) = statement.writes
    tried: set[tuple[int, ...]] = set()
    for read in statement.reads:
        if read.array != write.array or read.subscripts is None:
            continue
        for written, seen in zip(write.subscripts or (), read.subscripts, strict=True):
            sign = written.coefficients[place]
            moves = any(seen.coefficients[place:]) or any(written.coefficients[place + 1 :])
            if abs(sign) != 1 or moves:
                continue
            pairs = zip(seen.coefficients[:place], written.coefficients[:place], strict=True)
            value = (*(sign * (one - other) for one, other in pairs), sign * (seen.constant - written.constant))
            if value not in tried:
                tried.add(value)
                yield value
