"""What plain inner loops cost in cycles, for comparing variants that use no microkernel."""

from __future__ import annotations

from collections.abc import Sequence, Set
from math import prod

from polydl.bfloat16 import CONVERSIONS
from polydl.ir.scop import Scop
from polydl.ir.statement import Access, Expression, Statement
from polydl.machine import Core
from polydl.plan.nest_plan import NestPlan, trips
from polydl.plan.register_blocks import register_block
from polydl.poly.legality import Directions, parallel_is_legal, sums_are_legal
from polydl.vector_functions import called, leaves, scalar_only


def _strides(scop: Scop, statement: Statement, iterator: int) -> list[int]:
    return [abs(scop.stride(each, iterator)) for each in statement.accesses if each.subscripts is not None]


def finishing_cycles(scop: Scop, plan: NestPlan, vector_elements: int, core: Core) -> float:
    """Core cycles of an element-wise nest that is applied to what is in registers."""
    statements = [scop.statement(name) for name in plan.nest.statements]
    work = sum(each.instances * max(1, each.flops_per_instance) for each in statements)
    return work / core.fma_per_cycle / vector_elements


def cycles(scop: Scop, plan: NestPlan, directions: Directions, vector_elements: int, core: Core) -> float:
    """Core cycles of one thread for all instances, operands in the first-level cache.

    The innermost loop is run with vectors where no dependence forbids it and its accesses are contiguous or
    constant; each of its executions costs a start. One vector of a sum waits for the one before; of several iterations
    run at once, each has a sum of its own, and what they have in common is loaded once. An iteration that reads what
    the one before has written waits for all operations on the way, and no other one waits. Several loops that are
    unrolled together are a register block.
    """
    statements = [scop.statement(name) for name in plan.nest.statements]
    instances = max(statement.instances for statement in statements)
    loops = (*plan.loops, *plan.inner)
    counts = trips(plan)
    places = [place for place, count in enumerate(counts) if count > 1]
    if not places:
        return float(sum(max(1, s.flops_per_instance) for s in statements))
    unrolled = [place for place in places if place < len(plan.loops) and loops[place].unrolled]
    around = [place for place in places if place not in unrolled]
    together = prod(counts[place] for place in unrolled) if around else 1
    last = around[-1] if together > 1 else places[-1]
    legal = sums_are_legal(directions, plan.order(), last)
    waits = legal and not parallel_is_legal(directions, plan.order(), last)
    total = 0.0
    for statement in statements:
        strides = _strides(scop, statement, loops[last].iterator)
        scattered = sum(1 for stride in strides if stride > 1)
        names = [node.text for node in statement.body.walk() if node.kind == "call"]
        calls = sum(len(leaves(scop, [name]) - CONVERSIONS) for name in names)
        scalar = bool(scalar_only(scop, called([statement])))
        if len(unrolled) > 1 and together > 1 and legal and not waits and not scalar:
            inner = [(loops[place].iterator, counts[place]) for place in unrolled]
            block = register_block(scop, statement, inner, loops[last].iterator, core.vector_registers)
            width = min(vector_elements, counts[last])
            work = core.cycles(block.operations, block.loads, block.stores) + calls * block.instances * core.call_cycles
            total += statement.instances / block.instances / width * work
            continue
        loads = float(len(statement.accesses))
        if together > 1:
            own = _strides(scop, statement, loops[-1].iterator)
            loads = sum(1.0 if stride else 1.0 / together for stride in own)
        work = max(max(statement.flops_per_instance, 1) / core.fma_per_cycle, loads / core.loads_per_cycle)
        work = max(work, core.fma_latency_cycles / together) if waits else work
        if not legal:
            work = max(work, core.fma_latency_cycles * chain(statement, loops[last].iterator, statements))
        width = 1 if not legal or scalar else min(vector_elements, counts[last])
        per_vector = work + scattered * width
        total += statement.instances * (per_vector + calls * core.call_cycles) / width
    if len(unrolled) > 1 and len(around) > 1 and counts[last] <= vector_elements:
        # One vector is no loop: the one around it is the innermost.
        last = around[-2]
    iterations = prod(counts)
    executions = instances / iterations * prod(counts[:last]) if iterations else 1.0
    return total + executions * core.loop_start_cycles


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
