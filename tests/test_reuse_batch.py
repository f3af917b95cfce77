"""What the analysis of many schedules at once leaves out, since it is the same elsewhere or known without a search."""

from __future__ import annotations

import random
from itertools import permutations, product

import numpy as np
import pytest

from polydl.reuse.batch import images, repetitions
from polydl.reuse.batch.images import Images, _ArrayImages
from polydl.reuse.batch.intervals import Pieces
from polydl.reuse.batch.repetitions import without_repetitions
from polydl.reuse.batch.single_iterators import Dimension, single_iterator_points
from polydl.reuse.boxes import Subscript
from polydl.reuse.groups import Bounds, CoupledDimension, CoupledIterators, Linear, group_table

IDENTITY: tuple[Linear, ...] = ((((0, 1), (1, -1)), 0),)
KINDS: dict[str, tuple[tuple[Bounds, ...], tuple[Bounds, ...], tuple[Linear, ...]]] = {
    "source alone": (((2, 13),), (), ()),
    "target alone": ((), ((2, 13),), ()),
    "any two": (((2, 13),), ((2, 13),), ()),
    "equal ones": (((2, 13),), ((2, 13),), IDENTITY),
    "one value": (((2, 2),), ((2, 2),), ()),
}


@pytest.mark.parametrize("kind", KINDS)
def test_single_iterators_need_no_search(kind: str) -> None:
    """All orders of some tiles: what is said is what the search finds, and little is left to it."""
    sources, targets, equations = KINDS[kind]
    decided = left = 0
    for sizes in ((1,), (4, 1), (4, 2, 1), (6, 4, 1), (8, 4, 1), (12, 1), (16, 4, 1)):
        for ordered in permutations(sizes):
            for shared in range(len(sizes) + 1) if sources and targets else (0,):
                dimensions = [Dimension(number < shared, size, 2, 1) for number, size in enumerate(ordered)]
                points = single_iterator_points(sources, targets, equations, dimensions)
                if points is None:
                    left += 1
                    continue
                decided += 1
                steps = []
                for together, size, origin, direction in dimensions:
                    if together:
                        steps.append(CoupledDimension(0, 0, size, origin, direction))
                    else:
                        steps += [CoupledDimension(0, -1, size, origin, direction)] if sources else []
                        steps += [CoupledDimension(-1, 0, size, origin, direction)] if targets else []
                table = group_table(CoupledIterators(sources, targets, equations, tuple(steps)))
                assert len(points) == shared + 1
                for common, (earliest, strict) in enumerate(points):
                    found = table.points(common, False)
                    assert earliest == (None if found is None else (*found.source, *found.nearest, *found.farthest))
                    if common < shared:
                        found = table.points(common, True)
                        assert strict == (None if found is None else (*found.source, *found.nearest, *found.farthest))
    assert decided > 5 * left
    assert decided > 10


def test_other_groups_are_left_to_the_search() -> None:
    one, other = ((0, 9),), ((0, 8),)
    upwards, downwards = Dimension(True, 1, 0, 1), Dimension(True, 1, 0, -1)
    shifted: tuple[Linear, ...] = ((((0, 1), (1, -1)), 1),)
    assert single_iterator_points(one, one, (), [upwards]) is not None
    assert single_iterator_points(one, other, (), [upwards]) is None
    assert single_iterator_points(one, one, (), [downwards]) is None
    assert single_iterator_points(one, one, shifted, [upwards]) is None
    assert single_iterator_points(one, one, (), [Dimension(True, 1, 5, 1)]) is None
    assert single_iterator_points((*one, *one), one, (), [upwards]) is None


def some_pieces(generator: random.Random, count: int) -> list[Pieces]:
    """Pieces of two statements in so many intervals, of which many are the same."""
    different = [
        [[tuple(sorted(generator.choices(range(3), k=2))) for _ in range(generator.randint(0, 3))] for _ in range(2)]
        for _ in range(6)
    ]
    chosen = [generator.choice(different) for _ in range(count)]
    pieces = []
    for statement in range(2):
        boxes = [(span, box) for span, own in enumerate(chosen) for box in own[statement]]
        generator.shuffle(boxes)
        spans = np.array([span for span, _ in boxes], dtype=np.int64)
        low, high = (np.array([[box[end] for _, box in boxes]], dtype=np.int64) for end in range(2))
        pieces.append(Pieces(spans, low, high))
    return pieces


def boxes_of(pieces: list[Pieces], interval: int) -> list[list[tuple[int, int]]]:
    found = []
    for each in pieces:
        at = np.nonzero(each.span == interval)[0]
        found.append(sorted(zip(each.low[0, at].tolist(), each.high[0, at].tolist(), strict=True)))
    return found


def test_intervals_with_the_same_pieces_are_one() -> None:
    for seed in range(20):
        pieces = some_pieces(random.Random(seed), 40)
        different, left, of = without_repetitions(40, pieces)
        before, after = [boxes_of(pieces, n) for n in range(40)], [boxes_of(left, n) for n in range(different)]
        assert [after[number] for number in of] == before
        assert different == len({str(each) for each in before}) <= 6


def test_different_pieces_with_the_same_key_stay_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repetitions, "_keys", lambda pieces, _: np.ones(len(pieces.span), dtype=np.uint64))
    pieces = some_pieces(random.Random(0), 40)
    different, left, of = without_repetitions(40, pieces)
    assert different == 40
    assert [boxes_of(left, n) for n in of] == [boxes_of(pieces, n) for n in range(40)]


@pytest.mark.parametrize("most", [1, 100, 1 << 16])
def test_arrays_are_counted_together_as_by_themselves(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of one and of two dimensions, of one statement and of both, some in residues, others next to each other."""
    one, far, stretched = (Subscript(((0, each),), each, scattered=each > 1) for each in (1, 2, 3))
    arrays = [
        _ArrayImages(((0, (one,)), (1, (one,))), ((),)),
        _ArrayImages(((0, (one, far)),), ((), (2,))),
        _ArrayImages(((1, (stretched,)),), ((3,),)),
        _ArrayImages(((0, (one, one)), (1, (one, one))), ((), ())),
        _ArrayImages(((0, (far,)), (1, (far,))), ((2,),)),
    ]
    monkeypatch.setattr(images, "_MOST_WAITING", most)
    for seed in range(5):
        pieces = some_pieces(random.Random(seed), 40)
        together = Images(arrays).sizes(40, pieces)
        for array, sizes in zip(arrays, together, strict=True):
            touched = [set[tuple[int, ...]]() for _ in range(40)]
            for statement, subscripts in array.references:
                each = pieces[statement]
                for span, low, high in zip(
                    each.span.tolist(), each.low[0].tolist(), each.high[0].tolist(), strict=True
                ):
                    corner = [(s.terms[0][1], s.constant) for s in subscripts]
                    values = [{factor * i + more for i in range(low, high + 1)} for factor, more in corner]
                    touched[span] |= set(product(*values))
            assert sizes.tolist() == [len(points) for points in touched]
