"""What threads that wait for each other cost on a machine that is busy, and what emitted code does about it.

    python -m experiments.waiting --out waiting.json.xz
    python -m experiments.waiting --table waiting.json.xz

Calls of a parallel loop (``waiting.c``) are timed one by one on one thread, on all with OpenMP's ways to wait, and on
as many as emitted code takes from call to call, beside busy processes. They take turns, in rounds. The first command
measures and writes each round with single calls of it, the second prints means as tables.
"""

from __future__ import annotations

import argparse
import json
import lzma
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from statistics import fmean
from typing import Any

from experiments.tables import markdown

#: What OpenMP is told, by the name of the way to wait.
WAYS: Mapping[str, Mapping[str, str]] = {
    "default": {},
    "GOMP_SPINCOUNT=10000": {"GOMP_SPINCOUNT": "10000"},
    "OMP_WAIT_POLICY=passive": {"OMP_WAIT_POLICY": "passive"},
    "OMP_WAIT_POLICY=active": {"OMP_WAIT_POLICY": "active"},
}
WORK_SECONDS = (2e-5, 4e-4, 1e-2)
BUSY = (0, 1, 2, 4)
#: about how many single calls of a cell are kept, evenly spread over all
KEPT = 400
#: How many threads calls take: all, or one where emitted code takes it.
TAKEN: Mapping[str, Sequence[str]] = {"all": [], "all or one": ["-DCHOOSES"]}


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


def printed(command: Sequence[str], told: Mapping[str, str]) -> dict[str, Any]:
    """The numbers that a program prints, where OpenMP is told nothing else. Raises CalledProcessError if it fails."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "GOMP_"))}
    done = subprocess.run(command, env={**kept, **told}, capture_output=True, text=True, check=True)
    numbers: dict[str, Any] = json.loads(done.stdout)
    return numbers


def measured(
    works: Sequence[float | str], alone: str, rounds: int, run: Callable[[float | str, str, int, str], dict[str, Any]]
) -> dict[str, Any]:
    """The document of all cells of a table, in rounds beside each number of busy processes.

    ``run`` measures calls with some work: which threads they take (a key of ``TAKEN``), how many OpenMP has, and how
    they wait. ``alone`` is what is taken of one thread.
    """
    cores, cells = len(os.sched_getaffinity(0)), []
    kinds = [(1, "default", alone), *((cores, way, taken) for way in WAYS for taken in TAKEN)]
    for others in BUSY:
        with busy(others):
            for work in works:
                for threads, way, taken in kinds * rounds:
                    numbers = run(work, taken, threads, way)
                    cell = {"busy": others, "work": work, "threads": threads, "way": way, "taken": taken}
                    cells.append({**cell, **numbers})
    load = os.getloadavg()[0]
    date = datetime.now(UTC).isoformat(timespec="seconds")
    return {"date": date, "cores": cores, "system": platform.platform(), "load": load, "cells": cells}


def measure(seconds: float, rounds: int) -> dict[str, Any]:
    """All cells of the table, each for so many seconds in each of so many rounds."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(__file__).with_name("waiting.c")
        emitted = str(files("polydl.codegen"))
        for taken, flags in TAKEN.items():
            command = ["gcc", "-O2", "-fopenmp", f"-I{emitted}", *flags, str(source), "-o", str(Path(folder, taken))]
            subprocess.run(command, check=True)

        def run(work: float | str, taken: str, threads: int, way: str) -> dict[str, Any]:
            return printed([str(Path(folder, taken)), str(work), str(threads), str(seconds)], WAYS[way])

        return measured(WORK_SECONDS, "all", rounds, run)


def table(document: Mapping[str, Any]) -> Iterator[str]:
    """The cells as Markdown: how many times as long a call takes as on one thread beside the same processes."""
    heads = ("busy processes", "work", "threads", "taken", "waits", "mean", "over one thread", "median",
             "slowest hundredth", "CPU time per call", "preempted", "calls on one")  # fmt: skip
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    alone: dict[tuple[int, float], float] = {}
    for cell in _means(document["cells"]):
        if cell["threads"] == 1:
            alone[cell["busy"], cell["work"]] = cell["mean"]
        over = cell["mean"] / alone[cell["busy"], cell["work"]]
        times = [_time(cell[name]) for name in ("mean", "median", "slowest_hundredth", "cpu_per_call")]
        serial = cell["serial"] / cell["calls"] if cell["threads"] > 1 else 1
        row = [str(cell["busy"]), _time(cell["work"]), str(cell["threads"]), cell["taken"], cell["way"], times[0],
               f"{over:.2f}", *times[1:], f"{cell['preempted']:.0f}", f"{serial:.0%}"]  # fmt: skip
        yield f"| {' | '.join(row)} |"


def ratios(document: Mapping[str, Any]) -> Iterator[str]:
    """As Markdown: the mean call with all threads, and of emitted code, over that on one thread, by the way to wait.

    The work of a cell is its seconds, or the name of a nest.
    """
    means = list(_means(document["cells"]))
    alone = {(cell["busy"], cell["work"]): cell["mean"] for cell in means if cell["threads"] == 1}
    over = {
        (cell["busy"], cell["work"], cell["way"], cell["taken"]): cell["mean"] / alone[cell["busy"], cell["work"]]
        for cell in means
        if cell["threads"] > 1
    }
    ways = list(dict.fromkeys((way, taken) for _, _, way, taken in over))
    heads = [f"{'two' if taken == 'all' else 'emitted'}, {way}" for way, taken in ways]
    rows = [
        [
            str(busy),
            work if isinstance(work, str) else _time(work),
            *(f"{over[busy, work, way, taken]:.2f}" for way, taken in ways),
        ]
        for busy, work in alone
    ]
    yield from markdown(["busy processes", "work", *heads], rows)


def _means(cells: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Each cell once, with the means of its rounds."""
    kinds = ("busy", "work", "threads", "way", "taken")
    rounds: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for cell in cells:
        rounds.setdefault(tuple(cell[kind] for kind in kinds), []).append(cell)
    for kind, same in rounds.items():
        names = [name for name in same[0] if name not in (*kinds, "nanoseconds")]
        numbers = {name: fmean(cell[name] for cell in same) for name in names}
        yield {**dict(zip(kinds, kind, strict=True)), **numbers}


def read(path: Path) -> dict[str, Any]:
    """A document, of a file that is compressed if its name says so."""
    data = path.read_bytes()
    document: dict[str, Any] = json.loads(lzma.decompress(data) if path.suffix == ".xz" else data)
    return document


def write(document: Mapping[str, Any], path: Path) -> None:
    """As ``read`` reads it."""
    data = f"{json.dumps(document)}\n".encode()
    path.write_bytes(lzma.compress(data) if path.suffix == ".xz" else data)


def _time(seconds: float) -> str:
    return f"{seconds * 1e3:.3f} ms"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=2, help="of each cell in each round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path, help="where the raw numbers go")
    parser.add_argument("--table", type=Path, help="raw numbers to print in place of measuring")
    options = parser.parse_args(arguments)
    document = read(options.table) if options.table else measure(options.seconds, options.rounds)
    if options.out:
        write(document, options.out)
    print(*ratios(document), "", *table(document), sep="\n")


if __name__ == "__main__":
    main()
