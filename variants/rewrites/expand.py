"""An array that each iteration of outer loops writes before it reads it, with elements of its own for each iteration.

``for (q ...) { row[p] = sum over s of a[q][s] * b[s][p]; a[q][p] = row[p]; }`` uses ``row`` anew in each iteration of
``q``, so that iterations must run one after the other, and the product has one row. With ``row[q][p]`` (array
expansion: Feautrier, Array Expansion, ICS 1988) they are independent, and loop distribution gives the product all of
them. Of the loops around, some may be enough: fewer elements stay in a nearer cache.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod
from random import Random
from typing import Annotated, ClassVar

import islpy as isl

from polydl.errors import AnalysisError, IllegalVariantError
from polydl.ir.affine import Affine, Box, box_extents, iterator_form
from polydl.ir.construct import assignment, fresh_name, fresh_statement_name, make_access, make_statement
from polydl.ir.families import LAYOUT
from polydl.ir.numerics import EXACT, Rounding
from polydl.ir.scop import Array, Scop
from polydl.ir.statement import Access, Expression, Statement
from polydl.ir.variant import ArrayName, LoopName, RewriteStep, StatementName
from polydl.machine import LIMITS
from polydl.poly.boxes import bounding_box
from polydl.poly.counting import limited
from polydl.poly.dependences import Dependence, dependences
from polydl.poly.iterations import in_one_iteration
from polydl.poly.legality import between_in_words
from polydl.poly.nests import distribute
from polydl.poly.schedules import original_schedule, schedule_length, time_map
from polydl.poly.shared_loops import loops_around_all
from polydl.rewrite_contract import Phase, Proposal, Request
from polydl.variants.rewrites.copies import inserted

# Statements with so much less to do than others that loops of their own would not matter.
LIGHT = 8


@dataclass(frozen=True)
class Expand(RewriteStep):
    """Give an array elements of its own for each iteration of some loops around all statements that use it there.

    What the last iteration leaves is copied back where the array is used elsewhere, or lives on behind the nests.
    """

    json_name: ClassVar[str] = "expand"

    statement: Annotated[StatementName, "One that uses the array; the others are those that share its outermost loop."]
    array: ArrayName
    loops: Annotated[tuple[LoopName, ...], "Its loops that become dimensions, outermost first."]


@dataclass(frozen=True)
class ExpandRewrite:
    """The rewrite ``expand``, which removes dependences that only come of using memory again. It is exact."""

    step: type[Expand] = Expand
    families: frozenset[str] = frozenset({LAYOUT})
    phase: Phase = Phase.PREPARATION

    def rounding(self, scop: Scop, step: Expand) -> Rounding:
        return EXACT

    def apply(self, scop: Scop, step: Expand, dependences: Sequence[Dependence], *, reassociate: bool) -> Scop:
        return expand(scop, step)

    def propose(self, request: Request) -> Iterator[Proposal]:
        """Arrays without which loop distribution leaves fewer common loops, along as few loops as that takes."""
        scop = request.scop
        sharing = [s for s in scop.statements if s.betas[0] == request.statement.betas[0]]
        names = {statement.name for statement in sharing}
        alone = replace(scop, statements=tuple(sharing))
        inside = [d for d in request.dependences if d.source in names and d.target in names]
        heavy = _heavy(sharing)

        def after(steps: Sequence[Expand]) -> int:
            changed = alone
            for step in steps:
                changed = expand(changed, step)
            return _common_loops(changed, heavy, dependences(changed))

        try:
            least = _common_loops(alone, heavy, inside)
            for first in reversed(range(min(statement.depth for statement in sharing))):
                steps = tuple(_expandable(scop, sharing, first)) if least else ()
                if not steps or (left := after(steps)) >= least:
                    continue
                for step in steps:
                    others = tuple(each for each in steps if each != step)
                    if others and after(others) == left:
                        steps = others
                least = left
                yield Proposal(steps, for_microkernel=False)
        except AnalysisError:
            return

    def drawn(self, scop: Scop, statement: Statement, draw: Random) -> Iterator[tuple[Expand]]:
        """Any array that the statement writes, along any of its outer loops."""
        if statement.depth:
            first = draw.randrange(statement.depth)
            loops = statement.iterators[first : draw.randint(first + 1, statement.depth)]
            yield (Expand(statement.name, draw.choice(statement.writes).array, loops),)

    def describe(self, scop: Scop, step: Expand) -> str:
        return f"{step.array} with elements for each iteration of {' '.join(step.loops)}"


EXPAND = ExpandRewrite()


def expand(scop: Scop, step: Expand) -> Scop:
    """The scop with an array expanded. Raises IllegalVariantError unless each read finds what its iteration wrote."""
    statement, array = scop.statement(step.statement), scop.array(step.array)
    users = _users(scop, statement.betas[0], array)
    places = [statement.iterators.index(name) for name in step.loops if name in statement.iterators]
    if not places or len(places) != len(step.loops) or places != sorted({*places}):
        raise IllegalVariantError(f"{list(step.loops)} are no loops of {statement.name} from the outside inwards")
    if statement not in users or max(places) >= loops_around_all(users):
        raise IllegalVariantError(f"what uses `{array.name}` does not share the loops {list(step.loops)}")
    if array.view_of or any(each.view_of == array.name for each in scop.arrays):
        raise IllegalVariantError(f"`{array.name}` shares its memory with a view")
    fixed = {name for group in scop.shared for name in group.statements}
    if any(scop.has_call(user.name) or user.name in fixed for user in users):
        raise IllegalVariantError(f"what uses `{array.name}` must keep its loops as they are")
    return _expanded(scop, users, array, tuple(places))


@limited
def _expanded(scop: Scop, users: Sequence[Statement], array: Array, places: tuple[int, ...]) -> Scop:
    _require_own_writes(scop, users, array, places)
    ranges = [bounding_box(_iterations(user, places)) for user in users]
    box = tuple(
        (min(each[number][0] for each in ranges), max(each[number][1] for each in ranges))
        for number in range(len(places))
    )
    extents = (*box_extents(box), *array.extents)
    if prod(extents) * array.element_bytes > LIMITS.expanded_bytes:
        raise IllegalVariantError(f"`{array.name}` would take more than {LIMITS.expanded_bytes >> 20} MiB")
    elements = replace(array, name=fresh_name(scop, f"{array.name}_expanded"), extents=extents, storage="local")
    names = {user.name for user in users}
    lows = tuple(low for low, _ in box)
    statements = [_with_elements(s, array, elements, places, lows) if s.name in names else s for s in scop.statements]
    lives = array.storage != "local" or any(
        access.array == array.name for s in scop.statements if s.name not in names for access in s.accesses
    )
    if not lives:
        arrays = tuple(each for each in scop.arrays if each.name != array.name)
        return replace(scop, statements=tuple(statements), arrays=(*arrays, elements))
    copy = _copied_back(scop, users, array, elements, places, lows)
    return replace(scop, statements=inserted(copy, statements), arrays=(*scop.arrays, elements))


def _users(scop: Scop, place: int, array: Array) -> list[Statement]:
    """The statements of the outermost loop at ``place`` that use an array."""
    return [
        s for s in scop.statements if s.betas[0] == place and any(access.array == array.name for access in s.accesses)
    ]


def _iterations(statement: Statement, places: Sequence[int]) -> isl.Set:
    """The values of some of a statement's loops."""
    domain = isl.Set(statement.domain)
    for place in reversed(range(statement.depth)):
        if place not in places:
            domain = domain.project_out(isl.dim_type.set, place, 1)
    return domain.reset_tuple_id()


def _require_own_writes(scop: Scop, users: Sequence[Statement], array: Array, places: Sequence[int]) -> None:
    """Raises IllegalVariantError unless the last write of each element that is read is in the same iteration.

    That is one of the loops at ``places``. The test is value-based dependence analysis (Feautrier, Dataflow Analysis of
    Array and Scalar References, 1991).
    """
    order = original_schedule(scop)
    length = schedule_length(order)
    empty = isl.UnionMap("{ }")
    times, reads, writes = empty, empty, empty
    for user in users:
        times = times.union(isl.UnionMap.from_map(time_map(user, order.of(user.name), length)))
        for access in user.accesses:
            if access.array == array.name:
                relation = isl.UnionMap.from_map(isl.Map(access.relation))
                reads = reads.union(relation) if access.kind == "read" else reads
                writes = writes.union(relation) if access.kind == "write" else writes
    flow = isl.UnionAccessInfo.from_sink(reads).set_must_source(writes).set_schedule_map(times).compute_flow()
    by_name = {user.name: user for user in users}
    without = {each.get_tuple_name(isl.dim_type.in_) for each in _maps(flow.get_must_no_source())}
    for user in users:
        if user.name in without:
            raise IllegalVariantError(f"{user.place} reads of `{array.name}` what the loops around it have not written")
    across = [each for each in _maps(flow.get_must_dependence()) if not each.is_subset(in_one_iteration(each, places))]
    if across:
        names = min((each.get_tuple_name(isl.dim_type.in_), each.get_tuple_name(isl.dim_type.out)) for each in across)
        source, target = (by_name[name] for name in names)
        loops = " ".join(source.iterators[place] for place in places)
        raise IllegalVariantError(
            f"{between_in_words('RAW', array.name, source, target)} leads from one iteration of {loops} to another"
        )


def _maps(union: isl.UnionMap) -> list[isl.Map]:
    maps: list[isl.Map] = []
    union.foreach_map(maps.append)
    return maps


def _with_elements(
    statement: Statement, array: Array, elements: Array, places: Sequence[int], lows: Sequence[int]
) -> Statement:
    """The statement with its accesses to the array among the elements of its iteration."""
    head = f"{statement.name}[{', '.join(statement.iterators)}]"
    values = [f"({statement.iterators[place]} - {low})" for place, low in zip(places, lows, strict=True)]
    iteration = f"{{ {head} -> [{', '.join(values)}] }}"
    own = tuple(iterator_form(place, statement.depth, -low) for place, low in zip(places, lows, strict=True))

    def moved(access: Access) -> Access:
        if access.array != array.name:
            return access
        relation = isl.Map(iteration).flat_range_product(isl.Map(access.relation))
        index = isl.MultiPwAff(iteration).flat_range_product(isl.MultiPwAff(access.index))
        return replace(
            access,
            array=elements.name,
            relation=str(relation.set_tuple_name(isl.dim_type.out, elements.name)),
            index=str(index.set_tuple_name(isl.dim_type.out, elements.name)),
            subscripts=None if access.subscripts is None else (*own, *access.subscripts),
        )

    return replace(statement, accesses=tuple(moved(access) for access in statement.accesses))


def _copied_back(
    scop: Scop, users: Sequence[Statement], array: Array, elements: Array, places: Sequence[int], lows: Sequence[int]
) -> Statement:
    """The statement that sets the array to what the nests leave in it.

    Raises IllegalVariantError unless one iteration is the last that writes, for all elements, and these form a box.
    """
    shared = loops_around_all(users)
    writes = isl.Map(f"{{ [{_dimensions(shared)}] -> [{_dimensions(len(array.extents))}] : 1 = 0 }}")
    for user in users:
        for access in user.writes:
            if access.array == array.name:
                relation = isl.Map(access.relation).reset_tuple_id(isl.dim_type.out)
                inner = user.depth - shared
                relation = relation.project_out(isl.dim_type.in_, shared, inner).reset_tuple_id(isl.dim_type.in_)
                writes = writes.union(relation)
    counted = ["-" * (way < 0) + f"p{place}" for place, way in enumerate(users[0].directions[:shared])]
    order = isl.Map(f"{{ [{_dimensions(shared)}] -> [{', '.join(counted)}] }}")
    last = writes.apply_domain(order).reverse().lexmax().apply_range(order.reverse())
    for place in reversed(range(shared)):
        if place not in places:
            last = last.project_out(isl.dim_type.out, place, 1)
    box = bounding_box(writes.range())
    if not _is_box(writes.range(), box) or any(low != high for low, high in bounding_box(last.range())):
        raise IllegalVariantError(f"what is left in `{array.name}` is not that of one iteration")
    iteration = [low for low, _ in bounding_box(last.range())]
    name = fresh_statement_name(scop, f"copy_{array.name}")
    iterators = tuple(f"{array.name}_{number}" for number in range(len(box)))
    element = tuple(iterator_form(number, len(box)) for number in range(len(box)))
    of_last = (Affine((0,) * len(box), value - low) for value, low in zip(iteration, lows, strict=True))
    accesses = (
        make_access(name, iterators, box, f"{name}_to", array.name, "write", element),
        make_access(name, iterators, box, f"{name}_from", elements.name, "read", (*of_last, *element)),
    )
    betas = (users[0].betas[0] + 1, *(0,) * len(box))
    text = f"{array.name}[...] = {elements.name}[...]"
    body = assignment(f"{name}_to", Expression("access", f"{name}_from"))
    line = users[-1].line
    return make_statement(name, iterators, box, accesses, body, origin="copy", betas=betas, line=line, text=text)


def _dimensions(number: int) -> str:
    return ", ".join(f"p{place}" for place in range(number))


def _is_box(points: isl.Set, box: Box) -> bool:
    whole = isl.Set.universe(points.get_space())
    for place, (low, high) in enumerate(box):
        whole = whole.lower_bound_val(isl.dim_type.set, place, low).upper_bound_val(isl.dim_type.set, place, high)
    return bool(points.is_equal(whole))


# ----------------------------------------------------------------------------------
# What is proposed


def _common_loops(scop: Scop, heavy: frozenset[str], known: Sequence[Dependence]) -> int:
    """How many loops around ``heavy`` statements are common to several nests, all of them together."""
    return sum(nest.depth for nest in distribute(scop, known) for name in nest.statements if name in heavy)


def _heavy(statements: Sequence[Statement]) -> frozenset[str]:
    """Statements for whose sake others are worth a change."""
    work = {statement.name: statement.instances * len(statement.accesses) for statement in statements}
    return frozenset(name for name, accesses in work.items() if accesses * LIGHT >= max(work.values()))


def _expandable(scop: Scop, sharing: Sequence[Statement], first: int) -> Iterator[Expand]:
    """The arrays that statements write, each along all loops from the ``first`` one on that all its users share."""
    for name in dict.fromkeys(access.array for statement in sharing for access in statement.writes):
        users = _users(scop, sharing[0].betas[0], scop.array(name))
        step = Expand(users[0].name, name, users[0].iterators[first : loops_around_all(users)])
        try:
            expand(scop, step)
        except IllegalVariantError:
            continue
        yield step
