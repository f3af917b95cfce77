"""Forms of a nest, which are shapes with tiles and orders: counted, drawn and listed without looking at all of them."""

from __future__ import annotations

import random
from bisect import bisect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, combinations
from math import factorial, prod
from typing import Any

from polydl.variants.decisions import Assignment, Partial
from polydl.variants.draws import Draw
from polydl.variants.nest_model import INSIDE, OUTSIDE, NestModel, ParallelLoop, run_values, tile_name
from polydl.variants.nest_rules import CACHE_TILED_LOOPS

SHAPE_BIAS = 1.5
# Orders drawn until one has an innermost loop that may be there.
_TRIES = 20
Tiles = tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class TileBlock:
    """All sizes of the tiles of some loops."""

    sizes: tuple[tuple[str, tuple[int, ...]], ...]

    @cached_property
    def count(self) -> int:
        """How many combinations of sizes there are."""
        return prod(len(sizes) for _, sizes in self.sizes)

    def at(self, place: int) -> Tiles:
        """The combination of sizes at a place, that of the last loop changing first."""
        tiles = []
        for loop, sizes in reversed(self.sizes):
            place, last = divmod(place, len(sizes))
            tiles.append((loop, sizes[last]))
        return tuple(reversed(tiles))


@dataclass(frozen=True)
class TileChoices(Sequence[Tiles]):
    """Which loops get a further tile, and how large: no loop, then each, then each two, in the source's order."""

    blocks: tuple[TileBlock, ...]

    @cached_property
    def _ends(self) -> list[int]:
        return list(accumulate(block.count for block in self.blocks))

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def __getitem__(self, place: Any) -> Any:
        block = bisect(self._ends, place)
        if not 0 <= place < len(self):
            raise IndexError(place)
        return self.blocks[block].at(place - (self._ends[block - 1] if block else 0))


@dataclass(frozen=True, eq=False)
class Forms:
    """The forms of a nest that keep to a candidate, whatever dependences say; all without a candidate."""

    model: NestModel
    candidate: Partial | None = None

    # ----------------------------------------------------------------------------------
    # How many

    @cached_property
    def shapes(self) -> tuple[int, ...]:
        """Numbers of shapes, in the order of their predicted speed."""
        if self.candidate is None:
            return tuple(range(len(self.model.facts.shapes)))
        return self.candidate.values("shape")

    @cached_property
    def tiles(self) -> Mapping[int, TileChoices]:
        """The tiles of each shape."""
        known: dict[tuple[tuple[str, tuple[int, ...]], ...], TileChoices] = {}
        tiles = {}
        for shape in self.shapes:
            sizes = self._sizes(shape)
            if sizes not in known:
                needed = {loop for loop in self.model.tiled if not self._may_be_whole(loop)}
                known[sizes] = TileChoices(
                    tuple(
                        TileBlock(chosen)
                        for number in range(CACHE_TILED_LOOPS + 1)
                        for chosen in combinations(sizes, number)
                        if needed <= {loop for loop, _ in chosen}
                    )
                )
            tiles[shape] = known[sizes]
        return tiles

    def _sizes(self, shape: int) -> tuple[tuple[str, tuple[int, ...]], ...]:
        sizes = self.model.sizes[shape]
        if self.candidate is None:
            return tuple(sizes.items())
        left = {loop: self.candidate.values(tile_name(loop)) for loop in sizes}
        fitting = ((loop, tuple(size for size in own if size in left[loop])) for loop, own in sizes.items())
        return tuple((loop, own) for loop, own in fitting if own)

    def _may_be_whole(self, loop: str) -> bool:
        return self.candidate is None or 0 in self.candidate.values(tile_name(loop))

    @cached_property
    def _blocks(self) -> tuple[tuple[int, TileBlock, int], ...]:
        """Each shape with each block of tiles, and how many orders there are for each of these."""
        coarse = {loop.loop: 1 << place for place, loop in enumerate(self.model.loops) if loop.coarse}
        blocks = []
        for shape in self.shapes:
            fine = sum(1 << p for p, loop in enumerate(self.model.loops) if self._is_fine(p, shape))
            for block in self.tiles[shape].blocks:
                present = fine + sum([coarse[loop] for loop, _ in block.sizes])
                blocks.append((shape, block, self._orders(present)))
        return tuple(blocks)

    def _is_fine(self, place: int, shape: int) -> bool:
        loop = self.model.loops[place]
        return not loop.coarse and bool(self.model.fine[loop.loop] >> shape & 1)

    @cached_property
    def _ends(self) -> tuple[int, ...]:
        return tuple(accumulate(block.count * orders for _, block, orders in self._blocks))

    @property
    def count(self) -> int:
        """How many forms there are. They are not listed for that."""
        return self._ends[-1] if self._ends else 0

    # ----------------------------------------------------------------------------------
    # Orders of time loops, given as masks of places

    @cached_property
    def _straight(self) -> list[int] | None:
        """The only order, if there is only one."""
        facts = self.model.facts
        if not facts.plain or facts.straight is None:
            return None
        places = {loop.loop: place for place, loop in enumerate(self.model.loops)}
        return [places[loop] for loop in facts.straight]

    @cached_property
    def _outer(self) -> tuple[int, ...]:
        """For each time loop, those that must lie outside of it if they are there."""
        outer = [0] * len(self.model.loops)
        for a, b, name in self.model.pairs:
            if self.model.loops[a].loop == self.model.loops[b].loop:
                outer[b] |= 1 << a
            elif self.candidate is not None:
                sides = self.candidate.masks[name]
                outer[b] |= (not sides & INSIDE) << a
                outer[a] |= (not sides & OUTSIDE) << b
        return tuple(outer)

    def _orders(self, present: int) -> int:
        """How many orders there are of these time loops."""
        if self._straight is not None:
            return 1
        if self.candidate is not None:
            return self._extensions(present)
        coarse = sum(1 for place in range(len(self.model.tiled)) if present >> place & 1)
        return factorial(present.bit_count()) >> coarse

    def _extensions(self, present: int) -> int:
        """How many orders keep those outside that must be."""
        if present not in self._counts:
            self._counts[present] = sum(self._extensions(present ^ 1 << place) for place in self._first(present))
        return self._counts[present]

    @cached_property
    def _counts(self) -> dict[int, int]:
        return {0: 1}

    def _first(self, present: int) -> list[int]:
        """Of these time loops, those that may be outermost."""
        return [place for place, outer in enumerate(self._outer) if present >> place & 1 and not outer & present]

    def _any_order(self, present: Sequence[int], generator: random.Random) -> list[int]:
        """One order of these time loops, drawn evenly."""
        if self._straight is not None:
            return self._straight
        if self.candidate is not None:
            return list(self._any_extension(sum(1 << place for place in present), generator))
        order = generator.sample(present, len(present))
        # The two loops over one have one right order; put them so rather than draw again.
        for place in present:
            fine = self._fine_of.get(place)
            if fine is not None:
                one, other = order.index(place), order.index(fine)
                order[min(one, other)], order[max(one, other)] = place, fine
        return order

    def _any_extension(self, present: int, generator: random.Random) -> Iterator[int]:
        while present:
            first = self._first(present)
            weights = [self._extensions(present ^ 1 << place) for place in first]
            [place] = generator.choices(first, weights)
            yield place
            present ^= 1 << place

    @cached_property
    def _fine_of(self) -> dict[int, int]:
        """For the place of a coarse loop, that of the fine one."""
        loops = self.model.loops
        fine = {loop.loop: place for place, loop in enumerate(loops) if not loop.coarse}
        return {place: fine[loop.loop] for place, loop in enumerate(loops) if loop.coarse}

    # ----------------------------------------------------------------------------------
    # Drawing

    @property
    def draws(self) -> tuple[Draw, ...]:
        """How a seed draws assignments: shape, tiles, order, parallel loop, innermost loops, one after the other."""
        model = self.model
        return (
            Draw(("shape",), self._draw_shape),
            Draw(model.tile_names, self._draw_tiles),
            Draw(tuple(name for _, _, name in model.pairs), self._draw_order),
            Draw(("parallel",), self._draw_parallel),
            Draw(("unroll", "stream", "vectors"), self._draw_run),
        )

    def draw_evenly(self, generator: random.Random) -> dict[str, Any]:
        """The decisions of a form, drawn evenly from all that are counted."""
        place = generator.randrange(self.count)
        number = bisect(self._ends, place)
        shape, block, orders = self._blocks[number]
        before = self._ends[number - 1] if number else 0
        values = {"shape": shape, **self._tile_values(block.at((place - before) // orders))}
        return {**values, **self.model.sides(self._any_order(self.model.present(values), generator))}

    def _draw_shape(self, _: Assignment, generator: random.Random) -> Assignment:
        # The faster ones are drawn more often.
        return {"shape": self.shapes[int(len(self.shapes) * generator.random() ** SHAPE_BIAS)]}

    def _draw_tiles(self, values: Assignment, generator: random.Random) -> Assignment | None:
        tiles = self.tiles[values["shape"]]
        return self._tile_values(generator.choice(tiles)) if tiles else None

    def _tile_values(self, tiles: Tiles) -> dict[str, Any]:
        sizes = dict(tiles)
        tiled = zip(self.model.tiled, self.model.tile_names, strict=True)
        return {name: sizes.get(loop, 0) for loop, name in tiled}

    def _draw_order(self, values: Assignment, generator: random.Random) -> Assignment | None:
        present = self.model.present(values)
        for _ in range(_TRIES):
            order = self._any_order(present, generator)
            if not order or self._may_be_innermost(order[-1]):
                return self.model.sides(order)
        return None

    def _may_be_innermost(self, place: int) -> bool:
        facts = self.model.facts
        return not facts.plain or self._straight is not None or self.model.loops[place].loop in facts.innermost

    def _draw_parallel(self, values: Assignment, generator: random.Random) -> Assignment | None:
        form = self.model.form(values)
        ways = [] if form is None else self._left("parallel", list(form.threads))
        return {"parallel": generator.choice(ways)} if ways else None

    def _draw_run(self, values: Assignment, generator: random.Random) -> Assignment | None:
        form = self.model.form(values)
        assert form is not None
        ways = [run_values(run) for run in form.runs(values["parallel"])]
        if self.candidate is not None:
            ways = [way for way in ways if all(self._left(name, [value]) for name, value in way.items())]
        if len(ways) < 2:
            return ways[0] if ways else None
        return generator.choice(ways)

    def _left(self, name: str, values: list[Any]) -> list[Any]:
        """Those of the values that the candidate leaves to a decision."""
        if self.candidate is None:
            return values
        left = self.candidate.values(name)
        return [value for value in values if value in left]

    def endings(self, values: Assignment) -> int:
        """How many assignments have a legal form: one for each parallel loop and each way of the innermost loops."""
        form = self.model.form(values)
        assert form is not None
        if self.candidate is None:
            return sum([len(form.runs(on)) for on in form.threads])
        threads: list[ParallelLoop | None] = self._left("parallel", list(form.threads))
        ways = [run_values(run) for on in threads for run in form.runs(on)]
        return sum(all(self._left(name, [value]) for name, value in way.items()) for way in ways)

    # ----------------------------------------------------------------------------------
    # Listing

    def listed(self, assignments: Iterable[Assignment]) -> list[Assignment]:
        """Legal assignments by shape, tiles, order, parallel loop and innermost loops."""
        ranks: dict[int, dict[Tiles, int]] = {}
        keyed = []
        for number, values in enumerate(assignments):
            form = self.model.form(values)
            assert form is not None
            if form.shape not in ranks:
                ranks[form.shape] = {tiles: rank for rank, tiles in enumerate(self.tiles[form.shape])}
            runs = [run_values(run) for run in form.runs(values["parallel"])]
            key = (
                form.shape,
                ranks[form.shape][form.tiles],
                self.model.placed(values),
                list(form.threads).index(values["parallel"]),
                runs.index({name: values[name] for name in runs[0]}),
                number,
            )
            keyed.append((key, values))
        return [values for _, values in sorted(keyed, key=lambda pair: pair[0])]
