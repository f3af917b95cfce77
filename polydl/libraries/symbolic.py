"""A nest with its sizes as parameters, and what isl proves of it for all sizes of their ranges at once."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import islpy as isl

from polydl.errors import UnsupportedConstructError, UserError
from polydl.frontend.open_sizes import OpenStatement, open_statements
from polydl.ir.schedule import Loop, Schedule
from polydl.ir.scop import Scop
from polydl.ir.statement import Statement
from polydl.libraries.ranges import SizeRange
from polydl.poly.dependences import dependences
from polydl.poly.legality import violations

_PARAMETER, _SET = isl.dim_type.param, isl.dim_type.set
_SUBSCRIPTS = r"\s*((?:\[[^\]]*\]\s*)+)"


@dataclass(frozen=True)
class SymbolicNest:
    """A nest as a function of its sizes.

    The sets and relations of ``scop`` have parameters, which are restricted to ``ranges``. Its boxes, extents and
    counts are those of the shape at which it was read.
    """

    scop: Scop
    ranges: tuple[SizeRange, ...]
    #: of each array with subscripts, outermost first: a size's name or a number
    extents: Mapping[str, tuple[str, ...]]
    #: of each statement: the iterations of its loops, outermost first, each a size's name or a number
    trips: Mapping[str, tuple[str, ...]]

    def __repr__(self) -> str:
        return f"<SymbolicNest {self.scop.function.name} for {', '.join(map(str, self.ranges))}>"

    @property
    def sizes(self) -> tuple[str, ...]:
        return tuple(each.name for each in self.ranges)

    def stride(self, array: str, dimension: int) -> tuple[str, ...]:
        """The factors of the elements between neighbours along a dimension; none for neighbours in memory."""
        return tuple(extent for extent in self.extents[array][dimension + 1 :] if extent != "1")


def symbolic_nest(scop: Scop, other: Scop, ranges: Sequence[SizeRange]) -> SymbolicNest:
    """The nest of ``scop`` with parameters for the sizes that have ranges.

    ``scop`` and ``other`` are the same nest, read at two shapes that differ in every size that has more than one value.
    Raises UserError for what a library can't hold: loops that don't run from 0 to a size or a constant, subscripts or
    extents that are computed from a size, and accesses that leave their array at some size of the ranges.
    """
    if scop.annotated_calls:
        raise _unsupported(scop, scop.line, "a microkernel call is marked", "leave out #pragma polydl")
    sizes = [each.name for each in ranges]
    extents = _extents(scop, other, sizes)
    opened = open_statements(scop, sizes)
    if len(opened) != len(scop.statements):
        raise _unsupported(
            scop, scop.line, "the region computes sizes or indices", "leave only loops and what they compute in it"
        )
    context = isl.Set(_context(ranges))
    statements, trips = [], {}
    for statement, described in zip(scop.statements, opened, strict=True):
        domain = _domain(scop, statement, described, sizes)
        _check_subscripts(scop, statement, described)
        trips[statement.name] = _trips(scop, statement, domain, context, sizes)
        restricted = domain.intersect_params(context)
        accesses = tuple(
            replace(access, relation=str(isl.Map(access.index).intersect_domain(restricted)))
            for access in statement.accesses
        )
        statements.append(replace(statement, domain=str(restricted), accesses=accesses))
    nest = SymbolicNest(replace(scop, statements=tuple(statements)), tuple(ranges), extents, trips)
    _check_bounds(nest)
    return nest


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


def _unsupported(scop: Scop, line: int, message: str, remedy: str) -> UserError:
    return UnsupportedConstructError(f"a library can't hold this: {message}", file=scop.file, line=line, remedy=remedy)


def _context(ranges: Sequence[SizeRange]) -> str:
    names = ", ".join(each.name for each in ranges)
    return f"[{names}] -> {{ : {' and '.join(f'{each.low} <= {each.name} <= {each.high}' for each in ranges)} }}"


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
        raise _unsupported(
            scop,
            statement.line,
            f"the loops around `{statement.text}` depend on the sizes in a way that isn't understood",
            "let loops run from 0 to a size or to a constant",
        )
    return domain


def _check_subscripts(scop: Scop, statement: Statement, described: OpenStatement) -> None:
    for index in map(isl.Map, described.indexes):
        if index.drop_unused_params().dim(_PARAMETER):
            array = index.get_tuple_name(isl.dim_type.out)
            raise _unsupported(
                scop,
                statement.line,
                f"a subscript of `{array}` in `{statement.text}` is computed from a size",
                "use loop counters and constants as subscripts",
            )


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
    raise _unsupported(
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
    for array in scop.arrays:
        if not array.extents:
            continue
        declared = re.search(rf"\b{array.name}{_SUBSCRIPTS}", head) if array.storage == "parameter" else None
        texts = [text.strip() for text in re.findall(r"\[([^\]]*)\]", declared[1])] if declared else []
        values = zip(array.extents, other.array(array.name).extents, strict=True)
        known = [
            text if text in sizes else str(here) if here == there else ""
            for text, (here, there) in zip(texts or [""] * len(array.extents), values, strict=True)
        ]
        if "" in known:
            raise _unsupported(
                scop,
                scop.function.line,
                f"an extent of `{array.name}` is computed from a size",
                f"declare it as a parameter with sizes or constants as extents, such as {array.name}[{sizes[0]}]",
            )
        extents[array.name] = tuple(known)
    return extents


def _check_bounds(nest: SymbolicNest) -> None:
    """Check that no access leaves its array at any size of the ranges."""
    names = ", ".join(nest.sizes)
    for statement in nest.scop.statements:
        for access in statement.accesses:
            extents = nest.extents.get(access.array, ())
            places = [f"x{number}" for number in range(len(extents))]
            inside = " and ".join(f"0 <= {x} < {extent}" for x, extent in zip(places, extents, strict=True))
            array = isl.Set(f"[{names}] -> {{ {access.array}[{', '.join(places)}] : {inside or 'true'} }}")
            if not isl.Map(access.relation).range().is_subset(array):
                raise _unsupported(
                    nest.scop,
                    statement.line,
                    f"at some sizes of {', '.join(map(str, nest.ranges))}, `{statement.text}` accesses elements "
                    f"outside of `{access.array}`",
                    "declare the array with the sizes that its loops run to",
                )


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
