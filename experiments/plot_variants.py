"""Plot the speed of every variant that ran against the plain nest and the FMA peak, from a report.json.

polydl optimize examples/conv.c --all --max-variants 60 --out conv-all
python experiments/plot_variants.py conv-all/report.json docs/figures/conv-variants.svg
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("svg")
from matplotlib import pyplot as plt


def plot(report: dict[str, Any], path: Path) -> None:
    """One point per candidate that gave the right answer, by its place in the ranking."""
    passed = [candidate for candidate in report["candidates"] if candidate["status"] == "ok"]
    machine, nest = report["machine"], report["input"]
    peak = machine["peak_gflops"] * machine["threads"]
    plain = report["baseline"]["gflops"]
    mpl.rcParams["svg.hashsalt"] = nest["digest"]
    figure, axes = plt.subplots(figsize=(7.5, 3.6), layout="constrained")
    axes.axhline(peak, color="0.45", linestyle="--", linewidth=1)
    axes.text(len(passed) + 0.5, peak, f"FMA peak, {peak:.0f}", ha="right", va="bottom", color="0.35", fontsize=9)
    axes.axhline(plain, color="tab:red", linewidth=1)
    axes.text(
        len(passed) + 0.5, plain, f"plain nest, {plain:.1f}", ha="right", va="bottom", color="tab:red", fontsize=9
    )
    axes.scatter(
        [candidate["rank"] for candidate in passed],
        [candidate["gflops"] for candidate in passed],
        s=18,
        color="tab:blue",
        zorder=3,
    )
    axes.set_xlabel("place in the predicted ranking")
    axes.set_ylabel("GFLOPS")
    axes.set_ylim(0, 1.12 * max(peak, *(candidate["gflops"] for candidate in passed)))
    axes.set_title(
        f"{len(passed)} variants of {nest['function']}, {machine['name']}, {machine['threads']} threads", fontsize=10
    )
    axes.spines[["top", "right"]].set_visible(False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description="Plot the candidates of a report.")
    parser.add_argument("report", type=Path)
    parser.add_argument("figure", type=Path)
    arguments = parser.parse_args()
    plot(json.loads(arguments.report.read_text(encoding="utf-8")), arguments.figure)


if __name__ == "__main__":
    main()
