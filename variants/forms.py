"""Forms of a nest, which are shapes with tiles and orders: counted, drawn and listed without looking at all of them."""

from __future__ import annotations

import random
from bisect import bisect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, combinations
from math import factorial, prod
from typing import Any

from polydl.variants.choice import InnermostMode
from polydl.variants.decisions import Assignment, Partial, places
from polydl.variants.draws import Draw
from polydl.variants.nest_model import INSIDE, OUTSIDE, NestModel, ParallelLoop, run_values, tile_name
from polydl.variants.nest_rules import CACHE_TILED_LOOPS

# Shapes are in order of their predicted cycles: the first half of them gets 63 % of all draws.
SHAPE_BIAS = 1.5
Tiles = tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class TileBlock:
    """All sizes of the tiles of some loops."""

    #: each loop with the sizes that its tile may have
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
    """The forms that a partly decided candidate of a nest may become, by the values that are left to its decisions.

    They keep the constraints between decisions of a form but ``DependenceRule``, of which the candidate has what
    follows from it. A walk through the tree of decisions would take each of them: they are millions.
    """

    model: NestModel
    candidate: Partial

    # ----------------------------------------------------------------------------------
    # How many

    @cached_property
    def shapes(self) -> tuple[int, ...]:
        """Numbers of shapes, in the order of their predicted speed."""
        return self.candidate.values("shape")

    @cached_property
    def tiles(self) -> Mapping[int, TileChoices]:
        """The tiles of each shape."""
        known: dict[tuple[tuple[str, tuple[int, ...]], ...], TileChoices] = {}
        left = {loop: self.candidate.values(tile_name(loop)) for loop in self.model.tiled}
        needed = {loop for loop, sizes in left.items() if 0 not in sizes}
        tiles = {}
        for shape in self.shapes:
            own_sizes = self.model.sizes[shape].items()
            fitting = {loop: [each for each in own if each in left[loop]] for loop, own in own_sizes}
            sizes = tuple((loop, tuple(own)) for loop, own in fitting.items() if own)
            if sizes not in known:
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
    def _outer(self) -> tuple[int, ...]:
        """For each time loop, those that must lie outside of it if they are there."""
        outer = [0] * len(self.model.loops)
        for a, b, name in self.model.pairs:
            sides = self.candidate.masks[name]
            outer[b] |= (not sides & INSIDE) << a
            outer[a] |= (not sides & OUTSIDE) << b
        return tuple(outer)

    @cached_property
    def _inner(self) -> tuple[int, ...]:
        """For each time loop, those that must lie inside of it if they are there."""
        loops = range(len(self._outer))
        return tuple(sum(1 << b for b in loops if self._outer[b] >> a & 1) for a in loops)

    def _orders(self, present: int) -> int:
        """How many orders there are of these time loops."""
        if present not in self._counts:
            last = self._last(present)
            self._counts[present] = (
                self._extensions(present) if last is None else sum(self._extensions(present ^ 1 << p) for p in last)
            )
        return self._counts[present]

    def _last(self, present: int) -> list[int] | None:
        """Of these time loops, those that may be innermost; None if their accesses don't matter for that."""
        facts = self.model.facts
        if not present or not facts.plain or facts.straight is not None:
            return None
        named = (p for p in places(present) if self.model.loops[p].loop in facts.innermost)
        return [place for place in named if not self._inner[place] & present]

    def _extensions(self, present: int) -> int:
        """How many orders keep those outside that must be, whichever is innermost.

        Loops that no pair of them joins to others lie anywhere between these: each such component is counted apart.
        """
        if present not in self._extension_counts:
            ways = factorial(present.bit_count())
            for component in self._components(present):
                ways = ways // factorial(component.bit_count()) * self._joined(component)
            self._extension_counts[present] = ways
        return self._extension_counts[present]

    def _joined(self, component: int) -> int:
        if not component & (component - 1):
            return 1
        return sum(self._extensions(component ^ 1 << place) for place in self._first(component))

    def _first(self, present: int) -> list[int]:
        """Of these time loops, those that may be outermost."""
        return [place for place in places(present) if not self._outer[place] & present]

    def _components(self, present: int) -> tuple[int, ...]:
        """These time loops, together with those that must lie outside or inside of them, and so on."""
        if present not in self._known_components:
            components, left = [], present
            while left:
                component, frontier = 0, left & -left
                while frontier:
                    component |= frontier
                    joined = 0
                    for place in places(frontier):
                        joined |= self._outer[place] | self._inner[place]
                    frontier = joined & present & ~component
                components.append(component)
                left ^= component
            self._known_components[present] = tuple(components)
        return self._known_components[present]

    @cached_property
    def _counts(self) -> dict[int, int]:
        return {}

    @cached_property
    def _extension_counts(self) -> dict[int, int]:
        return {}

    @cached_property
    def _known_components(self) -> dict[int, tuple[int, ...]]:
        return {}

    def _any_order(self, present: int, generator: random.Random) -> list[int] | None:
        """One order of these time loops, drawn evenly; None if there is none."""
        if not self._orders(present):
            return None
        last = self._last(present)
        if last is None:
            return self._any_extension(present, generator)
        [innermost] = generator.choices(last, [self._extensions(present ^ 1 << place) for place in last])
        return [*self._any_extension(present ^ 1 << innermost, generator), innermost]

    def _any_extension(self, present: int, generator: random.Random) -> list[int]:
        """The same, whichever loop is innermost."""
        components = self._components(present)
        if len(components) < 2:
            return [*self._any_joined(components[0], generator)] if components else []
        order = generator.sample(list(places(present)), present.bit_count())
        for component in components:
            if component & (component - 1):
                # The places of its loops are drawn; now, which of them lies where.
                where = [number for number, place in enumerate(order) if component >> place & 1]
                for number, place in zip(where, self._any_joined(component, generator), strict=True):
                    order[number] = place
        return order

    def _any_joined(self, component: int, generator: random.Random) -> Sequence[int]:
        if component in self._only_orders:
            return self._only_orders[component]
        first = self._first(component)
        weights = [self._extensions(component ^ 1 << place) for place in first]
        [place] = first if len(first) == 1 else generator.choices(first, weights)
        order = [place, *self._any_extension(component ^ 1 << place, generator)]
        if sum(weights) == 1:
            self._only_orders[component] = order
        return order

    @cached_property
    def _only_orders(self) -> dict[int, Sequence[int]]:
        """Of components that have no other one."""
        return {}

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
        order = self._any_order(self._present(values), generator)
        assert order is not None
        return {**values, **self.model.sides(order)}

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

    def _present(self, values: Assignment) -> int:
        """The mask of the time loops that a shape and tiles make."""
        return sum([1 << place for place in self.model.present(values)])

    def _draw_order(self, values: Assignment, generator: random.Random) -> Assignment | None:
        order = self._any_order(self._present(values), generator)
        return None if order is None else self.model.sides(order)

    def _draw_parallel(self, values: Assignment, generator: random.Random) -> Assignment | None:
        form = self.model.form(values)
        ways = [] if form is None else self._left("parallel", list(form.threads))
        return {"parallel": generator.choice(ways)} if ways else None

    def _draw_run(self, values: Assignment, generator: random.Random) -> Assignment | None:
        form = self.model.form(values)
        assert form is not None
        ways = [run_values(run) for run in form.runs(values["parallel"]) if self._leaves_run(run)]
        if len(ways) < 2:
            return ways[0] if ways else None
        return generator.choice(ways)

    def _left(self, name: str, values: list[Any]) -> list[Any]:
        """Those of the values that the candidate leaves to a decision."""
        mask, decision = self.candidate.masks[name], self.candidate.space.by_name[name]
        return [value for value in values if mask >> decision.places[value] & 1]

    def _leaves_run(self, run: InnermostMode) -> bool:
        if run not in self._known_runs:
            self._known_runs[run] = all(self._left(name, [value]) for name, value in run_values(run).items())
        return self._known_runs[run]

    @cached_property
    def _known_runs(self) -> dict[InnermostMode, bool]:
        return {}

    def endings(self, values: Assignment) -> int:
        """How many assignments have a legal form: one for each parallel loop and each way of the innermost loops."""
        form = self.model.form(values)
        assert form is not None
        threads: list[ParallelLoop | None] = self._left("parallel", list(form.threads))
        return sum(self._leaves_run(run) for on in threads for run in form.runs(on))

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
