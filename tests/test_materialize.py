"""Products with factors, signs, differences and conversions: which operand is computed beforehand, how it rounds."""

from __future__ import annotations

from pathlib import Path

import pytest
from computed import check_kernels, parse
from machines import machine_with
from marks import parametrized

from polydl import pipeline
from polydl.errors import IllegalVariantError
from polydl.execute.exactness import compare_exactly
from polydl.execute.toolchain import Toolchain
from polydl.ir.numerics import NUMERICS, Numerics
from polydl.ir.scop import Scop
from polydl.ir.variant import RewriteStep, Variant
from polydl.match.factors import operands
from polydl.plan.rewriting import rewritten
from polydl.rewrite_contract import Request
from polydl.variants.rewrites.materialize import MATERIALIZE, Materialize, materialize
from polydl.variants.variant_space import VariantSpace

MACHINE = machine_with(2, 32)

PRODUCT = """
#include <math.h>
void f({type} alpha, const {type} scale[5], int zero, const {type} rows[40], const {type} columns[48],
       const {type} depths[24], {type} C[40][48], const {element} A[40][24], const {element} B[24][48]) {{
#pragma scop
  for (int i = 0; i < 40; i++)
    for (int j = 0; j < 48; j++)
      for (int k = 0; k < 24; k++)
        {text}
#pragma endscop
}}
"""


def product(tmp_path: Path, text: str, kind: str = "float", element: str | None = None) -> Scop:
    return parse(tmp_path, PRODUCT.format(type=kind, element=element or kind, text=text))


def space_of(scop: Scop, numerics: Numerics = "bounded") -> VariantSpace:
    return pipeline.space_on(scop, MACHINE, microkernel="c", numerics=numerics)


def proposed(scop: Scop) -> list[tuple[RewriteStep, ...]]:
    """What is proposed for the first statement, which no microkernel takes as it is."""
    base = rewritten(scop, ()).scop
    request = Request(scop=base, statement=base.statements[0], dependences=(), machine=MACHINE)
    return [proposal.steps for proposal in MATERIALIZE.propose(request)]


def with_kernel(scop: Scop, numerics: Numerics = "bounded") -> list[tuple[Materialize, ...]]:
    """The steps of the alternatives in which the microkernel takes the product, each once."""
    chosen: dict[tuple[Materialize, ...], None] = {}
    for space in space_of(scop, numerics).alternatives:
        steps = tuple(step for step in space.rewrites if isinstance(step, Materialize))
        if any(report.kernel == "c" for report in space.reports) and steps:
            chosen[steps] = None
    return list(chosen)


def admitted(scop: Scop, steps: tuple[RewriteStep, ...], numerics: Numerics) -> bool:
    try:
        rewritten(scop, steps, numerics=numerics)
    except IllegalVariantError:
        return False
    return True


# What is added, and the arrays of the operands that are computed beforehand; whether every bit is the source's.
EXACT = {
    "C[i][j] += alpha * A[i][k] * B[k][j];": "A",
    "C[i][j] += A[i][k] * alpha * B[k][j];": "A",
    "C[i][j] += A[i][k] * (alpha * B[k][j]);": "B",
    "C[i][j] = C[i][j] + alpha * A[i][k] * B[k][j];": "A",
    "C[i][j] = alpha * A[i][k] * B[k][j] + C[i][j];": "A",
    "C[i][j] -= A[i][k] * B[k][j];": "A",
    "C[i][j] = C[i][j] - A[i][k] * B[k][j];": "A",
    "C[i][j] += -A[i][k] * B[k][j];": "A",
    "C[i][j] += -(A[i][k] * B[k][j]);": "A",
    "C[i][j] -= -alpha * A[i][k] * B[k][j];": "A",
    "C[i][j] += 0.5f * A[i][k] * B[k][j];": "A",
    "C[i][j] += scale[3] * A[i][k] * B[k][j];": "A",
    "C[i][j] += A[i][k] / alpha * B[k][j];": "A",
    "C[i][j] += (A[i][k] - depths[k]) * B[k][j];": "A",
    "C[i][j] += rows[i] * A[i][k] * B[k][j];": "A",
    "C[i][j] += A[i][k] * (B[k][j] > 0 ? B[k][j] : 0);": "B",
    "C[i][j] += fmaxf(A[i][k], 0.0f) * B[k][j];": "A",
    "C[i][j] += (A[i][k] * rows[i]) * (B[k][j] / columns[j] * alpha);": "AB",
}
OTHERWISE = {
    "C[i][j] += alpha * (A[i][k] * B[k][j]);": "A",
    "C[i][j] += A[i][k] * B[k][j] * alpha;": "A",
    "C[i][j] -= alpha * (A[i][k] * B[k][j]);": "A",
    "C[i][j] += A[i][k] * B[k][j] / alpha;": "A",
    "C[i][j] += 0.5 * A[i][k] * B[k][j];": "A",
    "C[i][j] += columns[j] * A[i][k] * B[k][j];": "B",
    "C[i][j] += rows[i] * columns[j] * A[i][k] * B[k][j];": "AB",
}


@parametrized("text", [*EXACT, *OTHERWISE], quick=4)
def test_an_operand_with_its_factors_is_computed_as_each_level_admits(text: str, tmp_path: Path) -> None:
    scop = product(tmp_path, text)
    first, *_ = steps = proposed(scop)
    arrays = EXACT.get(text) or OTHERWISE[text]
    assert sorted(step.array for step in first if isinstance(step, Materialize)) == sorted(arrays)
    for numerics in NUMERICS:
        exact = numerics in ("strict", "reassociated")
        assert any(admitted(scop, each, numerics) for each in steps) is (text in EXACT or not exact)
    rounding = rewritten(scop, first, numerics="bounded").rounding
    assert rounding.keeps == ("all" if text in EXACT else "nothing")
    assert rounding.error_factor <= 3**0.5


@pytest.mark.parametrize("numerics", NUMERICS)
def test_microkernels_take_what_a_level_admits(numerics: Numerics, tmp_path: Path) -> None:
    (exact, *_), (otherwise, *_) = EXACT, OTHERWISE
    assert with_kernel(product(tmp_path, exact), numerics) == [(Materialize("S0", "A"),)]
    taken = with_kernel(product(tmp_path, otherwise), numerics)
    assert taken == ([(Materialize("S0", "A"),)] if numerics in ("bounded", "fast") else [])


@pytest.mark.parametrize(
    "text",
    [
        "C[i][j] += alpha * A[i][k];",
        "C[i][j] += alpha / A[i][k] * B[k][j];",
        "C[i][j] += A[i][k] * B[k][j] + alpha;",
        "C[i][j] = alpha * A[i][k] * B[k][j];",
        "C[i][j] = A[i][k] * B[k][j] - C[i][j];",
        "C[i][j] *= A[i][k] * B[k][j];",
        "C[i][j] += C[i][j] * A[i][k] * B[k][j];",
        "C[i][j] += i * A[i][k] * B[k][j];",
    ],
)
def test_what_is_no_such_product_stays_as_it_is(text: str, tmp_path: Path) -> None:
    assert proposed(product(tmp_path, text)) == []


def test_conversions_to_the_accumulators_type(tmp_path: Path) -> None:
    exact = "C[i][j] += (double)A[i][k] * B[k][j];"
    scop = product(tmp_path, exact, "double", "float")
    (steps,) = with_kernel(scop, "strict")
    assert sorted(step.array for step in steps) == ["A", "B"]
    # The source rounds the product to float.
    rounded = product(tmp_path, "C[i][j] += A[i][k] * B[k][j];", "double", "float")
    first, *_ = proposed(rounded)
    assert (admitted(rounded, first, "bounded"), admitted(rounded, first, "strict")) == (True, False)


def test_integers_are_not_taken_apart(tmp_path: Path) -> None:
    halves = product(tmp_path, "C[i][j] += A[i][k] / 2 * alpha * B[k][j];", element="int")
    first, _ = operands(halves, halves.statements[0])
    assert first.access.array == "A"
    assert [node.text for node in first.value.walk() if node.kind == "op"] == ["*", "/"]


@pytest.mark.parametrize(
    ("rest", "operations"),
    [
        ("(B[k][j] / columns[j] * columns[47 - j])", "+= * * /"),
        ("-(B[k][j] * (columns[j] / columns[47 - j]))", "+= * - * /"),
        ("-B[k][j]", "+= *"),
    ],
)
def test_the_other_factors_stay_in_the_order_of_the_source(rest: str, operations: str, tmp_path: Path) -> None:
    scop = rewritten(product(tmp_path, f"C[i][j] += (A[i][k] * rows[i]) * {rest};"), ()).scop
    (operand, _) = operands(scop, scop.statements[0])
    assert operand.exact
    body = materialize(scop, Materialize("S0", "A")).statement("S0").body
    assert " ".join(node.text for node in body.walk() if node.kind == "op") == operations


def test_factors_that_are_written_later_are_refused(tmp_path: Path) -> None:
    scop = parse(
        tmp_path,
        """
        void f(float alpha[1], float C[8][16], const float A[8][8], const float B[8][16]) {
        #pragma scop
          for (int i = 0; i < 8; i++)
            for (int j = 0; j < 16; j++)
              for (int k = 0; k < 8; k++)
                C[i][j] += alpha[0] * A[i][k] * B[k][j];
          alpha[0] = 1;
        #pragma endscop
        }
        """,
    )
    with pytest.raises(IllegalVariantError, match="would go stale"):
        materialize(rewritten(scop, ()).scop, Materialize("S0", "A"))
    assert proposed(scop) == []


def test_an_image_is_left_alone_and_its_filter_takes_the_factor(tmp_path: Path) -> None:
    scop = parse(
        tmp_path,
        """
        void f(float alpha, float out[14][14][16], const float in[16][16][16], const float w[3][3][16][16]) {
        #pragma scop
          for (int y = 0; y < 14; y++)
            for (int x = 0; x < 14; x++)
              for (int r = 0; r < 3; r++)
                for (int s = 0; s < 3; s++)
                  for (int c = 0; c < 16; c++)
                    for (int f = 0; f < 16; f++)
                      out[y][x][f] += alpha * in[y + r][x + s][c] * w[r][s][c][f];
        #pragma endscop
        }
        """,
    )
    assert with_kernel(scop) == [(Materialize("S0", "w"),)]
    assert any(
        {"materialize", "winograd"} <= {step.json_name for step in space.rewrites}
        for space in space_of(scop).alternatives
    )
    with pytest.raises(IllegalVariantError, match="more than once"):
        materialize(scop, Materialize("S0", "in"))


def test_a_step_for_an_array_that_is_no_operand_is_refused(tmp_path: Path) -> None:
    scop = product(tmp_path, next(iter(EXACT)))
    with pytest.raises(IllegalVariantError, match="multiplies nothing by a value"):
        materialize(scop, Materialize("S0", "alpha"))


GEMM = """
void gemm(float alpha, float beta, float C[70][48], const float A[70][300], const float B[300][48]) {
#pragma scop
  for (int i = 0; i < 70; i++) {
    for (int j = 0; j < 48; j++)
      C[i][j] *= beta;
    for (int k = 0; k < 300; k++)
      for (int j = 0; j < 48; j++)
        C[i][j] += alpha * A[i][k] * B[k][j];
  }
#pragma endscop
}
"""
SYRK = """
void syrk(float alpha, float C[64][64], const float A[64][50]) {
#pragma scop
  for (int i = 0; i < 64; i++)
    for (int j = 0; j < 64; j++)
      for (int k = 0; k < 50; k++)
        C[i][j] += alpha * A[i][k] * A[j][k];
#pragma endscop
}
"""
BATCHED = """
void batched(const double alpha[3], double *C, const double *A, const double *B) {
#pragma scop
  for (int b = 0; b < 3; b++)
    for (int i = 0; i < 20; i++)
      for (int j = 0; j < 32; j++)
        for (int k = 0; k < 40; k++)
          C[(b * 20 + i) * 32 + j] -= alpha[b] * A[(b * 20 + i) * 48 + k] * B[(b * 40 + k) * 32 + j];
#pragma endscop
}
"""


def chosen(scop: Scop) -> list[Variant]:
    """Variants with a computed operand, and at most two of them."""
    variants = pipeline.generate_variants(scop, machine=MACHINE, microkernel="c", max_variants=24, seed=1)
    with_operand = [each for each in variants if any(isinstance(step, Materialize) for step in each.rewrites)]
    return with_operand[:: max(1, len(with_operand) // 2)][:2]


def check(scop: Scop, tmp_path: Path) -> None:
    variants = chosen(scop)
    assert variants
    space = space_of(scop)
    kernels = [pipeline.kernel(space.apply(variant), MACHINE.vector_bytes) for variant in variants]
    check_kernels(tmp_path, scop, kernels)
    for number, kernel in enumerate(kernels):
        exactness = compare_exactly(scop, kernel, Toolchain.find("gcc"), tmp_path / f"exact{number}")
        assert exactness.verdict == "agrees", exactness.reason


@pytest.mark.native
@parametrized("source", [GEMM, SYRK, BATCHED], ids=["gemm", "syrk", "batched"], quick=1)
def test_products_compute_the_same(source: str, tmp_path: Path) -> None:
    check(parse(tmp_path, source), tmp_path)


@pytest.mark.native
@parametrized("text", [*OTHERWISE, *EXACT], quick=1)
def test_every_way_to_write_one_computes_the_same(text: str, tmp_path: Path) -> None:
    check(product(tmp_path, text), tmp_path)


@pytest.mark.native
@pytest.mark.slow
def test_converted_operands_compute_the_same(tmp_path: Path) -> None:
    check(product(tmp_path, "C[i][j] += (double)A[i][k] * B[k][j];", "double", "float"), tmp_path)
