"""The box of integers around a set."""

from __future__ import annotations

import islpy as isl

from polydl.ir.affine import Box


def bounding_box(points: isl.Set) -> Box:
    """The smallest box around a set that is bounded and not empty."""
    dimensions = range(points.dim(isl.dim_type.set))
    return tuple([(points.dim_min_val(d).to_python(), points.dim_max_val(d).to_python()) for d in dimensions])
