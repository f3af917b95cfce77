"""Register blocks of plain loops, for nests that add few terms to each output and share nothing between channels.

A depthwise convolution has no matrix product in it: each output is the sum of a few neighbours, and what can be saved
are loads and stores. The loops over terms and a few iterations of the loops over outputs are unrolled inside of the
loop along which outputs are contiguous. So all sums of a block stay in registers from the first term to the last, and
what neighbouring outputs read in common is loaded once. Rules that keep the blocks
few, each by an argument that holds for any nest:

* the terms of a sum are at most ``MOST_TERMS``, and the sums of a block at most ``MOST_UNROLLED`` vectors;
* sums, and what several of them read until the last of these has done so, fit into registers, if they do in any block,
  and together with what the vector loop leaves alone, if that holds for any;
* of the loops over terms, one that moves an operand as a loop over the block's outputs does is the innermost, so that
  what these outputs share is in use for a short while only;
* the loop that fills vectors is taken whole, or in tiles of four vectors that divide it, or of one where nothing stays
  in registers from one to the next;
* blocks are kept if their predicted cycles per operation are within ``SLACK`` of the best one's, and of those that
  take the same the one with the fewest loads is the first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from math import prod

from polydl.ir.scop import Scop
from polydl.ir.statement import Access, Statement
from polydl.machine import Machine
from polydl.plan.register_blocks import register_block
from polydl.plan.tile import MOST_INSTANCES, MOST_UNROLLED
from polydl.poly.domains import bounded_from_outside, independent_loops
from polydl.poly.legality import Directions, order_is_legal, parallel_is_legal
from polydl.poly.nests import Nest
from polydl.poly.reductions import moves

# All are written out: filters have up to 7 by 7 taps.
MOST_TERMS = 64
# Wide, and then few: these cycles say nothing of what comes from beyond the first-level cache.
SLACK = 1.35
BLOCKS_KEPT = 6
# A single term needs no register from one to the next.
_FEWEST_TERMS = 2
# Iterations of a loop over outputs to try beside those that divide it.
_SIZES = (4, 6, 8)
# Vectors in a tile of the loop that fills them.
_TILES = (1, 4)


@dataclass(frozen=True)
class RegisterBlock:
    """The innermost loops of a nest, by iterator: one that fills vectors, and those that are unrolled in it."""

    #: Iterator of the loop that fills vectors.
    vector: int
    #: Iterations of the vector loop that follow one another.
    span: int
    #: Loops over the terms of a sum, outermost first.
    terms: tuple[int, ...]
    #: Loops over outputs, outermost first, with the iterations of a block.
    outputs: tuple[tuple[int, int], ...]
    #: Predicted core cycles of a multiply-add.
    cycles_per_operation: float = 0.0
    #: Vectors of what the vector loop leaves alone.
    alone: int = 0

    @property
    def loops(self) -> tuple[int, ...]:
        """All of them, outermost first."""
        return self.vector, *self.terms, *(loop for loop, _ in self.outputs)


def register_blocks(
    scop: Scop, nest: Nest, directions: Directions, extents: Mapping[int, int], machine: Machine
) -> tuple[RegisterBlock, ...]:
    """Blocks worth trying, the cheapest first; none for other nests. ``extents`` gives iterations by iterator."""
    statement = scop.statement(nest.statements[0])
    if len(nest.statements) > 1 or nest.call is not None or nest.transform is not None:
        return ()
    if statement.box is None and not bounded_from_outside(statement, nest.depth):
        return ()
    [target] = statement.writes
    own = [access for access in statement.reads if access.array == target.array]
    if not own or any(access.subscripts != target.subscripts for access in own):
        return ()
    if any(access.subscripts is None for access in statement.accesses):
        return ()
    running = [loop for loop, extent in extents.items() if extent > 1]
    terms = [loop for loop in running if not moves(target, loop)]
    outputs = [loop for loop in running if moves(target, loop)]
    vectors = [loop for loop in outputs if scop.stride(target, loop) == 1]
    count = prod(extents[loop] for loop in terms)
    few = _FEWEST_TERMS <= count <= MOST_TERMS and all(extents[loop] <= MOST_UNROLLED for loop in terms)
    if not few or len(vectors) != 1 or not independent_loops(statement).keys() >= {*terms}:
        return ()
    [vector] = vectors
    elements = machine.vector_elements(scop.array(target.array).element_bytes)
    reads = [access for access in statement.reads if access.array != target.array]
    everything: dict[tuple[float, float], RegisterBlock] = {}
    fitting: dict[tuple[float, float], RegisterBlock] = {}
    spilling: dict[tuple[float, float], RegisterBlock] = {}
    registers = machine.core.vector_registers
    for inner in _outputs(scop, reads, [loop for loop in outputs if loop != vector], terms, extents):
        if count * prod(size for _, size in inner) > MOST_INSTANCES:
            continue
        orders = _term_orders(reads, terms, [loop for loop, _ in inner])
        order = next((each for each in orders if _is_legal(nest, directions, vector, each, inner)), None)
        if order is not None:
            cost, live, alone = block_cost(scop, statement, machine, extents, vector, order, inner)
            found = everything if live + alone <= registers else fitting if live <= registers else spilling
            found.setdefault(cost, RegisterBlock(vector, extents[vector], order, inner, cost[0], alone))
    found = everything or fitting or spilling
    best = min((cycles for cycles, _ in found), default=0.0)
    kept = [found[cost] for cost in sorted(found) if cost[0] <= SLACK * best][:BLOCKS_KEPT]
    return tuple(replace(block, span=span) for block in kept for span in _spans(extents[vector], elements, block.alone))


def _spans(extent: int, elements: int, alone: int) -> tuple[int, ...]:
    """Iterations of the vector loop: one vector would load what it leaves alone each time."""
    tiles = (vectors * elements for vectors in _TILES if vectors > 1 or not alone)
    return (extent, *(size for size in tiles if size < extent and extent % size == 0))


def _outputs(
    scop: Scop, reads: Sequence[Access], loops: Sequence[int], terms: Sequence[int], extents: Mapping[int, int]
) -> Iterator[tuple[tuple[int, int], ...]]:
    """Loops over outputs whose neighbours read something in common, with numbers of iterations to run at once."""
    yield ()
    sharing = [loop for loop in loops if _shares(scop, reads, loop, terms, extents)]
    sizes = {
        loop: [
            size
            for size in range(2, min(extents[loop], MOST_UNROLLED) + 1)
            if size in _SIZES or extents[loop] % size == 0
        ]
        for loop in sharing
    }
    for loop in sharing:
        yield from (((loop, size),) for size in sizes[loop])
    for one, other in combinations(sharing, 2):
        for rows, columns in product(sizes[one], sizes[other]):
            if rows * columns <= MOST_UNROLLED:
                yield ((one, rows), (other, columns))


def _shares(scop: Scop, reads: Sequence[Access], loop: int, terms: Sequence[int], extents: Mapping[int, int]) -> bool:
    """Whether neighbouring iterations of a loop over outputs read elements in common."""
    for access in reads:
        step = abs(scop.stride(access, loop))
        if any(step <= abs(scop.stride(access, term)) * (extents[term] - 1) for term in terms):
            return True
    return False


def _term_orders(reads: Sequence[Access], terms: Sequence[int], outputs: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Orders of the loops over terms: that with short lives of what outputs share, and that of the source."""

    def together(term: int) -> int:
        """How many dimensions of operands both this loop and a loop over outputs move through."""
        return sum(
            1
            for access in reads
            for form in access.subscripts or ()
            if form.coefficients[term] and any(form.coefficients[loop] for loop in outputs)
        )

    yield tuple(sorted(terms, key=lambda term: (together(term), term)))
    yield tuple(terms)


def _is_legal(
    nest: Nest, directions: Directions, vector: int, terms: Sequence[int], outputs: Sequence[tuple[int, int]]
) -> bool:
    inner = [vector, *terms, *(loop for loop, _ in outputs)]
    around = [nest.depth + place for place in range(len(nest.loops)) if nest.depth + place not in (vector, *terms)]
    order = [loop - nest.depth for loop in (*around, *inner)]
    return order_is_legal(directions, order) and parallel_is_legal(directions, order, len(around))


def block_cost(
    scop: Scop,
    statement: Statement,
    machine: Machine,
    extents: Mapping[int, int],
    vector: int,
    terms: Sequence[int],
    outputs: Sequence[tuple[int, int]],
) -> tuple[tuple[float, float], int, int]:
    """Predicted cycles and loads for each vector of instances, over full blocks and shorter last ones.

    The others are the registers that a full block takes, and those of what the vector loop leaves alone.
    """
    core, cycles, loads, work, live, kept = machine.core, 0.0, 0.0, 0, 0, 0
    elements = machine.vector_elements(scop.array(statement.writes[0].array).element_bytes)
    pieces: list[tuple[int, tuple[tuple[int, int], ...]]] = [(1, ())]
    for loop, size in outputs:
        full, rest = divmod(extents[loop], size)
        ends = [(size, full), *([(rest, 1)] if rest else [])]
        pieces = [(times * count, (*inner, (loop, end))) for times, inner in pieces for end, count in ends]
    for times, inner in pieces:
        loops = [*((term, extents[term]) for term in terms), *inner]
        block = register_block(scop, statement, loops, vector, core.vector_registers, elements)
        cycles += times * core.cycles(block.operations, block.loads, block.stores)
        loads += times * block.loads
        work += times * block.instances
        live, kept = max(live, block.live), max(kept, block.kept)
    return (cycles / work, loads / work), live, kept
