"""polydl's search under a budget beside Halide's autoscheduler and TVM's MetaSchedule, with the same seconds for each.

    python -m venv tuners && tuners/bin/pip install halide==21.0.0 apache-tvm==0.27.0.post1 \\
        apache-tvm-ffi==0.1.14.post1 xgboost numpy
    python -m experiments.autotuners.compare measure --python tuners/bin/python --out autotuners.json
    python -m experiments.autotuners.compare table autotuners.json

One after the other, each system searches for one problem, from nothing, on all cores: polydl by ``optimize --budget``,
once under its usual numerics and once with every product of the source; Halide by random sampling of the schedules of
Adams et al. (2019), in as many processes as there are cores; TVM by its evolutionary search with XGBoost. All code runs
on one thread. Then the best of each are timed in turns, one sample of at least 20 ms each, ``--rounds`` times. Nothing
is packed beforehand; polydl has channels in blocks of at most 64, the others have channels last.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

from experiments.autotuners.problems import PROBLEMS
from experiments.autotuners.timing import READY
from experiments.tables import markdown
from polydl import Machine
from polydl.workloads import workload

_FOLDER = Path(__file__).parent
# Times of different minutes differ by some hundredths.
_LEVEL = 1.02
_ONE_THREAD = {"HL_NUM_THREADS": "1", "TVM_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
# Seconds since the search began, and of a call of the best until then.
Progress = list[tuple[float, float]]

_POLYDL = {"polydl": "bounded", "polydl, every product": "reassociated"}
HALIDE = "Halide, Adams2019"
TVM = "TVM, MetaSchedule"
_PEERS = (HALIDE, TVM)


@dataclass(frozen=True)
class Found:
    """What a system's search found."""

    progress: Progress
    #: number of schedules that were measured
    measured: int
    #: holds the best: for each line of its input, it writes the seconds of a call
    holder: subprocess.Popen[str]


def _started(*command: str) -> subprocess.Popen[str]:
    return subprocess.Popen(command, cwd=_FOLDER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def polydl(name: str, numerics: str, budget: float, folder: Path) -> Found:
    """By ``optimize --budget``; the time of its process counts, with its start and what it emits."""
    folder.mkdir()
    source = workload(name).write(folder)
    report = folder / "report.json"
    command = [sys.executable, "-m", "polydl", "optimize", str(source), "--threads", "1", "--numerics", numerics]
    command += ["--budget", f"{budget:g}s", "--records", str(folder / "records"), "--out", str(folder / "out")]
    begin = time.perf_counter()
    subprocess.run([*command, "--json", str(report), "--quiet"], check=True)
    search = json.loads(report.read_text(encoding="utf-8"))["search"]
    outside = time.perf_counter() - begin - search["seconds"]
    progress = [(round(each["seconds"] + outside, 3), each["best"]) for each in search["improvements"]]
    (library,) = (folder / "out").glob("lib*.so")
    return Found(progress, search["runs"], _started(sys.executable, "emitted.py", name, str(library)))


def halide(name: str, budget: float, python: str) -> Found:
    """By random samples of the beam search, in one process for each core."""
    cores = len(os.sched_getaffinity(0))
    searching = [_started(python, "adams2019.py", name, str(budget), str(seed), str(cores)) for seed in range(cores)]
    samples: list[tuple[float, float, int]] = []
    for number, process in enumerate(searching):
        while (line := _line(process)) not in ("", READY):
            _, end, seconds = line.split()
            samples.append((float(end), float(seconds), number))
    best = min(samples, key=lambda sample: sample[1])[2]
    for number, process in enumerate(searching):
        if number != best:
            process.communicate()
    return Found(_improving((end, seconds) for end, seconds, _ in sorted(samples)), len(samples), searching[best])


def tvm(name: str, budget: float, python: str, processor: str, folder: Path) -> Found:
    """By MetaSchedule, whose database is looked at twice a second."""
    folder.mkdir()
    records = folder / "database_tuning_record.json"
    worker = [python, "meta_schedule.py"]
    timed: Progress = []
    begin = time.perf_counter()
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            [*worker, "search", name, str(folder), processor],
            cwd=_FOLDER,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        while (elapsed := time.perf_counter() - begin) < budget and process.poll() is None:
            time.sleep(0.5)
            lines = records.read_text().splitlines(keepends=True) if records.exists() else []
            whole = [line for line in lines if line.endswith("\n")]
            timed += [(elapsed, statistics.median(json.loads(line)[1][1])) for line in whole[len(timed) :]]
        # Its builders and runners are processes as well.
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return Found(_improving(timed), len(timed), _started(*worker, "time", name, str(folder), processor))


def _improving(samples: Iterable[tuple[float, float]]) -> Progress:
    progress: Progress = []
    for end, seconds in samples:
        if not progress or seconds < progress[-1][1]:
            progress.append((round(end, 3), seconds))
    return progress


def in_turns(searches: Mapping[str, Found], rounds: int) -> dict[str, list[float]]:
    """The seconds of a call in each round, by system. A system whose best can't be compiled again has none."""
    samples: dict[str, list[float]] = {system: [] for system in searches}
    # Halide's holder is ready since its search ended.
    ready = [system for system, each in searches.items() if system == HALIDE or _line(each.holder) == READY]
    for _ in range(rounds):
        for system in ready:
            holder = searches[system].holder
            assert holder.stdin is not None
            holder.stdin.write("\n")
            holder.stdin.flush()
            samples[system].append(float(_line(holder)))
    for each in searches.values():
        each.holder.communicate()
    return samples


def _line(process: subprocess.Popen[str]) -> str:
    """The next line that is an answer; a library may write others. Empty at the end."""
    assert process.stdout is not None
    for line in process.stdout:
        if line.strip() == READY or line[:1].isdigit():
            return line.strip()
    return ""


def compared(name: str, options: argparse.Namespace) -> dict[str, Any]:
    """One problem by all systems."""
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        found = {
            system: polydl(name, numerics, options.budget, folder / numerics) for system, numerics in _POLYDL.items()
        }
        found[HALIDE] = halide(name, options.budget, options.python)
        found[TVM] = tvm(name, options.budget, options.python, options.processor, folder / "tvm")
        samples = in_turns(found, options.rounds)
    systems = {
        system: {"progress": each.progress, "measured": each.measured, "samples": samples[system]}
        for system, each in found.items()
    }
    return {"name": name, "operations": PROBLEMS[name].operations, "budget": options.budget, "systems": systems}


def table(problems: Sequence[Mapping[str, Any]]) -> list[str]:
    """GFLOPS of each system's best after its budget, and polydl's over the best of the others.

    Behind polydl's is when it was level with the best of the others, behind those how many schedules were measured.
    """
    rows, ratios = [], {system: [] for system in _POLYDL}
    for problem in problems:
        seconds = {
            system: statistics.median(each["samples"]) if each["samples"] else inf
            for system, each in problem["systems"].items()
        }
        peer = min(seconds[system] for system in _PEERS)
        row = [problem["name"]]
        for system, each in problem["systems"].items():
            rate = f"{problem['operations'] / seconds[system] / 1e9:.1f}" if seconds[system] < inf else "—"
            if system in _POLYDL:
                level = [elapsed for elapsed, best in each["progress"] if best <= _LEVEL * peer]
                row += [f"{rate} ({f'{level[0]:.1f} s' if level else 'never'})", f"{peer / seconds[system]:.2f}"]
                ratios[system].append(peer / seconds[system])
            else:
                row.append(f"{rate} ({each['measured']})")
        rows.append(row)
    means = [cell for each in ratios.values() for cell in ("", f"{statistics.geometric_mean(each):.2f}")]
    rows.append(["geometric mean", *means, *("" for _ in _PEERS)])
    heads = [head for system in _POLYDL for head in (f"{system} (level)", "ratio")]
    return markdown(["problem", *heads, *(f"{system} (schedules)" for system in _PEERS)], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True, dest="command")
    measure = commands.add_parser("measure")
    measure.add_argument("problems", nargs="*", default=list(PROBLEMS))
    measure.add_argument("--python", required=True, help="one that has halide and tvm")
    measure.add_argument("--processor", default="znver4", help="what LLVM calls the processor, for TVM")
    measure.add_argument("--budget", type=float, default=60.0, help="seconds for each system and problem")
    measure.add_argument("--rounds", type=int, default=15)
    measure.add_argument("--out", type=Path, required=True)
    shown = commands.add_parser("table")
    shown.add_argument("file", type=Path)
    options = parser.parse_args()
    if options.command == "table":
        print("\n".join(table(json.loads(options.file.read_text(encoding="utf-8"))["problems"])))
        return
    os.environ.update(_ONE_THREAD)
    options.python = str(Path(options.python).absolute())
    machine = Machine.detect(threads=1)
    problems: list[dict[str, Any]] = []
    for name in options.problems:
        problems.append(compared(name, options))
        document = {"cpu": machine.cpu_id, "problems": problems}
        options.out.write_text(json.dumps(document, separators=(",", ":")) + "\n", encoding="utf-8")
        print(table(problems[-1:])[2], flush=True)


if __name__ == "__main__":
    main()
