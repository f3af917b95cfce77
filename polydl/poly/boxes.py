"""Bounding boxes of isl sets."""

from __future__ import annotations

import islpy as isl

from polydl.ir.affine import Box


def bounding_box(points: isl.Set) -> Box:
    """The bounding box of a set of integer points, which must be bounded and not empty."""
    dimensions = range(points.dim(isl.dim_type.set))
    return tuple([(points.dim_min_val(d).to_python(), points.dim_max_val(d).to_python()) for d in dimensions])
