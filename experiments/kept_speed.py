"""Speed of the winners that two versions of polydl find for the same workloads, each beside oneDNN in its own rounds.

    git worktree add ../before COMMIT && make -C ../before .venv/installed-bench
    python -m experiments.kept_speed measure ../before/.venv/bin .venv/bin --suite resnet --suite gemm --out speed.jsonl
    python -m experiments.kept_speed table speed.jsonl

Each workload is one `polydl bench` of the first version and one of the second, directly after each other, with records
and machine measurements of their own; `--options` go to both. Older versions ask oneDNN for direct convolutions alone,
under the name `onednn`; newer ones call these `onednn-direct`. A line of the output file is
one workload; one that the file holds is not measured again.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any

import click
import numpy as np

from experiments import json_lines
from experiments.two_versions import VERSIONS
from polydl.bench.ratios import seconds

Document = dict[str, Any]
_PEERS = ("onednn", "onednn-direct")


def workloads(programs: Path, suite: str) -> list[str]:
    """The names of a suite's workloads, as that version gives them."""
    words = [
        programs / "python",
        "-c",
        "import sys; from polydl.workloads import suite; print(*suite(sys.argv[1]))",
    ]
    return subprocess.run([*words, suite], check=True, capture_output=True, text=True).stdout.split()


def bench(programs: Path, workload: str, threads: int, peer: str, options: Sequence[str], state: Path) -> Document:
    """What one `polydl bench` measured of a workload. Raises CalledProcessError if the command fails."""
    places = {f"XDG_{kind}_HOME": str(state / kind) for kind in ("CACHE", "DATA")}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "bench.json")
        words = [programs / "polydl", "bench", "--workload", workload, "--peers", peer, "--threads", str(threads)]
        subprocess.run(
            [*words, *options, "--json", path], cwd=folder, env=os.environ | places, check=True, capture_output=True
        )
        document: Document = json.loads(path.read_text(encoding="utf-8"))
    result: Document = document["results"][workload]
    leaders = [leader for leader in result["leaders"] if leader["samples"]]
    fastest = min((seconds(leader) for leader in leaders), key=median)
    return {"gflops": result["gflops"], "polydl": list(fastest), "peer": seconds(result["peers"][peer])}


def ratio(measured: Document) -> tuple[float, float, float]:
    """oneDNN's time over polydl's, of medians, and the 5 % and 95 % quantiles of 2,000 resampled ones."""
    peer, polydl = (np.array(measured[name]) for name in ("peer", "polydl"))
    generator = np.random.default_rng(0)
    drawn = [np.median(generator.choice(samples, (2000, len(samples))), axis=1) for samples in (peer, polydl)]
    low, high = np.quantile(drawn[0] / drawn[1], (0.05, 0.95))
    return float(np.median(peer) / np.median(polydl)), float(low), float(high)


def table(documents: list[Document]) -> Iterator[str]:
    """Lines of Markdown: GFLOPS of both versions, and oneDNN's time over polydl's in the rounds of each."""
    yield "| workload | threads | GFLOPS before | after | after / before | oneDNN / before | oneDNN / after |"
    yield "|---|---|---|---|---|---|---|"
    for document in documents:
        before, after = (document[version] for version in VERSIONS)
        brackets = [f"{value:.2f} [{low:.2f}, {high:.2f}]" for value, low, high in map(ratio, (before, after))]
        cells = [document["workload"], str(document["threads"]), f"{before['gflops']:.1f}", f"{after['gflops']:.1f}"]
        cells += [f"{after['gflops'] / before['gflops']:.3f}", *brackets]
        yield f"| {' | '.join(cells)} |"


@click.group(help=__doc__)
def main() -> None:
    pass


@main.command()
@click.argument("before", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("after", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--suite", "suites", multiple=True, required=True)
@click.option("--threads", default=1, show_default=True)
@click.option("--options", default="", help="More options of `polydl bench`, of both versions, in one word.")
@click.option("--out", type=click.Path(path_type=Path), required=True)
def measure(before: Path, after: Path, suites: tuple[str, ...], threads: int, options: str, out: Path) -> None:
    """Run both versions on all workloads of the suites, and append what they found."""
    programs = dict(zip(VERSIONS, (before.absolute(), after.absolute()), strict=True))
    present = {(row["workload"], row["threads"]) for row in json_lines.documents(out)}
    with tempfile.TemporaryDirectory() as state:
        for workload in (name for suite in suites for name in workloads(programs["before"], suite)):
            if (workload, threads) in present:
                continue
            document: Document = {"workload": workload, "threads": threads}
            for version, peer in zip(VERSIONS, _PEERS, strict=True):
                # oneDNN has one algorithm for products.
                asked = _PEERS[0] if workload.startswith("gemm") else peer
                try:
                    document[version] = bench(
                        programs[version], workload, threads, asked, shlex.split(options), Path(state, version)
                    )
                except subprocess.CalledProcessError as error:
                    print(f"{workload} {version}: {error.stderr.decode()}", file=sys.stderr)
                    raise SystemExit(1) from error
            json_lines.add(document, out)
            print(workload, *(f"{document[version]['gflops']:.1f}" for version in VERSIONS), flush=True)


@main.command("table")
@click.argument("path", type=click.Path(exists=True, path_type=Path))
def table_command(path: Path) -> None:
    """Show what a file of `measure` holds."""
    documents = json_lines.documents(path)
    print("\n".join(table(documents)))
    for threads in sorted({each["threads"] for each in documents}):
        chosen = [each for each in documents if each["threads"] == threads]
        mean = geometric_mean([each["after"]["gflops"] / each["before"]["gflops"] for each in chosen])
        print(f"{len(chosen)} workloads, {threads} thread(s): geometric mean of after / before {mean:.3f}")


if __name__ == "__main__":
    main()
