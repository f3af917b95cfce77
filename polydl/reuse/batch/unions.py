"""Exact sizes of very many unions of boxes at once.

Boxes that another one of their union contains go first; few are left as a rule. One or two are counted directly, some
more by inclusion and exclusion, and otherwise the union is cut across one dimension into slabs, each of which is a
union of fewer boxes in the other dimensions. Sums may wrap around on the way: sizes are below 2^63 in the end.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from polydl.reuse.encoding import Flags, Integers

_MOST_EXCLUDED = 4
# Elements of the largest intermediate arrays; more only means more memory.
_BLOCK = 1 << 20


@dataclass(frozen=True)
class _Unions:
    """Unions of equally many boxes: ``low`` and ``high`` are [dimension, box, union].

    ``valid`` says which boxes count. The size of each, ``weight`` times, belongs to ``owner``.
    """

    owner: Integers
    weight: Integers
    low: Integers
    high: Integers
    valid: Flags

    def of(self, unions: Integers | slice) -> _Unions:
        return _Unions(
            self.owner[unions],
            self.weight[unions],
            self.low[:, :, unions],
            self.high[:, :, unions],
            self.valid[:, unions],
        )


def union_sizes(count: int, owner: Integers, low: Integers, high: Integers) -> Integers:
    """The number of points in the boxes of each of ``count`` owners.

    ``low`` and ``high`` are the inclusive bounds as [dimension, box]; no box is empty.
    """
    sizes = np.zeros(count, dtype=np.int64)
    waiting = list(_by_number(owner, low, high))
    while waiting:
        unions = waiting.pop()
        boxes = unions.low.shape[1]
        block = max(1, _BLOCK // (boxes * boxes))
        if len(unions.owner) > block:
            waiting += [unions.of(slice(start, start + block)) for start in range(0, len(unions.owner), block)]
        elif boxes <= 2 and unions.valid.all():
            _count_few(unions, sizes)
        else:
            for kept in _without_contained(unions):
                if kept.low.shape[1] <= _MOST_EXCLUDED:
                    _count_few(kept, sizes)
                else:
                    waiting += _cut(kept, sizes)
    return sizes


def _by_number(owner: Integers, low: Integers, high: Integers) -> Iterator[_Unions]:
    """The unions in groups of equally many boxes."""
    order = np.argsort(owner, kind="stable")
    numbers = np.bincount(owner)
    starts = np.cumsum(numbers) - numbers
    for number in np.unique(numbers[numbers > 0]):
        own = np.nonzero(numbers == number)[0]
        boxes = order[starts[own] + np.arange(number)[:, None]]
        ones = np.ones(len(own), dtype=np.int64)
        yield _Unions(own, ones, low[:, boxes], high[:, boxes], np.ones(boxes.shape, dtype=bool))


def _without_contained(unions: _Unions) -> Iterator[_Unions]:
    """The same unions without boxes that don't count or that others contain, by the number of boxes that are left."""
    number = unions.low.shape[1]
    if number == 1:
        yield unions
        return
    contained = ~unions.valid
    for outer in range(number):
        inside = np.broadcast_to(~contained[outer], contained.shape)
        # A dimension at a time: reductions over a first axis that is short are slow.
        for low, high in zip(unions.low, unions.high, strict=True):
            inside = inside & (low >= low[outer])
            inside &= high <= high[outer]
        if inside.base is not None:
            inside = inside.copy()
        inside[outer] = False
        contained |= inside
    left = number - contained.sum(axis=0)
    place = np.argsort(contained, axis=0, kind="stable")
    for kept in np.unique(left):
        own = np.nonzero(left == kept)[0]
        boxes = place[:kept, own]
        low, high = unions.low[:, boxes, own], unions.high[:, boxes, own]
        yield _Unions(unions.owner[own], unions.weight[own], low, high, np.ones(boxes.shape, dtype=bool))


def _volumes(low: Integers, high: Integers) -> Integers:
    """Of boxes given as [dimension, ...]; empty ones have none."""
    volumes = np.ones(low.shape[1:], dtype=np.int64)
    for first, last in zip(low, high, strict=True):
        lengths = last - first
        lengths += 1
        volumes *= np.maximum(lengths, 0, out=lengths)
    return volumes


def _count_few(unions: _Unions, sizes: Integers) -> None:
    """Counts unions of a few boxes, all valid, by inclusion and exclusion."""
    low, high = unions.low[:, :1], unions.high[:, :1]
    signs = np.ones(1, dtype=np.int64)
    for box in range(1, unions.low.shape[1]):
        # All intersections so far, those with the next box too, and the box alone.
        new_low, new_high = unions.low[:, box : box + 1], unions.high[:, box : box + 1]
        low = np.concatenate([low, np.maximum(low, new_low), new_low], axis=1)
        high = np.concatenate([high, np.minimum(high, new_high), new_high], axis=1)
        signs = np.concatenate([signs, -signs, np.ones(1, dtype=np.int64)])
    np.add.at(sizes, unions.owner, unions.weight * (signs[:, None] * _volumes(low, high)).sum(axis=0))


def _cut(unions: _Unions, sizes: Integers) -> list[_Unions]:
    """Unions of one dimension less; those that have only one or two dimensions are counted here and now."""
    differing = (unions.low != unions.low[:, :1]).any(axis=1) | (unions.high != unions.high[:, :1]).any(axis=1)
    # Dimensions in which all boxes are alike only multiply.
    length = np.where(differing, 1, unions.high[:, 0] - unions.low[:, 0] + 1)
    weight = unions.weight * length.prod(axis=0)
    active = differing.sum(axis=0)
    order = np.argsort(~differing, axis=0, kind="stable")
    made = []
    for number in np.unique(active):
        own = np.nonzero(active == number)[0]
        low = np.take_along_axis(unions.low[:, :, own], order[:number, None, own], axis=0)
        high = np.take_along_axis(unions.high[:, :, own], order[:number, None, own], axis=0)
        part = _Unions(unions.owner[own], weight[own], low, high, unions.valid[:, own])
        if number <= 2:
            np.add.at(sizes, part.owner, part.weight * _in_a_plane(part))
        else:
            made.append(_slabs(part))
    return made


def _edges(low: Integers, high: Integers) -> tuple[Integers, Integers]:
    """Where the ranges [box, union] begin and end, sorted, and how far it is from each to the next: [edge, union]."""
    edges = np.sort(np.concatenate([low, high + 1]), axis=0)
    return edges[:-1], np.diff(edges, axis=0)


def _in_a_plane(unions: _Unions) -> Integers:
    """Sizes of unions in one or two dimensions: slabs across the first, and in each a sweep along the last."""
    if len(unions.low) == 1:
        starts, lengths = np.zeros((1, 1), dtype=np.int64), np.ones((1, 1), dtype=np.int64)
    else:
        starts, lengths = _edges(unions.low[0], unions.high[0])
    order = np.argsort(unions.low[-1], axis=0)
    low, high = (np.take_along_axis(each, order[None], axis=1) for each in (unions.low, unions.high))
    covered = np.zeros((len(starts), low.shape[2]), dtype=np.int64)
    reached = np.full(covered.shape, low[-1, 0] - 1)
    for box in range(low.shape[1]):
        end = high[-1, box]
        if len(low) > 1:
            end = np.where((low[0, box] <= starts) & (starts <= high[0, box]), end, reached)
        covered += np.maximum(end - np.maximum(reached, low[-1, box] - 1), 0)
        np.maximum(reached, end, out=reached)
    return np.asarray((covered * lengths).sum(axis=0))


def _slabs(unions: _Unions) -> _Unions:
    """The unions cut where boxes begin or end in the dimension in which that is least often."""
    dimensions, _, count = unions.low.shape
    cuts = [_edges(unions.low[d], unions.high[d]) for d in range(dimensions)]
    chosen = np.argmin(np.stack([(lengths > 0).sum(axis=0) for _, lengths in cuts]), axis=0)
    at = np.arange(count)
    starts = np.stack([each for each, _ in cuts])[chosen, :, at].T
    lengths = np.stack([each for _, each in cuts])[chosen, :, at].T
    slab, own = np.nonzero(lengths > 0)
    start = starts[slab, own]
    low, high = unions.low[chosen[own], :, own].T, unions.high[chosen[own], :, own].T
    valid = (low <= start) & (high >= start)
    # The others keep their order; the last takes the place of the one that was cut.
    others = np.arange(dimensions - 1)[:, None]
    others = others + (others >= chosen[own])
    low = np.take_along_axis(unions.low[:, :, own], others[:, None], axis=0)
    high = np.take_along_axis(unions.high[:, :, own], others[:, None], axis=0)
    made = _Unions(unions.owner[own], unions.weight[own] * lengths[slab, own], low, high, valid)
    return made.of(np.nonzero(valid.any(axis=0))[0])
