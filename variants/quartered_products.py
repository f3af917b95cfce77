"""Which products are tried in seven products of quarters for eight, and in which blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from polydl.ir.scop import Scop
from polydl.ir.statement import Statement
from polydl.ir.variant import Rewrite, Split, Strassen, attached_zeros
from polydl.match.product import PointProduct
from polydl.variants.layouts import block_of, extents_of
from polydl.variants.rewrites.panels import split
from polydl.variants.rewrites.strassen import block_product

# Of an array of points, lanes in the order of preference.
LANES = (64, 48, 80, 96, 56, 32)
# Into how many parts a block is cut each way; rows and sums of it, at most: larger ones need fewer sums of quarters,
# whose arrays take more room; and lanes of columns. Of columns a block has parts of that many lanes, so that the sums
# for them, and the products, stay in the second cache.
CUTS = ((2, 1024, LANES), (2, 512, LANES), (4, 1024, (16,)), (4, 1024, (32,)))
# Parts of fewer rows, columns or sums are not worth it.
FEWEST = 64


@dataclass(frozen=True)
class _Blocks:
    """Iterations of a block at most, in so many ``parts``; and sizes of lanes, the preferred first."""

    parts: int
    most: int
    lanes: tuple[int, ...]


@dataclass(frozen=True)
class _Cut:
    """How loops over rows, columns or sums were split; the one over parts of a block, and those over blocks."""

    scop: Scop
    splits: tuple[Split, ...]
    half: str
    outer: tuple[str, ...]


def strassen_choices(scop: Scop, statement: Statement) -> tuple[tuple[Rewrite, ...], ...]:
    """The rewrites to try for a statement: its loops in blocks of each size, and these by their quarters."""
    product = block_product(scop, statement)
    if product is None:
        return ()
    extents = extents_of(statement)
    fewest = min(prod(extents[loop] for loop in loops) for loops, _ in _groups(product))
    found: dict[tuple[Rewrite, ...], None] = {}
    for parts, most, sizes in CUTS:
        if fewest < parts * FEWEST:
            continue
        cuts: list[_Cut] = []
        for loops, lanes in _groups(product):
            names = [statement.iterators[loop] for loop in loops]
            own = None if lanes is None else statement.iterators[lanes]
            blocks = _Blocks(parts, *((parts * sizes[0], sizes) if lanes == product.made else (most, LANES)))
            cut = _cut(cuts[-1].scop if cuts else scop, statement.name, names, own, blocks)
            if cut is None:
                break
            cuts.append(cut)
        else:
            rows, columns, sums = cuts
            shared = (*rows.outer, *sums.outer, *columns.outer)
            step = Strassen(statement.name, (rows.half, columns.half, sums.half), shared)
            splits = [split for cut in cuts for split in cut.splits]
            found[(*splits, step, attached_zeros(statement.name))] = None
    return tuple(found)


def _groups(product: PointProduct) -> list[tuple[list[int], int | None]]:
    """The loops over rows, over columns and over sums, the innermost of each first, and the one that is lanes."""
    c, a, b = product.form.strides_c, product.form.strides_a, product.form.strides_b
    loops = range(len(c))
    columns = [loop for loop in loops if c[loop] and b[loop] and not a[loop]]
    sums = [loop for loop in loops if a[loop] and b[loop] and not c[loop]]
    return [
        (product.columns[::-1], None),
        (sorted(columns, key=lambda loop: c[loop]), product.made),
        (sorted(sums, key=lambda loop: a[loop]), product.summed),
    ]


def _cut(scop: Scop, statement: str, loops: Sequence[str], lanes: str | None, blocks: _Blocks) -> _Cut | None:
    """Blocks of the loops together, and of lanes inside them; None if there are none."""
    splits: list[Split] = []
    inside: list[tuple[str, int]] = []
    outer: list[str] = []
    reached, parts = 1, blocks.parts

    def in_blocks(loop: str, size: int) -> str:
        """The loop over blocks, now that there is one."""
        nonlocal scop
        splits.append(Split(statement, loop, size))
        scop = split(scop, splits[-1])
        iterators = scop.statement(statement).iterators
        return iterators[iterators.index(loop) - 1]

    for name in loops:
        loop, extent = name, _extent(scop, statement, name)
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
    return _Cut(scop, tuple(splits), half, tuple(reversed(outer)))


def _extent(scop: Scop, statement: str, loop: str) -> int:
    found = scop.statement(statement)
    return extents_of(found)[found.iterators.index(loop)]


def _divisor(extent: int, most: int, parts: int) -> int:
    """The largest divisor up to a limit that is a multiple of ``parts``, else the largest."""
    found = [size for size in range(1, min(extent, most) + 1) if extent % size == 0]
    even = [size for size in found if size % parts == 0]
    return max(even or found, default=1)
