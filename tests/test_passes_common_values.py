"""Common values of a statement: one variable for what is converted several times."""

from __future__ import annotations

from loops_by_hand import at, c, context, loop, sets, times

from polydl.codegen.passes import common_values
from polydl.codegen.values import Binary, Cast, Conditional, Constant, Expr

X, ZERO, TOP = at("x", "i"), Constant("0.0f"), Constant("255.0f")


def bounded(value: Expr) -> Expr:
    """A value between two bounds, as forwarded assignments have it."""
    above = Cast("float", Conditional(Binary("<", value, ZERO), ZERO, value))
    return Cast("float", Conditional(Binary(">", above, TOP), TOP, above))


def made(value: Expr) -> list[str]:
    return c(common_values.run((loop("i", 0, 7, sets("S", at("y", "i"), value)),), context()))


def test_a_value_that_is_needed_again_is_computed_once() -> None:
    assert made(bounded(Cast("float", times(X, X)))) == [
        "for (int i = 0; i <= 7; ++i) {",
        "const float polydl_value0 = (float)(x[i] * x[i]);",
        "const float polydl_value1 = (float)((polydl_value0 < 0.0f) ? 0.0f : polydl_value0);",
        "y[i] = (float)((polydl_value1 > 255.0f) ? 255.0f : polydl_value1);",
        "}",
    ]


def test_what_is_computed_under_a_condition_alone_stays_there() -> None:
    quotient = Cast("int", Binary("/", X, at("z", "i")))
    guarded = Conditional(Binary("!=", at("z", "i"), ZERO), Binary("+", quotient, quotient), ZERO)
    both = Binary("&&", at("z", "i"), Binary("<", quotient, quotient))
    for value in (guarded, both, Cast("float", X), Binary("+", Cast("float", X), Cast("float", X))):
        before = (loop("i", 0, 7, sets("S", at("y", "i"), value)),)
        assert common_values.run(before, context()) is before


def test_statements_of_one_body_have_variables_of_their_own() -> None:
    statements = (sets(name, at(name, "i"), bounded(Cast("float", times(X, X)))) for name in ("y", "z"))
    lines = c(common_values.run((loop("i", 0, 7, *statements),), context()))
    names = [line.split()[2] for line in lines if line.startswith("const float")]
    assert names == [f"polydl_value{number}" for number in range(4)]


def test_statements_outside_of_all_loops_have_a_scope_of_their_own() -> None:
    scalar = Cast("float", times(at("x"), at("x")))
    lines = c(common_values.run((sets("S", at("y"), bounded(scalar)),), context()))
    assert lines[0] == "{"
    assert lines[1].strip() == "const float polydl_value0 = (float)(x * x);"
    assert lines[-1] == "}"
