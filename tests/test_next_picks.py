"""What is picked further where the plain nest is faster than the first picks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from records_by_hand import record
from test_baselines import timed

from polydl.contracts.search import Trial
from polydl.ir.measurement import Measurement, Status
from polydl.ir.ranking import RankedVariant, Ranking
from polydl.ir.variant import Interchange, NestStep, Tile, Unroll, Variant
from polydl.ir.working_sets import WorkingSets
from polydl.optimization.budget import Budget
from polydl.optimization.next_picks import NextPicks
from polydl.optimization.searching import Searching
from polydl.outcome.tried import Tried


def test_the_next_picks_are_asked_for_until_one_is_as_fast() -> None:
    entries = tuple(ranked(str(number)) for number in range(20))
    ranking = Ranking("r", entries)
    first = tuple(enumerate(entries[:4], 1))
    further = NextPicks(ranking, first, 4)
    assert further.more() == ()
    plain = [timed("plain", 1.0)]
    further.tell([tried(2.0)], plain)
    assert [len(further.more()) for _ in range(3)] == [4, 4, 0]
    for candidates in ([tried(2.0), tried(0.5)], [tried(2.0, "wrong")], []):
        further = NextPicks(ranking, first, 4)
        further.tell(candidates, plain)
        assert further.more() == ()
    further.tell([tried(2.0)], [])
    assert further.more() == (), "there is nothing to compare with"
    further.tell([tried(2.0, "inaccurate")], [])
    assert further.more() == ()
    further.tell([tried(2.0, "inaccurate"), tried(2.0, "crash")], plain)
    assert len(further.more()) == 4


def test_the_next_picks_are_twice_as_many_as_the_first_at_most() -> None:
    entries = tuple(ranked(str(number)) for number in range(20))
    # None of them would be picked again.
    further = NextPicks(Ranking("r", entries), tuple(enumerate(entries, 1))[16:], 4)
    further.tell([tried(2.0)], [timed("plain", 1.0)])
    assert [len(further.more()) for _ in range(3)] == [4, 4, 0]


def test_the_first_of_the_next_picks_has_the_plain_nests_loops() -> None:
    entries = [ranked(str(number), Unroll(0, "k")) for number in range(20)]
    entries[15] = ranked("tiled", Tile(0, "i", (8,)))
    entries[17] = ranked("plain")
    further = NextPicks(Ranking("r", tuple(entries)), tuple(enumerate(entries[:4], 1)), 4)
    further.tell([tried(2.0)], [timed("plain", 1.0)])
    assert [place for place, _ in further.more()] == [18, 5, 6, 7]


class Proposing:
    """A search that always has something to propose, and a space that has all of it."""

    def told(self, trials: Sequence[Trial]) -> None:
        pass

    def propose(self, count: int) -> list[Variant]:
        return [ranked(str(number)).variant for number in range(count)]

    def entry(self, variant: Variant) -> tuple[int, RankedVariant]:
        return 1, RankedVariant(variant, WorkingSets((), (), 0, "isl"), 1.0, "")


def test_a_batch_is_expected_to_take_as_long_for_each_candidate_as_what_was_measured_before() -> None:
    """The first picks are measured beside the plain builds, and may be many more than a batch."""
    plain = [timed(str(number), 1.0) for number in range(31)]
    for end, begun in ((22.0, True), (29.0, False)):
        times = iter([2.0, end, end])
        both: Any = Proposing()
        further = Searching(both, both, "ranked", Budget(seconds=30.0), partial(next, times))
        further.tell([tried(2.0)], plain)
        assert bool(further.more()) == begun


def test_a_batch_leaves_the_time_of_the_final() -> None:
    """A candidate and a plain build took 8 seconds, so that half of a batch takes 16."""
    for final, begun in ((6.0, True), (6.1, False)):
        both: Any = Proposing()
        times = iter([0.0, 8.0, 8.0])
        known: list[Sequence[float]] = []

        def left(seconds: Sequence[float], final: float = final, known: list[Sequence[float]] = known) -> float:
            known.append(seconds)
            return final

        further = Searching(both, both, "ranked", Budget(seconds=30.0), partial(next, times), left)
        further.tell([tried(2.0)], [timed("plain", 1.0)])
        assert bool(further.more()) == begun
        assert known == [[2.0]]


def test_what_is_recorded_takes_no_time() -> None:
    """Where there is too little for a whole batch, that part of it is left."""
    known = frozenset(ranked(str(number)).variant.id for number in range(3))
    asked: list[int] = []

    def recorded(entries: Sequence[tuple[int, RankedVariant]]) -> frozenset[str]:
        asked.append(len(entries))
        return known

    # What was measured before took a tenth of the time each.
    for end, count in ((21.0, 8), (23.0, 8), (25.0, 3), (29.9, 3), (30.0, 0)):
        both: Any = Proposing()
        times = iter([0.0, end, end])
        further = Searching(both, both, "ranked", Budget(seconds=30.0), partial(next, times))
        further.tell([tried(2.0)], [timed(str(number), 1.0) for number in range(9)])
        assert len(further.more(recorded)) == count
    assert asked == [8] * 3


def test_what_the_records_held_says_nothing_of_the_time_of_a_run() -> None:
    both: Any = Proposing()
    times = iter([0.0, 16.0, 16.0, 17.0, 17.0])
    further = Searching(both, both, "ranked", Budget(seconds=30.0), partial(next, times))
    further.tell([tried(2.0)], [timed("plain", 1.0)])
    assert further.more() == (), "half of a batch takes 32 seconds"
    further.tell([replace(tried(1.0), kernel=timed("y", 1.0).build.kernel, record=record())], [])
    assert further.more() == ()


class Proving(Proposing):
    gap = 0.25


def test_a_gap_is_that_of_the_search_that_proves_it() -> None:
    for search, gap in ((Proposing(), None), (Proving(), 0.25)):
        both: Any = search
        assert Searching(both, both, "ranked", Budget(runs=30), lambda: 0.0).report.gap == gap


def ranked(name: str, *steps: NestStep) -> RankedVariant:
    working_sets = WorkingSets((), (), 0, "isl")
    return RankedVariant(Variant((*steps, Interchange(0, (name,)))), working_sets, 1.0, "")


def tried(seconds: float, status: Status = "ok") -> Tried:
    measurement = Measurement("x", status, seconds_median=seconds)
    return Tried(1, ranked("x"), timed("x", seconds).build.kernel, measurement)
