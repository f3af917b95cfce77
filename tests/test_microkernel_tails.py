"""Every short length of m in plain C: equal to its reference, within its arrays, and without what lies between columns.

Arrays end (or begin) at a page that can't be touched, and all that a call has no business with is NaN, in C a number
that must stay.
"""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from marks import parametrized

from polydl.contracts import CallArguments, GemmSite
from polydl.microkernels.plain_c import PLAIN_C

GAP = 3
BATCH = 2

HEAD = """\
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static char *guarded(size_t bytes, int at_end)
{
  const size_t page = 4096, whole = (bytes + page - 1) / page * page;
  char *base = mmap(NULL, whole + 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED || mprotect(base, page, PROT_NONE) || mprotect(base + page + whole, page, PROT_NONE))
    abort();
  return base + page + (at_end ? whole - bytes : 0);
}

static unsigned long state = 1;
static REAL drawn(void)
{
  state = state * 6364136223846793005ul + 1442695040888963407ul;
  return (REAL)((long)(state >> 33) % 2001 - 1000) / (REAL)1000;
}

typedef void (*run)(const REAL *, const REAL *, REAL *, long, int);

static void check(run kernel, long m, long n, int first, int at_end)
{
  const long lda = m + GAP, ldc = m + GAP, stride_bn = DEPTH + GAP;
  const long a_length = (DEPTH * BATCH - 1) * lda + m, c_length = (n - 1) * ldc + m;
  const long b_length = (BATCH - 1) * n * stride_bn + (n - 1) * stride_bn + DEPTH;
  REAL *a = (REAL *)guarded(a_length * sizeof(REAL), at_end), *b = (REAL *)guarded(b_length * sizeof(REAL), at_end);
  REAL *c = (REAL *)guarded(c_length * sizeof(REAL), at_end), *expected = malloc(c_length * sizeof(REAL));
  for (long i = 0; i < a_length; ++i)
    a[i] = i % lda < m ? drawn() : (REAL)NAN;
  for (long i = 0; i < b_length; ++i)
    b[i] = i % stride_bn < DEPTH ? drawn() : (REAL)NAN;
  for (long i = 0; i < c_length; ++i)
    expected[i] = c[i] = first && i % ldc < m ? (REAL)NAN : drawn();
  for (long j = 0; j < n; ++j)
    for (long i = 0; i < m; ++i) {
      double sum = first ? 0.0 : expected[i + j * ldc];
      for (long r = 0; r < BATCH; ++r)
        for (long l = 0; l < DEPTH; ++l)
          sum += (double)a[i + (l + r * DEPTH) * lda] * b[j * stride_bn + l + r * n * stride_bn];
      expected[i + j * ldc] = (REAL)sum;
    }
  kernel(a, b, c, BATCH, first);
  for (long i = 0; i < c_length; ++i)
    if (i % ldc < m ? !(fabs((double)c[i] - expected[i]) < 1e-5) : memcmp(c + i, expected + i, sizeof(REAL))) {
      printf("m %ld, n %ld, first %d, at_end %d: %g in place of %g at %ld\\n", m, n, first, at_end, (double)c[i],
             (double)expected[i], i);
      exit(1);
    }
  free(expected);
}
"""


def site(prefix: str, element: str, m: int, n: int, depth: int) -> GemmSite:
    stride_bn = depth + GAP
    return GemmSite(
        prefix=prefix,
        element=element,
        accumulator=element,
        m=(m, m),
        n=(n, n),
        k=(depth, depth),
        batch=(BATCH, BATCH),
        lda=m + GAP,
        ldc=m + GAP,
        stride_bn=stride_bn,
        stride_bk=1,
        offsets_a=tuple(r * depth * (m + GAP) for r in range(BATCH)),
        offsets_b=tuple(r * n * stride_bn for r in range(BATCH)),
        overwrites=True,
    )


@pytest.mark.native
@parametrized("compiler", ["gcc", "clang"], quick=1)
@parametrized(
    ("element", "vector_bytes", "columns", "depth", "ordered"),
    [
        ("float", 64, (1, 5), 3, False),
        ("float", 32, (2, 29), 3, False),
        ("double", 64, (3,), 3, False),
        # Whole vectors of k: a few last rows become dot products.
        ("float", 64, (2, 13), 32, False),
        ("float", 32, (29,), 16, False),
        ("double", 64, (14,), 8, False),
        # There they stay rows of vectors, since sums keep their order.
        ("float", 32, (5,), 16, True),
    ],
    quick=1,
)
@pytest.mark.slow
def test_all_lengths_of_m_to_three_vectors(
    element: str, vector_bytes: int, columns: tuple[int, ...], depth: int, ordered: bool, compiler: str, tmp_path: Path
) -> None:
    width = vector_bytes // (4 if element == "float" else 8)
    parts = [f"#define REAL {element}", f"#define GAP {GAP}", f"#define DEPTH {depth}", f"#define BATCH {BATCH}", HEAD]
    calls = []
    for n in columns:
        for m in range(1, 3 * width + 1):
            case = replace(site(f"site{m}_{n}", element, m, n, depth), ordered=ordered)
            call = PLAIN_C.call(case, CallArguments("a", "b", "c", "0", "0", "0", "count", "first"))
            parts.append(PLAIN_C.emit(case, vector_bytes).definitions)
            parameters = f"const {element} *a, const {element} *b, {element} *c, long count, int first"
            parts.append(f"static void run{m}_{n}({parameters})\n{{\n  {call}\n}}")
            calls.append(f"  for (int way = 0; way < 4; ++way)\n    check(run{m}_{n}, {m}, {n}, way & 1, way >> 1);")
    source, executable = tmp_path / "tails.c", tmp_path / "tails"
    source.write_text("\n".join([*parts, "int main(void)", "{", *calls, "  return 0;", "}"]) + "\n")
    # Vectors that are longer than the processor's are passed in memory; nothing of that leaves the file.
    flags = ["-O1", "-march=native", "-Wall", "-Wextra", "-Werror", "-Wno-psabi"]
    command = [compiler, *flags, str(source), "-o", str(executable), "-lm"]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    done = subprocess.run([str(executable)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout or f"status {done.returncode}"


def test_sums_in_order_are_no_dot_products() -> None:
    few = site("few", "float", 49, 8, 64)
    assert "few_dots" in PLAIN_C.emit(few, 64).definitions
    assert "few_dots" not in PLAIN_C.emit(replace(few, ordered=True), 64).definitions
