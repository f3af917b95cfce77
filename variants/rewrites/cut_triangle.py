"""A statement whose instances form a triangle in two of its loops as squares of several sizes, and what is left.

Of the triangle ``column <= row`` the square in the corner has half of the rows; the two triangles beside it are cut in
the same way, and so on down to a size. The squares of one size lie along the diagonal, at equal distances, so that a
loop goes over them: each size is a statement with rectangular loops, which a microkernel may take. Triangles of the
last size are left on the diagonal, in plain loops.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from random import Random
from typing import Annotated, ClassVar

import islpy as isl

from polydl.errors import AnalysisError, IllegalVariantError
from polydl.ir.affine import Affine
from polydl.ir.construct import fresh_name
from polydl.ir.families import LAYOUT
from polydl.ir.numerics import EXACT, Rounding
from polydl.ir.scop import Scop
from polydl.ir.statement import Statement
from polydl.ir.variant import LoopName, RewriteStep, StatementName
from polydl.match.product import NoMatch, product_form
from polydl.poly.boxes import bounding_box
from polydl.poly.counting import count, limited
from polydl.poly.dependences import Dependence
from polydl.poly.substitution import renamed, with_iterators
from polydl.rewrite_contract import Phase, Proposal, Request
from polydl.variants.rewrites.materialize import MATERIALIZE, Materialize, materialize
from polydl.variants.rewrites.pack import Pack, pack
from polydl.variants.rewrites.parts import in_parts, part_names, require_apart, require_unjoined

# Triangles of at most so many rows are left on the diagonal, and of no fewer.
LARGEST, SMALLEST = 128, 16
# What is left of so many triangles or more, an eighth of the whole, takes no longer than the squares as a rule.
PARTS = 8


@dataclass(frozen=True)
class CutTriangle(RewriteStep):
    """Run a statement's instances with ``columns <= rows`` as squares, and triangles of ``size`` rows on the diagonal.

    The largest squares keep the statement's name.
    """

    json_name: ClassVar[str] = "cut_triangle"

    statement: StatementName
    rows: Annotated[LoopName, "The loop whose values are not below those of the other one."]
    columns: LoopName
    size: Annotated[int, "Rows of the smallest squares, and of the triangles that are left.", {"minimum": 2}]


@dataclass(frozen=True)
class CutTriangleRewrite:
    """The rewrite ``cut_triangle``, after which microkernels take products in triangles. It is exact."""

    step: type[CutTriangle] = CutTriangle
    families: frozenset[str] = frozenset({LAYOUT})
    phase: Phase = Phase.STATEMENT

    def rounding(self, scop: Scop, step: CutTriangle) -> Rounding:
        return EXACT

    def apply(self, scop: Scop, step: CutTriangle, dependences: Sequence[Dependence], *, reassociate: bool) -> Scop:
        return cut_triangle(scop, step, dependences)

    def propose(self, request: Request) -> Iterator[Proposal]:
        """For sums in a triangle, two last sizes; products in the squares get operands that are array elements."""
        statement = request.statement
        if statement.box is not None or statement.depth < 3 or request.matches:
            return
        try:
            for rows, columns in permutations(range(statement.depth), 2):
                square = _square(request.scop, statement, rows, columns)
                names = statement.iterators[rows], statement.iterators[columns]
                for size in _sizes(square[1]) if square is not None else ():
                    yield Proposal(_proposed(request, CutTriangle(statement.name, *names, size)))
        except AnalysisError:
            return

    def drawn(self, scop: Scop, statement: Statement, draw: Random) -> Iterator[tuple[CutTriangle]]:
        """Any two loops, with small squares."""
        if statement.depth > 1:
            rows, columns = draw.sample(statement.iterators, 2)
            yield (CutTriangle(statement.name, rows, columns, draw.choice((2, 4, 8, 12, 16))),)

    def describe(self, scop: Scop, step: CutTriangle) -> str:
        line = next((each.line for each in scop.statements if each.name == step.statement), None)
        where = step.statement if line is None else f"line {line}"
        return f"triangle of {step.rows} and {step.columns} of {where} as squares, triangles of {step.size} left"


CUT_TRIANGLE = CutTriangleRewrite()


def cut_triangle(scop: Scop, step: CutTriangle, known: Sequence[Dependence]) -> Scop:
    """The scop with a statement in parts. ``known`` are the scop's dependences.

    Raises IllegalVariantError where the parts are no squares, or a dependence joins them.
    """
    statement = scop.statement(step.statement)
    if step.rows == step.columns or not {step.rows, step.columns} <= {*statement.iterators}:
        raise IllegalVariantError(f"{statement.name} has no loops `{step.rows}` and `{step.columns}`")
    require_apart(scop, statement)
    rows, columns = statement.iterators.index(step.rows), statement.iterators.index(step.columns)
    square = _square(scop, statement, rows, columns)
    if square is None or step.size < 2 or step.size not in _halves(square[1]):
        raise IllegalVariantError(f"no squares down to {step.size} rows fill the triangle of {statement.name}")
    require_unjoined(scop, statement, (rows, columns), known)
    low, extent = square
    block = fresh_name(scop, f"{step.rows}_square")
    sizes = [size for size in _halves(extent) if size >= step.size]
    names = part_names(scop, statement.name, len(sizes) + 1)
    parts = [
        _part(statement, name, block, (rows, columns), (low + size, low), (2 * size, size, extent // (2 * size)))
        for name, size in zip(names, sizes, strict=False)
    ]
    if any(part.box is None for part in parts):
        raise IllegalVariantError(f"the other loops of {statement.name} are not rectangular")
    triangles = (step.size, step.size, extent // step.size)
    parts.append(_part(statement, names[-1], block, (rows, columns), (low, low), triangles))
    return in_parts(scop, statement, parts)


def _part(
    statement: Statement,
    name: str,
    block: str,
    loops: tuple[int, int],
    lows: tuple[int, int],
    squares: tuple[int, int, int],
) -> Statement:
    """The instances in squares along the diagonal, with a loop over these outside of all.

    ``lows`` are the first row and the first column, ``squares`` the distance, the size and the number of squares.
    """
    distance, size, number = squares
    iterators = (block, *statement.iterators)
    old = []
    for place in range(statement.depth):
        factors = [0] * len(iterators)
        factors[place + 1] = 1
        factors[0] = distance if place in loops else 0
        old.append(Affine(tuple(factors), lows[loops.index(place)] if place in loops else 0))
    values = [
        f"{distance}*{block} + {name_} + {form.constant}" if place in loops else name_
        for place, (name_, form) in enumerate(zip(statement.iterators, old, strict=True))
    ]
    inside = " and ".join(f"0 <= {statement.iterators[place]} < {size}" for place in loops)
    reached = isl.Map(
        f"{{ {statement.name}[{', '.join(iterators)}] -> {statement.name}[{', '.join(values)}] : "
        f"0 <= {block} < {number} and {inside} }}"
    ).intersect_range(isl.Set(statement.domain))
    part = replace(
        statement, domain=str(reached.range()), betas=(*statement.betas, 0), directions=(1,) * len(iterators)
    )
    moved = with_iterators(part, iterators, old, reached.domain())
    return renamed(replace(moved, instances=count(moved.domain)), name)


@limited
def _square(_scop: Scop, statement: Statement, rows: int, columns: int) -> tuple[int, int] | None:
    """The lowest value and the number of values of two loops that form the lower triangle of a square; else None."""
    domain = isl.Set(statement.domain)
    for place in reversed(range(statement.depth)):
        if place not in (rows, columns):
            domain = domain.project_out(isl.dim_type.set, place, 1)
    ranges = bounding_box(domain)
    low, high = min(range_[0] for range_ in ranges), max(range_[1] for range_ in ranges)
    first, second = ("r", "c") if rows < columns else ("c", "r")
    for distance in (0, 1):
        triangle = isl.Set(f"{{ [{first}, {second}] : {low} <= c and c + {distance} <= r and r <= {high} }}")
        if domain.reset_tuple_id().is_equal(triangle):
            return low, high - low + 1
    return None


def _halves(extent: int) -> list[int]:
    """Half of an extent, a quarter of it, and so on, for as long as these are whole."""
    halves = []
    while extent % 2 == 0:
        extent //= 2
        halves.append(extent)
    return halves


def _sizes(extent: int) -> list[int]:
    """The last sizes that are worth trying."""
    halves = _halves(extent)
    fitting = [size for size in halves if SMALLEST <= size <= LARGEST]
    few = [size for size in fitting if size * PARTS <= extent]
    return few[:2] or fitting[-1:] or [size for size in halves[-1:] if size > LARGEST]


def _proposed(request: Request, step: CutTriangle) -> tuple[RewriteStep, ...]:
    """The step with those that make the squares products of array elements which microkernels can read."""
    cut = cut_triangle(request.scop, step, request.dependences)
    evaluated, products = _evaluated(request, cut)
    turned = _turned(products, products.statement(step.statement))
    if turned is None or turned.array not in {array.name for array in request.scop.arrays}:
        return (step, *evaluated)
    # One copy for all squares, and for what is left.
    cut = cut_triangle(pack(request.scop, turned), step, request.dependences)
    return (turned, step, *_evaluated(request, cut)[0])


def _evaluated(request: Request, cut: Scop) -> tuple[list[RewriteStep], Scop]:
    """Steps that compute the squares' operands beforehand where these are no array elements, and the scop after."""
    old = {each.name for each in request.scop.statements} - {request.statement.name}
    steps: list[RewriteStep] = []
    for name in [each.name for each in cut.statements if each.name not in old and each.origin == "source"]:
        if cut.statement(name).box is None:
            continue
        own = replace(request, scop=cut, statement=cut.statement(name))
        proposal = next(iter(MATERIALIZE.propose(own)), None)
        for step in proposal.steps if proposal is not None else ():
            if isinstance(step, Materialize):
                cut = materialize(cut, step)
                steps.append(step)
    return steps, cut


def _turned(scop: Scop, statement: Statement) -> Pack | None:
    """A copy of the operand that moves with the contiguous loop of the result, where that reads it across."""
    form = product_form(scop, statement)
    if isinstance(form, NoMatch):
        return None
    for each in (form, form.swapped()):
        for loop, stride in enumerate(each.strides_c):
            if stride == 1 and each.strides_a[loop] > 1 and not each.strides_b[loop] and each.a.subscripts is not None:
                moved = [place for place, one in enumerate(each.a.subscripts) if one.coefficients[loop] == 1]
                others = [place for place in range(len(each.a.subscripts)) if place not in moved]
                return Pack(statement.name, each.a.array, (*others, *moved)) if len(moved) == 1 else None
    return None
