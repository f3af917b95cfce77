"""Lane accumulators: a vector loop's sums with one variable for each lane, which are added up after the loop.

What OpenMP's clause asks for, compilers that keep to the order of additions do lane after lane at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from polydl.codegen.context import Context
from polydl.codegen.loop_ir import (
    Assign,
    Block,
    Body,
    Declare,
    For,
    Node,
    Pragma,
    Reduction,
    Variable,
    at_most,
    mapped,
    with_values_of,
)
from polydl.codegen.passes.streaming_stores import stores
from polydl.codegen.values import Apply, Binary, Element, Expr, Integer, Linear, Name, as_sum, linear, plus

_LANES = frozenset({2, 4, 8, 16})


def run(ir: Body, context: Context) -> Body:
    """All sums of vector loops get their variables; lanes have their own where the loop fills vectors twice."""

    def changed(node: Node) -> Node:
        return _with_variables(node, context) if isinstance(node, For) and node.reductions else node

    return mapped(ir, changed)


def _lanes(loop: For, context: Context) -> int:
    """How many lanes have variables of their own; 0 if one does for all."""
    plain = not loop.parallel and loop.last is not None and not stores(loop, context)
    if not plain or not {each.type for each in loop.reductions} <= {"float", "double"}:
        return 0
    lanes = min(each.lanes for each in context.of(loop.body))
    return lanes if lanes in _LANES and lanes <= context.fewest_trips(loop) // 2 else 0


def _with_variables(loop: For, context: Context) -> Node:
    lanes = _lanes(loop, context)
    zero = Variable("", (lanes,) if lanes else (), Integer(0))
    declared = []
    for statement in dict.fromkeys(each.statement for each in loop.reductions):
        here = [each for each in loop.reductions if each.statement == statement]
        variables = tuple(replace(zero, name=each.variable) for each in here)
        declared.append(Declare(here[0].type, variables))
    added = tuple(Assign(each.target, "+=", _total(each, lanes)) for each in sorted(loop.reductions, key=_statement))
    before, after = (*loop.before, *declared), (*added, *loop.after)
    if not lanes:
        return replace(loop, before=before, after=after)
    return Block((*before, *_in_vectors(replace(loop, before=(), after=()), lanes), *after))


def _statement(reduction: Reduction) -> str:
    return reduction.statement


def _total(reduction: Reduction, lanes: int) -> Expr:
    total: Expr = Name(reduction.variable)
    if lanes:
        total = Apply(f"polydl_total_{reduction.type}", (total, Integer(lanes)))
    return total if reduction.factor is None else Binary("*", reduction.factor, total)


def _in_vectors(loop: For, lanes: int) -> Sequence[Node]:
    """The loop in pieces of so many iterations, and what is left."""
    assert loop.last is not None
    name, first, last = loop.iterator, loop.first, loop.last
    start = Name(f"polydl_{name.removeprefix('polydl_')}_first")
    numbers = loop.range
    rest = len(numbers) % lanes if numbers else -1
    end = Integer(numbers[-1] - rest) if numbers else plus(last, 1 - lanes)
    body = (_piece(loop, lanes, start, plus(start, lanes - 1)),)
    vectors = For(start.name, first, at_most(start.name, end), body, Integer(lanes))
    if not rest:
        return (vectors,)
    if numbers:
        return vectors, _piece(loop, lanes, Integer(numbers[-rest]), last)
    count = Linear(((1, last), (-1, first)), 1)
    start_of_all = as_sum(first)
    whole = replace(start_of_all, terms=(*start_of_all.terms, (lanes, Binary("/", count, Integer(lanes)))))
    declared = Declare("int", (Variable(start.name, initial=whole),), constant=True)
    return vectors, declared, _piece(loop, lanes, start, last)


def _piece(loop: For, lanes: int, first: Expr, last: Expr) -> For:
    lane = linear([(1, Name(loop.iterator)), (-1, first)])
    places: dict[str, Expr] = {each.variable: Element(each.variable, (lane,)) for each in loop.reductions}
    return replace(
        loop,
        first=first,
        condition=at_most(loop.iterator, last),
        body=with_values_of(loop.body, places),
        reductions=(),
        pragma=Pragma("simd", simdlen=lanes),
    )
