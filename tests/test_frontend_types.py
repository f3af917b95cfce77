"""Types of what the front-end reads: constants, casts, integers that hold data, and functions of the compiler."""

from __future__ import annotations

from pathlib import Path

from test_frontend import written

from polydl.frontend.pet import parse
from polydl.ir.statement import Expression


def test_expressions_keep_the_source_s_constants_and_types(tmp_path: Path) -> None:
    text = "#define HALF 0.5f\nvoid f(double a[4], const int b[4], unsigned u)\n{\n"
    text += "  for (int i = 0; i < 4; ++i)\n    a[i] = b[i] * 3u + HALF * 1e-3 - (float)u / i;\n}\n"
    (statement,) = parse(written(tmp_path, text)).statements
    kinds = [(node.kind, node.text) for node in statement.body.walk() if node.kind not in ("access", "op")]
    assert kinds == [
        ("cast", "unsigned int"),
        ("literal", "3"),
        ("literal", "0.5F"),
        ("literal", "1e-3"),
        ("cast", "float"),
        ("cast", "unsigned int"),
        ("affine", "{ S0[i] -> [(i)] }"),
    ]
    assert statement.body.arguments[1].arguments[0] == Expression(
        "op",
        "+",
        statement.body.arguments[1].arguments[0].arguments,
    )


# -- the process --------------------------------------------------------------------------


def test_casts_have_the_types_that_elements_have(tmp_path: Path) -> None:
    path = tmp_path / "nest.c"
    path.write_text(
        "#include <stdint.h>\ntypedef short sample;\n#define NARROW(x) ((uint8_t)(x))\n"
        "void f(uint8_t c[9], const float a[9])\n{\n  for (int i = 0; i < 9; i++)\n"
        "    c[i] = NARROW((sample)a[i] + (int64_t)(double)a[8 - i]);\n}\n"
    )
    casts = [node.text for node in parse(path).statements[0].body.walk() if node.kind == "cast"]
    assert casts == ["unsigned char", "short", "long", "double"]


def test_local_integers_that_hold_data_keep_the_types_of_what_they_are_computed_from(tmp_path: Path) -> None:
    path = tmp_path / "nest.c"
    path.write_text(
        "#include <stdint.h>\n#include <stddef.h>\n"
        "void f(const int a[9], const int b[9], int zero, long p[9], long q[9], long r[9], long s[9], long t[9])\n{\n"
        "  int64_t sum = 0;\n  for (int i = 0; i < 9; i++) {\n"
        "    int64_t product = (int64_t)a[i] * b[i];\n    p[i] = product;\n"
        "    long rounded = a[i] + (1LL << 40);\n    q[i] = rounded;\n"
        "    long offset = (long)zero * 100000;\n    r[i] = offset;\n"
        "    sum += (int64_t)a[i] * b[i];\n    s[i] = sum;\n"
        "    size_t at = (size_t)i / 2;\n    t[i] = a[at];\n  }\n}\n"
    )
    kinds = {
        access.array: [node.text for node in each.body.walk() if node.kind == "cast"]
        for each in parse(path).statements
        for access in each.accesses
        if access.kind == "write"
    }
    expected = {"product": ["long"], "rounded": ["long long"], "offset": ["long"], "sum": ["long"], "t": []}
    assert {array: kinds[array] for array in expected} == expected


def test_functions_of_the_compiler_on_numbers_alone_are_taken(tmp_path: Path) -> None:
    text = "static int ones(unsigned x) { return __builtin_popcount(x); }\n"
    text += "void f(int a[9], const unsigned b[9], float c[9])\n{\n  for (int i = 0; i < 9; i++) {\n"
    text += "    a[i] = __builtin_popcount(b[i]) + ones(b[i]);\n    c[i] = __builtin_fabsf(c[i]);\n  }\n}\n"
    calls = [node.text for each in parse(written(tmp_path, text)).statements for node in each.body.walk()]
    assert {"__builtin_popcount", "ones", "__builtin_fabsf"} <= set(calls)


def test_the_least_integers_are_those_of_their_types(tmp_path: Path) -> None:
    text = "#include <limits.h>\nvoid f(int a[9], const unsigned b[9], const unsigned long c[9])\n{\n"
    text += "  const int least = INT_MIN;\n  const long first = LONG_MIN;\n  for (int i = 0; i < 9; i++)\n"
    (statement,) = parse(written(tmp_path, text + "    a[i] = (least < b[i]) + (first < c[i]);\n}\n")).statements
    # What has more digits, 2147483648, is a long.
    literals = [node.text for node in statement.body.walk() if node.kind == "literal"]
    assert literals == [str(2**31 - 1), "1", str(2**63 - 1), "1"]
