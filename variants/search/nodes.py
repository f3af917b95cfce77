"""A space of variants with its alternatives as one tree of decisions."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf

from polydl.ir.variant import Variant
from polydl.variants.build_space import VariantSpace
from polydl.variants.choice import Choice
from polydl.variants.decisions import Partial
from polydl.variants.generation import variant_of
from polydl.variants.space import NestSpace

REWRITES = "rewrites"

#: Of a space, decided as far as the partial candidates of its nests say.
LeastSeconds = Callable[[VariantSpace, Mapping[int, Partial]], float]


@dataclass(frozen=True, eq=False)
class SpaceNode:
    """A partly decided candidate; satisfies ``polydl.contracts.search.Node``.

    The first decision is which rewrites there are. Those of a nest have its index before their names, the nest with the
    most shapes first.
    """

    #: one for each set of rewrites: values of the first decision are their numbers
    spaces: tuple[VariantSpace, ...]
    #: bounds the seconds of what a candidate may become
    least: LeastSeconds
    #: number of the space that was decided for; None before that
    place: int | None = None
    #: by the index of the nest; not of settled ones
    partials: Mapping[int, Partial] | None = None

    @staticmethod
    def root(space: VariantSpace, least: LeastSeconds) -> SpaceNode:
        """Of a space and its alternatives, as far as they have variants."""
        node = SpaceNode(tuple(each for each in (space, *space.alternatives) if each.size()), least)
        if len(node.spaces) > 1:
            return node
        return node.take(REWRITES, 0) or node

    @cached_property
    def undecided(self) -> tuple[str, ...]:
        if self.place is None or self.partials is None:
            return (REWRITES,)
        nests = sorted(self.partials, key=lambda index: -len(self._nest(index).shapes))
        return tuple(
            f"{index} {name}"
            for index in nests
            for name in self.partials[index].space.names
            if name in self.partials[index].undecided
        )

    @cached_property
    def decided(self) -> dict[str, Hashable]:
        if self.place is None or self.partials is None:
            return {}
        own = (
            (f"{index} {name}", value) for index, each in self.partials.items() for name, value in each.decided.items()
        )
        return {REWRITES: self.place, **dict(own)}

    def values(self, name: str) -> tuple[Hashable, ...]:
        if name == REWRITES:
            return tuple(range(len(self.spaces))) if self.place is None else (self.place,)
        index, own = _split(name)
        assert self.partials is not None
        return self.partials[index].values(own)

    def take(self, name: str, value: Hashable) -> SpaceNode | None:
        if name == REWRITES:
            return self._rewritten(value)
        index, own = _split(name)
        assert self.partials is not None
        narrower = self.partials[index].take(own, value)
        return None if narrower is None else replace(self, partials={**self.partials, index: narrower})

    def variant(self) -> Variant | None:
        assert self.place is not None
        assert self.partials is not None
        space = self.spaces[self.place]
        choices: list[Choice] = []
        for each in space.spaces:
            partial = self.partials.get(each.nest.index)
            choice = each.only_choice if partial is None else each.model.choice(partial.decided)
            if choice is None:
                return None
            choices.append(choice)
        return variant_of(space, choices)

    def least_seconds(self) -> float:
        if self.place is None or self.partials is None:
            return min((self.least(space, {}) for space in self.spaces), default=inf)
        return self.least(self.spaces[self.place], self.partials)

    def _nest(self, index: int) -> NestSpace:
        assert self.place is not None
        return next(each for each in self.spaces[self.place].spaces if each.nest.index == index)

    def _rewritten(self, value: Hashable) -> SpaceNode | None:
        if not isinstance(value, int) or self.place not in (None, value):
            return None
        partials: dict[int, Partial] = {}
        for each in self.spaces[value].spaces:
            if each.settled:
                continue
            if each.root is None:
                return None
            partials[each.nest.index] = each.root
        return replace(self, place=value, partials=partials)


def values_of(spaces: Sequence[VariantSpace], place: int, choices: Sequence[Choice]) -> dict[str, Hashable]:
    """The decisions behind a variant, by the names of ``SpaceNode``."""
    values: dict[str, Hashable] = {REWRITES: place}
    for each, choice in zip(spaces[place].spaces, choices, strict=True):
        if not each.settled:
            own = each.model.values(choice)
            values.update({f"{each.nest.index} {name}": own[name] for name in each.decisions.names})
    return values


def _split(name: str) -> tuple[int, str]:
    index, _, own = name.partition(" ")
    return int(index), own
