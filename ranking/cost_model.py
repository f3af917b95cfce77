"""The default ranker: predicted arithmetic first, the paper's cost function among equals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, log

from polydl.contracts import Candidate
from polydl.machine import Machine
from polydl.ranking.equation_1 import cost
from polydl.ranking.ordering import compute_seconds, ordered, where_reused
from polydl.types import Ranking


@dataclass(frozen=True)
class CostModel:
    """The ``cost-model`` ranker."""

    name: str = "cost-model"

    def rank(self, candidates: Sequence[Candidate], machine: Machine) -> Ranking:
        largest = max((cost(c.working_sets, machine) for c in candidates), default=0.0) or 1.0

        def score(c: Candidate) -> float:
            return floor(log(compute_seconds(c, machine)) / log(1.05)) + cost(c.working_sets, machine) / (2 * largest)

        return ordered(
            self.name, candidates, machine, score=score, reason=lambda c: where_reused(c.working_sets, machine)
        )


COST_MODEL = CostModel()
