"""Divisions in vector loops by what a loop leaves alone: products with a reciprocal that is computed once before it.

A division of vectors takes as long as some ten products. Rounded twice, the quotient has an error of 1.5 units in the
last place at most in place of half of one.
"""

from __future__ import annotations

from dataclasses import replace

from polydl.codegen.context import Context
from polydl.codegen.loop_ir import Assign, Body, Declare, For, Node, Variable, mapped
from polydl.codegen.passes.factors import Varies, varying
from polydl.codegen.values import Apply, Binary, Element, Expr, Integer, Name, elements, walk, with_parts
from polydl.vector_functions import returned_type

_FLOATING = frozenset({"float", "double"})


def run(ir: Body, context: Context) -> Body:
    """Divisors that a vector loop leaves alone get a reciprocal before it; none do if the context is exact."""

    def changed(node: Node) -> Node:
        return _without_divisions(node, context) if isinstance(node, For) and node.vector else node

    return ir if context.exact else mapped(ir, changed)


def _without_divisions(loop: For, context: Context) -> For:
    varies = varying(loop)
    found: dict[Expr, tuple[str, str]] = {}

    def reciprocal(divisor: Expr) -> Expr | None:
        """The variable that is to hold one over a divisor; None where that may change or is no real number."""
        kind = _kind(divisor, context)
        if kind is None or not _stays(divisor, loop, varies):
            return None
        name, _ = found.setdefault(divisor, (f"polydl_over{len(found)}", kind))
        return Name(name)

    def multiplied(value: Expr) -> Expr:
        value = with_parts(value, multiplied)
        if isinstance(value, Binary) and value.operator == "/":
            factor = reciprocal(value.right)
            return value if factor is None else Binary("*", value.left, factor)
        return value

    def changed(node: Node) -> Node:
        if not isinstance(node, Assign):
            return node
        value = multiplied(node.value)
        factor = reciprocal(value) if node.operator == "/=" else None
        return replace(node, value=value) if factor is None else replace(node, operator="*=", value=factor)

    body = mapped(loop.body, changed)
    declared = (
        Declare(kind, (Variable(name, initial=Binary("/", Integer(1), divisor)),), constant=True)
        for divisor, (name, kind) in found.items()
    )
    return replace(loop, body=body, before=(*loop.before, *declared)) if found else loop


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
