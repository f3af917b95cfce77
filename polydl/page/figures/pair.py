"""Two runs: the times of their winners, and of all else that was timed, on one axis."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polydl.page import units
from polydl.page.figures.canvas import Tips, Width, colour, drawn
from polydl.page.figures.times import shown
from polydl.page.run import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROW, _FRAME = 44, 80


def pair(first: Run, second: Run, width: Width) -> str | None:
    """A strip of dots for each run. None if either has no times."""
    if not shown(first.timed) or not shown(second.timed):
        return None

    def paint(axes: Axes) -> Tips:
        return _paint(axes, (first, second))

    return drawn("pair", "Times of the two runs", width, _FRAME + 2 * _ROW, paint)


def _paint(axes: Axes, runs: tuple[Run, Run]) -> Tips:
    from matplotlib.ticker import FuncFormatter, NullFormatter

    every = [one.seconds or 0.0 for run in runs for one in shown(run.timed)]
    scale = units.time_scale(every)
    tips = {}
    for place, run in enumerate(runs):
        best = run.winner.id if run.winner is not None else ""
        for number, one in enumerate(sorted(shown(run.timed), key=lambda timed: timed.name == best)):
            role = "winner" if one.name == best else one.kind
            gid = f"pair-{place}-{number}"
            marker = {"variant": "o", "baseline": "s", "peer": "D"}[one.kind]
            axes.plot(
                [(one.seconds or 0.0) / scale.factor], [place], marker, gid=gid, color=colour(role),
                markersize=11 if role == "winner" else 7, markeredgecolor=colour("surface"), markeredgewidth=1.2,
            )  # fmt: skip
            tips[gid] = f"{one.name}: {units.duration(one.seconds)}"
            if role == "winner":
                axes.annotate(
                    scale.text(one.seconds), ((one.seconds or 0.0) / scale.factor, place), (0, 10),
                    textcoords="offset points", ha="center", color=colour("winner"), fontweight="bold",
                )  # fmt: skip
    axes.set_yticks([0, 1], ["A", "B"])
    for text in axes.get_yticklabels():
        text.set_color(colour("ink"))
    axes.set_ylim(1.5, -0.7)
    axes.spines["left"].set_visible(False)
    if max(every) > 4 * min(every):
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _place: f"{value:,g}"))
        axes.xaxis.set_minor_formatter(NullFormatter())
    else:
        axes.set_xlim(0, max(every) / scale.factor * 1.1)
    axes.set_xlabel(f"time of one invocation [{scale.unit}]")
    return tips
