"""Images that isl takes long to count, enumerated in NumPy."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import islpy as isl
import pytest
from marks import parametrized
from nest_factory import Work, make_scop
from reuse_enumeration import enumerate_working_sets
from reuse_examples import CACHES, schedules

from polydl.errors import AnalysisError
from polydl.ir.affine import Box
from polydl.ir.scop import Array
from polydl.poly.counting import quota, spend
from polydl.reuse.isl import footprints
from polydl.reuse.isl import working_sets as reuse_isl
from polydl.reuse.isl.enumerated import (
    Elements,
    Positions,
    enumerated_relation,
    positions_of,
    positions_union_size,
    product_positions,
)
from polydl.reuse.working_sets import working_sets_of_many

# Found by fuzzing: isl took minutes for it.
TRIANGLE = Work(
    "S",
    (("i", 1, 24), ("j", 2, 25), ("k", 2, 3)),
    (("read", "B", ("32 * i + 33 * j + 2 * k + 32",)), ("write", "C", ("k + 1",))),
    "j >= i + 1",
)
SMALL = (("i", 1, 9), ("j", 2, 10), ("k", 0, 2))
DIVIDED = Work(
    "S",
    SMALL,
    (("read", "B", ("(7 * i + 8 * j) // 3",)), ("write", "C", ("(i + j + k) // 2", "2 * i + k"))),
    "(j >= i + 1) and (2 * ((i + k) // 2) >= i + k)",
)
# The first reads products, the second what is scattered, in the same array.
TOGETHER = Work(
    "S",
    SMALL,
    (("read", "B", ("i + 40", "k")), ("read", "B", ("5 * i + 6 * j", "2 * k")), ("write", "B", ("i", "j"))),
    "j >= i",
)


@parametrized("line_bytes", [None, 8, 64], quick=1)
@pytest.mark.parametrize(
    ("work", "orders"),
    [
        (TRIANGLE, ["i j k", "j/8 i/8 k i j"]),
        (DIVIDED, ["i j k", "k j/4 i j", "i/3 k j i"]),
        (TOGETHER, ["i j k", "j/4 k i j"]),
    ],
    ids=["triangle", "divided", "together"],
)
def test_scattered_images(
    work: Work, orders: list[str], line_bytes: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """isl counts none of them, and neither the elements nor the lines differ from those of an enumeration."""

    def counted(*arguments: object) -> int:
        raise AssertionError("isl counts")

    monkeypatch.setattr(footprints, "count", counted)
    monkeypatch.setattr(reuse_isl, "_nests", {})
    scop, chosen = make_scop([work]), schedules(work, orders)
    table = working_sets_of_many(scop, chosen, CACHES, method="isl", line_bytes=line_bytes)
    assert not table.failures
    for schedule, found in zip(chosen, table, strict=True):
        expected = enumerate_working_sets([work], scop, schedule, CACHES, line_bytes=line_bytes)
        assert found == replace(expected, method="isl")


@pytest.mark.parametrize("line_bytes", [None, 64])
@pytest.mark.parametrize("limit", ["MOST_POINTS", "MOST_ELEMENTS", "_MOST_BITS"])
def test_beyond_the_limits(limit: str, line_bytes: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is too large is left to isl, and what is not kept is enumerated again."""
    work = Work("S", (("i", 0, 5), ("j", 0, 5)), (("read", "B", ("3 * i + 2 * j",)), ("write", "C", ("i",))), "j <= i")
    scop, chosen = make_scop([work]), schedules(work, ["i j", "j/2 i j"])
    monkeypatch.setattr(footprints, limit, 8)
    monkeypatch.setattr(footprints, "_FEW_POINTS", 8)
    monkeypatch.setattr(reuse_isl, "_nests", {})
    for schedule, found in zip(
        chosen, working_sets_of_many(scop, chosen, CACHES, method="isl", line_bytes=line_bytes), strict=True
    ):
        expected = enumerate_working_sets([work], scop, schedule, CACHES, line_bytes=line_bytes)
        assert found == replace(expected, method="isl")


def elements_in(relation: str, bounds: Box, extents: tuple[int, ...]) -> Elements | None:
    enumerated = enumerated_relation(isl.Map(relation))
    assert enumerated is not None
    return enumerated.elements(bounds, array_of(extents), range(len(extents)))


def array_of(extents: tuple[int, ...]) -> Array:
    return Array("A", "float", 4, extents, "parameter")


@pytest.mark.parametrize(
    ("relation", "extents"),
    [
        ("[i, j] -> [32i + 33j] : j > i", (700,)),
        ("[i, j] -> [floor(i / 4), i mod 4, j] : (i + j) mod 3 = 1", (3, 4, 11)),
        ("[i, j] -> [floor((i + floor(j / 3)) / 2), 2i]", (8, 20)),
        ("[i, j] -> [x] : 3x = 2i + j", (11,)),
        ("[i, j] -> [2i + j] : i < 3 or j > 7", (40,)),
        ("[i, j] -> [i, j]", (10, 11)),
    ],
)
@pytest.mark.parametrize("bounds", [((0, 9), (0, 10)), ((2, 5), (3, 9)), ((4, 4), (8, 8))])
def test_elements(relation: str, extents: tuple[int, ...], bounds: Box) -> None:
    """Each iteration alone, as isl maps it, beside all at once."""
    text = f"{{ {relation}{' and' if ':' in relation else ' :'} 0 <= i <= 9 and 0 <= j <= 10 }}"
    indices = set()
    for point in product(*(range(low, high + 1) for low, high in bounds)):
        image = isl.Map(text).intersect_domain(isl.Set(f"{{ [{point[0]}, {point[1]}] }}")).range()
        if not image.is_empty():
            indices.add(tuple(image.dim_min_val(d).to_python() for d in range(len(extents))))
    found = elements_in(text, bounds, extents)
    if not indices:
        assert found is None
        return
    assert found is not None
    strides = array_of(extents).strides
    expected = sorted(sum(s * i for s, i in zip(strides, index, strict=True)) for index in indices)
    assert found.positions.tolist() == expected
    assert found.box == tuple((min(column), max(column)) for column in zip(*indices, strict=True))
    volume = len(set(product(*(range(low, high + 1) for low, high in found.box))))
    assert (found.product is not None) == (volume == len(indices))
    for per_line in (1, 3, 16):
        lines = positions_of([found]).lines(per_line)
        numbers = [lines.first + n for n in range(lines.mask.bit_length()) if lines.mask >> n & 1]
        assert numbers == sorted({position // per_line for position in expected})


def test_what_is_not_enumerated() -> None:
    assert enumerated_relation(isl.Map("{ [i] -> [x] : 0 <= x <= i <= 9 }")) is None
    # Element [0][12] would have the position of [1][2].
    assert elements_in("{ [i] -> [0, i] : 0 <= i <= 12 }", ((0, 12),), (2, 10)) is None
    assert elements_in("{ [i] -> [i - 1] : 0 <= i <= 12 }", ((0, 12),), (20,)) is None
    assert elements_in(f"{{ [i] -> [{1 << 60}i] : 0 <= i <= 12 }}", ((0, 12),), (20,)) is None
    assert elements_in("{ [i] -> [i] : 5 <= i <= 12 }", ((0, 3),), (20,)) is None
    assert product_positions(((0, 3), (5, 10)), array_of((4, 10))) is None


def test_a_union_of_a_product_and_positions() -> None:
    array = array_of((6, 10))
    rows = product_positions(((1, 2), (3, 9)), array)
    diagonal = elements_in("{ [i] -> [i, i + 1] : 0 <= i < 6 }", ((0, 5),), (6, 10))
    assert rows is not None
    assert diagonal is not None
    assert rows == Positions(13, 0b1111111_000_1111111)
    # [2][3] is in both.
    assert positions_union_size([rows, positions_of([diagonal])]) == 14 + 6 - 1


def test_parts_without_a_common_iterator() -> None:
    """Their positions add up: those of a diagonal in the last two dimensions, in two of four planes."""
    array = array_of((4, 3, 3))
    planes = enumerated_relation(isl.Map("{ [i] -> [2i] : 0 <= i < 2 }"))
    diagonal = enumerated_relation(isl.Map("{ [i] -> [i, i] : 0 <= i < 3 }"))
    assert planes is not None
    assert diagonal is not None
    parts = planes.elements(((0, 1),), array, (0,)), diagonal.elements(((0, 2),), array, (1, 2))
    together = positions_of([part for part in parts if part is not None])
    assert together == Positions(0, sum(1 << 18 * plane + 4 * n for plane in range(2) for n in range(3)))


@pytest.mark.slow
def test_enumerations_use_the_quota(monkeypatch: pytest.MonkeyPatch) -> None:
    """A nest of 160,801 iterations, whose image isl would count for long, in less than so many operations."""
    monkeypatch.setattr(reuse_isl, "_nests", {})
    monkeypatch.setattr(reuse_isl, "OPERATIONS", 150_000)
    loops = (("i", 0, 400), ("j", 0, 400))
    work = Work("S", loops, (("read", "B", ("2 * i + 3 * j",)), ("write", "C", ("0",))), "j <= i")
    found = working_sets_of_many(make_scop([work]), schedules(work, ["i j"]), CACHES, method="isl")
    assert "operations that are left" in found.failures[0].message
    with quota(isl.DEFAULT_CONTEXT, 1000):
        spend(400, isl.Set("{ [0] }"), cost=1)
        with pytest.raises(AnalysisError, match="the 600 operations that are left"):
            spend(601, isl.Set("{ [0] }"), cost=1)
