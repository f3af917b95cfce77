"""Decisions with finite domains, and constraints between them: a small constraint solver.

After Beaugnon et al., "On the Representation of Partially Specified Implementations" (§2): a candidate keeps for each
decision the values that are still possible. Taking a decision narrows the others, in any order, until nothing more
follows; a candidate with one value for each decision is an implementation. Nothing here knows what is decided.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any, Protocol, Self, TypeVar

# A value for each decision, by name.
Assignment = Mapping[str, Any]


@dataclass(frozen=True)
class Decision:
    """Something to decide, and the values that it may have."""

    #: Unique in its space.
    name: str
    #: What it may be, the default first. All different.
    values: tuple[Any, ...]

    @cached_property
    def places(self) -> Mapping[Hashable, int]:
        """Where each value stands among the values."""
        return {value: place for place, value in enumerate(self.values)}

    @property
    def everything(self) -> int:
        """The mask of all values: bit ``p`` stands for the value at place ``p``."""
        return (1 << len(self.values)) - 1

    def mask(self, values: Collection[Hashable]) -> int:
        """The mask of those of ``values`` that it may be."""
        return sum({1 << self.places[value] for value in values if value in self.places})

    def selected(self, mask: int) -> tuple[Any, ...]:
        """The values of a mask, in order."""
        if mask & (mask - 1) == 0:
            return (self.values[mask.bit_length() - 1],) if mask else ()
        return tuple([value for place, value in enumerate(self.values) if mask >> place & 1])


def places(mask: int) -> Iterator[int]:
    """The places of the bits that are set in a mask, the lowest first."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


class DeadEndError(Exception):
    """No value is left for a decision."""


class Domains:
    """What is left to each decision, as masks, while constraints narrow it."""

    def __init__(self, decisions: Mapping[str, Decision], masks: Mapping[str, int], undecided: frozenset[str]) -> None:
        self.masks = dict(masks)
        self.decisions = decisions
        self.undecided = set(undecided)
        self.changed: list[str] = []

    def keep(self, name: str, mask: int) -> None:
        """Leave a decision only the values of ``mask``. Raises DeadEndError if it has none of them."""
        before = self.masks[name]
        left = before & mask
        if left == before:
            return
        if not left:
            raise DeadEndError
        self.masks[name] = left
        self.changed.append(name)
        if left & (left - 1) == 0:
            self.undecided.discard(name)

    def keep_unbroken(self, name: str, constraint: Constraint) -> None:
        """Leave a decision, the last open one of a constraint, the values that don't break it."""
        values = self.decided(constraint.scope)
        decision = self.decisions[name]
        left = 0
        for place, value in enumerate(decision.values):
            if self.masks[name] >> place & 1:
                values[name] = value
                left |= (constraint.broken(values) is None) << place
        self.keep(name, left)

    def values(self, name: str) -> tuple[Any, ...]:
        """What is left to a decision, in the order of its values."""
        return self.decisions[name].selected(self.masks[name])

    def decided(self, scope: Sequence[str]) -> dict[str, Any]:
        """The values of decisions that have a single one each; of others, the last that is left."""
        return {name: self.decisions[name].values[self.masks[name].bit_length() - 1] for name in scope}


class Constraint(Protocol):
    """What the decisions of its scope may be together."""

    @property
    def scope(self) -> tuple[str, ...]:
        """The names of the decisions that it is about."""
        ...

    def broken(self, values: Assignment) -> str | None:
        """Why values for all decisions of the scope don't go together, in words; None if they do."""
        ...

    def narrow(self, domains: Domains) -> None:
        """Take away values that no assignment within ``domains`` may have; some of them may be overlooked.

        Asked while two or more decisions of the scope are open; with fewer, ``broken`` says all. Raises DeadEndError if
        nothing is left.
        """
        ...


@dataclass(frozen=True)
class Compatible:
    """Which values of one decision go with each value of another."""

    #: Name of the one decision.
    first: str
    #: Name of the other.
    second: str
    #: Why values don't go together.
    words: str
    #: For the first's value at each place, the second's values that go with it, one bit each.
    masks: tuple[int, ...]
    #: Where the second's values stand.
    places: Mapping[Hashable, int]
    #: Where the first's values stand.
    first_places: Mapping[Hashable, int]

    @staticmethod
    def of(first: Decision, second: Decision, words: str, allows: Callable[[Any, Any], bool]) -> Compatible:
        """The constraint that ``allows(a, b)`` is true of the first decision's value and the second's."""
        masks = tuple(second.mask([b for b in second.values if allows(a, b)]) for a in first.values)
        return Compatible(first.name, second.name, words, masks, second.places, first.places)

    @property
    def scope(self) -> tuple[str, ...]:
        return self.first, self.second

    def broken(self, values: Assignment) -> str | None:
        allowed = self.masks[self.first_places[values[self.first]]]
        return None if allowed >> self.places[values[self.second]] & 1 else self.words

    def narrow(self, domains: Domains) -> None:
        left, other = domains.masks[self.first], domains.masks[self.second]
        first = second = 0
        for place, mask in enumerate(self.masks):
            if left >> place & 1 and mask & other:
                first |= 1 << place
                second |= mask
        domains.keep(self.first, first)
        domains.keep(self.second, second)


@dataclass(frozen=True)
class AtMost:
    """A limit on how many decisions are something other than their default, the first value."""

    #: Names of the decisions.
    scope: tuple[str, ...]
    #: Why values don't go together.
    words: str
    #: How many may be, at most.
    most: int
    #: The first value of each, by its name.
    defaults: Mapping[str, Hashable]

    @staticmethod
    def of(decisions: Sequence[Decision], most: int, words: str) -> AtMost:
        """The constraint that ``most`` of the decisions at most are other than their first value."""
        defaults = {each.name: each.values[0] for each in decisions}
        return AtMost(tuple(defaults), words, most, defaults)

    def broken(self, values: Assignment) -> str | None:
        return self.words if sum(values[name] != own for name, own in self.defaults.items()) > self.most else None

    def narrow(self, domains: Domains) -> None:
        masks = domains.masks
        others = [name for name in self.scope if not masks[name] & 1]
        if len(others) > self.most:
            raise DeadEndError
        if len(others) == self.most:
            for name in self.scope:
                if masks[name] & 1:
                    domains.keep(name, 1)


@dataclass(frozen=True, eq=False)
class DecisionSpace:
    """Decisions, no two of the same name, and the constraints between them, those first that narrow fast."""

    decisions: tuple[Decision, ...]
    constraints: tuple[Constraint, ...] = ()

    @cached_property
    def by_name(self) -> Mapping[str, Decision]:
        """The decisions, each by its name."""
        return {each.name: each for each in self.decisions}

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(self.by_name)

    @cached_property
    def watching(self) -> Mapping[str, int]:
        """The constraints that have a decision in their scope, as a mask of places, by its name."""
        masks = dict.fromkeys(self.by_name, 0)
        for place, constraint in enumerate(self.constraints):
            for name in constraint.scope:
                masks[name] |= 1 << place
        return masks

    @cached_property
    def scopes(self) -> tuple[frozenset[str], ...]:
        """The scope of each constraint, in the order of the constraints."""
        return tuple(frozenset(each.scope) for each in self.constraints)

    @cached_property
    def root(self) -> Partial | None:
        """Nothing is decided but what follows from the constraints; None if they leave nothing."""
        if not all(each.values for each in self.decisions):
            return None
        masks = {each.name: each.everything for each in self.decisions}
        return self.narrowed(masks, (1 << len(self.constraints)) - 1)

    def narrowed(self, masks: Mapping[str, int], waiting: int) -> Partial | None:
        """All that follows from the constraints at the places ``waiting``, and then from others; None at a dead end."""
        undecided = frozenset([name for name, mask in masks.items() if mask & (mask - 1)])
        domains = Domains(self.by_name, masks, undecided)
        try:
            while waiting:
                lowest = waiting & -waiting
                waiting ^= lowest
                place = lowest.bit_length() - 1
                constraint = self.constraints[place]
                undecided = self.scopes[place] & domains.undecided
                if len(undecided) > 1:
                    constraint.narrow(domains)
                elif not undecided:
                    if constraint.broken(domains.decided(constraint.scope)) is not None:
                        return None
                else:
                    (name,) = undecided
                    domains.keep_unbroken(name, constraint)
                for changed in domains.changed:
                    waiting |= self.watching[changed]
                domains.changed.clear()
        except DeadEndError:
            return None
        return Partial(self, domains.masks, frozenset(domains.undecided))

    def check(self, assignment: Assignment) -> tuple[str, ...]:
        """What is wrong with an assignment, in words: which decisions miss a value, else which constraints break."""
        wrong = [f"there is no decision `{name}`" for name in assignment if name not in self.by_name]
        for each in self.decisions:
            if each.name not in assignment:
                wrong.append(f"`{each.name}` is not decided")
            elif assignment[each.name] not in each.places:
                wrong.append(f"`{each.name}` can't be {assignment[each.name]}, but {_listed(each.values)}")
        if wrong:
            return tuple(wrong)
        reasons = (constraint.broken(assignment) for constraint in self.constraints)
        return tuple(reason for reason in reasons if reason is not None)


def _listed(values: Sequence[Hashable]) -> str:
    words = [str(value) for value in values]
    return words[0] if len(words) == 1 else f"one of {', '.join(words)}"


@dataclass(frozen=True)
class Partial:
    """A partly decided candidate: the values that are left to each decision of its space."""

    space: DecisionSpace
    #: By decision; bit ``p`` stands for its value at place ``p``.
    masks: Mapping[str, int]
    #: Decisions with more than one value left.
    undecided: frozenset[str]

    @property
    def next_decision(self) -> str | None:
        """The first open decision in the order of the space."""
        return next((name for name in self.space.names if name in self.undecided), None) if self.undecided else None

    def values(self, name: str) -> tuple[Any, ...]:
        """What is left to a decision, in order."""
        return self.space.by_name[name].selected(self.masks[name])

    def restrict(self, name: str, values: Collection[Hashable]) -> Partial | None:
        """The candidate with only these values left to a decision, and what follows; None if nothing is left."""
        mask = self.masks[name] & self.space.by_name[name].mask(values)
        if mask == self.masks[name]:
            return self
        return self.space.narrowed({**self.masks, name: mask}, self.space.watching[name]) if mask else None

    def take(self, name: str, value: Hashable) -> Partial | None:
        """The candidate with a decision taken, and what follows from that; None if nothing is left."""
        return self.restrict(name, (value,))

    @property
    def decided(self) -> dict[str, Any]:
        """Decisions with their only values."""
        decisions = self.space.by_name
        return {
            name: decisions[name].values[mask.bit_length() - 1]
            for name, mask in self.masks.items()
            if name not in self.undecided
        }


class PartlyDecided(Protocol):
    """What ``leaves`` asks of a partly decided candidate, of a nest or of a whole scop."""

    @property
    def undecided(self) -> Collection[str]:
        """Decisions with more than one value left."""

    @property
    def next_decision(self) -> str | None:
        """The first of them; None if there is none."""

    def values(self, name: str) -> tuple[Any, ...]:
        """What is left to a decision."""

    def take(self, name: str, value: Hashable) -> Self | None:
        """The candidate with a decision taken; None at a dead end."""


C = TypeVar("C", bound=PartlyDecided)


def leaves(candidate: C | None, order: Sequence[str] = ()) -> Iterator[C]:
    """Every fully decided candidate that one may become, once each.

    Decisions are taken in ``order``, then in that of the candidate, and each value in the order of the domain.
    """
    if candidate is None:
        return
    open_decisions = candidate.undecided if order else ()
    name = next((each for each in order if each in open_decisions), candidate.next_decision)
    if name is None:
        yield candidate
        return
    for value in candidate.values(name):
        yield from leaves(candidate.take(name, value), order)


def enumerate_all(partial: Partial | None, order: Sequence[str] = ()) -> Iterator[dict[str, Any]]:
    """The assignments of ``leaves``."""
    return (leaf.decided for leaf in leaves(partial, order))


def complete(partial: Partial | None, order: Sequence[str] = ()) -> dict[str, Any] | None:
    """The default assignment that a candidate may become: the first of ``enumerate_all``; None if there is none."""
    return next(enumerate_all(partial, order), None)


def count(partial: Partial | None) -> int:
    """How many assignments a candidate may become, exactly.

    Decisions that no constraint joins any more are counted apart, and multiplied; what was counted is remembered. The
    program itself counts ``Forms``, which need no walk: this is for sessions as that of ``docs/how-it-works.md``, and
    the reference for the choices that tests list.
    """
    return 0 if partial is None else _counted(partial, partial.undecided, {})


def _counted(partial: Partial, undecided: frozenset[str], known: dict[tuple[tuple[str, int], ...], int]) -> int:
    return prod(_component(partial, names, known) for names in _components(partial, undecided))


def _component(partial: Partial, names: tuple[str, ...], known: dict[tuple[tuple[str, int], ...], int]) -> int:
    # All that the constraints on these decisions see.
    around = dict.fromkeys(names)
    for name in names:
        for place in places(partial.space.watching[name]):
            around.update(dict.fromkeys(partial.space.constraints[place].scope))
    key = tuple([(name, partial.masks[name]) for name in partial.space.names if name in around])
    if key not in known:
        first, inside = names[0], frozenset(names)
        narrower = [partial.take(first, value) for value in partial.values(first)]
        known[key] = sum(_counted(each, each.undecided & inside, known) for each in narrower if each is not None)
    return known[key]


def _components(partial: Partial, undecided: frozenset[str]) -> Iterator[tuple[str, ...]]:
    """Open decisions, grouped by the constraints that join them, each group in the order of the space."""
    left = set(undecided)
    for name in partial.space.names:
        if name not in left:
            continue
        members, frontier = {name}, [name]
        while frontier:
            for place in places(partial.space.watching[frontier.pop()]):
                new = (partial.space.scopes[place] & undecided) - members
                members |= new
                frontier += new
        left -= members
        yield tuple(each for each in partial.space.names if each in members)
