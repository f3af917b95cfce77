"""What a statement adds to an array element, as a product of two operands with factors, signs and conversions.

A microkernel multiplies elements of two arrays. ``x += alpha * a * b``, ``x -= a * b`` and ``x += (a - zero) * b`` have
more to them; all of that may belong to the value of one operand, which the loops that move the operand determine.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce

from polydl.bfloat16 import TO_FLOAT
from polydl.ir.scop import Scop
from polydl.ir.statement import Access, Expression, Statement
from polydl.vector_functions import returned_type

_FLOATS = ("float", "double")


@dataclass(frozen=True)
class Operand:
    """One side of a product, with all factors that it takes over."""

    #: the element that its loops move through an array
    access: Access
    #: its value, to be multiplied by ``other``
    value: Expression
    #: the rest of what is added
    other: Expression
    #: whether the source computes that very value, in the accumulator's type, and multiplies it by the rest
    exact: bool


def added_value(statement: Statement) -> tuple[Expression, bool] | None:
    """What ``x += v``, ``x -= v``, ``x = x + v`` or ``x = x - v`` adds, and whether it subtracts that; else None."""
    body = statement.body
    if body.kind != "op" or len(body.arguments) != 2 or body.arguments[0].kind != "access":
        return None
    target, value = body.arguments
    if body.text in ("+=", "-="):
        return value, body.text == "-="
    if body.text != "=" or value.kind != "op" or value.text not in ("+", "-") or len(value.arguments) != 2:
        return None
    index = statement.access(target.text, "write").index
    left, right = (each.kind == "access" and _read(statement, each).index == index for each in value.arguments)
    if left != right and (left or value.text == "+"):
        return value.arguments[1 if left else 0], value.text == "-"
    return None


def with_added_value(statement: Statement, value: Expression) -> Expression:
    """The body of such a statement, with another value that is added."""
    body = statement.body
    target, old = body.arguments
    if body.text != "=":
        return Expression("op", "+=", (target, value))
    index = statement.access(target.text, "write").index
    first = old.arguments[0].kind == "access" and _read(statement, old.arguments[0]).index == index
    accumulated = old.arguments[0 if first else 1]
    return Expression("op", "=", (target, Expression("op", "+", (accumulated, value))))


def operands(scop: Scop, statement: Statement) -> tuple[Operand, ...]:
    """The operands of what a statement adds to an element, each with all factors that can belong to it.

    Empty unless that is a product of floating-point numbers with two factors that loops move. A factor belongs to an
    operand if no other loops move it; one that could belong to both does in either answer.
    """
    added = added_value(statement)
    if added is None or any(access.subscripts is None for access in statement.accesses):
        return ()
    value, negative = added
    accumulator = scop.array(statement.writes[0].array).element
    if accumulator not in _FLOATS or element_type(scop, statement, value) is None:
        return ()
    while value.kind == "cast" and value.text == accumulator:
        value = value.arguments[0]
    factors = list(_factors(scop, statement, value))
    moved = [each for each in factors if not each.sign and _moving(statement, each.value)]
    moved.sort(key=lambda factor: -len(_moving(statement, factor.value)))
    if len(moved) < 2 or any(each.inverse for each in moved[:2]):
        return ()
    answers = (_operand(scop, statement, value, negative, factors, one) for one in moved[:2])
    return tuple(each for each in answers if each is not None)


@dataclass(frozen=True, eq=False)
class _Factor:
    value: Expression
    #: whether the rest is divided by it
    inverse: bool = False
    #: whether it is a sign alone
    sign: bool = False


def _factors(scop: Scop, statement: Statement, value: Expression, inverse: bool = False) -> Iterator[_Factor]:
    """The factors of a product, with its divisors and signs. Integers are not taken apart."""
    real = element_type(scop, statement, value) in _FLOATS
    if real and value.kind == "op" and value.text in ("*", "/"):
        left, right = value.arguments
        yield from _factors(scop, statement, left, inverse)
        yield from _factors(scop, statement, right, inverse != (value.text == "/"))
    elif real and _is_sign(value):
        yield _Factor(value, sign=True)
        yield from _factors(scop, statement, value.arguments[0], inverse)
    else:
        yield _Factor(value, inverse)


def _is_sign(value: Expression) -> bool:
    return value.kind == "op" and value.text == "-" and len(value.arguments) == 1


def _operand(
    scop: Scop, statement: Statement, value: Expression, negative: bool, factors: list[_Factor], main: _Factor
) -> Operand | None:
    access = _main_access(statement, main.value)
    if access is None:
        return None
    loops = _moving(statement, main.value)
    rest = [each for each in factors if not each.sign]
    taken = [each for each in rest if each is main or _moving(statement, each.value) <= loops]
    others = [each for each in rest if each not in taken]
    if all(each.inverse for each in others):
        return None
    accumulator = scop.array(statement.writes[0].array).element
    signs = sum(each.sign for each in factors) + negative
    product, other, exact = _multiplied(taken, last=main), _multiplied(others), False
    sides = _sides(scop, statement, value, taken)
    if sides is not None:
        # Both as the source has them; a single factor without its signs.
        product = sides[0]
        other = sides[1] if len(others) > 1 else other
        kept = sides if len(others) > 1 else sides[:1]
        signs -= sum(each.sign for side in kept for each in _factors(scop, statement, side))
        types = [element_type(scop, statement, each) for each in sides]
        exact = accumulator in types and {*types} <= {"int", "float", accumulator}
    if signs % 2:
        product = Expression("op", "-", (product,))
    return Operand(access, product, other, exact)


def _sides(
    scop: Scop, statement: Statement, value: Expression, taken: list[_Factor]
) -> tuple[Expression, Expression] | None:
    """The two sides of the outermost multiplication, if the first of the answer has just these factors."""
    while _is_sign(value):
        value = value.arguments[0]
    if value.kind != "op" or value.text != "*":
        return None
    wanted = {id(each.value) for each in taken}
    for side, other in (value.arguments, value.arguments[::-1]):
        factors = [each for each in _factors(scop, statement, side) if not each.sign]
        if {id(each.value) for each in factors} == wanted:
            return side, other
    return None


def _multiplied(factors: list[_Factor], last: _Factor | None = None) -> Expression:
    """The product of factors, ``last`` after the others, and then divided by those that are divisors."""
    ordered = sorted(factors, key=lambda factor: (factor.inverse, factor is last))
    assert not ordered[0].inverse

    def times(product: Expression, factor: _Factor) -> Expression:
        return Expression("op", "/" if factor.inverse else "*", (product, factor.value))

    return reduce(times, ordered[1:], ordered[0].value)


def _read(statement: Statement, node: Expression) -> Access:
    return statement.access(node.text, "read")


def accesses_in(statement: Statement, value: Expression) -> list[Access]:
    """What an expression of a statement's reads, in its order."""
    return [_read(statement, node) for node in value.walk() if node.kind == "access"]


def _moving(statement: Statement, value: Expression) -> frozenset[int]:
    return frozenset(place for access in accesses_in(statement, value) for place in access.moving_loops)


def _main_access(statement: Statement, value: Expression) -> Access | None:
    """The access that all loops that move a value move."""
    loops = _moving(statement, value)
    return next((access for access in accesses_in(statement, value) if access.moving_loops == loops), None)


def element_type(scop: Scop, statement: Statement, value: Expression) -> str | None:
    """The type of a C expression: ``float``, ``double``, or ``int`` for any integer.

    None if it isn't known, and for what is computed from loop counters.
    """
    if value.kind == "access":
        element = scop.array(_read(statement, value).array).element
        return _numeric(element)
    if value.kind == "literal":
        text = value.text.lower()
        if text.startswith("0x") or not any(mark in text for mark in ".ef"):
            return "int" if text[0].isdigit() else None
        return "float" if text.endswith("f") else "double" if text[-1] != "l" else None
    if value.kind == "cast":
        inner = element_type(scop, statement, value.arguments[0])
        return _numeric(value.text) if inner is not None else None
    inside = [element_type(scop, statement, each) for each in value.arguments]
    if any(each is None for each in inside):
        return None
    if value.kind == "call":
        return "float" if value.text == TO_FLOAT else returned_type(value.text)
    if value.kind != "op":
        return None
    if value.text in ("!", "==", "!=", "<", "<=", ">", ">=", "&&", "||"):
        return "int"
    if value.text not in ("+", "-", "*", "/", "?:"):
        return None
    kinds = inside[1:] if value.text == "?:" else inside
    return next((kind for kind in ("double", "float", "int") if kind in kinds), None)


_INTEGERS = frozenset(
    {"signed char", "char", "unsigned char", "short", "unsigned short", "int", "unsigned int", "long", "unsigned long"}
)


def _numeric(element: str) -> str | None:
    if element in _FLOATS:
        return element
    return "int" if element in _INTEGERS else None
