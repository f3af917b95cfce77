"""Compare predicted cache misses with recorded ones: a table in Markdown, and a figure.

python -m experiments.cachegrind.report experiments/data/cachegrind.json --figure docs/figures/cache-validation.svg
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from experiments.cachegrind.simulate import parse
from polydl import pipeline
from polydl.machine import Machine
from polydl.variant_json import variant_from_json

# Pairs of variants whose simulated misses differ by less than this are not expected to be told apart.
_APART = 1.05

Counts = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Agreement:
    """How predicted misses agree with simulated ones: of one nest and one cache, over its variants."""

    #: correlation of ranks
    spearman: float
    #: relative, of the predicted misses
    median_error: float
    #: predicted over simulated misses where they differ the most
    worst: float
    #: share of pairs in the right order, of those that differ by 5 % or more
    ordered: float
    #: most over fewest simulated misses
    spread: float


def _ranks(values: Counts) -> Counts:
    """Places in ascending order, equal values sharing the mean of theirs."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return ((2 * last - counts - 1) / 2)[inverse]


def agreement(predicted: Counts, simulated: Counts) -> Agreement:
    ratio = predicted / simulated
    apart = simulated[:, None] > _APART * simulated
    ordered = predicted[:, None] > predicted
    return Agreement(
        spearman=float(np.corrcoef(_ranks(predicted), _ranks(simulated))[0, 1]),
        median_error=float(np.median(np.abs(ratio - 1.0))),
        worst=float(ratio[np.argmax(np.abs(np.log(ratio)))]),
        ordered=float(ordered[apart].mean()),
        spread=float(simulated.max() / simulated.min()),
    )


def predictions(document: dict[str, Any], nest: dict[str, Any]) -> Counts:
    """Lines missed, by variant and cache."""
    sizes = [cache["bytes"] for cache in document["caches"]]
    return np.array(
        pipeline.predicted_misses(
            parse(nest["source"], nest["defines"]),
            [variant_from_json(variant["steps"]) for variant in nest["variants"]],
            machine=Machine.detect(threads=1).with_cache_sizes(sizes),
            ways=[cache["ways"] for cache in document["caches"]],
            microkernel="none",
        )
    )


def table(document: dict[str, Any], predicted: dict[str, Counts]) -> str:
    lines = [
        "| nest | cache | Spearman | median error | worst ratio | pairs in order | most / fewest misses |",
        "|---|---|---|---|---|---|---|",
    ]
    for nest in document["nests"]:
        simulated = np.array([variant["misses"] for variant in nest["variants"]], dtype=np.float64)
        for level, cache in enumerate(document["caches"]):
            agreed = agreement(predicted[nest["name"]][:, level], simulated[:, level])
            lines.append(
                f"| {nest['name'] if level == 0 else ''} | {cache['bytes'] >> 10} KiB | {agreed.spearman:.3f} "
                f"| {agreed.median_error:.1%} | {agreed.worst:.2f} | {agreed.ordered:.1%} | {agreed.spread:.3g} |"
            )
    return "\n".join(lines)


def plot(document: dict[str, Any], predicted: dict[str, Counts], path: Path) -> None:
    """Predicted over simulated misses, one panel per nest and cache."""
    import matplotlib as mpl

    mpl.use("svg")
    from matplotlib import pyplot as plt

    mpl.rcParams.update({"svg.hashsalt": "cache-validation", "svg.fonttype": "none"})
    nests: Sequence[dict[str, Any]] = document["nests"]
    figure, grid = plt.subplots(
        len(document["caches"]), len(nests), figsize=(2.0 * len(nests), 6.2), layout="constrained", squeeze=False
    )
    for column, nest in enumerate(nests):
        simulated = np.array([variant["misses"] for variant in nest["variants"]], dtype=np.float64)
        for row, cache in enumerate(document["caches"]):
            axes = grid[row][column]
            mine, theirs = predicted[nest["name"]][:, row], simulated[:, row]
            ends = [0.8 * min(mine.min(), theirs.min()), 1.25 * max(mine.max(), theirs.max())]
            axes.plot(ends, ends, color="0.6", linewidth=0.8)
            axes.scatter(theirs, mine, s=9, color="tab:blue", alpha=0.7, linewidths=0, zorder=3)
            axes.set(xscale="log", yscale="log", xlim=ends, ylim=ends)
            axes.tick_params(labelsize=6)
            axes.minorticks_off()
            agreed = agreement(mine, theirs)
            axes.text(0.05, 0.93, f"{agreed.spearman:.3f}", transform=axes.transAxes, fontsize=8, va="top")
            if row == 0:
                axes.set_title(nest["name"], fontsize=9)
            if column == 0:
                axes.set_ylabel(f"{cache['bytes'] >> 10} KiB\npredicted", fontsize=8)
    figure.supxlabel("lines missed in cachegrind", fontsize=9)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare predicted cache misses with simulated ones.")
    parser.add_argument("results", type=Path)
    parser.add_argument("--figure", type=Path)
    arguments = parser.parse_args()
    document = json.loads(arguments.results.read_text(encoding="utf-8"))
    predicted = {nest["name"]: predictions(document, nest) for nest in document["nests"]}
    print(table(document, predicted))
    if arguments.figure is not None:
        plot(document, predicted, arguments.figure)


if __name__ == "__main__":
    main()
