"""Emitted functions whose sizes are parameters: callers of other sizes get the source's loops, and no warnings."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from machines import machine_with
from symbolic_nests import product as any_size
from symbolic_nests import symbolic

from polydl import pipeline
from polydl.codegen.header import header
from polydl.frontend.constants import with_constants
from polydl.ir.kernel import KernelSource
from polydl.ir.variant import Tile, UseMicrokernel, Variant
from polydl.libraries.candidates import usual_candidates
from polydl.libraries.decision import Leaf
from polydl.libraries.unit import unit
from polydl.variants.rewrites.pack_panels import PackPanels
from polydl.variants.rewrites.split import Split

pytestmark = pytest.mark.native

PRODUCT = """\
enum { ROWS = 4 };
void product(int M, int N, int K, float c[M][N], const float a[M][K], const float (*b)[N], const float bias[restrict N],
             int scale[ROWS][N])
{
#pragma scop
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      c[i][j] = bias[j] * scale[1][j];
      for (int k = 0; k < K; k++)
        c[i][j] += a[i][k] * b[k][j];
    }
#pragma endscop
}
"""
PACKED = Variant(
    (
        Split("S1", "j", 16),
        PackPanels("S1", "b", ("j_block", "k", "j")),
        Tile(2, "i", (8,)),
        UseMicrokernel(2, "c", "j", "i", "k", (), ()),
    )
)
# Fills arrays of these sizes, and says how many elements are wrong.
PROGRAM = """\
#include <stdlib.h>
#include "product_polydl.h"
static int wrong(int M, int N, int K)
{{
  float (*c)[N] = malloc(sizeof(float[M][N])), (*a)[K] = malloc(sizeof(float[M][K]));
  float (*b)[N] = malloc(sizeof(float[K][N])), *bias = malloc(sizeof(float[N]));
  int (*scale)[N] = malloc(sizeof(int[4][N])), count = 0;
  for (int i = 0; i < M * K; ++i)
    a[0][i] = i % 5;
  for (int i = 0; i < K * N; ++i)
    b[0][i] = i % 7 - 3;
  for (int i = 0; i < N; ++i)
    bias[i] = i, scale[0][i] = 7, scale[1][i] = 2;
  {calls}
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j) {{
      float sum = 2 * j;
      for (int k = 0; k < K; ++k)
        sum += a[i][k] * b[k][j];
      count += sum != c[i][j];
    }}
  free(c), free(a), free(b), free(bias), free(scale);
  return count;
}}
int main(void)
{{
  return wrong(16, 32, 24) || wrong(10, 20, 5) || wrong(16, 33, 24) || wrong(20, 32, 30);
}}
"""
DIRECT = "product(M, N, K, c, a, b, bias, scale);"
PREPARED = """\
void *prepared = aligned_alloc(64, product_prepared_bytes() + 64);
  product_prepare(M, N, K, b, bias, prepared);
  product_run(M, N, K, c, a, b, bias, scale, prepared);
  free(prepared);"""


def emitted(directory: Path, *constants: str) -> KernelSource:
    path = directory / "product.c"
    path.write_text(PRODUCT)
    scop = with_constants(pipeline.parse(path, defines={"M": 16, "N": 32, "K": 24}), constants)
    machine = machine_with(1, 32)
    kernel = pipeline.kernel(pipeline.apply(scop, PACKED, machine=machine), 32)
    (directory / "product_polydl.c").write_text(kernel.c)
    (directory / "product_polydl.h").write_text(header(kernel.interface))
    return kernel


def compiled(command: str, directory: Path) -> None:
    done = subprocess.run(command.split(), cwd=directory, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("constants", "calls"), [((), DIRECT), (("b", "bias"), DIRECT), (("b", "bias"), PREPARED)],
    ids=["no constants", "constants", "prepared"],
)  # fmt: skip
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_other_sizes_are_right_and_warn_of_nothing(
    tmp_path: Path, constants: tuple[str, ...], calls: str, compiler: str
) -> None:
    emitted(tmp_path, *constants)
    (tmp_path / "program.c").write_text(PROGRAM.format(calls=calls))
    flags = "-O1 -march=native -fopenmp -Wall -Wextra -Werror"
    compiled(f"{compiler} {flags} -Wno-psabi product_polydl.c program.c -o program", tmp_path)
    assert subprocess.run([tmp_path / "program"], check=False).returncode == 0


def test_extents_are_those_of_the_source_in_c_and_numbers_in_cpp(tmp_path: Path) -> None:
    text = header(emitted(tmp_path, "b", "bias").interface)
    sized = "int M, int N, int K, float c[M][N], const float a[M][K], const float (*b)[N], const float bias[N]"
    fixed = "int M, int N, int K, float c[16][32], const float a[16][24], const float (*b)[32], const float bias[32]"
    assert f"#else\nvoid product({sized}, int scale[4][N]);\n#endif" in text
    assert f"#ifdef __cplusplus\nvoid product({fixed}, int scale[4][32]);" in text
    assert f"void product_run({sized}, int scale[4][N], const void *prepared);" in text
    assert (
        "void product_prepare(int M, int N, int K, const float (*b)[N], const float bias[N], void *prepared);" in text
    )
    compiled("g++ -Wall -Wextra -Werror -x c++ -fsyntax-only product_polydl.h", tmp_path)


def test_a_library_takes_the_callers_of_the_source_and_cpp(tmp_path: Path) -> None:
    nest, machine = symbolic(any_size(), tmp_path), machine_with(1, 32)
    form, kernels = usual_candidates(nest, machine)
    library = unit(nest, form, Leaf(kernels[0].id), {kernels[0].id: kernels[0]}, machine, identity="library")
    (tmp_path / "gemm_polydl.h").write_text(header(library.interface))
    calls = "float c[5][7], a[5][3], b[3][7];\nvoid f(void) {{ {} }}\n"
    (tmp_path / "c.c").write_text('#include "gemm_polydl.h"\n' + calls.format("gemm(5, 7, 3, c, a, b);"))
    (tmp_path / "c.cpp").write_text('#include "gemm_polydl.h"\n' + calls.format("gemm(5, 7, 3, *c, *a, *b);"))
    compiled("gcc -Wall -Wextra -Werror -fsyntax-only c.c", tmp_path)
    compiled("g++ -Wall -Wextra -Werror -fsyntax-only c.cpp", tmp_path)


def test_a_library_of_bfloat16s_takes_callers_without_that_type(tmp_path: Path) -> None:
    text = """#include <polydl/bfloat16.h>
void product(int M, int N, int K, float c[M][N], const bfloat16 new[M][K], const bfloat16 b[K][N])
{
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j)
      for (int k = 0; k < K; ++k)
        c[i][j] += bfloat16_to_float(new[i][k]) * bfloat16_to_float(b[k][j]);
}
"""
    nest, machine = symbolic(text, tmp_path), machine_with(1, 32)
    form, kernels = usual_candidates(nest, machine)
    library = unit(nest, form, Leaf(kernels[0].id), {kernels[0].id: kernels[0]}, machine, identity="library")
    (tmp_path / "product_polydl.h").write_text(header(library.interface))
    arrays = "float c[5][7];\nunsigned short a[5][3], b[3][7];\n"
    call = "void f(void) {{ product(5, 7, 3, {}); }}\n"
    for suffix, compiler, given in (("c", "gcc", "c, a, b"), ("cpp", "g++", "*c, *a, *b")):
        (tmp_path / f"calls.{suffix}").write_text(f'#include "product_polydl.h"\n{arrays}' + call.format(given))
        compiled(f"{compiler} -Wall -Wextra -Werror -fsyntax-only calls.{suffix}", tmp_path)
