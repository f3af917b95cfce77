"""What a search strategy sees of a nest: its decisions, and what the ranker expects of variants, analysed as needed."""

from __future__ import annotations

import random
from collections.abc import Hashable, Mapping, Sequence
from math import inf
from typing import TYPE_CHECKING

from polydl.contracts import Candidate
from polydl.errors import AnalysisError
from polydl.ir.ranking import RankedVariant, Ranking
from polydl.ir.variant import Variant
from polydl.pipeline import candidates, decision_tree

if TYPE_CHECKING:
    from polydl.optimization.ranked import RankedVariants
    from polydl.variants.search.nodes import SpaceNode

_DRAWS = 10


class RankedSpace:
    """A space with a ranking that grows; satisfies ``polydl.contracts.search.SearchSpace``."""

    def __init__(self, ranked: RankedVariants) -> None:
        self._ranker = ranked.ranker
        self._machine = ranked.machine
        self._options = ranked.options
        self._source = ranked.space.source
        self._root = decision_tree(ranked.space, ranked.machine)
        self._choices = dict(ranked.generation.choices)
        self._drawn = {variant.id for variant in ranked.generation.variants}
        self._analysed = {candidate.variant.id: candidate for candidate in ranked.analysed}
        self._refused: set[str] = set()
        self._ranked = tuple(entry.variant for entry in ranked.ranking.entries)
        self._take(ranked.ranking)

    def _take(self, ranking: Ranking) -> None:
        self.ranking = ranking
        self._entries = {entry.variant.id: (place, entry) for place, entry in enumerate(ranking.entries, 1)}

    @property
    def root(self) -> SpaceNode:
        return self._root

    @property
    def ranked(self) -> tuple[Variant, ...]:
        return self._ranked

    @property
    def analysed(self) -> tuple[Candidate, ...]:
        """What the ranker has seen so far, first those of the ranking that the search began with."""
        return tuple(self._analysed.values())

    def predicted(self, variants: Sequence[Variant]) -> list[float]:
        fresh = {each.id: each for each in variants if each.id not in self._analysed and each.id not in self._refused}
        if fresh:
            try:
                seen = candidates(self._source, list(fresh.values()), machine=self._machine, **self._options)
            except AnalysisError:
                seen = ()
            self._analysed.update((candidate.variant.id, candidate) for candidate in seen)
            self._refused |= fresh.keys() - self._analysed.keys()
            if seen:
                self._take(self._ranker.rank(self.analysed, self._machine))
        return [self._expected(variant) for variant in variants]

    def _expected(self, variant: Variant) -> float:
        if variant.id not in self._entries:
            return inf
        place, entry = self._entries[variant.id]
        return float(place) if entry.score is None else entry.score

    def entry(self, variant: Variant) -> tuple[int, RankedVariant] | None:
        """Its place in the ranking of all that was analysed; None if it can't be analysed."""
        self.predicted([variant])
        return self._entries.get(variant.id)

    def decisions(self, variant: Variant) -> Mapping[str, Hashable]:
        if variant.id not in self._choices:
            return {}
        place, choices = self._choices[variant.id]
        return self._root.alternatives[place].values_of(choices)

    def draw(self, count: int, generator: random.Random) -> list[Variant]:
        from polydl.variants.generation import drawn_from

        found: list[Variant] = []
        alternatives = self._root.alternatives
        for _ in range(_DRAWS * count if alternatives else 0):
            place = generator.randrange(len(alternatives))
            drawn = drawn_from(alternatives[place].space, generator)
            if drawn is None or drawn[0].id in self._drawn:
                continue
            variant, choices = drawn
            self._drawn.add(variant.id)
            self._choices[variant.id] = place, choices
            found.append(variant)
            if len(found) >= count:
                break
        return found
