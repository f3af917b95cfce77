"""Dependences, loop distribution and legality against brute force over all pairs of instances."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations, product
from pathlib import Path

import islpy as isl
import pytest
from computed import parse
from hypothesis import given, settings
from hypothesis import strategies as st
from nest_factory import Work, convolution, make_scop, matmul

from polydl.errors import AnalysisError, IllegalVariantError
from polydl.ir.schedule import Loop, Schedule
from polydl.ir.scop import Scop
from polydl.ir.statement import Expression
from polydl.ir.variant import Interchange, Parallel, Tile, Unroll, UseMicrokernel, Variant
from polydl.plan.plan import make_plan
from polydl.poly import counting
from polydl.poly.dependences import ORDERING_KINDS, dependences, in_any_order
from polydl.poly.legality import Decided, directions, order_is_legal, parallel_is_legal, violations
from polydl.poly.nests import distribute
from polydl.poly.reductions import reduction, reduction_array
from polydl.poly.schedules import original_schedule, runs_before
from polydl.variant_json import variant_from_json

KINDS = {("write", "read"): "RAW", ("read", "write"): "WAR", ("write", "write"): "WAW", ("read", "read"): "RAR"}
SUBSCRIPTS = ("i", "j", "k", "i + 1", "j + 1", "i + j", "2 * i", "2 - i", "0", "j - i + 3")

Time = tuple[int, ...]


def time_of(dimensions: tuple[int | Loop, ...], point: tuple[int, ...]) -> Time:
    return tuple(
        d if isinstance(d, int) else d.direction * ((point[d.iterator] - d.origin) // d.size) for d in dimensions
    )


def conflicts(works: list[Work], schedule: Schedule) -> Iterator[tuple[str, tuple[str, Time], tuple[str, Time]]]:
    """(kind, source, target) for every ordered pair of accesses to one element."""
    order = dict(schedule.statements)
    accesses = [
        (time_of(order[work.name], point), work.name, point, kind, (array, element))
        for work in works
        for point in work.instances()
        for kind, array, element in work.elements(point)
    ]
    for (t1, s1, p1, k1, e1), (t2, s2, p2, k2, e2) in product(accesses, repeat=2):
        if e1 == e2 and t1 < t2:
            yield KINDS[k1, k2], (s1, p1), (s2, p2)


@st.composite
def random_works(draw: st.DrawFn) -> list[Work]:
    names = ("i", "j", "k")[: draw(st.integers(1, 3))]
    loops = tuple((name, 0, draw(st.integers(0, 2))) for name in names)
    usable = [s for s in SUBSCRIPTS if all(word in names for word in ("i", "j", "k") if word in s)]
    arrays = {"X": draw(st.integers(1, 2)), "Y": 1}

    def work(name: str, betas: tuple[int, ...], depth: int) -> Work:
        allowed = [s for s in usable if all(n not in s for n in names[depth:])]
        reads = draw(st.lists(st.sampled_from(sorted(arrays)), max_size=2))
        written = draw(st.sampled_from(sorted(arrays)))
        accesses = tuple(
            (kind, array, tuple(draw(st.sampled_from(allowed)) for _ in range(arrays[array])))
            for kind, array in [("write", written), *(("read", array) for array in reads)]
        )
        return Work(name, loops[:depth], accesses, betas=betas)  # type: ignore[arg-type]

    depth = len(names)
    shared = draw(st.integers(0, depth))
    works = [work("S0", (0,) * (depth + 1), depth)]
    if draw(st.booleans()):
        works.append(work("S1", (*(0,) * shared, 1, *(0,) * (depth - shared)), depth))
    return works


def enumerated(relation: str) -> set[tuple[tuple[str, Time], tuple[str, Time]]]:
    found: set[tuple[tuple[str, Time], tuple[str, Time]]] = set()

    def add(point: isl.Point) -> None:
        pair = isl.Set.from_point(point).unwrap()
        ends = []
        for side in (pair.domain(), pair.range()):
            values = [side.dim_max_val(d).to_python() for d in range(side.dim(isl.dim_type.set))]
            ends.append((side.get_tuple_name(), tuple(values)))
        found.add((ends[0], ends[1]))

    isl.Map(relation).wrap().foreach_point(add)
    return found


@settings(max_examples=60)
@given(random_works())
def test_dependences_are_all_pairs_of_instances(works: list[Work]) -> None:
    scop = make_scop(works)
    expected = set(conflicts(works, original_schedule(scop)))
    found = {
        (dependence.kind, source, target)
        for dependence in dependences(scop, (*ORDERING_KINDS, "RAR"))
        for source, target in enumerated(dependence.relation)
    }
    assert found == expected


def brute_force_legal(works: list[Work], before: Schedule, after: Schedule) -> bool:
    order = dict(after.statements)
    for kind, (s1, p1), (s2, p2) in conflicts(works, before):
        if kind == "RAR":
            continue
        source, target = time_of(order[s1], p1), time_of(order[s2], p2)
        if source >= target:
            return False
        for position, dimension in enumerate(order[s1]):
            parallel = isinstance(dimension, Loop) and dimension.parallel
            same_loops = order[s1][: position + 1] == order[s2][: position + 1]
            if (
                parallel
                and same_loops
                and source[:position] == target[:position]
                and source[position] != target[position]
            ):
                return False
    return True


@st.composite
def works_and_schedule(draw: st.DrawFn) -> tuple[list[Work], Schedule]:
    works = draw(random_works())
    scop = make_scop(works)
    parallel = draw(st.sampled_from(["", *works[0].iterators]))
    order = draw(st.permutations(range(len(works[0].iterators))))
    tiled = draw(st.sampled_from([-1, *range(len(works[0].iterators))]))
    # In one nest, or each statement in its own.
    nests = draw(st.one_of(st.just([0] * len(works)), st.permutations(range(len(works)))))
    statements: list[tuple[str, tuple[int | Loop, ...]]] = []
    for number, work in enumerate(works):
        loops = []
        for iterator in order:
            name = work.iterators[iterator]
            if iterator == tiled:
                loops.append(Loop(f"{name}_t1", iterator, size=2))
            loops.append(Loop(name, iterator, parallel=name == parallel))
        statements.append((work.name, (nests[number], *sorted(loops, key=lambda loop: loop.size == 1), number)))
    assert scop.statements
    return works, Schedule(tuple(statements))


@pytest.mark.slow
@settings(max_examples=150)
@given(works_and_schedule())
def test_violations_agree_with_brute_force(case: tuple[list[Work], Schedule]) -> None:
    works, schedule = case
    scop = make_scop(works)
    expected = brute_force_legal(works, original_schedule(scop), schedule)
    known = dependences(scop)
    broken = violations(scop, schedule, known)
    assert (not broken) == expected
    decided: Decided = {}
    for each in (original_schedule(scop), schedule, schedule):
        violations(scop, each, known, decided=decided)
    assert violations(scop, schedule, known, decided=decided) == broken
    assert violations(scop, original_schedule(scop), known, decided=decided) == ()


def test_sign_vectors_decide_orders_and_parallel_loops_exactly() -> None:
    answers: Counter[bool] = Counter()

    @settings(max_examples=60)
    @given(random_works())
    def agree(works: list[Work]) -> None:
        answers.update(decisions_of_sign_vectors(works))

    agree()
    assert min(answers[True], answers[False]) >= 50


def decisions_of_sign_vectors(works: list[Work]) -> Iterator[bool]:
    """Whether each order of each nest's loops, with each loop parallel or none, is legal; as brute force says."""
    scop = make_scop(works)
    found = dependences(scop)
    for nest in distribute(scop, found):
        members = [work for work in works if work.name in nest.statements]
        part = make_scop(members)
        ways = directions(scop, nest, found)
        if nest.depth:
            continue
        for order in permutations(range(len(nest.loops))):
            schedules = []
            for parallel in (None, *range(len(order))):
                statements: tuple[tuple[str, tuple[int | Loop, ...]], ...] = tuple(
                    (
                        work.name,
                        (0, *(Loop(nest.loops[i], i, parallel=p == parallel) for p, i in enumerate(order)), number),
                    )
                    for number, work in enumerate(members)
                )
                schedules.append((parallel, Schedule(statements)))
            for parallel, schedule in schedules:
                expected = brute_force_legal(members, original_schedule(part), schedule)
                legal = order_is_legal(ways, order) and (parallel is None or parallel_is_legal(ways, order, parallel))
                assert legal == expected, (order, parallel)
                yield legal


@settings(max_examples=80)
@given(random_works())
def test_distribution_keeps_every_dependence(works: list[Work]) -> None:
    scop = make_scop(works)
    found = dependences(scop)
    nests = distribute(scop, found)
    assert sorted(name for nest in nests for name in nest.statements) == sorted(work.name for work in works)
    plan = make_plan(scop, nests, Variant(()))
    assert brute_force_legal(works, original_schedule(scop), plan.schedule)
    assert not violations(scop, plan.schedule, found)


def test_an_initialisation_is_split_from_its_accumulation() -> None:
    works = [
        Work("S0", (("i", 0, 5), ("j", 0, 6)), (("write", "C", ("i", "j")),), betas=(0, 0, 0)),
        replace(matmul(6, 7, 4), name="S1", betas=(0, 0, 1, 0)),
    ]
    scop = make_scop(works)
    nests = distribute(scop, dependences(scop))
    assert [nest.statements for nest in nests] == [("S0",), ("S1",)]
    assert [nest.loops for nest in nests] == [("i", "j"), ("i", "j", "k")]


def test_a_time_loop_stays_around_its_sweeps() -> None:
    space = (("t", 0, 3), ("i", 1, 6))
    works = [
        Work(
            "S0", space, (("read", "A", ("i - 1",)), ("read", "A", ("i + 1",)), ("write", "B", ("i",))), betas=(0, 0, 0)
        ),
        Work("S1", space, (("read", "B", ("i",)), ("write", "A", ("i",))), betas=(0, 1, 0)),
    ]
    scop = make_scop(works)
    found = dependences(scop)
    nests = distribute(scop, found)
    assert [(nest.depth, nest.loops) for nest in nests] == [(1, ("i",)), (1, ("i",))]
    ways = directions(scop, nests[0], found)
    assert parallel_is_legal(ways, (0,), 0)


def accumulation(text: str = "+=") -> Scop:
    body = Expression(
        "op",
        text,
        (
            Expression("access", "S_0"),
            Expression("op", "*", (Expression("access", "S_2"), Expression("access", "S_3"))),
        ),
    )
    scop = make_scop([matmul(4, 5, 6)])
    statement = scop.statements[0]
    same = tuple(replace(a, reference="S_0") if a.array == "C" else a for a in statement.accesses)
    return replace(scop, statements=(replace(statement, body=body, accesses=same),))


def test_a_sum_may_be_reordered_but_not_run_at_once() -> None:
    scop = accumulation()
    found = dependences(scop)
    (nest,) = distribute(scop, found)
    ways = directions(scop, nest, found)
    assert not ways.ordering
    assert order_is_legal(ways, (2, 0, 1))
    assert not parallel_is_legal(ways, (2, 0, 1), 0)
    assert parallel_is_legal(ways, (0, 1, 2), 0)


def test_strict_floating_point_keeps_the_order_of_a_sum() -> None:
    scop = accumulation()
    found = dependences(scop)
    (nest,) = distribute(scop, found)
    ways = directions(scop, nest, found, reassociate=False)
    assert ways.ordering
    assert order_is_legal(ways, (2, 0, 1))
    tiled_sum = Schedule((("S", (0, Loop("k_t1", 2, size=2, direction=-1), Loop("i", 0), Loop("j", 1), Loop("k", 2))),))
    assert violations(scop, tiled_sum, found, reassociate=False)
    assert not violations(scop, tiled_sum, found, reassociate=True)


@pytest.mark.parametrize(("text", "array"), [("+=", "C"), ("-=", "C"), ("*=", "C"), ("/=", None), ("=", None)])
def test_reductions_are_recognised_by_their_operator(text: str, array: str | None) -> None:
    assert reduction_array(accumulation(text), accumulation(text).statements[0]) == array


@pytest.mark.parametrize(
    ("element", "condition", "then", "otherwise", "operation"),
    [
        ("float", "t > x", "t", "x", "max"),
        ("float", "x <= t", "t", "x", "max"),
        ("float", "t < x", "t", "x", "min"),
        # Where the term is no number, that takes it: what comes of it depends on the order.
        ("float", "x > t", "x", "t", None),
        ("int", "x > t", "x", "t", "max"),
        ("int", "t >= x", "x", "t", "min"),
        ("float", "t > x", "u", "x", None),
        ("float", "t > u", "t", "x", None),
    ],
)
def test_extrema_are_recognised(element: str, condition: str, then: str, otherwise: str, operation: str | None) -> None:
    left, comparison, right = condition.split()
    space = (("i", 0, 3), ("j", 0, 7))
    names = (left, right, then, otherwise)
    arrays = {"x": ("X", ("i",)), "t": ("T", ("i", "j")), "u": ("U", ("i", "j"))}
    reads = tuple(("read", *arrays[name]) for name in names)
    scop = make_scop([Work("S", space, (*reads, ("write", "X", ("i",))))])  # type: ignore[arg-type]
    one, other, positive, negative, target = (
        Expression("access", access.reference) for access in scop.statements[0].accesses
    )
    value = Expression("op", "?:", (Expression("op", comparison, (one, other)), positive, negative))
    statement = replace(scop.statements[0], body=Expression("op", "=", (target, value)))
    typed = tuple(replace(each, element=element) for each in scop.arrays)
    scop = replace(scop, statements=(statement,), arrays=typed)
    found = reduction(scop, statement)
    assert (found.operation if found else None) == operation
    assert (found.target.array if found else None) == ("X" if operation else None)


ACCUMULATIONS = """
#include <math.h>
void f(int n, {element} x[40], {element} a[40], short s[40], int w[40]) {{
#pragma scop
  for (int i = 1; i < 20; i++) {{
    {first}
    {second}
  }}
#pragma endscop
}}
"""


@pytest.mark.parametrize(
    ("element", "first", "second", "free", "ordered"),
    [
        ("float", "x[0] += a[i];", "x[0] -= a[i + 1];", {"S0 S0", "S0 S1", "S1 S0", "S1 S1"}, False),
        ("float", "x[0] += a[i];", "x[0] *= a[i + 1];", {"S0 S0", "S1 S1"}, True),
        ("float", "x[0] += a[i];", "x[0] = a[i + 1];", {"S0 S0"}, True),
        # Each of these rounds, and takes what is no number, in its own way.
        ("double", "x[0] = fmax(x[0], a[i]);", "x[0] = a[i] > x[0] ? a[i] : x[0];", {"S0 S0", "S1 S1"}, True),
        ("double", "x[0] = fmax(x[0], a[i]);", "x[0] = fmaxf(x[0], a[i]);", {"S0 S0", "S1 S1"}, True),
        ("_Bool", "x[0] += a[i];", "x[0] -= a[i + 1];", set(), True),
        # What a term reads of the array is ordered, and the sum is not.
        ("float", "x[0] += x[i];", "x[i] += a[i];", {"S0 S0"}, True),
        ("float", "x[0] += x[19 - i];", "a[i] = 0.0f;", {"S0 S0"}, True),
        ("float", "x[0] += x[0] * a[i];", "a[i] = 0.0f;", set(), True),
        # An int is converted to a short, and the sum of a short and a long is no int.
        ("int", "x[0] = s[i] + w[i] > x[0] ? s[i] + w[i] : x[0];", "a[i] = 0;", {"S0 S0"}, False),
        ("short", "x[0] = s[i] + w[i] > x[0] ? s[i] + w[i] : x[0];", "a[i] = 0;", set(), True),
        ("long", "x[0] = s[i] + a[i] > x[0] ? s[i] + a[i] : x[0];", "a[i] = 0;", set(), True),
    ],
)
def test_accumulations_into_one_element_run_in_any_order(
    element: str, first: str, second: str, free: set[str], ordered: bool, tmp_path: Path
) -> None:
    scop = parse(tmp_path, ACCUMULATIONS.format(element=element, first=first, second=second))
    found = dependences(scop)
    assert {f"{d.source} {d.target}" for d in found if in_any_order(scop, d)} == free
    assert any(d.array == "x" and not in_any_order(scop, d) for d in found) == ordered


def conv_nests() -> tuple[Scop, tuple]:  # type: ignore[type-arg]
    scop = make_scop([convolution(2, 2, 6, 3)])
    return scop, distribute(scop, dependences(scop))


@pytest.mark.parametrize(
    ("steps", "word"),
    [
        ((Tile(0, "nope", (4,)),), "no loop `nope`"),
        ((Tile(0, "oi", (4, 8)),), "largest first"),
        ((Tile(0, "oi", (6, 4)),), "multiple"),
        ((Tile(1, "oi", (2,)),), "no nest 1"),
        ((Interchange(0, ("oi", "oj")),), "each of its loops once"),
        ((Parallel(0, "x"),), "no loop `x`"),
        ((Parallel(0, "oj", inner="x"),), "can't run `x`"),
        ((Parallel(0, "oj", ("out",), "kj"),), "can't run `kj`"),
        ((Parallel(0, "ofm_tile", inner="oj"),), "`oj` is not the next loop inside of `ofm_tile`"),
        ((UseMicrokernel(0, "c", "ofm", "ofm", "ifm"),), "different loops"),
        ((UseMicrokernel(0, "c", "ofm", "oi", "ifm"), UseMicrokernel(0, "c", "ofm", "oi", "ifm")), "more than one"),
        ((Tile(0, "ki", (2,)), Unroll(0, "ki_t1"), Unroll(0, "ki")), "no loop `ki_t1` over single iterations"),
        ((Tile(0, "ki", (2,)), UseMicrokernel(0, "c", "ofm", "oi", "ifm", ("kj", "ki"))), "first batch loop"),
    ],
)
def test_a_plan_refuses_steps_that_make_no_sense(steps: tuple, word: str) -> None:  # type: ignore[type-arg]
    scop, nests = conv_nests()
    with pytest.raises(IllegalVariantError, match=word):
        make_plan(scop, nests, Variant(steps))


def test_a_plan_names_tile_loops_and_takes_microkernel_loops_inside() -> None:
    scop, nests = conv_nests()
    variant = Variant((Tile(0, "oi", (3,)), UseMicrokernel(0, "c", "ofm", "oi", "ifm", ("ki",)), Parallel(0, "oj")))
    plan = make_plan(scop, nests, variant).nests[0]
    assert [loop.name for loop in plan.loops] == ["img", "ofm_tile", "ifm_tile", "oj", "kj", "oi_t1"]
    assert [(loop.name, loop.role) for loop in plan.inner] == [("ki", "batch"), ("oi", "n"), ("ifm", "k"), ("ofm", "m")]
    assert [loop.name for loop in plan.loops if loop.parallel] == ["oj"]
    assert "inner" not in variant.to_json()[-1]
    assert variant_from_json(variant.to_json()) == variant


def test_questions_that_take_isl_too_long_end_with_the_place_of_the_nest(monkeypatch: pytest.MonkeyPatch) -> None:
    scop = make_scop([convolution(2, 2, 5, 3)])
    found = dependences(scop)
    [nest] = distribute(scop, found)
    questions = (
        lambda: dependences(scop),
        lambda: directions(scop, nest, found),
        lambda: violations(scop, original_schedule(scop), found),
    )
    expected = [question() for question in questions]
    with monkeypatch.context() as patch:
        patch.setattr(counting, "_NEST_OPERATIONS", 100)
        for question in questions:
            with pytest.raises(AnalysisError, match="isl gave up after 100 operations") as caught:
                question()
            assert (caught.value.file, caught.value.line) == (scop.file, scop.line)
            assert caught.value.remedy
    assert [question() for question in questions] == expected


def test_positions_outside_of_all_loops_decide_which_statement_runs_before() -> None:
    loop, other = Loop("i", 0), Loop("j", 1)
    assert runs_before((0, loop, 1), (1, loop, 0))
    assert runs_before((2, 0, loop), (2, 1, other))
    assert not runs_before((1, loop, 0), (0, loop, 1))
    assert not runs_before((0, loop, 0), (0, loop, 1)), "a loop is outside of the positions"
    assert not runs_before((0,), (0,))
    assert not runs_before((), ())
