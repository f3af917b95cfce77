"""Libraries of any nest: kernels give the answers of the source's loops at sizes within the ranges, and beyond."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np
import pytest
from machines import machine_with
from marks import parametrized
from symbolic_nests import symbolic

from polydl.bfloat16 import from_float, to_float
from polydl.execute.build import build
from polydl.execute.toolchain import Toolchain
from polydl.libraries.callable import AnySize
from polydl.libraries.candidates import usual_candidates
from polydl.libraries.decision import Condition, Decision, Leaf
from polydl.libraries.kernel import Kernel
from polydl.libraries.product import SymbolicProduct, symbolic_product
from polydl.libraries.symbolic import SymbolicNest
from polydl.libraries.unit import ORIGINAL, unit

SHAPES = 100
# Kernels of one library.
MOST = 4

SOFTMAX = """#include <math.h>
void nest(int N, int M, float y[N][M], const float x[N][M])
{
  for (int i = 0; i < N; ++i) {
    float most = x[i][0], sum = 0;
    for (int j = 1; j < M; ++j)
      most = fmaxf(most, x[i][j]);
    for (int j = 0; j < M; ++j) {
      y[i][j] = expf(x[i][j] - most);
      sum += y[i][j];
    }
    for (int j = 0; j < M; ++j)
      y[i][j] /= sum;
  }
}
"""
LAYER_NORM = """#include <math.h>
void nest(int N, int M, float y[N][M], const float *x, const float scale[M], const float shift[M])
{
  for (int i = 0; i < N; ++i) {
    float mean = 0, variance = 0;
    for (int j = 0; j < M; ++j)
      mean += x[i * M + j];
    mean /= M;
    for (int j = 0; j < M; ++j) {
      float distance = x[i * M + j] - mean;
      variance += distance * distance;
    }
    float factor = 1 / sqrtf(variance / M + 1e-5f);
    for (int j = 0; j < M; ++j)
      y[i][j] = (x[i * M + j] - mean) * factor * scale[j] + shift[j];
  }
}
"""
SEQUENCE = """
void nest(int N, int M, double y[N][M], double z[M], const double x[M][N], double alpha)
{
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < M; ++j)
      y[i][j] = alpha * x[j][i] + 3;
  for (int j = 0; j < M; ++j)
    z[j] = y[0][j] * j + N;
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < M; ++j)
      z[j] += y[i][j] > 0 ? y[i][j] : 0;
}
"""
CONVOLUTION = """
void nest(int N, int C, int F, int H, int W, float out[N][F][H][W], const float in[N][C][H + 2][W + 2],
          const float filter[F][C][3][3])
{
  for (int n = 0; n < N; ++n)
    for (int f = 0; f < F; ++f)
      for (int y = 0; y < H; ++y)
        for (int x = 0; x < W; ++x) {
          out[n][f][y][x] = 0;
          for (int c = 0; c < C; ++c)
            for (int p = 0; p < 3; ++p)
              for (int q = 0; q < 3; ++q)
                out[n][f][y][x] += in[n][c][y + p][x + q] * filter[f][c][p][q];
        }
}
"""
CHANNELS_LAST = """
void nest(int N, int C, int F, int H, int W, float out[N][H][W][F], const float in[N][2 * H + 1][2 * W + 1][C],
          const float filter[3][3][C][F])
{
  for (int n = 0; n < N; ++n)
    for (int y = 0; y < H; ++y)
      for (int x = 0; x < W; ++x)
        for (int f = 0; f < F; ++f) {
          float sum = 0;
          for (int p = 0; p < 3; ++p)
            for (int q = 0; q < 3; ++q)
              for (int c = 0; c < C; ++c)
                sum += in[n][2 * y + p][2 * x + q][c] * filter[p][q][c][f];
          out[n][y][x][f] = sum > 0 ? sum : 0;
        }
}
"""
BATCHED = """
void nest(int B, int M, int N, int K, double C[B][M][N], const double A[B][M][K], const double D[B][N][K], double alpha)
{
  for (int b = 0; b < B; ++b)
    for (int i = 0; i < M; ++i)
      for (int j = 0; j < N; ++j) {
        C[b][i][j] *= 0.5;
        for (int k = 0; k < K; ++k)
          C[b][i][j] += alpha * A[b][i][k] * D[b][j][k];
      }
}
"""
INTEGERS = """
void nest(int M, int N, int K, int C[M][N], const signed char A[M][K], const signed char B[K][N])
{
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j) {
      C[i][j] = 0;
      for (int k = 0; k < K; ++k)
        C[i][j] += A[i][k] * B[k][j];
    }
}
"""
HALVES = """#include <polydl/bfloat16.h>
void nest(int M, int N, int K, float C[M][N], const bfloat16 A[K][M], const bfloat16 B[N][K])
{
#pragma scop
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j)
      for (int k = 0; k < K; ++k)
        C[i][j] += bfloat16_to_float(A[k][i]) * bfloat16_to_float(B[j][k]);
#pragma endscop
}
"""
FACTORS = """
void nest(int M, int N, int K, int alpha, int C[M][N], const signed char A[M][K], const signed char B[K][N])
{
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j) {
      C[i][j] *= alpha;
      for (int k = 0; k < K; ++k)
        C[i][j] -= alpha * A[i][k] * B[k][j];
    }
}
"""
ROUNDED = """#include <polydl/bfloat16.h>
void nest(int M, int N, int K, bfloat16 C[M][N], const bfloat16 A[M][K], const bfloat16 B[N][K])
{
#pragma scop
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j) {
      float sum = 0;
      for (int k = 0; k < K; ++k)
        sum += bfloat16_to_float(A[i][k]) * bfloat16_to_float(B[j][k]);
      C[i][j] = float_to_bfloat16(sum);
    }
#pragma endscop
}
"""
ATTENTION = """#include <math.h>
void nest(int H, int S, int D, float y[H][S][D], float p[H][S][S], const float q[H][S][D], const float k[H][S][D],
          const float v[H][S][D], float alpha)
{
  for (int h = 0; h < H; ++h)
    for (int i = 0; i < S; ++i)
      for (int j = 0; j < S; ++j) {
        p[h][i][j] = 0;
        for (int d = 0; d < D; ++d)
          p[h][i][j] += alpha * q[h][i][d] * k[h][j][d];
      }
  for (int h = 0; h < H; ++h)
    for (int i = 0; i < S; ++i) {
      float most = p[h][i][0], sum = 0;
      for (int j = 1; j < S; ++j)
        most = fmaxf(most, p[h][i][j]);
      for (int j = 0; j < S; ++j) {
        p[h][i][j] = expf(p[h][i][j] - most);
        sum += p[h][i][j];
      }
      for (int j = 0; j < S; ++j)
        p[h][i][j] /= sum;
    }
  for (int h = 0; h < H; ++h)
    for (int i = 0; i < S; ++i)
      for (int d = 0; d < D; ++d) {
        y[h][i][d] = 0;
        for (int j = 0; j < S; ++j)
          y[h][i][d] += p[h][i][j] * v[h][j][d];
      }
}
"""
TRIANGLE = """
void nest(int N, int M, float x[N][M], const float L[N][N])
{
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < M; ++j) {
      for (int k = 0; k < i; ++k)
        x[i][j] -= L[i][k] * x[k][j];
      x[i][j] /= 1 + L[i][i];
    }
}
"""
UNSIGNED = """#include <stddef.h>
void nest(unsigned M, size_t N, unsigned K, float C[M][N], const float A[M][K], const float B[K][N], float d[M][N])
{
  for (unsigned i = 0; i < M; ++i)
    for (size_t j = 0; j < N; ++j)
      for (unsigned k = 0; k + 2 < K; ++k)
        C[i][j] += A[i][k] * B[k][j];
  for (unsigned i = 0; i + 3 < M; ++i)
    for (size_t j = 0; j < N; ++j)
      d[i][j] = d[i][j] * 2 / M;
}
"""
IMAGES = ("N=1..3", "C=1..9", "F=1..20", "H=1..6", "W=1..20")


@dataclass(frozen=True)
class Family:
    text: str
    ranges: tuple[str, ...]
    #: whether register blocks compute its product
    product: bool


FAMILIES = {
    "softmax": Family(SOFTMAX, ("N=1..20", "M=1..70"), False),
    "layer norm": Family(LAYER_NORM, ("N=1..20", "M=1..70"), False),
    "sequence": Family(SEQUENCE, ("N=1..20", "M=1..70"), False),
    "convolution": Family(CONVOLUTION, IMAGES, True),
    "channels last": Family(CHANNELS_LAST, IMAGES, True),
    "batched": Family(BATCHED, ("B=1..4", "M=1..20", "N=1..40", "K=1..20"), True),
    "integers": Family(INTEGERS, ("M=1..20", "N=1..40", "K=1..20"), True),
    "integers with factors": Family(FACTORS, ("M=1..20", "N=1..40", "K=1..20"), True),
    "attention": Family(ATTENTION, ("H=1..3", "S=1..20", "D=1..40"), True),
    "rounded sums": Family(ROUNDED, ("M=1..20", "N=1..40", "K=1..20"), False),
    "bfloat16": Family(HALVES, ("M=1..20", "N=1..40", "K=1..20"), True),
    "unsigned sizes": Family(UNSIGNED, ("M=1..20", "N=1..40", "K=1..20"), True),
    "triangle": Family(TRIANGLE, ("N=1..20", "M=1..40"), False),
}


def kernels(nest: SymbolicNest) -> tuple[SymbolicProduct | None, dict[str, Kernel]]:
    """The product, and some of the usual kernels, on one thread and on two."""
    form, legal = usual_candidates(nest, machine_with(2, 32))
    assert legal
    return form, {each.id: each for each in legal[:: 5 if form else 1][:MOST]}


def in_turn(nest: SymbolicNest, identities: list[str]) -> Decision:
    """Each kernel for its share of the values of the last size."""
    *before, last = identities
    decision: Decision = Leaf(last)
    largest = nest.ranges[-1]
    for number, identity in reversed(list(enumerate(before, 1))):
        decision = Condition((largest.name,), largest.high * number // len(identities), Leaf(identity), decision)
    return decision


@pytest.mark.native
@parametrized("name", FAMILIES, quick=1)
def test_answers_are_those_of_the_source(tmp_path: Path, name: str) -> None:
    family = FAMILIES[name]
    nest = symbolic(family.text, tmp_path, family.ranges)
    form, ways = kernels(nest)
    assert (form is not None) == family.product
    sources = [
        unit(nest, form, in_turn(nest, list(ways)), ways, machine_with(1, 32), identity="library"),
        unit(nest, form, Leaf(ORIGINAL), {}, machine_with(1, 32), identity="source"),
    ]
    built = build(sources, Toolchain.find("gcc").cautious, tmp_path)
    assert [(each.library is not None, each.message) for each in built] == [(True, "")] * 2
    tuned, source = (AnySize(nest, each.library, "nest") for each in built if each.library is not None)
    draw, random = Random(5), np.random.default_rng(5)
    written = {access.array for statement in nest.source.statements for access in statement.writes}

    def rounded(array: str) -> bool:
        return nest.source.array(array).element == "bfloat16"

    for _ in range(SHAPES):
        shape = {each.name: draw.choice((each.low, each.high, each.high + 1, *[0] * 6)) for each in nest.ranges}
        sizes = {each.name: shape[each.name] or draw.randint(each.low, each.high) for each in nest.ranges}
        given = {}
        for array, extents in nest.source_extents(sizes).items():
            if nest.source.array(array).storage == "parameter":
                kind = {"float": np.float32, "double": np.float64, "int": np.int32, "signed char": np.int8}
                element = nest.source.array(array).element
                values = (
                    random.integers(-99, 99, extents) if name.startswith("integers") else random.random(extents) - 0.5
                )
                given[array] = from_float(values) if element == "bfloat16" else values.astype(kind[element])
        factor = -3 if name == "integers with factors" else 1.5
        factors = {each.name: factor for each in nest.source.function.parameters if each.name == "alpha"}
        expected = {array: value.copy() if array in written else value for array, value in given.items()}
        tuned(**sizes, **factors, **given)
        source(**sizes, **factors, **expected)
        for array in written & given.keys():
            result, answer = (to_float(each[array]) if rounded(array) else each[array] for each in (given, expected))
            tolerance = 1e-2 if rounded(array) else 1e-4
            assert np.allclose(result, answer, rtol=tolerance, atol=tolerance / 10), (sizes, array)


@pytest.mark.slow
def test_a_sum_that_no_array_can_hold_is_one_variable_in_plain_loops(tmp_path: Path) -> None:
    nest = symbolic(ROUNDED, tmp_path, ("M=1..20", "N=1..40", "K=1..20"))
    assert symbolic_product(nest) is not None
    form, ways = kernels(nest)
    assert form is None
    assert {each.shared[0].loops for each in ways.values()} == {2}


@pytest.mark.slow
def test_rows_beside_a_product_share_loops_where_they_need_variables(tmp_path: Path) -> None:
    nest = symbolic(ATTENTION, tmp_path, ("H=1..3", "S=1..20", "D=1..40"))
    form, ways = kernels(nest)
    assert form is not None
    for each in ways.values():
        assert each.blocking is not None
        assert [(len(shared.statements), shared.loops) for shared in each.shared] == [(6, 2)]


def test_a_whole_number_that_is_no_size_is_a_factor(tmp_path: Path) -> None:
    form = symbolic_product(symbolic(FACTORS, tmp_path, ("M=1..20", "N=1..40", "K=1..20")))
    assert form is not None
    assert form.scale == "-1 * alpha"


def test_rows_that_are_finished_one_by_one_need_no_memory_for_all(tmp_path: Path) -> None:
    nest = symbolic(SOFTMAX, tmp_path, ("N=1..4096", "M=1..4096"))
    _, ways = kernels(nest)
    assert {len(each.shared) for each in ways.values()} == {1}
    text = unit(nest, None, in_turn(nest, list(ways)), ways, machine_with(1, 32), identity="library").c
    kernel = text[text.index("static void polydl_kernel1") : text.index("static void polydl_kernel2")]
    assert "float most_of;" in kernel
    assert "malloc" not in text
    assert "if (M <= 2048) {\n      polydl_kernel1(N, M, y, x);" in text
