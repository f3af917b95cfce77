"""One iteration of a loop apart, on which all others depend."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from computed import check_kernels, parse
from frontend_interpreter import points
from machines import machine_with

from polydl import pipeline
from polydl.errors import IllegalVariantError
from polydl.ir.scop import Scop
from polydl.ir.variant import Variant
from polydl.plan.rewriting import rewritten
from polydl.poly.schedules import original_schedule
from polydl.variant_json import variant_from_json
from polydl.variants.rewrites.peel import PEEL, Peel, peel

# Shortest paths: the iteration j = k writes what all others read.
PATHS = """
void f(int path[30][30]) {
#pragma scop
  for (int k = 0; k < 30; k++)
    for (int i = 0; i < 30; i++)
      for (int j = 0; j < 30; j++)
        path[i][j] = path[i][j] < path[i][k] + path[k][j] ? path[i][j] : path[i][k] + path[k][j];
#pragma endscop
}
"""
# An elimination in place with a pivot that lies one beside the diagonal, loops that count down, and statements around.
ELIMINATION = """
void f(double a[24][26], double d[24]) {
#pragma scop
  for (int k = 0; k < 24; k++) {
    d[k] = 0.5 * a[k][k + 1];
    for (int i = 23; i >= 0; i--)
      for (int j = 25; j >= 0; j--)
        a[i][j] = a[i][j] - 0.01 * a[i][k + 1] * a[k][j];
    d[k] += a[k][k];
  }
#pragma endscop
}
"""
# Every iteration reads what the one before wrote.
SWEEP = """
void f(float a[40][40]) {
#pragma scop
  for (int i = 1; i < 40; i++) for (int j = 1; j < 40; j++) a[i][j] = a[i][j - 1] + a[i][0];
#pragma endscop
}
"""
# No dependence joins iterations of j.
FREE = SWEEP.replace("a[i][j - 1] + a[i][0]", "a[i - 1][j] + 1.0f")
# Beside such a nest, in the same outermost loop, one whose loop has two statements.
BESIDE = """
void f(int path[30][30], int other[30][30], int rows[30][30]) {
#pragma scop
  for (int k = 0; k < 30; k++) {
    for (int i = 0; i < 30; i++)
      for (int j = 0; j < 30; j++)
        path[i][j] = path[i][j] + path[i][k] * path[k][j];
    for (int i = 0; i < 30; i++)
      for (int j = 0; j < 30; j++) {
        other[i][j] = other[i][j] + other[i][k] * other[k][j];
        rows[i][j] = other[i][j];
      }
  }
#pragma endscop
}
"""
STEP = Peel("S0", "j", (1, 0, 0))
BACKWARDS = Peel("S1", "j", (1, 0, 1))


def peeled(variants: tuple[Variant, ...]) -> list[Variant]:
    return [each for each in variants if any(isinstance(step, Peel) for step in each.rewrites)]


def steps_of(variants: tuple[Variant, ...]) -> set[Peel]:
    return {step for each in variants for step in each.rewrites if isinstance(step, Peel)}


def in_order(scop: Scop) -> list[tuple[int, tuple[int, ...]]]:
    """All instances in the order in which they run, each with the line of its statement."""
    times = dict(original_schedule(scop).statements)
    instances = []
    for statement in scop.statements:
        for point in points(statement.domain):
            time = tuple(
                part if isinstance(part, int) else part.direction * point[part.iterator]
                for part in times[statement.name]
            )
            instances.append((time, statement.line, point))
    return [(line, point) for _, line, point in sorted(instances)]


@pytest.mark.parametrize(("source", "step", "parts"), [(PATHS, STEP, 3), (ELIMINATION, BACKWARDS, 3)])
def test_all_instances_run_in_the_order_of_the_source(tmp_path: Path, source: str, step: Peel, parts: int) -> None:
    scop = parse(tmp_path, source)
    after = rewritten(scop, (step,)).scop
    assert len(after.statements) == len(scop.statements) + parts - 1
    assert sum(each.instances for each in after.statements) == sum(each.instances for each in scop.statements)
    assert in_order(after) == in_order(scop)


def test_a_part_without_instances_is_no_statement(tmp_path: Path) -> None:
    scop = parse(tmp_path, PATHS)
    after = peel(scop, Peel("S0", "j", (0, 0, 29)))
    assert [each.name for each in after.statements] == ["S0", "S0_2"]
    assert [each.instances for each in after.statements] == [29 * 900, 900]


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (replace(STEP, loop="x"), "S1 has no loop `x`"),
        (replace(STEP, value=(1, 0)), "a factor for each loop around it, and a constant"),
        (replace(STEP, value=(0, 0, 26)), "`j` of S1 has no iteration apart from others"),
        (Peel("S1", "k", (3,)), "S1 shares the loop `k`"),
    ],
)
def test_other_steps_are_refused(tmp_path: Path, step: Peel, message: str) -> None:
    with pytest.raises(IllegalVariantError) as raised:
        rewritten(parse(tmp_path, ELIMINATION), (replace(step, statement="S1"),))
    assert message in str(raised.value)


def test_a_pivot_is_peeled_and_a_sweep_and_a_free_loop_are_not(tmp_path: Path) -> None:
    machine = machine_with(1, 16)

    def steps(source: str) -> set[Peel]:
        return steps_of(pipeline.generate_variants(parse(tmp_path, source), machine=machine, max_variants=100))

    assert steps(PATHS) == {STEP}
    assert steps(ELIMINATION) == {BACKWARDS}
    assert steps(BESIDE) == {STEP}
    assert steps(SWEEP) == set()
    assert steps(FREE) == set()


def test_loops_before_and_after_the_pivot_fill_vectors(tmp_path: Path) -> None:
    scop, machine = parse(tmp_path, PATHS), machine_with(1, 16)
    variants = pipeline.generate_variants(scop, machine=machine, max_variants=100)
    one = peeled(variants)[0]
    assert variant_from_json(one.to_json()) == one
    plain = next(each for each in variants if not each.rewrites)

    def loops_of_vectors(variant: Variant) -> int:
        kernel = pipeline.kernel(pipeline.apply(scop, variant, machine=machine), machine.vector_bytes)
        return kernel.c.count("#pragma omp simd")

    assert loops_of_vectors(plain) == 0
    assert loops_of_vectors(one) >= 2


def test_the_step_in_words(tmp_path: Path) -> None:
    scop = parse(tmp_path, ELIMINATION)
    assert PEEL.describe(scop, BACKWARDS) == "iteration j = k + 1 of line 8 apart"
    assert PEEL.describe(scop, replace(BACKWARDS, value=(0, -2, 0))) == "iteration j = -2 i of line 8 apart"
    assert PEEL.describe(scop, replace(BACKWARDS, value=(0, 0, 0))) == "iteration j = 0 of line 8 apart"


def test_steps_at_random_keep_the_order_of_the_source(tmp_path: Path) -> None:
    scop, draw = parse(tmp_path, ELIMINATION), Random(0)
    applied = 0
    for _ in range(20):
        for (step,) in PEEL.drawn(scop, scop.statement("S1"), draw):
            try:
                after = peel(scop, step)
            except IllegalVariantError:
                continue
            applied += 1
            assert in_order(after) == in_order(scop)
    assert applied >= 5


@pytest.mark.slow
@pytest.mark.native
@pytest.mark.parametrize("source", [PATHS, ELIMINATION])
def test_variants_compute_the_same(tmp_path: Path, source: str) -> None:
    scop, machine = parse(tmp_path, source), machine_with(2, 16)
    variants = peeled(pipeline.generate_variants(scop, machine=machine, max_variants=200))
    kernels = [
        pipeline.kernel(pipeline.apply(scop, variant, machine=machine), machine.vector_bytes)
        for variant in variants[:: max(1, len(variants) // 6)]
    ]
    assert len(kernels) >= 3
    check_kernels(tmp_path, scop, kernels)
