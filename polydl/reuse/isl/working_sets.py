"""Reuse in any nest whose domains, schedule and subscripts are quasi-affine, by isl."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Literal

import islpy as isl

from polydl.ir.schedule import Loop, Schedule
from polydl.ir.scop import Scop
from polydl.poly.counting import quota
from polydl.reuse.boxes import BoxRegion, region_dimensions, whole_region
from polydl.reuse.intervals import Intervals
from polydl.reuse.isl.footprints import IslFootprints
from polydl.reuse.isl.pairs import Expression, GroupSteps, IslPairs, PairGroup, StepTimes
from polydl.reuse.isl.regions import Domain, SetRegion
from polydl.reuse.references import (
    Dimensions,
    Reference,
    Representative,
    Time,
    carrying_levels,
    divergence,
    pair_kinds,
    references,
)

# Some seconds for all that isl does for one schedule.
OPERATIONS = 200_000_000


class _Nest:
    """What isl knows of a nest whatever its schedule. ``domains`` leaves out statements without instances."""

    def __init__(self, scop: Scop) -> None:
        self.context = isl.Context()
        self.domains: dict[str, isl.Set] = {}
        accesses: dict[Reference, isl.Map] = {}
        with quota(self.context, OPERATIONS):
            for statement in scop.statements:
                domain = isl.Set.read_from_str(self.context, statement.domain)
                if not domain.is_empty():
                    self.domains[statement.name] = domain
            for reference in references(scop):
                if reference.statement in self.domains:
                    relation = isl.Map.read_from_str(self.context, reference.relation)
                    accesses[reference] = relation.intersect_domain(self.domains[reference.statement])
            self.references = tuple(accesses)
            self.boxes = {s.name: s.box for s in scop.statements if s.box is not None and s.name in self.domains}
            self.pairs = IslPairs(self.context, accesses)
            self.footprints = IslFootprints(self.context, scop, accesses)
            self._regions: dict[str, Domain] = {}

    def domain(self, name: str) -> Domain:
        if name not in self._regions:
            self._regions[name] = Domain(self.domains[name])
        return self._regions[name]


_nests: dict[str, _Nest] = {}


def _nest(scop: Scop) -> _Nest:
    if scop.digest not in _nests:
        if len(_nests) >= 16:
            _nests.clear()
        _nests[scop.digest] = _Nest(scop)
    return _nests[scop.digest]


class IslReuse:
    """Answers for one nest and one schedule. Raises AnalysisError when isl's quota ends."""

    method: Literal["isl"] = "isl"

    def __init__(self, scop: Scop, schedule: Schedule, line_bytes: int | None = None) -> None:
        self._nest = _nest(scop)
        self._dimensions = dict(schedule.statements)
        self._line_bytes = line_bytes
        self._intervals: dict[str, Intervals[BoxRegion]] = {}
        for name in self._nest.domains:
            box = self._nest.boxes.get(name)
            if box is not None:
                region = whole_region(self._dimensions[name], box)
            else:
                domain = self._nest.domain(name)
                region = SetRegion(region_dimensions(self._dimensions[name]), domain, domain.box)
            self._intervals[name] = Intervals(region)
        self._footprints: dict[tuple[tuple[Time, Time], ...], tuple[int, int]] = {}

    def limited(self) -> AbstractContextManager[None]:
        """Bounds what isl does for all answers that are asked for in it."""
        return quota(self._nest.context, OPERATIONS)

    def representatives(self) -> Iterator[Representative]:
        """Every dependence, split by the time dimension that carries it."""
        for source in self._nest.references:
            for target in self._nest.references:
                if source.array == target.array:
                    yield from self._of_pair(source, target)

    def footprint(self, first: Time, last: Time) -> tuple[int, int]:
        """Distinct elements that instances from ``first`` to ``last`` access, both included, and their bytes.

        Bytes are those of whole lines if lines are counted. A point that is cut short stands for all points that
        begin so.
        """
        return self.footprint_of(((first, last),))

    def footprint_of(self, key: tuple[tuple[Time, Time], ...]) -> tuple[int, int]:
        """``footprint`` of several stretches of time together."""
        if key not in self._footprints:
            between = {
                name: [piece for stretch in key for piece in intervals.between(*stretch)]
                for name, intervals in self._intervals.items()
            }
            self._footprints[key] = self._nest.footprints.sizes(between, self._line_bytes)
        return self._footprints[key]

    def iterations(self, statement: str, prefix: Time) -> tuple[int, int] | None:
        """The range of a statement's time dimension after those in ``prefix``."""
        return self._intervals[statement].range_after(prefix)

    def _of_pair(self, source: Reference, target: Reference) -> Iterator[Representative]:
        own, other = self._dimensions[source.statement], self._dimensions[target.statement]
        levels = carrying_levels(own, other)
        if not levels:
            return
        common = divergence(own, other)
        groups = self._nest.pairs.groups(source, target, _couples(own[:common], other[:common]))
        if groups is None:
            return
        timed = [_Timed(group, own, other, common) for group in groups]
        for level in levels:
            found = self._points(timed, level)
            if found is not None:
                times: list[list[int]] = [
                    [d if isinstance(d, int) else 0 for d in dimensions] for dimensions in (own, other, other)
                ]
                for each, points in zip(timed, found, strict=True):
                    for place, value in zip(each.source_levels, points.source, strict=True):
                        times[0][place] = value
                    for place, near, far in zip(each.target_levels, points.nearest, points.farthest, strict=True):
                        times[1][place], times[2][place] = near, far
                yield Representative(
                    source.array,
                    source.statement,
                    target.statement,
                    pair_kinds(source.kinds, target.kinds),
                    level,
                    tuple(times[0]),
                    tuple(times[1]),
                    tuple(times[2]),
                )

    def _points(self, timed: Sequence[_Timed], level: int) -> list[StepTimes] | None:
        """The groups' points for the dependence that ``level`` carries; None if there is none."""
        found = []
        # The group that carries it is the likeliest to have no point.
        for each in sorted(timed, key=lambda group: level not in group.shared_levels):
            points = each.points(self._nest.pairs, level)
            if points is None:
                return None
            found.append((each, points))
        by_group = {id(each): points for each, points in found}
        return [by_group[id(each)] for each in timed]


class _Timed:
    """A group with the time dimensions of its iterators, by level."""

    def __init__(self, group: PairGroup, own: Dimensions, other: Dimensions, common: int) -> None:
        self._group = group
        sources = {iterator: at for at, iterator in enumerate(group.sources)}
        targets = {iterator: at for at, iterator in enumerate(group.targets)}
        shared = [level for level in range(common) if _belongs(own[level], sources) or _belongs(other[level], targets)]
        own_levels = [level for level in range(common, len(own)) if _belongs(own[level], sources)]
        other_levels = [level for level in range(common, len(other)) if _belongs(other[level], targets)]
        self.shared_levels = shared
        self.source_levels = [*shared, *own_levels]
        self.target_levels = [*shared, *other_levels]
        self._steps = GroupSteps(
            tuple((_expression(own[level], sources), _expression(other[level], targets)) for level in shared),
            tuple(_expression(own[level], sources) for level in own_levels),
            tuple(_expression(other[level], targets) for level in other_levels),
        )

    def points(self, pairs: IslPairs, level: int) -> StepTimes | None:
        """The points when the target first differs from the source at ``level``."""
        before = sum(1 for each in self.shared_levels if each < level)
        return pairs.points(self._group, self._steps, before, level in self.shared_levels)


def _belongs(dimension: int | Loop, members: dict[int, int]) -> bool:
    return isinstance(dimension, Loop) and dimension.iterator in members


def _expression(dimension: int | Loop, members: dict[int, int]) -> Expression:
    if isinstance(dimension, int):
        return dimension
    return members[dimension.iterator], dimension.size, dimension.origin, dimension.direction


def _couples(own: Dimensions, other: Dimensions) -> tuple[tuple[int, int], ...]:
    """Pairs of iterators of source and target that run in a common loop."""
    loops = zip(own, other, strict=True)
    return tuple(sorted({(a.iterator, b.iterator) for a, b in loops if isinstance(a, Loop) and isinstance(b, Loop)}))
