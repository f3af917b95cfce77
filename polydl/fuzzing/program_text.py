"""Drawn programs as C files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from polydl.fuzzing.program import (
    BFLOAT16,
    FUNCTION,
    Assign,
    Binary,
    Call,
    Declare,
    Element,
    Expression,
    If,
    Index,
    Loop,
    Node,
    Number,
    Program,
    Select,
    Variable,
    nodes,
    parts_of,
)

_MATH_FUNCTIONS = ("fmax", "fabs", "sqrt", "exp")


def c_text(program: Program) -> str:
    """The program as a C file with one function around one region."""
    written = {node.target.array for node in nodes(program.body) if isinstance(node, Assign)}
    lines: list[str] = []
    called = {part.function for node in nodes(program.body) for part in parts_of(node) if isinstance(part, Call)}
    if any(name.startswith(_MATH_FUNCTIONS) for name in called):
        lines.append("#include <math.h>")
    if any(each.element == BFLOAT16 for each in program.variables):
        lines.append("#include <polydl/bfloat16.h>")
    lines += [f"{_declared(each)};" for each in program.variables if each.is_global]
    parameters = [f"int {name}" for name, _ in program.defines]
    for each in program.variables:
        if not each.is_global:
            const = "const " if each.extents and each.name not in written else ""
            parameters.append(const + _declared(each))
    lines += [f"void {FUNCTION}({', '.join(parameters) or 'void'})", "{", "#pragma scop"]
    lines += [line for node in program.body for line in _lines(node, 1)]
    return "\n".join([*lines, "#pragma endscop", "}", ""])


def _declared(variable: Variable) -> str:
    return f"{variable.element} {variable.name}" + "".join(f"[{extent}]" for extent in variable.extents)


def _lines(node: Node, depth: int) -> Iterator[str]:
    indent = "  " * depth
    match node:
        case Assign():
            yield f"{indent}{expression_text(node.target)} {node.operator} {expression_text(node.value)};"
        case Declare():
            yield f"{indent}{node.element} {node.name} = {expression_text(node.value)};"
        case Loop():
            name, first, last = node.name, node.first.text(), node.last.text()
            above = replace(node.last, constant=node.last.constant + 1).text()
            if node.step < 0:
                change = f"{name}--" if node.step == -1 else f"{name} -= {-node.step}"
                yield f"{indent}for ({node.counter} {name} = {last}; {name} >= {first}; {change}) {{"
            else:
                change = f"{name}++" if node.step == 1 else f"{name} += {node.step}"
                yield f"{indent}for ({node.counter} {name} = {first}; {name} < {above}; {change}) {{"
            yield from _inside(node.body, depth)
            yield f"{indent}}}"
        case If():
            conditions = " && ".join(f"{form.text()} {operator} 0" for form, operator in node.conditions)
            yield f"{indent}if ({conditions}) {{"
            yield from _inside(node.then, depth)
            if node.otherwise:
                yield f"{indent}}} else {{"
                yield from _inside(node.otherwise, depth)
            yield f"{indent}}}"


def _inside(body: tuple[Node, ...], depth: int) -> Iterator[str]:
    for node in body:
        yield from _lines(node, depth + 1)


def expression_text(value: Expression) -> str:
    """An expression as C, without parentheses around it."""
    match value:
        case Element():
            return value.array + "".join(f"[{form.text()}]" for form in value.subscripts)
        case Number():
            return value.text
        case Index():
            return f"({value.form.text()})"
        case Binary():
            return f"{_operand(value.left)} {value.operator} {_operand(value.right)}"
        case Call():
            arguments = ", ".join(map(expression_text, value.arguments))
            return f"{value.function}({arguments})"
        case Select():
            test = f"{_operand(value.left)} {value.operator} {_operand(value.right)}"
            return f"{test} ? {_operand(value.positive)} : {_operand(value.negative)}"


def _operand(value: Expression) -> str:
    text = expression_text(value)
    return f"({text})" if isinstance(value, Binary | Select) or text.startswith("-") else text
