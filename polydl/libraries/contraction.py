"""Array contraction: a local array of which each iteration uses one element becomes a variable in the loop.

So an expanded scalar, such as the greatest element of a row, takes no memory that grows with the sizes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from polydl.codegen.loop_ir import Block, Body, Declare, For, If, Let, Node, Variable, expressions, with_elements_of
from polydl.codegen.values import Element, Expr, Name
from polydl.ir.scop import Array


def contracted(body: Body, array: Array) -> Body | None:
    """The body with a variable in place of a local array; None where elements live from one iteration to another."""
    elements = {each for each in expressions(body) if isinstance(each, Element) and each.array == array.name}
    if not elements:
        return body
    subscripts = {each.subscripts for each in elements}
    names = [each.name for each in next(iter(subscripts)) if isinstance(each, Name)]
    if len(subscripts) > 1 or len(names) < len(array.extents):
        return None
    return _within(body, array, names, frozenset())


def _within(body: Body, array: Array, names: Sequence[str], inside: frozenset[str]) -> Body | None:
    users = [place for place, node in enumerate(body) if _uses((node,), array.name)]
    if len(users) == 1:
        place = users[0]
        deeper = _inside(body[place], array, names, inside)
        if deeper is not None:
            return (*body[:place], deeper, *body[place + 1 :])
    if not set(names) <= inside:
        return None

    def variable(element: Element) -> Expr:
        return Name(array.name) if element.array == array.name else element

    return (Declare(array.element, (Variable(array.name),)), *with_elements_of(body, variable))


def _inside(node: Node, array: Array, names: Sequence[str], inside: frozenset[str]) -> Node | None:
    """The node with the variable further inside; None where it can't be."""
    match node:
        case For(body=body) if node.iterator in names and not _uses((*node.before, *node.after), array.name):
            within = _within(body, array, names, inside | {node.iterator})
            return None if within is None else replace(node, body=within)
        case Let(body=body) if node.iterator in names:
            within = _within(body, array, names, inside | {node.iterator})
            return None if within is None else replace(node, body=within)
        case Block(body=body):
            within = _within(body, array, names, inside)
            return None if within is None else replace(node, body=within)
        case If(then=then) if not _uses(node.otherwise, array.name):
            within = _within(then, array, names, inside)
            return None if within is None else replace(node, then=within)
    return None


def _uses(body: Body, name: str) -> bool:
    return any(isinstance(each, Element) and each.array == name for each in expressions(body))
