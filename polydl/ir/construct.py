"""Statements and accesses made anew, with their isl strings written from boxes and subscripts."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from polydl.ir.affine import Affine, Box
from polydl.ir.scop import Array, Scop
from polydl.ir.statement import Access, AccessKind, Expression, Statement


def _terms(form: Affine, iterators: Sequence[str]) -> str:
    terms = [f"{c}{name}" for c, name in zip(form.coefficients, iterators, strict=True) if c]
    return " + ".join([*terms, str(form.constant)])


def make_access(
    statement: str,
    iterators: Sequence[str],
    box: Box,
    reference: str,
    array: str,
    kind: AccessKind,
    subscripts: tuple[Affine, ...],
) -> Access:
    """An access with its isl relations written from its subscripts."""
    head = f"{statement}[{', '.join(iterators)}]"
    elements = [_terms(form, iterators) for form in subscripts]
    bounds = " and ".join(f"{low} <= {name} <= {high}" for name, (low, high) in zip(iterators, box, strict=True))
    relation = f"{{ {head} -> {array}[{', '.join(elements)}]{' : ' if bounds else ''}{bounds} }}"
    index = f"{{ {head} -> {array}[{', '.join(f'({element})' for element in elements)}] }}"
    return Access(reference, array, kind, relation, index, subscripts)


def make_domain(statement: str, iterators: Sequence[str], box: Box) -> str:
    """The isl set of a statement's instances, from its box."""
    bounds = " and ".join(f"{low} <= {name} <= {high}" for name, (low, high) in zip(iterators, box, strict=True))
    return f"{{ {statement}[{', '.join(iterators)}]{' : ' if bounds else ''}{bounds} }}"


def make_statement(
    name: str,
    iterators: tuple[str, ...],
    box: Box,
    accesses: tuple[Access, ...],
    body: Expression,
    *,
    betas: tuple[int, ...] | None = None,
    line: int,
    text: str,
) -> Statement:
    """A statement whose loops run forwards over a box; without ``betas`` in a nest of its own, at place 0."""
    return Statement(
        name=name,
        iterators=iterators,
        domain=make_domain(name, iterators, box),
        box=box,
        instances=prod(high - low + 1 for low, high in box),
        betas=(0,) * (len(box) + 1) if betas is None else betas,
        directions=(1,) * len(box),
        body=body,
        accesses=accesses,
        line=line,
        text=text,
    )


def assignment(reference: str, value: Expression) -> Expression:
    """The value assigned to what a reference writes."""
    return Expression("op", "=", (Expression("access", reference), value))


def zero_of(array: Array) -> Expression:
    """A zero of the type of an array's elements."""
    return Expression("literal", {"float": "0.0f", "double": "0.0"}.get(array.element, "0"))


def has_loops_alone(scop: Scop, statement: Statement) -> bool:
    """Whether no other statement is in the nest of a statement, where nests come one after the other."""
    return sum(each.betas[0] == statement.betas[0] for each in scop.statements) == 1


def fresh_name(scop: Scop, name: str) -> str:
    """The name, with underscores after it until no array and no loop of the scop has it."""
    taken = {array.name for array in scop.arrays} | {name for s in scop.statements for name in s.iterators}
    while name in taken:
        name += "_"
    return name
