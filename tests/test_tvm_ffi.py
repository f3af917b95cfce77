"""Emitted functions called with tensors, by the C ABI of Apache TVM FFI."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import polydl

pytestmark = pytest.mark.native

SOURCE = """\
#define data 3
void scaled(int n, float alpha, double y[n][6], const double x[n][6], signed char shift, unsigned char bytes[4])
{
#pragma scop
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < 6; ++j)
      y[i][j] = alpha * x[i][j] + shift + bytes[1] + data;
#pragma endscop
}
"""
# Prints what each call gives: the largest error, or the exception.
CALLS = """\
import json
import sys
import numpy as np
import tvm_ffi

scaled = tvm_ffi.load_module(sys.argv[1]).scaled
x = np.arange(24.0).reshape(4, 6)
bytes_ = np.array([9, 2, 9, 9], np.uint8)
wide = np.zeros((4, 12))
memory = np.zeros(40)
calls = {
    "right": (1.5, np.zeros((4, 6)), x, -2, bytes_),
    "with the size": (4, 1.5, np.zeros((4, 6)), x, -2, bytes_),
    "an integer for a float": (2, np.zeros((4, 6)), x, True, bytes_),
    "tensors": (1.5, *map(tvm_ffi.from_dlpack, (np.zeros((4, 6)), x)), -2, bytes_),
    "strides of one row": (1.5, np.zeros((4, 6)), x.copy(order="C"), -2, bytes_.reshape(1, 4)[0]),
    "another size": (5, 1.5, np.zeros((4, 6)), x, -2, bytes_),
    "too few": (1.5, np.zeros((4, 6)), x),
    "shape": (1.5, np.zeros((4, 6)), x[:3], -2, bytes_),
    "dimensions": (1.5, np.zeros((4, 6)), x.reshape(24), -2, bytes_),
    "type": (1.5, np.zeros((4, 6)), x.astype("f"), -2, bytes_),
    "signs": (1.5, np.zeros((4, 6)), x, -2, bytes_.astype(np.int8)),
    "layout": (1.5, wide[:, ::2], x, -2, bytes_),
    "no tensor": (1.5, 7, x, -2, bytes_),
    "no number": ("1.5", np.zeros((4, 6)), x, -2, bytes_),
    "no integer": (1.5, np.zeros((4, 6)), x, 1.5, bytes_),
    "range": (1.5, np.zeros((4, 6)), x, -129, bytes_),
    "overlap": (1.5, memory[:24].reshape(4, 6), memory[16:].reshape(4, 6), -2, bytes_),
}
answers = {}
for name, given in calls.items():
    try:
        result = scaled(*given)
    except Exception as error:
        answers[name] = [type(error).__name__, str(error)]
    else:
        alpha, y, _, shift, _ = given[-5:]
        wanted = alpha * x + shift + bytes_[1] + 3
        answers[name] = [result, float(abs(np.from_dlpack(y) - wanted).max())]
print(json.dumps(answers))
"""


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    """What the calls gave, in a process of their own."""
    folder = tmp_path_factory.mktemp("scaled")
    (folder / "scaled.c").write_text(SOURCE)
    result = polydl.optimize(
        folder / "scaled.c", defines={"n": 4}, out=folder, max_variants=1, top_k=1, records=False, microkernel="none"
    )
    text = result.files["c"].read_text()
    assert "__tvm_ffi_scaled" in result.files["header"].read_text()
    # The source's macros come after what they could change.
    assert text.index("} polydl_tensor;") < text.index("#define data")
    ended = subprocess.run(
        [sys.executable, "-c", CALLS, str(result.files["library"])], capture_output=True, text=True, check=False,
        # It would compile an extension for PyTorch, where there is one.
        env=os.environ | {"TVM_FFI_DISABLE_TORCH_C_DLPACK": "1"},
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    return dict(json.loads(ended.stdout))


@pytest.mark.parametrize("call", ["right", "with the size", "an integer for a float", "tensors", "strides of one row"])
def test_what_fits_is_computed(call: str, answers: dict[str, list[Any]]) -> None:
    assert answers[call] == [None, 0.0]


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        ("another size", "ValueError", "scaled: n is 5 and must be 4"),
        ("too few", "TypeError", "scaled takes 5 or 6 arguments"),
        ("shape", "ValueError", "scaled: x has shape (3, 6) and must have (4, 6)"),
        ("dimensions", "ValueError", "scaled: x has shape (24,) and must have (4, 6)"),
        ("type", "TypeError", "scaled: x holds float32 and must hold float64"),
        ("signs", "TypeError", "scaled: bytes holds int8 and must hold uint8"),
        ("layout", "ValueError", "scaled: y must be C-contiguous"),
        ("no tensor", "TypeError", "scaled: y must be a tensor"),
        ("no number", "TypeError", "scaled: alpha must be a number"),
        ("no integer", "TypeError", "scaled: shift must be an integer"),
        ("range", "ValueError", "scaled: shift is -129 and must be -128 to 127"),
        ("overlap", "ValueError", "scaled: y is written and shares memory with another argument"),
    ],
)
def test_what_does_not_fit_is_said(call: str, kind: str, message: str, answers: dict[str, list[Any]]) -> None:
    assert answers[call] == [kind, message]


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_it_links_with_nothing_and_compiles_without_warnings(compiler: str, tmp_path: Path) -> None:
    from polydl.codegen.tvm_ffi import foreign_call

    (tmp_path / "scaled.c").write_text(SOURCE)
    foreign = foreign_call(polydl.parse(tmp_path / "scaled.c", defines={"n": 4}), "scaled")
    assert foreign is not None
    prototype = "void scaled(int, float, double (*)[6], const double (*)[6], signed char, unsigned char *);"
    # Macros that the source may have.
    macros = [f"#define {name} 3" for name in ("kind", "length", "value", "integer", "real", "data", "shape", "type")]
    text = "\n".join([foreign.definitions, *macros, prototype, foreign.function])
    assert "#include" not in text
    (tmp_path / "alone.c").write_text(text)
    command = [compiler, "-Wall", "-Wextra", "-Werror", "-c", "alone.c"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_what_has_no_place_there_has_no_such_function(tmp_path: Path) -> None:
    from polydl.codegen.tvm_ffi import foreign_call

    text = "int f(float y[4]) {\n  for (int i = 0; i < 4; ++i)\n    y[i] = i;\n  return 0;\n}\n"
    (tmp_path / "f.c").write_text(text)
    assert foreign_call(polydl.parse(tmp_path / "f.c"), "f") is None
