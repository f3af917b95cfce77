"""How far a library is from the fastest kernels, as a figure."""

from __future__ import annotations

import io
from collections.abc import Sequence
from math import isfinite

from polydl.libraries.shapes import Shape

# What says in the file who drew it, as XML's metadata have it.
_CREATOR = "made by polydl library"


def slowdown_plot(shapes: Sequence[Shape], slowdowns: Sequence[float], bound: float) -> str | None:
    """The share of the shapes that are at most so many times as slow as the fastest kernel, over that factor, as SVG.

    ``slowdowns[n]`` is that of ``shapes[n]``, at least 1; infinite ones, where the chosen kernel failed, are of shapes
    that no factor reaches. ``bound``, which was asked for, and the worst shape are marked. None without matplotlib.
    """
    try:
        import matplotlib
        from matplotlib.figure import Figure
        from matplotlib.ticker import PercentFormatter
    except ImportError:
        return None
    factors = sorted(factor for factor in slowdowns if isfinite(factor))
    shares = [(rank + 1) / len(slowdowns) for rank in range(len(factors))]
    content = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "slowdown"}):
        figure = Figure(figsize=(8, 4.5), layout="constrained")
        axes = figure.add_subplot()
        axes.plot(factors, shares, drawstyle="steps-post", marker=".", gid="slowdowns")
        axes.axvline(bound, linestyle="--", color="tab:orange", gid="bound", label=f"--max-slowdown {bound:g}")
        worst = max(range(len(slowdowns)), key=slowdowns.__getitem__)
        name = ", ".join(f"{size}={value}" for size, value in shapes[worst].items())
        if factors:
            label = f"worst: {name}, {slowdowns[worst]:.2f}"
            axes.plot(factors[-1:], shares[-1:], "o", color="tab:red", gid="worst", label=label)
        axes.set_xlabel("how many times as long as the fastest kernel the chosen one takes")
        axes.set_ylabel(f"share of {len(slowdowns)} measured shapes")
        axes.set_ylim(0, 1.03)
        axes.yaxis.set_major_formatter(PercentFormatter(1.0))
        axes.grid(visible=True, alpha=0.4)
        axes.legend(loc="lower right")
        figure.savefig(content, format="svg", metadata={"Date": None, "Creator": _CREATOR})
    return content.getvalue()
