"""Which programs of PolyBench are accepted and verified, on their own data.

``make polybench`` fetches them. Each is optimized on one thread with few variants. The file that is written has, for
each program, how many candidates were verified, how many were not and why, and the seconds to the answer:

    python -m experiments.polybench --dataset SMALL --out small.json
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polydl
from polydl.bench.polybench import DATASETS, FOLDER, Program, names, program
from polydl.errors import PolydlError


def outcome(wanted: Program, top_k: int, max_variants: int) -> dict[str, Any]:
    """What came of a program: ``verified`` if a candidate or the plain nest was emitted, else ``failed`` and why."""
    start = time.perf_counter()
    found: dict[str, Any] = {"status": "failed", "message": "", "candidates": {}, "wrong": ""}
    try:
        result = polydl.optimize(
            wanted.path,
            function=wanted.function,
            defines=wanted.defines,
            include_directories=wanted.include_directories,
            init=wanted.init,
            machine=polydl.Machine.detect(threads=1),
            top_k=top_k,
            max_variants=max_variants,
            records=False,
        )
    except PolydlError as error:
        found["message"] = str(error)
    else:
        for each in result.tried:
            status = each.measurement.status
            found["candidates"][status] = found["candidates"].get(status, 0) + 1
            if status != "ok" and not found["wrong"]:
                found["wrong"] = each.measurement.message
        found["status"] = "verified" if result.winner is not None else "failed"
        found["speedup"] = result.speedup
        found["seconds_original"] = None if result.baseline is None else result.baseline.seconds
    return {**found, "seconds_spent": round(time.perf_counter() - start, 1)}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--polybench", type=Path, default=FOLDER, metavar="DIR")
    parser.add_argument("--dataset", choices=DATASETS, default="SMALL")
    parser.add_argument("--program", action="append", metavar="NAME", help="only this one; may be repeated")
    parser.add_argument("--top-k", type=int, default=3)
    parser.add_argument("--max-variants", type=int, default=40)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args(arguments)
    results: dict[str, Any] = {}
    for name in options.program or names(options.polybench):
        wanted = program(name, options.polybench, options.dataset)
        results[name] = outcome(wanted, options.top_k, options.max_variants)
        document = {"dataset": options.dataset, "polydl": polydl.__version__, "results": results}
        options.out.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
        found = results[name]
        print(
            f"{name}: {found['status']} {found['candidates']} {found['seconds_spent']:.0f} s {found['message'][:200]}"
        )


if __name__ == "__main__":
    main()
