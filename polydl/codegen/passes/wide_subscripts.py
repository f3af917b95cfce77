"""Subscripts computed in ``long`` where integers that overflow wrap around.

There a compiler may not assume that ``1920 * y + x`` grows with ``x``: as an ``int`` it could wrap, and then a loop
over ``x`` gathers what lies side by side. It sees for itself that it can't where it knows the bounds of ``y``, which it
does not in a loop on threads. In ``long``, as addresses are, no subscript of an array wraps.
"""

from __future__ import annotations

from dataclasses import replace

from polydl.codegen.context import Context
from polydl.codegen.loop_ir import Body, with_elements_of
from polydl.codegen.values import Cast, Element, Expr, Linear


def run(ir: Body, context: Context) -> Body:
    """The body with the parts of sums in subscripts converted, if the context says that integers wrap around."""
    return with_elements_of(ir, _wide) if context.wraps else ir


def _wide(element: Element) -> Expr:
    subscripts = tuple(_sum_in_long(each) if isinstance(each, Linear) else each for each in element.subscripts)
    return replace(element, subscripts=subscripts)


def _sum_in_long(value: Linear) -> Linear:
    return replace(value, terms=tuple((factor, Cast("long", part)) for factor, part in value.terms))
