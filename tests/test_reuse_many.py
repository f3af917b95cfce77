"""Working sets of many schedules together."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nest_factory import Work, convolution, in_order, make_scop, matmul, schedule_of
from reuse_enumeration import enumerate_working_sets
from reuse_examples import CACHES, MACHINE, schedules

from polydl import generate_variants, parse
from polydl.ir.schedule import Loop
from polydl.pipeline import analyze, analyze_variants, apply, candidates
from polydl.reuse import groups as reuse_groups
from polydl.reuse.batch.images import Images, _ArrayImages
from polydl.reuse.batch.intervals import Pieces
from polydl.reuse.batch.unions import union_sizes
from polydl.reuse.batch.working_sets import batch_reuse
from polydl.reuse.boxes import Subscript, box_nest
from polydl.reuse.working_sets import Method, working_sets, working_sets_of_many

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.mark.slow
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
        scop, plan = apply(nest, variant, machine=MACHINE).executed
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
        assert each.working_sets == analyze(apply(nest, variant, machine=MACHINE), MACHINE)


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
        monkeypatch.setattr("polydl.reuse.working_sets._BATCH", batch)
        told: list[int] = []
        table = working_sets_of_many(scop, iter(found), CACHES, progress=told.append)
        assert list(table) == expected
        assert told == [*range(batch, 6, batch), *([5] if 5 % batch else [])]
    assert [len(w.dependences) for w in expected] == np.diff(table.starts).tolist()


def test_tiles_within_tiles_are_counted_together() -> None:
    """Subscripts with three coefficients, as in tiles of an image in parts of it, and a flat index beside its parts."""
    loops = (("i", 0, 4), ("j", 0, 1), ("k", 0, 2), ("l", 0, 1))
    work = Work("S", loops, (("read", "B", ("4 * i + 2 * l + k + j",)), ("write", "C", ("6 * i + 2 * k + j",))))
    scop = make_scop([work])
    found = schedules(work, ["i j k l", "l k j i", "-k i l j", "i/2 l k i j", "j l/1 i/3 k i l"])
    nest = box_nest(scop)
    assert nest is not None
    together = batch_reuse(nest, None)
    assert together is not None
    assert together.working_sets(found).analysed.all()
    table = working_sets_of_many(scop, found, CACHES)
    assert list(table) == [working_sets(scop, each, CACHES) for each in found]
    assert list(table) == [enumerate_working_sets([work], scop, each, CACHES) for each in found]


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
    batch_reuse.cache_clear()
    monkeypatch.setattr(reuse_groups, "_NODES", 4)
    assert list(working_sets_of_many(scop, chosen, CACHES)) == expected
    monkeypatch.undo()
    reuse_groups.group_table.cache_clear()
    batch_reuse.cache_clear()
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
    first: tuple[int | Loop, ...], second: tuple[int | Loop, ...], method: Method
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
# Unions of boxes


ranges = st.tuples(st.integers(0, 6), st.integers(0, 4)).map(lambda pair: (pair[0], pair[0] + pair[1]))


@st.composite
def unions(draw: st.DrawFn) -> tuple[int, list[list[list[tuple[int, int]]]]]:
    dimensions = draw(st.integers(0, 4))
    box = st.lists(ranges, min_size=dimensions, max_size=dimensions)
    return dimensions, draw(st.lists(st.lists(box, max_size=9), min_size=1, max_size=4))


@settings(max_examples=150)
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


@settings(max_examples=50)
@given(unions(), st.integers(-1000, 1000))
def test_unions_that_are_shifted_have_the_same_size(
    drawn: tuple[int, list[list[list[tuple[int, int]]]]], shift: int
) -> None:
    dimensions, found = drawn
    boxes = [(owner, box) for owner, own in enumerate(found) for box in own]
    owner = np.array([each for each, _ in boxes], dtype=np.int64)
    corners = np.array([box for _, box in boxes], dtype=np.int64).reshape(len(boxes), dimensions, 2)
    both = np.concatenate([corners, corners + shift])
    sizes = union_sizes(2 * len(found), np.concatenate([owner, owner + len(found)]), both[:, :, 0].T, both[:, :, 1].T)
    assert sizes[: len(found)].tolist() == sizes[len(found) :].tolist()


# --------------------------------------------------------------------------------------
# Elements of arrays whose subscripts are a tile and a place in it


chains = st.sampled_from([(8,), (2, 4), (2, 8), (3, 9), (2, 4, 8), (2, 6, 12)])


@st.composite
def nested_tiles(draw: st.DrawFn) -> tuple[tuple[int, ...], list[list[list[tuple[int, int]]]]]:
    """Scales, and boxes of several intervals: a place in the finest tile, and the numbers of tiles of each scale."""
    scales = draw(chains)
    place = st.tuples(st.integers(-3, 9), st.integers(0, 9)).map(lambda pair: (pair[0], sum(pair)))
    box = st.tuples(place, *(ranges for _ in scales)).map(list)
    return scales, draw(st.lists(st.lists(box, min_size=1, max_size=3), min_size=1, max_size=4))


@settings(max_examples=200)
@given(nested_tiles(), st.lists(st.integers(-9, 9), min_size=1, max_size=3), st.booleans())
def test_residues_of_tiles_count_every_element_once(
    drawn: tuple[tuple[int, ...], list[list[list[tuple[int, int]]]]], constants: list[int], downward: bool
) -> None:
    """Each constant is a reference to ``A[8 * tile + place + constant]``, or to one with tiles within tiles."""
    scales, intervals = drawn
    factors = (-1 if downward else 1, *scales)
    references = tuple((0, (Subscript(tuple(enumerate(factors)), each, scattered=True),)) for each in constants)
    boxes = [(owner, box) for owner, own in enumerate(intervals) for box in own]
    span = np.array([owner for owner, _ in boxes])
    low, high = (np.array([[each[end] for each in box] for _, box in boxes]).T for end in (0, 1))
    [sizes] = Images([_ArrayImages(references, (scales,))]).sizes(len(intervals), [Pieces(span, low, high)])
    for number, own in enumerate(intervals):
        touched = {
            sum(factor * value for factor, value in zip(factors, point, strict=True)) + constant
            for box in own
            for point in product(*(range(first, last + 1) for first, last in box))
            for constant in constants
        }
        assert sizes[number] == len(touched)
