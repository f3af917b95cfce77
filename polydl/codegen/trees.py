"""What stands where in isl's AST."""

from __future__ import annotations

import re
from collections.abc import Iterator

import islpy as isl

from polydl.codegen.expressions import ast_expression, kind_of, stripped


def children(node: isl.AstNode) -> list[isl.AstNode]:
    kind = kind_of(node.get_type())
    if kind == "for_":
        return [node.for_get_body()]
    if kind == "if_":
        return [node.if_get_then_node()] + ([node.if_get_else_node()] if node.if_has_else_node() else [])
    if kind == "block":
        members = node.block_get_children()
        return [members.get_at(index) for index in range(members.n_ast_node())]
    if kind == "mark":
        return [node.mark_get_node()]
    return []


def statements_under(node: isl.AstNode) -> set[str]:
    return {name for name, _ in instances(node)}


def only_loop(node: isl.AstNode) -> isl.AstNode | None:
    """The loop that is all of a loop's body."""
    kind = kind_of(node.get_type())
    if kind == "for_" and not node.for_is_degenerate():
        return node
    inside = children(node) if kind in ("block", "mark") else []
    return only_loop(inside[0]) if len(inside) == 1 else None


def values_of(node: isl.AstNode, statement: str) -> list[str]:
    """The iterators' values, in C, where the statement stands below the node."""
    return next((values for name, values in instances(node) if name == statement), [])


def has_loop(node: isl.AstNode) -> bool:
    if kind_of(node.get_type()) == "for_" and not node.for_is_degenerate():
        return True
    return any(has_loop(child) for child in children(node))


def is_straight(node: isl.AstNode) -> bool:
    """Whether all statements below a node run, each once."""
    kind = kind_of(node.get_type())
    return kind == "user" or (kind in ("block", "mark") and all(is_straight(child) for child in children(node)))


def instances(node: isl.AstNode) -> Iterator[tuple[str, list[str]]]:
    """The statements below a node in their order, with their iterators' values in C."""
    if kind_of(node.get_type()) == "user":
        expression = node.user_get_expr()
        name = str(expression.get_op_arg(0).get_id().name)
        yield name, [ast_expression(expression.get_op_arg(i)) for i in range(1, expression.get_op_n_arg())]
    for child in children(node):
        yield from instances(child)


def last_value(node: isl.AstNode) -> str | None:
    """The last value of a loop's counter that advances by one; None where the condition is of another kind."""
    name = re.escape(str(node.for_get_iterator().get_id().name))
    bound = re.fullmatch(rf"\({name} <= (.+)\)", ast_expression(node.for_get_cond()))
    return bound[1] if bound is not None and ast_expression(node.for_get_inc()) == "1" else None


def fixed_range(node: isl.AstNode) -> range:
    """All values of a loop's counter that advances by one; an empty range where they are not known."""
    first, last = stripped(ast_expression(node.for_get_init())), last_value(node)
    return range(int(first), int(last) + 1) if last is not None and first.isdigit() and last.isdigit() else range(0)


def turns(first: str, count: int) -> list[tuple[str, str]]:
    """For ``count`` iterations from ``first`` on, a suffix for the names of what each has of its own, and its value."""
    if first.isdigit():
        return [(f"_{number}", str(int(first) + number)) for number in range(count)]
    return [(f"_{number}", f"({first} + {number})" if number else f"({first})") for number in range(count)]


def as_factor(text: str) -> str:
    """An expression as it may stand in a product."""
    return text if text.isalnum() else f"({text})"
