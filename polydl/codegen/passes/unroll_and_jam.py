"""Unroll-and-jam: iterations of the loop inside a vector loop run in each iteration of that, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from polydl.codegen.context import Context
from polydl.codegen.loop_ir import (
    Assign,
    Body,
    For,
    If,
    Node,
    has_loop,
    is_straight,
    mapped,
    only_loop,
    rewritten,
    with_values_of,
)
from polydl.codegen.values import Binary, Expr, Integer, Integral, Linear, as_sum, mentions, walk


@dataclass(frozen=True)
class Unrolled:
    """A loop of which ``count`` iterations, or fewer if it isn't ``whole``, run in one of the loop around it."""

    loop: For
    last: Expr
    count: int
    whole: bool


def unrolled_inside(loop: For, context: Context) -> Unrolled | None:
    """The loop that is all of a loop's body, if it is to be unrolled there and can be."""
    inner = only_loop(loop.body)
    if inner is None or has_loop(inner.body) or not is_straight(inner.body):
        return None
    facts = context.of(inner.body)
    if not all(inner.place in each.unrolled for each in facts):
        return None
    last = inner.last
    if last is None or mentions(inner.first, loop.iterator) or mentions(last, loop.iterator):
        return None
    whole = not any(isinstance(each, Integral) and each.operation == "min" for each in walk(last))
    swaps = all(each.unrolled[inner.place] for each in facts)
    return Unrolled(inner, last, context.most_trips(inner), whole) if whole or swaps else None


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
        return replace(node, copy=iteration.copy) if isinstance(node, Assign) else node

    return mapped(with_values_of(body, {iterator: iteration.number}), marked)


def run(ir: Body, context: Context) -> Body:
    """Where iterations may be missing, a test chooses between all of them at once and the two loops swapped."""

    def jammed(node: Node) -> Body:
        if not isinstance(node, For) or not context.may_fill_vectors(node):
            return (node,)
        found = unrolled_inside(node, context)
        if found is None:
            return (node,)
        inner = found.loop
        together = replace(node, body=copies(inner.body, inner.iterator, iterations(inner.first, found.count)))
        if found.whole:
            return (together,)
        distance = Linear(((1, found.last), (-1, inner.first)))
        one_by_one = replace(inner, body=(replace(node, body=inner.body),))
        return (If(Binary("==", distance, Integer(found.count - 1)), (together,), (one_by_one,)),)

    return rewritten(ir, jammed)
