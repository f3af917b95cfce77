"""The statement instances that run between two points in time, as few disjoint regions."""

from __future__ import annotations

from typing import Generic, Protocol, Self, TypeVar

from polydl.reuse.references import Time


class Region(Protocol):
    """A set of instances of one statement, never empty."""

    @property
    def levels(self) -> int:
        """The number of time dimensions."""
        ...

    def within(self, level: int, earliest: int, latest: int) -> Self | None:
        """The instances whose time dimension ``level`` is in the range, bounds included; None when there are none."""
        ...

    def time_range(self, level: int) -> tuple[int, int]:
        """The least and the greatest value of a time dimension."""
        ...


R = TypeVar("R", bound=Region)


class Intervals(Generic[R]):
    """Answers for one statement: its instances in any interval of time. Partial answers are kept."""

    def __init__(self, region: R) -> None:
        self._region = region
        # The instances with a given time prefix, and those after a point with the same prefix, are needed repeatedly.
        self._paths: dict[Time, R | None] = {(): region}
        self._heads: dict[tuple[Time, int], tuple[list[R], bool]] = {}

    def between(self, first: Time, last: Time) -> list[R]:
        """The instances from ``first`` to ``last``, both included, as disjoint regions.

        A time prefix stands for all points that begin with it. There are at most two regions per dimension and one
        more: the instances after ``first`` that share a prefix with it, those in between, and those before ``last``
        that share a prefix with it. Neighbouring ones are joined where they form one region.
        """
        known = min(self._region.levels, len(first), len(last))
        level = 0
        while level < known and first[level] == last[level]:
            level += 1
        current = self._path(first[:level])
        if current is None:
            return []
        if level == known:
            return [current]
        low, high = first[level], last[level]
        head, whole = self._head(current, first, level)
        if whole:
            head, low = [], low - 1
        tail: list[R] = []
        after = current.within(level, high, high)
        if after is not None:
            tail, whole = _one_sided(after, last, level + 1, later=False)
            if whole:
                tail, high = [], high + 1
        middle = current.within(level, low + 1, high - 1) if low + 1 < high else None
        return [*head, *tail] if middle is None else [*head, middle, *tail]

    def range_after(self, point: Time) -> tuple[int, int] | None:
        """The least and the greatest value of the next dimension among instances with the time prefix ``point``.

        None if there are no such instances.
        """
        region = self._path(point)
        return None if region is None else region.time_range(len(point))

    def _path(self, point: Time) -> R | None:
        """The instances with the time prefix ``point``; None if there are none."""
        if point not in self._paths:
            outer = self._path(point[:-1])
            self._paths[point] = None if outer is None else outer.within(len(point) - 1, point[-1], point[-1])
        return self._paths[point]

    def _head(self, current: R, first: Time, level: int) -> tuple[list[R], bool]:
        """The instances not before ``first`` that share its first ``level + 1`` dimensions; whether they are all such.

        ``current`` are those that share its first ``level`` dimensions.
        """
        key = (first, level)
        if key not in self._heads:
            before = current.within(level, first[level], first[level])
            self._heads[key] = ([], False) if before is None else _one_sided(before, first, level + 1, later=True)
        return self._heads[key]


def _one_sided(region: R, bound: Time, start: int, later: bool) -> tuple[list[R], bool]:
    """The part of ``region`` not before ``bound`` (if ``later``) or not after it, and whether it is the whole region.

    All instances agree with ``bound`` in the dimensions before ``start``.
    """
    pieces: list[R] = []
    # The dimensions since instances were last left out. The parts beyond the bound in them belong to ``rest``.
    pending: list[tuple[R, int, int, int]] = []
    rest, current, whole = region, region, True
    for level in range(start, min(region.levels, len(bound))):
        value = bound[level]
        earliest, latest = current.time_range(level)
        if earliest == value == latest:
            continue
        if later:
            left_out = value > earliest
            beyond = (max(value + 1, earliest), latest)
        else:
            left_out = value < latest
            beyond = (earliest, min(value - 1, latest))
        if beyond[0] <= beyond[1]:
            pending.append((current, level, *beyond))
        at_bound = current.within(level, value, value) if earliest <= value <= latest else None
        if left_out:
            pieces += [piece for piece in (before.within(*limits) for before, *limits in pending) if piece is not None]
            pending, whole = [], False
            if at_bound is None:
                return pieces, False
            rest = at_bound
        if at_bound is None:
            break
        current = at_bound
    return [*pieces, rest], whole
