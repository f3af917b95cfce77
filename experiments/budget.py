"""What a search under a budget gains over the first picks, and the first pick alone beside the best that was found.

    python -m experiments.budget measure --suite resnet --workload gemm_512x512x512 --budget 60s --out budget.jsonl
    python -m experiments.budget table budget.jsonl

Each workload is optimized from nothing, then searched on from there until the budget is spent. At the end the first
pick, the fastest of the first picks and the fastest of all are timed anew beside each other, in interleaved rounds:
the fastest of many measurements is in part the luckiest. A line of the output file is one workload; one that the file
holds is not measured again.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any

import polydl
from experiments.json_lines import add, documents
from experiments.tables import markdown
from polydl.ir.measurement import counting
from polydl.workloads import suite, workload

Row = dict[str, Any]


def measured(name: str, budget: str, threads: int) -> Row:
    """One workload: what was found when, and all samples of the three variants, seconds and whether disturbed."""
    machine = polydl.Machine.detect(threads=threads)
    with tempfile.TemporaryDirectory() as folder:
        source, records = workload(name).write(Path(folder)), Path(folder, "records")
        begin = time.perf_counter()
        picked = polydl.optimize(source, machine=machine, records=records)
        answer = time.perf_counter() - begin
        searched = polydl.optimize(source, machine=machine, records=records, budget=budget)
        assert searched.search is not None
        right = [each for each in picked.tried if each.measurement.status == "ok"]
        first = min(right, key=lambda tried: tried.rank)
        chosen = {"first": first, "picked": picked.winner, "searched": searched.winner}
        variants = {role: tried.ranked.variant for role, tried in chosen.items() if tried is not None}
        distinct = tuple({variant.id: variant for variant in variants.values()}.values())
        again = polydl.optimize(source, machine=machine, records=False, variants=distinct)
    samples = {
        each.ranked.variant.id: [[sample.seconds, sample.disturbed] for sample in each.measurement.samples]
        for each in again.tried
    }
    return {
        "name": name,
        "cpu": machine.cpu_id,
        "threads": threads,
        "operations": picked.scop.flops,
        "budget": budget,
        "answer_seconds": round(answer, 2),
        "measured": searched.search.runs,
        "improvements": [[round(each.seconds, 2), each.runs, each.best] for each in searched.search.improvements],
        "ranks": {role: tried.rank for role, tried in chosen.items() if tried is not None},
        "samples": {role: samples[variant.id] for role, variant in variants.items()},
    }


def seconds(row: Row, role: str) -> float:
    """Of a call of a variant in the last rounds: the median of the samples that count; older data are that alone."""
    if "samples" not in row:
        return float(row["seconds"][role])
    return median(counting(row["samples"][role]))


def table(rows: Sequence[Row]) -> Iterator[str]:
    """GFLOPS of the fastest of the first picks and of the search, what was gained, and the first pick's share."""
    cells, gains, shares = [], [], []
    for row in rows:
        first, picked, searched = (seconds(row, role) for role in ("first", "picked", "searched"))
        # What is slower in the last rounds is the luckier of two that are level: the picks' is known as well.
        gains.append(picked / searched)
        shares.append(min(picked, searched) / first)
        rates = [f"{row['operations'] / each / 1e9:.1f}" for each in (first, picked, searched)]
        rank = str(row["ranks"]["searched"])
        answer, runs = f"{row['answer_seconds']:.1f} s", str(row["measured"])
        cells.append([row["name"], *rates, f"{gains[-1]:.3f}", f"{shares[-1]:.3f}", rank, runs, answer])
    cells.append(
        ["geometric mean", "", "", "", f"{geometric_mean(gains):.3f}", f"{geometric_mean(shares):.3f}", "", "", ""]
    )
    cells.append(["worst", "", "", "", f"{min(gains):.3f}", f"{min(shares):.3f}", "", "", ""])
    middle = median(row["answer_seconds"] for row in rows)
    cells.append(["median", "", "", "", "", "", "", "", f"{middle:.1f} s"])
    heads = [
        "workload",
        "first pick",
        "first picks",
        "search",
        "gained",
        "first pick of best",
        "rank",
        "measured",
        "answer",
    ]
    yield from markdown(heads, cells)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True, dest="command")
    measure = commands.add_parser("measure")
    measure.add_argument("--suite", action="append", default=[])
    measure.add_argument("--workload", action="append", default=[])
    measure.add_argument("--budget", default="60s")
    measure.add_argument("--threads", type=int, default=1)
    measure.add_argument("--out", type=Path, required=True)
    commands.add_parser("table").add_argument("file", type=Path)
    options = parser.parse_args()
    if options.command == "table":
        print("\n".join(table(documents(options.file))))
        return
    known = {row["name"] for row in documents(options.out)}
    for name in dict.fromkeys([*(name for each in options.suite for name in suite(each)), *options.workload]):
        if name in known:
            continue
        row = measured(name, options.budget, options.threads)
        add(row, options.out)
        print(list(table([row]))[2], flush=True)


if __name__ == "__main__":
    main()
