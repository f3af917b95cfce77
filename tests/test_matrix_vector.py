"""Products of a matrix whose elements lie in groups and a vector: a loop of one iteration is the microkernel's n."""

from __future__ import annotations

from pathlib import Path

import pytest
from computed import check_kernels, parse

from polydl import pipeline
from polydl.ir.scop import Scop
from polydl.ir.variant import UseMicrokernel, Variant
from polydl.match.product import NoMatch, match
from polydl.microkernels.bf16 import BF16, Bf16
from polydl.microkernels.int8 import INT8
from polydl.microkernels.plain_c import PLAIN_C
from polydl.plan.apply import apply

PAIRS = """
#include <polydl/bfloat16.h>
void f(float C[1][3][40], const bfloat16 x[1][90][2], const bfloat16 W[3][90][40][2]) {
#pragma scop
  for (int n = 0; n < 1; n++)
    for (int t = 0; t < 3; t++)
      for (int j = 0; j < 40; j++)
        for (int k = 0; k < 90; k++)
          for (int q = 0; q < 2; q++)
            C[n][t][j] += bfloat16_to_float(x[n][k][q]) * bfloat16_to_float(W[t][k][j][q]);
#pragma endscop
}
"""
FOURS = """
void f(int C[1][3][40], const unsigned char x[1][30][4], const signed char W[3][30][40][4]) {
#pragma scop
  for (int n = 0; n < 1; n++)
    for (int t = 0; t < 3; t++)
      for (int j = 0; j < 40; j++)
        for (int k = 0; k < 30; k++)
          for (int q = 0; q < 4; q++)
            C[n][t][j] += x[n][k][q] * W[t][k][j][q];
#pragma endscop
}
"""
FLOATS = """
void f(float C[1][40], const float x[1][90], const float W[90][40]) {
#pragma scop
  for (int n = 0; n < 1; n++)
    for (int k = 0; k < 90; k++)
      for (int j = 0; j < 40; j++)
        C[n][j] += x[n][k] * W[k][j];
#pragma endscop
}
"""


@pytest.fixture(autouse=True)
def in_any_instructions(monkeypatch: pytest.MonkeyPatch) -> None:
    """What ``c-bf16`` emits is C without its instruction as well."""
    monkeypatch.setattr(Bf16, "unavailable", lambda _: None)


def loops_of(scop: Scop) -> tuple[int, ...]:
    return tuple(range(scop.statements[0].depth))


@pytest.mark.parametrize(("text", "kernel"), [(PAIRS, BF16), (FOURS, INT8)], ids=["pairs", "fours"])
def test_the_only_column_is_as_long_as_m(text: str, kernel: Bf16, tmp_path: Path) -> None:
    scop = parse(tmp_path, text)
    found = match(scop, scop.statements[0], loops_of(scop), kernel)
    assert not isinstance(found, NoMatch)
    (one,) = found
    names = scop.statements[0].iterators
    assert (names[one.m], names[one.n], names[one.k]) == ("j", "n", "q")
    assert one.ldc >= 40
    assert [names[loop] for loop in one.batchable] == ["k"]


def test_a_loop_of_several_iterations_is_n_as_ever(tmp_path: Path) -> None:
    scop = parse(tmp_path, PAIRS.replace("n < 1", "n < 2").replace("C[1]", "C[2]").replace("x[1]", "x[2]"))
    found = match(scop, scop.statements[0], loops_of(scop), BF16)
    assert not isinstance(found, NoMatch)
    assert {each.only_column for each in found} == {0}


def test_elements_without_groups_are_left_to_plain_loops(tmp_path: Path) -> None:
    scop = parse(tmp_path, FLOATS)
    found = match(scop, scop.statements[0], loops_of(scop), PLAIN_C)
    assert isinstance(found, NoMatch)
    assert "fit no pattern" in found.reason


@pytest.mark.native
@pytest.mark.parametrize(("text", "kernel"), [(PAIRS, BF16), (FOURS, INT8)], ids=["pairs", "fours"])
def test_the_same_is_computed(text: str, kernel: Bf16, tmp_path: Path) -> None:
    scop = parse(tmp_path, text)
    steps = [UseMicrokernel(0, kernel.name, "j", "n", "q", batch, ()) for batch in ((), ("k",))]
    variants = [apply(scop, Variant((step,)), (kernel,)) for step in steps]
    check_kernels(tmp_path, scop, [pipeline.kernel(each, 64) for each in variants])
