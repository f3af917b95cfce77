"""Short rows of plain loops that run as one."""

from __future__ import annotations

from pathlib import Path

import pytest
from computed import check_kernels, parse

from polydl import pipeline
from polydl.errors import IllegalVariantError
from polydl.machine import Machine
from polydl.poly.dependences import dependences
from polydl.variants.rewrites.coalesce_rows import CoalesceRows, coalesce_rows

NORMALIZED = """
void f(float y[6][7][5], const float x[6][7][5], float mean[6], const float scale[6]) {
#pragma scop
  for (int c = 0; c < 6; c++) {
    mean[c] = 0;
    for (int i = 0; i < 7; i++)
      for (int j = 0; j < 5; j++)
        mean[c] += x[c][i][j];
    mean[c] /= 35;
    for (int i = 0; i < 7; i++)
      for (int j = 0; j < 5; j++)
        y[c][i][j] = (x[c][i][j] - mean[c]) * scale[c];
  }
#pragma endscop
}
"""
ADDED = """
void f(float y[6][7][5], const float x[6][7][5]) {
#pragma scop
  for (int c = 0; c < 6; c++)
    for (int i = 0; i < 7; i++)
      for (int j = 0; j < 5; j++)
        y[c][i][j] += x[c][i][j];
#pragma endscop
}
"""
# Nests that go through other arrays.
APART = """
void f(float y[6][7][5], const float x[6][7][5], float w[8][9][3], const float v[8][9][3]) {
#pragma scop
  for (int c = 0; c < 6; c++)
    for (int i = 0; i < 7; i++)
      for (int j = 0; j < 5; j++)
        y[c][i][j] += x[c][i][j];
  for (int d = 0; d < 8; d++)
    for (int k = 0; k < 9; k++)
      for (int l = 0; l < 3; l++)
        w[d][k][l] = 2 * v[d][k][l];
#pragma endscop
}
"""


def test_all_nests_inside_a_shared_loop_go_through_the_same_rows(tmp_path: Path) -> None:
    scop = parse(tmp_path, NORMALIZED)
    made = coalesce_rows(scop, CoalesceRows("S1", ("i", "j")), dependences(scop), reassociate=True)
    assert [statement.iterators for statement in made.statements] == [("c",), ("c", "i_j"), ("c",), ("c", "i_j")]
    assert [statement.betas for statement in made.statements] == [(0, 0), (0, 1, 0), (0, 2), (0, 3, 0)]
    assert {array.view_of: array.extents for array in made.arrays if array.view_of} == {"x": (6, 35), "y": (6, 35)}


def test_all_loops_become_one_where_nothing_stands_still(tmp_path: Path) -> None:
    scop = parse(tmp_path, ADDED)
    made = coalesce_rows(scop, CoalesceRows("S0", ("c", "i", "j")), dependences(scop), reassociate=True)
    (statement,) = made.statements
    assert statement.iterators == ("c_i_j",)
    assert statement.box == ((0, 209),)


@pytest.mark.parametrize(
    ("before", "after", "word"),
    [
        ("* scale[c]", "* mean[j]", "side by side"),
        ("mean[c] += x[c][i][j];", "{ mean[c] += x[c][i][j]; y[c][i][0] = 0; }", "another way"),
        ("x[c][i][j] - mean", "x[c][i][4 - j] - mean", "another way"),
    ],
    ids=["an array of columns", "an element of each row", "rows backwards"],
)
def test_rows_that_do_not_go_on_are_left_alone(before: str, after: str, word: str, tmp_path: Path) -> None:
    assert before in NORMALIZED
    scop = parse(tmp_path, NORMALIZED.replace(before, after))
    with pytest.raises(IllegalVariantError, match=word):
        coalesce_rows(scop, CoalesceRows("S1", ("i", "j")), dependences(scop), reassociate=True)


def test_a_statement_inside_the_outer_loop_alone_keeps_the_two_apart(tmp_path: Path) -> None:
    sums = """for (int j = 0; j < 5; j++)
        mean[c] += x[c][i][j];"""
    assert sums in NORMALIZED
    scop = parse(tmp_path, NORMALIZED.replace(sums, "{ mean[c] += 1; " + sums + " }"))
    with pytest.raises(IllegalVariantError, match="shares some of its loops"):
        coalesce_rows(scop, CoalesceRows("S2", ("i", "j")), dependences(scop), reassociate=True)


@pytest.mark.parametrize("loops", [("c", "i"), ("j",), ("j", "i"), ("i", "q")])
def test_loops_that_are_not_the_innermost_ones_are_refused(loops: tuple[str, ...], tmp_path: Path) -> None:
    scop = parse(tmp_path, ADDED)
    with pytest.raises(IllegalVariantError, match="not the innermost loops"):
        coalesce_rows(scop, CoalesceRows("S0", loops), dependences(scop), reassociate=True)


def first_rewrites(source: str, tmp_path: Path) -> set[object]:
    """What the variants of a nest begin with, but for those without rewrites."""
    space = pipeline.space_on(parse(tmp_path, source), Machine.detect(threads=1))
    assert space.rewrites == ()
    return {each.rewrites[0] for each in space.alternatives}


def test_all_else_is_tried_on_the_long_rows(tmp_path: Path) -> None:
    assert first_rewrites(NORMALIZED, tmp_path) == {CoalesceRows("S1", ("i", "j"))}
    assert first_rewrites(ADDED, tmp_path) == {CoalesceRows("S0", ("c", "i", "j"))}


def test_nests_that_go_through_other_arrays_have_long_rows_as_well(tmp_path: Path) -> None:
    space = pipeline.space_on(parse(tmp_path, APART), Machine.detect(threads=1))
    both = {CoalesceRows("S0", ("c", "i", "j")), CoalesceRows("S1", ("d", "k", "l"))}
    assert space.alternatives
    assert all(set(each.rewrites[:2]) == both for each in space.alternatives)


def test_long_rows_of_whole_vectors_and_products_stay_as_they_are(tmp_path: Path) -> None:
    assert not first_rewrites(ADDED.replace("5", "1024"), tmp_path)
    product = """
void f(float C[6][5], const float A[6][5][7], const float B[5][7], float D[6][5][7]) {
#pragma scop
  for (int c = 0; c < 6; c++) for (int i = 0; i < 5; i++) for (int j = 0; j < 7; j++) D[c][i][j] = A[c][i][j];
  for (int c = 0; c < 64; c++) for (int i = 0; i < 64; i++) for (int j = 0; j < 64; j++) E[c][i] += F[c][j] * G[j][i];
#pragma endscop
}
"""
    product = product.replace("float D", "float E[64][64], const float F[64][64], const float G[64][64], float D")
    assert not any(isinstance(step, CoalesceRows) for step in first_rewrites(product, tmp_path))


@pytest.mark.native
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("source", [NORMALIZED, ADDED, APART], ids=["normalized", "added", "apart"])
def test_variants_compute_the_same(source: str, threads: int, tmp_path: Path) -> None:
    machine = Machine.detect(threads=threads)
    scop = parse(tmp_path, source)
    space = pipeline.space_on(scop, machine)
    variants = pipeline.generate_variants(scop, machine=machine, max_variants=12, seed=1)
    chosen = [each for each in variants if any(isinstance(step, CoalesceRows) for step in each.rewrites)]
    assert len(chosen) > 1
    check_kernels(
        tmp_path, scop, [pipeline.kernel(space.apply(each), machine.vector_bytes) for each in chosen], threads
    )
