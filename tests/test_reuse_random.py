"""Working sets of random nests: enumeration, isl and the closed form must agree."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import product

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nest_factory import Work, in_order, make_scop, schedule_of

from polydl.poly.reuse import fit_caches, working_sets
from polydl.poly.reuse_closed_form import closed_form
from polydl.types import DependenceWorkingSet, Loop, Schedule, Scop

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

    def footprint(inside: object) -> tuple[int, int]:
        touched = {(array, e) for time, _, accesses in trace if inside(time) for _, array, e in accesses}
        return len(touched), sum(scop.array(array).element_bytes for array, _ in touched)

    order = [array.name for array in scop.arrays]
    sets, sizes = [], []
    for key in sorted(merged, key=lambda k: (order.index(k[0]), *k[1:])):
        array, level, source, nearest, farthest, first, second = key
        carrier = dimensions[first][level]
        parallel = isinstance(carrier, Loop) and carrier.parallel
        if parallel:
            low = high = footprint(lambda t, p=source[:level]: t[: len(p)] == p)
        else:
            low = footprint(lambda t, s=source, e=nearest: s <= t <= e)
            high = footprint(lambda t, s=source, e=farthest: s <= t <= e)
        sizes += [low[1]] if parallel or nearest == farthest else [low[1], high[1]]
        sets.append(
            DependenceWorkingSet(
                tuple(k for k in ("RAW", "WAR", "WAW", "RAR") if k in merged[key]),
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


@st.composite
def subscripts(draw: st.DrawFn, work_loops: Sequence[tuple[str, int, int]], rank: int, floors: bool) -> tuple[str, ...]:
    """Subscripts that stay at or above zero, most of them of one or two iterators."""
    made = []
    for _ in range(rank):
        terms = draw(
            st.lists(st.tuples(st.sampled_from(work_loops), st.sampled_from((1, 1, 1, 2, 3, -1))), max_size=2)
        )
        low = sum(min(c * first, c * last) for (_, first, last), c in terms)
        text = " + ".join([f"{c} * {name}" for (name, _, _), c in terms] + [str(draw(st.integers(0, 2)) - low)])
        made.append(f"({text}) // 2" if floors and draw(st.booleans()) else text)
    return tuple(made)


@st.composite
def orders(draw: st.DrawFn, loops: Sequence[tuple[str, int, int]], indices: Sequence[int]) -> list[Loop]:
    """Each iterator's loop after up to two tile loops, and all of them interleaved."""
    chains = []
    for index in indices:
        sizes = sorted(draw(st.lists(st.sampled_from((2, 3, 4)), max_size=2, unique=True)), reverse=True)
        direction = draw(st.sampled_from((1, 1, -1)))
        name, first, _ = loops[index]
        origin = draw(st.sampled_from((0, first)))
        chains.append(
            [
                Loop(f"{name}_{size}", index, size, origin, direction, draw(st.integers(0, 4)) == 0)
                for size in (*sizes, 1)
            ]
        )
    made = []
    while any(chains):
        chain = draw(st.sampled_from([chain for chain in chains if chain]))
        made.append(chain.pop(0))
    return made


@st.composite
def nests(draw: st.DrawFn, general: bool) -> tuple[list[Work], Schedule]:
    """One to three statements in a sequence, that share none, some or all of their first loops."""
    depth = draw(st.integers(1, 4))
    shared = draw(st.integers(0, depth))
    widest = {1: 9, 2: 6, 3: 4, 4: 3}[depth]
    count = draw(st.integers(1, 2 if depth > 3 else 3))
    ranks = {name: draw(st.integers(0, 2)) for name in "AB"}

    def loop(name: str) -> tuple[str, int, int]:
        first = draw(st.integers(-2, 2))
        return name, first, first + draw(st.integers(1, widest)) - 1

    common = [loop(f"i{n}") for n in range(shared)]
    prefix = draw(orders(common, range(shared)))
    works: list[Work] = []
    dimensions = []
    for number in range(count):
        loops = [*common, *(loop(f"i{n}") for n in range(shared, draw(st.integers(shared, depth)) if count > 1 else depth))]
        own = draw(orders(loops, range(shared, len(loops))))
        floors = general and draw(st.booleans())
        accesses = tuple(
            (draw(st.sampled_from(("read", "write"))), array, draw(subscripts(loops, ranks[array], floors)) if loops else ("0",) * ranks[array])
            for array in draw(st.lists(st.sampled_from("AB"), min_size=1, max_size=3))
        )
        # An accumulation reads and writes the same element.
        if draw(st.booleans()):
            accesses = (*accesses, ("write", *accesses[0][1:]), ("read", *accesses[0][1:]))
        condition = ""
        if general and len(loops) > 1 and draw(st.booleans()):
            condition = draw(st.sampled_from((f"{loops[0][0]} <= {loops[1][0]}", f"{loops[0][0]} + {loops[1][0]} <= 3")))
        works.append(Work(f"S{number}", tuple(loops), accesses, condition))
        dimensions.append((f"S{number}", (*prefix, number, *own)))
    return works, schedule_of(*dimensions)


def check(works: list[Work], schedule: Schedule) -> bool:
    scop = make_scop(works, {"A": 8, "B": 4})
    expected = enumerate_working_sets(works, scop, schedule)
    by_isl = working_sets(scop, schedule, CACHES, method="isl")
    assert (by_isl.dependences, by_isl.levels, by_isl.memory) == expected
    assert by_isl.method == "isl"
    if closed_form(scop, schedule) is None:
        return False
    closed = working_sets(scop, schedule, CACHES, method="closed-form")
    assert (closed.dependences, closed.levels, closed.memory) == expected
    assert closed.method == "closed-form"
    return True


relaxed = settings(
    max_examples=250, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


@relaxed
@given(nests(general=False))
def test_boxes(nest: tuple[list[Work], Schedule]) -> None:
    check(*nest)


@settings(relaxed, max_examples=100)
@given(nests(general=True))
def test_triangles_and_divisions(nest: tuple[list[Work], Schedule]) -> None:
    check(*nest)
