"""The roofline: the rates of all variants under the ceilings that were measured on the machine."""

from __future__ import annotations

from collections.abc import Mapping
from math import exp, log
from typing import TYPE_CHECKING

from polydl.page import units
from polydl.page.figures.canvas import Tips, Width, colour, drawn, in_lines
from polydl.page.run import Run, ShownVariant

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Points between a line and its label.
_ABOVE = 3
# Pixels beside the axes, of a character of a label, and between two labels.
_MARGIN, _CHARACTER, _GAP = 75, 7, 4


def roofline(run: Run, width: Width) -> str | None:
    """GFLOPS over operations per byte from memory. None where the document has no traffic or no ceilings."""
    points = placed(run)
    memory = run.machine.bandwidths.get("memory")
    if not points or memory is None or run.machine.peak is None:
        return None

    def paint(axes: Axes) -> Tips:
        return _paint(axes, run, points, width)

    label = f"Roofline of {run.function}: rates of {len(points)} variants under the machine's ceilings"
    return drawn("roofline", label, width, 320 if width.narrow else 380, paint)


def placed(run: Run) -> list[tuple[ShownVariant, float, float]]:
    """Each variant that passed, with its operations per byte and its rate."""
    return [
        (variant, intensity, rate)
        for variant in run.variants
        if variant.status == "ok"
        and (intensity := run.intensity(variant)) is not None
        and (rate := run.gflops(variant.timed.seconds)) is not None
    ]


def _paint(axes: Axes, run: Run, points: list[tuple[ShownVariant, float, float]], width: Width) -> Tips:
    peak = run.machine.peak or 0.0
    ridge = peak / (run.machine.bandwidths["memory"] / 1e9)
    named = [(one.name, rate) for one in run.baselines if (rate := run.gflops(one.seconds)) is not None]
    baselines = [rate for _, rate in named]
    intensities = [intensity for _, intensity, _ in points]
    left, right = min(ridge / 4, *intensities) / 2, max(ridge * 8, *intensities) * 2
    lowest = min(*(rate for _, _, rate in points), *baselines, peak / 20)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(left, right)
    axes.set_ylim(lowest / 2, max(peak, *(rate for _, _, rate in points)) * 2)
    _ceilings(axes, run, peak, left, right, width)
    for rate in baselines:
        axes.axhline(rate, color=colour("baseline"), linewidth=1.4, linestyle=(0, (2, 2)))
    if named:
        # The others have their names beside their times.
        name, rate = max(named, key=lambda build: build[1])
        axes.annotate(
            in_lines(name, 40 if width.narrow else 90), (right, rate), (-4, _ABOVE), textcoords="offset points",
            ha="right", color=colour("baseline"), fontsize=11,
        )  # fmt: skip
    tips = {}
    best = run.winner.id if run.winner is not None else ""
    for variant, intensity, rate in sorted(points, key=lambda point: point[0].id == best):
        chosen = variant.id == best
        gid = f"roof-{variant.id}"
        axes.plot(
            [intensity], [rate], "o", gid=gid, markersize=10 if chosen else 7, zorder=4 if chosen else 3,
            color=colour("winner" if chosen else "variant"), markeredgecolor=colour("surface"), markeredgewidth=1.5,
        )  # fmt: skip
        tips[gid] = f"{variant.id}: {units.gflops(rate)}, {units.significant(intensity, 3)} flop/byte"
        if chosen:
            axes.annotate(
                "winner", (intensity, rate), (-9, 0), textcoords="offset points", ha="right", va="center",
                color=colour("winner"), fontsize=12, fontweight="bold",
            )  # fmt: skip
    axes.set_xlabel("operations per byte from memory [flop/B]")
    axes.set_ylabel("rate [GFLOPS]")
    _plain_ticks(axes)
    return tips


def _ceilings(axes: Axes, run: Run, peak: float, left: float, right: float, width: Width) -> None:
    """The peak, and what memory and each cache can feed."""
    slopes = {name: rate / 1e9 for name, rate in run.machine.bandwidths.items()}
    ridge = peak / slopes["memory"]
    for name, slope in slopes.items():
        main = name == "memory"
        knee = peak / slope
        if knee <= left:
            continue
        role = "ink" if main else "muted"
        axes.plot([left, knee], [left * slope, peak], color=colour(role), linewidth=2.0 if main else 1.0)
    threads = "" if width.narrow else f", {run.machine.threads} {'thread' if run.machine.threads == 1 else 'threads'}"
    peak_name = f"peak {units.gflops(peak)}{threads}"
    knees = {name: peak / slope for name, slope in slopes.items() if name != "memory" and peak / slope > left}
    pixels = width.pixels - _MARGIN
    for label, knee in joined(knees, log(right / left) / pixels).items():
        # Above that of the peak, if it would run into it.
        end = log(right / knee) / log(right / left) * pixels - len(label) * _CHARACTER / 2
        above = 18 if end < len(peak_name) * _CHARACTER + _GAP else 4
        axes.annotate(
            label, (knee, peak), (0, above), textcoords="offset points", ha="center", color=colour("muted"), fontsize=11
        )
    start = max(left, axes.get_ylim()[0] / slopes["memory"])
    middle = start * (ridge / start) ** 0.45
    axes.annotate(
        f"memory {units.bandwidth(run.machine.bandwidths['memory'])}", (middle, middle * slopes["memory"]), (8, -4),
        textcoords="offset points", va="top", color=colour("ink"), fontsize=11,
    )  # fmt: skip
    caches = min(peak / slope for slope in slopes.values())
    axes.plot([max(left, min(caches, ridge)), ridge], [peak, peak], color=colour("muted"), linewidth=1.0)
    axes.plot([ridge, right], [peak, peak], color=colour("ink"), linewidth=2.0)
    axes.annotate(
        peak_name, (right, peak), (-4, 5), textcoords="offset points", ha="right",
        color=colour("ink"), fontsize=11,
    )  # fmt: skip


def joined(places: Mapping[str, float], pixel: float) -> dict[str, float]:
    """Labels with their places on a logarithmic axis; those that would overlap are one, in the middle of theirs.

    ``pixel`` is the logarithm of the ratio of two places that are one pixel apart.
    """
    groups: list[list[str]] = []
    shown: list[tuple[str, float]] = []
    for name in sorted(places, key=lambda one: places[one]):
        groups.append([name])
        shown.append((name, log(places[name])))
        while len(shown) > 1:
            (before, left), (behind, right) = shown[-2:]
            if (right - left) / pixel >= (len(before) + len(behind)) * _CHARACTER / 2 + _GAP:
                break
            groups[-2:] = [[*groups[-2], *groups[-1]]]
            middle = sum(log(places[one]) for one in groups[-1]) / len(groups[-1])
            shown[-2:] = [(", ".join(groups[-1]), middle)]
    return {label: exp(place) for label, place in shown}


def _plain_ticks(axes: Axes) -> None:
    """Numbers as 0.1, 10 and 1,000 in place of powers."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(LogLocator(numticks=6))
        axis.set_major_formatter(FuncFormatter(lambda value, _place: f"{value:,g}"))
        axis.set_minor_formatter(NullFormatter())
