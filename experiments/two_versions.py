"""Time of the same commands with two versions of polydl: what starts, and a C file to a ranked list of 1,000 variants.

    git worktree add ../before COMMIT && make -C ../before .venv/installed
    python -m experiments.two_versions ../before/.venv/bin .venv/bin --json versions.json
    python -m experiments.two_versions --table versions.json

Both run each command once before anything counts, which measures the machine's speeds and fills caches of their own.
Then they take turns, the first of each round by turns as well. Shown are the medians of the seconds that pass, of the
CPU seconds of the process and its children, and the median of the ratios of the rounds, the second version's time over
the first's, with their quartiles: below 1, the second version is faster. Ends with status 1 if a command fails.
``--table`` prints what such a file holds in Markdown, and runs nothing.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from experiments.tables import markdown

Document = dict[str, Any]

_EXAMPLES = Path(__file__).parents[1] / "examples"
_KINDS = ("wall", "cpu")
_HEADS = ("command", "before, s", "after, s", "after / before", "CPU, before", "after", "after / before")
VERSIONS = ("before", "after")
COMMANDS: dict[str, tuple[str, ...]] = {
    "import polydl": ("python", "-c", "import polydl"),
    "polydl --help": ("polydl", "--help"),
    "rank conv.c": ("rank", str(_EXAMPLES / "conv.c")),
    "rank conv_1x1.c": ("rank", str(_EXAMPLES / "conv_1x1.c")),
    "rank stencil.c": ("rank", str(_EXAMPLES / "stencil.c")),
    "rank 512 x 512 x 512": ("rank", str(_EXAMPLES / "matmul.c"), "-D", "M=512", "-D", "N=512", "-D", "K=512"),
    "rank resnet_03": ("rank", "--workload", "resnet_03"),
    "rank resnet_17": ("rank", "--workload", "resnet_17"),
}


def command(programs: Path, words: Sequence[str], options: Sequence[str]) -> list[str]:
    """What is run of one version, whose programs lie in that folder."""
    if words[0] == "rank":
        return [str(programs / "polydl"), *words, *options, "--json", "-"]
    return [str(programs / words[0]), *words[1:]]


def run(words: Sequence[str], environment: Mapping[str, str], folder: Path) -> dict[str, float]:
    """Seconds of one process. Raises CalledProcessError with its error text if it fails."""
    with tempfile.TemporaryFile() as errors:
        start = time.perf_counter()
        process = subprocess.Popen(
            words, env=environment, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors
        )
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            errors.seek(0)
            raise subprocess.CalledProcessError(process.returncode, list(words), stderr=errors.read().decode())
    return {"wall": wall, "cpu": usage.ru_utime + usage.ru_stime}


def measure(
    name: str, programs: Sequence[Path], options: Sequence[str], rounds: int, environments: Sequence[Mapping[str, str]]
) -> Document:
    """The seconds of one command, round by round, with both versions."""
    samples: dict[str, list[dict[str, float]]] = {version: [] for version in VERSIONS}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(rounds + 1):
            order = list(zip(VERSIONS, programs, environments, strict=True))
            for version, place, environment in order if number % 2 else reversed(order):
                taken = run(command(place, COMMANDS[name], options), environment, Path(folder))
                if number:
                    samples[version].append(taken)
    return {"command": name, "samples": samples}


def ratios(document: Document, kind: str) -> list[float]:
    """The second version's time over the first's, round by round."""
    before, after = (document["samples"][version] for version in VERSIONS)
    return [new[kind] / old[kind] for old, new in zip(before, after, strict=True)]


def cells_of(document: Document, digits: int) -> list[str]:
    """For the seconds that pass and for CPU seconds: the median of each version, and that of the ratios (quartiles)."""
    cells = []
    for kind in _KINDS:
        cells += [f"{median(each[kind] for each in document['samples'][v]):.{digits}f}" for v in VERSIONS]
        values = ratios(document, kind)
        low, _, high = quantiles(values, n=4) if len(values) > 1 else values * 3
        cells.append(f"{median(values):.2f} ({low:.2f} to {high:.2f})")
    return cells


def table(documents: Sequence[Document]) -> Table:
    shown = Table(title="seconds with the first and the second version, and the ratio")
    shown.add_column("command")
    for kind in _KINDS:
        for title in ("before", "after", "after / before"):
            shown.add_column(f"{kind}\n{title}", justify="right")
    for document in documents:
        shown.add_row(document["command"], *cells_of(document, 3))
    return shown


@click.command(help=__doc__)
@click.argument("before", required=False, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("after", required=False, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--command", "names", type=click.Choice(list(COMMANDS)), multiple=True, help="Only this one. Repeated.")
@click.option("--variants", default=1000, show_default=True, help="Variants of each nest, at most.")
@click.option("--microkernel", default="auto", show_default=True, help="Those of both versions.")
@click.option("--threads", default=1, show_default=True)
@click.option("--rounds", default=9, show_default=True, help="Runs of each command with each version.")
@click.option("--json", "path", type=click.Path(path_type=Path), help="Write all samples there as well.")
@click.option("--table", "kept", type=click.Path(exists=True, path_type=Path), help="Print such a file in Markdown.")
def main(
    before: Path | None, after: Path | None, names: tuple[str, ...], variants: int, microkernel: str, threads: int,
    rounds: int, path: Path | None, kept: Path | None,
) -> None:  # fmt: skip
    if kept is not None:
        documents = json.loads(kept.read_text(encoding="utf-8"))
        print(*markdown(_HEADS, [[each["command"], *cells_of(each, 2)] for each in documents]), sep="\n")
        return
    if before is None or after is None:
        raise click.UsageError("name the folders of programs of both versions")
    options = ["--max-variants", str(variants), "--threads", str(threads), "--microkernel", microkernel]
    programs = [before.absolute(), after.absolute()]
    documents = []
    with tempfile.TemporaryDirectory() as root:
        # A version that must not keep its bytecode would compile all of it in each run.
        inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environments = [
            inherited | {f"XDG_{kind}_HOME": str(Path(root, version, kind)) for kind in ("CACHE", "DATA")}
            for version in VERSIONS
        ]
        for name in names or COMMANDS:
            try:
                documents.append(measure(name, programs, options, rounds, environments))
            except subprocess.CalledProcessError as error:
                print(f"{' '.join(error.cmd)}: status {error.returncode}\n{error.stderr}", file=sys.stderr)
                raise SystemExit(1) from error
    Console(width=110).print(table(documents))
    if path is not None:
        path.write_text(json.dumps(documents, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
