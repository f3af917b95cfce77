"""What constants of the machine are worth that decide what code does: emitted code timed under each value.

    python -m experiments.code_constants measure --constant copy_ahead_columns --nest gemm_4096x16x4096 --out code.jsonl
    python -m experiments.code_constants table code.jsonl

The first variants of each nest in the order of the cost model whose C a constant changes are compiled with each value
of it, and called in turns on one thread. Of a constant that decides which variants there are, the fastest of the first
ones under each value stands for it. A line of the output is one comparison; nests that the file has are not measured
again. A nest is a ready workload or one of ``NESTS``. ``experiments/prefetch_distances.py`` does so for distances that
are chosen by where an operand comes from, ``experiments/model_constants.py`` for what only predictions are made of.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any

import click
import numpy as np

from experiments import json_lines
from experiments.in_turns import at_a_line, built, in_turns
from experiments.model_constants import having
from experiments.tables import markdown
from polydl import pipeline, workloads
from polydl.ir.kernel import KernelSource
from polydl.ir.scop import Scop
from polydl.ir.variant import Variant
from polydl.machine import Machine

Document = dict[str, Any]


@dataclass(frozen=True)
class Trial:
    """What is tried of a constant."""

    values: tuple[int, ...]
    #: the one whose code it changes
    microkernel: str = pipeline.AUTOMATIC
    #: whether it decides which variants there are, not what their code is
    of_space: bool = False


TRIALS: Mapping[str, Trial] = {
    "block_kept_vectors": Trial((64, 256, 512, 2048, 1 << 30), "c"),
    "near_bytes": Trial((64 << 10, 256 << 10, 512 << 10, 1 << 20)),
    "ahead_fewest_columns": Trial((1, 12, 24, 96, 1 << 30)),
    "column_ahead_steps": Trial((0, 16, 64, 256), "c"),
    "ahead_groups": Trial((2, 8, 32)),
    "copy_ahead_columns": Trial((1, 4, 16), "c"),
    "tile_ahead_rows": Trial((1, 4, 16, 64), "c-amx"),
    "tile_ahead_columns": Trial((1, 8, 31), "c-amx"),
    "transform_ahead_rows": Trial((1, 4, 16)),
    "whole_filter_bytes": Trial((64 << 10, 256 << 10, 1 << 20, 8 << 20), of_space=True),
}
# Beside ready workloads, whose elements are floats.
NESTS: Mapping[str, str] = {
    "bytes_in_groups": """\
void product(int C[256][512], const unsigned char B[256][4096], const signed char A[1024][512][4])
{
#pragma scop
  for (int j = 0; j < 256; ++j)
    for (int i = 0; i < 512; ++i)
      for (int k = 0; k < 1024; ++k)
        for (int g = 0; g < 4; ++g)
          C[j][i] += A[k][i][g] * B[j][4 * k + g];
#pragma endscop
}
""",
}
_VARIANTS, _LOOKED_AT, _ROUNDS, _SECONDS = 4, 400, 9, 3e-3
_FLAGS = ("-O3", "-march=native", "-ffast-math")
_TYPES: Mapping[str, type[np.generic]] = {
    "float": np.float32,
    "int": np.int32,
    "signed char": np.int8,
    "unsigned char": np.uint8,
}


def measured(constant: str, name: str, machine: Machine, folder: Path) -> Iterator[Document]:
    """A document for each comparison: samples by value. Values of the same C share theirs."""
    trial = TRIALS[constant]
    nest = pipeline.parse(source_of(name, folder))
    passed = arguments(nest)
    shipped = getattr(machine.core, constant)
    known = {value: having(machine, constant, value) for value in sorted({*trial.values, shipped})}
    compared = of_spaces(nest, known) if trial.of_space else of_variants(nest, machine, known, trial)
    for number, kernels in enumerate(islice(compared, _VARIANTS)):
        different = {kernel.c: kernel for several in kernels.values() for kernel in several}
        functions = []
        for kernel in different.values():
            path = folder / f"{constant}-{name}-{number}-{len(functions)}.so"
            functions.append(built(kernel.c, _FLAGS, kernel.link_flags, path)[nest.function.name])
        samples = dict(zip(different, in_turns(functions, passed, _ROUNDS, _SECONDS), strict=True))
        # Of several kernels, those of the fastest.
        seconds = {value: min((samples[each.c] for each in several), key=median) for value, several in kernels.items()}
        yield {"constant": constant, "nest": name, "number": number, "shipped": shipped, "seconds": seconds}


def of_variants(
    nest: Scop, machine: Machine, known: Mapping[int, Machine], trial: Trial
) -> Iterator[dict[int, list[KernelSource]]]:
    """The kernel of one variant for each value, for each variant whose C the value changes."""
    variants = pipeline.generate_variants(nest, machine=machine, microkernel=trial.microkernel, max_variants=_LOOKED_AT)
    for entry in pipeline.rank(nest, variants, machine=machine, ranker="cost-model").entries:
        kernels = {value: [_kernel(nest, entry.variant, each)] for value, each in known.items()}
        if len({each.c for several in kernels.values() for each in several}) > 1:
            yield kernels


def of_spaces(nest: Scop, known: Mapping[int, Machine]) -> Iterator[dict[int, list[KernelSource]]]:
    """The kernels of the first variants in the order of the cost model for each value, if the value changes them."""
    kernels = {}
    for value, machine in known.items():
        variants = pipeline.generate_variants(nest, machine=machine, max_variants=_LOOKED_AT)
        entries = pipeline.rank(nest, variants, machine=machine, ranker="cost-model").entries
        kernels[value] = [_kernel(nest, entry.variant, machine) for entry in entries[:_VARIANTS]]
    if len({tuple(sorted(each.c for each in several)) for several in kernels.values()}) > 1:
        yield kernels


def _kernel(nest: Scop, variant: Variant, machine: Machine) -> KernelSource:
    return pipeline.kernel(pipeline.apply(nest, variant, machine=machine), machine.vector_bytes)


def source_of(name: str, folder: Path) -> Path:
    """The C file of one of ``NESTS`` or of a ready workload."""
    if name not in NESTS:
        return workloads.workload(name).write(folder)
    path = folder / f"{name}.c"
    path.write_text(NESTS[name], encoding="utf-8")
    return path


def arguments(nest: Scop) -> list[np.ndarray[Any, Any]]:
    """Random numbers for each parameter: floats between -1 and 1, small integers."""
    generator = np.random.default_rng(0)
    arrays = []
    for parameter in nest.function.parameters:
        array = nest.array(parameter.array)
        kind = _TYPES[array.element]
        if issubclass(kind, np.floating):
            contents = generator.uniform(-1, 1, array.elements)
        else:
            contents = generator.integers(0, 4, array.elements).astype(np.float64)
        arrays.append(at_a_line(contents.astype(kind)))
    return arrays


def rows(documents: Sequence[Document]) -> Iterator[list[str]]:
    """The cells of the table: speeds by value, over the value that the machine has."""
    for constant in TRIALS:
        own = [each for each in documents if each["constant"] == constant]
        for value in sorted({int(value) for each in own for value in each["seconds"]}):
            timed = [each for each in own if str(value) in each["seconds"]]
            shipped = timed[0]["shipped"]
            cells = [constant, str(value) if value < 1 << 30 else "no limit", str(len(timed))]
            if value == shipped:
                yield [*cells, "as it is"]
                continue
            speeds = [median(each["seconds"][str(shipped)]) / median(each["seconds"][str(value)]) for each in timed]
            yield [*cells, f"{geometric_mean(speeds):.3f} ({min(speeds):.2f} to {max(speeds):.2f})"]


@click.group(help=__doc__)
def main() -> None:
    pass


@main.command()
@click.option("--constant", "constants", type=click.Choice(list(TRIALS)), multiple=True, required=True)
@click.option("--nest", "names", multiple=True, required=True, help="a ready workload, or one of those here")
@click.option("--out", type=click.Path(path_type=Path), required=True)
def measure(constants: tuple[str, ...], names: tuple[str, ...], out: Path) -> None:
    """Time the first variants of each nest with every value of each constant."""
    present = {(each["constant"], each["nest"]) for each in json_lines.documents(out)}
    machine = Machine.detect(threads=1)
    with tempfile.TemporaryDirectory() as folder:
        for constant in constants:
            for name in names:
                if (constant, name) in present:
                    continue
                for document in measured(constant, name, machine, Path(folder)):
                    json_lines.add(document, out)
                    print(constant, name, document["number"], flush=True)


@main.command()
@click.argument("path", type=click.Path(exists=True, path_type=Path))
def table(path: Path) -> None:
    """Print the speeds by value, as Markdown."""
    heads = ("constant", "value", "variants", "speed over the value of this machine")
    print(*markdown(heads, list(rows(json_lines.documents(path)))), sep="\n")


if __name__ == "__main__":
    main()
