"""What loops with conditions gain where vectors have no masks, and what is beside a condition is computed all the same.

    python -m experiments.conditions measure --out conditions.jsonl
    python -m experiments.conditions table conditions.jsonl

The first variants of each nest in the order of the cost model are compiled by gcc with the flags that polydl gives them
and without those that it adds for conditions, and called in turns with two builds of the plain nest, on one thread and
random numbers of both signs. A line of the output is one nest.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import click

from experiments import json_lines
from experiments.in_turns import built, elements, floats, in_turns
from experiments.tables import markdown
from polydl import pipeline
from polydl.machine import Machine

Document = dict[str, Any]
_VARIANTS, _ROUNDS, _SECONDS = 3, 9, 5e-3
_SPEED = ("-O3", "-march=native")
#: how the plain nest and variants are compiled
_WAYS = {
    "plain": "plain nest, -O3",
    "fast": "plain nest, -O3 -ffast-math",
    "without": "variant, without the flag",
    "with": "variant, as it is emitted",
}
_IMAGE = "for (int c = 0; c < 64; c++)\n  for (int i = 0; i < 56; i++)\n    for (int j = 0; j < 56; j++)\n"
NESTS = {
    "leaky ReLU of 64x56x56": (
        "float y[64][56][56], const float x[64][56][56]",
        f"{_IMAGE}y[c][i][j] = x[c][i][j] > 0 ? x[c][i][j] : 0.1f * x[c][i][j];",
    ),
    "ELU of 64x56x56": (
        "float y[64][56][56], const float x[64][56][56]",
        f"{_IMAGE}y[c][i][j] = x[c][i][j] > 0 ? x[c][i][j] : expf(x[c][i][j]) - 1;",
    ),
    "gradients where 64x56x56 are positive": (
        "float dx[64][56][56], const float dy[64][56][56], const float x[64][56][56]",
        f"{_IMAGE}if (x[c][i][j] > 0) dx[c][i][j] += 2 * dy[c][i][j];",
    ),
    "product of 128x256x64, bias, leaky ReLU": (
        "float y[128][256], const float a[128][64], const float b[64][256], const float bias[256]",
        """for (int i = 0; i < 128; i++)
  for (int j = 0; j < 256; j++) {
    y[i][j] = bias[j];
    for (int k = 0; k < 64; k++)
      y[i][j] += a[i][k] * b[k][j];
    y[i][j] = y[i][j] > 0 ? y[i][j] : 0.1f * y[i][j];
  }""",
    ),
    "quotients of 512x256 by those above a limit": (
        "float y[512][256], const float x[512][256], const float v[512]",
        """for (int i = 0; i < 512; i++)
  for (int j = 0; j < 256; j++)
    y[i][j] = v[i] > 0.001f ? x[i][j] / v[i] : x[i][j];""",
    ),
}


def measured(name: str, machine: Machine, folder: Path) -> Document:
    """The samples of each way: a list for each variant, one for the plain nest."""
    parameters, loops = NESTS[name]
    source = folder / "nest.c"
    source.write_text(f"#include <math.h>\nvoid nest({parameters})\n{{\n#pragma scop\n{loops}\n#pragma endscop\n}}\n")
    nest = pipeline.parse(source)
    variants = pipeline.generate_variants(nest, machine=machine, microkernel="c", max_variants=100)
    ranked = pipeline.rank(nest, variants, machine=machine, ranker="cost-model")
    kernels = [
        pipeline.kernel(pipeline.apply(nest, entry.variant, machine=machine), machine.vector_bytes)
        for entry in ranked.entries[:_VARIANTS]
    ]
    plain = source.read_text()
    texts = [("plain", plain, _SPEED), ("fast", plain, (*_SPEED, "-ffast-math"))]
    texts += [("without", kernel.c, _SPEED) for kernel in kernels]
    texts += [("with", kernel.c, (*_SPEED, *kernel.compile_flags)) for kernel in kernels]
    functions = [
        built(text, flags, (), folder / f"{list(NESTS).index(name)}-{number}.so")["nest"]
        for number, (_, text, flags) in enumerate(texts)
    ]
    taken = in_turns(functions, floats(elements(nest)), _ROUNDS, _SECONDS)
    seconds: dict[str, list[list[float]]] = {way: [] for way in _WAYS}
    for (way, *_), samples in zip(texts, taken, strict=True):
        seconds[way].append(samples)
    return {"nest": name, "flags": sorted({each for k in kernels for each in k.compile_flags}), "seconds": seconds}


def rows(documents: Sequence[Document]) -> Iterator[list[str]]:
    """The cells of the table: microseconds of the fastest of each way, and what the flag is worth."""
    for each in documents:
        best = {way: min(map(median, samples)) for way, samples in each["seconds"].items()}
        gain = best["without"] / best["with"]
        yield [each["nest"], *(f"{1e6 * best[way]:.4g}" for way in _WAYS), f"{gain:.3g}"]


@click.group(help=__doc__)
def main() -> None:
    pass


@main.command()
@click.option("--out", type=click.Path(path_type=Path), required=True)
def measure(out: Path) -> None:
    """Time the nests that the file does not have."""
    present = {each["nest"] for each in json_lines.documents(out)}
    machine = Machine.detect(threads=1)
    with tempfile.TemporaryDirectory() as folder:
        for name in NESTS:
            if name not in present:
                json_lines.add(measured(name, machine, Path(folder)), out)
                print(name, flush=True)


@main.command()
@click.argument("path", type=click.Path(exists=True, path_type=Path))
def table(path: Path) -> None:
    """Print the times, as Markdown."""
    heads = ("nest", *(f"{words}, µs" for words in _WAYS.values()), "without the flag over with it")
    print(*markdown(heads, list(rows(json_lines.documents(path)))), sep="\n")


if __name__ == "__main__":
    main()
