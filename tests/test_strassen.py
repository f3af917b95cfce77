"""Products by quarters: the matrices, what is recognised, and that the generated code computes the same."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from computed import check_kernels, parse, separate
from machines import detected, machine_with
from marks import parametrized

from polydl import pipeline
from polydl.cli import main
from polydl.codegen.transforms import definition
from polydl.errors import IllegalVariantError
from polydl.ir.scop import Scop
from polydl.ir.variant import Attach, RewriteStep, Variant
from polydl.machine import Machine
from polydl.machine.core import CoreConstant
from polydl.optimization.picks import picks
from polydl.pipeline import SpaceOptions
from polydl.plan.rewrite_steps import is_fused
from polydl.plan.rewriting import rewritten
from polydl.ranking.cost_model import COST_MODEL
from polydl.variants.rewrites import strassen as strassen_module
from polydl.variants.rewrites.split import Split
from polydl.variants.rewrites.strassen import Strassen, block_product, matrices, strassen, strassen_choices

BY_ROWS = """
void f({element} C[{m}][{n}], const {element} A[{m}][{k}], const {element} B[{k}][{n}]) {{
#pragma scop
  {zero}
  for (int i = 0; i < {m}; i++)
    for (int k = 0; k < {k}; k++)
      for (int j = 0; j < {n}; j++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}}
"""

ZERO = "for (int i = 0; i < {m}; i++) for (int j = 0; j < {n}; j++) C[i][j] = 0;"

BLOCKED_1X1 = """
void f(float out[2][4][6][7][16], const float flt[4][4][16][16], const float in[2][4][6][7][16]) {
#pragma scop
  for (int n = 0; n < 2; n++)
    for (int kt = 0; kt < 4; kt++)
      for (int ct = 0; ct < 4; ct++)
        for (int y = 0; y < 6; y++)
          for (int x = 0; x < 7; x++)
            for (int c = 0; c < 16; c++)
              for (int k = 0; k < 16; k++)
                out[n][kt][y][x][k] += flt[kt][ct][c][k] * in[n][ct][y][x][c];
#pragma endscop
}
"""

BATCHED = """
void f(float C[3][64][64], const float A[3][64][64], const float B[3][64][64]) {
#pragma scop
  for (int b = 0; b < 3; b++)
    for (int i = 0; i < 64; i++)
      for (int j = 0; j < 64; j++)
        for (int k = 0; k < 64; k++)
          C[b][i][j] = C[b][i][j] + A[b][i][k] * B[b][k][j];
#pragma endscop
}
"""


def by_rows(m: int, n: int, k: int, element: str = "float", zero: str = "") -> str:
    return BY_ROWS.format(m=m, n=n, k=k, element=element, zero=zero.format(m=m, n=n))


def quarters(variant: Variant) -> tuple[Strassen, ...]:
    return tuple(step for step in variant.rewrites if isinstance(step, Strassen))


def check(scop: Scop, tmp_path: Path, threads: int = 1) -> set[tuple[RewriteStep, ...]]:
    """Compile and check a variant with each way of cutting; the ways."""
    machine = detected(threads=threads)
    space = pipeline.space_on(scop, machine)
    variants = pipeline.generate_variants(scop, machine=machine, max_variants=60, seed=1)
    chosen = {variant.rewrites: variant for variant in variants if quarters(variant)}
    kernels = [pipeline.kernel(space.apply(variant), machine.vector_bytes) for variant in chosen.values()]
    assert kernels
    check_kernels(tmp_path, scop, kernels, threads)
    return set(chosen)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks and products so small that a test is quick."""
    lanes = (16,)
    monkeypatch.setattr(strassen_module, "CUTS", ((2, 64, lanes), (2, 32, lanes), (4, 64, lanes)))
    monkeypatch.setattr(strassen_module, "FEWEST", 8)
    monkeypatch.setattr(strassen_module, "LANES", lanes)


@pytest.mark.parametrize(("parts", "products"), [(2, 7), (4, 49)])
def test_the_products_make_up_the_product_exactly(parts: int, products: int) -> None:
    rows, columns, result = (np.array(matrix, int) for matrix in matrices(parts))
    assert len(rows) == len(columns) == products
    found = np.einsum("cp,pa,pb->abc", result, rows, columns).reshape((parts,) * 6)
    one = np.eye(parts, dtype=int)
    # A's part (i, k) times B's part (l, j) is in the result's part (x, y) where these are the same.
    assert (found == np.einsum("kl,ix,jy->ikljxy", one, one, one)).all()


@pytest.mark.native
@pytest.mark.usefixtures("small")
@parametrized("threads", [1, 2], quick=1)
@parametrized(
    ("source", "ways"),
    [
        (by_rows(64, 64, 64), 3),
        (by_rows(96, 128, 160, zero=ZERO), 2),
        (by_rows(18, 96, 64, "double", ZERO), 2),
        (BLOCKED_1X1, 2),
        (BATCHED, 3),
    ],
    quick=2,
)
def test_products_of_several_layouts(source: str, ways: int, threads: int, tmp_path: Path) -> None:
    assert len(check(parse(tmp_path, source), tmp_path, threads)) == ways


def test_blocks_of_a_large_product(tmp_path: Path) -> None:
    scop = separate(parse(tmp_path, by_rows(2048, 1536, 2560)))
    large, _, twice, _ = strassen_choices(scop, scop.statements[0])
    sizes = [(step.loop, step.size) for step in large.steps if isinstance(step, Split)]
    assert sizes == [
        *(("i", 1024), ("i", 512)),
        *(("j", 64), ("j_block", 2)),
        *(("k", 64), ("k_block", 10), ("k_block", 5)),
    ]
    step = large.steps[-1]
    assert isinstance(step, Strassen)
    assert large.attached == (Attach("zero_S0", "S0", "first"),)
    made = rewritten(scop, large.steps).scop
    names = ("rows_S0", "columns_S0", "zero_S0", "S0", "result_S0")
    assert tuple(each.name for each in made.statements) == names
    # The sums of A's quarters are made once for all blocks of columns.
    assert [(each.statements, each.loops) for each in made.shared] == [(names, 2), (names[1:], 3)]
    assert made.statement("rows_S0").iterators[:3] == (*step.shared[:2], "i")
    assert [array.extents for array in made.arrays[-3:]] == [(5, 7, 513, 64), (5, 7, 65, 64), (7, 513, 64)]
    assert made.statement("S0").instances * 8 == scop.statement("S0").instances * 7
    made = rewritten(scop, twice.steps).scop
    assert [array.extents for array in made.arrays[-3:]] == [(2, 49, 257, 64), (2, 49, 66, 16), (49, 258, 16)]
    assert made.statement("S0").instances * 64 == scop.statement("S0").instances * 49


@pytest.mark.usefixtures("small")
def test_a_pass_of_zeros_goes_where_each_block_is_made_once(tmp_path: Path) -> None:
    scop = separate(parse(tmp_path, by_rows(64, 64, 64, zero=ZERO)))
    whole, parts, _ = strassen_choices(scop, scop.statement("S1"))
    found = []
    for choice in (whole, parts):
        made = rewritten(scop, choice.steps).scop
        reads = {access.array for access in made.statement("result_S1").reads}
        found.append(("S0" in [each.name for each in made.statements], "C" in reads))
    assert found == [(False, False), (True, True)]


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("line_bytes", [32, 64, 128])
def test_each_line_of_rows_far_apart_is_prefetched_once(line_bytes: int, tmp_path: Path) -> None:
    scop = separate(parse(tmp_path, by_rows(64, 64, 64)))
    made = rewritten(scop, strassen_choices(scop, scop.statement("S0"))[0].steps).scop
    constants = CoreConstant("line_bytes", line_bytes), CoreConstant("prefetch_step_bytes", 128)
    core = machine_with(1, 32).core.having(constants)
    steps = set()
    for call in made.transform_calls:
        text = definition(made, made.statement(call.statement), call, 32, core).text
        steps |= set(re.findall(r"; lane \+= (\d+)\) \{\n +__builtin_prefetch", text))
    assert steps == {str(line_bytes // 4)}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("A[i][k]", "A[k][i]"),
        ("B[k][j]", "B[j][k]"),
        ("C[i][j] +=", "C[i][j] -="),
        ("j = 0; j < 256; j++", "j = 255; j >= 0; j--"),
        ("A[i][k] * B[k][j]", "A[i][j] * B[k][j]"),
        ("float", "int"),
    ],
)
def test_other_statements_are_left_alone(before: str, after: str, tmp_path: Path) -> None:
    source = by_rows(256, 256, 256)
    assert before in source
    scop = separate(parse(tmp_path, source.replace(before, after)))
    assert block_product(scop, scop.statements[0]) is None
    assert strassen_choices(scop, scop.statements[0]) == ()


@pytest.mark.parametrize("size", [(255, 256, 256), (256, 64, 256), (96, 256, 256), (256, 256, 67)])
def test_odd_and_small_products_are_left_alone(size: tuple[int, int, int], tmp_path: Path) -> None:
    scop = separate(parse(tmp_path, by_rows(*size)))
    assert block_product(scop, scop.statements[0]) is not None
    assert strassen_choices(scop, scop.statements[0]) == ()


@pytest.mark.parametrize(
    ("step", "word"),
    [
        (Strassen("S0", ("i_block", "j_block", "k")), "don't halve"),
        (Strassen("S0", ("i", "j_block", "k_block")), "don't halve"),
        (Strassen("S0", ("j_block", "i_block", "k_block")), "rows, columns and sums"),
        (Strassen("S0", ("i_block", "j_block", "x")), "has no loops"),
        (Strassen("S0", ("i_block", "j_block", "k_block"), ("j",)), "don't halve"),
        (Strassen("S0", ("i_block", "j_block", "k_block"), ("i",)), "no rows"),
        (Strassen("S0", ("i_block", "j_block", "k_block"), ("k_block",)), "no rows"),
    ],
)
def test_a_step_that_does_not_fit_is_refused(step: Strassen, word: str, tmp_path: Path) -> None:
    scop = separate(parse(tmp_path, by_rows(32, 64, 64)))
    scop = rewritten(scop, (Split("S0", "i", 16), Split("S0", "j", 32), Split("S0", "k", 32))).scop
    with pytest.raises(IllegalVariantError, match=word):
        strassen(scop, step)


@pytest.mark.usefixtures("small")
def test_sums_whose_order_is_kept_are_not_taken_apart(tmp_path: Path) -> None:
    scop = parse(tmp_path, by_rows(64, 64, 64))
    machine = Machine.detect(threads=1)
    for options in (
        SpaceOptions(numerics="strict"),
        SpaceOptions(numerics="reassociated"),
        SpaceOptions(fewer_products=False),
    ):
        variants = pipeline.generate_variants(scop, machine=machine, max_variants=100, **options)
        assert variants
        assert not any(quarters(variant) for variant in variants)
    base = separate(scop)
    with pytest.raises(IllegalVariantError, match="every sum keeps its order"):
        rewritten(base, strassen_choices(base, base.statements[0])[0].steps, numerics="strict")


def test_both_ways_to_multiply_are_among_the_picks(tmp_path: Path) -> None:
    scop = parse(tmp_path, by_rows(256, 256, 256, zero=ZERO))
    machine = Machine.detect(threads=1)
    variants = pipeline.generate_variants(scop, machine=machine, max_variants=200)
    ranking = COST_MODEL.rank(pipeline.candidates(scop, variants, machine=machine), machine)
    assert {bool(quarters(entry.variant)) for _, entry in picks(ranking, 10)} == {False, True}
    apart = [variant for variant in variants if quarters(variant)]
    assert apart
    assert not any(is_fused(scop, variant) for variant in apart)


def test_the_command_leaves_them_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "nest.c"
    path.write_text(by_rows(256, 256, 256))
    words = ["variants", str(path), "--threads", "1", "--max-variants", "40", "--json", "-"]
    found = []
    for more in ([], ["--no-fewer-products"]):
        assert main.main([*words, *more], standalone_mode=False) == 0
        found.append('"strassen"' in capsys.readouterr().out)
    assert found == [True, False]
