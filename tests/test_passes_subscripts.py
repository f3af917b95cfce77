"""Subscripts and counters in ``long`` where they wrap around, or are too large for an ``int``. No compiler."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from computed import parse
from loops_by_hand import array, at, c, context, loop, sets

from polydl.codegen.facts import has_long_counters
from polydl.codegen.loop_ir import Declare, Let, Variable
from polydl.codegen.original import wraps
from polydl.codegen.passes import long_counters, wide_subscripts
from polydl.codegen.support import SUPPORT, needed
from polydl.codegen.values import Integer, Integral, Linear, Name

FACTS = context(array("x", 900, element="int"), array("y", 900, element="int"))


def shown(*, wrapping: bool) -> list[str]:
    row = Linear(((30, Name("i")), (1, Name("j"))), -1)
    ir = (loop("j", 1, 29, sets("S", at("y", "j"), at("x", row))),)
    return c(wide_subscripts.run(ir, replace(FACTS, wraps=wrapping)))


def test_sums_are_computed_in_long_where_integers_wrap_around() -> None:
    assert shown(wrapping=True)[1] == "y[j] = x[30 * (long)i + (long)j - 1];"
    assert shown(wrapping=False)[1] == "y[j] = x[30 * i + j - 1];"


@pytest.mark.parametrize(("element", "expected"), [("int", True), ("signed char", True), ("float", False)])
def test_integers_that_have_a_sign_wrap_around(element: str, expected: bool, tmp_path: Path) -> None:
    source = f"void f({element} a[8]) {{\n  for (int i = 0; i < 8; i++)\n    a[i] = 2 * a[i];\n}}\n"
    assert wraps(parse(tmp_path, source)) is expected


BODY = (
    Declare("int", (Variable("end", initial=Integral("min", Name("n"), Integer(9))),), constant=True),
    Declare("int", (Variable("x0", initial=at("x", 3)),), constant=True),
    loop("j", 0, 29, Let("k", Name("j"), (sets("S", at("y", "j"), at("x", "k")),))),
)


def test_counters_and_what_bounds_them_are_long_where_an_int_is_too_short() -> None:
    ir = long_counters.run(BODY, replace(FACTS, long_counters=True))
    assert [line.strip() for line in c(ir)][:5] == [
        "const long end = polydl_min_long(n, 9);",
        "const int x0 = x[3];",
        "for (long j = 0; j <= 29; ++j) {",
        "{",
        "const long k = j;",
    ]
    assert needed(ir) == [SUPPORT["polydl_min_long"]]
    assert long_counters.run(BODY, FACTS) is BODY


@pytest.mark.parametrize(
    ("extent", "loop", "subscript", "expected"),
    [
        ("8", "int i = 0; i < 8; i++", "i", False),
        ("8", "long i = 3000000000; i < 3000000008; i++", "i - 3000000000", True),
        ("8", "int i = 2147483640; i < 2147483647; i++", "i - 2147483640", True),
        ("8", "int i = -2147483640; i < -2147483633; i++", "i + 2147483640", True),
        ("3000000000", "int i = 0; i < 8; i++", "i", True),
        ("64", "int i = 0; i < 8; i++) for (int j = 0; j <= i; j++", "8 * i + j", False),
        ("64", "int i = 0; i < 8; i++) for (long j = 2000000000; j <= i + 2000000000; j++", "j - 2000000000", True),
    ],
)
def test_where_an_int_is_too_short(extent: str, loop: str, subscript: str, expected: bool, tmp_path: Path) -> None:
    source = f"void f(float a[{extent}]) {{\n  for ({loop})\n    a[{subscript}] = 2;\n}}\n"
    assert has_long_counters(parse(tmp_path, source)) is expected


@pytest.mark.parametrize(("factor", "expected"), [("1000", False), ("100000000L", True)])
def test_what_is_computed_of_counters_may_need_a_long(factor: str, expected: bool, tmp_path: Path) -> None:
    source = f"""void f(long a[64]) {{
  for (int i = 0; i < 64; i++) {{
    long k = i * {factor};
    if (k > 4)
      a[i] = k / 7;
  }}
}}
"""
    assert has_long_counters(parse(tmp_path, source)) is expected
