"""Which kernels a library keeps, and the decision between them, from times alone."""

from __future__ import annotations

from random import Random

import pytest

from polydl.libraries.cover import slowdowns, smallest_cover
from polydl.libraries.decision import Condition, Leaf, choose, fitted, kernels_of
from polydl.libraries.doubtful import by_doubt
from polydl.libraries.shapes import Shape

TIMES = [{"a": 1.0, "b": 2.0, "c": 1.05}, {"a": 3.0, "b": 1.0, "c": 1.08}, {"a": 1.0, "c": 1.0}]


def test_the_smallest_cover_is_within_the_slowdown_at_every_shape() -> None:
    assert smallest_cover(TIMES, ["a", "b", "c"], 3, 1.10) == ("c",)
    assert smallest_cover(TIMES, ["a", "b", "c"], 3, 1.01) == ("a", "b")
    assert slowdowns(TIMES, ["c"]) == [1.05, 1.08, 1.0]


def test_too_few_kernels_come_as_close_as_they_can() -> None:
    assert smallest_cover(TIMES, ["a", "b"], 1, 1.01) == ("a",)  # b fails at the last shape


def test_what_is_there_anyway_is_free() -> None:
    assert smallest_cover(TIMES, ["a", "b"], 3, 1.10, free=["c"]) == ()


@pytest.mark.slow
def test_many_kernels_are_chosen_one_after_the_other() -> None:
    names = [f"k{number}" for number in range(40)]
    times = [{name: 1.0 if name == fast else 2.0 for name in names} for fast in names[:12]]
    assert set(smallest_cover(times, names, 40, 1.10)) == set(names[:12])
    assert len(smallest_cover(times, names, 5, 1.10)) == 5


def shapes(*sizes: tuple[int, int]) -> list[Shape]:
    return [{"M": m, "N": n} for m, n in sizes]


def test_the_decision_separates_what_one_bound_separates() -> None:
    sampled = shapes((1, 500), (4, 30), (60, 20), (200, 400), (300, 10))
    times = [{"few": 1.0 if shape["M"] < 50 else 4.0, "many": 1.0 if shape["M"] > 50 else 3.0} for shape in sampled]
    tree = fitted(sampled, times, ["few", "many"])
    assert tree == Condition(("M",), 15, Leaf("few"), Leaf("many"))
    assert choose(tree, {"M": 15, "N": 1}) == "few"
    assert choose(tree, {"M": 16, "N": 1}) == "many"
    assert list(kernels_of(tree)) == ["few", "many"]


def test_products_of_sizes_decide_too() -> None:
    sampled = shapes((1, 100), (100, 1), (50, 4), (4, 50), (90, 90), (30, 400), (400, 30))
    times = [{"small": 1.0, "large": 5.0} if s["M"] * s["N"] < 1000 else {"small": 5.0, "large": 1.0} for s in sampled]
    tree = fitted(sampled, times, ["small", "large"])
    assert isinstance(tree, Condition)
    assert tree.sizes == ("M", "N")
    assert [choose(tree, shape) for shape in sampled] == ["small"] * 4 + ["large"] * 3


def test_a_condition_is_taken_that_helps_with_another_one_alone() -> None:
    """Few rows are fast in one way if they are long: neither bound gains anything by itself."""
    sampled = shapes(*((m, n) for m in (1, 2, 60, 200) for n in (4, 9, 300, 800)))

    def few_and_long(shape: Shape) -> bool:
        return shape["M"] <= 2 and shape["N"] >= 300

    times = [{"any": 1.5, "rows": 1.0} if few_and_long(shape) else {"any": 1.0, "rows": 30.0} for shape in sampled]
    tree = fitted(sampled, times, ["any", "rows"])
    assert [choose(tree, shape) for shape in sampled] == ["rows" if few_and_long(shape) else "any" for shape in sampled]


def test_a_kernel_that_failed_at_a_shape_is_not_taken_there() -> None:
    sampled = shapes((1, 1), (2, 1))
    tree = fitted(sampled, [{"a": 1.0, "b": 9.0}, {"b": 9.0}], ["a", "b"])
    assert [choose(tree, shape) for shape in sampled] == ["a", "b"]


def test_a_kernel_that_failed_somewhere_does_not_hide_what_others_gain() -> None:
    sampled = shapes(*((m, n) for m in (1, 2, 60, 200) for n in (4, 9, 300, 800)))
    times = [{"any": 1.5, "rows": 1.0} if shape["M"] <= 2 and shape["N"] >= 300 else {"any": 1.0} for shape in sampled]
    tree = fitted(sampled, times, ["any", "rows"])
    assert [choose(tree, shape) for shape in sampled] == ["rows" if len(at) == 2 else "any" for at in times]


def test_no_condition_without_gain() -> None:
    sampled = shapes((1, 1), (2, 1), (3, 1))
    assert fitted(sampled, [{"a": 1.0, "b": 1.001}] * 3, ["a", "b"]) == Leaf("a")


def test_a_decision_is_in_doubt_where_shapes_around_speak_for_another_kernel() -> None:
    """Long rows of few terms are fast in one way, all else in another; the tree that is asked knows one bound alone."""
    sampled = shapes(*((2**m, 2**n) for m in range(0, 13, 2) for n in range(0, 13, 2)))
    are_long = [shape["M"] <= 16 and shape["N"] >= 64 for shape in sampled]
    times = [{"long": 1.0, "other": 1.5} if each else {"long": 1.5, "other": 1.0} for each in are_long]
    tree = Condition(("M",), 20, Leaf("long"), Leaf("other"))
    others = shapes((300, 700), (8, 700), (8, 8), (3000, 3), (4, 12), (12, 48))
    ordered = by_doubt(tree, sampled, times, ["long", "other"], others)
    assert sorted(map(str, ordered)) == sorted(map(str, others))
    # Short rows of few terms are what the tree is wrong about.
    assert ordered[:2] == tuple(shapes((8, 8), (4, 12)))
    assert by_doubt(tree, sampled, times, ["long", "other"], []) == ()


def test_what_measurements_differ_by_makes_no_conditions() -> None:
    """An element-wise nest: all kernels are limited by memory, and their times are within 2 % of each other."""
    draw = Random(5)
    sampled = [{"N": round(1.4**power)} for power in range(2, 36)]
    times = [{name: draw.uniform(0.98, 1.0) for name in ("a", "b", "c", "d")} for _ in sampled]
    assert isinstance(fitted(sampled, times, ["a", "b", "c", "d"]), Leaf)


def test_a_condition_has_several_shapes_on_either_side() -> None:
    """One shape at which another kernel was faster says little of those around it."""
    sampled = [{"N": 2**power} for power in range(12)]
    times = [{"a": 1.0, "b": 1.4} for _ in sampled]
    times[5] = {"a": 1.4, "b": 1.0}
    assert fitted(sampled, times, ["a", "b"]) == Leaf("a")
    for place in (5, 6, 7):
        times[place] = {"a": 1.8, "b": 1.0}
    tree = fitted(sampled, times, ["a", "b"])
    assert [choose(tree, shape) for shape in sampled] == ["a"] * 5 + ["b"] * 3 + ["a"] * 4
