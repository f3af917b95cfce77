"""Residues: loops whose counters have quotients and remainders, in copies without these."""

from __future__ import annotations

import random

import pytest
from loops_by_hand import at, c, context, loop, sets, value

from polydl.codegen.context import StatementFacts
from polydl.codegen.loop_ir import Body, For
from polydl.codegen.passes import residues
from polydl.codegen.quotients import period, with_simple_quotients
from polydl.codegen.values import Binary, Constant, Expr, Integer, Integral, Linear, Name, linear, substituted

ROW, COLUMN = Name("i"), Name("j")


def over(dividend: Expr, divisor: int) -> Integral:
    return Integral("floor_div", dividend, Integer(divisor))


def modulo(dividend: Expr, divisor: int) -> Binary:
    """As isl writes it."""
    return Binary("-", dividend, Binary("*", Integer(divisor), over(dividend, divisor)))


def weighed(counter: str, divisor: int = 2) -> tuple[Expr, Expr]:
    """An element of ``y``, and a remainder times an element at a quotient."""
    remainder = Binary("*", Constant("0.5f"), modulo(Name(counter), divisor))
    return at("y", counter), Binary("*", remainder, at("x", over(Name(counter), divisor)))


def body(first: int | Expr, last: int | Expr, divisor: int = 2, place: int = 0) -> Body:
    target, assigned = weighed("i", divisor)
    assert isinstance(target, type(at("y")))
    return (loop("i", place, last, sets("S", target, assigned), first=first),)


def made(before: Body, **facts: object) -> list[str]:
    return c(residues.run(before, context(S=StatementFacts(**facts))))  # type: ignore[arg-type]


def test_a_loop_runs_all_residues_in_one_iteration() -> None:
    assert made(body(0, 9)) == [
        "for (int i = 0; i <= 4; ++i) {",
        "y[2 * i] = (0.5f * 0) * x[i];",
        "y[2 * i + 1] = (0.5f * 1) * x[i];",
        "}",
    ]


def test_what_is_left_follows_the_loop_and_the_first_value_may_be_any() -> None:
    assert made(body(-1, 3)) == [
        "for (int i = 0; i <= 1; ++i) {",
        "y[2 * i - 1] = (0.5f * 1) * x[i - 1];",
        "y[2 * i] = (0.5f * 0) * x[i];",
        "}",
        "y[3] = (0.5f * 1) * x[1];",
    ]


def test_the_iterations_of_a_tile_begin_at_a_multiple() -> None:
    start = linear([(8, Name("t"))])
    inside = body(start, linear([(8, Name("t"))], 7))
    tiles = loop("t", 1, 4, *inside)
    assert made((tiles,)) == [
        "for (int t = 0; t <= 4; ++t) {",
        "for (int i = 4 * t; i <= (4 * t) + 3; ++i) {",
        "y[2 * i] = (0.5f * 0) * x[i];",
        "y[2 * i + 1] = (0.5f * 1) * x[i];",
        "}",
        "}",
    ]


@pytest.mark.parametrize(
    "before",
    [
        body(0, 9, divisor=8),
        body(0, 0),
        body(0, Name("n")),
        body(linear([(3, Name("t"))]), linear([(3, Name("t"))], 5)),
        (loop("i", 0, 9, sets("S", at("y", "i"), at("x", "i"))),),
    ],
    ids=["many residues", "one iteration", "any number of iterations", "tiles of odd numbers", "no quotient"],
)
def test_other_loops_stay_as_they_are(before: Body) -> None:
    assert residues.run(before, context(S=StatementFacts())) is before


def test_a_sum_in_vectors_stays_in_one_loop() -> None:
    (summing,) = body(0, 9)
    assert isinstance(summing, For)
    before = (For("i", Integer(0), summing.condition, summing.body, place=0, vector=True),)
    assert residues.run(before, context(S=StatementFacts(sums={0: "y"}))) is before


def test_threads_share_all_iterations_or_the_loop_stays() -> None:
    for last, apart in ((9, True), (10, False)):
        (shared,) = body(0, last)
        assert isinstance(shared, For)
        before = (For("i", Integer(0), shared.condition, shared.body, place=0, parallel=True),)
        assert (residues.run(before, context(S=StatementFacts())) is not before) is apart


def _number(expression: Expr) -> int:
    match expression:
        case Integer(number):
            return number
        case Binary("+", left, right):
            return _number(left) + _number(right)
        case Binary("-", left, right):
            return _number(left) - _number(right)
        case Binary("*", left, right):
            return _number(left) * _number(right)
        case Linear(terms, constant):
            return sum(factor * _number(term) for factor, term in terms) + constant
        case Integral("floor_div", left, right):
            return _number(left) // _number(right)
    raise AssertionError(expression)


def _drawn(draw: random.Random, depth: int) -> Expr:
    """A sum of counters and quotients."""
    if not depth:
        return draw.choice((ROW, COLUMN, Integer(draw.randint(-9, 9))))
    one, two = (_drawn(draw, depth - 1) for _ in range(2))
    return draw.choice(
        (
            Binary(draw.choice("+-"), one, two),
            Binary("*", Integer(draw.randint(-4, 4)), one),
            over(one, draw.randint(1, 6)),
            linear([(draw.randint(-4, 4), one), (draw.randint(-4, 4), two)], draw.randint(-9, 9)),
        )
    )


@pytest.mark.parametrize("seed", range(200))
def test_simple_sums_are_the_same_numbers(seed: int) -> None:
    draw = random.Random(seed)
    expression = _drawn(draw, 4)
    (simple,) = with_simple_quotients((loop("k", 0, expression),), {"i", "j", "k"})
    assert isinstance(simple, For)
    assert simple.last is not None
    for _ in range(20):
        counters = {name: Integer(draw.randint(-30, 30)) for name in "ij"}
        assert _number(substituted(simple.last, counters)) == _number(substituted(expression, counters))


def test_the_period_of_several_quotients_is_that_of_all() -> None:
    quotients = (over(ROW, 4), over(linear([(2, ROW), (1, COLUMN)]), 6), over(linear([(3, ROW)], 1), 3))
    inside = tuple(sets("S", at("y", quotient), value(0)) for quotient in quotients)
    assert [period(inside[:count], "i", {"i", "j"}) for count in (1, 2, 3)] == [4, 12, 12]
    assert period(inside, "j", {"i", "j"}) == 6
    assert period(inside, "i", {"j"}) == 1
