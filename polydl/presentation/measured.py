"""Measurements of ``optimize`` as text, from its document, so that new and stored results look the same."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from polydl.presentation.notation import NOTHING, counted, duration, number, percentage, rendered, table

FAILED_FOLDER = "failed"
_MESSAGE_LINES = 20


def measured_table(document: Mapping[str, Any]) -> str:
    """One line per candidate that was run."""
    numbers = ["time (min)", "median", "spread", "samples", "GFLOPS", "of peak", "speed-up", "error"]
    rows = table("#", "id", *numbers, "status", right=["#", *numbers])
    peak = _peak(document)
    baseline = document["baseline"]
    for candidate in document["candidates"]:
        seconds, rate = candidate["seconds_min"], candidate["gflops"]
        rows.add_row(
            f"{candidate['rank']}",
            candidate["id"],
            duration(seconds),
            duration(candidate["seconds_median"]),
            percentage(candidate["spread"]),
            f"{candidate['samples']} (-{candidate['disturbed']})"
            if candidate["disturbed"]
            else str(candidate["samples"]),
            number(rate),
            percentage(None if rate is None else rate / peak),
            f"{baseline['seconds'] / seconds:.2f}" if baseline and seconds else NOTHING,
            number(candidate["error"], 2),
            candidate["status"],
        )
    return rendered(rows)


def winner_text(document: Mapping[str, Any]) -> str:
    best, baseline = document["best"], document["baseline"]
    rank = next(candidate["rank"] for candidate in document["candidates"] if candidate["id"] == best["id"])
    threads = counted(document["machine"]["threads"], "thread")
    lines = [
        f"Winner  {best['id']} (rank {rank}): {duration(best['seconds'])}, {number(best['gflops'])} GFLOPS, "
        f"{percentage(best['peak_fraction'])} of the FMA peak of {threads} ({number(_peak(document))} GFLOPS)"
    ]
    if baseline is not None:
        lines.append(
            f"  the plain nest: {duration(baseline['seconds'])}, {number(baseline['gflops'])} GFLOPS; "
            f"speed-up {best['speedup']:.2f}"
        )
    return "\n".join(lines)


def records_text(document: Mapping[str, Any], asked_before: bool) -> str:
    """The number of results from records and the date of the first; "" if all measurements are new."""
    records = document["records"]
    if not records["reused"] and not asked_before:
        return ""
    when = f"measured {records['measured'][:16].replace('T', ' ')} UTC"
    if asked_before:
        return f"Records  the same was asked before: all results were {when}; --fresh measures again"
    count = counted(records["reused"], "candidate")
    return f"Records  {count} of {len(document['candidates'])} not run again, first {when}; --fresh measures again"


def failures_text(document: Mapping[str, Any], directory: Path) -> str:
    """The messages of all candidates that failed; "" if none did."""
    blocks = []
    for candidate in document["candidates"]:
        if candidate["status"] not in (None, "ok"):
            kept = directory / FAILED_FOLDER / f"{candidate['id']}.c"
            title = f"candidate {candidate['rank']} ({candidate['id']}): {candidate['status']}, its C is kept in {kept}"
            blocks.append(_failure(title, candidate["message"]))
    return "\n".join(blocks)


def _failure(title: str, message: str) -> str:
    lines = message.splitlines()
    shown = lines[:_MESSAGE_LINES]
    if len(lines) > len(shown):
        shown.append(f"({counted(len(lines) - len(shown), 'more line')} in the report)")
    return "\n".join([title, *(f"  {line}" for line in shown)])


def files_text(document: Mapping[str, Any]) -> str:
    return "\n".join(["Files", *(f"  {path}" for path in document["files"].values() if path is not None)])


def seconds_text(seconds: Mapping[str, float | None]) -> str:
    stages = ", ".join(
        f"{stage} {spent:.1f}" for stage, spent in seconds.items() if stage != "total" and spent is not None
    )
    return f"Total  {seconds['total']:.1f} s{f': {stages}' if stages else ''}"


def _peak(document: Mapping[str, Any]) -> float:
    machine = document["machine"]
    return float(machine["peak_gflops"] * machine["threads"])
