"""Execution order: when each statement instance runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Role = Literal["loop", "m", "n", "rows", "k", "batch", "call"]


@dataclass(frozen=True)
class Loop:
    """One dimension of time: ``direction * floor((iterator - origin) / size)``.

    ``size`` 1 is the loop itself; a larger one is the loop over tiles of that many iterations.
    ``iterator`` is an index into the statement's iterators. Loops that a microkernel takes over
    carry its role (``m``, ``n``, ``rows``, ``k`` or ``batch``); ``call`` is the role of loops that stand for a call
    which a pragma marked. Where the iterations run in parallel, each thread keeps its own sums in the arrays
    ``combined``, and they are added at the end; ``dynamic`` is as for ``Parallel``, ``unrolled`` for ``Unroll``.
    """

    name: str
    iterator: int
    size: int = 1
    origin: int = 0
    direction: int = 1
    parallel: bool = False
    role: Role = "loop"
    combined: tuple[str, ...] = ()
    dynamic: bool = False
    unrolled: bool = False

    def first(self, low: int, high: int) -> int:
        """The time of the first iteration, for an iterator from ``low`` to ``high``."""
        return self.direction * (((low if self.direction == 1 else high) - self.origin) // self.size)

    def last(self, low: int, high: int) -> int:
        """The time of the last iteration, likewise."""
        return self.direction * (((high if self.direction == 1 else low) - self.origin) // self.size)


@dataclass(frozen=True)
class Schedule:
    """When each statement instance runs.

    For each statement a tuple of time dimensions, outermost first: an ``int`` is a position in a
    sequence, a ``Loop`` a loop. Statements that share outer loops have equal leading dimensions.
    """

    statements: tuple[tuple[str, tuple[int | Loop, ...]], ...]

    def of(self, statement: str) -> tuple[int | Loop, ...]:
        for name, dimensions in self.statements:
            if name == statement:
                return dimensions
        raise KeyError(statement)
