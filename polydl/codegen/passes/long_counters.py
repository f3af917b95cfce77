"""Counters in ``long`` where they, or what is computed of them, may not fit into an ``int``."""

from __future__ import annotations

from dataclasses import replace

from polydl.codegen.context import Context
from polydl.codegen.loop_ir import Body, Declare, For, Let, Node, mapped, values, with_values
from polydl.codegen.values import Cast, Element, Expr, Integral, walk, with_parts


def run(ir: Body, context: Context) -> Body:
    """The body with counters, and what bounds them, in ``long``, if the context says that they are so large."""
    return mapped(ir, _long) if context.long_counters else ir


def _long(node: Node) -> Node:
    node = with_values(node, _integrals_in_long)
    if isinstance(node, For | Let) or (isinstance(node, Declare) and _is_counter(node)):
        return replace(node, type="long") if node.type == "int" else node
    return node


def _is_counter(node: Declare) -> bool:
    """Whether it declares numbers of iterations, and neither elements of arrays nor what a statement converts."""
    return node.constant and not any(isinstance(part, Element | Cast) for value in values(node) for part in walk(value))


def _integrals_in_long(value: Expr) -> Expr:
    value = with_parts(value, _integrals_in_long)
    return replace(value, type="long") if isinstance(value, Integral) else value
