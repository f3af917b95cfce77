"""fmax and fmin in emitted C: comparisons with the results of the functions, NaNs included."""

from __future__ import annotations

import itertools
import subprocess
from pathlib import Path

import numpy as np
import pytest

from polydl import pipeline
from polydl.codegen.extrema import FUNCTIONS, extremum, with_extrema
from polydl.codegen.values import Apply, Constant, Name
from polydl.execute.callable import load
from polydl.execute.local import EXECUTOR
from polydl.execute.toolchain import Toolchain
from polydl.ir.numerics import Numerics
from polydl.machine import Machine
from polydl.vector_functions import EXTREMA, is_instruction

NUMBERS = (-np.inf, -1.5, -0.0, 0.0, 2.0, np.inf, np.nan)
SOURCE = """
#include <math.h>
void f(float most[5], const float x[5][70], double y[70], const double z[70]) {
#pragma scop
  for (int i = 0; i < 5; i++) {
    most[i] = x[i][0];
    for (int j = 1; j < 70; j++)
      most[i] = fmaxf(most[i], x[i][j]);
  }
  for (int j = 0; j < 70; j++)
    y[j] = fmin(fmax(z[j], 0.0), 6.0);
#pragma endscop
}
"""


def test_nested_calls_are_replaced_and_others_stay() -> None:
    inner = Apply("fmaxf", (Name("x"), Constant("0.0f")))
    changed = with_extrema(Apply("expf", (Apply("fminf", (inner, Constant("6.0f"))),)))
    wanted = Apply("polydl_fmaxf", inner.arguments)
    assert changed == Apply("expf", (Apply("polydl_fminf", (wanted, Constant("6.0f"))),))


@pytest.mark.native
@pytest.mark.parametrize("name", sorted(EXTREMA))
def test_results_are_those_of_the_function(name: str, tmp_path: Path) -> None:
    source, program = tmp_path / "extremum.c", tmp_path / "extremum"
    element = "float" if name.endswith("f") else "double"
    pairs = list(itertools.product(NUMBERS, repeat=2))
    numbers = ", ".join(f"{{{c_number(one)}, {c_number(other)}}}" for one, other in pairs)
    source.write_text(
        f"""#include <math.h>
{FUNCTIONS[extremum(name)].text}
static const {element} pairs[][2] = {{{numbers}}};
int main(void)
{{
  for (int place = 0; place < {len(pairs)}; ++place) {{
    const {element} a = pairs[place][0], b = pairs[place][1];
    const {element} one = {extremum(name)}(a, b), other = {name}(a, b);
    if (one != other && !(isnan(one) && isnan(other)))
      return place + 1;
  }}
  return 0;
}}
"""
    )
    subprocess.run([Toolchain.find().path, "-O2", source, "-o", program, "-lm"], check=True)
    assert subprocess.run([program], check=False).returncode == 0


def c_number(number: float) -> str:
    if np.isfinite(number):
        return repr(number)
    return "NAN" if np.isnan(number) else "INFINITY" if number > 0 else "-INFINITY"


@pytest.mark.native
@pytest.mark.parametrize("numerics", ["strict", "bounded"])
def test_variants_choose_the_numbers_beside_nans(numerics: Numerics, tmp_path: Path) -> None:
    """Also where a row begins with one, or every sixteenth of its elements is one."""
    path = tmp_path / "nest.c"
    path.write_text(SOURCE)
    scop = pipeline.parse(path)
    assert is_instruction(scop, "fmaxf")
    machine = Machine.detect(threads=1)
    space = pipeline.space_on(scop, machine, numerics=numerics)
    variants = pipeline.generate_variants(scop, machine=machine, max_variants=8, numerics=numerics)
    kernels = [pipeline.kernel(space.apply(variant), machine.vector_bytes) for variant in variants]
    assert all("= fmaxf(" not in kernel.excerpt and "polydl_fmaxf(" in kernel.excerpt for kernel in kernels)
    x = np.random.default_rng(0).standard_normal((5, 70)).astype(np.float32)
    x[0, 0], x[1, ::16], x[2, 1::4] = np.nan, np.nan, np.nan
    if numerics == "strict":
        x[3] = np.nan
    z = np.where(np.arange(70) % 7 == 3, np.nan, np.linspace(-4, 12, 70))
    for built in EXECUTOR.build(kernels, Toolchain.find(), tmp_path):
        most, y = np.zeros(5, np.float32), np.zeros(70)
        assert built.library is not None, built.message
        load(built.library, scop)(most=most, x=x, y=y, z=z)
        np.testing.assert_array_equal(most, np.fmax.reduce(x, axis=1))
        np.testing.assert_array_equal(y, np.fmin(np.fmax(z, 0.0), 6.0))
