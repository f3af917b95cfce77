"""Where every loop of a nest goes: what analysis and code generation start from.

Loops of a nest, once tiled, are named after the loop they come from: ``i_t2`` and ``i_t1`` run over the tiles, ``i``
inside the innermost tile.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from polydl.ir.schedule import Loop, Schedule
from polydl.ir.scop import Scop
from polydl.ir.variant import (
    UseMicrokernel,
    Variant,
)
from polydl.poly.boxes import loop_ranges
from polydl.poly.nests import Nest


@dataclass(frozen=True)
class NestPlan:
    """Where every loop of one nest goes.

    Element-wise nests may be attached to a nest: they share its outermost loops, with which they run.
    """

    nest: Nest
    #: Own loops that are generated, outermost first.
    loops: tuple[Loop, ...]
    #: Loops that the microkernel runs; empty without one.
    inner: tuple[Loop, ...]
    #: Inclusive range of each own loop, in the order of ``nest.loops``.
    bounds: tuple[tuple[int, int], ...]
    #: The step that names the microkernel; None for plain loops.
    microkernel: UseMicrokernel | None
    #: How many of ``loops``, from the outermost, the nests that are attached to this one share; 0 without any.
    shared_depth: int = 0
    #: Place of what is inside the first ``shared_depth`` loops among the attached nests, which run there in the order
    #: of their places; None where nothing is attached.
    position: int | None = None
    #: Index of the nest that this one is attached to, whose shared loops are in its prefix; None if it is not attached.
    follows: int | None = None
    #: How many outermost loops the attached nests were inside of before they were attached.
    unattached_depth: int = 0
    #: Arrays that are written past the caches (streaming stores).
    streamed: tuple[str, ...] = ()
    #: Bytes of the vectors that its loops use; 0 for the largest that the machine has.
    vector_bytes: int = 0

    @property
    def around(self) -> tuple[int | Loop, ...]:
        """Time dimensions that are generated, outermost first: the shared ones, its own, its position beside others."""
        if self.position is None:
            return (*self.nest.prefix, *self.loops)
        return (*self.nest.prefix, *self.loops[: self.shared_depth], self.position, *self.loops[self.shared_depth :])

    @property
    def shared(self) -> tuple[Loop, ...]:
        """The loops around it that nests share."""
        return tuple(each for each in self.nest.prefix if isinstance(each, Loop))

    @property
    def places(self) -> tuple[int, ...]:
        """Where in ``around`` each of the own loops is."""
        first = len(self.nest.prefix)
        beside = self.position is not None
        return tuple(first + number + (beside and number >= self.shared_depth) for number in range(len(self.loops)))

    def tile_of(self, loop: str) -> Loop | None:
        """The innermost tile loop over ``loop``, or None if it isn't tiled."""
        return self._by_name.get(f"{loop}_t1")

    def extent(self, loop: str) -> int:
        """Iterations of a loop of the source, by its name, before it is tiled. Raises KeyError."""
        return self._extents[loop]

    @cached_property
    def _by_name(self) -> dict[str, Loop]:
        return {each.name: each for each in self.loops}

    @cached_property
    def _extents(self) -> dict[str, int]:
        return {name: high - low + 1 for name, (low, high) in zip(self.nest.loops, self.bounds, strict=True)}

    def order(self) -> tuple[int, ...]:
        """Each time dimension by the position, in ``nest.loops``, of the loop that it belongs to."""
        return tuple(loop.iterator - self.nest.depth for loop in (*self.loops, *self.inner))


@dataclass(frozen=True)
class Plan:
    """Where all loops of a variant go, nest by nest."""

    variant: Variant
    #: In the order of the scop's nests.
    nests: tuple[NestPlan, ...]
    schedule: Schedule

    def nest_of(self, statement: str) -> NestPlan:
        """The plan of the nest that a statement is in. Raises KeyError for a statement of none."""
        for plan in self.nests:
            if statement in plan.nest.statements:
                return plan
        raise KeyError(statement)


def loop_bounds(scop: Scop, nest: Nest) -> tuple[tuple[int, int], ...]:
    """Inclusive range of each own loop over all statements of the nest."""
    boxes = [loop_ranges(scop.statement(name)) for name in nest.statements]
    own = [box[nest.depth : nest.depth + len(nest.loops)] for box in boxes]
    return tuple((min(low for low, _ in ranges), max(high for _, high in ranges)) for ranges in zip(*own, strict=True))


def ends(plan: NestPlan, loop: str) -> tuple[int, int]:
    """Iterations of a full and of the last tile of a microkernel's loop."""
    extent, tile = plan.extent(loop), plan.tile_of(loop)
    if tile is None or tile.size >= extent:
        return extent, extent
    return tile.size, extent % tile.size or tile.size


def last_trips(plan: NestPlan, loop: Loop) -> int:
    """Iterations of a loop in the last of the tiles around it, or of all if there are none."""
    place = loop.iterator - plan.nest.depth
    low, high = plan.bounds[place]
    extent = high - low + 1
    around = (*plan.shared, *plan.loops)
    tiles = [each.size for each in around if each.iterator == loop.iterator and each.size > loop.size]
    if tiles:
        extent = extent % min(tiles) or min(extent, *tiles)
    return -(-extent // loop.size)


def offsets(plan: NestPlan, strides: Sequence[int], loops: Sequence[str]) -> tuple[int, ...]:
    """Where each iteration of a microkernel's loops, in full tiles, is from the first, in elements."""
    found = [0]
    for loop in loops:
        stride = strides[plan.nest.depth + plan.nest.loops.index(loop)]
        found = [base + step * stride for base in found for step in range(ends(plan, loop)[0])]
    return tuple(found)


def trips(plan: NestPlan) -> tuple[int, ...]:
    """Iterations of each time loop, for one execution of it; of a shorter last tile's loops, as of a full one's."""
    ranges = [high - low + 1 for low, high in plan.bounds]
    for shared in plan.nest.prefix:
        # What is attached to another nest runs in tiles of that.
        if isinstance(shared, Loop) and shared.iterator >= plan.nest.depth:
            place = shared.iterator - plan.nest.depth
            ranges[place] = min(ranges[place], shared.size) if shared.size > 1 else ranges[place]
    counts = []
    for loop in (*plan.loops, *plan.inner):
        place = loop.iterator - plan.nest.depth
        counts.append(-(-ranges[place] // loop.size))
        ranges[place] = min(ranges[place], loop.size)
    return tuple(counts)
