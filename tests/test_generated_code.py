"""Generated variants of real C nests: compiled, run in children, and compared with the original."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from computed import parse
from emitted_text import emitted_text
from generated_nests import NESTS
from golden_code import Case, generated
from machines import detected, machine_with
from marks import parametrized

from polydl import pipeline
from polydl.codegen.original import original
from polydl.execute.contract import TimingPolicy
from polydl.execute.local import EXECUTOR
from polydl.execute.toolchain import Toolchain
from polydl.ir.scop import Scop
from polydl.ir.variant import Tile, Variant
from polydl.machine import Machine


@pytest.fixture(scope="module")
def toolchain() -> Toolchain:
    return Toolchain.find("gcc")


def run(scop: Scop, directory: Path, toolchain: Toolchain, threads: int, microkernel: str, count: int) -> list[str]:
    machine = detected(threads=threads)
    variants = pipeline.generate_variants(scop, machine=machine, max_variants=count, seed=5, microkernel=microkernel)
    assert variants
    space = pipeline.space_on(scop, machine, microkernel=microkernel)
    kernels = [pipeline.kernel(space.apply(variant), machine.vector_bytes) for variant in variants]
    built = EXECUTOR.build([original(scop), *kernels], toolchain, directory)
    policy = TimingPolicy(rounds=1, minimum_sample_seconds=1e-4, budget_seconds=5.0, timeout_seconds=20.0)
    measured = EXECUTOR.measure(built[1:], built[0], scop, threads=threads, policy=policy)
    for measurement in measured:
        assert measurement.status == "ok", measurement.message
    assert len(measured) == len(variants) + 1
    return [kernel.c for kernel in kernels]


@pytest.mark.native
@parametrized("name", NESTS, quick=1)
def test_every_variant_computes_what_the_source_does(name: str, tmp_path: Path, toolchain: Toolchain) -> None:
    defines = {"n": 24} if "linear" in name else {}
    scop = parse(tmp_path, NESTS[name], **defines)
    run(scop, tmp_path, toolchain, 2, "auto", 6)


@pytest.mark.slow
@pytest.mark.native
@pytest.mark.parametrize("microkernel", ["c", "libxsmm"])
@pytest.mark.parametrize("name", ["convolution that skips rows of padding", "triangle of blocks"])
def test_loops_that_bound_each_other_stay_outside_of_calls(
    name: str, microkernel: str, tmp_path: Path, toolchain: Toolchain
) -> None:
    scop = parse(tmp_path, NESTS[name])
    space = pipeline.space_on(scop, detected(threads=2), microkernel=microkernel)
    assert space.reports[-1].kernel == microkernel
    # With the pass of zeros attached, too, where sums begin elsewhere for each row.
    assert bool(space.alternatives) == name.startswith("convolution")
    run(scop, tmp_path, toolchain, 2, microkernel, 24)


@pytest.mark.native
@parametrized("name", ["product with initialisation", "strided and dilated convolution"], quick=1)
@parametrized("microkernel", ["c", "none"], quick=1)
def test_other_inner_loops_compute_the_same(name: str, microkernel: str, tmp_path: Path, toolchain: Toolchain) -> None:
    run(parse(tmp_path, NESTS[name]), tmp_path, toolchain, 1, microkernel, 4)


@pytest.mark.native
@parametrized("name", NESTS, quick=4)
@parametrized("compiler", ["gcc", "clang"], quick=1)
def test_emitted_c_compiles_without_warnings(name: str, compiler: str, tmp_path: Path) -> None:
    scop = parse(tmp_path, NESTS[name], **({"n": 24} if "linear" in name else {}))
    machine = detected(threads=2)
    space = pipeline.space_on(scop, machine)
    (variant,) = pipeline.generate_variants(scop, machine=machine, max_variants=1)
    path = tmp_path / "emitted.c"
    path.write_text(pipeline.kernel(space.apply(variant), machine.vector_bytes).c)
    flags = ["-O3", "-march=native", "-fopenmp", "-Wall", "-Wextra", "-Werror", "-c", "-o", str(tmp_path / "e.o")]
    done = subprocess.run([compiler, *flags, str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.native
@parametrized(
    "file",
    ["helper_functions/c-first-last", "conv_relu/c-winograd-first-after-prepared", "conv_relu/c-amx-first-last-inner"],
    quick=1,
)
@parametrized("compiler", ["gcc", "clang"], quick=1)
def test_functions_that_do_without_some_of_what_they_get_compile_without_warnings(
    file: str, compiler: str, tmp_path: Path
) -> None:
    path = Path(__file__).with_name("golden").joinpath(f"{file}.json")
    steps = json.loads(path.read_text(encoding="utf-8"))
    source = tmp_path / "emitted.c"
    source.write_text(generated(Case.from_json(path.with_name("nest.c"), steps)).c)
    flags = ["-O1", "-march=native", "-fopenmp", "-Wall", "-Wextra", "-Werror", "-c", "-o", str(tmp_path / "e.o")]
    done = subprocess.run([compiler, *flags, str(source)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.native
def test_a_marked_call_is_put_back_inside_moved_loops(tmp_path: Path, toolchain: Toolchain) -> None:
    codes = run(parse(tmp_path, NESTS["marked calls"]), tmp_path, toolchain, 2, "auto", 12)
    assert all(emitted_text(code).tuned.count("product(&A") == 1 for code in codes)
    assert len({code.partition("#pragma omp")[2] for code in codes}) > 1


def test_a_conversion_is_no_part_of_a_matrix_product(tmp_path: Path) -> None:
    source = """
void f(float out[30][25], float a[30][20], float b[20][25], long sums[30][25], unsigned c[30][20], unsigned d[20][25]) {
#pragma scop
  for (int i = 0; i < 30; i++)
    for (int j = 0; j < 25; j++)
      for (int k = 0; k < 20; k++)
        out[i][j] += (int)a[i][k] * b[k][j];
  for (int i = 0; i < 30; i++)
    for (int j = 0; j < 25; j++)
      for (int k = 0; k < 20; k++)
        sums[i][j] += c[i][k] * d[k][j];
#pragma endscop
}
"""
    space = pipeline.space_on(parse(tmp_path, source), machine_with(1, 64))
    assert [report.kernel for report in space.reports] == [None, None]
    assert all(report.reason for report in space.reports)


def test_minor_nests_keep_strict_sums_legal(tmp_path: Path) -> None:
    source = """
void f(float y[100][100], float big[100][100], float x[4][4], float C[4][4], float A[4][4], float B[4][4]) {
#pragma scop
  for (int k = 3; k >= 0; k--)
    for (int i = 0; i < 4; i++)
      for (int j = 0; j < 4; j++)
        C[i][j] += A[i][k] * B[k][j];
  for (int t = 0; t < 40; t++)
    for (int i = 0; i < 100; i++)
      for (int j = 0; j < 100; j++)
        y[i][j] += big[i][j];
#pragma endscop
}
"""

    scop = parse(tmp_path, source)
    machine = Machine.detect(threads=1)
    space = pipeline.space_on(scop, machine, numerics="strict")
    variants = pipeline.generate_variants(scop, machine=machine, max_variants=20, numerics="strict")
    assert variants
    for variant in variants:
        assert space.apply(variant).violations == ()


def test_a_marked_call_finds_its_scalar(tmp_path: Path) -> None:
    source = """
void dot(float *s, const float *a, const float *b);
void f(float C[8][8], float A[8][16], float B[8][16]) {
  float s;
#pragma scop
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 8; j++) {
      s = 0;
#pragma polydl microkernel(for (int k = 0; k < 16; ++k) s += A[i][k] * B[j][k];)
      dot(&s, A[i], B[j]);
      C[i][j] = s;
    }
#pragma endscop
}
"""
    scop = parse(tmp_path, source)
    assert "s" in [array.name for array in scop.arrays]
    assert any(access.array == "s" for statement in scop.statements for access in statement.writes)


def test_a_marked_call_finds_its_counters(tmp_path: Path) -> None:
    source = """
void product(float *c, const float *a, const float *b);
void f(float C[8][6], float A[8][16], float B[6][16]) {
#pragma scop
  for (int i = 7; i >= 0; i--)
    for (int j = 0; j < 6; j++) {
#pragma polydl microkernel(for (int k = 0; k < 16; ++k) C[i][j] += A[i][k] * B[j][k];)
      product(&C[i][j], A[i], B[j]);
    }
#pragma endscop
}
"""
    machine = machine_with(1, 32)
    space = pipeline.space_on(parse(tmp_path, source), machine)
    text = emitted_text(pipeline.kernel(space.apply(Variant(())), machine.vector_bytes).c).tuned
    call = [line.strip() for line in text.splitlines() if not line.strip().startswith("for ")]
    # The loop counts upwards from -7; what it is called in the source has the value that it has there.
    assert "const int polydl_i_here = -i;" in call
    start = call.index("const int polydl_i_here = -i;")
    assert call[start - 1 : start + 6] == [
        "{",
        "const int polydl_i_here = -i;",
        "{",
        "const int i = polydl_i_here;",
        "product(&C[i][j], A[i], B[j]);",
        "}",
        "}",
    ]


MARKED = """
static void row(const float *t, float *c) { for (int k = 0; k < 16; ++k) c[0] += t[k] * t[k]; }
void f(const float a[40][4][16], float c[40][4]) {
  float t[4][16];
#pragma scop
  for (int i = 0; i < 40; i++) {
    for (int j = 0; j < 4; j++)
      for (int k = 0; k < 16; k++)
        t[j][k] = a[i][j][k] * 2;
    for (int c3 = 0; c3 < 4; c3++) {
#pragma polydl microkernel(for (int k = 0; k < 16; ++k) c[i][c3] += t[c3][k] * t[c3][k];)
      row(t[c3], &c[i][c3]);
    }
  }
#pragma endscop
}
"""
KEPT = """
void f(const float A[64][64], const float b[64], const float x[64], float y[64]) {
  float w[64];
#pragma scop
  for (int t = 0; t < 3; t++) {
    for (int i = 0; i < 64; i++)
      w[i] = b[i] * y[i];
    for (int i = 0; i < 64; i++)
      for (int j = 0; j < 64; j++)
        y[i] += w[i] * A[i][j] * x[j];
  }
#pragma endscop
}
"""
HIDDEN = """
static __attribute__((noinline)) inline /* not for others */ void f(float y[64], const float x[64]) {
#pragma scop
  for (int i = 0; i < 64; i++)
    y[i] += 2 * x[i];
#pragma endscop
}
"""


@pytest.mark.native
@pytest.mark.parametrize("source", [MARKED, KEPT, HIDDEN], ids=["marked", "kept", "hidden"])
def test_the_nest_in_its_own_order_is_the_source(source: str, tmp_path: Path, toolchain: Toolchain) -> None:
    """Counters called as emitted ones are, arrays of the region's own, and specifiers."""
    scop = parse(tmp_path, source)
    machine = detected(threads=1)
    kernel = pipeline.kernel(pipeline.space_on(scop, machine).apply(Variant(())), machine.vector_bytes)
    built = EXECUTOR.build([original(scop), kernel], toolchain, tmp_path)
    policy = TimingPolicy(rounds=1, minimum_sample_seconds=1e-4, budget_seconds=5.0, timeout_seconds=20.0)
    measured = EXECUTOR.measure(built[1:], built[0], scop, threads=1, policy=policy)
    assert [each.message for each in measured if each.status != "ok"] == []


@pytest.mark.native
def test_a_fixed_size_falls_back_to_the_original_for_others(tmp_path: Path, toolchain: Toolchain) -> None:
    scop = parse(tmp_path, NESTS["global arrays and a linear subscript"], n=24)
    (code, *_) = run(scop, tmp_path, toolchain, 1, "auto", 1)
    assert "if (n == 24)" in code
    assert "} else {" in code


def test_products_are_found_through_sums_in_scalars_and_initialisations(tmp_path: Path) -> None:
    machine = Machine.detect(threads=1)
    for name in ("product with initialisation", "product summed in a local scalar"):
        scop = parse(tmp_path, NESTS[name])
        space = pipeline.space_on(scop, machine, microkernel="c")
        assert "c" in [report.kernel for report in space.reports], name


def test_the_same_seed_gives_the_same_variants(tmp_path: Path) -> None:
    scop = parse(tmp_path, NESTS["strided and dilated convolution"])
    machine = detected(threads=2)
    first = pipeline.generate(pipeline.space_on(scop, machine), max_variants=40, seed=9)
    assert pipeline.generate(pipeline.space_on(scop, machine), max_variants=40, seed=9) == first
    other = pipeline.generate(pipeline.space_on(scop, machine), max_variants=40, seed=10)
    assert {v.id for v in other.variants} != {v.id for v in first.variants}
    assert len({v.id for v in first.variants}) == len(first.variants) == 40


def test_sizes_that_a_tile_does_not_divide_are_tiled_too(tmp_path: Path) -> None:
    scop = parse(tmp_path, NESTS["product with initialisation"])
    variants = pipeline.generate_variants(scop, machine=Machine.detect(threads=1), max_variants=200)
    extents = {"i": 50, "j": 37, "k": 41}
    uneven = [s for v in variants for s in v.steps if isinstance(s, Tile) and extents[s.loop] % s.sizes[-1]]
    assert uneven


@pytest.mark.parametrize(
    "name", ["sweep that depends on its neighbours", "triangular solve, backwards", "stencil in time"]
)
def test_every_generated_variant_is_proved_legal(name: str, tmp_path: Path) -> None:
    space = pipeline.space_on(parse(tmp_path, NESTS[name]), machine_with(2, 64))
    variants = pipeline.generate(space, max_variants=25).variants
    assert len(variants) >= 2
    for variant in variants:
        assert space.apply(variant).violations == (), variant.to_json()


def test_strict_floating_point_leaves_sums_in_order(tmp_path: Path) -> None:
    scop = parse(tmp_path, NESTS["product with initialisation"])
    strict = pipeline.space_on(scop, machine_with(2, 64), numerics="strict")
    variants = pipeline.generate(strict, max_variants=20).variants
    assert variants
    for variant in variants:
        assert strict.apply(variant).violations == ()
