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

from polydl.bfloat16 import from_float
from polydl.execute.build import build
from polydl.execute.toolchain import Toolchain
from polydl.libraries.callable import AnySize
from polydl.libraries.candidates import proved, usual_kernels
from polydl.libraries.decision import Condition, Decision, Leaf
from polydl.libraries.kernel import Kernel
from polydl.libraries.product import symbolic_product
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
IMAGES = ("N=1..3", "C=1..9", "F=1..20", "H=1..6", "W=1..20")


@dataclass(frozen=True)
class Family:
    text: str
    ranges: tuple[str, ...]
    #: whether register blocks compute it
    product: bool


FAMILIES = {
    "softmax": Family(SOFTMAX, ("N=1..20", "M=1..70"), False),
    "layer norm": Family(LAYER_NORM, ("N=1..20", "M=1..70"), False),
    "sequence": Family(SEQUENCE, ("N=1..20", "M=1..70"), False),
    "convolution": Family(CONVOLUTION, IMAGES, True),
    "channels last": Family(CHANNELS_LAST, IMAGES, True),
    "batched": Family(BATCHED, ("B=1..4", "M=1..20", "N=1..40", "K=1..20"), True),
    "integers": Family(INTEGERS, ("M=1..20", "N=1..40", "K=1..20"), True),
    "bfloat16": Family(HALVES, ("M=1..20", "N=1..40", "K=1..20"), True),
    "triangle": Family(TRIANGLE, ("N=1..20", "M=1..40"), False),
}


def kernels(nest: SymbolicNest) -> dict[str, Kernel]:
    """Some of the usual kernels, on one thread and on two."""
    machine = machine_with(2, 32)
    form = symbolic_product(nest)
    legal = proved(nest, form, usual_kernels(nest, form, machine)[:: 5 if form else 1], machine)
    assert legal
    return {each.id: each for each in legal[:MOST]}


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
    form = symbolic_product(nest)
    assert (form is not None) == family.product
    ways = kernels(nest)
    sources = [
        unit(nest, form, in_turn(nest, list(ways)), ways, machine_with(1, 32), identity="library"),
        unit(nest, form, Leaf(ORIGINAL), {}, machine_with(1, 32), identity="source"),
    ]
    built = build(sources, Toolchain.find("gcc"), tmp_path)
    assert [(each.library is not None, each.message) for each in built] == [(True, "")] * 2
    tuned, source = (AnySize(nest, each.library, "nest") for each in built if each.library is not None)
    draw, random = Random(5), np.random.default_rng(5)
    written = {access.array for statement in nest.source.statements for access in statement.writes}
    for _ in range(SHAPES):
        shape = {each.name: draw.choice((each.low, each.high, each.high + 1, *[0] * 6)) for each in nest.ranges}
        sizes = {each.name: shape[each.name] or draw.randint(each.low, each.high) for each in nest.ranges}
        given = {}
        for array, extents in nest.source_extents(sizes).items():
            if nest.source.array(array).storage == "parameter":
                kind = {"float": np.float32, "double": np.float64, "int": np.int32, "signed char": np.int8}
                element = nest.source.array(array).element
                values = random.integers(-99, 99, extents) if name == "integers" else random.random(extents) - 0.5
                given[array] = from_float(values) if element == "bfloat16" else values.astype(kind[element])
        factors = {each.name: 1.5 for each in nest.source.function.parameters if each.name == "alpha"}
        expected = {array: value.copy() if array in written else value for array, value in given.items()}
        tuned(**sizes, **factors, **given)
        source(**sizes, **factors, **expected)
        for array in written & given.keys():
            assert np.allclose(given[array], expected[array], rtol=1e-4, atol=1e-5), (sizes, array)


def test_rows_that_are_finished_one_by_one_need_no_memory_for_all(tmp_path: Path) -> None:
    nest = symbolic(SOFTMAX, tmp_path, ("N=1..4096", "M=1..4096"))
    ways = kernels(nest)
    assert {len(each.shared) for each in ways.values()} == {1}
    text = unit(nest, None, in_turn(nest, list(ways)), ways, machine_with(1, 32), identity="library").c
    kernel = text[text.index("static void polydl_kernel1") : text.index("static void polydl_kernel2")]
    assert "float most_of;" in kernel
    assert "malloc" not in text
    assert "if (M <= 2048) {\n      polydl_kernel1(N, M, y, x);" in text
