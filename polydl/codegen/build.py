"""isl's AST as loops of the generated code."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any, Literal

import islpy as isl

from polydl.codegen.loop_ir import Body, For, If, Let, Node
from polydl.codegen.values import Binary, Conditional, Expr, Integer, Integral, Name, Unary
from polydl.errors import CodegenError

Leaf = Callable[[Sequence[Expr]], Node]
"""Makes the node of a statement's instance from the values that isl has for it."""

_INFIX = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "/",
    "pdiv_q": "/",
    "pdiv_r": "%",
    "zdiv_r": "%",
    "eq": "==",
    "le": "<=",
    "lt": "<",
    "ge": ">=",
    "gt": ">",
    "and_": "&&",
    "and_then": "&&",
    "or_": "||",
    "or_else": "||",
}
_INTEGRAL: Mapping[str, Literal["min", "max", "floor_div"]] = {"min": "min", "max": "max", "fdiv_q": "floor_div"}


def kind_of(enumerated: Any) -> str:
    """The name of an isl enumerator (islpy's stubs call them plain integers)."""
    return str(enumerated.name)


def _arguments(expression: isl.AstExpr) -> list[Expr]:
    return [value(expression.get_op_arg(index)) for index in range(expression.get_op_n_arg())]


def value(expression: isl.AstExpr) -> Expr:
    """An isl AST expression as a value. Raises CodegenError for what has no C."""
    kind = kind_of(expression.get_type())
    if kind == "id":
        return Name(str(expression.get_id().name))
    if kind == "int":
        return Integer(expression.get_val().to_python())
    operation = kind_of(expression.get_op_type())
    arguments = _arguments(expression)
    if operation in _INFIX:
        return reduce(lambda left, right: Binary(_INFIX[operation], left, right), arguments)
    if operation in _INTEGRAL:
        return reduce(lambda left, right: Integral(_INTEGRAL[operation], left, right), arguments)
    if operation == "minus":
        return Unary("-", arguments[0])
    if operation in ("cond", "select"):
        return Conditional(*arguments)
    raise CodegenError(f"isl made an expression that has no C: {expression.to_C_str()}")


def body(node: isl.AstNode, leaves: Mapping[str, Leaf], places: Mapping[str, int]) -> Body:
    """What isl's AST runs.

    ``leaves`` make the nodes of the statements, by their names; ``places`` says which dimension of time each counter
    is.
    """
    kind = kind_of(node.get_type())
    if kind == "for_":
        return (_loop(node, leaves, places),)
    if kind == "if_":
        otherwise = body(node.if_get_else_node(), leaves, places) if node.if_has_else_node() else ()
        return (If(value(node.if_get_cond()), body(node.if_get_then_node(), leaves, places), otherwise),)
    if kind == "block":
        members = node.block_get_children()
        return tuple(
            made for index in range(members.n_ast_node()) for made in body(members.get_at(index), leaves, places)
        )
    if kind == "mark":
        return body(node.mark_get_node(), leaves, places)
    expression = node.user_get_expr()
    return (leaves[str(expression.get_op_arg(0).get_id().name)](_arguments_of_call(expression)),)


def _arguments_of_call(expression: isl.AstExpr) -> list[Expr]:
    return [value(expression.get_op_arg(index)) for index in range(1, expression.get_op_n_arg())]


def _loop(node: isl.AstNode, leaves: Mapping[str, Leaf], places: Mapping[str, int]) -> Node:
    name = str(node.for_get_iterator().get_id().name)
    first = value(node.for_get_init())
    inside = body(node.for_get_body(), leaves, places)
    if node.for_is_degenerate():
        return Let(name, first, inside)
    return For(name, first, value(node.for_get_cond()), inside, value(node.for_get_inc()), places[name])
