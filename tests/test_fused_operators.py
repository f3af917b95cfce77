"""Element-wise operators written in ordinary C, fused into a product of random shape, in both precisions."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from machines import detected
from marks import parametrized

from polydl import pipeline
from polydl.codegen.original import original
from polydl.execute.contract import TimingPolicy
from polydl.execute.local import EXECUTOR
from polydl.execute.toolchain import Toolchain
from polydl.plan.rewrite_steps import is_fused
from polydl.presentation.fusion import fused_lines

pytestmark = pytest.mark.native

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


shapes = st.fixed_dictionaries(
    {
        "element": st.sampled_from(("float", "double")),
        "rows": st.integers(3, 40),
        "columns": st.integers(3, 70),
        "depth": st.integers(2, 50),
        "first": st.sampled_from(("product", "operator")),
    }
)


def source(name: str, shape: dict[str, Any]) -> str:
    """A product and an operator on its output; if the operator is ``first``, the product adds to what it wrote."""
    element, rows, columns, depth = (shape[key] for key in ("element", "rows", "columns", "depth"))
    function = "f" if element == "float" else ""
    text = OPERATORS[name].replace("expE", f"exp{function}").replace("tanhE", f"tanh{function}")
    text = text.replace("erfE", f"erf{function}").replace("T(", f"({element})(")
    product = (
        f"  for (int i = 0; i < {rows}; i++)\n    for (int j = 0; j < {columns}; j++)\n"
        f"      for (int k = 0; k < {depth}; k++)\n        C[i][j] += A[i][k] * B[k][j];\n"
    )
    loops = f"  for (int i = 0; i < {rows}; i++)\n    for (int j = 0; j < {columns}; j++)\n"
    operator = f"{loops}      C[i][j] = {text.replace('X', 'C[i][j]')};\n"
    return (
        f"#include <math.h>\nvoid nest({element} C[{rows}][{columns}], const {element} A[{rows}][{depth}],\n"
        f"  const {element} B[{depth}][{columns}], const {element} R[{rows}][{columns}],\n"
        f"  const {element} b[{columns}], const {element} d[{columns}]) {{\n#pragma scop\n"
        f"{product + operator if shape['first'] == 'product' else operator + product}#pragma endscop\n}}\n"
    )


@parametrized("name", OPERATORS, quick=1)
@given(shape=shapes, seed=st.integers(0, 99))
@settings(max_examples=2)
def test_an_operator_joins_a_product(name: str, shape: dict[str, Any], seed: int) -> None:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "nest.c")
        path.write_text(source(name, shape))
        scop = pipeline.parse(path)
        machine = detected(threads=2)
        space = pipeline.space_on(scop, machine)
        made = pipeline.generate_variants(scop, machine=machine, max_variants=24, seed=seed)
        fused = [variant for variant in made if is_fused(scop, variant)]
        chosen = random.Random(seed).sample(fused, min(2, len(fused)))
        assert chosen
        kernels = [pipeline.kernel(space.apply(variant), machine.vector_bytes) for variant in chosen]
        built = EXECUTOR.build([original(scop), *kernels], Toolchain.find().cautious, Path(directory))
        policy = TimingPolicy(rounds=1, minimum_sample_seconds=1e-4, budget_seconds=0.2)
        measured = EXECUTOR.measure(built[1:], built[0], scop, threads=2, policy=policy, seed=seed)
        assert [each.message for each in measured if each.status != "ok"] == []


@pytest.mark.slow
def test_a_chain_of_operators_joins_a_product_whose_loops_are_coalesced(tmp_path: Path) -> None:
    extents = {"t": 2, "h": 6, "w": 7, "c": 16}
    loops = " ".join(f"for (int {name} = 0; {name} < {extent}; {name}++)" for name, extent in extents.items())
    path = tmp_path / "nest.c"
    path.write_text(
        "void nest(float y[2][6][7][16], const float f[2][3][16][16],\n"
        "          const float x[3][6][7][16], const float b[2][16]) {\n"
        f"#pragma scop\n  {loops}\n    for (int s = 0; s < 3; s++) for (int k = 0; k < 16; k++)\n"
        f"      y[t][h][w][c] += f[t][s][k][c] * x[s][h][w][k];\n"
        f"  {loops}\n    y[t][h][w][c] = y[t][h][w][c] + b[t][c];\n"
        f"  {loops}\n    y[t][h][w][c] = y[t][h][w][c] > 0 ? y[t][h][w][c] : 0;\n#pragma endscop\n}}\n"
    )
    scop = pipeline.parse(path)
    machine = detected(threads=2)
    space = pipeline.space_on(scop, machine)
    made = pipeline.generate_variants(scop, machine=machine, max_variants=60)
    wanted = {"fuse", "coalesce", "attach"}
    chosen = [each for each in made if wanted <= {step["step"] for step in each.to_json()}][:4]
    assert chosen
    kernels = [pipeline.kernel(space.apply(variant), machine.vector_bytes) for variant in chosen]
    built = EXECUTOR.build([original(scop), *kernels], Toolchain.find().cautious, tmp_path)
    policy = TimingPolicy(rounds=1, minimum_sample_seconds=1e-4, budget_seconds=0.2)
    measured = EXECUTOR.measure(built[1:], built[0], scop, threads=2, policy=policy, seed=1)
    assert [each.message for each in measured if each.status != "ok"] == []


def test_what_fusing_gains_is_not_claimed_for_a_plain_nest_that_wins(tmp_path: Path) -> None:
    path = tmp_path / "nest.c"
    path.write_text(source("relu", {"element": "float", "rows": 8, "columns": 16, "depth": 8, "first": "product"}))
    scop = pipeline.parse(path)
    made = pipeline.generate_variants(scop, machine=detected(threads=1), max_variants=24)
    fused = next(variant for variant in made if is_fused(scop, variant))

    def said(*, emitted: bool) -> str:
        return "\n".join(fused_lines(scop, fused, 1.46, (), emitted=emitted, verbose=False))

    assert said(emitted=True).startswith("Fused  1.46 times as fast as the best unfused variant")
    assert said(emitted=False).startswith("Fused  the fastest variant, which the plain nest beats: 1.46 times")
