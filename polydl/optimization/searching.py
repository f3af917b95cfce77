"""A search that goes on beyond the first picks: batch by batch, until its budget is spent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from polydl.contracts.search import ProvingSearch, Search, Trial
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

Recorded = Callable[[Sequence[tuple[int, RankedVariant]]], frozenset[str]]
"""Says of variants with their places in the ranking which ones need not be run, by their ids."""


def _nothing(times: Sequence[float]) -> float:  # noqa: ARG001
    """Nothing follows the last batch."""
    return 0.0


class Searching:
    """One search under a budget: told what was tried, it says what is to be tried next."""

    #: whether the first picks are timed again where the records hold them all: batches are timed beside them
    leaders_again: ClassVar[bool] = True

    def __init__(
        self,
        space: RankedSpace,
        search: Search,
        strategy: str,
        budget: Budget,
        elapsed: Callable[[], float],
        final_seconds: Callable[[Sequence[float]], float] = _nothing,
    ) -> None:
        """``elapsed`` is the time of which the budget is spent, and ``final_seconds`` what is left to do after the last
        batch takes where candidates took such times.
        """
        self.space = space
        self._search = search
        self._strategy = strategy
        self._budget = budget
        self._elapsed = elapsed
        self._final_seconds = final_seconds
        self._told: dict[str, float | None] = {}
        self._improvements: list[Improvement] = []
        # For each candidate of the last batch that was run.
        self._seconds_each = 0.0
        # Candidates, and plain builds beside the first of them, that were run since ``_last``.
        self._measured = 0
        self._last = elapsed()

    def tell(self, tried: Sequence[Tried], baselines: Sequence[Baseline]) -> None:
        """What was measured so far; results that were told before are passed over."""
        fresh = [each for each in tried if each.kernel.id not in self._told]
        ran: list[Tried | Baseline] = [*fresh, *(() if self._improvements else baselines)]
        self._measured += sum(each.record is None for each in ran)
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

    def more(self, recorded: Recorded | None = None) -> tuple[tuple[int, RankedVariant], ...]:
        """The next batch with places in the ranking; nothing once the budget is spent, or nothing is left.

        What is ``recorded`` takes no time: where there is too little for a batch, that part of it is left.
        """
        now = self._elapsed()
        if self._measured:
            self._seconds_each = (now - self._last) / self._measured
        self._last, self._measured = now, 0
        count = self._room(now)
        if not count or (recorded is None and self._late(now, count)):
            return ()
        for _ in range(_EMPTY):
            proposed = [each for each in self._search.propose(count) if each.id not in self._told]
            entries = [entry for each in proposed[:count] if (entry := self.space.entry(each)) is not None]
            if entries:
                return tuple(entries if recorded is None else self._affordable(now, entries, recorded))
        return ()

    def _room(self, now: float) -> int:
        """How many candidates to propose."""
        if self._budget.spent(now, list(self._told.values())):
            return 0
        return int(min(BATCH, self._budget.runs - len(self._told)))

    def _late(self, now: float, count: int) -> bool:
        """Whether even half of so many candidates, if they are run, would leave too little time for the final."""
        if count == 0:
            return False
        final = self._final_seconds([each for each in self._told.values() if each is not None])
        return now + count * self._seconds_each / 2 + final > self._budget.seconds

    def _affordable(
        self, now: float, entries: Sequence[tuple[int, RankedVariant]], recorded: Recorded
    ) -> Sequence[tuple[int, RankedVariant]]:
        """All of a batch, or what is recorded of it where there is no time to run the others."""
        if not self._late(now, len(entries)):
            return entries
        known = recorded(entries)
        if not self._late(now, len(entries) - len(known)):
            return entries
        return [each for each in entries if each[1].variant.id in known]

    @property
    def report(self) -> SearchReport:
        """What the search has tried by now, and what further trials may gain."""
        times = list(self._told.values())
        return SearchReport(
            self._strategy,
            len(times),
            self._elapsed(),
            tuple(self._improvements),
            expected_gain(times),
            self._search.gap if isinstance(self._search, ProvingSearch) else None,
        )


def _seconds(tried: Tried) -> float | None:
    return tried.measurement.seconds_median if tried.measurement.status == "ok" else None
