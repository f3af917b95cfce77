"""A space of which every variant was measured: searched again without a compiler, to compare strategies."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, count
from math import inf
from operator import itemgetter
from pathlib import Path

from polydl.contracts import MeasuredNest, Ranker
from polydl.contracts.search import Strategy, Trial
from polydl.ir.variant import Variant
from polydl.learning.samples import nests_in
from polydl.learning.selection import spread_evenly

Values = Mapping[str, Hashable]
REWRITES = "rewrites"


@dataclass(frozen=True)
class Row:
    """A variant with its decisions, what is expected of it, and what it takes."""

    variant: Variant
    #: those of its decisions, by their names
    values: Values
    #: seconds that the cost model expects
    predicted: float
    #: None if it failed
    seconds: float | None
    #: a bound of the time
    least: float = 0.0


@dataclass(frozen=True, eq=False)
class RowsNode:
    """The rows that are left. What a decision leaves of them is worked out once for all searches from the same root."""

    rows: tuple[Row, ...]

    @cached_property
    def undecided(self) -> tuple[str, ...]:
        return tuple(name for name, values in self._values.items() if len(values) > 1)

    @property
    def next_decision(self) -> str | None:
        return next(iter(self.undecided), None)

    @cached_property
    def decided(self) -> dict[str, Hashable]:
        return {name: values[0] for name, values in self._values.items() if len(values) == 1}

    @cached_property
    def _values(self) -> dict[str, tuple[Hashable, ...]]:
        return {name: tuple(dict.fromkeys(row.values[name] for row in self.rows)) for name in self.rows[0].values}

    @cached_property
    def _taken(self) -> dict[tuple[str, Hashable], RowsNode | None]:
        return {}

    def values(self, name: str) -> tuple[Hashable, ...]:
        return self._values[name]

    def take(self, name: str, value: Hashable) -> RowsNode | None:
        if (name, value) not in self._taken:
            left = tuple(row for row in self.rows if row.values[name] == value)
            self._taken[name, value] = RowsNode(left) if left else None
        return self._taken[name, value]

    def variant(self) -> Variant | None:
        return self.rows[0].variant

    def least_seconds(self) -> float:
        return min(row.least for row in self.rows)


class RecordedSpace:
    """Satisfies ``SearchSpace``. A part of the rows is ranked beforehand."""

    def __init__(self, root: RowsNode, ranked: int, seed: int) -> None:
        self.root = root
        self.rows = {row.variant.id: row for row in root.rows}
        self._left = list(root.rows)
        random.Random(seed).shuffle(self._left)
        first, self._left = self._left[:ranked], self._left[ranked:]
        self.ranked = tuple(row.variant for row in sorted(first, key=lambda row: row.predicted))

    def predicted(self, variants: Sequence[Variant]) -> list[float]:
        return [self.rows[variant.id].predicted for variant in variants]

    def decisions(self, variant: Variant) -> Values:
        return self.rows[variant.id].values

    def draw(self, count: int, generator: random.Random) -> list[Variant]:
        generator.shuffle(self._left)
        drawn, self._left = self._left[:count], self._left[count:]
        return [row.variant for row in drawn]


def named_steps(variants: Sequence[Variant]) -> list[dict[str, Hashable]]:
    """The steps of variants as decisions that have a value in each of them: None for no step."""
    found = [_decided(variant) for variant in variants]
    ranks = ((name, rank) for own in found for name, (rank, _) in own.items())
    names = dict.fromkeys(name for name, _ in sorted(ranks, key=itemgetter(1)))
    return [{name: own[name][1] if name in own else None for name in names} for own in found]


def _decided(variant: Variant) -> dict[str, tuple[int, Hashable]]:
    """What a variant decides, with a rank: 0 for what shapes the code the most."""
    values: dict[str, tuple[int, Hashable]] = {REWRITES: (0, variant.scop_steps)}
    for place, nest in variant.nests.items():
        decided: dict[str, tuple[int, Hashable]] = {
            "use_microkernel": (1, nest.microkernel),
            "parallel": (2, nest.parallel),
            **{f"tile {tile.loop}": (3, tile) for tile in nest.tiles},
            "interchange": (4, nest.order),
            # Of a register block, the last loop.
            "unroll": (4, nest.unrolled[-1] if nest.unrolled else None),
            "stream": (4, nest.streamed or None),
            "vectors": (4, nest.vector_bytes or None),
        }
        values |= {f"{place} {name}": (rank, value) for name, (rank, value) in decided.items() if value is not None}
    return values


def recorded_rows(source: Path, ranker: Ranker, fewest: int, most_nests: int | None = None) -> dict[str, list[Row]]:
    """The variants of each nest in records that has so many, by its name; of ``most_nests``, evenly spread.

    Names of nests that were measured in several settings are followed by these, and by the number of the nest among
    others of its name there. Raises RecordsError, OptionError.
    """
    nests = [nest for nest in nests_in([source]) if len(nest.candidates) >= fewest]
    settings = Counter(nest.name for nest in nests)
    rows: dict[str, list[Row]] = {}
    for nest in nests if most_nests is None else spread_evenly(nests, most_nests):
        name = nest.name if settings[nest.name] == 1 else f"{nest.name}, {_setting(nest)}"
        names = chain([name], (f"{name}, {number}" for number in count(2)))
        rows[next(free for free in names if free not in rows)] = rows_of(nest, ranker)
    return rows


def _setting(nest: MeasuredNest) -> str:
    return f"{nest.machine.cpu_id}, {nest.machine.threads} thread{'s' if nest.machine.threads > 1 else ''}"


def rows_of(nest: MeasuredNest, ranker: Ranker) -> list[Row]:
    """The variants of a nest, with what a ranker expects of each, and bounds of their times."""
    from polydl.ranking.bound import lower_bounds

    ranking = ranker.rank(nest.candidates, nest.machine)
    scores = {
        entry.variant.id: float(place) if entry.score is None else entry.score
        for place, entry in enumerate(ranking.entries, 1)
    }
    variants = [candidate.variant for candidate in nest.candidates]
    bounds = lower_bounds(nest.candidates, nest.machine)
    return [
        Row(variant, values, scores[variant.id], seconds, least)
        for variant, values, seconds, least in zip(variants, named_steps(variants), nest.seconds, bounds, strict=True)
    ]


def searched(root: RowsNode, strategy: Strategy, *, seed: int, runs: int, batch: int = 5) -> list[float]:
    """The best time after each run of a search that begins with nothing but a ranking of half of the rows."""
    space = RecordedSpace(root, len(root.rows) // 2, seed)
    search = strategy.begin(space, seed=seed)
    best: list[float] = []
    while len(best) < runs and (proposed := search.propose(min(batch, runs - len(best)))):
        trials = [Trial(variant, space.rows[variant.id].seconds) for variant in proposed]
        for trial in trials:
            best.append(min(trial.seconds or inf, best[-1] if best else inf))
        search.told(trials)
    return best
