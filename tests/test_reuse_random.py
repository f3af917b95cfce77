"""Working sets of random nests: enumeration, isl, the closed form and the closed form of many must agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nest_factory import Work, make_scop, schedule_of
from reuse_enumeration import enumerate_working_sets

from polydl.poly.reuse import working_sets, working_sets_of_many
from polydl.poly.reuse_closed_form import closed_form
from polydl.types import AccessKind, Loop, Schedule

CACHES = (64, 256, 1024)

# Iterations of all loops of a statement together.
_INSTANCES = 100

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
        sizes = draw(st.sampled_from(((), (), (2,), (3,), (4,), (4, 2), (3, 2))))
        direction = draw(st.sampled_from((1, 1, -1)))
        name, first, _ = loops[index]
        origin = draw(st.sampled_from((0, first)))
        parallel = draw(st.integers(-5, len(sizes)))
        chains.append(
            [
                Loop(f"{name}_{size}", index, size, origin, direction, place == parallel)
                for place, size in enumerate((*sizes, 1))
            ]
        )
    made = []
    for place in draw(st.permutations([place for place, chain in enumerate(chains) for _ in chain])):
        made.append(chains[place].pop(0))
    return made


@st.composite
def nests(draw: st.DrawFn, general: bool) -> tuple[list[Work], list[Schedule]]:
    """One to three statements in a sequence, that share none, some or all of their first loops, in two orders.

    The ``general`` ones have triangular domains and divided subscripts.
    """
    depth = draw(st.integers(2, 6))
    shared = draw(st.integers(0, depth))
    count = draw(st.sampled_from((1, 1, 2, 3)))
    ranks = {name: draw(st.integers(0, 2)) for name in "AB"}
    instances = 1

    def loop(number: int) -> LoopBounds:
        nonlocal instances
        first = draw(st.sampled_from((0, 0, -2, 1)))
        widest = min((0, 9, 6, 5, 4, 3, 3)[depth], max(1, _INSTANCES // instances))
        extent = draw(st.integers(1, widest))
        instances *= extent
        return f"i{number}", first, first + extent - 1

    common = [loop(number) for number in range(shared)]
    around = instances
    works: list[Work] = []
    for number in range(count):
        own_depth = draw(st.integers(shared, depth)) if number else depth
        instances = around
        loops = [*common, *(loop(other) for other in range(shared, own_depth))]
        floors = general and draw(st.booleans())
        accesses: list[tuple[AccessKind, str, tuple[str, ...]]] = []
        for array in draw(st.sampled_from(("A", "B", "AB", "AA", "ABA"))):
            kind: AccessKind = draw(st.sampled_from(("read", "write")))
            accesses.append((kind, array, draw(subscripts(loops, ranks[array], floors))))
        # An accumulation reads and writes the same element.
        if draw(st.booleans()):
            accesses += [("write", *accesses[0][1:]), ("read", *accesses[0][1:])]
        condition = ""
        if general and len(loops) > 1 and draw(st.booleans()):
            condition = draw(st.sampled_from(("{} <= {}", "{} + {} <= 3"))).format(loops[0][0], loops[1][0])
        works.append(Work(f"S{number}", tuple(loops), tuple(accesses), condition))
    schedules = []
    for _ in range(2):
        prefix = draw(orders(common, range(shared)))
        dimensions: list[tuple[str, tuple[int | Loop, ...]]] = []
        for number, work in enumerate(works):
            own: list[Loop] = draw(orders(work.loops, range(shared, len(work.loops))))
            dimensions.append((work.name, (*prefix, number, *own)))
        schedules.append(schedule_of(*dimensions))
    return works, schedules


relaxed = settings(deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


@settings(relaxed, max_examples=650)
@given(nests(general=False), st.sampled_from((None, None, 8, 16, 64)))
def test_boxes(nest: tuple[list[Work], list[Schedule]], line_bytes: int | None) -> None:
    works, schedules = nest
    scop = make_scop(works, {"A": 8, "B": 4})
    expected = [enumerate_working_sets(works, scop, each, CACHES, line_bytes=line_bytes) for each in schedules]
    together = working_sets_of_many(scop, schedules, CACHES, line_bytes=line_bytes)
    assert not together.failures
    for schedule, enumerated, found in zip(schedules, expected, together, strict=True):
        by_isl = replace(enumerated, method="isl")
        if closed_form(scop, schedule, line_bytes) is None:
            assert found == by_isl
        else:
            assert found == enumerated
            assert working_sets(scop, schedule, CACHES, method="closed-form", line_bytes=line_bytes) == enumerated
            assert working_sets(scop, schedule, CACHES, method="isl", line_bytes=line_bytes) == by_isl


@settings(relaxed, max_examples=400)
@given(nests(general=True), st.sampled_from((None, None, 8, 64)))
def test_triangles_and_divisions(nest: tuple[list[Work], list[Schedule]], line_bytes: int | None) -> None:
    works, schedules = nest
    scop = make_scop(works, {"A": 8, "B": 4})
    together = working_sets_of_many(scop, schedules, CACHES, method="isl", line_bytes=line_bytes)
    assert not together.failures
    for schedule, found in zip(schedules, together, strict=True):
        enumerated = enumerate_working_sets(works, scop, schedule, CACHES, line_bytes=line_bytes)
        assert found == replace(enumerated, method="isl")
