"""Random assignments: some decisions drawn together, in whatever way is even, and the others one after the other."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from polydl.variants.decisions import Assignment, Constraint, DecisionSpace


@dataclass(frozen=True)
class Draw:
    """How some decisions get values at random."""

    #: Of the decisions that get values.
    names: tuple[str, ...]
    #: From the values of decisions that were drawn before. None if it finds no values.
    draw: Callable[[Assignment, random.Random], Assignment | None]


@dataclass(frozen=True, eq=False)
class Sampler:
    """Random assignments of a space.

    Draws come first, one after the other. What they give is refused as soon as a constraint breaks of which all
    decisions have values. Decisions that are left are taken one by one, each evenly among the values that propagation
    leaves to it: every legal assignment may come, though not all are equally likely.
    """

    space: DecisionSpace
    #: What gives values to some decisions at once, in this order.
    draws: tuple[Draw, ...] = ()

    @cached_property
    def _asked(self) -> tuple[tuple[Constraint, ...], ...]:
        """For each draw, the constraints of which it gives the last values."""
        known: set[str] = set()
        waiting = list(zip(self.space.constraints, self.space.scopes, strict=True))
        asked = []
        for draw in self.draws:
            known.update(draw.names)
            asked.append(tuple(constraint for constraint, scope in waiting if scope <= known))
            waiting = [(constraint, scope) for constraint, scope in waiting if not scope <= known]
        return tuple(asked)

    @cached_property
    def _complete(self) -> bool:
        """Whether nothing is left to ask once all draws are made."""
        return {name for draw in self.draws for name in draw.names} == {*self.space.names}

    def sample(self, generator: random.Random) -> dict[str, Any] | None:
        """An assignment, or None if what was drawn is not legal."""
        values: dict[str, Any] = {}
        for draw, constraints in zip(self.draws, self._asked, strict=True):
            drawn = draw.draw(values, generator)
            if drawn is None:
                return None
            values.update(drawn)
            for constraint in constraints:
                if constraint.broken(values) is not None:
                    return None
        if self._complete:
            return values
        candidate = self.space.root
        for drawn_name, value in values.items():
            candidate = None if candidate is None else candidate.take(drawn_name, value)
        while candidate is not None and (name := candidate.next_decision) is not None:
            candidate = candidate.take(name, generator.choice(candidate.values(name)))
        return None if candidate is None else candidate.decided
