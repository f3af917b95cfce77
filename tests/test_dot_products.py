"""Products in groups of k by one instruction each: bytes in fours and bfloat16s in twos, with it and without."""

from __future__ import annotations

import ctypes
import itertools
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gemm_sites import site
from marks import parametrized

from polydl import bfloat16
from polydl.contracts import CallArguments, GemmShape, GemmSite, Microkernel
from polydl.microkernels.bf16 import BF16
from polydl.microkernels.group_runs import group_run
from polydl.microkernels.int8 import INT8


def grouped(element: str, **changes: Any) -> GemmSite:
    """A[batch][m][group] by B[n][batch][group]; offsets and strides are in groups."""
    group = 2 if element == "bfloat16" else 4
    usual: dict[str, Any] = {"m": (32, 32), "n": (7, 7), "batch": (3, 3), "ldc": 32, "stride_bn": 3}
    usual |= {"offsets_a": (0, 32, 64), "offsets_b": (0, 1, 2), **changes}
    for name in {"offsets_a", "offsets_b", "rows_b"} & usual.keys():
        usual[name] = tuple(group * place for place in usual[name])
    usual["stride_bn"] *= group
    other = {"signed char": "unsigned char", "unsigned char": "signed char"}.get(element, "")
    accumulator = "float" if element == "bfloat16" else "int"
    return site(
        element=element, element_b=other, accumulator=accumulator, k=(group, group), lda=1, stride_am=group, **usual
    )


SITES = [
    grouped("signed char"),
    *(
        grouped(element, **changes)
        for element in ("unsigned char", "bfloat16")
        for changes in (
            {},
            # The last vector overlaps the one before it.
            {"m": (64, 37), "n": (13, 1), "ldc": 70, "offsets_a": (0, 64, 128), "overwrites": True},
            # One group at a time.
            {"m": (16, 16), "n": (30, 5), "batch": (3, 2), "ldc": 16, "offsets_a": (0, 16, 250)},
            {"m": (19, 19), "n": (3, 3), "ldc": 19, "rows_b": (0, 12, 2), "rows_c": (0, 60, 200), "overwrites": True},
            # Two runs of three groups, with something to fetch ahead.
            {
                "batch": (6, 3),
                "offsets_a": (0, 32, 64, 200, 232, 264),
                "offsets_b": (0, 1, 2, 40, 41, 42),
                "ahead": 640,
            },
        )
    ),
]


def microkernel(case: GemmSite) -> Microkernel:
    return BF16 if case.element == "bfloat16" else INT8


def program(vector_bytes: int) -> str:
    parts = ["typedef unsigned short bfloat16;"]
    for number, case in enumerate(SITES):
        kernel, named = microkernel(case), replace(case, prefix=f"case{number}")
        parts.append(kernel.emit(named, vector_bytes).definitions)
        ahead = "a" if case.ahead else ""
        call = kernel.call(
            named, CallArguments("a", "b", "c", "last_m", "last_n", "last_k", "count", "first", ahead=ahead)
        )
        parameters = f"const {case.element} *a, const {case.type_b} *b, {case.accumulator} *c"
        parts.append(
            f"void run{number}({parameters}, int last_m, int last_n, int last_k, long count, int first) {{ {call} }}"
        )
    return "\n".join(parts) + "\n"


def operand(element: str, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """An operand as it lies in memory, and its values.

    All bytes occur, and the extremes often: sums of their products must not saturate. Sums of the bfloat16s are exact
    in float.
    """
    if element == "bfloat16":
        values = generator.integers(-128, 129, 2000).astype(np.float64)
        return bfloat16.from_float(values), values
    kind = np.iinfo(np.uint8 if element == "unsigned char" else np.int8)
    extremes = generator.choice([kind.min, kind.max], 2000)
    drawn = np.where(generator.random(2000) < 0.5, extremes, generator.integers(kind.min, kind.max + 1, 2000))
    return drawn.astype(kind.dtype), drawn.astype(np.float64)


def expected(
    case: GemmSite, last: tuple[int, int, int], count: int, a: np.ndarray, b: np.ndarray, c: np.ndarray
) -> None:
    group = case.k[0]
    for q, r, j, i in itertools.product(range(case.rows), range(count), range(case.n[last[1]]), range(case.m[last[0]])):
        left = a[case.offsets_a[r] + group * i :][:group]
        right = b[case.rows_b[q] + case.offsets_b[r] + j * case.stride_bn :][:group]
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
        ("clang", (), 64),
    ],
    quick=2,
)
def test_sums_are_exact_on_full_and_last_tiles(
    compiler: str, flags: tuple[str, ...], vector_bytes: int, tmp_path: Path
) -> None:
    source, library = tmp_path / "kernel.c", tmp_path / "kernel.so"
    source.write_text(program(vector_bytes))
    command = [compiler, "-O2", *flags, "-Wall", "-Wextra", "-Werror", "-Wno-psabi", "-shared", "-fPIC"]
    done = subprocess.run([*command, str(source), "-o", str(library)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    if "-mavx2" in flags and "avx2" not in Path("/proc/cpuinfo").read_text():
        pytest.skip("the processor has no AVX2")
    loaded = ctypes.CDLL(str(library))
    generator = np.random.default_rng(3)
    for number, case in enumerate(SITES):
        kind = np.float32 if case.accumulator == "float" else np.int32
        for last, _ in case.shapes():
            for count, first in itertools.product(sorted(set(case.batch)), range(1 + case.overwrites)):
                (a, left), (b, right) = (operand(element, generator) for element in (case.element, case.type_b))
                c = generator.integers(-(2**20), 2**20, 1200).astype(kind)
                wanted = c.astype(np.float64)
                if first:
                    inside = [
                        row + i + j * case.ldc
                        for row in case.rows_c
                        for j in range(case.n[last[1]])
                        for i in range(case.m[last[0]])
                    ]
                    wanted[inside] = 0
                expected(case, last, count, left, right, wanted)
                pointers = [ctypes.c_void_p(array.ctypes.data) for array in (a, b, c)]
                lasts = [ctypes.c_int(each) for each in last]
                loaded[f"run{number}"](*pointers, *lasts, ctypes.c_long(count), ctypes.c_int(first))
                assert np.array_equal(c, wanted), (number, last, count, first)


def test_shapes_that_are_refused() -> None:
    of_bytes = GemmShape("signed char", "int", 32, 4, 4, 1, 1, 32, 4, 1, element_b="unsigned char")
    pairs = GemmShape("bfloat16", "float", 32, 4, 2, 1, 1, 32, 2, 1)
    for kernel, shape, group in ((INT8, of_bytes, 4), (BF16, pairs, 2)):
        assert kernel.rejects(shape) is None
        assert f"{group} steps" in (kernel.rejects(replace(shape, k=3)) or "")
        assert "rows" in (kernel.rejects(replace(shape, m=15)) or "")
        assert "overlap" in (kernel.rejects(replace(shape, ldc=31)) or "")


def test_runs_are_of_groups_that_are_evenly_apart_in_both_operands() -> None:
    whole, *_, runs = SITES
    assert group_run(whole, 3) == (3, 128, 4)
    assert group_run(runs, 6) == (3, 64, 2)
    assert group_run(runs, 2) == (1, 0, 0)
    assert group_run(whole, 3, beside=4) == (3, 128, 4)
    assert group_run(whole, 3, beside=8) == (1, 0, 0)
    apart = replace(whole, offsets_b=(0, 4, 12))
    assert group_run(apart, 3) == (1, 0, 0)
