"""The nests that a convolution by fewer products consists of (``polydl.variants.rewrites.winograd``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from math import prod

from polydl.errors import IllegalVariantError
from polydl.ir.affine import Affine, combined, composed, iterator_form
from polydl.ir.calls import AxisLimit, TileTransform
from polydl.ir.scop import Scop
from polydl.ir.statement import Statement
from polydl.match.convolution import ConvolutionMatch
from polydl.plan.toom_cook import MOST_POINTS, toom_cook
from polydl.variants.rewrites.accesses import apart
from polydl.variants.rewrites.transform_domain import PointNests, Transform


class WinogradNests(PointNests):
    """Transforms of ``sizes`` pixels along each axis, and the products between them.

    The loops over columns that are ``joined`` are one in the products. Those that are ``shared`` are the outermost of
    all nests that have them. What a result was is added to if it ``adds``. Raises IllegalVariantError where there is no
    transform.
    """

    def __init__(
        self,
        scop: Scop,
        statement: Statement,
        conv: ConvolutionMatch,
        sizes: Sequence[int],
        joined: Sequence[int],
        shared: Sequence[int],
        *,
        adds: bool,
        after: Sequence[tuple[Statement, Mapping[int, tuple[int, int]]]] = (),
    ) -> None:
        assert statement.box is not None
        self._conv, self._sizes, self._adds, self._after = conv, sizes, adds, after
        self._extents = [high + 1 for _, high in statement.box]
        for (_, tap), size in zip(conv.axes, sizes, strict=True):
            if size < 2 or size + self._extents[tap] - 1 > MOST_POINTS:
                raise IllegalVariantError(f"tiles of {size} pixels for {self._extents[tap]} taps have no transform")
        self._matrices = [toom_cook(size, self._extents[t]) for (_, t), size in zip(conv.axes, sizes, strict=True)]
        self._counts = [len(each.image) for each in self._matrices]
        # Loops over pixels run by tiles.
        trips = list(self._extents)
        for (pixel, _), size in zip(conv.axes, sizes, strict=True):
            trips[pixel] = -(-self._extents[pixel] // size)
        image = [loop for loop in shared if loop in conv.columns]
        filters = [loop for loop in shared if loop not in image]
        super().__init__(scop, statement, conv, prod(self._counts), trips, joined, (image, filters, image))

    def _point(self, places: Sequence[int], depth: int) -> Affine:
        """The number of a point from the loops along its axes."""
        factors = [prod(self._counts[number + 1 :]) for number in range(len(places))]
        return combined([iterator_form(place, depth) for place in places], factors)

    def _along_axes(self, forms: Mapping[int, Affine], along: Sequence[int], depth: int) -> dict[int, Affine]:
        """The forms with pixels by tile and place in the tile."""
        moved = dict(forms)
        for (pixel, _), size, place in zip(self._conv.axes, self._sizes, along, strict=True):
            moved[pixel] = combined([forms[pixel], iterator_form(place, depth)], [size, 1])
        return moved

    def _inside(self, loops: Sequence[int], *, taps: bool) -> tuple[AxisLimit | None, ...]:
        found = []
        for (pixel, tap), size in zip(self._conv.axes, self._sizes, strict=True):
            pixels = self._extents[pixel]
            limit = pixels + (self._extents[tap] - 1 if taps else 0)
            found.append(AxisLimit(loops.index(pixel), size, limit) if pixels % size else None)
        return tuple(found)

    @cached_property
    def image(self) -> Transform:
        """The nest that transforms tiles of the image: a value for each point, tile and channel."""
        points, form = self.a, self._conv.form
        loops = points.loops
        axes = len(self._counts)
        depth, forms = self._forms(loops, axes, points.lanes)
        along = tuple(range(len(loops), len(loops) + axes))
        return self._transform(
            "image",
            loops,
            [*self._counts, self._trips[points.lanes]],
            (self.arrays[0].name, self._subscripts(points, forms, self._point(along, depth))),
            [(form.a.array, self._moved(form.a, depth, self._along_axes(forms, along, depth)))],
            TileTransform(
                tuple(each.image for each in self._matrices), along, along, depth - 1, self._inside(loops, taps=True)
            ),
        )

    @cached_property
    def filters(self) -> Transform:
        """The nest that transforms the filters: a value for each point, filter and channel."""
        points, form, conv = self.b, self._conv.form, self._conv
        loops = points.loops
        axes = len(self._counts)
        depth, forms = self._forms(loops, 2 * axes, points.lanes)
        along = tuple(range(len(loops), len(loops) + axes))
        taps = tuple(range(len(loops) + axes, len(loops) + 2 * axes))
        read = forms | {tap: iterator_form(place, depth) for (_, tap), place in zip(conv.axes, taps, strict=True)}
        return self._transform(
            "filter",
            loops,
            [*self._counts, *(self._extents[tap] for _, tap in conv.axes), self._trips[points.lanes]],
            (self.arrays[1].name, self._subscripts(points, forms, self._point(along, depth))),
            [(form.b.array, self._moved(form.b, depth, read))],
            TileTransform(tuple(each.taps for each in self._matrices), along, taps, depth - 1, (None,) * axes),
        )

    @cached_property
    def result(self) -> Transform:
        """The nest that transforms sums of products back into tiles of the result, and what runs on each of them."""
        points, form = self.c, self._conv.form
        loops = points.loops
        axes = len(self._counts)
        depth, forms = self._forms(loops, 2 * axes, points.lanes)
        pixels = tuple(range(len(loops), len(loops) + axes))
        along = tuple(range(len(loops) + axes, len(loops) + 2 * axes))
        written = self._along_axes(forms, pixels, depth)
        to = (form.c.array, self._moved(form.c, depth, written))
        read = (self.arrays[2].name, self._subscripts(points, forms, self._point(along, depth)))
        together = {loops[-1], *(pixel for pixel, _ in self._conv.axes)}
        once = apart((form.strides_c[loop], self._extents[loop]) for loop in together)
        if form.strides_c[points.lanes] != 1 and not once:
            # Lanes of several tiles are put in their places at once, each of their elements once.
            raise IllegalVariantError(f"tiles of `{form.c.array}` have elements in common")
        matrices = tuple(each.result for each in self._matrices)
        inside = self._inside(loops, taps=False)
        after = tuple((light, _behind(light, pairs, written, depth)) for light, pairs in self._after)
        others = [
            (each.array, tuple(composed(form, own, depth) for form in each.subscripts))
            for light, own in after
            for each in light.reads
            if each.array != form.c.array and each.subscripts is not None
        ]
        return self._transform(
            "result",
            loops,
            [*self._sizes, *self._counts, self._trips[points.lanes]],
            to,
            [read, *([to] if self._adds else []), *others],
            TileTransform(matrices, pixels, along, depth - 1, inside, "result", self._adds, after=after),
        )


def _behind(
    light: Statement, pairs: Mapping[int, tuple[int, int]], forms: Mapping[int, Affine], depth: int
) -> tuple[Affine, ...]:
    """Each loop of an element-wise statement over those of the transform, from its pairs with the convolution's."""
    assert light.box is not None
    found = [Affine((0,) * depth, low) for low, _ in light.box]
    for ours, (theirs, ahead) in pairs.items():
        found[theirs] = replace(forms[ours], constant=forms[ours].constant + ahead)
    return tuple(found)
