"""The nests that a convolution by fewer products consists of (``polydl.poly.winograd``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

from polydl.calls import AnnotatedCall, Inside, TileTransform
from polydl.errors import IllegalVariantError
from polydl.poly.convolutions import Convolution
from polydl.poly.forms import combined, composed, iterator_form
from polydl.poly.rewrites import assignment, fresh_name, make_access, make_statement, zero_of
from polydl.poly.toom_cook import MOST_POINTS, toom_cook
from polydl.types import Access, Affine, Array, Expression, Scop, Statement

# Bytes from one line of a set of the first cache to the next, and how far from that lines should be.
_SAME_SET, _APART = 4096, 128


@dataclass(frozen=True)
class _Layout:
    """An array of points: the loops of its outer dimensions, of the one after the points, and of its innermost one."""

    outer: tuple[int, ...]
    joined: tuple[int, ...]
    lanes: int


@dataclass(frozen=True)
class Transform:
    """A nest whose inner loops are a call for each tile."""

    statement: Statement
    call: AnnotatedCall


class WinogradNests:
    """Transforms of ``sizes`` pixels along each axis, and the products between them.

    The loops over columns that are ``joined`` are one in the products. Those that are ``shared`` are the outermost of
    all nests that have them. What a result was is added to if it ``adds``. Raises IllegalVariantError where there is no
    transform.
    """

    def __init__(
        self,
        scop: Scop,
        statement: Statement,
        conv: Convolution,
        sizes: Sequence[int],
        joined: Sequence[int],
        shared: Sequence[int],
        *,
        adds: bool,
        after: Sequence[tuple[Statement, Mapping[int, tuple[int, int]]]] = (),
    ) -> None:
        assert statement.box is not None
        self._scop, self._statement, self._conv, self._sizes = scop, statement, conv, sizes
        self._joined, self._shared, self._adds, self._after = tuple(joined), list(shared), adds, after
        self._over_image = [loop for loop in shared if loop in conv.columns]
        self._over_filters = [loop for loop in shared if loop not in self._over_image]
        self._extents = [high + 1 for _, high in statement.box]
        for (_, tap), size in zip(conv.axes, sizes, strict=True):
            if size < 2 or size + self._extents[tap] - 1 > MOST_POINTS:
                raise IllegalVariantError(f"tiles of {size} pixels for {self._extents[tap]} taps have no transform")
        self._matrices = [toom_cook(size, self._extents[t]) for (_, t), size in zip(conv.axes, sizes, strict=True)]
        self._points = [len(each.image) for each in self._matrices]
        # How often each loop runs, those over pixels by tiles.
        self._trips = list(self._extents)
        for (pixel, _), size in zip(conv.axes, sizes, strict=True):
            self._trips[pixel] = -(-self._extents[pixel] // size)

    # ----------------------------------------------------------------------------------
    # Arrays of points

    def _outer(self, strides: Sequence[int], inner: Sequence[int], shared: Sequence[int]) -> list[int]:
        """The loops along an operand but for taps, ``inner`` and ``shared`` ones, the outermost in it first."""
        gone = {*inner, *shared, *self._conv.taps}
        own = [loop for loop, step in enumerate(strides) if step and loop not in gone]
        return sorted(own, key=lambda loop: -strides[loop])

    @cached_property
    def _image(self) -> _Layout:
        lanes = self._conv.summed
        outer = self._outer(self._conv.form.strides_a, [*self._joined, lanes], self._over_image)
        return _Layout(tuple(outer), self._joined, lanes)

    @cached_property
    def _result(self) -> _Layout:
        lanes = self._conv.made
        outer = self._outer(self._conv.form.strides_c, [*self._joined, lanes], self._over_image)
        return _Layout(tuple(outer), self._joined, lanes)

    @cached_property
    def _filters(self) -> _Layout:
        conv = self._conv
        outer = self._outer(conv.form.strides_b, [conv.summed, conv.made], self._over_filters)
        return _Layout(tuple(outer), (conv.summed,), conv.made)

    def _extents_of(self, layout: _Layout) -> list[int]:
        """What the loops reach in an array of points."""
        inside = prod(self._trips[loop] for loop in layout.joined)
        return [*(self._trips[loop] for loop in layout.outer), prod(self._points), inside, self._trips[layout.lanes]]

    def _array(self, access: Access, layout: _Layout) -> Array:
        original = self._scop.array(access.array)
        *outer, inside, lanes = self._extents_of(layout)
        # A tile's points are written together, and would all fall into one set of the first cache.
        row = lanes * original.element_bytes
        while (inside * row + _APART) % _SAME_SET < 2 * _APART and row % _SAME_SET:
            inside += 1
        name = fresh_name(self._scop, f"{original.name}_points")
        return Array(name, original.element, original.element_bytes, (*outer, inside, lanes), "local")

    @cached_property
    def arrays(self) -> tuple[Array, Array, Array]:
        """Points of the image, of the filters and of the result."""
        form = self._conv.form
        return (
            self._array(form.a, self._image),
            self._array(form.b, self._filters),
            self._array(form.c, self._result),
        )

    def _subscripts(self, layout: _Layout, forms: Mapping[int, Affine], points: Affine) -> tuple[Affine, ...]:
        """Of an array of points, from the forms of the loops and of the point."""
        joined = layout.joined
        factors = [prod(self._trips[loop] for loop in joined[place + 1 :]) for place in range(len(joined))]
        inside = combined([forms[loop] for loop in joined], factors)
        return (*(forms[loop] for loop in layout.outer), points, inside, forms[layout.lanes])

    # ----------------------------------------------------------------------------------
    # Transforms

    def _loops(self, layout: _Layout, strides: Sequence[int], shared: Sequence[int]) -> list[int]:
        """The loops of a transform: those that are shared, and then the outermost in the operand first."""
        return [*shared, *sorted([*layout.outer, *layout.joined], key=lambda loop: -strides[loop])]

    def _moved(self, access: Access, depth: int, of: Mapping[int, Affine]) -> tuple[Affine, ...]:
        """The subscripts of an access with other forms in place of the loops."""
        assert access.subscripts is not None
        nothing = Affine((0,) * depth)
        forms = [of.get(loop, nothing) for loop in range(self._statement.depth)]
        return tuple(composed(each, forms, depth) for each in access.subscripts)

    def _point(self, places: Sequence[int], depth: int) -> Affine:
        """The number of a point from the loops along its axes."""
        factors = [prod(self._points[number + 1 :]) for number in range(len(places))]
        return combined([iterator_form(place, depth) for place in places], factors)

    def _along_axes(self, forms: Mapping[int, Affine], along: Sequence[int], depth: int) -> dict[int, Affine]:
        """The forms with pixels by tile and place in the tile."""
        moved = dict(forms)
        for (pixel, _), size, place in zip(self._conv.axes, self._sizes, along, strict=True):
            moved[pixel] = combined([forms[pixel], iterator_form(place, depth)], [size, 1])
        return moved

    def _inside(self, loops: Sequence[int], *, taps: bool) -> tuple[Inside | None, ...]:
        found = []
        for (pixel, tap), size in zip(self._conv.axes, self._sizes, strict=True):
            pixels = self._extents[pixel]
            limit = pixels + (self._extents[tap] - 1 if taps else 0)
            found.append(Inside(loops.index(pixel), size, limit) if pixels % size else None)
        return tuple(found)

    def _forms(self, loops: Sequence[int], inner: int, lanes: int) -> tuple[int, dict[int, Affine]]:
        """The depth of a nest over ``loops``, so many ``inner`` ones and the lanes, and what its loops are in it."""
        depth = len(loops) + inner + 1
        forms = {loop: iterator_form(place, depth) for place, loop in enumerate(loops)}
        return depth, forms | {lanes: iterator_form(depth - 1, depth)}

    def _transform(
        self,
        role: str,
        loops: Sequence[int],
        inner: Sequence[int],
        write: tuple[str, tuple[Affine, ...]],
        reads: Sequence[tuple[str, tuple[Affine, ...]]],
        transform: TileTransform,
    ) -> Transform:
        """A nest over ``loops`` of the convolution and over ``inner`` extents, the last of which are the lanes.

        Where lanes don't lie side by side in an array of the convolution, the innermost of the loops belongs to the
        call, too, so that lanes can be brought together for many of its tiles at once.
        """
        name = f"{role}_{self._statement.name}"
        letters = [f"{role}_{number}" for number in range(len(inner))]
        iterators = (*(self._statement.iterators[loop] for loop in loops), *letters)
        box = tuple((0, extent - 1) for extent in (*(self._trips[loop] for loop in loops), *inner))
        accesses = [make_access(name, iterators, box, f"{name}_to", write[0], "write", write[1])]
        for number, (array, subscripts) in enumerate(reads):
            accesses.append(make_access(name, iterators, box, f"{name}_{number}", array, "read", subscripts))
        made = make_statement(
            name,
            iterators,
            box,
            tuple(accesses),
            assignment(f"{name}_to", Expression("access", f"{name}_0")),
            line=self._statement.line,
            text=f"{write[0]}[...] = ...",
        )
        outside = made.writes[0] if transform.clipped == "result" else made.reads[0]
        walked = self._scop.stride(outside, transform.lanes) != 1
        if walked:
            transform = replace(transform, walk=len(loops) - 1)
            steps = [self._scop.stride(outside, loop) for loop in (len(loops) - 1, *transform.outside)]
            if 1 not in steps or min(*steps, self._scop.stride(outside, transform.lanes)) < 1:
                raise IllegalVariantError(f"`{outside.array}` is contiguous along no loop of a tile, or runs backwards")
        call = AnnotatedCall(f"polydl_{name}", made.line, (name,), len(inner) + walked, transform)
        return Transform(made, call)

    @cached_property
    def image(self) -> Transform:
        layout, form = self._image, self._conv.form
        loops = self._loops(layout, form.strides_a, self._over_image)
        axes = len(self._points)
        depth, forms = self._forms(loops, axes, layout.lanes)
        along = tuple(range(len(loops), len(loops) + axes))
        return self._transform(
            "image",
            loops,
            [*self._points, self._trips[layout.lanes]],
            (self.arrays[0].name, self._subscripts(layout, forms, self._point(along, depth))),
            [(form.a.array, self._moved(form.a, depth, self._along_axes(forms, along, depth)))],
            TileTransform(
                tuple(each.image for each in self._matrices), along, along, depth - 1, self._inside(loops, taps=True)
            ),
        )

    @cached_property
    def filters(self) -> Transform:
        layout, form, conv = self._filters, self._conv.form, self._conv
        loops = self._loops(layout, form.strides_b, self._over_filters)
        axes = len(self._points)
        depth, forms = self._forms(loops, 2 * axes, layout.lanes)
        along = tuple(range(len(loops), len(loops) + axes))
        taps = tuple(range(len(loops) + axes, len(loops) + 2 * axes))
        read = forms | {tap: iterator_form(place, depth) for (_, tap), place in zip(conv.axes, taps, strict=True)}
        return self._transform(
            "filter",
            loops,
            [*self._points, *(self._extents[tap] for _, tap in conv.axes), self._trips[layout.lanes]],
            (self.arrays[1].name, self._subscripts(layout, forms, self._point(along, depth))),
            [(form.b.array, self._moved(form.b, depth, read))],
            TileTransform(tuple(each.taps for each in self._matrices), along, taps, depth - 1, (None,) * axes),
        )

    @cached_property
    def result(self) -> Transform:
        layout, form = self._result, self._conv.form
        loops = self._loops(layout, form.strides_c, self._over_image)
        axes = len(self._points)
        depth, forms = self._forms(loops, 2 * axes, layout.lanes)
        pixels = tuple(range(len(loops), len(loops) + axes))
        along = tuple(range(len(loops) + axes, len(loops) + 2 * axes))
        written = self._along_axes(forms, pixels, depth)
        to = (form.c.array, self._moved(form.c, depth, written))
        read = (self.arrays[2].name, self._subscripts(layout, forms, self._point(along, depth)))
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
            [*self._sizes, *self._points, self._trips[layout.lanes]],
            to,
            [read, *([to] if self._adds else []), *others],
            TileTransform(matrices, pixels, along, depth - 1, inside, "result", self._adds, after=after),
        )

    # ----------------------------------------------------------------------------------
    # Products

    @cached_property
    def zeros(self) -> Statement:
        """All sums of products set to zero, in each iteration of the loops that the result shares."""
        sums = self.arrays[2]
        name = f"zero_{self._statement.name}"
        around = self._over_image
        iterators = (
            *(self._statement.iterators[loop] for loop in around),
            *(f"{sums.name}_{dimension}" for dimension in range(len(sums.extents))),
        )
        extents = (*(self._trips[loop] for loop in around), *self._extents_of(self._result))
        box = tuple((0, extent - 1) for extent in extents)
        straight = tuple(iterator_form(place, len(box)) for place in range(len(around), len(box)))
        access = make_access(name, iterators, box, f"{name}_to", sums.name, "write", straight)
        body, text = assignment(access.reference, zero_of(sums)), f"{sums.name}[...] = ..."
        return make_statement(name, iterators, box, (access,), body, line=self._statement.line, text=text)

    @cached_property
    def product(self) -> Statement:
        """The convolution's statement over points and columns, inside the loops that it shares."""
        statement, conv = self._statement, self._conv
        # Points run where the filter's taps began, and columns where the innermost of theirs did.
        points, columns = min(conv.taps), self._joined[-1]
        gone = {*conv.taps, *self._joined} - {points, columns}
        kept = [loop for loop in range(statement.depth) if loop not in gone]
        places = [*self._shared, *(loop for loop in kept if loop not in self._shared)]
        names = {points: fresh_name(self._scop, "point"), columns: fresh_name(self._scop, "column")}
        trips = {points: prod(self._points), columns: prod(self._trips[loop] for loop in self._joined)}
        iterators = tuple(names.get(loop, statement.iterators[loop]) for loop in places)
        box = tuple((0, trips.get(loop, self._trips[loop]) - 1) for loop in places)
        depth = len(places)
        forms = {loop: iterator_form(place, depth) for place, loop in enumerate(places)}
        forms |= dict.fromkeys(self._joined[:-1], Affine((0,) * depth))
        image, filters, result = self.arrays
        known = {
            conv.form.a.reference: (image.name, self._subscripts(self._image, forms, forms[points])),
            conv.form.b.reference: (filters.name, self._subscripts(self._filters, forms, forms[points])),
        }
        to = (result.name, self._subscripts(self._result, forms, forms[points]))
        accesses = []
        for each in statement.accesses:
            array, subscripts = known.get(each.reference, to)
            accesses.append(make_access(statement.name, iterators, box, each.reference, array, each.kind, subscripts))
        text = f"{statement.text}, for each point of tiles"
        return make_statement(
            statement.name, iterators, box, tuple(accesses), statement.body, line=statement.line, text=text
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
