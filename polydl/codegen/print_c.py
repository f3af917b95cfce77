"""Loops as C. All decisions have been taken before."""

from __future__ import annotations

from collections.abc import Iterable

from polydl.codegen.loop_ir import (
    Assign,
    Block,
    Body,
    Call,
    Declare,
    Definition,
    Evaluate,
    For,
    Function,
    If,
    Let,
    Node,
    ParallelRegion,
    Pragma,
    Structure,
    Switch,
    Table,
    Variable,
    While,
)
from polydl.codegen.values import (
    COMPARISONS,
    AddressOf,
    Apply,
    Binary,
    Cast,
    Compound,
    Conditional,
    Constant,
    Element,
    Expr,
    Integer,
    Integral,
    Linear,
    Member,
    Name,
    SizeOf,
    Unary,
)


def text(value: Expr) -> str:
    """An expression as an operand: in parentheses if it is an operation."""
    match value:
        case Binary() | Unary() | Conditional() | Linear():
            return f"({whole(value)})"
    return whole(value)


def whole(value: Expr) -> str:
    """An expression that stands alone: a subscript, a bound, what is assigned."""
    match value:
        case Integer():
            return str(value.number)
        case Name():
            return value.name
        case Constant():
            return value.text
        case Element():
            return value.array + "".join(f"[{whole(subscript)}]" for subscript in value.subscripts)
        case Unary():
            return f"{value.operator}{_atom(value.operand)}"
        case Binary():
            left, right = map(_compared if value.operator in COMPARISONS else text, (value.left, value.right))
            return f"{left} {value.operator} {right}"
        case Conditional():
            return f"{text(value.condition)} ? {text(value.positive)} : {text(value.negative)}"
        case Cast():
            return f"({value.type}){_atom(value.operand)}"
        case Apply():
            return f"{value.function}({', '.join(map(whole, value.arguments))})"
        case Integral():
            return f"{value.function}({_compared(value.left)}, {_compared(value.right)})"
        case Linear():
            return _sum(value)
        case AddressOf():
            return f"&{whole(value.operand)}"
        case SizeOf():
            return f"sizeof *{value.name}"
        case Member():
            return f"{value.pointer}->{value.name}"
        case Compound():
            return f"({value.type}){{{', '.join(map(whole, value.members))}}}"


def _compared(value: Expr) -> str:
    return whole(value) if isinstance(value, Linear) else text(value)


def _atom(value: Expr) -> str:
    """An expression that an operator which binds tightly may stand before."""
    match value:
        case Name() | Binary() | Unary() | Conditional() | Linear() | Element(subscripts=()):
            return text(value)
        case Integer(number) if number >= 0:
            return text(value)
        case Constant(number) if number.isalnum():
            return number
    return f"({text(value)})"


def _sum(value: Linear) -> str:
    made = ""
    for coefficient, term in value.terms:
        size = abs(coefficient)
        factor = (
            text(term) if isinstance(term, Integral | Integer | Element | AddressOf | Member | Cast) else _atom(term)
        )
        factor = factor if size == 1 else f"{size} * {factor}"
        sign = "-" if coefficient < 0 else "+"
        made += f" {sign} {factor}" if made else (f"-{factor}" if sign == "-" else factor)
    if value.constant:
        made += f" {'-' if value.constant < 0 else '+'} {abs(value.constant)}"
    return made


def pragma(value: Pragma) -> str:
    """OpenMP's directive as a line of C."""
    made = f"#pragma omp {value.directive}"
    made += f" collapse({value.collapse})" if value.collapse else ""
    made += f" simdlen({value.simdlen})" if value.simdlen else ""
    made += " schedule(dynamic)" if value.dynamic else ""
    for operation in dict.fromkeys(operation for operation, _, _ in value.sums):
        own = (each for each in value.sums if each[0] == operation)
        names = (name + "".join(f"[:{extent}]" for extent in extents) for _, name, extents in own)
        made += f" reduction({operation}: {', '.join(names)})"
    return made


def _variable(value: Variable) -> str:
    extents = "".join(f"[{extent}]" for extent in value.extents)
    if value.initial is None:
        return f"{value.name}{extents}"
    return f"{value.name}{extents} = {f'{{{whole(value.initial)}}}' if extents else whole(value.initial)}"


def _declaration(node: Declare) -> str:
    aligned = f"_Alignas({node.alignment}) " if node.alignment else ""
    named = _named(node.type, ", ".join(map(_variable, node.variables)))
    return f"{aligned}{'const ' if node.constant else ''}{named};"


def _named(kind: str, name: str) -> str:
    """A name after its type."""
    return f"{kind}{name}" if kind.endswith("*") else f"{kind} {name}"


_INLINING = {"": "", "inline": "inline ", "always": "inline __attribute__((always_inline, unused)) "}


def definition(value: Definition) -> str:
    """What stands at file scope."""
    match value:
        case Structure():
            return f"struct {value.name} {{ {' '.join(f'{_named(*member)};' for member in value.members)} }};"
        case Table():
            return f"static const long {value.name}[] = {{{', '.join(map(str, value.numbers))}}};"
        case Function():
            above = [f"/* {value.comment} */"] if value.comment else []
            head = f"{value.name}({', '.join(_named(*each) for each in value.parameters)})"
            return "\n".join(
                [*above, f"static {_INLINING[value.inlining]}void {head}", "{", *lines(value.body, 1), "}"]
            )


def _head(node: For) -> str:
    step = f"++{node.iterator}" if node.step == Integer(1) else f"{node.iterator} += {text(node.step)}"
    step = ", ".join([step, *(line.removesuffix(";") for line in lines(node.along))])
    return f"for ({node.type} {node.iterator} = {whole(node.first)}; {whole(node.condition)}; {step})"


def lines(body: Body, depth: int = 0) -> list[str]:
    """A body as lines of C, each indented by so many levels, those inside of others by more."""
    return ["  " * level + line for node in body for level, line in _node(node, depth)]


_Lines = Iterable[tuple[int, str]]


def _node(node: Node, depth: int) -> _Lines:
    match node:
        case For():
            return _loop(node, depth)
        case While():
            return [(depth, f"while ({whole(node.condition)}) {{"), *_inside(node.body, depth), (depth, "}")]
        case If():
            made = [(depth, f"if ({whole(node.condition)}) {{"), *_inside(node.then, depth)]
            match node.otherwise:
                case (If() as other,):
                    (level, head), *rest = _node(other, depth)
                    return [*made, (level, f"}} else {head}"), *rest]
                case ():
                    return [*made, (depth, "}")]
            return [*made, (depth, "} else {"), *_inside(node.otherwise, depth), (depth, "}")]
        case Switch():
            made = [(depth, f"switch ({whole(node.value)}) {{")]
            for number, body in node.cases:
                made += [(depth, f"case {number}:"), *_inside(body, depth), (depth + 1, "break;")]
            return [*made, (depth, "}")]
        case Let(name, type=kind):
            return [
                (depth, "{"),
                (depth + 1, f"const {kind} {name} = {whole(node.value)};"),
                (depth + 1, f"(void){name};"),
                *_inside(node.body, depth),
                (depth, "}"),
            ]
        case Block():
            return [(depth, "{"), *_inside(node.body, depth), (depth, "}")]
        case ParallelRegion():
            return [(depth, "#pragma omp parallel"), *_node(Block(node.body), depth)]
        case Assign():
            return [(depth, f"{whole(node.target)} {node.operator} {whole(node.value)};")]
        case Declare():
            return [(depth, _declaration(node))]
        case Evaluate():
            return [(depth, f"{whole(node.value)};")]
        case Call():
            return [(depth, node.callee.call({name: whole(value) for name, value in node.arguments}))]


def _inside(body: Body, depth: int) -> list[tuple[int, str]]:
    return [line for node in body for line in _node(node, depth + 1)]


def _loop(node: For, depth: int) -> _Lines:
    scope = bool(node.before or node.after)
    inner = depth + scope
    made = [(inner, pragma(node.pragma))] if node.pragma is not None else []
    match node.body:
        case ((Assign(statement="") | Evaluate()) as only,):
            made += [(inner, _head(node)), *_inside((only,), inner)]
        case _:
            made += [(inner, f"{_head(node)} {{"), *_inside(node.body, inner), (inner, "}")]
    if not scope:
        return made
    return [(depth, "{"), *_inside(node.before, depth), *made, *_inside(node.after, depth), (depth, "}")]
