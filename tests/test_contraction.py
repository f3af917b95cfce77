"""Array contraction: which local arrays get the memory of one tile, and that the code computes the same."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from computed import check_kernels, parse
from emitted_text import emitted_text
from machines import detected, machine_with
from marks import marked, parametrized

from polydl import pipeline
from polydl.ir.affine import Affine
from polydl.ir.schedule import Loop
from polydl.ir.scop import Array
from polydl.ir.variant import Attach, Interchange, Parallel, Step, Tile, UseMicrokernel, Variant
from polydl.plan.apply import Applied
from polydl.plan.contraction import STACK_BYTES, Contraction

FUSED = (Attach("S0", "S1", "first"), Attach("S2", "S1", "last"))
CALL = UseMicrokernel(1, "c", "j", "i", "k", (), ())

# A layer with sums in a local scalar, and an output of another type, which can't hold them.
LAYER = """
void f(double Y[{rows}][{columns}], const float A[{rows}][64], const float B[64][{columns}],
       const float b[{columns}]) {{
#pragma scop
  for (int i = 0; i < {rows}; i++)
    for (int j = 0; j < {columns}; j++) {{
      float s = b[j];
      for (int k = 0; k < 64; k++)
        s += A[i][k] * B[k][j];
      Y[i][j] = s > 0.0f ? s : 0.5f * s;
    }}
#pragma endscop
}}
"""

QUANTIZED = """
void f(float Y[40][96], const unsigned char A[40][64], const signed char B[64][96], const int b[96],
       const float c[96]) {
#pragma scop
  for (int i = 0; i < 40; i++)
    for (int j = 0; j < 96; j++) {
      int s = b[j];
      for (int k = 0; k < 64; k++)
        s += (int)A[i][k] * (int)B[k][j];
      Y[i][j] = (float)s * c[j];
    }
#pragma endscop
}
"""

PAIRS = """
#include <polydl/bfloat16.h>
void f(bfloat16 Y[40][96], const bfloat16 A[40][32][2], const bfloat16 B[32][96][2], const float b[96]) {
#pragma scop
  for (int i = 0; i < 40; i++)
    for (int j = 0; j < 96; j++) {
      float s = b[j];
      for (int k = 0; k < 32; k++)
        for (int q = 0; q < 2; q++)
          s += bfloat16_to_float(A[i][k][q]) * bfloat16_to_float(B[k][j][q]);
      Y[i][j] = float_to_bfloat16(s < 0.0f ? 0.0f : s);
    }
#pragma endscop
}
"""

TRIANGLE = """
void f(double Y[40][40], const float A[40][64], const float B[64][40]) {
#pragma scop
  for (int i = 0; i < 40; i++)
    for (int j = 0; j <= i; j++) {
      float s = 1.5f;
      for (int k = 0; k < 64; k++)
        s += A[i][k] * B[k][j];
      Y[i][j] = s > 0.0f ? s : 0.5f * s;
    }
#pragma endscop
}
"""

# What is written for one row is read for the next one, too.
ACROSS = """
void f(float Y[40][96], const float A[40][96]) {
#pragma scop
  float t[40][96];
  for (int i = 0; i < 40; i++)
    for (int j = 0; j < 96; j++)
      t[i][j] = A[i][j] * A[i][j];
  for (int i = 0; i < 40; i++)
    for (int j = 0; j < 96; j++)
      Y[i][j] = t[i][j] + (i > 0 ? t[i - (i > 0)][j] : 0.0f);
#pragma endscop
}
"""


def layer(rows: int = 40, columns: int = 96) -> str:
    return LAYER.format(rows=rows, columns=columns)


def applied(tmp_path: Path, source: str, *steps: Step, threads: int = 1) -> Applied:
    return pipeline.apply(parse(tmp_path, source), Variant(steps), machine=machine_with(threads, 32))


def boxes(tmp_path: Path, source: str, *steps: Step) -> list[tuple[str, tuple[int, ...], bool]]:
    """Name and extents of each contracted array, and whether it is private."""
    return [(e.array.name, e.array.extents, e.private) for e in applied(tmp_path, source, *steps).contractions]


def test_an_expanded_scalar_has_the_elements_of_one_tile(tmp_path: Path) -> None:
    made = applied(
        tmp_path, layer(), *FUSED, Tile(1, "i", (8,)), Tile(1, "j", (32,)), CALL, Interchange(1, ("i_t1", "j_t1"))
    )
    (box,) = made.contractions
    assert (box.array.extents, box.private, box.depth) == ((8, 32), False, 3)
    assert made.scop.array("s_of").extents == (8, 32)
    assert made.rewritten.scop.array("s_of").extents == (40, 96)
    # The call finds its rows as far apart as they are in the tile.
    assert made.sites[1].gemm.ldc == 32
    body = emitted_text(pipeline.kernel(made, 32).c).tuned
    assert "float s_of[8][32]" in body
    assert "s_of[i - 8 * i_t1][j - 32 * j_t1] = b[j];" in body
    assert "&s_of[0][0]" in body


def test_shorter_last_tiles_need_no_more(tmp_path: Path) -> None:
    steps = (*FUSED, Tile(1, "i", (12,)), Tile(1, "j", (40,)), CALL, Interchange(1, ("i_t1", "j_t1")))
    assert boxes(tmp_path, layer(), *steps) == [("s_of", (12, 40), False)]


def test_loops_inside_of_the_last_one_that_is_outside_of_all_uses_keep_their_range(tmp_path: Path) -> None:
    steps = (*FUSED, Tile(1, "i", (8,)), Tile(1, "k", (16,)), Tile(1, "j", (32,)), CALL)
    rows = Interchange(1, ("i_t1", "k_t1", "j_t1"))
    assert boxes(tmp_path, layer(), *steps, rows) == [("s_of", (8, 96), False)]
    # Sums go on from one iteration of k_t1 to the next.
    nothing = Interchange(1, ("k_t1", "i_t1", "j_t1"))
    assert boxes(tmp_path, layer(), *steps, nothing) == []


def test_uses_in_separate_nests_share_no_loops(tmp_path: Path) -> None:
    steps = (Tile(1, "i", (8,)), CALL, Interchange(1, ("i_t1",)))
    assert boxes(tmp_path, layer(), *steps) == []


def test_values_for_other_tiles_stay(tmp_path: Path) -> None:
    scop = parse(tmp_path, ACROSS)
    machine = machine_with(1, 32)
    variants = pipeline.generate_variants(scop, machine=machine, max_variants=60)
    assert any(variant.rewrites or variant.attached for variant in variants)
    for variant in variants:
        made = pipeline.apply(scop, variant, machine=machine)
        assert not made.contractions


def test_threads_have_small_boxes_of_their_own(tmp_path: Path) -> None:
    steps = (*FUSED, Tile(1, "i", (8,)), Tile(1, "j", (32,)), CALL, Interchange(1, ("i_t1", "j_t1")))
    made = applied(tmp_path, layer(), *steps, Parallel(1, "i_t1"), threads=2)
    (box,) = made.contractions
    assert (box.array.extents, box.private) == ((8, 32), True)
    body = emitted_text(pipeline.kernel(made, 32).c).tuned
    assert body.count("float s_of[8][32]") == 1
    assert body.index("#pragma omp parallel for") < body.index("float s_of[8][32]") < body.index("for (int j_t1")


def test_two_loops_that_are_dealt_out_as_one_have_the_box_inside(tmp_path: Path) -> None:
    steps = (*FUSED, Tile(1, "i", (8,)), Tile(1, "j", (32,)), CALL, Interchange(1, ("i_t1", "j_t1")))
    made = applied(tmp_path, layer(), *steps, Parallel(1, "i_t1", inner="j_t1"), threads=2)
    body = emitted_text(pipeline.kernel(made, 32).c).tuned
    assert "collapse(2)" in body
    assert body.index("for (int j_t1") < body.index("float s_of[8][32]") < body.index("_run(")


@pytest.mark.parametrize(("parallel", "extents"), [("i_t1", (256, 128)), ("j_t1", (64, 256))])
def test_threads_that_share_a_large_box_are_apart_in_it(
    tmp_path: Path, parallel: str, extents: tuple[int, ...]
) -> None:
    tiles = (Tile(1, "i", (64,)), Tile(1, "j", (128,)), CALL)
    assert STACK_BYTES < 64 * 128 * 4
    order = Interchange(1, ("i_t1", "j_t1"))
    found = boxes(tmp_path, layer(256, 256), *FUSED, *tiles, order, Parallel(1, parallel))
    assert found == [("s_of", extents, False)]


def test_a_tile_of_a_triangle_has_the_box_around_it(tmp_path: Path) -> None:
    steps = (*FUSED, Tile(1, "i", (8,)), Interchange(1, ("i_t1", "i", "j", "k")))
    assert boxes(tmp_path, TRIANGLE, *steps) == [("s_of", (1, 1), False)]


def test_arrays_that_nothing_writes_before_they_are_read_stay(tmp_path: Path) -> None:
    scop = parse(tmp_path, layer())
    statements = tuple(statement for statement in scop.statements if statement.name != "S0")
    made = replace(scop, statements=statements)
    steps = (FUSED[1], Tile(0, "i", (8,)), replace(CALL, nest=0), Interchange(0, ("i_t1",)))
    found = pipeline.apply(made, Variant(steps), machine=machine_with(1, 32))
    assert found.plan.nests[1].follows == 0
    assert found.contractions == ()


def test_a_loop_that_may_fill_vectors_is_not_outside_of_a_box(tmp_path: Path) -> None:
    # The loops that all uses share are all that there are.
    steps = (*FUSED, Interchange(1, ("i", "j", "k")))
    assert boxes(tmp_path, layer(), *steps) == [("s_of", (1, 1), False)]
    lanes = (*FUSED, Interchange(1, ("i", "k", "j")))
    assert boxes(tmp_path, layer(), *lanes) == [("s_of", (1, 96), False)]


def test_starts_count_positions_as_the_numbers_that_they_are() -> None:
    array = Array("s", "float", 4, (8, 4), "local")
    box = Contraction(array, (Affine((0, 8, 2), 1), Affine((3, 0, 0))))
    i, j = Loop("i", 0), Loop("j", 1)
    assert box.starts_inside((i, j, 5, j)) == (Affine((0, 8, 0), 11), Affine((3, 0, 0)))
    assert box.starts_inside((2, i, j)) == (Affine((8, 2), 1), Affine((0, 0), 6))


def test_the_model_counts_a_tile_alone(tmp_path: Path) -> None:
    scop, machine = parse(tmp_path, layer(2048, 1024)), machine_with(1, 32)
    tile = (Tile(1, "i", (16,)), Tile(1, "j", (32,)), CALL, Interchange(1, ("i_t1", "j_t1")))
    fused, apart = Variant((*FUSED, *tile)), Variant(tile)
    first, second = pipeline.candidates(scop, (fused, apart), machine=machine)
    full = 2048 * 1024 * 4
    assert first.footprint == second.footprint - full + 16 * 32 * 4
    # Neither the sums nor the pass over them come from beyond the first cache.
    assert sum(first.traffic[0]) < full / 8 < full < second.traffic[0][1]
    assert first.traffic[1][1] < second.traffic[1][1] - full


CASES = {
    "c": (layer(), ("c",)),
    "tails": (layer(43, 50), ("c",)),
    "plain": (layer(), ("none",)),
    "triangle": (TRIANGLE, ("none",)),
    "across": (ACROSS, ("none",)),
    "int": (QUANTIZED, ("c-int8",)),
    "groups": (PAIRS, ("c-amx",)),
}


@pytest.mark.native
@parametrized("threads", [1, 2], quick=2)
@pytest.mark.parametrize(
    ("case", "kernel"), marked(*((name, kernel) for name, (_, kernels) in CASES.items() for kernel in kernels))
)
def test_variants_compute_the_same(tmp_path: Path, case: str, kernel: str, threads: int) -> None:
    source, _ = CASES[case]
    scop, machine = parse(tmp_path, source), detected(threads=threads)
    named = "c-amx-groups" if kernel == "c-amx" else kernel
    variants = pipeline.generate_variants(scop, machine=machine, max_variants=80, microkernel=named, seed=2)
    made = [pipeline.apply(scop, each, machine=machine, microkernel=named) for each in variants]
    smaller = [each for each in made if each.contractions]
    assert bool(smaller) == (case != "across")
    # Those with boxes of their own for threads, and others.
    private = [each for each in smaller if any(box.private for box in each.contractions)]
    chosen = {each.variant.id: each for each in (*private[:2], *(smaller or made)[:2], *(smaller or made)[-2:])}
    check_kernels(
        tmp_path, scop, [pipeline.kernel(each, machine.vector_bytes) for each in chosen.values()], threads=threads
    )
