"""Representatives of dependences by isl: relations fall into groups of iterators, each of which isl minimises.

Two references meet in a relation between the iterators of two statements. Iterators that no constraint couples, nor a
common loop, are independent of each other, so that the earliest point of the whole is made of the earliest points of
the groups. A relation with several disjuncts is one group. All that depends on the nest alone, and the points of groups
whose steps are alike, is kept for the schedules to come.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import islpy as isl

from polydl.poly.counting import check_quota, components, coupled_dimensions
from polydl.reuse.references import Reference

_IN, _OUT, _SET = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set
_MOST_KEPT = 1 << 14

# A time dimension of one side: a position, or (index of the iterator within the group, size, origin, direction).
Expression = int | tuple[int, int, int, int]


@dataclass(frozen=True)
class GroupSteps:
    """The time dimensions of a group: those that both sides share, as pairs, then each side's own."""

    shared: tuple[tuple[Expression, Expression], ...]
    source: tuple[Expression, ...]
    target: tuple[Expression, ...]


@dataclass(frozen=True)
class StepTimes:
    """The earliest source and its nearest and farthest target, by the values of a group's steps on either side."""

    source: tuple[int, ...]
    nearest: tuple[int, ...]
    farthest: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class PairGroup:
    """Iterators of source and target that depend on each other, and their relation."""

    sources: tuple[int, ...]
    targets: tuple[int, ...]
    relation: isl.Map
    text: str


class IslPairs:
    """All pairs of references of one nest. Raises isl's errors; the caller holds the quota."""

    def __init__(self, context: isl.Context, accesses: dict[Reference, isl.Map]) -> None:
        self._context = context
        self._accesses = accesses
        self._relations: dict[object, isl.Map] = {}
        self._components: dict[object, list[list[int]]] = {}
        self._groups: dict[object, tuple[PairGroup, ...]] = {}
        self._time_maps: dict[tuple[int, tuple[Expression, ...]], isl.Map] = {}
        self._timed: dict[tuple[str, GroupSteps], isl.Map] = {}
        self._points: dict[tuple[str, GroupSteps, int, bool], StepTimes | None] = {}

    def groups(
        self, source: Reference, target: Reference, couples: Sequence[tuple[int, int]]
    ) -> tuple[PairGroup, ...] | None:
        """The groups of a pair when iterators of a common loop are coupled; None when the two never meet."""
        identity = _identity(source, target)
        if identity not in self._relations:
            self._relations[identity] = self._accesses[source].apply_range(self._accesses[target].reverse()).coalesce()
        relation = self._relations[identity]
        if relation.is_empty():
            return None
        key = identity, tuple(couples)
        if key not in self._groups:
            if identity not in self._components:
                self._components[identity] = relation_components(relation)
            count = relation.dim(_IN)
            joined = [*self._components[identity], *([i, count + j] for i, j in couples)]
            self._groups[key] = relation_groups(relation, components(joined, count + relation.dim(_OUT)))
        return self._groups[key]

    def points(self, group: PairGroup, steps: GroupSteps, common: int, strict: bool) -> StepTimes | None:
        """The representatives when the first ``common`` shared steps are at the same time on both sides.

        With ``strict`` the target is later in the shared step that follows. None where no such pair exists.
        """
        key = group.text, steps, common, strict
        if key not in self._points:
            if len(self._points) >= _MOST_KEPT:
                self._points.clear()
                self._timed.clear()
            self._points[key] = self._find(group, steps, common, strict)
        return self._points[key]

    def _find(self, group: PairGroup, steps: GroupSteps, common: int, strict: bool) -> StepTimes | None:
        relation = self._in_time(group, steps)
        for level in range(common):
            relation = relation.equate(_IN, level, _OUT, level)
        if strict:
            relation = relation.order_lt(_IN, common, _OUT, common)
        if relation.is_empty():
            return None
        # The earliest source comes first, and with it its earliest target.
        count = relation.dim(_IN)
        both = _extreme(relation.wrap(), isl.Set.lexmin)
        for level, value in enumerate(both[:count]):
            relation = relation.fix_val(_IN, level, value)
        return StepTimes(both[:count], both[count:], _extreme(relation.range(), isl.Set.lexmax))

    def _in_time(self, group: PairGroup, steps: GroupSteps) -> isl.Map:
        key = group.text, steps
        if key not in self._timed:
            source = (*(first for first, _ in steps.shared), *steps.source)
            target = (*(second for _, second in steps.shared), *steps.target)
            timed = group.relation.apply_domain(self._time_map(len(group.sources), source))
            self._timed[key] = timed.apply_range(self._time_map(len(group.targets), target))
        return self._timed[key]

    def _time_map(self, count: int, steps: tuple[Expression, ...]) -> isl.Map:
        key = count, steps
        if key not in self._time_maps:
            texts = [
                str(step) if isinstance(step, int) else f"{step[3]}*floor((x{step[0]} - ({step[2]}))/{step[1]})"
                for step in steps
            ]
            text = f"{{ [{', '.join(f'x{i}' for i in range(count))}] -> [{', '.join(texts)}] }}"
            self._time_maps[key] = isl.Map.read_from_str(self._context, text)
        return self._time_maps[key]


def _identity(source: Reference, target: Reference) -> object:
    """Equal for pairs that meet in the same relation: ``a[i]`` and ``a[i + 1]`` do as ``b[i - 1]`` and ``b[i]``."""
    if source.subscripts is None or target.subscripts is None:
        return source, target
    parts = zip(source.subscripts, target.subscripts, strict=True)
    equations = tuple((one.coefficients, other.coefficients, one.constant - other.constant) for one, other in parts)
    return source.statement, target.statement, equations


def relation_components(relation: isl.Map) -> list[list[int]]:
    """Dimensions that constraints couple, those of the target numbered after the source's."""
    dimensions = relation.dim(_IN) + relation.dim(_OUT)
    pieces = relation.get_basic_maps()
    if len(pieces) != 1:
        return [list(range(dimensions))]
    groups = coupled_dimensions(pieces[0].wrap())
    return [own for own in ([v for v in group if v < dimensions] for group in groups) if own]


def relation_groups(relation: isl.Map, groups: Sequence[Sequence[int]]) -> tuple[PairGroup, ...]:
    """The relation between the dimensions of each group, which are numbered as in ``relation_components``."""
    count = relation.dim(_IN)
    return tuple(
        _group(relation, [v for v in group if v < count], [v - count for v in group if v >= count]) for group in groups
    )


def _group(relation: isl.Map, sources: list[int], targets: list[int]) -> PairGroup:
    alone = relation
    for kind, kept in ((_IN, sources), (_OUT, targets)):
        # What lies behind each kept dimension goes at once.
        for after, before in pairwise([relation.dim(kind), *reversed(kept), -1]):
            if after - before > 1:
                alone = alone.project_out(kind, before + 1, after - before - 1)
    for kind in (_IN, _OUT):
        if alone.has_tuple_id(kind):
            alone = alone.reset_tuple_id(kind)
    return PairGroup(tuple(sources), tuple(targets), alone, str(alone))


def _extreme(points: isl.Set, of: Callable[[isl.Set], isl.Set]) -> tuple[int, ...]:
    """The first or the last point of a set, ``of`` being isl's lexmin or lexmax."""
    try:
        return _coordinates(of(points))
    except isl.Error:
        # Some sets with divisions trip an internal check of isl's lexicographic optimisation (islpy 2026.2).
        check_quota(points.get_ctx())
        for dimension in range(points.dim(_SET)):
            ends = points.dim_min_val(dimension) if of is isl.Set.lexmin else points.dim_max_val(dimension)
            points = points.fix_val(_SET, dimension, ends)
        return _coordinates(points)


def _coordinates(point: isl.Set) -> tuple[int, ...]:
    sample = point.sample_point()
    return tuple(sample.get_coordinate_val(_SET, d).to_python() for d in range(point.dim(_SET)))
