"""The results of many nests as a table and as a document."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from polydl.optimization.tuning import Tuned
from polydl.presentation.notation import NOTHING, counted, duration, number
from polydl.presentation.tables import rendered, table


def tuned_text(results: Sequence[Tuned]) -> str:
    """One row for each nest and processor, and how many there are of each kind."""
    several = len({result.cpu for result in results}) > 1
    parents = {result.nest.directory.parent for result in results}
    # As a rule all are in one folder, whose name would be in each line.
    common = parents.pop() if len(parents) == 1 else Path()
    folder = f"in {common}" if common != Path() else "folder"
    columns = ["nest", *(["processor"] if several else []), "time", "GFLOPS", "speed-up", "status", folder]
    rows = table(*columns, right=["time", "GFLOPS", "speed-up"])
    for result in results:
        best = _best(result)
        rows.add_row(
            result.nest.name,
            *([result.cpu] if several else []),
            duration(best["seconds"]),
            number(best["gflops"]),
            NOTHING if best["speedup"] is None else f"{best['speedup']:.2f}",
            "as before" if result.answered else result.status,
            str(result.nest.directory.relative_to(common)),
        )
    failed = sum(result.status == "failed" for result in results)
    answered = sum(result.answered for result in results)
    summary = f"{counted(len(results), 'nest')}: {len(results) - failed} optimized, {failed} failed"
    return f"{rendered(rows)}\n\n{summary}" + (f"; {answered} were answered before" if answered else "")


def line(result: Tuned) -> str:
    """What failed, and why. Many messages begin with the file themselves."""
    name = f"{result.nest.name}:"
    return f"polydl: {result.message}" if result.message.startswith(name) else f"polydl: {name} {result.message}"


def document(results: Sequence[Tuned]) -> dict[str, Any]:
    """The document of ``polydl tune``; each nest's folder has that of ``polydl optimize``."""
    return {
        "schema": "polydl.tune/1",
        "nests": [
            {
                "name": result.nest.name,
                "workload": result.nest.workload or None,
                "cpu": result.cpu,
                "status": result.status,
                "message": result.message,
                "answered": result.answered,
                "best": _best(result),
                "folder": str(result.nest.directory),
                "seconds": result.seconds,
            }
            for result in results
        ],
    }


def _best(result: Tuned) -> dict[str, Any]:
    """What won; values are None without a winner."""
    best = result.document["best"] if result.document is not None else None
    return {name: None if best is None else best[name] for name in ("id", "plain", "seconds", "gflops", "speedup")}
