"""How many lines and sets streams of references touch, and whether what a cache holds stays there."""

from __future__ import annotations

import random
from itertools import product

import numpy as np
import pytest
from nest_factory import Work, make_scop

from polydl.machine.processors import generic
from polydl.model.cache_sets import Geometry, Occupancy, evicted, geometry
from polydl.model.footprints import ReferenceStream, footprint, streams

LINE = 64
CORE = generic(("avx2",), 32, LINE)


# --------------------------------------------------------------------------------------
# Footprints


def stream(*strides: int, element: int = 4, spread: tuple[tuple[int, float], ...] = ()) -> ReferenceStream:
    return ReferenceStream("A", strides, spread, element, 1 << 30, written=False)


def enumerated(steps: list[tuple[int, int]], element: int, starts: list[int], sets: int) -> tuple[float, float]:
    """Lines and sets that a box touches, on average over where it starts."""
    lines, used = [], []
    for start in starts:
        touched = set()
        for point in product(*(range(count) for _, count in steps)):
            at = start + sum(stride * n for (stride, _), n in zip(steps, point, strict=True))
            touched |= {at // LINE, (at + element - 1) // LINE}
        lines.append(len(touched))
        used.append(len({line % sets for line in touched}))
    return float(np.mean(lines)), float(np.mean(used))


@pytest.mark.parametrize(
    ("steps", "start"),
    [
        ([(4, 16)], 64),
        ([(4, 16)], 4),
        ([(4, 7), (64, 5)], 64),
        ([(4, 24), (608, 10)], 32),
        ([(608, 30)], 4),
        ([(4, 100), (400, 9)], 64),
        ([(4, 20), (160, 6), (960, 3)], 32),
        ([(64, 16), (1664, 24)], 64),
        ([(128, 12), (4096, 4)], 64),
        ([(8, 9), (4, 2)], 4),
        ([(144, 10), (144, 3)], 16),
    ],
)
def test_lines_are_those_of_all_alignments_on_average(steps: list[tuple[int, int]], start: int) -> None:
    exact, _ = enumerated(steps, 4, list(range(0, LINE, start)), 64)
    ranges = tuple((stride, float(count)) for stride, count in steps)
    found = footprint(stream(*(s for s, _ in steps)), ranges, start, LINE, (Geometry(64, 8),))
    assert found.lines == pytest.approx(exact, rel=0.02)


@pytest.mark.parametrize(
    ("steps", "sets"),
    [
        ([(4096, 24), (4, 16)], 64),
        ([(4096, 24), (4, 64)], 64),
        ([(544, 56)], 8),
        ([(1280, 20), (25600, 6)], 32),
        ([(14336, 10), (224, 3), (4, 24)], 32),
        ([(544, 152), (4, 16)], 128),
        ([(64, 40)], 64),
        ([(4624, 16)], 64),
    ],
)
def test_sets_are_those_that_the_lines_fall_into(steps: list[tuple[int, int]], sets: int) -> None:
    _, exact = enumerated(steps, 4, list(range(0, LINE, 4)), sets)
    ranges = tuple((stride, float(count)) for stride, count in steps)
    found = footprint(stream(*(s for s, _ in steps)), ranges, 4, LINE, (Geometry(sets, 8),))
    assert found.occupancy[0].sets == pytest.approx(exact, rel=0.25, abs=1.1)


def test_references_that_move_alike_are_one_stream() -> None:
    star = [("i", "j"), ("i", "j - 1"), ("i", "j + 1"), ("i - 1", "j"), ("i + 1", "j")]
    work = Work("S", (("i", 1, 30), ("j", 1, 46)), tuple(("read", "A", each) for each in star))
    [found] = streams(make_scop([work]), ("S",))
    assert found.strides == (4 * 48, 4)
    assert set(found.spread) == {(4 * 48, 3.0), (4, 3.0)}
    transposed = Work("S", (("i", 0, 7), ("j", 0, 7)), (("read", "A", ("i", "j")), ("read", "A", ("j", "i"))))
    assert [each.strides for each in streams(make_scop([transposed]), ("S",))] == [(32, 4), (4, 32)]


# --------------------------------------------------------------------------------------
# Sets


def test_geometries() -> None:
    assert geometry(32 << 10, CORE) == Geometry(64, 8)
    assert geometry(48 << 10, CORE) == Geometry(64, 12)
    assert geometry(1 << 20, CORE) == Geometry(64, 256)
    assert geometry(2048, CORE) == Geometry(4, 8)
    assert geometry(128 << 10, CORE, 16) == Geometry(128, 16)
    assert geometry(64, CORE) == Geometry(1, 1)


def test_what_fits_stays_and_what_is_too_much_goes() -> None:
    cache = Geometry(64, 8)
    assert evicted(Occupancy(256, 64), (Occupancy(256, 64),), cache) == 0.0
    assert evicted(Occupancy(256, 64), (Occupancy(320, 64),), cache) == 1.0
    # Rows a page apart: nine lines in each of four sets, and nothing anywhere else.
    assert evicted(Occupancy(36, 4), (), cache) == 1.0
    assert evicted(Occupancy(32, 4), (), cache) == 0.0


def test_chances_of_meeting_are_those_of_random_places() -> None:
    cache = Geometry(16, 4)
    generator = random.Random(0)
    own, others = Occupancy(8, 4), (Occupancy(6, 2), Occupancy(40, 16))
    gone = 0
    for _ in range(20_000):
        mine = generator.sample(range(16), 4)
        rows = generator.sample(range(16), 2)
        fuller = generator.sample(range(16), 40 - 2 * 16)
        gone += sum(2 + 3 * (place in rows) + 2 + (place in fuller) > cache.ways for place in mine)
    assert evicted(own, others, cache) == pytest.approx(gone / (4 * 20_000), abs=0.01)
