"""From a scop to its space, with those of the rewrites that are worth trying."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from polydl import registry
from polydl.contracts import Microkernel
from polydl.errors import IllegalVariantError
from polydl.ir.families import BILINEAR
from polydl.ir.numerics import DEFAULT_NUMERICS, Numerics, reassociates
from polydl.ir.scop import Scop
from polydl.ir.statement import Statement
from polydl.ir.variant import RewriteStep, Variant
from polydl.machine import Machine
from polydl.plan.plan import make_plan
from polydl.plan.rewrite_steps import phase_of, rewrite_of
from polydl.plan.rewriting import rewritten
from polydl.poly.dependences import Dependence
from polydl.poly.legality import violations
from polydl.poly.nests import Nest
from polydl.rewrite_contract import Phase, Proposal, Request, Rewrite
from polydl.variants.rewritten_space import is_distributed, space_of, with_attached
from polydl.variants.variant_space import NestReport, VariantSpace

Fusions = Callable[[Scop, Sequence[Nest], Sequence[Dependence]], Sequence[Proposal]]
"""Finds the fusions of a scop's nests that are worth trying, by their dependences."""


def no_fusions(scop: Scop, nests: Sequence[Nest], dependences: Sequence[Dependence]) -> Sequence[Proposal]:  # noqa: ARG001
    """No fusions, of any scop."""
    return ()


@dataclass(frozen=True)
class _About:
    """What all spaces of one scop have in common."""

    #: those that may be used, the preferred first
    kernels: tuple[Microkernel, ...]
    machine: Machine
    numerics: Numerics
    fusions: Fusions
    #: what that finds in the space for which rewrites are proposed
    known: Sequence[Proposal] = ()

    def at(self, space: VariantSpace) -> _About:
        """The same with the fusions of a space's nests."""
        return replace(self, known=self.fusions(space.scop, space.nests, space.dependences))


def build_space(
    scop: Scop,
    kernels: Sequence[Microkernel],
    machine: Machine,
    *,
    numerics: Numerics = DEFAULT_NUMERICS,
    fusions: Fusions = no_fusions,
    fewer_products: bool = True,
) -> VariantSpace:
    """Dependences, nests and decisions of a scop, and of the rewrites of it that are worth trying.

    Shapes of all ``kernels`` that match a nest are pooled, and those kept that are predicted to take least
    (``best_shapes``). ``numerics`` says what may be done to sums and products. Each of the ``fusions`` is tried, with
    the other rewrites after it, in the source and where a normalization made further nests. A nest whose arrays don't
    fit into the second cache may write those past the caches that take a quarter of it. Without ``fewer_products`` all
    products of the source are computed one by one.
    """
    about = _About(tuple(kernels), machine, numerics, fusions)
    space = space_of(rewritten(scop, (), numerics=numerics), scop, about.kernels, about.machine, ())
    return replace(space, alternatives=_alternatives_of(_source(space, about), about, fewer_products=fewer_products))


def _source(space: VariantSpace, about: _About) -> VariantSpace:
    """What rewrites are tried on: the space of the source, or that after all rewrites of its loops that all gain by."""
    if any(report.kernel for report in space.reports):
        return space
    while (after := next(_of_outermost_loops(space, Phase.SOURCE, about), None)) is not None:
        space = after
    return space


def _alternatives_of(space: VariantSpace, about: _About, *, fewer_products: bool) -> tuple[VariantSpace, ...]:
    """All spaces of a source that begin with the rewrites of ``space``, itself included if it has any."""
    about = about.at(space)
    others = tuple(_alternatives(space, about))
    fused = list(_with_fusions(space, others, about))
    products = [each for each in rewrites_of(Phase.PRODUCT) if fewer_products or BILINEAR not in each.families]
    multiplied = _multiplied(space, others, products, about)
    prepared: list[VariantSpace] = []
    for first in _of_outermost_loops(space, Phase.PREPARATION, about):
        after = tuple(_alternatives(first, about))
        prepared += (first, *after, *_multiplied(first, after, products, about))
    rescheduled = _of_outermost_loops(space, Phase.OUTERMOST_LOOP, about)
    # A rewrite may attach by itself what a fusion attaches.
    begun = (space,) if space.rewrites else ()
    made = {each.rewrites: each for each in (*begun, *fused, *others, *multiplied, *prepared, *rescheduled)}
    return tuple(made.values())


def _with_fusions(space: VariantSpace, others: tuple[VariantSpace, ...], about: _About) -> Iterator[VariantSpace]:
    """Spaces after the fusions of a source, and after those of what normalizations make of it.

    ``others`` are the spaces after other rewrites of the source. Where a normalization writes to results in a nest of
    its own, it is its nests that fusions are of, not those of the source.
    """
    grown = [each for each in others if _is_normalized(each) and _writes_anew(each.scop, space.scop)]
    left = tuple(each for each in others if not any(_extends(each, other) for other in grown))
    for proposal in about.known:
        yield from _fused(space, left, proposal, about)
    for each in grown:
        own = about.at(each)
        after = tuple(other for other in others if other is not each and _extends(other, each))
        for proposal in own.known:
            yield from _fused(each, after, proposal, own)


def _writes_anew(scop: Scop, source: Scop) -> bool:
    """Whether statements that the source does not have write arrays that its own write."""
    names = {statement.name for statement in source.statements}
    written = {access.array for statement in source.statements for access in statement.writes}
    added = [statement for statement in scop.statements if statement.name not in names]
    return any(access.array in written for statement in added for access in statement.writes)


def _extends(space: VariantSpace, other: VariantSpace) -> bool:
    """Whether the rewrites of a space begin with those of the other one."""
    return space.rewrites[: len(other.rewrites)] == other.rewrites


def _fused(
    space: VariantSpace, unfused: tuple[VariantSpace, ...], fusion: Proposal, about: _About
) -> Iterator[VariantSpace]:
    """Spaces after a fusion, and after it and a further rewrite; ``unfused`` are those after such a rewrite alone."""
    if not is_distributed(space):
        return
    attached, merged = fusion.attached, fusion.steps
    before = tuple(step for step in space.rewrites if isinstance(step, RewriteStep))
    try:
        fused = rewritten(space.source, before + merged, numerics=space.numerics)
    except IllegalVariantError:
        return
    if not merged:
        # Attaching leaves the scop as it is: all is known already.
        first, others = space, unfused
    else:
        first = space_of(fused, space.source, about.kernels, about.machine, before + merged)
        others = tuple(_alternatives(first, about))
    # Where only a rewrite makes room for a microkernel, plain loops with something attached are not worth a share.
    for made in others if attached and others and not any(r.kernel for r in first.reports) else (first, *others):
        own = replace(made, rewrites=tuple(dict.fromkeys((*made.rewrites, *attached))))
        own = replace(own, spaces=tuple(with_attached(each, attached) for each in made.spaces))
        try:
            plan = make_plan(own.scop, own.nests, Variant(attached)) if attached else None
        except IllegalVariantError:
            continue
        # What a rewrite put between the two nests may have to run there.
        if plan is not None and made is not first:
            kept = reassociates(own.numerics)
            if violations(own.scop, plan.schedule, own.dependences, reassociate=kept):
                continue
        yield own


def _alternatives(space: VariantSpace, about: _About) -> Iterator[VariantSpace]:
    """Spaces after rewrites, where these are legal and give a nest a microkernel, or don't need one."""
    yield from _rewritten(space, about)
    if not is_distributed(space):
        return
    for rewrite in rewrites_of(Phase.NORMALIZATION):
        normal = _normal(space, rewrite, about)
        if normal is not None:
            yield normal
            yield from _rewritten(normal, about)


def _normal(space: VariantSpace, rewrite: Rewrite[Any], about: _About) -> VariantSpace | None:
    """The space with a rewrite applied to all statements that it is proposed for, or None.

    What it is proposed for may take a further rewrite to have a microkernel.
    """
    chosen: tuple[RewriteStep, ...] = ()
    for statement in space.scop.statements:
        for proposal in _proposals(space, statement, [rewrite], about):
            if (about.kernels or not proposal.for_microkernel) and _legal(space, (*chosen, *proposal.steps)):
                chosen = (*chosen, *proposal.steps)
                break
    return _after(space, Proposal(chosen), about) if chosen else None


def _legal(space: VariantSpace, steps: tuple[RewriteStep, ...]) -> bool:
    before = tuple(step for step in space.rewrites if isinstance(step, RewriteStep))
    try:
        rewritten(space.source, (*before, *steps), numerics=space.numerics)
    except IllegalVariantError:
        return False
    return True


def _is_normalized(space: VariantSpace) -> bool:
    """Whether all of a space's rewrites, but for what it was prepared by, are those of one normalization."""
    names = {step.json_name: step for step in space.rewrites if isinstance(step, RewriteStep)}
    phases = [phase_of(rewrite_of(step)) for step in names.values()]
    return [each for each in phases if each not in (Phase.SOURCE, Phase.PREPARATION)] == [Phase.NORMALIZATION]


def rewrites_of(phase: Phase) -> tuple[Rewrite[Any], ...]:
    """The rewrites of a phase, in the order in which they are proposed."""
    installed = (registry.load("rewrites", name) for name in registry.names("rewrites"))
    return tuple(each for each in installed if phase_of(each) is phase)


def _proposals(
    space: VariantSpace, statement: Statement, rewrites: Sequence[Rewrite[Any]], about: _About
) -> Iterator[Proposal]:
    """What rewrites propose for a statement of the space's scop, whose nests come one after the other."""
    report = next(each for each in space.reports if statement.name in each.nest.statements)
    request = Request(
        scop=space.scop,
        statement=statement,
        dependences=space.dependences,
        matches=space.matches.get((report.nest.index, report.kernel or ""), ()),
        preferred=_preference(space, report.nest, about.kernels) == 0,
        reassociate=reassociates(space.numerics),
        machine=about.machine,
        fusions=about.known,
    )
    for rewrite in rewrites:
        try:
            yield from rewrite.propose(request)
        except IllegalVariantError:
            continue


def _rewritable(space: VariantSpace) -> Iterator[tuple[NestReport, Statement]]:
    """Nests of one statement, and none that is a call, with that statement."""
    for report in space.reports:
        if len(report.nest.statements) == 1 and report.nest.call is None:
            yield report, space.scop.statement(report.nest.statements[0])


def _rewritten(space: VariantSpace, about: _About) -> Iterator[VariantSpace]:
    """Spaces after a rewrite, and those that made ``space``."""
    if not is_distributed(space):
        return
    others = rewrites_of(Phase.STATEMENT)
    for report, statement in _rewritable(space):
        before = _preference(space, report.nest, about.kernels)
        for proposal in _proposals(space, statement, others, about):
            if proposal.for_microkernel and not about.kernels:
                continue
            made = _after(space, proposal, about)
            if made is None:
                continue
            found = next(each for each in made.reports if statement.name in each.nest.statements)
            as_good = found.kernel is not None and (
                proposal.any_microkernel or _preference(made, found.nest, about.kernels) <= before
            )
            if as_good or not proposal.for_microkernel:
                yield made


def _of_outermost_loops(space: VariantSpace, phase: Phase, about: _About) -> Iterator[VariantSpace]:
    """Spaces after a rewrite of a phase that takes all statements that share an outermost loop."""
    installed = rewrites_of(phase)
    outermost = {statement.betas[0]: statement for statement in reversed(space.scop.statements)}
    for statement in reversed(outermost.values()):
        for proposal in _proposals(space, statement, installed, about):
            made = _after(space, proposal, about)
            if made is not None:
                yield made


def _multiplied(
    space: VariantSpace, others: Sequence[VariantSpace], products: Sequence[Rewrite[Any]], about: _About
) -> Iterator[VariantSpace]:
    """Spaces of other products in a space, and in those of its alternatives ``others`` that one normalization makes."""
    for base in (space, *(each for each in others if _is_normalized(each))):
        yield from _with_other_products(base, products, about)


def _with_other_products(
    space: VariantSpace, rewrites: Sequence[Rewrite[Any]], about: _About
) -> Iterator[VariantSpace]:
    """Spaces of convolutions in tiles, and of products in quarters, where a microkernel takes what is multiplied."""
    if not is_distributed(space):
        return
    for _, statement in _rewritable(space):
        for proposal in _proposals(space, statement, rewrites, about):
            made = _after(space, proposal, about)
            if made and any(each.kernel and statement.name in each.nest.statements for each in made.reports):
                yield made


def _after(space: VariantSpace, proposal: Proposal, about: _About) -> VariantSpace | None:
    """The space after what is proposed for ``space``; None if that is illegal."""
    steps = (*space.rewrites, *proposal.steps)
    rewrites = tuple(step for step in steps if isinstance(step, RewriteStep))
    try:
        left = rewritten(space.source, rewrites, numerics=space.numerics)
    except IllegalVariantError:
        return None
    made = space_of(left, space.source, about.kernels, about.machine, steps)
    if not proposal.attached:
        return made
    spaces = tuple(with_attached(each, proposal.attached) for each in made.spaces)
    return replace(made, spaces=spaces, rewrites=(*made.rewrites, *proposal.attached))


def _preference(space: VariantSpace, nest: Nest, kernels: Sequence[Microkernel]) -> int:
    """The place of the first kernel that a nest's loops match, or how many there are if none does."""
    places = (place for place, kernel in enumerate(kernels) if (nest.index, kernel.name) in space.matches)
    return next(places, len(kernels))
