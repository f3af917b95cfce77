"""Rounding errors of each way to multiply, against the nest in double: what docs/reference/accuracy.md reports.

The source compiled without reordering, a variant with sums in any order, each tile size of Winograd's (also behind
``polyphase``) and each cut of Strassen's algorithm, factors that ``materialize`` takes in another order, and
``libxsmm-bf16`` where the processor has it, compute the same problems from the same inputs; the products of bfloat16
parts that ``c-amx`` computes in tile registers are added up here as these do, so that no such processor is needed.
Quotients and functions are in ``accuracy_functions.py``. Run it from the root of the repository:

    python -m experiments.accuracy measure
    python -m experiments.accuracy tables
"""

from __future__ import annotations

import argparse
import csv
import ctypes
import re
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from polydl import bfloat16, pipeline, registry, workloads
from polydl.execute.toolchain import Toolchain
from polydl.ir.scop import Scop
from polydl.ir.variant import Variant
from polydl.machine import Machine

RESULTS = Path(__file__).parent / "data" / "accuracy.csv"
# One image each: layers of three by three and of five by five taps, one in steps of two, and products.
WORKLOADS = (
    "resnet_03", "resnet_07", "resnet_12", "resnet_17", "alexnet_02", "conv_64x64x56x56x3x3s2p1", "gemm_256x256x256",
    "gemm_256x256x1024", "gemm_256x256x4096", "gemm_512x512x512",
)  # fmt: skip
# Products that are measured with each term scaled, and of bfloat16s, besides.
SCALED = NARROW = ("gemm_256x256x256", "gemm_256x256x1024")
INPUTS = ("normal", "0 to 1")
SEED = 18
# Half the spacing of floats at 1.
UNIT = 2.0**-24
SOURCE, ANY_ORDER, SPLIT = "source", "sums in any order", "floats as three bfloat16s"
# Neither vectors nor multiply-adds: operations as the source has them.
PLAIN = ("-O1", "-fno-tree-vectorize", "-ffp-contract=off", "-w", "-shared", "-fPIC")
HEADERS = Path(__file__).parents[1] / "polydl" / "include"
# Steps of k that a tile instruction multiplies before it adds to the sums.
TILE_STEPS = 32

Values = NDArray[Any]
AnyRow = TypeVar("AnyRow")


@dataclass(frozen=True)
class Row:
    """The errors of one method on one workload."""

    workload: str
    #: terms of each sum
    terms: float
    inputs: str
    method: str
    #: its a-priori error by that of the source
    error_factor: float
    #: relative, in the norm of Frobenius
    norm_wise: float
    #: largest error by the largest result
    largest: float
    #: backward errors in units of 2^-24: by the products of the operands' norms, and the largest by |A| |B|
    norm_wise_backward: float
    componentwise_backward: float


@dataclass(frozen=True)
class Problem:
    """A nest whose errors are measured."""

    name: str
    function: str
    source: str
    #: of all sums
    products: float
    #: that all of its variants use
    microkernel: str = "c"

    @property
    def in_double(self) -> str:
        """The nest with ``double`` in place of ``float`` and bfloat16."""
        text = self.source.replace("#include <polydl/bfloat16.h>", "#define bfloat16_to_float(x) (x)")
        return re.sub(r"\b(?:float|bfloat16)\b", "double", text)


def problems() -> Iterator[Problem]:
    """All of them, in the order of the table."""
    for name in WORKLOADS:
        ready = workloads.workload(name, layout="row-major" if name.startswith("gemm") else "nhwc")
        products = ready.flops / 2
        yield Problem(name, ready.function, ready.source, products)
        if name in SCALED:
            yield Problem(f"{name}, scaled", ready.function, scaled(ready), products)
        if name in NARROW:
            ready = workloads.workload(name, layout="row-major", element="bfloat16")
            yield Problem(ready.name, ready.function, ready.source, products, microkernel="libxsmm-bf16")


def scaled(product: workloads.Workload) -> str:
    """Its nest with a factor for each step of k, which meets the product of the other two."""
    assert isinstance(product.problem, workloads.MatrixProduct)
    declared = product.source.replace("const float B[", f"const float s[{product.problem.k}],\n const float B[")
    return declared.replace("A[i][k] * B[k][j]", "s[k] * (A[i][k] * B[k][j])")


@dataclass(frozen=True)
class Operands:
    """The arrays of a problem."""

    #: name of the one that is written
    output: str
    #: by name
    arrays: Mapping[str, Values]
    #: names of those of bfloat16s
    narrow: frozenset[str]

    @property
    def inputs(self) -> tuple[Values, ...]:
        return tuple(values for name, values in self.arrays.items() if name != self.output)


def operands(scop: Scop, inputs: str) -> Operands:
    """Random inputs, and an output of zeros."""
    generator = np.random.default_rng(SEED)
    draw = generator.standard_normal if inputs == "normal" else generator.random
    (output,) = {access.array for statement in scop.statements for access in statement.writes}
    narrow = frozenset(array.name for array in scop.arrays if array.element == "bfloat16")
    arrays: dict[str, Values] = {}
    for parameter in scop.function.parameters:
        name = parameter.array
        arrays[name] = draw(scop.array(name).extents).astype(np.float32)
        if name in narrow:
            arrays[name] = bfloat16.to_float(bfloat16.from_float(arrays[name]))
    arrays[output][...] = 0
    return Operands(output, arrays, narrow)


def run(library: Path, function: str, given: Operands, *, kind: type = np.float32, absolute: bool = False) -> Values:
    """The output of a compiled nest, in double."""

    def passed(name: str, values: Values) -> Values:
        values = np.abs(values) if absolute else values
        narrow = name in given.narrow and kind is np.float32
        return np.ascontiguousarray(bfloat16.from_float(values) if narrow else values.astype(kind))

    copies = {name: passed(name, values) for name, values in given.arrays.items()}
    getattr(ctypes.CDLL(str(library)), function)(*(ctypes.c_void_p(each.ctypes.data) for each in copies.values()))
    return copies[given.output].astype(np.float64)


@dataclass(frozen=True)
class Reference:
    """What errors are measured against."""

    #: the nest in double, of the operands and of their magnitudes
    exact: Values
    scale: Values
    #: product of the inputs' norms
    norms: float

    @staticmethod
    def of(double: Path, function: str, given: Operands) -> Reference:
        exact, scale = (run(double, function, given, kind=np.float64, absolute=absolute) for absolute in (False, True))
        return Reference(exact, scale, float(np.prod([np.linalg.norm(each.astype(float)) for each in given.inputs])))

    def errors(self, result: Values) -> tuple[float, float, float, float]:
        """The last four fields of a row."""
        error = np.abs(result - self.exact)
        norm = float(np.linalg.norm(error))
        return (
            _rounded(norm / float(np.linalg.norm(self.exact))),
            _rounded(error.max() / np.abs(self.exact).max()),
            _rounded(norm / self.norms / UNIT),
            _rounded((error / self.scale).max() / UNIT),
        )


def compiled(text: str, toolchain: Toolchain, directory: Path, name: str) -> Path:
    source, library = directory / f"{name}.c", directory / f"{name}.so"
    source.write_text(text)
    subprocess.run([str(toolchain.path), *PLAIN, f"-I{HEADERS}", str(source), "-o", str(library)], check=True)
    return library


def methods(space: Any, microkernel: str) -> Iterator[tuple[str, Variant, float]]:
    """The first variant of each way to multiply with the microkernel, its name before, and its a-priori error."""
    found: dict[str, tuple[Variant, float]] = {}
    for variant in pipeline.generate(space, max_variants=2000).variants:
        applied = space.apply(variant)
        if applied.uses:
            words = applied.rounding.methods if microkernel == "c" else (f"`{microkernel}`, of bfloat16s",)
            behind = any(step["step"] == "polyphase" for step in variant.to_json())
            name = f"{'; '.join(words) or ANY_ORDER}{', polyphase' if behind else ''}"
            found.setdefault(name, (variant, _rounded(applied.rounding.error_factor)))
    for name, (variant, factor) in found.items():
        yield name, variant, factor


def split_product(a: Values, b: Values) -> Values:
    """``a @ b`` as tile registers compute it: six products of bfloat16 parts, in sums of even and odd steps of k."""
    left, right = _parts(a), _parts(b)
    total = np.zeros((a.shape[0], b.shape[1]), np.float32)
    for first in range(0, a.shape[1], TILE_STEPS):
        for one in range(3):
            for other in range(3 - one):
                sums = [np.zeros_like(total), np.zeros_like(total)]
                for step in range(first, min(first + TILE_STEPS, a.shape[1])):
                    product = np.multiply.outer(left[one][:, step], right[other][step])
                    # Products of bfloat16s are exact in double, so that each addition rounds once.
                    sums[step % 2] = (sums[step % 2] + product).astype(np.float32)
                total += sums[0] + sums[1]
    return total.astype(np.float64)


def _parts(values: Values) -> list[Values]:
    """Three arrays of bfloat16 values, as doubles, whose sum is ``values``."""
    parts, left = [], values.astype(np.float32)
    for _ in range(3):
        part = bfloat16.to_float(bfloat16.from_float(left))
        parts.append(part.astype(np.float64))
        left = left - part
    return parts


def measured(problem: Problem, machine: Machine, toolchain: Toolchain, directory: Path) -> Iterator[Row]:
    """The rows of one problem."""
    path = directory / "nest.c"
    path.write_text(problem.source, encoding="utf-8")
    scop = pipeline.parse(path)
    source = compiled(problem.source, toolchain, directory, "source")
    double = compiled(problem.in_double, toolchain, directory, "double")
    space = pipeline.space_on(scop, machine, microkernel=problem.microkernel, numerics="fast")
    ways = list(methods(space, problem.microkernel))
    kernels = [pipeline.kernel(space.apply(variant), machine.vector_bytes) for _, variant, _ in ways]
    built = registry.load("executors", "local").build(kernels, toolchain, directory)
    terms = problem.products / scop.array(operands(scop, INPUTS[0]).output).elements
    for inputs in INPUTS:
        given = operands(scop, inputs)
        reference = Reference.of(double, problem.function, given)

        def row(method: str, factor: float, result: Values, inputs: str = inputs, to: Reference = reference) -> Row:
            return Row(problem.name, terms, inputs, method, factor, *to.errors(result))

        yield row(SOURCE, 1.0, run(source, problem.function, given))
        for (method, _, factor), each in zip(ways, built, strict=True):
            assert each.library is not None, each.message
            yield row(method, factor, run(each.library, problem.function, given))
        if set(given.arrays) == {"A", "B", "C"} and not given.narrow:
            factor = registry.load("microkernels", "c-amx").rounding("float").error_factor
            yield row(SPLIT, factor, split_product(given.arrays["A"], given.arrays["B"]))


def _rounded(value: float) -> float:
    return float(f"{value:.4g}")


def read(path: Path, kind: type[AnyRow]) -> list[AnyRow]:
    """The rows of a CSV file, a dataclass of texts and numbers each."""
    with path.open(newline="", encoding="utf-8") as file:
        return [
            kind(**{each.name: (str if each.type == "str" else float)(line[each.name]) for each in fields(kind)})
            for line in csv.DictReader(file)
        ]


def write(rows: Iterable[AnyRow], path: Path, kind: type[AnyRow]) -> None:
    """As ``read`` reads them, and to the terminal, each as soon as it is there."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [each.name for each in fields(kind)], lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow(asdict(row))
            file.flush()
            print(row)


def tables(rows: Sequence[Row]) -> str:
    """Markdown: a line for each method with its worst case over all workloads, and a line for each measurement."""
    sources = {(row.workload, row.inputs): row.norm_wise for row in rows if row.method == SOURCE}
    ratio = {id(row): row.norm_wise / sources[row.workload, row.inputs] for row in rows}
    found = list(dict.fromkeys(row.method for row in rows))
    lines = ["| method | a priori | measured, normal | measured, 0 to 1 | workloads |", "|---|---|---|---|---|"]
    for method in found:
        own = [row for row in rows if row.method == method]
        spans = [_span([ratio[id(row)] for row in own if row.inputs == inputs]) for inputs in INPUTS]
        count = len({row.workload for row in own})
        lines.append(f"| {method} | {_span([row.error_factor for row in own])} | {' | '.join(spans)} | {count} |")
    lines += [
        "",
        "| workload | terms | inputs | method | norm-wise | by source's | largest | norm-wise backward | componentwise "
        "backward |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {row.workload} | {row.terms:.0f} | {row.inputs} | {row.method} | {row.norm_wise:.1e} "
        f"| {ratio[id(row)]:.2f} | {row.largest:.1e} | {row.norm_wise_backward:.2g} "
        f"| {row.componentwise_backward:.2g} |"
        for row in rows
    ]
    return "\n".join(lines) + "\n"


def _span(values: Sequence[float]) -> str:
    low, high = min(values), max(values)
    return f"{low:.2f}" if f"{low:.2f}" == f"{high:.2f}" else f"{low:.2f} to {high:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["measure", "tables"])
    if parser.parse_args().command == "tables":
        print(tables(read(RESULTS, Row)), end="")
        return
    machine, toolchain = Machine.detect(threads=1), Toolchain.find()
    with tempfile.TemporaryDirectory() as directory:
        rows = (
            row
            for number, problem in enumerate(problems())
            for row in measured(problem, machine, toolchain, _made(Path(directory, str(number))))
        )
        write(rows, RESULTS, Row)


def _made(directory: Path) -> Path:
    directory.mkdir()
    return directory


if __name__ == "__main__":
    main()
