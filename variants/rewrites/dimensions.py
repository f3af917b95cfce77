"""An array with linear subscripts, seen as one with the dimensions that the subscripts have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Annotated, ClassVar

from polydl.errors import IllegalVariantError
from polydl.ir.affine import value_range
from polydl.ir.construct import fresh_name, make_access
from polydl.ir.families import LAYOUT
from polydl.ir.numerics import EXACT, Rounding
from polydl.ir.scop import Scop
from polydl.ir.statement import Access, Statement
from polydl.ir.variant import ArrayName, RewriteStep
from polydl.match.convolution import convolution
from polydl.match.linear_subscripts import dimensions, split
from polydl.poly.dependences import Dependence
from polydl.rewrite_contract import Phase, Proposal, Request


@dataclass(frozen=True)
class Dimensions(RewriteStep):
    """See an array of one dimension as one of several: ``in[(c * H + y) * W + x]`` as ``in[c][y][x]``.

    Nothing moves. Which loops share a subscript tells a convolution, and a linear subscript hides it.
    """

    json_name: ClassVar[str] = "dimensions"

    array: ArrayName
    extents: Annotated[tuple[Annotated[int, {"minimum": 1}], ...], "Its extents, outermost first."]


@dataclass(frozen=True)
class DimensionsRewrite:
    """The rewrite ``dimensions``, with which other rewrites begin. It is exact: no element moves."""

    step: type[Dimensions] = Dimensions
    families: frozenset[str] = frozenset({LAYOUT})
    phase: Phase = Phase.STATEMENT

    def rounding(self, scop: Scop, step: Dimensions) -> Rounding:
        return EXACT

    def apply(self, scop: Scop, step: Dimensions, dependences: Sequence[Dependence], *, reassociate: bool) -> Scop:
        return with_dimensions(scop, step)

    def propose(self, request: Request) -> Iterator[Proposal]:
        """Nothing for itself: rewrites that need dimensions propose it along with their own steps."""
        return iter(())

    def describe(self, scop: Scop, step: Dimensions) -> str:
        return f"{step.array} seen as {step.array}{''.join(f'[{extent}]' for extent in step.extents)}"


DIMENSIONS = DimensionsRewrite()


def with_dimensions(scop: Scop, step: Dimensions) -> Scop:
    """The scop with a view in place of the array, whose last row may end beyond it.

    Raises IllegalVariantError if a subscript leaves its dimension, and for rows that the array doesn't have.
    """
    array = next((each for each in scop.arrays if each.name == step.array), None)
    if array is None or len(array.extents) != 1 or len(step.extents) < 2:
        raise IllegalVariantError(f"`{step.array}` is no array of one dimension that could have several")
    if min(step.extents) < 1 or (step.extents[0] - 1) * prod(step.extents[1:]) >= array.extents[0]:
        raise IllegalVariantError(f"`{step.array}` has too few elements for extents {list(step.extents)}")
    strides = tuple(prod(step.extents[place + 1 :]) for place in range(len(step.extents)))
    view = replace(array, name=fresh_name(scop, f"{array.name}_shaped"), extents=step.extents, view_of=array.memory)

    def shaped(statement: Statement, access: Access) -> Access:
        if access.array != array.name:
            return access
        if access.subscripts is None or statement.box is None:
            raise IllegalVariantError(f"{statement.name} has no rectangular loops and affine subscripts")
        forms = split(access.subscripts[0], strides)
        ranges = [value_range(form, statement.box) for form in forms]
        if any(low < 0 or high >= extent for (low, high), extent in zip(ranges, step.extents, strict=True)):
            raise IllegalVariantError(f"a subscript of `{array.name}` goes on beyond a dimension")
        iterators, box = statement.iterators, statement.box
        return make_access(statement.name, iterators, box, access.reference, view.name, access.kind, forms)

    statements = tuple(
        replace(each, accesses=tuple(shaped(each, access) for access in each.accesses)) for each in scop.statements
    )
    return replace(scop, statements=statements, arrays=(*scop.arrays, view))


def dimension_steps(scop: Scop, statement: Statement) -> tuple[Dimensions, ...]:
    """Steps after which a product is a convolution over the image's axes; none if it is one, or if none helps."""
    if convolution(scop, statement) is not None:
        return ()
    steps = tuple(
        Dimensions(array.name, extents)
        for array in scop.arrays
        if any(access.array == array.name for access in statement.accesses)
        and (extents := dimensions(scop, array)) is not None
    )
    try:
        shaped = after(scop, steps)
    except IllegalVariantError:
        return ()
    return steps if steps and convolution(shaped, shaped.statement(statement.name)) is not None else ()


def after(scop: Scop, steps: Sequence[Dimensions]) -> Scop:
    """The scop after several steps."""
    for step in steps:
        scop = with_dimensions(scop, step)
    return scop
