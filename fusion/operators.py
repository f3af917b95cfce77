"""Nests as operators: what they write, and whether they are element-wise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import islpy as isl

from polydl.ir.scop import Scop
from polydl.ir.statement import AccessKind, Statement
from polydl.poly.counting import count
from polydl.poly.nests import Nest


@dataclass(frozen=True)
class Operator:
    """One nest of a distributed scop."""

    #: of this nest alone
    scop: Scop
    #: among the nests of the whole
    nest: Nest

    @property
    def index(self) -> int:
        """Its place among the nests of the scop."""
        return self.nest.index

    @cached_property
    def statements(self) -> tuple[Statement, ...]:
        return tuple(self.scop.statement(name) for name in self.nest.statements)

    @property
    def lines(self) -> tuple[int, int]:
        """First and last line of its statements."""
        lines = [statement.line for statement in self.statements]
        return min(lines), max(lines)

    @property
    def place(self) -> str:
        """Where it is in the source, as in ``lines 7-9``."""
        first, last = self.lines
        return f"line {first}" if first == last else f"lines {first}-{last}"

    @cached_property
    def write_set(self) -> Mapping[str, isl.Set]:
        """The elements that it writes, by array."""
        found: dict[str, isl.Set] = {}
        for statement in self.statements:
            for access in statement.writes:
                elements = isl.Map(access.relation).range()
                found[access.array] = elements.union(found[access.array]) if access.array in found else elements
        return found

    @cached_property
    def excess(self) -> tuple[Statement, int] | None:
        """A statement that runs more often than it writes elements, and their number; None if element-wise."""
        for statement in self.statements:
            # Whether no element is written twice is asked of the subscripts: counting those that linear ones reach may
            # take isl minutes.
            if len(statement.writes) == 1 and isl.Map(statement.writes[0].relation).is_injective():
                continue
            elements = sum(count(isl.Map(access.relation).range()) for access in statement.writes)
            if statement.instances != elements:
                return statement, elements
        return None

    @property
    def arrays(self) -> set[str]:
        """The names of all arrays that it reads or writes."""
        return {access.array for statement in self.statements for access in statement.accesses}


def operators(scop: Scop, nests: Sequence[Nest]) -> tuple[Operator, ...]:
    """The nests in the order in which they run."""
    return tuple(Operator(scop, nest) for nest in nests)


def touches(operator: Operator, elements: Mapping[str, isl.Set]) -> tuple[Statement, AccessKind, str] | None:
    """The first access of ``operator`` that meets one of ``elements``, exactly."""
    for statement in operator.statements:
        for access in statement.accesses:
            known = elements.get(access.array)
            if known is not None and not isl.Map(access.relation).range().is_disjoint(known):
                return statement, access.kind, access.array
    return None
