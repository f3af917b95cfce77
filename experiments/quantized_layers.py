"""Linear layers of quantized numbers, bytes to bytes, beside PyTorch's: products, zero point, scales and rounding.

    python -m experiments.quantized_layers measure --out quantized-layers.jsonl
    python -m experiments.quantized_layers table quantized-layers.jsonl

polydl gets ``examples/linear_quantized.c`` with the layer's sizes, as it is written: weights in rows, and a zero point
in each product. PyTorch runs the operator that its compiled quantized models call, oneDNN's. Both have packed their
weights beforehand. All on one thread, in turns, each after an untimed call. Every answer is compared with NumPy's.
"""

from __future__ import annotations

import ctypes
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any

import numpy as np

import polydl
from experiments.narrow_types import PROBLEMS, Row, Sizes, command, in_turns
from experiments.tables import markdown

SOURCE = Path(__file__).parents[1] / "examples" / "linear_quantized.c"
# The second one is even, so that halves are rounded to the same side before it is added as after that.
ZERO, ZERO_OF_Y = 3, 8

Arrays = dict[str, np.ndarray[Any, Any]]


def layer(sizes: Sizes) -> Arrays:
    """Operands, and ``Y`` as NumPy computes it. With scales that are powers of two no rounding depends on an order."""
    m, n, k = sizes
    draw = np.random.default_rng(0)
    a, b = draw.integers(0, 12, (m, k)).astype(np.uint8), draw.integers(-8, 9, (k, n)).astype(np.int8)
    bias, scale = draw.integers(-99, 100, n).astype(np.int32), (2.0 ** draw.integers(-6, -3, n)).astype(np.float32)
    sums = (a.astype(np.float64) - ZERO) @ b.astype(np.float64) + bias
    return {"A": a, "B": b, "bias": bias, "scale": scale, "Y": np.clip(np.rint(sums * scale) + ZERO_OF_Y, 0, 255)}


def of_polydl(sizes: Sizes, folder: Path) -> tuple[Callable[[], object], str]:
    """A call of the fastest variant, weights prepared, and its microkernel. Raises ValueError for a wrong answer."""
    arrays = layer(sizes)
    text = SOURCE.read_text(encoding="utf-8")
    for name, size in zip("MNK", sizes, strict=True):
        text = re.sub(rf"\b{name} = \d+", f"{name} = {size}", text)
    source = folder / SOURCE.name
    source.write_text(text, encoding="utf-8")
    machine = polydl.Machine.detect(threads=1)
    result = polydl.optimize(
        source, machine=machine, constant=("B", "zero"), top_k=8, records=False, out=folder / "out"
    )
    winner = result.winner
    used = result.applied(winner.ranked.variant).kernels if winner is not None else {}
    library = ctypes.CDLL(str(result.files["library"]))
    library.linear_quantized_prepared_bytes.restype = ctypes.c_size_t
    size = library.linear_quantized_prepared_bytes()
    memory = np.zeros(size + 64, np.uint8)
    buffer = ctypes.c_void_p(memory.ctypes.data + -memory.ctypes.data % 64)
    output = np.zeros(sizes[:2], np.uint8)
    a, b, bias, scale = (ctypes.c_void_p(arrays[name].ctypes.data) for name in ("A", "B", "bias", "scale"))
    zero, zero_of_y = ctypes.c_int(ZERO), ctypes.c_float(ZERO_OF_Y)
    library.linear_quantized_prepare(b, zero, buffer)
    given = (ctypes.c_void_p(output.ctypes.data), a, b, bias, scale, zero, zero_of_y, buffer)
    library.linear_quantized_run(*given)
    if not np.array_equal(output, arrays["Y"]):
        raise ValueError(f"polydl's layer of {sizes} is wrong")

    def call(_kept: object = (library, arrays, memory, output)) -> object:
        return library.linear_quantized_run(*given)

    return call, ", ".join(sorted(used))


def of_pytorch(sizes: Sizes) -> Callable[[], object]:
    """The quantized linear operator, its weights packed for oneDNN. Raises ValueError if it is wrong."""
    import torch

    torch.set_num_threads(1)
    arrays = layer(sizes)
    first, weights = torch.from_numpy(arrays["A"]), torch.from_numpy(arrays["B"]).t().contiguous()
    packed = torch.ops.onednn.qlinear_prepack(weights, list(first.shape))
    scales, zeros = torch.from_numpy(arrays["scale"]), torch.zeros(sizes[1], dtype=torch.int32)
    # It adds the bias to the scaled sums.
    bias = torch.from_numpy(arrays["bias"]) * scales

    def call() -> Any:
        return torch.ops.onednn.qlinear_pointwise(
            first, 1.0, ZERO, packed, scales, zeros, bias, 1.0, ZERO_OF_Y, torch.uint8, "none", [], ""
        )

    if not np.array_equal(call().numpy(), arrays["Y"]):
        raise ValueError(f"PyTorch's layer of {sizes} is wrong")
    return call


def measured(problem: str) -> Row:
    """Seconds of a call in each round, by who computes."""
    sizes = PROBLEMS[problem]
    with tempfile.TemporaryDirectory() as place:
        own, used = of_polydl(sizes, Path(place))
        calls = {"polydl": own, "PyTorch": of_pytorch(sizes)}
        samples = in_turns(calls)
    return {"problem": problem, "sizes": sizes, "microkernels": used, "seconds": samples}


def table(rows: Sequence[Row]) -> Iterator[str]:
    """10⁹ operations of the product a second, and PyTorch's time over polydl's."""
    cells, ratios = [], []
    for row in rows:
        m, n, k = row["sizes"]
        seconds = {who: median(samples) for who, samples in row["seconds"].items()}
        ratios.append(seconds["PyTorch"] / seconds["polydl"])
        rates = [f"{2 * m * n * k / each / 1e9:.0f}" for each in seconds.values()]
        cells.append([row["problem"], *rates, f"{ratios[-1]:.2f}", row["microkernels"]])
    cells.append(["geometric mean", "", "", f"{geometric_mean(ratios):.2f}", ""])
    yield from markdown(["layer", "polydl", "PyTorch", "PyTorch / polydl", "microkernel"], cells)


def main() -> None:
    command(__doc__, measured, table)


if __name__ == "__main__":
    main()
