"""The decisions of one nest by name, and what values for them mean as generated loops.

``shape`` is the number of a call's shape. ``tile L`` is the size of a further tile of loop L, 0 for none. For each two
time loops there is a decision about which lies outside the other (``i outside j``), as in Telamon (Beaugnon et al.,
§4.1); a time loop that shape and tiles don't have lies apart from the others. ``parallel`` says which time loop runs
on different threads, and ``unroll``, ``stream`` and ``vectors`` how plain innermost loops run.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from operator import itemgetter
from typing import Any, Literal, NamedTuple

from polydl.variants.choice import TOGETHER, Choice, InnermostMode, has_short_vectors, runs, usual
from polydl.variants.decisions import Assignment, Decision
from polydl.variants.nest_facts import NestFacts, TimeLoop, fixed_and_free
from polydl.variants.parallel_loops import ThreadedLoop, parallel_choices
from polydl.variants.shapes import Shape

Side = Literal["outside", "inside", "apart"]
SIDES: tuple[Side, ...] = ("outside", "inside", "apart")
# Their masks.
OUTSIDE, INSIDE, APART = 1, 2, 4
MASKS = dict(zip(SIDES, (OUTSIDE, INSIDE, APART), strict=True))
# What is remembered of the last orders looked at.
_REMEMBERED = 64


class ParallelLoop(NamedTuple):
    """A time loop that runs on different threads, with the next one inside if ``collapsed``."""

    loop: TimeLoop
    collapsed: bool = False
    dynamic: bool = False

    def __str__(self) -> str:
        words = [str(self.loop), "with the next loop inside" * self.collapsed, "dynamically" * self.dynamic]
        return " ".join(word for word in words if word)


class InnerLoops(NamedTuple):
    """What takes a nest's innermost loops, in words that say the same of every scop with such loops."""

    #: Name of the microkernel; empty for a register block or plain loops.
    kernel: str = ""
    #: Loops with how many iterations of each are taken at once: m, n, k and rows, or those over outputs of a block.
    sizes: tuple[tuple[str, int], ...] = ()
    #: Loops that are taken whole: those of a batch, or over the terms of a block's sums.
    whole: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Form:
    """Shape, tiles and the order of the generated loops: all but threads and innermost loops, which it bounds."""

    model: NestModel
    #: The number of the shape.
    shape: int
    #: Loops that get a further tile, with its size.
    tiles: tuple[tuple[str, int], ...]
    #: Generated loops, outermost first.
    order: tuple[str, ...]
    _runs: dict[ParallelLoop | None, dict[InnermostMode, Choice]] = field(default_factory=dict)

    @cached_property
    def threads(self) -> dict[ParallelLoop | None, ThreadedLoop | None]:
        """The loops that may run in parallel, also by the names of generated loops."""
        facts = self.model.facts
        ways = parallel_choices(facts, facts.shapes[self.shape], self.tiles, self.order)
        return {self.model.parallel_loop(self.shape, on): on for on in ways}

    def runs(self, parallel: ParallelLoop | None) -> dict[InnermostMode, Choice]:
        """How the innermost loops may run, with the choices that this makes."""
        if parallel not in self._runs:
            facts = self.model.facts
            choice = Choice(facts.shapes[self.shape], self.tiles, self.order, self.threads[parallel])
            self._runs[parallel] = runs(facts, choice)
        return self._runs[parallel]


def tile_name(loop: str) -> str:
    """The decision about a further tile of a loop."""
    return f"tile {loop}"


def order_name(outer: TimeLoop, inner: TimeLoop) -> str:
    """The decision about the order of two time loops: on which side of the second the first is."""
    return f"{outer} outside {inner}"


@dataclass(frozen=True, eq=False)
class NestModel:
    """The decisions of a nest in which there is something to decide."""

    facts: NestFacts

    # ----------------------------------------------------------------------------------
    # Decisions

    @cached_property
    def sizes(self) -> tuple[Mapping[str, tuple[int, ...]], ...]:
        """For each shape, the loops that may get a further tile, with its sizes."""
        return tuple(self.facts.tile_sizes(shape) for shape in self.facts.shapes)

    @cached_property
    def tiled(self) -> tuple[str, ...]:
        """Loops that may get a further tile with some shape."""
        return tuple(name for name in self.facts.nest.loops if any(name in sizes for sizes in self.sizes))

    @cached_property
    def tile_names(self) -> tuple[str, ...]:
        """The decisions about their sizes."""
        return tuple(tile_name(loop) for loop in self.tiled)

    @cached_property
    def loops(self) -> tuple[TimeLoop, ...]:
        """Every time loop with more than one iteration that there may be: coarse ones first, in the source's order."""
        fine = [TimeLoop(name) for name in self.facts.nest.loops if self.fine[name]]
        return (*(TimeLoop(name, True) for name in self.tiled), *fine)

    @cached_property
    def fine(self) -> Mapping[str, int]:
        """For each loop, the mask of the shapes with which there is a time loop over fine steps of it."""
        extents = self.facts.extents
        return self._shapes_where(lambda loop, roles: roles.get(loop, 1) < extents[loop])

    @cached_property
    def points(self) -> Mapping[str, int]:
        """For each loop, the mask of the shapes that leave its single iterations to generated loops."""
        return self._shapes_where(lambda loop, roles: loop not in roles)

    def _shapes_where(self, holds: Callable[[str, Mapping[str, int]], bool]) -> Mapping[str, int]:
        roles = list(enumerate(map(self.facts.roles, self.facts.shapes)))
        loops = self.facts.nest.loops
        return {loop: sum([1 << number for number, own in roles if holds(loop, own)]) for loop in loops}

    @cached_property
    def pairs(self) -> tuple[tuple[int, int, str], ...]:
        """Each two time loops, by their places in ``loops``, and the decision about their order."""
        numbered = list(enumerate(self.loops))
        return tuple((a, b, order_name(first, second)) for (a, first), (b, second) in combinations(numbered, 2))

    @cached_property
    def pair_names(self) -> Mapping[tuple[int, int], str]:
        """The decision about the order of two time loops, by their places in ``loops``, the lower one first."""
        return {(a, b): name for a, b, name in self.pairs}

    @cached_property
    def decisions(self) -> tuple[Decision, ...]:
        """The shape, tiles, the order of each two loops, threads, and how plain loops run; some have a single value."""
        facts = self.facts
        decisions = [Decision("shape", tuple(range(len(facts.shapes))))]
        for loop in self.tiled:
            sizes = sorted({size for own in self.sizes for size in own.get(loop, ())})
            decisions.append(Decision(tile_name(loop), (0, *sizes)))
        decisions += [Decision(name, SIDES) for _, _, name in self.pairs]
        parallel: list[ParallelLoop | None] = [None]
        if facts.threads > 1:
            ways = [(collapsed, dynamic) for dynamic in (False, True)[: 2 - facts.even] for collapsed in (False, True)]
            parallel += [ParallelLoop(loop, *way) for loop in self.loops for way in ways]
        decisions.append(Decision("parallel", tuple(parallel)))
        summing = facts.plain and facts.adds and facts.even
        decisions.append(Decision("unroll", (0, *(TOGETHER if summing else ()))))
        decisions.append(Decision("stream", (False, True)[: 1 + bool(facts.plain and facts.streamable)]))
        short = facts.plain and has_short_vectors(facts)
        decisions.append(Decision("vectors", (0, *((facts.machine.vector_bytes // 2,) if short else ()))))
        return tuple(decisions)

    @cached_property
    def form_scope(self) -> tuple[str, ...]:
        """The decisions that make a ``Form``."""
        return ("shape", *self.tile_names, *(name for _, _, name in self.pairs))

    # ----------------------------------------------------------------------------------
    # Values

    @cached_property
    def inner_loops(self) -> tuple[InnerLoops, ...]:
        """What each shape is by the names of loops; numbers of shapes are others in other spaces of a scop."""
        return tuple(map(self._inner_loops, self.facts.shapes))

    def _inner_loops(self, shape: Shape) -> InnerLoops:
        if shape.match is not None:
            match = shape.match
            sizes = ((match.m, shape.m), (match.n, shape.n), (match.k, shape.k), *shape.rows)
            return InnerLoops(match.kernel, self._named(sizes), tuple(map(self.facts.name, shape.batch)))
        if shape.block is not None:
            block = shape.block
            sizes = ((block.vector, block.span), *block.outputs)
            return InnerLoops("", self._named(sizes), tuple(map(self.facts.name, block.terms)))
        return InnerLoops()

    def _named(self, sizes: Iterable[tuple[int, int]]) -> tuple[tuple[str, int], ...]:
        return tuple((self.facts.name(loop), size) for loop, size in sizes)

    @cached_property
    def shape_numbers(self) -> Mapping[Hashable, int]:
        """The numbers of shapes by ``inner_loops``."""
        return {loops: number for number, loops in enumerate(self.inner_loops)}

    def present(self, values: Assignment) -> list[int]:
        """The time loops that a shape and tiles make, by their places."""
        coarse = [place for place, name in enumerate(self.tile_names) if values[name]]
        return coarse + self._fine_places[values["shape"]]

    @cached_property
    def _fine_places(self) -> list[list[int]]:
        """For each shape, the places of the loops over fine steps."""
        fine = [(place, self.fine[loop.loop]) for place, loop in enumerate(self.loops) if not loop.coarse]
        return [[place for place, shapes in fine if shapes >> number & 1] for number in range(len(self.facts.shapes))]

    def placed(self, values: Assignment) -> list[int] | None:
        """The time loops that there are, outermost first; None if values for their pairs make no order of them."""
        present = self.present(values)
        there = set(present)
        outside = [0] * len(self.loops)
        for first, second, name in self.pairs:
            side = values[name]
            if (side == "apart") == (first in there and second in there):
                return None
            if side == "outside":
                outside[second] += 1
            elif side == "inside":
                outside[first] += 1
        present.sort(key=outside.__getitem__)
        # As many lie outside of each as there are before it: only one order does that.
        return present if [outside[loop] for loop in present] == list(range(len(present))) else None

    def sides(self, order: Iterable[int]) -> dict[str, Side]:
        """The decisions about the order of time loops, for those that there are, outermost first."""
        places = [-1] * len(self.loops)
        for place, loop in enumerate(order):
            places[loop] = place
        return {
            name: "apart" if places[a] < 0 or places[b] < 0 else "outside" if places[a] < places[b] else "inside"
            for a, b, name in self.pairs
        }

    def tiles(self, values: Assignment) -> tuple[tuple[str, int], ...]:
        """The loops that get a further tile, with its size, in the source's order."""
        tiled = zip(self.tiled, self.tile_names, strict=True)
        return tuple([(loop, size) for loop, name in tiled if (size := values[name])])

    def form(self, values: Assignment) -> Form | None:
        """The form that values for its decisions make; None if those for pairs of loops make no order of them."""
        key = self._form_key(values)
        if key not in self._forms:
            if len(self._forms) >= _REMEMBERED:
                self._forms.clear()
            order = self.placed(values)
            once, names = self.names(values["shape"])
            self._forms[key] = (
                Form(self, values["shape"], self.tiles(values), (*once, *[names[loop] for loop in order]))
                if order is not None
                else None
            )
        return self._forms[key]

    @cached_property
    def _form_key(self) -> Callable[[Assignment], Hashable]:
        return itemgetter(*self.form_scope)

    @cached_property
    def _forms(self) -> dict[Hashable, Form | None]:
        return {}

    def form_values(self, shape: int, tiles: Iterable[tuple[str, int]], order: Iterable[str]) -> dict[str, Any]:
        """The values of the decisions that make a form: the inverse of ``form``."""
        places = self.places(shape)
        sizes = dict.fromkeys(self.tiled, 0) | dict(tiles)
        return {
            "shape": shape,
            **{tile_name(loop): size for loop, size in sizes.items()},
            **self.sides([places[name] for name in order if name in places]),
        }

    def names(self, shape: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The generated loops with one iteration with this shape, and what every time loop would be called."""
        if shape not in self._names:
            facts = self.facts
            once, _ = fixed_and_free(facts.loop_trips(facts.shapes[shape], {}))
            names = {loop: name for name, loop in facts.names_of(facts.shapes[shape]).items()}
            self._names[shape] = tuple(once), tuple(names[loop] for loop in self.loops)
        return self._names[shape]

    def places(self, shape: int) -> dict[str, int]:
        """The place of every time loop by what it is called with this shape."""
        if shape not in self._places:
            once, names = self.names(shape)
            places = {name: place for place, name in enumerate(names)}
            self._places[shape] = {name: place for name, place in places.items() if name not in once}
        return self._places[shape]

    @cached_property
    def _names(self) -> dict[int, tuple[tuple[str, ...], tuple[str, ...]]]:
        return {}

    @cached_property
    def _places(self) -> dict[int, dict[str, int]]:
        return {}

    def parallel_loop(self, shape: int, on: ThreadedLoop | None) -> ParallelLoop | None:
        """The value of ``parallel`` for a loop on threads, where calls have the shape of a number; None for none."""
        if on is None:
            return None
        return ParallelLoop(self.loops[self.places(shape)[on.loop]], bool(on.inner), on.dynamic)

    def choice(self, values: Assignment) -> Choice:
        """A legal assignment as a choice."""
        run = InnermostMode(values["unroll"], values["stream"], values["vectors"])
        form = self.form(values)
        assert form is not None
        return form.runs(values["parallel"])[run]

    def values(self, choice: Choice) -> dict[str, Any]:
        """A choice as an assignment, legal or not: the inverse of ``choice``."""
        plain, run = usual(self.facts, choice)
        shape = self.facts.shapes.index(plain.shape)
        return {
            **self.form_values(shape, plain.tiles, plain.order),
            "parallel": self.parallel_loop(shape, plain.parallel),
            **run_values(run),
        }


def run_values(run: InnermostMode) -> dict[str, Any]:
    """The values of the decisions about innermost loops."""
    return run._asdict()
