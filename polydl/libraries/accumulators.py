"""Sums in variables of the region: ``sum += a * b; c = alpha * sum + beta * c`` is ``c *= beta; c += alpha * a * b``.

A kernel for any size then needs no memory for the sums. The terms are added up in another order, as in every product
that is computed in tiles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

import islpy as isl

from polydl.ir.affine import Affine
from polydl.ir.statement import Access, Expression, Statement
from polydl.libraries.product import scalar
from polydl.libraries.symbolic import SymbolicNest, restricted
from polydl.match.zero import is_zero


@dataclass(frozen=True)
class _Sum:
    """A variable, and the three statements that use it: one sets it, one adds to it, one takes it."""

    array: str
    first: Statement
    adding: Statement
    last: Statement


def without_sums(nest: SymbolicNest) -> SymbolicNest:
    """The nest with every sum that ends up in an array added up there. Other local variables stay."""
    for name in [array.name for array in nest.scop.arrays if array.storage == "local" and not array.view_of]:
        nest = _without(nest, name) or nest
    return nest


def _without(nest: SymbolicNest, name: str) -> SymbolicNest | None:
    users = [each for each in nest.scop.statements if any(access.array == name for access in each.accesses)]
    if len(users) != 3:
        return None
    total = _Sum(name, *users)
    places = [_place(each, name) for each in users]
    target = _written(total.last)
    if None in places or target is None or not _is_sum(total) or target.subscripts is None:
        return None
    first, last = (nest.trips.get(each.name) for each in (total.first, total.last))
    if first is None or first != last or places[0] != places[2] or not _moves(total, places, target):
        return None
    if any(access.subscripts is None for access in total.last.accesses):
        return None
    others = [each for each in nest.scop.statements if each is not total.last]
    if any(access.array == target.array for each in others for access in each.accesses):
        return None
    # What is added to the sum is computed where it begins.
    written = {access.array for each in others for access in each.writes}
    if any(access.array in written for access in total.last.reads if access.array != name):
        return None
    element = nest.scop.array(name).element
    if nest.scop.array(target.array).element != element:
        return None
    value = total.last.body.arguments[1]
    split = _split(nest, total, value, element)
    if split is None:
        return None
    factors, rest = split
    begins = _beginning(total, rest, value)
    # A sum that is 0 at first and is added to an element leaves it as it is.
    statements: list[Statement] = []
    for each in nest.scop.statements:
        if each is total.first and begins is not None:
            statements.append(_first(total, begins))
        elif each is total.adding:
            statements.append(_adding(total, target, places, factors))
        elif each is not total.first and each is not total.last:
            statements.append(each)
    return replace(nest, scop=replace(nest.scop, statements=tuple(statements)))


def _place(statement: Statement, array: str) -> tuple[int, ...] | None:
    """The iterators that are the subscripts of a local array, which must be the same in all accesses."""
    places = {
        tuple(form.single_iterator if form.constant == 0 else None for form in access.subscripts or ())
        for access in statement.accesses
        if access.array == array
    }
    (place, *more) = places
    iterators = tuple(iterator for iterator in place if iterator is not None)
    return None if more or len(iterators) < len(place) else iterators


def _written(statement: Statement) -> Access | None:
    target = statement.body.arguments[0]
    if statement.body.text not in ("=", "+=") or target.kind != "access":
        return None
    return statement.access(target.text, "write")


def _is_sum(total: _Sum) -> bool:
    """Whether the first statement sets the variable, the second adds to it, and the last only reads it, once."""
    first, adding, last = (each.body for each in (total.first, total.adding, total.last))
    reads = [access for access in total.last.accesses if access.array == total.array]
    return (
        first.text == "="
        and all(access.array != total.array for access in total.first.reads)
        and adding.text in ("+=", "-=")
        and _written(replace(total.adding, body=replace(adding, text="+="))) is not None
        and sum(access.array == total.array for access in total.adding.accesses) == 2
        and last.text in ("=", "+=")
        and len(reads) == 1
        and reads[0].kind == "read"
        and len(total.first.iterators) == len(total.last.iterators) == len(total.adding.iterators) - 1
    )


def _moves(total: _Sum, places: Sequence[tuple[int, ...] | None], target: Access) -> bool:
    """Whether the target may be set where the variable is, and what is added to an element be added to one target.

    Between setting and taking an element, nothing else must happen to it: where both are in one loop, what adds to it
    is there in the same iteration. Where they aren't, all targets are set first, so that each is another element, and
    none is read by what sets another one.
    """
    first, last = total.first, total.last
    if any(len(set(place or ())) < first.depth for place in places):
        return False
    shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first.betas, last.betas[:-1], strict=False)))
    inside = zip(places[0] or (), places[1] or (), strict=True)
    if any(set_in != added_in for set_in, added_in in inside if set_in < shared):
        return False
    reads = (access for access in last.reads if access.array == target.array)
    return shared == first.depth or (
        isl.Map(target.relation).is_injective() and all(access.subscripts == target.subscripts for access in reads)
    )


def _split(
    nest: SymbolicNest, total: _Sum, node: Expression, element: str
) -> tuple[tuple[Expression, ...], Expression | None] | None:
    """A value as the variable times factors, plus a rest without it; None if it is no such value."""
    if _is_variable(total, node):
        return (), None
    if node.kind != "op" or len(node.arguments) != 2:
        return None
    left, right = node.arguments
    inside = [_uses(total, side) for side in (left, right)]
    if inside.count(True) != 1:
        return None
    with_it, other = (left, right) if inside[0] else (right, left)
    split = _split(nest, total, with_it, element)
    if split is None:
        return None
    factors, rest = split
    if node.text == "*" and scalar(nest, total.last, other, element) is not None and rest is None:
        return (*factors, other), None
    if node.text == "+" or (node.text == "-" and inside[0]):
        if rest is None and node.text == "+":
            return factors, other
        if rest is None:
            return factors, Expression("op", "-", (other,))
        return factors, Expression("op", node.text, (rest, other))
    return None


def _is_variable(total: _Sum, node: Expression) -> bool:
    return node.kind == "access" and total.last.access(node.text, "read").array == total.array


def _uses(total: _Sum, node: Expression) -> bool:
    return any(_is_variable(total, each) for each in node.walk() if each.kind == "access")


def _beginning(total: _Sum, rest: Expression | None, value: Expression) -> Expression | None:
    """The body that sets the target before the sum: the last statement's, with what the variable is at first."""
    start = total.first.body.arguments[1]
    target = total.last.body.arguments[0]
    if is_zero(start):
        if rest is None:
            return None if total.last.body.text == "+=" else Expression("op", "=", (target, start))
        return Expression("op", total.last.body.text, (target, rest))

    def replaced(node: Expression) -> Expression:
        if _is_variable(total, node):
            return start
        return replace(node, arguments=tuple(map(replaced, node.arguments)))

    return Expression("op", total.last.body.text, (target, replaced(value)))


def _first(total: _Sum, body: Expression) -> Statement:
    """The statement that sets the target, in the place of the one that set the variable."""
    first = total.first
    kept = {node.text for node in body.walk() if node.kind == "access"}
    target = total.last.body.arguments[0].text
    accesses = [
        replace(access, index=_index(first, access.array, access.subscripts or ()))
        for access in total.last.accesses
        if access.reference in kept and not (access.reference == target and access.kind == "read" and body.text == "=")
    ]
    accesses += [access for access in first.reads if access.reference in kept]
    return restricted(replace(first, body=body, accesses=tuple(accesses), text=total.last.text))


def _adding(
    total: _Sum,
    target: Access,
    places: list[tuple[int, ...] | None],
    factors: tuple[Expression, ...],
) -> Statement:
    """The statement that adds each product to the target."""
    adding, body = total.adding, total.adding.body
    inner, outer = places[1] or (), places[2] or ()
    forms = []
    for form in target.subscripts or ():
        coefficients = [0] * adding.depth
        for dimension, iterator in enumerate(outer):
            coefficients[inner[dimension]] = form.coefficients[iterator]
        forms.append(Affine(tuple(coefficients), form.constant))
    index = _index(adding, target.array, forms)
    accesses = [
        replace(access, array=target.array, index=index, subscripts=tuple(forms))
        if access.array == total.array
        else access
        for access in adding.accesses
    ]
    value = body.arguments[1]
    for factor in factors:
        value = Expression("op", "*", (factor, value))
    read = [total.last.access(factor.text, "read") for factor in factors if factor.kind == "access"]
    accesses += [replace(access, index=_index(adding, access.array, ())) for access in read]
    changed = replace(body, arguments=(body.arguments[0], value))
    return restricted(replace(adding, body=changed, accesses=tuple(accesses)))


def _index(statement: Statement, array: str, forms: Sequence[Affine]) -> str:
    texts = [
        " + ".join(
            [
                *(
                    f"{factor}*{name}"
                    for name, factor in zip(statement.iterators, form.coefficients, strict=True)
                    if factor
                ),
                str(form.constant),
            ]
        )
        for form in forms
    ]
    return f"{{ {statement.name}[{', '.join(statement.iterators)}] -> {array}[{', '.join(texts)}] }}"
