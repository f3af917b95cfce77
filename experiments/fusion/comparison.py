"""What the fusion experiments have in common: drivers that time side by side, results that survive a stop, ratios.

A driver is a C++ program that loads the libraries which polydl emitted and times them and a peer (``jobs.hpp``), in the
same rounds as PyTorch in a process beside it (``rounds.py``). Results are kept in a JSON file, one entry per problem,
and written after each, so that a run may be stopped and goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from experiments.fusion.rounds import Process, in_rounds
from experiments.robustness.observed import commit
from polydl import Machine

Row = dict[str, Any]

HERE = Path(__file__).parent
BUILD = HERE.parents[1] / "build" / "fusion"


def driver(name: str, libraries: Sequence[str]) -> Path:
    """The compiled driver ``name``.cpp, made anew if its sources are newer."""
    program, sources = BUILD / name, [HERE / f"{name}.cpp", HERE / "jobs.hpp"]
    if not program.exists() or any(source.stat().st_mtime > program.stat().st_mtime for source in sources):
        BUILD.mkdir(parents=True, exist_ok=True)
        command = [
            "g++",
            "-O3",
            "-march=native",
            "-std=c++17",
            "-fopenmp",
            str(sources[0]),
            "-o",
            str(program),
            *libraries,
            "-ldl",
        ]
        subprocess.run(command, check=True)
    return program


def drive(
    program: Path,
    arguments: Iterable[object],
    torch: Iterable[object],
    threads: int,
    seconds: float,
    environment: Mapping[str, str] | None = None,
) -> Row:
    """The seconds of all jobs of a driver and of PyTorch, timed for so long in rounds, and what both say of themselves.

    ``arguments`` are the driver's, and ``torch`` those of ``pytorch.py`` behind the number of threads; without PyTorch
    its jobs are left out.
    """
    around = os.environ | {"OMP_NUM_THREADS": str(threads), "OMP_PROC_BIND": "true"} | dict(environment or {})
    commands: list[tuple[Sequence[object], Path | None]] = [((program, *arguments), None)]
    if find_spec("torch") is None:
        print("PyTorch is not installed: make .venv/installed-bench", file=sys.stderr)
    else:
        asked = (sys.executable, "-m", "experiments.fusion.pytorch", threads, *torch)
        # It tries its ways before the driver tries those of oneDNN.
        commands.insert(0, (asked, HERE.parents[1]))
    row: Row = {}
    with ExitStack() as stack:
        jobs = {}
        for command, folder in commands:
            process = stack.enter_context(Process(command, around, folder))
            said = process.described()
            jobs |= {name: (process, number) for number, name in enumerate(said.pop("jobs"))}
            row |= said
        return row | {"seconds": in_rounds(jobs, threads, seconds)}


def with_torch(row: Row, pairs: Sequence[Sequence[str]]) -> Row:
    """The row, with those of the pairs of jobs that it has: PyTorch's only where that is installed."""
    return row | {"compared": [list(pair) for pair in pairs if not pair[0].startswith("torch") or "torch" in row]}


def options(description: str | None) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=(description or "").splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="JSON file with the times of all rounds, added to")
    parser.add_argument("problems", nargs="*", help="some of the problems (all)")
    parser.add_argument("--limit-seconds", type=float, default=math.inf, help="start no other problem after that")
    parser.add_argument("--prepare", action="store_true", help="find and compile the code, and don't time it")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--table", action="store_true", help="measure nothing, print the table of what there is")
    parser.add_argument("--again", action="store_true", help="measure these problems again")
    return parser


def run_all(
    given: argparse.Namespace,
    problems: Sequence[str],
    prepare: Callable[[str, Path], Row],
    measure: Callable[[str, Row], Row],
) -> dict[str, Row]:
    """The results of all problems, those measured now among them.

    ``prepare`` makes the libraries in a folder of the problem's own, and what it returns is kept there and given to
    ``measure``; with ``--prepare`` nothing else is done. What another commit or processor prepared, or with other
    options, is prepared anew, and so is what changed files of a commit prepared.
    """
    rows: dict[str, Row] = json.loads(given.out.read_text()) if given.out.exists() else {}
    end = time.monotonic() + given.limit_seconds
    for problem in given.problems or problems:
        if given.table or time.monotonic() > end:
            break
        if problem in rows and not given.again:
            continue
        folder = BUILD / given.out.stem / problem
        known, setting = folder / "prepared.json", _setting(given)
        kept = json.loads(known.read_text()).get("setting") if known.exists() else None
        if given.again or kept != setting or setting["commit"].endswith("-dirty"):
            folder.mkdir(parents=True, exist_ok=True)
            _write(known, prepare(problem, folder) | {"setting": setting})
            print(f"{problem} prepared", flush=True)
        if given.prepare:
            continue
        prepared = json.loads(known.read_text())
        shown = {key: value for key, value in prepared.items() if key != "libraries"}
        rows[problem] = shown | measure(problem, prepared)
        _write(given.out, rows)
        print(problem, ratios_text(rows[problem]), flush=True)
    left = [problem for problem in problems if problem not in rows]
    if left and not given.table:
        print(f"{len(left)} problems left", file=sys.stderr)
    return rows


def _setting(given: argparse.Namespace) -> Row:
    """What prepared libraries depend on, beside their problem."""
    cpu = Machine.detect(threads=given.threads).cpu_id
    return {"commit": commit(), "cpu": cpu, "threads": given.threads, "images": getattr(given, "images", 1)}


def _write(path: Path, content: Row) -> None:
    unfinished = path.with_suffix(".unfinished")
    unfinished.write_text(json.dumps(content, indent=1) + "\n")
    unfinished.replace(path)


def fastest(row: Row, name: str) -> list[float]:
    """The seconds of a job in each round; of several ways (``name``, ``name_apart``), those with the least median."""
    ways = [samples for job, samples in row["seconds"].items() if job == name or job.startswith(f"{name}_")]
    return min(ways, key=statistics.median)


def ratio(row: Row, slower: str, faster: str) -> tuple[float, float, float]:
    """How many times as long one job takes as another: of the medians, and the quartiles of the rounds' ratios."""
    above, below = fastest(row, slower), fastest(row, faster)
    rounds = [a / b for a, b in zip(above, below, strict=True)]
    low, _, high = statistics.quantiles(rounds, n=4)
    return statistics.median(above) / statistics.median(below), low, high


def ratios_text(row: Row) -> str:
    texts = []
    for slower, faster in row["compared"]:
        value, low, high = ratio(row, slower, faster)
        texts.append(f"{slower}/{faster} {value:.2f} ({low:.2f}-{high:.2f})")
    return "  ".join(texts)


def means_text(rows: Mapping[str, Row], slower: str, faster: str) -> str:
    """The geometric mean of the ratios, in parentheses that of their quartiles, and the least ratio; "" without any."""
    asked = [row for row in rows.values() if [slower, faster] in row["compared"]]
    if not asked:
        return ""
    ratios = [ratio(row, slower, faster) for row in asked]
    value, low, high = (statistics.geometric_mean([triple[place] for triple in ratios]) for place in range(3))
    return f"{value:.2f} ({low:.2f}-{high:.2f}), {min(triple[0] for triple in ratios):.2f}"


def compared(rows: Mapping[str, Row], peer: str) -> bool:
    """Whether any row has been compared with that peer."""
    return any(slower.startswith(peer) for row in rows.values() for slower, _ in row["compared"])
