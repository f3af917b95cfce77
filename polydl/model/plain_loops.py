"""What plain inner loops cost in cycles, for comparing variants that use no microkernel."""

from __future__ import annotations

from collections.abc import Set
from math import prod

from polydl.bfloat16 import CONVERSIONS
from polydl.ir.scop import Scop
from polydl.ir.statement import Access, Expression, Statement
from polydl.machine import Core
from polydl.plan.nest_plan import NestPlan, trips
from polydl.plan.register_blocks import register_block
from polydl.poly.legality import Directions, parallel_is_legal, sums_are_legal
from polydl.vector_functions import called, scalar_only


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
    the one before has written waits for all operations on the way. Several loops that are unrolled together are a
    register block.
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
        calls = sum(1 for node in statement.body.walk() if node.kind == "call" and node.text not in CONVERSIONS)
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
            work = max(work, core.fma_latency_cycles * chain(statement, loops[last].iterator))
        width = 1 if not legal or scalar else min(vector_elements, counts[last])
        per_vector = work + scattered * width
        total += statement.instances * (per_vector + calls * core.call_cycles) / width
    if len(unrolled) > 1 and len(around) > 1 and counts[last] <= vector_elements:
        # One vector is no loop: the one around it is the innermost.
        last = around[-2]
    iterations = prod(counts)
    executions = instances / iterations * prod(counts[:last]) if iterations else 1.0
    return total + executions * core.loop_start_cycles


def chain(statement: Statement, iterator: int) -> int:
    """How many operations of an iteration wait for the previous one, of the loop over ``iterator``; at least 1.

    Those between a read of what the previous iteration wrote and the result, along the longest way.
    """
    read = {each.reference for each in statement.reads if _written_before(statement, each, iterator)}
    return max(1, _operations_above(statement.body, read) or 0)


def _written_before(statement: Statement, read: Access, iterator: int) -> bool:
    """Whether an access reads the element that the previous iteration of a loop, of the same others, wrote."""
    for write in statement.writes:
        if write.array != read.array or write.subscripts is None or read.subscripts is None:
            continue
        pairs = list(zip(write.subscripts, read.subscripts, strict=True))
        behind = [one.constant - other.constant for one, other in pairs]
        steps = [statement.directions[iterator] * one.coefficients[iterator] for one, _ in pairs]
        if behind == steps and all(one.coefficients == other.coefficients for one, other in pairs):
            return True
    return False


def _operations_above(node: Expression, references: Set[str]) -> int | None:
    """The most operations from a node with one of these references up to this one; None without any."""
    if node.kind == "access":
        return 0 if node.text in references else None
    below = [found for each in node.arguments if (found := _operations_above(each, references)) is not None]
    return max(below) + (node.kind in ("op", "call") and node.text != "=") if below else None
