"""How far ahead `c` should prefetch its first operand, by where that comes from: not at all, 8 or 48 steps of k.

    python -m experiments.prefetch_distances measure --workload gemm_512x512x512 --out distances.jsonl
    python -m experiments.prefetch_distances table distances.jsonl

The first variants of each workload in the order of the cost model that call `c` alone are compiled with each distance,
in place of the one of this machine, and called in turns on one thread. A line of the output is one variant; workloads
that the file has are not measured again.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any

import click

from experiments import json_lines, model_constants
from experiments.in_turns import built, elements, floats, in_turns
from experiments.tables import markdown
from polydl import pipeline, workloads
from polydl.machine import Machine

Document = dict[str, Any]
_DISTANCES = (0, 8, 48)
PLACES = {
    "near_ahead_steps": "the first two caches",
    "apart_ahead_steps": "the second one, each step in a page of its own",
    "last_cache_ahead_steps": "the last cache",
    "memory_ahead_steps": "memory",
}
_VARIANTS, _ROUNDS, _SECONDS = 6, 9, 3e-3
_FLAGS = ("-O3", "-march=native", "-ffast-math")


def having(machine: Machine, steps: Sequence[int]) -> Machine:
    """The machine with those distances, in the order of the places."""
    for name, distance in zip(PLACES, steps, strict=True):
        machine = model_constants.having(machine, name, distance)
    return machine


def measured(workload: str, machine: Machine, folder: Path) -> Iterator[Document]:
    """A document for each variant: where A comes from, and samples by distance."""
    nest = pipeline.parse(workloads.workload(workload).write(folder))
    variants = pipeline.generate_variants(nest, machine=machine, microkernel="c", max_variants=300)
    ranked = pipeline.rank(nest, variants, machine=machine, ranker="cost-model")
    passed = floats(elements(nest))
    told = having(machine, range(1, 1 + len(PLACES)))
    kept = 0
    for entry in ranked.entries:
        sites = [site.gemm for site in pipeline.apply(nest, entry.variant, machine=told).sites.values()]
        if len(sites) != 1:
            continue
        functions = []
        for distance in _DISTANCES:
            known = having(machine, [distance] * len(PLACES))
            kernel = pipeline.kernel(pipeline.apply(nest, entry.variant, machine=known), machine.vector_bytes)
            library = built(kernel.c, _FLAGS, kernel.link_flags, folder / f"{workload}-{kernel.id}-{distance}.so")
            functions.append(library[nest.function.name])
        taken = dict(zip(map(str, _DISTANCES), in_turns(functions, passed, _ROUNDS, _SECONDS), strict=True))
        place = list(PLACES)[sites[0].ahead_steps - 1]
        yield {"workload": workload, "id": entry.variant.id, "place": place, "seconds": taken}
        kept += 1
        if kept == _VARIANTS:
            return


def rows(documents: Sequence[Document]) -> Iterator[list[str]]:
    """The cells of the table: a row for each place, speeds over those without prefetches."""
    for place, words in PLACES.items():
        times = [each["seconds"] for each in documents if each["place"] == place]
        if not times:
            continue
        cells = [words, str(len(times))]
        for distance in map(str, _DISTANCES[1:]):
            speeds = [median(each["0"]) / median(each[distance]) for each in times]
            cells.append(f"{geometric_mean(speeds):.3f} ({min(speeds):.2f} to {max(speeds):.2f})")
        yield cells


@click.group(help=__doc__)
def main() -> None:
    pass


@main.command()
@click.option("--workload", "names", multiple=True, required=True)
@click.option("--out", type=click.Path(path_type=Path), required=True)
def measure(names: tuple[str, ...], out: Path) -> None:
    """Time the first variants of each workload with every distance."""
    present = {each["workload"] for each in json_lines.documents(out)}
    machine = Machine.detect(threads=1)
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            if name in present:
                continue
            for document in measured(name, machine, Path(folder)):
                json_lines.add(document, out)
                print(name, document["id"], document["place"], flush=True)


@main.command()
@click.argument("path", type=click.Path(exists=True, path_type=Path))
def table(path: Path) -> None:
    """Print the speeds by place, as Markdown."""
    heads = ("A comes from", "variants", *(f"{each} steps ahead, over none" for each in _DISTANCES[1:]))
    print(*markdown(heads, list(rows(json_lines.documents(path)))), sep="\n")


if __name__ == "__main__":
    main()
