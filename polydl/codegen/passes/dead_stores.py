"""Dead stores: what is written to an array of the region's own, and never read from there, is not written.

Scalar replacement leaves the values of a temporary array in variables, and writes them to the array in the end. Where
every read of it was replaced, these stores are all that is left of the array.
"""

from __future__ import annotations

from collections.abc import Iterator

from polydl.codegen.context import Context
from polydl.codegen.loop_ir import Assign, Body, For, Node, nodes, rewritten, values
from polydl.codegen.values import Element, Expr, elements


def run(ir: Body, context: Context) -> Body:
    """Assignments with ``=`` to the context's temporary arrays are dropped where nothing reads the array any more."""
    dead = context.temporary - {element.array for element in _used(ir)}
    if not dead:
        return ir

    def changed(node: Node) -> Body:
        return () if _is_store(node) and node.target.array in dead else (node,)  # type: ignore[union-attr]

    return rewritten(ir, changed)


def _used(ir: Body) -> Iterator[Element]:
    """The elements that are read, or of which more is made than a plain store."""
    for node in nodes(ir):
        if isinstance(node, For):
            for reduction in node.reductions:
                yield from elements(reduction.target)
        for value in _read(node):
            yield from elements(value)


def _read(node: Node) -> tuple[Expr, ...]:
    match node:
        case Assign(Element(subscripts=subscripts), "=", value):
            return (*subscripts, value)
    return values(node)


def _is_store(node: Node) -> bool:
    return isinstance(node, Assign) and isinstance(node.target, Element) and node.operator == "="
