"""Every microkernel against the loop nest that it says it equals, compiled and run."""

from __future__ import annotations

import ctypes
import itertools
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal

import numpy as np
import pytest
from emulated_tiles import FLAGS, tiles_in_c
from gemm_sites import BYTES, FOURS, IN_TILES, NARROW, PAIRS, ROWWISE, SITES, TILED, WIDER, site

from polydl import bfloat16, native, registry
from polydl.contracts import CallArguments, GemmShape, GemmSite, Microkernel
from polydl.microkernels.amx import AMX
from polydl.microkernels.amx_groups import AMX_GROUPS
from polydl.microkernels.int16 import INT16
from polydl.microkernels.libxsmm import LIBXSMM, dispatch
from polydl.microkernels.libxsmm_groups import LIBXSMM_BF16, LIBXSMM_INT8
from polydl.microkernels.plain_c import PLAIN_C

TYPES: dict[str, Any] = {
    "float": np.float32,
    "double": np.float64,
    "signed char": np.int8,
    "unsigned char": np.uint8,
    "int": np.int32,
    "bfloat16": np.float32,  # before they are rounded
}

CASES: list[tuple[Microkernel, GemmSite]] = [(LIBXSMM, each) for each in SITES] + [
    (PLAIN_C, each) for each in SITES + WIDER
]
CASES += [(AMX, each) for each in TILED + NARROW + BYTES + ROWWISE]
CASES += [(AMX_GROUPS, each) for each in IN_TILES]
CASES += [(INT16, each) for each in BYTES]
CASES += [(LIBXSMM_BF16, each) for each in PAIRS] + [(LIBXSMM_INT8, each) for each in FOURS]


def program(kernel: Microkernel, cases: list[GemmSite]) -> str:
    parts, setups, starts, functions = [], [], [], []
    includes: dict[str, None] = {"stddef.h": None}
    types = "typedef unsigned short bfloat16;"
    for number, case in enumerate(cases):
        named = replace(case, prefix=f"case{number}")
        emitted = kernel.emit(named, 64)
        includes.update(dict.fromkeys(emitted.includes))
        parts.append(emitted.definitions)
        setups.append(emitted.setup)
        starts.append(emitted.start)
        call = kernel.call(named, CallArguments("a", "b", "c", "last_m", "last_n", "last_k", "count", "first"))
        parameters = (
            f"const {case.element} *a, const {case.type_b} *b, {case.accumulator} *c, "
            "int last_m, int last_n, int last_k, long count, int first"
        )
        functions.append(f"void run{number}({parameters}) {{ {call} }}")
        offsets = [
            f"static const long o{x}{number}[] = {{{', '.join(map(str, o))}}};"
            for x, o in (("a", case.offsets_a), ("b", case.offsets_b), ("rb", case.rows_b), ("rc", case.rows_c))
        ]
        functions += offsets
        # The reference adds up the very same numbers as floats.
        functions.append(
            f"void reference{number}({parameters.replace('const bfloat16', 'const float')}) {{\n"
            f"const long m = last_m ? {case.m[1]} : {case.m[0]}, n = last_n ? {case.n[1]} : {case.n[0]};\n"
            f"const long k = last_k ? {case.k[1]} : {case.k[0]};\n"
            f"const long lda = {case.lda}, ldc = {case.ldc};\n"
            f"const long stride_am = {case.stride_am}, stride_bn = {case.stride_bn}, stride_bk = {case.stride_bk};\n"
            f"const long rows = {case.rows}, *b_rows = orb{number}, *c_rows = orc{number};\n"
            f"const long *a_offsets = oa{number}, *b_offsets = ob{number};\n"
            "if (first)\n for (long q = 0; q < rows; ++q) for (long j = 0; j < n; ++j) for (long i = 0; i < m; ++i)\n"
            f"  c[c_rows[q] + i + j * ldc] = 0;\n{kernel.reference}}}"
        )
    head = "\n".join(f"#include <{name}>" for name in includes)
    setup = "void setup(void)\n{\n" + "\n".join(setups) + "\n}"
    start = "void start(void)\n{\n" + "\n".join(starts) + "\n}"
    return "\n".join([head, types, *parts, setup, start, *functions]) + "\n"


Mode = Literal["as it is", "declining", "in plain C"]


@pytest.fixture(scope="module")
def libraries() -> dict[str, Path]:
    """Those of microkernels as they are, by name: each is compiled once."""
    return {}


# Without its set-up LIBXSMM has no kernel for any shape, and the loops that take its place do the work.
@pytest.fixture(
    scope="module",
    params=[
        *((LIBXSMM, mode) for mode in ("as it is", "declining")),
        *(
            pytest.param((kernel, mode), marks=pytest.mark.avx512)
            for kernel in (LIBXSMM_BF16, LIBXSMM_INT8)
            for mode in ("as it is", "declining")
        ),
        (PLAIN_C, "as it is"),
        # Compiling its cases takes long, as in plain C below.
        pytest.param((INT16, "as it is"), marks=pytest.mark.slow),
        pytest.param((AMX, "as it is"), marks=pytest.mark.amx),
        (AMX, "declining"),
        pytest.param((AMX, "in plain C"), marks=pytest.mark.slow),
    ],
    ids=lambda given: f"{given[0].name}-{given[1].replace(' ', '-')}",
)
def compiled(
    request: pytest.FixtureRequest, libraries: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Microkernel, list[GemmSite], ctypes.CDLL]:
    kernel: Microkernel = request.param[0]
    mode: Mode = request.param[1]
    reason = kernel.unavailable()
    if reason is not None and (mode == "as it is" or kernel.name.startswith("libxsmm")):
        pytest.skip(reason)
    cases = [case for owner, case in CASES if owner is kernel]
    assert cases
    directory = tmp_path_factory.mktemp(kernel.name)
    if mode == "in plain C":
        loaded = load(kernel, cases, mode, directory)
    else:
        # A file of its own has variables of its own, so that the set-up of one is none of the other.
        if kernel.name not in libraries:
            libraries[kernel.name] = build(kernel, cases, mode, directory)
        loaded = ctypes.CDLL(str(shutil.copy(libraries[kernel.name], directory / "copy.so")))
    if mode != "declining":
        loaded.setup()
    return kernel, cases, loaded


def load(kernel: Microkernel, cases: list[GemmSite], mode: Mode, directory: Path) -> ctypes.CDLL:
    """The compiled program of the cases."""
    return ctypes.CDLL(str(build(kernel, cases, mode, directory)))


def build(kernel: Microkernel, cases: list[GemmSite], mode: Mode, directory: Path) -> Path:
    """Compile the program of the cases; the library."""
    source, library = directory / "kernel.c", directory / "kernel.so"
    text = program(kernel, cases)
    source.write_text(tiles_in_c(text) if mode == "in plain C" else text)
    flags = FLAGS if mode == "in plain C" else ("-O2", "-march=native", "-Wno-psabi", "-shared", "-fPIC")
    done = subprocess.run(
        ["gcc", "-Wall", "-Wextra", "-Werror", *flags, str(source), "-o", str(library), *kernel.link_flags()],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return library


def operands(case: GemmSite) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    generator = np.random.default_rng(7)
    lengths = (
        max(case.offsets_a) + case.lda * case.k[0] + case.stride_am * case.m[0],
        max(case.rows_b) + max(case.offsets_b) + case.stride_bn * case.n[0] + case.stride_bk * case.k[0],
        max(case.rows_c) + case.ldc * case.n[0] + case.m[0],
    )
    kinds = (TYPES[case.element], TYPES[case.type_b], TYPES[case.accumulator])
    made = [
        generator.uniform(-1, 1, length).astype(kind)
        if np.issubdtype(kind, np.floating)
        else generator.integers(np.iinfo(kind).min, 128 if kind is np.int32 else np.iinfo(kind).max + 1, length).astype(
            kind
        )
        for length, kind in zip(lengths, kinds, strict=True)
    ]
    if case.element == "bfloat16":
        made[:2] = (bfloat16.from_float(each) for each in made[:2])
    return made[0], made[1], made[2]


@pytest.mark.native
def test_equals_its_reference_on_full_and_last_tiles(compiled: tuple[Microkernel, list[GemmSite], ctypes.CDLL]) -> None:
    _, cases, library = compiled
    for number, case in enumerate(cases):
        for (last_m, last_n, last_k), _ in case.shapes():
            for count, first in itertools.product(set(case.batch), range(1 + case.overwrites)):
                a, b, c = operands(case)
                if first:
                    c[:] = np.nan if c.dtype.kind == "f" else 77  # what a first call may not read
                expected = c.copy()
                lasts = [ctypes.c_int(last) for last in (last_m, last_n, last_k)]
                tail = (*lasts, ctypes.c_long(count), ctypes.c_int(first))
                summands = [bfloat16.to_float(each) if case.element == "bfloat16" else each for each in (a, b)]
                for name, given in ((f"reference{number}", (*summands, expected)), (f"run{number}", (a, b, c))):
                    pointers = [ctypes.c_void_p(array.ctypes.data) for array in given]
                    library.start()
                    library[name](*pointers, *tail)
                scale = case.k[0] * max(case.batch)
                tolerance = 0 if c.dtype.kind == "i" else 4 * scale * np.finfo(c.dtype).eps
                assert np.array_equal(np.isnan(c), np.isnan(expected))
                assert np.nanmax(np.abs(c - expected)) <= tolerance, (number, last_m, last_n, last_k, count, first)
                assert np.nanmax(np.abs(expected)) > 0


def shape(**changes: object) -> GemmShape:
    plain = GemmShape("float", "float", 32, 8, 16, 1, lda=32, ldc=32, stride_bn=16, stride_bk=1)
    return replace(plain, **changes)  # type: ignore[arg-type]


def test_a_libxsmm_without_kernels_of_groups_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    # One that has those for single products alone.
    library = SimpleNamespace(libxsmm_nonedispatch=None)
    monkeypatch.setattr(native, "libxsmm_library", lambda: library)
    kernels = [replace(kernel, grouped=replace(kernel.grouped, stem="none")) for kernel in (LIBXSMM_BF16, LIBXSMM_INT8)]
    assert [kernel.unavailable() for kernel in kernels] == ["LIBXSMM has no such kernels"] * 2


needs_libxsmm = pytest.mark.skipif(LIBXSMM.unavailable() is not None, reason="LIBXSMM is not installed")


@needs_libxsmm
def test_libxsmm_dispatches_plain_transposed_and_batched_shapes() -> None:
    assert dispatch(shape()) != 0
    assert dispatch(shape(stride_bn=1, stride_bk=16)) != 0
    assert dispatch(shape(batch=9)) != 0
    assert dispatch(shape(element="double", accumulator="double")) != 0


@needs_libxsmm
@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"ldc": 31}, "ldc"),
        ({"lda": 16}, "lda"),
        ({"stride_bn": 3, "stride_bk": 7}, "contiguous"),
        ({"stride_bn": 8}, "ldb"),
        ({"batch": 5000}, "5000"),
        # As an int they would be 32.
        ({"lda": (1 << 32) + 32}, "4294967328 elements apart"),
        ({"ldc": (1 << 32) + 32}, "4294967328 elements apart"),
        ({"stride_bn": (1 << 32) + 32}, "4294967328 elements apart"),
    ],
)
def test_libxsmm_rejects_with_a_reason(changes: dict[str, int], word: str) -> None:
    reason = LIBXSMM.rejects(shape(**changes))
    assert reason is not None
    assert word in reason


@pytest.mark.avx512
@pytest.mark.skipif(LIBXSMM_INT8.unavailable() is not None, reason=str(LIBXSMM_INT8.unavailable()))
@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"ldc": 31}, "ldc"),
        ({"k": 18, "stride_bn": 20}, "whole groups"),
        ({"stride_bn": 18}, "whole groups"),
        ({"stride_bn": 8}, "ldb"),
        ({"lda": 1, "k": 8}, "4 steps"),
        ({"rows": 2}, "rows"),
        ({"batch": 5000}, "5000"),
        ({"m": 4096, "ldc": 4096, "k": 1024, "stride_bn": 1024}, "1536 KiB"),
        ({"ldc": (1 << 32) + 32}, "4294967328 elements apart"),
        ({"stride_bn": (1 << 32) + 32}, "4294967328 elements apart"),
    ],
)
def test_kernels_of_groups_reject_with_a_reason(changes: dict[str, int], word: str) -> None:
    plain = shape(element="signed char", element_b="unsigned char", accumulator="int")
    assert LIBXSMM_INT8.rejects(plain) is None
    reason = LIBXSMM_INT8.rejects(replace(plain, **changes))  # type: ignore[arg-type]
    assert reason is not None
    assert word in reason


@pytest.mark.parametrize(("apart", "lda"), [(1 << 20, 1 << 19), (1 << 33, 32)])
def test_groups_that_lie_too_far_apart_for_one_product_are_products_each(apart: int, lda: int) -> None:
    two = {"k": (2, 2), "batch": (2, 2), "lda": 1, "stride_am": 2, "offsets_a": (0, apart), "offsets_b": (0, 2)}
    case = site(element="bfloat16", m=(32, 32), ldc=32, **two)
    assert f"const int lda = {lda}, ldb = 8, ldc = 32;" in LIBXSMM_BF16.emit(case, 64).setup


def test_plain_c_takes_any_strides_of_b_but_no_overlapping_output() -> None:
    assert PLAIN_C.rejects(shape(stride_bn=3, stride_bk=7)) is None
    assert "overlap" in (PLAIN_C.rejects(shape(ldc=31)) or "")


def test_the_registry_offers_both_in_order_of_preference() -> None:
    assert registry.names("microkernels")[:2] == ("libxsmm", "c")
    assert registry.load("microkernels", "c-amx") is AMX
    assert registry.load("microkernels", "c") is PLAIN_C


TILES = pytest.mark.parametrize("mode", [pytest.param("as it is", marks=pytest.mark.amx), "in plain C"])


# Elements from one row of A to the next: 1, or more than there are steps.
LAYOUTS = pytest.mark.parametrize("stride_am", [1, 515], ids=["columns", "rows"])


def laid_out(a: np.ndarray, stride_am: int) -> np.ndarray:
    """A of so many steps by 32 rows, as one with such rows."""
    if stride_am == 1:
        return a
    rows = np.zeros((a.shape[1], stride_am), a.dtype)
    rows[:, : len(a)] = a.T
    return rows


@pytest.mark.native
@TILES
@LAYOUTS
def test_tiles_are_as_exact_as_multiply_adds_and_pass_on_what_is_not_a_number(
    stride_am: int, mode: Mode, tmp_path: Path
) -> None:
    steps = 512
    case = site(m=(32, 32), n=(40, 40), k=(steps, steps), lda=32, ldc=32, stride_bn=steps, overwrites=True)
    case = replace(case, lda=32 if stride_am == 1 else 1, stride_am=stride_am)
    library = load(AMX, [case], mode, tmp_path)
    library.setup()
    generator = np.random.default_rng(3)
    a = (generator.normal(size=(steps, 32)) * np.exp(generator.normal(size=(steps, 32)))).astype(np.float32)
    b = generator.uniform(0, 1, (40, steps)).astype(np.float32)
    b[7, 100] = np.uint32(0xFFFFFFFF).view(np.float32)
    b[9, 3] = np.nan
    c = np.empty((40, 32), np.float32)
    tail = (*(ctypes.c_int(0),) * 3, ctypes.c_long(1), ctypes.c_int(1))
    given = (laid_out(a, stride_am), b, c)
    library.run0(*(ctypes.c_void_p(array.ctypes.data) for array in given), *tail)
    assert np.isnan(c[[7, 9]]).all()
    numbers = np.delete(np.arange(40), [7, 9])
    exact = b[numbers].astype(float) @ a.astype(float)
    scale = np.abs(b[numbers]).astype(float) @ np.abs(a).astype(float)
    error = np.abs(c[numbers] - exact) / scale
    # Sums of so many terms, rounded one by one, err by some sqrt(512) / 2 of these units.
    assert np.sqrt(np.mean(error**2)) < 8 * 2.0**-24
    assert error.max() > 0


@pytest.mark.native
@TILES
def test_tiles_make_what_is_infinite_not_a_number_and_overflow_a_little_earlier(mode: Mode, tmp_path: Path) -> None:
    case = site(m=(32, 32), n=(40, 40), k=(64, 64), lda=32, ldc=32, stride_bn=64, overwrites=True)
    library = load(AMX, [case], mode, tmp_path)
    library.setup()
    a, b = np.ones((64, 32), np.float32), np.full((40, 64), np.float32(2.0**-100))
    # The largest bfloat16 is 3.3895e38: what is between it and the largest float rounds to infinity.
    b[3, 5], b[7, 9], b[11, 13] = np.inf, 3.4e38, 3.38e38
    c = np.empty((40, 32), np.float32)
    tail = (*(ctypes.c_int(0),) * 3, ctypes.c_long(1), ctypes.c_int(1))
    library.run0(*(ctypes.c_void_p(array.ctypes.data) for array in (a, b, c)), *tail)
    assert not np.isfinite(c[[3, 7]]).any()
    assert np.isnan(c[3]).all()
    finite = np.delete(np.arange(40), [3, 7])
    np.testing.assert_allclose(c[finite], b[finite].sum(axis=1)[:, None] * np.ones(32), rtol=1e-5)


@pytest.mark.native
@pytest.mark.amx
@pytest.mark.parametrize(
    ("kernel", "compiler"),
    [(AMX, "gcc"), (AMX, "clang"), (PLAIN_C, "gcc"), (PLAIN_C, "clang")],
    ids=["c-amx-gcc", "c-amx-clang", "c-gcc", "c-clang"],
)
def test_tiles_of_bfloat16_take_denormal_numbers_for_zero(kernel: Microkernel, compiler: str, tmp_path: Path) -> None:
    """Which tells them from the loops that take their place where a compiler seems to know no tiles."""
    case = site(element="bfloat16", m=(32, 32), n=(32, 32), k=(32, 32), lda=32, ldc=32, stride_bn=32, overwrites=True)
    (tmp_path / "kernel.c").write_text(program(kernel, [case]))
    command = [compiler, "-O2", "-march=native", "-shared", "-fPIC", "kernel.c", "-o", "kernel.so"]
    subprocess.run(command, cwd=tmp_path, check=True)
    library = ctypes.CDLL(str(tmp_path / "kernel.so"))
    library.setup()
    # A denormal operand with an ordinary product, a denormal product of ordinary operands, and neither.
    for left, right, denormal in ((2.0**-130, 2.0**20, True), (2.0**-70, 2.0**-70, True), (2.0**-70, 2.0**20, False)):
        a, b = (bfloat16.from_float(np.full((32, 32), value)) for value in (left, right))
        c = np.empty((32, 32), np.float32)
        tail = (*(ctypes.c_int(0),) * 3, ctypes.c_long(1), ctypes.c_int(1))
        library.run0(*(ctypes.c_void_p(array.ctypes.data) for array in (a, b, c)), *tail)
        expected = 0.0 if denormal and kernel is AMX else 32 * left * right
        assert np.all(c == np.float32(expected)), (left, right)


@pytest.mark.native
@pytest.mark.parametrize("kernel", [INT16, PLAIN_C, AMX], ids=lambda kernel: kernel.name)
def test_columns_beyond_two_billion_elements_have_their_addresses(kernel: Microkernel, tmp_path: Path) -> None:
    """Constants that C would multiply as int are an error to the compiler, as they would be at run time."""
    distant = {"ldc": 1 << 26, "stride_bn": 1 << 26}
    case = site(element="signed char", accumulator="int", m=(20, 20), n=(48, 48), k=(32, 32), lda=20, **distant)
    build(kernel, [case], "as it is", tmp_path)


def assembly_of(row: GemmSite) -> list[str]:
    """The lines of assembly that gcc makes of a call of ``c`` for AVX-512."""
    emitted = PLAIN_C.emit(row, 64)
    call = PLAIN_C.call(row, CallArguments("a", "b", "c", "0", "0", "0", "1", "1"))
    text = f"{emitted.definitions}\nvoid run(const float *a, const float *b, float *c) {{ {call} }}"
    command = ["gcc", "-O3", "-march=x86-64-v4", "-S", "-x", "c", "-", "-o", "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout.splitlines()


@pytest.mark.native
def test_columns_that_meet_in_a_row_leave_the_output_in_its_registers() -> None:
    row = site(m=(32, 32), n=(12, 12), k=(3, 3), lda=32, ldc=32, stride_bn=6, stride_bk=3, overwrites=True)
    lines = assembly_of(row)
    assert sum("vfmadd" in line for line in lines) >= 72
    assert not [line for line in lines if "zmm" in line and ("(%rsp)" in line or "(%rbp)" in line)]


@pytest.mark.native
def test_tall_blocks_read_each_vector_of_a_once() -> None:
    lines = assembly_of(site(m=(112, 112), n=(3, 3), k=(64, 64), lda=112, ldc=112, stride_bn=64, overwrites=True))
    updates = [line for line in lines if "vfmadd" in line]
    assert len(updates) >= 7 * 3
    assert not [line for line in updates if "(" in line and "{1to16}" not in line]
