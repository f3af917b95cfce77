"""Functions that compute subscripts are read as what they return."""

from __future__ import annotations

from pathlib import Path

import islpy as isl
import pytest

from polydl.errors import UnsupportedConstructError
from polydl.frontend.pet import parse

NEST = """\
#include <stddef.h>
#define W 8
FUNCTION
void f(float a[64], const float b[64], const int c[64])
{
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++)
            a[8 * i + j] = b[SUBSCRIPT];
}
"""
TAKEN = {
    "linear": (
        "static size_t at(size_t i, size_t j, size_t n) { return i * n + j; }",
        "at(i, j, 8)",
        "8 * i + j",
    ),
    "macro": ("static int at(int i, int j) { return i * W + j; }", "at(j, i)", "8 * j + i"),
    "cast": ("static size_t at(int i, int j) { return (size_t)i * 8L + j; }", "at(i, 7 - j)", "8 * i + 7 - j"),
    "clamp": (
        "static int at(int v, int low, int high) { return v < low ? low : (v > high ? high : v); }",
        "8 * i + at(j - 2, 0, 7)",
        "8 * i + (j < 2 ? 0 : j - 2)",
    ),
    "nested": ("static int at(int i, int n) { return (i + n) % n; }", "8 * at(at(i - 1, 8) + 1, 8) + j", "8 * i + j"),
    "two returns": (
        "static int at(int i) { if (i < 3) return 3; return i; }",
        "8 * at(i) + j",
        "8 * (i < 3 ? 3 : i) + j",
    ),
    "branches": (
        "static int at(int v, int n) { if (v < 0) { return 0; } else if (v >= n) return n - 1; else return v; }",
        "8 * i + at(j - 2, 4)",
        "8 * i + (j < 2 ? 0 : j - 2 > 3 ? 3 : j - 2)",
    ),
    # 2^32 - 1 is 7 modulo 8.
    "unsigned": ("static int at(unsigned i) { return i % 8; }", "at(i - 1) + 8", "(i + 7) % 8 + 8"),
}
REFUSED = {
    "narrow": ("static int at(unsigned char i) { return i * 2; }", "at(i)"),
    "global": ("static const int n = 2;\nstatic int at(int i) { return n * i; }", "at(i)"),
    "data": ("static int at(int i) { return 2 * i; }", "at(c[i])"),
    "nothing": ("static int at(int i) { if (i < 3) return i; else if (i < 64) return 3; }", "at(i)"),
    "other work": ("static int at(int i) { if (i < 3) i = 3; return i; }", "at(i)"),
    "narrowing": ("static int at(int i) { return (short)i; }", "at(i)"),
}


# 12 functions, each of which calls the one before twice.
DOUBLING = "static float f0(float x) { return 2 * x; }\n" + "".join(
    f"static float f{n + 1}(float x) {{ return f{n}(x) + f{n}(x + 1); }}\n" for n in range(11)
)


def test_functions_that_would_grow_too_long_stay_calls(tmp_path: Path) -> None:
    path = tmp_path / "nest.c"
    loop = "  for (int i = 0; i < 8; i++)\n    a[i] = f11(a[i]) * f1(2);\n"
    path.write_text(f"{DOUBLING}void f(float a[8])\n{{\n{loop}}}\n")
    scop = parse(path)
    assert [each.name for each in scop.functions] == ["f11"]
    assert [each.text for each in scop.statements[0].body.walk() if each.kind == "call"] == ["f11"]


def nest(function: str, subscript: str) -> str:
    return NEST.replace("FUNCTION", function).replace("SUBSCRIPT", subscript)


@pytest.mark.parametrize("name", TAKEN)
def test_an_index_that_a_function_computes_is_that_index(name: str, tmp_path: Path) -> None:
    function, subscript, plain = TAKEN[name]
    path = tmp_path / "nest.c"
    path.write_text(nest(function, subscript))
    scop = parse(path)
    path.write_text(nest("", plain))
    (read,), (expected,) = scop.statements[0].reads, parse(path).statements[0].reads
    assert scop.statements[0].line == 8 + function.count("\n")
    assert isl.Map(read.relation).is_equal(isl.Map(expected.relation))


@pytest.mark.parametrize("name", REFUSED)
def test_an_index_that_another_function_computes_is_refused(name: str, tmp_path: Path) -> None:
    function, subscript = REFUSED[name]
    path = tmp_path / "nest.c"
    path.write_text(nest(function, subscript))
    with pytest.raises(UnsupportedConstructError, match="a subscript isn't affine"):
        parse(path)
