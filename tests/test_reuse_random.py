"""Working sets of random nests: enumeration, isl, the closed form and the closed form of many must agree.

Nests are drawn from a seed, so that they differ: Hypothesis's own search would try many of them again and again. What
was drawn is counted, and must cover what is claimed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from marks import parametrized
from nest_factory import Work, make_scop, schedule_of
from reuse_enumeration import enumerate_working_sets

from polydl.ir.schedule import Loop, Schedule
from polydl.ir.statement import AccessKind
from polydl.reuse.closed_form import closed_form
from polydl.reuse.working_sets import working_sets, working_sets_of_many

CACHES = (64, 256, 1024)

# Iterations of all loops of a statement together.
_INSTANCES = 72

LoopBounds = tuple[str, int, int]
Nest = tuple[list[Work], list[Schedule]]


def subscripts(draw: Random, loops: Sequence[LoopBounds], rank: int, floors: bool) -> tuple[str, ...]:
    """Subscripts that stay at or above zero, of two iterators at most."""
    made = []
    for _ in range(rank):
        terms = [
            (draw.choice(loops), draw.choice((1, 1, 1, 2, 3, -1))) for _ in range(draw.randint(0, 2) if loops else 0)
        ]
        low = sum(min(c * first, c * last) for (_, first, last), c in terms)
        text = " + ".join([f"{c} * {name}" for (name, _, _), c in terms] + [str(draw.randint(0, 2) - low)])
        made.append(f"({text}) // 2" if floors and draw.random() < 0.5 else text)
    return tuple(made)


def order(draw: Random, loops: Sequence[LoopBounds], indices: Sequence[int]) -> list[Loop]:
    """Each iterator's loop after up to two tile loops, and all of them interleaved."""
    chains = []
    for index in indices:
        sizes = draw.choice(((), (), (2,), (3,), (4,), (4, 2), (3, 2)))
        direction = draw.choice((1, 1, -1))
        name, first, _ = loops[index]
        origin = draw.choice((0, first))
        chains.append([Loop(f"{name}_{size}", index, size, origin, direction) for size in (*sizes, 1)])
    places = [place for place, chain in enumerate(chains) for _ in chain]
    draw.shuffle(places)
    return [chains[place].pop(0) for place in places]


def with_parallel(loops: list[Loop], chosen: Sequence[int]) -> list[Loop]:
    return [replace(loop, parallel=place in chosen) for place, loop in enumerate(loops)]


def random_nest(draw: Random, general: bool) -> Nest:
    """One to three statements in a sequence, that share none, some or all of their first loops, in an order or two.

    The ``general`` ones have triangular domains and divided subscripts.
    """
    depth = draw.randint(2, 6)
    shared = draw.randint(0, depth)
    count = draw.choice((1, 1, 2, 3))
    ranks = {name: draw.randint(0, 2) for name in "AB"}
    instances = 1

    def loop(number: int) -> LoopBounds:
        nonlocal instances
        first = draw.choice((0, 0, -2, 1))
        widest = min((0, 9, 6, 5, 4, 3, 3)[depth], max(1, _INSTANCES // instances))
        extent = draw.randint(1, widest)
        instances *= extent
        return f"i{number}", first, first + extent - 1

    common = [loop(number) for number in range(shared)]
    around = instances
    works: list[Work] = []
    for number in range(count):
        own_depth = draw.randint(shared, depth) if number else depth
        instances = around
        loops = [*common, *(loop(other) for other in range(shared, own_depth))]
        floors = general and draw.random() < 0.5
        accesses: list[tuple[AccessKind, str, tuple[str, ...]]] = []
        for array in draw.choice(("A", "B", "AB", "AA", "ABA")):
            kind: AccessKind = draw.choice(("read", "write"))
            accesses.append((kind, array, subscripts(draw, loops, ranks[array], floors)))
        # An accumulation reads and writes the same element.
        if draw.random() < 0.5:
            accesses += [("write", *accesses[0][1:]), ("read", *accesses[0][1:])]
        condition = ""
        if general and len(loops) > 1 and draw.random() < 0.5:
            condition = draw.choice(("{} <= {}", "{} + {} <= 3")).format(loops[0][0], loops[1][0])
        works.append(Work(f"S{number}", tuple(loops), tuple(accesses), condition))
    return works, [random_schedule(draw, works, common) for _ in range(draw.choice((1, 1, 2)))]


def random_schedule(draw: Random, works: Sequence[Work], common: Sequence[LoopBounds]) -> Schedule:
    """None to three of each statement's loops are parallel, one or two as a rule."""
    prefix = order(draw, common, range(len(common)))
    parallel = draw.choice((0, 1, 1, 1, 2, 2, 2, 3))
    shared = draw.randint(max(0, parallel - 1), min(parallel, len(prefix))) if len(prefix) >= parallel else 0
    prefix = with_parallel(prefix, draw.sample(range(len(prefix)), shared))
    dimensions: list[tuple[str, tuple[int | Loop, ...]]] = []
    for number, work in enumerate(works):
        own = order(draw, work.loops, range(len(common), len(work.loops)))
        chosen = draw.sample(range(len(own)), min(parallel - shared, len(own)))
        dimensions.append((work.name, (*prefix, number, *with_parallel(own, chosen))))
    return schedule_of(*dimensions)


@dataclass
class Coverage:
    """Distinct nests by what they have, and distinct ones in all."""

    seen: set[str] = field(default_factory=set)
    counts: Counter[str] = field(default_factory=Counter)

    def add(self, works: Sequence[Work], schedule: Schedule) -> None:
        identity = repr(works)
        if identity not in self.seen:
            self.seen.add(identity)
            self.counts.update(set(features(works, schedule)))


def features(works: Sequence[Work], schedule: Schedule) -> Iterator[str]:
    yield f"{max(len(work.loops) for work in works)} loops"
    yield f"{len(works)} statements"
    for work in works:
        if any(
            coefficient in element for _, _, own in work.accesses for element in own for coefficient in ("2 *", "3 *")
        ):
            yield "strides"
        if any(first for _, first, _ in work.loops):
            yield "offsets"
        loops = [d for d in schedule.of(work.name) if isinstance(d, Loop)]
        if any(loop.size > 1 for loop in loops):
            yield "tiles"
        parallel = [loop for loop in loops if loop.parallel]
        yield f"{len(parallel)} parallel"
        for loop in parallel:
            _, first, last = work.loops[loop.iterator]
            if loop.size == 1:
                yield f"parallel extent {last - first + 1}"


random_numbers = st.randoms(use_true_random=True)
relaxed = settings(suppress_health_check=list(HealthCheck))


@parametrized("examples", [50, 650], quick=1)
def test_boxes(examples: int) -> None:
    """Enumeration, isl, the closed form of one and of many schedules; ten of thirteen nests are distinct."""
    covered = Coverage()

    @settings(relaxed, max_examples=examples)
    @given(random_numbers, st.sampled_from((None, None, 8, 16, 64)))
    def agree(draw: Random, line_bytes: int | None) -> None:
        works, schedules = random_nest(draw, general=False)
        scop = make_scop(works, {"A": 8, "B": 4})
        together = working_sets_of_many(scop, schedules, CACHES, line_bytes=line_bytes)
        assert not together.failures
        for schedule, found in zip(schedules, together, strict=True):
            expected = enumerate_working_sets(works, scop, schedule, CACHES, line_bytes=line_bytes)
            by_isl = replace(expected, method="isl")
            if closed_form(scop, schedule, line_bytes) is None:
                assert found == by_isl
            else:
                assert found == expected
                assert working_sets(scop, schedule, CACHES, method="closed-form", line_bytes=line_bytes) == expected
                assert working_sets(scop, schedule, CACHES, method="isl", line_bytes=line_bytes) == by_isl
                covered.add(works, schedule)

    agree()

    assert len(covered.seen) >= 1000 * examples // 1300
    for feature, least in (
        *((f"{loops} loops", 100) for loops in range(2, 7)),
        *((f"{statements} statements", 100) for statements in (1, 2, 3)),
        *((f"{parallel} parallel", 200) for parallel in (0, 1, 2)),
        *((f"parallel extent {extent}", 100) for extent in (1, 2, 3)),
        *((feature, 300) for feature in ("strides", "offsets", "tiles")),
    ):
        assert covered.counts[feature] >= least * examples // 1300, feature


@pytest.mark.slow
def test_threads_that_share_a_cache() -> None:
    """The closed form and isl on 100 nests; where no thread shares anything, it is Algorithm 2 as printed."""
    compared = different = 0
    for seed in range(100):
        works, schedules = random_nest(Random(seed), general=False)
        scop, schedule = make_scop(works, {"A": 8, "B": 4}), schedules[0]
        by_isl = working_sets(scop, schedule, CACHES, method="isl", sharing=(3, (1, 2, 3)))
        printed = working_sets(scop, schedule, CACHES, method="isl")
        assert working_sets(scop, schedule, CACHES, method="isl", sharing=(3, (1, 1, 1))) == printed
        if closed_form(scop, schedule) is not None:
            found = working_sets(scop, schedule, CACHES, method="closed-form", sharing=(3, (1, 2, 3)))
            assert replace(found, method="isl") == by_isl
            compared += 1
            different += by_isl != printed
    assert compared >= 60
    assert different >= 2


@parametrized(("examples", "distinct"), [(12, 6), (400, 250)], quick=1)
def test_triangles_and_divisions(examples: int, distinct: int) -> None:
    """Enumeration and isl on nests that are no boxes."""
    covered = Coverage()

    @settings(relaxed, max_examples=examples)
    @given(random_numbers, st.sampled_from((None, None, 8, 64)))
    def agree(draw: Random, line_bytes: int | None) -> None:
        works, schedules = random_nest(draw, general=True)
        scop = make_scop(works, {"A": 8, "B": 4})
        together = working_sets_of_many(scop, schedules, CACHES, method="isl", line_bytes=line_bytes)
        assert not together.failures
        for schedule, found in zip(schedules, together, strict=True):
            enumerated = enumerate_working_sets(works, scop, schedule, CACHES, line_bytes=line_bytes)
            assert found == replace(enumerated, method="isl")
            if closed_form(scop, schedule, line_bytes) is None:
                covered.add(works, schedule)

    agree()

    assert len(covered.seen) >= distinct


def test_an_equality_without_a_coefficient_of_one() -> None:
    """A nest with ``2 * i2 + i0 = 2`` among its dependences, which isl's own ``lexmax`` gets wrong."""
    works, schedules = random_nest(Random(620), general=True)
    scop = make_scop(works, {"A": 8, "B": 4})
    for schedule, found in zip(schedules, working_sets_of_many(scop, schedules, CACHES, method="isl"), strict=True):
        assert found == replace(enumerate_working_sets(works, scop, schedule, CACHES), method="isl")
