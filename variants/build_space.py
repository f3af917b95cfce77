"""From a scop to its space: the nests with their decisions, and those of the rewrites that are worth trying."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

from polydl import registry
from polydl.contracts import Microkernel
from polydl.errors import IllegalVariantError
from polydl.ir.families import BILINEAR
from polydl.ir.numerics import DEFAULT_NUMERICS, Numerics, most_error, reassociates
from polydl.ir.schedule import Loop
from polydl.ir.scop import Scop
from polydl.ir.statement import Statement
from polydl.ir.variant import Attach, RewriteStep, ScopStep, Variant
from polydl.machine import Machine
from polydl.match.product import GemmMatch, NoMatch
from polydl.plan.apply import Applied, apply
from polydl.plan.nest_plan import loop_bounds
from polydl.plan.plan import make_plan
from polydl.plan.rewrite_steps import phase_of, rewrite_of
from polydl.plan.rewriting import RewrittenScop, rewritten
from polydl.plan.streaming import streamable
from polydl.poly.dependences import Dependence
from polydl.poly.legality import Directions, violations
from polydl.poly.nests import Nest, distributed
from polydl.rewrite_contract import Phase, Proposal, Request, Rewrite
from polydl.variants.shapes import Shape, best_shapes, plain_shapes, shapes_of
from polydl.variants.space import MINOR_SHARE, NestSpace


@dataclass(frozen=True)
class NestReport:
    """What was found for one nest."""

    nest: Nest
    #: the microkernel that the best shape uses; None for plain loops
    kernel: str | None
    #: why microkernels that come before it, or all of them, are of no use, by their names; "" is for the nest itself
    refusals: Mapping[str, NoMatch]
    #: floating-point operations
    flops: int

    @property
    def reason(self) -> str | None:
        """All refusals in one line; None if there are none."""
        texts = (f"{name}: {each.reason}" if name else each.reason for name, each in self.refusals.items())
        return "; ".join(texts) or None


@dataclass(frozen=True, repr=False)
class VariantSpace:
    """All that can be decided about one scop."""

    #: as it was parsed
    source: Scop
    #: the source after ``rewrites``
    scop: Scop
    dependences: tuple[Dependence, ...]
    nests: tuple[Nest, ...]
    #: of each nest's dependences
    directions: tuple[Directions, ...]
    #: what can be decided about each nest
    spaces: tuple[NestSpace, ...]
    reports: tuple[NestReport, ...]
    #: microkernels that are considered, by name
    kernels: Mapping[str, Microkernel]
    #: the products that a kernel can compute in a nest, by nest index and kernel name
    matches: Mapping[tuple[int, str], tuple[GemmMatch, ...]]
    #: what variants may do to sums and products
    numerics: Numerics
    #: those that all variants of the space begin with
    rewrites: tuple[ScopStep, ...] = ()
    #: spaces after other rewrites
    alternatives: tuple[VariantSpace, ...] = ()

    def __repr__(self) -> str:
        rewrites = f"{len(self.rewrites)} rewrites, {len(self.alternatives)} alternatives"
        return f"<VariantSpace of {self.source.function.name}: {len(self.nests)} nests, {rewrites}>"

    @property
    def most_error(self) -> float:
        """By how many times a variant's measured error may be larger than that of the source's own arithmetic."""
        return most_error(self.numerics)

    def size(self) -> int:
        """Assignments of this space alone, without its alternatives."""
        return prod(space.size() for space in self.spaces)

    def apply(self, variant: Variant) -> Applied:
        """A variant of this space, or any other one, applied to the source; its proof is left to ``prove``."""
        kernels = tuple(self.kernels.values())
        return apply(self.source, variant, kernels, numerics=self.numerics, prove=False)


Fusions = Callable[[Scop, Sequence[Nest], Sequence[Dependence]], Sequence[Proposal]]
"""Finds the fusions of a scop's nests that are worth trying, by their dependences."""


def no_fusions(scop: Scop, nests: Sequence[Nest], dependences: Sequence[Dependence]) -> Sequence[Proposal]:  # noqa: ARG001
    """No fusions, of any scop."""
    return ()


@dataclass(frozen=True)
class _About:
    """What all spaces of one scop have in common."""

    kernels: tuple[Microkernel, ...]
    machine: Machine
    numerics: Numerics
    fusions: Fusions
    #: what that finds in the space for which rewrites are proposed
    known: Sequence[Proposal] = ()

    def at(self, space: VariantSpace) -> _About:
        """The same with the fusions of a space's nests."""
        return replace(self, known=self.fusions(space.scop, space.nests, space.dependences))


def _past_caches(scop: Scop, nests: Sequence[Nest], nest: Nest, second_cache: int) -> tuple[str, ...]:
    """Arrays that a nest may write past the caches, and better does where the others then stay in the second one."""
    used = dict.fromkeys(access.array for name in nest.statements for access in scop.statement(name).accesses)
    if sum(scop.array(name).bytes for name in used) <= second_cache:
        return ()
    return tuple(each.name for each in streamable(scop, nests, nest) if each.bytes > second_cache // 4)


def _nest_shapes(
    scop: Scop,
    nest: Nest,
    kernels: Sequence[Microkernel],
    matches: Mapping[tuple[int, str], tuple[GemmMatch, ...] | NoMatch],
    machine: Machine,
) -> tuple[tuple[Shape, ...], str | None, dict[str, NoMatch]]:
    """Shapes, the kernel that the best of them uses, and why the kernels before it are of no use."""
    if nest.call is not None:
        return (Shape(None),), None, {"": NoMatch(f"it calls `{nest.call.call}`")}
    order = [kernel.name for kernel in kernels]
    refusals: dict[str, NoMatch] = {}
    usable: list[tuple[Shape, ...]] = []
    bounds = loop_bounds(scop, nest)
    extents = {nest.depth + position: high - low + 1 for position, (low, high) in enumerate(bounds)}
    for kernel in kernels:
        found = matches[nest.index, kernel.name]
        if isinstance(found, NoMatch):
            refusals[kernel.name] = found
            continue
        width = scop.array(found[0].form.c.array).element_bytes
        shapes, reason = shapes_of(found, kernel, extents, machine.vector_elements(width))
        if shapes:
            usable.append(shapes)
        elif reason is not None:
            refusals[kernel.name] = NoMatch(reason)
    if not usable:
        return (Shape(None),), None, refusals or {"": NoMatch("no microkernel was asked for")}
    shapes = best_shapes(usable)
    assert shapes[0].match is not None
    used = shapes[0].match.kernel
    before = {name: each for name, each in refusals.items() if order.index(name) < order.index(used)}
    return shapes, used, before


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
    space = _space(rewritten(scop, (), numerics=numerics), scop, about, ())
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
    made = {each.rewrites: each for each in (*fused, *others, *multiplied, *prepared, *rescheduled)}
    return replace(space, alternatives=tuple(made.values()))


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
    if not _distributed(space):
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
        first = _space(fused, space.source, about, before + merged)
        others = tuple(_alternatives(first, about))
    # Where only a rewrite makes room for a microkernel, plain loops with something attached are not worth a share.
    for made in others if attached and others and not any(r.kernel for r in first.reports) else (first, *others):
        own = replace(made, rewrites=tuple(dict.fromkeys((*made.rewrites, *attached))))
        own = replace(own, spaces=tuple(_with_attached(each, attached) for each in made.spaces))
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


def _with_attached(space: NestSpace, steps: tuple[Attach, ...]) -> NestSpace:
    names = set(space.nest.statements)
    following = any(step.statement in names for step in steps)
    return replace(space, attached=following, leading=any(step.to in names for step in steps))


def _distributed(space: VariantSpace) -> bool:
    """Whether the nests of a space's scop come one after the other, as rewrites need it."""
    return distributed(space.scop, space.nests) is not None


def _space(left: RewrittenScop, source: Scop, about: _About, rewrites: tuple[ScopStep, ...]) -> VariantSpace:
    kernels = about.kernels
    scop, nests = left.scop, left.nests
    matches = {(nest.index, kernel.name): left.matches(nest, kernel) for nest in nests for kernel in kernels}
    spaces, reports = [], []
    work = {nest.index: _accesses(scop, nest) for nest in nests}
    for nest in nests:
        shapes, kernel, refusals = _nest_shapes(scop, nest, kernels, matches, about.machine)
        if not left.reassociate:
            shapes = tuple(shape for shape in shapes if _sums_forwards(scop, nest, shape)) or (Shape(None),)
            kernel = kernel if shapes[0].match is not None else None
        way = left.directions[nest.index]
        if shapes[0].match is None:
            shapes = plain_shapes(scop, nest, way, about.machine)
        # In loops of isl's there is nothing left to decide.
        fixed = any(group.fixed and nest.statements[0] in group.statements for group in scop.shared)
        minor = fixed or nest.transform is not None or work[nest.index] < MINOR_SHARE * sum(work.values())
        outside = any(isinstance(each, Loop) and each.parallel for each in nest.prefix)
        own_threads = 1 if outside or fixed else about.machine.threads
        streams = _past_caches(scop, nests, nest, about.machine.second_cache_bytes)
        space = NestSpace(scop, nest, way, shapes, about.machine, own_threads, minor, streamable=streams)
        if kernel is not None and not any(space.legal_order(shape, space.default(shape).order) for shape in shapes):
            refusals, kernel = {"": NoMatch("the order of the sum must be kept")}, None
            space = replace(space, shapes=(Shape(None),))
        spaces.append(space)
        reports.append(NestReport(nest, kernel, refusals, sum(scop.statement(name).flops for name in nest.statements)))
    return VariantSpace(
        source,
        scop,
        left.dependences,
        nests,
        left.directions,
        tuple(spaces),
        tuple(reports),
        {kernel.name: kernel for kernel in kernels},
        {key: found for key, found in matches.items() if not isinstance(found, NoMatch)},
        left.numerics,
        rewrites,
    )


def _sums_forwards(scop: Scop, nest: Nest, shape: Shape) -> bool:
    """Whether the loops that a microkernel sums over run as the microkernel does."""
    if shape.match is None:
        return True
    ways = scop.statement(nest.statements[0]).directions
    return all(ways[loop] == 1 for loop in (shape.match.k, *shape.batch))


def _accesses(scop: Scop, nest: Nest) -> int:
    statements = [scop.statement(name) for name in nest.statements]
    return sum(statement.instances * len(statement.accesses) for statement in statements)


def _alternatives(space: VariantSpace, about: _About) -> Iterator[VariantSpace]:
    """Spaces after rewrites, where these are legal and give a nest a microkernel, or don't need one."""
    yield from _rewritten(space, about)
    if not _distributed(space):
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
    phases = [phase for step in names.values() if (phase := phase_of(rewrite_of(step))) is not Phase.PREPARATION]
    return phases == [Phase.NORMALIZATION]


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
    if not _distributed(space):
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
    if not _distributed(space):
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
    made = _space(left, space.source, about, steps)
    if not proposal.attached:
        return made
    spaces = tuple(_with_attached(each, proposal.attached) for each in made.spaces)
    return replace(made, spaces=spaces, rewrites=(*made.rewrites, *proposal.attached))


def _preference(space: VariantSpace, nest: Nest, kernels: Sequence[Microkernel]) -> int:
    """The place of the first kernel that a nest's loops match, or how many there are if none does."""
    places = (place for place, kernel in enumerate(kernels) if (nest.index, kernel.name) in space.matches)
    return next(places, len(kernels))
