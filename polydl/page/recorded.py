"""A run of the records as a document like that of ``optimize``, with what records hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from polydl.errors import OptionError
from polydl.ir.cold import Cold
from polydl.records.record import Record
from polydl.records.store import read

_CACHES: Mapping[Cold, str] = {
    False: "warm",
    True: "flushed before each invocation",
    "constants": "without constants, which are flushed before each invocation",
}


def run_document(directory: Path, run: str) -> dict[str, Any]:
    """The document of one run: of all the records whose run has the id ``run``, or one that starts so.

    Raises OptionError if there is none, or if several runs start so.
    """
    records = [record for record in read(directory) if record.run.startswith(run)]
    runs = sorted({record.run for record in records})
    if not runs:
        raise OptionError(
            f"the records in {directory} have no run {run}",
            remedy="`polydl records export` lists them in the column `run`; or name a report.json",
        )
    nests = {record.nest for record in records}
    if len(runs) > 1 or len(nests) > 1:
        raise OptionError(f"{run} may be {' or '.join(runs[:4])}", remedy="write more of it")
    return _document(list({(record.kind, record.id): record for record in records}.values()))


def _document(records: Sequence[Record]) -> dict[str, Any]:
    first = records[0]
    plain = [each for each in records if each.kind in ("original", "baseline") and each.seconds_median is not None]
    baseline = min(plain, key=lambda record: record.seconds_median or 0.0, default=None)
    variants = [record for record in records if record.kind == "variant"]
    passed = [record for record in variants if record.status == "ok" and record.seconds_median is not None]
    final = [record for record in passed if record.final] or passed
    best = min(final, key=lambda record: record.seconds_median or 0.0, default=None)
    peaks = [record.peak_gflops for record in records if record.peak_gflops]
    peak = max(peaks, default=None)
    setting = first.setting
    return {
        # 2: times are medians, as in the document of ``optimize``.
        "schema": "polydl.run/2",
        "input": {
            "function": first.workload or first.function,
            "file": "",
            "digest": first.nest,
            "flops": first.flops,
            "defines": {},
        },
        "machine": {"name": setting.cpu, "cores": None, "threads": setting.threads, "peak_gflops": peak},
        "counts": {"measured": len(passed), "failed": len(variants) - len(passed)},
        "baseline": None if baseline is None else _baseline(baseline),
        "baselines": [_baseline(record) for record in plain],
        "best": None if best is None else _best(best, baseline, peak),
        "candidates": [_candidate(record) for record in variants],
        "peers": [
            {"name": record.id, "seconds": record.seconds_median, "note": record.message, **_samples(record)}
            for record in records
            if record.kind == "peer" and record.status == "ok"
        ],
        "numerics": setting.numerics,
        "records": {"measured": min(record.date for record in records)},
        "setting": {
            "compiler": setting.compiler,
            **dict(setting.libraries),
            "polydl": first.polydl,
            "caches": _CACHES[setting.cold],
            "run": first.run,
        },
    }


def _baseline(record: Record) -> dict[str, Any]:
    return {
        "name": record.id if record.kind == "baseline" else None,
        "seconds": record.seconds_median,
        **_samples(record),
    }


def _best(best: Record, baseline: Record | None, peak: float | None) -> dict[str, Any]:
    seconds, rate = best.seconds_median, best.gflops
    slower = baseline.seconds_median if baseline is not None else None
    return {
        "id": best.id,
        "seconds": seconds,
        "gflops": rate,
        "speedup": slower / seconds if slower and seconds else None,
        "peak_fraction": rate / (peak * best.setting.threads) if rate and peak else None,
        "error": best.error,
        "microkernel": next(iter(best.features.get("microkernels") or ()), None),
    }


def _candidate(record: Record) -> dict[str, Any]:
    features: Mapping[str, Any] = record.features
    names = [f"L{place}" for place in range(1, 1 + len(features.get("levels") or ()))]
    held = dict(zip(names, features.get("levels") or (), strict=True))
    nests = features.get("traffic") or ()
    return {
        "id": record.id,
        "rank": None,
        "steps": [] if record.variant is None else record.variant.to_json(),
        "status": record.status,
        "message": record.message,
        "error": record.error,
        "working_sets": {**held, "memory": features["memory"]} if held else {},
        "traffic": {name: sum(nest[place] for nest in nests) for place, name in enumerate(names)} if nests else {},
        "seconds_min": record.seconds_minimum,
        "seconds_median": record.seconds_median,
        **_samples(record),
    }


def _samples(record: Record) -> dict[str, Any]:
    return {
        "seconds_median": record.seconds_median,
        "sample_seconds": [sample.seconds for sample in record.samples if not sample.disturbed],
        "disturbed_seconds": [sample.seconds for sample in record.samples if sample.disturbed],
    }
