"""The choices for one loop nest: decisions with finite domains, and the rules that bound them.

A decision is which microkernel roles the loops play, how long the microkernel's loops are, which loops are
tiled once more for a cache, the order of the loops, and which of them runs in parallel. A full assignment
makes the steps of one nest. Nothing here knows convolutions from matrix products.

Rules that keep the space small, each by an argument that holds for any nest, beside those of ``shapes``:

* a loop with one iteration stays outermost, in the source's order: its place changes nothing;
* at most ``CACHE_TILED_LOOPS`` loops get a further tile for caches;
* without a microkernel, the innermost loop is one along which the most accesses are contiguous or constant;
* a nest that walks through all of its arrays once, and in the same way, does so in the order of their layout;
* a nest with less than ``MINOR_SHARE`` of all accesses keeps the source's order around its best shape;
* the parallel loop has at least as many iterations as there are threads, if any legal loop has, and at most
  ``FORKS`` iterations of sequential loops around it;
* the next loop inside is collapsed with it only where threads would else idle for more than ``IDLE`` says;
* iterations are dealt out dynamically only where they differ in what they do;
* without a microkernel, a sum may have several iterations (``TOGETHER``) of the loop next to the innermost one run in
  one of that, so that several sums share what they load and hide each other's latency;
* arrays of nests that don't fit into the second cache may be written past the caches, where that is possible;
* where an array is updated in place, vectors may be half as long as the longest: some caches write these back faster.
"""

from __future__ import annotations

import random
from bisect import bisect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, combinations, permutations, product
from math import prod

from polydl.ir.scop import Scop
from polydl.ir.variant import Interchange, NestStep, Parallel, Stream, Tile, Unroll, UseMicrokernel, Vectors
from polydl.plan.nest_plan import loop_bounds
from polydl.plan.streaming import stride
from polydl.poly.dependences import combinable, moves, reduction_array
from polydl.poly.domains import sums_run_alike
from polydl.poly.legality import Directions, order_is_legal, parallel_is_legal, sums_are_legal
from polydl.poly.nests import Nest
from polydl.variants.layout_order import contiguous, layout_order
from polydl.variants.shapes import Shape

CACHE_TILED_LOOPS = 2
CACHE_TILES = (8, 16, 32, 64, 128, 256, 512)
FORKS = 64
IDLE = 1.05
MINOR_SHARE = 0.01
SHAPE_BIAS = 1.5
TOGETHER = (4, 8)
# Iterations of a vector loop below which sums have registers of their own anyway.
SHORT = 64
LINE_BYTES = 64


@dataclass(frozen=True)
class Threads:
    """The loop whose iterations run on different threads, as the step ``Parallel`` has it."""

    loop: str
    inner: str = ""
    dynamic: bool = False


@dataclass(frozen=True)
class Choice:
    """A full assignment of one nest's decisions. ``tiles`` and ``order`` use the loops' names.

    ``together`` is the innermost loop, if all of its iterations are to run in one of the loop outside, and the size of
    the tile that it runs over; ``streamed`` are the arrays that are written past the caches. Vectors have
    ``vector_bytes``, 0 for the longest.
    """

    shape: Shape
    tiles: tuple[tuple[str, int], ...]
    order: tuple[str, ...]
    parallel: Threads | None
    together: tuple[str, int] | None = None
    streamed: tuple[str, ...] = ()
    vector_bytes: int = 0


@dataclass(frozen=True)
class NestSpace:
    """The decisions of one nest. ``threads`` 1 means that nothing runs in parallel.

    A ``minor`` nest has so little to do beside the others that it keeps the source's order. For an ``attached`` one
    there is nothing to decide: it goes where the loops of another nest, which is ``leading`` then, put it; that takes
    loops around it whose first and last iterations are the same every time. ``streamable`` are the arrays that it may
    write past the caches, ``vector_bytes`` those of the longest vectors.
    """

    scop: Scop
    nest: Nest
    directions: Directions
    shapes: tuple[Shape, ...]
    threads: int
    minor: bool = False
    attached: bool = False
    leading: bool = False
    streamable: tuple[str, ...] = ()
    vector_bytes: int = 0

    @cached_property
    def bounds(self) -> tuple[tuple[int, int], ...]:
        return loop_bounds(self.scop, self.nest)

    @cached_property
    def extents(self) -> Mapping[str, int]:
        return {name: high - low + 1 for name, (low, high) in zip(self.nest.loops, self.bounds, strict=True)}

    def _roles(self, shape: Shape) -> dict[str, int]:
        """Loops that the microkernel runs, with the size of their innermost tile."""
        if shape.match is None:
            return {name: self.extents[name] for name in self.nest.call_loops}
        names = [self._name(loop) for loop in (shape.match.m, shape.match.n, shape.match.k)]
        roles = dict(zip(names, (shape.m, shape.n, shape.k), strict=True))
        roles |= {self._name(loop): size for loop, size in shape.rows}
        return roles | {self._name(loop): self.extents[self._name(loop)] for loop in shape.batch}

    def _name(self, iterator: int) -> str:
        return self.nest.loops[iterator - self.nest.depth]

    def loop_trips(self, shape: Shape, tiles: Mapping[str, int]) -> dict[str, int]:
        """Generated loops with their number of iterations (of one execution), before ordering."""
        roles = self._roles(shape)
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

    def tile_choices(self, shape: Shape) -> tuple[tuple[tuple[str, int], ...], ...]:
        """Which loops get a further tile, and how large."""
        if shape.match is None and self._straight is not None:
            return ((),)
        roles = self._roles(shape)
        options: list[list[tuple[str, int]]] = []
        for name, extent in self.extents.items():
            inner = roles.get(name, 1)
            if name in self.nest.call_loops or any(self._name(loop) == name for loop in shape.batch):
                continue
            sizes = [inner * factor for factor in (2, 4, 8, 16)] if inner > 1 else list(CACHE_TILES)
            fitting = [(name, size) for size in sizes if size < extent]
            if fitting and (inner > 1 or extent >= 2 * CACHE_TILES[0]):
                options.append(fitting)
        found: list[tuple[tuple[str, int], ...]] = [()]
        for count in range(1, CACHE_TILED_LOOPS + 1):
            for chosen in combinations(options, count):
                found += list(product(*chosen))
        return tuple(found)

    @cached_property
    def _tiles_of_shapes(self) -> tuple[tuple[tuple[tuple[str, int], ...], ...], ...]:
        return tuple(self.tile_choices(shape) for shape in self.shapes)

    @staticmethod
    def _fixed_and_free(trips: Mapping[str, int]) -> tuple[list[str], list[str]]:
        return [name for name in trips if trips[name] == 1], [name for name in trips if trips[name] > 1]

    def _nested_rightly(self, order: Sequence[str]) -> bool:
        place = {name: position for position, name in enumerate(order)}
        for loop in self.nest.loops:
            levels = [place[name] for name in (f"{loop}_t2", f"{loop}_t1", loop) if name in place]
            if levels != sorted(levels):
                return False
        return True

    def _innermost_allowed(self, shape: Shape, order: Sequence[str]) -> bool:
        if shape.match is not None or self.nest.call is not None or not order:
            return True
        if self._straight is not None:
            return tuple(order) == self._straight
        return order[-1] in self._contiguous

    @cached_property
    def _straight(self) -> tuple[str, ...] | None:
        """The one order of the loops that run more than once that plain loops need; None if there are more."""
        if self.nest.call is not None or not self.nest.loops:
            return None
        found = layout_order(self.scop, self.nest.statements, self.nest.loops, self.nest.depth, self.extents)
        if not found:
            return None
        once = [name for name in self.nest.loops if self.extents[name] == 1]
        time = [self.nest.loops.index(name) for name in (*once, *found)]
        return found if order_is_legal(self.directions, time) else None

    @cached_property
    def _contiguous(self) -> frozenset[str]:
        return contiguous(self.scop, self.nest.statements, self.nest.loops, self.nest.depth, self.extents)

    def orders(self, shape: Shape, tiles: tuple[tuple[str, int], ...]) -> Iterator[tuple[str, ...]]:
        fixed, free = self._fixed_and_free(self.loop_trips(shape, dict(tiles)))
        for order in permutations(free):
            if self._nested_rightly(order) and self._innermost_allowed(shape, order):
                yield (*fixed, *order)

    def random_order(
        self, shape: Shape, tiles: tuple[tuple[str, int], ...], generator: random.Random
    ) -> tuple[str, ...] | None:
        """One order drawn evenly from ``orders``, or None if twenty draws found none."""
        fixed, free = self._fixed_and_free(self.loop_trips(shape, dict(tiles)))
        for _ in range(20):
            order = self._any_order(shape, free, generator)
            if self._innermost_allowed(shape, order):
                return (*fixed, *order)
        return None

    def _any_order(self, shape: Shape, free: Sequence[str], generator: random.Random) -> list[str]:
        """One order drawn evenly from those that ``size`` counts."""
        if shape.match is None and self._straight is not None:
            return list(self._straight)
        order = generator.sample(free, len(free))
        # Tile loops of one loop have one right order; put them so rather than draw again.
        for loop in self.nest.loops:
            levels = [name for name in (f"{loop}_t2", f"{loop}_t1", loop) if name in order]
            for place, name in zip(sorted(order.index(level) for level in levels), levels, strict=True):
                order[place] = name
        return order

    def legal_from(self, generator: random.Random) -> int:
        """How many legal choices an assignment, drawn evenly from those that ``size`` counts, stands for.

        That is one for each loop that may run in parallel, and none if the order is not legal.
        """
        if self.minor or self.attached:
            return 1
        weights = self._cumulated
        shape, tiles, _ = self.assignments[bisect(weights, generator.randrange(weights[-1]))]
        fixed, free = self._fixed_and_free(self.loop_trips(shape, dict(tiles)))
        order = self._any_order(shape, free, generator)
        complete = (*fixed, *order)
        if not self._innermost_allowed(shape, order) or not self.legal_order(shape, complete):
            return 0
        parallel = self.parallel_choices(shape, tiles, complete)
        return sum(len(self.refined(Choice(shape, tiles, complete, each))) for each in parallel)

    @cached_property
    def _cumulated(self) -> tuple[int, ...]:
        return tuple(accumulate(count for _, _, count in self.assignments))

    def _time_order(self, shape: Shape, order: Sequence[str]) -> list[int]:
        """Each time dimension by the position of its loop in the nest, the microkernel's loops last."""
        position = {}
        for number, loop in enumerate(self.nest.loops):
            position.update({loop: number, f"{loop}_t1": number, f"{loop}_t2": number})
        inner: list[int] = []
        if shape.match is not None:
            inner = [*shape.batch, *(loop for loop, _ in shape.rows), shape.match.n, shape.match.k, shape.match.m]
        called = [position[name] for name in self.nest.call_loops]
        return [position[name] for name in order] + [loop - self.nest.depth for loop in inner] + called

    def legal_order(self, shape: Shape, order: Sequence[str]) -> bool:
        if not order_is_legal(self.directions, self._time_order(shape, order)):
            return False
        return not self.leading or self._leads(order)

    def _leads(self, order: Sequence[str]) -> bool:
        """Whether what is attached knows the first and the last iteration of each sum around it."""
        statement = self.scop.statement(self.nest.statements[0])
        loops = [self.nest.depth + place for place in self._time_order(Shape(None), order)]
        while loops and not moves(statement.writes[0], loops[-1]):
            loops.pop()
        return sums_run_alike(statement, loops)

    def parallel_choices(
        self, shape: Shape, tiles: tuple[tuple[str, int], ...], order: Sequence[str]
    ) -> tuple[Threads | None, ...]:
        """Loops of this order that may and should run in parallel, one or two; (None,) if there is none."""
        if self.threads == 1:
            return (None,)
        trips = self.loop_trips(shape, dict(tiles))
        time = self._time_order(shape, order)
        legal: dict[Threads, int] = {}
        around = 1
        for place, name in enumerate(order):
            if trips[name] > 1 and around <= FORKS and parallel_is_legal(self.directions, time, place):
                legal[Threads(name)] = trips[name]
                inner = "".join(order[place + 1 : place + 2])
                # The innermost of plain loops is for vectors.
                outside = shape.match is not None or place + 2 < len(order)
                together = outside and self._idles(trips, Threads(name)) and trips.get(inner, 1) > 1
                if together and parallel_is_legal(self.directions, time, place + 1):
                    legal[Threads(name, inner)] = trips[name] * trips[inner]
            around *= trips[name]
        enough = [each for each, iterations in legal.items() if iterations >= self.threads]
        static = tuple(enough or legal) or self._summing_choices(shape, trips, order)
        if self._even or not static:
            return static or (None,)
        return (*static, *(replace(each, dynamic=True) for each in static))

    def _idles(self, trips: Mapping[str, int], on: Threads) -> bool:
        """Whether threads wait for the busiest one for long, where iterations are dealt out evenly."""
        iterations = trips[on.loop] * trips.get(on.inner, 1)
        return self.threads * -(-iterations // self.threads) > IDLE * iterations

    @cached_property
    def _even(self) -> bool:
        """Whether all iterations of a loop have the same to do."""
        return all(self.scop.statement(name).box is not None for name in self.nest.statements)

    def _summing_choices(self, shape: Shape, trips: Mapping[str, int], order: Sequence[str]) -> tuple[Threads, ...]:
        """The outermost loop, if it can run in parallel once each thread adds up sums of its own."""
        time = self._time_order(shape, order)
        outer = next((place for place, name in enumerate(order) if trips[name] > 1), None)
        if shape.match is not None or self.nest.call is not None or outer is None:
            return ()
        legal = sums_are_legal(self.directions, time, outer) and self._sums(time[outer])
        return (Threads(order[outer]),) if legal else ()

    def _sums(self, loop: int) -> tuple[str, ...]:
        """The arrays that a loop of the nest adds to in all iterations, small enough for a copy per thread."""
        statements = [self.scop.statement(name) for name in self.nest.statements]
        return combinable(self.scop, statements, dict.fromkeys(self.nest.statements, loop + self.nest.depth))

    def refined(self, choice: Choice) -> tuple[Choice, ...]:
        """The choice, and those that differ from it in how plain innermost loops run."""
        if choice.shape.match is not None or self.nest.call is not None or not choice.order:
            return (choice,)
        found = [choice]
        streamed = tuple(name for name in self.streamable if self._fills_lines(name, choice))
        if streamed:
            found.append(replace(choice, streamed=streamed))
        if self.vector_bytes >= LINE_BYTES and self._updates:
            found.append(replace(choice, vector_bytes=self.vector_bytes // 2))
        found += [each for size in TOGETHER for each in [self._together(choice, size)] if each is not None]
        return tuple(found)

    def _fills_lines(self, array: str, choice: Choice) -> bool:
        loop = choice.order[-1]
        if loop not in self.nest.loops:
            return False
        statements = (self.scop.statement(name) for name in self.nest.statements)
        writer = next(s for s in statements if any(access.array == array for access in s.writes))
        run = min(self.extents[loop], dict(choice.tiles).get(loop, self.extents[loop]))
        whole = run * self.scop.array(array).element_bytes >= LINE_BYTES
        return whole and stride(self.scop, writer, array, self.nest.depth + self.nest.loops.index(loop)) == 1

    def _together(self, choice: Choice, size: int) -> Choice | None:
        """The choice with ``size`` iterations of the loop next to the innermost one at once; None if that can't be."""
        if len(choice.order) < 2 or not self._adds or not self._even:
            return None
        *outer, near, vector = choice.order
        tile = dict(choice.tiles).get(near)
        span = tile or self.extents.get(near, 0)
        short = min(self.extents.get(vector, 0), dict(choice.tiles).get(vector, SHORT + 1)) <= SHORT
        if near not in self.nest.loops or span < size or (tile or size) % size or short:
            return None
        names = {near: f"{near}_t1", f"{near}_t1": f"{near}_t2"} if span > size else {}
        order = (*(names.get(name, name) for name in outer), *([names[near]] if names else []), vector, near)
        on = choice.parallel
        if on is not None:
            if on.inner or on.loop == vector or (on.loop == near and not names):
                return None
            on = replace(on, loop=names.get(on.loop, on.loop))
        time = self._time_order(choice.shape, order)
        if not order_is_legal(self.directions, time):
            return None
        made = replace(choice, order=order, parallel=on, together=(near, size if names else 0))
        if on is not None:
            combined = self._combined(choice)
            legal = sums_are_legal if combined else parallel_is_legal
            if not legal(self.directions, time, order.index(on.loop)) or self._combined(made) != combined:
                return None
        return made

    @cached_property
    def _updates(self) -> bool:
        """Whether each statement changes elements of its own."""
        statements = [self.scop.statement(name) for name in self.nest.statements]
        return not self._adds and all(
            any(read.array == write.array and read.subscripts == write.subscripts for read in s.reads)
            for s in statements
            for write in s.writes
        )

    @cached_property
    def _adds(self) -> bool:
        """Whether the nest sums something up."""
        loops = [self.nest.depth + place for place, name in enumerate(self.nest.loops) if self.extents[name] > 1]
        statements = [self.scop.statement(name) for name in self.nest.statements]
        sums = [s for s in statements if reduction_array(self.scop, s) is not None]
        return any(not moves(s.writes[0], loop) for s in sums for loop in loops)

    def steps(self, choice: Choice) -> tuple[NestStep, ...]:
        """The choice as steps of a variant."""
        if self.attached:
            return ()
        index = self.nest.index
        roles = self._roles(choice.shape)
        tiles = dict(choice.tiles)
        made: list[NestStep] = []
        for name, extent in self.extents.items():
            inner = roles.get(name, 0)
            if choice.together is not None and choice.together[0] == name:
                inner = choice.together[1]
            sizes = [size for size in (tiles.get(name), inner) if size and size < extent]
            if sizes:
                made.append(Tile(index, name, tuple(sizes)))
        match = choice.shape.match
        if match is not None:
            made.append(
                UseMicrokernel(
                    index,
                    match.kernel,
                    self._name(match.m),
                    self._name(match.n),
                    self._name(match.k),
                    tuple(self._name(loop) for loop in choice.shape.batch),
                    tuple(self._name(loop) for loop, _ in choice.shape.rows),
                )
            )
        if choice.order:
            made.append(Interchange(index, choice.order))
        if choice.parallel is not None:
            on = choice.parallel
            made.append(Parallel(index, on.loop, self._combined(choice), on.inner, on.dynamic))
        if choice.together is not None:
            made.append(Unroll(index, choice.together[0]))
        if choice.streamed:
            made.append(Stream(index, choice.streamed))
        if choice.vector_bytes:
            made.append(Vectors(index, choice.vector_bytes))
        return tuple(made)

    def _combined(self, choice: Choice) -> tuple[str, ...]:
        """What the threads of the parallel loop have to add up."""
        assert choice.parallel is not None
        place = choice.order.index(choice.parallel.loop)
        time = self._time_order(choice.shape, choice.order)
        return () if parallel_is_legal(self.directions, time, place) else self._sums(time[place])

    def size(self) -> int:
        """Number of full assignments before legality is asked (parallel loops count once)."""
        return 1 if self.minor or self.attached else sum(count for _, _, count in self.assignments)

    @cached_property
    def assignments(self) -> tuple[tuple[Shape, tuple[tuple[str, int], ...], int], ...]:
        """Every shape with every choice of tiles, and how many orders of the loops there are for it."""
        return tuple(
            (shape, tiles, self._orders(shape, tiles))
            for shape, choices in zip(self.shapes, self._tiles_of_shapes, strict=True)
            for tiles in choices
        )

    def _orders(self, shape: Shape, tiles: tuple[tuple[str, int], ...]) -> int:
        if shape.match is None and self._straight is not None:
            return 1
        trips = self.loop_trips(shape, dict(tiles))
        free = [name for name in trips if trips[name] > 1]
        count = prod(range(1, len(free) + 1))
        for loop in self.nest.loops:
            levels = sum(1 for name in (loop, f"{loop}_t1", f"{loop}_t2") if name in free)
            count //= prod(range(1, levels + 1))
        return max(1, count)

    def all(self) -> Iterator[Choice | None]:
        """Every assignment: the choice where it is legal, None where it is not."""
        if self.minor or self.attached:
            yield self._only_choice
            return
        for shape in self.shapes:
            for tiles in self.tile_choices(shape):
                for order in self.orders(shape, tiles):
                    if self.legal_order(shape, order):
                        for parallel in self.parallel_choices(shape, tiles, order):
                            yield from self.refined(Choice(shape, tiles, order, parallel))
                    else:
                        yield None

    def sample(self, generator: random.Random) -> Choice | None:
        """A random choice, or None if the one drawn is not legal."""
        if self.minor or self.attached:
            return self._only_choice
        # The shapes are in the order of their predicted speed, and the faster ones are drawn more often.
        number = int(len(self.shapes) * generator.random() ** SHAPE_BIAS)
        shape = self.shapes[number]
        tiles = generator.choice(self._tiles_of_shapes[number])
        order = self.random_order(shape, tiles, generator)
        if order is None or not self.legal_order(shape, order):
            return None
        parallel = generator.choice(self.parallel_choices(shape, tiles, order))
        refined = self.refined(Choice(shape, tiles, order, parallel))
        return generator.choice(refined) if len(refined) > 1 else refined[0]

    @cached_property
    def _only_choice(self) -> Choice | None:
        """The best shape that the source's order keeps legal."""
        choices = (self.default(shape) for shape in self.shapes)
        return next((choice for choice in choices if self.legal_order(choice.shape, choice.order)), None)

    def default(self, shape: Shape) -> Choice:
        """The source's own order around ``shape``, the first legal loop parallel: the paper's "Microkernel" variant.

        If its iterations leave threads idle, the first one or two that don't.
        """
        trips = self.loop_trips(shape, {})
        names = {name.removesuffix("_t1"): name for name in trips} if shape.match else {name: name for name in trips}
        own = [names[loop] for loop in self.nest.loops if loop in names]
        order = (*(name for name in own if trips[name] == 1), *(name for name in own if trips[name] > 1))
        choices = self.parallel_choices(shape, (), order)
        busy = (on for on in choices if on is None or not self._idles(trips, on))
        return Choice(shape, (), order, next(busy, choices[0]))
