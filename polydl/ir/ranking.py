"""Rankings: variants in the order of their predicted speed, with a reason for each position."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from polydl.ir.counts import counted
from polydl.ir.variant import Variant
from polydl.ir.working_sets import WorkingSets

# Rows that a notebook shows.
_SHOWN = 10


@dataclass(frozen=True, repr=False)
class RankedVariant:
    """A variant at its position in a ranking."""

    variant: Variant
    working_sets: WorkingSets
    #: lower is better; comparable within one ranking only. None for a ranker without a scalar score.
    score: float | None
    #: why it stands there, in words for the user
    reason: str

    def __repr__(self) -> str:
        score = "" if self.score is None else f", score {self.score:.4g}"
        return f"<RankedVariant {self.variant.id}: {counted(len(self.variant.steps), 'step')}{score}>"


@dataclass(frozen=True, repr=False)
class Ranking:
    """An order of variants by one ranker."""

    #: name of the ranker
    ranker: str
    #: best first
    entries: tuple[RankedVariant, ...]
    #: ids of the same variants, best first by another predictor, which may be right where this one has learned
    #: nothing like them; picks are taken from both in turns (``polydl.optimization.picks``). Empty for none
    second: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Ranking of {counted(len(self.entries), 'variant')} by {self.ranker}>"

    def _repr_html_(self) -> str:
        """What a notebook shows: the first variants with their reasons."""
        rows = "".join(
            f"<tr><td>{place}</td><td><code>{entry.variant.id}</code></td><td style='text-align: right'>"
            f"{'' if entry.score is None else f'{entry.score:.4g}'}</td>"
            f"<td style='text-align: left'>{escape(entry.reason)}</td></tr>"
            for place, entry in enumerate(self.entries[:_SHOWN], 1)
        )
        head = "<thead><tr><th>place</th><th>variant</th><th>score</th><th>why</th></tr></thead>"
        left = len(self.entries) - _SHOWN
        more = f"<p>and {left} more</p>" if left > 0 else ""
        title = f"<p>{len(self.entries)} variants, ranked by <strong>{escape(self.ranker)}</strong></p>"
        return f"<div>{title}<table>{head}<tbody>{rows}</tbody></table>{more}</div>"
