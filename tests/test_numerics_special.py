"""NaN, infinity, overflow and bits at each numerics level: what docs/guide/numerics.md says of them."""

from __future__ import annotations

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
from polydl.execute.callable import load
from polydl.execute.local import EXECUTOR
from polydl.execute.toolchain import Toolchain
from polydl.ir.kernel import KernelSource
from polydl.ir.numerics import Numerics
from polydl.ir.scop import Scop
from polydl.machine import Machine

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
ROW_SUMS = """\
void f(float out[8], const float a[8][64]) {
#pragma scop
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 64; j++)
      out[i] += a[i][j];
#pragma endscop
}
"""
Values = NDArray[np.float32]
Function = Callable[..., None]


def kernel_with(scop: Scop, level: Numerics, method: str = "", *, microkernel: str = "c") -> KernelSource:
    """The first variant whose methods begin with this one; without one, the first that has none."""
    machine = machine_with(1, 32)
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


def convolved(function: Function, image: Values, filters: Values) -> Values:
    out = np.zeros((SIZE, SIZE, FILTERS), np.float32)
    # "in" is a keyword of Python.
    function(out=out, w=filters, **{"in": image})
    return out


def image_and_filters(side: int = SIZE + 2) -> tuple[Values, Values]:
    generator = np.random.default_rng(3)
    image = generator.uniform(-1, 1, (side, side, CHANNELS)).astype(np.float32)
    return image, generator.uniform(-1, 1, (3, 3, CHANNELS, FILTERS)).astype(np.float32)


@pytest.mark.parametrize("level", ["strict", "reassociated"])
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


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_winograd_spoils_the_tiles_of_a_pixel_that_is_not_finite(value: float, tmp_path: Path) -> None:
    scop = parse(tmp_path, CONVOLUTION)
    source, fast = functions(scop, tmp_path, kernel_with(scop, "bounded", "Winograd F(4x4"))
    image, filters = image_and_filters()
    image[6, 6, 3] = value
    expected, result = convolved(source, image, filters), convolved(fast, image, filters)
    assert np.isfinite(expected).sum() == expected.size - 9 * FILTERS
    # Of tiles of four pixels by four, the one that the pixel is in.
    assert not np.isfinite(result[4:8, 4:8]).any()
    assert np.isnan(result[4:8, 4:8]).any()
    assert np.isfinite(result).sum() == result.size - 16 * FILTERS


def test_winograd_overflows_for_pixels_whose_products_do_not(tmp_path: Path) -> None:
    scop = parse(tmp_path, CONVOLUTION)
    kernels = (kernel_with(scop, "reassociated"), kernel_with(scop, "bounded", "Winograd F(4x4"))
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


def test_strassen_spoils_other_rows_of_a_block(tmp_path: Path) -> None:
    scop = parse(tmp_path, PRODUCT)
    kernels = (kernel_with(scop, "reassociated"), kernel_with(scop, "bounded", "Strassen, 7"))
    source, one_by_one, strassen = functions(scop, tmp_path, *kernels)
    generator = np.random.default_rng(4)
    a, b = generator.uniform(-1, 1, (2, ROWS, ROWS)).astype(np.float32)
    a[5, 7] = np.nan
    results = [np.zeros((ROWS, ROWS), np.float32) for _ in range(3)]
    for function, out in zip((source, one_by_one, strassen), results, strict=True):
        function(out=out, a=a, b=b)
    spoilt = [set(np.flatnonzero(np.isnan(out).any(axis=1)).tolist()) for out in results]
    assert spoilt[0] == spoilt[1] == {5}
    assert {5} < spoilt[2]
    assert len(spoilt[2]) <= 2


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


@parametrized("source_text", [CONVOLUTION, PRODUCT], ids=["convolution", "product"], quick=1)
def test_strict_gives_the_bits_of_the_source(source_text: str, tmp_path: Path) -> None:
    scop = parse(tmp_path, source_text)
    machine = Machine.detect(threads=1)
    space = pipeline.space_on(scop, machine, numerics="strict")
    variants = pipeline.generate(space, max_variants=12).variants
    kernels = [pipeline.kernel(space.apply(variant), machine.vector_bytes) for variant in variants]
    assert any(kernel.microkernels for kernel in kernels)
    ordered = replace(original(scop), compile_flags=("-O2", "-fno-tree-vectorize"))
    sizes = [scop.array(parameter.array).extents for parameter in scop.function.parameters]
    generator = np.random.default_rng(5)
    inputs = [generator.uniform(-1, 1, extents).astype(np.float32) for extents in sizes[1:]]
    results = []
    for library in EXECUTOR.build([ordered, *kernels], Toolchain.find(), tmp_path):
        assert library.library is not None, library.message
        out = np.zeros(sizes[0], np.float32)
        names = [parameter.array for parameter in scop.function.parameters]
        load(library.library, scop)(**dict(zip(names, [out, *inputs], strict=True)))
        results.append(out)
    for result in results[1:]:
        np.testing.assert_array_equal(result.view(np.uint32), results[0].view(np.uint32))
