"""Linear layers whose weights lie in rows, as PyTorch keeps them: rows of inputs by rows of weights, nothing prepared.

    python -m experiments.rows_by_rows measure --out rows-by-rows.jsonl
    python -m experiments.rows_by_rows table rows-by-rows.jsonl

Both get the operands as they lie, and whatever is copied or packed is part of the time: PyTorch by ``linear``, and of
bytes by ``_int_mm``. polydl leaves floats of bfloat16s, PyTorch bfloat16s. NumPy's product of floats is OpenBLAS's. All
on one thread, in turns, each after an untimed call. Every answer is compared with NumPy's first.
"""

from __future__ import annotations

import ctypes
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any

import numpy as np

import polydl
from experiments.narrow_types import PROBLEMS, Row, Sizes, command, in_turns
from experiments.tables import markdown

#: types of the operands and of the result, by name
TYPES = {"float": ("float", "float"), "bfloat16": ("bfloat16", "float"), "bytes": ("signed char", "int")}
Operands = tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]
# OpenBLAS reads them when NumPy is imported.
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def source(name: str, sizes: Sizes) -> str:
    """The layer in C."""
    kind, output = TYPES[name]
    m, n, k = sizes
    read = "bfloat16_to_float({})" if name == "bfloat16" else "({})"
    product = f"{read.format('x[i][k]')} * {read.format('w[j][k]')}"
    include = "#include <polydl/bfloat16.h>\n" if name == "bfloat16" else ""
    return f"""{include}
void linear({output} y[{m}][{n}], const {kind} x[{m}][{k}], const {kind} w[{n}][{k}])
{{
#pragma scop
  for (int i = 0; i < {m}; ++i)
    for (int j = 0; j < {n}; ++j) {{
      y[i][j] = 0;
      for (int k = 0; k < {k}; ++k)
        y[i][j] += {product};
    }}
#pragma endscop
}}
"""


def operands(name: str, sizes: Sizes) -> Operands:
    """Inputs and weights, small integers, which all types hold exactly."""
    m, n, k = sizes
    draw = np.random.default_rng(0)
    kind = np.int8 if name == "bytes" else np.float32
    return draw.integers(-9, 10, (m, k)).astype(kind), draw.integers(-4, 5, (n, k)).astype(kind)


def of_polydl(name: str, sizes: Sizes, folder: Path) -> tuple[Callable[[], object], str]:
    """A call of the fastest variant, and what its innermost loops are. Raises ValueError for a wrong answer."""
    inputs, weights = operands(name, sizes)
    exact = inputs.astype(np.float64) @ weights.astype(np.float64).T
    path = folder / "linear.c"
    path.write_text(source(name, sizes), encoding="utf-8")
    machine = polydl.Machine.detect(threads=1)
    result = polydl.optimize(path, machine=machine, top_k=8, records=False, out=folder / "out")
    winner = result.winner
    variant = winner.ranked.variant if winner is not None else None
    used = ", ".join(sorted({*variant.microkernels.values()})) if variant is not None else ""
    copied = ", after a copy" if variant is not None and variant.rewrites else ""
    if name == "bfloat16":
        inputs, weights = (each.view(np.uint32).__rshift__(16).astype(np.uint16) for each in (inputs, weights))
    output = np.zeros(sizes[:2], np.int32 if name == "bytes" else np.float32)
    arrays = [output, inputs, weights]
    library = ctypes.CDLL(str(result.files["library"]))
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in arrays]
    library.linear(*pointers)
    if not np.array_equal(output, exact):
        raise ValueError(f"polydl's layer of {name}, {sizes}, is wrong")

    def call(_kept: object = (library, arrays)) -> object:
        return library.linear(*pointers)

    return call, (used or "plain loops") + copied


def of_pytorch(name: str, sizes: Sizes) -> Callable[[], object]:
    """PyTorch's function of the same operands. Raises ValueError for a wrong answer."""
    import torch

    torch.set_num_threads(1)
    inputs, weights = (torch.from_numpy(each) for each in operands(name, sizes))
    exact = inputs.double() @ weights.double().t()
    if name == "bfloat16":
        inputs, weights = inputs.bfloat16(), weights.bfloat16()

    def call() -> Any:
        with torch.no_grad():
            if name == "bytes":
                return torch._int_mm(inputs, weights.t())
            return torch.nn.functional.linear(inputs, weights)

    error = (call().double() - exact).abs().max() / exact.abs().max()
    if error > (2**-8 if name == "bfloat16" else 0):
        raise ValueError(f"PyTorch's layer of {name}, {sizes}, is off by {error:.2g}")
    return call


def of_numpy(sizes: Sizes) -> Callable[[], object]:
    """NumPy's product of floats."""
    inputs, weights = operands("float", sizes)
    return lambda: inputs @ weights.T


def measured(problem: str) -> Row:
    """Seconds of a call in each round, by type and by who computes."""
    sizes = PROBLEMS[problem]
    with tempfile.TemporaryDirectory() as place:
        calls: dict[tuple[str, str], Callable[[], object]] = {("float", "NumPy"): of_numpy(sizes)}
        ways = {}
        for name in TYPES:
            folder = Path(place, name)
            folder.mkdir()
            calls[name, "polydl"], ways[name] = of_polydl(name, sizes, folder)
            calls[name, "PyTorch"] = of_pytorch(name, sizes)
        samples = in_turns(calls)
    seconds: dict[str, dict[str, list[float]]] = {name: {} for name in TYPES}
    for (name, who), taken in samples.items():
        seconds[name][who] = taken
    environment = {name: os.environ.get(name) for name in ONE_THREAD}
    return {"problem": problem, "sizes": sizes, "environment": environment, "ways": ways, "seconds": seconds}


def table(rows: Sequence[Row]) -> Iterator[str]:
    """10⁹ operations a second, the others' time over polydl's, and how polydl computes."""
    cells: list[list[str]] = []
    columns = [("float", "PyTorch"), ("float", "NumPy"), ("bfloat16", "PyTorch"), ("bytes", "PyTorch")]
    ratios: dict[tuple[str, str], list[float]] = {column: [] for column in columns}
    for row in rows:
        m, n, k = row["sizes"]
        seconds = {name: {who: median(each) for who, each in by.items()} for name, by in row["seconds"].items()}
        line = [row["problem"]]
        for name, by in seconds.items():
            line.append(f"{2 * m * n * k / by['polydl'] / 1e9:.0f}")
            for column in (each for each in columns if each[0] == name):
                ratios[column].append(by[column[1]] / by["polydl"])
                line.append(f"{ratios[column][-1]:.2f}")
        cells.append([*line, *(row["ways"][name] for name in TYPES)])
    mean = [f"{geometric_mean(each):.2f}" for each in ratios.values()]
    cells.append(["geometric mean", "", *mean[:2], "", mean[2], "", mean[3], "", "", ""])
    heads = ["float", "PyTorch / polydl", "NumPy / polydl", "bfloat16", "PyTorch / polydl", "bytes", "PyTorch / polydl"]
    yield from markdown(["layer", *heads, "float by", "bfloat16 by", "bytes by"], cells)


def main() -> None:
    if sys.argv[1:2] == ["measure"] and not ONE_THREAD.items() <= os.environ.items():
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], {**os.environ, **ONE_THREAD})
    command(__doc__, measured, table)


if __name__ == "__main__":
    main()
