"""Two loops on threads at once, and iterations dealt out as threads become free."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice, product
from math import ceil, prod
from pathlib import Path

import pytest
from computed import check_kernels, parse
from machines import detected, machine_with
from marks import parametrized

from polydl import pipeline
from polydl.ir.kernel import KernelSource
from polydl.ir.scop import Scop
from polydl.ir.variant import Interchange, Parallel, Tile, UseMicrokernel, Variant
from polydl.plan.execution_counts import equal_iterations, parallel_iterations
from polydl.ranking.ordering import busiest_share
from polydl.variants.variant_space import VariantSpace

# Three blocks of filters, and five rows: neither is even for two threads.
CONVOLUTION = """
void f(float output[3][5][7][16], const float filter[3][16][16], const float input[5][7][16])
{
#pragma scop
  for (int o = 0; o < 3; o++)
    for (int j = 0; j < 5; j++)
      for (int i = 0; i < 7; i++)
        for (int m = 0; m < 16; m++) {
          output[o][j][i][m] = 0;
          for (int k = 0; k < 16; k++)
            output[o][j][i][m] += filter[o][k][m] * input[j][i][k];
        }
#pragma endscop
}
"""
BATCH = """
void f(float C[7][304][64], const float A[7][304][64], const float B[64][64])
{
#pragma scop
  for (int b = 0; b < 7; b++)
    for (int i = 0; i < 304; i++)
      for (int j = 0; j < 64; j++)
        for (int k = 0; k < 64; k++)
          C[b][i][j] += A[b][i][k] * B[k][j];
#pragma endscop
}
"""
# Rows get longer.
TRIANGLE = """
void f(double A[61][61], const double B[61][61])
{
#pragma scop
  for (int i = 0; i < 61; i++)
    for (int j = 0; j <= i; j++)
      A[i][j] = 2.0 * B[i][j] + B[j][i];
#pragma endscop
}
"""
# Even rows of even length.
EVEN = """
void f(double A[64][64], const double B[64][64])
{
#pragma scop
  for (int i = 0; i < 64; i++)
    for (int j = 0; j < 64; j++)
      A[i][j] = 2.0 * B[i][j];
#pragma endscop
}
"""


def generated(tmp_path: Path, source: str, max_variants: int = 150) -> tuple[Scop, VariantSpace, list[Variant]]:
    """Legal variants on two threads, and the space that they are of."""
    scop, machine = parse(tmp_path, source), detected(threads=2)
    space = pipeline.space_on(scop, machine)
    variants = pipeline.generate_variants(scop, machine=machine, max_variants=max_variants, seed=1)
    for variant in variants:
        assert space.apply(variant).violations == ()
    return scop, space, list(variants)


def kernels(space: VariantSpace, variants: Iterable[Variant]) -> list[KernelSource]:
    return [pipeline.kernel(space.apply(variant), detected(threads=2).vector_bytes) for variant in variants]


def parallel_steps(variant: Variant) -> list[Parallel]:
    return [step for step in variant.steps if isinstance(step, Parallel)]


@pytest.mark.native
@parametrized("attached", [False, True], quick=1)
def test_two_loops_are_dealt_out_together(tmp_path: Path, attached: bool) -> None:
    scop, space, variants = generated(tmp_path, CONVOLUTION)
    both = [
        variant
        for variant in variants
        if any(step.inner for step in parallel_steps(variant)) and bool(variant.attached) == attached
    ]
    assert both
    sources = kernels(space, both[:6])
    assert all("#pragma omp parallel for collapse(2)" in source.c for source in sources)
    check_kernels(tmp_path, scop, sources)


def test_a_ranker_is_told_the_iterations_of_both(tmp_path: Path) -> None:
    scop, _, variants = generated(tmp_path, CONVOLUTION)
    space = pipeline.space_on(scop, machine_with(2, 64))
    found = set()
    for variant in variants:
        applied = space.apply(variant)
        for step in parallel_steps(variant):
            if (step.loop, step.inner) in (("o", "j"), ("j", "o")) and not variant.rewrites:
                found.add(parallel_iterations(applied.scop, applied.plan, 2)[step.nest])
    assert found == {15}


@pytest.mark.parametrize("trips", [(7, 1.1875), (1.1875, 7), (7.5,), (1.0625, 2.5), (3, 2.25), (4, 6), (2.5, 3, 1.5)])
@pytest.mark.parametrize("threads", [2, 3, 7, 8, 16])
def test_the_busiest_thread_runs_what_is_dealt_out_to_it(trips: tuple[float, ...], threads: int) -> None:
    """As OpenMP's runtimes deal out iterations: runs of them, the first ones longer by one where there is a rest."""
    tiles = [[min(1.0, each - place) for place in range(ceil(each))] for each in trips]
    work = [prod(sizes) for sizes in product(*tiles)]
    least, longer = divmod(len(work), threads)
    dealt = iter(work)
    runs = [sum(islice(dealt, least + (thread < longer))) for thread in range(threads)]
    assert busiest_share(equal_iterations(trips, threads), threads) == pytest.approx(max(runs) / sum(work))


def test_rows_with_a_short_last_tile_are_dealt_out_in_turns(tmp_path: Path) -> None:
    """Of 14 tiles, eight threads have two at most: a long one and a short one."""
    scop = parse(tmp_path, BATCH)
    steps = (
        Tile(0, "i", (256, 16)),
        Interchange(0, ("b", "i_t2", "i_t1")),
        Parallel(0, "b", inner="i_t2"),
        UseMicrokernel(0, "c", "j", "i", "k"),
    )
    applied = pipeline.apply(scop, Variant(steps), machine=machine_with(8, 64), microkernel="c")
    (iterations,) = parallel_iterations(applied.scop, applied.plan, 8)
    assert busiest_share(iterations, 8) == pytest.approx(304 / (7 * 304))


@pytest.mark.native
def test_uneven_iterations_may_be_dealt_out_as_threads_become_free(tmp_path: Path) -> None:
    scop, space, variants = generated(tmp_path, TRIANGLE, max_variants=20)
    dynamic, static = (
        kernels(space, (each for each in variants if any(step.dynamic for step in parallel_steps(each)) is wanted))
        for wanted in (True, False)
    )
    assert dynamic
    assert static
    assert all("schedule(dynamic)" in source.c for source in dynamic)
    assert not any("schedule(dynamic)" in source.c for source in static)
    check_kernels(tmp_path, scop, dynamic[:3])


def test_even_iterations_are_dealt_out_one_loop_at_a_time(tmp_path: Path) -> None:
    _, _, variants = generated(tmp_path, EVEN)
    steps = [step for variant in variants for step in parallel_steps(variant)]
    assert steps
    assert not any(step.inner or step.dynamic for step in steps)
