"""Rankings: variants in the order of their predicted speed, with a reason for each position."""

from __future__ import annotations

from dataclasses import dataclass

from polydl.ir.variant import Variant
from polydl.ir.working_sets import WorkingSets


@dataclass(frozen=True)
class RankedVariant:
    """A variant at its position in a ranking."""

    variant: Variant
    working_sets: WorkingSets
    #: lower is better; comparable within one ranking only. None for a ranker without a scalar score.
    score: float | None
    #: why it stands there, in words for the user
    reason: str


@dataclass(frozen=True, repr=False)
class Ranking:
    """An order of variants by one ranker."""

    #: name of the ranker
    ranker: str
    #: best first
    entries: tuple[RankedVariant, ...]
    #: ids of the same variants, best first by another predictor, which may be right where this one has learned
    #: nothing like them; picks are taken from both in turns (``polydl.picks``). Empty for none
    second: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Ranking of {len(self.entries)} variants by {self.ranker}>"
