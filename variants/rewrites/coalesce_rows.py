"""Short rows of plain loops run as one long row, before anything else is tried.

Seven, 14 or 28 pixels of a row-major image are no whole vectors, and each row starts and ends a loop. Where all that
the statements access goes on through memory from one row to the next, as the channels of an image do in a batch
normalization, one loop over all pixels does the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from random import Random
from typing import Annotated, ClassVar

from polydl.errors import IllegalVariantError
from polydl.ir.families import LAYOUT
from polydl.ir.numerics import EXACT, Rounding
from polydl.ir.scop import Scop
from polydl.ir.statement import Statement
from polydl.ir.variant import LoopName, RewriteStep, StatementName
from polydl.machine import Machine
from polydl.poly.dependences import Dependence, dependences
from polydl.rewrite_contract import Phase, Proposal, Request
from polydl.variants.rewrites.coalesce import Coalesce, coalesce, coalesced_loop

# Rows of so many vectors gain nothing by being joined if all of these are whole.
_LONG = 8


@dataclass(frozen=True)
class CoalesceRows(RewriteStep):
    """Run the innermost loops of a statement as one, and those of all others over arrays that it accesses.

    The loops of the source need not be distributed: those outside may be shared with other statements.
    """

    json_name: ClassVar[str] = "coalesce_rows"

    statement: StatementName
    loops: Annotated[tuple[LoopName, ...], "Two or more of its loops, outermost first, the innermost one last."]


@dataclass(frozen=True)
class CoalesceRowsRewrite:
    """The rewrite ``coalesce_rows``, which gives plain loops longer rows. It is exact."""

    step: type[CoalesceRows] = CoalesceRows
    families: frozenset[str] = frozenset({LAYOUT})
    phase: Phase = Phase.SOURCE

    def rounding(self, scop: Scop, step: CoalesceRows) -> Rounding:
        return EXACT

    def apply(self, scop: Scop, step: CoalesceRows, known: Sequence[Dependence], *, reassociate: bool) -> Scop:
        return coalesce_rows(scop, step, known, reassociate=reassociate)

    def propose(self, request: Request) -> Iterator[Proposal]:
        """As many loops as rows go on through, where one row is short or ends in a part of a vector."""
        scop = request.scop
        inside = [each for each in scop.statements if each.betas[0] == request.statement.betas[0]]
        for statement in sorted(inside, key=attrgetter("instances"), reverse=True):
            if _has_short_rows(scop, statement, request.machine):
                for first in range(statement.depth - 1):
                    yield Proposal((CoalesceRows(statement.name, statement.iterators[first:]),), for_microkernel=False)

    def drawn(self, scop: Scop, statement: Statement, draw: Random) -> Iterator[tuple[CoalesceRows]]:
        """Any number of innermost loops."""
        if statement.depth > 1:
            yield (CoalesceRows(statement.name, statement.iterators[draw.randrange(statement.depth - 1) :]),)

    def describe(self, scop: Scop, step: CoalesceRows) -> str:
        return f"{' and '.join(step.loops)} of {step.statement} as one loop, with all that goes through the same arrays"


def _has_short_rows(scop: Scop, statement: Statement, machine: Machine) -> bool:
    """Whether the innermost of several loops is short, or ends in a part of a vector."""
    if statement.depth < 2 or statement.box is None:
        return False
    low, high = statement.box[-1]
    lanes = min(machine.vector_elements(scop.array(each.array).element_bytes) for each in statement.accesses)
    return high - low + 1 < _LONG * lanes or (high - low + 1) % lanes != 0


COALESCE_ROWS = CoalesceRowsRewrite()


def coalesce_rows(scop: Scop, step: CoalesceRows, known: Sequence[Dependence], *, reassociate: bool) -> Scop:
    """The scop with these loops as one. Raises IllegalVariantError if they can't be, or are not the innermost ones."""
    statement = scop.statement(step.statement)
    if len(step.loops) < 2 or statement.iterators[-len(step.loops) :] != step.loops:
        raise IllegalVariantError(f"{list(step.loops)} are not the innermost loops of {step.statement}")
    *outer, inner = step.loops
    for loop in reversed(outer):
        joined = coalesced_loop(scop, loop, inner)
        scop = coalesce(scop, Coalesce(step.statement, loop, inner), known, reassociate=reassociate)
        known, inner = dependences(scop), joined
    return scop
