"""A search that goes on beyond the first picks: batch by batch, until its budget is spent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from polydl.contracts.search import Search, Trial
from polydl.ir.ranking import RankedVariant
from polydl.ir.variant import Variant
from polydl.optimization.budget import Budget, expected_gain
from polydl.optimization.search_space import RankedSpace
from polydl.outcome.baselines import Baseline
from polydl.outcome.search_report import Improvement, SearchReport
from polydl.outcome.tried import Tried

# Candidates of one batch.
BATCH = 8
# Batches that may bring nothing new in a row before nothing is left.
_EMPTY = 3


class Searching:
    """One search under a budget: told what was tried, it says what is to be tried next."""

    #: whether the first picks are timed again where the records hold them all: batches are timed beside them
    leaders_again: ClassVar[bool] = True

    def __init__(
        self, space: RankedSpace, search: Search, strategy: str, budget: Budget, elapsed: Callable[[], float]
    ) -> None:
        self.space = space
        self._search = search
        self._strategy = strategy
        self._budget = budget
        self._elapsed = elapsed
        self._told: dict[str, float | None] = {}
        self._improvements: list[Improvement] = []
        self._batch_seconds = 0.0
        # Candidates, and plain builds beside the first of them, that were measured since ``_last``.
        self._measured = 0
        self._last = elapsed()

    def tell(self, tried: Sequence[Tried], baselines: Sequence[Baseline]) -> None:
        """What was measured so far; results that were told before are passed over."""
        fresh = [each for each in tried if each.kernel.id not in self._told]
        self._measured += len(fresh) + (0 if self._improvements else len(baselines))
        trials = [Trial(each.ranked.variant, _seconds(each)) for each in fresh]
        self._told.update((trial.variant.id, trial.seconds) for trial in trials)
        self._search.told(trials)
        times = [each for each in self._told.values() if each is not None]
        if times and (not self._improvements or min(times) < self._improvements[-1].best):
            self._improvements.append(Improvement(self._elapsed(), len(self._told), min(times)))

    def refuse(self, variant: Variant) -> None:
        """It can't be run: isl proves its complete schedule illegal."""
        self._told[variant.id] = None
        self._search.told([Trial(variant, None)])

    def more(self) -> tuple[tuple[int, RankedVariant], ...]:
        """The next batch with places in the ranking; nothing once the budget is spent, or nothing is left."""
        now = self._elapsed()
        if self._measured:
            self._batch_seconds = BATCH * (now - self._last) / self._measured
        self._last, self._measured = now, 0
        count = self._room(now)
        for _ in range(_EMPTY if count else 0):
            proposed = [each for each in self._search.propose(count) if each.id not in self._told]
            entries = [entry for each in proposed[:count] if (entry := self.space.entry(each)) is not None]
            if entries:
                return tuple(entries)
        return ()

    def _room(self, now: float) -> int:
        """How many candidates to propose; none if even half of a batch like those before would end too late."""
        if self._budget.spent(now, list(self._told.values())):
            return 0
        left = self._budget.runs - len(self._told)
        late = now + self._batch_seconds / 2 > self._budget.seconds
        return 0 if late else int(min(BATCH, left))

    @property
    def report(self) -> SearchReport:
        """What the search has tried by now, and what further trials may gain."""
        times = list(self._told.values())
        return SearchReport(
            self._strategy, len(times), self._elapsed(), tuple(self._improvements), expected_gain(times)
        )


def _seconds(tried: Tried) -> float | None:
    return tried.measurement.seconds_median if tried.measurement.status == "ok" else None
