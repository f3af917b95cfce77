"""What copies of tiles wait for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from polydl.ir.scop import Scop
from polydl.machine import Core
from polydl.plan.nest_plan import Plan
from polydl.plan.next_tile import NextTile
from polydl.poly.nests import Nest


def waiting_cycles(scop: Scop, nest: Nest, core: Core) -> float:
    """Core cycles for which the copies of a tile wait for its rows, with nothing else to do; 0 for any other nest.

    Prefetchers start anew with each row of a tile where rows lie a page or more apart: copies of tiles reach a third of
    the speed at which a core reads the last-level cache straight on.
    """
    statement = scop.statement(nest.statements[0])
    if statement.origin != "copy" or nest.depth == 0:
        return 0.0
    read = statement.reads[0]
    rows = max((scop.stride(read, loop) for loop in range(nest.depth, statement.depth)), default=0)
    size = scop.array(read.array).element_bytes
    if rows * size < core.page_bytes:
        return 0.0
    return statement.instances * size / core.line_bytes * core.line_restart_cycles


def copied_inside(
    plan: Plan, tiles: Mapping[int, NextTile], cycles: Sequence[float], traffic: Sequence[tuple[int, ...]]
) -> tuple[list[float], tuple[tuple[int, ...], ...]]:
    """Cycles and traffic of each nest where calls copy tiles, by nest index, while they compute.

    A copying nest keeps what its first tile takes. The traffic of the others goes to the nest whose calls copy them;
    their cycles are hidden there.
    """
    left, moved = list(cycles), list(traffic)
    for product, tile in tiles.items():
        copy = plan.nest_of(tile.copy).nest.index
        count = prod(count for _, count in tile.shared)
        left[copy] /= count
        first = tuple(size // count for size in moved[copy])
        rest = [size - kept for size, kept in zip(moved[copy], first, strict=True)]
        moved[product] = tuple(own + more for own, more in zip(moved[product], rest, strict=True))
        moved[copy] = first
    return left, tuple(moved)
