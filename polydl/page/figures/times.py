"""Times as bars: the nest as written, the variants, other libraries, each with its samples."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING

from polydl.page import units
from polydl.page.figures.canvas import Tips, Width, colour, drawn, in_lines
from polydl.page.run import Timed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# More variants than these would be no figure; the fastest are shown.
_MOST_VARIANTS = 12
_BAR, _FRAME = 30, 64
# Of a bar whose label has further lines, for each of them.
_LINE = 16
# Words and commas of a build's name.
_PARTS = re.compile(r"[^\s,]+|,")
# A compiler and fewer options than two are no longer than what would stand for them.
_LEAST_IN_COMMON = 3


def times(name: str, bars: Sequence[Timed], best: str, width: Width) -> str | None:
    """A bar from zero to the time of each, with quartiles and samples. None where nothing has a time.

    ``name`` is what was timed, ``best`` the variant that is the winner; "" if none is.
    """
    if not bars:
        return None

    names = labels(bars, best, width)

    def paint(axes: Axes) -> Tips:
        return _paint(axes, bars, names, best)

    row = max(_BAR, _LINE * max(name.count("\n") + 1 for name in names) - 2)
    label = f"Times of {name}: " + ", ".join(f"{bar.name} {units.duration(bar.seconds)}" for bar in bars)
    return drawn(f"times-{name}", label, width, _FRAME + row * len(bars), paint)


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


def _paint(axes: Axes, bars: Sequence[Timed], names: Sequence[str], best: str) -> Tips:
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
    axes.set_yticks(range(len(bars)), names)
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


def labels(bars: Sequence[Timed], best: str, width: Width) -> list[str]:
    """What stands beside each bar, in lines: all that its name has beyond what all builds of a compiler begin with."""
    builds: dict[str, list[list[str]]] = {}
    for bar in bars:
        if bar.kind != "variant":
            parts = _PARTS.findall(bar.name)
            builds.setdefault(parts[0] if parts else "", []).append(parts)
    common = {compiler: _shared(names) for compiler, names in builds.items()}
    return [_variant(bar, best, width) if bar.kind == "variant" else _build(bar, common, width) for bar in bars]


def _shared(names: Sequence[Sequence[str]]) -> int:
    """How many parts all the names begin with."""
    return len(list(takewhile(lambda parts: len(set(parts)) == 1, zip(*names, strict=False))))


def _variant(bar: Timed, best: str, width: Width) -> str:
    return f"{'winner ' if bar.name == best else ''}{bar.name[:6] if width.narrow else bar.name}"


def _build(bar: Timed, common: dict[str, int], width: Width) -> str:
    """The name of a build, or that of a library; ``common`` has how many parts those of a compiler begin with."""
    parts = list(_PARTS.finditer(bar.name))
    shared = common[parts[0][0] if parts else ""]
    text = bar.name
    if _LEAST_IN_COMMON <= shared < len(parts):
        text = f"{parts[0][0]} …{bar.name[parts[shared - 1].end() :]}"
    return in_lines(text, 20 if width.narrow else 36)


def _tip(bar: Timed) -> str:
    spread = ""
    if bar.quartiles is not None:
        low, high = bar.quartiles
        spread = f"; half of {len(bar.samples)} samples from {units.duration(low)} to {units.duration(high)}"
    return f"{bar.name}: {units.duration(bar.seconds)}{spread}{f' ({bar.note})' if bar.note else ''}"
