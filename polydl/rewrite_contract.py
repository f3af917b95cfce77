"""The contract of a rewrite: a plug-in that makes another scop of a scop.

A rewrite is one file: its step, how it is applied, when it is worth trying, and how it reads. Built-in ones are in
``variants/rewrites``; other distributions offer theirs under the entry-point group ``polydl.rewrites``, by the name
that its step has in JSON. ``polydl.plan.rewriting`` applies a variant's rewrites one after the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from polydl.ir.numerics import UNKNOWN, Rounding
from polydl.ir.scop import Scop
from polydl.ir.statement import Statement
from polydl.ir.variant import Attach, RewriteStep
from polydl.machine import Machine

if TYPE_CHECKING:
    from random import Random

    # Who asks what a recorded variant's rewrites are for needs no isl.
    from polydl.match.product import GemmMatch
    from polydl.poly.dependences import Dependence


class Phase(Enum):
    """For what a rewrite is proposed, and after which others."""

    #: once for each outermost loop of the source, by its first statement, where no nest has a microkernel; nests need
    #: not come one after the other. The first one that is legal takes the source's place in all that is tried after it
    SOURCE = "source"
    #: once for each outermost loop of the source, by its first statement, before every other rewrite; nests need not
    #: come one after the other. Others are tried on what it makes as on the source
    PREPARATION = "preparation"
    #: for every statement; all that it is proposed for get it at once, and others are tried before and after that
    NORMALIZATION = "normalization"
    #: for one statement at a time, in the source, after a fusion and after each normalization
    STATEMENT = "statement"
    #: for one statement at a time, in the source and after one normalization alone; kept only if the statement, or what
    #: was made of it, then has a microkernel
    PRODUCT = "product"
    #: once for each outermost loop of the source, by its first statement; the loop need not be distributed
    OUTERMOST_LOOP = "outermost loop"


@dataclass(frozen=True)
class Proposal:
    """Steps with which variants of a scop may begin."""

    #: rewrites, in order
    steps: tuple[RewriteStep, ...]
    #: element-wise statements that the plan then runs on tiles of others
    attached: tuple[Attach, ...] = ()
    #: it is worth a space of its own only if the statement then has a microkernel, and as good a one as before
    for_microkernel: bool = True
    #: with ``for_microkernel``: any microkernel is good enough
    any_microkernel: bool = False


@dataclass(frozen=True)
class Request:
    """A statement for which proposals are asked, and what they may go by."""

    #: its nests come one after the other
    scop: Scop
    #: alone in its nest, unless a rewrite of the phase ``NORMALIZATION`` is asked; the first one in an outermost
    #: loop, for those of the phases ``SOURCE``, ``PREPARATION`` and ``OUTERMOST_LOOP``, which nests need not come
    #: one after the other for
    statement: Statement
    #: of the scop
    dependences: Sequence[Dependence]
    #: what the code is for
    machine: Machine
    #: how the statement's loops fit the microkernel that its nest would use, the best first; none without one
    matches: Sequence[GemmMatch] = ()
    #: whether no other microkernel is asked for before that one
    preferred: bool = True
    #: whether sums may be taken in another order
    reassociate: bool = True
    #: fusions of the scop that are tried for themselves
    fusions: Sequence[Proposal] = ()


S = TypeVar("S", bound=RewriteStep)


class Rewrite(Protocol[S]):
    """The plug-in contract. Register one under the entry-point group ``polydl.rewrites``, by its step's JSON name."""

    @property
    def step(self) -> type[S]:
        """The frozen dataclass of what it is given."""
        ...

    @property
    def families(self) -> frozenset[str]:
        """What it is for, in one or more words (``polydl.ir.families``), which pins, picks and rankers go by."""
        ...

    @property
    def phase(self) -> Phase:
        """For what it is proposed; a plug-in that does not say is one of ``STATEMENT``."""
        return Phase.STATEMENT

    def rounding(self, scop: Scop, step: S) -> Rounding:  # noqa: ARG002
        """What it does to sums, products and their errors; ``scop`` is what the step is about to be applied to.

        What declares nothing is admitted at the numerics level ``fast`` alone. Raises IllegalVariantError for a step
        that is wrong here.
        """
        return UNKNOWN

    def apply(self, scop: Scop, step: S, dependences: Sequence[Dependence], *, reassociate: bool) -> Scop:
        """The scop rewritten; ``dependences`` are its own.

        Its nests come one after the other if the rewrite is the first one or follows those of the phases ``SOURCE`` and
        ``PREPARATION`` alone, and is not of these phases or ``OUTERMOST_LOOP`` itself. After other rewrites, nests may
        share loops.

        Raises IllegalVariantError for a step that is wrong here, or that a dependence forbids.
        """
        ...

    def propose(self, request: Request) -> Iterable[Proposal]:
        """Sequences that are worth trying for a statement, the most promising first.

        Illegal ones are skipped. Raising IllegalVariantError ends the sequences.
        """
        ...

    def describe(self, scop: Scop, step: S) -> str:
        """The step in a few words for people. ``scop`` is the source's, before any rewrite."""
        ...


class KnowsDependences(Protocol):
    """What a rewrite may have beside its contract: the dependences of what it makes."""

    def dependences(self, scop: Scop, step: Any, dependences: Sequence[Dependence]) -> tuple[Dependence, ...] | None:
        """All dependences of the scop that ``apply`` makes of ``scop``, whose own are ``dependences``.

        None where isl is to compute them, as it does for a rewrite without this member.
        """
        ...


class DrawsSteps(Protocol):
    """What a rewrite may have beside its contract: steps at random, with which ``polydl fuzz`` tries it anywhere."""

    def drawn(self, scop: Scop, statement: Statement, draw: Random) -> Iterable[tuple[RewriteStep, ...]]:
        """Sequences of steps for a statement, with sizes that suit small nests, or none. They need not be legal."""
        ...


class VariesSteps(Protocol):
    """What a rewrite may have beside its contract: other steps like one that it proposed, for ``polydl fuzz``."""

    def varied(self, step: Any, draw: Random) -> RewriteStep:
        """The step with other sizes, at random. It need not be legal."""
        ...
