"""The representatives of a dependence within one group of coupled iterators.

A dependence between boxes of instances is a system of linear equations between the iterators of the source and those of
the target. The system splits into groups of iterators without a common equation, so that the set of solutions is a
product. Its earliest point therefore consists of the earliest points of the groups, however their time dimensions
interleave. Groups are small: one iterator of either side as a rule, two in a convolution's ``oj + kj``. A group is
searched depth first in the order of time, with bounds propagation; the first solution is the earliest. Results depend
on the group alone and are kept.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from math import gcd

# Most nodes of one search tree.
_NODES = 20_000
# Most rounds of bounds propagation at one node.
_ROUNDS = 64

# Inclusive.
Bounds = tuple[int, int]
# An equation: (variable, coefficient) pairs, and their sum.
Linear = tuple[tuple[tuple[int, int], ...], int]


class SearchLimitError(Exception):
    """The search of a group exceeded its limit; isl decides the nest instead."""


@dataclass(frozen=True)
class CoupledDimension:
    """One time dimension of a group: ``direction * floor((iterator - origin) / size)``."""

    #: index of the source's iterator in the group, -1 for a dimension of the target alone
    source: int
    #: index of the target's iterator in the group, -1 for a dimension of the source alone
    target: int
    #: iterations of a tile; 1 for single ones
    size: int
    #: iteration at which the first tile begins
    origin: int
    #: 1 or -1
    direction: int

    @property
    def is_shared(self) -> bool:
        """Whether source and target both run in this loop."""
        return self.source >= 0 and self.target >= 0


@dataclass(frozen=True)
class CoupledIterators:
    """Coupled iterators of a source and a target, with their schedule."""

    #: bounds of the source's iterators
    sources: tuple[Bounds, ...]
    #: bounds of the target's iterators
    targets: tuple[Bounds, ...]
    #: over variables numbered from the source's iterators on
    equations: tuple[Linear, ...]
    #: the group's time dimensions, outermost first
    steps: tuple[CoupledDimension, ...]


@dataclass(frozen=True)
class GroupPoints:
    """Values of a group's iterators at the representatives."""

    #: earliest source
    source: tuple[int, ...]
    #: its first target
    nearest: tuple[int, ...]
    #: its last target
    farthest: tuple[int, ...]


@dataclass
class GroupTable:
    """The answers for one group."""

    group: CoupledIterators
    #: by number of common steps and by ``strict``
    known: dict[tuple[int, bool], GroupPoints | None] = field(default_factory=dict)

    def points(self, common: int, strict: bool) -> GroupPoints | None:
        """The representatives whose source and target have equal times in the first ``common`` shared steps.

        With ``strict``, the target is later in the next shared step. None where there is no such pair. Raises
        SearchLimitError.
        """
        key = (common, strict)
        if key not in self.known:
            self.known[key] = _Search(self.group, common, strict).run()
        return self.known[key]


@lru_cache(maxsize=1 << 15)
def group_table(group: CoupledIterators) -> GroupTable:
    """The table of a group, which is kept."""
    return GroupTable(group)


@dataclass(frozen=True)
class _Choice:
    """A level of the search tree: which tile contains a variable."""

    #: its number
    variable: int
    #: the time dimension whose tiles these are
    step: CoupledDimension
    #: whether earlier tiles are tried first
    ascending: bool
    #: variable that must be in the same tile, or in a later one
    partner: int | None = None
    #: whether ``partner`` must be in a later tile
    later: bool = False


class _Search:
    """One depth-first search; arguments are those of ``GroupTable.points``."""

    def __init__(self, group: CoupledIterators, common: int, strict: bool) -> None:
        self.group = group
        self.nodes = 0
        self.count = len(group.sources)
        shared = [(number, step) for number, step in enumerate(group.steps) if step.is_shared]
        self.equal = {number for number, _ in shared[:common]}
        self.later = shared[common][0] if strict else -1
        self.low = [b[0] for b in (*group.sources, *group.targets)]
        self.high = [b[1] for b in (*group.sources, *group.targets)]
        self.feasible = True
        self.equations = self._with_distances([step for _, step in shared], common, strict)

    def _with_distances(self, shared: list[CoupledDimension], common: int, strict: bool) -> list[Linear]:
        """The group's equations with each target iterator of a shared loop written as its source iterator + a distance.

        Distances are new variables. Equations between equal subscripts then involve distances alone.
        """
        distance: dict[int, tuple[int, int]] = {}
        equations: list[Linear] = []
        for number, step in enumerate(shared):
            source, target = step.source, self.count + step.target
            if target not in distance:
                variable = len(self.low)
                distance[target] = (source, variable)
                self.low.append(self.low[target] - self.high[source])
                self.high.append(self.high[target] - self.low[source])
                equations.append((((target, 1), (source, -1), (variable, -1)), 0))
            variable = distance[target][1]
            if number < common:
                self.low[variable] = max(self.low[variable], 1 - step.size)
                self.high[variable] = min(self.high[variable], step.size - 1)
            elif number == common and strict:
                if step.direction > 0:
                    self.low[variable] = max(self.low[variable], 1)
                else:
                    self.high[variable] = min(self.high[variable], -1)
                # A tile of an earlier step that lies inside one of this step leaves no later one.
                self.feasible = not any(
                    earlier.target == step.target
                    and step.size % earlier.size == 0
                    and (step.origin - earlier.origin) % earlier.size == 0
                    for earlier in shared[:common]
                )
        for terms, right in self.group.equations:
            coefficients: dict[int, int] = {}
            for variable, coefficient in terms:
                for part in distance.get(variable, (variable,)):
                    coefficients[part] = coefficients.get(part, 0) + coefficient
            equations.append((tuple((v, c) for v, c in coefficients.items() if c), right))
        return equations

    def run(self) -> GroupPoints | None:
        if not self.feasible:
            return None
        first: list[_Choice] = []
        for number, step in enumerate(self.group.steps):
            if step.source >= 0:
                tied = number in self.equal or number == self.later
                partner = self.count + step.target if tied else None
                first.append(_Choice(step.source, step, True, partner, number == self.later))
        nearest = self._descend([*first, *self._target_choices(True)], 0, self.low, self.high)
        if nearest is None:
            return None
        source = nearest[: self.count]
        low, high = [*source, *self.low[self.count :]], [*source, *self.high[self.count :]]
        last = self._descend([*first, *self._target_choices(False)], 0, low, high)
        assert last is not None, "a source with a nearest target has a farthest one"
        end = self.count + len(self.group.targets)
        return GroupPoints(tuple(source), tuple(nearest[self.count : end]), tuple(last[self.count : end]))

    def _target_choices(self, ascending: bool) -> list[_Choice]:
        return [
            _Choice(self.count + step.target, step, ascending)
            for number, step in enumerate(self.group.steps)
            if step.target >= 0 and number not in self.equal
        ]

    def _descend(self, choices: list[_Choice], depth: int, low: list[int], high: list[int]) -> list[int] | None:
        """The first solution within the bounds, as the value of each variable; None if there is none."""
        self.nodes += 1
        if self.nodes > _NODES:
            raise SearchLimitError
        low, high = list(low), list(high)
        if not _propagate(self.equations, low, high):
            return None
        if depth == len(choices):
            return low
        choice = choices[depth]
        step, variable = choice.step, choice.variable
        upward = (step.direction > 0) == choice.ascending
        at = low[variable] if upward else high[variable]
        while low[variable] <= at <= high[variable]:
            start = at - (at - step.origin) % step.size
            end = start + step.size - 1
            next_low, next_high = list(low), list(high)
            next_low[variable] = max(low[variable], start)
            next_high[variable] = min(high[variable], end)
            if choice.partner is not None:
                partner = choice.partner
                if not choice.later:
                    next_low[partner] = max(low[partner], start)
                    next_high[partner] = min(high[partner], end)
                elif step.direction > 0:
                    next_low[partner] = max(low[partner], end + 1)
                else:
                    next_high[partner] = min(high[partner], start - 1)
            point = self._descend(choices, depth + 1, next_low, next_high)
            if point is not None:
                return point
            at = end + 1 if upward else start - 1
        return None


def _propagate(equations: list[Linear], low: list[int], high: list[int]) -> bool:
    """Tightens the bounds by the equations, in place; False when no point is left."""
    if any(least > most for least, most in zip(low, high, strict=True)):
        return False
    for _ in range(_ROUNDS):
        changed = False
        for terms, right in equations:
            least = most = 0
            for variable, coefficient in terms:
                if coefficient > 0:
                    least += coefficient * low[variable]
                    most += coefficient * high[variable]
                else:
                    least += coefficient * high[variable]
                    most += coefficient * low[variable]
            if not least <= right <= most:
                return False
            divisor, rest = 0, right
            for variable, coefficient in terms:
                if low[variable] == high[variable]:
                    rest -= coefficient * low[variable]
                    continue
                divisor = gcd(divisor, coefficient)
                # Bounds of coefficient * variable when all other variables take any values in their bounds.
                if coefficient > 0:
                    from_below = right - most + coefficient * high[variable]
                    from_above = right - least + coefficient * low[variable]
                    new_low, new_high = -(-from_below // coefficient), from_above // coefficient
                else:
                    from_below = right - most + coefficient * low[variable]
                    from_above = right - least + coefficient * high[variable]
                    new_low, new_high = -(from_above // -coefficient), from_below // coefficient
                if new_low > low[variable]:
                    low[variable] = new_low
                    changed = True
                if new_high < high[variable]:
                    high[variable] = new_high
                    changed = True
                if low[variable] > high[variable]:
                    return False
            if divisor and rest % divisor:
                return False
        if not changed:
            return True
    return True
