"""Sums in loops that run with vectors or on threads: each lane or thread adds up a part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from polydl.codegen.expressions import statement_text, subscripted
from polydl.ir.scop import Scop
from polydl.ir.statement import Access, Expression, Statement
from polydl.plan.nest_plan import NestPlan
from polydl.poly.dependences import addition, moves, reduction_array
from polydl.poly.legality import Directions, sums_are_legal

_ARITHMETIC = frozenset({"+", "-", "*", "/", "?:"})
# Terms whose sum in float is hardly less precise than each of them.
_MOST_NARROW_TERMS = 256


@dataclass(frozen=True)
class Sum:
    """A statement that adds to an element which an innermost loop leaves alone."""

    statement: Statement
    target: Access

    def element(self, scop: Scop, values: Sequence[str]) -> str:
        return subscripted(scop, self.target, values)

    @property
    def term(self) -> Expression:
        """What is added."""
        value = self.statement.body.arguments[1]
        if self.statement.body.text != "=":
            return value
        own, other = value.arguments
        return other if own.kind == "access" and self.statement.access(own.text).array == self.target.array else own

    def text(self, scop: Scop, values: Sequence[str], partial: str) -> str:
        """The statement with the variable ``partial`` in the element's place."""
        own = {access.reference for access in self.statement.accesses if access.array == self.target.array}

        def moved(node: Expression) -> Expression:
            if node.kind == "access" and node.text in own:
                return Expression("literal", partial)
            return replace(node, arguments=tuple(moved(argument) for argument in node.arguments))

        return statement_text(scop, replace(self.statement, body=moved(self.statement.body)), values)


def partial_type(scop: Scop, each: Sum, terms: int) -> str:
    """The type in which so many terms are added up before they join their sum.

    Terms that are ``float`` are added as such, though their sum be ``double``, if they are few and nothing that leaves
    the nest is more precise: converting each of them takes longer than adding it.
    """
    element = scop.array(each.target.array).element
    leaving = {scop.array(access.array) for statement in scop.statements for access in statement.writes}
    precise = any(array.element in ("double", "long double") for array in leaving if array.storage != "local")
    if element == "double" and terms <= _MOST_NARROW_TERMS and not precise and _is_float(scop, each, each.term):
        return "float"
    return element


def _is_float(scop: Scop, each: Sum, node: Expression) -> bool:
    """Whether C computes this in ``float``."""
    if node.kind == "access":
        return scop.array(each.statement.access(node.text).array).element == "float"
    if node.kind == "literal":
        return node.text[-1] in "fF" and not node.text.lower().startswith("0x")
    if node.kind == "call":
        return node.text.endswith("f")
    if node.kind == "cast":
        return node.text == "float"
    values = node.arguments[1:] if node.text == "?:" else node.arguments
    return node.kind == "op" and node.text in _ARITHMETIC and all(_is_float(scop, each, value) for value in values)


def vector_sums(scop: Scop, plan: NestPlan, found: Directions) -> dict[int, dict[str, Sum]]:
    """By place in time, the sums that a vector loop there would have to split; only where that is allowed."""
    order = plan.order()
    sums: dict[int, dict[str, Sum]] = {}
    for position, place in enumerate(plan.places):
        if not sums_are_legal(found, order, position):
            continue
        iterator = plan.loops[position].iterator
        made: dict[str, Sum] = {}
        known = True
        for statement in (scop.statement(name) for name in plan.nest.statements):
            if reduction_array(scop, statement) is None or moves(statement.writes[0], iterator):
                continue
            target = addition(scop, statement)
            known = known and target is not None
            if target is not None:
                made[statement.name] = Sum(statement, target)
        if known and made and len({each.target.array for each in made.values()}) == len(made):
            sums[place] = made
    return sums


def clause(scop: Scop, variables: Sequence[str], arrays: Sequence[str]) -> str:
    """OpenMP's clause for what lanes or threads add up."""
    sections = [name + "".join(f"[:{extent}]" for extent in scop.array(name).extents) for name in arrays]
    every = [*variables, *sections]
    return f" reduction(+: {', '.join(every)})" if every else ""
