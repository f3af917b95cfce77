"""Unroll-and-jam: iterations of the loops inside a vector loop run in each iteration of that, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from polydl.codegen.context import Context
from polydl.codegen.loop_ir import (
    Assign,
    Body,
    Call,
    Declare,
    Evaluate,
    For,
    If,
    Let,
    Node,
    mapped,
    nodes,
    rewritten,
    with_elements_of,
    with_values_of,
)
from polydl.codegen.values import Binary, Element, Expr, Integer, Integral, Linear, as_sum, flattened, mentions, walk

# Loops with a shorter last tile: each doubles the cases.
_MOST_SHORTER = 2


@dataclass(frozen=True)
class Shorter:
    """Loops whose last tile has fewer iterations than the others."""

    #: How far their last value is from the first.
    distance: Linear
    #: Iterations of a full tile.
    count: int
    #: Iterations of the last tile.
    rest: int


def unrolled_inside(loop: For, context: Context) -> tuple[Shorter, ...] | None:
    """The loops inside a loop that have a shorter last tile, if all are to be unrolled there and can be; else None."""
    inside = [
        node for node in nodes(_without_lets(loop.body)) if not isinstance(node, Assign | Call | Declare | Evaluate)
    ]
    loops = [node for node in inside if isinstance(node, For)]
    # A loop that is unrolled itself is so in the one around it.
    if not loops or len(loops) < len(inside) or any(loop.place in each.unrolled for each in context.of(loop.body)):
        return None
    counters = {loop.iterator, *(each.iterator for each in loops)}
    shorter: dict[Shorter, None] = {}
    for inner in loops:
        facts = context.of(inner.body)
        if not facts or not all(inner.place in each.unrolled for each in facts):
            return None
        last = inner.last
        if last is None or any(mentions(bound, name) for bound in (inner.first, last) for name in counters):
            return None
        count, trips = context.most_trips(inner), inner.trips
        if trips is None and _has("min", last) and not _has("max", inner.first):
            rest = min(each.unrolled[inner.place] for each in facts)
            if not 0 < rest < count:
                return None
            shorter[Shorter(Linear(((1, last), (-1, inner.first))), count, rest)] = None
        elif trips != count:
            return None
    return tuple(shorter) if len(shorter) <= _MOST_SHORTER else None


def _has(operation: str, value: Expr) -> bool:
    return any(isinstance(each, Integral) and each.operation == operation for each in walk(value))


def _without_lets(body: Body) -> Body:
    """The body with the values of loops of one iteration in their places."""

    def replaced(node: Node) -> Body:
        return with_values_of(node.body, {node.iterator: node.value}) if isinstance(node, Let) else (node,)

    return rewritten(body, replaced)


@dataclass(frozen=True)
class Iteration:
    """One of the iterations of a loop that run side by side."""

    #: The end of the names of all that it has of its own.
    copy: str
    #: The value of the loop's counter.
    number: Expr


def iterations(first: Expr, count: int) -> list[Iteration]:
    """So many iterations, from that with the number ``first`` on."""
    start = as_sum(first)
    numbers = (replace(start, constant=start.constant + place) for place in range(count))
    return [
        Iteration(f"_{place}", number if number.terms else Integer(number.constant))
        for place, number in enumerate(numbers)
    ]


def copies(body: Body, iterator: str, unrolled: Sequence[Iteration]) -> Body:
    """The body once for each of the iterations of a loop."""
    return tuple(node for each in unrolled for node in _copy(body, iterator, each))


def _copy(body: Body, iterator: str, iteration: Iteration) -> Body:
    def marked(node: Node) -> Node:
        return replace(node, copy=iteration.copy + node.copy) if isinstance(node, Assign) else node

    return with_elements_of(mapped(with_values_of(body, {iterator: iteration.number}), marked), _flattened)


def _flattened(element: Element) -> Element:
    return replace(element, subscripts=tuple(map(flattened, element.subscripts)))


def run(ir: Body, context: Context) -> Body:
    """Where iterations may be missing, a test chooses between a body with all and one with those that are left."""

    def jammed(node: Node) -> Body:
        if not isinstance(node, For) or not context.may_fill_vectors(node):
            return (node,)
        found = unrolled_inside(node, context)
        return (node,) if found is None else _chosen(node, found, {}, context)

    return rewritten(ir, jammed)


def _chosen(loop: For, shorter: Sequence[Shorter], counts: Mapping[Linear, int], context: Context) -> Body:
    """The loop with all loops inside unrolled, for each way in which the ``shorter`` ones run."""
    if not shorter:
        return (replace(loop, body=_straight(_without_lets(loop.body), counts, context)),)
    first, *others = shorter
    whole, rest = (
        _chosen(loop, others, {**counts, first.distance: count}, context) for count in (first.count, first.rest)
    )
    return (If(Binary("==", first.distance, Integer(first.count - 1)), whole, rest),)


def _straight(body: Body, counts: Mapping[Linear, int], context: Context) -> Body:
    """The body without loops. ``counts`` are the iterations of those whose last counter is so far from the first."""
    made: list[Node] = []
    for node in body:
        if isinstance(node, For) and node.last is not None:
            count = counts.get(Linear(((1, node.last), (-1, node.first))), context.most_trips(node))
            inside = _straight(node.body, counts, context)
            made += copies(inside, node.iterator, iterations(node.first, count))
        else:
            made.append(node)
    return tuple(made)
