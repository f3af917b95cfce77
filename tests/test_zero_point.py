"""Zero points of quantized operands: products of bytes without them, and sums that are corrected."""

from __future__ import annotations

from pathlib import Path

import pytest
from computed import check_kernels, parse
from machines import machine_with
from marks import parametrized

from polydl import pipeline
from polydl.errors import IllegalVariantError
from polydl.ir.numerics import Numerics
from polydl.ir.scop import Scop
from polydl.ir.variant import Variant
from polydl.plan.apply import apply
from polydl.plan.rewriting import rewritten
from polydl.rewrite_contract import Request
from polydl.variants.rewrites.zero_point import ZERO_POINT, ZeroPoint, without_zero_point

MACHINE = machine_with(1, 32)

PRODUCT = """
void f({output} C[20][24], const {a} A[20][40], const {b} B[40][24], {zero} z, {zero} y, const int rows[20],
       const int terms[40])
{{
#pragma scop
  for (int i = 0; i < 20; i++)
    for (int j = 0; j < 24; j++)
      for (int k = 0; k < 40; k++)
        {text}
#pragma endscop
}}
"""
CONVOLUTION = """
void conv(int out[6][10][12], const unsigned char in[5][12][14], const signed char w[6][5][3][3], int zero)
{
#pragma scop
  for (int o = 0; o < 6; o++)
    for (int y = 0; y < 10; y++)
      for (int x = 0; x < 12; x++)
        for (int c = 0; c < 5; c++)
          for (int r = 0; r < 3; r++)
            for (int s = 0; s < 3; s++)
              out[o][y][x] += ((int)in[c][y + r][x + s] - zero) * w[o][c][r][s];
#pragma endscop
}
"""


def product(
    tmp_path: Path, text: str, output: str = "int", a: str = "unsigned char", b: str = "signed char", zero: str = "int"
) -> Scop:
    return parse(tmp_path, PRODUCT.format(text=text, output=output, a=a, b=b, zero=zero))


def proposed(scop: Scop) -> list[tuple[object, ...]]:
    base = rewritten(scop, ()).scop
    request = Request(scop=base, statement=base.statements[0], dependences=(), machine=MACHINE)
    return [proposal.steps for proposal in ZERO_POINT.propose(request)]


@pytest.mark.native
@parametrized(
    "text",
    [
        "C[i][j] += (A[i][k] - z) * B[k][j];",
        "C[i][j] += B[k][j] * ((int)A[i][k] - z);",
        "C[i][j] = C[i][j] + (A[i][k] - rows[i]) * B[k][j];",
        "C[i][j] += (A[i][k] - z) * (B[k][j] - y);",
        "C[i][j] += (A[i][k] - 128) * (int)B[k][j];",
    ],
    quick=1,
)
def test_the_same_is_computed_without_zero_points_as_exactly_as_ever(text: str, tmp_path: Path) -> None:
    scop = product(tmp_path, text)
    (steps,) = proposed(scop)
    assert [step.array for step in steps if isinstance(step, ZeroPoint)] == (["A", "B"] if "- y" in text else ["A"])
    space = pipeline.space_on(scop, MACHINE, microkernel="c-int16", numerics="strict")
    one = next(each for each in space.alternatives if any(isinstance(step, ZeroPoint) for step in each.rewrites))
    generated = pipeline.generate(space, max_variants=400)
    variants = [each for each in generated.variants if each.steps[: len(one.rewrites)] == one.rewrites]
    assert variants
    applied = [space.apply(each) for each in variants[:2]]
    assert all(each.kernels for each in applied)
    plain = apply(scop, Variant(tuple(steps)), (), numerics="strict")  # type: ignore[arg-type]
    check_kernels(tmp_path, scop, [pipeline.kernel(each, 32) for each in (*applied, plain)])


@pytest.mark.native
def test_convolutions_of_bytes_lose_their_zero_point_too(tmp_path: Path) -> None:
    scop = parse(tmp_path, CONVOLUTION)
    assert proposed(scop) == [(ZeroPoint("S0", "in"),)]
    without = without_zero_point(rewritten(scop, ()).scop, ZeroPoint("S0", "in"))
    # One sum of weights for each channel of the output.
    assert [array.extents for array in without.arrays if array.name == "w_sums"] == [(6,)]
    check_kernels(tmp_path, scop, [pipeline.kernel(apply(scop, Variant((ZeroPoint("S0", "in"),)), ()), 32)])


@parametrized("level", ["strict", "bounded"], quick=1)
def test_what_follows_on_the_results_waits_for_their_correction(level: Numerics, tmp_path: Path) -> None:
    """What is attached to the product in the source is not where the sums are corrected behind it."""
    text = PRODUCT.format(
        text="C[i][j] += (A[i][k] - z) * B[k][j];", output="int", a="unsigned char", b="signed char", zero="int"
    )
    after = "for (int i = 0; i < 20; i++) for (int j = 0; j < 24; j++) C[i][j] = C[i][j] >> 3;\n#pragma endscop"
    scop = parse(tmp_path, text.replace("#pragma endscop", after))
    space = pipeline.space_on(scop, MACHINE, microkernel="c-int16", numerics=level)
    variants = pipeline.generate(space, max_variants=600).variants
    corrected = [each for each in variants if any(isinstance(step, ZeroPoint) for step in each.steps)]
    assert corrected
    for variant in variants:
        space.apply(variant).prove()


@pytest.mark.parametrize(
    ("text", "types", "reason"),
    [
        ("C[i][j] += A[i][k] * B[k][j];", {}, "adds up no products of a byte of `A` less a zero point"),
        ("C[i][j] += A[i][k] * (B[k][j] - z);", {}, "of a byte of `A` less"),
        ("C[i][j] += (A[i][k] - terms[k]) * B[k][j];", {}, "is not the same for all terms"),
        ("C[i][j] += (A[i][k] - z) * B[0][j];", {}, "is the same for several terms"),
        ("C[i][j] += (A[i][k] - z) * B[k][0];", {}, "has one sum for all results"),
        ("C[i][j] += (A[i][k] - z) * B[k][j];", {"a": "short"}, "of a byte of `A` less"),
        ("C[i][j] += (A[i][k] - z) * B[k][j];", {"zero": "float"}, "of a byte of `A` less"),
        ("C[i][j] += (A[i][k] - z) * B[k][j];", {"output": "long"}, "of a byte of `A` less"),
        ("C[i][j] -= (A[i][k] - z) * B[k][j];", {}, "of a byte of `A` less"),
    ],
)
def test_what_is_no_product_of_bytes_less_a_zero_point_stays(
    text: str, types: dict[str, str], reason: str, tmp_path: Path
) -> None:
    scop = rewritten(product(tmp_path, text, **types), ()).scop
    with pytest.raises(IllegalVariantError, match=reason):
        without_zero_point(scop, ZeroPoint("S0", "A"))


def test_sums_that_are_no_int_on_the_way_wrap_around(tmp_path: Path) -> None:
    """Where A is the zero point, 255, the products of bytes alone leave an int."""
    scop = product(tmp_path, "C[i][j] += (A[i][k] - z) * B[k][j];")
    one = pipeline.kernel(apply(scop, Variant((ZeroPoint("S0", "A"),)), ()), 32)
    assert "-fwrapv" in one.compile_flags


def test_a_zero_point_that_is_written_later_stays(tmp_path: Path) -> None:
    text = PRODUCT.format(
        text="C[i][j] += (A[i][k] - zeros[0]) * B[k][j];", output="int", a="unsigned char", b="signed char", zero="int"
    )
    text = text.replace("const int rows[20]", "int zeros[1]").replace(
        "#pragma endscop", "  zeros[0] = 1;\n#pragma endscop"
    )
    with pytest.raises(IllegalVariantError, match=r"`zeros`, which S0 .* reads, is written by S1"):
        without_zero_point(rewritten(parse(tmp_path, text), ()).scop, ZeroPoint("S0", "A"))


QUANTIZED = """
void f(unsigned char Y[20][24], const unsigned char A[20][40], const signed char B[40][24], const int bias[24], int z)
{
  for (int i = 0; i < 20; i++)
    for (int j = 0; j < 24; j++) {
      int sum = bias[j];
      for (int k = 0; k < 40; k++)
        sum += (A[i][k] - z) * B[k][j];
      int y = sum >> 4;
      if (y < 0)
        y = 0;
      y += 3;
      Y[i][j] = y > 255 ? 255 : y;
    }
}
"""


@pytest.mark.slow
@pytest.mark.native
def test_sums_that_begin_with_a_bias_begin_with_the_correction_and_leave_as_bytes(tmp_path: Path) -> None:
    """No pass over the sums is left: what sets them corrects them, and what rounds them joins the product's tiles."""
    scop = parse(tmp_path, QUANTIZED)
    # The four values that `y` has in turn are one expression.
    assert [array.name for array in scop.arrays if array.storage == "local"] == ["sum_of"]
    space = pipeline.space_on(scop, MACHINE, microkernel="c-int16")
    one = next(each for each in space.alternatives if any(isinstance(step, ZeroPoint) for step in each.rewrites))
    assert [each.name for each in one.scop.statements if each.origin == "operand"] == [
        "add_B_sums",
        "compute_B_corrections",
        "correct_B_sums",
    ]
    generated = pipeline.generate(space, max_variants=400)
    fused = [each for each in generated.variants if len(each.attached) == 2]
    assert {step.place for step in fused[0].attached} == {"first", "last"}
    applied = [space.apply(each) for each in fused[:: len(fused) // 3]]
    for each in applied:
        each.prove()
    plain = apply(scop, Variant((ZeroPoint("S1", "A"),)), ())
    check_kernels(tmp_path, scop, [pipeline.kernel(each, 32) for each in (*applied, plain)])


def test_sums_that_begin_with_what_is_no_affine_element_are_corrected_at_the_end(tmp_path: Path) -> None:
    text = QUANTIZED.replace("int sum = bias[j];", "int sum = bias[j / 2];")
    scop = rewritten(parse(tmp_path, text), ()).scop
    without = without_zero_point(scop, ZeroPoint("S1", "A"))
    assert without.statement("S0").body == scop.statement("S0").body
    assert without.statement("correct_B_sums").body.text == "-="


def test_sums_that_are_read_where_they_begin_are_corrected_at_the_end(tmp_path: Path) -> None:
    source = """
void f(int C[20][26], int D[20][26], const unsigned char A[20][40], const signed char B[40][26], const int bias[26])
{
#pragma scop
  for (int i = 0; i < 20; i++)
    for (int j = 1; j < 25; j++) {
      D[i][j] = C[i][j - 1] + C[i][j + 1];
      C[i][j] = bias[j];
    }
  for (int i = 0; i < 20; i++)
    for (int j = 1; j < 25; j++)
      for (int k = 0; k < 40; k++)
        C[i][j] += (A[i][k] - 7) * B[k][j];
#pragma endscop
}
"""
    scop = rewritten(parse(tmp_path, source), ()).scop
    without = without_zero_point(scop, ZeroPoint("S2", "A"))
    assert without.statement("S1").body == scop.statement("S1").body


@pytest.mark.native
def test_sums_that_a_marked_call_begins_are_corrected_at_the_end(tmp_path: Path) -> None:
    source = """
static void start(int *c, const int *bias) { for (int j = 0; j < 24; ++j) c[j] = bias[j]; }
void f(int C[20][24], const unsigned char A[20][40], const signed char B[40][24], const int bias[24], int z)
{
#pragma scop
  for (int i = 0; i < 20; i++) {
#pragma polydl microkernel(for (int j = 0; j < 24; ++j) C[i][j] = bias[j];)
    start(&C[i][0], bias);
  }
  for (int i = 0; i < 20; i++)
    for (int j = 0; j < 24; j++)
      for (int k = 0; k < 40; k++)
        C[i][j] += (A[i][k] - z) * B[k][j];
#pragma endscop
}
"""
    scop = parse(tmp_path, source)
    check_kernels(tmp_path, scop, [pipeline.kernel(apply(scop, Variant((ZeroPoint("S1", "A"),)), ()), 32)])
