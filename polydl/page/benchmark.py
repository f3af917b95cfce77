"""From the document of ``bench`` to what its page shows: each workload with polydl's variants and other libraries."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from polydl.errors import OptionError
from polydl.ir.measurement import counting
from polydl.page.run import Timed

Document = Mapping[str, Any]
# As polydl.bench.results.SCHEMA, which later documents raise.
_KNOWN = 2


@dataclass(frozen=True)
class ShownWorkload:
    """One of the suite."""

    #: as ``polydl bench`` takes it
    name: str
    description: str
    #: all with a time, in the order of the document
    timed: tuple[Timed, ...]
    #: polydl's fastest; "" without a time
    best: str
    #: of polydl's fastest
    gflops: float | None
    #: of one invocation; 0 where they aren't known
    flops: int
    #: how many times as fast polydl is as each peer: value, and the bounds of its 90 % interval
    ratios: Mapping[str, tuple[float, float, float]]
    #: what has no time, and why
    failed: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Benchmark:
    """A run of ``polydl bench``."""

    #: what it was read from
    source: str
    machine: str
    #: of all programs
    threads: int
    #: of the run, as its document has it
    date: str
    workloads: tuple[ShownWorkload, ...]
    #: geometric mean of each peer's ratios, and of how many workloads
    means: Mapping[str, tuple[float, int]]
    document: Document


def is_benchmark(document: Document) -> bool:
    """Whether a document is one of ``bench``, of whatever schema."""
    return isinstance(document.get("schema"), int) and "results" in document and "settings" in document


def read_benchmark(document: Document, source: str) -> Benchmark:
    """The benchmark that a document describes. Raises OptionError, naming ``source``, for one of another schema."""
    if document["schema"] != _KNOWN:
        raise OptionError(
            f"results of polydl bench of schema {document['schema']}, and pages are made of {_KNOWN}",
            file=source,
            remedy="run polydl bench again",
        )
    try:
        # What an interrupted run wrote has no means yet.
        peers = (document.get("summary") or {}).get("peers") or {}
        return Benchmark(
            source=source,
            machine=str(document["machine"]["name"]),
            threads=int(document["settings"]["threads"]),
            date=str(document["started"])[:10],
            workloads=tuple(_workload(name, result) for name, result in document["results"].items()),
            means={peer: (float(mean["value"]), int(mean["workloads"])) for peer, mean in peers.items()},
            document=document,
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise OptionError(
            f"the document is damaged: {type(error).__name__}: {error}", file=source, remedy="run polydl bench again"
        ) from None


def _workload(name: str, result: Document) -> ShownWorkload:
    own = [(str(leader["variant"]), leader) for leader in result["leaders"]]
    everyone = [_timed(identity, "variant", leader) for identity, leader in own]
    everyone += [_timed(peer, "peer", timing) for peer, timing in result["peers"].items()]
    original = result.get("original")
    if original is not None:
        everyone.append(_timed("the nest as written", "baseline", original))
    timed = tuple(each for each in everyone if each.seconds is not None)
    best = min(
        (each for each in timed if each.kind == "variant"), key=lambda variant: variant.seconds or 0.0, default=None
    )
    others = [*own, *result["peers"].items()]
    said = [(title, str(each["note"] or each["status"])) for title, each in others if each["status"] != "ok"]
    if result["status"] != "ok":
        said.insert(0, ("polydl", str(result["message"])))
    return ShownWorkload(
        name=name,
        description=str(result["description"]),
        timed=timed,
        best=best.name if best is not None else "",
        gflops=result.get("gflops"),
        flops=int(result.get("flops") or 0),
        ratios={
            peer: (float(ratio["value"]), float(ratio["low"]), float(ratio["high"]))
            for peer, ratio in (result.get("ratios") or {}).items()
        },
        failed=tuple((title, text.partition("\n")[0]) for title, text in said),
    )


def _timed(name: str, kind: Literal["variant", "baseline", "peer"], timing: Document) -> Timed:
    """With the samples that count, as in ratios."""
    samples = timing["samples"] if timing["status"] == "ok" else ()
    counted = counting((float(sample["seconds"]), bool(sample["disturbed"])) for sample in samples)
    disturbed = sum(bool(sample["disturbed"]) for sample in samples)
    median = statistics.median(counted) if counted else None
    return Timed(
        name=name,
        kind=kind,
        seconds=median,
        shortest=min(counted, default=None),
        median=median,
        samples=tuple(counted),
        disturbed=disturbed,
        uncertain=len(counted) > len(samples) - disturbed,
        note=str(timing["note"] or timing.get("caveat") or ""),
    )
