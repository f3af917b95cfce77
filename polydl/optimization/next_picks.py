"""What is measured beyond the picks where none of them is as fast as the plain nest."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import ClassVar

from polydl.ir.ranking import RankedVariant, Ranking
from polydl.ir.variant import Variant
from polydl.optimization.picks import picks
from polydl.optimization.searching import Recorded
from polydl.outcome import winning
from polydl.outcome.baselines import Baseline, fastest
from polydl.outcome.tried import Tried
from polydl.plan.kinds import keeps_loops

# As many times the picks are asked for once more in all.
_BATCHES = 2


class NextPicks:
    """The next picks of a ranking, batch by batch, until one is as fast as the plain nest or all are spent.

    The first of them is the most promising variant with the plain nest's own loops: where that nest is faster than all
    picks, what these share isn't worth what is predicted of it.
    """

    #: whether the first picks are timed again where the records hold them all
    leaders_again: ClassVar[bool] = False

    def __init__(self, ranking: Ranking, chosen: Sequence[tuple[int, RankedVariant]], count: int) -> None:
        first = {place for place, _ in chosen}
        wider = picks(ranking, (1 + _BATCHES) * count) if count else ()
        alike = (place for place in enumerate(ranking.entries, 1) if keeps_loops(place[1].variant))
        waiting = [*islice(alike, 1 if count else 0), *wider]
        new = [place for place in dict(waiting).items() if place[0] not in first]
        self._waiting = new[: _BATCHES * count]
        self._count = count
        self._plain_wins = False

    def tell(self, tried: Sequence[Tried], baselines: Sequence[Baseline]) -> None:
        """What was measured so far: judged as for the answer (``Outcome.plain``)."""
        winner = winning.winner(tried, baselines)
        if winner is None:
            self._plain_wins = winning.no_match(tried) and fastest(baselines) is not None
        else:
            self._plain_wins = winning.behind(winner, baselines)

    def refuse(self, variant: Variant) -> None:
        """It can't be run; it was taken from those that wait."""

    def more(self, recorded: Recorded | None = None) -> tuple[tuple[int, RankedVariant], ...]:  # noqa: ARG002
        """The next batch with places in the ranking; nothing where a variant is as fast as the plain nest."""
        if not self._plain_wins:
            return ()
        batch, self._waiting = self._waiting[: self._count], self._waiting[self._count :]
        return tuple(batch)
