"""Working sets of many schedules together, in cache lines, and where the analysis ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nest_factory import Work, convolution, in_order, make_scop, matmul, schedule_of
from reuse_enumeration import enumerate_working_sets

from polydl import generate_variants, parse
from polydl.errors import AnalysisError, OptionError
from polydl.machine import CacheLevel, Machine
from polydl.pipeline import analyze, analyze_variants, candidates, plan_of
from polydl.poly import reuse, reuse_groups, reuse_isl
from polydl.poly.reuse import fit_caches, working_sets, working_sets_of_many
from polydl.poly.reuse_batch_unions import union_sizes
from polydl.poly.reuse_caches import fit_caches_of_many, fit_shared_caches, threads_sharing
from polydl.poly.reuse_lines import line_mask
from polydl.poly.reuse_threads import in_step
from polydl.types import Loop, Schedule, Tile, Variant, WorkingSets

EXAMPLES = Path(__file__).parents[1] / "examples"
CACHES = (32 << 10, 1 << 20, 32 << 20)
MACHINE = Machine(
    name="example",
    cpu_id="example",
    cores=4,
    threads=2,
    isa=("avx2",),
    vector_bytes=32,
    caches=(
        CacheLevel("L1", 32 << 10, 64, 1, 1e-9, 1e11),
        CacheLevel("L2", 1 << 20, 64, 2, 4e-9, 5e10),
        CacheLevel("L3", 32 << 20, 64, 4, 2e-8, 2e10),
    ),
    memory_latency_seconds=1e-7,
    memory_bandwidth_bytes_per_second=1e10,
    memory_bytes=8 << 30,
    peak_gflops=100.0,
)


def schedules(work: Work, orders: Sequence[str], parallel: str = "") -> list[Schedule]:
    return [schedule_of((work.name, in_order(work, order, parallel))) for order in orders]


@pytest.mark.parametrize(
    ("example", "defines", "line_bytes"),
    [
        ("conv.c", {}, None),
        ("conv.c", {"STRIDE_H": 2, "STRIDE_W": 2}, None),
        ("conv.c", {"nIfm": 32, "GEMM_BLOCK": 16}, 64),
        ("conv_plain.c", {}, 64),
        ("matmul.c", {"M": 250, "N": 1000, "K": 77}, 64),
        ("stencil.c", {}, 64),
        ("bnorm_relu.c", {}, None),
    ],
)
def test_variants_of_the_examples(example: str, defines: dict[str, int], line_bytes: int | None) -> None:
    """Real sizes and sampled orders: each variant by itself, by isl, and all together."""
    nest = parse(EXAMPLES / example, defines={name: str(value) for name, value in defines.items()})
    variants = generate_variants(nest, machine=MACHINE, max_variants=24, seed=1)
    told: list[int] = []
    together = analyze_variants(nest, variants, machine=MACHINE, line_bytes=line_bytes, progress=told.append)
    assert len(together) == len(variants) == told[-1]
    assert not together.failures
    for number, variant in enumerate(variants):
        scop, plan = plan_of(nest, variant, machine=MACHINE)
        alone = working_sets(scop, plan.schedule, CACHES, line_bytes=line_bytes)
        assert together[number] == alone
        if number % 6 == 5:
            by_isl = working_sets(scop, plan.schedule, CACHES, method="isl", line_bytes=line_bytes)
            assert by_isl == replace(alone, method="isl")


def test_candidates_have_the_working_sets_of_each_variant() -> None:
    nest = parse(EXAMPLES / "conv_1x1.c")
    variants = generate_variants(nest, machine=MACHINE, max_variants=30, seed=2)
    assert len({variant.rewrites for variant in variants}) > 1
    stages: list[tuple[str, int, int]] = []
    found = candidates(nest, variants, machine=MACHINE, progress=lambda s: stages.append((s.name, s.done, s.total)))
    assert stages == [("analyse", number, 30) for number in range(1, 31)]
    for variant, each in zip(variants, found, strict=True):
        assert each.variant == variant
        assert each.working_sets == analyze(*plan_of(nest, variant, machine=MACHINE), MACHINE)


def test_orders_of_different_lengths_and_batches_of_any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    work = convolution(2, 3, 9, 3, images=2, block=4)
    scop = make_scop([work])
    plain = "img ofm_tile ifm_tile oj kj ki oi ofm ifm"
    orders = [
        plain,
        f"oj/4 {plain}",
        f"oi/2 oj/4 {plain}",
        "ifm ofm oi ki kj -oj ifm_tile ofm_tile img",
        f"oj/9 {plain}",
    ]
    found = schedules(work, orders, parallel="img")
    expected = [working_sets(scop, each, CACHES) for each in found]
    for batch in (1, 2, 5):
        monkeypatch.setattr(reuse, "_BATCH", batch)
        told: list[int] = []
        table = working_sets_of_many(scop, iter(found), CACHES, progress=told.append)
        assert list(table) == expected
        assert told == [*range(batch, 6, batch), *([5] if 5 % batch else [])]
    assert [len(w.dependences) for w in expected] == np.diff(table.starts).tolist()


def test_a_table_is_read_like_a_sequence() -> None:
    work = matmul(4, 5, 6)
    scop = make_scop([work])
    table = working_sets_of_many(scop, schedules(work, ["i j k", "k j i"]), CACHES)
    assert len(table) == 2
    assert table[-1] == table[1] != table[0]
    with pytest.raises(IndexError):
        table[2]
    assert [table.status(row) for row in range(2)] == ["ok", "ok"]
    assert table.levels.tolist() == [list(w.levels) for w in table]
    none = working_sets_of_many(scop, [], CACHES)
    assert (len(none), list(none), none.levels.shape) == (0, [], (0, 3))


def test_schedules_outside_the_class_are_counted_by_isl_among_the_others() -> None:
    work = matmul(8, 8, 8)
    scop = make_scop([work])
    coarse = schedule_of(("S", (Loop("i", 0), Loop("j", 1), Loop("k_t4", 2, size=4))))
    chosen = [*schedules(work, ["i j k"]), coarse, *schedules(work, ["k/4 j i k"])]
    table = working_sets_of_many(scop, chosen, CACHES)
    assert [found.method for found in table] == ["closed-form", "isl", "closed-form"]
    assert list(table) == [working_sets(scop, each, CACHES) for each in chosen]


def test_a_hard_search_leaves_single_schedules_to_isl(monkeypatch: pytest.MonkeyPatch) -> None:
    work = convolution(1, 1, 6, 3, block=2)
    scop = make_scop([work])
    chosen = schedules(work, ["img ofm_tile ifm_tile oj kj ki oi ofm ifm", "kj ki oj oi ofm ifm img ofm_tile ifm_tile"])
    expected = [working_sets(scop, each, CACHES, method="isl") for each in chosen]
    reuse_groups.group_table.cache_clear()
    reuse.batch_reuse.cache_clear()
    monkeypatch.setattr(reuse_groups, "_NODES", 4)
    assert list(working_sets_of_many(scop, chosen, CACHES)) == expected
    monkeypatch.undo()
    reuse_groups.group_table.cache_clear()
    reuse.batch_reuse.cache_clear()
    assert [found.method for found in working_sets_of_many(scop, chosen, CACHES)] == ["closed-form"] * 2


LOOPS = {name: Loop(name, iterator) for iterator, name in enumerate("ij")}
TILES = Loop("i_t2", 0, size=2)


@pytest.mark.parametrize(
    ("first", "second", "method"),
    [
        # The same loops over other iterators are common loops all the same.
        ((LOOPS["i"], LOOPS["j"], 0), (LOOPS["j"], LOOPS["i"], 1), "closed-form"),
        # A loop of one statement beside tiles, or a position, of the other; and an iterator with two partners.
        ((LOOPS["i"], 0, LOOPS["j"]), (TILES, 1, LOOPS["i"], LOOPS["j"]), "isl"),
        ((LOOPS["i"], 0, LOOPS["j"]), (0, 1, LOOPS["i"], LOOPS["j"]), "isl"),
        ((TILES, LOOPS["i"], 0, LOOPS["j"]), (TILES, LOOPS["j"], 1, LOOPS["i"]), "isl"),
        ((TILES, LOOPS["j"], 0, LOOPS["i"]), (TILES, LOOPS["i"], 1, LOOPS["j"]), "isl"),
    ],
)
def test_loops_that_statements_share(
    first: tuple[int | Loop, ...], second: tuple[int | Loop, ...], method: reuse.Method
) -> None:
    bounds = (("i", 0, 4), ("j", 0, 3))
    works = [
        Work("S", bounds, (("read", "a", ("i", "j")), ("write", "b", ("i + j",)))),
        Work("T", bounds, (("write", "a", ("i", "j")), ("read", "b", ("i",)))),
    ]
    scop, schedule = make_scop(works), schedule_of(("S", first), ("T", second))
    expected = replace(enumerate_working_sets(works, scop, schedule, CACHES), method=method)
    assert working_sets(scop, schedule, CACHES) == expected
    assert list(working_sets_of_many(scop, [schedule], CACHES)) == [expected]
    assert working_sets(scop, schedule, CACHES, method="isl") == replace(expected, method="isl")


def test_large_numbers() -> None:
    long = matmul(1 << 41, 3, 2)
    chosen = schedules(long, ["i/1000 j i k", "j i k"])
    table = working_sets_of_many(make_scop([long]), chosen, CACHES)
    assert list(table) == [working_sets(make_scop([long]), each, CACHES) for each in chosen]
    assert table[0].method == "closed-form"
    # An array of 2^82 elements is more than a table holds, and than there is.
    huge = matmul(1 << 41, 3, 1 << 41)
    [schedule] = schedules(huge, ["j i k"])
    assert "64 bits" in working_sets_of_many(make_scop([huge]), [schedule], CACHES).failures[0].message
    assert working_sets(make_scop([huge]), schedule, CACHES).memory > 1 << 80


# --------------------------------------------------------------------------------------
# Parallel loops


@pytest.mark.parametrize("extents", [(1, 1), (1, 2), (2, 1), (2, 2), (2, 3), (3, 2)])
@pytest.mark.parametrize("order", ["i j k", "i k j", "k i j", "j/2 i k j"])
def test_two_nested_parallel_loops(extents: tuple[int, int], order: str) -> None:
    work = matmul(*extents, 3)
    dimensions = tuple(
        replace(d, parallel=True) if isinstance(d, Loop) and d.iterator < 2 else d for d in in_order(work, order)
    )
    scop, schedule = make_scop([work]), schedule_of((work.name, dimensions))
    expected = enumerate_working_sets([work], scop, schedule, CACHES)
    assert working_sets(scop, schedule, CACHES, method="closed-form") == expected
    assert working_sets(scop, schedule, CACHES, method="isl") == replace(expected, method="isl")
    assert list(working_sets_of_many(scop, [schedule], CACHES)) == [expected]


# --------------------------------------------------------------------------------------
# Where isl itself fails


def test_a_set_whose_last_point_isl_cannot_find() -> None:
    """isl_set_lexmax gives up on this one with an internal error; its coordinates are then found one by one."""
    work = Work("S", (("i", 1, 2), ("j", 0, 4)), (("write", "A", ("j + 2 * i - 1",)),))
    scop, [schedule] = make_scop([work]), schedules(work, ["j/4 j/2 i/3 j i/2 i"])
    expected = enumerate_working_sets([work], scop, schedule, CACHES)
    assert working_sets(scop, schedule, CACHES, method="isl") == replace(expected, method="isl")


# --------------------------------------------------------------------------------------
# Cache lines


@pytest.mark.parametrize("method", ["closed-form", "isl"])
def test_lines_of_a_matrix_product(method: reuse.Method) -> None:
    """Rows of 32 floats are two lines of 64 bytes; a column touches one line in each row."""
    work = matmul(8, 32, 16)
    scop = make_scop([work])
    found = working_sets(scop, *schedules(work, ["i j k"]), CACHES, method=method, line_bytes=64)
    assert found.line_bytes == 64
    lines = {d.array: (d.minimum_bytes // 64, d.maximum_bytes // 64) for d in found.dependences}
    # C: a line of each, but of B the next row's as well; a row of A with a column of B.
    # A: that, or with the whole row of C and all of B. B: that and the next row of A and C, or every row.
    assert lines == {"C": (1 + 1 + 2, 1 + 1 + 16), "A": (1 + 1 + 16, 1 + 2 + 32), "B": (2 + 3 + 32, 8 + 2 * 7 + 1 + 32)}
    elements = working_sets(scop, *schedules(work, ["i j k"]), CACHES, method=method)
    assert [d.minimum_elements for d in elements.dependences] == [d.minimum_elements for d in found.dependences]


@pytest.mark.parametrize("method", ["closed-form", "isl"])
@pytest.mark.parametrize("columns", [5, 16, 24, 48])
def test_lines_that_rows_share(method: reuse.Method, columns: int) -> None:
    """Rows that are no whole number of lines share lines with the next row."""
    work = Work("S", (("r", 0, 9), ("c", 0, 2)), (("read", "a", ("r", f"c + {columns - 3}")), ("write", "b", ("c",))))
    scop = make_scop([work])
    [schedule] = schedules(work, ["c r"])
    expected = enumerate_working_sets([work], scop, schedule, CACHES, line_bytes=64)
    found = working_sets(scop, schedule, CACHES, method=method, line_bytes=64)
    assert found == replace(expected, method=method)


@pytest.mark.parametrize("method", ["closed-form", "isl"])
def test_lines_across_digits(method: reuse.Method) -> None:
    """Pairs of elements in rows of three: every other row begins within a line, whatever the pairs do."""
    bounds = (("i", 1, 2),)
    subscripts = (("0", "2"), ("2", "1"), ("1", "2 * i - 2"))
    works = [Work(f"S{number}", bounds, (("read", "B", own),)) for number, own in enumerate(subscripts)]
    scop = make_scop(works)
    schedule = schedule_of(*((work.name, (Loop("i", 0), number)) for number, work in enumerate(works)))
    expected = enumerate_working_sets(works, scop, schedule, CACHES, line_bytes=8)
    # Elements 2, 7, 3 and 5 of B: lines 1, 3 and 2.
    assert {d.minimum_bytes for d in expected.dependences} == {16}
    assert working_sets(scop, schedule, CACHES, method=method, line_bytes=8) == replace(expected, method=method)


def test_a_line_holds_whole_elements() -> None:
    work = matmul(4, 4, 4)
    with pytest.raises(OptionError, match="whole number"):
        working_sets(make_scop([work]), *schedules(work, ["i j k"]), CACHES, line_bytes=6)
    with pytest.raises(OptionError, match="line of 0 bytes"):
        working_sets_of_many(make_scop([work]), [], CACHES, line_bytes=0)


def test_line_masks() -> None:
    terms = ((40, 0, 3), (1, 0, 4), (7, -1, 1))
    touched = {(3 + 40 * a + b + 7 * c + 7) // 8 for a in range(4) for b in range(5) for c in range(-1, 2)}
    # The terms are shifted so that the least position is 3.
    assert line_mask(3 + 7, terms, 8) == sum(1 << line for line in touched)


# --------------------------------------------------------------------------------------
# Caches


def test_inclusive_caches_hold_what_lies_inside_them() -> None:
    assert fit_caches([10, 20, 30, 40], (35, 60)) == ((30, 30), 40)
    assert fit_caches([10, 20, 30, 40], (35, 60), inclusive=True) == ((30, 30), 40)
    # As printed, the second level has room for 30 beside what the first holds; inclusive, only up to 50 together.
    assert fit_caches([10, 20, 30], (35, 50)) == ((30, 30), 0)
    assert fit_caches([10, 20, 30], (35, 50), inclusive=True) == ((30, 0), 30)


@settings(deadline=None, derandomize=True, max_examples=60)
@given(
    st.lists(st.lists(st.integers(0, 40), max_size=8), max_size=5),
    st.lists(st.integers(1, 120), max_size=3),
    st.booleans(),
)
def test_fitting_many_is_fitting_each(found: list[list[int]], caches: list[int], inclusive: bool) -> None:
    owner = np.array([number for number, sizes in enumerate(found) for _ in sizes], dtype=np.int64)
    flat = np.array([size for sizes in found for size in sizes], dtype=np.int64)
    held, memory = fit_caches_of_many(len(found), owner, flat, caches, inclusive=inclusive)
    for number, sizes in enumerate(found):
        expected = fit_caches(sizes, caches, inclusive=inclusive)
        assert (tuple(held[number].tolist()), int(memory[number])) == expected


def test_options_reach_every_way_of_counting() -> None:
    work = matmul(20, 20, 20)
    scop, [schedule] = make_scop([work]), schedules(work, ["i j k"])
    sizes = sorted(
        size for d in working_sets(scop, schedule, ()).dependences for size in (d.minimum_bytes, d.maximum_bytes)
    )
    tight = (sizes[0], sum(sizes[:3]) - 1)
    printed, inclusive = (fit_caches(sizes, tight, inclusive=each) for each in (False, True))
    assert printed != inclusive
    for method in ("closed-form", "isl"):
        found = working_sets(scop, schedule, tight, method=method, inclusive=True)
        assert (found.levels, found.memory) == inclusive
    [found] = working_sets_of_many(scop, [schedule], tight, inclusive=True)
    assert (found.levels, found.memory) == inclusive


def test_threads_share_the_outer_caches() -> None:
    assert threads_sharing(MACHINE.caches, 1) == (1, 1, 1)
    assert threads_sharing(MACHINE.caches, 2) == (1, 2, 2)
    assert threads_sharing(MACHINE.caches, 8) == (1, 2, 4)


def test_the_iterations_that_threads_are_in_together() -> None:
    # 10 iterations on 4 threads: stretches of 3, the last one shorter.
    first, last = (7, 1, 5), (7, 1, 9)
    assert in_step(first, last, 1, (0, 9), 4, 4) == tuple(((7, x, 5), (7, x, 9)) for x in (1, 4, 7))
    assert in_step((7, 5), (7, 5), 1, (0, 9), 4, 2) == (((7, 2), (7, 2)), ((7, 5), (7, 5)))
    assert in_step((8,), (8,), 0, (0, 9), 4, 2) == (((8,), (8,)),)
    assert in_step((0,), (0,), 0, (0, 0), 4, 4) == (((0,), (0,)),)


@pytest.mark.parametrize("method", ["closed-form", "isl"])
@pytest.mark.parametrize("sharing", [1, 2, 4])
def test_what_threads_have_in_use_together(method: reuse.Method, sharing: int) -> None:
    """Elements of C and A are each thread's own, those of B are read by all and count once."""
    work = matmul(8, 6, 10)
    scop, [schedule] = make_scop([work]), schedules(work, ["i j k"], parallel="i")
    alone = working_sets(scop, schedule, (), method=method)
    assert [d.maximum_elements for d in alone.dependences] == [1 + 10 + 10, 6 + 10 + 51, 48 + 80 + 60]
    # Of C the nearest and the farthest, of A both, and all of the three arrays, which threads have in use anyway.
    own, common = [1 + 2, 1 + 10, 2 + 10, 6 + 10, 0], [2, 10, 11, 51, 188]
    expected = sum(4 * (sharing * each + once) for each, once in zip(own, common, strict=True))
    found = working_sets(scop, schedule, (1 << 30,), method=method, sharing=(4, (sharing,)))
    assert found == replace(alone, levels=(expected,), memory=0)


def test_threads_leave_each_other_less_room() -> None:
    """A level holds a working set for one thread, and not for four of them; what they share fits none the less."""
    work = matmul(8, 6, 10)
    scop, [schedule] = make_scop([work]), schedules(work, ["i j k"], parallel="i")
    caches = (40, 4 * 60)
    assert working_sets(scop, schedule, caches).levels == (20, 4 * (21 + 23))
    # The first level is each thread's own. In the second, 4 * 11 + 10 elements leave no room for 4 * 12 + 11.
    found = working_sets(scop, schedule, caches, sharing=(4, (1, 4)))
    assert (found.levels, found.memory) == ((20, 4 * 54), 4 * (23 + 67 + 188))


@pytest.mark.parametrize("inclusive", [False, True])
def test_sizes_that_are_the_same_in_each_level(inclusive: bool) -> None:
    for caches in ((35, 60), (35, 50), (10, 100), ()):
        sizes = [10, 20, 30, 40]
        alike = [[size] * (len(caches) + 1) for size in sizes]
        assert fit_shared_caches(alike, caches, inclusive=inclusive) == fit_caches(sizes, caches, inclusive=inclusive)


# --------------------------------------------------------------------------------------
# Unions of boxes


ranges = st.tuples(st.integers(0, 6), st.integers(0, 4)).map(lambda pair: (pair[0], pair[0] + pair[1]))


@st.composite
def unions(draw: st.DrawFn) -> tuple[int, list[list[list[tuple[int, int]]]]]:
    dimensions = draw(st.integers(0, 4))
    box = st.lists(ranges, min_size=dimensions, max_size=dimensions)
    return dimensions, draw(st.lists(st.lists(box, max_size=9), min_size=1, max_size=4))


@settings(deadline=None, derandomize=True, max_examples=150)
@given(unions())
def test_sizes_of_many_unions(drawn: tuple[int, list[list[list[tuple[int, int]]]]]) -> None:
    dimensions, found = drawn
    boxes = [(owner, box) for owner, own in enumerate(found) for box in own]
    owner = np.array([each for each, _ in boxes], dtype=np.int64)
    corners = np.array([box for _, box in boxes], dtype=np.int64).reshape(len(boxes), dimensions, 2)
    sizes = union_sizes(len(found), owner, corners[:, :, 0].T, corners[:, :, 1].T)
    for number, own in enumerate(found):
        grid = np.zeros((11,) * dimensions, dtype=bool)
        for box in own:
            grid[tuple(slice(low, high + 1) for low, high in box)] = True
        assert sizes[number] == grid.sum()


# --------------------------------------------------------------------------------------
# Where the analysis ends


def wheel(size: int) -> Work:
    """A nest whose footprints isl can only walk: sums and divisions that no dimension is free of."""
    return Work(
        "S",
        (("i", 0, size), ("j", 0, size), ("k", 0, size)),
        (("read", "a", ("(i + j) // 2 + (j + k) // 3 + (i + k) // 5",)), ("write", "b", ("i", "j"))),
        "i + j + k <= 40",
    )


def test_the_quota_ends_with_a_status_and_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    work = wheel(25)
    scop = make_scop([work])
    chosen = schedules(work, ["i j k", "k j i"])
    for operations in (100, 500, 2_000):
        monkeypatch.setattr(reuse_isl, "_nests", {})
        monkeypatch.setattr(reuse_isl, "OPERATIONS", operations)
        with pytest.raises(AnalysisError, match="operations") as caught:
            working_sets(scop, chosen[0], CACHES)
        assert caught.value.remedy
        assert (caught.value.file, caught.value.line) == (scop.file, scop.line)
    table = working_sets_of_many(scop, chosen, CACHES)
    assert sorted(table.failures) == [0, 1]
    assert table.status(1) == "failed"
    assert table.levels[1].tolist() == [0, 0, 0]
    with pytest.raises(AnalysisError, match="operations"):
        table[1]


def test_a_failure_leaves_the_others_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    work = Work("S", (("i", 0, 9), ("j", 0, 9)), (("read", "a", ("i",)), ("write", "b", ("i", "j"))), "j <= i")
    scop = make_scop([work])
    chosen = schedules(work, ["i j", "i/4 j i", "j i"])
    real = reuse_isl.IslReuse.footprint

    def footprint(self: reuse_isl.IslReuse, first: tuple[int, ...], last: tuple[int, ...]) -> tuple[int, int]:
        if len(first) == 3:
            raise AnalysisError("isl gave up")
        return real(self, first, last)

    monkeypatch.setattr(reuse_isl.IslReuse, "footprint", footprint)
    table = working_sets_of_many(scop, chosen, CACHES)
    assert sorted(table.failures) == [1]
    for row in (0, 2):
        assert table[row] == working_sets(scop, chosen[row], CACHES)


def test_a_closed_form_that_is_forced_fails_row_by_row() -> None:
    work = matmul(8, 8, 8)
    coarse = schedule_of(("S", (Loop("i", 0), Loop("j", 1), Loop("k_t4", 2, size=4))))
    table = working_sets_of_many(make_scop([work]), [coarse, *schedules(work, ["i j k"])], CACHES, method="closed-form")
    assert list(table.failures) == [0]
    assert "outside the class" in table.failures[0].message
    assert table[1].method == "closed-form"


@pytest.mark.parametrize(("failing", "left"), [((1,), (0, 2)), ((0, 2), (1,))])
def test_variants_that_cannot_be_analysed_are_left_out(
    monkeypatch: pytest.MonkeyPatch, failing: tuple[int, ...], left: tuple[int, ...]
) -> None:
    nest = parse(EXAMPLES / "matmul.c", defines={"M": "40", "N": "40", "K": "40"})
    variants = [Variant(()), Variant((Tile(0, "i", (8,)),)), Variant((Tile(0, "j", (8,)),))]
    give_up_on(monkeypatch, failing)
    assert [each.variant for each in candidates(nest, variants, machine=MACHINE)] == [variants[n] for n in left]
    give_up_on(monkeypatch, (0,))
    with pytest.raises(AnalysisError, match="gave up"):
        candidates(nest, variants[:1], machine=MACHINE)


def give_up_on(patch: pytest.MonkeyPatch, rows: tuple[int, ...]) -> None:
    def failing(*arguments: Any, **options: Any) -> Any:
        table = working_sets_of_many(*arguments, **options)
        table.failures.update(dict.fromkeys(rows, AnalysisError("isl gave up")))
        return table

    patch.setattr("polydl.pipeline.working_sets_of_many", failing)


def test_larger_caches_never_hold_less() -> None:
    """A property of Algorithm 2 over sampled variants: what fits moves inwards as a level grows."""
    nest = parse(EXAMPLES / "matmul.c")
    variants = generate_variants(nest, machine=MACHINE, max_variants=20, seed=3)

    def memory(scale: int) -> list[int]:
        machine = MACHINE.with_cache_sizes([level.bytes * scale for level in MACHINE.caches])
        found: list[WorkingSets] = [analyze_variants(nest, [v], machine=machine)[0] for v in variants]
        return [each.memory for each in found]

    for smaller, larger in pairwise([memory(scale) for scale in (1, 2, 4)]):
        assert all(few <= many for few, many in zip(larger, smaller, strict=True))
