"""Images of boxes under access relations, enumerated in NumPy: positions in an array as bits.

isl counts the image of a triangle under ``32 * i + 33 * j`` in seconds, since it makes disjoint pieces of what are a
few hundred points. Such images are enumerated here, in parts without a common iterator.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod

import islpy as isl
import numpy as np
import numpy.typing as npt

from polydl.ir.affine import Box
from polydl.ir.scop import Array
from polydl.poly.counting import constraint_rows, division_rows
from polydl.reuse.unions import Product, value_mask

_IN, _OUT, _SET, _DIV = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set, isl.dim_type.div

#: Iterations of a box that are enumerated, and elements of an array whose positions are held as bits.
MOST_POINTS, MOST_ELEMENTS = 1 << 20, 1 << 22

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Positions:
    """A set of positions in an array, or of numbers of lines: ``first + n`` for each set bit ``n``."""

    #: the position of bit 0
    first: int
    #: bit ``n`` is set if ``first + n`` belongs to the set
    mask: int

    def lines(self, per_line: int) -> Positions:
        """The lines of ``per_line`` elements that the positions are in; the array begins at the start of a line."""
        line, offset = divmod(self.first, per_line)
        flags = _flags(self.mask << offset)
        padded = np.concatenate([flags, np.zeros(-len(flags) % per_line, dtype=np.uint8)])
        return Positions(line, _mask(padded.reshape(-1, per_line).max(axis=1)))


@dataclass(frozen=True)
class Elements:
    """A set of elements of an array, by some of its dimensions."""

    #: distinct
    positions: Integers
    #: the indices' bounds in each of the dimensions
    box: Box

    @property
    def product(self) -> Box | None:
        """The box if it is the set; None if it isn't."""
        return self.box if len(self.positions) == points_of(self.box) else None


def positions_union_size(sets: Iterable[Positions]) -> int:
    """The number of distinct positions in all sets, of which there is at least one."""
    distinct = set(sets)
    lowest = min(positions.first for positions in distinct)
    union = 0
    for positions in distinct:
        union |= positions.mask << (positions.first - lowest)
    return union.bit_count()


def product_positions(product: Product, array: Array) -> Positions | None:
    """The positions of a product of ranges of indices; None where an index is outside of its extent."""
    first, terms = 0, []
    for values, stride, extent in zip(product, array.strides, array.extents, strict=True):
        if isinstance(values, int) or values[0] < 0 or values[1] >= extent:
            return None
        first += stride * values[0]
        terms.append((stride, 0, values[1] - values[0]))
    return Positions(first, value_mask(0, tuple(terms)))


def positions_of(parts: Sequence[Elements]) -> Positions:
    """The elements with any indices of each part in its dimensions."""
    total = np.zeros(1, dtype=np.int64)
    for part in parts:
        total = np.add.outer(total, part.positions).ravel()
    if not total.size:
        return Positions(0, 0)
    first = int(total.min())
    return Positions(first, _mask(_marked(total - first)))


def _marked(offsets: Integers) -> npt.NDArray[np.bool_]:
    flags = np.zeros(int(offsets.max()) + 1, dtype=np.bool_)
    flags[offsets] = True
    return flags


def _mask(flags: npt.NDArray[np.bool_] | npt.NDArray[np.uint8]) -> int:
    return int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little")


def _flags(mask: int) -> npt.NDArray[np.uint8]:
    data = mask.to_bytes((mask.bit_length() + 7) // 8, "little")
    return np.unpackbits(np.frombuffer(data, dtype=np.uint8), bitorder="little")


@dataclass(frozen=True)
class _Definition:
    """A member as ``floor(row / divisor)`` of the members before it."""

    member: int
    row: list[int]
    divisor: int


@dataclass(frozen=True)
class _Piece:
    """A basic map. Members are the iterators, then the dimensions of the array, then the integer divisions.

    A row has a coefficient for each member, then the constant.
    """

    iterators: int
    dimensions: int
    #: of all members but the iterators, each after the members that it needs
    definitions: list[_Definition]
    #: rows that are zero, and rows that are at least zero, in the relation
    equalities: list[list[int]]
    inequalities: list[list[int]]

    def indices(self, bounds: Box) -> list[Integers] | None:
        """The indices in each dimension that the iterations in ``bounds`` access, with repetitions.

        None where numbers could overflow 64 bits.
        """
        values: list[Integers | None] = [None] * (len(self.definitions) + self.iterators)
        shape = [high - low + 1 for low, high in bounds]
        for iterator, (low, high) in enumerate(bounds):
            along = [-1 if axis == iterator else 1 for axis in range(len(bounds))]
            values[iterator] = np.arange(low, high + 1).reshape(along)
        largest = [max(-low, high) for low, high in bounds] + [0] * len(self.definitions)

        def at(row: list[int]) -> Integers | None:
            """The row's value in all iterations; None where it could overflow."""
            if _magnitude(row, largest) >= 1 << 62:
                return None
            total: Integers = np.full([1] * len(bounds), row[-1], dtype=np.int64)
            for coefficient, value in zip(row, values, strict=False):
                if coefficient and value is not None:
                    total = total + coefficient * value
            return total

        for definition in self.definitions:
            value = at(definition.row)
            if value is None:
                return None
            values[definition.member] = value // definition.divisor
            largest[definition.member] = _magnitude(definition.row, largest) // definition.divisor + 1
        kept: npt.NDArray[np.bool_] = np.ones([1] * len(bounds), dtype=np.bool_)
        for rows, equal in ((self.equalities, True), (self.inequalities, False)):
            for row in rows:
                value = at(row)
                if value is None:
                    return None
                kept = kept & (value == 0 if equal else value >= 0)
        inside = np.broadcast_to(kept, shape)
        indices = values[self.iterators : self.iterators + self.dimensions]
        return [np.broadcast_to(index, shape)[inside] for index in indices if index is not None]


@dataclass(frozen=True, eq=False)
class EnumeratedRelation:
    """A relation from iterators to some dimensions of an array, at least one, as rows of integers."""

    #: basic maps, whose union it is
    pieces: tuple[_Piece, ...]

    def elements(self, bounds: Box, array: Array, dimensions: Sequence[int]) -> Elements | None:
        """The elements that the iterations in ``bounds`` access, by the relation's dimensions of the array.

        None where there are none, where an index is outside of its extent, so that two elements could have one
        position, and where numbers could overflow 64 bits.
        """
        by_piece = [piece.indices(bounds) for piece in self.pieces]
        enumerated = [indices for indices in by_piece if indices is not None]
        if not by_piece or len(enumerated) < len(by_piece):
            return None
        positions = np.zeros(1, dtype=np.int64)
        box = []
        for dimension, columns in zip(dimensions, zip(*enumerated, strict=True), strict=True):
            column = np.concatenate(columns)
            if not column.size:
                return None
            low, high = int(column.min()), int(column.max())
            if low < 0 or high >= array.extents[dimension]:
                return None
            box.append((low, high))
            positions = positions + array.strides[dimension] * column
        first = positions.min()
        return Elements(np.flatnonzero(_marked(positions - first)) + first, tuple(box))


def points_of(bounds: Box) -> int:
    """The number of iterations in a box."""
    return prod(high - low + 1 for low, high in bounds)


def enumerated_relation(relation: isl.Map) -> EnumeratedRelation | None:
    """The relation as rows; None where a dimension of the array isn't determined by the iterators."""
    pieces = [_piece(piece) for piece in relation.compute_divs().get_basic_maps()]
    determined = tuple(piece for piece in pieces if piece is not None)
    return EnumeratedRelation(determined) if len(determined) == len(pieces) else None


def _piece(relation: isl.BasicMap) -> _Piece | None:
    points = relation.wrap()
    iterators, dimensions = relation.dim(_IN), relation.dim(_OUT)
    members = points.dim(_SET) + points.dim(_DIV)
    equalities, inequalities = constraint_rows(points)
    for member, row in enumerate(division_rows(points), start=points.dim(_SET)):
        if row is not None:
            # 0 <= numerator - denominator * division < denominator
            inequalities += [row, [*(-c for c in row[:-1]), -row[member] - 1 - row[-1]]]
    limits = [*inequalities, *equalities, *([-c for c in row] for row in equalities)]
    for member in range(iterators, iterators + dimensions):
        # Of b = i mod 4 and a = floor(i / 4), isl says i - 4 * a - b = 0 and 0 <= b <= 3, which first determine a.
        equality = next((row for row in equalities if abs(row[member]) == 1), None)
        if equality is not None:
            limits += [_eliminated(member, row, equality) for row in limits if row[member]]
    known = set(range(iterators))
    definitions: list[_Definition] = []
    while len(known) < members:
        unknown = (member for member in range(iterators, members) if member not in known)
        possible = (_between(member, known, limits) for member in unknown)
        definition = next((definition for definition in possible if definition is not None), None)
        if definition is None:
            return None
        definitions.append(definition)
        known.add(definition.member)
    return _Piece(iterators, dimensions, definitions, equalities, inequalities)


def _between(member: int, known: set[int], limits: list[list[int]]) -> _Definition | None:
    """A member that two limits leave at most one value: ``rest - divisor + 1 <= divisor * member <= rest``."""
    usable = [row for row in limits if row[member] and _needs_only(row, member, known)]
    for above in usable:
        divisor = -above[member]
        if divisor < 0:
            continue
        for below in usable:
            width = [one + other for one, other in zip(above, below, strict=True)]
            if not any(width[:-1]) and width[-1] < divisor:
                return _Definition(member, _without(above, member), divisor)
    return None


def _eliminated(member: int, row: list[int], equality: list[int]) -> list[int]:
    factor = row[member] * equality[member]
    return [c - factor * other for c, other in zip(row, equality, strict=True)]


def _needs_only(row: list[int], member: int, known: set[int]) -> bool:
    return all(not c or other == member or other in known for other, c in enumerate(row[:-1]))


def _without(row: list[int], member: int) -> list[int]:
    return [0 if other == member else c for other, c in enumerate(row)]


def _magnitude(row: list[int], largest: Sequence[int]) -> int:
    """No less than the absolute value of the row, where those of the members are at most ``largest``."""
    return abs(row[-1]) + sum(abs(c) * most for c, most in zip(row, largest, strict=False))
