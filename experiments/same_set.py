"""Calls whose operands have columns a power of two apart, over the same calls with other distances.

    python -m experiments.same_set measure --out same_set.jsonl
    python -m experiments.same_set table same_set.jsonl

Calls of a microkernel multiply 64 steps of k, again and again with the same operands: A's columns, or B's, lie some
bytes apart (`polydl/model/same_set.py`). A line of the output is 256 such calls: their samples and what is predicted,
in seconds.
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
from polydl.ir.variant import UseMicrokernel, Variant
from polydl.machine import Machine

Document = dict[str, Any]
_STEPS, _CALLS = 64, 256
_NEST = """\
void matmul(float C[{n}][{m}], const float B[{n}][{apart_b}], const float A[{k}][{apart_a}])
{{
#pragma scop
  for (int call = 0; call < {calls}; ++call)
    for (int j = 0; j < {n}; ++j)
      for (int i = 0; i < {m}; ++i)
        for (int k = 0; k < {k}; ++k)
          C[j][i] += B[j][k] * A[k][i];
#pragma endscop
}}
"""
_FLAGS = ("-O3", "-march=native", "-ffast-math")
_ROUNDS, _SECONDS = 9, 3e-3
# Floats from one column to the next: not of one set, of two sets in turn, of one.
_DISTANCES = (1040, 512, 1024, 2048)
# Rows and columns of C; those of few rows take many columns in a register block.
_SHAPES = ((16, 4), (16, 7), (16, 12), (16, 24), (32, 12), (64, 6), (64, 24))


def measured(m: int, n: int, operand: str, machine: Machine, folder: Path) -> Iterator[Document]:
    """A document for each microkernel and distance of the columns of one operand."""
    functions, documents = [], []
    for distance in _DISTANCES:
        distances = {"apart_a": m, "apart_b": _STEPS, f"apart_{operand}": distance}
        source = folder / f"{m}-{n}-{operand}-{distance}.c"
        source.write_text(_NEST.format(m=m, n=n, k=_STEPS, calls=_CALLS, **distances), encoding="utf-8")
        nest = pipeline.parse(source)
        for name in ("c", "libxsmm"):
            variant = Variant((UseMicrokernel(0, name, m="i", n="j", k="k"),))
            ranking = pipeline.rank(nest, [variant], machine=machine, ranker="cost-model", microkernel=name)
            predicted = ranking.entries[0].score
            kernel = pipeline.kernel(pipeline.apply(nest, variant, machine=machine), machine.vector_bytes)
            library = built(kernel.c, _FLAGS, kernel.link_flags, source.with_suffix(f".{name}.so"))
            functions.append((library[nest.function.name], floats(elements(nest))))
            documents.append(
                {"m": m, "n": n, "operand": operand, "bytes": 4 * distance, "microkernel": name, "predicted": predicted}
            )
    for document, (function, passed) in zip(documents, functions, strict=True):
        [taken] = in_turns([function], passed, _ROUNDS, _SECONDS)
        yield {**document, "seconds": taken, "peak_gflops": machine.peak_gflops}


def rows(documents: Sequence[Document]) -> Iterator[list[str]]:
    """The cells of the table: a row for each shape, operand and microkernel, shares of the peak by distance."""
    order = [4 * distance for distance in _DISTANCES]
    for m, n in _SHAPES:
        for operand in ("a", "b"):
            for name in ("c", "libxsmm"):
                mine = {
                    each["bytes"]: each
                    for each in documents
                    if (each["m"], each["n"], each["operand"], each["microkernel"]) == (m, n, operand, name)
                }
                if not mine:
                    continue
                work = 2e-9 * m * n * _STEPS * _CALLS
                cells = [f"{m} x {n}", operand.upper(), name]
                for distance in order:
                    one = mine[distance]
                    reached = work / median(one["seconds"]) / one["peak_gflops"]
                    expected = work / one["predicted"] / one["peak_gflops"]
                    cells.append(f"{reached:.2f} ({expected:.2f})")
                yield cells


@click.group(help=__doc__)
def main() -> None:
    pass


@main.command()
@click.option("--out", type=click.Path(path_type=Path), required=True)
def measure(out: Path) -> None:
    """Time all calls, one after the other."""
    machine = Machine.detect(threads=1)
    with tempfile.TemporaryDirectory() as folder:
        for m, n in _SHAPES:
            for operand in ("a", "b"):
                for document in measured(m, n, operand, machine, Path(folder)):
                    json_lines.add(document, out)
                    print(*list(document.values())[:5], flush=True)


@main.command()
@click.argument("path", type=click.Path(exists=True, path_type=Path))
def table(path: Path) -> None:
    """Print the shares of the peak that are reached, and that are expected, as Markdown."""
    heads = ("C", "columns of", "microkernel", *(f"{4 * distance} bytes apart" for distance in _DISTANCES))
    print(*markdown(heads, list(rows(json_lines.documents(path)))), sep="\n")


if __name__ == "__main__":
    main()
