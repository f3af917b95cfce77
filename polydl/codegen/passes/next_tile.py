"""The next tile of A: each call is told which part of it to copy, and where to, and finds its own in the buffer.

``polydl.plan.next_tile`` decides which tiles are copied; the microkernel has the instructions.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from polydl.codegen.context import Context
from polydl.codegen.loop_ir import Body, Call, Node, mapped
from polydl.codegen.lowering import affine_element
from polydl.codegen.values import (
    AddressOf,
    Binary,
    Conditional,
    Constant,
    Element,
    Expr,
    Integer,
    flattened,
    linear,
    plus,
)
from polydl.plan.next_tile import NextTile


def run(ir: Body, context: Context) -> Body:
    """Calls whose statements have a next tile in the context read A in a buffer, and get the arguments of a copy.

    Bodies without such calls stay as they are.
    """
    copied = {name: each.next_tile for name, each in context.calls.items() if each.next_tile is not None}

    def changed(node: Node) -> Node:
        if not isinstance(node, Call) or node.statement not in copied:
            return node
        return _copying(node, copied[node.statement])

    return mapped(ir, changed) if copied else ir


def _copying(call: Call, tile: NextTile) -> Call:
    number, share = _tile_number(tile, call.counters), _call_number(tile, call.counters)
    return call.with_arguments(
        a=_in_buffer(tile, number),
        copy_from=_behind(_source(tile, call.counters), share, tile.columns * tile.lda),
        copy_to=_behind(_in_buffer(tile, flattened(plus(number, 1))), share, tile.columns * tile.rows),
        copy_columns=_columns(tile, number, share),
    )


def _in_buffer(tile: NextTile, number: Expr) -> Expr:
    """Where the tile of that number begins in the buffer, which holds two."""
    half = Binary("%", number, Integer(2))
    return AddressOf(Element(tile.buffer, (linear([(tile.depth, half)]), Integer(0))))


def _behind(start: Expr, share: Expr, elements: int) -> Expr:
    """Where the share of that number begins; each has so many elements."""
    if share == Integer(0):
        return start
    # As a ``long``: an ``int`` may be too short for all of a large array.
    return linear([(1, start), (1, Binary("*", share, Constant(f"{elements}l")))])


def _source(tile: NextTile, counters: Sequence[Expr]) -> Expr:
    """Where the next tile begins in what is copied: a loop at its end starts anew, and the one around it moves on."""
    following: list[Expr] = []
    carry: Expr | None = None
    for value, (first, count) in reversed(list(zip(counters, tile.shared, strict=False))):
        last = Integer(first + count - 1)
        moved = Conditional(Binary("<", value, last), plus(value, 1), Integer(first))
        following.append(moved if carry is None else Conditional(carry, moved, value))
        ended = Binary("==", value, last)
        carry = ended if carry is None else Binary("&&", carry, ended)
    following.reverse()
    return AddressOf(affine_element(tile.source, [*following, *map(Integer, tile.starts)]))


def _columns(tile: NextTile, number: Expr, share: Expr) -> Expr:
    """How many columns a call copies: its share, or what is left; none for the last tile."""
    columns: Expr = Integer(tile.columns)
    if prod(loop.trips for loop in tile.calls) * tile.columns > tile.depth:
        left = linear([(-tile.columns, share)], tile.depth)
        columns = Conditional(Binary("<", share, Integer(tile.depth // tile.columns)), columns, left)
    last = prod(count for _, count in tile.shared) - 1
    return Conditional(Binary("==", number, Integer(last)), Integer(0), columns)


def _tile_number(tile: NextTile, counters: Sequence[Expr]) -> Expr:
    """The number of the tile in use, from 0 on."""
    number: Expr = Integer(0)
    for value, (first, count) in zip(counters, tile.shared, strict=False):
        number = linear([(count, number), (1, plus(value, -first))])
    return flattened(number)


def _call_number(tile: NextTile, counters: Sequence[Expr]) -> Expr:
    """The number of a call among those with the same tile, from 0 on."""
    number: Expr = Integer(0)
    for loop in tile.calls:
        here = plus(counters[loop.place], -loop.first)
        if loop.nested:
            # An inner loop of tiles counts on through those of the outer one.
            here = Binary("%", here, Integer(loop.trips))
        number = linear([(loop.trips, number), (1, here)])
    return flattened(number)
