"""Results of a benchmark run as JSON, with ratios, their confidence intervals, and means."""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from polydl.errors import OptionError
from polydl.files import written_atomically

SCHEMA = 1
# Resamples for an interval, and the part of them inside of it.
_DRAWS, _INSIDE = 2000, 0.9
_ANOTHER = "name another --out"
# Values of settings that older files lack.
_FORMERLY = {"cold": False}

Document = dict[str, Any]


@dataclass(frozen=True)
class Ratio:
    """A peer's time divided by polydl's: above 1, polydl is faster."""

    #: ratio of the medians
    value: float
    #: lower bound of its 90 % interval, by resampling
    low: float
    #: upper bound
    high: float
    #: ratio of the shortest samples
    of_minima: float


def seconds(timing: Mapping[str, Any]) -> list[float]:
    """The undisturbed samples of a timing, or all samples if every one is disturbed."""
    samples = timing["samples"]
    return [s["seconds"] for s in samples if not s["disturbed"]] or [s["seconds"] for s in samples]


def own_timing(result: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The timing of the fastest of polydl's leading variants, by the median; None if none has a time."""
    passed = [leader for leader in result["leaders"] if leader["status"] == "ok"]
    return min(passed, key=lambda leader: float(np.median(seconds(leader))), default=None)


def ratio(result: Mapping[str, Any], peer: str) -> Ratio | None:
    """The ratio for one workload; None if polydl or the peer has no time."""
    draws = _draws(result, peer)
    if draws is None:
        return None
    ours, theirs = _both(result, peer)
    low, high = _interval(draws)
    return Ratio(float(np.median(theirs) / np.median(ours)), low, high, min(theirs) / min(ours))


def mean_ratio(results: Iterable[Mapping[str, Any]], peer: str) -> tuple[Ratio, list[float]] | None:
    """The geometric mean over workloads, and the ratio of each workload; None if there is no ratio."""
    pairs = [(draws, ratio(result, peer)) for result in results if (draws := _draws(result, peer)) is not None]
    ratios = [one for _, one in pairs if one is not None]
    if not ratios:
        return None
    low, high = _interval(np.exp(np.mean([np.log(draws) for draws, _ in pairs], axis=0)))
    value = geometric_mean([one.value for one in ratios])
    of_minima = geometric_mean([one.of_minima for one in ratios])
    return Ratio(value, low, high, of_minima), [one.value for one in ratios]


def geometric_mean(values: Sequence[float]) -> float:
    """The geometric mean. Raises ZeroDivisionError without values."""
    return math.exp(sum(math.log(value) for value in values) / len(values))


def _both(result: Mapping[str, Any], peer: str) -> tuple[list[float], list[float]]:
    ours, theirs = own_timing(result), result["peers"].get(peer)
    if ours is None or theirs is None or theirs["status"] != "ok":
        return [], []
    return seconds(ours), seconds(theirs)


def _draws(result: Mapping[str, Any], peer: str) -> np.ndarray[Any, Any] | None:
    """[draw]: ratios of medians of resampled samples, drawn with replacement; None without times of both."""
    ours, theirs = _both(result, peer)
    if not ours:
        return None
    # One random stream for each workload and peer, so that the draws of different workloads are independent.
    generator = np.random.default_rng(zlib.crc32(f"{result['description']} {peer}".encode()))
    medians = [np.median(generator.choice(samples, (_DRAWS, len(samples))), axis=1) for samples in (theirs, ours)]
    divided: np.ndarray[Any, Any] = medians[0] / medians[1]
    return divided


def _interval(draws: np.ndarray[Any, Any]) -> tuple[float, float]:
    low, high = np.quantile(draws, [(1 - _INSIDE) / 2, (1 + _INSIDE) / 2])
    return float(low), float(high)


def compared(document: Mapping[str, Any]) -> list[str]:
    """The peers that supported at least one workload."""
    results = document["results"].values()
    return [peer for peer in document["settings"]["peers"] if any(peer in result["peers"] for result in results)]


def rate(result: Mapping[str, Any], timing: Mapping[str, Any]) -> float:
    """GFLOPS at the median."""
    return float(result["flops"] / np.median(seconds(timing)) / 1e9)


def part_of_probe(result: Mapping[str, Any], threads: int) -> float | None:
    """polydl's GFLOPS as a part of the best rate of the probe on all cores; None without a time."""
    ours = own_timing(result)
    return None if ours is None else rate(result, ours) / (threads * result["best_probe_gflops"])


def concluded(document: Mapping[str, Any]) -> Document:
    """The document with the ``ratios`` of each workload by peer, and with their means as ``summary``."""
    results = document["results"]
    peers, threads = compared(document), document["settings"]["threads"]
    summary: Document = {"workloads": len(results), "of_probe": None, "peers": {}}
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
    ours = own_timing(result)
    ratios = {peer: asdict(peer_ratio) for peer in peers if (peer_ratio := ratio(result, peer)) is not None}
    return {
        **result,
        "gflops": None if ours is None else rate(result, ours),
        "of_probe": part_of_probe(result, threads),
        "ratios": ratios,
    }


# ---- the file


def read(path: Path) -> Document:
    """The document in a file. Raises OptionError for a file that is no document of this schema."""
    try:
        document: Document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise OptionError(f"can't be read: {error}", file=str(path), remedy=_ANOTHER) from None
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise OptionError(f"holds no benchmark results of schema {SCHEMA}", file=str(path), remedy=_ANOTHER)
    return document


def continued(old: Document, new: Document, file: str) -> Document:
    """The old document, for a run that continues it.

    Raises OptionError unless both have the same settings, versions, machine and missing peers.
    """
    for part in ("settings", "versions"):
        differing = [key for key in new[part] if old[part].get(key, _FORMERLY.get(key)) != new[part][key]]
        if differing:
            raise OptionError(f"holds results of other {part}: {', '.join(differing)}", file=file, remedy=_ANOTHER)
    if old["machine"]["cpu_id"] != new["machine"]["cpu_id"]:
        raise OptionError("holds results of another machine", file=file, remedy=_ANOTHER)
    if set(old["missing"]) != set(new["missing"]):
        raise OptionError("holds results with other peers installed", file=file, remedy=_ANOTHER)
    return {**old, "results": dict(old["results"])}


def write(document: Document, path: Path) -> None:
    """Write the file atomically, so that an interrupted run can be continued. Raises ResourceError."""
    with written_atomically(path) as file:
        file.write((json.dumps(document, indent=1) + "\n").encode())
