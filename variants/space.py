"""The space of one loop nest: its decisions, their constraints, and full assignments of them as steps.

A decision is which shape of a microkernel's calls the innermost loops are, which loops are tiled once more for a cache,
which of each two loops is outside, which loop runs in parallel, and how plain innermost loops run. Nothing here knows
convolutions from matrix products.

Rules that keep the space small, each by an argument that holds for any nest, beside those of ``shapes``,
``parallel_loops`` and ``choice``:

* a loop with one iteration stays outermost, in the source's order: its place changes nothing;
* at most ``CACHE_TILED_LOOPS`` loops get a further tile for caches;
* without a microkernel, the innermost loop is one along which the most accesses are contiguous or constant, of those
  that dependences allow there; where each iteration of these waits for the one before (recurrences along rows), also
  one that waits for nothing;
* a nest that walks through all of its arrays once, and in the same way, does so in the order of their layout;
* a copy that transposes runs in the order in which emitted code makes it in squares;
* a nest with less than ``MINOR_SHARE`` of all accesses keeps the source's order around its best shape.
"""

from __future__ import annotations

import random
from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property

from polydl.ir.variant import NestStep
from polydl.variants.choice import Choice, runs
from polydl.variants.decisions import (
    Assignment,
    DecisionSpace,
    Partial,
    complete,
    enumerate_all,
)
from polydl.variants.draws import Sampler
from polydl.variants.forms import Forms
from polydl.variants.nest_facts import NestFacts
from polydl.variants.nest_model import NestModel
from polydl.variants.nest_rules import DependenceRule, legality_rules, shape_rules
from polydl.variants.nest_steps import steps
from polydl.variants.parallel_loops import idles, parallel_choices
from polydl.variants.shapes import Shape

# Were it twice as slow in another order, a run would take a percent longer.
MINOR_SHARE = 0.01


@dataclass(frozen=True)
class NestSpace(NestFacts):
    """The decisions of one nest. A nest that is minor or attached has none: its only choice is ``only_choice``."""

    #: Values that are left to some decisions, before any other is taken. A settled nest agrees with none.
    pins: tuple[tuple[str, tuple[Hashable, ...]], ...] = ()

    @property
    def settled(self) -> bool:
        """Whether there is nothing to decide."""
        return self.minor or self.attached

    @cached_property
    def model(self) -> NestModel:
        """Its decisions by name, and what they mean as loops."""
        return NestModel(self)

    @cached_property
    def decisions(self) -> DecisionSpace:
        """All decisions and constraints; pins are none of them."""
        return DecisionSpace(self.model.decisions, (*shape_rules(self.model), *legality_rules(self.model)))

    @cached_property
    def root(self) -> Partial | None:
        """What the pins leave, and what follows from that; None if it is nothing."""
        partial = self.decisions.root
        for name, values in self.pins:
            partial = None if partial is None else partial.restrict(name, values)
        return partial

    @cached_property
    def forms(self) -> Forms | None:
        """Shapes, tiles and orders: what is drawn from, and counted by ``size``; None if nothing is left."""
        return None if self.root is None else Forms(self.model, self.root)

    # ----------------------------------------------------------------------------------
    # Choices

    def size(self) -> int:
        """Number of forms that are left: of full assignments before all of the dependences are asked.

        Parallel loops and what follows are left out, and so are defaults that a constraint refuses.
        """
        if self.settled:
            return 1 - bool(self.pins)
        return 0 if self.forms is None else self.forms.count

    @cached_property
    def choices(self) -> tuple[Choice, ...]:
        """Every legal choice: by shape, tiles, order, parallel loop, and how the innermost loops run."""
        if self.settled:
            return () if self.only_choice is None else (self.only_choice,)
        if self.forms is None:
            return ()
        return tuple(self.model.choice(values) for values in self.forms.listed(self._legal))

    def holds(self, choice: Choice) -> bool:
        """Whether a choice is one of ``choices``, which are not listed for that."""
        if self.settled:
            return choice == self.only_choice
        values = self.model.values(choice)
        agrees = all(values[name] in left for name, left in self.pins)
        return agrees and not self.decisions.check(values)

    @cached_property
    def _legal(self) -> tuple[Assignment, ...]:
        return tuple(enumerate_all(self.root))

    def illegal(self) -> int:
        """How many of the forms that ``size`` counts are not legal, if they are few enough to look at all."""
        if self.settled:
            return int(self.only_choice is None)
        legal = {tuple(values[name] for name in self.model.form_scope) for values in self._legal}
        return self.size() - len(legal)

    def sample(self, generator: random.Random) -> Choice | None:
        """A random choice, or None if the one drawn is not legal."""
        if self.settled:
            return self.only_choice
        if self._sampler is None:
            return None
        values = self._sampler.sample(generator)
        return None if values is None else self.model.choice(values)

    @cached_property
    def _sampler(self) -> Sampler | None:
        return None if self.forms is None else Sampler(self.decisions, self.forms.draws)

    def legal_from(self, generator: random.Random) -> int:
        """How many legal choices a form, drawn evenly from those that ``size`` counts, stands for.

        That is one for each loop that may run in parallel, and none if the form is not legal.
        """
        if self.settled:
            return len(self.choices)
        assert self.forms is not None, "no form is left to draw"
        values = self.forms.draw_evenly(generator)
        # It keeps the other constraints as it is drawn.
        return 0 if DependenceRule(self.model).broken(values) else self.forms.endings(values)

    @cached_property
    def only_choice(self) -> Choice | None:
        """The best shape of a settled nest that the source's order keeps legal; None if there is none."""
        choices = (self.default(shape) for shape in self.shapes)
        return next((choice for choice in choices if self.legal_order(choice.shape, choice.order)), None)

    def steps(self, choice: Choice) -> tuple[NestStep, ...]:
        """A choice as steps of a variant; none for an attached nest."""
        if self.attached:
            return ()
        return self._only_steps if self.minor and choice is self.only_choice else steps(self, choice)

    @cached_property
    def _only_steps(self) -> tuple[NestStep, ...]:
        assert self.only_choice is not None
        return steps(self, self.only_choice)

    def defaults(self, most: int) -> tuple[Choice, ...]:
        """The defaults around the best shapes: those of ``default``, or with pins the first that these leave."""
        if self.settled or not self.pins:
            return tuple(self.default(shape) for shape in self.shapes[:most])
        if self.root is None:
            return ()
        around = (complete(self.root.take("shape", shape)) for shape in self.root.values("shape")[:most])
        return tuple(self.model.choice(values) for values in around if values is not None)

    def variations(self, choice: Choice) -> tuple[Choice, ...]:
        """A default, and those that differ from it in how plain innermost loops run, if nothing is pinned."""
        return (choice,) if self.attached or self.pins else tuple(runs(self, choice).values())

    def default(self, shape: Shape) -> Choice:
        """The source's own order around ``shape``, the first legal loop parallel: the paper's "Microkernel" variant.

        Where one order is enough, it is that one. If the first loop's iterations leave threads idle, the first one or
        two that don't are parallel.
        """
        trips = self.loop_trips(shape, {})
        names = {name if shape.plain else name.removesuffix("_t1"): name for name in trips}
        loops = [names[loop] for loop in self.nest.loops if loop in names]
        straight = self.straight
        if shape.plain and straight is not None:
            loops.sort(key=lambda loop: straight.index(loop) if loop in straight else -1)
        order = (*(name for name in loops if trips[name] == 1), *(name for name in loops if trips[name] > 1))
        choices = parallel_choices(self, shape, (), order)
        busy = (on for on in choices if on is None or not idles(self, trips, on))
        return Choice(shape, (), order, next(busy, choices[0]))
