"""Representatives within groups of a single iterator on either side, without a search.

Most groups are such: loops that an array's subscripts don't depend on, and subscripts that are the same iterator on
both sides. Every time dimension grows with its iterator where all loops run upwards, so the earliest instances are
those with the least values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from polydl.reuse.groups import Bounds, Linear

# Values of the source's iterator, of the nearest target's and of the farthest target's; of a side without one, none.
Values = tuple[int, ...]


class Dimension(NamedTuple):
    """A time dimension of a group: ``direction * floor((iterator - origin) / size)``."""

    #: whether source and target both run in it
    shared: bool
    size: int
    origin: int
    direction: int


def single_iterator_points(
    sources: Sequence[Bounds], targets: Sequence[Bounds], equations: Sequence[Linear], dimensions: Sequence[Dimension]
) -> list[tuple[Values | None, Values | None]] | None:
    """What ``GroupTable.points`` says without and with ``strict``, by the number of common steps.

    The arguments are those of ``Group``. None for a group that must be searched.
    """
    if len(sources) > 1 or len(targets) > 1 or any(each.direction < 0 for each in dimensions):
        return None
    if not (sources and targets):
        if equations or not (sources or targets):
            return None
        low, high = (*sources, *targets)[0]
        return [((low,) if sources else (low, high), None)]
    if sources[0] != targets[0] or not all(map(_is_identity, equations)):
        return None
    low, high = sources[0]
    shared = [each for each in dimensions if each.shared]
    if any(each.origin != low for each in shared):
        return None
    found: list[tuple[Values | None, Values | None]] = []
    # Of the earliest source, the last value in the same tiles of all common steps.
    last = high
    for common in range(len(shared) + 1):
        if equations:
            found.append(((low, low, low), None))
            continue
        strict: Values | None = None
        if common < len(shared):
            later = low + shared[common].size
            if later <= last:
                strict = low, later, last
            elif later <= high and not any(shared[common].size % each.size == 0 for each in shared[:common]):
                # Tiles that do not lie inside of each other: a later source may have a target.
                return None
        found.append(((low, low, last), strict))
        if common < len(shared):
            last = min(last, low + shared[common].size - 1)
    return found


def _is_identity(equation: Linear) -> bool:
    """Whether an equation says that the two iterators are equal."""
    terms, right = equation
    return right == 0 and len(terms) == 2 and terms[0][1] == -terms[1][1]
