"""A statement over other iterators: what a change of its loops that keeps every instance makes of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import islpy as isl

from polydl.ir.affine import Affine, composed, iterator_form
from polydl.ir.statement import Access, Expression, Statement
from polydl.poly.boxes import bounding_box


def with_iterators(
    statement: Statement, iterators: Sequence[str], old: Sequence[Affine], domain: isl.Set | None = None
) -> Statement:
    """The statement with other iterators, over which ``old`` are the ones that it has now.

    There may be more of them than before, if ``domain`` says which values they have. Its place among others and the
    direction of its loops stay as they are; whether the new order is legal is for the caller to know. Raises ValueError
    unless each instance has just one point in the new iterators.
    """
    before = isl.Set(statement.domain)
    change = change_of_iterators(statement.name, iterators, old)
    instances = isl.Map.from_multi_aff(change).intersect_range(before)
    if domain is not None:
        instances = instances.intersect_domain(domain)
    if not instances.is_bijective() or not instances.range().is_equal(before):
        values = [form.text(iterators) for form in old]
        raise ValueError(f"{values} don't give each instance of {statement.name} one place")
    domain = instances.domain()
    ranges = bounding_box(domain)
    box = domain
    for place, (low, high) in enumerate(ranges):
        box = box.eliminate(isl.dim_type.set, place, 1)
        box = box.lower_bound_val(isl.dim_type.set, place, low).upper_bound_val(isl.dim_type.set, place, high)

    def moved(access: Access) -> Access:
        forms = access.subscripts
        return replace(
            access,
            relation=str(isl.Map(access.relation).preimage_domain_multi_aff(change).intersect_domain(domain)),
            index=str(isl.MultiPwAff(access.index).pullback_multi_aff(change)),
            subscripts=None if forms is None else tuple(composed(form, old, len(iterators)) for form in forms),
        )

    def rebuilt(node: Expression) -> Expression:
        text = str(isl.PwAff(node.text).pullback_multi_aff(change)) if node.kind == "affine" else node.text
        return replace(node, text=text, arguments=tuple(rebuilt(argument) for argument in node.arguments))

    return replace(
        statement,
        iterators=tuple(iterators),
        domain=str(domain),
        box=ranges if domain.is_equal(box) else None,
        body=rebuilt(statement.body),
        accesses=tuple(moved(access) for access in statement.accesses),
    )


def restricted(statement: Statement, domain: isl.Set) -> Statement:
    """The statement with the instances of ``domain`` alone, a part of its own. ``instances`` stays as it is."""
    same = [iterator_form(place, statement.depth) for place in range(statement.depth)]
    return with_iterators(replace(statement, domain=str(domain)), statement.iterators, same, domain)


def change_of_iterators(name: str, iterators: Sequence[str], old: Sequence[Affine]) -> isl.MultiAff:
    """The map from new iterators of a statement of that name to its ``old`` ones, which are forms of the new."""
    values = ", ".join(form.text(iterators) for form in old)
    return isl.MultiAff(f"{{ {name}[{', '.join(iterators)}] -> {name}[{values}] }}")


def renamed(statement: Statement, name: str) -> Statement:
    """The statement under another name."""

    def of(access: Access) -> Access:
        relation = isl.Map(access.relation).set_tuple_name(isl.dim_type.in_, name)
        index = isl.MultiPwAff(access.index).set_tuple_name(isl.dim_type.in_, name)
        return replace(access, relation=str(relation), index=str(index))

    domain = isl.Set(statement.domain).set_tuple_name(name)
    accesses = tuple(of(access) for access in statement.accesses)
    body = value_in(statement.body, name)
    return replace(statement, name=name, domain=str(domain), body=body, accesses=accesses)


def value_in(node: Expression, name: str) -> Expression:
    """The expression in a statement of that name, over the same iterators."""
    text = (
        str(isl.PwAff(node.text).set_tuple_id(isl.dim_type.in_, isl.Id(name))) if node.kind == "affine" else node.text
    )
    return replace(node, text=text, arguments=tuple(value_in(argument, name) for argument in node.arguments))
