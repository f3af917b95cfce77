"""Elements that are nothing but rounding errors in the source itself: all others are compared."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from computed import parse
from test_execute_reference import QUICK

from polydl.codegen.original import original
from polydl.execute.local import EXECUTOR
from polydl.execute.toolchain import Toolchain
from polydl.ir.measurement import Measurement

# More vectors than dimensions: what is left of the last ones is rounding errors, divided by their length.
_BASIS = """\
#include <math.h>
#define N {vectors}
void basis(double a[12][N], double q[12][N]) {
#pragma scop
  for (int k = 0; k < N; k++) {
    double length = 0.0;
    for (int i = 0; i < 12; i++)
      length += a[i][k] * a[i][k];
    length = sqrt(length);
    for (int i = 0; i < 12; i++)
      q[i][k] = a[i][k] / length;
    for (int j = k + 1; j < N; j++) {
      double along = 0.0;
      for (int i = 0; i < 12; i++)
        along += q[i][k] * a[i][j];
      for (int i = 0; i < 12; i++)
        a[i][j] -= q[i][k] * along;
    }
  }
#pragma endscop
}
"""


def measured(directory: Path, vectors: int, changes: dict[str, tuple[str, str]]) -> tuple[Measurement, ...]:
    """The nest, as it is and with something replaced in its text."""
    nest = parse(directory, _BASIS.replace("{vectors}", str(vectors)))
    plain = original(nest)
    kernels = [plain]
    for name, (old, new) in changes.items():
        assert plain.c.count(old) == 1
        kernels.append(replace(plain, id=name, c=plain.c.replace(old, new)))
    built = EXECUTOR.build(kernels, Toolchain.find("gcc"), directory)
    return EXECUTOR.measure(built[1:], built[0], nest, threads=1, policy=QUICK, seed=1)


BACKWARDS = ("for (int i = 0; i < 12; i++)\n      length", "for (int i = 11; i >= 0; i--)\n      length")
LOST_TERM = ("for (int i = 0; i < 12; i++)\n        along", "for (int i = 1; i < 12; i++)\n        along")
OTHER_COLUMN = ("q[i][k] = a[i][k] / length", "q[i][k] = (k == 7 ? 1.000001 : 1.0) * a[i][k] / length")
NOT_FINITE = ("q[i][k] = a[i][k] / length", "q[i][k] = k == 15 ? NAN : a[i][k] / length")


@pytest.mark.native
def test_what_is_determined_is_compared(tmp_path: Path) -> None:
    changes = {"sum": BACKWARDS, "term": LOST_TERM, "column": OTHER_COLUMN, "nan": NOT_FINITE}
    plain, right, *wrong = measured(tmp_path, 16, changes)
    assert (plain.status, right.status) == ("ok", "ok"), right.message
    assert "48 of 192 elements of `q` are rounding errors in the source itself, and were not compared" in plain.message
    assert [each.status for each in wrong] == ["wrong", "wrong", "wrong"]


@pytest.mark.native
def test_where_most_is_noise_nothing_is_left_to_compare(tmp_path: Path) -> None:
    _, other = measured(tmp_path, 32, {"sum": BACKWARDS})
    assert other.status == "wrong"
    assert "can be told right from wrong" in other.message
