"""Finding a matrix product from strides, and saying why there is none."""

from __future__ import annotations

from dataclasses import replace

import pytest
from machines import machine_with
from nest_factory import Work, convolution, make_scop, matmul

from polydl.ir.scop import Scop
from polydl.ir.statement import Expression
from polydl.match.product import GemmMatch, NoMatch, match
from polydl.microkernels.libxsmm import LIBXSMM
from polydl.microkernels.plain_c import PLAIN_C
from polydl.variants.build_space import build_space

needs_libxsmm = pytest.mark.skipif(LIBXSMM.unavailable() is not None, reason="LIBXSMM is not installed")


def access(reference: str) -> Expression:
    return Expression("access", reference)


def product_scop(work: Work, element_bytes: dict[str, int] | None = None) -> Scop:
    """The work's first two accesses as the target of ``+=``, the other two as the factors."""
    scop = make_scop([work], element_bytes)
    statement = scop.statements[0]
    target = f"{work.name}_0"
    accesses = tuple(
        replace(a, reference=target) if position < 2 else a for position, a in enumerate(statement.accesses)
    )
    body = Expression(
        "op",
        "+=",
        (access(target), Expression("op", "*", (access(f"{work.name}_2"), access(f"{work.name}_3")))),
    )
    return replace(scop, statements=(replace(statement, accesses=accesses, body=body),))


def with_body(scop: Scop, body: Expression) -> Scop:
    return replace(scop, statements=(replace(scop.statements[0], body=body),))


def found(scop: Scop, kernel: object = PLAIN_C) -> tuple[GemmMatch, ...]:
    statement = scop.statements[0]
    result = match(scop, statement, tuple(range(statement.depth)), kernel)  # type: ignore[arg-type]
    assert not isinstance(result, NoMatch), result.reason
    return result


def refused(scop: Scop, kernel: object = PLAIN_C) -> str:
    statement = scop.statements[0]
    result = match(scop, statement, tuple(range(statement.depth)), kernel)  # type: ignore[arg-type]
    assert isinstance(result, NoMatch)
    return result.reason


def names(scop: Scop, result: GemmMatch) -> tuple[str, str, str]:
    iterators = scop.statements[0].iterators
    return iterators[result.m], iterators[result.n], iterators[result.k]


@needs_libxsmm
def test_a_row_major_product_runs_columns_first() -> None:
    scop = product_scop(matmul(20, 30, 40))
    (only,) = found(scop, LIBXSMM)
    assert names(scop, only) == ("j", "i", "k")
    assert (only.form.a.array, only.form.b.array) == ("B", "A")
    assert (only.lda, only.ldb, only.ldc) == (30, 40, 30)
    assert only.batchable == ()


@needs_libxsmm
def test_names_and_order_of_loops_do_not_matter() -> None:
    work = matmul(20, 30, 40)
    turned = replace(work, loops=(work.loops[2], work.loops[1], work.loops[0]))
    scop = product_scop(turned)
    (only,) = found(scop, LIBXSMM)
    assert names(scop, only) == ("j", "i", "k")


@needs_libxsmm
def test_a_blocked_convolution_batches_its_other_reduction_loops() -> None:
    scop = product_scop(convolution(2, 3, 8, 3, images=2))
    best = found(scop, LIBXSMM)[0]
    assert names(scop, best) == ("ofm", "oi", "ifm")
    assert (best.lda, best.ldb, best.ldc) == (16, 16, 16)
    assert {scop.statements[0].iterators[loop] for loop in best.batchable} == {"ifm_tile", "kj", "ki"}


@needs_libxsmm
def test_a_stride_widens_the_leading_dimension_of_b() -> None:
    best = found(product_scop(convolution(1, 1, 8, 3, stride=2)), LIBXSMM)[0]
    assert best.ldb == 32


@needs_libxsmm
def test_a_transposed_factor_matches_too() -> None:
    work = Work(
        "S",
        (("i", 0, 9), ("j", 0, 19), ("k", 0, 29)),
        (
            ("read", "C", ("i", "j")),
            ("write", "C", ("i", "j")),
            ("read", "A", ("k", "i")),
            ("read", "B", ("k", "j")),
        ),
    )
    scop = product_scop(work)
    (only,) = found(scop, LIBXSMM)
    assert (only.stride_bn, only.stride_bk) == (1, 10)
    assert names(scop, only) == ("j", "i", "k")


def test_plain_layouts_match_the_plain_kernel_only() -> None:
    work = Work(
        "S",
        (("f", 0, 7), ("c", 0, 5), ("y", 0, 8), ("x", 0, 8), ("r", 0, 2), ("s", 0, 2)),
        (
            ("read", "out", ("f", "y", "x")),
            ("write", "out", ("f", "y", "x")),
            ("read", "filter", ("f", "c", "r", "s")),
            ("read", "inp", ("c", "y + r", "x + s")),
        ),
    )
    scop = product_scop(work)
    assert ("x", "f", "c") in {names(scop, each) for each in found(scop)}
    report = build_space(scop, [LIBXSMM, PLAIN_C], machine_with(1, 64)).reports[0]
    assert report.kernel == "c"
    assert list(report.refusals) == ["libxsmm"]
    assert report.reason == f"libxsmm: {report.refusals['libxsmm'].reason}"


def test_a_product_in_place_is_no_match() -> None:
    work = matmul(6, 6, 6)
    in_place = tuple((kind, "C" if array == "A" else array, s) for kind, array, s in work.accesses)
    assert "in place" in refused(product_scop(replace(work, accesses=in_place)))


def test_what_is_no_product_says_so() -> None:
    scop = product_scop(matmul(4, 4, 4))
    target, left, right = access("S_0"), access("S_2"), access("S_3")
    product = Expression("op", "*", (left, right))
    cases = {
        "accumulation": Expression("op", "-=", (target, product)),
        "overwritten": Expression("op", "=", (target, Expression("op", "+", (left, product)))),
        "not a product": Expression("op", "+=", (target, Expression("op", "+", (left, right)))),
        "scale factor": Expression("op", "+=", (target, Expression("op", "*", (product, Expression("literal", "2"))))),
    }
    for word, body in cases.items():
        assert word in refused(with_body(scop, body))


def test_an_explicit_sum_is_an_accumulation_too() -> None:
    scop = product_scop(matmul(4, 5, 6))
    product = Expression("op", "*", (access("S_2"), access("S_3")))
    body = Expression("op", "=", (access("S_0"), Expression("op", "+", (product, access("S_0")))))
    assert names(scop, found(with_body(scop, body))[0]) == ("j", "i", "k")


def test_types_and_shapes_that_rule_a_match_out() -> None:
    work = matmul(6, 6, 6)
    assert "does not multiply double by float into" in refused(product_scop(work, {"A": 8, "B": 4, "C": 4}))
    assert "does not multiply" in refused(product_scop(work, {"A": 8, "B": 8, "C": 4}))
    assert "depend on each other" in refused(product_scop(replace(work, condition="i <= j")))
    fewer = Work(
        "S",
        (("i", 0, 5), ("k", 0, 5)),
        (("read", "y", ("i",)), ("write", "y", ("i",)), ("read", "A", ("i", "k")), ("read", "x", ("k",))),
    )
    assert "three loops" in refused(product_scop(fewer))


def test_a_subscript_with_a_division_has_no_stride() -> None:
    work = Work(
        "S",
        (("i", 0, 5), ("j", 0, 5), ("k", 0, 5)),
        (
            ("read", "C", ("i", "j")),
            ("write", "C", ("i", "j")),
            ("read", "A", ("i", "k // 2")),
            ("read", "B", ("k", "j")),
        ),
    )
    assert "divides an iterator" in refused(product_scop(work))
