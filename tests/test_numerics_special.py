"""NaN, infinity, overflow and bits at each numerics level: what docs/guide/numerics.md says of them."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from computed import parse
from machines import machine_with
from marks import parametrized
from numpy.typing import NDArray

from polydl import pipeline
from polydl.codegen.original import original
from polydl.codegen.plain_unit import plain_unit
from polydl.execute.callable import load
from polydl.execute.local import EXECUTOR
from polydl.execute.toolchain import Toolchain
from polydl.ir.kernel import KernelSource
from polydl.ir.numerics import Numerics
from polydl.ir.scop import Scop
from polydl.machine import Machine
from polydl.optimization.plain_builds import plain_builds

pytestmark = pytest.mark.native

SIZE, CHANNELS, FILTERS, ROWS = 12, 16, 64, 256
CONVOLUTION = f"""\
void f(float out[{SIZE}][{SIZE}][{FILTERS}], const float in[{SIZE + 2}][{SIZE + 2}][{CHANNELS}],
       const float w[3][3][{CHANNELS}][{FILTERS}]) {{
#pragma scop
  for (int y = 0; y < {SIZE}; y++)
    for (int x = 0; x < {SIZE}; x++)
      for (int r = 0; r < 3; r++)
        for (int s = 0; s < 3; s++)
          for (int c = 0; c < {CHANNELS}; c++)
            for (int k = 0; k < {FILTERS}; k++)
              out[y][x][k] += in[y + r][x + s][c] * w[r][s][c][k];
#pragma endscop
}}
"""
BORDERED = f"""\
void f(float out[{SIZE}][{SIZE}][{FILTERS}], const float in[{SIZE}][{SIZE}][{CHANNELS}],
       const float w[3][3][{CHANNELS}][{FILTERS}]) {{
#pragma scop
  for (int y = 0; y < {SIZE}; y++)
    for (int x = 0; x < {SIZE}; x++)
      for (int r = 0; r < 3; r++)
        for (int s = 0; s < 3; s++)
          for (int c = 0; c < {CHANNELS}; c++)
            for (int k = 0; k < {FILTERS}; k++)
              if (y + r >= 1 && y + r < {SIZE + 1} && x + s >= 1 && x + s < {SIZE + 1})
                out[y][x][k] += in[y + r - 1][x + s - 1][c] * w[r][s][c][k];
#pragma endscop
}}
"""
PRODUCT = f"""\
void f(float out[{ROWS}][{ROWS}], const float a[{ROWS}][{ROWS}], const float b[{ROWS}][{ROWS}]) {{
#pragma scop
  for (int i = 0; i < {ROWS}; i++)
    for (int j = 0; j < {ROWS}; j++)
      out[i][j] = 0.0f;
  for (int i = 0; i < {ROWS}; i++)
    for (int k = 0; k < {ROWS}; k++)
      for (int j = 0; j < {ROWS}; j++)
        out[i][j] += a[i][k] * b[k][j];
#pragma endscop
}}
"""
TWO_PRODUCTS = """\
void f(float out[48][32], const float x[32][48], const float w[32][48]) {
#pragma scop
  for (int i = 0; i < 48; i++)
    for (int j = 0; j < 32; j++) {
      out[i][0] += w[j][i] * x[j][i];
      out[i][1] = out[i][1] * x[j][0] + w[j][i] * x[j][i];
    }
#pragma endscop
}
"""
ROW_SUMS = """\
void f(float out[8], const float a[8][64]) {
#pragma scop
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 64; j++)
      out[i] += a[i][j];
#pragma endscop
}
"""
# The product of two elements is of an ordinary size, and that of alpha with one of them isn't.
SCALED = PRODUCT.replace("const float b", "float alpha, const float b").replace(
    "a[i][k] * b[k][j]", "alpha * (a[i][k] * b[k][j])"
)
QUOTIENTS = """\
void f(float out[8][64], const float x[8][64], const float d[8]) {
#pragma scop
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 64; j++)
      out[i][j] = x[i][j] / d[i];
#pragma endscop
}
"""
ESTIMATED = """\
#include <math.h>
void f(float out[6][64], const float x[64], const float d[64]) {
#pragma scop
  for (int i = 0; i < 64; i++) {
    out[0][i] = 1.0f / (1.0f + expf(-x[i]));
    out[1][i] = x[i] / (1.0f + expf(-x[i]));
    out[2][i] = 1.0f / d[i];
    out[3][i] = x[i] / d[i];
    out[4][i] = 1.0f / sqrtf(d[i]);
    out[5][i] = sqrtf(d[i]);
  }
#pragma endscop
}
"""
#: The levels that admit any method whose error is known.
WITH_ANY_METHOD = ("bounded", "fast")
Values = NDArray[np.float32]
Function = Callable[..., None]


def kernel_with(
    scop: Scop, level: Numerics, method: str = "", *, microkernel: str = "c", vector_bytes: int = 32
) -> KernelSource:
    """The first variant whose methods begin with this one; without one, the first that has none."""
    machine = machine_with(1, vector_bytes)
    space = pipeline.space_on(scop, machine, microkernel=microkernel, numerics=level)
    for variant in pipeline.generate(space, max_variants=400).variants:
        applied = space.apply(variant)
        methods = applied.rounding.methods
        if any(each.startswith(method) for each in methods) if method else not methods:
            return pipeline.kernel(applied, machine.vector_bytes)
    pytest.fail(f"no variant of {method or 'none'} at {level}")


def functions(scop: Scop, tmp_path: Path, *kernels: KernelSource) -> list[Function]:
    """The original, and each kernel."""
    named = [replace(kernel, id=str(place)) for place, kernel in enumerate((original(scop), *kernels))]
    built = EXECUTOR.build(named, Toolchain.find(), tmp_path)
    assert [each.message for each in built if each.library is None] == []
    return [load(each.library, scop) for each in built if each.library is not None]


def products(
    scop: Scop, tmp_path: Path, kernels: tuple[KernelSource, ...], a: Values, b: Values, **scalars: float
) -> list[Values]:
    """What the original and each of the kernels makes of two matrices."""
    results = []
    for function in functions(scop, tmp_path, *kernels):
        results.append(np.zeros((ROWS, ROWS), np.float32))
        function(out=results[-1], a=a, b=b, **scalars)
    return results


def spoilt_rows(values: Values) -> set[int]:
    """The rows with elements that are not finite."""
    return {int(row) for row in np.flatnonzero(~np.isfinite(values).all(axis=1))}


def convolved(function: Function, image: Values, filters: Values) -> Values:
    out = np.zeros((SIZE, SIZE, FILTERS), np.float32)
    # "in" is a keyword of Python.
    function(out=out, w=filters, **{"in": image})
    return out


def image_and_filters(side: int = SIZE + 2) -> tuple[Values, Values]:
    generator = np.random.default_rng(3)
    image = generator.uniform(-1, 1, (side, side, CHANNELS)).astype(np.float32)
    return image, generator.uniform(-1, 1, (3, 3, CHANNELS, FILTERS)).astype(np.float32)


@parametrized("level", ["strict", "reassociated"], quick=1)
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_not_finite_goes_where_it_goes_in_the_source(level: Numerics, value: float, tmp_path: Path) -> None:
    scop = parse(tmp_path, CONVOLUTION)
    source, fast = functions(scop, tmp_path, kernel_with(scop, level))
    image, filters = image_and_filters()
    image[5, 5, 3] = value
    expected, result = convolved(source, image, filters), convolved(fast, image, filters)
    assert not np.isfinite(expected[3:6, 3:6]).any()
    assert np.isfinite(expected).sum() == expected.size - 9 * FILTERS
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-4)


@parametrized("level", WITH_ANY_METHOD, quick=1)
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_winograd_spoils_the_tiles_of_a_pixel_that_is_not_finite(level: Numerics, value: float, tmp_path: Path) -> None:
    scop = parse(tmp_path, CONVOLUTION)
    source, fast = functions(scop, tmp_path, kernel_with(scop, level, "Winograd F(4x4"))
    image, filters = image_and_filters()
    image[6, 6, 3] = value
    expected, result = convolved(source, image, filters), convolved(fast, image, filters)
    assert np.isfinite(expected).sum() == expected.size - 9 * FILTERS
    # Of tiles of four pixels by four, the one that the pixel is in.
    assert not np.isfinite(result[4:8, 4:8]).any()
    assert np.isnan(result[4:8, 4:8]).any()
    assert np.isfinite(result).sum() == result.size - 16 * FILTERS


@parametrized("level", WITH_ANY_METHOD, quick=1)
def test_winograd_overflows_for_pixels_whose_products_do_not(level: Numerics, tmp_path: Path) -> None:
    scop = parse(tmp_path, CONVOLUTION)
    kernels = (kernel_with(scop, "reassociated"), kernel_with(scop, level, "Winograd F(4x4"))
    source, one_by_one, winograd = functions(scop, tmp_path, *kernels)
    image, filters = image_and_filters()
    image, filters = np.sign(image) * np.float32(1e38), filters * np.float32(1e-10)
    assert np.isfinite(convolved(source, image, filters)).all()
    assert np.isfinite(convolved(one_by_one, image, filters)).all()
    assert not np.isfinite(convolved(winograd, image, filters)).all()


def test_zeros_around_an_image_meet_filters_that_are_not_finite(tmp_path: Path) -> None:
    scop = parse(tmp_path, BORDERED)
    kernels = (kernel_with(scop, "strict", microkernel="none"), kernel_with(scop, "reassociated", "borders as zeros"))
    source, strict, padded = functions(scop, tmp_path, *kernels)
    image, filters = image_and_filters(SIZE)
    filters[0, 0] = np.nan
    expected = convolved(source, image, filters)
    assert np.isfinite(expected[0]).all()
    np.testing.assert_array_equal(np.isnan(convolved(strict, image, filters)), np.isnan(expected))
    assert np.isnan(convolved(padded, image, filters)).all()


@parametrized("level", WITH_ANY_METHOD, quick=1)
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_strassen_spoils_other_rows_of_a_block(level: Numerics, value: float, tmp_path: Path) -> None:
    scop = parse(tmp_path, PRODUCT)
    kernels = (kernel_with(scop, "reassociated"), kernel_with(scop, level, "Strassen, 7"))
    generator = np.random.default_rng(4)
    a, b = generator.uniform(-1, 1, (2, ROWS, ROWS)).astype(np.float32)
    a[5, 7] = value
    source, one_by_one, strassen = products(scop, tmp_path, kernels, a, b)
    assert spoilt_rows(source) == spoilt_rows(one_by_one) == {5}
    np.testing.assert_array_equal(np.isnan(one_by_one), np.isnan(source))
    assert {5} < spoilt_rows(strassen)
    assert len(spoilt_rows(strassen)) <= 2
    # Infinity less infinity, where the source has infinities.
    assert np.isnan(strassen[5]).any()


@parametrized("level", WITH_ANY_METHOD, quick=1)
def test_strassen_overflows_in_sums_that_the_source_never_makes(level: Numerics, tmp_path: Path) -> None:
    scop = parse(tmp_path, PRODUCT)
    kernels = (kernel_with(scop, "reassociated"), kernel_with(scop, level, "Strassen, 7"))
    generator = np.random.default_rng(5)
    a = np.full((ROWS, ROWS), np.float32(2e38))
    b = (generator.uniform(-1, 1, (ROWS, ROWS)) * 1e-10).astype(np.float32)
    source, one_by_one, strassen = products(scop, tmp_path, kernels, a, b)
    assert np.isfinite(source).all()
    assert np.isfinite(one_by_one).all()
    assert not np.isfinite(strassen).all()


@parametrized("level", WITH_ANY_METHOD, quick=1)
def test_factors_in_another_order_overflow_where_those_of_the_source_do_not(level: Numerics, tmp_path: Path) -> None:
    scop = parse(tmp_path, SCALED)
    kernels = (kernel_with(scop, "reassociated"), kernel_with(scop, level, "factors of products in another order"))
    a = np.full((ROWS, ROWS), np.float32(1e30))
    b = np.full((ROWS, ROWS), np.float32(1e-30))
    source, ordered, materialized = products(scop, tmp_path, kernels, a, b, alpha=1e20)
    np.testing.assert_allclose(source, ROWS * 1e20, rtol=1e-4)
    np.testing.assert_allclose(ordered, source, rtol=1e-4)
    assert not np.isfinite(materialized).any()


@pytest.mark.parametrize("level", WITH_ANY_METHOD)
def test_a_reciprocal_overflows_where_a_quotient_does_not(level: Numerics, tmp_path: Path) -> None:
    scop = parse(tmp_path, QUOTIENTS)
    kernels = (kernel_with(scop, "reassociated", microkernel="none"), kernel_with(scop, level, microkernel="none"))
    # A quarter of the least normal number: its reciprocal is beyond the largest one.
    x, d = np.full((8, 64), np.float32(2.0**-126)), np.full(8, np.float32(2.0**-129))
    source, quotient, product = (np.zeros((8, 64), np.float32) for _ in range(3))
    for function, out in zip(functions(scop, tmp_path, *kernels), (source, quotient, product), strict=True):
        function(out=out, x=x, d=d)
    assert (source == 8).all()
    np.testing.assert_array_equal(quotient, source)
    assert not np.isfinite(product).any()


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@parametrized("level", ["bounded", "reassociated", "strict"], quick=1)
def test_plain_builds_give_numbers_where_the_source_does(level: Numerics, compiler: str, tmp_path: Path) -> None:
    scop = parse(tmp_path, ESTIMATED)
    x = np.resize(np.array([-100, -1000, -89.5, 3, 1000], np.float32), 64)
    d = np.resize(np.array([0, np.inf, 3e38, 2, 1e-37, 0.25, 7], np.float32), 64)
    with np.errstate(divide="ignore", over="ignore"):
        e = 1 + np.exp(-x)
        expected = np.stack([1 / e, x / e, 1 / d, x / d, 1 / np.sqrt(d), np.sqrt(d)])
    toolchain = Toolchain.find(compiler)
    builds = [each for each in plain_builds(scop, toolchain, 2, level) if each.toolchain == toolchain]
    assert len(builds) == (1 if level == "strict" else 2) * (3 if compiler == "gcc" else 2)
    for number, build in enumerate(builds):
        unit = plain_unit(scop, build.kernel, build.region, "f", asking_region=build.asking_region)
        source, library = tmp_path / f"{number}.c", tmp_path / f"{number}.so"
        source.write_text(unit.c, encoding="utf-8")
        subprocess.run(toolchain.compile_line(unit, source, library), shell=True, check=True)
        out = np.zeros_like(expected)
        load(library, scop)(out=out, x=x, d=d)
        np.testing.assert_allclose(out, expected, rtol=2e-6, atol=1e-37, err_msg=build.name)


def test_an_overflow_that_depends_on_the_order_is_that_of_the_source_at_strict(tmp_path: Path) -> None:
    scop = parse(tmp_path, ROW_SUMS)
    source, strict = functions(scop, tmp_path, kernel_with(scop, "strict", microkernel="none"))
    a = np.zeros((8, 64), np.float32)
    # Half of the rows overflow on the way, and half do not.
    a[:4, :3], a[4:, :3] = (3e38, 3e38, -3e38), (3e38, -3e38, 3e38)
    expected, result = np.zeros(8, np.float32), np.zeros(8, np.float32)
    source(out=expected, a=a)
    strict(out=result, a=a)
    assert np.isinf(expected[:4]).all()
    assert np.isfinite(expected[4:]).all()
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_strict_gives_the_bits_of_the_source_where_no_product_is_fused(compiler: str, tmp_path: Path) -> None:
    """Either product may be, and the choice of a compiler differs from one order of loops to another."""
    first, *others = bits_at_strict(TWO_PRODUCTS, ("-ffp-contract=off",), Toolchain.find(compiler), tmp_path)
    assert others
    for other in others:
        np.testing.assert_array_equal(other, first)


@parametrized(
    ("source_text", "flags"),
    [(CONVOLUTION, ()), (PRODUCT, ()), (PRODUCT, ("-ffp-contract=off",))],
    ids=["convolution", "product", "product, none fused"],
    quick=1,
)
def test_strict_gives_the_bits_of_the_source(source_text: str, flags: tuple[str, ...], tmp_path: Path) -> None:
    first, *others = bits_at_strict(source_text, flags, Toolchain.find(), tmp_path, with_microkernels=True)
    for other in others:
        np.testing.assert_array_equal(other, first)


def bits_at_strict(
    source_text: str, flags: tuple[str, ...], toolchain: Toolchain, tmp_path: Path, *, with_microkernels: bool = False
) -> list[NDArray[np.uint32]]:
    """The bits of what the source computes, and of what some variants do, all compiled with these flags, too."""
    scop = parse(tmp_path, source_text)
    machine = Machine.detect(threads=1)
    space = pipeline.space_on(scop, machine, numerics="strict")
    variants = pipeline.generate(space, max_variants=12 if with_microkernels else 4).variants
    kernels = [pipeline.kernel(space.apply(variant), machine.vector_bytes) for variant in variants]
    assert any(kernel.microkernels for kernel in kernels) is with_microkernels
    kernels = [replace(kernel, compile_flags=(*kernel.compile_flags, *flags)) for kernel in kernels]
    ordered = replace(original(scop), compile_flags=("-O2", "-fno-tree-vectorize", *flags))
    sizes = [scop.array(parameter.array).extents for parameter in scop.function.parameters]
    generator = np.random.default_rng(5)
    inputs = [generator.uniform(-1, 1, extents).astype(np.float32) for extents in sizes[1:]]
    names = [parameter.array for parameter in scop.function.parameters]
    results = []
    for library in EXECUTOR.build([ordered, *kernels], toolchain, tmp_path):
        assert library.library is not None, library.message
        out = np.full(sizes[0], 0.0 if with_microkernels else 0.7, np.float32)
        load(library.library, scop)(**dict(zip(names, [out, *inputs], strict=True)))
        results.append(out.view(np.uint32))
    return results
