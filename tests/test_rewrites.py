"""Coalesced loops and packed operands: what they become, when they are refused, that they compute the same."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from computed import check_kernels, parse, separate
from machines import detected, machine_with
from marks import parametrized

from polydl import pipeline
from polydl.errors import IllegalVariantError
from polydl.ir.scop import Scop
from polydl.ir.variant import RewriteStep, UseMicrokernel, Variant
from polydl.machine import CoreConstant, Machine
from polydl.microkernels.libxsmm import LIBXSMM
from polydl.poly.dependences import dependences
from polydl.rewrite_contract import Request
from polydl.variant_json import variant_from_json
from polydl.variants.rewrites.coalesce import Coalesce, coalesce
from polydl.variants.rewrites.gather import GATHER, Gather, gather
from polydl.variants.rewrites.pack import Pack, pack
from polydl.variants.rewrites.split import Split
from polydl.variants.rewrites.unfold import UNFOLD, Unfold, unfold
from polydl.variants.rewrites.winograd import Winograd

POINTWISE = """
void f(float out[2][3][7][6][16], float flt[3][2][20][16], float in[2][2][7][6][20]) {
#pragma scop
  for (int n = 0; n < 2; n++)
    for (int kt = 0; kt < 3; kt++)
      for (int ct = 0; ct < 2; ct++)
        for (int y = 0; y < 7; y++)
          for (int x = 0; x < 6; x++)
            for (int k = 0; k < 16; k++)
              for (int c = 0; c < 20; c++)
                out[n][kt][y][x][k] += flt[kt][ct][c][k] * in[n][ct][y][x][c];
#pragma endscop
}
"""

TRANSPOSED = """
void f(float C[70][48], const float A[70][300], const float B[48][300]) {
#pragma scop
  for (int i = 0; i < 70; i++)
    for (int j = 0; j < 48; j++) {
      C[i][j] = 0;
      for (int k = 0; k < 300; k++)
        C[i][j] += A[i][k] * B[j][k];
    }
#pragma endscop
}
"""

# Both read B.
TWO_PRODUCTS = """
void f(float C[40][48], float D[40][48], const float A[40][30], const float B[48][30], const float E[40][30]) {
#pragma scop
  for (int i = 0; i < 40; i++)
    for (int j = 0; j < 48; j++)
      for (int k = 0; k < 30; k++)
        C[i][j] += A[i][k] * B[j][k];
  for (int i = 0; i < 40; i++)
    for (int j = 0; j < 48; j++)
      for (int k = 0; k < 30; k++)
        D[i][j] += E[i][k] * B[j][k];
#pragma endscop
}
"""

PLAIN = """
void f(float out[40][6][5], const float flt[40][4][3][3], const float in[4][{rows}][{columns}]) {{
#pragma scop
  for (int k = 0; k < 40; k++)
    for (int c = 0; c < 4; c++)
      for (int y = 0; y < 6; y++)
        for (int r = 0; r < 3; r++)
          for (int s = 0; s < 3; s++)
            for (int x = 0; x < 5; x++)
              out[k][y][x] += flt[k][c][r][s] * in[c][{stride} * y + r][{stride} * x + s];
#pragma endscop
}}
"""

needs_libxsmm = pytest.mark.skipif(LIBXSMM.unavailable() is not None, reason="LIBXSMM is not installed")


def run_rewritten(
    scop: Scop, tmp_path: Path, threads: int = 2, kind: type = object, constants: tuple[CoreConstant, ...] = ()
) -> list[Variant]:
    """Compile and check variants that begin with a rewrite, one of them of that kind; they are returned."""
    machine = replace(detected(threads=threads), constants=constants)
    space = pipeline.space_on(scop, machine)
    variants = pipeline.generate_variants(scop, machine=machine, max_variants=24, seed=2)
    alone = [v for v in variants if v.rewrites and not v.attached]
    chosen = [variant for variant in alone if any(isinstance(step, kind) for step in variant.rewrites)][:6]
    kernels = [pipeline.kernel(space.apply(variant), machine.vector_bytes) for variant in chosen]
    check_kernels(tmp_path, scop, kernels, threads)
    return chosen


def test_two_loops_become_one_over_views(tmp_path: Path) -> None:
    base = separate(parse(tmp_path, POINTWISE))
    made = coalesce(base, Coalesce("S0", "y", "x"), dependences(base))
    (statement,) = made.statements
    assert statement.iterators == ("n", "kt", "ct", "y_x", "k", "c")
    assert statement.box is not None
    assert statement.box[3] == (0, 41)
    assert statement.instances == base.statements[0].instances
    views = {array.view_of: array.extents for array in made.arrays if array.view_of}
    assert views == {"out": (2, 3, 42, 16), "in": (2, 2, 42, 20)}


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ("in[n][ct][y][x][c];|in[n][ct][y][x + 0 * y][c] * 1;", None),
        ("float in[2][2][7][6][20]|float in[2][2][7][8][20]", "side by side"),
        ("y < 7; y++|y < 5; y++", None),
        ("x < 6; x++|x < 5; x++", "side by side"),
        ("in[n][ct][y][x][c]|in[n][ct][6 - y][x][c]", "side by side"),
    ],
)
def test_loops_that_do_not_run_on_are_not_coalesced(change: str, word: str | None, tmp_path: Path) -> None:
    before, after = change.split("|")
    assert before in POINTWISE
    base = separate(parse(tmp_path, POINTWISE.replace(before, after)))
    step = Coalesce("S0", "y", "x")
    if word is None:
        assert coalesce(base, step, dependences(base)).statements[0].depth == 6
    else:
        with pytest.raises(IllegalVariantError, match=word):
            coalesce(base, step, dependences(base))


def test_a_loop_is_not_coalesced_with_itself(tmp_path: Path) -> None:
    source = """
void f(float C[4][4][6], float t[1], const float A[4][4][5], const float B[5][6]) {
#pragma scop
  for (int b = 0; b < 4; b++)
    for (int i = 0; i < 4; i++)
      for (int k = 0; k < 5; k++)
        for (int j = 0; j < 6; j++)
          C[b][i][j] += A[b][i][k] * B[k][j];
  for (int b = 0; b < 4; b++)
    for (int j = 0; j < 6; j++)
      t[0] += C[b][b][j];
#pragma endscop
}
"""
    base = separate(parse(tmp_path, source))
    for step, name in ((Coalesce("S0", "b", "i"), "S1"), (Coalesce("S0", "k", "k"), "S0")):
        with pytest.raises(IllegalVariantError, match=f"of {name} is no two loops"):
            coalesce(base, step, dependences(base))


def test_a_loop_that_is_not_there_is_not_coalesced(tmp_path: Path) -> None:
    base = separate(parse(tmp_path, POINTWISE))
    with pytest.raises(IllegalVariantError, match="no loops"):
        coalesce(base, Coalesce("S0", "y", "z"), dependences(base))


@pytest.mark.slow
@pytest.mark.native
def test_an_initialisation_is_coalesced_with_its_accumulation(tmp_path: Path) -> None:
    source = POINTWISE.replace(
        "#pragma scop\n",
        "#pragma scop\n  for (int n = 0; n < 2; n++)\n    for (int kt = 0; kt < 3; kt++)\n"
        "      for (int y = 0; y < 7; y++)\n        for (int x = 0; x < 6; x++)\n"
        "          for (int k = 0; k < 16; k++)\n            out[n][kt][y][x][k] = 0;\n",
    )
    scop = parse(tmp_path, source)
    base = separate(scop)
    made = coalesce(base, Coalesce("S1", "y", "x"), dependences(base))
    assert [statement.depth for statement in made.statements] == [4, 6]
    assert run_rewritten(scop, tmp_path)


def test_a_copy_turns_the_dimensions(tmp_path: Path) -> None:
    scop = separate(parse(tmp_path, TRANSPOSED))
    product = scop.statements[-1].name
    made = pack(scop, Pack(product, "B", (1, 0)))
    packed = next(array for array in made.arrays if array.name == "B_packed")
    assert (packed.extents, packed.storage) == ((300, 48), "local")
    assert made.statements[0].name == "pack_B"
    assert {access.array for access in made.statement(product).reads} == {"C", "A", "B_packed"}
    assert made.statement(product).accesses != scop.statement(product).accesses


@pytest.mark.parametrize(("step", "word"), [(("B", (0, 0)), "no order"), (("C", (1, 0)), "stale")])
def test_a_copy_that_makes_no_sense_is_refused(step: tuple[str, tuple[int, ...]], word: str, tmp_path: Path) -> None:
    scop = separate(parse(tmp_path, TRANSPOSED))
    with pytest.raises(IllegalVariantError, match=word):
        pack(scop, Pack(scop.statements[-1].name, *step))


@pytest.mark.slow
@pytest.mark.native
@needs_libxsmm
def test_coalesced_variants_compute_the_same(tmp_path: Path) -> None:
    chosen = run_rewritten(parse(tmp_path, POINTWISE), tmp_path)
    assert {type(step) for variant in chosen for step in variant.rewrites} == {Coalesce}


@pytest.mark.slow
@pytest.mark.native
@needs_libxsmm
def test_calls_may_sum_over_a_part_of_many_channels(tmp_path: Path) -> None:
    many = POINTWISE.replace("[2][20][16]", "[20][64][16]").replace("[2][7][6][20]", "[20][7][6][64]")
    scop = parse(tmp_path, many.replace("ct < 2;", "ct < 20;").replace("c < 20;", "c < 64;"))
    chosen = run_rewritten(scop, tmp_path, kind=Split)
    splits = {step for variant in chosen for step in variant.rewrites if isinstance(step, Split)}
    assert splits == {Split("S0", "ct", 5)}
    # Which of them are drawn depends on the machine; among many, some sum over the blocks alone.
    many_variants = pipeline.generate_variants(scop, machine=detected(threads=2), max_variants=200, seed=2)
    parts = [variant for variant in many_variants if any(isinstance(step, Split) for step in variant.rewrites)]
    summed = {step.batch for variant in parts for step in variant.steps if isinstance(step, UseMicrokernel)}
    assert ("ct",) in summed


def plain(tmp_path: Path, stride: int) -> Scop:
    return parse(tmp_path, PLAIN.format(stride=stride, rows=5 * stride + 3, columns=4 * stride + 3))


def test_what_is_gathered_is_walked_as_one_loop(tmp_path: Path) -> None:
    base = separate(plain(tmp_path, 2))
    made = gather(base, Gather("S0", "in", ("c", "r", "s", "y", "x"), (3, 2)))
    copied = next(array for array in made.arrays if array.name == "in_gathered")
    assert copied.extents == (36, 30)
    for step in (Coalesce("S0", "r", "s"), Coalesce("S0", "c", "r_s"), Coalesce("S0", "y", "x")):
        made = coalesce(made, step, dependences(made))
    product = made.statements[-1]
    assert product.box == ((0, 39), (0, 35), (0, 29))
    read = next(access for access in product.reads if access.array == "in_gathered")
    assert [made.stride(read, loop) for loop in range(3)] == [0, 30, 1]


@pytest.mark.parametrize(
    ("step", "word"),
    [
        (Gather("S0", "out", ("k", "y", "x"), (1, 2)), "stale"),
        (Gather("S0", "in", ("c", "y", "x"), (1, 2)), "are not those that move"),
        (Gather("S0", "in", ("c", "r", "s", "y", "x"), (3, 1)), "don't make up 5 loops"),
    ],
)
def test_a_gathering_that_makes_no_sense_is_refused(step: Gather, word: str, tmp_path: Path) -> None:
    with pytest.raises(IllegalVariantError, match=word):
        gather(separate(plain(tmp_path, 2)), step)


@pytest.mark.native
@parametrized("stride", [1, 2], quick=1)
def test_plain_convolutions_with_strides_or_short_rows_are_gathered(tmp_path: Path, stride: int) -> None:
    chosen = run_rewritten(plain(tmp_path, stride), tmp_path, kind=Gather)
    uses = {(step.m, step.k) for variant in chosen for step in variant.steps if isinstance(step, UseMicrokernel)}
    assert uses == {("y_x", "c_r_s")}


@pytest.mark.parametrize(
    ("stride", "order", "joined", "extents", "strides"),
    [
        # A row of the image for each column of the filter: c r s y x walk over [c][s][row x].
        (1, (0, 2, 1, 3), (1, 1, 2), (4, 3, 40), (120, 5, 40, 5, 1)),
        # The columns of the filter between rows and pixels: over [c][row s][x].
        (2, (0, 1, 2, 3), (1, 2, 1), (4, 39, 5), (195, 15, 5, 30, 1)),
    ],
)
def test_what_is_unfolded_has_a_row_for_each_column_of_the_filter(
    stride: int, order: tuple[int, ...], joined: tuple[int, ...], extents: object, strides: object, tmp_path: Path
) -> None:
    base = separate(plain(tmp_path, stride))
    made = unfold(base, Unfold("S0", "in", 2, ("s", "x"), order, joined))
    assert next(array.extents for array in made.arrays if array.name == "in_unfolded") == extents
    product = made.statements[-1]
    read = next(access for access in product.reads if access.array == "in_unfolded")
    assert tuple(made.stride(read, product.iterators.index(loop)) for loop in "crsyx") == strides


@pytest.mark.parametrize(
    ("step", "word"),
    [
        (Unfold("S0", "out", 2, ("x",), (0, 1, 2), (1, 1, 1)), "stale"),
        (Unfold("S0", "in", 2, ("r", "x"), (0, 1, 2, 3), (1, 1, 2)), "are not those that move"),
        (Unfold("S0", "in", 3, ("s", "x"), (0, 1, 2, 3), (1, 1, 2)), "no dimension 3"),
        (Unfold("S0", "in", 2, ("s", "x"), (0, 1, 1, 3), (1, 1, 2)), "no order of 4"),
        (Unfold("S0", "in", 2, ("s", "x"), (0, 1, 2, 3), (1, 2, 2)), "don't make up 4"),
    ],
)
def test_an_unfolding_that_makes_no_sense_is_refused(step: Unfold, word: str, tmp_path: Path) -> None:
    with pytest.raises(IllegalVariantError, match=word):
        unfold(separate(plain(tmp_path, 2)), step)


@pytest.mark.parametrize(
    "step", [Unfold("S0", "x", 0, (), (), ()), Unfold("S0", "z", 1, (), (0,), (1,))], ids=["scalar", "column"]
)
def test_a_dimension_that_no_loop_moves_is_not_unfolded(step: Unfold, tmp_path: Path) -> None:
    source = """
void f(float y[8], const float x[5], const float z[8][5]) {
#pragma scop
  for (int i = 0; i < 8; i++)
    y[i] += x[3] * z[i][3];
#pragma endscop
}
"""
    with pytest.raises(IllegalVariantError, match="are not those that move"):
        unfold(separate(parse(tmp_path, source)), step)


@pytest.mark.slow
@pytest.mark.native
@pytest.mark.parametrize(
    ("stride", "roles"), [(1, {("y_x", "c"), ("y_x", "r"), ("y_x", "s")}), (2, {("x", "r_s"), ("x", "c")})]
)
def test_plain_convolutions_are_unfolded(stride: int, roles: set[tuple[str, str]], tmp_path: Path) -> None:
    source = PLAIN.format(stride=stride, rows=5 * stride + 3, columns=4 * stride + 3).replace("40", "64")
    chosen = run_rewritten(parse(tmp_path, source), tmp_path, kind=Unfold)
    uses = {(step.m, step.k) for variant in chosen for step in variant.steps if isinstance(step, UseMicrokernel)}
    assert uses
    assert uses <= roles


def test_rows_that_fill_their_vectors_are_not_unfolded(tmp_path: Path) -> None:
    source = PLAIN.format(stride=1, rows=8, columns=34).replace("[6][5]", "[6][32]").replace("x < 5", "x < 32")
    scop = separate(parse(tmp_path, source))
    assert row_copies(scop) == []
    short = separate(plain(tmp_path, 1))
    assert row_copies(short) == [Gather, Unfold]


def row_copies(scop: Scop) -> list[type[RewriteStep]]:
    """The copies that are proposed for the last statement's rows, by how they begin."""
    request = Request(scop, scop.statements[-1], (), machine_with(1, 64))
    return [type(each.steps[0]) for rewrite in (GATHER, UNFOLD) for each in rewrite.propose(request)]


@pytest.mark.slow
@pytest.mark.native
def test_rows_of_the_output_are_coalesced_too(tmp_path: Path) -> None:
    source = PLAIN.replace("{stride} * y + r", "y").replace("{stride} * x + s", "x").replace("[3][3]", "")
    source = source.replace("[r][s]", "").replace("r < 3", "r < 1").replace("s < 3", "s < 1")
    chosen = run_rewritten(parse(tmp_path, source.format(rows=6, columns=5)), tmp_path, kind=Coalesce)
    uses = {(step.m, step.k) for variant in chosen for step in variant.steps if isinstance(step, UseMicrokernel)}
    assert uses == {("y_x", "c")}


@pytest.mark.slow
@pytest.mark.native
@needs_libxsmm
def test_packed_variants_compute_the_same_and_use_the_kernel(tmp_path: Path) -> None:
    scop = parse(tmp_path, TRANSPOSED)
    chosen = run_rewritten(scop, tmp_path)
    assert {type(step) for variant in chosen for step in variant.rewrites} == {Pack}
    wide = Machine.detect().vector_bytes
    space = pipeline.space_on(scop, machine_with(2, wide), microkernel="libxsmm")
    assert "libxsmm" not in [report.kernel for report in space.reports]
    assert space.alternatives
    assert all("libxsmm" in [r.kernel for r in each.reports] for each in space.alternatives)


@pytest.mark.native
def test_two_copies_of_one_array_are_two_statements(tmp_path: Path) -> None:
    scop = parse(tmp_path, TWO_PRODUCTS)
    once = Variant((Pack("S0", "B", (1, 0)),))
    both = Variant((Pack("S0", "B", (1, 0)), Pack("S1", "B", (1, 0))))
    applied = [pipeline.apply(scop, variant, machine=machine_with(1, 32)) for variant in (once, both)]
    assert [statement.name for statement in applied[1].scop.statements if statement.origin == "copy"] == [
        "pack_B_",
        "pack_B",
    ]
    check_kernels(tmp_path, scop, [pipeline.kernel(each, 32) for each in applied])


def test_a_copy_is_of_what_the_statement_reads(tmp_path: Path) -> None:
    scop = parse(tmp_path, TWO_PRODUCTS)
    for steps in ((Pack("S0", "E", (1, 0)),), (Pack("S0", "B", (1, 0)), Pack("S0", "B", (0, 1)))):
        with pytest.raises(IllegalVariantError, match=r"S0 does not read `[EB]`"):
            pipeline.apply(scop, Variant(steps), machine=machine_with(1, 32))


def test_loops_that_bound_each_other_have_no_tiles_of_a_convolution(tmp_path: Path) -> None:
    """A step that was written for another nest is refused, and is no fault."""
    bounded = """
    void f(float out[6], const float in[8], const float filter[3]) {
    #pragma scop
      for (int y = 0; y < 6; y++)
        for (int r = 0; r < 3; r++)
          if (y + r >= 1)
            out[y] += in[y + r - 1] * filter[r];
    #pragma endscop
    }
    """
    scop = parse(tmp_path, bounded)
    with pytest.raises(IllegalVariantError, match="loops of S0 bound each other"):
        pipeline.apply(scop, Variant((Winograd("S0", (("y", "r", 2),), 0),)), machine=machine_with(1, 32))


def test_rewrites_survive_json() -> None:
    unfolded = Unfold("S1", "A", 2, ("s", "x"), (0, 1, 3, 2), (1, 3))
    gathered = Gather("S1", "A", ("k", "y", "x"), (1, 2))
    variant = Variant((Pack("S1", "B", (1, 0)), gathered, unfolded, Coalesce("S1", "y", "x")))
    assert variant_from_json(variant.to_json()) == variant
    assert variant.rewrites == variant.steps


@pytest.mark.parametrize(("pixels", "loops"), [(16, {"y_x", "n"}), (64, {"y_x"})])
def test_columns_lie_side_by_side_where_there_are_enough(tmp_path: Path, pixels: int, loops: set[str]) -> None:
    source = POINTWISE.replace("[7][6]", f"[4][{pixels}]").replace("y < 7", "y < 4").replace("x < 6", f"x < {pixels}")
    source = source.replace("[2]", "[40]", 1).replace("in[2]", "in[40]").replace("n < 2", "n < 40")
    space = pipeline.space_on(parse(tmp_path, source), machine_with(1, 64), microkernel="c")
    coalesced = next(each for each in space.alternatives if [type(step) for step in each.rewrites] == [Coalesce])
    matches = [shape.match for shape in coalesced.spaces[-1].shapes if shape.match is not None]
    names = coalesced.scop.statements[-1].iterators
    assert {names[match.n] for match in matches} == loops


STRIDED = """
void f(float out[4][16][32][16], const float flt[4][8][8][16], const float in[8][32][{columns}][8]) {{
#pragma scop
  for (int kt = 0; kt < 4; kt++)
    for (int ct = 0; ct < 8; ct++)
      for (int y = 0; y < 16; y++)
        for (int x = 0; x < {used}; x++)
          for (int c = 0; c < 8; c++)
            for (int k = 0; k < 16; k++)
              out[kt][y][x][k] += flt[kt][ct][c][k] * in[ct][2 * y][2 * x][c];
#pragma endscop
}}
"""


@pytest.mark.slow
@pytest.mark.native
def test_columns_whose_sums_share_places_in_caches_are_brought_together(tmp_path: Path) -> None:
    scop = parse(tmp_path, STRIDED.format(columns=64, used=32))
    sets = (CoreConstant("same_set_bytes", (4096, 65536)),)
    (chosen, *_) = run_rewritten(scop, tmp_path, kind=Gather, constants=sets)
    (step,) = (step for step in chosen.rewrites if isinstance(step, Gather))
    assert (step.array, step.loops) == ("in", ("y", "ct", "x", "c"))
    machine = replace(detected(threads=1), constants=sets)
    apart = pipeline.space_on(parse(tmp_path, STRIDED.format(columns=63, used=31)), machine)
    assert not any(isinstance(step, Gather) for each in apart.alternatives for step in each.rewrites)


def test_nests_stay_in_order_where_the_outermost_loop_becomes_the_inner_one(tmp_path: Path) -> None:
    source = """
void f(float y[5][4], const float x[5][4], float z[7]) {
#pragma scop
  for (int i = 0; i < 7; i++) z[i] = 1;
  for (int j = 0; j < 4; j++) for (int i = 0; i < 5; i++) y[i][j] = x[i][j];
#pragma endscop
}
"""
    base = separate(parse(tmp_path, source))
    made = coalesce(base, Coalesce("S1", "i", "j"), dependences(base))
    assert [statement.betas for statement in made.statements] == [(0, 0), (1, 0)]
    assert made.statements[1].box == ((0, 19),)
