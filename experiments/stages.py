"""``python -m experiments.stages``: where the time from a C file to a ranked list and a verified winner goes.

Each nest goes through the stages of the pipeline in a process of its own (``experiments.stage_times``), several times;
shown are the rounds with the least CPU time of the process and its children. That hardly depends on what else runs on
the machine; wall-clock seconds do.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

Document = dict[str, Any]

_SCORED = ("apply", "working sets", "model", "score")
_EXAMPLES = Path(__file__).parents[1] / "examples"
NESTS: dict[str, tuple[str, ...]] = {
    "conv.c": (str(_EXAMPLES / "conv.c"),),
    "stencil.c": (str(_EXAMPLES / "stencil.c"),),
    "512 x 512 x 512": (str(_EXAMPLES / "matmul.c"), "M=512", "N=512", "K=512"),
    "resnet_03": ("resnet_03",),
    "resnet_17": ("resnet_17",),
}


def measure(name: str, variants: int, threads: int, top_k: int, rounds: int) -> Document:
    """The round of one nest that took the least CPU time."""
    source, *defines = NESTS.get(name, (name,))
    command = [
        sys.executable,
        "-m",
        "experiments.stage_times",
        source,
        str(variants),
        str(threads),
        str(top_k),
        *defines,
    ]
    documents: list[Document] = []
    for _ in range(rounds):
        ended = subprocess.run(command, capture_output=True, text=True, check=True)
        documents.append(json.loads(ended.stdout))
    return {**sorted(documents, key=total_cpu)[0], "nest": name}


def total_cpu(document: Document) -> float:
    return float(sum(each["cpu"] + each["children"] for each in document["seconds"].values()))


def per_second(document: Document) -> float:
    """Variants that one core takes from their steps to their score in a second."""
    seconds = float(sum(document["seconds"][stage]["cpu"] for stage in _SCORED))
    return document["variants"] / seconds if seconds else 0.0


def table(documents: Sequence[Document]) -> Table:
    """CPU seconds of the process and its children, and wall-clock seconds, by stage and nest."""
    shown = Table(title="CPU seconds, in brackets wall-clock seconds")
    shown.add_column("stage")
    for document in documents:
        shown.add_column(f"{document['nest']}\n{document['variants']} variants", justify="right")
    for stage in dict.fromkeys(stage for document in documents for stage in document["seconds"]):
        cells = []
        for document in documents:
            spent = document["seconds"].get(stage)
            cells.append(f"{spent['cpu'] + spent['children']:.3f} ({spent['wall']:.3f})" if spent else "")
        shown.add_row(stage, *cells)
    shown.add_section()
    walls = [sum(each["wall"] for each in document["seconds"].values()) for document in documents]
    shown.add_row("all", *(f"{total_cpu(each):.3f} ({wall:.3f})" for each, wall in zip(documents, walls, strict=True)))
    shown.add_row("scored in a CPU second", *(f"{per_second(document):,.0f}" for document in documents))
    return shown


@click.command(help=__doc__)
@click.argument("nests", nargs=-1)
@click.option("--variants", default=1000, show_default=True, help="Variants of each nest.")
@click.option("--threads", default=1, show_default=True)
@click.option("--top-k", default=0, show_default=True, help="Variants that are compiled, checked and timed.")
@click.option("--rounds", default=3, show_default=True, help="Processes per nest.")
@click.option("--json", "path", type=click.Path(path_type=Path), help="Write the figures there as well.")
def main(nests: tuple[str, ...], variants: int, threads: int, top_k: int, rounds: int, path: Path | None) -> None:
    documents = [measure(name, variants, threads, top_k, rounds) for name in nests or NESTS]
    Console(width=max(110, 30 + 24 * len(documents))).print(table(documents))
    if path is not None:
        path.write_text(json.dumps(documents, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
