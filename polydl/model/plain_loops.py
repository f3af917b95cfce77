"""What plain inner loops cost in cycles, for comparing variants that use no microkernel."""

from __future__ import annotations

from collections.abc import Collection, Sequence, Set
from dataclasses import dataclass
from math import prod

from polydl.bfloat16 import CONVERSIONS
from polydl.ir.scop import Scop
from polydl.ir.statement import Access, Expression, Statement
from polydl.machine import Core
from polydl.plan.nest_plan import NestPlan, trips
from polydl.plan.register_blocks import register_block
from polydl.plan.transposing_copies import SQUARE_BYTES, VECTOR_BYTES, transposing_copy
from polydl.plan.vector_sums import separate_lanes, separate_vectors, sums_of_loop
from polydl.poly.legality import Directions, parallel_is_legal
from polydl.poly.reductions import summed_up
from polydl.vector_functions import called, is_extremum, leaves, scalar_only


def finishing_cycles(scop: Scop, plan: NestPlan, vector_elements: int, core: Core) -> float:
    """Core cycles of the operations alone: those of an element-wise nest that is applied to what is in registers."""
    statements = [scop.statement(name) for name in plan.nest.statements]
    work = sum(each.instances * max(1, each.flops_per_instance) for each in statements)
    return work / core.fma_per_cycle / vector_elements


def cycles(scop: Scop, plan: NestPlan, directions: Directions, vector_elements: int, core: Core) -> float:
    """Core cycles of one thread for all instances, operands in the first-level cache.

    The innermost loop is run with vectors where no dependence forbids it and its accesses are contiguous or
    constant; each of its executions costs a start. Iterations of the loops that are unrolled inside of it are a
    register block. A vector of a sum waits for the one before, unless the sum has several (``plan.vector_sums``); of
    several iterations run at once, each has a sum of its own. Without vectors, an iteration that reads what the one
    before has written waits for all operations on the way, and no other one waits. Copies that transpose do so in
    squares of vectors.
    """
    statements = [scop.statement(name) for name in plan.nest.statements]
    instances = max(statement.instances for statement in statements)
    loops = (*plan.loops, *plan.inner)
    counts = trips(plan)
    places = [place for place, count in enumerate(counts) if count > 1]
    if not places:
        # Loops around, which other nests share, run it without vectors.
        return finishing_cycles(scop, plan, 1, core)
    squares = transposing_copy(scop, plan)
    if squares is not None:
        vectors = instances * (SQUARE_BYTES // squares.side) / VECTOR_BYTES
        return vectors * core.transposed_vector_cycles + core.loop_start_cycles * instances / squares.columns[1]
    unrolled = [place for place in places if place < len(plan.loops) and loops[place].unrolled]
    around = [place for place in places if place not in unrolled]
    inner = [(loops[place].iterator, counts[place]) for place in unrolled] if around else []
    last = around[-1] if inner else places[-1]
    loop = _InnerLoop(scop, statements, loops[last].iterator, counts[last], inner, core)
    parallel = parallel_is_legal(directions, plan.order(), last)
    sums = {} if parallel or last >= len(plan.loops) else sums_of_loop(scop, plan, directions, last)
    if not (parallel or sums) or scalar_only(scop, called(statements)):
        added = summed_up(scop, statements, {each.name: loops[last].iterator for each in statements})
        total = loop.scalar_cycles(parallel=parallel, sums=parallel_is_legal(directions, plan.order(), last, added))
    else:
        total = max(loop.vector_cycles(vector_elements), loop.waiting_cycles(sums, vector_elements))
        total += loop.joining_cycles(sums, vector_elements)
    if len(unrolled) > 1 and len(around) > 1 and counts[last] <= vector_elements:
        # One vector is no loop: the one around it is the innermost.
        last = around[-2]
    iterations = prod(counts)
    executions = instances / iterations * prod(counts[:last]) if iterations else 1.0
    return total + executions * core.loop_start_cycles


@dataclass(frozen=True)
class _InnerLoop:
    """The innermost loop of a nest, over an iterator, with those that are unrolled in it."""

    scop: Scop
    statements: Sequence[Statement]
    #: Number of the iterator.
    iterator: int
    #: Its iterations.
    trips: int
    #: Iterators with their iterations, outermost first.
    unrolled: Sequence[tuple[int, int]]
    core: Core

    @property
    def _together(self) -> int:
        """Iterations of the unrolled loops."""
        return prod(count for _, count in self.unrolled)

    def _called(self, statement: Statement) -> int:
        """How many functions each instance calls."""
        names = [node.text for node in statement.body.walk() if node.kind == "call"]
        return sum(len(leaves(self.scop, [name]) - CONVERSIONS) for name in names if not is_extremum(self.scop, name))

    def scalar_cycles(self, *, parallel: bool, sums: bool) -> float:
        """Cycles without vectors. Iterations wait for each other unless they are ``parallel``.

        They add up ``sums`` apart where several run at once.
        """
        core, total = self.core, 0.0
        for statement in self.statements:
            loads = len(statement.accesses) / core.loads_per_cycle
            work = max(max(statement.flops_per_instance, 1) / core.fma_per_cycle, loads)
            if not parallel:
                waits = chain(statement, self.iterator, self.statements)
                work = max(work, core.fma_latency_cycles * waits / (self._together if sums else 1))
            total += statement.instances * (work + self._called(statement) * core.call_cycles)
        return total

    def vector_cycles(self, lanes: int) -> float:
        """Cycles with vectors of so many lanes, each sum in a register."""
        core, total, width = self.core, 0.0, min(lanes, self.trips)
        for statement in self.statements:
            block = register_block(self.scop, statement, self.unrolled, self.iterator, core.vector_registers, width)
            work = core.cycles(block.operations, block.loads, block.stores)
            work += self._called(statement) * block.instances * core.call_cycles
            total += statement.instances / block.instances / width * work
        return total

    def waiting_cycles(self, sums: Collection[str], lanes: int) -> float:
        """Cycles until the last of the additions that wait for each other. ``sums`` are those of these statements."""
        if not sums:
            return 0.0
        width, together = min(lanes, self.trips), self._together
        calls = any(map(self._called, self.statements))
        apart = separate_lanes(lanes, self.trips)
        vectors = separate_vectors(len(sums) * together, apart, self.trips, called=calls) if apart else 1
        instances = max(each.instances for each in self.statements if each.name in sums)
        return instances / together / width / vectors * self.core.fma_latency_cycles

    def joining_cycles(self, sums: Collection[str], lanes: int) -> float:
        """Cycles to add up the lanes of all sums, at the end of each execution of the loop."""
        if not sums or not separate_lanes(lanes, self.trips):
            return 0.0
        instances = sum(each.instances for each in self.statements if each.name in sums)
        return instances / self.trips * self.core.lane_sum_cycles


def chain(statement: Statement, iterator: int, together: Sequence[Statement] = ()) -> int:
    """How many operations of an iteration wait for the previous one, of the loop over ``iterator``; 0 if none does.

    Those between a read of what the previous iteration wrote and the result, along the longest way, and at least 1 if
    there is such a read. 1 as well where it can't be told from subscripts whether there is one, and where a statement
    that runs ``together`` with this one writes what it reads.
    """
    sees = {read.reference: _sees(statement, read, iterator) for read in statement.reads}
    operations = _operations_above(statement.body, {reference for reference, seen in sees.items() if seen})
    if operations is not None:
        return max(1, operations)
    others = {write.array for other in together if other.name != statement.name for write in other.writes}
    return int(None in sees.values() or any(read.array in others for read in statement.reads))


def _sees(statement: Statement, read: Access, iterator: int) -> bool | None:
    """Whether an access reads the element that the previous iteration of a loop, of the same others, wrote.

    False if it reads no element that any earlier iteration wrote; None if that can't be told from subscripts.
    """
    known: bool | None = False
    for write in statement.writes:
        if write.array != read.array:
            continue
        if write.subscripts is None or read.subscripts is None:
            known = None
            continue
        pairs = list(zip(write.subscripts, read.subscripts, strict=True))
        if any(one.coefficients != other.coefficients for one, other in pairs):
            known = None
            continue
        behind = [one.constant - other.constant for one, other in pairs]
        steps = [statement.directions[iterator] * one.coefficients[iterator] for one, _ in pairs]
        if behind == steps:
            return True
        if all(distance * step > 0 or distance == step == 0 for distance, step in zip(behind, steps, strict=True)):
            known = None  # of an iteration before the previous one
    return known


def _operations_above(node: Expression, references: Set[str]) -> int | None:
    """The most operations from a node with one of these references up to this one; None without any."""
    if node.kind == "access":
        return 0 if node.text in references else None
    below = [found for each in node.arguments if (found := _operations_above(each, references)) is not None]
    return max(below) + (node.kind in ("op", "call") and node.text != "=") if below else None
