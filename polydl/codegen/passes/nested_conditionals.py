"""Loop distribution of element-wise statements: conditionals inside of others in loops of their own.

Compilers make masks of masks of them otherwise: of a value that is held between two bounds nine instructions for four.
"""

from __future__ import annotations

from dataclasses import replace

from polydl.codegen.loop_ir import Assign, Body, Declare, For, Variable
from polydl.codegen.values import (
    COMPARISONS,
    Binary,
    Conditional,
    Constant,
    Element,
    Expr,
    Name,
    Unary,
    walk,
    with_parts,
)
from polydl.ir.scop import REAL_BYTES

_HARMLESS = COMPARISONS | {"+", "-", "*"}


def distributed(loop: For, iterations: int) -> Body:
    """A loop that runs so many iterations at most, as several; empty if it has no conditionals to be taken apart.

    Its body gives a variable its first value, changes that by one statement after the other, and stores it.
    """
    match loop.body:
        case (Declare(kind, (Variable(name, initial=source),)), *statements, Assign(target) as store):
            pass
        case _:
            return ()
    element, counter = Name(name), Name(loop.iterator)
    arrays: list[str] = []
    made: list[Declare | For] = []

    def array(variable: str) -> Element:
        made.append(Declare(kind, (Variable(variable, (iterations,)),)))
        return Element(variable, (counter,))

    def part(statement: Assign, kept: Expr) -> None:
        begin = Declare(kind, (Variable(name, initial=source),))
        made.append(replace(loop, body=(begin, statement, replace(store, target=kept))))

    between = array("values") if len(statements) > 1 else target
    for place, statement in enumerate(statements):
        assert isinstance(statement, Assign)
        inner: list[Expr] = []
        rest = _apart(statement.value, inner, len(arrays), kind, element, counter)
        own = [array(f"inner{len(arrays) + number}") for number in range(len(inner))]
        arrays += [each.array for each in own]
        for value, kept in zip(inner, own, strict=True):
            part(Assign(element, "=", value), kept)
        part(replace(statement, value=rest), target if place == len(statements) - 1 else between)
        source = between
    return tuple(made) if arrays else ()


def _apart(
    value: Expr, inner: list[Expr], first: int, kind: str, element: Name, counter: Name, *, outermost: bool = True
) -> Expr:
    """The expression with conditionals inside of others in arrays, if anything may be computed of them at any time.

    What is taken out goes to ``inner``; the arrays are numbered from ``first`` on.
    """
    conditional = isinstance(value, Conditional)
    below = outermost and not conditional
    changed = with_parts(value, lambda part: _apart(part, inner, first, kind, element, counter, outermost=below))
    if not conditional or outermost or not all(_is_harmless(part, kind, element) for part in walk(value)):
        return changed
    inner.append(changed)
    return Element(f"inner{first + len(inner) - 1}", (counter,))


def _is_harmless(value: Expr, kind: str, element: Name) -> bool:
    """Whether an expression of that type takes the same time, and raises nothing, whatever the numbers are."""
    if kind not in REAL_BYTES:
        return False
    match value:
        case Name():
            return value == element
        case Constant(number):
            return kind == "double" or number.isdigit() or number[-1] in "fF"
        case Unary(operator) | Binary(operator):
            return operator in _HARMLESS
    return isinstance(value, Conditional)
