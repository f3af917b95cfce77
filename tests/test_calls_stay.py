"""Statements that stand for calls: steps of a person's own that would change their loops or what they read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from computed import parse, separate
from machines import machine_with

from polydl import pipeline
from polydl.errors import IllegalVariantError
from polydl.ir.scop import Scop
from polydl.ir.variant import Attach, RewriteStep, Variant
from polydl.plan.apply import apply
from polydl.plan.rewriting import rewritten
from polydl.variants.rewrites.fuse import Fuse
from polydl.variants.rewrites.gather import Gather
from polydl.variants.rewrites.pack import Pack
from polydl.variants.rewrites.pack_panels import PackPanels
from polydl.variants.rewrites.pack_tiles import PackTiles
from polydl.variants.rewrites.strassen import Strassen
from polydl.variants.rewrites.unfold import Unfold
from polydl.variants.rewrites.winograd import Winograd

CONVOLUTION = """
void taps(float *out, const float *in, const float *flt);
void f(float out[8][6][6], const float in[8][8][8], const float flt[8][8][3][3]) {
#pragma scop
  for (int k = 0; k < 8; k++)
    for (int y = 0; y < 6; y++)
      for (int x = 0; x < 6; x++) {
MARKED(for (int c = 0; c < 8; c++) for (int r = 0; r < 3; r++) for (int s = 0; s < 3; s++)\
 out[k][y][x] += in[c][y + r][x + s] * flt[k][c][r][s];)
        CALL(taps(&out[k][y][x], &in[0][y][x], &flt[k][0][0][0]);)
      }
#pragma endscop
}
"""
BLOCKS = """
void block(float *c, const float *a, const float *b);
void f(float C[2][8][2][8], const float A[2][8][2][8], const float B[2][8][2][8]) {
#pragma scop
  for (int I = 0; I < 2; I++)
    for (int J = 0; J < 2; J++)
      for (int K = 0; K < 2; K++) {
MARKED(for (int i = 0; i < 8; i++) for (int k = 0; k < 8; k++) for (int j = 0; j < 8; j++)\
 C[I][i][J][j] += A[I][i][K][k] * B[K][k][J][j];)
        CALL(block(&C[I][0][J][0], &A[I][0][K][0], &B[K][0][J][0]);)
      }
#pragma endscop
}
"""
WINOGRAD = Winograd("S0", (("y", "r", 4), ("x", "s", 4)), 2)
LOOPS = ("k", "y", "x", "c", "r", "s")


def written(source: str, *, marked: bool) -> str:
    """A nest of a call that a pragma marks, or of the loops that the pragma describes."""
    before, _, rest = source.partition("MARKED(")
    loops, _, rest = rest.partition(")\n        CALL(")
    call, _, after = rest.partition(";)")
    return f"{before}#pragma polydl microkernel({loops})\n{call};{after}" if marked else f"{before}{loops}{after}"


@pytest.mark.parametrize(
    ("source", "step"),
    [
        (CONVOLUTION, WINOGRAD),
        (BLOCKS, Strassen("S0", ("I", "J", "K"))),
        (CONVOLUTION, Fuse(("S0",), (LOOPS,), (0,), 2)),
        (CONVOLUTION, Pack("S0", "in", (2, 0, 1))),
        (CONVOLUTION, PackPanels("S0", "flt", ("r", "s", "k", "c"))),
        (CONVOLUTION, PackTiles("S0", "flt", ("k",), ("r", "s", "c"))),
        (CONVOLUTION, Gather("S0", "in", ("c", "r", "s", "y", "x"), (1, 1, 1, 1, 1))),
        (CONVOLUTION, Unfold("S0", "in", 2, ("s", "x"), (0, 1, 2, 3), (1, 1, 1, 1))),
    ],
    ids=lambda value: value.json_name if isinstance(value, RewriteStep) else "",
)
def test_marked_calls_stay_as_they_are(source: str, step: RewriteStep, tmp_path: Path) -> None:
    loops = separate(parse(tmp_path, written(source, marked=False)))
    assert rewritten(loops, (step,), numerics="fast").scop != loops
    call = separate(parse(tmp_path, written(source, marked=True)))
    assert call.has_call("S0")
    with pytest.raises(IllegalVariantError, match=r"call|contiguous floats with its loops to itself"):
        rewritten(call, (step,), numerics="fast")


ROWS = """
void row(float *c);
void f(float C[16][16], const float A[16][16], const float B[16][16]) {
#pragma scop
  for (int i = 0; i < 16; i++) {
MARKED(for (int j = 0; j < 16; j++) C[i][j] = 0;)
        CALL(row(&C[i][0]);)
  }
  for (int i = 0; i < 16; i++)
    for (int j = 0; j < 16; j++)
      for (int k = 0; k < 16; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""


def test_marked_calls_are_not_attached(tmp_path: Path) -> None:
    variant = Variant((Attach("S0", "S1", "first"),))
    apply(parse(tmp_path, written(ROWS, marked=False)), variant, ())
    with pytest.raises(IllegalVariantError, match="S0 stands for a call"):
        apply(parse(tmp_path, written(ROWS, marked=True)), variant, ())


TAPS = """
  for (int k = 0; k < 8; k++) for (int y = 0; y < 6; y++) for (int x = 0; x < 6; x++)
    for (int c = 0; c < 8; c++) for (int r = 0; r < 3; r++) for (int s = 0; s < 3; s++)
      out[k][y][x] += in[c][y + r][x + s] * flt[k][c][r][s];
"""
IMAGES = """
  for (int k = 0; k < 8; k++) {
MARKED(for (int y = 0; y < 6; y++) for (int x = 0; x < 6; x++) out[k][y][x] = VALUE;)
        CALL(image(&out[k][0][0]);)
  }
"""


def around(tmp_path: Path, nests: str, *, marked: bool) -> Scop:
    """A convolution and what goes through its results before it or after it."""
    source = f"""
void image(float *out);
void f(float out[8][6][6], const float in[8][8][8], const float flt[8][8][3][3]) {{
#pragma scop
{nests}
#pragma endscop
}}
"""
    return separate(parse(tmp_path, written(source, marked=marked)))


def test_marked_calls_in_front_of_tiles_are_not_dropped(tmp_path: Path) -> None:
    nests = IMAGES.replace("VALUE", "0") + TAPS
    for marked in (False, True):
        scop = rewritten(around(tmp_path, nests, marked=marked), (replace(WINOGRAD, statement="S1"),)).scop
        assert ("S0" in [each.name for each in scop.statements]) == marked


def test_marked_calls_are_not_applied_to_tiles(tmp_path: Path) -> None:
    nests, step = TAPS + IMAGES.replace("VALUE", "out[k][y][x] * 2"), replace(WINOGRAD, after=("S1",))
    rewritten(around(tmp_path, nests, marked=False), (step,))
    with pytest.raises(IllegalVariantError, match="or calls functions"):
        rewritten(around(tmp_path, nests, marked=True), (step,))


def test_what_calls_compute_keeps_no_operator_from_its_product(tmp_path: Path) -> None:
    source = """
void row(float *d, const float *e);
void f(float C[32][48], float D[32][48], const float E[32][48], const float A[32][64], const float B[64][48]) {
#pragma scop
  for (int i = 0; i < 32; i++) {
#pragma polydl microkernel(for (int j = 0; j < 48; j++) D[i][j] = 2 * E[i][j];)
    row(&D[i][0], &E[i][0]);
  }
  for (int i = 0; i < 32; i++)
    for (int j = 0; j < 48; j++)
      D[i][j] = D[i][j] + 1;
  for (int i = 0; i < 32; i++)
    for (int j = 0; j < 48; j++)
      for (int k = 0; k < 64; k++)
        C[i][j] += A[i][k] * B[k][j];
  for (int i = 0; i < 32; i++)
    for (int j = 0; j < 48; j++)
      C[i][j] = C[i][j] > 0 ? C[i][j] : 0;
#pragma endscop
}
"""
    space = pipeline.space_on(parse(tmp_path, source), machine_with(1, 32), microkernel="c")
    assert (Attach("S3", "S2", "last"),) in [each.rewrites for each in space.alternatives]


@pytest.mark.parametrize(
    "step",
    [
        Fuse(("image_S0",), (("image_2", "y", "x", "image_0", "image_1"),), (0,), 1),
        Pack("image_S0", "in", (2, 0, 1)),
        Gather("image_S0", "in", ("image_2", "y", "image_0", "x", "image_1"), (1, 1, 1, 1, 1)),
    ],
    ids=lambda step: step.json_name,
)
def test_transforms_of_tiles_stay_as_they_are(step: RewriteStep, tmp_path: Path) -> None:
    scop = separate(parse(tmp_path, written(CONVOLUTION, marked=False)))
    with pytest.raises(IllegalVariantError, match="call"):
        rewritten(scop, (WINOGRAD, step), numerics="fast")
