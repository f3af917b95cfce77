"""What the iterations of some loops read of an array, copied one after the other (im2col)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from random import Random
from typing import Annotated, ClassVar

from polydl.errors import IllegalVariantError
from polydl.ir.families import LAYOUT, PACKING
from polydl.ir.numerics import EXACT, Rounding
from polydl.ir.scop import Scop
from polydl.ir.statement import Statement
from polydl.ir.variant import ArrayName, RewriteStep, StatementName
from polydl.machine import Core
from polydl.match.product import GemmMatch, ProductForm
from polydl.poly.dependences import Dependence
from polydl.rewrite_contract import Phase, Proposal, Request
from polydl.variants.rewrites.accesses import copied_along, drawn_read, only_read, walked
from polydl.variants.rewrites.coalesce import Coalesce, coalesced_loop
from polydl.variants.rewrites.pack import order_with_last
from polydl.variants.rewrites.row_operands import oriented_rows, pays
from polydl.variants.rewrites.split import extents_of

# Iterations along the output's rows that are too few for a call.
SHORT_ROW = 32


@dataclass(frozen=True)
class Gather(RewriteStep):
    """Copy what ``statement`` reads of an array that nothing writes any more, once for each iteration of ``loops``.

    What several iterations read is copied for each (as im2col does).
    """

    json_name: ClassVar[str] = "gather"

    statement: StatementName
    array: ArrayName
    loops: Annotated[tuple[str, ...], "Loops with a dimension each in the copy, the outermost first."]
    joined: Annotated[
        tuple[Annotated[int, {"minimum": 1}], ...], "How many of these dimensions after each other are one."
    ]


@dataclass(frozen=True)
class GatherRewrite:
    """The rewrite ``gather``, which gives products contiguous operands. It is exact: elements are copied."""

    step: type[Gather] = Gather
    families: frozenset[str] = frozenset({LAYOUT, PACKING})
    phase: Phase = Phase.STATEMENT

    def rounding(self, scop: Scop, step: Gather) -> Rounding:
        return EXACT

    def apply(self, scop: Scop, step: Gather, dependences: Sequence[Dependence], *, reassociate: bool) -> Scop:
        return gather(scop, step)

    def propose(self, request: Request) -> Iterator[Proposal]:
        """Rows that lie along the output's (``row_operands``), and columns that don't share places in caches."""
        for form, m, outer in oriented_rows(request.scop, request.statement):
            steps = _rows_gathered(request.scop, request.statement, form, m, outer)
            if steps is not None:
                yield Proposal(steps)
        for step in near_column_choices(request.scop, request.statement, request.matches, request.machine.core):
            yield Proposal((step,))

    def drawn(self, scop: Scop, statement: Statement, draw: Random) -> Iterator[tuple[Gather]]:
        """Any operand, with a dimension for each loop that moves it, in any order."""
        read = drawn_read(statement, draw)
        if read is not None:
            yield (Gather(statement.name, read[0].array, read[1], (1,) * len(read[1])),)

    def describe(self, scop: Scop, step: Gather) -> str:
        return f"a copy of what {' '.join(step.loops)} read of {step.array}"


GATHER = GatherRewrite()


def gather(scop: Scop, step: Gather) -> Scop:
    """Copy what the iterations of some loops read of an array, one after the other, once it is complete.

    Raises IllegalVariantError if the array is written, or if other loops move the access as well.
    """
    statement = scop.statement(step.statement)
    read = only_read(scop, statement, step.array)
    if sorted(step.loops) != sorted(walked(statement, read)):
        raise IllegalVariantError(f"the loops {list(step.loops)} are not those that move `{step.array}`")
    if sum(step.joined) != len(step.loops) or min(step.joined, default=0) < 1:
        raise IllegalVariantError(f"groups of {list(step.joined)} don't make up {len(step.loops)} loops")
    return copied_along(scop, statement, read, step.loops, "gathered", step.joined)


def _rows_gathered(
    scop: Scop, statement: Statement, form: ProductForm, m: int, outer: int | None
) -> tuple[Gather | Coalesce, ...] | None:
    """The copy of A, and the loops that become one over it."""
    extents = extents_of(statement)
    c, a, b = form.strides_c, form.strides_a, form.strides_b
    if a[m] != 1:
        if order_with_last(form.a, [m]) is not None:
            return None  # another order of its dimensions will do
    elif outer is None or a[outer] == extents[m] or extents[m] >= SHORT_ROW:
        return None
    places = [statement.iterators.index(name) for name in walked(statement, form.a)]
    sums = [place for place in places if not c[place]]
    copied = prod(extents[place] for place in places)
    if not sums or not pays(statement, copied, scop.array(form.a.array)):
        return None
    # Sums that the other operand walks through as it lies become one; otherwise the longest is next to the rows.
    sums.sort(key=lambda place: (-b[place], place))
    whole = all(b[one] == extents[two] * b[two] for one, two in pairwise(sums)) and b[sums[-1]] == 1
    if not whole:
        sums.sort(key=lambda place: extents[place])
    last = [m] if outer is None else [outer, m]
    others = [place for place in places if place not in (*sums, *last)]
    groups = [*([place] for place in others), *([sums] if whole else [[place] for place in sums]), last]
    names = statement.iterators
    order = tuple(names[place] for group in groups for place in group)
    steps: list[Gather | Coalesce] = [Gather(statement.name, form.a.array, order, tuple(map(len, groups)))]
    for group in groups:
        inner = names[group[-1]]
        for place in reversed(group[:-1]):
            steps.append(Coalesce(statement.name, names[place], inner))
            inner = coalesced_loop(scop, names[place], inner)
    return tuple(steps)


def near_column_choices(
    scop: Scop, statement: Statement, matches: Sequence[GemmMatch], core: Core
) -> tuple[Gather, ...]:
    """A copy of B, row by row of columns, where what a call sums up lies so far apart that it shares places in caches.

    Arrays of many channels in blocks are such, if their images have a power of two of pixels: all blocks of a pixel
    fall into the same sets. Each element of the copy must be used ``GATHERED_USES`` times.
    """
    if statement.box is None or not matches:
        return ()
    match, extents = matches[0], extents_of(statement)
    b, c = match.form.strides_b, match.form.strides_c
    array = scop.array(match.form.b.array)
    summed = [loop for loop in match.batchable if extents[loop] > 1 and b[loop]]
    alike = [loop for loop in summed if b[loop] * array.element_bytes % core.same_set_bytes[1] == 0]
    if match.stride_bk != 1 or alike != summed or prod(extents[loop] for loop in alike) < core.fewest_ways:
        return ()
    places = [statement.iterators.index(name) for name in walked(statement, match.form.b)]
    rows = [loop for loop in places if c[loop] and loop != match.n]
    rows.sort(key=lambda loop: -c[loop])
    summed.sort(key=lambda loop: -b[loop])
    order = (*rows, *summed, match.n, match.k)
    copied = prod(extents[loop] for loop in places)
    if sorted(order) != sorted(places) or not pays(statement, copied, array):
        return ()
    names = tuple(statement.iterators[loop] for loop in order)
    return (Gather(statement.name, array.name, names, (1,) * len(names)),)
