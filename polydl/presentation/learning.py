"""Evaluations of rankers as tables, documents and plots, and model cards."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from io import BytesIO
from itertools import product
from pathlib import Path
from typing import Any

from polydl.contracts import MeasuredNest
from polydl.errors import MissingComponentError
from polydl.learning.evaluation import (
    DEFAULT_ORDER,
    ORACLE,
    Evaluation,
    Judged,
    RankerSummary,
    RegressionError,
    machines_of,
    measured_on,
    summaries,
)
from polydl.learning.metrics import TOP, Interval
from polydl.machine import Machine
from polydl.presentation.notation import NOTHING, counted, wrapped
from polydl.presentation.tables import rendered, table
from polydl.system.files import write_atomically

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
    """An evaluation for the terminal: how much data it had, and each ranker's scores over all and by groups."""
    groups = tuple(dict.fromkeys(nest.group for nest in evaluation.nests))
    variants = sum(len(nest.candidates) for nest in evaluation.nests)
    nests = f"{len(evaluation.nests)} nests of {len(groups)} groups, {variants} variants, each group held out in turn"
    parts = [
        "\n".join(wrapped(nests, "")),
        summaries_table(summaries(evaluation)),
        *_by_machine(evaluation),
        "Top-1 performance by group (geometric mean)",
        _tops_table("group", evaluation, {group: _of_group(group) for group in groups}),
    ]
    return "\n\n".join(parts)


def _by_machine(evaluation: Evaluation) -> list[str]:
    """The same for each machine, where there are several."""
    machines = machines_of(evaluation.nests)
    if len(machines) == 1:
        return []
    rows = {f"{each.cpu_id}, {counted(each.threads, 'thread')}": _on(each) for each in machines}
    return ["Top-1 performance by machine (geometric mean)", _tops_table("machine", evaluation, rows)]


def _on(machine: Machine) -> Callable[[MeasuredNest], bool]:
    return lambda nest: measured_on(nest, machine)


def _of_group(group: str) -> Callable[[MeasuredNest], bool]:
    return lambda nest: nest.group == group


def summaries_table(lines: Sequence[RankerSummary]) -> str:
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


def _tops_table(what: str, evaluation: Evaluation, parts: Mapping[str, Callable[[MeasuredNest], bool]]) -> str:
    """A row for each of the ``parts`` of all nests."""
    names = [name for name in evaluation.rankers if name not in _LEFT_OUT]
    headings = [_SHORT.get(name, name) for name in names]
    rows = table(what, "nests", *headings, right=["nests", *headings])
    for part, among in parts.items():
        top = {line.ranker: line.top[0].value for line in summaries(evaluation, among)}
        count = sum(map(among, evaluation.nests))
        rows.add_row(part, str(count), *(f"{top[name]:.3f}" if name in top else NOTHING for name in names))
    return rendered(rows)


def regression_table(errors: Sequence[RegressionError]) -> str:
    """A line for each network that predicts times: its layers, its weights, and its errors."""
    rows = table(
        "hidden layers", "weights", "MSE", "without logarithms", right=["weights", "MSE", "without logarithms"]
    )
    for error in errors:
        hidden = ", ".join(str(size) for size in error.hidden)
        rows.add_row(hidden, str(error.weights), f"{error.logarithms:.3f}", f"{error.plain:.3f}")
    return f"Regression: mean squared error over variance, on held-out groups\n\n{rendered(rows)}"


def evaluation_document(evaluation: Evaluation, errors: Sequence[RegressionError]) -> dict[str, Any]:
    """An evaluation as JSON, with the quality of each ranker on each nest; null where it didn't rank it."""
    return {
        "command": "evaluate",
        "seed": evaluation.seed,
        "summaries": [asdict(summary) for summary in summaries(evaluation)],
        "nests": [
            {
                "name": nest.name,
                "group": nest.group,
                "cpu": nest.machine.cpu_id,
                "threads": nest.machine.threads,
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
    """The card of a trained ranker, which its file of weights holds, as a few lines."""
    data, split = card["data"], card["split"]
    scores = ", ".join(f"{name} {value:.3f}" for name, value in card["scores"].items()) or NOTHING
    return "\n".join(
        [
            f"Ranker   {card['ranker']}, trained {card['date'][:10]} with seed {card['seed']}",
            f"Data     {', '.join(data['sources'])}: {data['nests']} nests, {data['variants']} variants, "
            f"{len(data['groups'])} groups",
            *(
                f"Machine  {machine['name']}, {machine['cpu']}, {counted(machine['threads'], 'thread')}"
                for machine in card["machines"]
            ),
            f"Split    the scores are those of a ranker that never saw {', '.join(split['held_out'])}",
            f"Scores   {scores}",
        ]
    )


def draw_distributions(evaluation: Evaluation, directory: Path) -> tuple[Path, ...]:
    """Plots of the performance of each nest's variants and of each ranker's pick (paper, figures 10, 12, 14 and 19).

    Only groups that were measured have a plot, one for each machine. Raises MissingComponentError without matplotlib.
    """
    machines = machines_of(evaluation.nests)
    groups = {nest.group for nest in evaluation.nests}
    wanted: dict[str, tuple[str, ...]] = {name: (group,) for group, name in _FIGURES.items() if group in groups}
    products = tuple(sorted(group for group in groups if group.startswith("gemm")))
    if products:
        wanted[_PRODUCTS] = products
    drawn = []
    for machine, (name, members) in product(machines, wanted.items()):
        places = [p for p, nest in enumerate(evaluation.nests) if nest.group in members and measured_on(nest, machine)]
        if places:
            which = f"-{machine.cpu_id}-{machine.threads}" if len(machines) > 1 else ""
            path = directory / f"{name}{which}.svg"
            write_atomically(path, _drawn(evaluation, places))
            drawn.append(path)
    return tuple(drawn)


def _drawn(evaluation: Evaluation, places: Sequence[int]) -> bytes:
    try:
        import matplotlib

        matplotlib.use("agg")
        from matplotlib import pyplot
    except ImportError as error:
        raise MissingComponentError("matplotlib is not installed", remedy="pip install matplotlib") from error
    matplotlib.rcParams["svg.hashsalt"] = "polydl"
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
