"""Conditions on what a product reads give way to zeros around a copy, and copies of what earlier nests made."""

from __future__ import annotations

from pathlib import Path

import islpy as isl
import pytest
from computed import check_kernels, parse, separate
from machines import detected
from marks import parametrized

from polydl import pipeline
from polydl.errors import IllegalVariantError
from polydl.ir.scop import Scop
from polydl.plan.rewriting import rewritten
from polydl.variants.rewrites.pack import Pack, pack
from polydl.variants.rewrites.pad import Pad, pad, padding_choice

CONVOLUTION = """
#define K 20
#define C 6
#define H 11
#define W 9
#define P ((H + {stride} - 1) / {stride})
#define Q ((W + {stride} - 1) / {stride})
void f({element} out[2][K][P][Q], const {element} w[K][C][3][3], const {element} in[2][C][H][W]) {{
#pragma scop
  for (int n = 0; n < 2; n++)
    for (int k = 0; k < K; k++)
      for (int y = 0; y < P; y++)
        for (int x = 0; x < Q; x++) {{
          out[n][k][y][x] = 0;
          for (int c = 0; c < C; c++)
            for (int r = 0; r < 3; r++)
              for (int s = 0; s < 3; s++) {{
                int iy = {stride} * y + r - 1;
                int ix = {stride} * x + s - 1;
                if (iy >= 0 && iy < H && ix >= 0 && ix < W)
                  out[n][k][y][x] += w[k][c][r][s] * in[n][c][iy][ix];
              }}
        }}
#pragma endscop
}}
"""

CHAIN = """
void f(float out[40][24], float mid[40][32], const float a[40][50], const float b[32][50], const float c[24][32]) {
#pragma scop
  for (int i = 0; i < 40; i++)
    for (int j = 0; j < 32; j++)
      for (int k = 0; k < 50; k++)
        mid[i][j] += a[i][k] * b[j][k];
  for (int i = 0; i < 40; i++)
    for (int j = 0; j < 24; j++)
      for (int k = 0; k < 32; k++)
        out[i][j] += mid[i][k] * c[j][k];
#pragma endscop
}
"""


def check(scop: Scop, tmp_path: Path, kind: type, microkernel: str, threads: int) -> None:
    """Variants with a rewrite of this kind compute what the source does."""
    machine = detected(threads=threads)
    space = pipeline.space_on(scop, machine, microkernel=microkernel)
    variants = pipeline.generate_variants(scop, machine=machine, max_variants=60, microkernel=microkernel, seed=2)
    chosen = [v for v in variants if any(isinstance(step, kind) for step in v.rewrites)][::5]
    assert chosen
    kernels = [pipeline.kernel(space.apply(variant), machine.vector_bytes) for variant in chosen]
    check_kernels(tmp_path, scop, kernels, threads)


@pytest.mark.slow
@pytest.mark.native
@pytest.mark.parametrize(
    ("element", "stride", "microkernel", "threads"),
    [("float", 1, "c", 1), ("float", 1, "auto", 2), ("float", 2, "auto", 1), ("double", 1, "libxsmm", 2)],
)
def test_a_convolution_that_tests_for_its_border(
    element: str, stride: int, microkernel: str, threads: int, tmp_path: Path
) -> None:
    scop = parse(tmp_path, CONVOLUTION.format(element=element, stride=stride))
    space = pipeline.space_on(scop, detected(threads=threads), microkernel=microkernel)
    assert {report.kernel for report in space.reports} == {None}, "its loops bound each other"
    check(scop, tmp_path, Pad, microkernel, threads)


def test_the_copy_lies_between_zeros(tmp_path: Path) -> None:
    scop = separate(parse(tmp_path, CONVOLUTION.format(element="float", stride=1)))
    step = padding_choice(scop, scop.statement("S1"))
    assert step == Pad("S1", "in")
    made = pad(scop, step)
    zeros, copy, *others = made.statements
    assert [each.name for each in others] == ["S0", "S1"]
    assert [each.betas[0] for each in made.statements] == [0, 1, 2, 3]
    assert made.array("in_padded").extents == (2, 6, 13, 11)
    assert (zeros.instances, copy.instances) == (2 * 6 * (13 * 11 - 11 * 9), 2 * 6 * 11 * 9)
    written = [isl.Map(each.writes[0].relation).range() for each in (zeros, copy)]
    assert written[0].intersect(written[1]).is_empty(), "borders alone are set to zero"
    product = made.statement("S1")
    assert product.box is not None
    assert product.instances == 2 * 20 * 11 * 9 * 6 * 9
    assert scop.statement("S1").instances < product.instances


@pytest.mark.parametrize(
    ("condition", "subscript", "reason"),
    [
        ("r <= y", "y + r", "other conditions than"),
        ("y + r >= 1 && y + r < 9 && r <= y", "y + r - 1", "other conditions than"),
        ("y + r < 8 && r + x < 8", "y + r", "other conditions than"),
    ],
)
def test_other_conditions_stay(condition: str, subscript: str, reason: str, tmp_path: Path) -> None:
    source = f"""
void f(float out[8][8], const float w[3][5], const float in[16][8]) {{
#pragma scop
  for (int y = 0; y < 8; y++)
    for (int x = 0; x < 8; x++)
      for (int r = 0; r < 3; r++)
        if ({condition})
          out[y][x] += w[r][1] * in[{subscript}][x];
#pragma endscop
}}
"""
    scop = separate(parse(tmp_path, source))
    with pytest.raises(IllegalVariantError, match=reason):
        pad(scop, Pad("S0", "in"))
    assert padding_choice(scop, scop.statement("S0")) is None


def test_nothing_else_may_be_touched(tmp_path: Path) -> None:
    """Without the condition, rows of the output beyond its last one would be added to."""
    source = """
void f(float out[6][8], const float w[3], const float in[6][8]) {
#pragma scop
  for (int y = 0; y < 9; y++)
    for (int x = 0; x < 8; x++)
      if (y < 6)
        out[y][x] += w[2] * in[y][x];
  for (int y = 0; y < 6; y++)
    for (int r = 0; r < 3; r++)
      for (int x = 0; x < 8; x++)
        if (y + r < 6 && y < 5)
          out[y][x] += w[r] * in[y + r][x];
#pragma endscop
}
"""
    scop = separate(parse(tmp_path, source))
    assert scop.statements[0].box is not None
    assert [padding_choice(scop, each) for each in scop.statements] == [None, Pad("S1", "in")]


def test_sums_that_must_stay_as_they_are_are_not_padded(tmp_path: Path) -> None:
    scop = separate(parse(tmp_path, CONVOLUTION.format(element="float", stride=1)))
    with pytest.raises(IllegalVariantError, match="every sum keeps its order"):
        rewritten(scop, (Pad("S1", "in"),), numerics="strict")


@pytest.mark.native
@parametrized("threads", [1, 2], quick=1)
def test_what_an_earlier_nest_made_may_be_copied(threads: int, tmp_path: Path) -> None:
    check(parse(tmp_path, CHAIN), tmp_path, Pack, "c", threads)


def test_a_copy_is_made_when_the_array_is_complete(tmp_path: Path) -> None:
    scop = separate(parse(tmp_path, CHAIN))
    made = pack(scop, Pack("S1", "mid", (1, 0)))
    assert [each.name for each in made.statements] == ["S0", "pack_mid", "S1"]
    assert [each.betas[0] for each in made.statements] == [0, 1, 2]
    with pytest.raises(IllegalVariantError, match="would go stale"):
        pack(scop, Pack("S0", "mid", (1, 0)))
