"""Two loops run as one, over arrays in which what they index lies side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from random import Random
from typing import ClassVar

import islpy as isl

from polydl.errors import IllegalVariantError
from polydl.ir.affine import Affine
from polydl.ir.construct import fresh_name, make_access, make_domain
from polydl.ir.families import LAYOUT
from polydl.ir.numerics import EXACT, Rounding
from polydl.ir.schedule import Loop, Schedule
from polydl.ir.scop import Array, Scop
from polydl.ir.statement import Access, Statement
from polydl.ir.variant import LoopName, RewriteStep, StatementName
from polydl.match.product import GemmMatch
from polydl.poly.dependences import Dependence
from polydl.poly.domains import independent_loops
from polydl.poly.legality import violations
from polydl.poly.schedules import original_schedule
from polydl.rewrite_contract import Phase, Proposal, Request
from polydl.variants.rewrites.accesses import access_over


@dataclass(frozen=True)
class Coalesce(RewriteStep):
    """Run two loops of a statement as one, over arrays in which what they index lies side by side.

    Statements and arrays that must follow suit do. ``coalesced_loop`` names the new loop; the arrays are seen through
    views with one dimension less.
    """

    json_name: ClassVar[str] = "coalesce"

    statement: StatementName
    outer: LoopName
    inner: LoopName


@dataclass(frozen=True)
class CoalesceRewrite:
    """The rewrite ``coalesce``, which gives microkernels longer loops. It is exact."""

    step: type[Coalesce] = Coalesce
    families: frozenset[str] = frozenset({LAYOUT})
    phase: Phase = Phase.STATEMENT

    def rounding(self, scop: Scop, step: Coalesce) -> Rounding:
        return EXACT

    def apply(self, scop: Scop, step: Coalesce, dependences: Sequence[Dependence], *, reassociate: bool) -> Scop:
        return coalesce(scop, step, dependences, reassociate=reassociate)

    def propose(self, request: Request) -> Iterator[Proposal]:
        """A longer loop for the microkernel, where the loop outside of one goes on through memory where that ends."""
        for step in coalescing_choices(request.statement, request.matches):
            yield Proposal((step,))

    def drawn(self, scop: Scop, statement: Statement, draw: Random) -> Iterator[tuple[Coalesce]]:
        """Two loops next to each other, and any two."""
        loops = statement.iterators
        if len(loops) > 1:
            at = draw.randrange(len(loops) - 1)
            yield (Coalesce(statement.name, loops[at], loops[at + 1]),)
            yield (Coalesce(statement.name, *draw.sample(loops, 2)),)

    def describe(self, scop: Scop, step: Coalesce) -> str:
        return f"{step.outer} and {step.inner} of {step.statement} as one loop"


COALESCE = CoalesceRewrite()
# Terms in a row, such as the channels of a first layer, that are worth joining to those of the next row: microkernels
# take a longer sum at once, of at least 15 terms in tile registers. A limit of shapes.
_FEW_TERMS = 8


def coalesced_loop(scop: Scop, outer: str, inner: str) -> str:
    """The name of the loop that two become, if they are coalesced now."""
    return fresh_name(scop, f"{outer}_{inner}")


def _single(form: Affine) -> int | None:
    """The one iterator that a subscript is, or None if it is anything else."""
    used = [index for index, coefficient in enumerate(form.coefficients) if coefficient]
    return used[0] if len(used) == 1 and form.coefficients[used[0]] == 1 and form.constant == 0 else None


def _joined(forms: Sequence[Affine], statement: Statement, outer: int, inner: int) -> bool:
    """Whether one subscript goes through both loops as through one: it steps on where the inner loop ends."""
    length = independent_loops(statement)[inner][1] + 1
    using = [form.coefficients for form in forms if form.coefficients[outer] or form.coefficients[inner]]
    return len(using) == 1 and using[0][outer] == using[0][inner] * length


def _flat(array: Array, access: Access, first: int) -> tuple[Affine, ...]:
    """The subscripts of an access with one for both dimensions from ``first`` on, in elements of the second one."""
    assert access.subscripts is not None
    one, two = access.subscripts[first : first + 2]
    whole = array.extents[first + 1]
    coefficients = tuple(whole * a + b for a, b in zip(one.coefficients, two.coefficients, strict=True))
    both = Affine(coefficients, whole * one.constant + two.constant)
    return (*access.subscripts[:first], both, *access.subscripts[first + 2 :])


class _Coalescing:
    """Which pair of loops of each statement becomes one, and which pair of dimensions of each array."""

    def __init__(self, scop: Scop) -> None:
        self.scop = scop
        self.pairs: dict[str, tuple[int, int]] = {}
        self.merged: dict[str, int] = {}
        # Whether all statements must walk through an array as one: else, some may see it through the view alone.
        self.required = True

    def add(self, statement: Statement, outer: int, inner: int) -> None:
        known = self.pairs.get(statement.name)
        if known is not None:
            if known != (outer, inner):
                raise IllegalVariantError(f"two pairs of loops of {statement.name} would have to be coalesced")
            return
        if outer == inner:
            raise IllegalVariantError(f"`{statement.iterators[outer]}` of {statement.name} is no two loops")
        if self.scop.has_call(statement.name):
            raise IllegalVariantError(f"{statement.name} stands for a marked call")
        ranges = independent_loops(statement)
        if not {outer, inner} <= set(ranges):
            raise IllegalVariantError(f"the loops of {statement.name} are not rectangular")
        if any(direction != 1 for direction in statement.directions):
            raise IllegalVariantError(f"a loop of {statement.name} runs backwards")
        if any(node.kind == "affine" for node in statement.body.walk()):
            raise IllegalVariantError(f"{statement.name} computes with its loop counters")
        if ranges[outer][0] or ranges[inner][0]:
            raise IllegalVariantError(f"the loops of {statement.name} do not start at zero")
        self.pairs[statement.name] = (outer, inner)
        for access in statement.accesses:
            self.follow(statement, access, outer, inner)

    def follow(self, statement: Statement, access: Access, outer: int, inner: int) -> None:
        """The array's dimensions merge, and with them the loops of every other statement that accesses it."""
        if access.subscripts is None:
            raise IllegalVariantError(f"a subscript of `{access.array}` is not affine")
        using = [d for d, f in enumerate(access.subscripts) if f.coefficients[outer] or f.coefficients[inner]]
        if not using:
            return
        if _joined(access.subscripts, statement, outer, inner):
            return
        first = using[0]
        pair = [_single(access.subscripts[dimension]) for dimension in using]
        whole = independent_loops(statement)[inner][1] + 1
        array = self.scop.array(access.array)
        alone = pair == [outer, inner] and array.extents[first + 1] == whole
        if using != [first, first + 1] or not (alone or _joined(_flat(array, access, first), statement, outer, inner)):
            raise IllegalVariantError(f"the loops do not walk side by side through `{access.array}`")
        if self.merged.setdefault(array.name, first) != first:
            raise IllegalVariantError(f"two pairs of dimensions of `{array.name}` would have to be merged")
        before, self.required = self.required, self.required and alone
        for other in self.scop.statements:
            for use in other.accesses:
                if use.array == array.name:
                    if use.subscripts is None:
                        raise IllegalVariantError(f"a subscript of `{use.array}` is not affine")
                    loops = [_single(use.subscripts[dimension]) for dimension in (first, first + 1)]
                    if loops[0] is not None and loops[1] is not None:
                        self._add_another(other, (loops[0], loops[1]))
                    elif self.required:
                        raise IllegalVariantError(f"{other.name} walks through `{array.name}` in another way")
        self.required = before

    def _add_another(self, statement: Statement, pair: tuple[int, int]) -> None:
        """Add the loops of a statement, which keeps them if they can't be coalesced and need not be."""
        known = dict(self.pairs), dict(self.merged), self.required
        try:
            self.add(statement, *pair)
        except IllegalVariantError:
            self.pairs, self.merged, self.required = known
            if self.required:
                raise


def coalesce(scop: Scop, step: Coalesce, dependences: Sequence[Dependence], *, reassociate: bool = True) -> Scop:
    """The scop with the two loops as one. Raises IllegalVariantError if they can't be."""
    statement = scop.statement(step.statement)
    if not {step.outer, step.inner} <= set(statement.iterators):
        raise IllegalVariantError(f"{step.statement} has no loops `{step.outer}` and `{step.inner}`")
    coalescing = _Coalescing(scop)
    coalescing.add(statement, statement.iterators.index(step.outer), statement.iterators.index(step.inner))
    moved = Schedule(
        tuple(
            (name, _adjacent(dimensions, coalescing.pairs.get(name)))
            for name, dimensions in original_schedule(scop).statements
        )
    )
    broken = violations(scop, moved, dependences, reassociate=reassociate)
    if broken:
        raise IllegalVariantError(f"{broken[0].reason(scop)} by moving `{step.inner}` next to `{step.outer}`")
    views = {name: _view(scop, scop.array(name), first) for name, first in coalescing.merged.items()}
    statements = tuple(
        _coalesced(scop, each, coalescing, views)
        if each.name in coalescing.pairs
        else _seen(scop, each, coalescing, views)
        for each in scop.statements
    )
    # Of the statements of a fusion, only those that share all of their loops got here.
    shared = tuple(
        replace(each, loops=each.loops - 1) if coalescing.pairs.keys() & set(each.statements) else each
        for each in scop.shared
    )
    return replace(scop, statements=statements, arrays=(*scop.arrays, *views.values()), shared=shared)


def _adjacent(dimensions: tuple[int | Loop, ...], pair: tuple[int, int] | None) -> tuple[int | Loop, ...]:
    if pair is None:
        return dimensions
    loops = [each for each in dimensions if isinstance(each, Loop)]
    inner = next(loop for loop in loops if loop.iterator == pair[1])
    loops.remove(inner)
    loops.insert(next(i for i, loop in enumerate(loops) if loop.iterator == pair[0]) + 1, inner)
    rest = iter(loops)
    return tuple(next(rest) if isinstance(each, Loop) else each for each in dimensions)


def _view(scop: Scop, array: Array, first: int) -> Array:
    extents = (
        *array.extents[:first],
        prod(array.extents[first : first + 2]),
        *array.extents[first + 2 :],
    )
    return replace(array, name=fresh_name(scop, f"{array.name}_flat"), extents=extents, view_of=array.memory)


def _coalesced(scop: Scop, statement: Statement, coalescing: _Coalescing, views: dict[str, Array]) -> Statement:
    outer, inner = coalescing.pairs[statement.name]
    merged = coalescing.merged
    if not _is_alone(scop, statement, coalescing):
        raise IllegalVariantError(f"{statement.name} shares some of its loops with another statement")
    ranges = independent_loops(statement)
    last = (ranges[outer][1] + 1) * (ranges[inner][1] + 1) - 1
    kept = [index for index in range(statement.depth) if index != inner]
    name = coalesced_loop(scop, statement.iterators[outer], statement.iterators[inner])
    iterators = tuple(name if index == outer else statement.iterators[index] for index in kept)
    box = statement.box and tuple((0, last) if index == outer else statement.box[index] for index in kept)
    domain = make_domain(statement.name, iterators, box) if box else _domain(statement, outer, inner, name, last)
    accesses = []
    for access in statement.accesses:
        subscripts, target = _through(scop, access, merged, views)
        # A subscript that steps on from one loop to the other takes its steps from the inner one.
        steps = inner if _joined(subscripts, statement, outer, inner) else outer
        forms = tuple(
            Affine(tuple(form.coefficients[steps if index == outer else index] for index in kept), form.constant)
            for form in subscripts
        )
        accesses.append(
            make_access(statement.name, iterators, box, access.reference, target, access.kind, forms)
            if box
            else access_over(statement.name, iterators, domain, access.reference, target, access.kind, forms)
        )
    return replace(
        statement,
        iterators=iterators,
        domain=domain,
        box=box,
        # The inner loop's place in the body of the outer one. All are 0 where other loops stand between the two.
        betas=(*statement.betas[: max(1, inner)], *statement.betas[max(1, inner) + 1 :]),
        directions=statement.directions[1:],
        accesses=tuple(accesses),
    )


def _domain(statement: Statement, outer: int, inner: int, name: str, last: int) -> str:
    """The domain of a statement whose loops ``outer`` and ``inner``, bounded by no other, are one up to ``last``."""
    loops = isl.dim_type.set
    points = isl.Set(statement.domain).eliminate(loops, outer, 1).lower_bound_val(loops, outer, isl.Val(0))
    points = points.upper_bound_val(loops, outer, isl.Val(last)).set_dim_name(loops, outer, name)
    return str(points.project_out(loops, inner, 1).set_tuple_name(statement.name))


def _seen(scop: Scop, statement: Statement, coalescing: _Coalescing, views: dict[str, Array]) -> Statement:
    """A statement that keeps its loops, with its accesses to arrays that are seen through views."""
    if not any(access.array in views for access in statement.accesses):
        return statement
    accesses = []
    for access in statement.accesses:
        if access.array not in views:
            accesses.append(access)
            continue
        if access.subscripts is None:
            raise IllegalVariantError(f"a subscript of `{access.array}` is not affine")
        forms, target = _through(scop, access, coalescing.merged, views)
        accesses.append(
            access_over(
                statement.name, statement.iterators, statement.domain, access.reference, target, access.kind, forms
            )
        )
    return replace(statement, accesses=tuple(accesses))


def _through(
    scop: Scop, access: Access, merged: Mapping[str, int], views: Mapping[str, Array]
) -> tuple[tuple[Affine, ...], str]:
    """The subscripts of an access, and the array that they are of: a view if two of its dimensions are merged."""
    assert access.subscripts is not None
    first = merged.get(access.array)
    if first is None:
        return access.subscripts, access.array
    return _flat(scop.array(access.array), access, first), views[access.array].name


def _is_alone(scop: Scop, statement: Statement, coalescing: _Coalescing) -> bool:
    """Whether nothing but the inner loop of a statement's pair is inside the outer one, with other such statements.

    Where other loops stand between the two, all inside of the outermost loop must share all loops.
    """
    outer, inner = pair = coalescing.pairs[statement.name]
    adjacent = inner == outer + 1
    shared = inner if adjacent else 1
    beside = [other for other in scop.statements if other.betas[:shared] == statement.betas[:shared]]

    def loops(one: Statement) -> tuple[tuple[str, ...], tuple[int, ...]]:
        last = inner + 1 if adjacent else one.depth
        return one.iterators[:last], one.betas[:last]

    return (adjacent or not any(statement.betas[1:-1])) and all(
        loops(other) == loops(statement) and coalescing.pairs.get(other.name) == pair for other in beside
    )


def coalescing_choices(statement: Statement, matches: Sequence[GemmMatch]) -> tuple[Coalesce, ...]:
    """Pairs of loops of a matched product that walk on through the output and an operand as one loop would.

    Where a sum has few terms in a row, those that walk on through both operands, too.
    """
    found: list[Coalesce] = []
    ranges = independent_loops(statement)
    # Others are no loops of the pair.
    extents = [ranges[place][1] - ranges[place][0] + 1 if place in ranges else 1 for place in range(statement.depth)]
    for match in matches:
        form = match.form
        for inner, walking, still in (
            (match.n, form.strides_b, form.strides_a),
            (match.m, form.strides_a, form.strides_b),
        ):
            found += [
                Coalesce(statement.name, statement.iterators[outer], statement.iterators[inner])
                for outer in _going_on(extents, inner, (form.strides_c, walking))
                if still[outer] == 0
            ]
        if extents[match.k] < _FEW_TERMS:
            found += [
                Coalesce(statement.name, statement.iterators[outer], statement.iterators[match.k])
                for outer in _going_on(extents, match.k, (form.strides_a, form.strides_b))
                if form.strides_c[outer] == 0
            ]
    return tuple(dict.fromkeys(found))


def _going_on(extents: Sequence[int], inner: int, operands: Sequence[Sequence[int]]) -> list[int]:
    """The loops that walk on through operands, whose strides are given, where the inner loop ends."""
    return [
        outer
        for outer, extent in enumerate(extents)
        if outer != inner
        and extent > 1
        and extents[inner] > 1
        and all(strides[inner] > 0 and strides[outer] == extents[inner] * strides[inner] for strides in operands)
    ]
