"""Which of pet's statements without values for sizes is which of a nest that was read with values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import islpy as isl

from polydl.errors import UnsupportedConstructError, UserError
from polydl.frontend.open_sizes import OpenAccess, OpenStatement, Polynomial
from polydl.ir.scop import Scop
from polydl.ir.statement import Access, Expression, Statement


def unsupported(scop: Scop, line: int, message: str, remedy: str) -> UserError:
    """The error for what a library can't hold."""
    return UnsupportedConstructError(f"a library can't hold this: {message}", file=scop.file, line=line, remedy=remedy)


def described_statements(scop: Scop, opened: Sequence[OpenStatement]) -> dict[str, OpenStatement]:
    """What pet says of each statement. Raises UserError for one that can't be told from others.

    The front-end leaves out statements that only set or take a local scalar, and puts an array in the scalar's place.
    """
    left = list(opened)
    described = {}
    for statement in scop.statements:
        here = [each for each in left if each.line == statement.line]
        same = [each for each in here if _agree(scop, statement, each)]
        same = same or [each for each in here if _write_alike(scop, statement, each)]
        if not same:
            raise unsupported(
                scop,
                statement.line,
                f"`{statement.text}` has sizes or indices that the region computes",
                "leave only loops over arrays in the region",
            )
        described[statement.name] = same[0]
        left.remove(same[0])
    return described


def _references(statement: Statement) -> list[str]:
    return [node.text for node in statement.body.walk() if node.kind == "access"]


def _agree(scop: Scop, statement: Statement, opened: OpenStatement) -> bool:
    """Whether both have the same accesses, but for local scalars of the source, which the nest may not have."""
    references = _references(statement)
    names = {array.name for array in scop.arrays}
    return len(references) == len(opened.accesses) and all(
        access.array == statement.access(reference).array or access.array not in names
        for reference, access in zip(references, opened.accesses, strict=True)
    )


def _write_alike(scop: Scop, statement: Statement, opened: OpenStatement) -> bool:
    """Whether both write the same array: a statement into which the front-end has put a scalar's value reads others."""
    names = {array.name for array in scop.arrays}
    written = [access.array for access in statement.writes]
    return bool(opened.accesses) and (opened.accesses[0].array in written or opened.accesses[0].array not in names)


def with_open_values(scop: Scop, statement: Statement, described: OpenStatement, other: Scop) -> Expression:
    """The body of a statement with integers as they are without values for sizes: ``sum / N``, ``x[i] = i``.

    ``other`` is the nest at another shape. Raises UserError where it isn't clear what an integer is made of.
    """
    if _agree(scop, statement, described):
        body = _with_values(statement.body, described.body)
        if body is not None:
            return body
    if all(statement.body != each.body for each in other.statements if each.name == statement.name):
        raise unsupported(
            scop,
            statement.line,
            f"`{statement.text}` computes with a size in a way that isn't understood",
            "leave out the variables that it uses, or pass the value as a parameter",
        )
    return statement.body


def _with_values(node: Expression, opened: Mapping[str, Any]) -> Expression | None:
    """An expression with the integers of what pet says of it; None if the two are of different forms."""
    if node.kind in ("affine", "literal"):
        if opened["kind"] != "access":
            return node if opened["kind"] in ("int", "double") else None
        value = isl.MultiPwAff(opened["index"])
        if value.get_tuple_name(isl.dim_type.out) is not None or opened["arguments"]:
            return None
        text = str(value.get_pw_aff(0))
        return node if isl.PwAff(text).dim(isl.dim_type.param) == 0 else Expression("affine", text)
    if len(node.arguments) != len(opened["arguments"]) or (node.kind != opened["kind"]):
        return node if node.kind == "access" else None
    arguments = [_with_values(*pair) for pair in zip(node.arguments, opened["arguments"], strict=True)]
    known = tuple(argument for argument in arguments if argument is not None)
    return replace(node, arguments=known) if len(known) == len(arguments) else None


def described_accesses(
    scop: Scop, statement: Statement, described: OpenStatement, everywhere: Sequence[OpenStatement]
) -> list[tuple[Access, OpenAccess | None]]:
    """Each access of a statement as it is without values for sizes; None for an array that the front-end put in.

    An array that is in a scalar's place has the subscripts of another of its accesses: the one that is the same here.
    """
    agree = _agree(scop, statement, described)
    of = dict(zip(_references(statement), described.accesses, strict=True)) if agree else {}
    values = {each.name: each.value for each in scop.function.parameters if each.value is not None}
    pairs: list[tuple[Access, OpenAccess | None]] = []
    for access in statement.accesses:
        opened = of.get(access.reference)
        known = opened is not None and opened.array == access.array
        if known or scop.array(access.array).storage == "local":
            pairs.append((access, opened if known else None))
            continue
        same: list[OpenAccess] = []
        for other in (other for each in everywhere for other in each.accesses if other.array == access.array):
            if _is_at(other.subscripts, access, values) and all(other.subscripts != each.subscripts for each in same):
                same.append(other)
        if len(same) != 1:
            raise unsupported(
                scop,
                statement.line,
                f"it isn't clear which element of `{access.array}` `{statement.text}` adds to",
                f"write to {access.array} without a variable in between",
            )
        pairs.append((access, same[0]))
    return pairs


def _is_at(subscripts: Sequence[Polynomial | None], access: Access, values: Mapping[str, int]) -> bool:
    """Whether subscripts are those of an access where the sizes have these values."""
    if access.subscripts is None or len(subscripts) != len(access.subscripts):
        return False
    for polynomial, form in zip(subscripts, access.subscripts, strict=True):
        coefficients, constant = [0] * len(form.coefficients), 0
        for factors, number in (polynomial or {}).items():
            iterators = [factor for factor in factors if isinstance(factor, int)]
            for factor in factors:
                number *= values[factor] if isinstance(factor, str) else 1
            if len(iterators) > 1 or any(iterator >= len(coefficients) for iterator in iterators):
                return False
            if iterators:
                coefficients[iterators[0]] += number
            else:
                constant += number
        if polynomial is None or tuple(coefficients) != form.coefficients or constant != form.constant:
            return False
    return True
