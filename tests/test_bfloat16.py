"""Nests of bfloat16, from C to the Python function; the microkernels themselves: tests/test_microkernels.py."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path

import numpy as np
import pytest
from marks import marked, parametrized

import polydl
from polydl import bfloat16, pipeline, registry
from polydl.codegen.original import original
from polydl.contracts import Microkernel
from polydl.element_types import element_dtype
from polydl.errors import ArgumentError
from polydl.execute.arrays import Buffer, Data
from polydl.execute.comparison import compare, store
from polydl.execute.contract import TimingPolicy
from polydl.execute.tolerance import tolerance
from polydl.execute.toolchain import Toolchain
from polydl.ir.scop import Scop
from polydl.machine import Machine
from polydl.match.product import NoMatch, match, product_form

EXAMPLE = Path(__file__).parents[1] / "examples" / "matmul_bfloat16.c"

# Types and functions of its own, and extents that leave tails.
PRODUCT = """\
#include <stdint.h>
#include <string.h>
typedef uint16_t bfloat16;
static inline float bfloat16_to_float(bfloat16 x)
{
  const uint32_t bits = (uint32_t)x << 16;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
void product(float C[70][48], const bfloat16 A[70][96], const bfloat16 B[96][48])
{
#pragma scop
  for (int i = 0; i < 70; ++i)
    for (int j = 0; j < 48; ++j)
      for (int k = 0; k < 96; ++k)
        C[i][j] += (float)bfloat16_to_float(A[i][k]) * bfloat16_to_float(B[k][j]);
#pragma endscop
}
"""

LAYER = """\
#include <polydl/bfloat16.h>
void layer(float out[2][14][14][32], const bfloat16 in[2][16][16][32], const bfloat16 filters[2][2][3][3][32][32])
{
#pragma scop
  for (int kt = 0; kt < 2; ++kt)
    for (int y = 0; y < 14; ++y)
      for (int x = 0; x < 14; ++x)
        for (int k = 0; k < 32; ++k)
          out[kt][y][x][k] = 0;
  for (int kt = 0; kt < 2; ++kt)
    for (int ct = 0; ct < 2; ++ct)
      for (int y = 0; y < 14; ++y)
        for (int kj = 0; kj < 3; ++kj)
          for (int ki = 0; ki < 3; ++ki)
            for (int x = 0; x < 14; ++x)
              for (int c = 0; c < 32; ++c)
                for (int k = 0; k < 32; ++k)
                  out[kt][y][x][k] +=
                      bfloat16_to_float(in[ct][y + kj][x + ki][c]) * bfloat16_to_float(filters[kt][ct][kj][ki][c][k]);
#pragma endscop
}
"""

# One operand in pairs of steps of k, as instructions read them.
PAIRS = """\
#include <polydl/bfloat16.h>
void pairs(float C[40][48], const bfloat16 A[40][24][2], const bfloat16 B[24][48][2])
{
#pragma scop
  for (int i = 0; i < 40; ++i)
    for (int j = 0; j < 48; ++j)
      for (int k = 0; k < 24; ++k)
        for (int q = 0; q < 2; ++q)
          C[i][j] += bfloat16_to_float(A[i][k][q]) * bfloat16_to_float(B[k][j][q]);
#pragma endscop
}
"""

# Results that are rounded to a row, and to a column of another order than the sums.
ROUNDED = """\
#include <polydl/bfloat16.h>
void rounded(bfloat16 out[40][48], const bfloat16 A[40][24][2], const bfloat16 B[24][48][2], const float bias[48],
             const bfloat16 added[40][48])
{
#pragma scop
  for (int i = 0; i < 40; ++i)
    for (int j = 0; j < 48; ++j) {
      float sum = 0.0f;
      for (int k = 0; k < 24; ++k)
        for (int q = 0; q < 2; ++q)
          sum += bfloat16_to_float(A[i][k][q]) * bfloat16_to_float(B[k][j][q]);
      out[i][j] = float_to_bfloat16(sum + bias[j] + bfloat16_to_float(added[i][j]));
    }
#pragma endscop
}
"""
TURNED = ROUNDED.replace("out[40][48]", "out[48][40]").replace("out[i][j]", "out[j][i]").replace("rounded(", "turned(")

RELU = """\
#include <polydl/bfloat16.h>
#include <math.h>
void relu(bfloat16 out[200][300], bfloat16 kept[200][300], const bfloat16 in[200][300], const float bias[300])
{
#pragma scop
  for (int i = 0; i < 200; ++i)
    for (int j = 0; j < 300; ++j)
      out[i][j] = float_to_bfloat16(fmaxf(bfloat16_to_float(in[i][j]) + bias[j], 0.0f));
  for (int i = 0; i < 200; ++i)
    for (int j = 0; j < 300; ++j)
      kept[i][j] = in[i][j];
#pragma endscop
}
"""


def parsed(text: str, directory: Path) -> Scop:
    path = directory / "nest.c"
    path.write_text(text)
    return pipeline.parse(path)


@pytest.mark.native
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_the_header_and_numpy_convert_alike(compiler: str, tmp_path: Path) -> None:
    (tmp_path / "convert.c").write_text(
        "#include <polydl/bfloat16.h>\n"
        "void widen(long n, const bfloat16 *from, float *to)\n"
        "{ for (long i = 0; i < n; ++i) to[i] = bfloat16_to_float(from[i]); }\n"
        "void narrow(long n, const float *from, bfloat16 *to)\n"
        "{ for (long i = 0; i < n; ++i) to[i] = float_to_bfloat16(from[i]); }\n"
    )
    command = [compiler, "-O2", "-Wall", "-Wextra", "-Werror", "-pedantic", f"-I{bfloat16.INCLUDE}", "-shared", "-fPIC"]
    subprocess.run([*command, "convert.c", "-o", "convert.so"], cwd=tmp_path, check=True)
    library = ctypes.CDLL(str(tmp_path / "convert.so"))
    every = np.arange(1 << 16, dtype=np.uint16)
    wide = np.empty(every.size, np.float32)
    library.widen(ctypes.c_long(every.size), ctypes.c_void_p(every.ctypes.data), ctypes.c_void_p(wide.ctypes.data))
    assert np.array_equal(wide.view(np.uint32), every.astype(np.uint32) << 16)
    assert np.array_equal(bfloat16.to_float(every).view(np.uint32), wide.view(np.uint32))
    bits = np.random.default_rng(1).integers(0, 1 << 32, 100_000, np.uint32)
    ties = (every.astype(np.uint32) << 16) | 0x8000
    given = np.concatenate([bits, ties, ties + 1, ties - 1]).view(np.float32)
    narrow = np.empty(given.size, np.uint16)
    library.narrow(ctypes.c_long(given.size), ctypes.c_void_p(given.ctypes.data), ctypes.c_void_p(narrow.ctypes.data))
    assert np.array_equal(narrow, bfloat16.from_float(given))


def test_rounds_to_the_nearest_and_of_two_to_the_even_one() -> None:
    given = [1.0, 1 + 2.0**-8, 1 + 3 * 2.0**-8, 1 + 2.0**-7, -3.14159274, 1.5 * 2.0**-133, np.inf, 3.4e38]
    wanted = [1.0, 1.0, 1 + 2.0**-6, 1 + 2.0**-7, -3.140625, 2.0**-132, np.inf, np.inf]
    assert bfloat16.to_float(bfloat16.from_float(given)).tolist() == wanted
    assert np.isnan(bfloat16.to_float(bfloat16.from_float([np.nan])))[0]


@pytest.mark.parametrize("text", [PRODUCT, LAYER], ids=["product", "layer"])
def test_a_nest_says_bfloat16(text: str, tmp_path: Path) -> None:
    scop = parsed(text, tmp_path)
    assert [(array.element, array.element_bytes) for array in scop.arrays] == [
        ("float", 4),
        ("bfloat16", 2),
        ("bfloat16", 2),
    ]
    statement = scop.statements[-1]
    assert statement.flops_per_instance == 2
    form = product_form(scop, statement)
    assert not isinstance(form, NoMatch)
    assert form.types == ("bfloat16", "float")
    # Each product is exact: what is summed decides how far two results may lie apart.
    assert tolerance(scop) < 1e-3


def test_what_is_no_product_of_two_bfloat16s_is_left_to_loops(tmp_path: Path) -> None:
    mixed = parsed(
        PRODUCT.replace("const bfloat16 A", "const float A").replace("bfloat16_to_float(A[i][k])", "A[i][k]"), tmp_path
    )
    wide = parsed(PRODUCT.replace("float C", "double C"), tmp_path)
    kernel = registry.load("microkernels", "c")
    for scop in (mixed, wide):
        (statement,) = scop.statements
        assert isinstance(match(scop, statement, (0, 1, 2), kernel), NoMatch)


@pytest.mark.native
@parametrized(
    ("text", "name"),
    marked(
        (PRODUCT, "c"),
        (PRODUCT, "c-amx"),
        (PRODUCT, "libxsmm-bf16"),
        (PRODUCT, "none"),
        (LAYER, "c"),
        (LAYER, "c-amx"),
        (LAYER, "libxsmm-bf16"),
        (PAIRS, "libxsmm-bf16"),
        (PAIRS, "c-bf16"),
        (ROUNDED, "c-bf16"),
        (TURNED, "c-bf16"),
        (ROUNDED, "c"),
        (TURNED, "c"),
    ),
    ids=lambda value: (
        value if len(value) < 20 else value[value.index("void ") + 5 : value.index("(", value.index("void "))]
    ),
    quick=2,
)
def test_variants_are_right(text: str, name: str, tmp_path: Path) -> None:
    if name != "none":
        kernel: Microkernel = registry.load("microkernels", name)
        if kernel.unavailable():
            pytest.skip(str(kernel.unavailable()))
    scop = parsed(text, tmp_path)
    machine = Machine.detect(threads=1)
    space = pipeline.space_on(scop, machine, microkernel=name)
    generation = pipeline.generate(space, max_variants=5, seed=1)
    kernels = [pipeline.kernel(space.apply(each), machine.vector_bytes) for each in generation.variants]
    assert {use.name for kernel in kernels for use in kernel.microkernels} == {name} - {"none"}
    executor = registry.load("executors", "local")
    built = executor.build([original(scop), *kernels], Toolchain.find().cautious, tmp_path)
    policy = TimingPolicy(rounds=1, minimum_sample_seconds=1e-4, budget_seconds=2.0)
    measured = executor.measure(built[1:], built[0], scop, threads=1, policy=policy, seed=0)
    assert {each.status for each in measured} == {"ok"}, [each.message for each in measured]


@pytest.mark.slow
@pytest.mark.avx512
@pytest.mark.native
def test_copies_are_made_anew_in_each_call_of_the_function(tmp_path: Path) -> None:
    kernel: Microkernel = registry.load("microkernels", "libxsmm-bf16")
    if kernel.unavailable():
        pytest.skip(str(kernel.unavailable()))
    (tmp_path / "nest.c").write_text(PRODUCT)
    machine = Machine.detect(threads=1)
    result = polydl.optimize(
        tmp_path / "nest.c", machine=machine, microkernel="libxsmm", top_k=1, max_variants=8, records=False
    )
    assert {use.name for use in result.tried[0].kernel.microkernels} == {"libxsmm-bf16"}
    generator = np.random.default_rng(2)
    left, right = np.empty((70, 96), np.uint16), np.empty((96, 48), np.uint16)
    for _ in range(3):
        left[:], right[:] = (bfloat16.from_float(generator.uniform(-1, 1, each.shape)) for each in (left, right))
        output = np.zeros((70, 48), np.float32)
        result.best(C=output, A=left, B=right)
        np.testing.assert_allclose(output, bfloat16.to_float(left) @ bfloat16.to_float(right), atol=1e-4)


def test_one_name_stands_for_all_of_libxsmms_kernels(tmp_path: Path) -> None:
    machine = Machine.detect(threads=1)
    space = pipeline.space_on(parsed(PRODUCT, tmp_path), machine, microkernel="libxsmm")
    assert set(space.kernels) == {"libxsmm", "libxsmm-bf16", "libxsmm-int8"}


@pytest.mark.slow
@pytest.mark.native
def test_arrays_of_them_are_written_and_copied(tmp_path: Path) -> None:
    scop = parsed(RELU, tmp_path)
    # Two results may be rounded to neighbours.
    assert 2.0**-7 < tolerance(scop) < 0.1
    machine = Machine.detect(threads=1)
    space = pipeline.space_on(scop, machine)
    generation = pipeline.generate(space, max_variants=4, seed=1)
    kernels = [pipeline.kernel(space.apply(each), machine.vector_bytes) for each in generation.variants]
    executor = registry.load("executors", "local")
    built = executor.build([original(scop), *kernels], Toolchain.find().cautious, tmp_path)
    policy = TimingPolicy(rounds=1, minimum_sample_seconds=1e-4, budget_seconds=2.0)
    measured = executor.measure(built[1:], built[0], scop, threads=1, policy=policy, seed=0)
    assert {each.status for each in measured} == {"ok"}, [each.message for each in measured]


def test_random_data_are_ordinary_numbers_and_results_are_compared_as_numbers(tmp_path: Path) -> None:
    data = Data(3, signed=True)
    buffer = Buffer("x", element_dtype("bfloat16"), (1000,), stream=2)
    buffer.fill(data)
    values = bfloat16.to_float(buffer.values)
    assert -1 <= values.min() < -0.9 < 0.9 < values.max() <= 1
    assert np.abs(values).min() > 1e-6
    buffer.values[:] = bfloat16.from_float(2 * values)
    offsets = store([buffer], data, tmp_path / "original")
    at = int(np.argmax(np.abs(values)))
    for change, right in ((1, True), (40, False)):
        changed = buffer.values.copy()
        buffer.values[at] -= change
        verdict = compare([buffer], data, tmp_path / "original", offsets, 2.0**-6)
        assert (verdict.wrong is None) is right, verdict
        buffer.values[:] = changed


@pytest.mark.slow
@pytest.mark.native
def test_from_a_file_to_a_function(tmp_path: Path) -> None:
    result = polydl.optimize(
        EXAMPLE, machine=Machine.detect(threads=1), top_k=1, max_variants=30, out=tmp_path, records=False
    )
    # The header and the code need nothing of polydl's, and the header says what a caller without the type has.
    assert "const unsigned short A[512][512]" in (tmp_path / "matmul_bfloat16_polydl.h").read_text()
    assert "#include <polydl" not in (tmp_path / "matmul_bfloat16_polydl.c").read_text()
    generator = np.random.default_rng(5)
    left, right = (bfloat16.from_float(generator.uniform(-1, 1, (512, 512))) for _ in range(2))
    output = np.empty((512, 512), np.float32)
    result.best(C=output, A=left, B=right)
    np.testing.assert_allclose(output, bfloat16.to_float(left) @ bfloat16.to_float(right), atol=1e-3)
    with pytest.raises(ArgumentError, match="float32") as caught:
        result.best(C=output, A=bfloat16.to_float(left), B=right)
    assert "from_float" in (caught.value.remedy or "")
