"""Boxes of integers: inclusive ranges of every dimension."""

from __future__ import annotations

import islpy as isl

from polydl.types import Affine

Box = tuple[tuple[int, int], ...]


def bounding_box(points: isl.Set) -> Box:
    """The smallest box around a set that is bounded and not empty."""
    dimensions = range(points.dim(isl.dim_type.set))
    return tuple([(points.dim_min_val(d).to_python(), points.dim_max_val(d).to_python()) for d in dimensions])


def value_range(form: Affine, box: Box) -> tuple[int, int]:
    """The least and the greatest value of a form over a box."""
    ends = [(c * low, c * high) for c, (low, high) in zip(form.coefficients, box, strict=True)]
    return form.constant + sum(map(min, ends)), form.constant + sum(map(max, ends))
