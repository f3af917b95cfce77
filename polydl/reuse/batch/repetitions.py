"""Intervals of which the same instances run: in many schedules, those between neighbouring uses inside of a tile."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from polydl.reuse.batch.intervals import Pieces
from polydl.reuse.encoding import Integers

_MIXED = np.uint64(0x9E3779B97F4A7C15)


def without_repetitions(count: int, pieces: Sequence[Pieces]) -> tuple[int, list[Pieces], Integers]:
    """How many of ``count`` intervals differ, their pieces, and for each interval which of these stands for it.

    ``pieces`` are by statement. Two intervals are the same if they have the same boxes of each statement.
    """
    ordered, keys = [], np.zeros(count, dtype=np.uint64)
    for number, own in enumerate(pieces):
        of_piece = _keys(own, number)
        order = np.lexsort((of_piece, own.span))
        ordered.append(Pieces(own.span[order], own.low[:, order], own.high[:, order]))
        np.add.at(keys, own.span, of_piece)
    _, first, of = np.unique(keys, return_index=True, return_inverse=True)
    if not all(_agree(own, count, first[of]) for own in ordered):
        # Different boxes have the same key.
        return count, list(pieces), np.arange(count)
    chosen = np.zeros(count, dtype=bool)
    chosen[first] = True
    kept = [np.nonzero(chosen[own.span])[0] for own in ordered]
    left = [Pieces(of[own.span[at]], own.low[:, at], own.high[:, at]) for own, at in zip(ordered, kept, strict=True)]
    return len(first), left, of


def _keys(pieces: Pieces, statement: int) -> Integers:
    """A number for each piece, equal for equal boxes of a statement; others differ but for chance."""
    bounds = np.concatenate([pieces.low, pieces.high]).astype(np.uint64)
    factors = np.random.default_rng(statement).integers(1 << 63, size=len(bounds) + 1, dtype=np.uint64)
    # Sums of boxes must tell boxes apart, so that a key may not be a linear function of the bounds.
    keys = (bounds * factors[:-1, None]).sum(axis=0, dtype=np.uint64) + factors[-1]
    for shift in (32, 29, 32):
        keys = (keys ^ (keys >> np.uint64(shift))) * _MIXED
    return np.asarray(keys)


def _agree(pieces: Pieces, count: int, representative: Integers) -> bool:
    """Whether each interval has the boxes of the one that stands for it. Pieces are sorted by interval."""
    numbers = np.bincount(pieces.span, minlength=count)
    if not (numbers == numbers[representative]).all():
        return False
    starts = np.cumsum(numbers) - numbers
    other = starts[representative[pieces.span]] + np.arange(len(pieces.span)) - starts[pieces.span]
    return bool((pieces.low == pieces.low[:, other]).all() and (pieces.high == pieces.high[:, other]).all())
