"""The output of ``polydl fuse``: pairs of operators, and the fusions of each candidate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from polydl.ir.ranking import RankedVariant
from polydl.ir.scop import Scop
from polydl.ir.variant import Variant
from polydl.plan.rewrite_steps import fusion_texts
from polydl.presentation.notation import number, wrapped

if TYPE_CHECKING:
    from polydl.fusion.report import OperatorPair

_NOTHING = "nothing fused"


def pairs_text(pairs: Sequence[OperatorPair]) -> str:
    """For each pair of operators, whether they can be fused, with the reason."""
    if not pairs:
        return "Fusion   one operator: there is nothing to fuse"
    lines = ["Fusion"]
    for pair in pairs:
        answer = "can be fused" if pair.legal else "not fused"
        lines += wrapped(f"{pair.operators[0]} and {pair.operators[1]}: {answer} ({pair.way}): {pair.reason}", "  ")
    return "\n".join(lines)


def _fusions(scop: Scop, variant: Variant) -> str:
    return "; ".join(fusion_texts(scop, variant)) or _NOTHING


def picks_text(scop: Scop, picks: Sequence[tuple[int, RankedVariant]]) -> str:
    """The candidates in the order of the ranking, with their fusions and their predicted costs."""
    lines = []
    for rank, entry in picks:
        text = f"{rank:3}  {entry.variant.id}  {number(entry.score)}  {_fusions(scop, entry.variant)}"
        lines += wrapped(text, "  ")
    return "\n".join(lines)


def winner_text(scop: Scop, variant: Variant, speedup: float | None) -> str:
    """The fusions of the fastest candidate, and its time beside that of the fastest candidate without fusion."""
    lines = wrapped(f"Fused    {_fusions(scop, variant)}", "")
    if speedup is not None:
        lines.append(f"         {speedup:.2f} times as fast as the best unfused variant that was run")
    return "\n".join(lines)
