"""Scalar replacement in the bodies of vector loops, and streaming stores, which begin with it. No compiler."""

from __future__ import annotations

from dataclasses import replace

import pytest
from loops_by_hand import adds, array, at, c, context, loop, sets, times

from polydl.codegen.context import Context, StatementFacts
from polydl.codegen.loop_ir import Assign, Body, If, LoopReduction
from polydl.codegen.passes import (
    dead_stores,
    parallel_loops,
    scalar_replacement,
    streaming_stores,
    unroll_and_jam,
    vectorize,
)
from polydl.codegen.values import Binary, Conditional, Expr, Integer, Name
from polydl.ir.schedule import Loop

ARRAYS = (
    array("s", 90),
    array("A", 8, 90),
    array("r", 8),
    array("y", 900),
    array("x", 900),
    array("w", 900),
    array("a"),
)


def known(
    *, count: int = 90, unrolled: int = 2, streamed: tuple[str, ...] = (), threads: bool = False, statements: str = "S"
) -> Context:
    facts = StatementFacts(
        parallel={1: Loop("j", 0, parallel=True)} if threads else {},
        vector=frozenset({1}),
        counts={1: count, 2: unrolled},
        lanes=16,
        unrolled={2: unrolled},
        streamed=frozenset(streamed),
    )
    return context(*ARRAYS, exact=False, precise=False, **dict.fromkeys(statements, facts))


def rows(term: Expr, target: Expr | None = None) -> Body:
    """Two rows that are added to one vector."""
    inner = loop("i", 2, 1, adds("S", target or at("s", "j"), term))  # type: ignore[arg-type]
    return (loop("j", 1, 89, inner),)


def replaced(ir: Body, facts: Context) -> list[str]:
    return c(scalar_replacement.run(vectorize.run(unroll_and_jam.run(ir, facts), facts), facts))


def test_what_several_copies_add_to_stays_in_a_register() -> None:
    assert replaced(rows(times(at("A", "i", "j"), at("r", "i"))), known()) == [
        "{",
        "const float polydl_once0_0 = r[0];",
        "const float polydl_once0_1 = r[1];",
        "for (int j = 0; j <= 89; ++j) {",
        "float polydl_scalar0 = s[j];",
        "polydl_scalar0 += A[0][j] * polydl_once0_0;",
        "polydl_scalar0 += A[1][j] * polydl_once0_1;",
        "s[j] = polydl_scalar0;",
        "}",
        "}",
    ]


def test_nothing_is_read_before_a_loop_without_iterations() -> None:
    """The element may lie outside of its array there."""
    inner = loop("i", 2, 1, adds("S", at("s", "j"), times(at("A", "i", "j"), at("r", "i"))))
    ends = replaced((loop("j", 1, Name("n"), inner),), known())
    assert ends[:3] == ["if (0 <= n) {", "{", "const float polydl_once0_0 = r[0];"]
    assert ends[-2:] == ["}", "}"]


def test_what_fused_statements_share_or_leave_alone_is_in_variables() -> None:
    """A store to one array might change another for all that C knows: its loads stayed in the loop."""
    body = (sets("S", at("y", "j"), times(at("x", "j"), at("r", "i"))), sets("T", at("w", "j"), at("y", "j")))
    assert replaced((loop("j", 1, 89, *body),), known(statements="ST")) == [
        "{",
        "const float polydl_once0 = r[i];",
        "for (int j = 0; j <= 89; ++j) {",
        "float polydl_scalar0;",
        "polydl_scalar0 = x[j] * polydl_once0;",
        "w[j] = polydl_scalar0;",
        "y[j] = polydl_scalar0;",
        "}",
        "}",
    ]


def test_parts_of_one_statement_read_elements_of_their_own_before_the_loop() -> None:
    """A rewrite that takes a statement apart leaves the parts the same references."""
    body = (sets("S", at("y", "j"), times(at("x", "j"), at("r", 2))), sets("T", at("w", "j"), at("r", 3)))
    lines = replaced((loop("j", 1, 89, *body),), known(statements="ST"))
    assert lines[1:3] == ["const float polydl_once0 = r[2];", "const float polydl_once1 = r[3];"]
    assert lines[4:6] == ["y[j] = x[j] * polydl_once0;", "w[j] = polydl_once1;"]


def test_different_elements_of_an_array_stay_where_they_are() -> None:
    assert "polydl_scalar" not in str(replaced(rows(at("A", "i", "j"), at("A", "i + 2", "j")), known()))
    # Nobody writes what is read alone: it may stay as well.
    assert "polydl_scalar" not in str(replaced(rows(at("x", "j"), at("A", "i", "j")), known()))


def test_scalars_and_what_is_written_are_not_read_before_the_loop() -> None:
    lines = replaced(rows(times(at("a"), at("s", 0), at("A", "i", "j"))), known())
    assert not any("polydl_once" in line for line in lines)


def test_a_variable_that_is_written_first_needs_no_value() -> None:
    ir = (
        loop("j", 1, 89, sets("S", at("y", "j"), at("x", "j")), sets("T", at("y", "j"), times(at("y", "j"), at("a")))),
    )
    lines = replaced(ir, known(streamed=("y",), statements="ST"))
    assert lines[1:] == [
        "float polydl_scalar0;",
        "polydl_scalar0 = x[j];",
        "polydl_scalar0 = polydl_scalar0 * a;",
        "y[j] = polydl_scalar0;",
        "}",
    ]
    # Where nothing is to be streamed, one statement alone stays as it is.
    alone = (loop("j", 1, 89, sets("S", at("y", "j"), at("x", "j"))),)
    assert replaced(alone, known()) == c(alone)


def test_bodies_with_conditions_stay() -> None:
    ir = (loop("j", 1, 89, If(Name("c"), (sets("S", at("y", "j"), at("x", "j")),))),)
    assert replaced(ir, known(streamed=("y",))) == c(ir)


def streamed(ir: Body, facts: Context) -> list[str]:
    made = vectorize.run(ir, facts)
    for each in (scalar_replacement, streaming_stores):
        made = each.run(made, facts)
    return c(made)


def copy(last: int | Expr) -> Body:
    return (loop("j", 1, last, sets("S", at("y", "j"), at("x", "j"))),)


def test_short_loops_fill_one_buffer() -> None:
    assert streamed(copy(89), known(streamed=("y",))) == [
        "{",
        "_Alignas(64) float polydl_scalar0[90];",
        "#pragma omp simd simdlen(16)",
        "for (int j = 0; j <= 89; ++j) {",
        "polydl_scalar0[j] = x[j];",
        "}",
        "polydl_stream(&y[0], polydl_scalar0, (89 - 0 + 1) * sizeof *polydl_scalar0);",
        "}",
    ]


def test_long_loops_fill_buffers_piece_by_piece() -> None:
    assert streamed(copy(899), known(count=900, streamed=("y",))) == [
        "for (int polydl_j_start = 0; polydl_j_start <= 899; polydl_j_start += 256) {",
        "const int polydl_j_end = polydl_min(polydl_j_start + 255, 899);",
        "_Alignas(64) float polydl_scalar0[256];",
        "#pragma omp simd simdlen(16)",
        "for (int j = polydl_j_start; j <= polydl_j_end; ++j) {",
        "polydl_scalar0[j - polydl_j_start] = x[j];",
        "}",
        "polydl_stream(&y[polydl_j_start], polydl_scalar0, "
        "(polydl_j_end - polydl_j_start + 1) * sizeof *polydl_scalar0);",
        "}",
    ]


def test_threads_have_a_region_of_their_own() -> None:
    facts = known(count=900, streamed=("y",), threads=True)
    lines = streamed(parallel_loops.run(copy(899), facts), facts)
    assert lines[:4] == [
        "#pragma omp parallel",
        "{",
        "#pragma omp for nowait",
        "for (int polydl_j_start = 0; polydl_j_start <= 899; polydl_j_start += 256) {",
    ]


@pytest.mark.parametrize("body", [sets("S", at("y", "j"), at("y", "j")), adds("S", at("y", "j"), at("x", "j"))])
def test_what_is_read_before_it_is_written_goes_through_the_caches(body: object) -> None:
    ir = (loop("j", 1, 89, body),)  # type: ignore[arg-type]
    lines = streamed(ir, known(streamed=("y",)))
    assert not any("polydl_stream" in line for line in lines)


def test_unknown_lasts_are_those_of_the_loop() -> None:
    lines = streamed(copy(Name("n")), known(count=900, streamed=("y",)))
    assert lines[1] == "const int polydl_j_end = polydl_min(polydl_j_start + 255, n);"


def without_dead_stores(ir: Body, *temporary: str) -> list[str]:
    facts = replace(known(unrolled=1), temporary=frozenset(temporary))
    ir = scalar_replacement.run(vectorize.run(unroll_and_jam.run(ir, facts), facts), facts)
    return c(dead_stores.run(ir, facts))


def test_a_temporary_array_of_one_loop_stays_in_a_register_alone() -> None:
    chain = (loop("j", 1, 89, sets("S", at("x", "j"), at("w", "j")), sets("S", at("y", "j"), at("x", "j"))),)
    assert without_dead_stores(chain, "x") == [
        "for (int j = 0; j <= 89; ++j) {",
        "float polydl_scalar0;",
        "polydl_scalar0 = w[j];",
        "y[j] = polydl_scalar0;",
        "}",
    ]
    assert "x[j] = w[j];" in without_dead_stores(chain), "the array of a parameter is written"


def test_a_temporary_array_that_another_loop_reads_is_written() -> None:
    chain = (
        loop("j", 1, 89, sets("S", at("x", "j"), at("w", "j")), sets("S", at("y", "j"), at("x", "j"))),
        loop("j", 1, 89, sets("S", at("w", "j"), at("x", "j"))),
    )
    assert any(line.startswith("x[j] = ") for line in without_dead_stores(chain, "x"))


def test_a_factor_of_a_sum_is_read() -> None:
    total = LoopReduction("polydl_sum0", "float", at("y", "i"), "S", factor=at("x", "i"))
    added = Assign(Name("polydl_sum0"), "+=", at("w", "j"), "S")
    summed = replace(loop("j", 1, 89, added), vector=True, reductions=(total,))
    ir = (loop("i", 0, 89, sets("S", at("x", "i"), at("z", "i")), summed),)
    assert "x[i] = z[i];" in without_dead_stores(ir, "x")


def test_what_a_temporary_array_held_before_is_read() -> None:
    """Its first use is a read: an earlier iteration, or another loop, wrote it."""
    chain = (loop("j", 1, 89, adds("S", at("x", "j"), at("w", "j")), sets("S", at("y", "j"), at("x", "j"))),)
    shown = without_dead_stores(chain, "x")
    assert "float polydl_scalar0 = x[j];" in shown
    assert "x[j] = polydl_scalar0;" in shown


def test_what_only_a_condition_lets_be_read_is_not_read_before_the_loop() -> None:
    """At k = 0 there is neither ``r[k - 1]`` nor ``A[k - 1][j]``."""

    def guarded(element: Expr) -> Expr:
        return Conditional(Binary(">", Name("k"), Integer(0)), element, at("x", "j"))

    body = (
        loop(
            "j", 1, 89,
            sets("S", at("A", "k", "j"), times(guarded(at("r", "k + -1")), at("r", "k"))),
            sets("T", at("s", "j"), times(guarded(at("A", "k + -1", "j")), at("r", "k"))),
        ),
    )  # fmt: skip
    facts = known(statements="ST")
    lines = c(scalar_replacement.run(vectorize.run(body, facts), facts))
    inside = lines.index(next(line for line in lines if line.startswith("for")))
    assert any("= r[k];" in line for line in lines[:inside])
    assert not any("k - 1" in line for line in lines[:inside])
    assert [line for line in lines if "A[k - 1][j]" in line and "?" not in line] == []


def test_elements_that_are_only_read_are_not_written_back() -> None:
    body = (
        loop(
            "j", 1, 89,
            sets("S", at("A", 1, "j"), at("A", 0, "j")),
            sets("T", at("s", "j"), times(at("A", 0, "j"), at("A", 1, "j"))),
        ),
    )  # fmt: skip
    facts = known(statements="ST")
    lines = c(scalar_replacement.run(vectorize.run(body, facts), facts))
    assert sum(line.startswith("A[1][j] = ") for line in lines) == 1
    assert not any(line.startswith("A[0][j] = ") for line in lines)
