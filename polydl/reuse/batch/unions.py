"""Exact sizes of very many unions of boxes at once.

Unions that are alike but for a shift are counted once. Boxes that another box of their union contains are dropped
first, which leaves few as a rule. A few boxes are counted by inclusion and exclusion. A union of more boxes is cut
along one dimension into slabs, which are unions of fewer boxes in one dimension less. Sums may wrap around on the way,
but final sizes are below 2^63.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from polydl.reuse.encoding import Flags, Integers

# Most boxes counted by inclusion and exclusion.
_MOST_EXCLUDED = 4
# Elements of the largest intermediate arrays; more only means more memory.
_BLOCK = 1 << 20
# Up to so many unions are counted together with those of more boxes.
_FEW = 256


@dataclass(frozen=True)
class _Unions:
    """Unions of equally many boxes."""

    #: [union]: index of the interval whose size it adds to
    owner: Integers
    #: [union]: how many times its size is added
    weight: Integers
    #: [dimension, box, union]: inclusive bounds
    low: Integers
    high: Integers
    #: [box, union]: whether the box counts
    valid: Flags

    def of(self, unions: Integers | slice) -> _Unions:
        """The same of the ``unions`` given by index."""
        return _Unions(
            self.owner[unions],
            self.weight[unions],
            self.low[:, :, unions],
            self.high[:, :, unions],
            self.valid[:, unions],
        )


def union_sizes(count: int, owner: Integers, low: Integers, high: Integers) -> Integers:
    """The number of points in the union of the boxes of each owner.

    ``owner`` is [box], from 0 to ``count - 1``; ``low`` and ``high`` are the inclusive bounds, [dimension, box]. No box
    is empty.
    """
    sizes = np.zeros(count, dtype=np.int64)
    for unions in _by_number(owner, low, high):
        if unions.low.shape[1] == 1:
            sizes[unions.owner] = _volumes(unions.low[:, 0], unions.high[:, 0])
        else:
            distinct, of = _distinct(unions)
            sizes[unions.owner] = _counted(distinct)[of]
    return sizes


def _distinct(unions: _Unions) -> tuple[_Unions, Integers]:
    """One of all unions whose boxes lie in the same places but for a shift, each by itself; and which stands for each.

    Tiles of the same sizes occur in many schedules.
    """
    count = len(unions.owner)
    lowest = unions.low.min(axis=1)[:, None]
    places = np.concatenate([unions.low - lowest, unions.high - lowest]).reshape(-1, count)
    keys = (places * np.random.default_rng(0).integers(1 << 62, size=len(places))[:, None]).sum(axis=0)
    _, first, of = np.unique(keys, return_index=True, return_inverse=True)
    if not (places == places[:, first[of]]).all():
        # Different places have the same key.
        first = of = np.arange(count)
    distinct = unions.of(first)
    return _Unions(np.arange(len(first)), distinct.weight, distinct.low, distinct.high, distinct.valid), of


def _counted(unions: _Unions) -> Integers:
    """The sizes of unions whose owners are their indices."""
    sizes = np.zeros(len(unions.owner), dtype=np.int64)
    waiting = [unions]
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


def _groups(numbers: Integers) -> Iterator[tuple[int, Integers]]:
    """Unions in groups by their numbers of boxes, each with the largest number in it; those without boxes in none.

    A few unions join those of more boxes: calls cost more than boxes then. Of single boxes all is known.
    """
    occurring, counts = np.unique(numbers, return_counts=True)
    begin, waiting = 1, 0
    for number, count in zip(occurring.tolist(), counts.tolist(), strict=True):
        if not number:
            continue
        waiting += count
        if number in (1, occurring[-1]) or waiting > _FEW:
            yield number, np.nonzero((begin <= numbers) & (numbers <= number))[0]
            begin, waiting = number + 1, 0


def _by_number(owner: Integers, low: Integers, high: Integers) -> Iterator[_Unions]:
    """The union of each owner, grouped by about the number of boxes; the first box stands for those that are less."""
    order = np.argsort(owner, kind="stable")
    numbers = np.bincount(owner)
    starts = np.cumsum(numbers) - numbers
    for number, alike in _groups(numbers):
        places = np.arange(number)[:, None]
        boxes = order[starts[alike] + np.where(places < numbers[alike], places, 0)]
        ones = np.ones(len(alike), dtype=np.int64)
        yield _Unions(alike, ones, low[:, boxes], high[:, boxes], np.ones(boxes.shape, dtype=bool))


def _without_contained(unions: _Unions) -> Iterator[_Unions]:
    """The same unions without invalid and contained boxes, grouped by the number of boxes left."""
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
    kept_first = np.argsort(contained, axis=0, kind="stable")
    for kept, alike in _groups(left):
        boxes = kept_first[:kept, alike]
        boxes = np.where(np.arange(kept)[:, None] < left[alike], boxes, boxes[0])
        low, high = unions.low[:, boxes, alike], unions.high[:, boxes, alike]
        yield _Unions(unions.owner[alike], unions.weight[alike], low, high, np.ones(boxes.shape, dtype=bool))


def _volumes(low: Integers, high: Integers) -> Integers:
    """The number of points of boxes, [...]; bounds are [dimension, ...]. An empty box has none."""
    volumes = np.ones(low.shape[1:], dtype=np.int64)
    for first, last in zip(low, high, strict=True):
        lengths = last - first
        lengths += 1
        volumes *= np.maximum(lengths, 0, out=lengths)
    return volumes


def _count_few(unions: _Unions, sizes: Integers) -> None:
    """Adds the sizes of unions of a few boxes, all valid, by inclusion and exclusion."""
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
    """The unions as slabs of one dimension less. Those of one or two dimensions are added to ``sizes`` instead."""
    differing = (unions.low != unions.low[:, :1]).any(axis=1) | (unions.high != unions.high[:, :1]).any(axis=1)
    # Dimensions in which all boxes are alike only multiply.
    length = np.where(differing, 1, unions.high[:, 0] - unions.low[:, 0] + 1)
    weight = unions.weight * length.prod(axis=0)
    active = differing.sum(axis=0)
    order = np.argsort(~differing, axis=0, kind="stable")
    slabs = []
    for number in np.unique(active):
        alike = np.nonzero(active == number)[0]
        low = np.take_along_axis(unions.low[:, :, alike], order[:number, None, alike], axis=0)
        high = np.take_along_axis(unions.high[:, :, alike], order[:number, None, alike], axis=0)
        part = _Unions(unions.owner[alike], weight[alike], low, high, unions.valid[:, alike])
        if number <= 2:
            np.add.at(sizes, part.owner, part.weight * _in_a_plane(part))
        else:
            slabs.append(_slabs(part))
    return slabs


def _edges(low: Integers, high: Integers) -> tuple[Integers, Integers]:
    """The sorted first values and ends of ranges, [edge, union], and the distance from each to the next.

    ``low`` and ``high`` are [box, union].
    """
    edges = np.sort(np.concatenate([low, high + 1]), axis=0)
    return edges[:-1], np.diff(edges, axis=0)


def _in_a_plane(unions: _Unions) -> Integers:
    """Sizes of unions in one or two dimensions: slabs along the first, each with a sweep along the last."""
    if len(unions.low) == 1:
        starts, lengths = np.zeros((1, 1), dtype=np.int64), np.ones((1, 1), dtype=np.int64)
    else:
        starts, lengths = _edges(unions.low[0], unions.high[0])
    order = np.argsort(unions.low[-1], axis=0)
    low, high = (np.take_along_axis(bounds, order[None], axis=1) for bounds in (unions.low, unions.high))
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
    """The unions cut at all bounds of their boxes in one dimension, the one with the fewest different bounds."""
    dimensions, _, count = unions.low.shape
    cuts = [_edges(unions.low[d], unions.high[d]) for d in range(dimensions)]
    chosen = np.argmin(np.stack([(lengths > 0).sum(axis=0) for _, lengths in cuts]), axis=0)
    at = np.arange(count)
    starts = np.stack([column for column, _ in cuts])[chosen, :, at].T
    lengths = np.stack([column for _, column in cuts])[chosen, :, at].T
    slab, union = np.nonzero(lengths > 0)
    start = starts[slab, union]
    low, high = unions.low[chosen[union], :, union].T, unions.high[chosen[union], :, union].T
    valid = (low <= start) & (high >= start)
    # The others keep their order; the last takes the place of the one that was cut.
    others = np.arange(dimensions - 1)[:, None]
    others = others + (others >= chosen[union])
    low = np.take_along_axis(unions.low[:, :, union], others[:, None], axis=0)
    high = np.take_along_axis(unions.high[:, :, union], others[:, None], axis=0)
    slabs = _Unions(unions.owner[union], unions.weight[union] * lengths[slab, union], low, high, valid)
    return slabs.of(np.nonzero(valid.any(axis=0))[0])
