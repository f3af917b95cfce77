"""Regions of instances of a statement whose domain is no box."""

from __future__ import annotations

import islpy as isl

from polydl.ir.affine import Box
from polydl.poly.boxes import bounding_box
from polydl.poly.counting import coupled_dimensions
from polydl.reuse.boxes import BoxRegion, TimeDimension

_SET = isl.dim_type.set
# Bounding boxes that are kept.
_MOST_KEPT = 1 << 16


class Domain:
    """A statement's iteration domain, and the bounding boxes of its parts, which are kept.

    Constraints couple iterators into groups; the bounding box of a part consists of those of the groups.
    """

    def __init__(self, points: isl.Set) -> None:
        pieces = points.get_basic_sets()
        count = points.dim(_SET)
        groups = coupled_dimensions(pieces[0]) if len(pieces) == 1 else [list(range(count))]
        # A domain's existentially quantified dimensions come after its own.
        grouped = [tuple(iterator for iterator in sorted(group) if iterator < count) for group in groups]
        self._groups = tuple((group, _projected(points, group)) for group in grouped if group)
        self._group_of = {iterator: number for number, (group, _) in enumerate(self._groups) for iterator in group}
        self._tight: dict[tuple[int, Box], Box | None] = {}
        self.box = bounding_box(points)

    def tightened(self, box: Box, iterator: int) -> Box | None:
        """The bounding box of the domain's points in ``box``; None if there are none.

        ``box`` is a bounding box but for the range of ``iterator``.
        """
        number = self._group_of[iterator]
        group, points = self._groups[number]
        key = number, tuple([box[member] for member in group])
        if key not in self._tight:
            if len(self._tight) >= _MOST_KEPT:
                self._tight.clear()
            self._tight[key] = _box_within(points, key[1])
        tight = self._tight[key]
        if tight is None:
            return None
        ranges = list(box)
        for member, values in zip(group, tight, strict=True):
            ranges[member] = values
        return tuple(ranges)


def _projected(points: isl.Set, group: tuple[int, ...]) -> isl.Set:
    for iterator in reversed(range(points.dim(_SET))):
        if iterator not in group:
            points = points.project_out(_SET, iterator, 1)
    return points


def _box_within(points: isl.Set, box: Box) -> Box | None:
    for dimension, (low, high) in enumerate(box):
        points = points.lower_bound_val(_SET, dimension, low).upper_bound_val(_SET, dimension, high)
    if points.is_empty():
        return None
    return bounding_box(points)


class SetRegion(BoxRegion):
    """The instances of a statement in a box of its iterators, where the box is their bounding box."""

    __slots__ = ("_domain",)

    def __init__(self, dimensions: tuple[TimeDimension, ...], domain: Domain, box: Box) -> None:
        super().__init__(dimensions, box)
        self._domain = domain

    def within(self, level: int, earliest: int, latest: int) -> SetRegion | None:
        part = super().within(level, earliest, latest)
        if part is None or part is self:
            return part and self
        box = self._domain.tightened(part.box, self.dimensions[level][0])
        return None if box is None else SetRegion(self.dimensions, self._domain, box)
