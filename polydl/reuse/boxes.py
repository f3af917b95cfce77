"""The class of nests that are analysed in closed form, without isl.

A nest is in the class when every iteration domain is a box, every subscript is affine, and no iterator is in two
subscripts of one access. A box of instances then touches a product of value sets. Linearised subscripts
(``a[i * 64 + j]``) are split into digits first, so that nests with them are in the class too. This file depends on the
nest alone; schedules, with their tile sizes, come in with ``polydl.reuse.closed_form``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from polydl.ir.affine import Affine, Box
from polydl.ir.scop import Scop
from polydl.ir.statement import AccessKind
from polydl.reuse.references import Dimensions, Reference, references

# (iterator, coefficient) pairs.
Terms = tuple[tuple[int, int], ...]

# A dimension whose subscripts take scattered values is held as one bit per element.
_WIDEST_SCATTERED = 1 << 22


@dataclass(frozen=True)
class Subscript:
    """``floor((constant + sum(coefficient * iterator)) / divisor)``: one coordinate of an element or a cache line."""

    #: (iterator, coefficient) pairs
    terms: Terms
    #: what is added to the terms
    constant: int
    #: whether the values may have gaps when iterators run over ranges
    scattered: bool = False
    #: positive
    divisor: int = 1


@dataclass(frozen=True)
class BoxReference:
    """A reference of a nest in the class. Statements and arrays are indices into the nest's."""

    statement: int
    array: int
    #: read, write or both
    kinds: tuple[AccessKind, ...]
    #: coordinates of the element: the digits, without gaps where possible
    subscripts: tuple[Subscript, ...]
    #: the subscripts split into digits
    digits: tuple[Subscript, ...]


@dataclass(frozen=True)
class BoxArray:
    """An array of a nest in the class."""

    name: str
    element_bytes: int
    #: elements between neighbouring values of each digit of its references, outermost first
    units: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class BoxNest:
    """A nest in the class. It is compared by identity, which makes it a cheap key."""

    #: names of the statements
    statements: tuple[str, ...]
    #: iteration domain of each statement
    boxes: tuple[Box, ...]
    arrays: tuple[BoxArray, ...]
    references: tuple[BoxReference, ...]


_nests: dict[str, BoxNest | None] = {}


def box_nest(scop: Scop) -> BoxNest | None:
    """The scop as a nest of the class; None when it isn't in the class."""
    if scop.digest not in _nests:
        if len(_nests) >= 256:
            _nests.clear()
        _nests[scop.digest] = _box_nest(scop)
    return _nests[scop.digest]


def _box_nest(scop: Scop) -> BoxNest | None:
    boxes: dict[str, Box] = {}
    for statement in scop.statements:
        if statement.box is None or any(low > high for low, high in statement.box):
            return None
        boxes[statement.name] = statement.box
    names = tuple(boxes)
    arrays: list[BoxArray] = []
    box_references: list[BoxReference] = []
    scop_references = references(scop)
    for array in scop.arrays:
        uses = [reference for reference in scop_references if reference.array == array.name]
        use_boxes = [boxes[reference.statement] for reference in uses]
        columns: list[list[Subscript]] = []
        digits: list[list[Subscript]] = []
        units: list[int] = []
        for dimension, stride in enumerate(array.strides):
            column = [_subscript(r, dimension, box) for r, box in zip(uses, use_boxes, strict=True)]
            if any(subscript is None for subscript in column):
                return None
            for unit, digit in _split([s for s in column if s is not None], use_boxes, stride):
                compressed = _compress(digit)
                if compressed is None:
                    low, high = _extremes(digit, use_boxes)
                    if high - low >= _WIDEST_SCATTERED:
                        return None
                    compressed = [Subscript(s.terms, s.constant - low, scattered=True) for s in digit]
                columns.append(compressed)
                digits.append(digit)
                units.append(unit)
        for number, reference in enumerate(uses):
            subscripts = tuple(column[number] for column in columns)
            used = [iterator for subscript in subscripts for iterator, _ in subscript.terms]
            if len(used) != len(set(used)):
                return None
            owner = names.index(reference.statement)
            raw = tuple(digit[number] for digit in digits)
            box_references.append(BoxReference(owner, len(arrays), reference.kinds, subscripts, raw))
        arrays.append(BoxArray(array.name, array.element_bytes, tuple(units)))
    return BoxNest(names, tuple(boxes.values()), tuple(arrays), tuple(box_references))


def _subscript(reference: Reference, dimension: int, box: Box) -> Subscript | None:
    """One subscript of a reference; None where it isn't affine. Iterators of a single value go into the constant."""
    if reference.subscripts is None:
        return None
    affine: Affine = reference.subscripts[dimension]
    constant, terms = affine.constant, []
    for iterator, (coefficient, (low, high)) in enumerate(zip(affine.coefficients, box, strict=True)):
        if low == high:
            constant += coefficient * low
        elif coefficient:
            terms.append((iterator, coefficient))
    return Subscript(tuple(terms), constant)


def value_range(terms: Terms, box: Box) -> tuple[int, int]:
    """Least and greatest value of the terms over a box."""
    ends = [(c * box[i][0], c * box[i][1]) for i, c in terms]
    return sum(min(e) for e in ends), sum(max(e) for e in ends)


def _extremes(column: Sequence[Subscript], boxes: Sequence[Box]) -> tuple[int, int]:
    """Least and greatest value of a dimension over all references."""
    ranges = [(s.constant, *value_range(s.terms, box)) for s, box in zip(column, boxes, strict=True)]
    return min(c + low for c, low, _ in ranges), max(c + high for c, _, high in ranges)


def _split(column: Sequence[Subscript], boxes: Sequence[Box], unit: int) -> list[tuple[int, list[Subscript]]]:
    """Splits the subscripts of one dimension into digits of a mixed radix, such that no reference carries between them.

    Two elements are then equal exactly when all their digits are. ``column`` has the subscript of each reference,
    ``unit`` is the number of elements between neighbouring values. Returns (unit, subscripts) of each digit.
    """
    for radix in sorted({abs(c) for s in column for _, c in s.terms if abs(c) > 1}, reverse=True):
        high: list[Subscript] = []
        low: list[Subscript] = []
        for subscript, box in zip(column, boxes, strict=True):
            upper = tuple((i, c // radix) for i, c in subscript.terms if c % radix == 0)
            lower = tuple((i, c) for i, c in subscript.terms if c % radix)
            least, most = value_range(lower, box)
            quotient = (subscript.constant + least) // radix
            constant = subscript.constant - quotient * radix
            if constant + most >= radix:
                break
            high.append(Subscript(upper, quotient))
            low.append(Subscript(lower, constant))
        else:
            if any(s.terms for s in low) or len({s.constant for s in low}) > 1:
                return [*_split(high, boxes, unit * radix), *_split(low, boxes, unit)]
    return [(unit, list(column))]


def _compress(column: Sequence[Subscript]) -> list[Subscript] | None:
    """Subscripts without gaps, which take ranges of iterators to ranges of values; None where there are none.

    They exist when all coefficients are equal up to sign and all constants are congruent modulo the coefficient: ``2 *
    i + 1`` becomes ``i``.
    """
    sizes = {abs(c) for s in column for _, c in s.terms}
    step = max(sizes, default=1)
    if len(sizes) > 1 or (sizes and len({s.constant % step for s in column}) > 1):
        return None
    return [Subscript(tuple((i, c // step) for i, c in s.terms), s.constant // step) for s in column]


# (iterator, size, origin, direction) for a loop, (-1, position, 0, 1) for a position in a sequence.
TimeDimension = tuple[int, int, int, int]


class BoxRegion:
    """The instances of a statement in a box of its iterators; a ``Region`` of ``polydl.reuse.intervals``."""

    __slots__ = ("box", "dimensions")

    def __init__(self, dimensions: tuple[TimeDimension, ...], box: Box) -> None:
        self.dimensions = dimensions
        self.box = box

    @property
    def levels(self) -> int:
        return len(self.dimensions)

    def within(self, level: int, earliest: int, latest: int) -> BoxRegion | None:
        iterator, size, origin, direction = self.dimensions[level]
        if iterator < 0:
            return self if earliest <= size <= latest else None
        if direction < 0:
            earliest, latest = -latest, -earliest
        box = self.box
        low, high = box[iterator]
        least, most = origin + earliest * size, origin + (latest + 1) * size - 1
        if least <= low:
            if most >= high:
                return self
        else:
            low = least
        if most < high:
            high = most
        if low > high:
            return None
        return BoxRegion(self.dimensions, (*box[:iterator], (low, high), *box[iterator + 1 :]))

    def time_range(self, level: int) -> tuple[int, int]:
        iterator, size, origin, direction = self.dimensions[level]
        if iterator < 0:
            return size, size
        low, high = self.box[iterator]
        if direction > 0:
            return (low - origin) // size, (high - origin) // size
        return -((high - origin) // size), -((low - origin) // size)


def region_dimensions(dimensions: Dimensions) -> tuple[TimeDimension, ...]:
    """Time dimensions as tuples (iterator, size, origin, direction); those of a constant are (-1, constant, 0, 1)."""
    return tuple(
        (-1, d, 0, 1) if isinstance(d, int) else (d.iterator, d.size, d.origin, d.direction) for d in dimensions
    )


def whole_region(dimensions: Dimensions, box: Box) -> BoxRegion:
    """All instances of a statement."""
    return BoxRegion(region_dimensions(dimensions), box)
