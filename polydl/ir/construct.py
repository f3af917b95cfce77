"""Builders of statements and accesses for rewrites: isl strings are written from boxes and subscripts."""

from __future__ import annotations

from collections.abc import Container, Sequence
from math import prod

from polydl.ir.affine import Affine, Box, box_extents
from polydl.ir.scop import Array, Scop
from polydl.ir.statement import Access, AccessKind, Expression, Origin, Statement


def make_access(
    statement: str,
    iterators: Sequence[str],
    box: Box,
    reference: str,
    array: str,
    kind: AccessKind,
    subscripts: tuple[Affine, ...],
) -> Access:
    """An access of a statement whose domain is ``box``; its relation and its index are written from ``subscripts``."""
    head = f"{statement}[{', '.join(iterators)}]"
    elements = [form.text(iterators) for form in subscripts]
    bounds = " and ".join(f"{low} <= {name} <= {high}" for name, (low, high) in zip(iterators, box, strict=True))
    relation = f"{{ {head} -> {array}[{', '.join(elements)}]{' : ' if bounds else ''}{bounds} }}"
    index = f"{{ {head} -> {array}[{', '.join(f'({element})' for element in elements)}] }}"
    return Access(reference, array, kind, relation, index, subscripts)


def make_domain(statement: str, iterators: Sequence[str], box: Box) -> str:
    """The iteration domain of a statement whose iterators run over ``box``, as isl writes the set."""
    bounds = " and ".join(f"{low} <= {name} <= {high}" for name, (low, high) in zip(iterators, box, strict=True))
    return f"{{ {statement}[{', '.join(iterators)}]{' : ' if bounds else ''}{bounds} }}"


def make_statement(
    name: str,
    iterators: tuple[str, ...],
    box: Box,
    accesses: tuple[Access, ...],
    body: Expression,
    *,
    origin: Origin,
    betas: tuple[int, ...] | None = None,
    line: int,
    text: str,
) -> Statement:
    """A statement whose loops run forwards over ``box``.

    ``betas`` are the constants of its 2d+1 schedule; all are 0 if they are left out.
    """
    return Statement(
        name=name,
        iterators=iterators,
        domain=make_domain(name, iterators, box),
        box=box,
        instances=prod(box_extents(box)),
        betas=(0,) * (len(box) + 1) if betas is None else betas,
        directions=(1,) * len(box),
        body=body,
        accesses=accesses,
        line=line,
        text=text,
        origin=origin,
    )


def assignment(reference: str, value: Expression) -> Expression:
    """The statement body ``reference = value``, where ``reference`` is the id of the access written."""
    return Expression("op", "=", (Expression("access", reference), value))


def zero_of(array: Array) -> Expression:
    """The literal zero in the type of an array's elements."""
    return Expression("literal", {"float": "0.0f", "double": "0.0"}.get(array.element, "0"))


def has_loops_alone(scop: Scop, statement: Statement, place: int = 0) -> bool:
    """Whether ``statement`` shares no loop from the one at ``place`` on: no other one has its betas up to that."""
    prefix = statement.betas[: place + 1]
    return sum(other.betas[: place + 1] == prefix for other in scop.statements) == 1


def fresh_name(scop: Scop, name: str) -> str:
    """``name`` with as many underscores after it as it takes for no array and no loop of the scop to have it."""
    return fresh(name, {array.name for array in scop.arrays} | {each for s in scop.statements for each in s.iterators})


def fresh_statement_name(scop: Scop, name: str) -> str:
    """``name`` with as many underscores after it as it takes for no statement of the scop to have it."""
    return fresh(name, {statement.name for statement in scop.statements})


def fresh(name: str, taken: Container[str]) -> str:
    """``name`` with as many underscores after it as it takes to be none of those ``taken``."""
    while name in taken:
        name += "_"
    return name
