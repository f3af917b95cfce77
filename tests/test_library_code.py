"""Kernels of libraries give the right answer at all sizes: within the ranges, at their borders and beyond."""

from __future__ import annotations

import ctypes
import subprocess
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest
from library_kernels import ALONG_TERMS, KERNELS, SMALL, compiled, copying_a, sizes
from machines import machine_with
from marks import parametrized
from symbolic_nests import product, symbolic

from polydl.codegen.loop_ir import expressions
from polydl.codegen.values import Apply
from polydl.errors import ArgumentError
from polydl.libraries.blocking import Blocking
from polydl.libraries.decision import Leaf
from polydl.libraries.dot_code import dot_blocks, dot_tile
from polydl.libraries.kernel import Kernel
from polydl.libraries.product import symbolic_product
from polydl.libraries.tile_code import NEXT_BLOCK, SumForm, column_counts, register_blocks, tile
from polydl.libraries.unit import unit
from polydl.libraries.usual_blockings import along_terms

pytestmark = pytest.mark.native

SHAPES = 400


@parametrized(
    ("a", "b", "element", "before"),
    [
        ("A[i][k]", "B[k][j]", "float", ""),
        ("A[k][i]", "B[k][j]", "double", "C[i][j] = 0;"),
        ("A[i][k]", "B[j][k]", "float", "C[i][j] *= 3;"),
        ("A[k][i]", "B[j][k]", "float", ""),
    ],
    quick=1,
)
def test_answers_are_right_at_all_sizes(tmp_path: Path, a: str, b: str, element: str, before: str) -> None:
    nest = symbolic(product(a, b, element, before), tmp_path)
    # Rows of the product's A are not contiguous where the source's B is transposed: then A is always copied.
    kernels = dict(KERNELS)
    if b == "B[j][k]":
        kernels = copying_a()
    function = compiled(nest, tmp_path, kernels, 8)
    draw, random, dtype = Random(7), np.random.default_rng(7), np.dtype(element if element == "double" else "float32")
    wrong = []
    for _ in range(SHAPES):
        m, n, k = sizes(draw)
        left, right, result = (random.random(shape).astype(dtype) for shape in ((m, k), (k, n), (m, n)))
        factor = {"": 1, "C[i][j] = 0;": 0, "C[i][j] *= 3;": 3}[before]
        expected = factor * result + left @ right
        stored = {
            "A": left if a == "A[i][k]" else np.ascontiguousarray(left.T),
            "B": right if b == "B[k][j]" else np.ascontiguousarray(right.T),
        }
        function(C=result, **stored)
        if not np.allclose(result, expected, rtol=1e-5):
            wrong.append((m, n, k))
    assert wrong == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("b", "element", "width", "threads"),
    [("B[k][j]", "float", 8, False), ("B[j][k]", "float", 8, True), ("B[k][j]", "double", 2, True)],
)
def test_dot_products_are_right_at_all_sizes(tmp_path: Path, b: str, element: str, width: int, threads: bool) -> None:
    nest = symbolic(product("A[i][k]", b, element), tmp_path)
    tiles = tuple(replace(tile, parallel=threads and tile.role == "n") for tile in ALONG_TERMS.tiles)
    function = compiled(nest, tmp_path, {"dots": replace(ALONG_TERMS, tiles=tiles)}, width)
    draw, random, dtype = Random(5), np.random.default_rng(5), np.dtype("float64" if element == "double" else "float32")
    wrong = []
    for number in range(SHAPES):
        m, n, k = sizes(draw)
        n = 1 if number % 4 == 0 else n
        left, right, result = (random.random(shape).astype(dtype) for shape in ((m, k), (k, n), (m, n)))
        expected = result + left @ right
        function(C=result, A=left, B=right if b == "B[k][j]" else np.ascontiguousarray(right.T))
        if not np.allclose(result, expected, rtol=1e-5):
            wrong.append((m, n, k))
    assert wrong == []


def test_dot_products_need_rows_of_terms_in_the_type_of_the_sums(tmp_path: Path) -> None:
    def proposed(text: str) -> tuple[Blocking, ...]:
        form = symbolic_product(symbolic(text, tmp_path))
        assert form is not None
        return along_terms(machine_with(2, 32), 4, form)

    assert [each.along for each in proposed(product())] == ["k", "k"]
    assert proposed(product("A[k][i]")) == ()
    bytes_to_int = product(element="signed char").replace("signed char C[M][N]", "int C[M][N]")
    assert proposed(bytes_to_int) == ()


@pytest.mark.slow
def test_terms_that_a_vector_reads_twice_count_once_whatever_they_are(tmp_path: Path) -> None:
    """An infinity that was added already must not meet the zeros of the last vector's other lanes."""
    nest = symbolic(product("A[i][k]", "B[j][k]"), tmp_path)
    function = compiled(nest, tmp_path, {"dots": ALONG_TERMS}, 8)
    for place in range(11):
        for spoiled in ("A", "B"):
            arrays = {"A": np.ones((2, 11), np.float32), "B": np.full((3, 11), 2, np.float32)}
            arrays[spoiled][:, place] = np.inf
            result = np.zeros((2, 3), np.float32)
            function(C=result, **arrays)
            assert np.isposinf(result).all(), (place, spoiled)


@pytest.mark.parametrize(
    "head", ["void d(", "static void at(", "void d /* d(x) */ (", "void\nvoid_(", "void M_N (\n"], ids=ascii
)
def test_kernels_have_the_parameters_whatever_the_function_is_called(head: str, tmp_path: Path) -> None:
    """The name may stand in a word before it."""
    text = product()
    assert text.startswith("void gemm(int M,")
    nest = symbolic(text.replace("void gemm(", head), tmp_path)
    kernels = {"a": Kernel(blocking=SMALL)}
    source = unit(nest, symbolic_product(nest), Leaf("a"), kernels, machine_with(1, 32), identity="a")
    path = tmp_path / "library.c"
    path.write_text(source.c)
    command = ["gcc", "-fsyntax-only", "-fopenmp", "-Wall", "-Wextra", "-Werror", "-Wno-psabi", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_next_register_block_of_a_large_result_is_prefetched(tmp_path: Path) -> None:
    nest = symbolic(product(), tmp_path)
    text = unit(
        nest, symbolic_product(nest), Leaf("a"), {"a": Kernel(blocking=SMALL)}, machine_with(1, 32), identity="a"
    ).c
    assert "const int far = (m * n) > 262144;" in text
    assert "if (far) {\n" in text
    block = text[text.index("static void polydl_block2x8x3_ahead(") :]
    block = block[: block.index("\n}")]
    lines = [line.strip() for line in block.splitlines() if "prefetch" in line]
    expected = [f"c{place} + {column} * cn" for column in (3, 4, 5) for place in ("", " + last")]
    assert lines == [f"__builtin_prefetch({place});" for place in expected]


@pytest.mark.slow
def test_vectors_that_no_register_holds_compile(tmp_path: Path) -> None:
    nest = symbolic(product("A[i][k]", "B[j][k]"), tmp_path)
    form = symbolic_product(nest)
    assert form is not None
    source = unit(
        nest, form, Leaf("dots"), {"dots": Kernel(blocking=ALONG_TERMS)}, machine_with(1, 64), identity="library"
    )
    (tmp_path / "library.c").write_text(source.c)
    command = ["gcc", "-O1", "-march=x86-64", "-w", "-fopenmp", "-c", "library.c"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("rows", "width", "columns"), [(4, 16, 6), (1, 2, 1), (2, 8, 3)])
def test_a_tile_of_dot_products_calls_its_register_blocks_and_no_others(rows: int, width: int, columns: int) -> None:
    calls = {
        value.function
        for value in expressions(dot_tile(rows, columns, SumForm()).body)
        if isinstance(value, Apply) and value.function.startswith("polydl_dots")
    }
    assert calls == {block.name for block in dot_blocks(rows, width, columns, SumForm())}


@pytest.mark.parametrize(("vectors", "width", "columns"), [(2, 8, 3), (4, 4, 6), (3, 1, 1), (2, 16, 8)])
def test_a_tile_calls_its_register_blocks_and_no_others(vectors: int, width: int, columns: int) -> None:
    calls = {
        value.function
        for value in expressions(tile(vectors, width, columns, SumForm()).body)
        if isinstance(value, Apply) and value.function.startswith("polydl_block")
    }
    blocks = {block.name for block in register_blocks(vectors, width, columns, SumForm())}
    assert len(blocks) >= vectors
    assert calls == blocks


def test_columns_that_fill_no_register_block_are_split_evenly(tmp_path: Path) -> None:
    source = tmp_path / "columns.c"
    exported = "long next_columns(long left, long block) { return polydl_columns(left, block); }"
    source.write_text(f"{NEXT_BLOCK}\n{exported}\n")
    library = tmp_path / "columns.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-Wno-unused", str(source), "-o", str(library)], check=True)
    next_columns = ctypes.CDLL(str(library)).next_columns
    next_columns.argtypes, next_columns.restype = [ctypes.c_long] * 2, ctypes.c_long
    for block in range(1, 17):
        for left in range(1, 50):
            taken = next_columns(left, block)
            assert taken in column_counts(block)
            assert taken == block if left >= block else taken == left or (left > 8 and left // 2 <= taken <= 8)
    assert [next_columns(left, 14) for left in (14, 13, 9, 8, 7, 1)] == [14, 7, 5, 8, 7, 1]


def test_a_size_that_is_fixed_for_the_whole_library_is_checked(tmp_path: Path) -> None:
    from polydl.libraries.build import read_symbolic
    from polydl.libraries.ranges import size_ranges
    from polydl.pipeline import parse

    path = tmp_path / "nest.c"
    path.write_text(product(), encoding="utf-8")
    nest = read_symbolic(lambda shape: parse(path, defines={"K": 6, **shape}), size_ranges(["M=1..9", "N=1..9"]))
    kernels = {"none": Kernel(blocking=SMALL)}
    source = unit(nest, symbolic_product(nest), Leaf("none"), kernels, machine_with(1, 16), identity="library")
    assert "  if (M >= 1 && M <= 9 && N >= 1 && N <= 9 && K == 6) {" in source.c


def test_arrays_that_do_not_fit_together_are_refused(tmp_path: Path) -> None:
    function = compiled(symbolic(product(), tmp_path), tmp_path, {"none": SMALL}, 4)
    a, b, c = (np.ones(shape, np.float32) for shape in ((5, 6), (6, 7), (5, 7)))
    function(A=a, B=b, C=c)
    function(A=a, B=b, C=c, M=5)
    assert c[0, 0] == 13
    with pytest.raises(ArgumentError, match="K is 6 by A and 5 by B"):
        function(A=a, B=b[:5], C=c)
    with pytest.raises(ArgumentError, match="M is 4 by M itself and 5 by"):
        function(A=a, B=b, C=c, M=4)
    with pytest.raises(ArgumentError, match="the size K is unknown"):
        function(C=c)
    with pytest.raises(ArgumentError, match="float32"):
        function(A=a.astype(np.float64), B=b, C=c)
