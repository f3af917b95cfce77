"""What preparing a layer's weights once gains: the fastest single function beside the fastest that uses prepared ones.

    python -m experiments.prepared_weights --out polydl-out/prepared.json resnet_03 resnet_12 gemm_16x4096x4096
    python -m experiments.prepared_weights --table polydl-out/prepared.json

The first command optimizes each workload twice, without and with its weights as constants, and writes the raw numbers
after each; those that are there already are passed over. The second prints them as a table.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

import polydl
from polydl import workloads
from polydl.machine import Machine

# Names that the ready workloads give to what holds their weights.
WEIGHTS = ("filter", "B")


def measured(name: str, images: int, machine: Machine, max_variants: int) -> dict[str, Any]:
    """One row: seconds of both functions, of the one that prepares at every call, and the size of the buffer."""
    with tempfile.TemporaryDirectory() as folder:
        nest = polydl.parse(workloads.workload(name, images=images).write(Path(folder)))
        carried = {array.name for array in nest.arrays if array.storage == "parameter"}
        constant = [each for each in WEIGHTS if each in carried]
        single, prepared = (
            polydl.optimize(nest, machine=machine, constant=names, max_variants=max_variants)
            for names in ((), constant)
        )
    best, run, whole = single.winner, prepared.winner, prepared.unprepared
    return {
        "workload": name,
        "images": images,
        "threads": machine.threads,
        "flops": nest.flops,
        "constants": constant,
        "single_seconds": best.measurement.seconds_median if best is not None else None,
        "run_seconds": run.measurement.seconds_median if run is not None else None,
        "unprepared_seconds": whole.seconds_median if whole is not None else None,
        "bytes": run.kernel.prepared_bytes if run is not None else None,
    }


def table(rows: list[dict[str, Any]]) -> list[str]:
    """Lines of Markdown."""
    heads = ["workload", "images", "threads", "single, GFLOPS", "prepared, GFLOPS", "ratio", "KiB"]
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for row in rows:
        single, run = row["single_seconds"], row["run_seconds"]
        if single and run:
            rates = f"{row['flops'] / single / 1e9:.1f} | {row['flops'] / run / 1e9:.1f} | {single / run:.2f}"
            lines.append(
                f"| {row['workload']} | {row['images']} | {row['threads']} | {rates} | {row['bytes'] / 1024:.0f} |"
            )
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workloads", nargs="*")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--table", type=Path)
    parser.add_argument("--images", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--max-variants", type=int, default=400)
    options = parser.parse_args()
    path = options.table or options.out
    rows = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    if options.table:
        print("\n".join(table(rows)))
        return
    machine = Machine.detect(threads=options.threads)
    done = {(row["workload"], row["images"], row["threads"]) for row in rows}
    for name in options.workloads:
        if (name, options.images, options.threads) not in done:
            rows.append(measured(name, options.images, machine, options.max_variants))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(rows, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
