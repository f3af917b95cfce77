"""The numbers of a page as files to save, each a data URL."""

from __future__ import annotations

import csv
import io
import json
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from polydl.page.benchmark import Benchmark
from polydl.page.run import Run, Timed

COLUMNS = (
    "kind", "name", "rank", "status", "seconds_median", "seconds_shortest", "samples", "disturbed", "gflops", "score",
    "error", "sample_seconds",
)  # fmt: skip
BENCHMARK_COLUMNS = (
    "workload", "kind", "name", "status", "seconds_median", "seconds_shortest", "samples", "disturbed", "gflops",
    "polydl_times_as_fast", "note", "sample_seconds",
)  # fmt: skip


@dataclass(frozen=True)
class Download:
    """A file that a link of the page holds."""

    #: of the file, once it is saved
    name: str
    #: with all of the file in it (``data:``)
    url: str
    #: of the file
    bytes: int


def downloads(run: Run) -> tuple[Download, ...]:
    """The document, and a table with a row for everything that was timed or failed."""
    stem = f"{run.function}-{run.digest[:6]}"
    return (
        _download(f"{stem}.json", "application/json", document_text(run.document)),
        _download(f"{stem}.csv", "text/csv", _table(run)),
    )


def benchmark_downloads(benchmark: Benchmark) -> tuple[Download, ...]:
    """The document, and a table with a row for everything that was timed or failed at each workload."""
    stem = f"bench-{benchmark.date}"
    return (
        _download(f"{stem}.json", "application/json", document_text(benchmark.document)),
        _download(f"{stem}.csv", "text/csv", _benchmark_table(benchmark)),
    )


def document_text(document: Mapping[str, Any]) -> str:
    """A document as JSON that may stand inside of a ``<script>``: without ``<``."""
    text = json.dumps(document, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def _download(name: str, kind: str, content: str) -> Download:
    encoded = content.encode()
    return Download(name, f"data:{kind};charset=utf-8;base64,{b64encode(encoded).decode()}", len(encoded))


def _table(run: Run) -> str:
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(COLUMNS)
    for one in (*run.baselines, *run.peers):
        times = [*_times(one), run.gflops(one.seconds)]
        rows.writerow([one.kind, one.name, None, "ok", *times, None, None, _samples(one.samples)])
    for variant in run.variants:
        one = variant.timed
        times = [*_times(one), run.gflops(one.seconds)]
        judged = [variant.score, variant.error, _samples(one.samples)]
        rows.writerow([one.kind, one.name, variant.rank, variant.status, *times, *judged])
    return text.getvalue()


def _benchmark_table(benchmark: Benchmark) -> str:
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(BENCHMARK_COLUMNS)
    for workload in benchmark.workloads:
        for one in workload.timed:
            gflops = workload.flops / one.seconds / 1e9 if workload.flops and one.seconds else None
            ratio = workload.ratios.get(one.name, (None,))[0] if one.kind == "peer" else None
            told = [gflops, ratio, one.note, _samples(one.samples)]
            rows.writerow([workload.name, one.kind, one.name, "ok", *_times(one), *told])
        for name, reason in workload.failed:
            rows.writerow([workload.name, None, name, "failed", *[None] * 6, reason, None])
    return text.getvalue()


def _times(one: Timed) -> list[float | None]:
    return [one.median, one.shortest, len(one.samples), one.disturbed]


def _samples(samples: tuple[float, ...]) -> str:
    return " ".join(f"{sample:.9g}" for sample in samples)
