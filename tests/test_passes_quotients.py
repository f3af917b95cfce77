"""Quotients whose divisor a loop leaves alone: products with a reciprocal, read where the loop has an iteration."""

from __future__ import annotations

from loops_by_hand import array, at, c, context, loop, sets
from sums_by_hand import ARRAYS, UPDATE

from polydl.codegen.loop_ir import Assign
from polydl.codegen.passes import (
    reciprocals,
    vectorize,
)
from polydl.codegen.values import (
    Apply,
    Binary,
    Conditional,
    Expr,
    Integer,
    Name,
)


def test_what_a_loop_leaves_alone_divides_as_a_product_with_its_reciprocal() -> None:
    quotient = Binary("/", at("x", "j"), Apply("sqrtf", (at("a"),)))
    body = (
        loop("j", 1, 89, Assign(at("s", "j"), "/=", at("z", "i"), "S"), sets("S", at("A", "i", "j"), quotient)),
    )  # fmt: skip
    known = context(*ARRAYS, S=UPDATE)
    made = c(reciprocals.run(vectorize.run(body, known), known))
    assert made == [
        "{",
        "const float polydl_over0 = 1 / z[i];",
        "const float polydl_over1 = 1 / sqrtf(a);",
        "for (int j = 0; j <= 89; ++j) {",
        "s[j] *= polydl_over0;",
        "A[i][j] = x[j] * polydl_over1;",
        "}",
        "}",
    ]
    exact = context(*ARRAYS, S=UPDATE, exact=True)
    assert c(reciprocals.run(vectorize.run(body, exact), exact)) == c(body)
    # What moves with the loop, or is written in it, and integers.
    kept = (
        loop("j", 1, 89, sets("S", at("s", "j"), Binary("/", at("x", "j"), at("r", "j")))),
        loop("j", 1, 89, sets("S", at("s", "j"), Binary("/", at("x", "j"), at("s", 0)))),
        loop("j", 1, 89, sets("S", at("s", "j"), Binary("/", at("x", "j"), at("n")))),
    )
    known = context(*ARRAYS, array("n", element="int"), S=UPDATE)
    assert c(reciprocals.run(vectorize.run(kept, known), known)) == c(kept)


def test_a_divisor_that_a_condition_guards_is_not_read_before_the_loop() -> None:
    """Its subscript may be outside of the array in iterations in which nothing is divided."""
    known = context(*ARRAYS, S=UPDATE)

    def divided_by(divisor: Expr) -> list[str]:
        choice = Conditional(Binary(">", Name("i"), Integer(0)), Binary("/", at("x", "j"), divisor), at("x", "j"))
        body = (loop("j", 1, 89, sets("S", at("s", "j"), choice)),)
        return c(reciprocals.run(vectorize.run(body, known), known))

    assert not any("polydl_over" in line for line in divided_by(at("z", "i + -1")))
    assert divided_by(at("z", 0))[1] == "const float polydl_over0 = 1 / z[0];"


def test_a_quotient_in_double_has_a_reciprocal_in_double() -> None:
    body = (loop("j", 1, 89, sets("S", at("d", "j"), Binary("/", at("d", "j"), at("z", "i")))),)
    known = context(*ARRAYS, array("d", 90, element="double"), S=UPDATE)
    made = c(reciprocals.run(vectorize.run(body, known), known))
    assert made[1] == "const double polydl_over0 = 1 / (double)(z[i]);"
