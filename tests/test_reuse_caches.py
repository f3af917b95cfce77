"""Working sets in cache lines, and what caches of their own and shared ones hold of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nest_factory import Work, make_scop, matmul, schedule_of
from reuse_enumeration import enumerate_working_sets
from reuse_examples import CACHES, MACHINE, schedules

from polydl.errors import OptionError
from polydl.ir.schedule import Loop
from polydl.reuse import working_sets as reuse
from polydl.reuse.caches import fit_caches, fit_caches_of_many, fit_shared_caches, threads_sharing
from polydl.reuse.lines import line_mask
from polydl.reuse.threads import in_step
from polydl.reuse.working_sets import working_sets, working_sets_of_many


@pytest.mark.parametrize("method", ["closed-form", "isl"])
def test_lines_of_a_matrix_product(method: reuse.Method) -> None:
    """Rows of 32 floats are two lines of 64 bytes; a column touches one line in each row."""
    work = matmul(8, 32, 16)
    scop = make_scop([work])
    found = working_sets(scop, schedules(work, ["i j k"])[0], CACHES, method=method, line_bytes=64)
    assert found.line_bytes == 64
    lines = {d.array: (d.minimum_bytes // 64, d.maximum_bytes // 64) for d in found.dependences}
    # C: a line of each, but of B the next row's as well; a row of A with a column of B.
    # A: that, or with the whole row of C and all of B. B: that and the next row of A and C, or every row.
    assert lines == {"C": (1 + 1 + 2, 1 + 1 + 16), "A": (1 + 1 + 16, 1 + 2 + 32), "B": (2 + 3 + 32, 8 + 2 * 7 + 1 + 32)}
    elements = working_sets(scop, schedules(work, ["i j k"])[0], CACHES, method=method)
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
        working_sets(make_scop([work]), schedules(work, ["i j k"])[0], CACHES, line_bytes=6)
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


@settings(max_examples=60)
@given(
    st.lists(st.lists(st.integers(0, 40), max_size=8), max_size=5),
    st.lists(st.integers(1, 120), max_size=3),
    st.booleans(),
)
def test_fitting_many_is_fitting_each(working_sets: list[list[int]], caches: list[int], inclusive: bool) -> None:
    owner = np.array([number for number, sizes in enumerate(working_sets) for _ in sizes], dtype=np.int64)
    flat = np.array([size for sizes in working_sets for size in sizes], dtype=np.int64)
    held, memory = fit_caches_of_many(len(working_sets), owner, flat, caches, inclusive=inclusive)
    for number, sizes in enumerate(working_sets):
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
    assert threads_sharing(MACHINE.caches, 1, processors=8) == (1, 1, 1)
    assert threads_sharing(MACHINE.caches, 2, processors=8) == (1, 2, 2)
    assert threads_sharing(MACHINE.caches, 8, processors=8) == (1, 2, 4)


def test_threads_share_a_core_when_each_core_has_one() -> None:
    two_each = [replace(level, shared_by=sharing) for level, sharing in zip(MACHINE.caches, (2, 2, 8), strict=True)]
    assert threads_sharing(two_each, 4, processors=8) == (1, 1, 4)
    assert threads_sharing(two_each, 5, processors=8) == (2, 2, 5)
    assert threads_sharing(two_each, 8, processors=8) == (2, 2, 8)
    # Of each core this process may use one alone.
    assert threads_sharing(two_each, 1, processors=1) == (1, 1, 1)


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
