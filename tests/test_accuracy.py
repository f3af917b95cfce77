"""Rounding errors measured in a run, against the nest in wider types; and the tables of docs/reference/accuracy.md."""

from __future__ import annotations

import runpy
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from computed import parse

from polydl import bfloat16
from polydl.codegen.original import original
from polydl.codegen.wider import wider
from polydl.element_types import element_dtype
from polydl.execute import checking
from polydl.execute.arrays import CHUNK, Data
from polydl.execute.contract import TimingPolicy
from polydl.execute.local import EXECUTOR
from polydl.execute.ranges import divided_by_diagonals
from polydl.execute.tolerance import LARGEST, tolerance
from polydl.execute.toolchain import Toolchain
from polydl.frontend.data import with_inputs
from polydl.ir.measurement import Measurement
from polydl.ir.scop import Scop

ROOT = Path(__file__).parents[1]
EXPERIMENT = runpy.run_path(str(ROOT / "experiments" / "accuracy.py"), run_name="experiments.accuracy")
QUICK = TimingPolicy(rounds=1, minimum_sample_seconds=1e-4, budget_seconds=1.0)
PRODUCT = """\
void f(float C[48][40], const float A[48][300], const float B[300][40], float alpha) {
#pragma scop
  for (int i = 0; i < 48; i++)
    for (int j = 0; j < 40; j++) {
      C[i][j] = 0.0f;
      for (int k = 0; k < 300; k++)
        C[i][j] += alpha * A[i][k] * B[k][j];
    }
#pragma endscop
}
"""


def measured(
    scop: Scop, changes: list[tuple[str, str]], tmp_path: Path, *, most_error: float = 4.0
) -> tuple[Measurement, ...]:
    """The original, and a kernel for each change of its text."""
    plain = original(scop)
    kernels = [replace(plain, id=str(n), c=plain.c.replace(*change)) for n, change in enumerate(changes)]
    assert all(kernel.c != plain.c for kernel in kernels)
    built = EXECUTOR.build([plain, *kernels], Toolchain.find().cautious, tmp_path)
    return EXECUTOR.measure(built[1:], built[0], scop, threads=1, policy=QUICK, seed=3, most_error=most_error)


@pytest.mark.native
def test_errors_are_the_same_whether_a_core_is_free_or_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scop, change = parse(tmp_path, PRODUCT), ("C[i][j] = 0.0f;", "C[i][j] = 0.0f * 2;")
    _, beside = measured(scop, [change], tmp_path)
    monkeypatch.setattr(checking, "free_cores", lambda _: ())
    _, after = measured(scop, [change], tmp_path)
    assert beside.status == after.status == "ok"
    assert beside.accuracy == after.accuracy
    assert beside.accuracy is not None


def test_the_nest_in_wider_types(tmp_path: Path) -> None:
    source = """\
#include <math.h>
#define REAL float
typedef REAL real;
void f(real y[8], const double x[8], int n[8], float alpha) {
#pragma scop
  for (int i = 0; i < 8; i++) {
    y[i] = alpha * expf((float)x[i]) + 1.0f;
    y[i] += sqrt(x[i]) + n[i];
  }
#pragma endscop
}
"""
    scop = parse(tmp_path, source)
    wide = wider(scop)
    assert wide is not None
    assert {array.name: array.element for array in wide.arrays} == {
        "y": "double", "x": "long double", "n": "int", "alpha": "double"
    }  # fmt: skip
    assert "#define REAL double" in wide.source
    assert "const long double x[8]" in wide.source
    assert "alpha * exp((double)x[i]) + 1.0f;" in wide.source
    assert "sqrtl(x[i])" in wide.source
    assert "*(const double *)arguments[3]" in original(wide).harness
    assert wider(parse(tmp_path, source.replace("float", "int").replace("double", "long").replace("expf", ""))) is None


def test_wider_arrays_hold_the_same_numbers() -> None:
    for narrow, wide in (("float32", "float64"), ("float64", "longdouble")):
        (_, values), (_, others) = (
            next(iter(data.chunks(2, np.dtype(dtype), 1000)))
            for data, dtype in ((Data(3, True), narrow), (Data(3, True, widened=True), wide))
        )
        assert others.dtype == np.dtype(wide)
        np.testing.assert_array_equal(values, others)


@pytest.mark.native
@pytest.mark.parametrize("element", ["float", "double"])
def test_errors_are_those_against_a_wider_type(element: str, tmp_path: Path) -> None:
    scop = parse(tmp_path, PRODUCT.replace("float", element).replace("0.0f", "0"))
    plain, other = measured(scop, [("alpha * A[i][k]", "A[i][k] * alpha")], tmp_path)
    unit = {"float": 2.0**-24, "double": 2.0**-53}[element]
    assert plain.accuracy is not None
    # 300 terms: some seven roundings.
    assert unit < plain.accuracy.source_error < 40 * unit
    assert 0.2 < plain.accuracy.ratio < 1.5
    assert other.accuracy == plain.accuracy


@pytest.mark.native
def test_a_larger_error_than_the_level_admits_is_refused_with_both_numbers(tmp_path: Path) -> None:
    scop = parse(tmp_path, PRODUCT)
    # An operand loses its last seven bits: within the tolerance, and far from the source's own error.
    coarse = ("alpha * A[i][k]", "alpha * ((A[i][k] + 96.0f) - 96.0f)")
    plain, refused = measured(scop, [coarse], tmp_path)
    assert plain.status == "ok"
    assert refused.status == "inaccurate"
    assert refused.accuracy is not None
    assert refused.accuracy.ratio > 4
    assert f"{refused.accuracy.error:.3g}" in refused.message
    assert f"{refused.accuracy.source_error:.3g}" in refused.message
    assert refused.seconds_minimum is None
    _, admitted = measured(scop, [coarse], tmp_path, most_error=1e9)
    assert admitted.status == "ok"
    assert admitted.accuracy == refused.accuracy


@pytest.mark.native
@pytest.mark.parametrize(("folder", "told"), [("", True), ("../", False)])
def test_types_of_headers_beside_the_source_are_widened_and_others_are_not(
    folder: str, told: bool, tmp_path: Path
) -> None:
    place = tmp_path / "place"
    place.mkdir()
    (place / f"{folder}real.h").write_text("typedef float real;\n")
    source = f'#include "{folder}real.h"\n' + PRODUCT.replace("float", "real").replace("real alpha", "float alpha")
    plain, other = measured(parse(place, source), [("alpha * A[i][k]", "A[i][k] * alpha")], tmp_path)
    assert (plain.accuracy is not None) == (other.accuracy is not None) == told
    assert other.status == "ok"


# Each step doubles what was rounded away before.
MAGNIFYING = """\
void f(double x[30][16]) {
  for (int t = 1; t < 30; t++)
    for (int i = 0; i < 16; i++)
      x[t][i] = 1 - 2 * x[t - 1][i] * x[t - 1][i];
}
"""


@pytest.mark.native
def test_a_nest_that_magnifies_roundings_is_judged_by_its_own(tmp_path: Path) -> None:
    scop = parse(tmp_path, MAGNIFYING)
    right = ("1 - 2 * x[t - 1][i] * x[t - 1][i]", "(1 - x[t - 1][i] * x[t - 1][i]) - x[t - 1][i] * x[t - 1][i]")
    wrong = ("1 - 2 * x", "1.0001 - 2 * x")
    plain, other, refused = measured(scop, [right, wrong], tmp_path, most_error=100.0)
    assert plain.accuracy is not None
    assert 100 * tolerance(scop) < plain.accuracy.source_error < LARGEST / 16
    assert plain.status == other.status == "ok"
    assert other.error is not None
    assert other.error > tolerance(scop)
    assert refused.status == "wrong"


# On the data below, a large term comes before its negative each time: in their order nothing is rounded away.
SUM = """\
void f(double sum[1], const double x[48]) {
  sum[0] = 0;
  for (int i = 0; i < 48; i++)
    sum[0] += x[i];
}
"""


@pytest.mark.native
def test_what_the_order_of_the_source_alone_computes_exactly_is_judged_by_data_next_to_these(tmp_path: Path) -> None:
    given = tmp_path / "given.npz"
    large, small = 1e6 * np.sqrt(np.arange(2, 18)), np.sqrt(np.arange(2, 18))
    np.savez(given, x=np.concatenate([np.stack([large, -large], axis=1).ravel(), small]))
    scop = with_inputs(parse(tmp_path, SUM), given)
    plain, backwards, refused = measured(scop, [("x[i]", "x[47 - i]"), ("x[i]", "x[i] + 1e-6")], tmp_path)
    assert plain.status == backwards.status == "ok"
    assert plain.accuracy is not None
    assert backwards.accuracy is not None
    assert plain.accuracy.error < 1e-15 < backwards.accuracy.error < 1e-8
    assert refused.status == "wrong"


FACTORIZATION = """\
#include <math.h>
void f(double A[48][48]) {
  for (int i = 0; i < 48; i++) {
    for (int j = 0; j < i; j++) {
      for (int k = 0; k < j; k++)
        A[i][j] -= A[i][k] * A[j][k];
      A[i][j] /= A[j][j];
    }
    for (int k = 0; k < i; k++)
      A[i][i] -= A[i][k] * A[i][k];
    A[i][i] = sqrt(A[i][i]);
  }
}
"""


@pytest.mark.native
def test_what_is_factored_is_well_conditioned(tmp_path: Path) -> None:
    scop = parse(tmp_path, FACTORIZATION)
    assert divided_by_diagonals(scop) == {"A"}
    assert divided_by_diagonals(parse(tmp_path, PRODUCT)) == set()
    # What is divided by may lie in a scalar, as in Numerical Recipes' Cholesky.
    root = "double x = A[i][i]; x -= A[i][0]; A[i][i] = sqrt(x)"
    scalar = FACTORIZATION.replace("A[i][i] = sqrt(A[i][i])", root).replace(" /= A[j][j]", " /= 3")
    assert divided_by_diagonals(parse(tmp_path, scalar)) == {"A"}
    # The exponential of a large number is infinite.
    exponential = FACTORIZATION.replace("sqrt", "exp").replace(" /= A[j][j]", " /= 3")
    assert divided_by_diagonals(parse(tmp_path, exponential)) == set()
    plain, other = measured(scop, [("A[i][k] * A[j][k]", "A[j][k] * A[i][k]")], tmp_path)
    assert plain.status == other.status == "ok"
    assert plain.accuracy is not None
    assert plain.accuracy.source_error < 1e-14


def test_the_diagonal_is_that_of_the_matrix_in_every_chunk() -> None:
    extent = 1100
    assert extent**2 > CHUNK
    plain, dominant = (
        np.concatenate([values for _, values in data.chunks(1, np.dtype(np.float64), extent**2)])
        for data in (Data(3, True), Data(3, True, dominant=((0, 7), (1, extent))))
    )
    np.testing.assert_array_equal((dominant - plain).reshape(extent, extent).round(9), extent * np.eye(extent))


@pytest.mark.parametrize(("element", "widened"), [("bfloat16", False), ("double", True)])
def test_a_diagonal_of_floats_is_that_in_other_types(element: str, widened: bool) -> None:
    extent, dtype = 300, element_dtype(element)
    (_, floats), (_, others) = (
        next(data.chunks(1, kind, extent**2))
        for data, kind in (
            (Data(3, True, dominant=((1, extent),)), np.dtype(np.float32)),
            (Data(3, True, widened=widened, dominant=((1, extent),)), dtype),
        )
    )
    expected = bfloat16.from_float(floats) if element == "bfloat16" else floats.astype(dtype)
    np.testing.assert_array_equal(others, expected)


@pytest.mark.native
def test_integers_do_not_round(tmp_path: Path) -> None:
    source = PRODUCT.replace("float", "int").replace("0.0f", "0")
    plain, other = measured(parse(tmp_path, source), [("alpha * A[i][k]", "A[i][k] * alpha")], tmp_path)
    assert (plain.accuracy, other.accuracy) == (None, None)
    assert other.status == "ok"


def test_the_tables_are_those_of_the_data() -> None:
    page = (ROOT / "docs" / "reference" / "accuracy.md").read_text(encoding="utf-8")
    rows = EXPERIMENT["read"](EXPERIMENT["RESULTS"], EXPERIMENT["Row"])
    assert len({row.workload for row in rows}) >= 9
    for table in EXPERIMENT["tables"](rows).split("\n\n"):
        assert table.strip() in page


def test_rows_are_read_as_they_were_written(tmp_path: Path) -> None:
    rows, path = EXPERIMENT["read"](EXPERIMENT["RESULTS"], EXPERIMENT["Row"]), tmp_path / "rows.csv"
    EXPERIMENT["write"](rows, path, EXPERIMENT["Row"])
    assert path.read_text(encoding="utf-8") == EXPERIMENT["RESULTS"].read_text(encoding="utf-8")


def test_errors_of_functions_and_quotients_are_those_of_the_data_and_within_what_is_admitted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    experiment = import_module("experiments.accuracy_functions")
    rows = experiment.read(experiment.RESULTS, experiment.Row)
    for width in (32, 64):
        measured = [(row.operation, row.element) for row in rows if row.vector_bytes == width]
        assert measured == experiment.operations()
    assert experiment.tables(rows) in (ROOT / "docs" / "reference" / "accuracy.md").read_text(encoding="utf-8")
    assert [row for row in rows if row.emitted > row.a_priori] == []


def test_inputs_of_logarithms_have_all_magnitudes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    experiment = import_module("experiments.accuracy_functions")
    for operation, shift in experiment.SHIFTS.items():
        low, high = experiment.RANGES[operation]
        drawn = experiment.drawn(operation, (1000, 10), np.random.default_rng(0))
        logarithms = np.log(drawn + shift)
        assert low <= drawn.min() < drawn.max() <= high
        assert 0.4 < np.mean(np.abs(logarithms) < 1) < 0.7
        assert np.mean(np.abs(logarithms) < 1e-3) > 0.1, "results near zero"
        assert (low + shift < 1) == (np.mean(logarithms < -0.1) > 0.1)
    uniform = experiment.drawn("sin", (1000, 10), np.random.default_rng(0))
    assert 0.4 < np.mean(np.abs(uniform) < 6) < 0.6


def test_what_is_measured_is_near_what_is_expected() -> None:
    rows = EXPERIMENT["read"](EXPERIMENT["RESULTS"], EXPERIMENT["Row"])
    sources = {(row.workload, row.inputs): row.norm_wise for row in rows if row.method == EXPERIMENT["SOURCE"]}
    ratios = [(row.norm_wise / sources[row.workload, row.inputs], row.error_factor) for row in rows]
    assert ratios
    assert [(ratio, factor) for ratio, factor in ratios if ratio > 1.1 * factor] == []


def test_products_of_parts_are_those_of_floats() -> None:
    generator = np.random.default_rng(2)
    a, b = (generator.standard_normal(extents).astype(np.float32) for extents in ((8, 70), (70, 9)))
    exact = a.astype(np.float64) @ b.astype(np.float64)
    error = np.linalg.norm(EXPERIMENT["split_product"](a, b) - exact) / np.linalg.norm(exact)
    assert 0 < error < 16 * 2.0**-24
