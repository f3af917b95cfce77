"""From the document of ``optimize`` to what a page shows.

Only here are a document's keys read. What is missing, as in documents of an older polydl, is not known; nothing is
computed in its place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from polydl.errors import OptionError
from polydl.ir.measurement import counting
from polydl.page.run import MachineOfRun, Reuse, Run, ShownVariant, ShownWinner, Statistic, Timed

Document = Mapping[str, Any]

AS_WRITTEN = "the nest as written"
# The winner of a run of the records had the shortest time of all once.
_SHORTEST = "polydl.run/1"
_KNOWN = ("polydl.optimize/1", "polydl.fuse/1", _SHORTEST, "polydl.run/2")


def read_run(document: Document, source: str) -> Run:
    """The run that a document describes. Raises OptionError, naming ``source``, for what is no such document."""
    schema = document.get("schema")
    if schema not in _KNOWN:
        raise OptionError(
            f"no result of `polydl optimize`: its schema is {schema!r}",
            file=source,
            remedy="name a report.json, or what `polydl optimize --json PATH` wrote",
        )
    try:
        return _run(document, source)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise OptionError(
            f"the document is damaged: {type(error).__name__}: {error}", file=source, remedy="run polydl optimize again"
        ) from None


def _run(document: Document, source: str) -> Run:
    given, code = document["input"], document.get("code") or {}
    ranking = document.get("ranking") or {}
    seconds = document.get("seconds") or {}
    statistic = _statistic(document)
    return Run(
        source=source,
        function=str(given["function"]),
        file=str(given.get("file") or ""),
        defines=dict(given.get("defines") or {}),
        digest=str(given["digest"]),
        flops=int(given["flops"]),
        machine=_machine(document["machine"]),
        arrays=tuple(document.get("arrays") or ()),
        counts=dict(document.get("counts") or {}),
        baselines=_baselines(document, statistic),
        variants=tuple(_variant(candidate, statistic) for candidate in document["candidates"]),
        peers=tuple(_timed(peer, str(peer["name"]), "peer", statistic) for peer in document.get("peers") or ()),
        winner=_winner(document),
        statistic=statistic,
        ranker=str(ranking.get("ranker") or ""),
        scores=tuple(ranking.get("scores") or ()),
        original_code=code.get("original"),
        winner_code=code.get("winner"),
        stages={stage: float(spent) for stage, spent in seconds.items() if stage != "total" and spent is not None},
        total_seconds=seconds.get("total"),
        measured=(document.get("records") or {}).get("measured"),
        numerics=str(document.get("numerics") or ""),
        setting={name: str(value) for name, value in (document.get("setting") or {}).items()},
        document=document,
    )


def _machine(content: Document) -> MachineOfRun:
    sizes = content.get("cache_bytes") or ()
    return MachineOfRun(
        name=str(content["name"]),
        cores=content.get("cores"),
        threads=int(content["threads"]),
        caches=tuple((f"L{place}", int(size)) for place, size in enumerate(sizes, 1)),
        peak_gflops=content.get("peak_gflops"),
        bandwidths=dict(content.get("bandwidths") or {}),
        calibrated=bool(content.get("calibrated")),
    )


def _statistic(document: Document) -> Statistic:
    """That by which the document's winner is the winner. Medians came with the samples."""
    if document["schema"] == _SHORTEST:
        return "shortest"
    everyone = document["candidates"]
    return "median" if not everyone or any("sample_seconds" in one for one in everyone) else "shortest"


def _baselines(document: Document, statistic: Statistic) -> tuple[Timed, ...]:
    several = document.get("baselines")
    if not several:
        several = [document["baseline"]] if document.get("baseline") is not None else []
    passed = [one for one in several if one.get("status", "ok") == "ok"]
    return tuple(_timed(one, str(one.get("name") or AS_WRITTEN), "baseline", statistic) for one in passed)


def _timed(content: Document, name: str, kind: Literal["variant", "baseline", "peer"], statistic: Statistic) -> Timed:
    shortest = _first(content, "seconds_min", "seconds_minimum")
    median = _first(content, "seconds_median")
    by_statistic = median if statistic == "median" else shortest
    undisturbed, disturbed = content.get("sample_seconds") or (), content.get("disturbed_seconds") or ()
    samples = counting([*((sample, False) for sample in undisturbed), *((sample, True) for sample in disturbed)])
    return Timed(
        name=name,
        kind=kind,
        seconds=by_statistic if by_statistic is not None else _first(content, "seconds") or median or shortest,
        shortest=shortest,
        median=median,
        samples=tuple(samples),
        disturbed=len(disturbed),
        uncertain=len(samples) > len(undisturbed),
        note=str(content.get("note") or content.get("message") or ""),
    )


def _first(content: Document, *keys: str) -> float | None:
    """The value of the first key that has one."""
    return next((float(content[key]) for key in keys if content.get(key) is not None), None)


def _variant(content: Document, statistic: Statistic) -> ShownVariant:
    return ShownVariant(
        id=str(content["id"]),
        rank=content.get("rank"),
        steps=tuple(content.get("steps") or ()),
        timed=_timed(content, str(content["id"]), "variant", statistic),
        status=content.get("status"),
        message=str(content.get("message") or ""),
        score=content.get("score"),
        error=content.get("error"),
        working_sets=dict(content.get("working_sets") or {}),
        traffic=dict(content.get("traffic") or {}),
        recorded=content.get("recorded"),
        threads=content.get("threads"),
    )


def _winner(document: Document) -> ShownWinner | None:
    best = document.get("best")
    if best is None:
        return None
    baseline = document.get("baseline") or {}
    equal = best.get("equal_samples")
    return ShownWinner(
        id=str(best["id"]),
        seconds=float(best["seconds"]),
        gflops=best.get("gflops"),
        speedup=best.get("speedup"),
        over=str(baseline.get("name") or AS_WRITTEN),
        equal_samples=None if equal is None else (equal["count"], equal["seconds"], equal["baseline_seconds"]),
        threads=int(best.get("threads") or document["machine"]["threads"]),
        peak_fraction=best.get("peak_fraction"),
        error=best.get("error"),
        rounding=str((best.get("rounding") or {}).get("method") or ""),
        microkernel=best.get("microkernel"),
        reuses=_reuses(best.get("reuses") or ()),
        plain=bool(best.get("plain")),
    )


def _reuses(contents: Sequence[Document]) -> tuple[Reuse, ...]:
    return tuple(
        Reuse(
            str(one["array"]),
            str(one["loop"]),
            tuple(one["kinds"]),
            int(one["minimum_bytes"]),
            int(one["maximum_bytes"]),
        )
        for one in contents
    )
