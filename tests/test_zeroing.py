"""Zeroing passes left to the microkernel's first calls: when, in what code, and that it computes the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from computed import check_kernels
from emitted_text import emitted_text
from machines import detected
from marks import parametrized

from polydl import pipeline
from polydl.ir.kernel import KernelSource
from polydl.ir.scop import Scop
from polydl.machine import Machine

PRODUCT = """
void f(float C[50][40], const float A[50][300], const float B[300][40]) {{
#pragma scop
  for (int i = 0; i < 50; i++)
    for (int j = 0; j < 40; j++) {{
      C[i][j] = {value};
      for (int k = 0; k < 300; k++)
        C[i][j] += A[i][k] * B[k][j];
    }}
#pragma endscop
}}
"""

# The reduction loop runs backwards, and the product's loops are in another order than the zeroing nest's.
BACKWARDS = """
void f(double C[30][24], const double A[30][64], const double B[64][24]) {
#pragma scop
  for (int j = 0; j < 24; j++)
    for (int i = 0; i < 30; i++)
      C[i][j] = 0;
  for (int k = 63; k >= 0; k--)
    for (int i = 0; i < 30; i++)
      for (int j = 0; j < 24; j++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""


def kernels(tmp_path: Path, source: str, microkernel: str, threads: int = 2) -> tuple[Scop, list[KernelSource]]:
    """Code of some variants that attach the first nest to the second."""
    path = tmp_path / "nest.c"
    path.write_text(source)
    scop = pipeline.parse(path)
    machine = detected(threads=threads)
    space = pipeline.space_on(scop, machine, microkernel=microkernel)
    variants = pipeline.generate_variants(scop, machine=machine, max_variants=60, microkernel=microkernel, seed=1)
    attached = [v for v in variants if v.attached]
    return scop, [pipeline.kernel(space.apply(variant), machine.vector_bytes) for variant in attached[:10]]


@pytest.mark.native
@parametrized("source", [PRODUCT.format(value="0.0f"), PRODUCT.format(value="(float)0"), BACKWARDS], quick=1)
@parametrized("microkernel", ["auto", "c"], quick=1)
def test_the_first_call_overwrites_and_no_zeroing_is_left(tmp_path: Path, source: str, microkernel: str) -> None:
    scop, made = kernels(tmp_path, source, microkernel)
    assert made
    for each in made:
        body = emitted_text(each.c).tuned
        assert "= 0.0" not in body
        assert "] = 0;" not in body
        assert "_run(" in body
    check_kernels(tmp_path, scop, made)


def test_the_reduction_loops_outside_of_the_call_decide_which_call_is_first(tmp_path: Path) -> None:
    _, made = kernels(tmp_path, PRODUCT.format(value="0.0f"), "auto")
    tails = {each.c.rsplit("_run(", 1)[1].split(");")[0].rsplit(", ", 1)[1] for each in made}
    assert "1" in tails or any("k_t1 == 0" in tail for tail in tails)
    assert tails <= {"1", "k_t1 == 0", "(k_t2 == 0) && (k_t1 == 0)", "(k_t1 == 0) && (k_t2 == 0)"}


@pytest.mark.slow
@pytest.mark.native
def test_another_value_than_zero_keeps_its_nest(tmp_path: Path) -> None:
    scop, made = kernels(tmp_path, PRODUCT.format(value="0.5f"), "auto")
    assert made
    assert all("0.5" in emitted_text(each.c).tuned for each in made)
    check_kernels(tmp_path, scop, made)


@pytest.mark.slow
@pytest.mark.native
def test_loops_of_one_iteration_need_no_partner(tmp_path: Path) -> None:
    source = """
void f(float C[1][50][40], const float A[50][300], const float B[300][40]) {
#pragma scop
  for (int z = 0; z < 1; z++)
    for (int x = 0; x < 50; x++)
      for (int y = 0; y < 40; y++)
        C[z][x][y] = 0.0f;
  for (int n = 0; n < 1; n++)
    for (int i = 0; i < 50; i++)
      for (int j = 0; j < 40; j++)
        for (int k = 0; k < 300; k++)
          C[n][i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""
    scop, made = kernels(tmp_path, source, "auto")
    assert made
    assert all("= 0.0" not in emitted_text(each.c).tuned for each in made)
    check_kernels(tmp_path, scop, made)


def test_a_pass_that_is_not_run_has_no_working_sets(tmp_path: Path) -> None:
    path = tmp_path / "nest.c"
    path.write_text(PRODUCT.format(value="0.0f"))
    scop = pipeline.parse(path)
    machine = Machine.detect(threads=1)
    variants = pipeline.generate_variants(scop, machine=machine, max_variants=60, microkernel="c", seed=1)
    found = pipeline.analyze_variants(scop, variants, machine=machine, microkernel="c")
    statements = {
        bool(variant.attached): {d.source for d in found[number].dependences} for number, variant in enumerate(variants)
    }
    assert len(statements[False]) > len(statements[True]) == 1
    for number, variant in enumerate(variants):
        applied = pipeline.apply(scop, variant, machine=machine, microkernel="c", prove=False)
        assert pipeline.analyze(applied, machine) == found[number]
