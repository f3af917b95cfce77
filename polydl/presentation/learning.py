"""Evaluations of rankers as tables, documents and plots, and model cards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from io import BytesIO
from pathlib import Path
from typing import Any

from polydl.errors import MissingComponentError
from polydl.files import write_atomically
from polydl.learning.evaluation import (
    DEFAULT_ORDER,
    ORACLE,
    Evaluation,
    Judged,
    RegressionError,
    Summary,
    summaries,
)
from polydl.learning.metrics import TOP, Interval
from polydl.presentation.notation import NOTHING, wrapped
from polydl.presentation.tables import rendered, table

# File names of the paper's figures by the group that they show; all matrix products are in one.
_FIGURES = {"fastrcnn": "figure-10-fastrcnn", "resnet": "figure-12-resnet", "maskrcnn": "figure-14-maskrcnn"}
_PRODUCTS = "figure-19-gemm"
# Rankers that tables by group leave out: the oracle is always 1.000.
_LEFT_OUT = (ORACLE, "latency")
_SHORT = {DEFAULT_ORDER: "default", "random pick": "random"}
# What is drawn for each nest, with its marker and colour; the paper's names for its own.
_MARKS: dict[str, tuple[str, str, str]] = {
    DEFAULT_ORDER: ("Microkernel (default order)", "D", "tab:gray"),
    "equation-1": ("PolyDL (equation 1)", "s", "tab:orange"),
    "dnn-paper": ("PolyDL-DNN (dnn-paper)", "^", "tab:green"),
    "cost-model": ("cost-model", "v", "tab:purple"),
    "dnn": ("dnn", "o", "tab:blue"),
}


def evaluation_text(evaluation: Evaluation) -> str:
    groups = tuple(dict.fromkeys(nest.group for nest in evaluation.nests))
    variants = sum(len(nest.candidates) for nest in evaluation.nests)
    nests = f"{len(evaluation.nests)} nests of {len(groups)} groups, {variants} variants, each group held out in turn"
    parts = [
        "\n".join(wrapped(nests, "")),
        summaries_table(summaries(evaluation)),
        "Top-1 performance by group (geometric mean)",
        _groups_table(evaluation, groups),
    ]
    return "\n\n".join(parts)


def summaries_table(lines: Sequence[Summary]) -> str:
    """Two tables: the quality of each ranker, and its gain over the default order and a random pick."""
    headings = ["ranker", "top 1", "95 %", *(f"top {count}" for count in TOP[1:]), "worst", "top 5 %", "tau", "pairs"]
    performance = table(*headings, right=headings[1:])
    for line in lines:
        fixed = line.ranker == DEFAULT_ORDER
        performance.add_row(
            line.ranker,
            f"{line.top[0].value:.3f}",
            _bounds(line.top[0]),
            *(NOTHING if fixed else f"{interval.value:.3f}" for interval in line.top[1:]),
            f"{line.worst[0]:.3f}",
            NOTHING if fixed else f"{line.top_part:.3f}",
            *(NOTHING if value is None else f"{value:.2f}" for value in (line.tau, line.pairs)),
        )
    headings = ["top 1 of", "over default order", "95 %", "over random pick", "95 % "]
    beside = table(*headings, right=headings[1:])
    for line in lines:
        cells: list[str] = []
        for interval in (line.over_default, line.over_random):
            cells += [NOTHING, ""] if interval is None else [f"{interval.value:.3f}", _bounds(interval)]
        beside.add_row(line.ranker, *cells)
    return f"{rendered(performance)}\n\n{rendered(beside)}"


def _bounds(interval: Interval) -> str:
    return f"{interval.low:.3f}…{interval.high:.3f}"


def _groups_table(evaluation: Evaluation, groups: Sequence[str]) -> str:
    names = [name for name in evaluation.rankers if name not in _LEFT_OUT]
    headings = [_SHORT.get(name, name) for name in names]
    rows = table("group", "nests", *headings, right=["nests", *headings])
    for group in groups:
        top = {line.ranker: line.top[0].value for line in summaries(evaluation, group=group)}
        count = sum(nest.group == group for nest in evaluation.nests)
        rows.add_row(group, str(count), *(f"{top[name]:.3f}" if name in top else NOTHING for name in names))
    return rendered(rows)


def regression_table(errors: Sequence[RegressionError]) -> str:
    rows = table(
        "hidden layers", "weights", "MSE", "without logarithms", right=["weights", "MSE", "without logarithms"]
    )
    for error in errors:
        hidden = ", ".join(str(size) for size in error.hidden)
        rows.add_row(hidden, str(error.weights), f"{error.logarithms:.3f}", f"{error.plain:.3f}")
    return f"Regression: mean squared error over variance, on held-out groups\n\n{rendered(rows)}"


def evaluation_document(evaluation: Evaluation, errors: Sequence[RegressionError]) -> dict[str, Any]:
    return {
        "command": "evaluate",
        "seed": evaluation.seed,
        "summaries": [asdict(summary) for summary in summaries(evaluation)],
        "nests": [
            {
                "name": nest.name,
                "group": nest.group,
                "variants": len(nest.candidates),
                "spread": max(nest.seconds) / min(nest.seconds),
                "rankers": {
                    name: None if (quality := judged.qualities[place]) is None else asdict(quality)
                    for name, judged in evaluation.rankers.items()
                },
            }
            for place, nest in enumerate(evaluation.nests)
        ],
        "regression_errors": [asdict(error) for error in errors],
    }


def card_text(card: Mapping[str, Any]) -> str:
    data, machine, split = card["data"], card["machine"], card["split"]
    scores = ", ".join(f"{name} {value:.3f}" for name, value in card["scores"].items()) or NOTHING
    return "\n".join(
        [
            f"Ranker   {card['ranker']}, trained {card['date'][:10]} with seed {card['seed']}",
            f"Data     {data['source']}: {data['nests']} nests, {data['variants']} variants, "
            f"{len(data['groups'])} groups",
            f"Machine  {machine['name']}, {', '.join(machine['cpu'])}, "
            f"{', '.join(str(count) for count in machine['threads'])} thread",
            f"Split    the scores are those of a ranker that never saw {', '.join(split['held_out'])}",
            f"Scores   {scores}",
        ]
    )


def draw_distributions(evaluation: Evaluation, directory: Path) -> tuple[Path, ...]:
    """Plots of the performance of each nest's variants and of each ranker's pick (paper, figures 10, 12, 14 and 19).

    Only groups that were measured have a plot. Raises MissingComponentError without matplotlib.
    """
    groups = {nest.group for nest in evaluation.nests}
    wanted: dict[str, tuple[str, ...]] = {name: (group,) for group, name in _FIGURES.items() if group in groups}
    products = tuple(sorted(group for group in groups if group.startswith("gemm")))
    if products:
        wanted[_PRODUCTS] = products
    drawn = []
    for name, members in wanted.items():
        path = directory / f"{name}.svg"
        write_atomically(path, _drawn(evaluation, members))
        drawn.append(path)
    return tuple(drawn)


def _drawn(evaluation: Evaluation, groups: Sequence[str]) -> bytes:
    try:
        import matplotlib

        matplotlib.use("agg")
        from matplotlib import pyplot
    except ImportError as error:
        raise MissingComponentError("matplotlib is not installed", remedy="pip install matplotlib") from error
    matplotlib.rcParams["svg.hashsalt"] = "polydl"
    places = [place for place, nest in enumerate(evaluation.nests) if nest.group in groups]
    figure, axes = pyplot.subplots(figsize=(max(7.0, 0.75 * len(places)), 4.0), layout="constrained")
    for x, place in enumerate(places):
        seconds = evaluation.nests[place].seconds
        performance = [min(seconds) / duration for duration in seconds]
        axes.plot([x, x], [min(performance), 1.0], color="0.85", linewidth=7, solid_capstyle="butt", zorder=1)
        axes.scatter([x] * len(performance), performance, s=5, color="0.6", zorder=2)
    for name, (label, marker, colour) in _MARKS.items():
        judged = evaluation.rankers.get(name)
        if judged is not None:
            qualities = _own(judged, places)
            across, up = [x for x, _ in qualities], [quality.top[0] for _, quality in qualities]
            axes.scatter(across, up, s=32, marker=marker, color=colour, label=label, zorder=3, alpha=0.85)
    names = [evaluation.nests[place].name.removeprefix("gemm_") for place in places]
    axes.set_xticks(range(len(places)), names, rotation=30, ha="right", fontsize=8)
    axes.set_ylim(0.0, 1.03)
    axes.set_ylabel("performance relative to the best variant")
    axes.axhline(1.0, color="0.4", linewidth=0.8)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncol=3, fontsize=8, frameon=False)
    content = BytesIO()
    figure.savefig(content, format="svg", metadata={"Date": None})
    pyplot.close(figure)
    return content.getvalue()


def _own(judged: Judged, places: Sequence[int]) -> list[tuple[int, Any]]:
    qualities = ((x, judged.qualities[place]) for x, place in enumerate(places))
    return [(x, quality) for x, quality in qualities if quality is not None]
