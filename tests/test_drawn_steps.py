"""Steps at random that `polydl fuzz` tries: each rewrite draws its own, and nobody else knows which ones there are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import ClassVar

import pytest
from computed import parse

from polydl import registry
from polydl.errors import IllegalVariantError
from polydl.fuzzing.drawing import beyond_space
from polydl.ir.scop import Scop
from polydl.ir.statement import Statement
from polydl.ir.variant import RewriteStep, StatementName, Variant
from polydl.plan.rewriting import rewritten
from polydl.rewrite_contract import DrawsSteps

PRODUCT = """
void f(float C[8][12], const float A[8][16], const float B[16][12]) {
#pragma scop
  for (int i = 0; i < 8; i++) for (int j = 0; j < 12; j++) for (int k = 0; k < 16; k++)
    C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""
CONVOLUTION = """
void f(float out[6][6][16], const float in[13][13][16], const float w[3][3][16][16]) {
#pragma scop
  for (int y = 0; y < 6; y++) for (int x = 0; x < 6; x++) for (int r = 0; r < 3; r++) for (int s = 0; s < 3; s++)
    for (int k = 0; k < 16; k++) for (int c = 0; c < 16; c++)
      out[y][x][k] += in[STRIDE * y + r][STRIDE * x + s][c] * w[r][s][c][k];
#pragma endscop
}
"""
ROWS = """
void f(float C[8][12], float row[12], const float B[8][12]) {
#pragma scop
  for (int i = 0; i < 8; i++) {
    for (int j = 0; j < 12; j++) row[j] = B[i][j] * 2;
    for (int j = 0; j < 12; j++) C[i][j] = row[j] + row[11 - j];
  }
#pragma endscop
}
"""
QUANTIZED = """
void f(int C[8][12], const unsigned char A[8][16], const signed char B[16][12], int zero) {
#pragma scop
  for (int i = 0; i < 8; i++) for (int j = 0; j < 12; j++) for (int k = 0; k < 16; k++)
    C[i][j] += (A[i][k] - zero) * B[k][j];
#pragma endscop
}
"""
SMALL_IMAGES = """
void f(float y[4][3][5], const float x[4][3][5]) {
#pragma scop
  for (int c = 0; c < 4; c++) for (int i = 0; i < 3; i++) for (int j = 0; j < 5; j++) y[c][i][j] = 2 * x[c][i][j];
#pragma endscop
}
"""
TILES = """
void f(float c[12][12], float a[12][12], float b[12][12]) {
#pragma scop
  for (int ii = 0; ii < 12; ii += 5)
    for (int k = 0; k < 12; k++) {
      for (int i = ii; i < 12; i++) if (i < ii + 5) for (int j = 0; j < 12; j++) c[i][j] += a[i][k] * b[k][j];
    }
#pragma endscop
}
"""
PATHS = """
void f(int path[13][13]) {
#pragma scop
  for (int k = 0; k < 13; k++) for (int i = 0; i < 13; i++) for (int j = 0; j < 13; j++)
    path[i][j] = path[i][j] < path[i][k] + path[k][j] ? path[i][j] : path[i][k] + path[k][j];
#pragma endscop
}
"""
NESTS = {
    "paths": PATHS,
    "tiles": TILES,
    "small images": SMALL_IMAGES,
    "quantized": QUANTIZED,
    "product": PRODUCT,
    "rows": ROWS,
    "convolution": CONVOLUTION.replace("STRIDE", "1"),
    "strided": CONVOLUTION.replace("STRIDE", "2"),
    "pixels": PRODUCT.replace("[8]", "[2][4]")
    .replace("[i]", "[h][i]")
    .replace("for (int i = 0; i < 8; i++)", "for (int h = 0; h < 2; h++) for (int i = 0; i < 4; i++)"),
}
DRAWING = [name for name in registry.GROUPS["rewrites"] if hasattr(registry.load("rewrites", name), "drawn")]


def test_rewrites_draw_steps_of_their_own(tmp_path: Path) -> None:
    scops = [parse(tmp_path, source) for source in NESTS.values()]
    assert len(DRAWING) > 8
    taken = set()
    for name in DRAWING:
        rewrite = registry.load("rewrites", name)
        drawing: DrawsSteps = rewrite
        drawn = [
            (scop, steps)
            for scop in scops
            for seed in range(8)
            for steps in drawing.drawn(scop, scop.statements[0], Random(seed))
        ]
        assert drawn, name
        assert all(isinstance(steps[-1], rewrite.step) for _, steps in drawn)
        for scop, steps in drawn:
            try:
                rewritten(scop, steps)
            except IllegalVariantError:
                continue
            taken.add(name)
            break
    # Triangles to be cut, and conditions that zeros stand for, are in none of these nests.
    assert {*DRAWING} - taken <= {"cut_triangle", "pad"}


@dataclass(frozen=True)
class Shift(RewriteStep):
    json_name: ClassVar[str] = "shift"

    statement: StatementName
    distance: int


@dataclass(frozen=True)
class ShiftRewrite:
    """As another distribution may offer it."""

    step: type[Shift] = Shift
    families: frozenset[str] = frozenset({"shifting"})

    def drawn(self, scop: Scop, statement: Statement, draw: Random) -> Iterator[tuple[Shift]]:
        yield (Shift(statement.name, draw.randint(1, 3)),)

    def varied(self, step: Shift, draw: Random) -> Shift:
        return replace(step, distance=100)


SHIFT = ShiftRewrite()


def test_a_plug_in_is_drawn_and_varied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.GROUPS["rewrites"], "shift", f"{__name__}:SHIFT")
    scop = parse(tmp_path, PRODUCT)
    variants = [beyond_space(Variant(()), scop, Random(seed)) for seed in range(400)]
    distances = {step.distance for variant in variants for step in variant.steps if isinstance(step, Shift)}
    assert distances
    assert distances <= {1, 2, 3, 100}
    first = Variant((Shift("S0", 2),))
    changed = [beyond_space(first, scop, Random(seed)) for seed in range(40)]
    assert any(Shift("S0", 100) in variant.steps for variant in changed)
