"""Steps of a person's own that another order of sums, zeros or an epilogue, or reads of a copy, would make wrong."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from machines import machine_with

from polydl.errors import IllegalVariantError
from polydl.ir.numerics import Numerics
from polydl.ir.scop import Scop
from polydl.ir.variant import Attach, Interchange, Parallel, Step, Tile, Unroll, UseMicrokernel, Variant
from polydl.pipeline import apply, generate_variants, kernel, parse
from polydl.plan.apply import Applied
from polydl.variants.rewrites.gather import Gather
from polydl.variants.rewrites.pack_panels import PackPanels
from polydl.variants.rewrites.unfold import Unfold

MACHINE = machine_with(2, 32)
TWO_SUMS = "void f(double y[70], double s[1], const double x[40], const double h[30])"
TWO_SUMS_REGION = """
  for (int i = 0; i < 40; ++i)
    for (int r = 0; r < 30; ++r) {
      y[i + r] += x[i] * h[r];
      s[0] += x[i] * h[r];
    }"""
PRODUCT = "const float A[96][64], const float B[64][80]"
PRODUCT_REGION = """
  for (int i = 0; i < {rows}; ++i)
    for (int j = 0; j < 80; ++j)
      for (int k = {k}; k{more}) C[i][j] += A[i][k] * B[k][j];"""


def read(directory: Path, head: str, region: str) -> Scop:
    path = directory / "nest.c"
    path.write_text(f"{head}\n{{\n#pragma scop{region}\n#pragma endscop\n}}\n")
    return parse(path)


def applied(scop: Scop, *steps: Step, numerics: Numerics = "bounded") -> Applied:
    return apply(scop, Variant(steps), machine=MACHINE, microkernel="c", numerics=numerics)


def test_threads_have_no_sums_where_another_array_is_added_to_as_well(tmp_path: Path) -> None:
    """Threads that add ``s`` up by themselves would meet in ``y[i + r]``."""
    scop = read(tmp_path, TWO_SUMS, TWO_SUMS_REGION)
    variants = generate_variants(scop, machine=MACHINE, max_variants=40, seed=0)
    assert len(variants) > 10
    for variant in variants:
        kernel(apply(scop, variant, machine=MACHINE), 32)


def test_lanes_have_no_sums_where_they_would_meet_in_another_array(tmp_path: Path) -> None:
    """Next to each other, iterations of r add to the same ``y`` for different i of a tile."""
    scop = read(tmp_path, TWO_SUMS, TWO_SUMS_REGION)
    steps = (Tile(0, "i", (4,)), Interchange(0, ("i_t1", "r", "i")), Unroll(0, "i"))
    lines = [line.strip() for line in kernel(applied(scop, *steps), 32).c.splitlines()]
    vectors = [after for line, after in pairwise(lines) if line.startswith("#pragma omp simd")]
    assert any("y[i + r] +=" in line for line in lines)
    assert not any(line.startswith("for (int r") for line in vectors)


@pytest.mark.parametrize(("zeroed", "is_left_out"), [(96, True), (90, False), (95, False)])
def test_zeros_of_other_elements_are_not_left_out(tmp_path: Path, zeroed: int, is_left_out: bool) -> None:
    zeros = f"\n  for (int i = 0; i < {zeroed}; ++i)\n    for (int j = 0; j < 80; ++j) C[i][j] = 0;"
    region = zeros + PRODUCT_REGION.format(rows=96, k="0", more=" < 64; ++k")
    scop = read(tmp_path, f"void f(float C[96][80], {PRODUCT})", region)
    steps = (Attach("S0", "S1", "first"), UseMicrokernel(1, "c", "j", "i", "k"))
    assert (applied(scop, *steps).absorbed == {0: 1}) == is_left_out


def test_zeros_stay_and_run_once_where_threads_add_up_what_follows(tmp_path: Path) -> None:
    """Each thread begins with zeros of its own, to which what the output was is added at the end."""
    zeros = "\n  for (int i = 0; i < 96; ++i)\n    for (int j = 0; j < 80; ++j) C[i][j] = 0;"
    region = zeros + PRODUCT_REGION.format(rows=96, k="0", more=" < 64; ++k")
    scop = read(tmp_path, f"void f(float C[96][80], {PRODUCT})", region)
    product = (Attach("S0", "S1", "first"), Tile(1, "k", (16,)), UseMicrokernel(1, "c", "j", "i", "k"))
    threads = Parallel(1, "k_t1", combined=("C",))
    made = applied(scop, *product, Interchange(1, ("k_t1",)), threads)
    assert made.absorbed == {}
    assert kernel(made, 32).c.count("] = 0;") > 0
    inside = (*product[:1], Tile(1, "i", (32,)), *product[1:], Interchange(1, ("k_t1", "i_t1")))
    assert applied(scop, *inside).absorbed == {0: 1}
    with pytest.raises(IllegalVariantError, match=r"from S0 .* to S1 .* by running `k_t1` in parallel"):
        applied(scop, *inside, threads)


def test_threads_add_up_sums_alone(tmp_path: Path) -> None:
    scop = read(tmp_path, "void f(double p[1], const double A[50])", "\n  for (int i = 0; i < 50; ++i) p[0] *= A[i];")
    with pytest.raises(IllegalVariantError, match="the threads of `i` in nest 0 can't add up `p`"):
        applied(scop, Parallel(0, "i", combined=("p",)))


def test_sums_that_run_downwards_keep_their_order_where_that_counts(tmp_path: Path) -> None:
    region = PRODUCT_REGION.format(rows=96, k="63", more=" >= 0; --k")
    scop = read(tmp_path, f"void f(float C[96][80], {PRODUCT})", region)
    step = UseMicrokernel(0, "c", "j", "i", "k")
    assert applied(scop, step).sites
    with pytest.raises(IllegalVariantError, match="run downwards"):
        applied(scop, step, numerics="strict")


def test_an_epilogue_writes_each_element_once(tmp_path: Path) -> None:
    """Blocks of a tile come in another order than its rows: the last of several writes would be another one."""
    product = PRODUCT_REGION.format(rows=96, k="0", more=" < 64; ++k")
    steps = (Attach("S1", "S0", "last"), UseMicrokernel(0, "c", "j", "i", "k"))
    for target, is_applied in (("D[i][j]", True), ("E[i + j]", False)):
        behind = f"\n  for (int i = 0; i < 96; ++i)\n    for (int j = 0; j < 80; ++j) {target} = C[i][j] * 2.0f;"
        head = f"void f(float C[96][80], float D[96][80], float E[175], {PRODUCT})"
        assert bool(applied(read(tmp_path, head, product + behind), *steps).finished) == is_applied


@pytest.mark.parametrize(
    "step",
    [
        Gather("S0", "A", ("i", "k"), (1, 1)),
        PackPanels("S0", "A", ("k", "i")),
        Unfold("S0", "A", 0, ("i",), (0, 1), (1, 1)),
    ],
    ids=lambda step: step.json_name,
)
def test_copies_stay_inside_of_arrays_that_are_read_under_a_condition(step: Step, tmp_path: Path) -> None:
    head = f"void f(float C[96][80], {PRODUCT})"
    region = PRODUCT_REGION.format(rows=96, k="0", more=" < 64; ++k")
    before, inside = (region.replace("A[i][k]", f"(i > 0 ? A[{row}][k] : 0.0f)") for row in ("i - 1", "i"))
    with pytest.raises(IllegalVariantError, match="under a condition: a copy would leave the array"):
        applied(read(tmp_path, head, before), step)
    assert applied(read(tmp_path, head, inside), step).scop.arrays[-1].storage == "local"
