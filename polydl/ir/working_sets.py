"""Working sets of dependences, and the cache levels that hold them. Sizes are in bytes unless a name says otherwise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

DependenceKind = Literal["RAW", "WAR", "WAW", "RAR"]


class DependenceWorkingSet(NamedTuple):
    """The working sets of one dependence (paper, Algorithm 1): all data touched from its source to its target.

    The minimum is over the nearest target of a source, the maximum over its farthest one. A variant has dozens of them:
    a tuple with names is made in a fifth of the time of other objects.
    """

    #: kinds of the dependences with these source, target and loop
    kinds: tuple[DependenceKind, ...]
    #: the array through which they depend
    array: str
    #: statement of the source
    source: str
    #: statement of the target
    target: str
    #: name of the loop that carries the dependence; "" where the order of the statements does
    loop: str
    #: whether it spans a parallel loop; then minimum and maximum are equal
    parallel: bool
    minimum_elements: int
    maximum_elements: int
    minimum_bytes: int
    maximum_bytes: int


@dataclass(frozen=True)
class WorkingSets:
    """All working sets of a variant, and how much of them each cache level holds (paper, Algorithm 2)."""

    dependences: tuple[DependenceWorkingSet, ...]
    #: bytes that fit each cache, innermost first
    levels: tuple[int, ...]
    #: bytes that fit no cache
    memory: int
    #: how points were counted
    method: Literal["closed-form", "isl"]
    #: size of a cache line if sizes are those of whole lines, else None
    line_bytes: int | None = None
