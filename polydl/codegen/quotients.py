"""Quotients of counters, rounded down, in their simplest form: ``floor((2 * x + 3) / 2)`` is ``x + 1``."""

from __future__ import annotations

from collections.abc import Callable, Collection
from math import gcd, lcm

from polydl.codegen.loop_ir import Assign, Body, Node, expressions, mapped, with_values
from polydl.codegen.lowering import apart
from polydl.codegen.values import (
    Binary,
    Element,
    Expr,
    Integer,
    Integral,
    Linear,
    Name,
    Unary,
    collected,
    linear,
    with_parts,
)


def period(body: Body, counter: str, counters: Collection[str]) -> int:
    """So many steps of a counter move each quotient of sums of ``counters`` in a body by a whole number.

    Quotients of quotients are passed over.
    """
    steps = [1]
    for value in expressions(body):
        match value:
            case Integral("floor_div", dividend, Integer(divisor)) if divisor > 0:
                total = _sum(dividend, counters)
                factors = [factor for factor, term in total.terms if term == Name(counter)] if total is not None else []
                steps += (divisor // gcd(factor, divisor) for factor in factors)
    return lcm(*steps)


def with_simple_quotients(body: Body, counters: Collection[str]) -> Body:
    """The body with each sum of ``counters`` and their quotients in its simplest form."""

    def changed(node: Node) -> Node:
        if not isinstance(node, Assign):
            return with_values(node, lambda value: _simple(value, counters))
        return with_values(node, lambda value: _simple(value, counters, inside=apart))

    return mapped(body, changed)


def _simple(value: Expr, counters: Collection[str], inside: Callable[[Expr], Expr] = lambda total: total) -> Expr:
    """The expression with simple sums, each changed by ``inside`` where it isn't in a subscript."""
    total = _sum(value, counters)
    if total is not None:
        return inside(linear(total.terms, total.constant))
    if isinstance(value, Element):
        return with_parts(value, lambda part: _simple(part, counters))
    return with_parts(value, lambda part: _simple(part, counters, inside))


def _sum(value: Expr, counters: Collection[str]) -> Linear | None:
    """The value as a sum in which each term stands once; None if it isn't made of counters and whole numbers alone."""
    match value:
        case Integer(number):
            return Linear((), number)
        case Name(name) if name in counters:
            return Linear(((1, value),))
        case Unary("-", operand):
            return _added([(-1, operand)], 0, counters)
        case Linear(terms, constant):
            return _added(terms, constant, counters)
        case Binary("+" | "-" as sign, left, right):
            return _added([(1, left), (1 if sign == "+" else -1, right)], 0, counters)
        case Binary("*", Integer(factor), other) | Binary("*", other, Integer(factor)):
            return _added([(factor, other)], 0, counters)
        case Integral("floor_div", left, Integer(divisor)) if divisor > 0:
            dividend = _sum(left, counters)
            return None if dividend is None else _quotient(dividend, divisor)
    return None


def _added(terms: Collection[tuple[int, Expr]], constant: int, counters: Collection[str]) -> Linear | None:
    """The sum of terms and a constant as ``_sum`` returns it."""
    inner_terms: list[tuple[int, Expr]] = []
    for factor, term in terms:
        total = _sum(term, counters)
        if total is None:
            return None
        constant += factor * total.constant
        inner_terms += [(factor * inner, part) for inner, part in total.terms]
    return Linear(collected(inner_terms), constant)


def _quotient(dividend: Linear, divisor: int) -> Linear:
    """What is a multiple of the divisor leaves the quotient, which is rounded down."""
    whole = [(factor // divisor, term) for factor, term in dividend.terms if factor % divisor == 0]
    rest = tuple((factor, term) for factor, term in dividend.terms if factor % divisor)
    constant, left = divmod(dividend.constant, divisor)
    if rest and divisor > 1:
        whole.append((1, Integral("floor_div", linear(rest, left), Integer(divisor))))
    return Linear(tuple(whole), constant)
