"""The output of ``polydl fuse``: pairs of operators, and the fusions of each candidate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from polydl.ir.ranking import RankedVariant
from polydl.ir.scop import Scop
from polydl.ir.variant import Variant
from polydl.plan.rewrite_steps import fusion_texts, is_fused
from polydl.presentation.notation import counted, number, wrapped

if TYPE_CHECKING:
    from polydl.fusion.report import OperatorPair

_NOTHING = "nothing fused"


def pairs_text(pairs: Sequence[OperatorPair], *, verbose: bool) -> str:
    """The pairs of operators that can be fused, and their number; ``verbose`` all pairs, with the reasons."""
    if not pairs:
        return "Fusion   one operator: there is nothing to fuse"
    legal = sum(pair.legal for pair in pairs)
    lines = [f"Fusion   {legal} of {counted(len(pairs), 'pair')} of operators can be fused"]
    if legal < len(pairs) and not verbose:
        lines[0] += "; -v says why others can't"
    for pair in pairs:
        if verbose or pair.legal:
            answer = "can be fused" if pair.legal else "not fused"
            reason = f": {pair.reason}" if verbose else ""
            lines += wrapped(f"{pair.operators[0]} and {pair.operators[1]}: {answer} ({pair.way}){reason}", "  ")
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


def fused_lines(scop: Scop, variant: Variant, speedup: float | None) -> list[str]:
    """The fusions of the fastest candidate, and its time beside that of the fastest candidate without fusion."""
    lines = wrapped(f"Fused    {_fusions(scop, variant)}", "")
    if speedup is not None and is_fused(scop, variant):
        lines.append(f"         {speedup:.2f} times as fast as the best unfused variant that was run")
    return lines
