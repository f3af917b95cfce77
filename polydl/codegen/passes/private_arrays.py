"""Private arrays: contracted arrays of which each iteration of a parallel loop has one, on the stack of its thread.

``polydl.plan.contraction`` decides which these are. They are declared inside of the loop, or of the two that are dealt
out as one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from polydl.codegen.context import Context
from polydl.codegen.loop_ir import Body, Declare, For, Node, Variable, bodies, expressions, mapped, values
from polydl.codegen.values import Element, walk
from polydl.ir.alignment import ALIGNMENT
from polydl.ir.scop import Array


def run(ir: Body, context: Context) -> Body:
    """Loops whose iterations threads share out declare the context's private arrays that they use."""
    if not context.private:
        return ir
    return mapped(ir, lambda node: _with_arrays(node, context.private))


def _with_arrays(node: Node, private: Collection[Array]) -> Node:
    if not isinstance(node, For) or not node.parallel:
        return node
    if node.pragma is not None and node.pragma.collapse:
        (inner,) = node.body
        assert isinstance(inner, For)
        return replace(node, body=(_declaring(inner, private),))
    return _declaring(node, private)


def _declaring(loop: For, private: Collection[Array]) -> For:
    used = _used(loop.body)
    declared = (
        Declare(
            array.element,
            (Variable(array.name, array.extents),),
            alignment=ALIGNMENT if array.bytes >= ALIGNMENT else 0,
        )
        for array in private
        if array.name in used
    )
    return replace(loop, body=(*declared, *loop.body))


def _used(body: Body) -> set[str]:
    return {each.array for each in expressions(body) if isinstance(each, Element)}


def used_outside(body: Body) -> set[str]:
    """The arrays that a body uses other than where it declares them."""
    return {*_outside(body, frozenset())}


def _outside(body: Body, inside: frozenset[str]) -> Iterator[str]:
    declared = {each.name for node in body if isinstance(node, Declare) for each in node.variables}
    here = inside | declared
    for node in body:
        for value in values(node):
            yield from (part.array for part in walk(value) if isinstance(part, Element) and part.array not in here)
        for each in bodies(node):
            yield from _outside(each, here)
