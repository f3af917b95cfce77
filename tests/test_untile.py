"""Nests that were cut into tiles by hand run as the loops that they were."""

from __future__ import annotations

from pathlib import Path

import pytest
from computed import check_kernels, parse
from machines import machine_with

from polydl import pipeline
from polydl.errors import IllegalVariantError
from polydl.plan.rewriting import rewritten
from polydl.variant_json import variant_from_json
from polydl.variants.rewrites.untile import UNTILE, Untile, tile_loops

HEAD = """
#define MIN(x, y) ((x) < (y) ? (x) : (y))
void f(float a[50][50], float b[50][50], float c[50][50])
{
#pragma scop
"""
TAIL = "#pragma endscop\n}\n"
PRODUCT = """
  for (int ii = 0; ii < 50; ii += 16)
    for (int jj = 0; jj <= 49; jj += 8)
      for (int kk = 0; kk < 50; kk += 32)
        for (int i = ii; i < MIN(ii + 16, 50); i++)
          for (int k = kk; k <= MIN(kk + 31, 49); k++)
            for (int j = jj; j < MIN(jj + 8, 50); j++)
              c[i][j] += a[i][k] * b[k][j];
"""
# The zeros of a tile are set in it, and two levels of tiles are cut out of one loop.
ZEROS = """
  for (int i2 = 0; i2 < 50; i2 += 32)
    for (int jj = 0; jj < 50; jj += 8) {
      for (int i = i2; i < MIN(i2 + 32, 50); i++)
        for (int j = jj; j < MIN(jj + 8, 50); j++)
          c[i][j] = 0;
      for (int i1 = i2; i1 < MIN(i2 + 32, 50); i1 += 4)
        for (int k = 0; k < 50; k++)
          for (int i = i1; i < MIN(i1 + 4, 50); i++)
            for (int j = jj; j < MIN(jj + 8, 50); j++)
              c[i][j] += a[i][k] * b[k][j];
    }
"""
LOOPS = {
    "a product in three kinds of tiles": (PRODUCT, (("ii", "jj", "kk"),)),
    "several statements, and tiles of tiles": (ZEROS, (("i2", "jj"), ("i2", "jj", "i1"))),
    "a loop that only repeats": (
        """
  for (int t = 0; t < 3; t++)
    for (int ii = 0; ii < 50; ii += 5)
      for (int i = ii; i < ii + 5; i++)
        c[0][i] += a[0][i];
""",
        (("ii",),),
    ),
    "a triangle": (
        """
  for (int i = 0; i < 50; i += 2)
    for (int j = i; j < 50; j++)
      c[0][j] += a[0][j];
""",
        ((),),
    ),
    "tiles that overlap": (
        """
  for (int i = 0; i < 48; i += 2)
    for (int j = i; j < MIN(i + 3, 50); j++)
      c[0][j] += a[0][j];
""",
        ((),),
    ),
    "a loop whose counter is used": (
        """
  for (int i = 0; i < 50; i += 4)
    for (int j = i; j < MIN(i + 4, 50); j++)
      c[0][j] += a[0][i];
""",
        ((),),
    ),
}
# Tiles run backwards, and each reads what the next one is about to write.
SWEPT = """
  for (int ii = 40; ii >= 0; ii -= 5)
    for (int i = ii; i < ii + 5; i++)
      c[0][i + 1] = c[0][i] + a[0][i];
"""


@pytest.mark.parametrize("name", LOOPS)
def test_loops_over_tiles_are_told_from_all_others(tmp_path: Path, name: str) -> None:
    text, expected = LOOPS[name]
    scop = parse(tmp_path, f"{HEAD}{text}{TAIL}")
    assert tuple(tile_loops(scop, each) for each in scop.statements) == expected


def test_a_product_in_tiles_has_the_variants_of_one_without(tmp_path: Path) -> None:
    scop, machine = parse(tmp_path, f"{HEAD}{PRODUCT}{TAIL}"), machine_with(1, 32)
    variants = pipeline.generate_variants(scop, machine=machine, max_variants=200)
    untiled = [each for each in variants if any(isinstance(step, Untile) for step in each.rewrites)]
    assert untiled
    applied = [pipeline.apply(scop, each, machine=machine) for each in untiled]
    assert any(each.uses for each in applied)
    plain = [pipeline.apply(scop, each, machine=machine) for each in variants if not each.rewrites]
    assert plain
    assert not any(each.uses for each in plain)
    step = Untile("S0", ("ii", "jj", "kk"))
    assert step in untiled[0].rewrites
    assert variant_from_json(untiled[0].to_json()) == untiled[0]
    statement = rewritten(scop, (step,)).scop.statement("S0")
    assert (statement.iterators, statement.box) == (("i", "k", "j"), ((0, 49),) * 3)
    assert UNTILE.describe(scop, step) == "S0 without the source's tiles, the loops ii, jj, kk"


def test_statements_in_one_tile_get_nests_of_their_own_in_their_order(tmp_path: Path) -> None:
    scop = parse(tmp_path, f"{HEAD}{ZEROS}{TAIL}")
    steps = (Untile("S0", ("i2", "jj")), Untile("S1", ("i2", "jj", "i1")))
    after = rewritten(scop, steps).scop
    assert [each.iterators for each in after.statements] == [("i", "j"), ("k", "i", "j")]
    assert after.statement("S0").betas[0] < after.statement("S1").betas[0]
    # The later one alone can't leave the tile before: it needs the zeros.
    alone = rewritten(scop, steps[1:]).scop
    assert alone.statement("S0").betas[0] < alone.statement("S1").betas[0]


@pytest.mark.parametrize(
    ("text", "step", "message"),
    [
        (SWEPT, Untile("S0", ("ii",)), "is broken by leaving out ii"),
        (PRODUCT, Untile("S0", ("ii", "i")), "no loops over tiles of others"),
        (PRODUCT, Untile("S0", ("ii",)), "are not rectangular"),
        (PRODUCT, Untile("S0", ("x",)), "has no loops"),
        (LOOPS["a triangle"][0], Untile("S0", ("i",)), "no loops over tiles of others"),
    ],
)
def test_loops_that_say_more_than_an_order_stay(tmp_path: Path, text: str, step: Untile, message: str) -> None:
    with pytest.raises(IllegalVariantError) as raised:
        rewritten(parse(tmp_path, f"{HEAD}{text}{TAIL}"), (step,))
    assert message in str(raised.value)


@pytest.mark.slow
@pytest.mark.native
@pytest.mark.parametrize("text", [PRODUCT, ZEROS], ids=["one", "several"])
def test_variants_compute_the_same(tmp_path: Path, text: str) -> None:
    scop, machine = parse(tmp_path, f"{HEAD}{text}{TAIL}"), machine_with(1, 32)
    variants = pipeline.generate_variants(scop, machine=machine, max_variants=200)
    untiled = [each for each in variants if any(isinstance(step, Untile) for step in each.rewrites)]
    kernels = [
        pipeline.kernel(pipeline.apply(scop, variant, machine=machine), machine.vector_bytes)
        for variant in untiled[:: max(1, len(untiled) // 6)]
    ]
    assert len(kernels) >= 3
    check_kernels(tmp_path, scop, kernels)
