"""Which variants of a ranking are run."""

from __future__ import annotations

from dataclasses import replace

from polydl.ir.ranking import RankedVariant, Ranking
from polydl.ir.variant import Interchange, Tile, UseMicrokernel, Variant
from polydl.ir.working_sets import WorkingSets
from polydl.optimization.picks import picks
from polydl.plan.kinds import kind


def variant(size: int, order: int, kernel: str = "c") -> Variant:
    loops = [("i", "j"), ("j", "i")][order % 2]
    return Variant(
        (
            Tile(0, "i", (64 * (1 + order), size)),
            UseMicrokernel(0, kernel, "i", "j", "k", (), ()),
            Interchange(0, loops),
        )
    )


def ranking(*variants: Variant) -> Ranking:
    sets = WorkingSets((), (), 0, "closed-form")
    return Ranking("cost-model", tuple(RankedVariant(each, sets, None, "") for each in variants))


def test_a_kind_is_the_microkernel_with_its_tiles() -> None:
    assert kind(variant(16, 0)) == kind(variant(16, 1))
    assert len({kind(each) for each in (variant(16, 0), variant(32, 0), variant(16, 0, "libxsmm"))}) == 3


def test_the_first_is_always_picked_and_many_of_a_kind_wait() -> None:
    alike = [variant(16, order) for order in range(12)]
    other = [variant(32, order) for order in range(3)]
    chosen = picks(ranking(*alike, *other), 5)
    # Products of place and number: 1, 2 * 2, 3 * 3, then 13 of the other kind before 4 * 4.
    assert [place for place, _ in chosen] == [1, 2, 3, 4, 13]
    assert [each.variant for _, each in chosen][-1] == other[0]
    assert [place for place, _ in picks(ranking(*alike, *other), 1)] == [1]


def test_picks_are_taken_from_both_orders_in_turns() -> None:
    """All of different kinds, so that nothing but the turns counts."""
    variants = [variant(16 * size, 0) for size in range(1, 9)]
    both = replace(ranking(*variants), second=tuple(each.id for each in reversed(variants)))
    assert [place for place, _ in picks(both, 4)] == [1, 2, 7, 8]
    assert [place for place, _ in picks(both, 5)] == [1, 2, 3, 7, 8]
    alike = replace(both, second=tuple(each.id for each in variants))
    assert [place for place, _ in picks(alike, 4)] == [1, 2, 3, 4]


def test_none_is_picked_twice_and_zero_means_all() -> None:
    ranked = ranking(*(variant(size, order) for size in (16, 32, 64) for order in range(4)))
    assert [place for place, _ in picks(ranked, 0)] == list(range(1, 13))
    assert [place for place, _ in picks(ranked, 99)] == list(range(1, 13))
    chosen = [place for place, _ in picks(ranked, 11)]
    assert len(set(chosen)) == 11
    assert chosen == sorted(chosen)
