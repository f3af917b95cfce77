"""Full tiles of statements in common loops: nests of their own, whose products microkernels take."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import islpy as isl
import pytest
from computed import check_kernels, parse
from machines import machine_with

from polydl import pipeline
from polydl.errors import IllegalVariantError
from polydl.ir.scop import Scop
from polydl.ir.variant import RewriteStep, UseMicrokernel, Variant
from polydl.match.product import NoMatch, match
from polydl.microkernels.plain_c import PLAIN_C
from polydl.plan.apply import Applied, apply
from polydl.plan.rewriting import rewritten
from polydl.rewrite_contract import Request
from polydl.variants.rewrites.materialize import Materialize
from polydl.variants.rewrites.reschedule import RESCHEDULE, Reschedule

LU = """
void f(double A[100][100]) {
#pragma scop
  for (int i = 0; i < 100; i++) {
    for (int j = 0; j < i; j++) {
      for (int k = 0; k < j; k++)
        A[i][j] -= A[i][k] * A[k][j];
      A[i][j] /= A[j][j];
    }
    for (int j = i; j < 100; j++)
      for (int k = 0; k < i; k++)
        A[i][j] -= A[i][k] * A[k][j];
  }
#pragma endscop
}
"""
# Its second operand lies across the result: row j of A for column j.
CHOLESKY = """
#include <math.h>
void f(double A[100][100]) {
#pragma scop
  for (int i = 0; i < 100; i++) {
    for (int j = 0; j < i; j++) {
      for (int k = 0; k < j; k++)
        A[i][j] -= A[i][k] * A[j][k];
      A[i][j] /= A[j][j];
    }
    for (int k = 0; k < i; k++)
      A[i][i] -= A[i][k] * A[i][k];
    A[i][i] = sqrt(A[i][i]);
  }
#pragma endscop
}
"""
# Its loops can be tiled as they are, but each row of B is read by those before it until it is written.
TRMM = """
void f(double B[100][120], const double A[100][100], double alpha) {
#pragma scop
  for (int i = 0; i < 100; i++)
    for (int j = 0; j < 120; j++) {
      for (int k = i + 1; k < 100; k++)
        B[i][j] += A[k][i] * B[k][j];
      B[i][j] = alpha * B[i][j];
    }
#pragma endscop
}
"""
FACTORIZATIONS = {"lu": LU, "cholesky": CHOLESKY, "trmm": TRMM}


@pytest.fixture(scope="module")
def scops(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Scop]:
    return {name: parse(tmp_path_factory.mktemp(name), text) for name, text in FACTORIZATIONS.items()}


def proposed(scop: Scop, threads: int = 1) -> list[tuple[RewriteStep, ...]]:
    """The proposals with full tiles."""
    machine = machine_with(threads=threads, vector_bytes=32)
    left = rewritten(scop, ())
    request = Request(left.scop, left.scop.statements[0], left.dependences, machine)
    steps = [proposal.steps for proposal in RESCHEDULE.propose(request)]
    return [each for each in steps if isinstance(each[0], Reschedule) and each[0].separated]


def with_microkernels(scop: Scop, steps: tuple[RewriteStep, ...]) -> Applied:
    """A variant whose full tiles of products are calls."""
    state = rewritten(scop, steps, numerics="bounded")
    (step,) = (step for step in steps if isinstance(step, Reschedule))
    calls = [
        UseMicrokernel(nest.index, "c", m="j", n="i", k="k")
        for nest in state.nests
        if nest.statements[0] in step.separated
    ]
    assert len(calls) == len(step.separated)
    return pipeline.apply(scop, Variant((*steps, *calls)), machine=machine_with(threads=1, vector_bytes=32))


@pytest.mark.parametrize("name", FACTORIZATIONS)
def test_each_instance_is_in_a_full_tile_or_in_the_rest(name: str, scops: dict[str, Scop]) -> None:
    scop = scops[name]
    first, *operands_first = proposed(scop)[0]
    assert isinstance(first, Reschedule)
    assert [type(step) for step in operands_first] == [Materialize] * (2 * len(first.separated))
    one = rewritten(scop, (first,), numerics="bounded").scop
    for separated in first.separated:
        full, rest = one.statement(separated), one.statement(f"{separated}_rest")
        counted = [isl.Set(part.domain).count_val().to_python() for part in (full, rest)]
        assert counted == [full.instances, rest.instances]
        assert sum(counted) == scop.statement(separated).instances
        assert full.instances > 0


def test_a_product_in_place_is_one_in_full_tiles_alone(scops: dict[str, Scop]) -> None:
    scop = scops["lu"]
    (first, *_), *_ = proposed(scop)
    one = rewritten(scop, (first,), numerics="bounded").scop
    for name in ("S0", "S0_rest"):
        positive = replace(one.statement(name), body=replace(one.statement(name).body, text="+="))
        found = match(one, positive, (3, 4, 5), PLAIN_C)
        assert isinstance(found, NoMatch) == (name == "S0_rest")


@pytest.mark.slow
@pytest.mark.native
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", FACTORIZATIONS)
def test_factorizations_by_blocks_compute_the_same(
    name: str, threads: int, scops: dict[str, Scop], tmp_path: Path
) -> None:
    scop = scops[name]
    first, *others = proposed(scop, threads)[0]
    assert isinstance(first, Reschedule)
    assert first.wavefront == (threads > 1)
    small = replace(first, sizes=tuple(8 + 4 * place for place in range(len(first.sizes))))
    chosen = [(first, *others), (small, *others)]
    kernels = [pipeline.kernel(with_microkernels(scop, steps), 32) for steps in chosen]
    plain = apply(scop, Variant((small, *others)), ())
    check_kernels(tmp_path, scop, [*kernels, pipeline.kernel(plain, 32)])
    assert all(len(kernel.microkernels) == len(first.separated) for kernel in kernels)


@pytest.mark.slow
def test_operands_of_threads_lie_apart(scops: dict[str, Scop]) -> None:
    (first, *others), *_ = proposed(scops["lu"], threads=2)
    assert isinstance(first, Reschedule)
    one = rewritten(scops["lu"], (first, *others), numerics="bounded").scop
    (group,) = one.shared
    evaluated = [array for array in one.arrays if array.storage == "local" and len(array.extents) == 3]
    assert len(evaluated) == 2 * len(first.separated)
    assert group.parallel
    assert {name for name in group.statements if name.startswith("evaluate")} == {
        statement.name for statement in one.statements if statement.origin == "operand"
    }


def test_what_is_no_full_tile_is_refused(scops: dict[str, Scop]) -> None:
    scop = scops["lu"]
    (first, *_), *_ = proposed(scop)
    assert isinstance(first, Reschedule)
    for change, reason in (
        (replace(first, separated=("S9",)), "not all among the statements"),
        (replace(first, separated=("S1",)), "fills no tile"),
        (replace(first, sizes=(64, 64, 64)), "fills no tile"),
    ):
        with pytest.raises(IllegalVariantError, match=reason):
            rewritten(scop, (change,), numerics="bounded")
    # In the rest of a tile, what a product reads is written beside it.
    with pytest.raises(IllegalVariantError):
        rewritten(scop, (first, Materialize("S0_rest", "A")), numerics="bounded")
