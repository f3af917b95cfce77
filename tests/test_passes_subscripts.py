"""Subscripts in ``long`` where integers wrap around. No compiler."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from computed import parse
from loops_by_hand import array, at, c, context, loop, sets

from polydl.codegen.original import wraps
from polydl.codegen.passes import wide_subscripts
from polydl.codegen.values import Linear, Name

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
