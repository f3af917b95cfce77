"""What a microkernel call copies of the next tile of A, and where to, in C.

``values`` are those of all loops around a call, the shared ones first.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from polydl.codegen.lowering import element
from polydl.codegen.print_c import text, whole
from polydl.codegen.values import AddressOf, Binary, Conditional, Expr, Integer, plus
from polydl.ir.scop import Scop
from polydl.plan.next_tile import NextTile


def tile_address(tile: NextTile, values: Sequence[Expr], later: int = 0) -> str:
    """Where a tile is in the buffer: the one in use, or the one ``later`` tiles on."""
    number = _tile_number(tile, values)
    number = f"({number} + {later})" if later else f"({number})"
    return f"&{tile.buffer}[{tile.depth} * ({number} % 2)][0]"


def copied_from(scop: Scop, tile: NextTile, values: Sequence[Expr]) -> str:
    """Where a call reads what it copies."""
    following: list[Expr] = []
    carry: Expr | None = None
    for value, (first, count) in reversed(list(zip(values, tile.shared, strict=False))):
        last = Integer(first + count - 1)
        moved = Conditional(Binary("<", value, last), plus(value, 1), Integer(first))
        following.append(moved if carry is None else Conditional(carry, moved, value))
        ended = Binary("==", value, last)
        carry = ended if carry is None else Binary("&&", carry, ended)
    following.reverse()
    assert tile.copy.box is not None
    starts = [Integer(low) for low, _ in tile.copy.box[len(tile.shared) :]]
    start = whole(AddressOf(element(scop, tile.copy.reads[0], [*following, *starts])))
    return f"{start} + ({_call_number(tile, values)}) * {tile.columns * tile.lda}l"


def copied_to(tile: NextTile, values: Sequence[Expr], rows: int) -> str:
    """Where a call writes what it copies; a column of a tile has ``rows`` elements."""
    return f"{tile_address(tile, values, 1)} + ({_call_number(tile, values)}) * {tile.columns * rows}l"


def columns_left(tile: NextTile, values: Sequence[Expr]) -> str:
    """How many columns a call copies: its share, or what is left; none for the last tile."""
    last = prod(count for _, count in tile.shared) - 1
    call = _call_number(tile, values)
    share = str(tile.columns)
    calls = prod(loop.trips for loop in tile.calls)
    if calls * tile.columns > tile.depth:
        full = tile.depth // tile.columns
        share = f"{call} < {full} ? {tile.columns} : {tile.depth} - ({call}) * {tile.columns}"
    return f"{_tile_number(tile, values)} == {last} ? 0 : {share}"


def _tile_number(tile: NextTile, values: Sequence[Expr]) -> str:
    """The number of the tile in use, from 0 on."""
    number = ""
    for value, (first, count) in zip(values, tile.shared, strict=False):
        here = f"({text(value)} - {first})" if first else text(value)
        number = f"({number}) * {count} + {here}" if number else here
    return number


def _call_number(tile: NextTile, values: Sequence[Expr]) -> str:
    """The number of a call among those with the same tile, from 0 on."""
    number = "0"
    loops = values[len(tile.shared) :]
    for loop in tile.calls:
        value = loops[loop.place]
        here = f"({whole(value)} - {loop.first})" if loop.first else text(value)
        if loop.nested:
            # An inner loop of tiles counts on through those of the outer one.
            here = f"{here} % {loop.trips}"
        number = here if number == "0" else f"({number}) * {loop.trips} + {here}"
    return number
