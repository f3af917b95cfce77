"""Expressions of the generated C as values: what bounds, subscripts and assignments are made of.

Nodes are compared by what they are. ``Binary`` and its like come from isl's AST and from the source's statements;
``Linear`` is a sum with integer coefficients, as subscripts are, in which integers are added up when it is made by
``linear``. ``polydl.codegen.print_c`` writes them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import attrgetter, is_
from typing import Any, Literal

COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">="})


@dataclass(frozen=True)
class Integer:
    """A whole number that can be computed with before any C is compiled."""

    #: its value
    number: int


@dataclass(frozen=True)
class Name:
    """A counter or another variable of the generated code."""

    name: str


@dataclass(frozen=True)
class Constant:
    """A number as the source writes it."""

    text: str


@dataclass(frozen=True)
class Element:
    """An element of an array, or a scalar if there are no subscripts."""

    array: str
    #: of the outermost dimension first
    subscripts: tuple[Expr, ...] = ()
    #: The access of the source's statement that this is, if it is one. Elements are equal without regard to it.
    reference: str = field(default="", compare=False)


@dataclass(frozen=True)
class Unary:
    """A C operator before its operand: a sign, ``!`` or the ``*`` of a pointer."""

    operator: str
    operand: Expr


@dataclass(frozen=True)
class Binary:
    """A C operator between two operands: arithmetic, a comparison, ``&&`` or ``||``."""

    operator: str
    left: Expr
    right: Expr


@dataclass(frozen=True)
class Conditional:
    """C's ``condition ? positive : negative``."""

    condition: Expr
    positive: Expr
    negative: Expr


@dataclass(frozen=True)
class Cast:
    """An operand converted to a C type, which may be a pointer's."""

    type: str
    operand: Expr


@dataclass(frozen=True)
class Apply:
    """What a C function returns."""

    function: str
    arguments: tuple[Expr, ...]


@dataclass(frozen=True)
class Integral:
    """The lesser or greater of two integers, or their quotient rounded down."""

    operation: Literal["min", "max", "floor_div"]
    left: Expr
    right: Expr
    #: Of both, and of the result.
    type: Literal["int", "long"] = "int"

    @property
    def function(self) -> str:
        """The function of generated code that computes it (``polydl.codegen.support``)."""
        return f"polydl_{self.operation}" + ("_long" if self.type == "long" else "")


@dataclass(frozen=True)
class Linear:
    """The sum of each coefficient times its expression, and a constant."""

    #: coefficients with their expressions
    terms: tuple[tuple[int, Expr], ...]
    #: what is added to the terms
    constant: int = 0


@dataclass(frozen=True)
class AddressOf:
    """The address of an element."""

    operand: Expr


@dataclass(frozen=True)
class SizeOf:
    """The bytes of what a pointer or an array's name points to."""

    name: str


@dataclass(frozen=True)
class Member:
    """A member of the structure that a pointer points to."""

    pointer: str
    name: str


@dataclass(frozen=True)
class Compound:
    """A structure with these members."""

    type: str
    members: tuple[Expr, ...]


Expr = (
    Integer | Name | Constant | Element | Unary | Binary | Conditional | Cast | Apply | Integral | Linear
    | AddressOf | SizeOf | Member | Compound
)  # fmt: skip


def linear(terms: Sequence[tuple[int, Expr]], constant: int = 0) -> Expr:
    """The sum in its simplest form: integers are added up, and a single term is itself."""
    kept: list[tuple[int, Expr]] = []
    for coefficient, term in terms:
        if isinstance(term, Integer):
            constant += coefficient * term.number
        elif coefficient:
            kept.append((coefficient, term))
    if not kept:
        return Integer(constant)
    if not constant and len(kept) == 1 and kept[0][0] == 1:
        return kept[0][1]
    return Linear(tuple(kept), constant)


def collected(terms: Iterable[tuple[int, Expr]]) -> tuple[tuple[int, Expr], ...]:
    """Terms of a sum with the coefficients of equal expressions added up, without those that cancel out.

    They stand in the order in which the expressions come first.
    """
    coefficients: Counter[Expr] = Counter()
    for coefficient, term in terms:
        coefficients[term] += coefficient
    return tuple((coefficient, term) for term, coefficient in coefficients.items() if coefficient)


def as_sum(value: Expr) -> Linear:
    """The same value as a sum: a product with an integer becomes a term, a sum with one a constant."""
    match value:
        case Linear():
            return value
        case Integer(number):
            return Linear((), number)
        case Binary("*", Integer(factor), other):
            return Linear(((factor, other),))
        case Binary("+", left, right):
            one, two = as_sum(left), as_sum(right)
            return Linear((*one.terms, *two.terms), one.constant + two.constant)
    return Linear(((1, value),))


def flattened(value: Expr) -> Expr:
    """The expression with each sum of sums as one sum."""
    value = with_parts(value, flattened)
    if not isinstance(value, Linear):
        return value
    terms: list[tuple[int, Expr]] = []
    constant = value.constant
    for coefficient, term in value.terms:
        inner = as_sum(term)
        terms += [(coefficient * factor, each) for factor, each in inner.terms]
        constant += coefficient * inner.constant
    return linear(terms, constant)


def at_all(values: Sequence[Expr], wanted: Iterable[tuple[int, int]]) -> Expr:
    """The condition under which each of some values, given by its place among them, is a number."""
    tests: list[Expr] = [Binary("==", values[place], Integer(number)) for place, number in wanted]
    return reduce(lambda left, right: Binary("&&", left, right), tests) if tests else Integer(1)


def plus(value: Expr, constant: int) -> Expr:
    """A value and a constant as one sum in its simplest form (``linear``)."""
    return linear([(1, value)], constant)


# By type, since what walks over expressions spends its time here.
_PARTS: Mapping[type, Callable[[Any], tuple[Expr, ...]]] = {
    Element: attrgetter("subscripts"),
    Apply: attrgetter("arguments"),
    Compound: attrgetter("members"),
    Unary: lambda value: (value.operand,),
    Cast: lambda value: (value.operand,),
    AddressOf: lambda value: (value.operand,),
    Binary: attrgetter("left", "right"),
    Integral: attrgetter("left", "right"),
    Conditional: attrgetter("condition", "positive", "negative"),
    Linear: lambda value: tuple([term for _, term in value.terms]),
    **dict.fromkeys((Integer, Name, Constant, SizeOf, Member), lambda _: ()),
}


def parts(value: Expr) -> tuple[Expr, ...]:
    """The expressions that an expression is made of."""
    return _PARTS[type(value)](value)


def with_parts(value: Expr, change: Callable[[Expr], Expr]) -> Expr:
    """The expression with each of its parts changed; itself if they stay as they are."""
    before = parts(value)
    if not before:
        return value
    after = tuple([change(part) for part in before])
    if all(map(is_, before, after)):
        return value
    match value:
        case Element():
            return Element(value.array, after, value.reference)
        case Apply():
            return Apply(value.function, after)
        case Compound():
            return replace(value, members=after)
        case Unary() | Cast() | AddressOf():
            return replace(value, operand=after[0])
        case Binary():
            return Binary(value.operator, *after)
        case Integral():
            return replace(value, left=after[0], right=after[1])
        case Conditional():
            return Conditional(*after)
        case Linear():
            coefficients = (coefficient for coefficient, _ in value.terms)
            return linear(list(zip(coefficients, after, strict=True)), value.constant)
    return value


def walk(value: Expr) -> Iterator[Expr]:
    """The expression and all that it is made of, in the order of the text."""
    left = [value]
    while left:
        value = left.pop()
        yield value
        left += parts(value)[::-1]


def always(value: Expr) -> Iterator[Expr]:
    """What is computed for an expression whichever way its conditions turn out."""
    yield value
    match value:
        case Conditional(condition):
            yield from always(condition)
        case Binary("&&" | "||", left):
            yield from always(left)
        case _:
            for part in parts(value):
                yield from always(part)


def elements(value: Expr) -> Iterator[Element]:
    """All array elements and scalars in an expression in the order of the text, those in subscripts included."""
    return (each for each in walk(value) if isinstance(each, Element))


def mentions(value: Expr, name: str) -> bool:
    """Whether a counter or variable of the generated code (``Name``) is in an expression."""
    return any(type(each) is Name and each.name == name for each in walk(value))


def substituted(value: Expr, values: Mapping[str, Expr]) -> Expr:
    """The expression with values in place of names."""
    if isinstance(value, Name):
        return values.get(value.name, value)
    return with_parts(value, lambda part: substituted(part, values))


def with_elements(value: Expr, change: Callable[[Element], Expr]) -> Expr:
    """The expression with each element changed, the outermost of nested ones only."""
    if isinstance(value, Element):
        return change(value)
    return with_parts(value, lambda part: with_elements(part, change))
