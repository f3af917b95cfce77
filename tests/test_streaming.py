"""Stores past the caches, and several sums side by side: where they are allowed, and that they compute the same."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from computed import check_kernels, parse
from machines import detected, machine_with
from marks import parametrized

from polydl import pipeline
from polydl.codegen.original import original
from polydl.errors import IllegalVariantError
from polydl.execute.contract import TimingPolicy
from polydl.execute.local import EXECUTOR
from polydl.execute.toolchain import Toolchain
from polydl.ir.numerics import DEFAULT_NUMERICS, Numerics
from polydl.ir.scop import Scop
from polydl.ir.variant import Interchange, Stream, Unroll, Variant
from polydl.machine import Machine
from polydl.plan.streaming import streamable
from polydl.variants.build_space import build_space
from polydl.variants.generation import generate
from polydl.variants.rewrites.fuse import Fuse
from polydl.variants.variant_space import VariantSpace

ELEMENTWISE = """void f(float y[{0}][{1}], double *s, const float x[{0}][{1}], const float w[{1}]) {{
#pragma scop
  for (int i = 0; i < {0}; i++)
    for (int j = 0; j < {1}; j++) {{
      y[i][j] = x[i][j] * w[j];
      y[i][j] = y[i][j] > 0.25f ? y[i][j] : 0.0f;
      s[0] += y[i][j] * 2.0f;
    }}
#pragma endscop
}}
"""
LINE = """void f(double y[{0}], const double x[{0}], double a) {{
#pragma scop
  for (int i = 0; i < {0}; i++)
    y[i] = a * x[i];
#pragma endscop
}}
"""
DOT = """void f(float y[{0}], float *s, const float x[{0}]) {{
#pragma scop
  for (int i = 0; i < {0}; i++) {{
    y[i] = 2.0f * x[i];
    s[0] += y[i] * x[i];
  }}
#pragma endscop
}}
"""
SUMS = """void f(float z[{0}], float s[{1}], const float A[{0}][{1}], const float x[{1}], const float r[{0}]) {{
#pragma scop
  for (int i = 0; i < {0}; i++)
    for (int j = 0; j < {1}; j++) {{
      z[i] += A[i][j] * x[j];
      s[j] += A[i][j] * r[i];
    }}
#pragma endscop
}}
"""
APART = """void f(float z[{0}], float s[{1}], const float A[{0}][{1}], const float x[{1}], const float r[{0}]) {{
#pragma scop
  for (int i = 0; i < {0}; i++)
    for (int j = 0; j < {1}; j++)
      z[i] += A[i][j] * x[j];
  for (int i = 0; i < {0}; i++)
    for (int j = 0; j < {1}; j++)
      s[j] = s[j] + A[i][j] * r[i];
#pragma endscop
}}
"""


def space_of(path: Path, source: str, threads: int, *, numerics: Numerics = DEFAULT_NUMERICS) -> VariantSpace:
    path.write_text(source)
    scop = pipeline.parse(path)
    # Nothing fits the second cache.
    machine = detected(threads=threads).with_cache_sizes((1, 2, 4))
    return build_space(scop, [], machine, numerics=numerics)


def run(space: VariantSpace, variants: list[Variant], threads: int, folder: Path) -> None:
    assert variants
    kernels = [pipeline.kernel(space.apply(variant), Machine.detect().vector_bytes) for variant in variants]
    built = EXECUTOR.build([original(space.scop), *dict.fromkeys(kernels)], Toolchain.find().cautious, folder)
    policy = TimingPolicy(rounds=1, minimum_sample_seconds=1e-4, budget_seconds=0.5)
    measured = EXECUTOR.measure(built[1:], built[0], space.scop, threads=threads, policy=policy, seed=5)
    assert [each.message for each in measured if each.status != "ok"] == []


def using(space: VariantSpace, kind: type[Unroll] | type[Stream], most: int) -> list[Variant]:
    made = generate(space, max_variants=400, seed=1).variants
    found = [variant for variant in made if any(isinstance(step, kind) for step in variant.steps)]
    assert found
    return found[:: max(1, len(found) // most)]


@pytest.mark.native
@parametrized(
    ("source", "sizes", "threads"),
    [(ELEMENTWISE, (5, 32), 2), (ELEMENTWISE, (7, 51), 1), (LINE, (5003,), 2), (DOT, (2600,), 2)],
    quick=1,
)
def test_what_is_written_past_the_caches_is_right(
    source: str, sizes: tuple[int, ...], threads: int, tmp_path: Path
) -> None:
    space = space_of(tmp_path / "nest.c", source.format(*sizes), threads)
    variants = using(space, Stream, 3)
    texts = [pipeline.kernel(space.apply(variant), 64).c for variant in variants]
    assert all("polydl_stream(&y[" in text for text in texts)
    # Whoever wrote past the caches waits until that is done, before it meets the others.
    assert all(text.count("    polydl_streamed();") == 1 for text in texts)
    run(space, variants, threads, tmp_path)


@pytest.mark.native
@pytest.mark.parametrize(
    ("loops", "order"),
    [
        ("for (int i = 0; i < 40; i++) for (int j = 0; j < 40; j++)", ("j", "i")),
        ("for (int i = 0; i < 40; i++) for (int j = 0; j < 40; j += 2)", ("i", "j")),
    ],
)
def test_loops_that_leave_out_elements_write_as_usual(loops: str, order: tuple[str, ...], tmp_path: Path) -> None:
    nest = f"#pragma scop\n{loops}\n  y[i][j] = 2.0f * x[i][j];\n#pragma endscop"
    space = space_of(tmp_path / "nest.c", f"void f(float y[40][40], const float x[40][40]) {{\n{nest}\n}}\n", 1)
    run(space, [Variant((Interchange(0, order), Stream(0, ("y",))))], 1, tmp_path)


@pytest.mark.native
@parametrized(
    ("source", "sizes", "threads"),
    [(SUMS, (16, 90), 1), (SUMS, (13, 133), 2), (APART, (16, 133), 2), (APART, (13, 90), 1)],
    quick=1,
)
def test_sums_side_by_side_are_right(source: str, sizes: tuple[int, ...], threads: int, tmp_path: Path) -> None:
    space = space_of(tmp_path / "nest.c", source.format(*sizes), threads)
    run(space, using(space, Unroll, 6), threads, tmp_path)


@pytest.mark.slow
@pytest.mark.native
def test_the_order_of_sums_is_kept_where_it_must_be(tmp_path: Path) -> None:
    space = space_of(tmp_path / "nest.c", APART.format(16, 90), 1, numerics="strict")
    variants = using(space, Unroll, 10)
    assert variants
    for variant in variants:
        assert "polydl_sum" not in pipeline.kernel(space.apply(variant), 64).c
    run(space, using(space, Unroll, 4), 1, tmp_path)


def only_stream(scop: Scop) -> Callable[[int], tuple[str, ...]]:
    space = build_space(scop, [], machine_with(1, 64))
    return lambda nest: tuple(array.name for array in streamable(scop, space.nests, space.nests[nest]))


@pytest.mark.parametrize(
    ("body", "allowed"),
    [
        ("for (int i = 0; i < 90; i++) y[i] = x[i];", ("y",)),
        # It reads what it writes: the lines are fetched anyway.
        ("for (int i = 0; i < 90; i++) y[i] = 2.0f * y[i];", ()),
        ("for (int i = 0; i < 90; i++) y[i] += x[i];", ()),
        # A neighbour is read.
        ("for (int i = 1; i < 90; i++) { y[i] = x[i]; z[i] = y[i - 1]; }", ("z",)),
        # An element is written more than once.
        ("for (int i = 0; i < 30; i++) for (int j = 0; j < 30; j++) y[i + j] = x[i];", ()),
        # Somebody needs it soon.
        ("for (int i = 0; i < 90; i++) y[i] = x[i]; for (int i = 1; i < 90; i++) z[i] = y[90 - i];", ()),
    ],
)
def test_which_arrays_may_be_written_past_the_caches(body: str, allowed: tuple[str, ...], tmp_path: Path) -> None:
    source = tmp_path / "nest.c"
    source.write_text(
        f"void f(float y[90], float z[90], const float x[90]) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
    )
    assert only_stream(pipeline.parse(source))(0) == allowed


def test_other_arrays_and_loops_are_refused(tmp_path: Path) -> None:
    space = space_of(tmp_path / "nest.c", SUMS.format(16, 90), 1)
    with pytest.raises(IllegalVariantError, match="can't be written past the caches"):
        space.apply(Variant((Stream(0, ("z",)),)))
    with pytest.raises(IllegalVariantError, match="only the innermost loop"):
        space.apply(Variant((Unroll(0, "i"),)))


def test_updates_may_use_shorter_vectors(tmp_path: Path) -> None:
    loop = "for (int i = 0; i < 800; i++) x[i] = 2.0f * x[i];"
    (tmp_path / "nest.c").write_text(f"void f(float x[800]) {{\n#pragma scop\n{loop}\n#pragma endscop\n}}\n")
    space = build_space(pipeline.parse(tmp_path / "nest.c"), [], machine_with(1, 64))
    texts = [
        pipeline.kernel(space.apply(variant), 64).c for variant in generate(space, max_variants=20, seed=0).variants
    ]
    assert {text for found in texts for text in re.findall(r"simdlen\(\d+\)", found)} == {"simdlen(16)", "simdlen(8)"}


@pytest.mark.native
def test_counters_that_are_called_as_those_of_emitted_code_are(tmp_path: Path) -> None:
    """Loops that the nests share have counters such as ``polydl_c3`` where these have several names."""
    source = """void f(const float p[40][8], const float q[40][8][600], float out[40][8][600]) {
  float u[8];
#pragma scop
  for (int i = 0; i < 40; i++) {
    for (int y = 0; y < 8; y++)
      u[y] = p[i][y] * 2;
    for (int x = 0; x < 8; x++)
      for (int c3 = 0; c3 < 600; c3++)
        out[i][x][c3] = u[x] + q[i][x][c3];
  }
#pragma endscop
}
"""
    run(space_of(tmp_path / "nest.c", source, 1), [Variant((Stream(1, ("out",)),))], 1, tmp_path)


@pytest.mark.native
@parametrized("strict", [False, True], quick=1)
def test_factors_that_a_loop_leaves_alone_are_right(strict: bool, tmp_path: Path) -> None:
    loops = "for (int i = 0; i < 16; i++) for (int j = 0; j < 90; j++)"
    source = (
        "void f(float z[16], double s[90], const float A[16][90], const float x[90], const double D[16][90],\n"
        "       const double r[16], float a, double b) {\n#pragma scop\n"
        f"{loops} z[i] += a * A[i][j] * x[j];\n{loops} s[j] = s[j] - b * D[i][j] * r[i];\n#pragma endscop\n}}\n"
    )
    space = space_of(tmp_path / "nest.c", source, 1, numerics="strict" if strict else DEFAULT_NUMERICS)
    run(space, list(generate(space, max_variants=60, seed=1).variants)[:6], 1, tmp_path)


@pytest.mark.native
def test_a_loop_streams_nothing_that_it_does_not_walk_along(tmp_path: Path) -> None:
    """What a later statement reads is left in variables, of elements that lie a row apart in the vector loop."""
    source = """
void f(float a[17][16][16], float b[4352]) {
#pragma scop
  for (int i = 0; i < 17; i++) for (int j = 0; j < 16; j++) for (int l = 0; l < 16; l++) a[i][j][l] = 1;
  for (int i = 0; i < 17; i++) for (int j = 0; j < 16; j++) for (int l = 0; l < 16; l++)
    b[256 * i + 16 * j + l] = a[i][j][l];
#pragma endscop
}
"""
    fused = Fuse(("S0", "S1"), (("i", "j", "l"),) * 2, (0, 0), 2)
    variant = Variant((fused, Unroll(0, "l"), Stream(0, ("a", "b"))))
    scop, machine = parse(tmp_path, source), detected(threads=1)
    kernel = pipeline.kernel(pipeline.apply(scop, variant, machine=machine, numerics="fast"), machine.vector_bytes)
    assert "polydl_stream(&" not in kernel.c
    check_kernels(tmp_path, scop, [kernel], threads=1)
