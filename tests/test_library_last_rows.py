"""Kernels of libraries compute the rows behind the last whole vector as dot products, where that is faster."""

from __future__ import annotations

import ctypes
import subprocess
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest
from library_kernels import KERNELS, compiled
from machines import machine_with
from symbolic_nests import product, symbolic

from polydl.libraries.candidates import product_code, usual_candidates
from polydl.libraries.decision import Leaf
from polydl.libraries.product_code import LAST_ROWS
from polydl.libraries.unit import unit

RANGES = ("M=1..60", "N=1..150", "K=1..300")


@pytest.mark.parametrize(
    ("text", "apart"),
    [
        (product(), True),
        (product("A[i][k]", "B[j][k]"), True),
        # Rows of the product's B, the source's A, are not contiguous along k.
        (product("A[k][i]"), False),
        (product(element="signed char").replace("signed char C[M][N]", "int C[M][N]"), False),
    ],
    ids=["rows", "transposed B", "transposed A", "bytes"],
)
def test_rows_are_computed_apart_where_isl_proves_it_and_terms_are_contiguous(
    tmp_path: Path, text: str, apart: bool
) -> None:
    form, _ = usual_candidates(symbolic(text, tmp_path), machine_with(1, 32))
    assert form is not None
    assert form.rows_apart == apart


@pytest.mark.native
@pytest.mark.parametrize("name", list(KERNELS))
def test_answers_are_right_whether_rows_are_apart_or_not(tmp_path: Path, name: str) -> None:
    """Register blocks have two vectors of eight by three columns, so that 16, 32, 48 ... rows are whole ones."""
    nest = symbolic(product(), tmp_path, RANGES)
    function = compiled(nest, tmp_path, {name: KERNELS[name]}, 8, rows_apart=True)
    draw, random, wrong = Random(3), np.random.default_rng(3), []
    few = [16 * whole + rest for whole in (1, 2, 7) for rest in (1, 3)]
    shapes = [(m, n, k) for m in (3, 7, 60) for n in few for k in (64, 300)]
    shapes += [(draw.randint(1, 60), draw.randint(1, 150), draw.randint(1, 300)) for _ in range(60)]
    for m, n, k in shapes:
        left, right, result = (random.random(shape).astype(np.float32) for shape in ((m, k), (k, n), (m, n)))
        expected = result + left @ right
        function(C=result, A=left, B=right)
        if not np.allclose(result, expected, rtol=1e-5):
            wrong.append((m, n, k))
    assert wrong == []


@pytest.mark.native
def test_rows_are_apart_where_there_are_few_of_them_and_many_terms(tmp_path: Path) -> None:
    source, library = tmp_path / "rows.c", tmp_path / "rows.so"
    exported = (
        "long last_rows(long m, long k, long width, long vectors, long columns)\n"
        "{ return polydl_last_rows(m, k, width, vectors, columns); }"
    )
    source.write_text(f"{LAST_ROWS}\n{exported}\n")
    subprocess.run(["gcc", "-shared", "-fPIC", str(source), "-o", str(library)], check=True)
    last_rows = ctypes.CDLL(str(library)).last_rows
    last_rows.argtypes, last_rows.restype = [ctypes.c_long] * 5, ctypes.c_long
    block = (8, 2, 6)
    assert [last_rows(m, 200, *block) for m in (16, 17, 18, 19, 20, 23)] == [0, 1, 2, 3, 0, 0]
    # Of one vector by six columns products wait for each other, of one by fourteen they don't.
    assert [last_rows(m, 200, *block) for m in (1, 7, 9)] == [0, 0, 0]
    assert last_rows(17, 200, 16, 2, 14) == 1
    # One whole vector by three columns is left of four.
    assert (last_rows(25, 200, 8, 3, 3), last_rows(33, 200, 8, 3, 3)) == (1, 0)
    assert [last_rows(17, k, *block) for k in (0, 1, 18, 19)] == [0, 0, 0, 1]
    assert (last_rows(121, 200, *block), last_rows(129, 200, *block)) == (1, 0)


def test_the_header_tells_of_copies_that_only_last_rows_take(tmp_path: Path) -> None:
    nest, machine = symbolic(product(), tmp_path, RANGES), machine_with(1, 32)
    form, legal = usual_candidates(nest, machine)
    kernel = next(each for each in legal if each.blocking and not each.blocking.packed)
    assert form is not None

    def memory(rows_apart: bool) -> str:
        taken = replace(form, rows_apart=rows_apart)
        source = unit(nest, taken, Leaf(kernel.id), {kernel.id: kernel}, machine, identity="a")
        return next(clause.text for clause in source.interface.clauses if clause.topic == "Memory")

    assert "Copies of tiles" in memory(True)
    assert "Copies of tiles" not in memory(False)


def test_rows_are_computed_on_threads_where_the_others_are(tmp_path: Path) -> None:
    nest, machine = symbolic(product(), tmp_path, RANGES), machine_with(2, 32)
    form, legal = usual_candidates(nest, machine)
    assert form is not None
    blockings = tuple(each.blocking for each in legal if each.blocking and each.blocking.along == "m")
    last = product_code(nest, form, blockings, machine).last_rows
    assert {each.on_threads for each in last} == {False, True}
    assert all(each.on_threads == dots.on_threads for each, dots in last.items())
