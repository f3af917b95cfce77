"""Loops of an iteration domain that no other loop bounds."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import islpy as isl

from polydl.ir.statement import Statement
from polydl.poly.dependences import moves


def independent_loops(statement: Statement) -> dict[int, tuple[int, int]]:
    """Iterators whose values are the same whatever the others have, with their inclusive ranges.

    The domain is the product of these ranges and of what the other iterators may be together. In a convolution that
    skips the rows of its padding, the loop over rows and that over the filter's rows bound each other, and all
    others are independent.
    """
    if statement.box is not None:
        return dict(enumerate(statement.box))
    return dict(_independent(statement.domain))


@lru_cache(maxsize=1024)
def _independent(domain: str) -> tuple[tuple[int, tuple[int, int]], ...]:
    points = isl.Set(domain)
    found = []
    for position in range(points.dim(isl.dim_type.set)):
        low, high = points.dim_min_val(position), points.dim_max_val(position)
        free = points.eliminate(isl.dim_type.set, position, 1)
        free = free.lower_bound_val(isl.dim_type.set, position, low)
        free = free.upper_bound_val(isl.dim_type.set, position, high)
        if free.is_subset(points):
            found.append((position, (int(low.to_python()), int(high.to_python()))))
    return tuple(found)


def sums_run_alike(statement: Statement, loops: Sequence[int]) -> bool:
    """Whether those of the loops that sum up have the same first and last iteration, whatever the others are at."""
    independent = independent_loops(statement)
    return all(loop in independent or moves(statement.writes[0], loop) for loop in loops)
