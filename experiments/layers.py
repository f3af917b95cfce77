"""What ``polydl bench`` measured, as raw data to keep, as tables in Markdown, and as a CSV file of workloads.

    python -m experiments.layers keep polydl-out/bench-resnet-1-1.json --out experiments/data/resnet-zen3.json.xz
    python -m experiments.layers table experiments/data/resnet-zen3.json.xz
    python -m experiments.layers csv experiments/data/resnet-zen3.json.xz --out layers.csv

The raw data are the file of the benchmark, compressed: every sample with both of its probes, what each peer says of
itself, the steps of every leader. Tables and CSV files are computed from it alone.
"""

from __future__ import annotations

import argparse
import csv
import json
import lzma
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments.tables import markdown
from polydl.bench.ratios import Document, Ratio, fastest_leader, mean_ratio, ratio
from polydl.bench.results import compared, part_of_probe, rate, read


def raw(path: Path) -> Document:
    """The document of a benchmark, compressed or not. Raises OptionError for one of another schema."""
    if path.suffix != ".xz":
        return read(path)
    document: Document = json.loads(lzma.decompress(path.read_bytes()))
    return document


def keep(document: Document, path: Path) -> None:
    """Write the raw data; the same document gives the same bytes."""
    path.write_bytes(lzma.compress(json.dumps(document, separators=(",", ":")).encode(), preset=9))


def summary(document: Document) -> list[str]:
    """Lines of a table: for each network and peer the geometric mean, its bracket, the worst, how many are ahead."""
    peers = compared(document)
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for name, result in document["results"].items():
        groups.setdefault(name.split("_")[0], []).append(result)
    if len(groups) > 1:
        groups["all"] = list(document["results"].values())
    rows = []
    for name, results in groups.items():
        cells = [name, str(len(results))]
        for peer in peers:
            found = mean_ratio(results, peer)
            if found is None:
                cells.append("")
                continue
            mean, ratios = found
            ahead = sum(value >= 1 for value in ratios)
            cells.append(f"{_text(mean)}, {min(ratios):.2f}, {ahead} of {len(ratios)}")
        rows.append(cells)
    return markdown(["workloads", "number", *(_head(document, peer) for peer in peers)], rows)


def each_workload(document: Document) -> list[str]:
    """Lines of a table with a row for each workload."""
    peers, threads = compared(document), document["settings"]["threads"]
    rows = []
    for name, result in document["results"].items():
        gflops, part, direct = rate(result), part_of_probe(result, threads), rate(result, direct=True)
        cells = [name, _number(gflops), "" if part is None else f"{100 * part:.0f}", _number(direct), _rewrites(result)]
        for peer in peers:
            found = ratio(result, peer)
            caveat = result["peers"].get(peer, {}).get("caveat", "")
            status = result["peers"].get(peer, {}).get("status", "")
            words = "; ".join(filter(None, (caveat, "" if status == "ok" else status)))
            cells.append(words if found is None else _text(found) + (f" ({words})" if words else ""))
        rows.append(cells)
    heads = ["workload", "GFLOPS", "% of probe", "GFLOPS, every product", "rewrites of the fastest"]
    return markdown([*heads, *(_head(document, peer) for peer in peers)], rows)


def algorithms(document: Document) -> list[str]:
    """Lines of a table with what each peer says of itself, and for how many workloads."""
    counts: dict[tuple[str, str], int] = {}
    for result in document["results"].values():
        for peer, timing in result["peers"].items():
            key = (peer, timing["note"] if timing["status"] == "ok" else timing["status"])
            counts[key] = counts.get(key, 0) + 1
    rows = [[peer, note.replace("|", "\\|"), str(count)] for (peer, note), count in sorted(counts.items())]
    return markdown(["peer", "what it says of itself", "workloads"], rows)


def lines(document: Document) -> list[dict[str, object]]:
    """One per workload, for a CSV file."""
    threads = document["settings"]["threads"]
    found: list[dict[str, object]] = []
    for name, result in document["results"].items():
        line: dict[str, object] = {
            "workload": name,
            "description": result["description"],
            "mflop": round(result["flops"] / 1e6, 1),
            "gflops": _rounded(rate(result), 1),
            "of_probe": _rounded(part_of_probe(result, threads), 3),
            "direct_gflops": _rounded(rate(result, direct=True), 1),
        }
        for peer in compared(document):
            one = ratio(result, peer)
            for part in ("value", "low", "high"):
                line[f"{peer}_{part}"] = None if one is None else round(getattr(one, part), 3)
        leader = fastest_leader(result)
        uses = [] if leader is None else leader["microkernels"]
        line["microkernel"] = " ".join(dict.fromkeys(use["name"] for use in uses))
        line["rewrites"] = _rewrites(result)
        found.append(line)
    return found


def _rewrites(result: Mapping[str, Any]) -> str:
    leader = fastest_leader(result)
    return "" if leader is None or leader["direct"] else "fewer products"


def _head(document: Document, peer: str) -> str:
    timings = (result["peers"][peer] for result in document["results"].values() if peer in result["peers"])
    return f"{peer} / {'every product' if any(timing['direct'] for timing in timings) else 'polydl'}"


def _text(one: Ratio) -> str:
    return f"{one.value:.2f} {one.bracket}"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.0f}"


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None else round(value, digits)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("step", choices=("keep", "table", "csv"))
    parser.add_argument("results", type=Path, help="the file of the benchmark, or raw data that were kept")
    parser.add_argument("--out", type=Path, help="where raw data (.json.xz) or the CSV file go")
    options = parser.parse_args(arguments)
    document = raw(options.results)
    if options.step == "table":
        print(*summary(document), "", *each_workload(document), "", *algorithms(document), sep="\n")
        return
    if options.out is None:
        parser.error("name the file with --out")
    if options.step == "keep":
        keep(document, options.out)
        return
    rows = lines(document)
    with options.out.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
