"""The plug-in contract of search strategies: which variants to measure next, given what was measured."""

from __future__ import annotations

import random
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from polydl.ir.variant import Variant

#: The value of a decision that part of what a candidate may become does not have: its rewrites leave no such loop, or
#: leave nothing to decide there.
ABSENT = "absent"


@dataclass(frozen=True)
class Trial:
    """What was measured of a variant."""

    variant: Variant
    #: None if it failed
    seconds: float | None


class Node(Protocol):
    """A partly decided candidate (Beaugnon et al., §2). Decisions may be taken in any order."""

    @property
    def undecided(self) -> tuple[str, ...]:
        """The decisions with more than one value left, those first that shape the code the most."""
        ...

    @property
    def next_decision(self) -> str | None:
        """The first of ``undecided``, which may be known long before all of them are; None if there is none."""
        ...

    @property
    def decided(self) -> Mapping[str, Hashable]:
        """The decisions with a single value left, by name."""
        ...

    def values(self, name: str) -> tuple[Hashable, ...]:
        """What is left to a decision; ``ABSENT`` is one of these where a part of what is left does not have it."""
        ...

    def take(self, name: str, value: Hashable) -> Node | None:
        """The candidate with a decision taken, and what follows from that; None at a dead end."""
        ...

    def variant(self) -> Variant | None:
        """What a candidate is in which everything is decided; None if it is not legal after all."""
        ...

    def least_seconds(self) -> float:
        """Seconds that everything takes at least that it may become."""
        ...


class SearchSpace(Protocol):
    """What there is to search. It knows variants by their decisions alone."""

    @property
    def root(self) -> Node:
        """Nothing is decided but what follows from the constraints."""
        ...

    @property
    def ranked(self) -> tuple[Variant, ...]:
        """Variants that were ranked beforehand, the most promising first."""
        ...

    def predicted(self, variants: Sequence[Variant]) -> Sequence[float]:
        """What the ranker expects of each, in seconds or whatever it compares by; infinite where it can't tell."""
        ...

    def decisions(self, variant: Variant) -> Mapping[str, Hashable]:
        """The values of a variant's decisions, by the names of nodes; none if this space has not drawn it."""
        ...

    def draw(self, count: int, generator: random.Random) -> Sequence[Variant]:
        """Legal variants at random that were not drawn before, about so many; fewer where there are no more."""
        ...


class Search(Protocol):
    """One search of one space."""

    def propose(self, count: int) -> Sequence[Variant]:
        """Up to ``count`` variants to measure next, none of them twice; none if nothing is left that is worth it."""
        ...

    def told(self, trials: Sequence[Trial]) -> None:
        """Results, also of variants that it has not proposed."""
        ...


@runtime_checkable
class ProvingSearch(Search, Protocol):
    """A search that also proves how far the best may be from any variant of the space."""

    @property
    def gap(self) -> float:
        """The part of the best time that a variant may still save at most, from 0 (nothing is faster) to 1."""
        ...


class Strategy(Protocol):
    """The plug-in contract. Register one by name under the entry-point group ``polydl.strategies``."""

    @property
    def name(self) -> str:
        """The name that it is registered by, which ``--strategy`` takes and results show."""
        ...

    def begin(self, space: SearchSpace, *, seed: int) -> Search:
        """The same space, seed and results give the same proposals."""
        ...
