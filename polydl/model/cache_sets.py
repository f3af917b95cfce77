"""What leaves a cache between two uses, when lines compete for the places of their set only."""

from __future__ import annotations

from functools import lru_cache
from math import ceil, floor
from typing import NamedTuple

from polydl.machine import Core

# Numbers of lines and chances that differ by less do so by rounding alone.
_NEVER = 1e-9


class Geometry(NamedTuple):
    """A cache as a line sees it, which may lie in any of ``ways`` places of one of ``sets`` sets."""

    sets: int
    ways: int


def geometry(size: int, core: Core, ways: int | None = None) -> Geometry:
    """The geometry of a cache of ``size`` bytes.

    Without ``ways``, lines compete if they have the same place in their pages. First-level caches are built like
    that, and of the others a program decides no more: chance decides where its pages lie.
    """
    lines = max(1, size // core.line_bytes)
    if ways is not None:
        return Geometry(max(1, lines // ways), min(ways, lines))
    sets = max(1, min(core.page_bytes // core.line_bytes, lines // core.fewest_ways))
    return Geometry(sets, max(1, lines // sets))


class Occupancy(NamedTuple):
    """``lines`` that lie, as evenly as can be, in ``sets`` of a cache's sets. Averages, so not whole numbers."""

    lines: float
    sets: float

    def again(self, factor: float, all_sets: int) -> Occupancy:
        """``factor`` times the lines in as many times the sets, at most ``all_sets``; the same for a factor up to 1."""
        return Occupancy(self.lines * factor, min(float(all_sets), self.sets * factor)) if factor > 1.0 else self

    def most(self) -> int:
        """The most that any set holds of them."""
        return ceil(self.lines / self.sets - _NEVER)

    def least(self, all_sets: int) -> int:
        """The least that any set holds of them."""
        return floor(self.lines / self.sets + _NEVER) if self.sets >= all_sets else 0


@lru_cache(maxsize=1 << 14)
def evicted(lines: Occupancy, others: tuple[Occupancy, ...], cache: Geometry) -> float:
    """The share of ``lines`` that are gone when each is used again after all lines, ``others`` too, were used.

    A set keeps the lines used last. Streams fall into sets independently of each other.
    """
    held_by_set = max(1.0, lines.lines / lines.sets)
    low, most = floor(held_by_set + _NEVER), ceil(held_by_set - _NEVER)
    if most + sum([other.most() for other in others]) <= cache.ways:
        return 0.0
    if low + sum([other.least(cache.sets) for other in others]) > cache.ways:
        return 1.0
    # How many lines the set of one of them holds: fuller sets count for more of them.
    above = max(0.0, held_by_set - low)
    held = {low: low * (1.0 - above) / held_by_set, low + 1: (low + 1) * above / held_by_set}
    for other in others:
        combined: dict[int, float] = {}
        for count, chance in _distribution(other, cache.sets):
            for already, probability in held.items():
                together = min(already + count, cache.ways + 1)
                combined[together] = combined.get(together, 0.0) + probability * chance
        held = combined
    return sum([probability for count, probability in held.items() if count > cache.ways])


def _distribution(lines: Occupancy, all_sets: int) -> list[tuple[int, float]]:
    """How many of the lines a set holds, with probabilities."""
    share, each = min(1.0, lines.sets / all_sets), lines.lines / lines.sets
    low = floor(each + _NEVER)
    above = max(0.0, each - low)
    found = ((low, share * (1.0 - above)), (low + 1, share * above), (0, 1.0 - share))
    return [(count, probability) for count, probability in found if probability > _NEVER]
