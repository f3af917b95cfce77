"""Representatives of dependences by isl: relations split into groups of iterators, and isl minimises each group.

The instances of two references that touch the same element form a relation between the iterators of two statements.
Iterators that neither a constraint nor a common loop couples are independent, so that the earliest point consists of
the earliest points of the groups. A relation with several disjuncts is one group. Facts about the nest alone are kept
for later schedules, and so are the points of each group with each sequence of steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import islpy as isl

from polydl.poly.counting import components, coupled_dimensions
from polydl.poly.iterations import in_one_iteration
from polydl.reuse.references import Reference

_IN, _OUT, _SET = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set
# Sets of isl's that are kept.
_MOST_KEPT = 1 << 14

# A time dimension of one side: a position, or (index of the iterator within the group, size, origin, direction).
Expression = int | tuple[int, int, int, int]


@dataclass(frozen=True)
class GroupSteps:
    """The time dimensions of a group."""

    #: dimensions common to source and target, as (source's, target's) expression
    shared: tuple[tuple[Expression, Expression], ...]
    #: further dimensions of the source
    source: tuple[Expression, ...]
    #: further dimensions of the target
    target: tuple[Expression, ...]


@dataclass(frozen=True)
class StepTimes:
    """A group's representatives as times: the values of the shared steps, then of the further steps of that side."""

    #: earliest source
    source: tuple[int, ...]
    #: its first target
    nearest: tuple[int, ...]
    #: its last target
    farthest: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class PairGroup:
    """Coupled iterators of a source and a target."""

    #: iterators of the source
    sources: tuple[int, ...]
    #: iterators of the target
    targets: tuple[int, ...]
    #: from ``sources`` to ``targets``
    relation: isl.Map
    #: the relation as text, for cache keys
    text: str


class IslPairs:
    """All pairs of references of one nest. Raises isl's errors; the caller sets the quota."""

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
        """The groups of a pair of references; None when the two never touch the same element.

        ``couples`` are the (source, target) iterators that run in a common loop.
        """
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
        """The representatives whose source and target have equal times in the first ``common`` shared steps.

        With ``strict``, the target is later in the next shared step. None where there is no such pair.
        """
        key = group.text, steps, common, strict
        if key not in self._points:
            if len(self._points) >= _MOST_KEPT:
                self._points.clear()
                self._timed.clear()
            self._points[key] = self._find(group, steps, common, strict)
        return self._points[key]

    def _find(self, group: PairGroup, steps: GroupSteps, common: int, strict: bool) -> StepTimes | None:
        relation = in_one_iteration(self._in_time(group, steps), range(common))
        if strict:
            relation = relation.order_lt(_IN, common, _OUT, common)
        if relation.is_empty():
            return None
        # The earliest source comes first, and with it its earliest target.
        count = relation.dim(_IN)
        both = _extreme(relation.wrap(), last=False)
        for level, value in enumerate(both[:count]):
            relation = relation.fix_val(_IN, level, value)
        return StepTimes(both[:count], both[count:], _extreme(relation.range(), last=True))

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
    """A key that is equal for pairs with the same relation, such as ``a[i], a[i + 1]`` and ``b[i - 1], b[i]``."""
    if source.subscripts is None or target.subscripts is None:
        return source, target
    parts = zip(source.subscripts, target.subscripts, strict=True)
    equations = tuple((one.coefficients, other.coefficients, one.constant - other.constant) for one, other in parts)
    return source.statement, target.statement, equations


def relation_components(relation: isl.Map) -> list[list[int]]:
    """Groups of dimensions that constraints couple; the range's are numbered after the domain's."""
    dimensions = relation.dim(_IN) + relation.dim(_OUT)
    pieces = relation.get_basic_maps()
    if len(pieces) != 1:
        return [list(range(dimensions))]
    groups = coupled_dimensions(pieces[0].wrap())
    return [coupled for coupled in ([v for v in group if v < dimensions] for group in groups) if coupled]


def relation_groups(relation: isl.Map, groups: Sequence[Sequence[int]]) -> tuple[PairGroup, ...]:
    """The relation restricted to each group of dimensions, which are numbered as in ``relation_components``."""
    count = relation.dim(_IN)
    return tuple(
        _group(relation, [v for v in group if v < count], [v - count for v in group if v >= count]) for group in groups
    )


def _group(relation: isl.Map, sources: list[int], targets: list[int]) -> PairGroup:
    alone = relation
    for kind, kept in ((_IN, sources), (_OUT, targets)):
        # All dimensions between two kept ones are projected out at once.
        for after, before in pairwise([relation.dim(kind), *reversed(kept), -1]):
            if after - before > 1:
                alone = alone.project_out(kind, before + 1, after - before - 1)
    for kind in (_IN, _OUT):
        if alone.has_tuple_id(kind):
            alone = alone.reset_tuple_id(kind)
    return PairGroup(tuple(sources), tuple(targets), alone, str(alone))


def _extreme(points: isl.Set, last: bool) -> tuple[int, ...]:
    """The lexicographically first or last point of a set that isn't empty.

    One dimension after another: isl's ``lexmin`` and ``lexmax`` (islpy 2026.2) trip an internal check on some sets with
    divisions, and pass over points of some whose equalities have no coefficient of one, such as ``2x = 2 - y``.
    """
    coordinates = []
    for dimension in range(points.dim(_SET)):
        end = points.dim_max_val(dimension) if last else points.dim_min_val(dimension)
        points = points.fix_val(_SET, dimension, end)
        coordinates.append(end.to_python())
    return tuple(coordinates)
