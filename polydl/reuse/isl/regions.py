"""Instances of a statement whose domain is no box."""

from __future__ import annotations

import islpy as isl

from polydl.ir.affine import Box
from polydl.poly.boxes import bounding_box
from polydl.poly.counting import coupled_dimensions
from polydl.reuse.boxes import BoxRegion, TimeDimension

_SET = isl.dim_type.set
_MOST_KEPT = 1 << 16


class Domain:
    """A statement's domain, and the boxes around its parts, which are kept.

    Iterators fall into groups that constraints couple, so that a part's box is known from those of the groups alone.
    """

    def __init__(self, points: isl.Set) -> None:
        pieces = points.get_basic_sets()
        count = points.dim(_SET)
        groups = coupled_dimensions(pieces[0]) if len(pieces) == 1 else [list(range(count))]
        # A domain's existentially quantified dimensions come after its own.
        own = [tuple(iterator for iterator in sorted(group) if iterator < count) for group in groups]
        self._groups = tuple((group, _projected(points, group)) for group in own if group)
        self._group_of = {iterator: place for place, (group, _) in enumerate(self._groups) for iterator in group}
        self._tight: dict[tuple[int, Box], Box | None] = {}
        self.box = bounding_box(points)

    def tightened(self, box: Box, iterator: int) -> Box | None:
        """The smallest box around the points in ``box``, of which the range of ``iterator`` is new; None for none."""
        place = self._group_of[iterator]
        group, points = self._groups[place]
        key = place, tuple([box[each] for each in group])
        if key not in self._tight:
            if len(self._tight) >= _MOST_KEPT:
                self._tight.clear()
            self._tight[key] = _box_within(points, key[1])
        found = self._tight[key]
        if found is None:
            return None
        ranges = list(box)
        for each, values in zip(group, found, strict=True):
            ranges[each] = values
        return tuple(ranges)


def _projected(points: isl.Set, group: tuple[int, ...]) -> isl.Set:
    for iterator in reversed(range(points.dim(_SET))):
        if iterator not in group:
            points = points.project_out(_SET, iterator, 1)
    return points


def _box_within(points: isl.Set, box: Box) -> Box | None:
    for place, (low, high) in enumerate(box):
        points = points.lower_bound_val(_SET, place, low).upper_bound_val(_SET, place, high)
    if points.is_empty():
        return None
    return bounding_box(points)


class SetRegion(BoxRegion):
    """The instances of a statement in a box of its iterators, which is the smallest around them."""

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
