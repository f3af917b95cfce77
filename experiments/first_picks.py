"""How good the first picks are on a machine of which little is known, of two versions of polydl.

    git worktree add ../before COMMIT && make -C ../before .venv/installed
    python -m experiments.first_picks measure ../before/.venv/bin .venv/bin --rounds 2 --out first_picks.jsonl
    python -m experiments.first_picks table first_picks.jsonl

Each workload is optimized on one thread by each version in turn, in three states of what is known of the machine:
*fresh*, where it is the first command of all; *second*, where `examples/conv.c` was optimized before; and
*calibrated*, after `polydl calibrate`. A line of the output is one such command: all samples of the first of the
ranking and of the fastest that was found. Lines that the file has are not measured again. The table has speeds over
the fastest of all lines of a workload: geometric means over workloads, of the median of the rounds, and the worst.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any

import click

from experiments import json_lines
from experiments.tables import markdown
from experiments.two_versions import VERSIONS
from polydl.ir.measurement import counting

Document = dict[str, Any]
STATES = ("fresh", "second", "calibrated")
_EXAMPLE = Path(__file__).parents[1] / "examples" / "conv.c"
_WORKLOADS = (
    "gemm_1024x1024x1024", "gemm_84x1024x4096", "gemm_49x2048x512", "gemm_512x512x512", "gemm_128x768x3072",
    "gemm_256x256x2048", "resnet_00", "resnet_03", "resnet_09", "resnet_12", "resnet_14", "resnet_17",
)  # fmt: skip


def environment(home: Path) -> dict[str, str]:
    """Where nothing is known but what lies in that folder."""
    return {**os.environ, "XDG_CACHE_HOME": str(home / "cache"), "XDG_DATA_HOME": str(home / "data")}


def optimized(program: Path, workload: Sequence[str], known: Mapping[str, str]) -> Document:
    """The report of one command, which measures all anew. Raises CalledProcessError if it fails."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        words = ["optimize", *workload, "--threads", "1", "--fresh", "--quiet", "--out", folder, "--json", str(report)]
        subprocess.run([program, *words], env=known, check=True, capture_output=True)
        found: Document = json.loads(report.read_text(encoding="utf-8"))
        return found


def samples(report: Document) -> dict[str, list[list[Any]]]:
    """Of the first of the ranking, and of the fastest by its median: seconds, and whether they were disturbed."""
    measured = [each for each in report["candidates"] if each["status"] == "ok"]
    chosen = {
        "first": min(measured, key=lambda candidate: candidate["rank"]),
        "fastest": min(measured, key=lambda candidate: candidate["seconds_median"]),
    }
    return {
        what: [[each, False] for each in candidate["sample_seconds"]]
        + [[each, True] for each in candidate["disturbed_seconds"]]
        for what, candidate in chosen.items()
    }


def seconds(line: Document, what: str) -> float:
    """The median of the samples that count; older data are that alone."""
    if "samples" not in line:
        return float(line[what])
    return median(counting(line["samples"][what]))


def states(program: Path, home: Path) -> Iterator[tuple[str, Callable[[str], Mapping[str, str]]]]:
    """Each state, made as it is asked for, and the environment that it is in for a workload."""
    yield "fresh", lambda name: environment(home / "fresh" / name)
    second = environment(home / "second")
    optimized(program, [str(_EXAMPLE)], second)
    yield "second", lambda _: second
    calibrated = environment(home / "calibrated")
    subprocess.run([program, "calibrate"], env=calibrated, check=True, capture_output=True)
    yield "calibrated", lambda _: calibrated


@click.group(help=__doc__)
def main() -> None:
    pass


@main.command()
@click.argument("programs", nargs=2, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--workload", "names", multiple=True, default=_WORKLOADS)
@click.option("--rounds", default=2, show_default=True)
@click.option("--out", type=click.Path(path_type=Path), required=True)
def measure(programs: tuple[Path, Path], names: tuple[str, ...], rounds: int, out: Path) -> None:
    """Optimize the workloads with both versions in every state."""
    done = {(each["round"], each["state"], each["workload"], each["version"]) for each in json_lines.documents(out)}
    for number in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            homes = [Path(folder) / version for version in VERSIONS]
            known_by = [states(each / "polydl", home) for each, home in zip(programs, homes, strict=True)]
            for both in zip(*known_by, strict=True):
                for name in names:
                    for version, each, (state, known) in zip(VERSIONS, programs, both, strict=True):
                        if (number, state, name, version) in done:
                            continue
                        taken = samples(optimized(each / "polydl", ["--workload", name], known(name)))
                        line = {"round": number, "state": state, "workload": name, "version": version}
                        json_lines.add({**line, "samples": taken}, out)
                        print(*line.values(), *map(len, taken.values()), flush=True)


def rows(documents: Sequence[Document]) -> Iterator[list[str]]:
    """The cells of the table: a row for each state and version."""
    best: dict[str, float] = {}
    for each in documents:
        fastest = seconds(each, "fastest")
        best[each["workload"]] = min(best.get(each["workload"], fastest), fastest)
    for state in STATES:
        for version in VERSIONS:
            mine = [each for each in documents if (each["state"], each["version"]) == (state, version)]
            if not mine:
                continue
            cells = [state, version]
            for what in ("first", "fastest"):
                shares = [
                    fastest / median(seconds(each, what) for each in mine if each["workload"] == name)
                    for name, fastest in best.items()
                ]
                cells += [f"{geometric_mean(shares):.3f}", f"{min(shares):.2f}"]
            yield cells


@main.command()
@click.argument("path", type=click.Path(exists=True, path_type=Path))
def table(path: Path) -> None:
    """Print the shares of the best, as Markdown."""
    heads = ("what is known", "version", "first pick", "worst", "fastest of the picks", "worst")
    print(*markdown(heads, list(rows(json_lines.documents(path)))), sep="\n")


if __name__ == "__main__":
    main()
