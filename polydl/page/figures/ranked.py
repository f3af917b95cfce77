"""All variants that were ranked, by their scores, and where those lie that were run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polydl.page import units
from polydl.page.figures.canvas import Tips, Width, colour, drawn
from polydl.page.run import Run, ShownVariant

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FEWEST = 3


def ranked(run: Run, width: Width) -> str | None:
    """How many variants have which score, with a mark for each pick. None for a ranker without scalar scores."""
    scores = [score for score in run.scores if score is not None]
    if len(scores) < _FEWEST or min(scores) == max(scores):
        return None

    def paint(axes: Axes) -> Tips:
        return _paint(axes, run, scores, width)

    label = f"Scores of {len(scores)} variants by {run.ranker}, with {len(picks(run))} picks marked"
    return drawn("ranked", label, width, 240 if width.narrow else 280, paint)


def picks(run: Run) -> list[ShownVariant]:
    """The variants that were run and have a score."""
    return [variant for variant in run.variants if variant.score is not None]


def _paint(axes: Axes, run: Run, scores: list[float], width: Width) -> Tips:
    import numpy as np

    logarithmic = min(scores) > 0 and max(scores) > 8 * min(scores)
    bins = min(40, max(8, len(scores) // 6))
    edges = (
        np.geomspace(min(scores), max(scores), bins + 1)
        if logarithmic
        else np.linspace(min(scores), max(scores), bins + 1)
    )
    if logarithmic:
        from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _place: f"{value:g}"))
        axes.xaxis.set_minor_formatter(NullFormatter())
    else:
        axes.locator_params(axis="x", nbins=3 if width.narrow else 6)
    counts, _, _ = axes.hist(scores, bins=edges.tolist(), color=colour("variant"), alpha=0.55)
    top = float(max(counts))
    best = run.winner.id if run.winner is not None else ""
    tips = {}
    for variant in sorted(picks(run), key=lambda one: one.id == best):
        score = variant.score or 0.0
        chosen, failed = variant.id == best, variant.status not in (None, "ok")
        role = "winner" if chosen else "failed" if failed else "ink"
        gid = f"pick-{variant.id}"
        height = top * (1.16 if chosen else 1.06)
        axes.plot([score] * 2, [0, height], color=colour(role), linewidth=2.2 if chosen else 1.1)
        axes.plot(
            [score], [height], "x" if failed else "o", gid=gid, color=colour(role),
            markersize=9 if chosen else 6, zorder=4,
        )  # fmt: skip
        tips[gid] = f"{variant.id}, place {variant.rank}: score {units.significant(score)}"
        if chosen:
            axes.annotate(
                "winner", (score, height), (8, 0), textcoords="offset points", va="center",
                color=colour("winner"), fontweight="bold",
            )  # fmt: skip
    axes.set_ylim(0, top * 1.28)
    axes.grid(visible=False, axis="x")
    axes.set_xlabel(f"score of the ranker {run.ranker}, lower is better".replace("  ", " "))
    axes.set_ylabel("variants")
    return tips
