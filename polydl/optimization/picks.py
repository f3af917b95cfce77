"""Which variants of a ranking are run: its first, but not many that differ from each other in little."""

from __future__ import annotations

from collections.abc import Sequence

from polydl.ir.ranking import RankedVariant, Ranking
from polydl.ir.variant import Variant
from polydl.plan.kinds import kind
from polydl.plan.rewrite_steps import has_fewer_products


def picks(ranking: Ranking, count: int) -> tuple[tuple[int, RankedVariant], ...]:
    """``count`` variants with their places in the ranking (1 is first), in the order of these; 0 for all.

    Where the ranking has a second order, the two take turns: its first variants come second, fourth and so on.

    Predictions of neighbours in a ranking often differ by less than their error, and where one is wrong those of its
    kind are wrong alike. So a variant waits the longer, the more of its kind were picked: each time the one with
    the smallest product of its turn and one more than that number comes next. Last come, up to a third of all, those
    that multiply transforms of tiles or sums of quarters (or that don't) where few of these do, and the first of
    microkernels that none of these use in the same way.
    """
    places = list(enumerate(ranking.entries, 1))
    if not count or count >= len(places):
        return tuple(places)
    turns = _in_turns(ranking, places)
    strangers = _strangers(turns, count)
    waiting: dict[tuple[object, ...], list[tuple[int, tuple[int, RankedVariant]]]] = {}
    for turn, place in reversed(list(enumerate(turns, 1))):
        if place not in strangers:
            waiting.setdefault(kind(place[1].variant), []).append((turn, place))
    picked: dict[tuple[object, ...], int] = dict.fromkeys(waiting, 0)
    chosen: list[tuple[int, RankedVariant]] = []
    while len(chosen) < count - len(strangers):
        nearest = min((each for each in waiting if waiting[each]), key=lambda k: waiting[k][-1][0] * (1 + picked[k]))
        chosen.append(waiting[nearest].pop()[1])
        picked[nearest] += 1
    return tuple(sorted([*chosen, *strangers], key=lambda place: place[0]))


def _in_turns(ranking: Ranking, places: Sequence[tuple[int, RankedVariant]]) -> list[tuple[int, RankedVariant]]:
    """All places, the ranking's and those of its second order in turns."""
    by_id = {place[1].variant.id: place for place in places}
    second = [by_id[identity] for identity in ranking.second] or places
    taken = {place[0]: place for both in zip(places, second, strict=True) for place in both}
    return list(taken.values())


def _strangers(places: Sequence[tuple[int, RankedVariant]], count: int) -> list[tuple[int, RankedVariant]]:
    """The first variants that multiply as too few of the first ``count`` do.

    What is predicted of two ways may not compare. Of products one by one and of fewer products there are to be a
    quarter of ``count`` each, all of different kinds, and in either way one of each set of microkernels.
    """
    found: list[tuple[int, RankedVariant]] = []
    for way, least in ((has_fewer_products, count // 4), (_way, 1)):
        known: dict[object, set[object]] = {}
        for _, entry in (*places[:count], *found):
            known.setdefault(way(entry.variant), set()).add(kind(entry.variant))
        for place in places[count:]:
            variant = place[1].variant
            same = known.setdefault(way(variant), set())
            if variant.microkernels and len(same) < least and kind(variant) not in same:
                same.add(kind(variant))
                found.append(place)
    return found[: count // 3]


def _way(variant: Variant) -> tuple[bool, frozenset[str]]:
    return has_fewer_products(variant), frozenset(variant.microkernels.values())
