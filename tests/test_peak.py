"""The peak that rates are compared with is that of the types that a nest computes in."""

from __future__ import annotations

from pathlib import Path

import pytest
from computed import parse
from machines import machine_with

from polydl.optimization.measuring import best_peak, share_of_peak

PRODUCT = """\
void product(TYPE c[8][8], const TYPE a[8][8], const float b[8][8])
{
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 8; j++)
      for (int k = 0; k < 8; k++)
        c[i][j] += a[i][k] * b[k][j];
}
"""
BOTH = """\
void both(float x[60], double y[60])
{
  for (int i = 0; i < 60; i++)
    x[i] += 1;
  for (int i = 0; i < 60; i++)
    y[i] += 1;
}
"""
COPY = "void copy(double x[8], const double y[8])\n{\n  for (int i = 0; i < 8; i++)\n    x[i] = y[i];\n}\n"


@pytest.mark.parametrize(
    ("source", "share"),
    [
        (PRODUCT.replace("TYPE", "float"), 1.0),
        (PRODUCT.replace("TYPE", "double"), 0.5),
        # As much time for the first half as for half of the second.
        (BOTH, pytest.approx(2 / 3)),
        (COPY, 1.0),
    ],
)
def test_what_computes_in_doubles_has_half_the_peak(source: str, share: float, tmp_path: Path) -> None:
    scop, machine = parse(tmp_path, source), machine_with(1, 32, peak=100.0)
    assert share_of_peak(scop, machine) == share
    assert best_peak(scop, machine, None) == pytest.approx(100 * share_of_peak(scop, machine))
