"""Products several iterations of which add to one element, by fewer products: what stays, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from computed import check_kernels, parse, separate
from machines import detected

from polydl import pipeline
from polydl.errors import IllegalVariantError
from polydl.ir.variant import RewriteStep, Variant
from polydl.plan.rewriting import rewritten
from polydl.variants.rewrites.split import Split
from polydl.variants.rewrites.strassen import Strassen
from polydl.variants.rewrites.winograd import Winograd

ROWS_OF_AN_IMAGE = """
void f(float out[16][12][32], const float in[16][12][34], const float flt[16][16][3]) {
#pragma scop
  for (int k = 0; k < 16; k++)
    for (int z = 0; z < 12; z++)
      for (int x = 0; x < 32; x++)
        out[k][z][x] = 0;
  for (int k = 0; k < 16; k++)
    for (int y = 0; y < 8; y++)
      for (int u = 0; u < 5; u++)
        for (int x = 0; x < 32; x++)
          for (int c = 0; c < 16; c++)
            for (int r = 0; r < 3; r++)
              out[k][y + u][x] += in[c][y + u][x + r] * flt[k][c][r];
#pragma endscop
}
"""

ROWS_OF_A_MATRIX = """
void f(float C[64][64], const float A[32][33][64], const float B[64][64]) {
#pragma scop
  for (int i = 0; i < 64; i++)
    for (int j = 0; j < 64; j++)
      C[i][j] = 0;
  for (int p = 0; p < 32; p++)
    for (int q = 0; q < 33; q++)
      for (int k = 0; k < 64; k++)
        for (int j = 0; j < 64; j++)
          C[p + q][j] += A[p][q][k] * B[k][j];
#pragma endscop
}
"""
QUARTERS = tuple(Split("S1", loop, size) for loop, size in (("p", 16), ("j", 32), ("k", 32)))

DIAGONALS = """
void f(float out[{out}], const float in[16][14][14], const float flt[16][16][3][3]) {{
#pragma scop
  for (int k = 0; k < 16; k++)
    for (int y = 0; y < 12; y++)
      for (int x = 0; x < 12; x++)
        for (int c = 0; c < 16; c++)
          for (int r = 0; r < 3; r++)
            for (int s = 0; s < 3; s++)
              out[{to}] += in[c][y + r][x + s] * flt[k][c][r][s];
  for (int k = 0; k < 16; k++)
    for (int y = 0; y < 12; y++)
      for (int x = 0; x < 12; x++)
        out[{to}] *= 2.0f;
  for (int k = 0; k < 16; k++)
    for (int a = 0; a < 12; a++)
      out[{on}] += 1.0f;
#pragma endscop
}}
"""


@pytest.mark.native
@pytest.mark.parametrize(
    ("source", "steps"),
    [
        (ROWS_OF_AN_IMAGE, (Winograd("S1", (("x", "r", 4),), 1),)),
        (ROWS_OF_A_MATRIX, (*QUARTERS, Strassen("S1", ("p_block", "j_block", "k_block")))),
    ],
    ids=["winograd", "strassen"],
)
def test_zeros_stay_where_tiles_add_to_elements_in_common(
    source: str, steps: tuple[RewriteStep, ...], tmp_path: Path
) -> None:
    scop, machine = parse(tmp_path, source), detected(threads=2)
    applied = pipeline.apply(scop, Variant(steps), machine=machine, numerics="fast")
    assert applied.scop.statements[0].name == "S0"
    check_kernels(tmp_path, scop, [pipeline.kernel(applied, machine.vector_bytes)])


@pytest.mark.parametrize(
    ("layout", "after", "word"),
    [
        # Lanes far apart are put in their places many tiles at a time, in which these elements would have one place.
        (("16][23", "k][y + x", "k][2 * a"), (), "tiles of `out` have elements in common"),
        (("23][16", "y + x][k", "2 * a][k"), (), None),
        (("23][16", "y + x][k", "2 * a][k"), ("S1",), "nothing can follow"),
        (("12][12][16", "y][x][k", "a][a][k"), ("S1",), None),
        (("12][12][16", "y][x][k", "a][a][k"), ("S1", "S2"), "S2 does not go through all"),
        (("12][12][16", "y][x][k", "a][11][k"), ("S1", "S2"), "S2 does not go through all"),
        (("12][12][16", "y][x][k", "a][a][k"), ("S1", "S1"), "do not run in this order"),
        (("12][12][16", "y][x][k", "a][a][k"), ("S2", "S1"), "do not run in this order"),
    ],
)
def test_what_follows_on_tiles_writes_each_element_once_and_in_order(
    layout: tuple[str, str, str], after: tuple[str, ...], word: str | None, tmp_path: Path
) -> None:
    out, to, on = layout
    base = separate(parse(tmp_path, DIAGONALS.format(out=out, to=to, on=on)))
    step = Winograd("S0", (("y", "r", 4), ("x", "s", 4)), 2, after=after)
    if word is None:
        assert "result_S0" in {each.name for each in rewritten(base, (step,), numerics="fast").scop.statements}
    else:
        with pytest.raises(IllegalVariantError, match=word):
            rewritten(base, (step,), numerics="fast")
