"""The strategy ``bound``, after Telamon (Beaugnon et al., §5): best first, pruned by a bound of what is left.

The tree of decisions is walked from the candidate with the least bound of its time. Candidates that can't beat the best
measured time are pruned, with all that they may become. From each that is opened, a few variants are walked to; those
that are expected to be fastest are measured. When nothing is left in the tree, and all of it that waits is measured, no
variant there is faster than the best by more than the error of measurements, as far as the bound is one.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from polydl.contracts.search import Node, SearchSpace, Trial
from polydl.ir.variant import Variant
from polydl.variants.search.expectations import Expectations
from polydl.variants.search.walk import walked

# Candidates that are opened for each batch, and variants that are walked to from each.
_OPENED, _WALKED = 16, 4


class BoundSearch:
    """Satisfies ``ProvingSearch``: ``gap`` says how much may be left to be gained."""

    def __init__(self, space: SearchSpace, seed: int) -> None:
        self._generator = random.Random(seed)
        self._expectations = Expectations(space)
        self._waiting = {variant.id: variant for variant in space.ranked}
        # Of those to which the tree leads no more, as they were opened: what they take at least.
        self._least: dict[str, float] = {}
        self._proposed: set[str] = set()
        self._numbers = iter(range(1 << 62))
        self._open: list[tuple[float, int, Node]] = []
        #: candidates that were opened, and that were pruned
        self.opened = self.pruned = 0
        self._push(space.root)

    def _push(self, node: Node) -> None:
        least = node.least_seconds()
        if least >= self._expectations.best:
            self.pruned += 1
        else:
            # Of equal bounds, the one that is decided the furthest comes first.
            heapq.heappush(self._open, (least, -next(self._numbers), node))

    @property
    def gap(self) -> float:
        """The part of the best time that a variant may still save, by the bound; 0 if the best is proved to be that."""
        bounds = [least for least, _, _ in self._open[:1]]
        # Also what was proposed, and not measured.
        bounds += [least for each, least in self._least.items() if each not in self._expectations.seen]
        least, best = min(bounds, default=inf), self._expectations.best
        return 1.0 - least / best if least < best else 0.0

    def propose(self, count: int) -> Sequence[Variant]:
        for _ in range(_OPENED):
            if not self._open:
                break
            least, _, node = heapq.heappop(self._open)
            if least >= self._expectations.best:
                self.pruned += 1 + len(self._open)
                self._open.clear()
                break
            self._enter(node, least)
        ordered = self._expectations.ordered(list(self._waiting.values()))
        chosen = [each for each in ordered if each.id not in self._proposed][:count]
        self._proposed.update(each.id for each in chosen)
        for each in chosen:
            del self._waiting[each.id]
        return chosen

    def _enter(self, node: Node, least: float) -> None:
        self.opened += 1
        name = node.next_decision
        for _ in range(_WALKED if name is not None else 1):
            found = walked(node, self._generator)
            if found is not None and found.variant.id not in self._proposed:
                self._waiting[found.variant.id] = self._expectations.remember(found)
                if name is None:
                    self._least[found.variant.id] = least
        if name is not None:
            for value in node.values(name):
                narrower = node.take(name, value)
                if narrower is not None:
                    self._push(narrower)

    def told(self, trials: Sequence[Trial]) -> None:
        self._expectations.told(trials)


@dataclass(frozen=True)
class Bound:
    """The strategy ``bound``: best-first branch and bound over the tree of decisions."""

    name: str = "bound"

    def begin(self, space: SearchSpace, *, seed: int) -> BoundSearch:
        return BoundSearch(space, seed)


BOUND = Bound()
