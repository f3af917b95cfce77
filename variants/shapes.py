"""The shapes in which a microkernel may take a nest's innermost loops, the cheapest first.

Rules that keep them few, each by an argument that holds for any nest:

* a microkernel shape is kept if its predicted cycles per operation are within ``SHAPE_SLACK`` of the best
  shape's, and the best ``SHAPES_KEPT`` are;
* the n loop of a microkernel is one of the two with the tightest packed output (smallest ldc);
* rows of columns come from the loop along which they lie closest in the output; a call has all columns of a row,
  whole rows that divide the loop, and at most ``MOST_COLUMNS`` columns, or ``WIDE_COLUMNS`` where a kernel likes many;
* of each further kernel, whose predictions agree less with the best one's than its own do, a few shapes are kept;
* batch loops are taken from the innermost reduction loop outwards (a prefix of that order).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod

from polydl.contracts import GemmShape, Microkernel
from polydl.contracts.first_cache import timed_cycles
from polydl.divisors import divisors
from polydl.ir.scop import Scop
from polydl.machine import Machine
from polydl.match.product import GemmMatch
from polydl.plan.nest_plan import loop_bounds
from polydl.poly.legality import Directions
from polydl.poly.nests import Nest
from polydl.variants.register_blocks import RegisterBlock, register_blocks
from polydl.variants.sum_blocks import sum_blocks

# Wide: shapes also differ in what they read from beyond the first-level cache, of which these cycles say nothing.
SHAPE_SLACK = 1.35
# So many that spaces can still be ranked as a whole: each shape has tiles and orders of its own, hundreds as a rule.
SHAPES_KEPT = 48
OTHERS_KEPT = 6
# Of a call: each block of a few columns reads A again, so that more of them in one call save calls alone.
MOST_COLUMNS = 128
# In a single loop: with as many as a call has, no other loop is asked for more.
MANY_COLUMNS = MOST_COLUMNS
# Where a call copies operands first, which more columns share.
WIDE_COLUMNS = 1024


@dataclass(frozen=True)
class Shape:
    """A microkernel with its roles and tile sizes, or a register block of plain loops; neither means plain loops."""

    #: The product and the roles of its loops; None without a microkernel.
    match: GemmMatch | None
    #: Loops whose products one call sums up.
    batch: tuple[int, ...] = ()
    #: Loops that give a call more columns, each with its tile size.
    rows: tuple[tuple[int, int], ...] = ()
    #: Tile size of the loop m; 0 without a microkernel, as n and k are.
    m: int = 0
    #: Columns of a call; 0 without a microkernel.
    n: int = 0
    #: Terms of each sum of a call; 0 without a microkernel.
    k: int = 0
    #: Predicted core cycles of a multiply-add.
    cycles_per_operation: float = 0.0
    #: None with a microkernel.
    block: RegisterBlock | None = None

    @property
    def plain(self) -> bool:
        """Whether all loops are still to be put in order."""
        return self.match is None and self.block is None


def plain_shapes(scop: Scop, nest: Nest, directions: Directions, machine: Machine) -> tuple[Shape, ...]:
    """The shapes of a nest without a microkernel: its register blocks, or for most nests all loops still in order."""
    extents = {nest.depth + place: high - low + 1 for place, (low, high) in enumerate(loop_bounds(scop, nest))}
    blocks = _in_blocks(register_blocks(scop, nest, directions, extents, machine))
    return blocks or sum_shapes(scop, nest, directions, extents, machine) or (Shape(None),)


def sum_shapes(
    scop: Scop, nest: Nest, directions: Directions, extents: Mapping[int, int], machine: Machine
) -> tuple[Shape, ...]:
    """Register blocks along a sum (``sum_blocks``), which most microkernels take only after a copy; or none.

    ``extents`` gives iterations by iterator index.
    """
    return _in_blocks(sum_blocks(scop, nest, directions, extents, machine))


def _in_blocks(blocks: Sequence[RegisterBlock]) -> tuple[Shape, ...]:
    return tuple(Shape(None, block=block, cycles_per_operation=block.cycles_per_operation) for block in blocks)


def by_cycles(shapes: Sequence[Shape]) -> tuple[Shape, ...]:
    """The cheapest first."""
    return tuple(sorted(shapes, key=lambda shape: shape.cycles_per_operation))


def _batches(match: GemmMatch, extents: Mapping[int, int]) -> tuple[tuple[int, ...], ...]:
    """Prefixes of the reduction loops, from the innermost outwards, each in the source's order."""
    ordered = sorted((loop for loop in match.batchable if extents[loop] > 1), reverse=True)
    return tuple(tuple(sorted(ordered[:count])) for count in range(len(ordered) + 1))


def _rows(match: GemmMatch, kernel: Microkernel, extents: Mapping[int, int]) -> tuple[tuple[tuple[int, int], ...], ...]:
    """Loops, with tile sizes, that may make rows of a call's columns."""
    found: list[tuple[tuple[int, int], ...]] = [()]
    loops = [loop for loop in match.rowable if extents[loop] > 1]
    if "rows" in kernel.abilities and loops:
        loop = min(loops, key=match.form.strides_c.__getitem__)
        most = (WIDE_COLUMNS if "copies" in kernel.abilities else MOST_COLUMNS) // extents[match.n]
        found += [((loop, size),) for size in divisors(extents[loop]) if 1 < size <= most]
    return tuple(found)


def _gemm_shape(shape: Shape, m: int, n: int, k: int, batch: int) -> GemmShape:
    match = shape.match
    assert match is not None
    form = match.form
    return GemmShape(
        form.element,
        form.accumulator,
        m,
        n,
        k,
        batch,
        match.lda,
        match.ldc,
        match.stride_bn,
        match.stride_bk,
        prod(size for _, size in shape.rows),
        element_b="" if form.element_b == form.element else form.element_b,
        stride_am=match.stride_am,
    )


def _cycles_per_operation(
    shape: Shape, kernel: Microkernel, extents: Mapping[int, int], batch: int, vector_elements: int
) -> float:
    """Predicted cycles per multiply-add over all tiles, the shorter last ones included."""
    match = shape.match
    assert match is not None
    total = 0.0
    pieces = [_pieces(extents[loop], size) for loop, size in ((match.m, shape.m), (match.n, shape.n))]
    for (m, times_m), (n, times_n) in product(*pieces):
        call = _gemm_shape(shape, m, n, shape.k, batch)
        total += times_m * times_n * timed_cycles(kernel, call, vector_elements)
    rows = prod(size for _, size in shape.rows)
    return total / (extents[match.m] * extents[match.n] * rows * shape.k * batch)


def _pieces(extent: int, size: int) -> tuple[tuple[int, int], ...]:
    """How a loop falls into full tiles and a last one, as (iterations, how many of them)."""
    full, rest = divmod(extent, size)
    return ((size, full), (rest, 1)) if rest else ((size, full),)


def shapes_of(
    matches: Sequence[GemmMatch],
    kernel: Microkernel,
    extents: Mapping[int, int],
    vector_elements: int,
) -> tuple[tuple[Shape, ...], str | None]:
    """The microkernel shapes worth trying, the cheapest first, and why there is none if there is none.

    ``extents`` gives iterations by iterator index.
    """
    found: list[Shape] = []
    tightest = sorted({match.ldc for match in matches})[:2]
    # Columns from all over the output are for those who find too few side by side.
    if max((extents[match.n] for match in matches if match.ldc == tightest[0]), default=0) >= MANY_COLUMNS:
        tightest = tightest[:1]
    for match in (each for each in matches if each.ldc in tightest):
        sizes = (
            kernel.sizes("m", extents[match.m], vector_elements),
            kernel.sizes("n", extents[match.n], vector_elements),
            kernel.sizes("k", extents[match.k], vector_elements),
        )
        for batch, rows, (m, n, k) in product(_batches(match, extents), _rows(match, kernel, extents), product(*sizes)):
            if rows and n < extents[match.n]:
                continue
            shape = Shape(match, batch, rows, m, n, k)
            length = prod(extents[loop] for loop in batch)
            cost = _cycles_per_operation(shape, kernel, extents, length, vector_elements)
            found.append(replace(shape, cycles_per_operation=cost))
    found.sort(key=lambda shape: shape.cycles_per_operation)
    kept: list[Shape] = []
    reason: str | None = None
    for candidate in found:
        if kept and candidate.cycles_per_operation > SHAPE_SLACK * kept[0].cycles_per_operation:
            break
        refused = _refused(candidate, kernel, extents)
        if refused is None:
            kept.append(candidate)
        else:
            reason = reason or refused
        if len(kept) == SHAPES_KEPT:
            break
    return tuple(kept), None if kept else reason


def best_shapes(by_kernel: Sequence[Sequence[Shape]]) -> tuple[Shape, ...]:
    """The cheapest shapes of several kernels, each of which is in order already.

    Predictions of different kernels agree less than those of one: each kernel within the slack keeps its share, and
    each beyond it ``OTHERS_KEPT``.
    """
    everything = sorted(
        (shape for shapes in by_kernel for shape in shapes), key=lambda shape: shape.cycles_per_operation
    )
    within = [
        each for each in everything if each.cycles_per_operation <= SHAPE_SLACK * everything[0].cycles_per_operation
    ]
    room = SHAPES_KEPT // max(1, len(by_kernel))
    kept: list[Shape] = []
    for shapes in by_kernel:
        kept += [shape for shape in shapes if shape in within][:room] or shapes[:OTHERS_KEPT]
    kept += [shape for shape in within if shape not in kept][: SHAPES_KEPT - len(kept)]
    return by_cycles(kept)


def _refused(shape: Shape, kernel: Microkernel, extents: Mapping[int, int]) -> str | None:
    """Why the kernel can't do this shape or one of its shorter last tiles, or None."""
    match = shape.match
    assert match is not None
    if match.overlaps(shape.m, shape.n, shape.rows):
        return "rows of columns of the output overlap"
    length = prod(extents[loop] for loop in shape.batch)
    roles = ((match.m, shape.m), (match.n, shape.n), (match.k, shape.k))
    ends = [[size for size, times in _pieces(extents[loop], size) if times] for loop, size in roles]
    for m, n, k in product(*ends):
        reason = kernel.rejects(_gemm_shape(shape, m, n, k, length))
        if reason is not None:
            return reason
    return None
