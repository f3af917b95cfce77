"""A nest with its sizes as parameters, and what isl proves of it for all sizes of their ranges at once."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

import islpy as isl

from polydl.errors import OptionError
from polydl.frontend.macro_definitions import macro_definitions
from polydl.frontend.open_sizes import OpenStatement, open_statements
from polydl.frontend.source import without_comments
from polydl.ir.affine import value_range
from polydl.ir.scop import Array, Scop
from polydl.ir.statement import Access, Statement
from polydl.libraries import extents as sums
from polydl.libraries.described import described_statements, unsupported, with_open_values
from polydl.libraries.linear import OPEN, with_views
from polydl.libraries.ranges import LeadingDimension, SizeRange, every_size

_PARAMETER, _SET = isl.dim_type.param, isl.dim_type.set
_SUBSCRIPTS = r"\s*((?:\[[^\]]*\]\s*)+)"
# What may stand in the first brackets of a parameter beside its extent.
_QUALIFIERS = re.compile(r"\b(?:static|const|restrict|volatile)\b")
#: Iterations of a loop, at most: an int still holds the number behind the last tile.
MOST_ITERATIONS = 1 << 30


@dataclass(frozen=True)
class SymbolicNest:
    """A nest as a function of its sizes.

    An array with one dimension that stands for several is seen as another one, with the name that ``view_of`` gives.
    """

    #: as it was read
    source: Scop
    #: sets and relations have the sizes as parameters, restricted to the ranges; boxes are those of the largest sizes,
    #: extents and counts those of the shape at which it was read
    scop: Scop
    #: values that each integer parameter may have
    ranges: tuple[SizeRange, ...]
    #: leading dimensions that callers choose, each with its least value
    leading: tuple[LeadingDimension, ...]
    #: of each array with subscripts in ``scop``, outermost first: a sum of sizes, or OPEN where nothing says it
    extents: Mapping[str, tuple[str, ...]]
    #: of each statement whose loops run from 0 up and depend on no other loop: their iterations, outermost first, each
    #: a sum of sizes
    trips: Mapping[str, tuple[str, ...]]

    def __repr__(self) -> str:
        return f"<SymbolicNest {self.scop.function.name} for {', '.join(map(str, self.ranges))}>"

    @property
    def sizes(self) -> tuple[str, ...]:
        """All integer parameters that callers choose."""
        return tuple(each.name for each in every_size(self.ranges, self.leading))

    @property
    def fixed(self) -> dict[str, int]:
        """Integer parameters that have one value for the whole library, with that value."""
        return {
            each.name: each.value
            for each in self.source.function.parameters
            if each.value is not None and each.name not in self.sizes
        }

    @property
    def defines(self) -> dict[str, str]:
        """What ``-D`` gives for the whole library: macros, and the values of ``fixed``."""
        return {name: value for name, value in self.source.defines if name not in self.sizes}

    @property
    def views(self) -> tuple[Array, ...]:
        """Arrays of the source with one dimension, as the nest sees them."""
        return tuple(array for array in self.scop.arrays if array.view_of)

    @property
    def context(self) -> str:
        """The sizes of the ranges as an isl set of parameters."""
        return _context(self.ranges, self.leading)

    @cached_property
    def largest(self) -> dict[str, int]:
        """The largest value of each size; of a leading dimension, the least that it has then."""
        high = {each.name: each.high for each in self.ranges}
        return {**high, **{each.name: sums.value(each.least, high) for each in self.leading}}

    def reach(self, array: str, sizes: Mapping[str, int]) -> tuple[int, ...]:
        """The extents that an array needs at some sizes: of each dimension one more than its greatest subscript."""
        least = [0] * len(self.extents[array])
        for statement in self.scop.statements:
            for access in statement.accesses:
                if access.array == array:
                    last = _last_subscripts(access, self.trips.get(statement.name), sizes)
                    least = [max(most, each + 1) for most, each in zip(least, last, strict=True)]
        return tuple(least)

    def box_extents(self, statement: Statement, sizes: Mapping[str, int]) -> tuple[int, ...]:
        """The extents at some sizes of the box around a statement's domain: of a rectangle, its loops' iterations."""
        trips = self.trips.get(statement.name)
        if trips is not None:
            return tuple(max(0, sums.value(trip, sizes)) for trip in trips)
        domain = _at(isl.Set(statement.domain), sizes)
        if domain.is_empty():
            return (0,) * statement.depth
        bounds = ((domain.dim_max_val(place), domain.dim_min_val(place)) for place in range(statement.depth))
        return tuple(high.sub(low).to_python() + 1 for high, low in bounds)

    def source_extents(self, sizes: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
        """The extents at some sizes of the source's arrays; where nothing says how far they reach, what is needed."""
        extents = {}
        for array in self.source.arrays:
            if array.name in self.extents:
                reach = self.reach(array.name, sizes)
                extents[array.name] = tuple(
                    least if text == OPEN else sums.value(text, sizes)
                    for text, least in zip(self.extents[array.name], reach, strict=True)
                )
        for view in self.views:
            inner = [sums.value(extent, sizes) for extent in self.extents[view.name][1:]]
            reach = self.reach(view.name, sizes)
            places = sum((most - 1) * prod(inner[place:]) for place, most in enumerate(reach))
            # What has no rows, or rows of nothing, isn't touched.
            extents[view.view_of] = (1 + places if all(reach) else 0,)
        return extents

    def stride(self, array: str, dimension: int) -> tuple[str, ...]:
        """The factors of the elements between neighbours along a dimension; none for neighbours in memory."""
        return tuple(extent for extent in self.extents[array][dimension + 1 :] if extent != "1")


def symbolic_nest(
    scop: Scop, other: Scop, ranges: Sequence[SizeRange], leading: Sequence[LeadingDimension] = ()
) -> SymbolicNest:
    """The nest of ``scop`` with parameters for the sizes that have ranges, and for leading dimensions.

    ``scop`` and ``other`` are the same nest, read at two shapes that differ in every size that has more than one value.
    Raises UserError for what a library can't hold: subscripts or extents that are computed from sizes by more than
    sums, and accesses that leave their array at some size of the ranges.
    """
    if scop.annotated_calls:
        raise unsupported(scop, scop.line, "a microkernel call is marked", "leave out #pragma polydl")
    used = {access.array for statement in scop.statements for access in statement.accesses}
    for array in scop.arrays:
        if array.storage == "function" and array.name in used:
            raise unsupported(
                scop,
                scop.line,
                f"`{array.name}` is declared in the function, outside of the region",
                "make it a parameter, or move its declaration into the region",
            )
    sizes = [each.name for each in every_size(ranges, leading)]
    opened = open_statements(scop, sizes)
    described = described_statements(scop, opened)
    seen, inner = with_views(scop, described, opened)
    extents = {**_extents(seen, other, sizes), **inner}
    context = isl.Set(_context(ranges, leading))
    statements, trips = [], {}
    in_loops: set[str] = set()
    for statement in seen.statements:
        domain = _domain(scop, statement, described[statement.name], sizes)
        in_loops |= {name for name in sizes if _depends_on(domain, name)}
        known = _trips(statement, domain, context, sizes)
        if known is not None:
            trips[statement.name] = known
        body = with_open_values(scop, statement, described[statement.name], other)
        statements.append(replace(statement, domain=str(domain.intersect_params(context)), box=None, body=body))
    nest = SymbolicNest(scop, seen, tuple(ranges), tuple(leading), extents, trips)
    boxed = [
        restricted(replace(each, box=tuple((0, sums.value(trip, nest.largest) - 1) for trip in trips[each.name])))
        if each.name in trips
        else restricted(each)
        for each in statements
    ]
    nest = replace(nest, scop=replace(seen, statements=tuple(boxed)))
    _check_used(nest, in_loops)
    _check_bounds(nest)
    _check_counters(nest)
    return nest


def _depends_on(domain: isl.Set, name: str) -> bool:
    """Whether a set is another one for other values of a parameter."""
    position = domain.find_dim_by_name(_PARAMETER, name)
    return position >= 0 and bool(domain.involves_dims(_PARAMETER, position, 1))


def _last_subscripts(access: Access, trips: Sequence[str] | None, sizes: Mapping[str, int]) -> list[int]:
    """The greatest value of each subscript of an access; -1 where it touches nothing."""
    if trips is not None and access.subscripts is not None:
        box = tuple((0, sums.value(trip, sizes) - 1) for trip in trips)
        if any(high < 0 for _, high in box):
            return [-1] * len(access.subscripts)
        return [value_range(form, box)[1] for form in access.subscripts]
    touched = _at(isl.Map(access.relation).range(), sizes)
    places = range(touched.dim(_SET))
    return [-1 if touched.is_empty() else touched.dim_max_val(place).to_python() for place in places]


def _at(points: isl.Set, sizes: Mapping[str, int]) -> isl.Set:
    """The points of a set at some sizes, its parameters."""
    for name, size in sizes.items():
        position = points.find_dim_by_name(_PARAMETER, name)
        if position >= 0:
            points = points.fix_val(_PARAMETER, position, isl.Val(size))
    return points


def restricted(statement: Statement) -> Statement:
    """The statement with access relations on its domain, from its accesses' subscripts."""
    domain = isl.Set(statement.domain)
    relations = [str(isl.Map(access.index).intersect_domain(domain)) for access in statement.accesses]
    accesses = tuple(
        replace(access, relation=relation) for access, relation in zip(statement.accesses, relations, strict=True)
    )
    return replace(statement, accesses=accesses)


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
            "let loops run to sums of sizes and constants",
        )
    return domain


def _trips(statement: Statement, domain: isl.Set, context: isl.Set, sizes: Sequence[str]) -> tuple[str, ...] | None:
    """How often each loop around a statement runs, if they all run from 0 up and depend on no other loop."""
    names = ", ".join(sizes)
    trips = []
    for position in range(statement.depth):
        alone = domain.project_out(_SET, position + 1, statement.depth - position - 1).project_out(_SET, 0, position)
        pieces = alone.reset_tuple_id().intersect_params(context).dim_max(0).gist(context).coalesce().get_pieces()
        last = _sum_of_sizes(pieces[0][1]) if len(pieces) == 1 else None
        if last is None:
            return None
        trips.append(sums.written({**last, "": last[""] + 1}))
    iterators = ", ".join(statement.iterators)
    bounds = " and ".join(f"0 <= {i} < {trip}" for i, trip in zip(statement.iterators, trips, strict=True))
    box = isl.Set(f"[{names}] -> {{ {statement.name}[{iterators}] : {bounds or 'true'} }}")
    rectangular = _equal(domain, box, context) and all(direction == 1 for direction in statement.directions)
    return tuple(trips) if rectangular else None


def _sum_of_sizes(form: isl.Aff) -> sums.Sum | None:
    """An affine form of parameters alone; None if it divides."""
    terms = {"": form.get_constant_val()}
    for place in range(form.dim(_PARAMETER)):
        terms[str(form.get_dim_name(_PARAMETER, place))] = form.get_coefficient_val(_PARAMETER, place)
    if form.dim(isl.dim_type.div) or not all(number.is_int() for number in terms.values()):
        return None
    return {name: number.to_python() for name, number in terms.items()}


def _equal(one: isl.Set, other: isl.Set, context: isl.Set) -> bool:
    return bool(one.intersect_params(context).is_equal(other.intersect_params(context)))


def _extents(scop: Scop, other: Scop, sizes: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The extents of each array with subscripts, from its declaration among the function's parameters."""
    first, body, _ = scop.definition
    head = without_comments(scop.source[first:body])
    extents = {}
    written = {access.array for statement in scop.statements for access in statement.accesses}
    for array in scop.arrays:
        if not array.extents or array.view_of or array.name not in written:
            continue
        if array.storage == "local":
            constant = array in other.arrays
            extents[array.name] = tuple(str(here) if constant else OPEN for here in array.extents)
            continue
        texts = _declared(head, array.name) if array.storage == "parameter" else []
        values = zip(array.extents, other.array(array.name).extents, strict=True)
        known = [
            OPEN if text == OPEN and place == 0 else _extent(text, here, there, (scop, other), sizes)
            for place, (text, (here, there)) in enumerate(zip(texts or ["?"] * len(array.extents), values, strict=True))
        ]
        if None in known:
            raise unsupported(
                scop,
                scop.function.line,
                f"an extent of `{array.name}` is computed from sizes by more than sums and constant factors",
                f"declare it as a parameter with extents such as {array.name}[{sizes[0]}] or "
                f"{array.name}[2 * {sizes[0]} + 1]",
            )
        extents[array.name] = tuple(extent for extent in known if extent is not None)
    return extents


def _extent(text: str, here: int, there: int, scops: tuple[Scop, Scop], sizes: Sequence[str]) -> str | None:
    """An extent as a sum of sizes, given its text, and its values in two readings of the nest; None for no such sum."""
    forms = []
    for scop, value in zip(scops, (here, there), strict=True):
        fixed = {each.name: each.value for each in scop.function.parameters if each.value is not None}
        terms = sums.parsed(text, {**_macros(scop), **fixed, **dict.fromkeys(sizes)})
        form = None if terms is None else sums.written(terms)
        if form is not None and sums.value(form, fixed) == value:
            forms.append(form)
    if len(forms) == 2 and forms[0] == forms[1]:
        return forms[0]
    return str(here) if here == there and not set(sizes) & set(re.findall(r"\w+", text)) else None


def _macros(scop: Scop) -> dict[str, int]:
    """Macros that stand for numbers: the file's, and those of ``-D``."""
    macros: dict[str, int] = {}
    for each in macro_definitions(scop.source[: scop.definition[0]]):
        terms = sums.parsed(without_comments(each.body), macros)
        if terms is not None:
            macros[each.name] = terms.get("", 0)
    return {**macros, **{name: int(number) for name, number in scop.defines if number.isdigit()}}


def _declared(head: str, name: str) -> list[str]:
    """The extents of a parameter as its declaration has them; OPEN for the first of a pointer and of ``[]``."""
    pointer = re.search(rf"\(\s*\*[\s\w]*?\b{name}\s*\){_SUBSCRIPTS}", head)
    declared = pointer or re.search(rf"\b{name}{_SUBSCRIPTS}", head)
    if declared is None:
        return [OPEN] if re.search(rf"\*[\s\w]*?\b{name}\b", head) else []
    texts = [_QUALIFIERS.sub("", text).strip() for text in re.findall(r"\[([^\]]*)\]", declared[1])]
    return [OPEN, *texts] if pointer else texts


def _check_used(nest: SymbolicNest, in_loops: Collection[str]) -> None:
    """Check that each size is a bound of loops, in an extent, or in a statement. Raises OptionError."""
    texts = [text for extents in nest.extents.values() for text in extents]
    words = set(re.findall(r"\w+", " ".join([*texts, *(each.text for each in nest.source.statements)])))
    for each in every_size(nest.ranges, nest.leading):
        if each.name not in in_loops and each.name not in words:
            raise OptionError(
                f"--range {each}: neither loops nor arrays of {nest.source.function.name} depend on {each.name}",
                file=nest.source.file,
                line=nest.source.function.line,
                construct=each.name,
                remedy="leave out its range",
            )


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
            outside = isl.Map(access.relation).range().subtract(array)
            if not outside.is_empty():
                raise unsupported(
                    nest.scop,
                    statement.line,
                    f"at some sizes of {sizes}, `{statement.text}` accesses elements outside of "
                    f"{_rows_or_array(nest, access.array)}",
                    _remedy_of_bounds(nest, access.array, outside.params()),
                )


def _remedy_of_bounds(nest: SymbolicNest, name: str, outside: isl.Set) -> str:
    """What to do about accesses that leave an array at the sizes ``outside``."""
    array = nest.scop.array(name)
    if array.view_of:
        remedy = "let rows be as long as the loops over them run, or longer: --range lda=K.."
    elif array.storage == "parameter":
        remedy = f"declare `{name}` with extents that the loops stay in, as sums of sizes"
    else:
        remedy = f"make `{name}` a parameter whose extents are sums of sizes"
    left = isl.Set(nest.context).params().subtract(outside)
    shorter = "" if left.is_empty() else next(filter(None, (_shorter(nest, each, left) for each in nest.ranges)), "")
    return f"--range {shorter}; or {remedy}" if shorter else remedy


def _shorter(nest: SymbolicNest, sizes: SizeRange, left: isl.Set) -> str:
    """The part of a range that gives just the sizes that are ``left`` of the nest's; "" where none does."""
    position = left.find_dim_by_name(_PARAMETER, sizes.name)
    if position < 0:
        return ""
    line = isl.Set.from_params(left).move_dims(_SET, 0, _PARAMETER, position, 1)
    low, high = line.dim_min_val(0).to_python(), line.dim_max_val(0).to_python()
    part = isl.Set(f"[{sizes.name}] -> {{ : {low} <= {sizes.name} <= {high} }}").params()
    shorter = sizes.between(low, high)
    if shorter is None or not part.intersect(isl.Set(nest.context).params()).is_equal(left):
        return ""
    return str(shorter)


def _check_counters(nest: SymbolicNest) -> None:
    """Check that loops over tiles, which count in ints, end before these do at the largest sizes."""
    for statement in nest.scop.statements:
        for trip in nest.trips.get(statement.name, ()):
            if sums.value(trip, nest.largest) > MOST_ITERATIONS:
                raise unsupported(
                    nest.scop,
                    statement.line,
                    f"a loop around `{statement.text}` runs up to {sums.value(trip, nest.largest)} times",
                    f"end the ranges of sizes so that no loop runs more than {MOST_ITERATIONS} times; beyond a range "
                    "the loops run as they were written",
                )


def _rows_or_array(nest: SymbolicNest, name: str) -> str:
    array = nest.scop.array(name)
    return f"a row of `{array.view_of}`" if array.view_of else f"`{name}`"
