"""A library beside the kernels that are optimized for each shape alone, at shapes that it was not made from.

    python -m experiments.library measure examples/gemm.c --range M=1..4096 --range N=64..1024 --range K=64..4096 \\
        --held-out 100 --out library.json
    python -m experiments.library table library.json

Held-out shapes are drawn as those that the library is made from, or, with --products, spread evenly over the products
of ``experiments/sgemm_shapes.py``, of which ``experiments/library_peers.py`` measures all beside BLAS libraries.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

import polydl
from experiments import sgemm_shapes
from experiments.waiting import read, write
from polydl.ir.measurement import counting
from polydl.libraries.held_out import held_out
from polydl.libraries.ranges import size_ranges
from polydl.libraries.shapes import sampled_shapes

# Of the held-out shapes: other than the library's, which draws with 0, 1 and 2.
SEED = 1000
# The library's function, the fastest variant for the very shape, and the plain nest.
ROLES = ("seconds", "tuned", "original")
# Products of published lists and drawn ones, and the operations that one has at most: the plain nest runs beside each.
_PRODUCTS, _MOST_OPERATIONS = 500, 2 * 10**9


def measure(arguments: argparse.Namespace) -> None:
    """Make the library, measure it at held-out shapes, and write what was measured."""
    library = polydl.library(
        arguments.file,
        arguments.range,
        shapes=arguments.shapes,
        max_kernels=arguments.max_kernels,
        max_slowdown=arguments.max_slowdown,
        machine=polydl.Machine.detect(threads=arguments.threads),
    )
    shapes = products(arguments.held_out) if arguments.products else drawn(library, arguments.range, arguments.held_out)
    measured = held_out(library, shapes, top_k=arguments.top_k)
    document = {
        "file": Path(arguments.file).name,
        "ranges": arguments.range,
        "machine": library.machine.name,
        "threads": library.machine.threads,
        "kernels": len(library.kernels),
        "bytes": {kind: library.files[kind].stat().st_size for kind in ("c", "library")},
        "sampled": {"shapes": len(library.shapes), "worst": max(library.slowdowns)},
        "held_out": [
            {
                "sizes": dict(each.shape),
                "chosen": each.chosen,
                "samples": {
                    role: [[sample.seconds, sample.disturbed] for sample in samples]
                    for role, samples in zip(ROLES, each.samples, strict=True)
                },
            }
            for each in measured
        ],
    }
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    write(document, arguments.out)


def drawn(library: polydl.Library, ranges: Sequence[str], count: int) -> list[dict[str, int]]:
    """Shapes of the ranges that the library was not made from.

    The plain nest runs beside each kernel: none takes longer than at the shapes that the library was made from.
    """
    most = max(library.read(shape).flops for shape in library.shapes)
    wanted = count + len(library.shapes)
    shapes = sampled_shapes(size_ranges(ranges), wanted, SEED, lambda shape: library.read(shape).flops <= most)
    return [shape for shape in shapes if shape not in library.shapes][:count]


def products(count: int) -> list[dict[str, int]]:
    """Sizes M, N and K, of all kinds."""
    every = [sizes for _, sizes in sgemm_shapes.held_out(_PRODUCTS)]
    small = [sizes for sizes in every if sgemm_shapes.operations(sizes) <= _MOST_OPERATIONS]
    chosen = [small[place * len(small) // count] for place in range(count)]
    return [dict(zip("MNK", sizes, strict=True)) for sizes in chosen]


def with_medians(shape: dict[str, Any]) -> dict[str, Any]:
    """A shape with the median of the samples that count in each role; older data are the medians alone."""
    taken = shape.get("samples", {})
    return shape | {role: median(counting(samples)) for role, samples in taken.items()}


def table(document: dict[str, Any]) -> list[str]:
    """In Markdown: the slow-down over the kernel tuned for the very shape, and the worst shapes."""
    shapes = sorted(map(with_medians, document["held_out"]), key=lambda shape: shape["tuned"] / shape["seconds"])
    factors = [each["seconds"] / each["tuned"] for each in shapes]
    mean = math.exp(sum(map(math.log, factors)) / len(factors))
    gain = math.exp(sum(math.log(each["original"] / each["seconds"]) for each in shapes) / len(shapes))
    within = [sum(factor <= limit for factor in factors) for limit in (1.1, 1.25, 2)]
    names = list(shapes[0]["sizes"])
    return [
        f"{document['machine']}, {document['threads']} threads; {' '.join(document['ranges'])}; "
        f"{document['kernels']} kernels from {document['sampled']['shapes']} shapes, "
        f"{document['bytes']['library'] // 1024} KB",
        "",
        "| held-out shapes | geometric mean | worst | within 1.10 | within 1.25 | within 2 | over the plain nest |",
        "|---|---|---|---|---|---|---|",
        f"| {len(shapes)} | {mean:.2f} | {factors[0]:.2f} | {within[0]} | {within[1]} | {within[2]} | {gain:.1f} |",
        "",
        f"| {' | '.join(names)} | library | tuned for the shape | slow-down | kernel |",
        f"|{'---|' * (len(names) + 4)}",
        *(
            f"| {' | '.join(str(each['sizes'][name]) for name in names)} | {each['seconds']:.3g} s | "
            f"{each['tuned']:.3g} s | {each['seconds'] / each['tuned']:.2f} | {each['chosen']} |"
            for each in shapes[:10]
        ),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    measuring = commands.add_parser("measure")
    measuring.add_argument("file")
    measuring.add_argument("--range", action="append", required=True)
    measuring.add_argument("--shapes", type=int, default=24)
    measuring.add_argument("--held-out", type=int, default=100)
    measuring.add_argument("--products", action="store_true")
    measuring.add_argument("--max-kernels", type=int, default=10)
    measuring.add_argument("--max-slowdown", type=float, default=1.10)
    measuring.add_argument("--top-k", type=int, default=5)
    measuring.add_argument("--threads", type=int)
    measuring.add_argument("--out", type=Path, required=True)
    showing = commands.add_parser("table")
    showing.add_argument("document", type=Path)
    arguments = parser.parse_args()
    if arguments.command == "measure":
        measure(arguments)
    else:
        print(*table(read(arguments.document)), sep="\n")


if __name__ == "__main__":
    main()
