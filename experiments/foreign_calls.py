"""What a call of an emitted function costs from Python, by the C ABI of Apache TVM FFI and by ``ctypes``.

    python -m experiments.foreign_calls [--json PATH]

The function adds two arrays of eight floats, so that a call is hardly more than its cost. The ways take turns; each
time is the least of all rounds, in nanoseconds of this process. PyTorch takes part where it is installed.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

import polydl

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


def measured(ways: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """Nanoseconds of a call, by way."""
    least = dict.fromkeys(ways, float("inf"))
    for _ in range(_ROUNDS):
        for name, call in ways.items():
            start = time.process_time_ns()
            for _ in range(_CALLS):
                call()
            least[name] = min(least[name], (time.process_time_ns() - start) / _CALLS)
    return least


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        times = measured(_ways(Path(folder)))
    print("| call | ns |\n|---|---|")
    for name, nanoseconds in times.items():
        print(f"| {name} | {nanoseconds:.0f} |")
    if options.json is not None:
        options.json.write_text(json.dumps(times) + "\n")


if __name__ == "__main__":
    main()
