"""Register blocks of plain loops for products whose operands are both contiguous along the sum.

The layout of a linear layer with weights in rows: ``C[i][j] += A[i][k] * B[j][k]``. Most microkernels take it only
after a copy of one operand, since none of the output's loops is contiguous in an operand. Vectors are filled along the
sum, each lane with a sum of its own, and a few iterations of two loops over outputs run at once in it: what they read
in common is loaded once, and the sums of a block hide each other's latency. Rules that keep the blocks few, each by an
argument that holds for any nest:

* the sum runs through at least ``FEWEST_VECTORS`` vectors, so that adding up lanes takes less than what they sum;
* the two loops over outputs are those along which most operands stay as they are, and the innermost of several such;
* sums and what they read until the last of them has done so fit into registers;
* blocks are kept if their predicted cycles per operation are within ``SLACK`` of the best one's;
* the sum is taken whole, or in pieces that divide it and leave what a block reads in the first-level cache.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import permutations

from polydl.divisors import divisors
from polydl.ir.scop import Scop
from polydl.ir.statement import Access
from polydl.machine import Machine
from polydl.plan.vector_sums import OPERATIONS, separate_lanes
from polydl.poly.legality import Directions, order_is_legal, parallel_is_legal
from polydl.poly.nests import Nest
from polydl.poly.reductions import moves, reduction
from polydl.variants.register_blocks import RegisterBlock, block_cost

# Four additions bring the sixteen lanes of a vector together.
FEWEST_VECTORS = 4
# Narrow: blocks differ in loads and registers alone, which these cycles count.
SLACK = 1.1
_BLOCKS_KEPT = 4
# Into how many lengths a sum may be cut, beside being taken whole.
_PIECES = 2
# Iterations of a loop over outputs that run at once; fewer where there are fewer.
_SIZES = (2, 3, 4, 5, 6, 8)


def sum_blocks(
    scop: Scop, nest: Nest, directions: Directions, extents: Mapping[int, int], machine: Machine
) -> tuple[RegisterBlock, ...]:
    """Blocks worth trying, the cheapest first; none for other nests. ``extents`` gives iterations by iterator."""
    statement = scop.statement(nest.statements[0])
    if len(nest.statements) > 1 or nest.call is not None or nest.transform is not None or statement.box is None:
        return ()
    found = reduction(scop, statement)
    if found is None or found.operation not in OPERATIONS or any(a.subscripts is None for a in statement.accesses):
        return ()
    reads = [access for access in statement.reads if access.reference not in found.references]
    running = [loop for loop, extent in extents.items() if extent > 1]
    elements = machine.vector_elements(scop.array(found.target.array).element_bytes)
    vectors = [
        loop
        for loop in running
        if not moves(found.target, loop)
        and extents[loop] >= FEWEST_VECTORS * elements
        and separate_lanes(elements, extents[loop])
        and _contiguous(scop, reads, loop)
    ]
    outputs = _sharing(scop, reads, [loop for loop in running if moves(found.target, loop)])
    if not vectors or len(outputs) < 2:
        return ()
    vector = vectors[-1]
    costs: list[tuple[float, float, RegisterBlock]] = []
    for inner in _blocks(outputs[-2:], extents):
        if not _is_legal(nest, directions, vector, inner, found.target.array):
            continue
        (cycles, loads), live, alone = block_cost(scop, statement, machine, extents, vector, (), inner)
        if live + alone <= machine.core.vector_registers:
            cycles += machine.core.lane_sum_cycles * elements / extents[vector]
            costs.append((cycles, loads, RegisterBlock(vector, extents[vector], (), inner, cycles, alone)))
    costs.sort(key=lambda cost: cost[:2])
    kept = [block for cycles, _, block in costs if cycles <= SLACK * costs[0][0]][:_BLOCKS_KEPT]
    return tuple(
        replace(block, span=span) for block in kept for span in _spans(scop, reads, block, extents[vector], machine)
    )


def _contiguous(scop: Scop, reads: Sequence[Access], loop: int) -> bool:
    """Whether a loop walks along at least two operands element by element, and leaves the others as they are."""
    strides = [abs(scop.stride(access, loop)) for access in reads]
    return max(strides, default=0) <= 1 and sum(strides) >= 2


def _sharing(scop: Scop, reads: Sequence[Access], loops: Sequence[int]) -> list[int]:
    """The loops over outputs that leave an operand as it is, which all of their iterations read."""
    return [loop for loop in loops if any(scop.stride(access, loop) == 0 for access in reads)]


def _blocks(outputs: Sequence[int], extents: Mapping[int, int]) -> list[tuple[tuple[int, int], ...]]:
    """Iterations of two loops over outputs to run at once, in both orders."""
    sizes = {loop: sorted({min(size, extents[loop]) for size in _SIZES}) for loop in outputs}
    return [
        ((one, rows), (other, columns))
        for one, other in permutations(outputs)
        for rows in sizes[one]
        for columns in sizes[other]
    ]


def _is_legal(nest: Nest, directions: Directions, vector: int, outputs: Sequence[tuple[int, int]], summed: str) -> bool:
    inner = [vector, *(loop for loop, _ in outputs)]
    around = [nest.depth + place for place in range(len(nest.loops)) if nest.depth + place != vector]
    order = [loop - nest.depth for loop in (*around, *inner)]
    return order_is_legal(directions, order) and parallel_is_legal(directions, order, len(around), [summed])


def _spans(scop: Scop, reads: Sequence[Access], block: RegisterBlock, extent: int, machine: Machine) -> tuple[int, ...]:
    """Terms of a sum that follow one another: all, or whole vectors of which a block's operands fit the first cache."""
    rows = sum(
        scop.array(access.array).element_bytes * size
        for access in reads
        for loop, size in block.outputs
        if scop.stride(access, loop)
    )
    least = FEWEST_VECTORS * machine.vector_elements(min(scop.array(access.array).element_bytes for access in reads))
    most = min(machine.core.first_cache_bytes // max(1, rows), extent - 1)
    pieces = [size for size in divisors(extent) if least <= size <= most and size % (least // FEWEST_VECTORS) == 0]
    return (extent, *pieces[: -_PIECES - 1 : -1])
