"""What ``polydl fuse`` shows: pairs of operators, and which fusions the candidates make."""

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
    """Each pair of operators with the answer and its reason."""
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
    """The candidates by their places in the ranking, each with what it fuses and its predicted cost."""
    lines = []
    for rank, entry in picks:
        text = f"{rank:3}  {entry.variant.id}  {number(entry.score)}  {_fusions(scop, entry.variant)}"
        lines += wrapped(text, "  ")
    return "\n".join(lines)


def winner_text(scop: Scop, variant: Variant, speedup: float | None) -> str:
    """What the fastest candidate fuses, and how it compares with the best that fuses nothing."""
    lines = wrapped(f"Fused    {_fusions(scop, variant)}", "")
    if speedup is not None:
        lines.append(f"         {speedup:.2f} times as fast as the best unfused variant that was run")
    return "\n".join(lines)
