"""A variant is applied by itself, whoever made it: no search has to know it."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from computed import parse
from machines import machine_with

from polydl import pipeline, registry
from polydl.errors import IllegalVariantError
from polydl.ir.variant import Attach, Interchange, Parallel, Step, Tile, Unroll, UseMicrokernel, Variant, Vectors
from polydl.plan.apply import apply
from polydl.variants.rewrites.pack import Pack

PRODUCT = """\
void product(float C[96][80], float A[96][64], float B[64][80]) {
#pragma scop
  for (int i = 0; i < 96; ++i)
    for (int j = 0; j < 80; ++j)
      C[i][j] = 0.0f;
  for (int i = 0; i < 96; ++i)
    for (int j = 0; j < 80; ++j)
      for (int k = 0; k < 64; ++k)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""
SEIDEL = """\
void seidel(float A[60][60]) {
#pragma scop
  for (int i = 1; i < 59; ++i)
    for (int j = 1; j < 59; ++j)
      A[i][j] = 0.25f * (A[i - 1][j] + A[i][j - 1] + A[i][j + 1] + A[i + 1][j]);
#pragma endscop
}
"""
KERNELS = (registry.load("microkernels", "c"),)
CALL = UseMicrokernel(1, "c", "j", "i", "k")
# Nothing that a search proposes: a copy of A that no microkernel needs, and tiles of odd sizes.
OWN: tuple[Step, ...] = (
    Pack("S1", "A", (1, 0)),
    Attach("S0", "S1", "first"),
    Tile(2, "i", (48, 12)),
    Tile(2, "j", (40,)),
    UseMicrokernel(2, "c", "j", "i", "k"),
    Interchange(2, ("j_t1", "i_t2", "i_t1")),
    Parallel(2, "j_t1"),
)


def test_a_variant_that_no_search_proposes_is_applied(tmp_path: Path) -> None:
    scop = parse(tmp_path, PRODUCT)
    applied = apply(scop, Variant(OWN), KERNELS)
    assert applied.violations == ()
    assert [array.name for array in applied.scop.arrays if array.storage == "local"] == ["A_packed"]
    (site,) = applied.sites.values()
    assert (site.gemm.m, site.gemm.n, site.gemm.k) == ((40, 40), (12, 12), (64, 64))
    assert site.gemm.overwrites
    assert [name for name, _ in applied.executed[1].schedule.statements if name == "S0"] == []
    assert "polydl_gemm2" in pipeline.kernel(applied, 32).c


def test_the_order_of_steps_has_no_influence_where_they_say_nothing_of_it(tmp_path: Path) -> None:
    scop = parse(tmp_path, PRODUCT)
    expected = apply(scop, Variant(OWN), KERNELS)
    generator = random.Random(0)
    for _ in range(10):
        steps = list(OWN)
        generator.shuffle(steps)
        applied = apply(scop, Variant(tuple(steps)), KERNELS)
        assert applied.variant == expected.variant
        assert applied.variant.id == expected.variant.id == Variant(OWN).id
        assert applied.plan == expected.plan


def test_the_order_of_unrolled_loops_says_nothing(tmp_path: Path) -> None:
    source = PRODUCT.replace("64", "4").replace("80", "4")
    order, unrolled = Interchange(1, ("i", "j", "k")), (Unroll(1, "j"), Unroll(1, "k"))
    one, other = (apply(parse(tmp_path, source), Variant((order, *steps)), ()) for steps in (unrolled, unrolled[::-1]))
    assert one.variant.id == other.variant.id == Variant((order, *unrolled)).id


def test_generated_variants_are_in_canonical_order(tmp_path: Path) -> None:
    scop = parse(tmp_path, PRODUCT)
    space = pipeline.space_on(scop, machine_with(2, 32))
    variants = pipeline.generate(space, max_variants=60).variants
    assert len(variants) == 60
    assert all(space.apply(variant).variant.id == variant.id for variant in variants)


def test_a_broken_dependence_is_named_with_its_lines(tmp_path: Path) -> None:
    scop = parse(tmp_path, SEIDEL)
    with pytest.raises(IllegalVariantError, match=r"RAW dependence on `A` within S0 \(line 5\) .* running `i`"):
        apply(scop, Variant((Parallel(0, "i"),)), ())
    with pytest.raises(IllegalVariantError, match=r"dependence on `C` from S0 \(line 5\) to S1 \(line 9\)"):
        # The sums begin with what the zeros have left; they can't run first.
        apply(parse(tmp_path, PRODUCT), Variant((Attach("S0", "S1", "last"),)), ())


BACKWARDS = """\
void backwards(float A[60][60]) {
#pragma scop
  for (int i = 1; i < 59; ++i)
    for (int j = 1; j < 59; ++j)
      A[i][j] = 0.5f * A[i - 1][j + 1];
#pragma endscop
}
"""
ACROSS = """\
void across(float b[64][64], float c[64][64], float a[64][64]) {
#pragma scop
  for (int i = 0; i < 64; ++i)
    for (int j = 0; j < 64; ++j)
      b[i][j] = a[i][j] * 2.0f;
  for (int i = 0; i < 64; ++i)
    for (int j = 0; j < 64; ++j)
      c[i][j] = b[63 - i][j] + 1.0f;
#pragma endscop
}
"""


@pytest.mark.parametrize(
    ("text", "steps", "message"),
    [
        (BACKWARDS, (Interchange(0, ("j", "i")),), r"within S0 \(line 5\) is broken by `interchange` of nest 0"),
        (
            BACKWARDS,
            (Tile(0, "i", (8,)), Tile(0, "j", (8,))),
            r"within S0 \(line 5\) is broken by `tile` of nest 0 \(loop `j`\)$",
        ),
        (
            BACKWARDS,
            (Tile(0, "i", (8,)), Interchange(0, ("i_t1", "j", "i"))),
            r"within S0 \(line 5\) is broken by `interchange` of nest 0",
        ),
        (PRODUCT, (Attach("S0", "S1", "last"), Tile(1, "k", (8,))), r"to S1 \(line 9\) is broken by `attach`$"),
        (ACROSS, (Attach("S1", "S0"),), r"`attach`.* of S1 \(line 8\) can't be aligned with those of S0 \(line 5\)"),
        (PRODUCT, (Pack("S1", "C", (1, 0)),), "^`pack`: `C` is read and written by S1"),
    ],
)
def test_an_illegal_step_is_named_with_the_lines_of_what_it_breaks(
    tmp_path: Path, text: str, steps: tuple[Step, ...], message: str
) -> None:
    with pytest.raises(IllegalVariantError) as error:
        apply(parse(tmp_path, text), Variant(steps), KERNELS)
    assert re.search(message, error.value.message), error.value.message


@pytest.mark.parametrize(
    ("length", "element"), [(5, "float"), (0, "float"), (-8, "float"), (2, "float"), (4, "double")]
)
def test_vectors_have_a_power_of_two_of_bytes_and_hold_an_element(tmp_path: Path, length: int, element: str) -> None:
    scop = parse(tmp_path, PRODUCT.replace("float", element))
    least = {"float": 4, "double": 8}[element]
    with pytest.raises(
        IllegalVariantError, match=f"can't have {length} bytes: give them a power of two, {least} to 256"
    ):
        apply(scop, Variant((Vectors(1, length),)), ())
    for legal in (least, 16, 32):
        assert apply(scop, Variant((Vectors(1, legal),)), ()).plan.nests[1].vector_bytes == legal


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ((CALL, Tile(1, "i", (12,)), Tile(1, "i", (6,))), "given once"),
        ((Interchange(1, ("i", "j", "k")), Interchange(1, ("k", "j", "i"))), "more than one step `interchange`"),
        ((Interchange(1, ("i", "j")),), "must name each of its loops once"),
        ((Tile(7, "i", (12,)),), "there is no nest 7"),
        ((UseMicrokernel(1, "libxsmm", "j", "i", "k"),), "no microkernel `libxsmm` among c"),
        ((UseMicrokernel(1, "c", "k", "i", "j"),), "no match for `c`"),
        ((Pack("S1", "C", (1, 0)),), "`C` is read and written by S1"),
    ],
)
def test_a_step_that_cannot_be_taken_says_why(tmp_path: Path, steps: tuple[Step, ...], message: str) -> None:
    with pytest.raises(IllegalVariantError, match=message):
        apply(parse(tmp_path, PRODUCT), Variant(steps), KERNELS)


TRANSPOSED = """\
void transposed(float out[8][13][13], float in[8][6][6], float w[8][8][3][3]) {
#pragma scop
  for (int c = 0; c < 8; ++c)
    for (int y = 0; y < 6; ++y)
      for (int x = 0; x < 6; ++x)
        for (int o = 0; o < 8; ++o)
          for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j)
              out[o][2 * y + i][STEP * x + j] += in[c][y][x] * w[c][o][i][j];
#pragma endscop
}
"""


@pytest.mark.parametrize(("stride", "rows"), [(2, False), (3, True)])
def test_rows_of_a_call_have_no_elements_in_common(tmp_path: Path, stride: int, rows: bool) -> None:
    """Those of a transposed convolution have, where its taps reach farther than its strides."""
    width = 5 * stride + 3
    scop = parse(tmp_path, TRANSPOSED.replace("[13][13]", f"[13][{width}]").replace("STEP", str(stride)))
    variant = Variant((UseMicrokernel(0, "c", "j", "y", "c", (), ("x",)),))
    if rows:
        apply(scop, variant, KERNELS)
    else:
        with pytest.raises(IllegalVariantError, match="can't compute out of nest 0 in rows of x: they have elements"):
            apply(scop, variant, KERNELS)
    space = pipeline.space_on(scop, machine_with(2, 32), microkernel="c")
    variants = pipeline.generate(space, max_variants=100).variants
    calls = [step for each in variants for step in each.steps if isinstance(step, UseMicrokernel)]
    assert calls
    assert any(call.rows for call in calls) is rows


def with_another_name(value: Any) -> Iterator[Any]:
    """What a field holds, with one of its names that nothing has."""
    if isinstance(value, str):
        yield "nothing"
    elif isinstance(value, tuple):
        for place, item in enumerate(value):
            yield from ((*value[:place], other, *value[place + 1 :]) for other in with_another_name(item))


@pytest.mark.parametrize("example", ["conv", "conv_plain", "matmul", "bnorm_relu"])
def test_names_that_nothing_has_are_refused(example: str) -> None:
    scop = pipeline.parse(Path(__file__).parents[1] / "examples" / f"{example}.c")
    machine = machine_with(threads=2, vector_bytes=64)
    space = pipeline.space_on(scop, machine, microkernel="c", numerics="fast")
    # The first variant that has a step of some kind stands for all of them.
    variants = {
        type(step): variant
        for variant in reversed(pipeline.generate(space, max_variants=100, seed=1).variants)
        for step in variant.steps
    }
    wrong = [
        Variant((*variant.steps[:place], replace(step, **{field.name: value}), *variant.steps[place + 1 :]))
        for kind, variant in variants.items()
        for place, step in enumerate(variant.steps)
        if type(step) is kind
        for field in fields(step)
        if (kind, field.name) != (Attach, "place")
        for value in with_another_name(getattr(step, field.name))
    ]
    assert wrong
    for variant in wrong:
        with pytest.raises(IllegalVariantError):
            space.apply(variant)


def test_sums_keep_their_order_without_reassociation(tmp_path: Path) -> None:
    scop = parse(tmp_path, PRODUCT)
    orders = list(itertools.permutations(("i", "j", "k")))
    backwards = Variant((CALL, Tile(1, "k", (16,)), Interchange(1, ("k_t1",))))
    assert apply(scop, backwards, KERNELS, numerics="strict").sites[1].gemm.ordered
    assert not apply(scop, backwards, KERNELS).sites[1].gemm.ordered
    assert all(apply(scop, Variant((Interchange(1, order),)), ()).violations == () for order in orders)
