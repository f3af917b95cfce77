"""Predicted cache traffic: lines against enumeration, misses against simulated caches."""

from __future__ import annotations

import random
from collections import OrderedDict
from dataclasses import replace
from itertools import permutations, product
from pathlib import Path

import numpy as np
import pytest
from nest_factory import Work, convolution, make_scop, matmul

from polydl.contracts import GemmShape, Microkernel
from polydl.ir.scop import Scop
from polydl.ir.variant import Interchange, Step, Tile, UseMicrokernel, Variant
from polydl.machine import Core
from polydl.machine.processors import generic
from polydl.microkernels.libxsmm import LIBXSMM
from polydl.microkernels.plain_c import PLAIN_C
from polydl.model.cache_sets import Geometry, geometry
from polydl.model.misses import Walk, misses_of, nest_misses
from polydl.model.traffic import _between, missed_lines, traffic
from polydl.plan.nest_plan import Plan, trips
from polydl.plan.plan import make_plan
from polydl.poly.dependences import dependences
from polydl.poly.nests import distribute
from polydl.reuse.references import time_of

ROOT = Path(__file__).parents[1]
LINE = 64
CORE = generic(("avx2",), 32, LINE)


def plan_of(scop: Scop, *steps: Step) -> Plan:
    return make_plan(scop, distribute(scop, dependences(scop)), Variant(steps))


def ordered(scop: Scop, order: str, *tiles: Tile) -> Plan:
    return plan_of(scop, *tiles, Interchange(0, tuple(order.split())))


def fully_associative(*lines: int) -> list[Geometry]:
    return [Geometry(1, each) for each in lines]


def filled(scop: Scop, plan: Plan, lines: int) -> list[dict[str, float]]:
    return [dict(nest[0]) for nest in missed_lines(scop, plan, fully_associative(lines), CORE)]


# --------------------------------------------------------------------------------------
# How often lines are brought in


class Lru:
    """A set-associative cache that keeps the lines used last."""

    def __init__(self, cache: Geometry) -> None:
        self.ways = cache.ways
        self.sets: list[OrderedDict[int, None]] = [OrderedDict() for _ in range(cache.sets)]
        self.misses = 0

    def use(self, line: int) -> None:
        held = self.sets[line % len(self.sets)]
        if line in held:
            held.move_to_end(line)
            return
        self.misses += 1
        held[line] = None
        if len(held) > self.ways:
            held.popitem(last=False)


def simulated(scop: Scop, works: list[Work], plan: Plan, caches: list[Geometry]) -> list[int]:
    """Misses of the accesses, instance by instance in the order of the plan's schedule."""
    starts, end = {}, 0
    for array in scop.arrays:
        starts[array.name] = end
        end += -(-array.bytes // LINE) * LINE
    timed = []
    for work in works:
        dimensions, statement = plan.schedule.of(work.name), scop.statement(work.name)
        forms = []
        for access in statement.accesses:
            assert access.subscripts is not None
            forms.append((access.array, list(zip(scop.array(access.array).strides, access.subscripts, strict=True))))
        for point in work.instances():
            lines = [(starts[name] + 4 * sum(s * form.at(point) for s, form in each)) // LINE for name, each in forms]
            timed.append((time_of(dimensions, point), lines))
    timed.sort(key=lambda entry: entry[0])
    models = [Lru(cache) for cache in caches]
    for _, lines in timed:
        for line in lines:
            for model in models:
                model.use(line)
    return [model.misses for model in models]


@pytest.mark.slow
def test_a_product_in_any_order_and_cache() -> None:
    work = matmul(20, 24, 28)
    scop = make_scop([work])
    caches = [*fully_associative(12, 40, 90), Geometry(8, 4)]
    tiled = [(), (Tile(0, "i", (6,)),), (Tile(0, "j", (16,)), Tile(0, "k", (8,)))]
    predicted, exact = [], []
    for tiles, seed in zip(tiled, (0, 1, 2), strict=True):
        names = [name for tile in tiles for name in (f"{tile.loop}_t1",)]
        orders = [(*names, *order) for order in permutations("ijk")]
        for order in random.Random(seed).sample(orders, 4):
            plan = ordered(scop, " ".join(order), *tiles)
            [levels] = missed_lines(scop, plan, caches, CORE)
            predicted.append([sum(level.values()) for level in levels])
            exact.append(simulated(scop, [work], plan, caches))
    ratios = np.array(predicted) / np.array(exact)
    assert np.median(np.abs(ratios - 1)) < 0.06
    assert ratios.min() > 0.4
    assert ratios.max() < 2.0


def test_linear_subscripts_count_like_several_dimensions() -> None:
    loops = (("i", 0, 19), ("j", 0, 47))
    flat = make_scop([Work("S", loops, (("read", "A", ("i * 48 + j",)),))])
    square = make_scop([Work("S", loops, (("read", "A", ("i", "j")),))])
    for lines, order in product((2, 10, 30), ("i j", "j i")):
        assert filled(flat, ordered(flat, order), lines) == filled(square, ordered(square, order), lines)


def test_what_does_not_fit_comes_again_in_every_iteration() -> None:
    scop = make_scop([matmul(16, 32, 64)])
    # C has 2 lines a row, A 4, B 128 in all.
    assert filled(scop, ordered(scop, "i j k"), 1000) == [{"C": 32, "A": 64, "B": 128}]
    assert filled(scop, ordered(scop, "i j k"), 150) == [{"C": 32, "A": 64, "B": 128}]
    # A column of B, 64 lines, serves the next one: it holds 16 of them.
    assert filled(scop, ordered(scop, "i j k"), 100) == [{"C": 32, "A": 64, "B": 16 * 128}]
    assert filled(scop, ordered(scop, "i j k"), 40)[0]["B"] == 16 * 32 * 64
    assert filled(scop, ordered(scop, "k i j"), 10) == [{"C": 64 * 32, "A": 16 * 64, "B": 128}]


def test_tiles_that_do_not_divide_their_loop() -> None:
    """Two full tiles of B are too large for the cache, the shorter last one isn't."""
    scop = make_scop([matmul(12, 16, 40)])
    tile = (Tile(0, "k", (16,)),)
    [found] = filled(scop, ordered(scop, "k_t1 i k j", *tile), 16)
    assert found["B"] == pytest.approx(32 * 12 + 8, rel=0.02)
    [large] = filled(scop, ordered(scop, "k_t1 i k j", *tile), 24)
    assert large["B"] == pytest.approx(40)


def test_rows_a_page_apart_compete_for_few_sets() -> None:
    def first_level(row: int) -> float:
        work = Work(
            "S",
            (("t", 0, 9), ("i", 0, 31), ("j", 0, 15)),
            (("read", "A", ("i", "j")), ("read", "A", ("31", f"{row} - 1"))),
        )
        scop = make_scop([work])
        [levels] = missed_lines(scop, ordered(scop, "t i j"), [geometry(32 << 10, CORE)], CORE)
        return levels[0]["A"]

    assert first_level(1040) == pytest.approx(33, abs=1)
    assert first_level(1024) > 300


def test_lines_between_short_rows_come_twice() -> None:
    """Columns outside: the line that ends one row and begins the next is used at first and at last."""
    scop = make_scop([Work("S", (("i", 0, 39), ("j", 0, 39)), (("read", "A", ("i", "j")),))])
    assert filled(scop, ordered(scop, "i j"), 60) == [{"A": 100}]
    assert filled(scop, ordered(scop, "j i"), 1000) == [{"A": 100}]
    [found] = filled(scop, ordered(scop, "j i"), 60)
    assert found["A"] == pytest.approx(simulated_lines(40, 60), rel=0.02)


def simulated_lines(size: int, lines: int) -> int:
    cache = Lru(Geometry(1, lines))
    for j, i in product(range(size), repeat=2):
        cache.use((i * size + j) * 4 // LINE)
    return cache.misses


def test_scalars_and_unknown_subscripts() -> None:
    works = [Work("S", (("i", 0, 63),), (("read", "A", ("i // 2",)), ("write", "s", ())))]
    scop = make_scop(works)
    assert filled(scop, plan_of(scop), 10) == [{"A": 2, "s": 1}]


def sweeps(times: int) -> list[Work]:
    loops = (("t", 0, times - 1), ("i", 0, 31), ("j", 0, 31))
    return [
        Work("S", loops, (("read", "A", ("i", "j")), ("write", "B", ("i", "j"))), betas=(0, 0, 0, 0)),
        Work("T", loops, (("read", "B", ("i", "j")), ("write", "A", ("i", "j"))), betas=(0, 1, 0, 0)),
    ]


def test_a_nest_finds_what_another_has_left() -> None:
    works = sweeps(4)
    scop = make_scop(works)
    assert len(plan_of(scop).nests) == 2
    first, second = filled(scop, plan_of(scop), 200)
    assert first == pytest.approx({"A": 64, "B": 64})
    assert second == pytest.approx({"A": 0, "B": 0})
    same = [sum(nest.values()) for nest in filled(scop, plan_of(scop), 100)]
    assert same == pytest.approx([4 * 128, 4 * 128])
    # The second nest comes by columns: what the first did last is there for a part of them.
    crossed = plan_of(scop, Interchange(1, ("j", "i")))
    predicted = sum(sum(nest.values()) for nest in filled(scop, crossed, 100))
    [exact] = simulated(scop, works, crossed, fully_associative(100))
    assert exact < 0.9 * sum(same)
    assert predicted == pytest.approx(exact, rel=0.15)


def test_a_microkernel_reads_a_once_per_block_of_columns() -> None:
    """24 columns of 16 floats stay in registers, so that A, too large for the cache, comes twice and not 48 times."""
    scop = make_scop([matmul(48, 16, 512)])
    kernel = UseMicrokernel(0, "any", "j", "i", "k")
    plan = plan_of(scop, kernel)
    [found] = filled(scop, plan, 100)
    assert found["B"] == 2 * 512
    assert found["C"] == 48
    # One that says that it keeps 12 of them brings them in four times.
    [[again]] = missed_lines(scop, plan, fully_associative(100), CORE, {0: (16, 12)})
    assert again["B"] == 4 * 512


def test_microkernels_say_what_they_keep_in_registers() -> None:
    def block(m: int, n: int, k: int, kernel: Microkernel = PLAIN_C) -> tuple[int, int] | None:
        return kernel.register_block(GemmShape("float", "float", m, n, k, 1, m, m, k, 1), 16)

    # Few steps: high blocks. Many: wide ones, so that A comes from the second cache as rarely as may be.
    assert block(64, 12, 32) == (64, 6)
    assert block(64, 8, 512) == (32, 8)
    assert block(64, 12, 512, LIBXSMM) == block(96, 12, 32, LIBXSMM) == (64, 6)


def test_extents_and_trips() -> None:
    scop = make_scop([matmul(30, 8, 8)])
    plan = ordered(scop, "i_t2 i_t1 j k i", Tile(0, "i", (16, 8)))
    assert trips(plan.nests[0]) == (2, 2, 8, 8, 8)
    inside = nest_misses(scop, plan.nests[0], CORE, (Geometry(64, 8),))
    assert [loop.trips for loop in inside.loops] == [2, 2, 8, 8, 7.5]
    assert [tuple(each.by_iterator[0]) for each in inside.extents] == [
        (30, 30, 30, 30), (15, 16, 14, 30), (7.5, 8, 6, 30), (7.5, 8, 6, 30), (7.5, 8, 6, 30), (1, 1, 1, 30)
    ]  # fmt: skip


def slowed(rows: int, columns: int, order: str, *tiles: Tile, plain: bool, core: Core = CORE) -> list[float]:
    """How much longer the lines of two arrays take that are walked through alike."""
    loops = (("i", 0, rows - 1), ("j", 0, columns - 1))
    scop = make_scop([Work("S", loops, (("read", "A", ("i", "j")), ("write", "B", ("i", "j"))))])
    caches = tuple([geometry(size, CORE) for size in (32 << 10, 256 << 10, 64 << 20)])
    [nest] = ordered(scop, order, *tiles).nests
    known = nest_misses(scop, nest, core, caches)
    assert known.plain
    touched, walked = tuple(each.stream for each in known.streams), tuple(loop.walked for loop in known.loops)
    return misses_of(touched, 0, nest.bounds, walked, core, caches, plain).slowdowns


def test_how_well_prefetchers_keep_up_with_microkernels() -> None:
    # Of each run the first KiB is not followed yet.
    def begun(run: int) -> float:
        return 1024 / run

    # Whole rows of 16 KiB one after the other: a single run at a time.
    assert slowed(4, 4096, "i j", plain=False) == pytest.approx([2 + begun(65536)] * 2)
    # Rows in other pages, an element of each in turn: the more, the better, as long as they can be followed.
    assert slowed(2, 4096, "j i", plain=False) == pytest.approx([2 - 1 / 3 + begun(16384)] * 2, rel=1e-6)
    assert slowed(8, 4112, "j i", plain=False) == pytest.approx([1 + begun(16448)] * 2)
    assert slowed(24, 4112, "j i", plain=False) == pytest.approx([1 + begun(16448)] * 2)
    # A line and two lines of more rows than are followed, a whole KiB of them, and eight of them only.
    for columns, factor in ((16, 4.0), (32, 3.0), (256, 3.0), (64, 2.5)):
        tile = Tile(0, "j", (columns,))
        assert slowed(64, 4352, "j_t1 i j", tile, plain=False) == pytest.approx([factor] * 2, rel=0.02), columns
    tiles = (Tile(0, "i", (8,)), Tile(0, "j", (16,)))
    assert slowed(64, 4352, "i_t1 j_t1 i j", *tiles, plain=False) == pytest.approx([1 + begun(17408)] * 2)
    # Eight rows in turn that are left after a KiB or more for all other rows, and rows that are left after a page.
    for columns in (256, 544, 1088):
        tiles = (Tile(0, "i", (8,)), Tile(0, "j", (columns,)))
        factor = 1 + begun(4 * columns)
        assert slowed(64, 4352, "j_t1 i_t1 j i", *tiles, plain=False) == pytest.approx([factor] * 2), columns
        factor = 2 + begun(4 * columns if columns == 1088 else 17408)
        assert slowed(64, 4352, "i_t1 j_t1 i j", *tiles, plain=False) == pytest.approx([factor] * 2), columns
    # A processor whose prefetcher a single run keeps busy.
    busy = replace(CORE, prefetch_busy_streams=1)
    assert slowed(4, 4096, "i j", plain=False, core=busy) == pytest.approx([1 + begun(65536)] * 2)


def test_how_well_prefetchers_keep_up_with_plain_loops() -> None:
    for rows, order in ((4, "i j"), (2, "j i"), (24, "j i")):
        assert slowed(rows, 4112, order, plain=True) == [1.0, 1.0]
    # More rows than are followed: the shorter each visit, the worse. Half a page is as far as several.
    for columns, factor in ((16, 3.0), (32, 2.0), (64, 1.5), (128, 1.25), (256, 1.0)):
        tile = Tile(0, "j", (columns,))
        assert slowed(64, 4352, "j_t1 i j", tile, plain=True) == pytest.approx([factor] * 2), columns
    assert slowed(64, 640, "j_t1 i j", Tile(0, "j", (16,)), plain=True) == [3.0, 3.0]
    assert slowed(64, 640, "i j", plain=True) == [1.0, 1.0]


def test_gaps_that_an_inner_loop_fills_are_no_gaps() -> None:
    def taps(order: str, channels: int, *tiles: Tile) -> float:
        loops = (("x", 0, 199), ("c", 0, channels - 1), ("k", 0, 2))
        scop = make_scop([Work("S", loops, (("read", "A", ("64*x + 64*k + c",)), ("write", "B", ("64*x + c",))))])
        [nest] = ordered(scop, order, *tiles).nests
        caches = tuple([geometry(size, CORE) for size in (32 << 10, 256 << 10)])
        return nest_misses(scop, nest, CORE, caches).slowdowns[0]

    # Three taps of 256 bytes lie beside each other once all channels are through, in whatever order.
    assert taps("x c k", 64) == taps("x k c", 64) == taps("c_t1 x c k", 64, Tile(0, "c", (8,))) == 1.0
    # Of each 256 bytes 64 are used.
    assert taps("x c k", 16) == taps("x k c", 16) == 2.0


def test_few_rows_in_turn_cost_plain_loops_something_on_some_processors() -> None:
    core = replace(CORE, prefetch_turns_slowdown=2.5)
    # Of 32 runs at most: the more, the less.
    for rows, factor in ((2, 2.2), (4, 1.9), (8, 1.6), (32, 1.0)):
        assert slowed(rows, 4112, "j i", plain=True, core=core) == pytest.approx([factor] * 2), rows
    # Row by row, and in visits of more than a line.
    assert slowed(8, 4112, "i j", plain=True, core=core) == [1.0, 1.0]
    assert slowed(8, 4096, "j_t1 i j", Tile(0, "j", (32,)), plain=True, core=core) == [1.0, 1.0]


def test_rows_that_were_read_before_are_no_runs_in_turn() -> None:
    core = replace(CORE, prefetch_turns_slowdown=2.5)
    loops = (("i", 0, 63), ("r", 0, 2), ("j", 0, 4111))
    scop = make_scop([Work("S", loops, (("read", "A", ("i + r", "j")), ("write", "B", ("i", "j"))))])
    caches = tuple([geometry(size, core) for size in (32 << 10, 256 << 10, 64 << 20)])
    [nest] = ordered(scop, "i j r").nests
    assert nest_misses(scop, nest, core, caches).slowdowns == [1.0, 1.0]


def test_traffic_weighs_writes_and_how_well_prefetchers_keep_up() -> None:
    loops = (("i", 0, 63), ("j", 0, 4351))
    scop = make_scop([Work("S", loops, (("read", "A", ("i", "j")), ("write", "B", ("i", "j"))))])
    plan = ordered(scop, "j_t1 i j", Tile(0, "j", (32,)))
    # Into the first cache nothing is lost.
    size = 3 * 64 * 4352 * 4
    assert traffic(scop, plan, [32 << 10, 256 << 10, 64 << 20], CORE) == ((size, 2 * size, 2 * size),)


def test_a_parallel_loop_and_other_orders_of_a_convolution_are_finite() -> None:
    scop = make_scop([convolution(2, 2, 14, 3)])
    generator = random.Random(3)
    loops = list(scop.statements[0].iterators)
    for _ in range(30):
        generator.shuffle(loops)
        [levels] = missed_lines(
            scop, ordered(scop, " ".join(loops)), [geometry(s << 10, CORE) for s in (4, 32, 256)], CORE
        )
        totals = [sum(level.values()) for level in levels]
        assert totals == sorted(totals, reverse=True)
        assert totals[-1] == pytest.approx(sum(array.bytes for array in scop.arrays) / LINE, rel=0.01)


def test_shares_between_two_ways_are_those_of_all_points() -> None:
    """Orders of visits, seen point by point; ways that visit points in the same order have one answer."""
    ways: list[Walk] = [
        ((4096, 1, 96), (4, 1, 64)),
        ((4, 1, 64), (4096, 1, 96)),
        ((4096, 24, 96), (4, 16, 64), (4096, 1, 96), (4, 1, 64)),
        ((4, 100, 64),),
        ((8, 1, 10),),
        (),
    ]

    def order(way: Walk, strides: list[int]) -> list[int]:
        """When each point comes; ties, where no loop tells points apart, in the order of the points."""
        kept = [(strides.index(stride), size, extent) for stride, size, extent in way if stride in strides]
        points = list(product(range(10), repeat=len(strides)))
        visits = [tuple((point[d] + 0.5) / 10 * extent // size for d, size, extent in kept) for point in points]
        ranked = sorted(range(len(points)), key=lambda point: visits[point])
        return [ranked.index(point) if kept else 0 for point in range(len(points))]

    for before, after in product(ways, ways):
        strides = list(dict.fromkeys(stride for stride, _, _ in (*before, *after)))[:2]
        first, second = order(before, strides), order(after, strides)
        shares = [
            sum(f > mine or s < own for f, s in zip(first, second, strict=True)) / len(first)
            for mine, own in zip(first, second, strict=True)
        ]
        assert _between(before, after) == (tuple(sorted(shares)) if strides else (1.0,))
