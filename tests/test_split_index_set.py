"""Statements in parts where their loops bound each other at the borders alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from computed import check_kernels, parse
from machines import machine_with

from polydl import pipeline
from polydl.errors import IllegalVariantError
from polydl.ir.variant import Attach, Variant
from polydl.plan.rewriting import rewritten
from polydl.variant_json import variant_from_json
from polydl.variants.rewrites.split_index_set import SplitIndexSet

DEPTHWISE = """
void f(float out[2][9][11][16], const float w[3][3][2][16], const float in[2][9][11][16]) {
#pragma scop
  for (int t = 0; t < 2; t++) for (int y = 0; y < 9; y++) for (int x = 0; x < 11; x++) for (int c = 0; c < 16; c++)
    out[t][y][x][c] = 0.0f;
  for (int t = 0; t < 2; t++) for (int y = 0; y < 9; y++) for (int x = 0; x < 11; x++)
    for (int r = 0; r < 3; r++) for (int s = 0; s < 3; s++)
      if (y + r >= 1 && y + r < 10 && x + s >= 1 && x + s < 12)
        for (int c = 0; c < 16; c++)
          out[t][y][x][c] += w[r][s][t][c] * in[t][y + r - 1][x + s - 1][c];
#pragma endscop
}
"""
SWEEP = """
void f(float a[40]) {
#pragma scop
  for (int i = 1; i < 40; i++) a[i] = a[i] + a[i - 1];
#pragma endscop
}
"""
TRIANGLE = """
void f(float c[20], const float a[20][20], const float b[20]) {
#pragma scop
  for (int i = 0; i < 20; i++) for (int j = 0; j <= i; j++) c[i] += a[i][j] * b[j];
#pragma endscop
}
"""
CUTS = (("y", (1, 8)), ("x", (1, 10)))


def split(variants: tuple[Variant, ...]) -> list[Variant]:
    return [each for each in variants if any(isinstance(step, SplitIndexSet) for step in each.rewrites)]


def test_the_parts_are_rectangular_and_in_order_and_the_largest_keeps_the_name(tmp_path: Path) -> None:
    scop = rewritten(parse(tmp_path, DEPTHWISE), (SplitIndexSet("S1", CUTS),)).scop
    parts = sorted((each for each in scop.statements if each.name != "S0"), key=lambda statement: statement.betas[0])
    assert [each.box is not None for each in parts] == [True] * 9
    assert [each.name for each in parts].index("S1") == 4
    assert parts[0].box == ((0, 1), (0, 0), (0, 0), (1, 2), (1, 2), (0, 15))
    assert parts[4].box == ((0, 1), (1, 7), (1, 9), (0, 2), (0, 2), (0, 15))
    assert sum(each.instances for each in parts) == parse(tmp_path, DEPTHWISE).statements[1].instances


@pytest.mark.parametrize(
    ("source", "cuts", "message"),
    [
        (SWEEP, (("i", (20,)),), "the RAW dependence on `a` within S0 (line 4) joins the parts"),
        (DEPTHWISE, (("y", ()),), "no parts begin at []"),
        (DEPTHWISE, (("y", (0, 4)),), "`y` goes from 0 to 8"),
        (DEPTHWISE, (("y", (3,)), ("y", (5,))), "no loop `y` to cut once"),
        (DEPTHWISE, (("z", (3,)),), "no loop `z` to cut once"),
        (DEPTHWISE, (), "no loop of S0 is cut"),
    ],
)
def test_other_cuts_are_refused(tmp_path: Path, source: str, cuts: tuple[object, ...], message: str) -> None:
    with pytest.raises(IllegalVariantError) as raised:
        rewritten(parse(tmp_path, source), (SplitIndexSet("S0", cuts),))  # type: ignore[arg-type]
    assert message in str(raised.value)


def test_sums_of_few_terms_are_split_with_their_zeros_and_triangles_are_not(tmp_path: Path) -> None:
    machine = machine_with(1, 16)
    variants = split(pipeline.generate_variants(parse(tmp_path, DEPTHWISE), machine=machine, max_variants=200))
    assert variants
    steps = [step for step in variants[0].rewrites if isinstance(step, SplitIndexSet)]
    assert steps == [SplitIndexSet("S0", CUTS), SplitIndexSet("S1", CUTS)]
    assert Attach("S0", "S1", "first") in variants[0].steps
    assert variant_from_json(variants[0].to_json()) == variants[0]
    assert not split(pipeline.generate_variants(parse(tmp_path, TRIANGLE), machine=machine, max_variants=200))


@pytest.mark.slow
@pytest.mark.native
def test_variants_compute_the_same(tmp_path: Path) -> None:
    scop, machine = parse(tmp_path, DEPTHWISE), machine_with(2, 16)
    variants = split(pipeline.generate_variants(scop, machine=machine, max_variants=200))
    kernels = [
        pipeline.kernel(pipeline.apply(scop, variant, machine=machine), machine.vector_bytes)
        for variant in variants[::20]
    ]
    assert len(kernels) >= 3
    check_kernels(tmp_path, scop, kernels)
