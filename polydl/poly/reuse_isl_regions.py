"""Instances of a statement whose domain is no box."""

from __future__ import annotations

from dataclasses import dataclass

import islpy as isl

from polydl.poly.reuse_boxes import TimeDimension

_SET = isl.dim_type.set


@dataclass(frozen=True)
class SetRegion:
    """The instances of a statement in a set of its iterators, which is not empty; otherwise as ``BoxRegion``."""

    dimensions: tuple[TimeDimension, ...]
    points: isl.Set

    @property
    def levels(self) -> int:
        return len(self.dimensions)

    def within(self, level: int, earliest: int, latest: int) -> SetRegion | None:
        iterator, size, origin, direction = self.dimensions[level]
        if iterator < 0:
            return self if earliest <= size <= latest else None
        if direction < 0:
            earliest, latest = -latest, -earliest
        points = self.points.lower_bound_val(_SET, iterator, origin + earliest * size)
        points = points.upper_bound_val(_SET, iterator, origin + (latest + 1) * size - 1)
        return None if points.is_empty() else SetRegion(self.dimensions, points)

    def time_range(self, level: int) -> tuple[int, int]:
        iterator, size, origin, direction = self.dimensions[level]
        if iterator < 0:
            return size, size
        low = (self.points.dim_min_val(iterator).to_python() - origin) // size
        high = (self.points.dim_max_val(iterator).to_python() - origin) // size
        return (low, high) if direction > 0 else (-high, -low)
