"""The loops of a nest in the order in which they run, those inside of a microkernel included."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from polydl.contracts.microkernel import LONGEST_GROUP
from polydl.ir.affine import Box
from polydl.ir.scop import Scop
from polydl.machine import Core
from polydl.plan.nest_plan import NestPlan
from polydl.plan.transposing_copies import TransposingCopy, transposing_copy


class SteppedLoop(NamedTuple):
    """A loop as far as it matters here: over tiles of ``size`` iterations of a statement's iterator."""

    iterator: int
    size: int
    unrolled: bool = False


class NestLoop(NamedTuple):
    """A loop that runs more than once, and how often it does on average."""

    walked: SteppedLoop
    trips: float


class Extent(NamedTuple):
    """Iterations of an iterator inside some loops: on average, in a full tile, in the last one, and in all tiles."""

    average: float
    full: int
    last: int
    whole: int


def time_loops(scop: Scop, plan: NestPlan, block: tuple[int, int] | None, core: Core) -> tuple[SteppedLoop, ...]:
    """The loops of a nest as they run, outermost first; those of a microkernel with its tiles for registers.

    ``block`` are the rows and columns of these tiles, None if they are not known. Where A lies row by row, calls use
    all of a line that they have read. Copies that transpose do so in squares.
    """
    step = plan.microkernel
    if plan.nest.call is not None:
        # What a call uses several times it holds in registers, or near.
        return tuple([SteppedLoop(loop.iterator, loop.size) for loop in plan.loops])
    if step is None:
        loops = [SteppedLoop(loop.iterator, loop.size, loop.unrolled) for loop in (*plan.loops, *plan.inner)]
        squares = transposing_copy(scop, plan)
        return tuple(loops) if squares is None else _in_squares(loops, squares)
    roles = {loop.role: loop for loop in plan.inner}
    lengths = [tile.size if (tile := plan.tile_of(name)) else plan.extent(name) for name in (step.m, step.n)]
    if block is None:
        element = scop.array(scop.statement(plan.nest.statements[0]).writes[0].array).element_bytes
        block = core.usual_block(lengths[0], lengths[1], element)
    rows, columns = (min(each) for each in zip(block, lengths, strict=True))
    batch = tuple(loop for loop in plan.inner if loop.role == "batch")
    further = tuple(loop for loop in plan.inner if loop.role == "rows")
    m, n, k = roles["m"], roles["n"], roles["k"]
    outer = [SteppedLoop(loop.iterator, loop.size, loop.unrolled) for loop in (*plan.loops, *further)]
    line = _line_of_a(scop, plan, (m.iterator, n.iterator, k.iterator), core)
    order = (*batch, k, n, m) if line is None else (m, n, k)
    inner = [SteppedLoop(loop.iterator, loop.size, loop.unrolled) for loop in order]
    if line is not None:
        tile = plan.tile_of(step.k)
        around = [SteppedLoop(loop.iterator, loop.size, loop.unrolled) for loop in batch]
        inner = [*around, SteppedLoop(k.iterator, min(line, tile.size) if tile else line), *inner]
    return (*outer, SteppedLoop(n.iterator, columns), SteppedLoop(m.iterator, rows), *inner)


def _line_of_a(scop: Scop, plan: NestPlan, roles: tuple[int, int, int], core: Core) -> int | None:
    """The elements of a line of A, if all steps of k lie side by side in each of its rows.

    ``roles`` are the loops m, n and k. Groups of a few steps are no rows.
    """
    statement = scop.statement(plan.nest.statements[0])
    for access in statement.reads:
        m, n, k = (scop.stride(access, loop) for loop in roles)
        if n == 0 and k == 1 and m > LONGEST_GROUP:
            return max(1, core.line_bytes // scop.array(access.array).element_bytes)
    return None


def _in_squares(loops: Sequence[SteppedLoop], squares: TransposingCopy) -> tuple[SteppedLoop, ...]:
    """The loops of a copy that transposes, with a side of a square inside of the loop through columns."""
    inside: list[SteppedLoop] = []
    outside = list(loops)
    left = squares.side
    for loop, count in reversed(squares.rows):
        whole = SteppedLoop(loop.iterator, 1)
        place = outside.index(whole)
        if count > left:
            if left > 1:
                outside[place] = SteppedLoop(loop.iterator, left)
                inside.insert(0, whole)
            break
        inside.insert(0, outside.pop(place))
        left //= count
    return (*outside, *inside)


def repeated_loops(
    shared: int, bounds: Box, loops: Sequence[SteppedLoop]
) -> tuple[tuple[NestLoop, ...], tuple[tuple[Extent, ...], ...]]:
    """The loops that run more than once, and extents inside the first 0, 1, 2, ... of them."""
    inside = [Extent(float(n), n, n, n) for n in [high - low + 1 for low, high in bounds]]
    tiles = [1] * len(inside)
    extents, repeated = [tuple(inside)], []
    for loop in loops:
        place = loop.iterator - shared
        whole = inside[place].whole
        count = -(-whole // loop.size)
        if count == tiles[place]:
            continue
        repeated.append(NestLoop(loop, count / tiles[place]))
        tiles[place] = count
        inside[place] = Extent(whole / count, min(loop.size, whole), whole - (count - 1) * loop.size, whole)
        extents.append(tuple(inside))
    return tuple(repeated), tuple(extents)
