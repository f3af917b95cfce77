"""What threads that wait for each other cost on a machine that is busy with something else.

    python -m experiments.waiting --out experiments/data/waiting.json
    python -m experiments.waiting --table experiments/data/waiting.json

Calls of a parallel loop (``waiting.c``) are timed one by one on one thread and on all, with OpenMP's ways to wait,
beside some busy processes. The first command measures and writes the raw numbers, the second prints them as a table.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

#: What OpenMP is told, by the name of the way to wait.
WAYS: Mapping[str, Mapping[str, str]] = {
    "default": {},
    "GOMP_SPINCOUNT=10000": {"GOMP_SPINCOUNT": "10000"},
    "OMP_WAIT_POLICY=passive": {"OMP_WAIT_POLICY": "passive"},
    "OMP_WAIT_POLICY=active": {"OMP_WAIT_POLICY": "active"},
}
WORK_SECONDS = (2e-5, 4e-4, 1e-2)


@contextmanager
def busy(processes: int) -> Iterator[None]:
    """So many processes that compute all the time."""
    code = "while True: pass"
    started = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(processes)]
    try:
        yield
    finally:
        for process in started:
            process.kill()
            process.wait()


def measured(program: Path, work: float, threads: int, ways: Mapping[str, str], seconds: float) -> dict[str, Any]:
    """The numbers that the program prints of calls with so many seconds of work."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "GOMP_"))}
    command = [str(program), str(work), str(threads), str(seconds)]
    done = subprocess.run(command, env={**kept, **ways}, capture_output=True, text=True, check=True)
    numbers: dict[str, Any] = json.loads(done.stdout)
    return numbers


def measure(seconds: float) -> dict[str, Any]:
    """All cells of the table, each for so many seconds."""
    cores = len(os.sched_getaffinity(0))
    cells = []
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "waiting"
        source = Path(__file__).with_name("waiting.c")
        subprocess.run(["gcc", "-O2", "-fopenmp", str(source), "-o", str(program)], check=True)
        for others in (0, 1, cores):
            with busy(others):
                for work in WORK_SECONDS:
                    for threads, way in [(1, "default"), *((cores, way) for way in WAYS)]:
                        numbers = measured(program, work, threads, WAYS[way], seconds)
                        cells.append({"busy": others, "work": work, "threads": threads, "way": way, **numbers})
    load = os.getloadavg()[0]
    date = datetime.now(UTC).isoformat(timespec="seconds")
    return {"date": date, "cores": cores, "system": platform.platform(), "load": load, "cells": cells}


def table(document: Mapping[str, Any]) -> Iterator[str]:
    """The cells as Markdown: how many times as long a call takes as on one thread beside the same processes."""
    heads = ("busy processes", "work", "threads", "waits", "mean", "over one thread", "median", "slowest hundredth",
             "CPU time per call", "preempted")  # fmt: skip
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    alone: dict[tuple[int, float], float] = {}
    for cell in document["cells"]:
        if cell["threads"] == 1:
            alone[cell["busy"], cell["work"]] = cell["mean"]
        over = cell["mean"] / alone[cell["busy"], cell["work"]]
        times = [_time(cell[name]) for name in ("mean", "median", "slowest_hundredth", "cpu_per_call")]
        row = [str(cell["busy"]), _time(cell["work"]), str(cell["threads"]), cell["way"], times[0], f"{over:.2f}",
               *times[1:], str(cell["preempted"])]  # fmt: skip
        yield f"| {' | '.join(row)} |"


def _time(seconds: float) -> str:
    return f"{seconds * 1e3:.3f} ms"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=0.7, help="of each cell")
    parser.add_argument("--out", type=Path, help="where the raw numbers go")
    parser.add_argument("--table", type=Path, help="raw numbers to print in place of measuring")
    options = parser.parse_args(arguments)
    document = json.loads(options.table.read_text()) if options.table else measure(options.seconds)
    if options.out:
        options.out.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    print(*table(document), sep="\n")


if __name__ == "__main__":
    main()
