"""Bounding boxes of isl sets, and of the domains of statements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce

import islpy as isl

from polydl.errors import AnalysisError
from polydl.ir.affine import Box
from polydl.ir.statement import Statement


def bounding_box(points: isl.Set) -> Box:
    """The bounding box of a set of integer points, which must be bounded and not empty."""
    dimensions = range(points.dim(isl.dim_type.set))
    return tuple([(points.dim_min_val(d).to_python(), points.dim_max_val(d).to_python()) for d in dimensions])


def finite_ranges(statement: Statement) -> Box | None:
    """The first and the last value of each iterator; where the domain is no box, those of the box around it.

    None if the domain is empty or has no bounds, as with sizes that are not known.
    """
    return _around(statement.domain) if statement.box is None else statement.box


def loop_ranges(statement: Statement) -> Box:
    """The same of a domain that must have bounds. Raises AnalysisError if it has none or is empty."""
    ranges = finite_ranges(statement)
    if ranges is None:
        raise AnalysisError(f"the domain of {statement.place} is empty or has no bounds: {statement.domain}")
    return ranges


@dataclass(frozen=True)
class LoopValues:
    """The values of a loop's counter, over all iterations of the loops around it."""

    first: int
    last: int
    #: from one value to the next
    step: int
    #: how many there are in one iteration of the loops around it, at most
    most: int
    #: whether there are so many in each
    always: bool


def loop_values(statements: Sequence[Statement], depth: int) -> LoopValues:
    """The values of the iterator at a depth of statements that share a loop there.

    Raises AnalysisError where a domain has no bounds.
    """
    ranges = [loop_ranges(statement)[depth] for statement in statements]
    first, last = min(low for low, _ in ranges), max(high for _, high in ranges)
    if all(statement.box is not None for statement in statements):
        return LoopValues(first, last, 1, last - first + 1, True)
    prefixes = (_prefix(statement.domain, depth) for statement in statements)
    points = reduce(isl.Set.union, prefixes).coalesce()
    values = points.project_out(isl.dim_type.set, 0, depth)
    around = points.project_out(isl.dim_type.set, depth, 1).insert_dims(isl.dim_type.set, depth, 1)
    always = around.intersect(values.insert_dims(isl.dim_type.set, 0, depth)).is_subset(points)
    of_iteration = isl.Map.from_range(points).move_dims(isl.dim_type.in_, 0, isl.dim_type.out, 0, depth)
    distances = of_iteration.reverse().apply_range(of_iteration).deltas()
    # 0 where each iteration has one value.
    farthest = distances.dim_max_val(0).to_python()
    step = distances.get_stride(0).to_python() if farthest else 1
    return LoopValues(first, last, step, farthest // step + 1, always)


def _prefix(domain: str, depth: int) -> isl.Set:
    """The values of a domain's iterators up to a depth."""
    points = isl.Set(domain).reset_tuple_id()
    return points.project_out(isl.dim_type.set, depth + 1, points.dim(isl.dim_type.set) - depth - 1)


@lru_cache(maxsize=1024)
def _around(domain: str) -> Box | None:
    points = isl.Set(domain)
    return bounding_box(points) if points.is_bounded() and not points.is_empty() else None
