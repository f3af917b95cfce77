"""Footprints by isl: the images of regions under access relations, and the sizes of their unions.

Images that are products of ranges are united as such. Others are enumerated where they are small enough, and else
counted by isl.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import islpy as isl

from polydl.ir.affine import Box
from polydl.ir.scop import Array, Scop
from polydl.poly.boxes import bounding_box
from polydl.poly.counting import count, spend
from polydl.reuse.boxes import BoxRegion
from polydl.reuse.isl.enumerated import (
    MOST_ELEMENTS,
    MOST_POINTS,
    Elements,
    EnumeratedRelation,
    Positions,
    enumerated_relation,
    points_of,
    positions_of,
    positions_union_size,
    product_positions,
)
from polydl.reuse.isl.pairs import relation_components, relation_groups
from polydl.reuse.lines import MOST_LINES, elements_per_line, first_of_aligned, line_mask
from polydl.reuse.references import Reference
from polydl.reuse.unions import Product, ValueSet, union_size

_IN, _OUT, _SET, _DIV = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set, isl.dim_type.div
# Sets of isl's that are kept.
_MOST_KEPT = 1 << 14
# Iterations up to which an image is enumerated that isl takes for one polyhedron and counts fast, however large it is.
_FEW_POINTS = 1 << 14
# Bits of positions that are kept.
_MOST_BITS = 1 << 29


@dataclass(frozen=True)
class _Image:
    """A set of elements or lines of one array."""

    #: the set as a product of ranges; None where it isn't easily seen to be one
    product: Product | None
    #: computes the set
    computed: Callable[[], isl.Set]
    #: enumerates the set; None where it or its array is too large, or isl must find it
    enumerated: Callable[[], Positions | None]
    #: key for caches: images with equal keys are equal sets
    identity: object

    @cached_property
    def points(self) -> isl.Set:
        """The set, computed when it is first asked for."""
        return self.computed()


@dataclass(frozen=True, eq=False)
class _Part:
    """A part of an access: dimensions of the array that depend on some of the iterators alone."""

    #: their numbers
    iterators: tuple[int, ...]
    #: of the array
    dimensions: tuple[int, ...]
    #: from the iterators to the dimensions
    relation: isl.Map

    @cached_property
    def enumerated(self) -> EnumeratedRelation | None:
        """The relation for enumerations; None where there can be none."""
        return enumerated_relation(self.relation)


@dataclass(frozen=True, eq=False)
class _Access:
    """One reference."""

    statement: str
    array: str
    #: access relation, from iterators to elements
    relation: isl.Map
    #: images so far, by the bounds of ``iterators``
    images: dict[Box, _Image] = field(default_factory=dict)

    @cached_property
    def parts(self) -> tuple[_Part, ...]:
        """The access split into parts without a common iterator. The instances must be a box of iterators."""
        return tuple(
            _Part(group.sources, group.targets, group.relation)
            for group in relation_groups(self.relation, relation_components(self.relation))
            if group.targets
        )

    @cached_property
    def iterators(self) -> tuple[int, ...]:
        """The iterators of all parts."""
        return tuple(iterator for part in self.parts for iterator in part.iterators)


@dataclass(frozen=True)
class _PartImage:
    """What a part of an access touches in a box of iterators."""

    #: as a product of ranges; None where it isn't easily seen to be one
    product: Product | None
    #: whether isl describes it by several pieces or with integer divisions, and takes long to count it
    divided: bool


class _KeptPositions:
    """The positions of images, kept up to a number of bits."""

    def __init__(self) -> None:
        self._known: dict[object, Positions | None] = {}
        self._bits = 0

    def of(self, image: _Image) -> Positions | None:
        """The positions that ``image.enumerated()`` gives, kept for the next time."""
        if image.identity not in self._known:
            positions = image.enumerated()
            bits = positions.mask.bit_length() if positions is not None else 0
            if self._bits + bits > _MOST_BITS or len(self._known) >= _MOST_KEPT:
                self._known.clear()
                self._bits = 0
            self._bits += bits
            self._known[image.identity] = positions
        return self._known[image.identity]


class _Lines:
    """Maps the elements of one array to its lines of ``per_line`` elements, in the coordinates of ``reuse.lines``."""

    def __init__(self, context: isl.Context, array: Array, per_line: int, kept: _KeptPositions) -> None:
        self._per_line = per_line
        self._kept = kept
        self._strides = array.strides
        self._first = first_of_aligned(array.strides, per_line)
        self._countable = array.elements // per_line < MOST_LINES
        names = [f"e{dimension}" for dimension in range(len(array.extents))]
        linear = " + ".join(f"{s}*{n}" for s, n in zip(array.strides[self._first :], names[self._first :], strict=True))
        lines = [*names[: self._first], f"floor(({linear})/{per_line})"]
        self._map = isl.Map.read_from_str(context, f"{{ {array.name}[{', '.join(names)}] -> [{', '.join(lines)}] }}")
        self._known: dict[object, _Image] = {}

    def of(self, image: _Image) -> _Image:
        """The lines of a set of elements."""
        if image.identity not in self._known:
            if len(self._known) >= _MOST_KEPT:
                self._known.clear()
            self._known[image.identity] = self._of(image)
        return self._known[image.identity]

    def _of(self, image: _Image) -> _Image:
        def points() -> isl.Set:
            return image.points.apply(self._map)

        def enumerated() -> Positions | None:
            positions = self._kept.of(image)
            return positions and positions.lines(self._per_line)

        alone = self._first == len(self._strides) - 1
        identity = self._per_line, image.identity
        if image.product is None:
            product = _product(points()) if alone and self._kept.of(image) is None else None
            return _Image(product, points, enumerated, identity)
        ranges = [values for values in image.product if not isinstance(values, int)]
        last: ValueSet | None = None
        if alone:
            last = ranges[-1][0] // self._per_line, ranges[-1][1] // self._per_line
        elif self._countable:
            inner = zip(self._strides[self._first :], ranges[self._first :], strict=True)
            last = line_mask(0, tuple((stride, *values) for stride, values in inner), self._per_line)
        product = None if last is None else (*image.product[: self._first], last)
        return _Image(product, points, enumerated, identity)


class IslFootprints:
    """Footprints of one nest; images of boxes are kept. Raises isl's errors; the caller sets the quota."""

    def __init__(self, context: isl.Context, scop: Scop, accesses: Mapping[Reference, isl.Map]) -> None:
        self._context = context
        self._accesses = [
            _Access(reference.statement, reference.array, access) for reference, access in accesses.items()
        ]
        self._arrays = {array.name: array for array in scop.arrays}
        self._part_images: dict[tuple[_Part, Box], _PartImage] = {}
        self._lines: dict[tuple[str, int], _Lines] = {}
        self._counts: dict[frozenset[object], int] = {}
        self._kept = _KeptPositions()

    def sizes(self, regions: Mapping[str, Sequence[BoxRegion]], line_bytes: int | None) -> tuple[int, int]:
        """The number of distinct elements that instances in the regions touch, and their bytes.

        With ``line_bytes``, bytes are those of the cache lines touched. ``regions`` are by statement.
        """
        touched: dict[str, list[_Image]] = {}
        for access in self._accesses:
            images = [self._image(access, region) for region in regions[access.statement]]
            touched.setdefault(access.array, []).extend(images)
        elements = size = 0
        for name, images in touched.items():
            array = self._arrays[name]
            number = self._union_size(images)
            elements += number
            if line_bytes is None:
                size += number * array.element_bytes
                continue
            per_line = elements_per_line(array, line_bytes)
            if per_line > 1 and array.extents:
                lines = self._lines_of(array, per_line)
                number = self._union_size([lines.of(image) for image in images])
            size += number * line_bytes
        return elements, size

    def _lines_of(self, array: Array, per_line: int) -> _Lines:
        key = array.name, per_line
        if key not in self._lines:
            self._lines[key] = _Lines(self._context, array, per_line, self._kept)
        return self._lines[key]

    def _image(self, access: _Access, region: BoxRegion) -> _Image:
        bounds = tuple([region.box[iterator] for iterator in access.iterators])
        if bounds not in access.images:
            if len(access.images) >= _MOST_KEPT:
                access.images.clear()
            access.images[bounds] = self._image_of_box(access, region.box, (access, bounds))
        return access.images[bounds]

    def _image_of_box(self, access: _Access, box: Box, identity: object) -> _Image:
        ranges_of: list[ValueSet] = [0] * access.relation.dim(_OUT)
        product: Product | None = None
        for part in access.parts:
            ranges = self._part_image(access, part, box).product
            if ranges is None:
                break
            for dimension, values in zip(part.dimensions, ranges, strict=True):
                ranges_of[dimension] = values
        else:
            product = tuple(ranges_of)
        return _Image(
            product,
            lambda: _bounded(access.relation, box).range(),
            lambda: self._enumerated(access, box, product),
            identity,
        )

    def _enumerated(self, access: _Access, box: Box, product: Product | None) -> Positions | None:
        array = self._arrays[access.array]
        if array.elements > MOST_ELEMENTS:
            return None
        if product is not None:
            return product_positions(product, array)
        parts = []
        for part in access.parts:
            most = MOST_POINTS if self._part_image(access, part, box).divided else _FEW_POINTS
            elements = _elements(part, array, _bounds_of(part, box), most)
            if elements is None:
                return None
            parts.append(elements)
        return positions_of(parts)

    def _part_image(self, access: _Access, part: _Part, box: Box) -> _PartImage:
        bounds = _bounds_of(part, box)
        key = part, bounds
        if key not in self._part_images:
            if len(self._part_images) >= _MOST_KEPT:
                self._part_images.clear()
            points = _bounded(part.relation, bounds).range()
            divided = _is_divided(points)
            elements = _elements(part, self._arrays[access.array], bounds, MOST_POINTS) if divided else None
            self._part_images[key] = _PartImage(_product(points) if elements is None else elements.product, divided)
        return self._part_images[key]

    def _union_size(self, images: Sequence[_Image]) -> int:
        if not images:
            return 0
        products = [image.product for image in images if image.product is not None]
        if len(products) == len(images):
            return union_size(tuple(products))
        distinct = {image.identity: image for image in images}
        key = frozenset(distinct)
        if key not in self._counts:
            counted = self._count(list(distinct.values()))
            if len(self._counts) >= _MOST_KEPT:
                self._counts.clear()
            self._counts[key] = counted
        return self._counts[key]

    def _count(self, images: Sequence[_Image]) -> int:
        sets = []
        for image in images:
            positions = self._kept.of(image)
            if positions is None:
                return _counted_by_isl(images)
            sets.append(positions)
        return positions_union_size(sets)


def _counted_by_isl(images: Sequence[_Image]) -> int:
    first, *others = [image.points for image in images]
    for other in others:
        first = first.union(other)
    return count(first.coalesce())


def _bounds_of(part: _Part, box: Box) -> Box:
    return tuple([box[iterator] for iterator in part.iterators])


def _bounded(relation: isl.Map, bounds: Box) -> isl.Map:
    for iterator, (low, high) in enumerate(bounds):
        relation = relation.lower_bound_val(_IN, iterator, low).upper_bound_val(_IN, iterator, high)
    return relation


# An image is first tested for whether it is a product.
@lru_cache(maxsize=8)
def _elements(part: _Part, array: Array, bounds: Box, most: int) -> Elements | None:
    """The elements that instances in a box access.

    None where the array or ``most`` is too small, and where ``enumerated_relation`` or ``elements`` finds none.
    """
    if array.elements > MOST_ELEMENTS or points_of(bounds) > most or part.enumerated is None:
        return None
    spend(points_of(bounds), part.relation, cost=1)
    return part.enumerated.elements(bounds, array, part.dimensions)


def _is_divided(points: isl.Set) -> bool:
    return bool(points.n_basic_set() > 1 or any(piece.dim(_DIV) for piece in points.get_basic_sets()))


def _product(points: isl.Set) -> Product | None:
    """A set, which isn't empty, as a product of ranges; None where it isn't one or isn't easily seen to be one."""
    divided = _is_divided(points)
    if not divided and not points.is_box():
        return None
    box = bounding_box(points)
    if divided:
        hull = isl.Set.universe(points.get_space())
        for dimension, (low, high) in enumerate(box):
            hull = hull.lower_bound_val(_SET, dimension, low).upper_bound_val(_SET, dimension, high)
        if not hull.is_subset(points):
            return None
    return box
