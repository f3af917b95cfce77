"""The ways in which people write SGEMM: alpha and beta, transpositions, leading dimensions, linear subscripts."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import pytest
from library_kernels import ALONG_TERMS, KERNELS, SMALL, compiled, copying_a, sizes
from marks import parametrized
from symbolic_nests import RANGES, symbolic

from polydl.errors import ArgumentError, UserError
from polydl.libraries.product import symbolic_product
from polydl.libraries.symbolic import SymbolicNest

SHAPES = 100
LEADING = ("lda=K..", "ldb=N..", "ldc=N..")
SIZES = "int M, int N, int K"
ROWS = f"{SIZES}, int lda, int ldb, int ldc, float alpha, float beta"


def blas(a: str, b: str) -> str:
    """The reference implementation of BLAS: pointers, linear subscripts, and a sum in a variable."""
    return f"""\
void gemm({ROWS}, const float *A, const float *B, float *C)
{{
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j) {{
      float sum = 0;
      for (int k = 0; k < K; ++k)
        sum += {a} * {b};
      C[i * ldc + j] = alpha * sum + beta * C[i * ldc + j];
    }}
}}
"""


BLAS = blas("A[i * lda + k]", "B[k * ldb + j]")


def nest(head: str, before: str, product: str, after: str = "") -> str:
    return (
        f"void gemm({head})\n{{\n  for (int i = 0; i < M; ++i)\n    for (int j = 0; j < N; ++j) {{\n      {before}\n"
        f"      for (int k = 0; k < K; ++k)\n        {product}\n      {after}\n    }}\n}}\n"
    )


SCALARS = f"{SIZES}, float alpha, float beta"
IN_ROWS = "const float A[M][K], const float B[K][N], float C[M][N]"
SIMPLE = nest(f"{SCALARS}, {IN_ROWS}", "C[i][j] *= beta;", "C[i][j] += alpha * A[i][k] * B[k][j];")
LINEAR = nest(
    f"{SCALARS}, const float *A, const float *B, float *C",
    "C[N * i + j] *= beta;", "C[N * i + j] += A[i * K + k] * B[j + k * N] * alpha;",
)  # fmt: skip
POINTERS = nest(
    f"{ROWS}, const float (*A)[lda], const float B[][ldb], float C[restrict][ldc]",
    "float sum = beta * C[i][j];", "sum += alpha * (A[i][k] * B[k][j]);", "C[i][j] = sum;",
)  # fmt: skip
IN_A_VARIABLE = nest(
    f"{SCALARS}, const float *A, const float *B, float *C",
    "float sum = C[i * N + j] * beta;", "sum += alpha * A[i * K + k] * B[j + k * N];", "C[i * N + j] = sum;",
)  # fmt: skip
UPDATE = nest(
    f"{ROWS}, const float A[M][lda], const float B[K][ldb], float C[M][ldc]",
    "C[i][j] = beta * C[i][j];", "C[i][j] -= -1.0f * alpha * A[i][k] * B[k][j];",
)  # fmt: skip


def check(text: str, directory: Path, *, rows: bool, transposed: tuple[bool, bool] = (False, False)) -> None:
    """Compare all kernels with NumPy at random shapes within the ranges, at their borders and beyond."""
    ranges: tuple[str, ...] = RANGES
    if rows:
        extents = {"lda": "M" if transposed[0] else "K", "ldb": "K" if transposed[1] else "N", "ldc": "N"}
        ranges = (*RANGES, *(f"{name}={least}.." for name, least in extents.items()))
    form = symbolic(text, directory, ranges)
    function = compiled(form, directory, copying_a() if transposed[1] else KERNELS, 8)
    draw, random = Random(3), np.random.default_rng(3)

    def stored(matrix: np.ndarray, rows: int, *, transposed: bool) -> np.ndarray:
        written = matrix.T if transposed else matrix
        padded = np.full((written.shape[0], rows), 7, np.float32)
        padded[:, : written.shape[1]] = written
        return padded

    for _ in range(SHAPES):
        m, n, k = sizes(draw)
        alpha, beta = draw.choice((0, 1, -1, 2.5)), draw.choice((0, 1, 0.5))
        a, b, c = (random.random(shape).astype(np.float32) for shape in ((m, k), (k, n), (m, n)))
        more = draw.randrange(4) if rows else 0
        lda, ldb, ldc = (m if transposed[0] else k) + more, (k if transposed[1] else n) + more, n + more
        given = {
            "A": stored(a, lda, transposed=transposed[0]),
            "B": stored(b, ldb, transposed=transposed[1]),
            "C": stored(c, ldc, transposed=False),
        }
        extra = {"lda": lda, "ldb": ldb, "ldc": ldc} if rows else {}
        function(M=m, N=n, K=k, alpha=alpha, beta=beta, **extra, **given)
        assert np.allclose(given["C"][:, :n], alpha * (a @ b) + beta * c, rtol=1e-4, atol=1e-5), (m, n, k, alpha, beta)
        assert (given["C"][:, n:] == 7).all()


@pytest.mark.native
@parametrized("a", ["A[i * lda + k]", "A[i + k * lda]"], quick=1)
@parametrized("b", ["B[k * ldb + j]", "B[k + (size_t)j * ldb]"], quick=1)
def test_blas_in_c_is_right_at_all_sizes(tmp_path: Path, a: str, b: str) -> None:
    text = "#include <stddef.h>\n" + blas(a, b)
    check(text, tmp_path, rows=True, transposed=("k * lda" in a, "k +" in b))


@pytest.mark.native
@parametrized(
    ("text", "rows"),
    [(SIMPLE, False), (LINEAR, False), (IN_A_VARIABLE, False), (POINTERS, True), (UPDATE, True)],
    ids=["arrays", "linear", "in a variable", "pointers to rows", "subtracted"], quick=1)  # fmt: skip
def test_other_forms_are_right_at_all_sizes(tmp_path: Path, text: str, rows: bool) -> None:
    check(text, tmp_path, rows=rows)


@pytest.mark.native
@pytest.mark.slow
def test_dot_products_have_factors_and_leading_dimensions(tmp_path: Path) -> None:
    form = symbolic(BLAS, tmp_path, (*RANGES, *LEADING))
    function = compiled(form, tmp_path, {"dots": ALONG_TERMS}, 8)
    random = np.random.default_rng(1)
    for m, n, k in ((5, 7, 6), (13, 1, 40), (4, 11, 27), (60, 50, 33), (0, 5, 9), (6, 0, 9), (6, 5, 0)):
        a, b, c = (random.random(shape).astype(np.float32) for shape in ((m, k + 2), (k, n + 1), (m, n + 3)))
        expected = c.copy()
        expected[:, :n] = 1.5 * (a[:, :k] @ b[:, :n]) - 2 * c[:, :n]
        function(A=a, B=b, C=c, M=m, N=n, K=k, lda=k + 2, ldb=n + 1, ldc=n + 3, alpha=1.5, beta=-2)
        assert np.allclose(c, expected, rtol=1e-4, atol=1e-5), (m, n, k)


@pytest.mark.native
def test_rows_shorter_than_their_least_length_run_as_they_were_written(tmp_path: Path) -> None:
    """Rows of A then overlap, which the C says, and kernels would read the same elements."""
    function = compiled(symbolic(BLAS, tmp_path, (*RANGES, *LEADING)), tmp_path, {"none": SMALL}, 8)
    a, b, c = np.arange(20, dtype=np.float32), np.ones((6, 7), np.float32), np.ones((5, 7), np.float32)
    function(A=a, B=b, C=c, M=5, N=7, K=6, lda=2, ldb=7, ldc=7, alpha=1, beta=0)
    assert c[:, 0].tolist() == [float(sum(a[2 * i : 2 * i + 6])) for i in range(5)]
    with pytest.raises(ArgumentError, match="A"):
        function(A=a[:9], B=b, C=c, M=5, N=7, K=6, lda=2, ldb=7, ldc=7, alpha=1, beta=0)


@pytest.mark.native
def test_a_size_is_an_integer(tmp_path: Path) -> None:
    function = compiled(symbolic(BLAS, tmp_path, (*RANGES, *LEADING)), tmp_path, {"none": SMALL}, 8)
    for size in (3.7, "3", None, np.array([3, 4])):
        with pytest.raises(ArgumentError, match=f"gemm: the size M is a {type(size).__name__}"):
            function(M=size, N=7, K=6, lda=6, ldb=7, ldc=7)


@pytest.mark.native
def test_calls_with_other_sizes_are_told_from_those_before(tmp_path: Path) -> None:
    function = compiled(symbolic(BLAS, tmp_path, (*RANGES, *LEADING)), tmp_path, {"none": SMALL}, 8)
    a, b = (np.ones(shape, np.float32) for shape in ((9, 8), (8, 7)))
    for kind in (int, np.int64):
        for rows, terms in ((9, 8), (4, 8), (4, 3), (9, 8)):
            c = np.zeros((9, 7), np.float32)
            function(A=a, B=b, C=c, M=kind(rows), N=7, K=kind(terms), lda=8, ldb=7, ldc=7, alpha=1, beta=0)
            assert (c[:rows] == terms).all()
            assert not c[rows:].any()
    with pytest.raises(ArgumentError, match="argument 'A' holds float64"):
        function(A=a.astype(float), B=b, C=c, M=9, N=7, K=8, lda=8, ldb=7, ldc=7, alpha=1, beta=0)
    # More sizes than are remembered.
    for size in range(1, 100):
        c = np.zeros((1, 7), np.float32)
        function(A=np.ones((1, size), np.float32), B=np.ones((size, 7), np.float32), C=c, M=1, N=7, K=size, lda=size,
                 ldb=7, ldc=7, alpha=1, beta=0)  # fmt: skip
        assert (c == size).all()


def scale(nest: SymbolicNest) -> str:
    form = symbolic_product(nest)
    assert form is not None
    return form.scale


@pytest.mark.native
def test_what_becomes_of_a_librarys_file_changes_no_call(tmp_path: Path) -> None:
    function = compiled(symbolic(SIMPLE, tmp_path, RANGES), tmp_path, {"none": SMALL}, 8)
    for size in (3, 5):
        a, b, c = (np.ones((size, size), np.float32) for _ in range(3))
        function(alpha=2.0, beta=1.0, A=a, B=b, C=c)
        assert (c == 2 * size + 1).all()
        for path in tmp_path.glob("*.so"):
            path.write_bytes(b"")


def test_a_sum_goes_where_it_is_taken(tmp_path: Path) -> None:
    form = symbolic(BLAS, tmp_path, (*RANGES, *LEADING))
    assert [each.body.text for each in form.scop.statements] == ["=", "+="]
    assert scale(form) == "alpha"
    added = symbolic(BLAS.replace("= alpha * sum + beta * C[i * ldc + j]", "+= sum"), tmp_path, (*RANGES, *LEADING))
    assert [each.body.text for each in added.scop.statements] == ["+="]
    assert scale(added) == ""
    squared = symbolic(POINTERS.replace("C[i][j] = sum", "C[i][j] = sum * sum"), tmp_path, (*RANGES, *LEADING))
    assert [each.body.text for each in squared.scop.statements] == ["=", "+=", "="]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (LINEAR.replace("A[i * K + k]", "A[i * i * K + k]"), "affine|computed from a size"),
        (LINEAR.replace("A[i * K + k]", "A[i * K + 2 * k]"), "a subscript of `A` in .* is computed from a size"),
        (LINEAR.replace("C[N * i + j] *= beta", "C[i] *= beta"), "a subscript of `C` in .* is computed from a size"),
        (LINEAR.replace("A[i * K + k]", "A[i * N + k]"), "accesses elements outside of a row of `A`"),
    ],
)  # fmt: skip
def test_what_is_no_such_product_is_refused(tmp_path: Path, text: str, message: str) -> None:
    ranges = (*RANGES, *LEADING) if "lda" in text else RANGES
    with pytest.raises(UserError, match=message) as raised:
        symbolic(text, tmp_path, ranges)
    assert raised.value.line is not None
    assert raised.value.remedy
