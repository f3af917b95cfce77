"""Spaces of which every variant is known, with what was measured of it: searched without a compiler."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product

from polydl.contracts.search import Search, Trial
from polydl.ir.variant import Tile, Variant
from polydl.learning.recorded_space import RecordedSpace, Row, RowsNode


def bounded(rows: Sequence[Row], ranked: int, seed: int, bound: Callable[[Row], float]) -> RecordedSpace:
    """The space of these rows, with other bounds of their times."""
    return RecordedSpace(RowsNode(tuple(replace(row, least=bound(row)) for row in rows)), ranked, seed)


def landscape(seed: int) -> list[Row]:
    """Some 700 variants, a few of them failing: the time depends on decisions alone and together, and so, less
    exactly, does what is expected of them."""
    chance = random.Random(seed)
    domains = {"shape": range(6), "tile": (1, 2, 4, 8, 16), "outer": "ijk", "inner": "ijk", "parallel": "ij"}
    effect = {(name, value): chance.gauss(0, 0.4) for name, values in domains.items() for value in values}
    joint = {(a, b): chance.gauss(0, 0.3) for a in domains["shape"] for b in domains["tile"]}
    rows = []
    for number, combination in enumerate(product(*domains.values())):
        values = dict(zip(domains, combination, strict=True))
        if values["outer"] == values["inner"] or number % 10 == 9:
            continue
        alone = sum(effect[each] for each in values.items())
        seconds = math.exp(alone + joint[combination[0], combination[1]] + chance.gauss(0, 0.05))
        variant = Variant((Tile(0, "i", (number + 1,)),))
        failed = chance.random() < 0.02
        rows.append(Row(variant, values, math.exp(alone + chance.gauss(0, 0.2)), None if failed else seconds))
    return rows


def measured(search: Search, space: RecordedSpace, runs: int, batch: int = 5) -> list[Trial]:
    """The trials of a search, after the first five that are ranked."""
    trials: list[Trial] = []

    def run(variants: Sequence[Variant]) -> None:
        fresh = [Trial(variant, space.rows[variant.id].seconds) for variant in variants]
        trials.extend(fresh)
        search.told(fresh)

    run(space.ranked[:batch])
    while len(trials) < runs and (proposed := search.propose(batch)):
        run(proposed)
    return trials[:runs]


def best(trials: Sequence[Trial]) -> float:
    return min((trial.seconds for trial in trials if trial.seconds is not None), default=math.inf)
