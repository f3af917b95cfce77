"""Prefetches of the next tile of A: each call is told where to start.

``polydl.plan.prefetch`` decides what is fetched; the microkernel has the instructions.
"""

from __future__ import annotations

from collections.abc import Sequence

from polydl.codegen.context import Context
from polydl.codegen.loop_ir import Body, Call, Node, mapped
from polydl.codegen.values import Binary, Conditional, Expr, Integer, linear, plus
from polydl.plan.prefetch import Prefetch, Walk


def run(ir: Body, context: Context) -> Body:
    """Calls whose statements have a prefetch in the context get its address as the argument ``ahead``."""
    fetched = {name: each.prefetch for name, each in context.calls.items() if each.prefetch is not None}

    def changed(node: Node) -> Node:
        if not isinstance(node, Call) or node.statement not in fetched:
            return node
        return node.with_arguments(ahead=_address(fetched[node.statement], node))

    return mapped(ir, changed) if fetched else ir


def _address(prefetch: Prefetch, call: Call) -> Expr:
    """Where the share of one call begins: behind those of the calls before it, in the tile after its own."""
    number: Expr = Integer(0)
    for walk in prefetch.inner:
        number = linear([(walk.trips, number), (1, _iteration(walk, call.counters))])
    following = _distance(prefetch.outer, call.counters)
    return linear([(1, call.argument("a")), (1, following), (prefetch.elements, number)])


def _iteration(walk: Walk, counters: Sequence[Expr]) -> Expr:
    """The number of the iteration, from 0 on. An inner loop of tiles counts on through those of the outer."""
    return Binary("%", plus(counters[walk.place], -walk.first), Integer(walk.trips))


def _distance(outer: Sequence[Walk], counters: Sequence[Expr]) -> Expr:
    """Elements to the next tile: a loop at its end starts anew, and the one around it moves on."""
    back = 0
    steps = []
    for walk in outer:
        steps.append((walk, walk.stride - back))
        back += (walk.trips - 1) * walk.stride
    while len(steps) > 1 and steps[-1][1] == steps[-2][1]:
        steps.pop()
    _, last = steps.pop()
    distance: Expr = Integer(last)
    for walk, step in reversed(steps):
        moves_on = Binary("<", _iteration(walk, counters), Integer(walk.trips - 1))
        distance = Conditional(moves_on, Integer(step), distance)
    return distance
