"""Times as bars: the nest as written, the variants, other libraries, each with its samples."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from polydl.page import units
from polydl.page.figures.canvas import Tips, Width, colour, drawn
from polydl.page.run import Timed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# More variants than these would be no figure; the fastest are shown.
_MOST_VARIANTS = 12
_BAR, _FRAME = 30, 64


def times(name: str, bars: Sequence[Timed], best: str, width: Width) -> str | None:
    """A bar from zero to the time of each, with quartiles and samples. None where nothing has a time.

    ``name`` is what was timed, ``best`` the variant that is the winner; "" if none is.
    """
    if not bars:
        return None

    def paint(axes: Axes) -> Tips:
        return _paint(axes, bars, best, width)

    label = f"Times of {name}: " + ", ".join(f"{bar.name} {units.duration(bar.seconds)}" for bar in bars)
    return drawn(f"times-{name}", label, width, _FRAME + _BAR * len(bars), paint)


def shown(timed: Iterable[Timed]) -> list[Timed]:
    """What gets a bar: all baselines and peers, and the fastest variants; the fastest of all first."""
    timed = list(timed)
    variants = sorted((one for one in timed if one.kind == "variant"), key=_seconds)
    others = [one for one in timed if one.kind != "variant"]
    return sorted([*others, *variants[:_MOST_VARIANTS]], key=_seconds)


def is_logarithmic(bars: Sequence[Timed]) -> bool:
    """Whether one is so far behind that bars would leave the others no room; then dots stand in their place."""
    return max(_seconds(bar) for bar in bars) > 20 * min(_seconds(bar) for bar in bars)


def _seconds(timed: Timed) -> float:
    return timed.seconds or 0.0


def _paint(axes: Axes, bars: Sequence[Timed], best: str, width: Width) -> Tips:
    scale = units.time_scale(bar.seconds for bar in bars)
    longest = max(_seconds(bar) for bar in bars)
    logarithmic = is_logarithmic(bars)
    tips = {}
    for place, bar in enumerate(bars):
        role = "winner" if bar.name == best else bar.kind
        seconds = _seconds(bar) / scale.factor
        gid = f"bar-{place}"
        if logarithmic:
            axes.plot([seconds], [place], "o", gid=gid, color=colour(role), markersize=11, zorder=3)
        else:
            [rectangle] = axes.barh([place], [seconds], height=0.62, color=colour(role), alpha=0.85)
            rectangle.set_gid(gid)
        tips[gid] = _tip(bar)
        end = max([seconds, *(sample / scale.factor for sample in bar.samples)])
        if bar.quartiles is not None:
            low, high = (quartile / scale.factor for quartile in bar.quartiles)
            axes.plot([low, high], [place, place], color=colour("ink"), linewidth=2.0, solid_capstyle="butt")
        if bar.samples:
            samples = [sample / scale.factor for sample in bar.samples]
            ink = colour("muted" if bar.uncertain else "ink")
            axes.plot(samples, [place] * len(samples), "|", color=ink, markersize=9, markeredgewidth=0.8)
        axes.annotate(
            f"{scale.text(bar.seconds)}", (end, place), (6, 0), textcoords="offset points", va="center",
            color=colour("ink"), fontsize=12, annotation_clip=False,
        )  # fmt: skip
    axes.set_yticks(range(len(bars)), [_name(bar, best, width) for bar in bars])
    for text in axes.get_yticklabels():
        text.set_color(colour("ink"))
    axes.invert_yaxis()
    axes.grid(visible=logarithmic, axis="y")
    axes.spines["left"].set_visible(False)
    if logarithmic:
        from matplotlib.ticker import FuncFormatter, NullFormatter

        axes.set_xscale("log")
        axes.set_xlim(min(_seconds(bar) for bar in bars) / scale.factor / 3, longest / scale.factor * 3)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _place: f"{value:,g}"))
        axes.xaxis.set_minor_formatter(NullFormatter())
    else:
        axes.set_xlim(0, max([longest, *(s for bar in bars for s in bar.samples)]) / scale.factor * 1.18)
    kind = ", logarithmic" if logarithmic else ""
    axes.set_xlabel(f"time of one invocation [{scale.unit}{kind}]")
    return tips


def _name(bar: Timed, best: str, width: Width) -> str:
    if bar.kind == "variant":
        return f"{'winner ' if bar.name == best else ''}{bar.name[:6] if width.narrow else bar.name}"
    lines = textwrap.wrap(bar.name, 16 if width.narrow else 30, max_lines=2, placeholder=" …")
    return "\n".join(lines)


def _tip(bar: Timed) -> str:
    spread = ""
    if bar.quartiles is not None:
        low, high = bar.quartiles
        spread = f"; half of {len(bar.samples)} samples from {units.duration(low)} to {units.duration(high)}"
    return f"{bar.name}: {units.duration(bar.seconds)}{spread}{f' ({bar.note})' if bar.note else ''}"
