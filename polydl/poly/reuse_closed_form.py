"""Reuse in a nest of boxes without isl: representatives from small groups of iterators, footprints from products."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Literal

from polydl.poly.reuse_boxes import Box, BoxNest, BoxReference, box_nest, whole_region
from polydl.poly.reuse_groups import Bounds, Group, GroupPoints, GroupTable, Linear, Step, group_table
from polydl.poly.reuse_intervals import Intervals
from polydl.poly.reuse_references import (
    Dimensions,
    Representative,
    Time,
    carrying_levels,
    divergence,
    pair_kinds,
    time_of,
)
from polydl.poly.reuse_unions import Product, ValueSet, union_size, value_mask
from polydl.types import Loop, Schedule, Scop

Couples = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class _Pair:
    """The equations between two references, in groups of iterators that these and common loops couple.

    ``sources`` and ``targets`` list the iterators of each group by their index in the statement; ``source_group`` and
    ``target_group`` say for each iterator its group and its place there.
    """

    sources: tuple[tuple[int, ...], ...]
    targets: tuple[tuple[int, ...], ...]
    source_bounds: tuple[tuple[Bounds, ...], ...]
    target_bounds: tuple[tuple[Bounds, ...], ...]
    equations: tuple[tuple[Linear, ...], ...]
    source_group: tuple[tuple[int, int], ...]
    target_group: tuple[tuple[int, int], ...]


def closed_form(scop: Scop, schedule: Schedule) -> ClosedFormReuse | None:
    """None when the nest or its schedule isn't in the class that ``reuse_boxes`` describes."""
    nest = box_nest(scop)
    if nest is None:
        return None
    dimensions = tuple(schedule.of(name) for name in nest.statements)
    if not all(_is_complete(d, box) for d, box in zip(dimensions, nest.boxes, strict=True)):
        return None
    for number, own in enumerate(dimensions):
        if not all(_is_aligned(own, other) for other in dimensions[:number]):
            return None
    return ClosedFormReuse(nest, dimensions)


def _is_complete(dimensions: Dimensions, box: Box) -> bool:
    """Whether time tells all instances of a statement apart."""
    single = {d.iterator for d in dimensions if isinstance(d, Loop) and d.size == 1}
    return all(low == high or iterator in single for iterator, (low, high) in enumerate(box))


def _is_aligned(own: Dimensions, other: Dimensions) -> bool:
    """Whether the common dimensions of two statements are the same loops, over one iterator of each."""
    partners: dict[int, int] = {}
    common = divergence(own, other)
    for first, second in zip(own[:common], other[:common], strict=True):
        if isinstance(first, Loop) and isinstance(second, Loop):
            if (first.size, first.origin, first.direction) != (second.size, second.origin, second.direction):
                return False
            if partners.setdefault(first.iterator, second.iterator) != second.iterator:
                return False
        elif isinstance(first, Loop) or isinstance(second, Loop):
            return False
    return len(set(partners.values())) == len(partners) and (common < len(own)) == (common < len(other))


class ClosedFormReuse:
    """Answers for one nest and one schedule; made by ``closed_form``."""

    method: Literal["closed-form"] = "closed-form"

    def __init__(self, nest: BoxNest, dimensions: tuple[Dimensions, ...]) -> None:
        self._nest = nest
        self._dimensions = dimensions
        self._intervals = [Intervals(whole_region(d, box)) for d, box in zip(dimensions, nest.boxes, strict=True)]
        self._footprints: dict[tuple[Time, Time], tuple[int, int]] = {}

    def representatives(self) -> Iterator[Representative]:
        """Every dependence, split by the time dimension that carries it."""
        found = self._nest.references
        for source, target in product(range(len(found)), repeat=2):
            if found[source].array == found[target].array:
                yield from self._of_pair(source, target)

    def footprint(self, first: Time, last: Time) -> tuple[int, int]:
        """Distinct elements, and their bytes, that instances from ``first`` to ``last`` access, both included.

        A point that is cut short stands for all points that begin so.
        """
        key = (first, last)
        if key not in self._footprints:
            self._footprints[key] = self._footprint(first, last)
        return self._footprints[key]

    def _footprint(self, first: Time, last: Time) -> tuple[int, int]:
        nest = self._nest
        between = [intervals.between(first, last) for intervals in self._intervals]
        images: list[list[Product]] = [[] for _ in nest.arrays]
        for reference in nest.references:
            images[reference.array] += [_image(reference, piece.box) for piece in between[reference.statement]]
        elements = size = 0
        for array, products in zip(nest.arrays, images, strict=True):
            if products:
                touched = union_size(tuple(products))
                elements += touched
                size += touched * array.element_bytes
        return elements, size

    def _of_pair(self, source: int, target: int) -> Iterator[Representative]:
        nest = self._nest
        first, second = nest.references[source], nest.references[target]
        own, other = self._dimensions[first.statement], self._dimensions[second.statement]
        levels = carrying_levels(own, other)
        if not levels:
            return
        common = divergence(own, other)
        pair = _pair(nest, source, target, _couples(own[:common], other[:common]))
        if pair is None:
            return
        tables = _tables(pair, own, other, common)
        passed = [0] * len(tables)
        for level in range(levels[-1] + 1):
            dimension = own[level]
            owner = pair.source_group[dimension.iterator][0] if isinstance(dimension, Loop) else None
            points = _points(tables, passed, owner) if level in levels else None
            if points is not None:
                yield Representative(
                    nest.arrays[first.array].name,
                    nest.statements[first.statement],
                    nest.statements[second.statement],
                    pair_kinds(first.kinds, second.kinds),
                    level,
                    time_of(own, [points[g].source[at] for g, at in pair.source_group]),
                    time_of(other, [points[g].nearest[at] for g, at in pair.target_group]),
                    time_of(other, [points[g].farthest[at] for g, at in pair.target_group]),
                )
            if owner is not None:
                passed[owner] += 1


def _points(tables: list[GroupTable], passed: list[int], owner: int | None) -> list[GroupPoints] | None:
    """The groups' points for a dependence that the next step of group ``owner`` carries; None if there is none."""
    if owner is not None and tables[owner].points(passed[owner], True) is None:
        return None
    points: list[GroupPoints] = []
    for number, table in enumerate(tables):
        found = table.points(passed[number], number == owner)
        if found is None:
            return None
        points.append(found)
    return points


def _couples(own: Dimensions, other: Dimensions) -> Couples:
    """Pairs of iterators of source and target that run in a common loop."""
    loops = zip(own, other, strict=True)
    return tuple(sorted({(a.iterator, b.iterator) for a, b in loops if isinstance(a, Loop) and isinstance(b, Loop)}))


@lru_cache(maxsize=4096)
def _pair(nest: BoxNest, source: int, target: int, couples: Couples) -> _Pair | None:
    """None where constant subscripts differ, so that the two never meet."""
    first, second = nest.references[source], nest.references[target]
    own, other = nest.boxes[first.statement], nest.boxes[second.statement]
    count = len(own)
    # Source iterators are numbered first, then the target's.
    systems: list[Linear] = []
    joined = [(i, count + j) for i, j in couples]
    for left, right in zip(first.subscripts, second.subscripts, strict=True):
        terms = tuple(left.terms) + tuple((count + i, -c) for i, c in right.terms)
        if not terms:
            if left.constant != right.constant:
                return None
            continue
        systems.append((terms, right.constant - left.constant))
        joined += [(terms[0][0], variable) for variable, _ in terms[1:]]
    groups = _components(count + len(other), joined)
    place = {variable: (number, group.index(variable)) for number, group in enumerate(groups) for variable in group}
    equations: list[list[Linear]] = [[] for _ in groups]
    for terms, constant in systems:
        equations[place[terms[0][0]][0]].append((tuple((place[v][1], c) for v, c in terms), constant))
    sources = tuple(tuple(v for v in group if v < count) for group in groups)
    targets = tuple(tuple(v - count for v in group if v >= count) for group in groups)
    return _Pair(
        sources,
        targets,
        tuple(tuple(own[i] for i in group) for group in sources),
        tuple(tuple(other[i] for i in group) for group in targets),
        tuple(tuple(each) for each in equations),
        tuple(place[i] for i in range(count)),
        tuple((number, at - len(sources[number])) for number, at in (place[count + i] for i in range(len(other)))),
    )


def _components(count: int, joined: list[tuple[int, int]]) -> list[list[int]]:
    label = list(range(count))
    for left, right in joined:
        old, new = label[left], label[right]
        if old != new:
            label = [new if each == old else each for each in label]
    groups: dict[int, list[int]] = {}
    for variable, each in enumerate(label):
        groups.setdefault(each, []).append(variable)
    return list(groups.values())


def _tables(pair: _Pair, own: Dimensions, other: Dimensions, common: int) -> list[GroupTable]:
    """Each group with its time dimensions, which is all that a schedule adds to a pair."""
    steps: list[list[Step]] = [[] for _ in pair.sources]
    for first, second in zip(own[:common], other[:common], strict=True):
        if isinstance(first, Loop) and isinstance(second, Loop):
            group, at = pair.source_group[first.iterator]
            steps[group].append(
                Step(at, pair.target_group[second.iterator][1], first.size, first.origin, first.direction)
            )
    for loop in own[common:]:
        if isinstance(loop, Loop):
            group, at = pair.source_group[loop.iterator]
            steps[group].append(Step(at, -1, loop.size, loop.origin, loop.direction))
    for loop in other[common:]:
        if isinstance(loop, Loop):
            group, at = pair.target_group[loop.iterator]
            steps[group].append(Step(-1, at, loop.size, loop.origin, loop.direction))
    parts = zip(pair.source_bounds, pair.target_bounds, pair.equations, map(tuple, steps), strict=True)
    return [group_table(Group(*part)) for part in parts]


def _image(reference: BoxReference, box: Box) -> Product:
    """The elements that a box of instances accesses; the subscripts share no iterator, so they form a product."""
    if reference.shifted is not None:
        return tuple([(box[i][0] + c, box[i][1] + c) if c else box[i] for i, c in reference.shifted])
    values: list[ValueSet] = []
    for subscript in reference.subscripts:
        if subscript.scattered:
            values.append(value_mask(subscript.constant, tuple((c, *box[i]) for i, c in subscript.terms)))
            continue
        low = high = subscript.constant
        for iterator, coefficient in subscript.terms:
            first, last = box[iterator]
            if coefficient > 0:
                low += coefficient * first
                high += coefficient * last
            else:
                low += coefficient * last
                high += coefficient * first
        values.append((low, high))
    return tuple(values)
