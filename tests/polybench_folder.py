"""A folder with two small programs in the shape of PolyBench's."""

from __future__ import annotations

import textwrap
from pathlib import Path

_HEADER = """\
#if defined(MINI_DATASET)
#define N 12
#elif defined(SMALL_DATASET)
#define N 40
#else
#error "name a data set"
#endif
#if !defined(POLYBENCH_USE_SCALAR_LB) || !defined(POLYBENCH_STACK_ARRAYS)
#error "bounds are to be constants, and arrays arrays"
#endif
#define BOUND(constant, variable) constant
typedef double number;
void *allocated(unsigned long bytes);
"""

_ADDED_PRODUCT = """\
#include <math.h>
#include <shared.h>

static void init_array(int n, number *scale, number c[N][N], number a[N][N]) {
  *scale = 1.5;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      c[i][j] = (number)(i + j) / n;
      a[i][j] = (number)((i * j) % 7 + 1) / n;
    }
}

static void kernel_added_product(int n, number scale, number c[N][N], number a[N][N]) {
#pragma scop
  for (int i = 0; i < BOUND(N, n); i++)
    for (int k = 0; k < BOUND(N, n); k++)
      for (int j = 0; j < BOUND(N, n); j++)
        c[i][j] += scale * a[i][k] * a[k][j];
#pragma endscop
}

int main(void) {
  int n = N;
  number scale;
  number (*c)[N] = allocated(sizeof(number[N][N]));
  number (*a)[N] = allocated(sizeof(number[N][N]));
  init_array(n, &scale, c, a);
  kernel_added_product(n, scale, c, a);
  return 0;
}
"""

_SMOOTHED = """\
#include <shared.h>

static void init_array(int n, number a[N]) {
  for (int i = 0; i < n; i++)
    a[i] = (number)(i * i % 11) / n;
}

static void kernel_smoothed(int steps, int n, number a[N], number b[N]) {
#pragma scop
  for (int t = 0; t < 8; t++) {
    for (int i = 1; i < BOUND(N, n) - 1; i++)
      b[i] = 0.25 * (a[i - 1] + 2.0 * a[i] + a[i + 1]);
    for (int i = 1; i < BOUND(N, n) - 1; i++)
      a[i] = 0.25 * (b[i - 1] + 2.0 * b[i] + b[i + 1]);
  }
#pragma endscop
}

int main(void) {
  int n = N;
  number a[N], b[N];
  init_array(n, a);
  kernel_smoothed(8, n, a, b);
  return 0;
}
"""


def polybench_folder(directory: Path) -> Path:
    """Write the programs ``added-product`` and ``smoothed`` with their list, and return their folder."""
    folder = directory / "polybench"
    files = {
        "utilities/benchmark_list": "./algebra/added-product/added-product.c\n./stencils/smoothed/smoothed.c\n",
        "utilities/shared.h": _HEADER,
        "algebra/added-product/added-product.c": _ADDED_PRODUCT,
        "stencils/smoothed/smoothed.c": _SMOOTHED,
    }
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
    return folder
