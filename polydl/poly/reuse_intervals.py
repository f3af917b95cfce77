"""The instances that run between two points in time, in few pieces."""

from __future__ import annotations

from typing import Protocol, Self, TypeVar

from polydl.poly.reuse_references import Time


class Region(Protocol):
    """Some instances of one statement, of which there is at least one."""

    @property
    def levels(self) -> int:
        """The number of time dimensions."""
        ...

    def within(self, level: int, earliest: int, latest: int) -> Self | None:
        """The instances for which a time dimension lies in a range; None when there are none."""
        ...

    def time_range(self, level: int) -> tuple[int, int]:
        """The least and the greatest value of a time dimension."""
        ...


R = TypeVar("R", bound=Region)


def instances_between(region: R, first: Time, last: Time) -> list[R]:
    """The part of a region from ``first`` to ``last``, both included, in disjoint pieces.

    A point with fewer dimensions stands for all points that begin so. There are at most two pieces per dimension and
    one more: instances that leave the first point's path at some dimension, those in between, and those that have yet
    to leave the last point's path. Where neighbouring pieces make up a region together, they are one.
    """
    current = region
    for level in range(min(region.levels, len(first), len(last))):
        low, high = first[level], last[level]
        if low == high:
            fixed = current.within(level, low, low)
            if fixed is None:
                return []
            current = fixed
            continue
        pieces: list[R] = []
        before = current.within(level, low, low)
        if before is not None:
            head, whole = _one_sided(before, first, level + 1, later=True)
            if whole:
                low -= 1
            else:
                pieces += head
        after = current.within(level, high, high)
        if after is not None:
            tail, whole = _one_sided(after, last, level + 1, later=False)
            if whole:
                high += 1
            else:
                pieces += tail
        middle = current.within(level, low + 1, high - 1)
        return pieces if middle is None else [*pieces, middle]
    return [current]


def _one_sided(region: R, bound: Time, start: int, later: bool) -> tuple[list[R], bool]:
    """The part that is not before (``later``) or not after ``bound`` from dimension ``start`` on, and whether it is all."""
    settled: list[R] = []
    # Pieces since something was last left out; together with what remains at the bound they make up ``rest``.
    pending: list[R] = []
    rest, current, whole = region, region, True
    for level in range(start, min(region.levels, len(bound))):
        value = bound[level]
        earliest, latest = current.time_range(level)
        if later:
            beyond = current.within(level, value + 1, latest)
            left_out = value > earliest
        else:
            beyond = current.within(level, earliest, value - 1)
            left_out = value < latest
        if beyond is not None:
            pending.append(beyond)
        at_bound = current.within(level, value, value)
        if left_out:
            settled += pending
            pending, whole = [], False
            if at_bound is None:
                return settled, False
            rest = at_bound
        if at_bound is None:
            break
        current = at_bound
    return [*settled, rest], whole
