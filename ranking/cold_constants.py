"""Rankings of nests whose constants come from memory at each call (``polydl.ir.cold``).

What another ranker predicts is for caches that hold what they can. To that the time is added in which a core reads the
variant's constants, and what was prepared of them, from memory: little of it hides beside arithmetic, since each line
is used as soon as it comes. So a variant that transforms small filters in each call may come before one that reads
large transformed ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from polydl.contracts import Candidate, Ranker
from polydl.ir.ranking import Ranking
from polydl.machine import Machine
from polydl.ranking.cost_model import COST_MODEL
from polydl.ranking.ordering import in_units


def reading_seconds(candidate: Candidate, machine: Machine) -> float:
    """How long the machine's threads together read a candidate's constants from memory."""
    return candidate.constant_bytes / (machine.threads * machine.bandwidths(machine.threads)[-1])


@dataclass(frozen=True, eq=False)
class ColdConstants:
    """Another ranker, for cold constants. Scores are its own with seconds added; without scores, its order stays."""

    ranker: Ranker

    @property
    def name(self) -> str:
        """That of the other."""
        return self.ranker.name

    def rank(self, candidates: Sequence[Candidate], machine: Machine) -> Ranking:
        ranking = self.ranker.rank(candidates, machine)
        if any(each.score is None for each in ranking.entries):
            return ranking
        read = {each.variant.id: each for each in candidates}

        def colder(warm: Ranking) -> Ranking:
            entries = [
                replace(
                    each,
                    score=(each.score or 0.0) + reading_seconds(read[each.variant.id], machine),
                    reason=f"{each.reason}; {in_units(read[each.variant.id].constant_bytes)} of constants from memory",
                )
                for each in warm.entries
            ]
            return replace(warm, entries=tuple(sorted(entries, key=lambda entry: entry.score or 0.0)))

        if ranking.second:
            expected = colder(COST_MODEL.rank(candidates, machine))
            ranking = replace(ranking, second=tuple(each.variant.id for each in expected.entries))
        return colder(ranking)
