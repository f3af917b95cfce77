"""What kernels are compared with: a build of the original that reorders nothing, on two sets of data."""

from __future__ import annotations

import ctypes
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from computed import parse
from execute_nests import array, kernel, matmul, matmul_kernel, scop, statement
from marks import parametrized
from scripted_times import scripted

from polydl.codegen.original import original
from polydl.execute import checking
from polydl.execute.arrays import Data
from polydl.execute.contract import TimingPolicy
from polydl.execute.expected import ONCE, ONCE_GIVEN
from polydl.execute.job import job_of
from polydl.execute.local import EXECUTOR
from polydl.execute.ranges import drawn_integers, shifted_by
from polydl.execute.toolchain import Toolchain
from polydl.frontend.data import with_inputs
from polydl.ir.kernel import KernelSource
from polydl.ir.measurement import Measurement
from polydl.ir.scop import Scop

QUICK = TimingPolicy(rounds=2, minimum_sample_seconds=1e-3, budget_seconds=2.0, timeout_seconds=60.0)
KEEPS = matmul_kernel(
    "keeps",
    head="#include <string.h>\nstatic float kept[24][16];\nstatic int full;",
    before="if (!full) memcpy(kept, A, sizeof kept); full = 1;",
    loops="for (int i = 0; i < 24; i++) for (int j = 0; j < 20; j++) for (int k = 0; k < 16; k++)\n"
    "C[i][j] += kept[i][k] * B[k][j];",
)
ROOT = Path(__file__).parents[1]


def measure(
    nest: Scop, kernels: list[KernelSource], directory: Path, policy: TimingPolicy = QUICK
) -> tuple[Measurement, ...]:
    built = EXECUTOR.build(kernels, Toolchain.find("gcc"), directory)
    return EXECUTOR.measure(built[1:], built[0], nest, threads=1, policy=policy, seed=1)


def test_the_reference_is_compiled_without_what_reorders() -> None:
    toolchain = Toolchain(Path("/usr/bin/gcc"), "gcc", "12.2.0", ("-O3", "-march=native", "-fopenmp"))
    ordered = "-O2 -fno-tree-vectorize -fno-tree-slp-vectorize -fno-strict-aliasing -ffp-contract=off"
    assert toolchain.in_order.flags == (*ordered.split(), "-fno-ivopts", "-march=native")
    assert toolchain.in_order.openmp_flags == ("-fopenmp",)
    assert toolchain.cautious.flags == ("-O2", "-march=native", "-fopenmp")
    assert toolchain.name == "gcc 12.2.0 -O3 -march=native -fopenmp"


@pytest.mark.native
def test_where_the_compiler_gets_the_original_wrong_right_candidates_pass(tmp_path: Path) -> None:
    """The builds with OpenMP stand for a compiler that miscompiles with its flags for speed."""
    wrong = matmul_kernel("original", after="\n#ifdef _OPENMP\nC[1][2] += 1.0f;\n#endif\n")
    first, right, other = measure(matmul(), [wrong, matmul_kernel("right"), replaced(wrong, "wrong")], tmp_path)
    assert (first.status, right.status, other.status) == ("ok", "ok", "wrong")
    assert "-O3 -march=native -fopenmp miscompiles the original nest: `C[1][2]`" in first.message
    assert "-O2 -march=native -fopenmp miscompiles" in first.message
    assert "it was timed as gcc" in first.message
    assert "-O2 -fno-tree-vectorize -fno-tree-slp-vectorize -fno-strict-aliasing -ffp-contract=off" in first.message
    assert "miscompiles" not in right.message


@pytest.mark.native
def test_a_reference_is_linked_with_openmp_and_runs_on_one_thread(tmp_path: Path) -> None:
    source = """
    #include <omp.h>
    void f(float a[8]) {
      double begin = omp_get_wtime();
    #pragma omp parallel
      for (int i = 0; i < 8; ++i)
        a[i] = (float)(omp_get_wtime() < begin) + (float)omp_in_parallel();
    #ifdef _OPENMP
      a[0] = 7;
    #endif
    }
    """
    scop = parse(tmp_path, "void f(float a[8])\n{\n  for (int i = 0; i < 8; ++i)\n    a[i] = 0;\n}\n")
    kernel = replace(original(scop), c=source)
    (built,) = EXECUTOR.build([kernel], Toolchain.find("gcc").in_order, tmp_path)
    assert built.library is not None, built.message
    values = np.full(8, 5, np.float32)
    ctypes.CDLL(str(built.library)).f(ctypes.c_void_p(values.ctypes.data))
    assert not values.any()


def replaced(source: KernelSource, name: str) -> KernelSource:
    return replace(source, id=name)


@pytest.mark.native
def test_a_nest_that_gcc_12_miscompiles(tmp_path: Path) -> None:
    """At -O3 gcc 12.2 vectorizes the outer loop, which carries a dependence."""
    text = """\
void kern(double E[23][8], double F[22][8])
{
#pragma scop
  for (int i = 0; i < 22; i++) {
    for (int j = 1; j < 8; j++) {
      E[i + 1][j] = 0.5 * E[i][j - 1] + F[i][j];
    }
  }
#pragma endscop
}
"""
    nest = parse(tmp_path, text)
    careful = replaced(original(nest), "careful")
    careful = replace(careful, c=f'#pragma GCC optimize("O1")\n{careful.c}')
    measured = measure(nest, [original(nest), careful], tmp_path)
    assert [each.status for each in measured] == ["ok", "ok"], [each.message for each in measured]


@pytest.mark.native
def test_an_operand_that_is_kept_from_an_earlier_call_is_found_out(tmp_path: Path) -> None:
    _, result = measure(matmul(), [matmul_kernel("original"), KEEPS], tmp_path)
    assert result.status == "wrong"
    assert "norm-wise error" in result.message


def rows_nest(rows: int, columns: int) -> tuple[Scop, str]:
    """Sums along rows, and their C with ``%s`` for what is done before and for the operand."""
    nest = scop(
        "rows",
        [array("y", "float", rows), array("A", "float", rows, columns)],
        [statement("S0", "ij", (rows, columns), [("read", "y", "i"), ("write", "y", "i"), ("read", "A", "i, j")])],
    )
    c = f"""
#include <string.h>
void rows(float y[{rows}], const float A[{rows}][{columns}]) {{
  %s
  for (int i = 0; i < {rows}; i++)
    for (int j = 0; j < {columns}; j++)
      y[i] += %s;
}}
"""
    return nest, c


@pytest.mark.native
@pytest.mark.parametrize("memory", ["each its own", "shared", "scarce"])
def test_the_last_part_of_an_operand_that_is_kept_is_found_out(
    memory: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of more elements than are drawn at once, of which other tests keep the first ones."""
    rows, columns = 1030, 1024
    nest, c = rows_nest(rows, columns)
    if memory != "each its own":
        monkeypatch.setattr("polydl.execute.job._SHARED_BYTES", 0)
    if memory == "scarce":
        # The arrays and what a process needs beside them, but not the arrays twice.
        monkeypatch.setattr("polydl.execute.local.available_bytes", lambda: 79 << 20)
    kernels = [kernel(nest, "original", c % ("", "A[i][j]"))]
    for row in (rows - 1, rows // 2):
        keep = f"static float kept[{columns}]; static int full;\n"
        keep += f"  if (!full) memcpy(kept, A[{row}], sizeof kept); full = 1;"
        kernels.append(kernel(nest, f"keeps {row}", c % (keep, f"i == {row} ? kept[j] : A[i][j]")))
    kernels.append(kernel(nest, "keeps nothing", c % ("", "A[i][j]")))
    first, *keeping, same = measure(nest, kernels, tmp_path)
    assert (first.status, same.status) == ("ok", "ok")
    assert not any(once in same.message for once in (ONCE, ONCE_GIVEN))
    for result, row in zip(keeping, (rows - 1, rows // 2), strict=True):
        assert result.status == "wrong"
        assert f"`y[{row}]`" in result.message


@pytest.mark.native
@pytest.mark.parametrize("reference", ["that reorders nothing", "the original itself"])
def test_with_shared_inputs_that_are_positive_all_are_right(
    reference: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("polydl.execute.job._SHARED_BYTES", 0)
    nest, c = rows_nest(40, 30)
    c = "#include <math.h>\n" + c % ("#ifndef _OPENMP\n%s\n#endif", "sqrtf(A[i][j])")
    refused = "#error needs OpenMP" if reference == "the original itself" else ""
    kernels = [kernel(nest, each, c % refused, link_flags=("-lm",)) for each in ("original", "same")]
    first, same = measure(nest, kernels, tmp_path)
    assert (first.status, same.status) == ("ok", "ok"), (first.message, same.message)
    assert ("can't be compiled" in first.message) == bool(refused)


@pytest.mark.native
def test_an_operand_that_is_kept_is_found_out_on_data_of_a_file(tmp_path: Path) -> None:
    generator, inputs = np.random.default_rng(0), tmp_path / "inputs.npz"
    np.savez(inputs, A=generator.random((24, 16), np.float32), B=generator.random((16, 20), np.float32))
    nest = with_inputs(matmul(), inputs)
    _, result, same = measure(nest, [matmul_kernel("original"), KEEPS, matmul_kernel("same")], tmp_path)
    assert (result.status, same.status) == ("wrong", "ok")
    assert ONCE_GIVEN not in same.message


@pytest.mark.native
def test_of_kernels_that_take_long_the_one_that_leads_is_checked_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checking, "LONG_SECONDS", 0.0)
    slow, slower = (
        matmul_kernel(f"{turns} turns", before=f"for (volatile int turn = 0; turn < {turns}; turn++) ;\n")
        for turns in (200_000, 2_000_000)
    )
    scripted(monkeypatch, {"original": 4e-3, "keeps": 5e-4, slow.id: 1e-3, slower.id: 2e-3}.__getitem__)
    _, wrong, leader, other = measure(matmul(), [matmul_kernel("original"), KEEPS, slow, slower], tmp_path)
    assert wrong.status == "wrong"
    assert (leader.status, other.status) == ("ok", "ok")
    assert ONCE not in leader.message
    assert ONCE in other.message


@pytest.mark.slow
@pytest.mark.native
def test_a_slow_reference_is_run_once_and_a_hanging_one_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checking, "_SECOND_REFERENCE_SECONDS", 0.0)
    _, once = measure(matmul(), [matmul_kernel("original"), matmul_kernel("same")], tmp_path)
    assert once.status == "ok"
    assert once.message.startswith(ONCE)
    hangs = matmul_kernel("original", before="\n#ifndef _OPENMP\nfor (volatile int i = 0;; i++) ;\n#endif\n")
    policy = TimingPolicy(rounds=2, minimum_sample_seconds=1e-3, budget_seconds=2.0, timeout_seconds=4.0)
    first, same = measure(matmul(), [hangs, matmul_kernel("same")], tmp_path / "hangs", policy)
    assert (first.status, same.status) == ("ok", "ok")
    assert "did not end in time: the original itself is the reference" in first.message


@pytest.mark.native
@parametrized(
    ("term", "status"),
    [
        ("a[i][k] * b[k]", "ok"),
        ("(short)(a[i][k] * b[k])", "ok"),  # which holds each product
        ("(a[i][k] * b[k] > 32385 ? 32385 : a[i][k] * b[k] < -32640 ? -32640 : a[i][k] * b[k])", "ok"),
        ("(a[i][k] * b[k] > 30000 ? 30000 : a[i][k] * b[k])", "wrong"),
        ("a[i][k] * (signed char)b[k]", "wrong"),
        ("(a[i][k] == -128 ? -127 : a[i][k]) * b[k]", "wrong"),
    ],
    quick=3,
)
def test_saturation_and_signs_are_seen(tmp_path: Path, term: str, status: str) -> None:
    nest = scop(
        "dot",
        [array("c", "int", 8), array("a", "signed char", 8, 30), array("b", "unsigned char", 30)],
        [
            statement(
                "S0",
                "ik",
                (8, 30),
                [("read", "c", "i"), ("write", "c", "i"), ("read", "a", "i, k"), ("read", "b", "k")],
            )
        ],
    )
    text = """void dot(int c[8], signed char a[8][30], unsigned char b[30]) {
      for (int i = 0; i < 8; i++) for (int k = 0; k < 30; k++) c[i] += %s; }"""
    kernels = [kernel(nest, "original", text % "a[i][k] * b[k]"), kernel(nest, "other", text % term)]
    assert [result.status for result in measure(nest, kernels, tmp_path)] == ["ok", status]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "uint32", "int64"])
def test_integers_have_extremes_among_them(dtype: str) -> None:
    limits = np.iinfo(dtype)
    ((_, values),) = Data(3, signed=True).chunks(0, np.dtype(dtype), 4000)
    assert np.count_nonzero(values == limits.min) > 100
    assert np.count_nonzero(values == limits.max) > 100
    middle = int(limits.min) + (int(limits.max) - int(limits.min)) // 2
    assert 0.3 < np.mean(values > middle) < 0.7


def test_all_of_an_array_changes_from_turn_to_turn() -> None:
    elements = (1 << 20) + 7
    first, second = (
        np.concatenate([part for _, part in Data(3, True, turn=turn).chunks(1, np.dtype(np.float32), elements)])
        for turn in (0, 1)
    )
    differing = np.flatnonzero(first != second)
    assert differing.size > 0.999 * elements
    assert np.max(np.diff(differing)) < 8
    assert differing[-1] >= (1 << 20)


def integers_of(directory: Path, statement: str, element: str = "int", read: str = "int") -> str:
    loop = f"void f({element} c[9], const {read} a[9]) {{\n#pragma scop\nfor (int i = 0; i < 9; i++)\n"
    head = "#include <math.h>\n#include <stdint.h>\nenum side { LEFT };\n"
    return drawn_integers(parse(directory, f"{head}{loop}{statement};\n#pragma endscop\n}}\n"))


def test_where_integers_are_divided_they_are_small(tmp_path: Path) -> None:
    assert integers_of(tmp_path, "c[i] /= a[i]") == "small"
    assert integers_of(tmp_path, "c[i] += a[i] << 2") == "small"
    assert integers_of(tmp_path, "c[i] += 3 * a[i]") == "whole"


def test_numbers_that_others_are_shifted_by_are_not_negative(tmp_path: Path) -> None:
    text = """
    void f(int c[9][9], const int a[9][9], const int s[9], const int t[9], int u, short v[9], const int w[9]) {
      int k[9], l[9];
    #pragma scop
      for (int i = 0; i < 9; i++)
        for (int j = 0; j < 9; j++) {
          int many = t[i] + 2;
          k[i] = j + w[i];
          l[i] = k[i] + 1;
          c[i][j] = ((a[i][j] + (1 << (s[j] - 1))) >> s[j]) + (a[j][i] << many) + (a[j][j] >> l[i]);
          c[i][j] >>= u;
          v[j] <<= 2;
        }
    #pragma endscop
    }
    """
    nest = parse(tmp_path, text)
    assert shifted_by(nest) == {"s", "t", "u", "l", "k", "w"}
    data = job_of(nest, (0,), 3, TimingPolicy(), tmp_path).data
    assert {nest.arrays[stream].name for stream in data.shifting} == shifted_by(nest) - {"k", "l"}
    (_, others), (_, counts) = (next(data.chunks(stream, np.dtype(np.int32), 4000)) for stream in (1, 2))
    assert set(counts) == set(range(1, 9))
    assert set(others) == {*range(-8, 0), *range(1, 9)}


@pytest.mark.native
def test_no_compiler_is_blamed_for_shifts_by_elements(tmp_path: Path) -> None:
    text = """void f(const int A[64], const int S[64], int B[64])
    {
    #pragma scop
      for (int i = 0; i < 64; ++i)
        B[i] = A[i] << S[i];
    #pragma endscop
    }
    """
    nest = parse(tmp_path, text)
    (result,) = measure(nest, [original(nest)], tmp_path)
    assert result.status == "ok"
    assert "miscompiles" not in result.message


@pytest.mark.parametrize(
    ("value", "element", "integers"),
    [
        ("a[i]", "unsigned char", "small"),
        ("fminf(fmaxf(rintf(a[i]), 0.0f), 255.0f)", "unsigned char", "bytes"),
        ("a[i] < 0 ? 0 : a[i] > 255.0f ? 255.0f : a[i]", "unsigned char", "bytes"),
        ("a[i] >= 127.0f ? 127.0f : fmaxf(a[i], -128.0f)", "signed char", "bytes"),
        ("-128.0f < a[i] ? fminf(127.0f, a[i]) : -128.0f", "signed char", "bytes"),
        ("a[i] < 0 ? 0 : a[i] > 255.0f ? 255 : (uint8_t)a[i]", "uint8_t", "bytes"),
        ("a[i] < 0 ? 0 : a[i] > 255.0f ? 255 : (int8_t)a[i]", "uint8_t", "small"),
        ("a[i] < 0 ? (uint8_t)a[i] : a[i] > 255.0f ? 255 : a[i]", "uint8_t", "small"),
        ("fminf(fmaxf((enum side)a[i], 0.0f), 255.0f)", "unsigned char", "small"),
        ("fminf(fmaxf(a[i], 0.0f), 255.0f)", "signed char", "small"),
        ("fminf(fmaxf(a[i], -1.0f), 255.0f)", "unsigned char", "small"),
        ("a[i] > 0 ? 0 : a[i] > 255.0f ? 255.0f : a[i]", "unsigned char", "small"),
        ("fmaxf(a[i], 0.0f)", "unsigned char", "small"),
        ("a[i] < 0 ? 0 : a[8 - i] > 255.0f ? 255.0f : a[i]", "unsigned char", "small"),
        ("(unsigned char)a[i] > 200 ? 200 : fmaxf(a[i], 0.0f)", "unsigned char", "small"),
        ("a[i] > 0 ? (float)(signed char)200 : 0.0f", "unsigned char", "small"),
        ("fminf(fmaxf((float)(short)a[i], 0.0f), 255.0f)", "unsigned char", "small"),
        ("fminf(fmaxf(a[i], -2147483648.0f), 2147483647.0f)", "int", "small"),
        ("fminf(fmaxf(a[i], -1u), 255.0f)", "unsigned char", "small"),
    ],
)
def test_bytes_are_whole_where_what_becomes_one_is_clamped(
    tmp_path: Path, value: str, element: str, integers: str
) -> None:
    assert integers_of(tmp_path, f"c[i] = {value}", element, "float") == integers


@pytest.mark.native
def test_sums_that_saturate_are_seen_behind_scales_and_rounding(tmp_path: Path) -> None:
    """As a product of bytes adds them that has sixteen bits for two products."""
    text = (ROOT / "examples" / "linear_quantized.c").read_text().replace("M = 128, N = 768", "M = 9, N = 40")
    nest = parse(tmp_path, text)
    pairs = """for (int k = 0; k < K; k += 2) {
        int pair = A[i][k] * B[k][j] + A[i][k + 1] * B[k + 1][j];
        pair = pair > 32767 ? 32767 : pair < -32768 ? -32768 : pair;
        sum += pair - zero * (B[k][j] + B[k + 1][j]);
      }"""
    begin, end = text.index("for (int k"), text.index("float y")
    kernels = [kernel(nest, "original", text), kernel(nest, "other", f"{text[:begin]}{pairs}{text[end:]}")]
    assert [result.status for result in measure(nest, kernels, tmp_path)] == ["ok", "wrong"]


@pytest.mark.native
def test_a_result_of_nothing_but_rounding_errors_is_said_to_be_that(tmp_path: Path) -> None:
    """The logistic map doubles an error in each step."""
    text = """void chaos(float x[16]) {
      for (int t = 0; t < 60; ++t)
        for (int i = 0; i < 16; ++i)
          x[i] = 4.0f * x[i] * (1.0f - x[i]);
    }
    """
    nest = parse(tmp_path, text)
    plain = original(nest)
    reordered = plain.c.replace("4.0f * x[i] * (1.0f - x[i])", "4.0f * (x[i] - x[i] * x[i])")
    first, measured = measure(nest, [plain, replaced(replace(plain, c=reordered), "other")], tmp_path)
    assert first.status == "ok"
    assert measured.status == "wrong"
    assert "no other order of its operations can be told right from wrong" in measured.message
