"""The working sets of the winner's reuses against the sizes of the caches."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from polydl.page import units
from polydl.page.figures.canvas import Tips, Width, colour, drawn
from polydl.page.run import Reuse, Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST = 14
_ROW, _FRAME = 26, 90


def reuse(run: Run, width: Width) -> str | None:
    """A line for each reuse, from the data touched until the nearest use to that until the farthest.

    None where the document has no reuses.
    """
    rows = shown(run)
    if not rows:
        return None

    def paint(axes: Axes) -> Tips:
        return _paint(axes, run, rows, width)

    label = f"Working sets of {len(rows)} reuses of the winner against the caches"
    return drawn("reuse", label, width, _FRAME + _ROW * len(rows), paint)


def shown(run: Run) -> list[Reuse]:
    """The winner's reuses, the largest first: those of one array by one loop are one, of the widest range."""
    merged: dict[tuple[str, str], Reuse] = {}
    for one in run.winner.reuses if run.winner is not None else ():
        known = merged.get((one.array, one.loop), one)
        merged[one.array, one.loop] = replace(
            one,
            kinds=tuple(dict.fromkeys([*known.kinds, *one.kinds])),
            minimum_bytes=min(known.minimum_bytes, one.minimum_bytes),
            maximum_bytes=max(known.maximum_bytes, one.maximum_bytes),
        )
    return sorted(merged.values(), key=lambda one: (one.maximum_bytes, one.minimum_bytes), reverse=True)[:_MOST]


def _paint(axes: Axes, run: Run, rows: list[Reuse], width: Width) -> Tips:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    tips = {}
    axes.set_xscale("log", base=2)
    for place, row in enumerate(rows):
        low, high = max(row.minimum_bytes, 1), max(row.maximum_bytes, 1)
        gid = f"reuse-{place}"
        if high > low:
            axes.plot([low, high], [place, place], color=colour("variant"), linewidth=3, solid_capstyle="round")
            axes.plot([high], [place], "o", color=colour("variant"), markersize=6)
        axes.plot([low], [place], "o", gid=gid, color=colour("winner"), markersize=8)
        tips[gid] = (
            f"{row.array}, {row.loop or 'from statement to statement'} ({', '.join(row.kinds)}): "
            f"{units.size(row.minimum_bytes)} to the nearest use, {units.size(row.maximum_bytes)} to the farthest"
        )
    sizes = [max(size, 1) for row in rows for size in (row.minimum_bytes, row.maximum_bytes)]
    caches = [size for _, size in run.machine.caches]
    axes.set_xlim(min([*sizes, *caches]) / 4, max([*sizes, *caches]) * 4)
    for name, size in run.machine.caches:
        axes.axvline(size, color=colour("ink"), linewidth=1.2, linestyle=(0, (4, 3)))
        label = name if width.narrow else f"{name}\n{units.size(size)}"
        axes.annotate(
            label, (size, 1.0), (0, 4), xycoords=("data", "axes fraction"),
            textcoords="offset points", ha="center", va="bottom", fontsize=11, color=colour("ink"),
        )  # fmt: skip
    axes.set_yticks(range(len(rows)), [f"{row.array}, {row.loop}" if row.loop else row.array for row in rows])
    for text in axes.get_yticklabels():
        text.set_color(colour("ink"))
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.spines["left"].set_visible(False)
    axes.xaxis.set_major_locator(LogLocator(base=2, numticks=4 if width.narrow else 8))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _place: units.size(value)))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("data touched between two uses")
    return tips
