"""What is known of one loop nest before anything is decided: its loops, the shapes of calls, what their order may be.

A *time loop* is a loop of the generated code. Of a loop of the nest there are at most two: one over *fine* steps
(tiles that a microkernel takes, or single iterations) and, if it gets a further tile, a *coarse* one around that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from polydl.ir.scop import Scop
from polydl.ir.statement import Statement
from polydl.machine import Machine
from polydl.plan.nest_plan import loop_bounds
from polydl.plan.transposing_copies import order_in_squares
from polydl.poly.domains import sums_run_alike
from polydl.poly.legality import Directions, order_is_legal, parallel_is_legal
from polydl.poly.nests import Nest
from polydl.poly.reductions import moves, reduction_array, summed_up
from polydl.variants.layout_order import contiguous, layout_order
from polydl.variants.shapes import Shape

# Tiles for caches of any size: with the next one, what a tile touches is two or four times as much. Loops of fewer
# iterations save little.
CACHE_TILES = (8, 16, 32, 64, 128, 256, 512)
# Tiles of a loop that a microkernel takes in steps, in steps.
CACHE_TILE_STEPS = (2, 4, 8, 16)


# Named tuples among the values of decisions are hashed for each draw, and faster than dataclasses at that.
class TimeLoop(NamedTuple):
    """One of the at most two generated loops over a loop of the nest."""

    loop: str
    coarse: bool = False

    def __str__(self) -> str:
        return f"tiles of {self.loop}" if self.coarse else self.loop


@dataclass(frozen=True)
class NestFacts:
    """One nest, and what may become of it."""

    scop: Scop
    nest: Nest
    directions: Directions
    #: Of calls to microkernels, the fastest first; the only one is ``Shape(None)`` where loops stay plain.
    shapes: tuple[Shape, ...]
    machine: Machine
    #: How many a variant may use; with 1, nothing runs in parallel.
    threads: int
    #: Whether it has so little to do beside the other nests that it keeps the source's order.
    minor: bool = False
    #: Whether nothing is to decide: it goes where the loops of another nest put it.
    attached: bool = False
    #: Whether another nest is attached to it. Loops around that have the same first and last iteration every time.
    leading: bool = False
    #: Arrays that it may write past the caches.
    streamable: tuple[str, ...] = ()
    #: Sizes of further tiles that a person asks for, beside those that are tried anyway, each with its loop.
    asked_tiles: tuple[tuple[str, int], ...] = ()

    @cached_property
    def bounds(self) -> tuple[tuple[int, int], ...]:
        """The least and the greatest value of each loop of the nest, over all statements."""
        return loop_bounds(self.scop, self.nest)

    @cached_property
    def extents(self) -> Mapping[str, int]:
        """Iterations of each loop, over all statements."""
        return {name: high - low + 1 for name, (low, high) in zip(self.nest.loops, self.bounds, strict=True)}

    @cached_property
    def statements(self) -> tuple[Statement, ...]:
        return tuple(self.scop.statement(name) for name in self.nest.statements)

    @cached_property
    def plain(self) -> bool:
        """Whether the loops are plain ones to the innermost: neither a microkernel nor a call of the source's own."""
        return self.shapes[0].plain and self.nest.call is None

    @cached_property
    def called(self) -> bool:
        """Whether a microkernel takes its innermost loops in some shape."""
        return any(shape.match is not None for shape in self.shapes)

    @cached_property
    def call_loops(self) -> tuple[str, ...]:
        """Loops that stand for a call of the source's own."""
        return self.nest.call_loops

    def name(self, iterator: int) -> str:
        """The loop of the nest that is this iterator of its statements."""
        return self.nest.loops[iterator - self.nest.depth]

    def roles(self, shape: Shape) -> dict[str, int]:
        """Loops that the microkernel runs, or that are in a register block, with the size of their innermost tile."""
        if shape.block is not None:
            block = shape.block
            sizes = {self.name(loop): self.extents[self.name(loop)] for loop in block.terms}
            sizes |= {self.name(loop): size for loop, size in block.outputs}
            return {self.name(block.vector): block.span, **sizes}
        if shape.match is None:
            return {name: self.extents[name] for name in self.call_loops}
        names = [self.name(loop) for loop in (shape.match.m, shape.match.n, shape.match.k)]
        roles = dict(zip(names, (shape.m, shape.n, shape.k), strict=True))
        roles |= {self.name(loop): size for loop, size in shape.rows}
        return roles | {self.name(loop): self.extents[self.name(loop)] for loop in shape.batch}

    def tile_sizes(self, shape: Shape) -> dict[str, tuple[int, ...]]:
        """The sizes to try of each loop that may get a further tile."""
        if shape.match is None and self.straight is not None:
            return {}
        roles = self.roles(shape)
        batch = {self.name(loop) for loop in shape.batch}
        sizes: dict[str, tuple[int, ...]] = {}
        for name, extent in self.extents.items():
            if name in self.call_loops or name in batch:
                continue
            inner = roles.get(name, 1)
            tried = {inner * steps for steps in CACHE_TILE_STEPS} if inner > 1 else {*CACHE_TILES}
            if inner == 1 and extent < 2 * CACHE_TILES[0]:
                tried = set()
            tried |= {size for loop, size in self.asked_tiles if loop == name and size > inner and not size % inner}
            fitting = tuple(sorted([size for size in tried if size < extent]))
            if fitting:
                sizes[name] = fitting
        return sizes

    # ----------------------------------------------------------------------------------
    # Time loops

    def loop_trips(self, shape: Shape, tiles: Mapping[str, int]) -> dict[str, int]:
        """Generated loops with their number of iterations (of one execution), coarse ones first."""
        roles = self.roles(shape)
        coarse: dict[str, int] = {}
        fine: dict[str, int] = {}
        for name, extent in self.extents.items():
            inner = roles.get(name)
            size = tiles.get(name)
            if inner is not None:
                if inner < extent:
                    span = size or extent
                    fine[f"{name}_t1"] = -(-span // inner)
                    if size:
                        coarse[f"{name}_t2"] = -(-extent // size)
            elif size:
                coarse[f"{name}_t1"] = -(-extent // size)
                fine[name] = size
            else:
                fine[name] = extent
        return {**coarse, **fine}

    def names_of(self, shape: Shape) -> dict[str, TimeLoop]:
        """What generated loops with this shape are called, with any tiles."""
        roles = self.roles(shape)
        levels = {name: 1 if name in roles else 0 for name in self.nest.loops}
        fine = {f"{name}_t1" if level else name: TimeLoop(name) for name, level in levels.items()}
        return fine | {f"{name}_t{level + 1}": TimeLoop(name, True) for name, level in levels.items()}

    def time_order(self, shape: Shape, order: Sequence[str]) -> list[int]:
        """Each time dimension by the position of its loop in the nest, the microkernel's loops last."""
        inner: list[int] = []
        if shape.block is not None:
            inner = list(shape.block.loops)
        elif shape.match is not None:
            inner = [*shape.batch, *(loop for loop, _ in shape.rows), shape.match.n, shape.match.k, shape.match.m]
        called = [self._positions[name] for name in self.call_loops]
        return [self._positions[name] for name in order] + [loop - self.nest.depth for loop in inner] + called

    @cached_property
    def _positions(self) -> dict[str, int]:
        numbered = enumerate(self.nest.loops)
        return {name: number for number, loop in numbered for name in (loop, f"{loop}_t1", f"{loop}_t2")}

    # ----------------------------------------------------------------------------------
    # Orders

    def legal_order(self, shape: Shape, order: Sequence[str]) -> bool:
        """Whether an order of the generated loops keeps all dependences, and lets other nests be attached."""
        return order_is_legal(self.directions, self.time_order(shape, order)) and self.leads(order)

    def leads(self, order: Sequence[str]) -> bool:
        """Whether what is attached knows the first and the last iteration of each sum around it."""
        if not self.leading:
            return True
        statement = self.statements[0]
        loops = [self.nest.depth + place for place in self.time_order(Shape(None), order)]
        while loops and not moves(statement.writes[0], loops[-1]):
            loops.pop()
        return sums_run_alike(statement, loops)

    @cached_property
    def straight(self) -> tuple[str, ...] | None:
        """The one order of the loops that run more than once that plain loops need; None if there are more."""
        if not self.plain or not self.nest.loops:
            return None
        order = order_in_squares(self.scop, self.nest) or layout_order(
            self.scop,
            self.nest.statements,
            self.nest.loops,
            self.nest.depth,
            self.extents,
            self.machine.caches[0].bytes,
        )
        if not order:
            return None
        once = [name for name in self.nest.loops if self.extents[name] == 1]
        time = [self.nest.loops.index(name) for name in (*once, *order)]
        return order if order_is_legal(self.directions, time) else None

    @cached_property
    def innermost(self) -> frozenset[str]:
        """Loops one of which plain loops have innermost: contiguous ones, or where all these wait, others too.

        Only those that may be: others would leave the nest without any order.
        """
        able = {name for name, extent in self.extents.items() if extent > 1 and self._may_be_innermost(name)}
        best = contiguous(self.scop, self.nest.statements, self.nest.loops, self.nest.depth, able)
        waiting = {name for name in able if self._waits(name)}
        return best | (able - waiting) if best <= waiting else best

    def _may_be_innermost(self, loop: str) -> bool:
        """Whether some order with the loop inside of all others keeps all dependences."""
        around = {self._positions[name] for name in self.nest.loops if name != loop}
        left = set(self.directions.ordering)
        # Loops that run against nothing can only help those inside of them.
        while outer := {place for place in around if all(signs[place] >= 0 for signs in left)}:
            around -= outer
            left = {signs for signs in left if not any(signs[place] for place in outer)}
        return not around and all(signs[self._positions[loop]] >= 0 for signs in left)

    def _waits(self, loop: str) -> bool:
        """Whether an iteration of the loop, innermost, needs what the one before has computed."""
        order = [self._positions[name] for name in (*(other for other in self.nest.loops if other != loop), loop)]
        number = self._positions[loop] + self.nest.depth
        sums = summed_up(self.scop, self.statements, dict.fromkeys(self.nest.statements, number))
        return not parallel_is_legal(self.directions, order, len(order) - 1, sums)

    # ----------------------------------------------------------------------------------
    # What the statements do

    @cached_property
    def even(self) -> bool:
        """Whether all iterations of a loop have the same to do."""
        return all(statement.box is not None for statement in self.statements)

    @cached_property
    def adds(self) -> bool:
        """Whether the nest sums something up."""
        loops = [self.nest.depth + place for place, name in enumerate(self.nest.loops) if self.extents[name] > 1]
        sums = [each for each in self.statements if reduction_array(self.scop, each) is not None]
        return any(not moves(each.writes[0], loop) for each in sums for loop in loops)

    @cached_property
    def updates(self) -> bool:
        """Whether each statement changes elements of its own."""
        return not self.adds and all(
            any(read.array == write.array and read.subscripts == write.subscripts for read in statement.reads)
            for statement in self.statements
            for write in statement.writes
        )


def fixed_and_free(trips: Mapping[str, int]) -> tuple[list[str], list[str]]:
    """Generated loops with one iteration, which stay outermost in the source's order, and those with more."""
    return [name for name in trips if trips[name] == 1], [name for name in trips if trips[name] > 1]
