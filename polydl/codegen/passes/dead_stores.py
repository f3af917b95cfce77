"""Dead stores: what is written to an array of the region's own, and never read from there, is not written.

Scalar replacement leaves the values of a temporary array in variables, and writes them to the array in the end. Where
every read of it was replaced, these stores are all that is left of the array. What nothing reads then goes as well:
variables, arrays that others were computed from, and loops without a body.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from polydl.codegen.context import Context
from polydl.codegen.loop_ir import Assign, Body, Declare, For, Node, bodies, nodes, rewritten, values
from polydl.codegen.values import Element, Expr, Member, Name, SizeOf, walk


def run(ir: Body, context: Context) -> Body:
    """The body without assignments to the context's temporary arrays of which nothing reads an element."""
    if not context.temporary:
        return ir
    while dead := _written(ir, context) - set(_read(ir)):
        ir = _without(ir, dead)
    return ir


def _written(ir: Body, context: Context) -> set[str]:
    """The temporary arrays with plain stores alone, and variables that were declared for elements of arrays."""
    declared = {each.name for node in nodes(ir) if isinstance(node, Declare) for each in node.variables}
    return {name for node in nodes(ir) if (name := _target(node)) in context.temporary | declared}


def _target(node: Node) -> str:
    """The array or the variable that an assignment changes, without reading anything else there; "" if none does."""
    match node:
        case Assign(Element(array), "=") | Assign(Name(array)):
            return array
    return ""


def _read(ir: Body) -> Iterator[str]:
    """The names of arrays and variables that are read, or of which more is made than ``_target`` says."""
    for node in nodes(ir):
        if isinstance(node, For):
            for reduction in node.reductions:
                yield reduction.variable
                yield from _names(reduction.target)
                if reduction.factor is not None:
                    yield from _names(reduction.factor)
        match node:
            case Assign(Element(subscripts=subscripts), "=", value):
                for part in (*subscripts, value):
                    yield from _names(part)
            case Assign(Name(), _, value):
                yield from _names(value)
            case _:
                for part in values(node):
                    yield from _names(part)


def _names(value: Expr) -> Iterator[str]:
    for part in walk(value):
        match part:
            case Element(name) | Name(name) | SizeOf(name) | Member(name):
                yield name


def _without(ir: Body, dead: set[str]) -> Body:
    """The body without these arrays' and variables' assignments and declarations, and without what is empty then."""

    def changed(node: Node) -> Body:
        if _target(node) in dead:
            return ()
        if isinstance(node, Declare):
            kept = tuple(each for each in node.variables if each.name not in dead)
            return (replace(node, variables=kept),) if kept else ()
        return () if _is_empty(node) else (node,)

    return rewritten(ir, changed)


def _is_empty(node: Node) -> bool:
    """Whether it is a loop, a condition or a scope in which nothing is done."""
    inside = bodies(node)
    idle = all(isinstance(each, Declare) for body in inside for each in body)
    return bool(inside) and idle and not (isinstance(node, For) and node.reductions)
