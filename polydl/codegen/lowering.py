"""The source's statements as assignments of the generated code."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import islpy as isl

from polydl.codegen.build import value
from polydl.codegen.loop_ir import Assign
from polydl.codegen.values import (
    Apply,
    Binary,
    Cast,
    Conditional,
    Constant,
    Element,
    Expr,
    Integer,
    Integral,
    Linear,
    Unary,
    as_sum,
    collected,
    flattened,
    linear,
    substituted,
)
from polydl.ir.affine import Affine
from polydl.ir.scop import Scop
from polydl.ir.statement import Access, Expression, Statement
from polydl.plan.contraction import Starts


def affine(form: Affine, iterators: Sequence[Expr]) -> Expr:
    """The form with a value in place of each iterator."""
    return linear(list(zip(form.coefficients, iterators, strict=True)), form.constant)


def _iterator(number: int) -> str:
    return f"polydl_iterator_{number}"


@lru_cache(maxsize=1024)
def _piecewise(text: str, depth: int) -> Expr:
    """An isl pw_aff over so many iterators, which have the names that ``_iterator`` gives them."""
    form = isl.PwAff(text)
    for number in range(depth):
        form = form.set_dim_id(isl.dim_type.in_, number, isl.Id(_iterator(number)))
    if depth:
        form = form.move_dims(isl.dim_type.param, 0, isl.dim_type.in_, 0, depth)
    build = isl.AstBuild.from_context(isl.Set("{ : }"))
    return value(build.expr_from_pw_aff(form.project_domain_on_params()))


def piecewise(text: str, iterators: Sequence[Expr]) -> Expr:
    """An isl pw_aff with a value in place of each iterator."""
    named = {_iterator(number): each for number, each in enumerate(iterators)}
    return substituted(_piecewise(text, len(iterators)), named)


def index_forms(access: Access) -> tuple[str, ...]:
    """The subscripts of an access as isl's pw_aff."""
    return _forms(access.index)


@lru_cache(maxsize=1024)
def _forms(index: str) -> tuple[str, ...]:
    whole = isl.MultiPwAff(index)
    return tuple(str(whole.get_pw_aff(place)) for place in range(whole.dim(isl.dim_type.out)))


def element(scop: Scop, access: Access, iterators: Sequence[Expr]) -> Element:
    """The array element that an access touches where the statement's iterators have these values."""
    if not scop.array(access.array).extents:
        return Element(access.array, (), access.reference)
    if access.subscripts is not None:
        return affine_element(access, iterators)
    subscripts = tuple(piecewise(form, iterators) for form in index_forms(access))
    return Element(access.array, subscripts, access.reference)


def affine_element(access: Access, iterators: Sequence[Expr]) -> Element:
    """The same of an access whose subscripts are affine."""
    assert access.subscripts is not None
    return Element(access.array, tuple(affine(form, iterators) for form in access.subscripts), access.reference)


def in_box(place: Element, starts: Starts, counters: Sequence[Expr]) -> Element:
    """The element of a contracted array, counted from the ``starts`` at these ``counters``; any other as it is."""
    if place.array not in starts:
        return place
    subscripts = []
    for subscript, start in zip(place.subscripts, starts[place.array], strict=True):
        counted = as_sum(flattened(subscript))
        moved = as_sum(flattened(affine(start, counters)))
        terms = collected((*counted.terms, *((-step, term) for step, term in moved.terms)))
        subscripts.append(linear(terms, counted.constant - moved.constant))
    return Element(place.array, tuple(subscripts), place.reference)


def expression(
    scop: Scop, statement: Statement, node: Expression, iterators: Sequence[Expr], *, in_long: bool = False
) -> Expr:
    """A part of a statement's right- or left-hand side. With ``in_long`` the counters of loops are ``long``.

    In the source they are ``int``, where the front-end shows no conversion, and so is what is computed of them: beside
    an ``unsigned`` a ``long`` would give another result.
    """
    if node.kind == "access":
        return element(scop, statement.access(node.text), iterators)
    if node.kind == "literal":
        return Constant(node.text)
    if node.kind == "affine":
        number = apart(piecewise(node.text, iterators))
        return Cast("int", number) if in_long and _fits_in_int(node.text, statement.domain) else number
    arguments = [expression(scop, statement, argument, iterators, in_long=in_long) for argument in node.arguments]
    if node.kind == "call":
        return Apply(node.text, tuple(arguments))
    if node.kind == "cast":
        return Cast(node.text, arguments[0])
    if node.text == "?:":
        return Conditional(*arguments)
    if len(arguments) == 1:
        return Unary(node.text, arguments[0])
    return Binary(node.text, *arguments)


@lru_cache(maxsize=1024)
def _fits_in_int(text: str, domain: str) -> bool:
    """Whether an isl pw_aff has values of an ``int`` alone over a statement's domain, which has bounds."""
    points = isl.Set(domain)
    if not points.is_bounded():
        return False
    values = isl.Map.from_pw_aff(isl.PwAff(text).intersect_domain(points)).range()
    if values.is_empty():
        return True
    return values.dim_min_val(0).to_python() >= -(1 << 31) and values.dim_max_val(0).to_python() < 1 << 31


def apart(number: Expr) -> Expr:
    """An integer in a statement's expression, where a sign or a function's name would look like the statement's."""
    match number:
        case Integer(negative) if negative < 0:
            return Unary("-", Integer(-negative))
        case Integral():
            return Linear(((1, number),))
    return number


def assignment(scop: Scop, statement: Statement, iterators: Sequence[Expr], *, in_long: bool = False) -> Assign:
    """The statement where its iterators have these values, which with ``in_long`` are of counters of that type."""
    target, assigned = (
        expression(scop, statement, part, iterators, in_long=in_long) for part in statement.body.arguments
    )
    return Assign(target, statement.body.text, assigned, statement.name)
