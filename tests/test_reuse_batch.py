"""What the analysis of many schedules at once leaves out, since it is the same elsewhere or known without a search."""

from __future__ import annotations

import random
from itertools import permutations

import numpy as np
import pytest

from polydl.reuse.batch import repetitions
from polydl.reuse.batch.intervals import Pieces
from polydl.reuse.batch.repetitions import without_repetitions
from polydl.reuse.batch.single_iterators import Dimension, single_iterator_points
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
