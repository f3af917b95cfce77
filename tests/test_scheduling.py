"""What isl's scheduler makes of nests, and what it is asked."""

from __future__ import annotations

from pathlib import Path

import islpy as isl
import pytest
from computed import parse
from stencils import STENCILS, STEP

from polydl.errors import QuotaError
from polydl.ir.affine import Affine
from polydl.ir.scop import Scop
from polydl.poly.counting import quota
from polydl.poly.dependences import dependences
from polydl.poly.scheduling import inverse, permutable_band, without_bounds


@pytest.fixture(scope="module")
def scops(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Scop]:
    return {name: parse(tmp_path_factory.mktemp(name), text) for name, text in STENCILS.items()}


def test_isl_gives_a_stencil_skewed_loops_that_can_be_tiled_together(scops: dict[str, Scop]) -> None:
    scop = scops["jacobi"]
    band = permutable_band(scop, ("S0", "S1"), dependences(scop))
    assert band is not None
    assert band.statements == ("S0", "S1")
    assert band.permutable == (0, 2)
    rows = tuple(tuple((*row.coefficients, row.constant) for row in forms) for forms in band.rows)
    assert rows == STEP.rows


def test_iterators_follow_from_rows_that_keep_apart_what_was_apart() -> None:
    assert inverse((Affine((1, 0)), Affine((2, 1), 1)), 2) == (Affine((1, 0)), Affine((-2, 1), -1))
    # A statement with fewer loops than the others.
    assert inverse((Affine((1,)), Affine((1,), 3)), 1) == (Affine((1, 0)),)
    assert inverse((Affine((1, 1)), Affine((1, 1))), 2) is None
    assert inverse((Affine((2,)),), 1) is None


MANY_RELATIONS = """\
#include <math.h>
void nest(float A[49][41], const float B[20][39]) {
#pragma scop
  for (int i = 1; i < 38; i++) {
    for (int j = 0; j < 13; j++) {
      for (int t = 2; t < 4; t += 3) {
        A[j + 7][i + 3] += A[2 * t + i + 5][3] * 2.0f;
        A[i + 4][j + 1] = sqrtf(fabsf(B[(i + 2) / 2][j + 1]));
      }
    }
    for (int k = 0; k < 4; k++)
      for (int l = 0; l < 5; l++)
        A[l + 5][k + 1] -= B[l + 1][k] * B[k][i + 1];
  }
#pragma endscop
}
"""


def test_dependences_of_a_stencil_go_on_beyond_its_bounds(scops: dict[str, Scop]) -> None:
    """With bounds, isl's scheduler takes ten seconds for a stencil of three dimensions."""
    for name, stencil in (("jacobi", True), ("fdtd", True), ("lu", False)):
        scop = scops[name]
        found = dependences(scop)
        order = without_bounds(scop.statements, found)
        assert (order is not None) == stencil
        if order is None:
            continue
        for dependence in found:
            assert isl.UnionMap(dependence.relation).is_subset(order)
            alike = scop.statement(dependence.source).depth == scop.statement(dependence.target).depth
            between = isl.Map(dependence.relation).get_space()
            assert order.extract_map(between).domain().is_bounded() != alike


def test_dependences_that_have_no_bounds_to_lose_are_scheduled_once(tmp_path: Path) -> None:
    source = """
void f(float A[40], float B[40][30]) {
#pragma scop
  for (int i = 0; i < 40; i++) {
    A[i] = 2.0f;
    for (int j = 0; j < 30; j++)
      B[i][j] = A[i];
  }
#pragma endscop
}
"""
    scop = parse(tmp_path, source)
    found = dependences(scop)
    assert found
    assert without_bounds(scop.statements, found) is None


def test_many_relations_between_few_statements_are_scheduled_within_the_quota(tmp_path: Path) -> None:
    """isl's scheduler takes minutes for all of the relations."""
    scop = parse(tmp_path, MANY_RELATIONS)
    band = permutable_band(scop, ("S0", "S1", "S2"), dependences(scop))
    assert band is not None
    assert band.permutable[1] - band.permutable[0] > 1


def test_whatever_isl_had_not_computed_when_its_quota_ended_is_a_quota_error(scops: dict[str, Scop]) -> None:
    scop = scops["jacobi"]
    names, pairs = [statement.name for statement in scop.statements], dependences(scop)
    ends = []
    for operations in range(1_000, 120_000, 3_000):
        try:
            with quota(isl.DEFAULT_CONTEXT, operations):
                band = permutable_band(scop, names, pairs)
        except QuotaError:
            ends.append("quota")
        else:
            assert band is not None
            ends.append("band")
    assert ends == sorted(ends, reverse=True)
    assert {*ends} == {"quota", "band"}
