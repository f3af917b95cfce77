"""Working sets of random nests: enumeration, isl and the closed form must agree."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import product
from typing import Literal

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from nest_factory import Work, make_scop, schedule_of

from polydl.poly.reuse import fit_caches, working_sets
from polydl.poly.reuse_closed_form import closed_form
from polydl.types import AccessKind, DependenceWorkingSet, Loop, Schedule, Scop

CACHES = (64, 256, 1024)
KINDS = {("write", "read"): "RAW", ("read", "write"): "WAR", ("write", "write"): "WAW", ("read", "read"): "RAR"}

Times = tuple[int, ...]


def time_at(dimensions: tuple[int | Loop, ...], point: tuple[int, ...]) -> Times:
    return tuple(
        d if isinstance(d, int) else d.direction * ((point[d.iterator] - d.origin) // d.size) for d in dimensions
    )


def enumerate_working_sets(
    works: Sequence[Work], scop: Scop, schedule: Schedule
) -> tuple[tuple[DependenceWorkingSet, ...], tuple[int, ...], int]:
    """Algorithms 1 and 2, read off the list of all instances in the order in which they run."""
    dimensions = {work.name: schedule.of(work.name) for work in works}
    trace = sorted(
        (time_at(dimensions[work.name], point), work.name, list(work.elements(point)))
        for work in works
        for point in work.instances()
    )
    users = defaultdict(list)
    for time, name, accesses in trace:
        for number, (kind, array, element) in enumerate(accesses):
            users[array, element].append((time, name, number, kind))
    relations: dict[tuple[str, str, str, int, int, int], list[tuple[Times, Times]]] = defaultdict(list)
    kinds = {}
    for (array, _), uses in users.items():
        for (source, first, a, one), (target, second, b, other) in product(uses, repeat=2):
            if source < target:
                level = next(n for n, (s, t) in enumerate(zip(source, target, strict=False)) if s != t)
                key = (array, first, second, level, a, b)
                relations[key].append((source, target))
                kinds[key] = KINDS[one, other]
    merged: dict[tuple[str, int, Times, Times, Times, str, str], set[str]] = defaultdict(set)
    for key, found in relations.items():
        array, first, second, level, _, _ = key
        source = min(s for s, _ in found)
        targets = [t for s, t in found if s == source]
        merged[array, level, source, min(targets), max(targets), first, second].add(kinds[key])

    def footprint(first: Times, last: Times) -> tuple[int, int]:
        # Compared as far as they go, so that a prefix stands for all that begin with it.
        touched = {
            (array, element)
            for time, _, accesses in trace
            if first <= time[: len(first)] and time[: len(last)] <= last
            for _, array, element in accesses
        }
        return len(touched), sum(scop.array(array).element_bytes for array, _ in touched)

    order = [array.name for array in scop.arrays]
    sets, sizes = [], []
    for reuse in sorted(merged, key=lambda k: (order.index(k[0]), *k[1:])):
        array, level, source, nearest, farthest, first, second = reuse
        carrier = dimensions[first][level]
        parallel = isinstance(carrier, Loop) and carrier.parallel
        if parallel:
            low = high = footprint(source[:level], source[:level])
        else:
            low = footprint(source, nearest)
            high = footprint(source, farthest)
        sizes += [low[1]] if parallel or nearest == farthest else [low[1], high[1]]
        sets.append(
            DependenceWorkingSet(
                tuple(k for k in ("RAW", "WAR", "WAW", "RAR") if k in merged[reuse]),
                array,
                first,
                second,
                carrier.name if isinstance(carrier, Loop) else "",
                parallel,
                low[0],
                high[0],
                low[1],
                high[1],
            )
        )
    return (tuple(sets), *fit_caches(sizes, CACHES))


LoopBounds = tuple[str, int, int]


@st.composite
def subscripts(draw: st.DrawFn, loops: Sequence[LoopBounds], rank: int, floors: bool) -> tuple[str, ...]:
    """Subscripts that stay at or above zero, of two iterators at most."""
    made = []
    term = st.tuples(st.sampled_from(loops), st.sampled_from((1, 1, 1, 2, 3, -1))) if loops else st.nothing()
    for _ in range(rank):
        terms = draw(st.lists(term, max_size=2 if loops else 0))
        low = sum(min(c * first, c * last) for (_, first, last), c in terms)
        text = " + ".join([f"{c} * {name}" for (name, _, _), c in terms] + [str(draw(st.integers(0, 2)) - low)])
        made.append(f"({text}) // 2" if floors and draw(st.booleans()) else text)
    return tuple(made)


@st.composite
def orders(draw: st.DrawFn, loops: Sequence[LoopBounds], indices: Sequence[int]) -> list[Loop]:
    """Each iterator's loop after up to two tile loops, and all of them interleaved."""
    chains = []
    for index in indices:
        sizes = sorted(draw(st.lists(st.sampled_from((2, 3, 4)), max_size=2, unique=True)), reverse=True)
        direction = draw(st.sampled_from((1, 1, -1)))
        name, first, _ = loops[index]
        origin = draw(st.sampled_from((0, first)))
        parallel = [draw(st.integers(0, 4)) == 0 for _ in (*sizes, 1)]
        chains.append(
            [
                Loop(f"{name}_{size}", index, size, origin, direction, is_parallel)
                for size, is_parallel in zip((*sizes, 1), parallel, strict=True)
            ]
        )
    made = []
    while any(chains):
        chain = draw(st.sampled_from([chain for chain in chains if chain]))
        made.append(chain.pop(0))
    return made


@st.composite
def nests(draw: st.DrawFn, general: bool) -> tuple[list[Work], Schedule]:
    """One to three statements in a sequence, that share none, some or all of their first loops.

    The ``general`` ones have triangular domains and divided subscripts.
    """
    depth = draw(st.integers(1, 4))
    shared = draw(st.integers(0, depth))
    widest = {1: 9, 2: 6, 3: 4, 4: 3}[depth]
    count = draw(st.integers(1, 2 if depth > 3 else 3))
    ranks = {name: draw(st.integers(0, 2)) for name in "AB"}

    def loop(number: int) -> LoopBounds:
        first = draw(st.integers(-2, 2))
        return f"i{number}", first, first + draw(st.integers(1, widest)) - 1

    common = [loop(number) for number in range(shared)]
    prefix = draw(orders(common, range(shared)))
    works: list[Work] = []
    dimensions: list[tuple[str, tuple[int | Loop, ...]]] = []
    for number in range(count):
        own_depth = draw(st.integers(shared, depth)) if count > 1 else depth
        loops = [*common, *(loop(other) for other in range(shared, own_depth))]
        floors = general and draw(st.booleans())
        accesses: list[tuple[AccessKind, str, tuple[str, ...]]] = []
        for array in draw(st.lists(st.sampled_from("AB"), min_size=1, max_size=3)):
            kind: AccessKind = draw(st.sampled_from(("read", "write")))
            accesses.append((kind, array, draw(subscripts(loops, ranks[array], floors))))
        # An accumulation reads and writes the same element.
        if draw(st.booleans()):
            accesses += [("write", *accesses[0][1:]), ("read", *accesses[0][1:])]
        condition = ""
        if general and len(loops) > 1 and draw(st.booleans()):
            condition = draw(st.sampled_from(("{} <= {}", "{} + {} <= 3"))).format(loops[0][0], loops[1][0])
        works.append(Work(f"S{number}", tuple(loops), tuple(accesses), condition))
        own: list[Loop] = draw(orders(loops, range(shared, len(loops))))
        dimensions.append((f"S{number}", (*prefix, number, *own)))
    return works, schedule_of(*dimensions)


relaxed = settings(deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


def compare(works: list[Work], schedule: Schedule, method: Literal["closed-form", "isl"]) -> None:
    scop = make_scop(works, {"A": 8, "B": 4})
    found = working_sets(scop, schedule, CACHES, method=method)
    assert (found.dependences, found.levels, found.memory) == enumerate_working_sets(works, scop, schedule)
    assert found.method == method


@settings(relaxed, max_examples=350)
@given(nests(general=False))
def test_boxes_in_closed_form(nest: tuple[list[Work], Schedule]) -> None:
    works, schedule = nest
    assume(closed_form(make_scop(works), schedule) is not None)
    compare(works, schedule, "closed-form")


@settings(relaxed, max_examples=90)
@given(nests(general=False))
def test_boxes_by_isl(nest: tuple[list[Work], Schedule]) -> None:
    compare(*nest, "isl")


@settings(relaxed, max_examples=90)
@given(nests(general=True))
def test_triangles_and_divisions_by_isl(nest: tuple[list[Work], Schedule]) -> None:
    compare(*nest, "isl")
