"""Sums of vector loops: in variables of their own, with fewer products, and one for each lane. No compiler."""

from __future__ import annotations

from dataclasses import replace

import pytest
from loops_by_hand import adds, array, at, c, context, loop, sets, times
from sums_by_hand import ARRAYS, PRODUCT, SUM, UPDATE, row, summed

from polydl.codegen.context import Context, StatementFacts
from polydl.codegen.loop_ir import Assign, Body, For, If
from polydl.codegen.passes import (
    accumulators,
    factors,
    lane_accumulators,
    openmp_pragmas,
    reciprocals,
    reductions,
    unroll_and_jam,
    vectorize,
)
from polydl.codegen.values import (
    Apply,
    Binary,
    Cast,
    Conditional,
    Constant,
    Element,
    Expr,
    Integer,
    Linear,
    Name,
    Unary,
)


def test_a_loop_adds_to_a_variable_in_place_of_its_element() -> None:
    (made,) = reductions.run(vectorize.run(row(PRODUCT), context(*ARRAYS, S=SUM)), context(*ARRAYS, S=SUM))
    assert isinstance(made, For)
    (reduction,) = made.reductions
    assert (reduction.variable, reduction.type, reduction.target) == ("polydl_sum0", "float", at("z", "i"))
    assert c(made.body) == ["polydl_sum0 += A[i][j] * x[j];"]
    # Statements that add to what moves with the loop have no sum.
    moving = (loop("j", 1, 89, adds("S", at("s", "j"), PRODUCT)),)
    assert summed(moving, context(*ARRAYS, S=UPDATE)) == c(moving)


def test_an_element_that_moves_with_the_loop_is_no_variable_after_it() -> None:
    # A loop inside, over `i`, had one iteration for each of `j`, and its counter was put in.
    body = (loop("j", 1, 14, adds("S", at("z", Linear(((-1, Name("j")),), 15)), at("x", "j"))),)
    assert summed(body, context(*ARRAYS, S=SUM)) == c(body)
    rows = (loop("k", 0, 9, loop("j", 1, 15, adds("S", at("B", "k", "j"), at("x", "j")))),)
    facts = StatementFacts(vector=frozenset({1}), sums={0: "B"}, counts={0: 10, 1: 16}, lanes=16)
    known = context(*ARRAYS, array("B", 10, 16), S=facts)
    assert c(accumulators.run(rows, known)) == c(rows)


def test_nothing_is_added_where_a_loop_has_no_iteration() -> None:
    """Of a triangle, say: `z[i]` may lie outside of the array there, or belong to another thread."""
    known = context(*ARRAYS, S=SUM)
    lines = summed(row(PRODUCT, last=Name("i")), known, lane_accumulators)
    assert lines[0] == "if (0 <= i) {"
    assert lines[-3:] == ["z[i] += polydl_total_float(polydl_sum0, 16);", "}", "}"]
    assert not any(line.startswith("if") for line in summed(row(PRODUCT), known, lane_accumulators))
    rows = (loop("k", 0, Name("i"), loop("j", 1, 15, adds("S", at("B", "i", "j"), at("x", "j")))),)
    facts = StatementFacts(vector=frozenset({1}), sums={0: "B"}, counts={0: 10, 1: 16}, lanes=16)
    made = c(accumulators.run(rows, context(*ARRAYS, array("B", 10, 16), S=facts)))
    assert made[0] == "if (0 <= i) {"
    assert made != c(rows)


def test_tiles_of_a_constant_size_have_all_their_iterations() -> None:
    start = Linear(((64, Name("t")),))
    known = context(*ARRAYS, S=SUM)
    (tile,) = row(PRODUCT)
    assert isinstance(tile, For)
    for count, rest in ((64, False), (72, True)):
        last = Binary("+", Binary("*", Integer(64), Name("t")), Integer(count - 1))
        body = (loop("j", 1, last, *tile.body, first=start),)
        lines = summed(body, known, lane_accumulators)
        assert not any(line.startswith(("if", "const int")) for line in lines)
        loops = [line for line in lines if line.startswith("for (int j ")]
        assert len(loops) == 1 + rest


def test_sums_under_a_condition_stay_in_their_element_and_their_loop_fills_no_vectors() -> None:
    early = If(Binary("<", Name("i"), Integer(3)), (adds("S", at("z", "i"), PRODUCT),))
    body = (loop("j", 1, 89, early),)
    assert summed(body, context(*ARRAYS, S=SUM), lane_accumulators, openmp_pragmas) == c(body)
    inner = loop("j", 1, 15, If(Binary("<", Name("i"), Integer(3)), (adds("S", at("B", "i", "j"), at("x", "j")),)))
    rows = (loop("k", 0, 9, inner),)
    facts = StatementFacts(vector=frozenset({1}), sums={0: "B"}, counts={0: 10, 1: 16}, lanes=16)
    known = context(*ARRAYS, array("B", 10, 16), S=facts)
    assert c(accumulators.run(rows, known)) == c(rows)
    # Whether the loop inside has an iteration depends on the one around it.
    triangle = (loop("k", 0, 9, loop("l", 2, Name("k"), loop("j", 1, 15, adds("S", at("B", "i", "j"), at("x", "j"))))),)
    assert c(accumulators.run(triangle, known)) == c(triangle)


def test_short_sums_are_taken_in_float_if_nothing_is_more_precise() -> None:
    arrays = (array("t", 8, element="double"), *ARRAYS)
    facts = StatementFacts(vector=frozenset({1}), sums={1: "t"}, counts={1: 90}, lanes=16)
    ir = (loop("j", 1, 89, adds("S", at("t", 0), PRODUCT)),)

    def kind(known: Context, body: Body) -> str:
        (made,) = reductions.run(vectorize.run(body, known), known)
        assert isinstance(made, For)
        return made.reductions[0].type

    assert kind(context(*arrays, S=facts), ir) == "float"
    assert kind(context(*arrays, S=facts, precise=True), ir) == "double"
    precise = (loop("j", 1, 89, adds("S", at("t", 0), times(at("A", 0, "j"), at("d")))),)
    assert kind(context(*arrays, S=facts), precise) == "double"
    long = StatementFacts(vector=frozenset({1}), sums={1: "t"}, counts={1: 300}, lanes=16)
    assert kind(context(*arrays, S=long), ir) == "double"


@pytest.mark.parametrize(
    ("term", "narrow"),
    [
        (at("x", "j"), True),
        (times(at("x", "j"), Constant("0.5f")), True),
        (times(at("x", "j"), Constant("0.5")), False),
        (Cast("double", at("x", "j")), False),
        (Apply("sqrt", (at("x", "j"),)), False),
        (Apply("sqrtf", (at("x", "j"),)), True),
        (Conditional(at("d"), at("x", "j"), Unary("-", at("x", "j"))), True),
        (at("d"), False),
        (times(at("x", "j"), Name("j")), False),
        (Constant("0x1F"), False),
    ],
)
def test_float_is_what_c_computes_in_float(term: Expr, narrow: bool) -> None:
    assert context(*ARRAYS).is_float(term) is narrow


def test_without_lanes_openmp_adds_up() -> None:
    short = StatementFacts(vector=frozenset({1}), sums={1: "z"}, counts={1: 20}, lanes=16)
    assert summed(row(PRODUCT, last=19), context(*ARRAYS, S=short), lane_accumulators) == [
        "{",
        "float polydl_sum0 = 0;",
        "for (int j = 0; j <= 19; ++j) {",
        "polydl_sum0 += A[i][j] * x[j];",
        "}",
        "z[i] += polydl_sum0;",
        "}",
    ]


def test_each_lane_adds_up_by_itself() -> None:
    assert summed(row(PRODUCT), context(*ARRAYS, S=SUM), lane_accumulators) == [
        "{",
        "float polydl_sum0[16] = {0};",
        "for (int polydl_j_first = 0; polydl_j_first <= 79; polydl_j_first += 16) {",
        "#pragma omp simd simdlen(16)",
        "for (int j = polydl_j_first; j <= polydl_j_first + 15; ++j) {",
        "polydl_sum0[j - polydl_j_first] += A[i][j] * x[j];",
        "}",
        "}",
        "#pragma omp simd simdlen(16)",
        "for (int j = 80; j <= 89; ++j) {",
        "polydl_sum0[j - 80] += A[i][j] * x[j];",
        "}",
        "z[i] += polydl_total_float(polydl_sum0, 16);",
        "}",
    ]


def test_what_is_left_of_unknown_bounds_is_found_when_it_runs() -> None:
    lines = summed(row(PRODUCT, last=Name("i")), context(*ARRAYS, S=SUM), lane_accumulators)
    assert "for (int polydl_j_first = 0; polydl_j_first <= i - 15; polydl_j_first += 16) {" in lines
    assert "const int polydl_j_first = 16 * ((i - 0 + 1) / 16);" in lines
    assert "for (int j = polydl_j_first; j <= i; ++j) {" in lines


def test_copies_have_sums_of_their_own() -> None:
    facts = StatementFacts(vector=frozenset({1}), sums={1: "z"}, counts={1: 90, 2: 2}, lanes=16, unrolled={2: 2})
    known = context(*ARRAYS, S=facts)
    nest = (loop("j", 1, 89, loop("i", 2, 1, adds("S", at("z", "i"), PRODUCT))),)
    lines = summed(unroll_and_jam.run(nest, known), known, lane_accumulators)
    assert lines[1] == "float polydl_sum0_0[16] = {0}, polydl_sum0_1[16] = {0};"
    assert lines[-3:] == [
        "z[0] += polydl_total_float(polydl_sum0_0, 16);",
        "z[1] += polydl_total_float(polydl_sum0_1, 16);",
        "}",
    ]


SCALED = times(at("a"), at("A", "i", "j"), at("x", "j"))


def test_four_sums_are_added_up_at_a_time() -> None:
    facts = StatementFacts(vector=frozenset({1}), sums={1: "z"}, counts={1: 90, 2: 5}, lanes=16, unrolled={2: 5})
    known = context(*ARRAYS, S=facts)
    nest = (loop("j", 1, 89, loop("i", 2, 4, adds("S", at("z", "i"), SCALED))),)
    lines = summed(unroll_and_jam.run(nest, known), known, factors, lane_accumulators)
    assert lines[-10:] == [
        "{",
        "float polydl_totals[4];",
        "polydl_four_totals_float(polydl_totals, polydl_sum0_0, polydl_sum0_1, polydl_sum0_2, polydl_sum0_3, 16);",
        *(f"z[{place}] += a * polydl_totals[{place}];" for place in range(4)),
        "}",
        "z[4] += a * polydl_total_float(polydl_sum0_4, 16);",
        "}",
    ]
    # A vector of two lanes is no block of four.
    lines = summed(unroll_and_jam.run(nest, known), context(*ARRAYS, S=replace(facts, lanes=2)), lane_accumulators)
    assert sum("polydl_total_float(" in line for line in lines) == 5


def test_factors_that_a_loop_leaves_alone_are_multiplied_once() -> None:
    lines = summed(row(SCALED), context(*ARRAYS, S=SUM), factors, lane_accumulators)
    assert "polydl_sum0[j - 80] += A[i][j] * x[j];" in lines
    assert "z[i] += a * polydl_total_float(polydl_sum0, 16);" in lines
    lines = summed(row(SCALED), context(*ARRAYS, S=SUM, exact=True), factors, lane_accumulators)
    assert "polydl_sum0[j - 80] += (a * A[i][j]) * x[j];" in lines


def test_factors_are_regrouped_where_nothing_is_summed_up() -> None:
    product = times(at("a"), at("A", "i", "j"), at("r", "i"))
    ir = (loop("j", 1, 89, sets("S", at("s", "j"), Binary("-", at("s", "j"), product))),)
    assert "s[j] = s[j] - ((a * r[i]) * A[i][j]);" in summed(ir, context(*ARRAYS, S=UPDATE), factors)
    assert "s[j] = s[j] - ((a * A[i][j]) * r[i]);" in summed(ir, context(*ARRAYS, S=UPDATE, exact=True), factors)


def test_products_and_quotients_that_become_integers_are_those_of_the_source() -> None:
    """``49 * (1 / 49.0)`` is less than one, and 0 as an integer."""
    known = context(*ARRAYS, array("n", 90, element="int"), S=UPDATE)
    product = times(at("a"), at("A", "i", "j"), at("r", "i"))
    for value in (product, Binary("/", at("n", "j"), at("a"))):
        for ir in (
            (loop("j", 1, 89, sets("S", at("n", "j"), value)),),
            (loop("j", 1, 89, sets("S", at("s", "j"), Cast("int", value))),),
        ):
            assert c(reciprocals.run(factors.run(vectorize.run(ir, known), known), known)) == c(ir)


def test_products_and_quotients_that_are_compared_or_rounded_are_those_of_the_source() -> None:
    """``s * (1 / s)`` may be less than one."""
    known = context(*ARRAYS, S=UPDATE)

    def changes(value: Expr) -> bool:
        ir = (loop("j", 1, 89, sets("S", at("s", "j"), value)),)
        return c(reciprocals.run(factors.run(vectorize.run(ir, known), known), known)) != c(ir)

    for real in (times(at("a"), at("A", "i", "j"), at("r", "i")), Binary("/", at("x", "j"), at("a"))):
        test = Binary(">=", real, Integer(1))
        for kept in (
            Conditional(test, Integer(1), Integer(0)),
            Conditional(test, real, Integer(0)),
            Conditional(test, Binary("+", real, Integer(1)), Integer(0)),
            Conditional(Binary("&&", at("x", "j"), test), Integer(1), Integer(0)),
            Unary("!", real),
            Apply("rintf", (real,)),
            Apply("nearbyint", (real,)),
            # What the source's own functions do isn't known here.
            Apply("step", (real,)),
        ):
            assert not changes(kept)
        choice = Conditional(Binary(">", at("x", "j"), Integer(0)), real, Integer(0))
        for changed in (choice, Apply("expf", (real,)), Apply("float_to_bfloat16", (real,))):
            assert changes(changed)
        # The larger one of two values is one of them, and close to what it was.
        relu = Conditional(Binary("<", real, Integer(0)), Integer(0), real)
        ir = (loop("j", 1, 89, sets("S", at("s", "j"), relu)),)
        *_, line, _ = c(reciprocals.run(factors.run(vectorize.run(ir, known), known), known))
        (as_written,) = c((sets("S", at("s", "j"), real),))
        assert as_written.split("= ")[1].rstrip(";") not in line, "in its test or in its value"


def test_what_another_statement_compares_or_rounds_is_that_of_the_source() -> None:
    known = context(*ARRAYS, S=UPDATE, T=UPDATE)
    value = at("s", "j")
    for after, stays in ((Apply("rintf", (value,)), True), (Apply("expf", (value,)), False)):
        for real in (times(at("a"), at("A", "i", "j"), at("r", "i")), Binary("/", at("x", "j"), at("a"))):
            ir = (loop("j", 1, 89, sets("S", value, real), sets("T", value, after)),)
            assert (c(reciprocals.run(factors.run(vectorize.run(ir, known), known), known)) == c(ir)) == stays


def test_products_stay_that_are_short_or_of_several_types() -> None:
    known = context(*ARRAYS, S=UPDATE)
    for product in (times(at("a"), at("x", "j")), times(at("d"), at("A", "i", "j"), at("r", "i"))):
        ir = (loop("j", 1, 89, adds("S", at("s", "j"), product)),)
        assert summed(ir, known, factors) == c(ir)
    # What the loop writes is not left alone.
    written = (loop("j", 1, 89, sets("S", at("s", "j"), times(at("s", 0), at("A", "i", "j"), at("x", "j")))),)
    assert summed(written, known, factors) == c(written)


def test_sums_of_loops_around_keep_their_terms() -> None:
    accumulated = Assign(Element("polydl_row0", (Name("j"),)), "+=", SCALED, "S")
    ir = (loop("j", 1, 89, accumulated),)
    assert summed(ir, context(*ARRAYS, S=UPDATE), factors) == c(ir)


def test_long_loops_with_few_sums_have_lanes_for_several_vectors() -> None:
    facts = StatementFacts(vector=frozenset({1}), sums={1: "z"}, counts={1: 300}, lanes=16)
    made = summed(row(PRODUCT, last=299), context(*ARRAYS, S=facts), lane_accumulators)
    assert made == [
        "{",
        "float polydl_sum0[64] = {0};",
        "for (int polydl_j_first = 0; polydl_j_first <= 255; polydl_j_first += 64) {",
        "#pragma omp simd simdlen(16)",
        "for (int j = polydl_j_first; j <= polydl_j_first + 63; ++j) {",
        "polydl_sum0[j - polydl_j_first] += A[i][j] * x[j];",
        "}",
        "}",
        "#pragma omp simd simdlen(16)",
        "for (int j = 256; j <= 299; ++j) {",
        "polydl_sum0[j - 256] += A[i][j] * x[j];",
        "}",
        "#pragma omp simd",
        "for (int polydl_lane = 0; polydl_lane < 16; ++polydl_lane) {",
        "polydl_sum0[polydl_lane] += polydl_sum0[polydl_lane + 16];",
        "polydl_sum0[polydl_lane] += polydl_sum0[polydl_lane + 32];",
        "polydl_sum0[polydl_lane] += polydl_sum0[polydl_lane + 48];",
        "}",
        "z[i] += polydl_total_float(polydl_sum0, 16);",
        "}",
    ]
    # Functions that are called leave no registers.
    called = row(Apply("expf", (at("x", "j"),)), last=299)
    assert "float polydl_sum0[16] = {0};" in summed(called, context(*ARRAYS, S=facts), lane_accumulators)


def extremum(comparison: str, *, last: int, facts: StatementFacts) -> list[str]:
    """The C of ``if (x[j] > z[i]) z[i] = x[j]`` in a loop over j."""
    chosen = Conditional(Binary(comparison, at("x", "j"), at("z", "i")), at("x", "j"), at("z", "i"))
    ir = (loop("j", 1, last, sets("S", at("z", "i"), chosen)),)
    return summed(ir, context(*ARRAYS, S=facts), lane_accumulators, openmp_pragmas)


def test_lanes_of_an_extremum_begin_with_what_it_has_been() -> None:
    facts = StatementFacts(vector=frozenset({1}), sums={1: "z"}, operation="max", counts={1: 128}, lanes=8)
    made = extremum(">", last=127, facts=facts)
    assert made[1:5] == [
        "float polydl_sum0[32];",
        "#pragma omp simd",
        "for (int polydl_lane = 0; polydl_lane < 32; ++polydl_lane)",
        "polydl_sum0[polydl_lane] = z[i];",
    ]
    lane = "polydl_sum0[j - polydl_j_first]"
    assert f"{lane} = (x[j] > {lane}) ? x[j] : {lane};" in made
    assert made[-2] == "z[i] = polydl_greatest_float(polydl_sum0, 8);"


def test_a_short_extremum_is_a_variable_that_lanes_compare() -> None:
    facts = StatementFacts(vector=frozenset({1}), sums={1: "z"}, operation="min", counts={1: 12}, lanes=8)
    assert extremum("<", last=11, facts=facts) == [
        "{",
        "float polydl_sum0 = z[i];",
        "#pragma omp simd simdlen(8) reduction(min: polydl_sum0)",
        "for (int j = 0; j <= 11; ++j) {",
        "polydl_sum0 = (x[j] < polydl_sum0) ? x[j] : polydl_sum0;",
        "}",
        "z[i] = polydl_sum0;",
        "}",
    ]


def test_copies_that_look_for_an_extremum_in_one_element_share_a_variable() -> None:
    facts = StatementFacts(vector=frozenset({1}), sums={1: "z"}, operation="max", counts={1: 12}, lanes=8)
    greater = [
        Conditional(Binary("<", at("z", to), at("x", value)), at("x", value), at("z", to))
        for to, value in (("i", "j"), ("i", "i"), ("k", "j"))
    ]
    body = tuple(
        Assign(at("z", to), "=", value, "S", copy=f"_{number}")
        for number, (to, value) in enumerate(zip("iik", greater, strict=True))
    )
    made = summed((loop("j", 1, 11, *body),), context(*ARRAYS, S=facts), lane_accumulators, openmp_pragmas)
    assert made == [
        "{",
        "float polydl_sum0_0 = z[i], polydl_sum0_2 = z[k];",
        "#pragma omp simd simdlen(8) reduction(max: polydl_sum0_0, polydl_sum0_2)",
        "for (int j = 0; j <= 11; ++j) {",
        "polydl_sum0_0 = (polydl_sum0_0 < x[j]) ? x[j] : polydl_sum0_0;",
        "polydl_sum0_0 = (polydl_sum0_0 < x[i]) ? x[i] : polydl_sum0_0;",
        "polydl_sum0_2 = (polydl_sum0_2 < x[j]) ? x[j] : polydl_sum0_2;",
        "}",
        "z[i] = polydl_sum0_0;",
        "z[k] = polydl_sum0_2;",
        "}",
    ]
