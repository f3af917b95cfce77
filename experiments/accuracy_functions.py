"""Errors of single operations, in units in the last place: functions of vectors, and quotients by reciprocals.

    python -m experiments.accuracy_functions measure
    python -m experiments.accuracy_functions measure --vector-bytes 32 log acosh
    python -m experiments.accuracy_functions tables

Each function of ``<math.h>`` that loops call with whole vectors, in ``float`` and in ``double``, and a division by what
its loop leaves alone, are computed by the emitted code at the levels ``strict``, which does what the source does, and
``bounded``. They are compared with ``long double``. A unit is the distance of the type's numbers at the exact result.
Only what is measured, of all operations or of those that are named, is replaced in the data.
"""

from __future__ import annotations

import argparse
import ctypes
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.accuracy import read, write
from experiments.in_turns import built
from experiments.tables import markdown
from polydl import pipeline, registry
from polydl.execute.toolchain import Toolchain
from polydl.ir.kernel import KernelSource
from polydl.ir.numerics import Numerics
from polydl.machine import Machine

RESULTS = Path(__file__).parent / "data" / "accuracy-functions.csv"
TWO_ARGUMENTS = ("atan2", "hypot", "pow")
COUNT, SEED = 1 << 18, 18
LEVELS: tuple[Numerics, ...] = ("strict", "bounded")
QUOTIENT = "quotient"
# Those of glibc's libmvec that <math.h> declares by default.
FUNCTIONS = [
    "cos", "exp", "log", "pow", "sin", "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cosh",
    "erf", "erfc", "exp2", "expm1", "hypot", "log10", "log1p", "log2", "sinh", "tan", "tanh",
]  # fmt: skip
# Units in the last place that docs/guide/numerics.md admits.
BOUNDS = {QUOTIENT: 1.5}
VECTOR_BOUND = 4.0
# Where functions have ordinary results; others are drawn from both signs of it.
RANGES = {
    "acos": (-1, 1), "acosh": (1, 1e4), "asin": (-1, 1), "atanh": (-1, 1), "log": (1e-30, 1e30), "log10": (1e-30, 1e30),
    "log1p": (-0.99, 1e4), "log2": (1e-30, 1e30), "pow": (0.01, 20), QUOTIENT: (0.01, 20),
}  # fmt: skip
_RANGE = (-12, 12)
# What is added to an input before its logarithm, which is drawn uniformly: inputs of all magnitudes.
SHIFTS = {"acosh": 0, "log": 0, "log10": 0, "log1p": 1, "log2": 0}
# Powers of ten that the size of this logarithm lies between for half of the inputs, whose results are near zero.
_NEAR = (-6, 0)

Values = NDArray[Any]


@dataclass(frozen=True)
class Row:
    """The errors of one operation in one type, in units in the last place."""

    operation: str
    element: str
    inputs: str
    #: of the vectors of the emitted code
    vector_bytes: float
    #: that the level bounded admits
    a_priori: float
    #: the largest of the source's own arithmetic, and of the emitted code at the level bounded
    source: float
    emitted: float


def operations() -> list[tuple[str, str]]:
    """Each with the type that it is computed in."""
    return [(base, element) for base in (*FUNCTIONS, QUOTIENT) for element in ("float", "double")]


def nest(operation: str, element: str) -> str:
    """C of ``y`` from ``x``, and of two operands from ``z`` as well."""
    name = f"{operation}{'f' if element == 'float' else ''}"
    second = "" if operation == QUOTIENT or operation not in TWO_ARGUMENTS else ", z[i][j]"
    value = "x[i][j] / d[i]" if operation == QUOTIENT else f"{name}(x[i][j]{second})"
    rows, columns = COUNT >> 8, 1 << 8
    parameters = [f"{element} y[{rows}][{columns}]", f"const {element} x[{rows}][{columns}]"]
    parameters.append(f"const {element} " + (f"d[{rows}]" if operation == QUOTIENT else f"z[{rows}][{columns}]"))
    return f"""\
#include <math.h>
void f({", ".join(parameters)})
{{
#pragma scop
  for (int i = 0; i < {rows}; i++)
    for (int j = 0; j < {columns}; j++)
      y[i][j] = {value};
#pragma endscop
}}
"""


def drawn(operation: str, shape: Sequence[int], generator: np.random.Generator) -> Values:
    """Inputs of its range, uniformly, or by magnitude: see ``SHIFTS``."""
    low, high = RANGES.get(operation, _RANGE)
    if operation not in SHIFTS:
        return generator.uniform(low, high, shape)
    shift = SHIFTS[operation]
    logarithms = generator.uniform(np.log(low + shift), np.log(high + shift), shape)
    near = 10 ** generator.uniform(*_NEAR, shape) * generator.choice([-1 if low + shift < 1 else 1, 1], shape)
    values: Values = np.exp(np.where(generator.random(shape) < 0.5, near, logarithms)) - shift
    return values


def exact(source: str, element: str, operation: str, given: dict[str, Values], directory: Path) -> Values:
    """The nest in ``long double``, by the scalar functions of the C library."""
    name = f"{operation}{'f' if element == 'float' else ''}("
    text = source.replace(f"{element} ", "long double ").replace(f"= {name}", f"= {operation}l(")
    wide = {parameter: np.ascontiguousarray(values, np.longdouble) for parameter, values in given.items()}
    library = built(text, ["-O1"], [], directory / "exact.so")
    library.f(*(ctypes.c_void_p(values.ctypes.data) for values in wide.values()))
    return wide["y"]


def kernel(path: Path, machine: Machine, level: Numerics) -> KernelSource:
    """The first variant at a level."""
    space = pipeline.space_on(pipeline.parse(path), machine, microkernel="none", numerics=level)
    variant, *_ = pipeline.generate(space, max_variants=1).variants
    return pipeline.kernel(space.apply(variant), machine.vector_bytes)


def measured(operation: str, element: str, machine: Machine, toolchain: Toolchain, directory: Path) -> Row:
    source = nest(operation, element)
    path = directory / "nest.c"
    path.write_text(source, encoding="utf-8")
    scop = pipeline.parse(path)
    kernels = [replace(kernel(path, machine, level), id=level) for level in LEVELS]
    kind = np.float32 if element == "float" else np.float64
    generator = np.random.default_rng(SEED)
    given: dict[str, Values] = {
        parameter.array: drawn(operation, scop.array(parameter.array).extents, generator).astype(kind)
        for parameter in scop.function.parameters
    }
    right = exact(source, element, operation, given, directory)
    errors = []
    for each in registry.load("executors", "local").build(kernels, toolchain, directory):
        assert each.library is not None, each.message
        ctypes.CDLL(str(each.library)).f(*(ctypes.c_void_p(values.ctypes.data) for values in given.values()))
        units = np.abs(given["y"] - right) / np.spacing(np.abs(right).astype(kind))
        errors.append(float(f"{units.max():.6g}"))
    low, high = RANGES.get(operation, _RANGE)
    inputs = f"{low:g} to {high:g}{', by magnitude' if operation in SHIFTS else ''}"
    bound = BOUNDS.get(operation, VECTOR_BOUND)
    return Row(operation, element, inputs, float(machine.vector_bytes), bound, *errors)


def tables(rows: Sequence[Row]) -> str:
    """Markdown: a line for each operation, with a column for each width of vectors."""
    widths = sorted({row.vector_bytes for row in rows})
    heads = [
        "operation",
        "type",
        "inputs",
        "a priori, at most",
        "source",
        *(f"emitted, {each:g} bytes" for each in widths),
    ]
    cells = []
    for operation, element in operations():
        same = {row.vector_bytes: row for row in rows if (row.operation, row.element) == (operation, element)}
        one = same[widths[0]]
        numbers = [one.a_priori, one.source, *(same[each].emitted for each in widths)]
        cells.append([operation, element, one.inputs, *(f"{each:.6g}" for each in numbers)])
    return "\n".join(markdown(heads, cells)) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True, dest="command")
    measure = commands.add_parser("measure")
    measure.add_argument("operations", nargs="*", metavar="OPERATION", help="only these")
    measure.add_argument("--vector-bytes", type=int, help="of the emitted code, in place of this machine's")
    commands.add_parser("tables")
    options = parser.parse_args()
    if options.command == "measure":
        machine = Machine.detect(threads=1)
        machine = replace(machine, vector_bytes=options.vector_bytes or machine.vector_bytes)
        wanted = [each for each in operations() if not options.operations or each[0] in options.operations]
        known = {(row.vector_bytes, row.operation, row.element): row for row in read(RESULTS, Row)}
        known |= {(row.vector_bytes, row.operation, row.element): row for row in rows(wanted, machine)}
        write(known.values(), RESULTS, Row)
    print(tables(read(RESULTS, Row)), end="")


def rows(wanted: Iterable[tuple[str, str]], machine: Machine) -> Iterator[Row]:
    """Measured one after the other."""
    toolchain = Toolchain.find("gcc")
    for operation, element in wanted:
        with tempfile.TemporaryDirectory() as directory:
            yield measured(operation, element, machine, toolchain, Path(directory))


if __name__ == "__main__":
    main()
