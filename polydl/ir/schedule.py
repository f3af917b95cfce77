"""Schedules: the time at which each statement instance runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Role = Literal["loop", "m", "n", "rows", "k", "batch", "call"]


@dataclass(frozen=True)
class Loop:
    """One dimension of time: ``direction * floor((iterator - origin) / size)``."""

    name: str
    #: index into the statement's iterators
    iterator: int
    #: iterations of the source loop in one of this one: 1 is the loop itself, more is a loop over tiles
    size: int = 1
    #: value of the iterator at which the first tile begins
    origin: int = 0
    #: 1 or -1: whether the iterator counts up or down
    direction: int = 1
    #: whether threads share the iterations
    parallel: bool = False
    #: what the loop is to a microkernel that takes it over (``m``, ``n``, ``rows``, ``k``, ``batch``); ``call`` for a
    #: loop that a pragma's call stands for; ``loop`` for one that is generated
    role: Role = "loop"
    #: of a parallel loop: arrays that each thread sums into a copy of, all of which are added up at the end
    combined: tuple[str, ...] = ()
    #: of a parallel loop: as ``Parallel.dynamic``
    dynamic: bool = False
    #: as ``Unroll``
    unrolled: bool = False

    def first(self, low: int, high: int) -> int:
        """The time of the first iteration, for an iterator from ``low`` to ``high``."""
        return self.direction * (((low if self.direction == 1 else high) - self.origin) // self.size)

    def last(self, low: int, high: int) -> int:
        """The time of the last iteration, for an iterator from ``low`` to ``high``."""
        return self.direction * (((high if self.direction == 1 else low) - self.origin) // self.size)


@dataclass(frozen=True)
class Schedule:
    """The time of each statement instance; instances run in the lexicographic order of their times.

    An ``int`` among a statement's dimensions is a position in a sequence, a ``Loop`` a loop. Statements that share
    outer loops have equal leading dimensions.
    """

    #: (statement, its time dimensions from the outermost in)
    statements: tuple[tuple[str, tuple[int | Loop, ...]], ...]

    def of(self, statement: str) -> tuple[int | Loop, ...]:
        """The time dimensions of a statement. Raises KeyError."""
        for name, dimensions in self.statements:
            if name == statement:
                return dimensions
        raise KeyError(statement)
