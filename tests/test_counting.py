"""Exact counts of integer points."""

from __future__ import annotations

from itertools import product

import islpy as isl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polydl.errors import AnalysisError
from polydl.poly import counting
from polydl.poly.counting import count, quota


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        ("{ }", 0),
        ("{ A[x] : 1 = 0 }", 0),
        ("{ A[] }", 1),
        ("{ [i, j, k] : 0 <= i, j, k < 4096 }", 4096**3),
        ("{ [i] : 0 <= i < 10000000000000000000000 }", 10**22),
        ("{ A[x] : 0 <= x < 10 or 5 <= x < 20 }", 20),
        ("{ A[x] : 0 <= x < 10; B[x, y] : 0 <= x, y < 10; C[] }", 111),
        ("{ [i, j] : 0 <= j <= i < 1000 }", 500500),
        ("{ [i, j] : i = 3j + 1 and 0 <= j < 1000000 }", 1000000),
        ("{ [i, j] : 2i = 3j and 0 <= i < 100 }", 34),
        ("{ [x] : x mod 7 = 3 and 0 <= x < 1000000000 }", 142857143),
        ("{ [x, y] : x mod 7 = 3 and 0 <= x < 70 and 0 <= y < 10 }", 100),
        ("{ [x] : exists i, j : 0 <= i < 60 and 0 <= j < 3 and x = 5i + 2j }", 180),
        ("{ [x] : exists i, j : 0 <= i < 60 and 0 <= j < 3 and x = 2i + j }", 121),
        ("{ [x] : exists i : x = floor(i / 4) and -9 <= i <= 9 }", 6),
    ],
)
def test_known_counts(points: str, expected: int) -> None:
    assert count(points) == expected
    assert count(isl.UnionSet(points)) == expected


def test_all_kinds_of_sets() -> None:
    assert count(isl.Set("{ [i] : 0 <= i < 5 }")) == 5
    assert count(isl.BasicSet("{ [i] : 0 <= i < 5 }")) == 5


@pytest.mark.parametrize("points", ["{ [i] : i >= 0 }", "{ [i, j] : 0 <= i <= j }", "{ [i] : i mod 2 = 0 }"])
def test_unbounded_sets(points: str) -> None:
    with pytest.raises(AnalysisError, match="unbounded"):
        count(points)


def test_parameters() -> None:
    with pytest.raises(AnalysisError, match="parameters"):
        count("[n] -> { [i] : 0 <= i < n }")
    assert count("[n] -> { [i] : 0 <= i < 3 }") == 3


TETRAHEDRON = "{ [i, j, k] : 0 <= i, j, k and i + j + k < 300 }"
# No dimension is free of divisions, so that isl must walk the points.
WALKED = "{ [i, j] : 0 <= i, j < 60 and (i + j) mod 3 = 0 and (2i + j) mod 5 <= 2 }"


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        (TETRAHEDRON, 300 * 301 * 302 // 6),
        (WALKED, sum((i + j) % 3 == 0 and (2 * i + j) % 5 <= 2 for i in range(60) for j in range(60))),
    ],
)
def test_the_quota_ends_with_an_error_rather_than_a_partial_count(points: str, expected: int) -> None:
    assert count(points) == expected
    for operations in (100, 300, 1000):
        with pytest.raises(AnalysisError, match="operations") as caught:
            count(points, operations=operations)
        assert caught.value.remedy
        assert caught.value.construct
    assert count(points) == expected


def test_one_quota_bounds_all_that_is_counted_in_it() -> None:
    points = isl.Set(TETRAHEDRON)
    context = points.get_ctx()
    with quota(context, 4_000_000):
        assert [count(points) for _ in range(4)] == [300 * 301 * 302 // 6] * 4
    with pytest.raises(AnalysisError, match="operations"), quota(context, 4_000_000):
        assert sum(count(points) for _ in range(5)) < 0
    with pytest.raises(AnalysisError, match="gave up after 10 operations"), quota(context, 10):
        isl.Set.read_from_str(context, TETRAHEDRON)
    assert count(points) == 300 * 301 * 302 // 6


@pytest.mark.parametrize("points", ["{ [i, j] : 0 <= j <= i < 3000 }", "{ [i, j, k] : 0 <= 2k <= 3j <= i < 300 }"])
def test_rows_in_blocks(points: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = count(points)
    assert expected == isl.Set(points).count_val().to_python()
    monkeypatch.setattr(counting, "_ROWS", 7)
    assert count(points) == expected


coefficients = st.integers(-3, 3)


@st.composite
def constraints(draw: st.DrawFn) -> str:
    a, b, c, d = (draw(coefficients) for _ in range(4))
    left = f"{a}*x + {b}*y + {c}*z + {d}"
    return draw(st.sampled_from(("{} >= 0", "{} = 0", "({}) % 3 = 0", "({}) % 2 = 1"))).format(left)


pieces = st.lists(constraints(), max_size=3).map(lambda parts: " and ".join(["-4 <= x, y, z <= 4", *parts]))


def holds(condition: str, x: int, y: int, z: int) -> bool:
    parts = condition.split(" and ")[1:]
    return all(eval(part.replace(" = ", " == "), {}, {"x": x, "y": y, "z": z}) for part in parts)


@pytest.mark.slow
@settings(max_examples=150)
@given(st.lists(pieces, min_size=1, max_size=3), st.integers(0, 2))
def test_random_sets(parts: list[str], projected: int) -> None:
    """Unions of sets with inequalities, equalities and strides, whole and without their last dimensions."""
    points = isl.Set(f"{{ [x, y, z] : {' or '.join(f'({piece})' for piece in parts)} }}")
    kept = 3 - projected
    expected = {
        point[:kept] for point in product(range(-4, 5), repeat=3) if any(holds(piece, *point) for piece in parts)
    }
    assert count(points.project_out(isl.dim_type.set, kept, projected)) == len(expected)
