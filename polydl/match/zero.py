"""Statements that assign zero."""

from __future__ import annotations

import islpy as isl

from polydl.ir.statement import Expression, Statement


def is_zero(expression: Expression) -> bool:
    """Whether the expression is a literal zero of any type, with or without casts."""
    while expression.kind == "cast" and len(expression.arguments) == 1:
        expression = expression.arguments[0]
    if expression.kind == "affine":
        value = isl.PwAff(expression.text)
        return value.domain().is_subset(value.zero_set())
    if expression.kind != "literal":
        return False
    try:
        return float(expression.text.rstrip("fFlLuU")) == 0.0
    except ValueError:
        return False


def sets_to_zero(statement: Statement) -> bool:
    """Whether the statement is ``x = 0``: a rewrite made it for that, or the source has it."""
    if statement.origin != "source":
        return statement.origin == "zero"
    body = statement.body
    return body.kind == "op" and body.text == "=" and is_zero(body.arguments[1])
