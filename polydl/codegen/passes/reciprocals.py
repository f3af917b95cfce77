"""Divisions in vector loops by what a loop leaves alone: products with a reciprocal that is computed once before it.

A division of vectors takes as long as some ten products. Rounded twice, the quotient has an error of 1.5 units in the
last place at most in place of half of one. Divisions stay where the least error may change a value by one, or choose
another. The reciprocal of a subnormal divisor may be infinite.
"""

from __future__ import annotations

from dataclasses import replace

from polydl.codegen.context import Context
from polydl.codegen.loop_ir import Assign, Body, Declare, For, Node, Variable, mapped
from polydl.codegen.passes.factors import Varies, decisive, is_extremum, jumps, name_of, varying, with_both
from polydl.codegen.values import (
    Apply,
    Binary,
    Cast,
    Conditional,
    Element,
    Expr,
    Integer,
    Name,
    elements,
    parts,
    walk,
    with_parts,
)
from polydl.vector_functions import returned_type

_FLOATING = frozenset({"float", "double"})


def run(ir: Body, context: Context) -> Body:
    """Divisors that a vector loop leaves alone get a reciprocal before it; none do if the context is exact."""

    def changed(node: Node) -> Node:
        return _without_divisions(node, context) if isinstance(node, For) and node.vector else node

    return ir if context.exact else mapped(ir, changed)


def _without_divisions(loop: For, context: Context) -> For:
    varies = varying(loop)
    kept = decisive(loop)
    # By the divisor and the type of the quotient.
    found: dict[tuple[Expr, str], str] = {}

    def reciprocal(divisor: Expr, divided: Expr, guarded: bool) -> Expr | None:
        """The variable that is to hold one over a divisor; None where that may change or is no real number.

        None as well where the division is ``guarded`` by a condition, which may be what keeps a subscript of the
        divisor within its array.
        """
        kind = _kind(divisor, context)
        if kind is None or not _stays(divisor, loop, varies) or (guarded and not _is_always_there(divisor)):
            return None
        if not context.is_float(divided) and not _is_integer(divided, context):
            kind = "double"
        return Name(found.setdefault((divisor, kind), f"polydl_over{len(found)}"))

    def multiplied(value: Expr, guarded: bool = False) -> Expr:
        if jumps(value):
            return value
        if is_extremum(value):
            # Both are computed for the comparison, whatever is chosen.
            return with_both(value, lambda side: multiplied(side, guarded))
        if isinstance(value, Conditional):
            return Conditional(value.condition, *(multiplied(branch, True) for branch in parts(value)[1:]))
        value = with_parts(value, lambda part: multiplied(part, guarded))
        if isinstance(value, Binary) and value.operator == "/":
            factor = reciprocal(value.right, value.left, guarded)
            return value if factor is None else Binary("*", value.left, factor)
        return value

    def changed(node: Node) -> Node:
        # What is rounded to an integer may be another one.
        if not isinstance(node, Assign) or context.is_integer(node.target) or name_of(node.target) in kept:
            return node
        value = multiplied(node.value)
        factor = reciprocal(value, node.target, False) if node.operator == "/=" else None
        return replace(node, value=value) if factor is None else replace(node, operator="*=", value=factor)

    body = mapped(loop.body, changed)
    declared = []
    for (divisor, kind), name in found.items():
        below = divisor if kind == _kind(divisor, context) else Cast(kind, divisor)
        declared.append(Declare(kind, (Variable(name, initial=Binary("/", Integer(1), below)),), constant=True))
    return replace(loop, body=body, before=(*loop.before, *declared)) if found else loop


def _is_integer(value: Expr, context: Context) -> bool:
    """Whether C takes this for an integer, which it converts to the type of what divides it; not if in doubt."""
    return isinstance(value, Integer | Name) or context.is_integer(value)


def _is_always_there(value: Expr) -> bool:
    """Whether all elements in a value have subscripts that are numbers."""
    return all(isinstance(subscript, Integer) for element in elements(value) for subscript in element.subscripts)


def _kind(divisor: Expr, context: Context) -> str | None:
    """The floating-point type of an element or of what a function returns."""
    match divisor:
        case Element(array) if array in context.arrays and context.arrays[array].element in _FLOATING:
            return context.arrays[array].element
        case Apply(function):
            return returned_type(function)
    return None


def _stays(divisor: Expr, loop: For, varies: Varies) -> bool:
    counters = any(isinstance(part, Name) and part.name == loop.iterator for part in walk(divisor))
    return not counters and not any(varies(element) for element in elements(divisor))
