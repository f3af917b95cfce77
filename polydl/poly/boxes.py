"""Bounding boxes of isl sets, and of the domains of statements."""

from __future__ import annotations

from functools import lru_cache

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


@lru_cache(maxsize=1024)
def _around(domain: str) -> Box | None:
    points = isl.Set(domain)
    return bounding_box(points) if points.is_bounded() and not points.is_empty() else None
