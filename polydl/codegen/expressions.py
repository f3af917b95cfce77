"""C text for isl's AST expressions and for the expressions of statements."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import islpy as isl

from polydl.errors import CodegenError
from polydl.ir.affine import Affine
from polydl.ir.scop import Scop
from polydl.ir.statement import Access, Expression, Statement

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
_FUNCTIONS = {
    "min": "polydl_min",
    "max": "polydl_max",
    "fdiv_q": "polydl_floor_div",
}


def kind_of(enumerated: Any) -> str:
    """The name of an isl enumerator (islpy's stubs call them plain integers)."""
    return str(enumerated.name)


def _arguments(expression: isl.AstExpr) -> list[isl.AstExpr]:
    return [expression.get_op_arg(index) for index in range(expression.get_op_n_arg())]


def ast_expression(expression: isl.AstExpr) -> str:
    """An isl AST expression as C; min, max and floor division call the functions of ``SUPPORT``."""
    kind = kind_of(expression.get_type())
    if kind == "id":
        return str(expression.get_id().name)
    if kind == "int":
        return str(expression.get_val().to_python())
    operation = kind_of(expression.get_op_type())
    arguments = [ast_expression(argument) for argument in _arguments(expression)]
    if operation in _INFIX:
        return f"({f' {_INFIX[operation]} '.join(arguments)})"
    if operation in _FUNCTIONS:
        name = _FUNCTIONS[operation]
        text = arguments[0]
        for argument in arguments[1:]:
            text = f"{name}({text}, {argument})"
        return text
    if operation == "minus":
        return f"(-{arguments[0]})"
    if operation in ("cond", "select"):
        return f"({arguments[0]} ? {arguments[1]} : {arguments[2]})"
    raise CodegenError(f"isl made an expression that has no C: {expression.to_C_str()}")


def stripped(text: str) -> str:
    """Without the outermost parentheses, where they enclose the whole."""
    if not (text.startswith("(") and text.endswith(")")):
        return text
    depth = 0
    for index, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0 and index < len(text) - 1:
            return text
    return text[1:-1]


def _is_atom(text: str) -> bool:
    return text.replace("_", "a").isalnum() or stripped(text) != text


def _atom(text: str) -> str:
    return text if _is_atom(text) else f"({text})"


def affine(form: Affine, iterators: Sequence[str]) -> str:
    """``form`` with the given C expression in place of each iterator."""
    terms: list[str] = []
    constant = form.constant
    for coefficient, iterator in zip(form.coefficients, iterators, strict=True):
        if coefficient == 0:
            continue
        if iterator.lstrip("-").isdigit():
            constant += coefficient * int(iterator)
            continue
        size = abs(coefficient)
        term = _atom(iterator) if size == 1 else f"{size} * {_atom(iterator)}"
        sign = "-" if coefficient < 0 else "+"
        terms.append(f" {sign} {term}" if terms else (f"-{term}" if sign == "-" else term))
    if not terms:
        return str(constant)
    if constant:
        terms.append(f" {'-' if constant < 0 else '+'} {abs(constant)}")
    return "".join(terms)


def _piecewise(text: str, iterators: Sequence[str]) -> str:
    """An isl pw_aff over a statement's iterators as C, with expressions in place of the iterators."""
    form = isl.PwAff(text)
    names = [f"polydl_iterator_{index}" for index in range(len(iterators))]
    for index, name in enumerate(names):
        form = form.set_dim_id(isl.dim_type.in_, index, isl.Id(name))
    if names:
        form = form.move_dims(isl.dim_type.param, 0, isl.dim_type.in_, 0, len(names))
    build = isl.AstBuild.from_context(isl.Set("{ : }"))
    expression = ast_expression(build.expr_from_pw_aff(form.project_domain_on_params()))
    values = dict(zip(names, iterators, strict=True))
    return re.sub(r"polydl_iterator_\d+", lambda found: _atom(values[found.group()]), expression)


def subscripted(scop: Scop, access: Access, iterators: Sequence[str]) -> str:
    """The array reference as C, for example ``A[i_t1 * 8][k]``."""
    if not scop.array(access.array).extents:
        return access.array
    if access.subscripts is not None:
        return access.array + "".join(f"[{stripped(affine(form, iterators))}]" for form in access.subscripts)
    index = isl.MultiPwAff(access.index)
    forms = [str(index.get_pw_aff(position)) for position in range(index.dim(isl.dim_type.out))]
    return access.array + "".join(f"[{stripped(_piecewise(form, iterators))}]" for form in forms)


class StatementWriter:
    """Prints a statement's expression with C expressions in place of its iterators."""

    def __init__(self, scop: Scop, statement: Statement, iterators: Sequence[str]) -> None:
        self.scop = scop
        self.statement = statement
        self.iterators = iterators
        self._writers: Mapping[str, Callable[[Expression], str]] = {
            "access": self._access,
            "affine": lambda node: _atom(_piecewise(node.text, iterators)),
            "literal": lambda node: node.text,
            "call": lambda node: f"{node.text}({', '.join(stripped(self.write(a)) for a in node.arguments)})",
            "cast": lambda node: f"({node.text}){_atom(self.write(node.arguments[0]))}",
            "op": self._operation,
        }

    def write(self, node: Expression) -> str:
        return self._writers[node.kind](node)

    def _access(self, node: Expression) -> str:
        return subscripted(self.scop, self.statement.access(node.text), self.iterators)

    def _operation(self, node: Expression) -> str:
        arguments = [self.write(argument) for argument in node.arguments]
        if node.text == "?:":
            return f"({arguments[0]} ? {arguments[1]} : {arguments[2]})"
        if len(arguments) == 1:
            return f"({node.text}{_atom(arguments[0])})"
        if node.text.endswith("=") and node.text not in ("==", "!=", "<=", ">="):
            return f"{arguments[0]} {node.text} {stripped(arguments[1])}"
        return f"({arguments[0]} {node.text} {arguments[1]})"


def statement_text(scop: Scop, statement: Statement, iterators: Sequence[str]) -> str:
    """The statement as a line of C."""
    return StatementWriter(scop, statement, iterators).write(statement.body) + ";"
