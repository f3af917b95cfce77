"""Ranges of sizes as people write them, and the shapes that are sampled from them."""

from __future__ import annotations

import pytest

from polydl.errors import OptionError
from polydl.libraries.ranges import SizeRange, leading_dimensions, size_ranges
from polydl.libraries.shapes import Shape, sampled_shapes


def test_ranges_hold_what_they_say() -> None:
    even, steps, listed = size_ranges(["M=1..4096", "K=64..4100:64", "N=256,64,1024"])
    assert (even.low, even.high, even.count) == (1, 4096, 4096)
    assert (steps.low, steps.high, steps.count) == (64, 4096, 64)
    assert (listed.low, listed.high, listed.count) == (64, 1024, 3)
    assert 65 in even
    assert 65 not in steps
    assert 128 in steps
    assert 128 not in listed
    assert [str(each) for each in (even, steps, listed)] == ["M=1..4096", "K=64..4096:64", "N=64,256,1024"]
    assert size_ranges({"M": "1..4096", "N": "64,256,1024"}) == (even, listed)


@pytest.mark.parametrize("size", [-3, 1, 63, 64, 95, 97, 300, 10**9])
def test_the_nearest_size_is_in_the_range(size: int) -> None:
    for each in size_ranges(["M=1..4096", "K=64..4100:64", "N=256,64,1024"]):
        best = each.nearest(size)
        others = each.listed or range(each.low, each.high + 1, each.step)
        assert best in each
        assert abs(best - size) == min(abs(other - size) for other in others)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("M", "there is no NAME="),
        ("=1..3", "there is no NAME="),
        ("M=", "is no range of sizes"),
        ("M=1-4", "is no range of sizes"),
        ("M=1..4:x", "is no range of sizes"),
        ("M=9..4", "it begins above its end"),
        ("M=0..4", "a size is 0"),
        ("M=4,0", "a size is 0"),
        ("M=1..9999999999", "a size is 9999999999"),
        ("M=1..9:0", "the step is 0"),
        (f"M=1..{'9' * 5000}", "is no range of sizes"),
        ("M=4,4", "a size is listed twice"),
    ],
)
def test_what_is_no_range_is_refused(text: str, message: str) -> None:
    with pytest.raises(OptionError, match=message) as raised:
        SizeRange.parse(text)
    assert text in str(raised.value)
    assert raised.value.remedy


def test_a_size_has_one_range() -> None:
    with pytest.raises(OptionError, match="--range M is given twice"):
        size_ranges(["M=1..4", "M=8"])
    with pytest.raises(OptionError, match="no size has a range"):
        size_ranges([])


def test_sampled_shapes_are_spread_and_the_same_for_the_same_seed() -> None:
    ranges = size_ranges(["M=1..4096", "N=64,256", "K=64..4096:64"])
    shapes = sampled_shapes(ranges, 200, seed=3)
    assert shapes == sampled_shapes(ranges, 200, seed=3) != sampled_shapes(ranges, 200, seed=4)
    assert len({tuple(shape.values()) for shape in shapes}) == 200
    assert all(shape[each.name] in each for shape in shapes for each in ranges)
    assert shapes[0] == {"M": 1, "N": 64, "K": 64}
    assert shapes[1] == {"M": 4096, "N": 256, "K": 4096}
    rows = [shape["M"] for shape in shapes]
    powers = {1 << power for power in range(13)}
    assert any(row in powers for row in rows)
    assert any(row + 1 in powers for row in rows)
    assert sum(row < 64 for row in rows) > 50  # log-uniform: half of them are below the geometric mean
    # Every fourth at an edge, one size after the other.
    assert sum(row == 1 for row in rows) >= 200 // 4 // 3
    assert sum(shape["K"] == 64 for shape in shapes) >= 200 // 4 // 3


def test_no_shape_but_the_smallest_is_larger_than_can_be_measured() -> None:
    ranges = size_ranges(["M=1..8192", "N=6..6000:3", "K=5,700,60000"])
    volume = 3_000_000

    def measurable(shape: Shape) -> bool:
        return shape["M"] * shape["N"] * shape["K"] <= volume

    shapes = sampled_shapes(ranges, 40, seed=0, measurable=measurable)
    assert len(shapes) == 40
    assert all(measurable(shape) for shape in shapes)
    assert all(shape[each.name] in each for shape in shapes for each in ranges)
    largest = shapes[1]
    assert largest["M"] * largest["N"] * largest["K"] > volume // 4
    assert len(sampled_shapes(ranges, 40, seed=0, measurable=lambda shape: False)) == 1


def test_a_small_range_has_as_many_shapes_as_it_has() -> None:
    shapes = sampled_shapes(size_ranges(["M=1..2", "N=3,5"]), 50, seed=0)
    assert {tuple(shape.values()) for shape in shapes} == {(1, 3), (1, 5), (2, 3), (2, 5)}


def test_leading_dimensions_are_at_least_a_size() -> None:
    texts, leading = leading_dimensions({"M": "1..4096", "K": "64,128", "lda": "K..", "ldc": "M.."})
    assert texts == ("M=1..4096", "K=64,128")
    assert [(each.name, each.least, str(each)) for each in leading] == [
        ("lda", "K", "lda=K.."),
        ("ldc", "M", "ldc=M.."),
    ]
    with pytest.raises(OptionError, match="N has no range"):
        leading_dimensions(["M=1..9", "lda=N.."])
    with pytest.raises(OptionError, match="--range lda is given twice"):
        leading_dimensions(["M=1..9", "lda=M..", "lda=M.."])
