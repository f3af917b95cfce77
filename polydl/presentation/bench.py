"""A benchmark's results as tables."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from polydl.bench.results import (
    Document,
    Ratio,
    compared,
    geometric_mean,
    mean_ratio,
    own_timing,
    part_of_probe,
    rate,
    ratio,
)


def workloads_table(document: Document) -> Table:
    """One row per workload."""
    settings, results = document["settings"], document["results"]
    title = f"{document['machine']['name']}, {settings['threads']} thread(s), {settings['images']} image(s)"
    title += ", empty caches" if settings.get("cold") else ""
    shown = Table(title=f"{title}, {document['started'][:10]}", caption=_CAPTION, caption_justify="left")
    shown.add_column("workload", no_wrap=True)
    for heading in ("GFLOPS", "% of probe", "pick"):
        shown.add_column(heading, justify="right", no_wrap=True)
    peers = compared(document)
    for peer in peers:
        shown.add_column(f"{peer} / polydl", justify="right", no_wrap=True)
    for name, result in results.items():
        shown.add_row(*_row(name, result, settings["threads"], peers))
    return shown


_WIDTH = 160
_CAPTION = (
    "Times as a multiple of polydl's: above 1, polydl is faster. Ratios of medians, 90 % of resampled ones in "
    "brackets.\nPick: the fastest leader's place in the ranking. ~ every sample was disturbed."
)


def summary_table(document: Document) -> Table:
    """One row per peer: geometric means over the workloads that both solved."""
    results, threads = document["results"].values(), document["settings"]["threads"]
    ours = [timing for result in results if (timing := own_timing(result)) is not None]
    parts = [part for result in results if (part := part_of_probe(result, threads)) is not None]
    of_probe = f"; {100 * geometric_mean(parts):.0f} % of the probe's peak (geometric mean)" if parts else ""
    shown = Table(title=f"{len(ours)} of {len(results)} workloads{of_probe}")
    for heading in ("peer", "geometric mean", "of minima", "worst", "best", "polydl ahead"):
        shown.add_column(heading, justify="left" if heading == "peer" else "right", no_wrap=True)
    for peer in compared(document):
        mean_and_ratios = mean_ratio(results, peer)
        if mean_and_ratios is not None:
            mean, ratios = mean_and_ratios
            ahead = f"{sum(1 for value in ratios if value >= 1)} of {len(ratios)}"
            bounds = (f"{min(ratios):.3f}", f"{max(ratios):.3f}")
            shown.add_row(peer, _ratio_text(mean), f"{mean.of_minima:.3f}", *bounds, ahead)
    return shown


def _row(name: str, result: Mapping[str, Any], threads: int, peers: Sequence[str]) -> list[str]:
    ours, part = own_timing(result), part_of_probe(result, threads)
    if ours is None or part is None:
        return [name, f"[red]{result['status']}[/red]"]
    cells = [name, f"{rate(result, ours):.1f}{_mark(ours)}", f"{100 * part:.0f}", str(ours["rank"])]
    for peer in peers:
        timing, peer_ratio = result["peers"].get(peer), ratio(result, peer)
        if timing is None:
            cells.append("")
        else:
            cells.append(
                f"[red]{timing['status']}[/red]" if peer_ratio is None else _ratio_text(peer_ratio) + _mark(timing)
            )
    return cells


def _ratio_text(peer_ratio: Ratio) -> str:
    low, high = peer_ratio.low, peer_ratio.high
    colour = "green" if low >= 1 else "red" if high < 1 else "yellow"
    return f"[{colour}]{peer_ratio.value:.3f}[/{colour}] \\[{low:.2f}, {high:.2f}]"


def _mark(timing: Mapping[str, Any]) -> str:
    return "~" if all(sample["disturbed"] for sample in timing["samples"]) else ""


def console(quiet: bool) -> Console:
    """A console of the terminal's width, or of a fixed one where the output is a file or a pipe."""
    return Console(width=None if sys.stdout.isatty() else _WIDTH, quiet=quiet)


def result_line(name: str, result: Mapping[str, Any], peers: Sequence[str]) -> str:
    """The ratios of one workload on a line."""
    if result["status"] != "ok":
        return f"{name}: [red]{escape(result['message'].splitlines()[0])}[/red]"
    ratios = {peer: ratio(result, peer) for peer in peers}
    against = ", ".join(f"{peer} {_ratio_text(value)}" for peer, value in ratios.items() if value is not None)
    return f"{name}: {against or 'no peer'}  ({result['seconds_spent']:.0f} s)"


def missing_text(name: str, reason: str, remedy: str) -> str:
    lines = reason.splitlines()
    # The line of a compiler's output that names the missing part.
    headline = next((line for line in lines if "cannot find" in line or "error:" in line), lines[-1])
    left_out = f"[yellow]{name} is missing and left out.[/yellow] To have it: [bold]{escape(remedy)}[/bold]"
    return f"{left_out}\n  {escape(headline)}"
