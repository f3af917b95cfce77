"""The estimated number of legal variants, beside the number that enumeration finds."""

from __future__ import annotations

from math import prod
from pathlib import Path

import pytest
from machines import machine_with
from marks import parametrized

from polydl import pipeline
from polydl.variants.decisions import count
from polydl.variants.estimate import estimated_size

PRODUCT = """
void f(float C[96][64], const float A[96][80], const float B[80][64])
{
#pragma scop
  for (int i = 0; i < 96; i++)
    for (int j = 0; j < 64; j++)
      for (int k = 0; k < 80; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""
# In time and space; most orders are illegal.
STENCIL = """
void f(float A[40][50])
{
#pragma scop
  for (int t = 0; t < 30; t++)
    for (int i = 1; i < 39; i++)
      for (int j = 1; j < 49; j++)
        A[i][j] = 0.2f * (A[i][j] + A[i - 1][j] + A[i + 1][j] + A[i][j - 1] + A[i][j + 1]);
#pragma endscop
}
"""
# Bounds that differ from row to row, and sums that threads can take apart.
TRIANGLE = """
void f(float L[90][90], float x[90])
{
#pragma scop
  for (int i = 0; i < 90; i++)
    for (int j = 0; j < i; j++)
      x[i] += L[i][j];
#pragma endscop
}
"""
IN_PLACE = """
void f(float y[200][240], const float x[240][200])
{
#pragma scop
  for (int i = 0; i < 200; i++)
    for (int j = 0; j < 240; j++)
      y[i][j] = y[i][j] + x[j][i];
#pragma endscop
}
"""


@parametrized(
    ("source", "threads", "microkernel"),
    [
        (PRODUCT, 1, "c"),
        (PRODUCT, 2, "c"),
        (PRODUCT, 2, "none"),
        (STENCIL, 2, "none"),
        (TRIANGLE, 2, "none"),
        (IN_PLACE, 2, "none"),
    ],
    quick=1,
)
def test_the_interval_holds_the_enumerated_number(tmp_path: Path, source: str, threads: int, microkernel: str) -> None:
    path = tmp_path / "nest.c"
    path.write_text(source)
    scop = pipeline.parse(path)
    space = pipeline.space_on(scop, machine_with(threads, 64), microkernel=microkernel)
    exact = 0
    for each in (space, *space.alternatives):
        counts = [len(nest.choices) for nest in each.spaces]
        exact += prod(counts)
        assert all(nest.settled or count(nest.root) == len(nest.choices) for nest in each.spaces)
    # One seed in twenty may miss; of twenty, hardly four.
    found = [estimated_size(space, seed=seed) for seed in range(20)]
    assert sum(each.low <= exact <= each.high for each in found) >= 17
    assert sum(each.value for each in found) / len(found) == pytest.approx(exact, rel=0.1)
    assert found[0] == estimated_size(space, seed=0)


def test_a_space_with_all_legal_is_counted_exactly(tmp_path: Path) -> None:
    path = tmp_path / "nest.c"
    path.write_text(PRODUCT)
    scop = pipeline.parse(path)
    space = pipeline.space_on(scop, machine_with(1, 64), microkernel="c")
    assert not any(nest.illegal() for nest in space.spaces)
    size = sum(each.size() for each in (space, *space.alternatives))
    assert estimated_size(space, seed=3, draws=20).value == size
