"""Loops of an iteration domain whose bounds depend on no other loop."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import islpy as isl

from polydl.ir.statement import Statement
from polydl.poly.reductions import moves


def independent_loops(statement: Statement) -> dict[int, tuple[int, int]]:
    """``{iterator: (low, high)}`` of the iterators that no constraint couples with another one; bounds are inclusive.

    The domain is the product of these ranges and of a set over the other iterators. An example: in a convolution
    that skips the rows of its padding, the loop over rows and the loop over the filter's rows bound each other, and
    all other loops are independent.
    """
    if statement.box is not None:
        return dict(enumerate(statement.box))
    return dict(_independent(statement.domain))


@lru_cache(maxsize=1024)
def _independent(domain: str) -> tuple[tuple[int, tuple[int, int]], ...]:
    points = isl.Set(domain)
    ranges = []
    for position in range(points.dim(isl.dim_type.set)):
        low, high = points.dim_min_val(position), points.dim_max_val(position)
        free = points.eliminate(isl.dim_type.set, position, 1)
        free = free.lower_bound_val(isl.dim_type.set, position, low)
        free = free.upper_bound_val(isl.dim_type.set, position, high)
        if free.is_subset(points):
            ranges.append((position, (int(low.to_python()), int(high.to_python()))))
    return tuple(ranges)


def bounded_from_outside(statement: Statement, depth: int) -> bool:
    """Whether the loops from ``depth`` on don't bound each other: those outside of them alone say where they end."""
    return statement.box is not None or _bounded_from_outside(statement.domain, depth)


@lru_cache(maxsize=1024)
def _bounded_from_outside(domain: str, depth: int) -> bool:
    points = isl.Set(domain)
    end = points.dim(isl.dim_type.set)
    product = isl.Set.universe(points.get_space())
    for place in range(depth, end):
        alone = points.eliminate(isl.dim_type.set, place + 1, end - place - 1)
        product = product.intersect(alone.eliminate(isl.dim_type.set, depth, place - depth))
    return product.is_subset(points)


def sums_run_alike(statement: Statement, loops: Sequence[int]) -> bool:
    """Whether each of ``loops`` (iterators) that reduces is independent, so that it always runs over the same range."""
    independent = independent_loops(statement)
    return all(loop in independent or moves(statement.writes[0], loop) for loop in loops)
