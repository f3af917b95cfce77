"""Sizes that divide a loop evenly."""

from __future__ import annotations


def divisors(extent: int) -> tuple[int, ...]:
    """All divisors of a positive extent, from 1 to itself, in order."""
    return tuple(size for size in range(1, extent + 1) if extent % size == 0)
