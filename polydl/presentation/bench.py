"""A benchmark's results as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape

from polydl.bench.polybench import is_program
from polydl.bench.ratios import Document, Ratio, fastest_leader, geometric_mean, leaders, mean_ratio, ratio, seconds
from polydl.bench.results import Untimed, compared, part_of_probe, rate, untimed
from polydl.presentation.notation import counted
from polydl.presentation.tables import parts, table, terminal_width

if TYPE_CHECKING:
    from rich.table import Table

_CAPTION = (
    "Times as a multiple of polydl's: above 1, polydl is faster. Ratios of medians, 90 % of resampled ones in brackets."
    "\nDirect: variants that compute every product of the source. Pick: the fastest leader's place in the ranking. ~ "
    "too few samples were undisturbed, so that all count."
)
_MEANS = "Means are of the workloads at which both have a time. Without a time of their own:"
# Of workloads that lack a time for the same reason, so many are named.
_MOST_NAMED = 6
_FOOTNOTES = "¹²³⁴⁵⁶⁷⁸⁹"


def workloads_table(document: Document) -> Table:
    """One row per workload."""
    settings, results = document["settings"], document["results"]
    title = f"{document['machine']['name']}, {counted(settings['threads'], 'thread')}"
    dataset = settings.get("dataset")
    if dataset is not None:
        title += f", PolyBench {dataset}"
    elif not all(map(is_program, results)):
        title += f", {counted(settings['images'], 'image')}"
    title += ", empty caches" if settings["cold"] else ""
    title += {"prepared": ", weights prepared", "each-call": ", weights as given"}.get(settings.get("weights"), "")
    caveats = _caveats(document)
    caption = "\n".join([_CAPTION, *(f"{mark} {caveat}." for caveat, mark in caveats.items())])
    peers = compared(document)
    beside = [f"{peer} / {_compared_with(document, peer)}" for peer in peers]
    headings = ["GFLOPS", "direct", "% of probe", "pick", *beside]
    shown = table("workload", *headings, right=headings)
    shown.title, shown.caption = f"{title}, {document['started'][:10]}", caption
    for name, result in results.items():
        shown.add_row(*_row(name, result, settings["threads"], peers, caveats))
    return shown


def _caveats(document: Document) -> dict[str, str]:
    """What there is to know about peers' times, each with the mark of its footnote."""
    timings = (timing for result in document["results"].values() for timing in result["peers"].values())
    return dict(
        zip(dict.fromkeys(timing["caveat"] for timing in timings if timing["caveat"]), _FOOTNOTES, strict=False)
    )


def _compared_with(document: Document, peer: str) -> str:
    direct = any(result["peers"][peer]["direct"] for result in document["results"].values() if peer in result["peers"])
    return "direct" if direct else "polydl"


def summary_table(document: Document) -> Table:
    """One row per peer: geometric means over the workloads that both solved."""
    results, threads = document["results"].values(), document["settings"]["threads"]
    ours = [result for result in results if leaders(result)]
    parts = [part for result in results if (part := part_of_probe(result, threads)) is not None]
    of_probe = f"; {100 * geometric_mean(parts):.0f} % of the probe's peak (geometric mean)" if parts else ""
    right = ("geometric mean", "worst", "best", "polydl ahead")
    shown = table("peer", "polydl's variants", *right, right=right)
    shown.title = f"{len(ours)} of {len(results)} workloads{of_probe}"
    shown.caption = _untimed_text(untimed(document))
    for peer in compared(document):
        mean_and_ratios = mean_ratio(results, peer)
        if mean_and_ratios is not None:
            mean, ratios = mean_and_ratios
            ahead = f"{sum(1 for value in ratios if value >= 1)} of {len(ratios)}"
            bounds = (f"{min(ratios):.3f}", f"{max(ratios):.3f}")
            variants = "every product" if _compared_with(document, peer) == "direct" else "all"
            shown.add_row(peer, variants, _ratio_text(mean), *bounds, ahead)
    return shown


def _untimed_text(missing: Sequence[Untimed]) -> str | None:
    """A line for each peer and reason, under what they say of the means; None if nothing is missing."""
    names: dict[tuple[str, str], list[str]] = {}
    for one in missing:
        why = one.status + (f" ({one.reason})" if one.reason else "")
        why += f"; its ratio is of {one.instead}'s time" if one.instead else ""
        names.setdefault((one.peer, why), []).append(one.workload)
    lines = []
    for (peer, why), workloads in names.items():
        others = len(workloads) - _MOST_NAMED
        named = ", ".join(workloads[:_MOST_NAMED]) + (f" and {others} more" if others > 0 else "")
        lines.append(escape(f"{peer} at {named}: {why}"))
    return "\n".join([_MEANS, *lines]) if lines else None


def _row(
    name: str, result: Mapping[str, Any], threads: int, peers: Sequence[str], caveats: Mapping[str, str]
) -> list[str]:
    ours, gflops, part = fastest_leader(result), rate(result), part_of_probe(result, threads)
    if ours is None or gflops is None:
        return [escape(name), f"[red]{result['status']}[/red]"]
    direct = rate(result, direct=True)
    cells = [escape(name), f"{gflops:.1f}{_mark(ours)}", "" if direct is None else f"{direct:.1f}"]
    cells += ["" if part is None else f"{100 * part:.0f}", "plain" if ours["rank"] is None else str(ours["rank"])]
    for peer in peers:
        timing, peer_ratio = result["peers"].get(peer), ratio(result, peer)
        if timing is None:
            cells.append("")
        elif peer_ratio is None:
            cells.append("[red]no ratio[/red]" if timing["status"] == "ok" else f"[red]{timing['status']}[/red]")
        elif timing["status"] != "ok":
            cells.append(f"{_ratio_text(peer_ratio)} [red]{timing['status']}[/red]")
        else:
            cells.append(_ratio_text(peer_ratio) + _mark(timing) + caveats.get(timing["caveat"], ""))
    return cells


def _ratio_text(peer_ratio: Ratio) -> str:
    low, high = peer_ratio.low, peer_ratio.high
    colour = "yellow" if not peer_ratio.bracketed else "green" if low >= 1 else "red" if high < 1 else "yellow"
    return f"[{colour}]{peer_ratio.value:.3f}[/{colour}] \\{peer_ratio.bracket}"


def _mark(timing: Mapping[str, Any]) -> str:
    undisturbed = sum(not sample["disturbed"] for sample in timing["samples"])
    return "~" if undisturbed < len(seconds(timing)) else ""


def console(quiet: bool) -> Console:
    """A console of the terminal's width, or of a fixed one where the output is a file or a pipe."""
    return Console(width=terminal_width(), quiet=quiet)


def print_table(content: Table, screen: Console) -> None:
    """Its title, the table or as many as it takes for this screen, and its caption; no line ends with blanks."""
    with screen.capture() as captured:
        screen.print(f"\n[bold]{content.title}[/bold]\n", highlight=False)
        for part in parts(content, screen):
            screen.print(part)
        if content.caption:
            screen.print(content.caption, highlight=False)
    screen.file.writelines(f"{line.rstrip()}\n" for line in captured.get().splitlines())


def result_line(name: str, result: Mapping[str, Any], peers: Sequence[str]) -> str:
    """The ratios of one workload on a line."""
    if result["status"] != "ok":
        return f"{escape(name)}: [red]{escape(result['message'].splitlines()[0])}[/red]"
    ratios = {peer: ratio(result, peer) for peer in peers}
    against = ", ".join(
        " ".join([peer, _ratio_text(value), *(f"({caveat})" for caveat in [result["peers"][peer]["caveat"]] if caveat)])
        for peer, value in ratios.items()
        if value is not None
    )
    return f"{escape(name)}: {against or 'no peer'}  ({result['seconds_spent']:.0f} s)"


def missing_text(name: str, reason: str, remedy: str) -> str:
    """Two lines, as markup of rich, on a peer that is left out: how to get it, and one line of the reason."""
    lines = reason.splitlines()
    # The line of a compiler's output that names the missing part.
    headline = next((line for line in lines if "cannot find" in line or "error:" in line), lines[-1])
    left_out = f"[yellow]{name} is missing and left out.[/yellow] To have it: [bold]{escape(remedy)}[/bold]"
    return f"{left_out}\n  {escape(headline)}"
