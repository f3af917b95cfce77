"""Conditions on what a product reads, replaced by zeros around a copy of it.

A convolution in C often tests whether a row and a column of the image are there. Its loops bound each other then, and
no microkernel takes them. Where a copy of the image holds zeros for all that is not there, every product can be added.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod
from random import Random
from typing import ClassVar

import islpy as isl

from polydl.errors import IllegalVariantError
from polydl.ir.affine import Affine, Box, box_extents, iterator_form, value_range
from polydl.ir.construct import assignment, fresh_name, make_access, make_domain, make_statement, zero_of
from polydl.ir.families import PADDING
from polydl.ir.numerics import REORDERED, Rounding
from polydl.ir.scop import Array, Scop
from polydl.ir.statement import Access, Statement
from polydl.ir.variant import ArrayName, RewriteStep, StatementName
from polydl.match.product import NoMatch, product_form
from polydl.poly.boxes import bounding_box, loop_ranges
from polydl.poly.counting import limited
from polydl.poly.dependences import Dependence
from polydl.rewrite_contract import Phase, Proposal, Request
from polydl.variants.rewrites.accesses import access_over, moved_read
from polydl.variants.rewrites.copies import inserted, with_copy


@dataclass(frozen=True)
class Pad(RewriteStep):
    """Copy an array that nothing writes any more between zeros, so that ``statement`` needs no condition to read it."""

    json_name: ClassVar[str] = "pad"

    statement: StatementName
    array: ArrayName


@dataclass(frozen=True)
class PadRewrite:
    """The rewrite ``pad``, after which microkernels take convolutions that test for borders. Sums get terms of zero."""

    step: type[Pad] = Pad
    families: frozenset[str] = frozenset({PADDING})
    phase: Phase = Phase.NORMALIZATION

    def rounding(self, scop: Scop, step: Pad) -> Rounding:
        """Sums get further terms of zero, which are not zero where the other operand is infinite or NaN."""
        return replace(REORDERED, methods=("borders as zeros",))

    def apply(self, scop: Scop, step: Pad, dependences: Sequence[Dependence], *, reassociate: bool) -> Scop:
        return pad(scop, step)

    def propose(self, request: Request) -> Iterator[Proposal]:
        """For a product whose loops bound each other, the first operand that can be padded so that they don't."""
        step = padding_choice(request.scop, request.statement)
        if step is not None:
            yield Proposal((step,), for_microkernel=False)

    def drawn(self, scop: Scop, statement: Statement, draw: Random) -> Iterator[tuple[Pad]]:
        """Any array that is read."""
        reads = [access for access in statement.reads if access.subscripts]
        if reads and statement.iterators:
            yield (Pad(statement.name, draw.choice(reads).array),)

    def describe(self, scop: Scop, step: Pad) -> str:
        return f"a copy of {step.array} between zeros, in place of conditions"


PAD = PadRewrite()


@limited
def pad(scop: Scop, step: Pad) -> Scop:
    """The scop with a copy of the array between zeros, and with all iterations of the statement's loops.

    Sums get further summands of zero, which changes no sum of finite numbers, but may change what is none.
    Raises IllegalVariantError if the statement is no product, if its domain is anything but a box and the condition
    that some part of the array is read, or if the new iterations touch other elements of the other arrays.
    """
    statement = scop.statement(step.statement)
    form = product_form(scop, statement)
    if isinstance(form, NoMatch):
        raise IllegalVariantError(f"{statement.name} is no product: {form.reason}")
    read = next((each for each in (form.a, form.b) if each.array == step.array), None)
    if read is None:
        raise IllegalVariantError(f"`{step.array}` is no operand of {statement.name}")
    if statement.box is not None or scop.has_call(statement.name):
        raise IllegalVariantError(f"the loops of {statement.name} are rectangular, or stand for a marked call")
    around = loop_ranges(statement)
    there = bounding_box(isl.Map(read.relation).intersect_domain(isl.Set(statement.domain)).range())
    whole = _over(statement, around)
    _check(statement, whole, read, there)
    return _padded(scop, whole, next(each for each in whole.reads if each.reference == read.reference), there)


def _over(statement: Statement, box: Box) -> Statement:
    """The statement with all iterations of a box."""
    accesses = []
    for each in statement.accesses:
        assert each.subscripts is not None
        accesses.append(
            make_access(
                statement.name, statement.iterators, box, each.reference, each.array, each.kind, each.subscripts
            )
        )
    return replace(
        statement,
        domain=make_domain(statement.name, statement.iterators, box),
        box=box,
        instances=prod(high - low + 1 for low, high in box),
        accesses=tuple(accesses),
    )


def _check(statement: Statement, whole: Statement, read: Access, there: Box) -> None:
    domain = isl.Set(statement.domain)
    names = [f"e{dimension}" for dimension in range(len(there))]
    for access, wider in zip(statement.accesses, whole.accesses, strict=True):
        touched = isl.Map(wider.relation)
        if access.reference == read.reference:
            reading = touched.intersect_range(isl.Set(make_domain(read.array, names, there))).domain()
            if not reading.is_equal(domain):
                raise IllegalVariantError(f"{statement.name} has other conditions than that `{read.array}` is there")
        elif not touched.range().is_equal(isl.Map(access.relation).intersect_domain(domain).range()):
            raise IllegalVariantError(f"more of `{access.array}` would be touched")


def _padded(scop: Scop, whole: Statement, read: Access, there: Box) -> Scop:
    array = scop.array(read.array)
    assert read.subscripts is not None
    assert whole.box is not None
    reached = [value_range(form, whole.box) for form in read.subscripts]
    lows = [low for low, _ in reached]
    padded = Array(
        fresh_name(scop, f"{array.name}_padded"),
        array.element,
        array.element_bytes,
        tuple(high - low + 1 for low, high in reached),
        "local",
    )
    moved = tuple(
        Affine(form.coefficients, form.constant - low) for form, low in zip(read.subscripts, lows, strict=True)
    )
    depth = len(there)
    straight = tuple(iterator_form(d, depth) for d in range(depth))
    copied = with_copy(
        scop,
        moved_read(whole, read, padded.name, moved),
        array,
        padded,
        iterators=tuple(f"{array.name}_{dimension}" for dimension in range(depth)),
        box=there,
        to=tuple(Affine(form.coefficients, -low) for form, low in zip(straight, lows, strict=True)),
        source=straight,
    )
    copy = next(each for each in copied.statements if each.accesses[0].array == padded.name)
    inside = tuple((low - first, high - first) for (low, high), first in zip(there, lows, strict=True))
    zeros = _zeros(copy, padded, straight, inside)
    return replace(copied, statements=inserted(zeros, copied.statements))


def _zeros(copy: Statement, padded: Array, subscripts: Sequence[Affine], inside: Box) -> Statement:
    """The borders of the copy set to zero, all but what lies ``inside``, in front of the nest that fills that."""
    name = f"zero_{padded.name}"
    iterators = tuple(f"{padded.name}_{dimension}" for dimension in range(len(padded.extents)))
    box = tuple((0, extent - 1) for extent in padded.extents)
    borders = isl.Set(make_domain(name, iterators, box)).subtract(isl.Set(make_domain(name, iterators, inside)))
    domain = str(borders.coalesce())
    access = access_over(name, iterators, domain, f"{name}_to", padded.name, "write", tuple(subscripts))
    zero = zero_of(padded)
    whole = make_statement(
        name,
        iterators,
        box,
        (access,),
        assignment(access.reference, zero),
        origin="zero",
        betas=copy.betas,
        line=copy.line,
        text=f"{padded.name}[...] = {zero.text}",
    )
    return replace(whole, domain=domain, box=None, instances=whole.instances - prod(box_extents(inside)))


def padding_choice(scop: Scop, statement: Statement) -> Pad | None:
    """The first operand of a product that can be padded so that the loops don't bound each other."""
    form = product_form(scop, statement) if statement.box is None else NoMatch("")
    for access in () if isinstance(form, NoMatch) else (form.a, form.b):
        step = Pad(statement.name, access.array)
        try:
            pad(scop, step)
        except IllegalVariantError:
            continue
        return step
    return None
