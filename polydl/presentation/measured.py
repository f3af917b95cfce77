"""Measurements of ``optimize`` as text, from its document, so that new and stored results look the same."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from polydl.presentation.notation import NOTHING, counted, duration, number, percentage, wrapped
from polydl.presentation.tables import rendered, table

FAILED_FOLDER = "failed"
_MESSAGE_LINES = 20
# A stage that took less is not shown.
_LEAST_SECONDS = 0.05
_COUNT = re.compile(r"^(all|\d+ of \d+) (?=samples )")


def measured_table(document: Mapping[str, Any]) -> str:
    """One line per candidate that was run."""
    numbers = ["median", "shortest", "spread", "samples", "GFLOPS", "of peak", "speed-up", "error"]
    rows = table("#", "id", *numbers, "status", right=["#", *numbers])
    for candidate in document["candidates"]:
        rate, speedup = candidate["gflops"], candidate["speedup"]
        rows.add_row(
            f"{candidate['rank']}",
            candidate["id"],
            duration(candidate["seconds_median"]),
            duration(candidate["seconds_min"]),
            percentage(candidate["spread"]),
            _samples(candidate["samples"], candidate["disturbed"]),
            number(rate),
            percentage(None if rate is None else rate / peak(document, candidate)),
            NOTHING if speedup is None else f"{speedup:.2f}",
            number(candidate["error"], 2),
            candidate["status"],
        )
    return f"{rendered(rows, keys=2)}{order_note(document['candidates'])}"


def order_note(candidates: Sequence[Mapping[str, Any]]) -> str:
    """A line below a table of candidates where one with a longer time has the higher speed-up; else nothing."""
    ok = [each for each in candidates if each["status"] == "ok" and each["speedup"] is not None]
    ordered = sorted(ok, key=lambda one: (one["seconds_median"], -one["speedup"]))
    speedups = [f"{each['speedup']:.2f}" for each in ordered]
    if all(float(faster) >= float(slower) for faster, slower in pairwise(speedups)):
        return ""
    return "\n  orders may differ: medians of all samples, speed-ups of as many of each build"


def baseline_text(document: Mapping[str, Any]) -> str:
    """How many times as fast the winner is, and as what."""
    speedup, baseline = document["best"]["speedup"], document["baseline"]
    return f"{speedup:.2f} times as fast as the plain nest ({duration(baseline['seconds'])})"


def builds_text(document: Mapping[str, Any], *, verbose: bool) -> str:
    """The build that the speed-up is over, and the times that it is made of where they are not the medians of all.

    ``verbose`` with the speed-up over the build with the compiler's own flags.
    """
    baseline, written = document["baseline"], document["baselines"][0]
    text = f"plain nest: {baseline['name']}"
    # Answers that an earlier polydl has stored don't say.
    if "threads" in baseline:
        text += f", on {counted(baseline['threads'], 'thread')}"
    equal = document["best"].get("equal_samples")
    if equal is not None:
        times = f"{duration(equal['seconds'])} and {duration(equal['baseline_seconds'])}"
        text += f"; the speed-up is over {counted(equal['count'], 'sample')} of each: {times}"
    over = document["best"]["speedup_over_original"]
    if verbose and written["id"] != baseline["id"] and over is not None:
        text += f"; the winner is {over:.2f} times as fast as {written['name']} ({duration(written['seconds'])})"
    said: dict[str, str] = {}
    for part in (part for one in (baseline, written) for part in one["message"].split("; ") if part):
        # How many of the source's own build were disturbed would look like another number of the same samples.
        said.setdefault(_COUNT.sub("", part), part)
    return "; ".join([text, *said.values()])


def baselines_table(document: Mapping[str, Any]) -> str:
    """One line per build of the plain nest."""
    numbers = ["threads", "median", "GFLOPS", "samples"]
    rows = table("plain nest", *numbers, "status", right=numbers, fold=["plain nest"])
    for one in document["baselines"]:
        rows.add_row(
            one["name"],
            str(one.get("threads", NOTHING)),
            duration(one["seconds"]),
            number(one["gflops"]),
            _samples(len(one["sample_seconds"]) + len(one["disturbed_seconds"]), len(one["disturbed_seconds"])),
            one["status"],
        )
    return rendered(rows)


def _samples(count: int, disturbed: int) -> str:
    return f"{count} (-{disturbed})" if disturbed else str(count)


def exactness_text(exactness: Mapping[str, str] | None) -> list[str]:
    """What the check over a ring has shown, or why it was not made."""
    if exactness is None:
        return []
    if exactness["verdict"] == "agrees":
        return [f"over the {exactness['ring']} it agrees with the plain nest bit for bit"]
    return [f"not computed over a ring: {exactness['reason']}"]


def records_text(document: Mapping[str, Any]) -> str:
    """The number of results from records and the date of the first; "" if all measurements are new."""
    records = document["records"]
    if not records["reused"] and not records["answered"]:
        return ""
    when = f"{records['measured'][:16].replace('T', ' ')} UTC"
    if records["answered"]:
        text = f"Records  the same was asked before, {when}; --fresh measures again"
    else:
        count = f"{records['reused']} of {counted(len(document['candidates']), 'candidate')}"
        text = f"Records  {count} measured {when}; --fresh runs all"
    return "\n".join(wrapped(text, ""))


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


def seconds_text(seconds: Mapping[str, float | None], *, verbose: bool) -> str:
    """All of the time, and the stages that took a part of it; unless ``verbose``, a tenth or more."""
    least = max(_LEAST_SECONDS, 0.0 if verbose else 0.1 * (seconds["total"] or 0.0))
    stages = ", ".join(
        f"{stage} {spent:.1f}" for stage, spent in seconds.items() if stage != "total" and (spent or 0.0) >= least
    )
    return "\n".join(wrapped(f"Total  {seconds['total']:.1f} s{f': {stages}' if stages else ''}", ""))


def threads_of(document: Mapping[str, Any], candidate: Mapping[str, Any]) -> int:
    """On how many threads a candidate of the document runs, or its ``best``: all where an older one does not say."""
    return int(candidate.get("threads", document["machine"]["threads"]))


def peak(document: Mapping[str, Any], candidate: Mapping[str, Any]) -> float:
    """The FMA peak of the threads that a candidate runs on, in GFLOPS."""
    return float(document["machine"]["peak_gflops"] * threads_of(document, candidate))


def accuracy_text(best: Mapping[str, Any]) -> str:
    """What the winner does to sums and products, and its rounding errors beside those of the source."""
    method = best["rounding"]["method"]
    if not best["rounding"].get("rounds", True):
        return str(method)
    return f"{method}; {_errors_text(best['accuracy'])}"


def _errors_text(accuracy: Mapping[str, float] | None) -> str:
    if accuracy is None:
        return "rounding errors against a wider type were not measured"
    return f"rounding error {number(accuracy['ratio'], 2)} times the source's"
