"""The estimated number of legal variants, beside the number that enumeration finds."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import prod
from pathlib import Path

import pytest
from machines import machine_with
from marks import parametrized

from polydl import pipeline
from polydl.presentation.nest import generation_text
from polydl.report.documents import variants_document
from polydl.variants.decisions import count
from polydl.variants.estimate import SizeEstimate, estimated_size, left_out
from polydl.variants.generation import defaults_beside, generate, variant_of
from polydl.variants.variant_space import VariantSpace

PRODUCT = """
void f(float C[96][64], const float A[96][80], const float B[80][64])
{
#pragma scop
  for (int i = 0; i < 96; i++)
    for (int j = 0; j < 64; j++)
      for (int k = 0; k < 80; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""
# In time and space; most orders are illegal, and two alternatives decide nothing but how innermost loops run.
STENCIL = """
void f(float A[40][50])
{
#pragma scop
  for (int t = 0; t < 30; t++)
    for (int i = 1; i < 39; i++)
      for (int j = 1; j < 49; j++)
        A[i][j] = 0.2f * (A[i][j] + A[i - 1][j] + A[i + 1][j] + A[i][j - 1] + A[i][j + 1]);
#pragma endscop
}
"""
# Bounds that differ from row to row, and sums that threads can take apart.
TRIANGLE = """
void f(float L[90][90], float x[90])
{
#pragma scop
  for (int i = 0; i < 90; i++)
    for (int j = 0; j < i; j++)
      x[i] += L[i][j];
#pragma endscop
}
"""
IN_PLACE = """
void f(float y[200][240], const float x[240][200])
{
#pragma scop
  for (int i = 0; i < 200; i++)
    for (int j = 0; j < 240; j++)
      y[i][j] = y[i][j] + x[j][i];
#pragma endscop
}
"""
# One nest beside which the other two are minor, with innermost loops that run in several ways.
MINOR = """
void f(float y[200][240], const float x[240][200], float u[16][32], float v[16][32])
{
#pragma scop
  for (int i = 0; i < 16; i++)
    for (int j = 0; j < 32; j++)
      u[i][j] = 2.0f * u[i][j];
  for (int i = 0; i < 200; i++)
    for (int j = 0; j < 240; j++)
      y[i][j] = y[i][j] + x[j][i];
  for (int i = 0; i < 16; i++)
    for (int j = 0; j < 32; j++)
      v[i][j] = 3.0f * v[i][j];
#pragma endscop
}
"""
MANY = 10**6


def space_of(folder: Path, source: str, threads: int, microkernel: str) -> VariantSpace:
    path = folder / "nest.c"
    path.write_text(source)
    return pipeline.space_on(pipeline.parse(path), machine_with(threads, 64), microkernel=microkernel)


@parametrized(
    ("source", "threads", "microkernel"),
    [
        (PRODUCT, 1, "c"),
        (PRODUCT, 2, "c"),
        (PRODUCT, 2, "none"),
        (STENCIL, 2, "none"),
        (TRIANGLE, 2, "none"),
        (IN_PLACE, 2, "none"),
        (MINOR, 2, "none"),
    ],
    quick=1,
)
def test_the_interval_holds_the_enumerated_number(tmp_path: Path, source: str, threads: int, microkernel: str) -> None:
    space = space_of(tmp_path, source, threads, microkernel)
    every = generate(space, max_variants=MANY, seed=0)
    exact = len(every.variants)
    assert (every.sampled, every.legal) == (False, exact)
    illegal = 0
    for each in (space, *space.alternatives):
        counts = [len(nest.choices) for nest in each.spaces]
        illegal += prod(nest.illegal() + len(nest.choices) for nest in each.spaces) - prod(counts)
        assert all(nest.settled or count(nest.root) == len(nest.choices) for nest in each.spaces)
    # Every variant that is generated is one of the assignments that are counted, and the others are not legal.
    assert every.generated == exact + illegal
    # One seed in twenty may miss; of twenty, hardly four.
    found = [estimated_size(space, seed=seed) for seed in range(20)]
    assert sum(each.low <= exact <= each.high for each in found) >= 17
    assert sum(each.value for each in found) / len(found) == pytest.approx(exact, rel=0.1)
    assert found[0] == estimated_size(space, seed=0)


def test_a_space_with_all_legal_is_counted_exactly(tmp_path: Path) -> None:
    space = space_of(tmp_path, PRODUCT, 1, "c")
    assert not any(nest.illegal() for nest in space.spaces)
    size = sum(each.size() for each in (space, *space.alternatives))
    assert estimated_size(space, seed=3, draws=20).value == size


@parametrized(
    ("source", "threads"), [(STENCIL, 2), (PRODUCT, 2), (TRIANGLE, 2), (IN_PLACE, 2), (MINOR, 2), (MINOR, 1)], quick=1
)
def test_defaults_that_no_choices_make_are_counted_without_listing_these(
    tmp_path: Path, source: str, threads: int
) -> None:
    space = space_of(tmp_path, source, threads, "none")
    for each in (space, *space.alternatives):
        listed = {variant_of(each, choices).id for choices in product(*(nest.choices for nest in each.spaces))}
        generated = generate(replace(each, alternatives=()), max_variants=MANY, seed=0)
        assert defaults_beside(each) == len({variant.id for variant in generated.variants} - listed)


def test_loops_on_threads_and_ways_of_innermost_loops_are_counted_with_settled_nests(tmp_path: Path) -> None:
    space = space_of(tmp_path, STENCIL, 2, "none")
    settled = [each for each in space.alternatives if all(nest.settled for nest in each.spaces)]
    assert sum(map(defaults_beside, settled)) == len(settled) == 2
    few = generate(space, max_variants=10, seed=0)
    assert len(few.variants) == 10 <= few.generated
    estimate = estimated_size(space, seed=0)
    assert estimate.low <= len(generate(space, max_variants=MANY, seed=0).variants) <= estimate.high


def test_what_is_said_of_the_size_agrees_however_many_are_asked_for(tmp_path: Path) -> None:
    space = space_of(tmp_path, PRODUCT, 2, "c")
    machine, size = space.spaces[0].machine, estimated_size(space, seed=0)
    every = generate(space, max_variants=MANY, seed=0)
    legal = len(every.variants)
    assert every.forms == sum(each.size() for each in (space, *space.alternatives)) < legal
    # Some of the forms; all of them, but not all of the variants; all.
    some, cut, found = (generate(space, max_variants=most, seed=0) for most in (100, legal - 1, legal))
    assert {each.forms for each in (some, cut, found)} == {every.forms}
    assert [each.legal for each in (some, cut, found)] == [None, legal, legal]
    about = f"about {size.value:,} are legal ({size.low:,} to {size.high:,}, 95 %)"
    texts = [" ".join(generation_text(each, 0, size).split()) for each in (some, cut, found)]
    assert f"100 legal variants of {some.generated} assignments looked at, sampled with seed 0 out of" in texts[0]
    assert f"out of {every.forms} forms {about}: forms with each of their parallel and innermost loops" in texts[0]
    assert texts[1] == f"Variants {legal - 1:,} of all {legal:,} legal variants, sampled with seed 0"
    assert texts[2] == f"Variants {legal:,} legal variants of {legal:,} assignments looked at, which are all"
    sizes = [left_out(space, each, seed=0) for each in (some, cut, found)]
    assert sizes == [size, SizeEstimate(legal, legal, legal), None]
    counts = [
        variants_document(space, each, machine, known)["counts"]
        for each, known in zip((some, cut), sizes[:2], strict=True)
    ]
    assert [each["forms"] for each in counts] == [every.forms] * 2
    assert counts[0]["estimate"] == {"value": size.value, "low": size.low, "high": size.high}
    assert counts[1]["estimate"] == {"value": legal, "low": legal, "high": legal}
