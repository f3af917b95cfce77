"""Array contraction: arrays of the region's own that need the memory of one tile only (Lefebvre and Feautrier; Darte).

Where loops are around all uses of such an array, and each of its elements is used in one iteration of these loops
alone, all iterations may use the same memory, one after the other. It is a box: in each dimension, as many elements as
lie between the first and the last one that any iteration uses. A subscript counts from the first of them.

isl decides it for the plan of a variant. Where a parallel loop is among those around, a small box is memory that each
iteration of it has of its own. What shares a larger one must be apart in it: an iterator that a parallel loop moves
keeps its whole range there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, reduce
from typing import TypeVar

import islpy as isl

from polydl.errors import QuotaError
from polydl.ir.affine import Affine
from polydl.ir.schedule import Loop, Schedule
from polydl.ir.scop import Array, Scop
from polydl.ir.statement import Access, Statement
from polydl.match.product import GemmMatch
from polydl.plan.nest_plan import NestPlan, Plan, trips
from polydl.plan.prepared import prepared
from polydl.plan.rewriting import RewrittenScop
from polydl.poly.counting import quota
from polydl.poly.schedules import original_schedule, schedule_length, time_expression, time_map
from polydl.poly.shared_loops import iterations_meet

#: Most bytes of an array on the stack.
STACK_BYTES = 1 << 14
# What isl may spend on one array: a second or so.
_OPERATIONS = 20_000_000
# Boxes that are remembered: those of variants of a few nests, which differ in what is outside of a tile.
_KEPT = 4096

Times = tuple[int | Loop, ...]
# By the name of a contracted array, what is taken off its subscripts, over the counters of loops.
Starts = Mapping[str, tuple[Affine, ...]]
# By the name of a statement, the time dimensions around its uses of an array.
_Around = tuple[tuple[str, Times], ...]


@dataclass(frozen=True)
class Contraction:
    """An array that has the elements of one iteration of the loops around all of its uses."""

    #: as code declares it: its extents are those of the box
    array: Array
    #: for each of its dimensions, what is taken off subscripts, over the outermost dimensions of time
    starts: tuple[Affine, ...]
    #: whether iterations of parallel loops have such an array each
    private: bool = False

    @property
    def depth(self) -> int:
        """How many dimensions of time are outside of the box."""
        return len(self.starts[0].coefficients)

    def starts_inside(self, dimensions: Sequence[int | Loop]) -> tuple[Affine, ...]:
        """The same over the counters of the loops among the ``dimensions`` of a statement's or a call's time."""
        loops = [place for place, each in enumerate(dimensions) if isinstance(each, Loop)]
        known = [(place, each) for place, each in enumerate(dimensions[: self.depth]) if isinstance(each, int)]
        return tuple(
            Affine(
                tuple(start.coefficients[place] if place < self.depth else 0 for place in loops),
                start.constant + sum(start.coefficients[place] * number for place, number in known),
            )
            for start in self.starts
        )


def contractions(left: RewrittenScop, plan: Plan, matches: Mapping[int, GemmMatch]) -> tuple[Contraction, ...]:
    """The arrays that a plan lets contract. ``matches`` are those of the nests with microkernels, by nest index."""
    candidates = [each for each in _candidates(left) if not _is_kept(left.scop, plan, each)]
    if not candidates:
        return ()
    fixed = {array.name for array in prepared(left.scop, plan).arrays}
    found = (_of(left, plan, name) for name in candidates if left.scop.array(name).memory not in fixed)
    return tuple(each for each in found if each is not None and _fits(left.scop, each, matches.values()))


@lru_cache(maxsize=_KEPT)
def contracted(left: RewrittenScop, changed: tuple[Contraction, ...]) -> Scop:
    """The scop with the extents that contracted arrays have in memory; subscripts stay as they are."""
    return _with_extents(left.scop, changed) if changed else left.scop


def _with_extents(scop: Scop, changed: Sequence[Contraction]) -> Scop:
    arrays = {each.array.name: each.array for each in changed}
    memories = {scop.array(name).memory for name in arrays}
    kept = (array for array in scop.arrays if array.name in arrays or array.memory not in memories)
    return replace(scop, arrays=tuple(arrays.get(array.name, array) for array in kept))


def starts_of(smaller: Iterable[Contraction], dimensions: Sequence[int | Loop]) -> Starts:
    """``Contraction.starts_inside`` of several arrays."""
    return {each.array.name: each.starts_inside(dimensions) for each in smaller}


def with_strides(scop: Scop, match: GemmMatch) -> GemmMatch:
    """The match with the strides that its operands have in ``scop``."""
    form = match.form

    def strides(access: Access) -> tuple[int, ...]:
        return tuple(scop.stride(access, loop) for loop in range(len(form.strides_c)))

    return replace(
        match,
        form=replace(form, strides_c=strides(form.c), strides_a=strides(form.a), strides_b=strides(form.b)),
    )


# --------------------------------------------------------------------------------------
# Which arrays, whatever the plan


@lru_cache(maxsize=_KEPT)
def _candidates(left: RewrittenScop) -> tuple[str, ...]:
    """The names by which statements use the arrays that may be contracted by some plan."""
    return tuple(name for name in _own_arrays(left.scop) if _is_written_first(left.scop, name))


def _own_arrays(scop: Scop) -> Iterator[str]:
    """Arrays of the region's own that several statements use, all in one shape and with affine subscripts."""
    for memory in scop.arrays:
        if memory.storage != "local" or memory.view_of or not memory.extents:
            continue
        users = _users(scop, memory.name)
        accesses = [access for user in users for access in _accesses(scop, user, memory.name)]
        names = {access.array for access in accesses}
        affine = all(access.subscripts is not None for access in accesses)
        if len(users) > 1 and len(names) == 1 and affine and not any(scop.has_call(user.name) for user in users):
            yield names.pop()


def _users(scop: Scop, memory: str) -> list[Statement]:
    return [statement for statement in scop.statements if any(_accesses(scop, statement, memory))]


def _accesses(scop: Scop, statement: Statement, memory: str) -> Iterator[Access]:
    return (access for access in statement.accesses if scop.array(access.array).memory == memory)


def _is_written_first(scop: Scop, name: str) -> bool:
    try:
        with quota(isl.DEFAULT_CONTEXT, _OPERATIONS):
            return _each_read_follows_a_write(scop, name)
    except QuotaError:
        return False


def _each_read_follows_a_write(scop: Scop, name: str) -> bool:
    """Whether an element has been written, in the order of the source, wherever it is read."""
    users = [each for each in scop.statements if any(access.array == name for access in each.accesses)]
    of_users = Schedule(tuple(times for times in original_schedule(scop).statements if times[0] in _names(users)))
    length = schedule_length(of_users)
    times = {each.name: time_map(each, of_users.of(each.name), length) for each in users}
    writes = [
        isl.Map(access.relation).reverse().apply_range(times[each.name])
        for each in users
        for access in each.writes
        if access.array == name
    ]
    if not writes:
        return False
    later = isl.Map.lex_gt(times[users[0].name].range().get_space())
    for reader in users:
        for access in reader.reads:
            if access.array == name:
                when = (isl.Map(access.relation).apply_range(write) for write in writes)
                before = [each.apply_domain(times[reader.name]).intersect(later).domain() for each in when]
                if not times[reader.name].range().is_subset(_together(before)):
                    return False
    return True


Parts = TypeVar("Parts", isl.Set, isl.Map)


def _together(parts: Iterable[Parts]) -> Parts:
    return reduce(lambda one, other: one.union(other), parts)


def _names(statements: Iterable[Statement]) -> set[str]:
    return {each.name for each in statements}


# --------------------------------------------------------------------------------------
# What a plan lets contract


def _is_kept(scop: Scop, plan: Plan, name: str) -> bool:
    """Whether a plan uses an array in ways that need all of it, or in one nest alone."""
    memory = scop.array(name).memory
    nests: dict[int, NestPlan] = {}
    for user in _users(scop, memory):
        nest = plan.nest_of(user.name)
        nests[nest.nest.index] = nest
        accesses = list(_accesses(scop, user, memory))
        output = any(each.kind == "write" for each in accesses) and len({each.index for each in accesses}) == 1
        # Calls prefetch what they read, and copy it, beyond a tile.
        if nest.inner and not output:
            return True
        loops = (each for each in plan.schedule.of(user.name) if isinstance(each, Loop))
        if any(scop.array(summed).memory == memory for loop in loops for summed in loop.combined):
            return True
    return len(nests) < 2


def _of(left: RewrittenScop, plan: Plan, name: str) -> Contraction | None:
    users = _users(left.scop, left.scop.array(name).memory)
    times = [plan.schedule.of(user.name) for user in users]
    depth = _common(times)
    if not any(_has_loops_inside(plan.nest_of(user.name), depth) for user in users):
        return None
    around = tuple((user.name, dimensions[:depth]) for user, dimensions in zip(users, times, strict=True))
    return _box(left, name, around)


def _common(times: Sequence[Times]) -> int:
    """The number of outermost time dimensions that are not different positions in a sequence."""
    depth = 0
    for dimensions in zip(*times, strict=False):
        if len({each for each in dimensions if isinstance(each, int)}) > 1:
            break
        depth += 1
    return depth


def _has_loops_inside(plan: NestPlan, depth: int) -> bool:
    """Whether a call or a loop is left inside of the outermost dimensions of time: these fill no vectors then."""
    inside = (
        count > 1 and not loop.unrolled
        for place, loop, count in zip(plan.places, plan.loops, trips(plan), strict=False)
        if place >= depth
    )
    return bool(plan.inner) or any(inside)


@lru_cache(maxsize=_KEPT)
def _box(left: RewrittenScop, name: str, around: _Around) -> Contraction | None:
    """The box of an array inside the most time dimensions that are outside of all that is done with an element."""
    depth = len(around[0][1])
    try:
        with quota(isl.DEFAULT_CONTEXT, _OPERATIONS):
            for outside in range(depth, 0, -1):
                if any(isinstance(times[outside - 1], Loop) for _, times in around):
                    found = _inside(left.scop, name, tuple((user, times[:outside]) for user, times in around))
                    if found is not None:
                        return found
    except QuotaError:
        return None
    return None


def _inside(scop: Scop, name: str, around: _Around) -> Contraction | None:
    """The box of one iteration of all time dimensions ``around``; None if it needs more, or saves nothing."""
    uses = [
        (scop.statement(user), times, access)
        for user, times in around
        for access in scop.statement(user).accesses
        if access.array == name
    ]
    if not _elements_say_when(uses):
        return None
    array = scop.array(name)
    threads = any(isinstance(each, Loop) and each.parallel for _, times, _ in uses for each in times)
    box = _smallest(array, uses, apart=False)
    if threads and box is not None and box.array.bytes <= STACK_BYTES:
        return replace(box, private=True)
    if threads:
        box = _smallest(array, uses, apart=True)
    return box if box is not None and _threads_are_apart(uses, box) else None


def _smallest(array: Array, uses: _Uses, *, apart: bool) -> Contraction | None:
    """The smallest box; None if it has as many elements as the array. ``apart`` keeps what parallel loops move."""
    ranges = [_range(uses, dimension, apart=apart) for dimension in range(len(array.extents))]
    smaller = replace(array, extents=tuple(extent for _, extent in ranges), view_of="")
    return Contraction(smaller, tuple(start for start, _ in ranges)) if smaller.elements < array.elements else None


_Uses = Sequence[tuple[Statement, Times, Access]]


def _elements_say_when(uses: _Uses) -> bool:
    """Whether all uses of an element are in one iteration of the time dimensions around."""
    places = range(len(uses[0][1]))
    if all(len(signs := {_sign(*use, place) for use in uses}) == 1 and None not in signs for place in places):
        return True
    when = (isl.Map(access.relation).reverse().apply_range(time_map(user, times)) for user, times, access in uses)
    return bool(_together(when).is_single_valued())


def _sign(statement: Statement, times: Times, access: Access, place: int) -> tuple[int, ...] | None:
    """How a dimension of time follows from an element: uses with the same answer have the same time.

    It is the time itself where that is fixed, or the subscript that says in which tile an iterator is, what lies before
    the first tile, and the tile's size and direction. None where it may follow in other ways, or not at all.
    """
    assert access.subscripts is not None
    loop = _fixed(statement, times[place])
    if isinstance(loop, int):
        return (loop,)
    for dimension, form in enumerate(access.subscripts):
        if form.single_iterator == loop.iterator:
            return dimension, form.constant + loop.origin, loop.size, loop.direction
    return None


def _fixed(statement: Statement, dimension: int | Loop) -> int | Loop:
    """A dimension of time, or its value if all instances of the statement have the same."""
    if isinstance(dimension, int) or statement.box is None:
        return dimension
    first, last = (end(*statement.box[dimension.iterator]) for end in (dimension.first, dimension.last))
    return first if first == last else dimension


def _range(uses: _Uses, dimension: int, *, apart: bool) -> tuple[Affine, int]:
    """What is taken off a dimension's subscripts, so that the fewest elements are needed, and how many these are."""
    nothing = Affine((0,) * len(uses[0][1]))
    _, high = _limits(uses, dimension, nothing)
    start, extent = nothing, high + 1
    for _, times, access in uses:
        assert access.subscripts is not None
        steps = _steps(times, access.subscripts[dimension], apart=apart)
        if any(steps):
            low, high = _limits(uses, dimension, Affine(steps))
            if high - low + 1 < extent:
                start, extent = Affine(steps, low), high - low + 1
    return start, extent


def _steps(times: Times, form: Affine, *, apart: bool) -> tuple[int, ...]:
    """By how many elements each dimension of time moves the tile of a subscript; ``apart`` is as in ``_smallest``."""
    steps = [0] * len(times)
    for iterator, coefficient in enumerate(form.coefficients):
        loops = [(p, each) for p, each in enumerate(times) if isinstance(each, Loop) and each.iterator == iterator]
        if coefficient and loops and not (apart and any(loop.parallel for _, loop in loops)):
            place, loop = min(loops, key=lambda placed: placed[1].size)
            steps[place] += coefficient * loop.size * loop.direction
    return tuple(steps)


def _limits(uses: _Uses, dimension: int, start: Affine) -> tuple[int, int]:
    """The first and the last element of a dimension that any iteration uses, counted from its ``start``."""
    limits = []
    for statement, times, access in uses:
        known = _limits_in_box(statement, times, access, dimension, start)
        if known is None:
            places = _relative(statement, times, access, {dimension: start}).range()
            known = places.dim_min_val(0).to_python(), places.dim_max_val(0).to_python()
        limits.append(known)
    return min(low for low, _ in limits), max(high for _, high in limits)


def _limits_in_box(
    statement: Statement, times: Times, access: Access, dimension: int, start: Affine
) -> tuple[int, int] | None:
    """``_limits`` of one use in a domain that is a box; None where its subscript and the start move in other steps."""
    assert access.subscripts is not None
    form = access.subscripts[dimension]
    if statement.box is None:
        return None
    low = high = form.constant - start.constant
    left = dict(enumerate(form.coefficients))
    for step, dimension_of_time in zip(start.coefficients, times, strict=True):
        loop = _fixed(statement, dimension_of_time)
        if isinstance(loop, int):
            low, high = low - step * loop, high - step * loop
        elif step:
            coefficient = left.pop(loop.iterator, 0)
            if step != coefficient * loop.size * loop.direction:
                return None
            first, last = (end - loop.origin for end in statement.box[loop.iterator])
            one = first // loop.size == last // loop.size
            ends = (first % loop.size, last % loop.size) if one else (0, loop.size - 1)
            values = [coefficient * (loop.origin + end) for end in ends]
            low, high = low + min(values), high + max(values)
    for iterator, coefficient in left.items():
        values = [coefficient * end for end in statement.box[iterator]]
        low, high = low + min(values), high + max(values)
    return low, high


def _relative(statement: Statement, times: Times, access: Access, starts: Mapping[int, Affine]) -> isl.Map:
    """From each instance to its element, counted from the starts, in the dimensions that have some."""
    counters = [f"({time_expression(statement, each)})" for each in times]

    def place(dimension: int, start: Affine) -> str:
        assert access.subscripts is not None
        steps = (f"{step}*{counter}" for step, counter in zip(start.coefficients, counters, strict=True) if step)
        subscript = access.subscripts[dimension].text(statement.iterators)
        return f"{subscript} - ({' + '.join([*steps, str(start.constant)])})"

    places = (place(dimension, start) for dimension, start in starts.items())
    text = f"{{ {statement.name}[{', '.join(statement.iterators)}] -> [{', '.join(places)}] }}"
    return isl.Map(text).intersect_domain(isl.Set(statement.domain))


def _threads_are_apart(uses: _Uses, box: Contraction) -> bool:
    """Whether iterations that run at the same time, on threads, use different elements of the box."""
    starts = dict(enumerate(box.starts))
    shared = {p for _, times, _ in uses for p, each in enumerate(times) if isinstance(each, Loop) and each.parallel}
    places = [
        time_map(statement, times).reverse().apply_range(_relative(statement, times, access, starts))
        for statement, times, access in (uses if shared else ())
    ]
    return not any(iterations_meet(one, other, place) for place in shared for one in places for other in places)


def _fits(scop: Scop, box: Contraction, matches: Iterable[GemmMatch]) -> bool:
    """Whether microkernels that add to the array find strides of the kinds that they were matched by."""
    smaller = _with_extents(scop, (box,))
    for match in matches:
        if match.form.c.array == box.array.name:
            before, after = match.form.strides_c, with_strides(smaller, match).form.strides_c
            if any(min(before[loop], 2) != min(after[loop], 2) for loop in (match.m, match.n, match.k)):
                return False
    return True
