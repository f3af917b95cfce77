"""Reuse by isl, in any nest whose domains, schedule and subscripts are quasi-affine."""

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
    couples,
    divergence,
    pair_kinds,
    references,
)

# isl's operations for one schedule: some seconds.
OPERATIONS = 200_000_000


class _Nest:
    """The facts of a nest that no schedule changes. Statements without instances are left out."""

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
    """Answers for one nest and one schedule, as those of ``ClosedFormReuse``.

    Raises AnalysisError when isl's quota is used up.
    """

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
        """A context that limits isl's work on all answers within it."""
        return quota(self._nest.context, OPERATIONS)

    def representatives(self) -> Iterator[Representative]:
        """A representative of every dependence, for each time dimension that carries it."""
        for source in self._nest.references:
            for target in self._nest.references:
                if source.array == target.array:
                    yield from self._of_pair(source, target)

    def footprint(self, first: Time, last: Time) -> tuple[int, int]:
        """The number of distinct elements that instances from ``first`` to ``last`` access, and their bytes.

        Both ends are included; a time prefix stands for all points that begin with it. If lines are counted, bytes are
        those of whole lines.
        """
        return self.footprint_of(((first, last),))

    def footprint_of(self, key: tuple[tuple[Time, Time], ...]) -> tuple[int, int]:
        """``footprint`` of the union of several intervals."""
        if key not in self._footprints:
            between = {
                name: [piece for stretch in key for piece in intervals.between(*stretch)]
                for name, intervals in self._intervals.items()
            }
            self._footprints[key] = self._nest.footprints.sizes(between, self._line_bytes)
        return self._footprints[key]

    def iterations(self, statement: str, prefix: Time) -> tuple[int, int] | None:
        """The least and the greatest value of the next time dimension of the instances with a time prefix."""
        return self._intervals[statement].range_after(prefix)

    def _of_pair(self, source: Reference, target: Reference) -> Iterator[Representative]:
        source_dimensions, target_dimensions = self._dimensions[source.statement], self._dimensions[target.statement]
        levels = carrying_levels(source_dimensions, target_dimensions)
        if not levels:
            return
        common = divergence(source_dimensions, target_dimensions)
        groups = self._nest.pairs.groups(
            source, target, couples(source_dimensions[:common], target_dimensions[:common])
        )
        if groups is None:
            return
        timed = [_Timed(group, source_dimensions, target_dimensions, common) for group in groups]
        for level in levels:
            group_points = self._points(timed, level)
            if group_points is not None:
                times: list[list[int]] = [
                    [d if isinstance(d, int) else 0 for d in dimensions]
                    for dimensions in (source_dimensions, target_dimensions, target_dimensions)
                ]
                for group, points in zip(timed, group_points, strict=True):
                    for at, value in zip(group.source_levels, points.source, strict=True):
                        times[0][at] = value
                    for at, near, far in zip(group.target_levels, points.nearest, points.farthest, strict=True):
                        times[1][at], times[2][at] = near, far
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
        """The representative of each group for the dependence that ``level`` carries; None if there is none."""
        group_points = []
        # The group that carries it is the likeliest to have no point.
        for group in sorted(timed, key=lambda group: level not in group.shared_levels):
            points = group.points(self._nest.pairs, level)
            if points is None:
                return None
            group_points.append((group, points))
        by_group = {id(group): points for group, points in group_points}
        return [by_group[id(group)] for group in timed]


class _Timed:
    """A group with the time dimensions of its iterators.

    ``source_levels`` and ``target_levels`` are the levels of its steps on either side: first the ``shared_levels``.
    """

    def __init__(self, group: PairGroup, source: Dimensions, target: Dimensions, common: int) -> None:
        self._group = group
        sources = {iterator: at for at, iterator in enumerate(group.sources)}
        targets = {iterator: at for at, iterator in enumerate(group.targets)}
        shared = [
            level for level in range(common) if _belongs(source[level], sources) or _belongs(target[level], targets)
        ]
        source_levels = [level for level in range(common, len(source)) if _belongs(source[level], sources)]
        target_levels = [level for level in range(common, len(target)) if _belongs(target[level], targets)]
        self.shared_levels = shared
        self.source_levels = [*shared, *source_levels]
        self.target_levels = [*shared, *target_levels]
        self._steps = GroupSteps(
            tuple((_expression(source[level], sources), _expression(target[level], targets)) for level in shared),
            tuple(_expression(source[level], sources) for level in source_levels),
            tuple(_expression(target[level], targets) for level in target_levels),
        )

    def points(self, pairs: IslPairs, level: int) -> StepTimes | None:
        """The group's representatives where the times of source and target first differ at ``level``."""
        before = sum(1 for shared in self.shared_levels if shared < level)
        return pairs.points(self._group, self._steps, before, level in self.shared_levels)


def _belongs(dimension: int | Loop, members: dict[int, int]) -> bool:
    return isinstance(dimension, Loop) and dimension.iterator in members


def _expression(dimension: int | Loop, members: dict[int, int]) -> Expression:
    if isinstance(dimension, int):
        return dimension
    return members[dimension.iterator], dimension.size, dimension.origin, dimension.direction
