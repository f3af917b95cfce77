"""Underflow, the sign of zero, and overflow that depends on an order: further rows of docs/guide/numerics.md."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest
from computed import parse
from gemm_sites import site
from marks import parametrized
from test_microkernels import TILES, Mode
from test_microkernels import load as loaded
from test_numerics_special import (
    BORDERED,
    CONVOLUTION,
    FILTERS,
    PRODUCT,
    QUOTIENTS,
    ROW_SUMS,
    ROWS,
    SCALED,
    SIZE,
    WITH_ANY_METHOD,
    Values,
    convolved,
    functions,
    image_and_filters,
    kernel_with,
    products,
)  # fmt: skip

from polydl import bfloat16, registry
from polydl.contracts.microkernel import Microkernel
from polydl.ir.numerics import Numerics
from polydl.microkernels.amx import AMX

pytestmark = pytest.mark.native

NARROW = PRODUCT.replace("const float", "const bfloat16").replace(
    "a[i][k] * b[k][j]", "bfloat16_to_float(a[i][k]) * bfloat16_to_float(b[k][j])"
)
NARROW = f"#include <polydl/bfloat16.h>\n{NARROW}"
# The same with two steps of k side by side.
PAIRS = f"""\
#include <polydl/bfloat16.h>
void product(float out[{ROWS}][{ROWS}], const bfloat16 a[{ROWS}][{ROWS // 2}][2],
             const bfloat16 b[{ROWS // 2}][{ROWS}][2])
{{
#pragma scop
  for (int i = 0; i < {ROWS}; ++i)
    for (int j = 0; j < {ROWS}; ++j)
      for (int k = 0; k < {ROWS // 2}; ++k)
        for (int q = 0; q < 2; ++q)
          out[i][j] += bfloat16_to_float(a[i][k][q]) * bfloat16_to_float(b[k][j][q]);
#pragma endscop
}}
"""
# Operands that are denormal with an ordinary partner, and ordinary ones whose products are denormal.
DENORMAL = ((2.0**-130, 2.0**20), (2.0**-70, 2.0**-70))


@parametrized(
    ("level", "microkernel"),
    [("strict", "none"), ("bounded", "c"), ("strict", "c"), ("reassociated", "c"), ("fast", "c")],
    quick=2,
)
@pytest.mark.parametrize(("left", "right"), DENORMAL)
def test_denormal_numbers_are_numbers(
    level: Numerics, microkernel: str, left: float, right: float, tmp_path: Path
) -> None:
    a, b = (np.full((ROWS, ROWS), np.float32(value)) for value in (left, right))
    scop = parse(tmp_path, PRODUCT)
    for result in products(scop, tmp_path, (kernel_with(scop, level, microkernel=microkernel),), a, b):
        assert (result == np.float32(ROWS * left * right)).all()


@parametrized("level", WITH_ANY_METHOD, quick=1)
def test_strassen_keeps_denormal_numbers(level: Numerics, tmp_path: Path) -> None:
    scop = parse(tmp_path, PRODUCT)
    a, b = (np.full((ROWS, ROWS), np.float32(value)) for value in DENORMAL[0])
    _, result = products(scop, tmp_path, (kernel_with(scop, level, "Strassen, 7"),), a, b)
    assert (result == np.float32(ROWS * 2.0**-110)).all()


@parametrized("level", WITH_ANY_METHOD, quick=1)
@pytest.mark.parametrize(("exponent", "kept"), [(-80, True), (-130, False)])
def test_winograd_loses_bits_of_filters_that_are_hardly_normal(
    level: Numerics, exponent: int, kept: bool, tmp_path: Path
) -> None:
    """It takes fractions of filters, and those of the least ones are none."""
    scop = parse(tmp_path, CONVOLUTION)
    source, winograd = functions(scop, tmp_path, kernel_with(scop, level, "Winograd F(4x4"))
    image, filters = image_and_filters()
    image, filters = np.abs(image) * np.float32(2.0**40), np.abs(filters) * np.float32(2.0**exponent)
    expected, result = convolved(source, image, filters), convolved(winograd, image, filters)
    error = np.linalg.norm(result.astype(float) - expected) / np.linalg.norm(expected.astype(float))
    assert (error < 1e-6) == kept


@parametrized("level", WITH_ANY_METHOD, quick=1)
def test_factors_in_another_order_underflow_where_those_of_the_source_do_not(level: Numerics, tmp_path: Path) -> None:
    scop = parse(tmp_path, SCALED)
    kernels = (kernel_with(scop, "reassociated"), kernel_with(scop, level, "factors of products in another order"))
    a, b = np.full((ROWS, ROWS), np.float32(1e-30)), np.full((ROWS, ROWS), np.float32(1e30))
    source, ordered, materialized = products(scop, tmp_path, kernels, a, b, alpha=1e-20)
    np.testing.assert_allclose(source, ROWS * 1e-20, rtol=1e-4)
    np.testing.assert_allclose(ordered, source, rtol=1e-4)
    assert (materialized == 0).all()


@pytest.mark.parametrize("level", ["strict", "reassociated", *WITH_ANY_METHOD])
def test_a_reciprocal_of_a_large_divisor_loses_bits(level: Numerics, tmp_path: Path) -> None:
    scop = parse(tmp_path, QUOTIENTS)
    source, kernel = functions(scop, tmp_path, kernel_with(scop, level, microkernel="none"))
    generator = np.random.default_rng(6)
    x = generator.uniform(1e37, 1e38, (8, 64)).astype(np.float32)
    d = generator.uniform(2.5e38, 3.4e38, 8).astype(np.float32)
    expected, result = np.zeros((8, 64), np.float32), np.zeros((8, 64), np.float32)
    source(out=expected, x=x, d=d)
    kernel(out=result, x=x, d=d)
    np.testing.assert_allclose(result, expected, rtol=2.0**-21)
    units = np.abs(result - expected) / np.spacing(expected)
    assert units.max() > 1 if level in WITH_ANY_METHOD else (result == expected).all()


@pytest.mark.slow
@pytest.mark.avx512
@pytest.mark.parametrize("name", ["libxsmm-bf16", "c-bf16"])
def test_products_of_bfloat16s_take_denormal_operands_for_zero(name: str, tmp_path: Path) -> None:
    microkernel: Microkernel = registry.load("microkernels", name)
    if microkernel.unavailable():
        pytest.skip(str(microkernel.unavailable()))
    scop = parse(tmp_path, PAIRS if name == "c-bf16" else NARROW)
    kernels = (
        kernel_with(scop, "reassociated"),
        kernel_with(scop, "bounded", "numbers below 1.2e-38 as zeros", microkernel=name),
    )
    for left, right, kept in ((*DENORMAL[0], False), (2.0**-120, 2.0**20, True)):
        shapes = [array.extents for array in scop.arrays if array.element == bfloat16.ELEMENT]
        a, b = (bfloat16.from_float(np.full(*each)) for each in zip(shapes, (left, right), strict=True))
        source, plain, result = (np.zeros((ROWS, ROWS), np.float32) for _ in range(3))
        for function, out in zip(functions(scop, tmp_path, *kernels), (source, plain, result), strict=True):
            function(out=out, a=a, b=b)
        assert (source == np.float32(ROWS * left * right)).all()
        assert (plain == source).all()
        assert (result == (source if kept else 0)).all()


HALVED = """\
#include <polydl/bfloat16.h>
void halved(bfloat16 out[8][64], const float x[8][64])
{
#pragma scop
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 64; ++j)
      out[i][j] = float_to_bfloat16(0.5f * x[i][j]);
#pragma endscop
}
"""


@pytest.mark.parametrize("level", ["strict", "reassociated", *WITH_ANY_METHOD])
def test_denormal_results_may_be_rounded_to_zero(level: Numerics, tmp_path: Path) -> None:
    scop = parse(tmp_path, HALVED)
    variant = kernel_with(scop, level, microkernel="none", vector_bytes=64)
    assert not kernel_with(scop, level, microkernel="none").flushes
    assert variant.flushes == (level in WITH_ANY_METHOD)
    source, kernel = functions(scop, tmp_path, variant)
    for value, kept in ((1e-39, False), (3e-38, True)):
        x = np.full((8, 64), np.float32(value))
        expected, result = np.zeros((8, 64), np.uint16), np.zeros((8, 64), np.uint16)
        source(out=expected, x=x)
        kernel(out=result, x=x)
        assert expected.all()
        same = (result == expected).all()
        assert same if kept or level not in WITH_ANY_METHOD else same or not result.any()


def row_sums(level: Numerics, a: Values, first: float, tmp_path: Path) -> tuple[Values, Values]:
    """Those of the source and of a variant, added to this number."""
    scop = parse(tmp_path, ROW_SUMS)
    source, kernel = functions(scop, tmp_path, kernel_with(scop, level, microkernel="none"))
    expected, result = np.full(8, first, np.float32), np.full(8, first, np.float32)
    source(out=expected, a=a)
    kernel(out=result, a=a)
    return expected, result


@pytest.mark.parametrize("level", ["strict", "reassociated", *WITH_ANY_METHOD])
def test_a_sum_of_negative_zeros_is_one_at_strict(level: Numerics, tmp_path: Path) -> None:
    expected, result = row_sums(level, np.full((8, 64), np.float32(-0.0)), -0.0, tmp_path)
    assert np.signbit(expected).all()
    assert (result == 0).all()
    assert level != "strict" or np.signbit(result).all()


@pytest.mark.parametrize("level", ["reassociated", *WITH_ANY_METHOD])
def test_sums_in_parts_overflow_where_that_of_the_source_does_not(level: Numerics, tmp_path: Path) -> None:
    # Each lane of vectors of 32 bytes has numbers of one sign.
    a = np.where(np.arange(64) % 2, np.float32(-3e38), np.float32(3e38)) * np.ones((8, 1), np.float32)
    expected, result = row_sums(level, a, 0.0, tmp_path)
    assert (expected == 0).all()
    assert not np.isfinite(result).all()


def test_infinite_filters_meet_zeros_around_an_image(tmp_path: Path) -> None:
    scop = parse(tmp_path, BORDERED)
    source, padded = functions(scop, tmp_path, kernel_with(scop, "reassociated", "borders as zeros"))
    image, filters = image_and_filters(SIZE)
    filters[0, 0] = np.inf
    expected = convolved(source, image, filters)
    assert np.isfinite(expected[0]).all()
    assert np.isnan(convolved(padded, image, filters)[0]).sum() == SIZE * FILTERS


@TILES
def test_tiles_lose_bits_of_operands_that_are_hardly_normal(mode: Mode, tmp_path: Path) -> None:
    case = site(m=(32, 32), n=(40, 40), k=(64, 64), lda=32, ldc=32, stride_bn=64, overwrites=True)
    library = loaded(AMX, [case], mode, tmp_path)
    library.setup()
    generator = np.random.default_rng(4)
    for size, kept in ((1e-32, True), (1e-36, False)):
        a = generator.uniform(1e19, 2e19, (64, 32)).astype(np.float32)
        b = (generator.uniform(1, 2, (40, 64)) * size).astype(np.float32)
        c = np.empty((40, 32), np.float32)
        tail = (*(ctypes.c_int(0),) * 3, ctypes.c_long(1), ctypes.c_int(1))
        library.run0(*(ctypes.c_void_p(array.ctypes.data) for array in (a, b, c)), *tail)
        exact = b.astype(float) @ a.astype(float)
        error = np.linalg.norm(c - exact) / np.linalg.norm(exact)
        assert (error < 2.0**-21) == kept, (size, error)
