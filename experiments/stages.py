"""``python -m experiments.stages``: where the time from a C file to a ranked list and a verified winner goes.

Each nest goes through the stages of the pipeline in a process of its own (``experiments.stage_times``), several times;
shown are the rounds with the least CPU time of the process and its children. That hardly depends on what else runs on
the machine; wall-clock seconds do. The command itself does some of them at once: its shortest time is in the last row.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from experiments.tables import markdown

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
    """All rounds of one nest, and how long the command took in each."""
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
    answers: list[float] = []
    for _ in range(rounds):
        ended = subprocess.run(command, capture_output=True, text=True, check=True)
        documents.append(json.loads(ended.stdout))
        if top_k:
            answers.append(answered(source, defines, variants, threads, top_k))
    return {"nest": name, "rounds": documents, "answers": answers}


def least(document: Document) -> Document:
    """The round of one nest that took the least CPU time, with the command's shortest; older data are that alone."""
    if "rounds" not in document:
        return document
    whole = {"answer": min(document["answers"])} if document["answers"] else {}
    return {**min(document["rounds"], key=total_cpu), "nest": document["nest"], **whole}


def answered(source: str, defines: Sequence[str], variants: int, threads: int, top_k: int) -> float:
    """Wall-clock seconds of ``polydl optimize`` for a nest of which nothing is known."""
    nest = [source] if Path(source).suffix == ".c" else ["--workload", source]
    options = {"--max-variants": variants, "--threads": threads, "--top-k": top_k}
    with TemporaryDirectory() as directory:
        words = [*nest, *(word for define in defines for word in ("-D", define))]
        words += [str(word) for option in options.items() for word in option]
        words += ["--records", f"{directory}/records", "--out", f"{directory}/out", "--quiet"]
        start = time.perf_counter()
        subprocess.run([sys.executable, "-m", "polydl", "optimize", *words], check=True, capture_output=True)
        return time.perf_counter() - start


def total_cpu(document: Document) -> float:
    return float(sum(each["cpu"] + each["children"] for each in document["seconds"].values()))


def per_second(document: Document) -> float:
    """Variants that one core takes from their steps to their score in a second."""
    seconds = float(sum(document["seconds"][stage]["cpu"] for stage in _SCORED))
    return document["variants"] / seconds if seconds else 0.0


def table(documents: Sequence[Document]) -> list[str]:
    """In Markdown: CPU seconds of the process and its children, in brackets wall-clock seconds, by stage and nest."""
    documents = [least(each) for each in documents]
    rows = []
    for stage in dict.fromkeys(stage for document in documents for stage in document["seconds"]):
        spent = [document["seconds"].get(stage) for document in documents]
        rows.append([stage, *(_cell(each["cpu"] + each["children"], each["wall"]) if each else "" for each in spent)])
    walls = [sum(each["wall"] for each in document["seconds"].values()) for document in documents]
    rows.append(["all", *(_cell(total_cpu(each), wall) for each, wall in zip(documents, walls, strict=True))])
    if all("answer" in each for each in documents):
        rows.append(["`polydl optimize`", *(f"({each['answer']:.3f})" for each in documents)])
    rows.append(["scored in a CPU second", *(f"{per_second(document):,.0f}" for document in documents)])
    return markdown(["stage", *(f"{each['nest']}, {each['variants']} variants" for each in documents)], rows)


def _cell(cpu: float, wall: float) -> str:
    return f"{cpu:.3f} ({wall:.3f})"


@click.command(help=__doc__)
@click.argument("nests", nargs=-1)
@click.option("--variants", default=1000, show_default=True, help="Variants of each nest.")
@click.option("--threads", default=1, show_default=True)
@click.option("--top-k", default=0, show_default=True, help="Variants that are compiled, checked and timed.")
@click.option("--rounds", default=3, show_default=True, help="Processes per nest.")
@click.option("--json", "path", type=click.Path(path_type=Path), help="Write all rounds there as well.")
@click.option(
    "--show", type=click.Path(path_type=Path, exists=True), help="Show those of this file, and measure nothing."
)
def main(
    nests: tuple[str, ...], variants: int, threads: int, top_k: int, rounds: int, path: Path | None, show: Path | None
) -> None:
    if show is not None:
        documents = json.loads(show.read_text(encoding="utf-8"))
    else:
        documents = [measure(name, variants, threads, top_k, rounds) for name in nests or NESTS]
    print(*table(documents), sep="\n")
    if path is not None:
        path.write_text(json.dumps(documents) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
