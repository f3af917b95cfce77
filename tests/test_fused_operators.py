"""Element-wise operators written in ordinary C, fused into a product of random shape, in both precisions."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from polydl import pipeline
from polydl.codegen.kernel import original
from polydl.execute.contract import TimingPolicy
from polydl.execute.local import EXECUTOR
from polydl.execute.toolchain import Toolchain
from polydl.machine import Machine

# X is the element, and E ends the name of a function of <math.h> in this precision.
OPERATORS = {
    "relu": "X > 0 ? X : 0",
    "relu6": "X < 0 ? 0 : (X > 6 ? 6 : X)",
    "leaky_relu": "X > 0 ? X : X / 8",
    "sigmoid": "1 / (1 + expE(-X))",
    "tanh": "tanhE(X)",
    "gelu": "X * (1 + erfE(X * T(0.70710678))) / 2",
    "silu": "X / (1 + expE(-X))",
    "hard_swish": "X * (X < -3 ? 0 : (X > 3 ? 6 : X + 3)) / 6",
    "bias": "X + b[j]",
    "scale_and_shift": "X * b[j] + d[j]",
    "residual": "X + R[i][j]",
    "residual_and_relu": "X + R[i][j] > 0 ? X + R[i][j] : 0",
    "clamp": "X < -1 ? -1 : (X > 1 ? 1 : X)",
    "affine": "2 * X - R[i][j] / 4 + b[j] * d[j]",
}


@pytest.mark.parametrize("name", OPERATORS)
def test_an_operator_joins_a_product(name: str, tmp_path: Path) -> None:
    draw = random.Random(name)
    element = draw.choice(("float", "double"))
    rows, columns, depth = draw.randint(3, 40), draw.randint(3, 70), draw.randint(2, 50)
    function = "f" if element == "float" else ""
    text = OPERATORS[name].replace("expE", f"exp{function}").replace("tanhE", f"tanh{function}")
    text = text.replace("erfE", f"erf{function}").replace("T(", f"({element})(").replace("X", "C[i][j]")
    path = tmp_path / "nest.c"
    path.write_text(
        f"#include <math.h>\nvoid nest({element} C[{rows}][{columns}], const {element} A[{rows}][{depth}],\n"
        f"  const {element} B[{depth}][{columns}], const {element} R[{rows}][{columns}],\n"
        f"  const {element} b[{columns}], const {element} d[{columns}]) {{\n#pragma scop\n"
        f"  for (int i = 0; i < {rows}; i++)\n    for (int j = 0; j < {columns}; j++)\n"
        f"      for (int k = 0; k < {depth}; k++)\n        C[i][j] += A[i][k] * B[k][j];\n"
        f"  for (int i = 0; i < {rows}; i++)\n    for (int j = 0; j < {columns}; j++)\n      C[i][j] = {text};\n"
        "#pragma endscop\n}\n"
    )
    scop = pipeline.parse(path)
    machine = Machine.detect(threads=2)
    space = pipeline.space_on(scop, machine)
    made = pipeline.generate_variants(scop, machine=machine, max_variants=24, seed=4)
    fused = [variant for variant in made if pipeline.is_fused(variant)]
    chosen = draw.sample(fused, min(3, len(fused)))
    assert chosen
    kernels = [pipeline.kernel(space, variant, machine.vector_bytes) for variant in chosen]
    built = EXECUTOR.build([original(scop), *kernels], Toolchain.find(), tmp_path)
    policy = TimingPolicy(rounds=1, budget_seconds=0.5)
    measured = EXECUTOR.measure(built[1:], built[0], scop, threads=2, policy=policy, seed=5)
    assert [each.message for each in measured if each.status != "ok"] == []
