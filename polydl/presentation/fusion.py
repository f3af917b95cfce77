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

_NOTHING = "nothing"


def pairs_text(pairs: Sequence[OperatorPair], *, verbose: bool) -> str:
    """The pairs of operators that can be fused, and their number; ``verbose`` all pairs, with the reasons."""
    if not pairs:
        return "Fusion   one operator: there is nothing to fuse"
    lines = [f"Fusion   {_fusible(pairs, verbose)}"]
    for pair in pairs:
        if verbose or pair.legal:
            answer = "can be fused" if pair.legal else "not fused"
            reason = f": {pair.reason}" if verbose else ""
            lines += wrapped(f"{pair.operators[0]} and {pair.operators[1]}: {answer} ({pair.way}){reason}", "  ")
    return "\n".join(lines)


def _fusible(pairs: Sequence[OperatorPair], verbose: bool) -> str:
    legal = sum(pair.legal for pair in pairs)
    text = f"{legal} of {counted(len(pairs), 'pair')} of operators can be fused"
    return text if verbose or legal == len(pairs) else f"{text}; -v says why others can't"


def _fusions(scop: Scop, variant: Variant) -> str:
    return "; ".join(fusion_texts(scop, variant)) or "nothing fused"


def picks_text(scop: Scop, picks: Sequence[tuple[int, RankedVariant]]) -> str:
    """The candidates in the order of the ranking, with their fusions and their predicted costs."""
    lines = []
    for rank, entry in picks:
        text = f"{rank:3}  {entry.variant.id}  {number(entry.score)}  {_fusions(scop, entry.variant)}"
        lines += wrapped(text, "  ")
    return "\n".join(lines)


def fused_lines(
    scop: Scop,
    variant: Variant,
    speedup: float | None,
    pairs: Sequence[OperatorPair],
    *,
    emitted: bool,
    verbose: bool,
) -> list[str]:
    """What fusing has gained in the fastest variant; unless ``verbose``, how many pairs of operators could be fused.

    It is not ``emitted`` where the plain nest is as fast.
    """
    gained = _NOTHING
    if is_fused(scop, variant):
        gained = "no unfused variant was run"
        if speedup is not None:
            gained = f"{speedup:.2f} times as fast as the best unfused variant that was run"
        if not emitted:
            gained = f"the fastest variant, which the plain nest beats: {gained}"
    more = [] if verbose or not pairs else wrapped(_fusible(pairs, verbose), "  ")
    return [*wrapped(f"Fused  {gained}", ""), *more]
