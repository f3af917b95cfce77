"""Working sets of nests whose numbers are known."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest
from nest_factory import Work, convolution, in_order, make_scop, matmul, schedule_of

from polydl import parse
from polydl.errors import AnalysisError
from polydl.ir.schedule import Loop
from polydl.ir.working_sets import WorkingSets
from polydl.poly.schedules import original_schedule
from polydl.reuse import groups as reuse_groups
from polydl.reuse.caches import fit_caches
from polydl.reuse.closed_form import closed_form
from polydl.reuse.working_sets import working_sets

CACHES = (32 << 10, 1 << 20, 32 << 20)
METHODS: tuple[Literal["closed-form", "isl"], ...] = ("closed-form", "isl")
ORIGINAL = Path(__file__).parent / "data" / "original_working_sets.csv"
EXAMPLES = Path(__file__).parents[1] / "examples"


def analyse(
    work: Work, order: str, *, parallel: str = "", method: Literal["closed-form", "isl"] | None = None
) -> WorkingSets:
    schedule = schedule_of((work.name, in_order(work, order, parallel)))
    return working_sets(make_scop([work]), schedule, CACHES, method=method)


def sizes(analysed: WorkingSets) -> dict[tuple[str, str], tuple[int, int]]:
    return {(d.array, d.loop): (d.minimum_elements, d.maximum_elements) for d in analysed.dependences}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("m", "n", "k"), [(300, 100, 200), (7, 5, 3), (2, 9, 4), (1000, 2000, 3000), (3, 2, 5)])
def test_the_papers_example(m: int, n: int, k: int, method: Literal["closed-form", "isl"]) -> None:
    assert sizes(analyse(matmul(m, n, k), "i j k", method=method)) == {
        ("A", "j"): (2 * k + 3, n * k + n + 1),
        ("B", "i"): (n * k + n + k + 2, n * k + (m - 1) * (n + k) + 2),
        ("C", "k"): (5, 2 * k + 1),
    }


def test_one_target_is_added_once() -> None:
    found = analyse(matmul(2, 2, 2), "i j k")
    assert sizes(found) == {("A", "j"): (7, 7), ("B", "i"): (10, 10), ("C", "k"): (5, 5)}
    assert (found.levels, found.memory) == ((4 * (7 + 10 + 5), 0, 0), 0)
    # With three iterations the first and the last target differ, and both are added.
    found = analyse(matmul(1, 1, 3), "i j k")
    assert sizes(found) == {("C", "k"): (5, 7)}
    assert found.levels == (4 * (5 + 7), 0, 0)


def test_kinds_of_one_reuse_are_merged() -> None:
    kinds = {d.array: d.kinds for d in analyse(matmul(4, 5, 6), "i j k").dependences}
    assert kinds == {"A": ("RAR",), "B": ("RAR",), "C": ("RAW", "WAR", "WAW", "RAR")}


@pytest.mark.slow
def test_what_the_original_analyser_printed() -> None:
    """Its minima are Algorithm 1's. Its maxima leave out the instances that are no source of the dependence.

    It took the interval in the dependence's domain, where the iterations of the carrying loop end one before the last:
    what the farthest target adds is missing.
    """
    rows = list(csv.DictReader(ORIGINAL.read_text().splitlines()))
    assert len(rows) >= 6
    for program, order in sorted({(row["program"], row["order"]) for row in rows}):
        work = matmul(300, 100, 200) if program == "matmul" else convolution(16, 4, 56, 1)
        own = [row for row in rows if row["program"] == program]
        printed = {int(row["min_elements"]): int(row["max_elements"]) for row in own}
        for method in METHODS:
            found = analyse(work, order, method=method).dependences
            assert {d.minimum_elements for d in found} == set(printed)
            for dependence in found:
                level = order.split().index(dependence.loop)
                loops = tuple((name, low, high - (name == dependence.loop)) for name, low, high in work.loops)
                sources = closed_form(
                    make_scop([replace(work, loops=loops)]), schedule_of(("S", in_order(work, order)))
                )
                assert sources is not None
                # The earliest source comes first in all loops, so that the interval covers all sources from there on.
                assert printed[dependence.minimum_elements] == sources.footprint((0,) * level, (0,) * level)[0]
                assert printed[dependence.minimum_elements] < dependence.maximum_elements
    maxima = {d.maximum_elements for d in analyse(matmul(300, 100, 200), "i j k").dependences}
    assert maxima == {401, 20101, 109702}


@pytest.mark.parametrize("method", METHODS)
def test_parallel_loops(method: Literal["closed-form", "isl"]) -> None:
    m, n, k = 6, 5, 4
    work = matmul(m, n, k)
    everything = m * k + k * n + m * n
    found = {d.array: d for d in analyse(work, "i j k", parallel="i", method=method).dependences}
    assert (found["B"].parallel, found["B"].minimum_elements, found["B"].maximum_elements) == (
        True,
        everything,
        everything,
    )
    # What stays inside one parallel iteration is as in the sequential nest.
    assert not found["A"].parallel
    assert found["A"].minimum_elements == 2 * k + 3
    # The loops outside the parallel one are fixed: one row of A and C, all of B.
    found = {d.array: d for d in analyse(work, "i j k", parallel="j", method=method).dependences}
    assert (found["A"].parallel, found["A"].minimum_elements) == (True, k + n + n * k)
    # Carried by a loop around the parallel one, a reuse is sequential.
    assert (found["B"].parallel, found["B"].minimum_elements) == (False, n * k + n + k + 2)


@pytest.mark.parametrize("method", METHODS)
def test_short_parallel_loops(method: Literal["closed-form", "isl"]) -> None:
    found = analyse(matmul(1, 3, 4), "i j k", parallel="i", method=method)
    assert not any(d.parallel for d in found.dependences)
    found = analyse(matmul(2, 3, 4), "i j k", parallel="i", method=method)
    assert [(d.array, d.minimum_elements) for d in found.dependences if d.parallel] == [("B", 8 + 12 + 6)]


@pytest.mark.parametrize("method", METHODS)
def test_tails(method: Literal["closed-form", "isl"]) -> None:
    """The last of the tiles of 4 that cover 10 iterations has only two."""
    found = sizes(analyse(matmul(10, 7, 3), "i/4 j i k", method=method))
    # From B[0][0] at i = 0 to i = 1, and to i = 3, in the first tile.
    assert found["B", "i"] == (3 + 3 + 2 + 2 - 1, 3 + 3 * 3 + 1 + 4)
    # All of B is used once per tile of i, at first again at i = 4 and at last at i = 9.
    assert found["B", "i_t4"] == (21 + 4 * 3 + 1 + 4 * 7 + 1, 21 + 9 * 3 + 1 + 8 * 7 + 2)


def test_levels_follow_algorithm_2() -> None:
    assert fit_caches([40, 10, 30, 20], (35, 60)) == ((30, 30), 40)
    # Later, smaller gaps are filled only in the order of sizes.
    assert fit_caches([5, 6, 7], (12, 5)) == ((11, 0), 7)
    assert fit_caches([], (10,)) == ((0,), 0)
    assert fit_caches([3, 4], ()) == ((), 7)


def test_bytes_count_each_arrays_elements() -> None:
    work = Work(
        "S",
        (("i", 0, 9),),
        (("read", "x", ("i",)), ("write", "sum", ()), ("read", "sum", ()), ("read", "flag", ("0",))),
    )
    scop = make_scop([work], {"x": 1, "sum": 8, "flag": 4}, local=["sum"])
    for method in METHODS:
        found = working_sets(scop, schedule_of(("S", in_order(work, "i"))), CACHES, method=method)
        by_array = {d.array: (d.minimum_elements, d.minimum_bytes, d.maximum_bytes) for d in found.dependences}
        assert by_array == {"sum": (4, 2 + 8 + 4, 10 + 8 + 4), "flag": (4, 2 + 8 + 4, 10 + 8 + 4)}


@pytest.mark.parametrize("method", METHODS)
def test_reuse_between_statements(method: Literal["closed-form", "isl"]) -> None:
    """Means, then their use: the second loop reads all that the first wrote, in the same order."""
    write = Work("S", (("c", 0, 7), ("x", 0, 4)), (("read", "in", ("c", "x")), ("write", "mean", ("c",))))
    read = Work("T", (("c", 0, 7), ("x", 0, 4)), (("read", "mean", ("c",)), ("write", "out", ("c", "x"))))
    scop = make_scop([write, read])
    schedule = schedule_of(("S", in_order(write, "c x", prefix=(0,))), ("T", in_order(read, "c x", prefix=(1,))))
    found = working_sets(scop, schedule, CACHES, method=method)
    between = [d for d in found.dependences if d.source != d.target]
    assert [(d.kinds, d.array, d.loop) for d in between] == [(("RAW",), "mean", "")]
    # All of in and mean, and one to five elements of out.
    assert (between[0].minimum_elements, between[0].maximum_elements) == (40 + 8 + 1, 40 + 8 + 5)


@pytest.mark.parametrize("method", METHODS)
def test_sliding_windows_with_a_stride(method: Literal["closed-form", "isl"]) -> None:
    """With stride 2 and three taps, the third tap of one output is the first of the next."""
    work = Work("S", (("o", 0, 9), ("k", 0, 2)), (("read", "in", ("2*o + k",)), ("write", "out", ("o",))))
    found = analyse(work, "o k", method=method)
    assert sizes(found) == {("in", "o"): (1 + 2, 1 + 2), ("out", "k"): (3, 4)}
    found = analyse(work, "k o", method=method)
    # in[2] at (k = 0, o = 1) comes back at (k = 2, o = 0) only, after nine even and ten odd elements.
    assert sizes(found)["in", "k"] == (9 + 10 + 10, 9 + 10 + 10)


def test_linearised_subscripts_are_no_harder() -> None:
    plain = matmul(30, 20, 50)
    flat = replace(
        plain,
        accesses=tuple(
            (kind, array, (f"{subscripts[0]} * {64 if array == 'A' else 20} + {subscripts[1]}",))
            for kind, array, subscripts in plain.accesses
        ),
    )
    for order in ("i j k", "k/8 i/4 j k i"):
        expected, found = analyse(plain, order), analyse(flat, order)
        assert found == expected
        assert found.method == "closed-form"
        assert analyse(flat, order, method="isl") == replace(expected, method="isl")


def test_size_does_not_matter() -> None:
    """Nothing is walked: a nest of 10^18 instances takes no longer than a small one."""
    found = analyse(matmul(10**6, 10**6, 10**6), "i/1000 j/1000 k/1000 i j k", parallel="i_t1000")
    assert sizes(found)["C", "k"] == (5, 2001)
    assert found.memory > 10**12


@pytest.mark.parametrize("order", ["img oj/28 ifm_tile/3 ofm_tile/3 kj oj/9 oi/10 ki ofm_tile ifm_tile oj oi ofm ifm"])
@pytest.mark.parametrize("stride", [1, 2])
def test_a_tiled_convolution_both_ways(order: str, stride: int) -> None:
    work = convolution(4, 4, 28, 3, images=3, stride=stride)
    by_isl = analyse(work, order, parallel="img", method="isl")
    assert analyse(work, order, parallel="img", method="closed-form") == replace(by_isl, method="closed-form")
    assert len(by_isl.dependences) > 12


@pytest.mark.parametrize(
    "work",
    [
        Work("S", (("i", 0, 9), ("j", 0, 9)), (("read", "a", ("i // 2", "j")), ("write", "b", ("i", "j")))),
        Work("S", (("i", 0, 9), ("j", 0, 9)), (("read", "a", ("i", "i")), ("write", "b", ("i", "j")))),
        Work("S", (("i", 0, 9), ("j", 0, 9)), (("read", "a", ("i",)), ("write", "b", ("i", "j"))), "j <= i"),
    ],
    ids=["division", "diagonal", "triangle"],
)
def test_outside_the_closed_form(work: Work) -> None:
    assert analyse(work, "i/4 j i").method == "isl"
    with pytest.raises(AnalysisError, match="outside the class"):
        analyse(work, "i/4 j i", method="closed-form")


def test_a_hard_search_is_left_to_isl(monkeypatch: pytest.MonkeyPatch) -> None:
    work = matmul(12, 11, 10)
    expected = analyse(work, "i j k", method="isl")
    reuse_groups.group_table.cache_clear()
    monkeypatch.setattr(reuse_groups, "_NODES", 1)
    assert analyse(work, "i j k") == expected
    monkeypatch.undo()
    reuse_groups.group_table.cache_clear()
    assert analyse(work, "i j k").method == "closed-form"


def test_schedules_that_do_not_tell_instances_apart_go_to_isl() -> None:
    work = matmul(8, 8, 8)
    coarse = schedule_of(("S", (Loop("i", 0), Loop("j", 1), Loop("k_t4", 2, size=4))))
    scop = make_scop([work])
    assert closed_form(scop, coarse) is None
    found = working_sets(scop, coarse, CACHES)
    assert found.method == "isl"
    # Four iterations of k at a time, two such steps.
    by_array = {d.array: d.minimum_elements for d in found.dependences}
    assert by_array["C"] == 8 + 8 + 1


def test_results_come_in_the_order_of_arrays_and_loops() -> None:
    found = [(d.array, d.loop) for d in analyse(matmul(9, 8, 7), "i/4 j/4 k j i").dependences]
    assert found == [("C", "k"), ("A", "j_t4"), ("A", "j"), ("B", "i_t4"), ("B", "i")]


@pytest.mark.parametrize("order", ["i j k", "i/4 j k i"])
@pytest.mark.parametrize("method", METHODS)
def test_reversed_loops_mirror_the_nest(order: str, method: Literal["closed-form", "isl"]) -> None:
    backwards = " ".join(f"-{word}" for word in order.split())
    work = matmul(8, 6, 7)
    assert sizes(analyse(work, order, method=method)) == sizes(analyse(work, backwards, method=method))


@pytest.mark.parametrize(
    ("example", "defines"),
    [
        ("matmul.c", {"M": 30, "N": 20, "K": 50}),
        ("conv.c", {"nImg": 2, "ofh": 7, "ofw": 7, "nIfm": 128, "STRIDE_H": 2, "STRIDE_W": 2}),
        ("bnorm_relu.c", {}),
        ("stencil.c", {"T": 3, "N": 40}),
    ],
)
def test_parsed_nests_in_their_own_order(example: str, defines: dict[str, int]) -> None:
    scop = parse(EXAMPLES / example, defines={name: str(value) for name, value in defines.items()})
    found = working_sets(scop, original_schedule(scop), CACHES)
    assert found.method == "closed-form"
    assert replace(found, method="isl") == working_sets(scop, original_schedule(scop), CACHES, method="isl")
    if example == "matmul.c":
        assert sizes(found)["A", "j"] == (2 * 50 + 3, 20 * 50 + 20 + 1)
