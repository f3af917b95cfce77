"""Products in vector loops: factors that a loop leaves alone are multiplied outside of it.

``(alpha * A[i][j]) * x[j]`` takes two multiplications for each element. Summed up over ``j``, it is ``alpha`` times a
sum that takes one; as ``(alpha * x[i]) * A[i][j]``, added to an element for each ``j``, it leaves one to the loop. Both
round differently, as does a sum in another order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from polydl.ir.scop import Scop
from polydl.ir.statement import Access, Expression, Statement

_FEWEST = 3


def _factors(node: Expression) -> list[Expression]:
    if node.kind == "op" and node.text == "*" and len(node.arguments) == 2:
        return [factor for argument in node.arguments for factor in _factors(argument)]
    return [node]


def _product(factors: list[Expression]) -> Expression:
    made = factors[0]
    for factor in factors[1:]:
        made = Expression("op", "*", (made, factor))
    return made


def split_product(
    scop: Scop, statement: Statement, node: Expression, varies: Callable[[Access], bool]
) -> tuple[Expression, Expression] | None:
    """A product of at least three as what a loop leaves alone, and the rest; None if it is anything else.

    All factors must be array elements or scalars of one floating-point type.
    """
    factors = _factors(node)
    if len(factors) < _FEWEST or any(factor.kind != "access" for factor in factors):
        return None
    accesses = [statement.access(factor.text) for factor in factors]
    kinds = {scop.array(access.array).element for access in accesses}
    moving = [factor for factor, access in zip(factors, accesses, strict=True) if varies(access)]
    alone = [factor for factor, access in zip(factors, accesses, strict=True) if not varies(access)]
    if kinds not in ({"float"}, {"double"}) or not moving or not alone:
        return None
    return _product(alone), _product(moving)


def regrouped(scop: Scop, statement: Statement, varies: Callable[[Access], bool]) -> Statement:
    """The statement with what a loop leaves alone multiplied first in each product."""

    def moved(node: Expression) -> Expression:
        found = split_product(scop, statement, node, varies)
        if found is not None:
            return Expression("op", "*", found)
        return replace(node, arguments=tuple(moved(argument) for argument in node.arguments))

    body = moved(statement.body)
    return statement if body == statement.body else replace(statement, body=body)


def without_factor(
    scop: Scop, statement: Statement, term: Expression, varies: Callable[[Access], bool]
) -> tuple[Statement, Expression] | None:
    """The statement with ``term`` divided by the factors that a loop leaves alone, and these; None without any."""
    found = split_product(scop, statement, term, varies)
    if found is None:
        return None

    def moved(node: Expression) -> Expression:
        if node is term:
            return found[1]
        return replace(node, arguments=tuple(moved(argument) for argument in node.arguments))

    return replace(statement, body=moved(statement.body)), found[0]
