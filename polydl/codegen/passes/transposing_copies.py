"""Copies that transpose: squares in vectors, in place of loops that read or write one element of each line.

Compilers take such loops as they stand: vectors along the target are gathered element by element, each from a line of
its own, which is out of the first cache before its next element is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

from polydl.codegen.callees import FunctionCallee
from polydl.codegen.context import Context
from polydl.codegen.loop_ir import Assign, Body, Call, For, Node, mapped, only_loop
from polydl.codegen.support import TRANSPOSE
from polydl.codegen.values import (
    AddressOf,
    Binary,
    Element,
    Expr,
    Integer,
    Integral,
    Name,
    as_sum,
    collected,
    flattened,
    linear,
    mentions,
    substituted,
)
from polydl.plan.transposing_copies import SQUARE_BYTES


def run(ir: Body, context: Context) -> Body:
    """The loops of a copy that transposes become a call for all of its squares; on threads, for each row of squares."""
    return mapped(ir, lambda node: _in_squares(node, context) if isinstance(node, For) else node)


def _in_squares(outer: For, context: Context) -> Node:
    loops = [outer]
    while (inside := only_loop(loops[-1].body)) is not None:
        loops.append(inside)
    match loops[-1].body:
        case (Assign(Element() as target, "=", Element() as source, statement),) if statement:
            if context.facts[statement].transposed != tuple(loop.place for loop in loops):
                return outer
        case _:
            return outer
    *rows, columns = loops
    counts = [count for loop in loops if (count := _count(loop, loops)) is not None]
    to_row, from_row = _step(target, rows[-1].iterator, context), _step(source, columns.iterator, context)
    if len(counts) < len(loops) or to_row is None or from_row is None:
        return outer

    def call(first: Sequence[For], count: Expr) -> Call:
        begin = {loop.iterator: loop.first for loop in first}
        arguments: dict[str, Expr] = {
            "to": AddressOf(substituted(target, begin)),
            "to_row": Integer(to_row),
            "from": AddressOf(substituted(source, begin)),
            "from_row": Integer(from_row),
            "rows": count,
            "columns": counts[-1],
        }
        return Call(FunctionCallee(TRANSPOSE), statement, tuple(arguments.items()))

    if not outer.parallel:
        return call(loops, reduce(_times, counts[:-1]))
    side = Integer(SQUARE_BYTES // context.arrays[target.array].element_bytes)
    assert outer.last is not None
    left = linear([(1, outer.last), (-1, Name(outer.iterator))], 1)
    whole = outer.trips is not None and outer.trips % side.number == 0
    return replace(outer, step=side, body=(call([columns], side if whole else Integral("min", side, left)),))


def _count(loop: For, loops: Sequence[For]) -> Expr | None:
    """The iterations of a loop that do not depend on the others; None for other loops."""
    if loop.last is None or any(mentions(bound, each.iterator) for each in loops for bound in (loop.first, loop.last)):
        return None
    return flattened(linear([(1, loop.last), (-1, loop.first)], 1)) if loop.trips is None else Integer(loop.trips)


def _times(one: Expr, other: Expr) -> Expr:
    match one, other:
        case Integer(first), Integer(second):
            return Integer(first * second)
    return Binary("*", one, other)


def _step(element: Element, loop: str, context: Context) -> int | None:
    """How many elements further a loop goes along an array in each iteration; None if that is not always the same."""
    step, strides = 0, context.arrays[element.array].strides
    for subscript, stride in zip(element.subscripts, strides, strict=True):
        for coefficient, term in collected(as_sum(flattened(subscript)).terms):
            if term == Name(loop):
                step += coefficient * stride
            elif mentions(term, loop):
                return None
    return step
