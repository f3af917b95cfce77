"""The answer of ``optimize`` and ``fuse``, from its document: what won, by how much, and where its files are.

It fits a screen of 80 columns and 24 rows. New and stored results look the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from polydl.ir.cold import COLD_IN_WORDS
from polydl.presentation.measured import (
    accuracy_text,
    baseline_text,
    baselines_table,
    builds_text,
    exactness_text,
    measured_table,
    order_note,
    peak,
    records_text,
    seconds_text,
    threads_of,
)
from polydl.presentation.notation import (
    NOTHING,
    count,
    counted,
    duration,
    first_names,
    number,
    percentage,
    size,
    wrapped,
)
from polydl.presentation.tables import rendered, table

_SHOWN_CANDIDATES, _SHOWN_STEPS = 4, 5


def answer_text(document: Mapping[str, Any], *, verbose: bool, fused: Sequence[str] = ()) -> str:
    """All of it; ``verbose`` with all candidates, steps and figures. ``fused`` are further lines about the winner."""
    lines: list[str] = []
    if document["best"] is not None:
        lines += [*_winner(document, verbose), *fused]
        lines += [*_steps(document, verbose, _SHOWN_STEPS - len(fused)), *_files(document, verbose)]
    else:
        lines += [*_not_run(document), *_files(document, verbose)]
    if document["baseline"] is not None:
        tables = [measured_table(document), "", baselines_table(document)] if verbose else [_fastest(document)]
        lines += ["", *tables, ""]
    lines += [*_search(document), records_text(document), seconds_text(document["seconds"], verbose=verbose)]
    if verbose:
        lines[:0] = wrapped(_nest(document), "")
    return "\n".join(line for place, line in enumerate(lines) if line or lines[place - 1])


def _not_run(document: Mapping[str, Any]) -> list[str]:
    machine = document["machine"]
    reason = ""
    if not machine.get("at_hand", True):
        reason = f"the code is for {machine['name']}, and this is another machine"
    elif machine.get("lacking"):
        reason = f"this processor lacks {', '.join(machine['lacking'])}"
    if not reason or document["files"]["c"] is None:
        return []
    return wrapped(f"Not run  {reason}: what is written is the first of the ranking, unchecked", "")


def _nest(document: Mapping[str, Any]) -> str:
    given = document["input"]
    defines = "".join(f" -D {name}={value}" for name, value in given["defines"].items())
    return f"Nest  {given['file']}: function {given['function']}{defines} (nest {given['digest']})"


def _winner(document: Mapping[str, Any], verbose: bool) -> Iterator[str]:
    best = document["best"]
    threads = counted(threads_of(document, best), "thread")
    if best["plain"]:
        yield from wrapped(
            f"Winner  the plain nest, {duration(best['seconds'])} on {threads}: {_no_variant(document)}", ""
        )
    else:
        yield from wrapped(f"Winner  {duration(best['seconds'])} on {threads}, {baseline_text(document)}", "")
    of_peak = f"{percentage(best['peak_fraction'])} of the FMA peak"
    if verbose:
        of_peak += f" of {threads} ({number(peak(document, best))} GFLOPS)"
    # Where nothing is computed, as in a transposition, there is no rate.
    rate = [f"{number(best['gflops'])} GFLOPS, {of_peak}"] if best["gflops"] else []
    caches = COLD_IN_WORDS[document.get("cold", False)]
    yield from wrapped("; ".join(filter(None, [*rate, caches, _which(document)])), "  ")
    yield from _prepared(document)
    said = f"numerics {document['numerics']}: {accuracy_text(best)}"
    yield from wrapped("; ".join([said, *(exactness_text(best["exactness"]) if verbose else ())]), "  ")
    if best.get("preferred_to"):
        yield from wrapped(f"{best['preferred_to']} is faster by little, and calls a library; this calls none", "  ")
    yield from wrapped(builds_text(document, verbose=verbose), "  ")


def _no_variant(document: Mapping[str, Any]) -> str:
    """Why the plain nest wins."""
    if document["counts"]["measured"]:
        return "no variant is as fast" + (" so far" if document["interrupted"] else "")
    inaccurate = all(each["status"] == "inaccurate" for each in document["candidates"])
    return f"no variant is accurate enough for numerics {document['numerics']}" if inaccurate else "no variant passed"


def _prepared(document: Mapping[str, Any]) -> Iterator[str]:
    """What the two functions for constants gain over the one that prepares them at every call."""
    best = document["best"]
    prepared = best.get("prepared")
    if prepared is None:
        return
    function, names = document["input"]["exported"], ", ".join(prepared["constants"])
    if not prepared["bytes"]:
        yield from wrapped(f"nothing is prepared of {names}: {function}_run does what {function} does", "  ")
        return
    text = f"that is {function}_run, with {size(prepared['bytes'])}B prepared of {names}"
    if prepared["unprepared_seconds"]:
        text += f"; {function} takes {duration(prepared['unprepared_seconds'])}"
    yield from wrapped(text, "  ")


def _which(document: Mapping[str, Any]) -> str:
    """What won: a variant with its place, or a build of the plain nest."""
    best, ranked = document["best"], count(document["counts"]["ranked"])
    if best["plain"]:
        return f"{counted(len(document['candidates']), 'variant')} of {ranked} measured"
    rank = next(candidate["rank"] for candidate in document["candidates"] if candidate["id"] == best["id"])
    return f"variant {best['id']}, rank {rank} of {ranked}"


def _steps(document: Mapping[str, Any], verbose: bool, most: int) -> Iterator[str]:
    """The winner's code in words: beyond ``most`` lines, nests with microkernels, then rewrites, then other nests."""
    yield "Code"
    words = document["best"]["words"]
    lines = {each: wrapped(each, "  ") for each in words}
    room = most if sum(map(len, lines.values())) <= most else most - 1
    shown = set()
    for each in sorted(lines, key=lambda step: ("microkernel" not in step, step.startswith("nest "))):
        if verbose or len(lines[each]) <= room:
            shown.add(each)
            room -= len(lines[each])
    for each in lines:
        yield from lines[each] if each in shown else ()
    if len(shown) < len(lines):
        yield f"  ... {counted(len(lines) - len(shown), 'further step')} in the head of the C"


def _fastest(document: Mapping[str, Any]) -> str:
    """The fastest candidates, then those that failed."""
    numbers = ["#", "median", "spread", "GFLOPS", "speed-up", "error"]
    rows = table("#", "id", *numbers[1:], "status", right=numbers)
    ordered = sorted(document["candidates"], key=_order)
    shown = ordered if len(ordered) <= _SHOWN_CANDIDATES else ordered[: _SHOWN_CANDIDATES - 1]
    for candidate in shown:
        speedup = candidate["speedup"]
        rows.add_row(
            str(candidate["rank"]),
            candidate["id"],
            duration(candidate["seconds_median"]),
            percentage(candidate["spread"]),
            number(candidate["gflops"]),
            NOTHING if speedup is None else f"{speedup:.2f}",
            number(candidate["error"], 2),
            candidate["status"],
        )
    left = len(ordered) - len(shown)
    more = f"\n  ... {left} more, with -v" if left else ""
    return f"{rendered(rows, keys=2)}{more}{order_note(shown)}"


def _order(candidate: Mapping[str, Any]) -> tuple[bool, float]:
    return candidate["status"] != "ok", candidate["seconds_median"] or 0.0


def _search(document: Mapping[str, Any]) -> Iterator[str]:
    """What was gained beyond the first picks, by when, and what going on is worth."""
    search = document["search"]
    if search is None or not search["improvements"]:
        return
    steps = search["improvements"]
    shown = steps if len(steps) <= _SHOWN_STEPS else [steps[0], *steps[1 - _SHOWN_STEPS :]]
    by_when = ", ".join(f"{duration(each['best'])} after {each['runs']} ({each['seconds']:.0f} s)" for each in shown)
    # Of a single time there is nothing to expect, for which 1 stands.
    further = (
        "what further runs may gain is not known yet"
        if search["expected_gain"] >= 1
        else f"as many runs again may gain {percentage(search['expected_gain'])}"
    )
    runs = counted(search["runs"], "run")
    words = f"Search  {search['strategy']}, {runs} in {search['seconds']:.0f} s: {by_when}; {further}{_gap(search)}"
    yield from wrapped(words, "")


def _gap(search: Mapping[str, Any]) -> str:
    """What the strategy proves of all variants; nothing where that says nothing."""
    gap = search.get("gap")
    if gap is None or gap >= 1:
        return ""
    return f"; no variant saves more than {percentage(gap)}, by the bound" if gap else "; none is faster, by the bound"


def _files(document: Mapping[str, Any], verbose: bool) -> Iterator[str]:
    """The folders and the names of the files that were written; unless ``verbose``, as many as a line holds."""
    paths = [Path(path) for path in document["files"].values() if path is not None]
    for folder in dict.fromkeys(path.parent for path in paths):
        yield f"Files  {folder}"
        names = [path.name for path in paths if path.parent == folder]
        yield from wrapped("  ".join(names), "  ") if verbose else [first_names(names)]
