"""Products of matrices in seven products of their quarters in place of eight (Strassen, 1969).

Both operands are cut in halves along the rows, columns and sums of a block; seven sums of the quarters of each are
made and multiplied, and what these add to the quarters of the result is put together. Two nests make the sums of
the operands, one puts the result together, and between them a matrix product for each of the seven is left to a
microkernel. Cut in four parts each, the seven products are made of seven each themselves: 49 in place of 64, with all
sums made at once. Sums of quarters are multiplied and then subtracted again, which rounds in another way
(``bilinear_rounding``). That the seven make up the product is arithmetic, of the matrices below.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from math import prod
from random import Random
from typing import Annotated, ClassVar

from polydl.errors import IllegalVariantError
from polydl.ir.affine import iterator_form
from polydl.ir.calls import Matrix, TileTransform
from polydl.ir.construct import has_loops_alone
from polydl.ir.families import BILINEAR, RECURSIVE
from polydl.ir.numerics import Rounding
from polydl.ir.scop import Array, Scop
from polydl.ir.statement import Statement
from polydl.ir.variant import RewriteStep, StatementName
from polydl.match.product import PointProduct, float_forms
from polydl.plan.bilinear_rounding import Bilinear, error_factor
from polydl.poly.counting import limited
from polydl.poly.dependences import Dependence
from polydl.rewrite_contract import Phase, Proposal, Request
from polydl.variants.rewrites.accesses import visits_once
from polydl.variants.rewrites.split import Blocked, Split, block_of, extents_of
from polydl.variants.rewrites.transform_domain import (
    OperandPoints,
    PointNests,
    Transform,
    arranged,
    attached_zeros,
    zeroing,
)

# Of an array of points, lanes in the order of preference.
LANES = (64, 48, 80, 96, 56, 32)
# Into how many parts a block is cut each way; rows and sums of it, at most: larger ones need fewer sums of quarters,
# whose arrays take more room; and lanes of columns. Of columns a block has parts of that many lanes, so that the sums
# for them, and the products, stay in the second cache.
CUTS = ((2, 1024, LANES), (2, 512, LANES), (4, 1024, (16,)), (4, 1024, (32,)))
# Parts of fewer rows, columns or sums are not worth it.
FEWEST = 64


@dataclass(frozen=True)
class Strassen(RewriteStep):
    """Compute a product of matrices in seven products of sums of their quarters, for eight of the quarters.

    With four iterations of each of the ``halves``, quarters are cut into quarters again: 49 products for 64. Loops that
    are ``shared`` are over blocks; the sums for a block are made inside of them.
    """

    json_name: ClassVar[str] = "strassen"

    statement: StatementName
    halves: Annotated[
        tuple[str, str, str], "The loops over halves, or four parts, of a block's rows, columns and sums."
    ]
    shared: Annotated[tuple[str, ...], "Loops over blocks, which become the outermost."] = ()


@dataclass(frozen=True)
class StrassenRewrite:
    """The rewrite ``strassen``, for large products. Its errors grow by a factor that ``rounding`` knows."""

    step: type[Strassen] = Strassen
    families: frozenset[str] = frozenset({BILINEAR, RECURSIVE})
    phase: Phase = Phase.PRODUCT

    def rounding(self, scop: Scop, step: Strassen) -> Rounding:
        statement = scop.statement(step.statement)
        product = block_product(scop, statement)
        if product is None or not {*step.halves} <= {*statement.iterators} or len(step.halves) != 3:
            raise IllegalVariantError(f"{statement.name} is no product of contiguous floats over {list(step.halves)}")
        extents = extents_of(statement)
        parts = extents[statement.iterators.index(step.halves[2])]
        sums = prod(extent for extent, moves in zip(extents, product.form.strides_c, strict=True) if not moves)
        if parts not in PARTS:
            raise IllegalVariantError(f"{list(step.halves)} don't halve {statement.name}")
        rows, columns, result = matrices(parts)
        factor = error_factor((Bilinear(result, rows, columns),), sums // parts, sums)
        return Rounding("nothing", factor, (f"Strassen, {len(rows)} products of {parts**3}",))

    def apply(self, scop: Scop, step: Strassen, dependences: Sequence[Dependence], *, reassociate: bool) -> Scop:
        return strassen(scop, step)

    def propose(self, request: Request) -> Iterator[Proposal]:
        """Large products, their loops in blocks of each size and these by their quarters."""
        yield from strassen_choices(request.scop, request.statement)

    def drawn(self, scop: Scop, statement: Statement, draw: Random) -> Iterator[tuple[RewriteStep, ...]]:
        """Quarters, or sixteenths, of all of a product, whose loops are split for it."""
        product, box = block_product(scop, statement), statement.box
        if product is None or box is None:
            return
        parts = draw.choice((2, 2, 4))
        cuts: list[RewriteStep] = []
        halves: list[str] = []
        for loops, _ in _groups(product):
            # Those that can be cut, where there are any.
            candidates = [loop for loop in loops if not (box[loop][1] + 1) % parts] or loops
            if not candidates:
                return
            loop = draw.choice(candidates)
            extent = box[loop][1] + 1
            if extent % parts or extent == parts:
                return
            cuts.append(Split(statement.name, statement.iterators[loop], extent // parts))
            halves.append(f"{statement.iterators[loop]}_block")
        yield (*cuts, Strassen(statement.name, (halves[0], halves[1], halves[2])))

    def describe(self, scop: Scop, step: Strassen) -> str:
        return f"fewer products, of sums of quarters of blocks, in {step.statement} (Strassen)"


STRASSEN = StrassenRewrite()


def _matrix(*rows: str) -> Matrix:
    return Matrix(tuple(Fraction("-0+".index(sign) - 1) for sign in row) for row in rows)


# The sums of A's quarters, those of B's, and what the seven products add to each quarter of the result. Quarters are
# numbered by halves of rows and then of sums in A, of sums and of columns in B, of rows and of columns in the result.
ROWS = _matrix("+00+", "00++", "+000", "000+", "++00", "-0+0", "0+0-")
COLUMNS = _matrix("+00+", "+000", "0+0-", "-0+0", "000+", "++00", "00++")
RESULT = _matrix("+00+-0+", "00+0+00", "0+0+000", "+-+00+0")


def _twice(matrix: Matrix) -> Matrix:
    """For quarters that are cut into quarters again: each row for the outer ones with each for those inside."""
    return Matrix(
        tuple(outer[2 * x + y] * inner[2 * u + v] for x, u, y, v in itertools.product(range(2), repeat=4))
        for outer, inner in itertools.product(matrix, repeat=2)
    )


def _turned(matrix: Matrix) -> Matrix:
    return Matrix(zip(*matrix, strict=True))


# How many parts rows, columns and sums may be cut into.
PARTS = (2, 4)


@cache
def matrices(parts: int) -> tuple[Matrix, Matrix, Matrix]:
    """The sums of A's and of B's parts, and those of the result, for one of ``PARTS``."""
    if parts == 2:
        return ROWS, COLUMNS, RESULT
    return _twice(ROWS), _twice(COLUMNS), _turned(_twice(_turned(RESULT)))


def block_product(scop: Scop, statement: Statement) -> PointProduct | None:
    """The statement as a product that may be put together from sums of quarters; None if it isn't one.

    A is the operand that goes with the rows of the result. All three have lanes side by side: the result and B along
    one loop, A along one that is summed over. No loop has been chosen to be ``gone``.
    """
    for oriented in float_forms(scop, statement):
        strides = list(zip(oriented.strides_c, oriented.strides_a, oriented.strides_b, strict=True))
        made = [loop for loop, (c, a, b) in enumerate(strides) if c == b == 1 and not a]
        summed = [loop for loop, (c, a, b) in enumerate(strides) if a == 1 and b and not c]
        if made and summed and all(step >= 0 for own in strides for step in own):
            return PointProduct(oriented, frozenset(), made[0], summed[0])
    return None


@limited
def strassen(scop: Scop, step: Strassen) -> Scop:
    """The scop with the statement as seven products for eight, or 49 for 64, and with the sums around it.

    A nest in front that sets all of the result to zero goes, unless each block, or element, of the result is come to
    several times. Raises IllegalVariantError if the statement is no such product, or the ``halves`` are not loops of
    two iterations each, or of four, over its rows, its columns and its sums.
    """
    statement = scop.statement(step.statement)
    found = block_product(scop, statement)
    if found is None or not has_loops_alone(scop, statement) or scop.has_call(statement.name):
        raise IllegalVariantError(f"{statement.name} is no product of contiguous floats with its loops to itself")
    names = statement.iterators
    if len(step.halves) != 3 or not {*step.halves, *step.shared} <= {*names}:
        raise IllegalVariantError(f"{statement.name} has no loops {[*step.halves, *step.shared]}")
    halves, shared = ([names.index(loop) for loop in each] for each in (step.halves, step.shared))
    form, box = found.form, statement.box
    assert box is not None
    moves = [(bool(form.strides_c[x]), bool(form.strides_a[x]), bool(form.strides_b[x])) for x in halves]
    if moves != [(True, True, False), (True, False, True), (False, True, True)]:
        raise IllegalVariantError(f"{list(step.halves)} are not over rows, columns and sums of {statement.name}")
    alike = any(all(box[loop] == (0, parts - 1) for loop in halves) for parts in PARTS)
    if not alike or {*halves, *shared} & {found.result_loop, found.sum_loop}:
        raise IllegalVariantError(f"{list(step.halves)} don't halve {statement.name} outside of its innermost loops")
    product = PointProduct(form, frozenset(halves), found.result_loop, found.sum_loop)
    joined = [loop for loop in product.columns if loop not in {*halves, *shared}]
    if not joined or len({*shared}) != len(shared) or {*shared} & {*halves}:
        raise IllegalVariantError(f"no rows of {statement.name} are left inside of {list(step.shared)}")
    once = all(form.strides_c[loop] for loop in shared) and visits_once(scop, statement, form.c)
    dropped = zeroing(scop, statement, form.c) if once else None
    nests = StrassenNests(scop, statement, product, halves, joined, shared, adds=dropped is None)
    kept = [each for each in scop.statements if each is not dropped]
    ordered: list[tuple[Transform | Statement, int]] = [
        (nests.rows, len(nests.a.around)),
        (nests.columns, len(nests.b.around)),
        (nests.zeros, len(shared)),
        (nests.product, len(shared)),
        (nests.result, len(shared)),
    ]
    ordered[:2] = sorted(ordered[:2], key=lambda nest: nest[1])
    return arranged(scop, kept, statement, ordered, nests.arrays)


class StrassenNests(PointNests):
    """Sums of quarters of both operands, their products, and the result of these.

    The ``halves`` are loops over halves, or four parts, of rows, columns and sums. What a result was is added to if it
    ``adds``.
    """

    def __init__(
        self,
        scop: Scop,
        statement: Statement,
        product: PointProduct,
        halves: Sequence[int],
        joined: Sequence[int],
        shared: Sequence[int],
        *,
        adds: bool,
    ) -> None:
        assert statement.box is not None
        self._halves, self._adds = halves, adds
        trips = [high + 1 for _, high in statement.box]
        form = product.form
        around = (_moving(shared, form.strides_a), _moving(shared, form.strides_b), shared)
        self._parts = trips[halves[0]]
        self._matrices = matrices(self._parts)
        super().__init__(scop, statement, product, len(self._matrices[0]), trips, joined, around)

    @cached_property
    def rows(self) -> Transform:
        """The sums of A's quarters, one for each product."""
        row, _, summed = self._halves
        return self._sums("rows", self._matrices[0], (row, summed), self.a, self.arrays[0])

    @cached_property
    def columns(self) -> Transform:
        """The sums of B's quarters, one for each product."""
        _, column, summed = self._halves
        return self._sums("columns", self._matrices[1], (summed, column), self.b, self.arrays[1])

    def _sums(
        self, role: str, matrix: Matrix, halves: tuple[int, int], points: OperandPoints, sums: Array
    ) -> Transform:
        loops = points.loops
        depth, forms = self._forms(loops, 3, points.lanes)
        point, *quarter = range(len(loops), len(loops) + 3)
        read = forms | {loop: iterator_form(place, depth) for loop, place in zip(halves, quarter, strict=True)}
        return self._transform(
            role,
            loops,
            [self._count, self._parts, self._parts, self._trips[points.lanes]],
            (sums.name, self._subscripts(points, forms, iterator_form(point, depth))),
            [(points.access.array, self._moved(points.access, depth, read))],
            TileTransform((matrix,), (point,), tuple(quarter), depth - 1, (None,) * len(quarter)),
        )

    @cached_property
    def result(self) -> Transform:
        """The quarters of the result from the products."""
        points, loops = self.c, self.c.loops
        depth, forms = self._forms(loops, 3, points.lanes)
        *quarter, point = range(len(loops), len(loops) + 3)
        row, column, _ = self._halves
        written = forms | {
            loop: iterator_form(place, depth) for loop, place in zip((row, column), quarter, strict=True)
        }
        to = (points.access.array, self._moved(points.access, depth, written))
        read = (self.arrays[2].name, self._subscripts(points, forms, iterator_form(point, depth)))
        nothing = (None,) * len(quarter)
        return self._transform(
            "result",
            loops,
            [self._parts, self._parts, self._count, self._trips[points.lanes]],
            to,
            [read, *([to] if self._adds else [])],
            TileTransform((self._matrices[2],), tuple(quarter), (point,), depth - 1, nothing, "result", self._adds),
        )


def _moving(shared: Sequence[int], strides: Sequence[int]) -> Sequence[int]:
    """The shared loops down to the innermost that moves an operand: inside of them its sums are made."""
    moving = [place for place, loop in enumerate(shared) if strides[loop]]
    return shared[: moving[-1] + 1] if moving else []


# ----------------------------------------------------------------------------------
# Which blocks are tried


@dataclass(frozen=True)
class _Blocks:
    """How loops are cut into blocks."""

    #: how many a block is cut into along a loop
    parts: int
    #: iterations of a block, at most
    most: int
    #: sizes of lanes, the preferred first
    lanes: tuple[int, ...]


@dataclass(frozen=True)
class _Cut:
    """How loops over rows, columns or sums were split; the one over parts of a block, and those over blocks."""

    blocked: Blocked
    #: name of the loop over parts of a block
    half: str
    #: names of the loops over blocks, outermost first
    outer: tuple[str, ...]


def strassen_choices(scop: Scop, statement: Statement) -> tuple[Proposal, ...]:
    """The rewrites to try for a statement: its loops in blocks of each size, and these by their quarters."""
    product = block_product(scop, statement)
    if product is None:
        return ()
    extents = extents_of(statement)
    fewest = min(prod(extents[loop] for loop in loops) for loops, _ in _groups(product))
    found: dict[Proposal, None] = {}
    for parts, most, sizes in CUTS:
        if fewest < parts * FEWEST:
            continue
        cuts: list[_Cut] = []
        for loops, lanes in _groups(product):
            names = [statement.iterators[loop] for loop in loops]
            own = None if lanes is None else statement.iterators[lanes]
            blocks = _Blocks(parts, *((parts * sizes[0], sizes) if lanes == product.result_loop else (most, LANES)))
            cut = _cut(cuts[-1].blocked.scop if cuts else scop, statement.name, names, own, blocks)
            if cut is None:
                break
            cuts.append(cut)
        else:
            rows, columns, sums = cuts
            shared = (*rows.outer, *sums.outer, *columns.outer)
            step = Strassen(statement.name, (rows.half, columns.half, sums.half), shared)
            splits = [split for cut in cuts for split in cut.blocked.steps]
            found[Proposal((*splits, step), (attached_zeros(statement.name),))] = None
    return tuple(found)


def _groups(product: PointProduct) -> list[tuple[list[int], int | None]]:
    """The loops over rows, over columns and over sums, the innermost of each first, and the one that is lanes."""
    c, a, b = product.form.strides_c, product.form.strides_a, product.form.strides_b
    loops = range(len(c))
    columns = [loop for loop in loops if c[loop] and b[loop] and not a[loop]]
    sums = [loop for loop in loops if a[loop] and b[loop] and not c[loop]]
    return [
        (product.columns[::-1], None),
        (sorted(columns, key=lambda loop: c[loop]), product.result_loop),
        (sorted(sums, key=lambda loop: a[loop]), product.sum_loop),
    ]


def _cut(scop: Scop, statement: str, loops: Sequence[str], lanes: str | None, blocks: _Blocks) -> _Cut | None:
    """Blocks of the loops together, and of lanes inside them; None if there are none."""
    blocked = Blocked(scop)
    inside: list[tuple[str, int]] = []
    outer: list[str] = []
    reached, parts = 1, blocks.parts

    def in_blocks(loop: str, size: int) -> str:
        """The loop over blocks, now that there is one."""
        nonlocal blocked
        blocked = blocked.after([Split(statement, loop, size)])
        return blocked.outside(statement, loop)

    for name in loops:
        loop, extent = name, _extent(blocked.scop, statement, name)
        if name == lanes:
            block = block_of(extent, blocks.lanes) if extent > blocks.lanes[0] else 0
            reached *= block or extent
            if not block:
                continue
            loop, extent = in_blocks(name, block), extent // block
        size = 1 if outer else _divisor(extent, max(parts, blocks.most // reached), parts)
        if 1 < size < extent:
            outer.append(in_blocks(loop, size))
        elif size == 1:
            outer.append(loop)
            continue
        inside.append((loop, size))
        reached *= size
    even = next((each for each in reversed(inside) if each[1] % parts == 0), None)
    if even is None:
        return None
    loop, size = even
    half = in_blocks(loop, size // parts) if size > parts else loop
    return _Cut(blocked, half, tuple(reversed(outer)))


def _extent(scop: Scop, statement: str, loop: str) -> int:
    found = scop.statement(statement)
    return extents_of(found)[found.iterators.index(loop)]


def _divisor(extent: int, most: int, parts: int) -> int:
    """The largest divisor up to a limit that is a multiple of ``parts``, else the largest."""
    found = [size for size in range(1, min(extent, most) + 1) if extent % size == 0]
    even = [size for size in found if size % parts == 0]
    return max(even or found, default=1)
