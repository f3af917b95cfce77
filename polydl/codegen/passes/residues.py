"""Loops over counters whose quotients or remainders are computed with, taken apart by the residues of the counter.

``y[i] = (1 - i % 2) * x[i / 2]`` takes two divisions for each element, and gathers what lies side by side. With two
elements at a time, ``y[2 * i]`` and ``y[2 * i + 1]``, it takes neither: the remainder is a number, and the quotient is
the counter.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from polydl.codegen.context import Context
from polydl.codegen.loop_ir import ONE, Assign, Body, For, If, Let, Node, at_most, nodes, rewritten
from polydl.codegen.passes.unroll_and_jam import Iteration, copies
from polydl.codegen.quotients import period, with_simple_quotients
from polydl.codegen.values import Linear, Name, as_sum, flattened, linear, plus

# Copies of a loop's body, and statements in all of them together.
_MOST_COPIES = 4
_MOST_STATEMENTS = 16


def run(ir: Body, context: Context) -> Body:
    """Each iteration of such a loop runs those of all residues, one after the other; what is left follows the loop."""
    counters = frozenset(node.iterator for node in nodes(ir) if isinstance(node, For | Let))

    def changed(node: Node) -> Body:
        return _apart(node, counters, context) if isinstance(node, For) else (node,)

    return rewritten(ir, changed)


def _apart(loop: For, counters: Collection[str], context: Context) -> Body:
    if not _may_be_copied(loop, context):
        return (loop,)
    number = period(loop.body, loop.iterator, counters)
    statements = sum(isinstance(node, Assign) for node in nodes(loop.body))
    if not 1 < number <= _MOST_COPIES or number * statements > _MOST_STATEMENTS:
        return (loop,)
    trips, first = loop.trips, as_sum(flattened(loop.first))
    if trips is None or trips < number or any(factor % number for factor, _ in first.terms):
        return (loop,)
    turns, left = divmod(trips, number)
    if loop.parallel and left:
        return (loop,)
    # The counter is ``number * turn + residue`` and the constant of the first value.
    start = linear([(factor // number, term) for factor, term in first.terms])
    turn = linear([(number, Name(loop.iterator))], first.constant)
    rest = flattened(linear([(number, start)], first.constant + number * turns))

    def copied(begin: Linear, count: int) -> Body:
        unrolled = [Iteration(f"_{residue}", plus(begin, residue)) for residue in range(count)]
        body = copies(loop.body, loop.iterator, unrolled)
        return with_simple_quotients(body, counters)

    body = copied(as_sum(turn), number)
    inside = replace(loop, first=start, condition=at_most(loop.iterator, plus(start, turns - 1)), body=body)
    return inside, *copied(as_sum(rest), left)


def _may_be_copied(loop: For, context: Context) -> bool:
    """Whether a loop has nothing of its own but a body, of loops and statements, and sums up nothing in vectors."""
    if loop.place < 0 or loop.step != ONE or loop.before or loop.after or loop.along or loop.pragma:
        return False
    inside = [node for node in nodes(loop.body) if not isinstance(node, For)]
    if not all(isinstance(node, If | Let) or (isinstance(node, Assign) and node.statement) for node in inside):
        return False
    if loop.parallel and any(isinstance(node, For) and context.is_parallel(node) for node in nodes(loop.body)):
        return False
    return not (loop.vector and any(loop.place in each.sums for each in context.of(loop.body)))
