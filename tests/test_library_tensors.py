"""Libraries called with tensors of any shape, by the C ABI of Apache TVM FFI."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from machines import machine_with
from symbolic_nests import symbolic

from polydl.codegen.tvm_ffi import foreign_call
from polydl.execute.build import build
from polydl.execute.toolchain import Toolchain
from polydl.ir.kernel import KernelSource
from polydl.libraries.decision import Leaf
from polydl.libraries.open_shapes import open_shapes
from polydl.libraries.unit import ORIGINAL, unit

pytestmark = pytest.mark.native

SOURCE = """
void padded(int N, int M, int ld, float y[N][M], const float x[N + 2][2 * M], const float *z, float alpha)
{
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < M; ++j)
      y[i][j] = alpha * x[i + 2][2 * j] + z[i * ld + j];
}
"""
# Prints what each call gives: the largest error, or the exception.
CALLS = """\
import json
import sys
import numpy as np
import tvm_ffi

padded = tvm_ffi.load_module(sys.argv[1]).padded
answers = {}


def call(name, shape_y, shape_x, elements_z, ld, sizes=(), kind="f"):
    y, x = np.zeros(shape_y, "f"), np.arange(np.prod(shape_x), dtype=kind).reshape(shape_x)
    z = np.arange(elements_z, dtype="f")
    try:
        padded(*sizes, ld, y, x, z, 2.0)
    except Exception as error:
        answers[name] = [type(error).__name__, str(error)]
        return
    n, m = shape_y
    rows = np.array([z[i * ld : i * ld + m] for i in range(n)]).reshape(n, m)
    answers[name] = [None, float(abs(y - 2 * x[2:, ::2] - rows).max(initial=0))]


call("within", (3, 5), (5, 10), 17, 6)
call("another shape", (7, 1), (9, 2), 7, 1)
call("beyond the range", (30, 40), (32, 80), 1200, 40)
call("with sizes", (3, 5), (5, 10), 15, 5, (3, 5))
call("wrong size", (3, 5), (5, 10), 15, 5, (3, 6))
call("arrays that disagree", (3, 5), (5, 8), 17, 6)
call("dimensions", (15,), (5, 10), 17, 6)
call("too few elements", (3, 5), (5, 10), 16, 6)
call("type", (3, 5), (5, 10), 17, 6, kind="d")
memory = np.zeros(60, "f")
try:
    padded(6, memory[:15].reshape(3, 5), memory[10:].reshape(5, 10), np.zeros(17, "f"), 1.0)
except Exception as error:
    answers["overlap"] = [type(error).__name__, str(error)]
call("no rows", (0, 5), (2, 10), 5, 5)
call("no columns", (3, 0), (5, 0), 30, 6)

try:
    import torch
    padded(6, torch.zeros(3, 0), torch.zeros(5, 0), torch.zeros(30), 2.0)
    padded(6, torch.zeros(0, 3), torch.zeros(2, 6), torch.zeros(0), 2.0)
    answers["empty in PyTorch"] = [None, 0.0]
except ImportError:
    answers["empty in PyTorch"] = None
except Exception as error:
    answers["empty in PyTorch"] = [type(error).__name__, str(error)]
try:
    padded(1, 2)
except Exception as error:
    answers["too few"] = [type(error).__name__, str(error)]
print(json.dumps(answers))
"""


def compiled(
    folder: Path,
    text: str = SOURCE,
    ranges: tuple[str, ...] = ("N=1..20", "M=1..20", "ld=M.."),
    defines: Mapping[str, int] | None = None,
) -> tuple[Path, KernelSource]:
    nest = symbolic(text, folder, ranges, defines)
    source = unit(nest, None, Leaf(ORIGINAL), {}, machine_with(1, 32), identity="library")
    foreign = foreign_call(nest.source, nest.source.function.name, open_shapes(nest))
    assert foreign is not None
    whole = replace(source, c="".join([foreign.definitions, source.c, foreign.function]))
    (built,) = build([whole], Toolchain.find("gcc"), folder)
    assert (built.library is not None, built.message) == (True, "")
    assert built.library is not None
    return built.library, whole


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    """What the calls gave, in a process of their own."""
    library, _ = compiled(tmp_path_factory.mktemp("padded"))
    ended = subprocess.run(
        [sys.executable, "-c", CALLS, str(library)], capture_output=True, text=True, check=False,
        # It would compile an extension for PyTorch, where there is one.
        env=os.environ | {"TVM_FFI_DISABLE_TORCH_C_DLPACK": "1"},
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    return dict(json.loads(ended.stdout))


@pytest.mark.parametrize("call", ["within", "another shape", "beyond the range", "with sizes", "no rows", "no columns"])
def test_sizes_are_those_of_the_tensors(call: str, answers: dict[str, list[Any]]) -> None:
    assert answers[call] == [None, 0.0]


@pytest.mark.slow
def test_a_size_that_only_a_larger_extent_tells_is_checked(tmp_path: Path) -> None:
    """It is what its type holds, and not negative."""
    text = "void f(short N, float y[2 * N + 3])\n{\n#pragma scop\n  for (int i = 0; i < N; ++i)\n    y[i] = 1;\n"
    library, _ = compiled(tmp_path, text + "#pragma endscop\n}\n", ("N=1..9",))
    calls = (
        "import sys, numpy, tvm_ffi\nf = tvm_ffi.load_module(sys.argv[1]).f\nfor length in (13, 1, 12, 65539):\n"
        "  y = numpy.zeros(length, 'f')\n  try:\n    f(y)\n    print(int(y.sum()))\n"
        "  except ValueError as error:\n    print(error)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", calls, str(library)], capture_output=True, text=True, check=True,
        env=os.environ | {"TVM_FFI_DISABLE_TORCH_C_DLPACK": "1"},
    )  # fmt: skip
    assert ended.stdout.splitlines() == [
        "5", "f: y is too short along dimension 0", "f: y has shape (12,) and must have (11,)",
        "f: y is too long along dimension 0",
    ]  # fmt: skip


@pytest.mark.slow
def test_a_size_that_is_fixed_for_the_whole_library_may_be_left_out_and_says_why_it_is_refused(tmp_path: Path) -> None:
    text = "void f(int N, int M, float y[N][M])\n{\n#pragma scop\n  for (int i = 0; i < N; ++i)\n"
    text += "    for (int j = 0; j < M; ++j)\n      y[i][j] = 1;\n#pragma endscop\n}\n"
    library, _ = compiled(tmp_path, text, ("N=1..9",), {"M": 6})
    calls = (
        "import sys, numpy, tvm_ffi\nf = tvm_ffi.load_module(sys.argv[1]).f\n"
        "for sizes in ((), (3, 6), (3, 7), (3, 6.5)):\n  y = numpy.zeros((3, 6), 'f')\n  try:\n    f(*sizes, y)\n"
        "    print(int(y.sum()))\n  except (TypeError, ValueError) as error:\n    print(error)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", calls, str(library)], capture_output=True, text=True, check=True,
        env=os.environ | {"TVM_FFI_DISABLE_TORCH_C_DLPACK": "1"},
    )  # fmt: skip
    assert ended.stdout.splitlines() == [
        "18", "18", "f: M must be 6, which -D M=6 fixed for the whole library", "f: M must be an integer",
    ]  # fmt: skip


def test_tensors_without_elements_need_no_memory(answers: dict[str, list[Any]]) -> None:
    if answers["empty in PyTorch"] is None:
        pytest.skip("PyTorch is not installed")
    assert answers["empty in PyTorch"] == [None, 0.0]


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        ("wrong size", "ValueError", "padded: y has shape (3, 5) and must have (3, 6)"),
        ("arrays that disagree", "ValueError", "padded: x has shape (5, 8) and must have (5, 10)"),
        ("dimensions", "ValueError", "padded: y has 1 dimensions and must have 2"),
        ("too few elements", "ValueError", "padded: z has 16 elements and must have at least 17"),
        ("type", "TypeError", "padded: x holds float64 and must hold float32"),
        ("overlap", "ValueError", "padded: y is written and shares memory with another argument"),
        ("too few", "TypeError", "padded takes 5 or 7 arguments"),
    ],
)
def test_what_does_not_fit_is_said(call: str, kind: str, message: str, answers: dict[str, list[Any]]) -> None:
    assert answers[call] == [kind, message]
