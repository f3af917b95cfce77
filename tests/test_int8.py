"""Products of bytes in groups of four: the microkernel against its reference, and nests that it is found for."""

from __future__ import annotations

import ctypes
import itertools
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from marks import marked, parametrized

from polydl import pipeline, registry
from polydl.codegen.original import original
from polydl.contracts import CallArguments, GemmShape, GemmSite
from polydl.execute.contract import TimingPolicy
from polydl.execute.toolchain import Toolchain
from polydl.machine import Machine
from polydl.match.product import NoMatch, match
from polydl.microkernels.int8 import INT8
from polydl.microkernels.libxsmm_groups import LIBXSMM_INT8

TYPES = {"unsigned char": np.uint8, "signed char": np.int8}


def site(**changes: object) -> GemmSite:
    """A[batch][m][4] by B[n][batch][4]."""
    plain = GemmSite(
        prefix="site",
        element="signed char",
        element_b="unsigned char",
        accumulator="int",
        m=(32, 32),
        n=(7, 7),
        k=(4, 4),
        batch=(3, 3),
        lda=1,
        stride_am=4,
        ldc=32,
        stride_bn=12,
        stride_bk=1,
        offsets_a=(0, 128, 256),
        offsets_b=(0, 4, 8),
    )
    return replace(plain, **changes)  # type: ignore[arg-type]


SITES = [
    site(),
    site(element="unsigned char", element_b="signed char"),
    site(m=(64, 37), n=(13, 1), ldc=70, offsets_a=(0, 256, 512), overwrites=True),
    site(m=(16, 16), n=(30, 5), batch=(3, 2), ldc=16, offsets_a=(0, 64, 999)),
    site(m=(19, 19), n=(3, 3), ldc=19, rows_b=(0, 50, 9), rows_c=(0, 60, 200), overwrites=True),
]


def program(vector_bytes: int) -> str:
    parts = []
    for number, case in enumerate(SITES):
        named = replace(case, prefix=f"case{number}")
        parts.append(INT8.emit(named, vector_bytes).definitions)
        call = INT8.call(named, CallArguments("a", "b", "c", "last_m", "last_n", "last_k", "count", "first"))
        parameters = f"const {case.element} *a, const {case.type_b} *b, int *c"
        parts.append(
            f"void run{number}({parameters}, int last_m, int last_n, int last_k, long count, int first) {{ {call} }}"
        )
    return "\n".join(parts) + "\n"


def expected(
    case: GemmSite, last: tuple[int, int, int], count: int, a: np.ndarray, b: np.ndarray, c: np.ndarray
) -> None:
    for q, r, j, i in itertools.product(range(case.rows), range(count), range(case.n[last[1]]), range(case.m[last[0]])):
        left = a[case.offsets_a[r] + 4 * i :][:4].astype(np.int64)
        right = b[case.rows_b[q] + case.offsets_b[r] + j * case.stride_bn :][:4].astype(np.int64)
        c[case.rows_c[q] + i + j * case.ldc] += left @ right


@pytest.mark.native
@parametrized(
    ("compiler", "flags", "vector_bytes"),
    [
        ("gcc", ("-march=native",), 64),
        ("gcc", ("-march=native",), 32),
        ("gcc", (), 16),
        ("gcc", ("-mavx2",), 32),
        ("clang", ("-march=native",), 64),
    ],
    quick=2,
)
def test_sums_are_exact_on_full_and_last_tiles(
    compiler: str, flags: tuple[str, ...], vector_bytes: int, tmp_path: Path
) -> None:
    source, library = tmp_path / "kernel.c", tmp_path / "kernel.so"
    source.write_text(program(vector_bytes))
    command = [compiler, "-O2", *flags, "-Wall", "-Wextra", "-Werror", "-Wno-psabi", "-shared", "-fPIC"]
    try:
        done = subprocess.run([*command, str(source), "-o", str(library)], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip(f"{compiler} is not installed")
    assert done.returncode == 0, done.stderr
    if "-mavx2" in flags and "avx2" not in Path("/proc/cpuinfo").read_text():
        pytest.skip("the processor has no AVX2")
    loaded = ctypes.CDLL(str(library))
    generator = np.random.default_rng(3)
    for number, case in enumerate(SITES):
        for last, _ in case.shapes():
            for count, first in itertools.product(sorted(set(case.batch)), range(1 + case.overwrites)):
                # All bytes occur, and the extremes often: sums of their products must not saturate.
                a, b = (
                    np.where(
                        generator.random(2000) < 0.5,
                        generator.choice([np.iinfo(kind).min, np.iinfo(kind).max], 2000),
                        generator.integers(np.iinfo(kind).min, np.iinfo(kind).max + 1, 2000),
                    ).astype(kind)
                    for kind in (TYPES[case.element], TYPES[case.type_b])
                )
                c = generator.integers(-(2**20), 2**20, 1200).astype(np.int32)
                wanted = c.copy()
                if first:
                    inside = [
                        row + i + j * case.ldc
                        for row in case.rows_c
                        for j in range(case.n[last[1]])
                        for i in range(case.m[last[0]])
                    ]
                    wanted[inside] = 0
                expected(case, last, count, a, b, wanted)
                pointers = [ctypes.c_void_p(array.ctypes.data) for array in (a, b, c)]
                lasts = [ctypes.c_int(each) for each in last]
                loaded[f"run{number}"](*pointers, *lasts, ctypes.c_long(count), ctypes.c_int(first))
                assert np.array_equal(c, wanted), (number, last, count, first)


def test_shapes_that_it_refuses() -> None:
    shape = GemmShape("signed char", "int", 32, 4, 4, 1, 1, 32, 4, 1, element_b="unsigned char")
    assert INT8.rejects(shape) is None
    assert "four" in (INT8.rejects(replace(shape, k=3)) or "")
    assert "rows" in (INT8.rejects(replace(shape, m=15)) or "")
    assert "overlap" in (INT8.rejects(replace(shape, ldc=31)) or "")


PRODUCT = """\
void product(int C[40][48], const unsigned char A[40][9][4], const signed char B[9][48][4])
{
#pragma scop
  for (int i = 0; i < 40; ++i)
    for (int j = 0; j < 48; ++j)
      for (int k = 0; k < 9; ++k)
        for (int q = 0; q < 4; ++q)
          C[i][j] += (int)A[i][k][q] * (int)B[k][j][q];
#pragma endscop
}
"""

LAYER = """\
void layer(int out[2][7][7][32], const unsigned char in[9][9][4][4], const signed char filters[2][3][3][4][32][4])
{
#pragma scop
  for (int kt = 0; kt < 2; ++kt)
    for (int y = 0; y < 7; ++y)
      for (int x = 0; x < 7; ++x)
        for (int k = 0; k < 32; ++k)
          out[kt][y][x][k] = 0;
  for (int kt = 0; kt < 2; ++kt)
    for (int y = 0; y < 7; ++y)
      for (int x = 0; x < 7; ++x)
        for (int kj = 0; kj < 3; ++kj)
          for (int ki = 0; ki < 3; ++ki)
            for (int c = 0; c < 4; ++c)
              for (int k = 0; k < 32; ++k)
                for (int q = 0; q < 4; ++q)
                  out[kt][y][x][k] += in[y + kj][x + ki][c][q] * filters[kt][kj][ki][c][k][q];
#pragma endscop
}
"""


# Rows of bytes, of one sign: what dot-product instructions do not read.
ROWS = """\
void rows(int C[70][48], const signed char A[70][96], const signed char B[96][48])
{
#pragma scop
  for (int i = 0; i < 70; ++i)
    for (int j = 0; j < 48; ++j)
      for (int k = 0; k < 96; ++k)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""


# Rows of bytes, that of the output's columns signed and the other not.
MIXED = ROWS.replace("signed char A", "unsigned char A").replace("rows(", "mixed(")


@pytest.mark.native
@parametrized(
    ("source", "name"),
    marked(
        (PRODUCT, "c-int8"),
        (ROWS, "c-int16"),
        (LAYER, "c-int8"),
        (ROWS, "c-amx"),
        (MIXED, "c-int16"),
        (PRODUCT, "libxsmm-int8"),
        (LAYER, "libxsmm-int8"),
        (MIXED, "libxsmm-int8"),
    ),
    ids=lambda value: value if len(value) < 20 else value[value.index("void ") + 5 : value.index("(int")],
    quick=2,
)
def test_nests_of_bytes_get_it_and_stay_exact(source: str, name: str, tmp_path: Path) -> None:
    reason = registry.load("microkernels", name).unavailable()
    if reason is not None:
        pytest.skip(reason)
    path = tmp_path / "nest.c"
    path.write_text(source)
    machine = Machine.detect(threads=1)
    scop = pipeline.parse(path)
    space = pipeline.space_on(scop, machine, microkernel=name)
    generation = pipeline.generate(space, max_variants=6, seed=1)
    kernels = [pipeline.kernel(space.apply(each), machine.vector_bytes) for each in generation.variants]
    assert kernels
    assert all(use.name == name for kernel in kernels for use in kernel.microkernels)
    assert any(kernel.microkernels for kernel in kernels)
    executor = registry.load("executors", "local")
    built = executor.build([original(scop), *kernels], Toolchain.find().cautious, tmp_path)
    policy = TimingPolicy(rounds=1, minimum_sample_seconds=1e-4, budget_seconds=2.0)
    measured = executor.measure(built[1:], built[0], scop, threads=1, policy=policy, seed=0)
    assert {each.status for each in measured} == {"ok"}, [each.message for each in measured]


@pytest.mark.parametrize(
    ("old", "new"),
    [("unsigned char A", "signed char A"), ("signed char B", "unsigned char B"), ("A[i][k][q]", "A[i][k][3 - q]")],
)
def test_other_bytes_are_left_to_others(old: str, new: str, tmp_path: Path) -> None:
    """Both operands signed or both not, and bytes in another order than the instruction reads them."""
    path = tmp_path / "nest.c"
    path.write_text(PRODUCT.replace(old, new))
    scop = pipeline.parse(path)
    statement = scop.statements[0]
    for kernel in (INT8, LIBXSMM_INT8):
        assert isinstance(match(scop, statement, tuple(range(statement.depth)), kernel), NoMatch)
