"""Products in vector loops: factors that a loop leaves alone are multiplied outside of it.

``(alpha * A[i][j]) * x[j]`` takes two multiplications for each element. Summed up over ``j``, it is ``alpha`` times a
sum that takes one; as ``(alpha * x[i]) * A[i][j]``, added to an element for each ``j``, it leaves one to the loop. Both
round differently, as does a sum in another order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeGuard

from polydl.codegen.context import Context, is_real, term
from polydl.codegen.loop_ir import Assign, Body, For, Node, assignments, mapped
from polydl.codegen.values import (
    COMPARISONS,
    Apply,
    Binary,
    Cast,
    Conditional,
    Element,
    Expr,
    Name,
    Unary,
    mentions,
    parts,
    walk,
    with_parts,
)
from polydl.vector_functions import is_continuous

# Of two factors there is nothing to multiply before the loop.
_FEWEST = 3

Varies = Callable[[Element], bool]


def varying(loop: For) -> Varies:
    """Which elements a loop moves on, or may change."""
    written = {each.target.array for each in assignments(loop.body) if isinstance(each.target, Element)}
    return lambda element: element.array in written or mentions(element, loop.iterator)


def _factors(value: Expr) -> list[Expr]:
    match value:
        case Binary("*", left, right):
            return [*_factors(left), *_factors(right)]
    return [value]


def _product(factors: Sequence[Expr]) -> Expr:
    first, *others = factors
    for factor in others:
        first = Binary("*", first, factor)
    return first


def split_product(value: Expr, varies: Varies, context: Context) -> tuple[Expr, Expr] | None:
    """A product of at least three as what a loop leaves alone, and the rest; None if it is anything else.

    All factors must be array elements or scalars of one floating-point type.
    """
    factors = _factors(value)
    if len(factors) < _FEWEST:
        return None
    operands = [factor for factor in factors if isinstance(factor, Element) and context.is_array(factor)]
    kinds = {context.arrays[each.array].element for each in operands}
    moving = [each for each in operands if varies(each)]
    alone = [each for each in operands if not varies(each)]
    if len(operands) < len(factors) or kinds not in ({"float"}, {"double"}) or not moving or not alone:
        return None
    return _product(alone), _product(moving)


def is_extremum(value: Expr) -> TypeGuard[Conditional]:
    """Whether a choice takes the larger or the smaller one of the two values that it compares, as ReLU does."""
    match value:
        case Conditional(Binary("<" | "<=" | ">" | ">=", left, right), positive, negative):
            return {left, right} == {positive, negative}
    return False


def with_both(extremum: Conditional, change: Callable[[Expr], Expr]) -> Conditional:
    """The choice between two values of which each is changed, where it is compared as where it is taken."""
    changed = {side: change(side) for side in (extremum.positive, extremum.negative)}
    condition = with_parts(extremum.condition, changed.__getitem__)
    return Conditional(condition, changed[extremum.positive], changed[extremum.negative])


def jumps(value: Expr) -> bool:
    """Whether what is rounded otherwise inside of a value may change it by a whole step, or to another branch.

    A choice between what its condition has computed stays whole, unless it is a maximum or minimum: what is at most six
    by its test is so by its value.
    """
    if is_extremum(value):
        return False
    match value:
        case Cast(kind):
            return not is_real(kind)
        case Unary(operator):
            return operator == "!"
        case Binary(operator):
            return operator in COMPARISONS or operator in ("&&", "||")
        case Apply(function):
            return not is_continuous(function)
        case Conditional(condition, positive, negative):
            tested = {part for part in walk(condition) if isinstance(part, Binary) and part.operator in ("*", "/")}
            return not tested.isdisjoint((*walk(positive), *walk(negative)))
    return False


def decisive(loop: For) -> frozenset[str]:
    """Arrays and variables of which the loop's statements read something inside of what ``jumps``."""
    return frozenset(name_of(part) for each in assignments(loop.body) for part in _decisive(each.value))


def name_of(value: Expr) -> str:
    """Of the array of an element, or of a variable; "" for any other expression."""
    match value:
        case Element(name) | Name(name):
            return name
    return ""


def _decisive(value: Expr) -> Iterator[Expr]:
    if jumps(value):
        yield from (part for part in walk(value) if name_of(part))
        return
    for part in parts(value)[1:] if is_extremum(value) else parts(value):
        yield from _decisive(part)


def regrouped(value: Expr, varies: Varies, context: Context) -> Expr:
    """An expression with what a loop leaves alone multiplied first in each product, but for those in what ``jumps``."""
    if jumps(value):
        return value
    if is_extremum(value):
        return with_both(value, lambda side: regrouped(side, varies, context))
    found = split_product(value, varies, context)
    if found is not None:
        return Binary("*", *found)
    return with_parts(value, lambda part: regrouped(part, varies, context))


def run(ir: Body, context: Context) -> Body:
    """Sums in accumulators of loops around stay as they are."""

    def changed(node: Node) -> Node:
        return _with_fewer_products(node, context) if isinstance(node, For) and node.vector else node

    return ir if context.exact else mapped(ir, changed)


def _with_fewer_products(loop: For, context: Context) -> For:
    varies = varying(loop)
    reductions = {each.variable: each for each in loop.reductions}
    kept = decisive(loop)

    def changed(node: Node) -> Node:
        if not isinstance(node, Assign) or name_of(node.target) in kept:
            return node
        if context.is_integer(node.target):
            # What is rounded to an integer may be another one.
            return node
        if context.is_array(node.target):
            return replace(node, value=regrouped(node.value, varies, context))
        variable = getattr(node.target, "name", "")
        added = term(node)
        found = split_product(added, varies, context)
        if variable not in reductions or found is None:
            return node
        factor, rest = found
        reductions[variable] = replace(reductions[variable], factor=factor)
        return replace(node, value=_with(node.value, added, rest))

    body = mapped(loop.body, changed)
    return replace(loop, body=body, reductions=tuple(reductions.values()))


def _with(value: Expr, part: Expr, other: Expr) -> Expr:
    """The expression with another one in place of one of its parts."""
    return other if value is part else with_parts(value, lambda inside: _with(inside, part, other))
