"""Which variants of a ranking are run: the first picks, and what proposes further ones beyond them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf

from polydl.arguments import of_type
from polydl.errors import OptionError
from polydl.optimization.budget import BUDGETS, Budget, require_budget
from polydl.optimization.next_picks import NextPicks
from polydl.optimization.ranked import Picks, RankedVariants
from polydl.optimization.search_space import RankedSpace
from polydl.optimization.searching import Searching
from polydl.optimization.shards import Shard
from polydl.pipeline import strategy_named
from polydl.registry import DEFAULT_STRATEGY
from polydl.system.clock import Clock
from polydl.system.waiting import waited


@dataclass(frozen=True)
class Selection:
    """Which variants are run, beside what their ranking says."""

    #: how many of the ranking's picks come first; 0 for all variants
    count: int
    #: whether the variants are the caller's own
    given: bool
    #: whether decisions were taken beforehand
    pinned: bool
    #: whether the first variant that fuses nothing is run in any case
    with_unfused: bool
    #: the part of the picks that is run; None for all
    part: Shard | None
    #: how far a search goes on from the picks; None for no search
    limit: Budget | None
    #: the search's name
    strategy: str
    #: of what is drawn by lot
    seed: int

    @property
    def most(self) -> int | None:
        """How many variants are run at most; None for no such limit."""
        return None if self.limit is None or self.limit.runs == inf else int(self.limit.runs)

    @property
    def first(self) -> int:
        """``count``, or fewer where no more are run."""
        most = self.most
        return self.count if most is None else min(self.count or most, most)

    @property
    def is_whole(self) -> bool:
        """Whether the ranking alone says what is run: all parts of a whole have the same one."""
        return not self.given and self.part is None


def limit_and_part(
    budget: str | Budget | None, shard: str | Shard | None, strategy: str, *, given: bool
) -> tuple[Budget | None, Shard | None]:
    """How far a search goes, and which part of the picks is run.

    ``given`` says whether the variants are the caller's own. Raises OptionError for what is neither, for an unknown
    strategy, and for what exclude each other or lack each other: a strategy is that of a search with a budget.
    """
    limit = Budget.parse(budget) if isinstance(budget, str) else budget
    part = Shard.parse(shard) if isinstance(shard, str) else shard
    if limit is not None:
        of_type("budget", limit, Budget, remedy=f"write {BUDGETS}, as a text")
    if part is not None:
        of_type("shard", part, Shard, remedy='write "1/4" to "4/4" for four parts')
    if strategy != DEFAULT_STRATEGY:
        strategy_named(strategy)
        require_budget(strategy, limit)
    if limit is not None and part is not None:
        raise OptionError("a search with a budget has no parts", remedy="leave out --budget or --shard")
    if limit is not None and given:
        raise OptionError("a budget, and variants of the caller's own", remedy="leave one of them out")
    return limit, part


def spending(clock: Clock, limit: Budget | None) -> Callable[[], float]:
    """Says what of a budget's time is spent: since the clock was started, and before, but without waits for a machine
    that others were using.
    """
    before, waited_before = (0.0 if limit is None else limit.before), waited()
    return lambda: before + clock.elapsed() - (waited() - waited_before)


def chosen_picks(ranked: RankedVariants, selection: Selection, *, runs: bool) -> tuple[RankedVariants, Picks]:
    """What is run first, with places in a ranking that has all of it.

    Where anything ``runs`` and the search is not bound, forms of picks on one thread and what isl's scheduler gives
    join the picks.
    """
    most = selection.most
    chosen = ranked.first_picks(selection.first, with_unfused=selection.with_unfused)
    if runs and not selection.given and not selection.pinned:
        more = ranked.on_one_thread(chosen)
        if selection.count:
            more += ranked.by_isl_alone(chosen)
        ranked, chosen = ranked.with_more(chosen, more if most is None else more[: max(most - len(chosen), 0)])
    return ranked, chosen if selection.part is None else selection.part.of(chosen)


def further_picks(
    ranked: RankedVariants,
    chosen: Picks,
    selection: Selection,
    elapsed: Callable[[], float],
    final_seconds: Callable[[Sequence[float]], float],
) -> Searching | NextPicks | None:
    """What proposes variants beyond the picks: a search, or the next ones of the ranking; None for nothing.

    Of a search, ``elapsed`` is the time of which its budget is spent, and ``final_seconds`` what is left to do after
    the last batch takes where candidates took such times.
    """
    if selection.limit is not None:
        space = RankedSpace(ranked)
        search = strategy_named(selection.strategy).begin(space, seed=selection.seed)
        return Searching(space, search, selection.strategy, selection.limit, elapsed, final_seconds)
    return NextPicks(ranked.ranking, chosen, selection.count) if selection.is_whole else None
