"""Sums of pointers in the place of subscripts are read as these."""

from __future__ import annotations

from pathlib import Path

import pytest
from computed import check_kernels

from polydl import pipeline
from polydl.errors import UnsupportedConstructError
from polydl.frontend.pet import parse
from polydl.ir.scop import Scop
from polydl.ir.variant import Variant
from polydl.plan.apply import apply

SUMS = """\
#define N 8
void f(float *y, const float *b, float A[N][N], float *out, const float (*rows)[N])
{
  for (int i = 1; i < N - 1; i++) {
    for (int j = 0; j < N; j++) {
      *(y + i * N + j) = *(b + i * N + j) * 2.0f + (b + 1)[i] + *(&b[3] + j) - *(j + b - 1 + i);
      *(A[i] + j) += *(*(rows + i) + j) /* a row */ + (rows + 1)[i - 1][j] + (i + y)[N * N];
    }
    *out += *b * *(b + i - 1);
  }
}
"""
SUBSCRIPTS = """\
#define N 8
void f(float *y, const float *b, float A[N][N], float *out, const float (*rows)[N])
{
  for (int i = 1; i < N - 1; i++) {
    for (int j = 0; j < N; j++) {
      y[i * N + j] = b[i * N + j] * 2.0f + b[1 + i] + b[3 + j] - b[j - 1 + i];
      A[i][j] += rows[i][j] + rows[i][j] + y[i + N * N];
    }
    out[0] += b[0] * b[i - 1];
  }
}
"""


def read(folder: Path, text: str) -> Scop:
    path = folder / "nest.c"
    path.write_text(text, encoding="utf-8")
    return parse(path)


def test_elements_are_those_that_subscripts_name(tmp_path: Path) -> None:
    scop, expected = read(tmp_path, SUMS), read(tmp_path, SUBSCRIPTS)
    assert len(scop.statements) == 3
    assert [[(a.array, a.kind, a.relation) for a in each.accesses] for each in scop.statements] == [
        [(a.array, a.kind, a.relation) for a in each.accesses] for each in expected.statements
    ]
    assert [array.extents for array in scop.arrays] == [array.extents for array in expected.arrays]
    assert [each.line for each in scop.statements] == [6, 7, 9]


def function(statement: str, head: str = "") -> str:
    loop = f"  for (int i = 0; i < 9; i++)\n    {statement}\n"
    return f"{head}void f(float *y, const float *b, const int *n)\n{{\n{loop}}}\n"


@pytest.mark.parametrize(
    ("text", "words", "construct"),
    [
        (function("*y++ = 2;"), "dereferencing a pointer", "*y++"),
        (function("y[i] = *(b + n[i]);"), "dereferencing a pointer", "*(b + n[i])"),
        (function("y[i] = AT(b, i);", "#define AT(p, i) (*((p) + (i)))\n"), "dereferencing a pointer", "AT(b, i)"),
        (function("y[i] = 1;").replace("i < 9", "i < *n"), "bounds depend on data", "for (int i = 0; i < *n; i++)"),
        (function("y[i] = (*g)(b[i]);", "float (*g)(float);\n"), "a call through a pointer", "(*g)(b[i])"),
    ],
    ids=["moved", "data", "macro", "bound", "function"],
)
def test_what_is_no_sum_of_counters_is_refused_in_its_own_words(
    tmp_path: Path, text: str, words: str, construct: str
) -> None:
    with pytest.raises(UnsupportedConstructError, match=words) as error:
        read(tmp_path, text)
    assert error.value.construct == construct


@pytest.mark.native
def test_the_same_is_computed(tmp_path: Path) -> None:
    scop = read(tmp_path, SUMS)
    check_kernels(tmp_path, scop, [pipeline.kernel(apply(scop, Variant(()), ()), 32)])
