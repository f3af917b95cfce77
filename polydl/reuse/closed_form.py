"""Reuse in a nest of boxes, without isl.

Representatives come from searches of small groups of iterators, footprints from sizes of unions of products.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Literal

from polydl.ir.affine import Box
from polydl.ir.schedule import Loop, Schedule
from polydl.ir.scop import Scop
from polydl.reuse.boxes import BoxNest, Subscript, box_nest, whole_region
from polydl.reuse.groups import Bounds, CoupledDimension, CoupledIterators, GroupPoints, GroupTable, Linear, group_table
from polydl.reuse.intervals import Intervals
from polydl.reuse.lines import line_coordinates, line_mask
from polydl.reuse.references import (
    Couples,
    Dimensions,
    Representative,
    Time,
    carrying_levels,
    couples,
    divergence,
    pair_kinds,
    time_of,
)
from polydl.reuse.unions import Product, ValueSet, union_size, value_mask

# (iterator, constant) of each subscript that is their sum.
Shift = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Pair:
    """The condition that two references touch the same element, split into independent groups of iterators.

    Iterators are in one group when an equation or a common loop couples them.
    """

    #: source iterators of each group
    sources: tuple[tuple[int, ...], ...]
    #: target iterators of each group
    targets: tuple[tuple[int, ...], ...]
    #: their inclusive bounds
    source_bounds: tuple[tuple[Bounds, ...], ...]
    target_bounds: tuple[tuple[Bounds, ...], ...]
    #: equations of each group, over its sources and then its targets
    equations: tuple[tuple[Linear, ...], ...]
    #: (group, index in the group) of each source iterator
    source_group: tuple[tuple[int, int], ...]
    #: (group, index in the group) of each target iterator
    target_group: tuple[tuple[int, int], ...]


def closed_form(scop: Scop, schedule: Schedule, line_bytes: int | None = None) -> ClosedFormReuse | None:
    """Reuse of a nest run in the order of ``schedule``; None when the nest or its schedule isn't in the class.

    Besides the nest (``polydl.reuse.boxes``), the schedule must tell all instances of a statement apart, and the common
    time dimensions of two statements must be the same loops. With ``line_bytes``, bytes are those of cache lines.
    """
    nest = box_nest(scop)
    if nest is None or (line_bytes is not None and line_coordinates(nest, line_bytes) is None):
        return None
    dimensions = tuple(schedule.of(name) for name in nest.statements)
    if not all(_is_complete(d, box) for d, box in zip(dimensions, nest.boxes, strict=True)):
        return None
    for number, one in enumerate(dimensions):
        if not all(_is_aligned(one, other) for other in dimensions[:number]):
            return None
    return ClosedFormReuse(nest, dimensions, line_bytes)


def _is_complete(dimensions: Dimensions, box: Box) -> bool:
    """Whether no two instances of a statement have the same time."""
    single = {d.iterator for d in dimensions if isinstance(d, Loop) and d.size == 1}
    return all(low == high or iterator in single for iterator, (low, high) in enumerate(box))


def _is_aligned(one: Dimensions, other: Dimensions) -> bool:
    """Whether the common dimensions of two statements are the same loops, each over one iterator of either."""
    partners: dict[int, int] = {}
    common = divergence(one, other)
    for first, second in zip(one[:common], other[:common], strict=True):
        if isinstance(first, Loop) and isinstance(second, Loop):
            if (first.size, first.origin, first.direction) != (second.size, second.origin, second.direction):
                return False
            if partners.setdefault(first.iterator, second.iterator) != second.iterator:
                return False
        elif isinstance(first, Loop) or isinstance(second, Loop):
            return False
    return len(set(partners.values())) == len(partners) and (common < len(one)) == (common < len(other))


class ClosedFormReuse:
    """Answers for one nest and one schedule; made by ``closed_form``."""

    method: Literal["closed-form"] = "closed-form"

    def __init__(self, nest: BoxNest, dimensions: tuple[Dimensions, ...], line_bytes: int | None) -> None:
        self._nest = nest
        self._dimensions = dimensions
        self._elements = _Coordinates(nest, tuple(reference.subscripts for reference in nest.references))
        lines = None if line_bytes is None else line_coordinates(nest, line_bytes)
        self._lines = None if lines is None else _Coordinates(nest, lines)
        self._line_bytes = line_bytes or 0
        self._intervals = [Intervals(whole_region(d, box)) for d, box in zip(dimensions, nest.boxes, strict=True)]
        self._footprints: dict[tuple[tuple[Time, Time], ...], tuple[int, int]] = {}

    def representatives(self) -> Iterator[Representative]:
        """A representative of every dependence, for each time dimension that carries it."""
        references = self._nest.references
        for source, target in product(range(len(references)), repeat=2):
            if references[source].array == references[target].array:
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
            between = [
                [piece.box for stretch in key for piece in intervals.between(*stretch)] for intervals in self._intervals
            ]
            elements = self._elements.sizes(between)
            if self._lines is None:
                size = sum(n * array.element_bytes for n, array in zip(elements, self._nest.arrays, strict=True))
            else:
                size = sum(self._lines.sizes(between)) * self._line_bytes
            self._footprints[key] = sum(elements), size
        return self._footprints[key]

    def iterations(self, statement: str, prefix: Time) -> tuple[int, int] | None:
        """The least and the greatest value of the next time dimension of the instances with a time prefix."""
        return self._intervals[self._nest.statements.index(statement)].range_after(prefix)

    def _of_pair(self, source: int, target: int) -> Iterator[Representative]:
        nest = self._nest
        first, second = nest.references[source], nest.references[target]
        source_dimensions, target_dimensions = self._dimensions[first.statement], self._dimensions[second.statement]
        levels = carrying_levels(source_dimensions, target_dimensions)
        if not levels:
            return
        common = divergence(source_dimensions, target_dimensions)
        pair = reference_pair(nest, source, target, couples(source_dimensions[:common], target_dimensions[:common]))
        if pair is None:
            return
        tables = _tables(pair, source_dimensions, target_dimensions, common)
        passed = [0] * len(tables)
        for level in range(levels[-1] + 1):
            dimension = source_dimensions[level]
            owner = pair.source_group[dimension.iterator][0] if isinstance(dimension, Loop) else None
            points = _points(tables, passed, owner) if level in levels else None
            if points is not None:
                yield Representative(
                    nest.arrays[first.array].name,
                    nest.statements[first.statement],
                    nest.statements[second.statement],
                    pair_kinds(first.kinds, second.kinds),
                    level,
                    time_of(source_dimensions, [points[g].source[at] for g, at in pair.source_group]),
                    time_of(target_dimensions, [points[g].nearest[at] for g, at in pair.target_group]),
                    time_of(target_dimensions, [points[g].farthest[at] for g, at in pair.target_group]),
                )
            if owner is not None:
                passed[owner] += 1


def _points(tables: list[GroupTable], passed: list[int], owner: int | None) -> list[GroupPoints] | None:
    """The representative of each group for a dependence that the next step of group ``owner`` carries.

    ``passed`` counts the shared steps of each group before that. None if there is no such dependence. Without an
    ``owner``, a position in a sequence carries the dependence.
    """
    if owner is not None and tables[owner].points(passed[owner], True) is None:
        return None
    points: list[GroupPoints] = []
    for number, table in enumerate(tables):
        representative = table.points(passed[number], number == owner)
        if representative is None:
            return None
        points.append(representative)
    return points


@lru_cache(maxsize=4096)
def reference_pair(nest: BoxNest, source: int, target: int, couples: Couples) -> Pair | None:
    """The groups of two references; None where constant subscripts differ, so that they never touch one element."""
    first, second = nest.references[source], nest.references[target]
    source_box, target_box = nest.boxes[first.statement], nest.boxes[second.statement]
    count = len(source_box)
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
    groups = _components(count + len(target_box), joined)
    position = {variable: (number, group.index(variable)) for number, group in enumerate(groups) for variable in group}
    equations: list[list[Linear]] = [[] for _ in groups]
    for terms, constant in systems:
        equations[position[terms[0][0]][0]].append((tuple((position[v][1], c) for v, c in terms), constant))
    sources = tuple(tuple(v for v in group if v < count) for group in groups)
    targets = tuple(tuple(v - count for v in group if v >= count) for group in groups)
    return Pair(
        sources,
        targets,
        tuple(tuple(source_box[i] for i in group) for group in sources),
        tuple(tuple(target_box[i] for i in group) for group in targets),
        tuple(tuple(group_equations) for group_equations in equations),
        tuple(position[i] for i in range(count)),
        tuple(
            (number, at - len(sources[number])) for number, at in (position[count + i] for i in range(len(target_box)))
        ),
    )


def _components(count: int, joined: list[tuple[int, int]]) -> list[list[int]]:
    label = list(range(count))
    for left, right in joined:
        old, new = label[left], label[right]
        if old != new:
            label = [new if component == old else component for component in label]
    groups: dict[int, list[int]] = {}
    for variable, component in enumerate(label):
        groups.setdefault(component, []).append(variable)
    return list(groups.values())


def _tables(pair: Pair, source: Dimensions, target: Dimensions, common: int) -> list[GroupTable]:
    """Each group with its time dimensions, the only thing about a pair that depends on the schedule."""
    steps: list[list[CoupledDimension]] = [[] for _ in pair.sources]
    for first, second in zip(source[:common], target[:common], strict=True):
        if isinstance(first, Loop) and isinstance(second, Loop):
            group, at = pair.source_group[first.iterator]
            steps[group].append(
                CoupledDimension(at, pair.target_group[second.iterator][1], first.size, first.origin, first.direction)
            )
    for loop in source[common:]:
        if isinstance(loop, Loop):
            group, at = pair.source_group[loop.iterator]
            steps[group].append(CoupledDimension(at, -1, loop.size, loop.origin, loop.direction))
    for loop in target[common:]:
        if isinstance(loop, Loop):
            group, at = pair.target_group[loop.iterator]
            steps[group].append(CoupledDimension(-1, at, loop.size, loop.origin, loop.direction))
    parts = zip(pair.source_bounds, pair.target_bounds, pair.equations, map(tuple, steps), strict=True)
    return [group_table(CoupledIterators(*part)) for part in parts]


class _Coordinates:
    """Counts the elements or the lines that references touch, depending on the subscripts given."""

    def __init__(self, nest: BoxNest, subscripts: Sequence[tuple[Subscript, ...]]) -> None:
        self._arrays = len(nest.arrays)
        self._images = [
            (reference.statement, reference.array, coordinates, _shifted(coordinates))
            for reference, coordinates in zip(nest.references, subscripts, strict=True)
        ]

    def sizes(self, boxes: Sequence[Sequence[Box]]) -> list[int]:
        """The number of elements or lines touched in each array; ``boxes`` has the instances of each statement."""
        images: list[list[Product]] = [[] for _ in range(self._arrays)]
        for statement, array, subscripts, shifted in self._images:
            images[array] += [_image(subscripts, shifted, box) for box in boxes[statement]]
        return [union_size(tuple(products)) if products else 0 for products in images]


def _shifted(subscripts: Sequence[Subscript]) -> Shift | None:
    """The (iterator, constant) of each subscript; None unless all subscripts are one iterator plus a constant."""
    if any(s.scattered or s.divisor > 1 or [c for _, c in s.terms] != [1] for s in subscripts):
        return None
    return tuple((subscript.terms[0][0], subscript.constant) for subscript in subscripts)


def _image(subscripts: Sequence[Subscript], shifted: Shift | None, box: Box) -> Product:
    """The elements or lines that a box of instances accesses: a product, since no two subscripts share an iterator."""
    if shifted is not None:
        return tuple([(box[i][0] + c, box[i][1] + c) if c else box[i] for i, c in shifted])
    values: list[ValueSet] = []
    for subscript in subscripts:
        if subscript.scattered:
            ranges = tuple((c, *box[i]) for i, c in subscript.terms)
            if subscript.divisor > 1:
                values.append(line_mask(subscript.constant, ranges, subscript.divisor))
            else:
                values.append(value_mask(subscript.constant, ranges))
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
        values.append((low // subscript.divisor, high // subscript.divisor) if subscript.divisor > 1 else (low, high))
    return tuple(values)
