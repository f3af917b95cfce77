"""Copies of an array in which several loops that share a subscript have a dimension each.

A row of an image is read at ``stride * x + s`` by a convolution, so that rows of the output don't lie over rows of the
image. Where the copy has a row for each column ``s`` of the filter, they do, and it takes no more than that for each:
rows of the image stay what they are, where im2col copies them for each row of the filter as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Annotated, ClassVar

from polydl.errors import IllegalVariantError
from polydl.ir.affine import Affine, combined, iterator_form, value_range
from polydl.ir.construct import fresh_name
from polydl.ir.families import LAYOUT, PACKING
from polydl.ir.numerics import EXACT, Rounding
from polydl.ir.scop import Array, Scop
from polydl.ir.statement import Statement
from polydl.ir.variant import ArrayName, RewriteStep, StatementName
from polydl.machine import Core
from polydl.match.product import ProductForm
from polydl.poly.dependences import Dependence
from polydl.rewrite_contract import Phase, Proposal, Request
from polydl.variants.rewrites.accesses import moved_read, only_read
from polydl.variants.rewrites.coalesce import Coalesce
from polydl.variants.rewrites.copies import dimension_groups, joined_forms, with_copy
from polydl.variants.rewrites.row_operands import oriented_rows, pays
from polydl.variants.rewrites.split import extents_of

# Rows of so many lines leave little of their last one empty.
FULL_ROW = 8


@dataclass(frozen=True)
class Unfold(RewriteStep):
    """Copy an array that nothing writes any more, with a dimension for each of ``loops`` in place of one of its own.

    The loops are those that together move the subscript of ``dimension`` in ``statement``: the columns of a filter and
    the pixels of a row. The copy has the array's other dimensions and then those of the loops, in ``order``.
    """

    json_name: ClassVar[str] = "unfold"

    statement: StatementName
    array: ArrayName
    dimension: Annotated[
        int, "Of the array: the one that loops have dimensions of their own for in the copy.", {"minimum": 0}
    ]
    loops: Annotated[tuple[str, ...], "Loops with a dimension each in the copy."]
    order: Annotated[tuple[int, ...], "The dimensions of the copy, by number, as they lie in it."]
    joined: Annotated[
        tuple[Annotated[int, {"minimum": 1}], ...], "How many of these dimensions after each other are one."
    ]


@dataclass(frozen=True)
class UnfoldRewrite:
    """The rewrite ``unfold``, which gives convolutions contiguous rows. It is exact: elements are copied."""

    step: type[Unfold] = Unfold
    families: frozenset[str] = frozenset({LAYOUT, PACKING})
    phase: Phase = Phase.STATEMENT

    def rounding(self, scop: Scop, step: Unfold) -> Rounding:
        return EXACT

    def apply(self, scop: Scop, step: Unfold, dependences: Sequence[Dependence], *, reassociate: bool) -> Scop:
        return unfold(scop, step)

    def propose(self, request: Request) -> Iterator[Proposal]:
        """Rows that lie along the output's, for each column of a filter (``row_operands``)."""
        for form, m, outer in oriented_rows(request.scop, request.statement):
            steps = _rows_unfolded(request.scop, request.statement, form, m, outer, request.machine.core)
            if steps is not None:
                yield Proposal(steps)

    def describe(self, scop: Scop, step: Unfold) -> str:
        return f"a copy of {step.array} with a dimension for each of {' '.join(step.loops)}"


UNFOLD = UnfoldRewrite()


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
        """Subscripts of the copy, from those of all dimensions before they are ordered and joined."""
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
    if not moving or sorted(step.loops) != sorted(statement.iterators[place] for place in moving):
        raise IllegalVariantError(f"the loops {list(step.loops)} are not those that move that of `{step.array}`")
    depth = len(subscripts) - 1 + len(moving)
    if sorted(step.order) != list(range(depth)):
        raise IllegalVariantError(f"{list(step.order)} is no order of {depth} dimensions")
    if sum(step.joined) != depth or min(step.joined) < 1:
        raise IllegalVariantError(f"groups of {list(step.joined)} don't make up {depth} dimensions")
    return [statement.iterators.index(loop) for loop in step.loops]


def _rows_unfolded(
    scop: Scop, statement: Statement, form: ProductForm, m: int, outer: int | None, core: Core
) -> tuple[Unfold | Coalesce, ...] | None:
    """The copy of A, and the loops that become one over it."""
    assert form.a.subscripts is not None
    extents, c = extents_of(statement), form.strides_c
    moved = [[loop for loop, step in enumerate(each.coefficients) if step] for each in form.a.subscripts]
    dimension = next((d for d, loops in enumerate(moved) if m in loops), 0)
    sums = [loop for loop in moved[dimension] if loop != m]
    above = next((d for d, loops in enumerate(moved) if outer in loops and d != dimension), None)
    if len(sums) != 1 or c[sums[0]] or outer is None or above is None or len(moved[above]) < 2:
        return None
    line = max(1, core.line_bytes // scop.array(form.c.array).element_bytes)
    filled = extents[m] % line == 0 or extents[m] >= FULL_ROW * line
    on = form.a.subscripts[above].coefficients[outer] == 1
    lies_well = filled if on else form.strides_a[m] == 1
    if lies_well:
        return None
    others = [d for d in range(len(moved)) if d != dimension]
    places = {d: number for number, d in enumerate(others)}
    taps, pixels = len(others), len(others) + 1
    before = [places[d] for d in others if d != above]
    names = statement.iterators
    if on:
        # Rows side by side, and all of them for one column of the filter after the other.
        order = (*before, taps, places[above], pixels)
        groups = (*(1 for _ in before), 1, 2)
        joined = Coalesce(statement.name, names[outer], names[m])
    else:
        order = (*before, places[above], taps, pixels)
        groups = (*(1 for _ in before), 2, 1)
        rows_of_filter = next(loop for loop in moved[above] if loop != outer)
        joined = Coalesce(statement.name, names[rows_of_filter], names[sums[0]])
    array = scop.array(form.a.array)
    if not pays(statement, array.elements * extents[sums[0]], array):
        return None
    return Unfold(statement.name, array.name, dimension, (names[sums[0]], names[m]), order, groups), joined
