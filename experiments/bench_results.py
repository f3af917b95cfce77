"""What a benchmark run found, as JSON, and what follows from it: ratios with their spread, means, a table."""

from __future__ import annotations

import json
import math
import os
import tempfile
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

SCHEMA = 1
# Resamples for an interval, and the part of them that lies inside.
_DRAWS, _INSIDE = 2000, 0.9

Document = dict[str, Any]


@dataclass(frozen=True)
class Ratio:
    """A peer's time divided by polydl's: above 1, polydl is faster.

    ``value`` is the ratio of the medians, ``low`` to ``high`` holds 90 % of it over resampled samples, and
    ``of_minima`` is the ratio of the shortest samples.
    """

    value: float
    low: float
    high: float
    of_minima: float


def seconds(timing: Mapping[str, Any]) -> list[float]:
    """The undisturbed samples, or all where every one was disturbed."""
    samples = timing["samples"]
    return [s["seconds"] for s in samples if not s["disturbed"]] or [s["seconds"] for s in samples]


def own_timing(result: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Of polydl's leaders, the one with the smallest median; None if none passed."""
    passed = [leader for leader in result["leaders"] if leader["status"] == "ok"]
    return min(passed, key=lambda leader: float(np.median(seconds(leader))), default=None)


def ratio(result: Mapping[str, Any], peer: str) -> Ratio | None:
    """None where polydl or the peer has no time."""
    draws = _draws(result, peer)
    if draws is None:
        return None
    own, other = _both(result, peer)
    low, high = _interval(draws)
    return Ratio(float(np.median(other) / np.median(own)), low, high, min(other) / min(own))


def mean_ratio(results: Iterable[Mapping[str, Any]], peer: str) -> tuple[Ratio, list[float]] | None:
    """The geometric mean over workloads, and the ratio of each; None if there is none."""
    found = [(draws, ratio(result, peer)) for result in results if (draws := _draws(result, peer)) is not None]
    ratios = [each for _, each in found if each is not None]
    if not ratios:
        return None
    low, high = _interval(np.exp(np.mean([np.log(draws) for draws, _ in found], axis=0)))
    value = geometric_mean([each.value for each in ratios])
    of_minima = geometric_mean([each.of_minima for each in ratios])
    return Ratio(value, low, high, of_minima), [each.value for each in ratios]


def geometric_mean(values: Sequence[float]) -> float:
    """Raises ZeroDivisionError for no values."""
    return math.exp(sum(math.log(value) for value in values) / len(values))


def _both(result: Mapping[str, Any], peer: str) -> tuple[list[float], list[float]]:
    own, other = own_timing(result), result["peers"].get(peer)
    if own is None or other is None or other["status"] != "ok":
        return [], []
    return seconds(own), seconds(other)


def _draws(result: Mapping[str, Any], peer: str) -> np.ndarray[Any, Any] | None:
    """The ratio of medians of samples drawn anew, with replacement."""
    own, other = _both(result, peer)
    if not own:
        return None
    # Apart for each pair, so that chance does not strike all workloads alike.
    generator = np.random.default_rng(zlib.crc32(f"{result['description']} {peer}".encode()))
    medians = [np.median(generator.choice(each, (_DRAWS, len(each))), axis=1) for each in (other, own)]
    divided: np.ndarray[Any, Any] = medians[0] / medians[1]
    return divided


def _interval(draws: np.ndarray[Any, Any]) -> tuple[float, float]:
    low, high = np.quantile(draws, [(1 - _INSIDE) / 2, (1 + _INSIDE) / 2])
    return float(low), float(high)


# ---- the file


def read(path: Path) -> Document:
    """Raises ValueError for a file that is no document of this schema."""
    document: Document = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise ValueError(f"{path} holds no benchmark results of schema {SCHEMA}")
    return document


def write(document: Document, path: Path) -> None:
    """The whole file or nothing: an interrupted run can go on from it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(document, file, indent=1)
            file.write("\n")
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


# ---- the tables


def workloads_table(document: Document) -> Table:
    """One row per workload."""
    settings, results = document["settings"], document["results"]
    title = f"{document['machine']['name']}, {settings['threads']} thread(s), {settings['images']} image(s)"
    shown = Table(title=f"{title}, {document['started'][:10]}", caption=_CAPTION, caption_justify="left")
    shown.add_column("workload", no_wrap=True)
    for heading in ("GFLOPS", "% of probe", "pick"):
        shown.add_column(heading, justify="right", no_wrap=True)
    peers = _compared(document)
    for peer in peers:
        shown.add_column(f"{peer} / polydl", justify="right", no_wrap=True)
    for name, result in results.items():
        shown.add_row(*_row(name, result, settings["threads"], peers))
    return shown


_CAPTION = (
    "Times as a multiple of polydl's: above 1, polydl is faster. Ratios of medians, 90 % of resampled ones in "
    "brackets.\nPick: the fastest leader's place in the ranking. ~ every sample was disturbed."
)


def summary_table(document: Document) -> Table:
    """One row per peer: geometric means over the workloads that both solved."""
    results, threads = document["results"].values(), document["settings"]["threads"]
    own = [timing for result in results if (timing := own_timing(result)) is not None]
    parts = [part for result in results if (part := _part_of_probe(result, threads)) is not None]
    of_probe = f"; {100 * geometric_mean(parts):.0f} % of the probe's peak (geometric mean)" if parts else ""
    shown = Table(title=f"{len(own)} of {len(results)} workloads{of_probe}")
    for heading in ("peer", "geometric mean", "of minima", "worst", "best", "polydl ahead"):
        shown.add_column(heading, justify="left" if heading == "peer" else "right", no_wrap=True)
    for peer in _compared(document):
        found = mean_ratio(results, peer)
        if found is not None:
            mean, each = found
            ahead = f"{sum(1 for value in each if value >= 1)} of {len(each)}"
            bounds = (f"{min(each):.3f}", f"{max(each):.3f}")
            shown.add_row(peer, _ratio_text(mean), f"{mean.of_minima:.3f}", *bounds, ahead)
    return shown


def _compared(document: Document) -> list[str]:
    """Without the peers that had nothing to do."""
    results = document["results"].values()
    return [peer for peer in document["settings"]["peers"] if any(peer in result["peers"] for result in results)]


def _row(name: str, result: Mapping[str, Any], threads: int, peers: Sequence[str]) -> list[str]:
    own, part = own_timing(result), _part_of_probe(result, threads)
    if own is None or part is None:
        return [name, f"[red]{result['status']}[/red]"]
    cells = [name, f"{_gflops(result, own):.1f}{_mark(own)}", f"{100 * part:.0f}", str(own["rank"])]
    for peer in peers:
        timing, found = result["peers"].get(peer), ratio(result, peer)
        if timing is None:
            cells.append("")
        else:
            cells.append(f"[red]{timing['status']}[/red]" if found is None else _ratio_text(found) + _mark(timing))
    return cells


def _ratio_text(found: Ratio) -> str:
    colour = "green" if found.low >= 1 else "red" if found.high < 1 else "yellow"
    return f"[{colour}]{found.value:.3f}[/{colour}] \\[{found.low:.2f}, {found.high:.2f}]"


def _gflops(result: Mapping[str, Any], timing: Mapping[str, Any]) -> float:
    return float(result["flops"] / np.median(seconds(timing)) / 1e9)


def _part_of_probe(result: Mapping[str, Any], threads: int) -> float | None:
    """polydl's GFLOPS as a part of what the probe reached on all cores at its best."""
    own = own_timing(result)
    return None if own is None else _gflops(result, own) / (threads * result["best_probe_gflops"])


def _mark(timing: Mapping[str, Any]) -> str:
    return "~" if all(sample["disturbed"] for sample in timing["samples"]) else ""
