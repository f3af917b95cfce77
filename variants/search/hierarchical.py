"""The strategy ``hierarchical``, after Halide's autoscheduler (Anderson et al., 2021, §3).

Variants are put into buckets by their structure: the values of the outermost decisions. Of a bucket of n variants,
log2(n) are looked at, those that are expected to be fastest, so that no structure is crowded out by one with many
variants. When a batch is measured, the outermost decisions of the fastest variant are frozen, and the next ones tell
the buckets apart; when all are frozen, or nothing is left within, all are open again, for the next structure.
"""

from __future__ import annotations

import random
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import ceil, log2

from polydl.contracts.search import Node, Search, SearchSpace, Trial
from polydl.ir.variant import Variant
from polydl.variants.search.expectations import Expectations
from polydl.variants.search.walk import walked

# Variants that are drawn for each batch, and walked to below what is frozen.
_DRAWN, _WALKED = 100, 60
# Decisions that tell buckets apart at once.
_WIDTH = 2


class _Hierarchical:
    def __init__(self, space: SearchSpace, seed: int) -> None:
        self._space = space
        self._generator = random.Random(seed)
        self._expectations = Expectations(space)
        self._waiting = {variant.id: variant for variant in space.ranked}
        self._proposed: set[str] = set()
        self._frozen: tuple[tuple[str, Hashable], ...] = ()

    def propose(self, count: int) -> Sequence[Variant]:
        drawn = self._space.draw(_DRAWN, self._generator)
        self._waiting.update((variant.id, variant) for variant in drawn)
        node = self._node()
        for _ in range(_WALKED if node is not None and self._frozen else 0):
            assert node is not None
            found = walked(node, self._generator)
            if found is not None and found.variant.id not in self._proposed | self._expectations.seen:
                self._waiting[found.variant.id] = self._expectations.remember(found)
        chosen = self._looked_at(count)
        if not chosen and self._frozen:
            self._frozen = ()
            chosen = self._looked_at(count)
        for variant in chosen:
            del self._waiting[variant.id]
        self._proposed.update(variant.id for variant in chosen)
        return chosen

    def _node(self) -> Node | None:
        node: Node | None = self._space.root
        for name, value in self._frozen:
            if node is not None and value in node.values(name):
                node = node.take(name, value)
        return node

    def _looked_at(self, count: int) -> list[Variant]:
        """Of each bucket within what is frozen the most promising, and of these the most promising of all."""
        buckets: dict[tuple[Hashable, ...], list[Variant]] = {}
        for variant in self._expectations.ordered(list(self._waiting.values())):
            values = self._expectations.values(variant)
            if all(values.get(name) == value for name, value in self._frozen):
                structure = tuple(values.values())[: len(self._frozen) + _WIDTH]
                buckets.setdefault(structure, []).append(variant)
        looked = [variant for bucket in buckets.values() for variant in bucket[: max(1, ceil(log2(len(bucket))))]]
        return self._expectations.ordered(looked)[:count]

    def told(self, trials: Sequence[Trial]) -> None:
        self._expectations.told(trials)
        fastest = self._expectations.fastest(1)
        if fastest:
            values = self._expectations.values(fastest[0])
            deeper = len(self._frozen) + _WIDTH
            self._frozen = tuple(values.items())[:deeper] if deeper < len(values) else ()


@dataclass(frozen=True)
class Hierarchical:
    """The strategy ``hierarchical``: sampling of structures from coarse to fine (Anderson et al., 2021, §3)."""

    name: str = "hierarchical"

    def begin(self, space: SearchSpace, *, seed: int) -> Search:
        return _Hierarchical(space, seed)


HIERARCHICAL = Hierarchical()
