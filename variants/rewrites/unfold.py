"""Copies of an array in which several loops that share a subscript have a dimension each.

A row of an image is read at ``stride * x + s`` by a convolution, so that rows of the output don't lie over rows of the
image. Where the copy has a row for each column ``s`` of the filter, they do, and it takes no more than that for each:
rows of the image stay what they are, where im2col copies them for each row of the filter as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from polydl.errors import IllegalVariantError
from polydl.ir.affine import Affine, combined, iterator_form, value_range
from polydl.ir.construct import fresh_name
from polydl.ir.scop import Array, Scop
from polydl.ir.statement import Statement
from polydl.ir.variant import Unfold
from polydl.variants.rewrites.copies import with_copy
from polydl.variants.rewrites.panels import dimension_groups, joined_forms, moved_read, only_read


def unfold(scop: Scop, step: Unfold) -> Scop:
    """The scop with that copy, made once the array is complete, and with the statement as it reads it.

    Raises IllegalVariantError if the array is written, or if other loops move the dimension.
    """
    statement = scop.statement(step.statement)
    read = only_read(scop, statement, step.array)
    assert read.subscripts is not None
    assert statement.box is not None
    array = scop.array(step.array)
    places = _places(statement, step, read.subscripts)
    depth = len(step.order)
    walked = read.subscripts[step.dimension]
    others = [each for number, each in enumerate(read.subscripts) if number != step.dimension]
    # Of the statement, and of the copying nest, whose loops run as the copy is laid out.
    own = [*others, *(iterator_form(place, statement.depth) for place in places)]
    axes = [iterator_form(step.order.index(axis), depth) for axis in range(depth)]
    ranges = [value_range(form, statement.box) for form in own]
    lows = [low for low, _ in ranges]
    extents = [ranges[axis][1] - ranges[axis][0] + 1 for axis in step.order]
    groups = dimension_groups(step.joined)

    def subscripts(forms: Sequence[Affine]) -> tuple[Affine, ...]:
        """Of the copy, from those of all dimensions before they are ordered and joined."""
        ordered = [Affine(forms[axis].coefficients, forms[axis].constant - lows[axis]) for axis in step.order]
        return joined_forms(ordered, extents, groups)

    unfolded = Array(
        fresh_name(scop, f"{array.name}_unfolded"),
        array.element,
        array.element_bytes,
        tuple(prod(extents[number] for number in group) for group in groups),
        "local",
    )
    taken = combined(axes[len(others) :], [walked.coefficients[place] for place in places])
    source = axes[: len(others)]
    source.insert(step.dimension, Affine(taken.coefficients, walked.constant))
    return with_copy(
        scop,
        moved_read(statement, read, unfolded.name, subscripts(own)),
        array,
        unfolded,
        iterators=tuple(f"{array.name}_{number}" for number in range(depth)),
        box=tuple(ranges[axis] for axis in step.order),
        to=subscripts(axes),
        source=tuple(source),
    )


def _places(statement: Statement, step: Unfold, subscripts: Sequence[Affine]) -> list[int]:
    """Those of the step's loops. Raises IllegalVariantError for a step that doesn't fit the access."""
    if not 0 <= step.dimension < len(subscripts):
        raise IllegalVariantError(f"`{step.array}` has no dimension {step.dimension}")
    moving = [place for place, c in enumerate(subscripts[step.dimension].coefficients) if c]
    if sorted(step.loops) != sorted(statement.iterators[place] for place in moving):
        raise IllegalVariantError(f"the loops {list(step.loops)} are not those that move that of `{step.array}`")
    depth = len(subscripts) - 1 + len(moving)
    if sorted(step.order) != list(range(depth)):
        raise IllegalVariantError(f"{list(step.order)} is no order of {depth} dimensions")
    if sum(step.joined) != depth or min(step.joined) < 1:
        raise IllegalVariantError(f"groups of {list(step.joined)} don't make up {depth} dimensions")
    return [statement.iterators.index(loop) for loop in step.loops]
