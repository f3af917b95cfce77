"""An order of variants, with a reason for each place."""

from __future__ import annotations

from dataclasses import dataclass

from polydl.ir.variant import Variant
from polydl.ir.working_sets import WorkingSets


@dataclass(frozen=True)
class RankedVariant:
    """``score`` orders variants within one ranking only, lower first; None where a ranker has no scalar."""

    variant: Variant
    working_sets: WorkingSets
    score: float | None
    reason: str


@dataclass(frozen=True)
class Ranking:
    ranker: str
    entries: tuple[RankedVariant, ...]
