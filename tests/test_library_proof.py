"""Nests with sizes as parameters: what isl proves for all sizes at once, and what is refused."""

from __future__ import annotations

from pathlib import Path

import islpy as isl
import pytest
from machines import machine_with
from symbolic_nests import RANGES, product, symbolic

from polydl.errors import UserError
from polydl.libraries.blocking import MOST_PACKED_BYTES, Blocking, Tile, usual_blockings
from polydl.libraries.product import symbolic_product
from polydl.libraries.symbolic import broken_dependence, distributed


def test_domains_have_the_sizes_as_parameters(tmp_path: Path) -> None:
    nest = symbolic(product(), tmp_path)
    (statement,) = nest.scop.statements
    bounds = "1 <= M <= 60 and 2 <= N <= 50 and 1 <= K <= 40 and 0 <= i < M and 0 <= j < N and 0 <= k < K"
    assert isl.Set(statement.domain).is_equal(isl.Set(f"[M, N, K] -> {{ S0[i, j, k] : {bounds} }}"))
    assert nest.extents == {"C": ("M", "N"), "A": ("M", "K"), "B": ("K", "N")}
    assert nest.trips == {"S0": ("M", "N", "K")}


@pytest.mark.parametrize(
    ("a", "b", "strides"),
    [
        ("A[i][k]", "B[k][j]", ("1", "(long)N", "1", "(long)K")),
        ("A[k][i]", "B[k][j]", ("1", "(long)N", "(long)M", "1")),
        ("A[i][k]", "B[j][k]", ("(long)K", "1", "1", "(long)K")),
        ("A[k][i]", "B[j][k]", ("(long)K", "1", "(long)M", "1")),
    ],
)
def test_every_transposition_is_a_product(tmp_path: Path, a: str, b: str, strides: tuple[str, ...]) -> None:
    """The rows of C are contiguous along j, so j is m and the source's B is the product's A."""
    form = symbolic_product(symbolic(product(a, b), tmp_path))
    assert form.loops == {"m": 1, "n": 0, "k": 2}
    assert (form.a.strides["m"], form.a.strides["k"], form.b.strides["k"], form.b.strides["n"]) == strides
    assert form.c.strides == {"m": "1", "n": "(long)N"}


def test_one_proof_holds_for_all_sizes(tmp_path: Path) -> None:
    nest = symbolic(product(before="C[i][j] = 0;"), tmp_path)
    form = symbolic_product(nest)

    def broken(*tiles: Tile) -> str:
        return broken_dependence(nest, distributed(nest, {form.statement: Blocking(tiles, 2, 3).schedule(form)}))

    assert broken(Tile("m", 7), Tile("k", 5), Tile("n", 4)) == ""
    assert broken(Tile("k", 5), Tile("n", 9, parallel=True), Tile("m", 64), Tile("n", 3)) == ""
    assert "running `k_t1` in parallel" in broken(Tile("k", 5, parallel=True), Tile("m", 7), Tile("n", 4))
    # One tile of k, at all sizes of the range: threads have nothing to share.
    assert broken(Tile("k", 40, parallel=True), Tile("m", 7), Tile("n", 4)) == ""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (product().replace("k < K", "k <= i"), "don't all run from 0 up to a size"),
        (product().replace("A[i][k]", "A[i][K - 1 - k]"), "is computed from a size|out of bounds"),
        (product().replace("float C[M][N]", "float C[M + 1][N]"), "an extent of `C` is computed from a size"),
        (product().replace("C[M][N]", "C[M][2 * N]"), "an extent of `C` is computed from a size"),
        (product(element="int"), "a library multiplies float or double, not int into int"),
        (product(before="C[i][j] = 0;").replace("C[i][j] += A", "C[i][j] *= A"), "has none"),
        (product(before="C[i][j] += A[i][0];"), None),
        (product().replace("C[i][j] +=", "C[0][j] +="), "moves along the rows of the result|three loops"),
    ],
)
def test_what_a_library_cannot_hold_is_refused(tmp_path: Path, text: str, message: str | None) -> None:
    if message is None:
        symbolic_product(symbolic(text, tmp_path))
        return
    with pytest.raises(UserError, match=message) as raised:
        symbolic_product(symbolic(text, tmp_path))
    assert raised.value.line is not None
    assert raised.value.remedy


def test_statements_that_need_each_other_are_refused(tmp_path: Path) -> None:
    """D holds C before the product in its first row, and after it in all others."""
    text = (
        "void gemm(int M, int N, int K, float C[M][N], const float A[M][K], const float B[K][N], float D[M][N])\n"
        "{\n#pragma scop\n  for (int i = 0; i < M; ++i)\n    for (int j = 0; j < N; ++j) {\n"
        "      D[i][j] = C[0][j];\n      for (int k = 0; k < K; ++k)\n        C[i][j] += A[i][k] * B[k][j];\n"
        "    }\n#pragma endscop\n}\n"
    )
    with pytest.raises(UserError, match="can't run one after the other"):
        symbolic(text, tmp_path)


def test_only_integer_parameters_have_ranges(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="Q is no integer parameter of the function") as raised:
        symbolic(product(), tmp_path, (*RANGES, "Q=1..3"))
    assert "-D NAME=VALUE" in str(raised.value)
    with pytest.raises(UserError, match="M is no integer parameter"):
        symbolic("#define M 8\n" + product().replace("int M, ", ""), tmp_path)
    with pytest.raises(UserError, match="value of K"):
        symbolic(product(), tmp_path, RANGES[:2])


@pytest.mark.parametrize(("threads", "vector_bytes"), [(1, 64), (4, 32)])
def test_usual_blockings_are_legal_and_small_enough_to_copy(tmp_path: Path, threads: int, vector_bytes: int) -> None:
    nest = symbolic(product(), tmp_path)
    form = symbolic_product(nest)
    machine = machine_with(threads, vector_bytes)
    for element_bytes in (4, 8):
        blockings = usual_blockings(machine, element_bytes)
        assert len({each.id for each in blockings}) == len(blockings) == (16 if threads > 1 else 8)
        for each in blockings:
            assert broken_dependence(nest, distributed(nest, {form.statement: each.schedule(form)})) == ""
            assert all(each.packed_elements(name) * element_bytes <= MOST_PACKED_BYTES for name in each.packed)
            assert each.vectors * (each.columns + 1) < machine.core.vector_registers
