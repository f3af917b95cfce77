"""Statements in loops of another order than the source's, tiled together: what no interchange of its loops gives.

isl's scheduler finds the loops (``polydl.poly.scheduling``). In a stencil they are the source's, skewed, so that tiles
of space run several time steps one after the other while they are in a cache. Loops over tiles are loops of the new
scop: inside of them, statements are nests of their own as far as the dependences allow. Threads share the tiles of a
wavefront, none of which needs another one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Annotated, ClassVar

import islpy as isl

from polydl.errors import AnalysisError, IllegalVariantError
from polydl.ir.affine import Affine
from polydl.ir.construct import fresh_name, fresh_statement_name
from polydl.ir.families import SCHEDULING
from polydl.ir.numerics import EXACT, Rounding
from polydl.ir.schedule import Loop, Schedule
from polydl.ir.scop import Scop, SharedLoops
from polydl.ir.statement import Statement
from polydl.ir.variant import LoopName, RewriteStep, StatementName
from polydl.match.factors import operands
from polydl.poly.dependences import Dependence, in_any_order
from polydl.poly.iterations import in_one_iteration
from polydl.poly.legality import violations
from polydl.poly.nests import distribute
from polydl.poly.schedules import original_schedule
from polydl.poly.scheduling import Band, Rows, inverse, never_back, permutable_band
from polydl.poly.shared_loops import loops_around_all
from polydl.poly.substitution import with_iterators
from polydl.rewrite_contract import Phase, Proposal, Request
from polydl.variants.rewrites.full_tiles import Part, carried_over, separated
from polydl.variants.rewrites.materialize import Materialize
from polydl.variants.rewrites.proposed_bands import (
    by_diagonals,
    contiguous_last,
    loop_names,
    numbers_of,
    product_tiles,
    skews,
    soonest_apart,
)
from polydl.variants.rewrites.schedule_tiles import held_untiled, tile_sizes, unskewed

# isl schedules what has so many in seconds, and may take minutes for twice as many.
MOST_DEPENDENCES = 64


@dataclass(frozen=True)
class Reschedule(RewriteStep):
    """Run statements in common loops of another order, and these in tiles."""

    json_name: ClassVar[str] = "reschedule"
    json_omits: ClassVar[frozenset[str]] = frozenset({"wavefront", "separated"})

    statements: Annotated[
        tuple[StatementName, ...], "All that share an outermost loop, in the order in which they run in one iteration."
    ]
    loops: Annotated[tuple[LoopName, ...], "The common loops, outermost first."]
    rows: Annotated[
        tuple[tuple[tuple[int, ...], ...], ...],
        "For each statement, the value of each common loop: a factor for each iterator, and a constant.",
    ]
    sizes: Annotated[tuple[int, ...], "The size of the tiles of each common loop; 1 leaves it as it is."]
    wavefront: Annotated[bool, "Whether threads share the tiles along diagonals of the first two tiled loops."] = False
    separated: Annotated[
        tuple[StatementName, ...], "Those whose full tiles are nests of their own, after all others of a tile."
    ] = ()

    @property
    def threaded(self) -> bool:
        return self.wavefront

    def on_one_thread(self) -> Reschedule:
        return replace(self, wavefront=False)


@dataclass(frozen=True)
class RescheduleRewrite:
    """The rewrite ``reschedule``, for stencils and other nests that need skewed loops to be tiled."""

    step: type[Reschedule] = Reschedule
    families: frozenset[str] = frozenset({SCHEDULING})
    phase: Phase = Phase.OUTERMOST_LOOP

    def rounding(self, scop: Scop, step: Reschedule) -> Rounding:
        return EXACT

    def apply(self, scop: Scop, step: Reschedule, dependences: Sequence[Dependence], *, reassociate: bool) -> Scop:
        return reschedule(scop, step, dependences, reassociate=reassociate)

    def dependences(
        self, scop: Scop, step: Reschedule, dependences: Sequence[Dependence]
    ) -> tuple[Dependence, ...] | None:
        """Those of the scop over the new loops, where none goes back along any of these and no statement has parts."""
        members, inside = _members(scop, step), _inside(step, dependences)
        # Statements that accumulate together may have changed places.
        swapped = any(d.source != d.target and in_any_order(scop, d) for d in inside)
        if step.separated or swapped or not never_back(tuple(inside), _rows(members, step)):
            return None
        change = _changes(scop, step, members)
        return tuple(_carried_over(dependence, change) for dependence in dependences)

    def propose(self, request: Request) -> Iterator[Proposal]:
        """The loops that isl finds for the statement and all that share its outermost loop, in tiles for the caches.

        No such loops where the source's can be tiled as they are, but for products in triangles, whose full tiles are
        products of their own then; and none where only threads could gain by skewed ones.
        Where several statements accumulate into the same elements, in any order if sums may be reassociated, further
        loops are looked for that this allows. The outermost loops of the source stay as they are then: all that the
        statements share, or else fewer.
        """
        scop = request.scop
        sharing = tuple(s for s in scop.statements if s.betas[0] == request.statement.betas[0])
        names = [s.name for s in sharing]
        inside = [d for d in request.dependences if d.source in names and d.target in names]
        different = {(d.source, d.target, d.relation) for d in inside}
        if any(scop.has_call(name) for name in names) or len(different) > MOST_DEPENDENCES:
            return
        try:
            # Statements in other outermost loops change nothing about these.
            together = max(nest.depth for nest in distribute(replace(scop, statements=sharing), inside))
            band = permutable_band(scop, names, inside)
            if band is not None and (together or skews(band)):
                yield from _in_tiles(request, contiguous_last(scop, band), inside)
            elif band is not None and any(each.box is None for each in sharing):
                # Tiles of the source's loops are plain loops where these bound each other.
                yield from _products_in_tiles(request, contiguous_last(scop, band))
            free = {d for d in inside if request.reassociate and in_any_order(scop, d)}
            if all(d.source == d.target for d in free):
                return
            ordering = [d for d in inside if d not in free]
            for outer in reversed(range(min(together, loops_around_all(sharing)))):
                band = permutable_band(scop, names, ordering, outer)
                if band is None:
                    continue
                proposals = [*_in_tiles(request, soonest_apart(contiguous_last(scop, band), ordering), ordering)]
                yield from proposals
                # Threads may have to add to one element at the same time.
                yield from (_on_one_thread(each) for each in proposals if request.machine.threads > 1)
                if proposals:
                    return
        except AnalysisError:
            return

    def varied(self, step: Reschedule, draw: Random) -> Reschedule:
        """Tiles of other sizes, with or without wavefronts of them."""
        sizes = tuple(draw.choice((2, 3, 5, 8, 16)) if size > 1 else 1 for size in step.sizes)
        return replace(step, sizes=sizes, wavefront=draw.random() < 0.5)

    def describe(self, scop: Scop, step: Reschedule) -> str:
        lines = sorted({each.line for each in scop.statements if each.name in step.statements})
        made = [name for name in step.statements if name not in {each.name for each in scop.statements}]
        tiles = " by ".join(f"{size} of {loop}" for loop, size in zip(step.loops, step.sizes, strict=True) if size > 1)
        where = [f"line{'' if len(lines) == 1 else 's'} {', '.join(map(str, lines))}"] if lines else []
        wavefront = ", wavefronts of them on threads" if step.wavefront else ""
        return f"{' and '.join([*where, *made])} in common loops {', '.join(step.loops)}, tiles of {tiles}{wavefront}"


RESCHEDULE = RescheduleRewrite()


def _on_one_thread(proposal: Proposal) -> Proposal:
    first, *others = proposal.steps
    return replace(proposal, steps=(first.on_one_thread(), *others))


def _in_tiles(request: Request, band: Band, dependences: Sequence[Dependence]) -> Iterator[Proposal]:
    """The loops of a band in tiles for the caches; ``dependences`` are those between its statements."""
    scop = request.scop
    members = [scop.statement(name) for name in band.statements]
    wavefront = request.machine.threads > 1
    for way in (band, *by_diagonals(band, dependences)):
        # What stays in the first cache from one time step to the next anyway gains nothing by tiles of time.
        if (
            way is band
            and skews(band)
            and not wavefront
            and held_untiled(scop, members, band.rows, band.permutable, request.machine)
        ):
            continue
        for sizes in tile_sizes(scop, members, way.rows, way.permutable, request.machine):
            yield Proposal((_in_loops_of(request, way, sizes),), for_microkernel=False)
    yield from _products_in_tiles(request, band)


def _products_in_tiles(request: Request, band: Band) -> Iterator[Proposal]:
    """The loops of a band in tiles that products fill, full ones apart from partial ones."""
    scop = request.scop
    members = [scop.statement(name) for name in band.statements]
    for sizes, products in product_tiles(scop, members, band):
        operands_first = (
            Materialize(name, operand.access.array)
            for name in products
            for operand in operands(scop, scop.statement(name))
        )
        full_tiles = replace(_in_loops_of(request, band, sizes), separated=products)
        yield Proposal((full_tiles, *operands_first), for_microkernel=False)


def _in_loops_of(request: Request, band: Band, sizes: tuple[int, ...]) -> Reschedule:
    """The step that runs the statements of a band in its loops, in tiles of these sizes."""
    names = loop_names([request.scop.statement(name) for name in band.statements], band.rows)
    return Reschedule(band.statements, names, numbers_of(band), sizes, request.machine.threads > 1)


def reschedule(scop: Scop, step: Reschedule, known: Sequence[Dependence], *, reassociate: bool = True) -> Scop:
    """The scop with the statements in their new loops. Raises IllegalVariantError if that breaks a dependence."""
    members = _members(scop, step)
    rows = _rows(members, step)
    new = _Loops(scop, step)
    moved: dict[str, Statement] = {}
    change = _changes(scop, step, members)
    for (name, forms), statement in zip(rows, members, strict=True):
        old = inverse(forms, statement.depth)
        if old is None:
            raise IllegalVariantError(f"the loops of {name} don't follow from its rows")
        domain = isl.Set(statement.domain).apply(change[statement.name])
        back = [_over(form, new.points, len(new.iterators)) for form in old]
        moved[statement.name] = replace(
            with_iterators(statement, new.iterators, back, domain),
            betas=(*statement.betas[:1], *(0,) * len(new.iterators)),
            directions=(1,) * len(new.iterators),
        )
    inside = [replace(d, reduction=d.reduction or in_any_order(scop, d)) for d in _inside(step, known)]
    ordering = [d for d in inside if not (d.reduction and reassociate)]
    numbers = {name: number for number, name in enumerate(step.statements)}
    backwards = [_carried_over(d, change) for d in ordering if numbers[d.source] > numbers[d.target]]
    depth = _common(backwards, len(new.iterators), new.fixed)
    for position, name in enumerate(step.statements):
        betas = [*moved[name].betas]
        betas[depth] = position
        moved[name] = replace(moved[name], betas=tuple(betas))
    parts = {name: new.parts(scop, moved[name], len(members) + at) for at, name in enumerate(step.separated)}
    everyone = {**moved, **{part.statement.name: part.statement for pair in parts.values() for part in pair}}
    statements = sorted(
        (*(s for s in scop.statements if s.name not in moved), *everyone.values()), key=lambda s: s.betas
    )
    group = SharedLoops(tuple(everyone), new.fixed, step.wavefront, parallel_loop=new.parallel, fixed=True)
    origin = {part.statement.name: name for name, pair in parts.items() for part in pair}
    of = {statement.name: (statement, forms) for statement, (_, forms) in zip(members, rows, strict=True)}
    flat = tuple(
        unskewed(
            replace(of[origin.get(name, name)][0], name=name, instances=s.instances),
            of[origin.get(name, name)][1], step.sizes, new.iterators, new.tiles, new.points, s.betas,
        )
        for name, s in everyone.items()
    )  # fmt: skip
    made = replace(
        scop,
        statements=tuple(statements),
        shared=(*scop.shared, group),
        unskewed=(*scop.unskewed, *flat),
    )
    # Where each dependence goes forwards along all rows, it does along tiles of them, and so do wavefronts of tiles.
    # But inside of a tile, what is separated runs last.
    if parts or depth == len(new.iterators) or not never_back(tuple(inside), rows):
        carried = [_carried_over(dependence, change) for dependence in inside]
        _check(made, group, _between_parts(carried, parts), reassociate)
    return made


def _inside(step: Reschedule, dependences: Sequence[Dependence]) -> list[Dependence]:
    """The dependences between the statements of a step."""
    return [d for d in dependences if d.source in step.statements and d.target in step.statements]


def _rows(members: Sequence[Statement], step: Reschedule) -> Rows:
    """The places of each statement in the common loops."""
    places = zip(members, step.rows, strict=True)
    return tuple((s.name, tuple(Affine(row[:-1], row[-1]) for row in forms)) for s, forms in places)


def _changes(scop: Scop, step: Reschedule, members: Sequence[Statement]) -> dict[str, isl.Map]:
    """For each statement, isl's map from its instances to the new iterators."""
    new = _Loops(scop, step)
    return {
        s.name: isl.Map(new.relation(s, forms)) for s, (_, forms) in zip(members, _rows(members, step), strict=True)
    }


def _between_parts(known: Sequence[Dependence], parts: Mapping[str, Sequence[Part]]) -> list[Dependence]:
    """The dependences between statements, those that were taken apart by their parts."""
    whole: tuple[Part | None, ...] = (None,)
    return [
        replace(
            dependence,
            source=dependence.source if source is None else source.statement.name,
            target=dependence.target if target is None else target.statement.name,
            relation=carried_over(dependence.relation, source, target),
        )
        for dependence in known
        for source in parts.get(dependence.source, whole)
        for target in parts.get(dependence.target, whole)
    ]


def _members(scop: Scop, step: Reschedule) -> list[Statement]:
    """The statements of a step. Raises IllegalVariantError where its fields don't fit them or each other."""
    members = [scop.statement(name) for name in step.statements]
    together = {s.name for s in scop.statements if members and s.betas[0] == members[0].betas[0]}
    if not together or together != {*step.statements} or len(together) != len(step.statements):
        raise IllegalVariantError("all statements that share an outermost loop must be rescheduled, and no others")
    if any(scop.has_call(s.name) for s in members):
        raise IllegalVariantError("a loop stands for a call")
    lengths = {len(step.loops), len(step.sizes), *map(len, step.rows)}
    widths = all(len(row) == s.depth + 1 for s, forms in zip(members, step.rows, strict=False) for row in forms)
    if len(lengths) != 1 or len(step.rows) != len(members) or not widths or len({*step.loops}) != len(step.loops):
        raise IllegalVariantError("each statement needs a row for each loop, with a factor for each of its iterators")
    named = {name for s in members for name in s.iterators} | {f"common{place}" for place in range(len(step.loops))}
    if not {*step.loops} <= named - {array.name for array in scop.arrays}:
        raise IllegalVariantError("common loops have names of the statements' loops, or `common0`, `common1` and so on")
    if not {*step.separated} <= {*step.statements}:
        raise IllegalVariantError(f"{', '.join(step.separated)} are not all among the statements in common loops")
    if min(step.sizes, default=0) < 1 or sum(size > 1 for size in step.sizes) < 2:
        raise IllegalVariantError(f"two loops or more are tiled, not those of sizes {step.sizes}")
    return members


class _Loops:
    """The iterators after a step: loops outside of all tiles, over tiles, and inside them."""

    def __init__(self, scop: Scop, step: Reschedule) -> None:
        self.step = step
        tiled = [place for place, size in enumerate(step.sizes) if size > 1]
        names = [fresh_name(scop, f"{step.loops[place]}_tile") for place in tiled]
        if step.wavefront:
            names[0] = fresh_name(scop, "wavefront")
        #: loops that stay as they are, outermost
        self.fixed = tiled[0] + len(tiled)
        self.iterators = (*step.loops[: tiled[0]], *names, *step.loops[tiled[0] :])
        #: of each tiled common loop, the place of the loop over its tiles
        self.tiles = {place: tiled[0] + number for number, place in enumerate(tiled)}
        #: of each common loop, the place of the loop itself
        self.points = [place if place < tiled[0] else place + len(tiled) for place in range(len(step.loops))]
        #: the loop that threads share, if they share one
        self.parallel = self.tiles[tiled[1]]

    def parts(self, scop: Scop, moved: Statement, place: int) -> tuple[Part, Part]:
        """The full tiles of a statement in the new iterators, at ``place`` in each tile, and what is left of it."""
        tiles = {self.points[number]: tile for number, tile in self.tiles.items()}
        sizes = {self.points[number]: self.step.sizes[number] for number in self.tiles}
        wavefront = (self.parallel - 1, self.parallel) if self.step.wavefront else None
        full, rest = separated(moved, tiles, sizes, wavefront, fresh_statement_name(scop, f"{moved.name}_rest"))
        betas = [*moved.betas[:1], *(0,) * len(self.iterators)]
        betas[self.fixed] = place
        return replace(full, statement=replace(full.statement, betas=tuple(betas))), rest

    def relation(self, statement: Statement, rows: Sequence[Affine]) -> str:
        """isl's map from the statement's instances to the new iterators."""
        conditions = []
        for place, row in enumerate(rows):
            conditions.append(f"p{self.points[place]} = {row.text(statement.iterators)}")
        for place, tile in self.tiles.items():
            first = self.step.wavefront and tile + 1 == self.parallel
            number, size = f"(p{tile} - p{tile + 1})" if first else f"p{tile}", self.step.sizes[place]
            conditions.append(f"0 <= p{self.points[place]} - {size}*{number} < {size}")
        new = ", ".join(f"p{place}" for place in range(len(self.iterators)))
        head = f"{statement.name}[{', '.join(statement.iterators)}] -> {statement.name}[{new}]"
        return f"{{ {head} : {' and '.join(conditions)} }}"


def _over(form: Affine, points: Sequence[int], depth: int) -> Affine:
    """A form of the common loops as one of all iterators."""
    factors = [0] * depth
    for place, factor in zip(points, form.coefficients, strict=True):
        factors[place] = factor
    return Affine(tuple(factors), form.constant)


def _carried_over(dependence: Dependence, change: Mapping[str, isl.Map]) -> Dependence:
    """The dependence over other iterators of the statements that have a ``change``."""
    relation = isl.Map(dependence.relation)
    if dependence.source in change:
        relation = relation.apply_domain(change[dependence.source])
    if dependence.target in change:
        relation = relation.apply_range(change[dependence.target])
    return replace(dependence, relation=str(relation))


def _common(dependences: Sequence[Dependence], depth: int, least: int) -> int:
    """How many loops the statements must share: those that carry all ``dependences``, which go back to an earlier one.

    All ``depth`` loops where fewer don't, whether or not they do.
    """
    backwards = [isl.Map(dependence.relation) for dependence in dependences]
    for common in range(depth):
        backwards = [in_one_iteration(each, range(common)) for each in backwards]
        if common >= least and all(each.is_empty() for each in backwards):
            return common
    return depth


def _check(scop: Scop, group: SharedLoops, dependences: Sequence[Dependence], reassociate: bool) -> None:
    """Raises IllegalVariantError if the order of the scop's statements, or its threads, break a dependence."""

    def threaded(times: tuple[int | Loop, ...]) -> tuple[int | Loop, ...]:
        return tuple(
            replace(each, parallel=True) if isinstance(each, Loop) and each.iterator == group.parallel_loop else each
            for each in times
        )

    order = original_schedule(scop).statements
    if group.parallel:
        order = tuple((name, threaded(times) if name in group.statements else times) for name, times in order)
    broken = violations(scop, Schedule(order), dependences, reassociate=reassociate)
    if broken:
        raise IllegalVariantError(broken[0].reason(scop))
