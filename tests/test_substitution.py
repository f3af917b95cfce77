"""Statements over other iterators: the same instances, the same elements, the same values."""

from __future__ import annotations

from pathlib import Path

import islpy as isl
import pytest
from computed import parse, separate

from polydl.ir.affine import Affine
from polydl.ir.statement import Statement
from polydl.poly.substitution import with_iterators

NEST = """
void f(float A[40], float B[8][12]) {
#pragma scop
  for (int i = 2; i < 8; i++)
    for (int j = 0; j < 12; j++)
      B[i][j] = A[i / 2 + 2 * j] + i * j;
#pragma endscop
}
"""
# i and j over (u, v) with u = i and v = j + 3 * i.
SKEWED = (Affine((1, 0)), Affine((-3, 1)))


@pytest.fixture
def statement(tmp_path: Path) -> Statement:
    return separate(parse(tmp_path, NEST)).statements[0]


def test_instances_touch_the_same_elements(statement: Statement) -> None:
    skewed = with_iterators(statement, ("u", "v"), SKEWED)
    assert skewed.iterators == ("u", "v")
    assert skewed.box is None
    places = isl.Map(f"{{ {statement.name}[i, j] -> {statement.name}[i, j + 3 * i] }}")
    assert isl.Set(skewed.domain).is_equal(isl.Set(statement.domain).apply(places))
    for before, after in zip(statement.accesses, skewed.accesses, strict=True):
        relation = isl.Map(before.relation).intersect_domain(isl.Set(statement.domain))
        assert isl.Map(after.relation).is_equal(relation.apply_domain(places))
        assert (before.subscripts is None) == (after.subscripts is None)
        index = isl.Map.from_multi_pw_aff(isl.MultiPwAff(after.index)).intersect_domain(isl.Set(skewed.domain))
        assert index.is_equal(isl.Map(after.relation))
        for old, new in zip(before.subscripts or (), after.subscripts or (), strict=True):
            assert old.at((5, 7)) == new.at((5, 22))


def test_values_of_loop_counters_follow(statement: Statement) -> None:
    skewed = with_iterators(statement, ("u", "v"), SKEWED)
    old, new = ([node.text for node in each.body.walk() if node.kind == "affine"] for each in (statement, skewed))
    assert len(old) == len(new) > 0
    for before, after in zip(old, new, strict=True):
        point = isl.Set(f"{{ {statement.name}[5, 7] }}"), isl.Set(f"{{ {statement.name}[5, 22] }}")
        values = [
            isl.Map.from_pw_aff(isl.PwAff(text)).intersect_domain(where).range()
            for text, where in zip((before, after), point, strict=True)
        ]
        assert values[0].is_equal(values[1])


def test_exchanged_loops_stay_a_box(statement: Statement) -> None:
    assert statement.box == ((2, 7), (0, 11))
    assert with_iterators(statement, ("j", "i"), (Affine((0, 1)), Affine((1, 0)))).box == ((0, 11), (2, 7))


@pytest.mark.parametrize("old", [(Affine((2, 0)), Affine((0, 1))), (Affine((1, 1)), Affine((1, 1)))])
def test_what_leaves_instances_out_or_has_them_twice_is_refused(old: tuple[Affine, ...], statement: Statement) -> None:
    with pytest.raises(ValueError, match="one place"):
        with_iterators(statement, ("u", "v"), old)
