"""A nest with its sizes as parameters, and what isl proves of it for all sizes of their ranges at once."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod

import islpy as isl

from polydl.frontend.open_sizes import OpenStatement, open_statements
from polydl.ir.affine import value_range
from polydl.ir.schedule import Loop, Schedule
from polydl.ir.scop import Array, Scop
from polydl.ir.statement import Statement
from polydl.libraries.described import described_statements, unsupported
from polydl.libraries.linear import OPEN, with_views
from polydl.libraries.ranges import LeadingDimension, SizeRange, every_size
from polydl.poly.dependences import dependences
from polydl.poly.legality import violations

_PARAMETER, _SET = isl.dim_type.param, isl.dim_type.set
_SUBSCRIPTS = r"\s*((?:\[[^\]]*\]\s*)+)"
# What may stand in the first brackets of a parameter beside its extent.
_QUALIFIERS = re.compile(r"\b(?:static|const|restrict|volatile)\b")


@dataclass(frozen=True)
class SymbolicNest:
    """A nest as a function of its sizes.

    The sets and relations of ``scop`` have parameters, which are restricted to ``ranges``. Its boxes, extents and
    counts are those of the shape at which it was read. An array with one dimension that stands for several is seen
    there as another one, with the name that ``view_of`` gives.
    """

    #: as it was read
    source: Scop
    scop: Scop
    ranges: tuple[SizeRange, ...]
    leading: tuple[LeadingDimension, ...]
    #: of each array with subscripts in ``scop``, outermost first: a size's name, a number, or OPEN for the first
    extents: Mapping[str, tuple[str, ...]]
    #: of each statement: the iterations of its loops, outermost first, each a size's name or a number
    trips: Mapping[str, tuple[str, ...]]

    def __repr__(self) -> str:
        return f"<SymbolicNest {self.scop.function.name} for {', '.join(map(str, self.ranges))}>"

    @property
    def sizes(self) -> tuple[str, ...]:
        """All integer parameters that callers choose."""
        return tuple(each.name for each in every_size(self.ranges, self.leading))

    @property
    def views(self) -> tuple[Array, ...]:
        """Arrays of the source with one dimension, as the nest sees them."""
        return tuple(array for array in self.scop.arrays if array.view_of)

    def number(self, text: str, sizes: Mapping[str, int]) -> int:
        """A size's name or a number, at some sizes."""
        return sizes[text] if text in sizes else int(text)

    def reach(self, array: str, sizes: Mapping[str, int]) -> tuple[int, ...]:
        """The extents that an array needs at some sizes: of each dimension one more than its greatest subscript."""
        least = [0] * len(self.extents[array])
        for statement in self.scop.statements:
            box = tuple((0, self.number(trip, sizes) - 1) for trip in self.trips[statement.name])
            for access in statement.accesses:
                if access.array == array and access.subscripts is not None:
                    least = [
                        max(most, value_range(form, box)[1] + 1)
                        for most, form in zip(least, access.subscripts, strict=True)
                    ]
        return tuple(least)

    def source_extents(self, sizes: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
        """The extents at some sizes of the source's arrays; where nothing says how far they reach, what is needed."""
        extents = {}
        for array in self.source.arrays:
            if array.name in self.extents:
                reach = self.reach(array.name, sizes)
                extents[array.name] = tuple(
                    least if text == OPEN else self.number(text, sizes)
                    for text, least in zip(self.extents[array.name], reach, strict=True)
                )
        for view in self.views:
            inner = [self.number(extent, sizes) for extent in self.extents[view.name][1:]]
            last = [most - 1 for most in self.reach(view.name, sizes)]
            extents[view.view_of] = (1 + sum(most * prod(inner[place:]) for place, most in enumerate(last)),)
        return extents

    def stride(self, array: str, dimension: int) -> tuple[str, ...]:
        """The factors of the elements between neighbours along a dimension; none for neighbours in memory."""
        return tuple(extent for extent in self.extents[array][dimension + 1 :] if extent != "1")


def symbolic_nest(
    scop: Scop, other: Scop, ranges: Sequence[SizeRange], leading: Sequence[LeadingDimension] = ()
) -> SymbolicNest:
    """The nest of ``scop`` with parameters for the sizes that have ranges, and for leading dimensions.

    ``scop`` and ``other`` are the same nest, read at two shapes that differ in every size that has more than one value.
    Raises UserError for what a library can't hold: loops that don't run from 0 to a size or a constant, subscripts or
    extents that are computed from a size, and accesses that leave their array at some size of the ranges.
    """
    if scop.annotated_calls:
        raise unsupported(scop, scop.line, "a microkernel call is marked", "leave out #pragma polydl")
    sizes = [each.name for each in every_size(ranges, leading)]
    opened = open_statements(scop, sizes)
    described = described_statements(scop, opened)
    seen, inner = with_views(scop, described, opened)
    extents = {**_extents(seen, other, sizes), **inner}
    context = isl.Set(_context(ranges, leading))
    statements, trips = [], {}
    for statement in seen.statements:
        domain = _domain(scop, statement, described[statement.name], sizes)
        trips[statement.name] = _trips(scop, statement, domain, context, sizes)
        statements.append(restricted(replace(statement, domain=str(domain.intersect_params(context)))))
    nest = SymbolicNest(
        scop, replace(seen, statements=tuple(statements)), tuple(ranges), tuple(leading), extents, trips
    )
    _check_bounds(nest)
    return nest


def restricted(statement: Statement) -> Statement:
    """The statement with access relations on its domain, from its accesses' subscripts."""
    domain = isl.Set(statement.domain)
    relations = [str(isl.Map(access.index).intersect_domain(domain)) for access in statement.accesses]
    accesses = tuple(
        replace(access, relation=relation) for access, relation in zip(statement.accesses, relations, strict=True)
    )
    return replace(statement, accesses=accesses)


def broken_dependence(nest: SymbolicNest, schedule: Schedule) -> str:
    """How a schedule breaks a dependence at some size of the ranges, decided by isl; "" for a legal one.

    Sums keep their order. Raises AnalysisError when isl's quota is used up.
    """
    scop = nest.scop
    broken = violations(scop, schedule, dependences(scop), reassociate=False)
    if not broken:
        return ""
    dependence = broken[0].dependence
    lines = [scop.statement(name).line for name in (dependence.source, dependence.target)]
    how = f"running `{broken[0].parallel}` in parallel" if broken[0].parallel else "the order"
    return f"the {dependence.kind} dependence on `{dependence.array}` from line {lines[0]} to line {lines[1]}, by {how}"


def _context(ranges: Sequence[SizeRange], leading: Sequence[LeadingDimension]) -> str:
    names = ", ".join(each.name for each in every_size(ranges, leading))
    bounds = [
        *(f"{each.low} <= {each.name} <= {each.high}" for each in ranges),
        *(f"{each.least} <= {each.name}" for each in leading),
    ]
    return f"[{names}] -> {{ : {' and '.join(bounds)} }}"


def _domain(scop: Scop, statement: Statement, described: OpenStatement, sizes: Sequence[str]) -> isl.Set:
    """The iteration domain with parameters, which at the shape of ``scop`` is that of the statement."""
    values = {each.name: each.value for each in scop.function.parameters if each.value is not None}
    domain = isl.Set(described.domain).set_tuple_name(statement.name)
    fixed = domain
    for name in sizes:
        position = fixed.find_dim_by_name(_PARAMETER, name)
        if position >= 0:
            fixed = fixed.fix_val(_PARAMETER, position, isl.Val(values[name])).project_out(_PARAMETER, position, 1)
    if fixed.drop_unused_params().dim(_PARAMETER) or not fixed.is_equal(isl.Set(statement.domain)):
        raise unsupported(
            scop,
            statement.line,
            f"the loops around `{statement.text}` depend on the sizes in a way that isn't understood",
            "let loops run from 0 to a size or to a constant",
        )
    return domain


def _trips(
    scop: Scop, statement: Statement, domain: isl.Set, context: isl.Set, sizes: Sequence[str]
) -> tuple[str, ...]:
    """How often each loop around a statement runs, if they all run from 0 up and depend on no other loop."""
    names = ", ".join(sizes)
    choices = []
    for position, (low, high) in enumerate(statement.box or ()):
        alone = domain.project_out(_SET, position + 1, statement.depth - position - 1).project_out(_SET, 0, position)
        alone = alone.reset_tuple_id()
        same = [
            bound
            for bound in (*sizes, str(high + 1))
            if low == 0 and _equal(alone, isl.Set(f"[{names}] -> {{ [x] : 0 <= x < {bound} }}"), context)
        ]
        choices.append(same[:1])
    for trips in product(*choices) if len(choices) == statement.depth else ():
        iterators = ", ".join(statement.iterators)
        bounds = " and ".join(f"0 <= {i} < {trip}" for i, trip in zip(statement.iterators, trips, strict=True))
        box = isl.Set(f"[{names}] -> {{ {statement.name}[{iterators}] : {bounds or 'true'} }}")
        if _equal(domain, box, context) and all(direction == 1 for direction in statement.directions):
            return tuple(trips)
    raise unsupported(
        scop,
        statement.line,
        f"the loops around `{statement.text}` don't all run from 0 up to a size or a constant",
        "write for (int i = 0; i < N; ++i) with a size or a constant as N",
    )


def _equal(one: isl.Set, other: isl.Set, context: isl.Set) -> bool:
    return bool(one.intersect_params(context).is_equal(other.intersect_params(context)))


def _extents(scop: Scop, other: Scop, sizes: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The extents of each array with subscripts, from its declaration among the function's parameters."""
    first, body, _ = scop.definition
    head = scop.source[first:body]
    extents = {}
    written = {access.array for statement in scop.statements for access in statement.accesses}
    for array in scop.arrays:
        if not array.extents or array.view_of or array.name not in written:
            continue
        if array.storage == "local":
            extents[array.name] = (OPEN,) * len(array.extents)
            continue
        texts = _declared(head, array.name) if array.storage == "parameter" else []
        values = zip(array.extents, other.array(array.name).extents, strict=True)
        known = [
            OPEN if text == OPEN and place == 0 else text if text in sizes else str(here) if here == there else None
            for place, (text, (here, there)) in enumerate(zip(texts or ["?"] * len(array.extents), values, strict=True))
        ]
        if None in known:
            raise unsupported(
                scop,
                scop.function.line,
                f"an extent of `{array.name}` is computed from a size",
                f"declare it as a parameter with sizes or constants as extents, such as {array.name}[{sizes[0]}]",
            )
        extents[array.name] = tuple(extent for extent in known if extent is not None)
    return extents


def _declared(head: str, name: str) -> list[str]:
    """The extents of a parameter as its declaration has them; OPEN for the first of a pointer and of ``[]``."""
    pointer = re.search(rf"\(\s*\*[\s\w]*?\b{name}\s*\){_SUBSCRIPTS}", head)
    declared = pointer or re.search(rf"\b{name}{_SUBSCRIPTS}", head)
    if declared is None:
        return [OPEN] if re.search(rf"\*[\s\w]*?\b{name}\b", head) else []
    texts = [_QUALIFIERS.sub("", text).strip() for text in re.findall(r"\[([^\]]*)\]", declared[1])]
    return [OPEN, *texts] if pointer else texts


def _check_bounds(nest: SymbolicNest) -> None:
    """Check that no access leaves its array at any size of the ranges."""
    names = ", ".join(nest.sizes)
    sizes = ", ".join(map(str, every_size(nest.ranges, nest.leading)))
    for statement in nest.scop.statements:
        for access in statement.accesses:
            extents = nest.extents.get(access.array, ())
            places = [f"x{number}" for number in range(len(extents))]
            inside = " and ".join(
                f"0 <= {x}{f' < {extent}' if extent != OPEN else ''}" for x, extent in zip(places, extents, strict=True)
            )
            array = isl.Set(f"[{names}] -> {{ {access.array}[{', '.join(places)}] : {inside or 'true'} }}")
            if not isl.Map(access.relation).range().is_subset(array):
                raise unsupported(
                    nest.scop,
                    statement.line,
                    f"at some sizes of {sizes}, `{statement.text}` accesses elements outside of "
                    f"{_rows_or_array(nest, access.array)}",
                    "let rows be as long as the loops over them run, or longer: --range lda=K..",
                )


def _rows_or_array(nest: SymbolicNest, name: str) -> str:
    array = nest.scop.array(name)
    return f"a row of `{array.view_of}`" if array.view_of else f"`{name}`"


def distributed(nest: SymbolicNest, loops: Mapping[str, Sequence[Loop]]) -> Schedule:
    """The schedule that runs the statements one after the other, each in loops of its own.

    ``loops`` are those of statements that don't run in the order of the source.
    """
    return Schedule(
        tuple(
            (
                statement.name,
                (
                    position,
                    *loops.get(statement.name, [Loop(name, number) for number, name in enumerate(statement.iterators)]),
                ),
            )
            for position, statement in enumerate(nest.scop.statements)
        )
    )
