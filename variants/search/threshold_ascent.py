"""The strategy ``bound-tag``: the tree search of Telamon (Beaugnon et al., §5.1), pruned by the bound as ``bound`` is.

Threshold ascent on a graph (de Mesmay et al., 2009) goes down the tree of decisions. It takes the value of which the
largest part of the variants may be among the fastest: the part that is known of those that were measured, and the
more beyond that, the fewer they are (Streeter and Smith, 2006). The candidate where that ends is opened. From there,
walks take the other decisions, each value with a chance of what its bound leaves to be gained; of a few walks, the
variant that is expected to be fastest is measured. Candidates that can't beat the best measured time are left out,
with all that they may become.
"""

from __future__ import annotations

import math
import random
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

from polydl.contracts.search import Node, SearchSpace, Trial
from polydl.ir.variant import Variant
from polydl.variants.search.expectations import Expectations
from polydl.variants.search.walk import Walked

# Measurements that lie above the threshold: so many of the fastest.
_FASTEST = 10
# How sure an upper bound of the part above the threshold is: it fails with this chance over all that is tried. Large
# values try less of what looked bad so far.
_DELTA = 1.0
# Variants that are walked to from each candidate that is opened.
_WALKED = 4


@dataclass(eq=False)
class _Candidate:
    """A partly decided candidate in the tree."""

    node: Node
    #: a bound of its time in seconds
    least: float
    #: the decision that was taken next, once it is opened
    name: str = ""
    #: by the value of that decision
    children: dict[Hashable, _Candidate] = field(default_factory=dict)
    #: the decisions of the variants that were proposed or measured of it, by their ids
    tried: dict[str, Mapping[str, Hashable]] = field(default_factory=dict)
    #: whether nothing is left in it
    done: bool = False


class ThresholdAscent:
    """Satisfies ``Search``."""

    def __init__(self, space: SearchSpace, seed: int) -> None:
        self._generator = random.Random(seed)
        self._expectations = Expectations(space)
        self._ranked = space.ranked
        self._root = _Candidate(space.root, space.root.least_seconds())
        self._proposed: set[str] = set()
        self._fastest: frozenset[str] = frozenset()
        #: candidates that were opened
        self.opened = 0

    def propose(self, count: int) -> Sequence[Variant]:
        if not self._proposed and not self._expectations.trials:
            # Without a measured time nothing can be pruned.
            chosen = list(self._ranked[:count])
        else:
            chosen = []
            while len(chosen) < count and (candidate := self._selected()) is not None:
                chosen += self._simulated(candidate)
            if len(chosen) < count:
                # By the bound, nothing beats the best time by more than measurements are off.
                rest = [variant for variant in self._ranked if variant.id not in self._proposed]
                chosen += self._expectations.ordered(rest)[: count - len(chosen)]
        for variant in chosen:
            self._add(variant)
        return chosen

    def told(self, trials: Sequence[Trial]) -> None:
        self._expectations.told(trials)
        for trial in trials:
            self._add(trial.variant)
        self._fastest = frozenset(variant.id for variant in self._expectations.fastest(_FASTEST))

    def _add(self, variant: Variant) -> None:
        """Counts a variant in every candidate of the tree that may become it."""
        self._proposed.add(variant.id)
        values = self._expectations.values(variant)
        candidate: _Candidate | None = self._root
        while candidate is not None:
            candidate.tried[variant.id] = values
            candidate = candidate.children.get(values[candidate.name]) if candidate.name in values else None

    def _selected(self) -> _Candidate | None:
        """The candidate to open next; None if nothing is left in the tree."""
        candidate = self._root
        above: list[_Candidate] = []
        while not self._spent(self._root):
            if not candidate.children:
                return candidate
            left = [child for child in candidate.children.values() if not self._spent(child)]
            if left:
                above.append(candidate)
                candidate = self._ascended(candidate, left)
            else:
                candidate.done = True
                candidate = above.pop() if above else self._root
        return None

    def _spent(self, candidate: _Candidate) -> bool:
        return candidate.done or candidate.least >= self._expectations.best

    def _ascended(self, parent: _Candidate, children: Sequence[_Candidate]) -> _Candidate:
        """The child of which the largest part may be among the fastest; of several, the one with the least bound."""
        scale = math.log(2 * max(1, len(parent.tried)) * len(children) / _DELTA)

        def place(child: _Candidate) -> tuple[float, float]:
            return upper_bound(len(child.tried.keys() & self._fastest), len(child.tried), scale), -child.least

        return max(children, key=place)

    def _simulated(self, candidate: _Candidate) -> list[Variant]:
        """A candidate is opened, and the most promising of a few walks from it proposed, if one is new."""
        self.opened += 1
        name = candidate.node.next_decision
        walks = [self._walked(candidate.node) for _ in range(_WALKED if name is not None else 1)]
        if name is not None:
            self._open(candidate, name)
        candidate.done = not candidate.children
        fresh = [each for each in walks if each is not None and each.variant.id not in self._proposed]
        chosen = self._expectations.ordered([self._expectations.remember(each) for each in fresh])[:1]
        self._proposed.update(variant.id for variant in chosen)
        return chosen

    def _open(self, candidate: _Candidate, name: str) -> None:
        candidate.name = name
        for value in candidate.node.values(name):
            narrower = candidate.node.take(name, value)
            if narrower is not None:
                tried = {key: own for key, own in candidate.tried.items() if own.get(name) == value}
                candidate.children[value] = _Candidate(narrower, narrower.least_seconds(), tried=tried)

    def _walked(self, node: Node) -> Walked | None:
        """A variant that a candidate may become; None at a dead end, or where nothing can beat the best time."""
        while (name := node.next_decision) is not None:
            narrower = [each for value in node.values(name) if (each := node.take(name, value)) is not None]
            gains = [self._gain(each) for each in narrower]
            if not any(gains):
                return None
            [node] = self._generator.choices(narrower, gains)
        variant = node.variant()
        return None if variant is None else Walked(variant, node.decided)

    def _gain(self, node: Node) -> float:
        """Seconds that a candidate may save, by its bound."""
        best = self._expectations.best
        return 1.0 if best == math.inf else max(0.0, best - node.least_seconds())


def upper_bound(fastest: int, tried: int, scale: float) -> float:
    """A bound of the part of variants that are among the fastest, where so many of those that were tried are.

    After Streeter and Smith, "A Simple Distribution-Free Approach to the Max k-Armed Bandit Problem" (2006), §3.
    """
    if not tried:
        return math.inf
    return (fastest + scale + math.sqrt(2.0 * fastest * scale + scale * scale)) / tried


@dataclass(frozen=True)
class BoundTag:
    """The strategy ``bound-tag``: tree search by threshold ascent, pruned by the bound."""

    name: str = "bound-tag"

    def begin(self, space: SearchSpace, *, seed: int) -> ThresholdAscent:
        return ThresholdAscent(space, seed)


BOUND_TAG = BoundTag()
