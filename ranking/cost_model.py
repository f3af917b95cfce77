"""The ``cost-model`` ranker, which the default one corrects: time from arithmetic and from what caches are filled with.

The paper's equation 1 weighs what each cache holds but not how often it is filled, nor how well the microkernel runs,
nor how evenly the threads are loaded; ``polydl.model.times`` does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from polydl.contracts import Candidate
from polydl.ir.ranking import Ranking
from polydl.machine import Machine
from polydl.model.times import Times, predicted_times
from polydl.ranking.equation_1 import cost
from polydl.ranking.ordering import ordered, where_reused


def reasons(candidates: Sequence[Candidate], machine: Machine, times: Times) -> Callable[[int], str]:
    """For the candidate at each place, what its predicted time is made of, and where data is reused."""
    parts = ["arithmetic", *(f"filling {level.name}" for level in machine.caches)]
    all_seconds = [times.summed(times.arithmetic), *(times.summed(seconds) for seconds in times.transfers)]
    if machine.threads > 1:
        parts.append("starting threads")
        all_seconds.append(times.summed(times.starting))
    milliseconds = (1e3 * np.array(all_seconds)).T.tolist()

    def reason(place: int) -> str:
        words = ", ".join([f"{part} {own:.3g} ms" for part, own in zip(parts, milliseconds[place], strict=True)])
        return f"{words}; {where_reused(candidates[place].working_sets, machine)}"

    return reason


@dataclass(frozen=True)
class CostModel:
    """The ``cost-model`` ranker; scores are predicted seconds."""

    name: str = "cost-model"

    def rank(self, candidates: Sequence[Candidate], machine: Machine) -> Ranking:
        times = predicted_times(candidates, machine)
        # Where the prediction is the same, the paper's cost function decides.
        costs = np.array([cost(each.working_sets, machine) for each in candidates])
        scores = times.summed(times.total) * (1.0 + 1e-6 * costs / (costs.max(initial=0.0) or 1.0))
        return ordered(
            self.name,
            candidates,
            machine,
            scores=scores.tolist(),
            reason=reasons(candidates, machine, times),
        )


COST_MODEL = CostModel()
