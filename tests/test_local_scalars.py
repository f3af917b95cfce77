"""Local scalars that order iterations: one for each of the loops that use it, and an element for each iteration."""

from __future__ import annotations

from pathlib import Path

import pytest
from computed import check_kernels, parse
from machines import machine_with
from marks import parametrized

from polydl import pipeline
from polydl.ir.scop import Scop
from polydl.ir.variant import Variant
from polydl.poly.dependences import dependences
from polydl.poly.nests import distribute

# A filter along rows, then along columns backwards, with the last value in the same scalar.
FILTER = """
void f(float in[20][30], float out[20][30]) {
#pragma scop
  for (int i = 0; i < 20; i++) {
    last = 0.0f;
    for (int j = 0; j < 30; j++) {
      out[i][j] = in[i][j] + 0.5f * last;
      last = out[i][j];
    }
  }
  for (int j = 0; j < 30; j++) {
    last = 1.0f;
    for (int i = 19; i >= 0; i--) {
      out[i][j] += 0.25f * last;
      last = out[i][j];
    }
  }
#pragma endscop
}
"""
# Elements of two triangles, all summed in the same scalar.
FACTORS = """
void f(double A[24][24]) {
#pragma scop
  for (int i = 0; i < 24; i++) {
    for (int j = 0; j < i; j++) {
      last = A[i][j];
      for (int k = 0; k < j; k++)
        last -= A[i][k] * A[k][j];
      A[i][j] = last / (A[j][j] + 30.0);
    }
    for (int j = i; j < 24; j++) {
      last = A[i][j];
      for (int k = 0; k < i; k++)
        last -= A[i][k] * A[k][j];
      A[i][j] = last;
    }
  }
#pragma endscop
}
"""
# What the second loop begins with is what the first one ended with.
CARRIED = """
void f(float a[20], float b[20]) {
#pragma scop
  for (int i = 0; i < 20; i++) {
    last = a[i];
    b[i] = last * last + a[i];
  }
  for (int i = 0; i < 20; i++) {
    b[i] += last;
    last = a[i] * b[i];
  }
#pragma endscop
}
"""


def scop_of(tmp_path: Path, source: str) -> Scop:
    element = "double" if "double" in source else "float"
    return parse(tmp_path, source.replace("#pragma scop", f"  {element} last;\n#pragma scop", 1))


def scalars(scop: Scop) -> dict[str, tuple[int, ...]]:
    return {array.name: array.extents for array in scop.arrays if array.storage == "local"}


def test_loops_that_use_a_scalar_for_values_of_their_own_have_one_each(tmp_path: Path) -> None:
    scop = scop_of(tmp_path, FILTER)
    assert scalars(scop) == {"last_0_of": (20,), "last_1_of": (30,)}
    # So the filters are nests of two loops, and columns of the second may run side by side.
    assert [nest.loops for nest in distribute(scop, dependences(scop)) if len(nest.loops) > 1] == [
        ("i", "j"),
        ("j", "i"),
    ]


def test_sums_stand_in_their_elements_where_nothing_else_sees_these_meanwhile(tmp_path: Path) -> None:
    """The terms are other elements of the same array, so that the factorization is that without a scalar."""
    scop = scop_of(tmp_path, FACTORS)
    assert scalars(scop) == {}
    assert [statement.depth for statement in scop.statements] == [3, 2, 3]


def test_a_scalar_in_a_triangle_has_an_element_for_each_iteration_of_the_box_around_it(tmp_path: Path) -> None:
    seen = FACTORS.replace("A[i][k] * A[k][j]", "A[i][k] * A[i][j]")
    assert scalars(scop_of(tmp_path, seen)) == {"last_0_of": (24, 23), "last_1_of": (24, 24)}


def test_a_scalar_that_carries_a_value_from_loop_to_loop_stays(tmp_path: Path) -> None:
    assert scalars(scop_of(tmp_path, CARRIED)) == {"last": ()}


@pytest.mark.native
@parametrized("source", [FILTER, FACTORS, CARRIED], ids=["filter", "factors", "carried"], quick=1)
def test_the_same_is_computed(source: str, tmp_path: Path) -> None:
    scop = scop_of(tmp_path, source)
    machine = machine_with(threads=1, vector_bytes=32)
    found = pipeline.generate_variants(scop, machine=machine, max_variants=4)
    variants = dict.fromkeys((Variant(()), *found))
    kernels = [pipeline.kernel(pipeline.apply(scop, variant, machine=machine), 32) for variant in variants]
    check_kernels(tmp_path, scop, kernels, threads=1)
