"""A space of variants with its alternatives as one tree of decisions, which may be taken in any order.

A partly decided candidate keeps the alternatives that are left, and of each the partly decided candidates of its nests.
A decision has a name, and values, that mean the same in all alternatives: a nest is called by a statement of the source
that it holds, its loops by their names, and a shape is what takes them. So what is left to a decision is what is left
of it in any of the alternatives, and taking it leaves those in which it may be taken.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf
from typing import Any

from polydl.contracts.search import ABSENT
from polydl.ir.variant import Variant
from polydl.variants.choice import Choice
from polydl.variants.decisions import Partial
from polydl.variants.generation import variant_of
from polydl.variants.space import NestSpace
from polydl.variants.variant_space import VariantSpace

REWRITES = "rewrites"

#: Of a space, decided as far as the partial candidates of its nests say.
LeastSeconds = Callable[[VariantSpace, Mapping[int, Partial]], float]
# By what decisions call a nest.
Partials = Mapping[str, Partial]


@dataclass(frozen=True, eq=False)
class Alternative:
    """A set of rewrites, with the decisions that these leave in the words that all alternatives have in common."""

    #: its value of the decision about rewrites
    place: int
    #: all that can be decided after the rewrites; its own alternatives are none of it
    space: VariantSpace

    @cached_property
    def nests(self) -> Mapping[str, NestSpace]:
        """Those in which there is something to decide, by what they are called; the one with the most shapes first."""
        nests = [each for each in self.space.spaces if not each.settled]
        return {self._called[each.nest.index]: each for each in sorted(nests, key=lambda nest: -len(nest.shapes))}

    @cached_property
    def _called(self) -> Mapping[int, str]:
        """By nest, the first of its statements that is one of the source's; where none is, the first one."""
        source = {statement.name for statement in self.space.source.statements}
        named = [(each.index, each.statements) for each in self.space.nests]
        return {index: next((name for name in names if name in source), names[0]) for index, names in named}

    @cached_property
    def decisions(self) -> Mapping[str, tuple[str, str]]:
        """All by name, those first that shape the code the most: what their nest is called, and their name there."""
        return {f"{called} {name}": (called, name) for called, nest in self.nests.items() for name in _names(nest)}

    @cached_property
    def root(self) -> Partials | None:
        """Nothing is decided but what follows from the constraints; None if they leave nothing."""
        partials = {called: nest.root for called, nest in self.nests.items()}
        left = {called: partial for called, partial in partials.items() if partial is not None}
        return left if len(left) == len(partials) else None

    def values(self, partials: Partials, name: str) -> tuple[Hashable, ...]:
        """What is left to a decision that it has."""
        called, own = self.decisions[name]
        values = partials[called].values(own)
        return tuple(self._shared(called, own, value) for value in values) if own == "shape" else values

    def taken(self, partials: Partials, name: str, value: Hashable) -> Partials | None:
        """What is left once a decision is taken; None if it is nothing."""
        if name not in self.decisions:
            return partials if value == ABSENT else None
        called, own = self.decisions[name]
        value = self.nests[called].model.shape_numbers.get(value) if own == "shape" else value
        narrower = partials[called].take(own, value)
        return None if narrower is None else {**partials, called: narrower}

    def variant(self, partials: Partials) -> Variant | None:
        """What candidates are in which everything is decided; None if it is not legal after all."""
        choices: list[Choice] = []
        for nest in self.space.spaces:
            partial = partials.get(self._called[nest.nest.index])
            choice = nest.only_choice if partial is None else nest.model.choice(partial.decided)
            if choice is None:
                return None
            choices.append(choice)
        return variant_of(self.space, choices)

    def values_of(self, choices: Sequence[Choice]) -> dict[str, Hashable]:
        """The decisions behind a variant, from the choice for each nest."""
        chosen = zip(self.space.spaces, choices, strict=True)
        own = {self._called[nest.nest.index]: nest.model.values(choice) for nest, choice in chosen if not nest.settled}
        named = self.decisions.items()
        return {REWRITES: self.place, **{key: self._shared(*names, own[names[0]][names[1]]) for key, names in named}}

    def least_seconds(self, least: LeastSeconds, partials: Partials) -> float:
        """A bound of the seconds of all that it may become."""
        return least(self.space, {self.nests[called].nest.index: each for called, each in partials.items()})

    def _shared(self, called: str, name: str, value: Any) -> Hashable:
        """A value of a nest's decision in words that other alternatives share."""
        shared: Hashable = self.nests[called].model.inner_loops[value] if name == "shape" else value
        return shared


def _names(nest: NestSpace) -> Iterator[str]:
    return (decision.name for decision in nest.model.decisions)


@dataclass(frozen=True, eq=False)
class SpaceNode:
    """A partly decided candidate; satisfies ``polydl.contracts.search.Node``.

    Which rewrites there are is the first decision by default. Until an alternative is looked at, it counts as left.
    """

    #: those that are left
    alternatives: tuple[Alternative, ...]
    #: bounds the seconds of what a candidate may become
    least: LeastSeconds
    #: of the alternatives in which something was decided, by place
    narrowed: Mapping[int, Partials] = field(default_factory=dict)

    @staticmethod
    def root(space: VariantSpace, least: LeastSeconds) -> SpaceNode:
        """The root of the tree of a space and its alternatives, as far as they have variants."""
        spaces = (each for each in (space, *space.alternatives) if each.size())
        return SpaceNode(tuple(Alternative(*numbered) for numbered in enumerate(spaces)), least)

    @cached_property
    def _left(self) -> tuple[tuple[Alternative, Partials], ...]:
        """The alternatives, and what is left of each, without those in which that is nothing."""
        looked_at = ((each, self.narrowed.get(each.place, each.root)) for each in self.alternatives)
        return tuple((each, partials) for each, partials in looked_at if partials is not None)

    @cached_property
    def _open(self) -> Mapping[str, bool]:
        """Every decision, in order, and whether several values are left to it."""
        rewrites = {REWRITES: len(self.alternatives) > 1}
        if len(self._left) == 1:
            [(alternative, partials)] = self._left
            named = alternative.decisions.items()
            return {**rewrites, **{key: name in partials[called].undecided for key, (called, name) in named}}
        names = dict.fromkeys(name for alternative, _ in self._left for name in alternative.decisions)
        return {**rewrites, **{name: self._several(name) for name in names}}

    def _several(self, name: str) -> bool:
        only: Hashable = None
        for number, (alternative, partials) in enumerate(self._left):
            called, own = alternative.decisions.get(name, ("", ""))
            if not called or own in partials[called].undecided:
                # Some other alternative has it.
                return True
            [value] = alternative.values(partials, name)
            if number and value != only:
                return True
            only = value
        return False

    @cached_property
    def undecided(self) -> tuple[str, ...]:
        return tuple(name for name, several in self._open.items() if several)

    @property
    def next_decision(self) -> str | None:
        return REWRITES if len(self.alternatives) > 1 else next(iter(self.undecided), None)

    @cached_property
    def decided(self) -> dict[str, Hashable]:
        names = (name for name, several in self._open.items() if not several)
        return {name: value for name in names for value in self.values(name)}

    def values(self, name: str) -> tuple[Hashable, ...]:
        if name == REWRITES:
            return tuple(each.place for each in self.alternatives)
        having = [(each, partials) for each, partials in self._left if name in each.decisions]
        values = dict.fromkeys(value for each, partials in having for value in each.values(partials, name))
        return (*values, *([ABSENT] if len(having) < len(self._left) else []))

    def take(self, name: str, value: Hashable) -> SpaceNode | None:
        if name == REWRITES:
            chosen = replace(self, alternatives=tuple(each for each in self.alternatives if each.place == value))
            return chosen if chosen._left else None
        narrower = ((each, each.taken(partials, name, value)) for each, partials in self._left)
        left = {each: partials for each, partials in narrower if partials is not None}
        return SpaceNode(tuple(left), self.least, {each.place: own for each, own in left.items()}) if left else None

    def variant(self) -> Variant | None:
        if not self._left:
            return None
        [(alternative, partials)] = self._left
        return alternative.variant(partials)

    def least_seconds(self) -> float:
        return min((each.least_seconds(self.least, partials) for each, partials in self._left), default=inf)
