"""What a call of an emitted function costs from Python, by the C ABI of Apache TVM FFI and by ``ctypes``.

    python -m experiments.foreign_calls [--json PATH]
    python -m experiments.foreign_calls --table PATH

The function adds two arrays of eight floats, so that a call is hardly more than its cost. The ways take turns; kept are
the nanoseconds of this process in each round, and shown the least. PyTorch takes part where it is installed.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

import polydl
from experiments.tables import markdown

_SOURCE = """\
void sum(float y[8], const float a[8], const float b[8]) {
  for (int i = 0; i < 8; ++i)
    y[i] = a[i] + b[i];
}
"""
_CALLS, _ROUNDS = 5000, 40


def _ways(folder: Path) -> dict[str, Callable[[], Any]]:
    """The ways to call the function, by name."""
    # Before it is imported: it would compile an extension for PyTorch, which single calls don't need.
    os.environ.setdefault("TVM_FFI_DISABLE_TORCH_C_DLPACK", "1")
    import tvm_ffi

    source = folder / "sum.c"
    source.write_text(_SOURCE)
    result = polydl.optimize(source, out=folder, max_variants=1, top_k=1, microkernel="none", records=False)
    assert result.best is not None
    function = tvm_ffi.load_module(str(result.files["library"])).sum
    arrays = [np.ones(8, np.float32) for _ in range(3)]
    ways: dict[str, Callable[[], Any]] = {
        "polydl's own callable, NumPy": partial(result.best, *arrays),
        "TVM FFI, NumPy": partial(function, *arrays),
        "TVM FFI, its own tensors": partial(function, *map(tvm_ffi.from_dlpack, arrays)),
    }
    if find_spec("torch") is not None:
        import torch

        ways["TVM FFI, PyTorch"] = partial(function, *(torch.ones(8) for _ in range(3)))
    return ways


def measured(ways: dict[str, Callable[[], Any]]) -> dict[str, list[float]]:
    """Nanoseconds of a call in each round, by way."""
    rounds: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(_ROUNDS):
        for name, call in ways.items():
            start = time.process_time_ns()
            for _ in range(_CALLS):
                call()
            rounds[name].append((time.process_time_ns() - start) / _CALLS)
    return rounds


def table(rounds: Mapping[str, Sequence[float] | float]) -> list[str]:
    """In Markdown: the least of the rounds, which in older data is all there is."""
    least = {name: taken if isinstance(taken, float) else min(taken) for name, taken in rounds.items()}
    return markdown(["call", "ns"], [[name, f"{nanoseconds:.0f}"] for name, nanoseconds in least.items()])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="where all rounds go")
    parser.add_argument("--table", type=Path, help="what to show in place of measuring")
    options = parser.parse_args()
    if options.table is not None:
        rounds = json.loads(options.table.read_text(encoding="utf-8"))
    else:
        with tempfile.TemporaryDirectory() as folder:
            rounds = measured(_ways(Path(folder)))
    print(*table(rounds), sep="\n")
    if options.json is not None:
        options.json.write_text(json.dumps(rounds) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
