"""Results of a benchmark run as JSON, with ratios, their confidence intervals, and means."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from polydl.bench.ratios import (
    Document,
    geometric_mean,
    has_ratio,
    leaders,
    mean_ratio,
    other_choice,
    own_seconds,
    ratio,
)
from polydl.errors import OptionError
from polydl.system.files import reason_of, text_of, written_atomically

# 2: leaders and peers say whether they compute every product of the source; the peer ``onednn`` asks for Winograd, too.
SCHEMA = 2
_ANOTHER = "name another --out"


#: In the place of a peer, for what polydl itself has no time at.
OURS = "polydl"


@dataclass(frozen=True)
class Untimed:
    """A workload at which a peer, or polydl, has no time of its own, and that its mean lacks."""

    #: its name, or ``OURS``
    peer: str
    workload: str
    #: that of its timing, ``not asked``, or ``no ratio`` where polydl has nothing that it is compared with
    status: str
    #: in words; "" if the status says all
    reason: str
    #: the other choice of the same library, whose time stands in the ratio in place of its own; "" without a ratio
    instead: str = ""


def untimed(document: Mapping[str, Any]) -> tuple[Untimed, ...]:
    """What is missing from the means, by workload. Where polydl has no time, its peers are not looked at."""
    missing: list[Untimed] = []
    for name, result in document["results"].items():
        if not leaders(result):
            missing.append(Untimed(OURS, name, *_failure(result)))
            continue
        missing += [one for peer in compared(document) if (one := _untimed(name, result, peer)) is not None]
    return tuple(missing)


def _failure(result: Mapping[str, Any]) -> tuple[str, str]:
    """Status and reason of a workload without a leader that has a time."""
    if result["status"] != "ok":
        return result["status"], _first_line(result["message"])
    failed = [leader["status"] for leader in result["leaders"]]
    return "failed", f"leaders: {', '.join(dict.fromkeys(failed))}" if failed else "no leaders"


def _untimed(name: str, result: Mapping[str, Any], peer: str) -> Untimed | None:
    timing = result["peers"].get(peer)
    if timing is None:
        return Untimed(peer, name, "not asked", "")
    if timing["status"] != "ok":
        instead = other_choice(peer) if has_ratio(result, peer) else ""
        return Untimed(peer, name, timing["status"], _first_line(timing["note"]), instead)
    if not has_ratio(result, peer):
        return Untimed(peer, name, "no ratio", "polydl has no time of a variant that computes every product")
    return None


def _first_line(text: str) -> str:
    return text.partition("\n")[0]


def compared(document: Mapping[str, Any]) -> list[str]:
    """The peers that supported at least one workload."""
    results = document["results"].values()
    return [peer for peer in document["settings"]["peers"] if any(peer in result["peers"] for result in results)]


def rate(result: Mapping[str, Any], direct: bool = False) -> float | None:
    """polydl's GFLOPS; with ``direct``, of variants that compute every product of the source. None without a time."""
    time = own_seconds(result, direct)
    return None if time is None else float(result["flops"] / time / 1e9)


def part_of_probe(result: Mapping[str, Any], threads: int) -> float | None:
    """polydl's GFLOPS as a part of the best rate of the probe on all cores; None without a time or any operation."""
    gflops = rate(result)
    # A nest that only moves data has no rate to compare.
    return gflops / (threads * result["best_probe_gflops"]) if gflops else None


def concluded(document: Mapping[str, Any]) -> Document:
    """The document with the ``ratios`` of each workload by peer, and with their means as ``summary``."""
    results = document["results"]
    peers, threads = compared(document), document["settings"]["threads"]
    missing = [asdict(each) for each in untimed(document)]
    summary: Document = {"workloads": len(results), "of_probe": None, "peers": {}, "untimed": missing}
    parts = [part for result in results.values() if (part := part_of_probe(result, threads)) is not None]
    if parts:
        summary["of_probe"] = geometric_mean(parts)
    for peer in peers:
        mean_and_ratios = mean_ratio(results.values(), peer)
        if mean_and_ratios is not None:
            mean, ratios = mean_and_ratios
            counts = {"workloads": len(ratios), "ahead": sum(value >= 1 for value in ratios)}
            summary["peers"][peer] = {**asdict(mean), "worst": min(ratios), "best": max(ratios), **counts}
    return {
        **document,
        "results": {name: _with_ratios(result, peers, threads) for name, result in results.items()},
        "summary": summary,
    }


def _with_ratios(result: Mapping[str, Any], peers: Sequence[str], threads: int) -> Document:
    ratios = {peer: asdict(peer_ratio) for peer in peers if (peer_ratio := ratio(result, peer)) is not None}
    return {
        **result,
        "gflops": rate(result),
        "direct_gflops": rate(result, direct=True),
        "of_probe": part_of_probe(result, threads),
        "ratios": ratios,
    }


# ---- the file


def read(path: Path, remedy: str = _ANOTHER) -> Document:
    """The document in a file. Raises OptionError with this remedy for a file that is no document of this schema."""
    try:
        document: Document = json.loads(text_of(path))
    except (OSError, ValueError) as error:
        raise OptionError(f"can't be read: {reason_of(error)}", file=str(path), remedy=remedy) from None
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise OptionError(f"holds no benchmark results of schema {SCHEMA}", file=str(path), remedy=remedy)
    return document


def continued(old: Document, new: Document, file: str) -> Document:
    """The old document, for a run that continues it. Raises OptionError unless they are alike (``require_alike``)."""
    require_alike(new, old, file, _ANOTHER)
    return {**old, "results": dict(old["results"])}


def require_alike(first: Document, other: Document, file: str, remedy: str) -> None:
    """Raises OptionError, with the other's file, unless settings, versions, machine and missing peers are the same."""
    for part in ("settings", "versions"):
        differing = [key for key in first[part] if other[part].get(key) != first[part][key]]
        if differing:
            raise OptionError(f"holds results of other {part}: {', '.join(differing)}", file=file, remedy=remedy)
    if first["machine"]["cpu_id"] != other["machine"]["cpu_id"]:
        raise OptionError("holds results of another machine", file=file, remedy=remedy)
    if set(first["missing"]) != set(other["missing"]):
        raise OptionError("holds results with other peers installed", file=file, remedy=remedy)


def write(document: Document, path: Path) -> None:
    """Write the file atomically, so that an interrupted run can be continued. Raises ResourceError."""
    with written_atomically(path) as file:
        file.write((json.dumps(document, indent=1) + "\n").encode())
