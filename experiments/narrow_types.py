"""Products of bfloat16s and of bytes, as layers of ResNet-50 and BERT have them, beside floats and PyTorch.

    python -m experiments.narrow_types measure --out narrow-types.jsonl
    python -m experiments.narrow_types table narrow-types.jsonl

Weights are packed beforehand on both sides: polydl reads them in blocks of 64 columns with two steps of bfloat16s or
four of bytes side by side, PyTorch as its compiled models pack linear layers for oneDNN. polydl leaves floats or ints;
PyTorch leaves what it has fastest: floats of floats, bfloat16s of bfloat16s, and floats of bytes, scaled. All on one
thread, in turns, each after an untimed call. Every answer is compared with NumPy's first.
"""

from __future__ import annotations

import argparse
import ctypes
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from statistics import geometric_mean, median
from typing import Any, TypeVar

import numpy as np

import polydl
from experiments.autotuners.timing import seconds_of
from experiments.json_lines import add, documents
from experiments.tables import markdown

Row = dict[str, Any]
K = TypeVar("K")
Sizes = tuple[int, int, int]

#: rows, columns and terms, by what the product is
PROBLEMS: dict[str, Sizes] = {
    "BERT, 768 to 768": (128, 768, 768),
    "BERT, 768 to 3072": (128, 3072, 768),
    "BERT, 3072 to 768": (128, 768, 3072),
    "ResNet-50, 64 to 256, 56x56": (3136, 256, 64),
    "ResNet-50, 512 to 128, 28x28": (784, 128, 512),
    "ResNet-50, 256 to 1024, 14x14": (196, 1024, 256),
    "ResNet-50, 1024 to 256, 14x14": (196, 256, 1024),
    "ResNet-50, 512 to 2048, 7x7": (49, 2048, 512),
}
_BLOCK = 64
_ROUNDS = 15


@dataclass(frozen=True)
class Type:
    """How a product is written whose inputs have narrow types. These are names in C."""

    #: of A
    first: str
    #: of B
    second: str
    #: of C, which the products are added up in
    output: str
    #: steps of k that lie side by side
    group: int

    def source(self, sizes: Sizes) -> str:
        m, n, k = sizes
        converted = "bfloat16_to_float({})" if self.first == "bfloat16" else f"({self.output}){{}}"
        a, b = (converted.format(each) for each in ("A[i][k][q]", "B[t][k][j][q]"))
        include = "#include <polydl/bfloat16.h>\n" if self.first == "bfloat16" else ""
        return f"""{include}
void product({self.output} C[{m}][{n // _BLOCK}][{_BLOCK}], const {self.first} A[{m}][{k // self.group}][{self.group}],
             const {self.second} B[{n // _BLOCK}][{k // self.group}][{_BLOCK}][{self.group}])
{{
#pragma scop
  for (int i = 0; i < {m}; ++i)
    for (int t = 0; t < {n // _BLOCK}; ++t)
      for (int j = 0; j < {_BLOCK}; ++j)
        C[i][t][j] = 0;
  for (int i = 0; i < {m}; ++i)
    for (int t = 0; t < {n // _BLOCK}; ++t)
      for (int j = 0; j < {_BLOCK}; ++j)
        for (int k = 0; k < {k // self.group}; ++k)
          for (int q = 0; q < {self.group}; ++q)
            C[i][t][j] += {a} * {b};
#pragma endscop
}}
"""

    def blocked(self, weights: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """[terms][columns] as ``source`` reads it."""
        k, n = weights.shape
        parts = weights.reshape(k // self.group, self.group, n // _BLOCK, _BLOCK)
        return np.ascontiguousarray(parts.transpose(2, 0, 3, 1))


TYPES = {
    "float": Type("float", "float", "float", 1),
    "bfloat16": Type("bfloat16", "bfloat16", "float", 2),
    "bytes": Type("unsigned char", "signed char", "int", 4),
}


def operands(name: str, sizes: Sizes) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Rows times terms and terms times columns: small integers, which all types hold exactly."""
    m, n, k = sizes
    draw = np.random.default_rng(0)
    first = draw.integers(0, 9, (m, k))
    second = draw.integers(-4, 5, (k, n))
    if name == "bytes":
        return first.astype(np.uint8), second.astype(np.int8)
    return first.astype(np.float32), second.astype(np.float32)


def of_polydl(name: str, sizes: Sizes, folder: Path) -> tuple[Callable[[], object], str]:
    """A call of the fastest variant, and which microkernel it uses. Raises ValueError for a wrong answer."""
    kind, (first, second) = TYPES[name], operands(name, sizes)
    exact = first.astype(np.float64) @ second.astype(np.float64)
    source = folder / "product.c"
    source.write_text(kind.source(sizes), encoding="utf-8")
    machine = polydl.Machine.detect(threads=1)
    result = polydl.optimize(source, machine=machine, top_k=8, records=False, out=folder / "out")
    winner = result.winner
    used = result.applied(winner.ranked.variant).kernels if winner is not None else {}
    if name == "bfloat16":
        first, second = (each.view(np.uint32).__rshift__(16).astype(np.uint16) for each in (first, second))
    output = np.zeros((sizes[0], sizes[1]), np.int32 if name == "bytes" else np.float32)
    arrays = [output, first, kind.blocked(second)]
    library = ctypes.CDLL(str(result.files["library"]))
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in arrays]
    library.product(*pointers)
    if not np.array_equal(output, exact):
        raise ValueError(f"polydl's product of {name}, {sizes}, is wrong")

    def call(_kept: object = (library, arrays)) -> object:
        return library.product(*pointers)

    return call, ", ".join(sorted(used))


def of_pytorch(name: str, sizes: Sizes) -> Callable[[], object]:
    """A linear layer with its weights packed for oneDNN. Raises ValueError for a wrong answer."""
    import torch

    torch.set_num_threads(1)
    first, second = (torch.from_numpy(each) for each in operands(name, sizes))
    weights = second.t().contiguous()
    exact = first.double() @ second.double()
    if name == "bytes":
        packed = torch.ops.onednn.qlinear_prepack(weights, list(first.shape))
        scales, zeros = torch.ones(sizes[1]), torch.zeros(sizes[1], dtype=torch.int32)

        def call() -> Any:
            return torch.ops.onednn.qlinear_pointwise(
                first, 1.0, 0, packed, scales, zeros, None, 1.0, 0, torch.float32, "none", [], ""
            )
    else:
        if name == "bfloat16":
            first, weights = first.bfloat16(), weights.bfloat16()
        packed = torch.ops.mkldnn._reorder_linear_weight(weights, sizes[0])

        def call() -> Any:
            return torch.ops.mkldnn._linear_pointwise(first, packed, None, "none", [], "")

    error = (call().double() - exact).abs().max() / exact.abs().max()
    if error > (2**-8 if name == "bfloat16" else 1e-6):
        raise ValueError(f"PyTorch's product of {name}, {sizes}, is off by {error:.2g}")
    return call


def in_turns(calls: Mapping[K, Callable[[], object]]) -> dict[K, list[float]]:
    """Seconds of each call in each round, in another order every time, and each after an untimed call."""
    samples: dict[K, list[float]] = {key: [] for key in calls}
    order, draw = list(calls), Random(0)
    for _ in range(_ROUNDS):
        draw.shuffle(order)
        for key in order:
            calls[key]()
            samples[key].append(seconds_of(calls[key]))
    return samples


def measured(problem: str) -> Row:
    """Seconds of a call in each round, by type and by who computes."""
    sizes = PROBLEMS[problem]
    with tempfile.TemporaryDirectory() as place:
        calls: dict[tuple[str, str], Callable[[], object]] = {}
        microkernels = {}
        for name in TYPES:
            folder = Path(place, name)
            folder.mkdir()
            calls[name, "polydl"], microkernels[name] = of_polydl(name, sizes, folder)
            calls[name, "PyTorch"] = of_pytorch(name, sizes)
        samples = in_turns(calls)
    seconds = {name: {who: samples[name, who] for who in ("polydl", "PyTorch")} for name in TYPES}
    return {"problem": problem, "sizes": sizes, "microkernels": microkernels, "seconds": seconds}


def table(rows: Sequence[Row]) -> Iterator[str]:
    """10⁹ operations a second, PyTorch's time over polydl's, and polydl's float time over those of other types."""
    cells: list[list[str]] = []
    means: dict[str, list[float]] = {name: [] for name in (*TYPES, "bfloat16 over float", "bytes over float")}
    for row in rows:
        m, n, k = row["sizes"]
        seconds = {name: {who: median(each) for who, each in by.items()} for name, by in row["seconds"].items()}
        line = [row["problem"]]
        for name, by in seconds.items():
            means[name].append(by["PyTorch"] / by["polydl"])
            line += [f"{2 * m * n * k / by['polydl'] / 1e9:.0f}", f"{means[name][-1]:.2f}"]
        for name in ("bfloat16", "bytes"):
            means[f"{name} over float"].append(seconds["float"]["polydl"] / seconds[name]["polydl"])
            line.append(f"{means[f'{name} over float'][-1]:.2f}")
        cells.append([*line, row["microkernels"]["bfloat16"], row["microkernels"]["bytes"]])
    mean = {name: f"{geometric_mean(each):.2f}" for name, each in means.items()}
    line = [cell for name in TYPES for cell in ("", mean[name])]
    cells.append(["geometric mean", *line, mean["bfloat16 over float"], mean["bytes over float"], "", ""])
    heads = [head for name in TYPES for head in (name, "PyTorch / polydl")]
    yield from markdown(
        ["product", *heads, "bfloat16 / float", "bytes / float", "microkernel of bfloat16s", "of bytes"], cells
    )


def command(text: str | None, measured: Callable[[str], Row], table: Callable[[Sequence[Row]], Iterator[str]]) -> None:
    """``measure`` all problems and keep a line of raw data for each, or print the ``table`` of such a file."""
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True, dest="command")
    measure = commands.add_parser("measure")
    measure.add_argument("--out", type=Path, required=True)
    commands.add_parser("table").add_argument("file", type=Path)
    options = parser.parse_args()
    if options.command == "measure":
        for problem in PROBLEMS:
            row = measured(problem)
            add(row, options.out)
            print(list(table([row]))[2], flush=True)
        return
    print("\n".join(table(documents(options.file))))


def main() -> None:
    command(__doc__, measured, table)


if __name__ == "__main__":
    main()
