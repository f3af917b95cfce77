"""Variants by hand, as random nests' are run: what is wrong, and what is only imprecise."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import pytest
from new_process import in_new_process

from polydl.codegen.original import original
from polydl.execute.tolerance import tolerance
from polydl.execute.toolchain import Toolchain
from polydl.fuzzing import examine as examining
from polydl.fuzzing.running import VariantAnswer, reference, run
from polydl.pipeline import parse

_CALLED = """
#include <stdint.h>
#define VARIANT(number) \\
  void *polydl_global_v00##number(int i) { (void)i; return 0; } \\
  void polydl_invoke_v00##number(void *const *at)
static void thrice(float *C, const float *A, float factor, float more)
{
  for (int i = 0; i < 40; ++i) {
    volatile float sum = A[i] + more;
    C[i] = (sum - more) * factor;
  }
}
/* All roundings are those of a large sum. */
VARIANT(0) { thrice(at[0], at[1], 3.0f, 4096.0f); }
/* Wrong where C does not begin at a page. */
VARIANT(1) { thrice(at[0], at[1], (uintptr_t)at[0] & 4095 ? 4.0f : 3.0f, 0.0f); }
/* As if threads raced. */
VARIANT(2) { static int calls; thrice(at[0], at[1], calls++ ? 3.0f : 4.0f, 0.0f); }
/* Imprecise at the first place, and wrong at the second. */
VARIANT(3) { thrice(at[0], at[1], (uintptr_t)at[0] & 4095 ? 4.0f : 3.0f, 4096.0f); }
/* Sums that threads combine in another order at each call. */
VARIANT(4) { static float calls; thrice(at[0], at[1], 3.0f, 4096.0f * ++calls); }
"""


def _statuses_of_imprecise_variants(folder: Path) -> list[str]:
    nest = """void f(float C[40], const float A[40])
    {
    #pragma scop
      for (int i = 0; i < 40; ++i)
        C[i] = A[i] * 3.0f;
    #pragma endscop
    }
    """
    return [answer.status for answer in _answers(nest, _CALLED, 5, folder, combining={4})]


def _answers(
    nest: str, variants: str, number: int, folder: Path, combining: Collection[int] = (), unchanged: int | None = None
) -> tuple[VariantAnswer, ...]:
    """What becomes of variants by hand, on data with which the original changes nothing at the place ``unchanged``."""
    source = folder / "nest.c"
    source.write_text(nest)
    scop, toolchain = parse(source), Toolchain.find()
    library, message = examining._library(original(scop), toolchain.in_order, folder)
    assert library is not None, message
    for seed in range(64):
        expected = reference(scop, library, tolerance(scop), seed, folder)
        if all(bool(result.offsets) == (place != unchanged) for place, result in enumerate(expected.results)):
            break
    kernel = replace(original(scop), id="variants", c=variants, harness="")
    unit, message = examining._library(kernel, replace(toolchain, flags=("-O1",)), folder)
    assert unit is not None, message
    return run(scop, expected, unit, range(number), folder, combining)


@pytest.mark.native
def test_what_is_wrong_in_one_place_or_in_one_run_is_not_imprecise(tmp_path: Path) -> None:
    statuses = in_new_process(_statuses_of_imprecise_variants, tmp_path)
    assert statuses == ["imprecise", "wrong", "wrong", "wrong", "imprecise"]


def _answers_where_nothing_changes(folder: Path) -> tuple[VariantAnswer, ...]:
    nest = """void f(float C[1], float A[1])
    {
    #pragma scop
      for (int i = 0; i < 1; ++i)
        C[i] = A[i] > 0.0f ? A[i] : C[i];
    #pragma endscop
    }
    """
    variant = """
    void *polydl_global_v000(int i) { (void)i; return 0; }
    void polydl_invoke_v000(void *const *at)
    {
      float *C = at[0], *A = at[1];
      C[0] = A[0];
    }
    """
    return _answers(nest, variant, 1, folder, unchanged=1)


@pytest.mark.native
def test_a_place_where_the_original_changes_nothing_is_compared(tmp_path: Path) -> None:
    (answer,) = in_new_process(_answers_where_nothing_changes, tmp_path)
    assert answer.status == "wrong"
    assert answer.message == "run 2: it changes `C[0]`, and the original nest does not"
