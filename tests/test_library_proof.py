"""Nests with sizes as parameters: what isl proves for all sizes at once, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import islpy as isl
import pytest
from machines import machine_with
from marks import parametrized
from symbolic_nests import RANGES, product, symbolic

from polydl.errors import OptionError, UserError
from polydl.ir import variant as ir_variant
from polydl.ir.variant import NestStep, Variant
from polydl.libraries.accumulators import without_sums
from polydl.libraries.blocking import Blocking, BlockingLoop, of_variant
from polydl.libraries.kernel import Kernel, broken, planned
from polydl.libraries.product import SymbolicProduct, symbolic_product
from polydl.libraries.symbolic import SymbolicNest
from polydl.libraries.usual_blockings import usual_blockings
from polydl.pipeline import apply, parse


def product_of(nest: SymbolicNest) -> SymbolicProduct:
    form = symbolic_product(nest)
    assert form is not None
    return form


def broken_by(nest: SymbolicNest, blocking: Blocking) -> str:
    return broken(planned(nest, product_of(nest), Kernel(blocking=blocking)))


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
    form = product_of(symbolic(product(a, b), tmp_path))
    assert form.loops == {"m": 1, "n": 0, "k": 2}
    assert (form.a.strides["m"], form.a.strides["k"], form.b.strides["k"], form.b.strides["n"]) == strides
    assert form.c.strides == {"m": "1", "n": "(long)N"}


def test_rows_that_overlap_are_no_product_of_blocks(tmp_path: Path) -> None:
    """A block of C is read and then written as a whole, so that ``C[i + j]`` would lose sums."""
    text = product().replace("C[M][N]", "C[M + N]").replace("C[i][j] +=", "C[i + j] +=")
    assert symbolic_product(symbolic(text, tmp_path)) is None


@pytest.mark.parametrize(("factor", "taken"), [("2", True), ("0.5", False), ("-3", True), ("2.0f", False)])
def test_integers_are_multiplied_by_integers_alone(tmp_path: Path, factor: str, taken: bool) -> None:
    text = product().replace("float", "signed char").replace("signed char C", "int C").replace("+=", f"+= {factor} *")
    assert (symbolic_product(symbolic(text, tmp_path)) is not None) == taken


def test_what_is_added_to_a_sum_must_be_there_before_it(tmp_path: Path) -> None:
    """``D[i][j]`` is doubled after the sum: ``C = D * C`` in the place where that begins would take another one."""
    loops = "  for (int i = 0; i < M; ++i)\n    for (int j = 0; j < N; ++j) {\n      float sum = 0;\n"
    inner = "      for (int k = 0; k < K; ++k)\n        sum += A[i][k] * B[k][j];\n"
    arrays = "float C[M][N], float D[M][N], const float A[M][K], const float B[K][N]"
    for between, remains in (("      D[i][j] *= 2;\n", True), ("", False)):
        body = f"{loops}{inner}{between}      C[i][j] = sum + D[i][j] * C[i][j];\n    }}\n"
        text = f"void gemm(int M, int N, int K, {arrays})\n{{\n#pragma scop\n{body}#pragma endscop\n}}\n"
        nest = without_sums(symbolic(text, tmp_path))
        used = {access.array for statement in nest.scop.statements for access in statement.accesses}
        assert any("sum" in name for name in used) == remains


@pytest.mark.parametrize(
    ("region", "remains"),
    [
        ("{zeros} {adding} for (int j = 0; j < N; ++j) C[0][j] = sum[j] + 2 * C[0][j];", False),
        ("{zeros} {adding} for (int j = 0; j < N; ++j) C[0][j + 1] = sum[j] + C[0][j];", True),
        ("{zeros} {adding} for (int j = 0; j < N; ++j) C[0][0] = sum[j] + 2 * C[0][0];", True),
        (
            "for (int i = 0; i < M; ++i) {{ {zeros} {adding} for (int j = 0; j < N; ++j) C[i][j] = sum[j]; }}",
            True,
        ),
        (
            "for (int j = 0; j < N; ++j) {{ sum[j] = 0;"
            " for (int k = 0; k < N; ++k) sum[j] += B[0][k]; C[0][j] = sum[j] + C[0][0]; }}",
            False,
        ),
        (
            "for (int j = 0; j < N; ++j) {{ sum[j] = 0;"
            " for (int k = 0; k < N; ++k) sum[k] += B[0][k]; C[0][j] = sum[j] + C[0][0]; }}",
            True,
        ),
    ],
    ids=["its own", "the one before", "one for all", "again in each row", "one by one", "added to by all"],
)
def test_a_sum_stays_a_variable_where_its_target_would_hold_another_value(
    region: str, remains: bool, tmp_path: Path
) -> None:
    zeros = "for (int j = 0; j < N; ++j) sum[j] = 0;"
    adding = "for (int j = 0; j < N; ++j) for (int k = 0; k < K; ++k) sum[j] += B[k][j];"
    body = f"float sum[50];\n{region.format(zeros=zeros, adding=adding)}\n"
    head = "void sums(int M, int N, int K, float C[M][N + 1], const float B[K][N])"
    nest = symbolic(f"{head}\n{{\n#pragma scop\n{body}#pragma endscop\n}}\n", tmp_path)
    used = {access.array for statement in nest.scop.statements for access in statement.accesses}
    assert ("sum" in used) == remains


def test_one_proof_holds_for_all_sizes(tmp_path: Path) -> None:
    nest = symbolic(product(before="C[i][j] = 0;"), tmp_path)

    def tiled(*tiles: BlockingLoop) -> str:
        return broken_by(nest, Blocking(tiles, 2, 3))

    assert tiled(BlockingLoop("m", 7), BlockingLoop("k", 5), BlockingLoop("n", 4)) == ""
    assert (
        tiled(BlockingLoop("k", 5), BlockingLoop("n", 9, parallel=True), BlockingLoop("m", 64), BlockingLoop("n", 3))
        == ""
    )
    assert "by running `k_t1` in parallel" in tiled(
        BlockingLoop("k", 5, parallel=True), BlockingLoop("m", 7), BlockingLoop("n", 4)
    )
    # One tile of k, at all sizes of the range: threads have nothing to share.
    assert tiled(BlockingLoop("k", 40, parallel=True), BlockingLoop("m", 7), BlockingLoop("n", 4)) == ""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (product().replace("A[i][k]", "A[i][K - 1 - k]"), "is computed from a size|out of bounds"),
        (product().replace("float C[M][N]", "float C[M * K][N]"), "an extent of `C` is computed from sizes"),
        (product().replace("C[M][N]", "C[M - 1][N]"), "the extent is 8"),
        (product().replace("C[M][N]", "C[K][N]"), "accesses elements outside of `C`|out of bounds"),
    ],
)
def test_what_a_library_cannot_hold_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UserError, match=message) as raised:
        symbolic(text, tmp_path)
    assert raised.value.line is not None
    assert raised.value.remedy


@pytest.mark.parametrize(
    "text",
    [
        product().replace("k < K", "k <= i && k < K"),
        product(element="long"),
        product(before="C[i][j] = 0;").replace("C[i][j] += A", "C[i][j] *= A"),
        product().replace("C[i][j] +=", "C[0][j] +="),
        product().replace("C[i][j] +=", "C[i][0] +="),
    ],
    ids=["triangle", "integers", "no sum", "a row", "a column"],
)
def test_what_is_no_product_for_register_blocks_keeps_its_loops(tmp_path: Path, text: str) -> None:
    assert symbolic_product(symbolic(text, tmp_path)) is None


def test_a_statement_without_effect_is_left_out(tmp_path: Path) -> None:
    nest = symbolic(product(before="C[i][j];"), tmp_path)
    assert [statement.text for statement in nest.scop.statements] == ["C[i][j] += A[i][k] * B[k][j];"]


def test_extents_and_loops_are_sums_of_sizes(tmp_path: Path) -> None:
    text = (
        "void gemm(int M, int N, int K, float C[M + 2][2 * N + K], const float A[3 + M][K])\n{\n#pragma scop\n"
        "  for (int i = 0; i < M + 1; ++i)\n    for (int j = 0; j < N + K - 1; ++j)\n      C[i + 1][j] = A[i + 2][0];\n"
        "#pragma endscop\n}\n"
    )
    nest = symbolic(text, tmp_path)
    assert nest.extents == {"C": ("M + 2", "K + 2 * N"), "A": ("M + 3", "K")}
    assert nest.trips == {"S0": ("M + 1", "K + N - 1")}
    assert nest.source_extents({"M": 3, "N": 4, "K": 5}) == {"C": (5, 13), "A": (6, 5)}


def test_comments_among_parameters_and_macros_of_numbers_change_no_extent(tmp_path: Path) -> None:
    text = product("A[k][i]").replace("float C[M][N], const float A[K][M]", "float C[M][N + PAD], const float A[K][M]")
    text = text.replace("float C[", "/* C[i][j] += A[k + 1][i] */ float C[")
    nest = symbolic(f"#define ROW 1 // of C[M]\n#define PAD (ROW + 1)\n{text}", tmp_path)
    assert nest.extents == {"C": ("M", "N + 2"), "A": ("K", "M"), "B": ("K", "N")}


@pytest.mark.parametrize("sizes", ["N=2..50", "N=8"])
def test_an_extent_that_a_macro_computes_follows_its_size(tmp_path: Path, sizes: str) -> None:
    """A range of one size says nothing of the others, at which the function may be called as well."""
    text = "#define P (N + 1)\n" + product().replace("C[M][N]", "C[M][P]")
    with pytest.raises(UserError, match="an extent of `C` is computed from sizes"):
        symbolic(text, tmp_path, ("M=1..60", sizes, "K=1..40"))


def test_a_nest_for_one_size_alone_has_no_range_of_it(tmp_path: Path) -> None:
    text = product().replace("B[K][N]", "B[K][8]")
    with pytest.raises(UserError, match="the range N=8 has one size, and with 9 the nest can't be read") as raised:
        symbolic(text, tmp_path, ("M=1..60", "N=8", "K=1..40"))
    assert raised.value.remedy == "-D N=8 in place of the range"


def test_sizes_at_which_a_nest_is_none_are_named(tmp_path: Path) -> None:
    text = "void f(int N, float y[N - 2])\n{\n  for (int i = 0; i < N - 2; ++i)\n    y[i] = 1;\n}\n"
    with pytest.raises(UserError, match=r"with N=1 the nest can't be read: .*negative size") as raised:
        symbolic(text, tmp_path, ("N=1..9",))
    assert "ranges" in str(raised.value.remedy)


def test_a_function_that_the_file_lacks_is_named_where_sizes_are_given(tmp_path: Path) -> None:
    path = tmp_path / "nest.c"
    path.write_text(product(), encoding="utf-8")
    with pytest.raises(OptionError, match="there is no function another") as raised:
        parse(path, function="another", defines={"M": 8, "N": 8, "K": 8})
    assert raised.value.remedy == "choose one of: gemm"


def test_only_integer_parameters_have_ranges(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="Q is no integer parameter of the function") as raised:
        symbolic(product(), tmp_path, (*RANGES, "Q=1..3"))
    assert "-D NAME=VALUE" in str(raised.value)
    with pytest.raises(UserError, match="M is no integer parameter"):
        symbolic("#define M 8\n" + product().replace("int M, ", ""), tmp_path)
    with pytest.raises(UserError, match=r"range A=1\.\.3: A is no integer parameter of the function"):
        symbolic(product(), tmp_path, (*RANGES, "A=1..3"))
    with pytest.raises(UserError, match="value of K"):
        symbolic(product(), tmp_path, RANGES[:2])


@parametrized(("threads", "vector_bytes"), [(1, 64), (4, 32)], quick=1)
def test_usual_blockings_are_legal_and_small_enough_to_copy(tmp_path: Path, threads: int, vector_bytes: int) -> None:
    nest = symbolic(product(), tmp_path)
    form = product_of(nest)
    machine = machine_with(threads, vector_bytes)
    for element_bytes in (4, 8):
        blockings = usual_blockings(machine, element_bytes, form)
        assert len({each.id for each in blockings}) == len(blockings) == (30 if threads > 1 else 16)
        for each in blockings:
            assert broken_by(nest, each) == ""
            assert all(
                each.packed_elements(name) * element_bytes <= machine.core.packed_tile_bytes for name in each.packed
            )
            assert each.vectors * (each.columns + 1) < machine.core.vector_registers


@pytest.mark.parametrize("vector_bytes", [16, 32, 64])
def test_tiles_are_small_enough_to_copy_however_large_the_caches_are(tmp_path: Path, vector_bytes: int) -> None:
    """Copies are arrays of each thread, whatever its share of a cache may be."""
    machine = machine_with(4, vector_bytes)
    caches = tuple(replace(level, bytes=16 * level.bytes) for level in machine.caches)
    machine, most = replace(machine, caches=caches), machine.core.packed_tile_bytes
    bytes_to_int = product("A[k][i]", element="signed char").replace("signed char C[M][N]", "int C[M][N]")
    for text in (product(), product("A[i][k]", "B[j][k]"), bytes_to_int):
        form = product_of(symbolic(text, tmp_path))
        for element_bytes in (4, 8):
            for each in usual_blockings(machine, element_bytes, form):
                sizes = [each.packed_elements(name) * element_bytes for name in each.packed]
                assert max(sizes, default=0) <= most, (each.words(form), sizes)


def test_a_loop_that_is_not_tiled_at_a_small_shape_gets_a_usual_tile(tmp_path: Path) -> None:
    """At other shapes it has more iterations, of which a tile of one would make a loop without reuse."""
    form = product_of(symbolic(product(), tmp_path))
    machine = machine_with(1, 32)

    def terms(m: int, n: int, k: int, *steps: NestStep) -> int:
        scop = parse(tmp_path / "nest.c", defines={"M": n, "N": m, "K": k})
        applied = apply(scop, Variant(steps), machine=machine, microkernel="c")
        blocking = of_variant(applied, form, machine, 4)
        assert blocking is not None
        return blocking.innermost("k")

    assert min(terms(2, 1, 1), terms(48, 60, 40)) >= 64
    assert terms(2, 1, 3000) == 3000
    assert terms(48, 60, 40, ir_variant.Tile(0, "k", (8,))) == 8


def test_loops_over_tiles_end_before_an_int_does(tmp_path: Path) -> None:
    loop = "  for (int i = 0; i < N; ++i)\n    y[i] *= 2;\n"
    text = f"void f(int N, float y[N])\n{{\n#pragma scop\n{loop}#pragma endscop\n}}\n"
    assert symbolic(text, tmp_path, (f"N=1..{1 << 30}",)).trips == {"S0": ("N",)}
    with pytest.raises(UserError, match="runs up to 2147483647 times") as raised:
        symbolic(text, tmp_path, ("N=1..2147483647",))
    assert "1073741824" in str(raised.value.remedy)


def test_a_range_that_nothing_depends_on_is_refused(tmp_path: Path) -> None:
    text = product().replace("int K,", "int K, int P,")
    with pytest.raises(OptionError, match=r"--range P=1\.\.4: neither loops nor arrays of gemm depend on P") as raised:
        symbolic(text, tmp_path, (*RANGES, "P=1..4"))
    assert raised.value.remedy == "leave out its range"
    # In an extent it is a size, too.
    assert "P" in symbolic(text.replace("B[K][N])", "B[K][N + P])"), tmp_path, (*RANGES, "P=1..4")).sizes
    # Without a range it is an argument like any other.
    assert symbolic(text, tmp_path).sizes == ("M", "N", "K")
