"""Loops of the generated code written by hand: what tests of passes over them begin with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from polydl.codegen.context import CallFacts, Context, StatementFacts
from polydl.codegen.loop_ir import Assign, Body, Call, For, Node, at_most
from polydl.codegen.print_c import lines
from polydl.codegen.values import AddressOf, Binary, Element, Expr, Integer, Name, linear
from polydl.ir.affine import Affine
from polydl.ir.scop import Array
from polydl.ir.statement import Access

BYTES = {"float": 4, "double": 8, "int": 4}


def array(name: str, *extents: int, element: str = "float") -> Array:
    return Array(name, element, BYTES[element], extents, "parameter")


def context(*arrays: Array, exact: bool = False, precise: bool = False, **facts: StatementFacts) -> Context:
    """What is known of the statements whose names the keywords are."""
    return Context({each.name: each for each in arrays}, facts, exact, precise)


def of_calls(**facts: CallFacts) -> Context:
    """What is known of the calls that stand for the statements whose names the keywords are."""
    return Context({}, {}, calls=facts)


@dataclass(frozen=True)
class Run:
    """A function that shows its arguments with their names."""

    def call(self, arguments: Mapping[str, str]) -> str:
        return f"run({', '.join(f'{name}: {text}' for name, text in arguments.items())});"


def call(statement: str, *counters: str | int | Expr, a: Element) -> Call:
    """A call for the tile of A that begins with ``a``, with these values of its statement's iterators."""
    values = tuple(map(value, counters))
    return Call(Run(), statement, (("a", AddressOf(a)),), values, values)


def access(array: str, *forms: tuple[int, ...]) -> Access:
    """A read of an array: a subscript has a coefficient for each iterator, and a constant at its end."""
    subscripts = tuple(Affine(form[:-1], form[-1]) for form in forms)
    return Access(f"{array}_read", array, "read", "", "", subscripts)


def value(text: str | int | Expr) -> Expr:
    """A counter by its name, a number, or a counter and a number added up: ``i + 1``."""
    if isinstance(text, int):
        return Integer(text)
    if not isinstance(text, str):
        return text
    name, _, more = text.partition(" + ")
    return linear([(1, Name(name))], int(more or 0))


def at(name: str, *subscripts: str | int | Expr) -> Element:
    """An element of an array."""
    return Element(name, tuple(map(value, subscripts)), f"{name}_read")


def times(*factors: Expr) -> Expr:
    first, *others = factors
    for factor in others:
        first = Binary("*", first, factor)
    return first


def adds(statement: str, target: Element, term: Expr) -> Assign:
    return Assign(target, "+=", term, statement)


def sets(statement: str, target: Element, assigned: Expr) -> Assign:
    return Assign(target, "=", assigned, statement)


def loop(name: str, place: int, last: int | Expr, *body: Node, first: int | Expr = 0) -> For:
    """A loop of the schedule, at a place in time, from 0 to a last value unless a first one is given."""
    return For(name, value(first), at_most(name, value(last)), body, place=place)


def c(body: Body) -> list[str]:
    """The lines of C, without what they are indented by."""
    return [line.strip() for line in lines(body)]
