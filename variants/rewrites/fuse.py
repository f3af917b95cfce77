"""Loops of different nests merged: a rewrite of the scop, proved by the dependences.

Nests that do the same on every iteration of some loops may run them together: what one leaves in a register or in
a cache, the next one finds there. Loops may be put in another order first, so that the common ones are outermost.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

from polydl.errors import IllegalVariantError
from polydl.ir.affine import Affine
from polydl.ir.construct import make_access, make_domain
from polydl.ir.families import FUSION
from polydl.ir.numerics import EXACT, Rounding
from polydl.ir.schedule import Loop, Schedule
from polydl.ir.scop import Scop, SharedLoops
from polydl.ir.statement import Access, Statement
from polydl.ir.variant import RewriteStep
from polydl.poly.dependences import Dependence
from polydl.poly.legality import Decided, in_words, violations
from polydl.poly.reductions import combinable
from polydl.poly.schedules import original_schedule
from polydl.rewrite_contract import Phase, Proposal, Request


@dataclass(frozen=True)
class Fuse(RewriteStep):
    """Run statements of different nests inside the same loops."""

    json_name: ClassVar[str] = "fuse"
    json_omits: ClassVar[frozenset[str]] = frozenset({"combined"})

    statements: Annotated[tuple[str, ...], "Those whose loops are fused, in the order in which they run."]
    orders: Annotated[tuple[tuple[str, ...], ...], "The loops of each, outermost first."]
    bodies: Annotated[tuple[int, ...], "Statements with the same number share all loops."]
    shared: Annotated[int, "How many outermost loops are common.", {"minimum": 1}]
    parallel: Annotated[bool, "Whether the outermost common loop runs on threads."] = False
    combined: Annotated[tuple[str, ...], "Arrays that threads sum in parts, which are added up at the end."] = ()

    @property
    def fuses(self) -> bool:
        return True

    @property
    def threaded(self) -> bool:
        return self.parallel

    def on_one_thread(self) -> Fuse:
        return replace(self, parallel=False, combined=())


@dataclass(frozen=True)
class FuseRewrite:
    """The rewrite ``fuse``. Which fusions are tried is decided by ``polydl.fusion``, for whole scops."""

    step: type[Fuse] = Fuse
    families: frozenset[str] = frozenset({FUSION})
    phase: Phase = Phase.STATEMENT

    def rounding(self, scop: Scop, step: Fuse) -> Rounding:
        return EXACT

    def apply(self, scop: Scop, step: Fuse, dependences: Sequence[Dependence], *, reassociate: bool) -> Scop:
        return fuse(scop, step, dependences, reassociate=reassociate)

    def propose(self, request: Request) -> Iterator[Proposal]:
        """None for a single statement: ``polydl.fusion`` proposes which nests to fuse, from all of a scop together."""
        yield from ()

    def describe(self, scop: Scop, step: Fuse) -> str:
        lines = sorted({each.line for each in scop.statements if each.name in step.statements})
        made = [name for name in step.statements if name not in {each.name for each in scop.statements}]
        common = f"{step.shared} common loop{'' if step.shared == 1 else 's'}"
        places = [*([f"lines {', '.join(map(str, lines))}"] if lines else []), *made]
        return f"{' and '.join(places)} inside {common} ({' '.join(step.orders[0][: step.shared])})"


FUSE = FuseRewrite()


def shared_loops(step: Fuse) -> SharedLoops:
    """The group of statements that a fusion adds to those of the scop that share loops."""
    return SharedLoops(step.statements, step.shared, step.parallel, step.combined)


def fuse(
    scop: Scop,
    step: Fuse,
    known: Sequence[Dependence],
    *,
    reassociate: bool = True,
    decided: Decided | None = None,
) -> Scop:
    """The scop with the loops of ``step`` merged. Its nests lie one after the other.

    ``decided`` is what ``violations`` keeps for a caller that tries many fusions of one scop. Raises
    IllegalVariantError if that breaks a dependence, if the loops have different bounds or stand for a call, or if
    threads can't add up the arrays that they are to.
    """
    members = [scop.statement(name) for name in step.statements]
    _check_loops(scop, members, step)
    betas = _positions(scop, members, step, known)
    moved = Schedule(
        tuple(
            (name, _threaded(time, step) if name in step.statements else time)
            for name, _ in original_schedule(scop).statements
            for time in [_time(scop.statement(name), betas[name], _order(scop.statement(name), step))]
        )
    )
    broken = violations(scop, moved, known, reassociate=reassociate, decided=decided)
    if broken:
        raise IllegalVariantError(broken[0].reason(scop))
    leader = members[0]
    arrays = {array.name for array in scop.arrays}
    if arrays & set(leader.iterators):
        raise IllegalVariantError(f"a loop of {leader.name} has the name of an array")
    names = [leader.iterators[place] for place in _order(leader, step)]
    statements = [
        _reordered(statement, betas[statement.name], _order(statement, step), names[: step.shared])
        if statement.name in step.statements
        else replace(statement, betas=betas[statement.name])
        for statement in scop.statements
    ]
    statements.sort(key=lambda statement: statement.betas)
    return replace(scop, statements=tuple(statements), shared=(*scop.shared, shared_loops(step)))


def _check_loops(scop: Scop, members: Sequence[Statement], step: Fuse) -> None:
    if not (0 < len(members) == len(step.orders) == len(step.bodies)) or step.shared < 1:
        raise IllegalVariantError("a fusion needs statements, with loops and a body for each")
    bounds: dict[int, tuple[tuple[int, int], ...]] = {}
    for statement, order, body in zip(members, step.orders, step.bodies, strict=True):
        if sorted(order) != sorted(statement.iterators):
            raise IllegalVariantError(f"{list(order)} is no order of the loops of {statement.name}")
        if scop.has_call(statement.name):
            raise IllegalVariantError(f"loops of {statement.name} are those of a call")
        if statement.box is None or any(a.subscripts is None for a in statement.accesses):
            raise IllegalVariantError(f"the loops or subscripts of {statement.name} are not rectangular")
        if any(direction != 1 for direction in statement.directions):
            raise IllegalVariantError(f"a loop of {statement.name} runs backwards")
        ranges = tuple(statement.box[statement.iterators.index(name)] for name in order)
        known = bounds.setdefault(body, ranges)
        first = bounds[step.bodies[0]]
        if ranges != known or ranges[: step.shared] != first[: step.shared] or len(ranges) < step.shared:
            raise IllegalVariantError(f"the loops of {statement.name} and {members[0].name} have different bounds")
        if order != statement.iterators and any(node.kind == "affine" for node in statement.body.walk()):
            raise IllegalVariantError(f"{statement.name} computes with its loop counters")
    if step.combined:
        outermost = {statement.name: _order(statement, step)[0] for statement in members}
        summed = combinable(scop, members, outermost) if step.parallel else ()
        if refused := set(step.combined).difference(summed):
            raise IllegalVariantError(f"`{step.orders[0][0]}` has no threads that can add up `{min(refused)}`")


def _order(statement: Statement, step: Fuse) -> tuple[int, ...]:
    """The statement's iterators by their place, outermost first."""
    if statement.name not in step.statements:
        return tuple(range(statement.depth))
    return tuple(statement.iterators.index(name) for name in step.orders[step.statements.index(statement.name)])


def _positions(
    scop: Scop, members: Sequence[Statement], step: Fuse, known: Sequence[Dependence]
) -> Mapping[str, tuple[int, ...]]:
    """New betas: the merged nests at one place, everything else around it in an order that keeps the dependences."""
    merged = {statement.betas[0] for statement in members}
    home = min(merged)
    node = {s.name: home if s.betas[0] in merged else s.betas[0] for s in scop.statements}
    strangers = [s.name for s in scop.statements if s.betas[0] in merged and s.name not in step.statements]
    if strangers:
        raise IllegalVariantError(f"{strangers[0]} shares a loop with a statement that is to be fused")
    waiting = sorted(set(node.values()))
    edges: dict[tuple[int, int], Dependence] = {}
    for dependence in known:
        if node[dependence.source] != node[dependence.target]:
            edges.setdefault((node[dependence.source], node[dependence.target]), dependence)
    place: dict[int, int] = {}
    while waiting:
        ready = [each for each in waiting if not any((other, each) in edges for other in waiting)]
        if not ready:
            # Before nests were merged they had an order, so that each cycle leads through the merged ones.
            there = next(edges[home, other] for other in waiting if (home, other) in edges)
            back = next(edges[other, home] for other in waiting if (other, home) in edges)
            raise IllegalVariantError(
                f"{in_words(scop, there)} or {in_words(scop, back)} is broken, since nothing runs between merged loops"
            )
        place[ready[0]] = len(place)
        waiting.remove(ready[0])
    betas = {s.name: (place[node[s.name]], *s.betas[1:]) for s in scop.statements}
    number, within, last_body = -1, 0, None
    for statement, body in zip(members, step.bodies, strict=True):
        if body == last_body and statement.depth > step.shared:
            within += 1
        else:
            number, within = number + 1, 0
        last_body = body
        inner = statement.depth - step.shared
        tail = (number, *(0,) * (inner - 1), within) if inner else (number,)
        betas[statement.name] = (place[home], *(0,) * (step.shared - 1), *tail)
    return betas


def _time(statement: Statement, betas: tuple[int, ...], order: Sequence[int]) -> tuple[int | Loop, ...]:
    dimensions: list[int | Loop] = [betas[0]]
    for beta, place in zip(betas[1:], order, strict=True):
        dimensions += [Loop(statement.iterators[place], place, direction=statement.directions[place]), beta]
    return tuple(dimensions)


def _threaded(dimensions: tuple[int | Loop, ...], step: Fuse) -> tuple[int | Loop, ...]:
    """The time of a merged statement with the outermost loop on threads, if it is to be."""
    outer = dimensions[1]
    if not step.parallel or not isinstance(outer, Loop):
        return dimensions
    common = replace(outer, name="", parallel=True, combined=step.combined)
    return (dimensions[0], common, *dimensions[2:])


def _reordered(statement: Statement, betas: tuple[int, ...], order: Sequence[int], shared: Sequence[str]) -> Statement:
    """The statement with its iterators in another order, the shared ones under the names of the first statement."""
    assert statement.box is not None
    old = [statement.iterators[place] for place in order]
    names = [*shared]
    for name in old[len(shared) :]:
        while name in names:
            name += "_"
        names.append(name)
    box = tuple(statement.box[place] for place in order)
    if any(node.kind == "affine" for node in statement.body.walk()):
        if tuple(names) != statement.iterators:
            raise IllegalVariantError(f"{statement.name} computes with its loop counters")
        return replace(statement, betas=betas)

    def moved(access: Access) -> Access:
        assert access.subscripts is not None
        forms = tuple(Affine(tuple(f.coefficients[place] for place in order), f.constant) for f in access.subscripts)
        return make_access(statement.name, names, box, access.reference, access.array, access.kind, forms)

    return replace(
        statement,
        iterators=tuple(names),
        domain=make_domain(statement.name, names, box),
        box=box,
        betas=betas,
        directions=tuple(statement.directions[place] for place in order),
        accesses=tuple(moved(access) for access in statement.accesses),
    )
