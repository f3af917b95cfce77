"""Arrays copied with their dimensions in another order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from random import Random
from typing import Annotated, ClassVar

import islpy as isl

from polydl.errors import IllegalVariantError
from polydl.ir.affine import iterator_form
from polydl.ir.construct import fresh_name, make_access
from polydl.ir.families import LAYOUT, PACKING
from polydl.ir.numerics import EXACT, Rounding
from polydl.ir.scop import Array, Scop
from polydl.ir.statement import Access, Statement
from polydl.ir.variant import ArrayName, RewriteStep, StatementName
from polydl.match.product import NoMatch, ProductForm, product_form
from polydl.poly.boxes import loop_ranges
from polydl.poly.dependences import Dependence
from polydl.rewrite_contract import Phase, Proposal, Request
from polydl.variants.rewrites.accesses import check_reads_itself
from polydl.variants.rewrites.copies import later_writer, with_copy
from polydl.variants.rewrites.split import extents_of

# How many proposals are worth a space, those that copy the fewest bytes first.
MOST = 2


@dataclass(frozen=True)
class Pack(RewriteStep):
    """Copy an array that nothing writes any more, its dimensions in another order, for ``statement`` to use."""

    json_name: ClassVar[str] = "pack"

    statement: StatementName
    array: ArrayName
    order: Annotated[tuple[int, ...], "The array's dimensions by number, in the order that the copy has them."]


@dataclass(frozen=True)
class PackRewrite:
    """The rewrite ``pack``, which turns an operand as a microkernel reads it. It is exact: elements are copied."""

    step: type[Pack] = Pack
    families: frozenset[str] = frozenset({LAYOUT, PACKING})
    phase: Phase = Phase.STATEMENT

    def rounding(self, scop: Scop, step: Pack) -> Rounding:
        return EXACT

    def apply(self, scop: Scop, step: Pack, dependences: Sequence[Dependence], *, reassociate: bool) -> Scop:
        return pack(scop, step)

    def propose(self, request: Request) -> Iterator[Proposal]:
        """Operands that lie the wrong way for the preferred microkernel, turned so that they lie right.

        None is turned that lies in groups: they are what vector and tile instructions for narrow types take.
        """
        in_groups = any(match.in_groups for match in request.matches[:1])
        if not request.preferred and not in_groups:
            for steps in packing_choices(request.scop, request.statement)[:MOST]:
                yield Proposal(steps)

    def drawn(self, scop: Scop, statement: Statement, draw: Random) -> Iterator[tuple[Pack]]:
        """Dimensions of any array that is read, in any order."""
        reads = [access for access in statement.reads if access.subscripts]
        if reads and statement.iterators:
            array = draw.choice(reads).array
            dimensions = len(scop.array(array).extents)
            yield (Pack(statement.name, array, tuple(draw.sample(range(dimensions), dimensions))),)

    def describe(self, scop: Scop, step: Pack) -> str:
        extents = {array.name: array.extents for array in scop.arrays}.get(step.array)
        sizes = [dimension if extents is None else extents[dimension] for dimension in step.order]
        return f"a copy of {step.array} laid out as {''.join(f'[{each}]' for each in sizes)}"


PACK = PackRewrite()


def pack(scop: Scop, step: Pack) -> Scop:
    """Copy the array once it is complete. Raises IllegalVariantError if it is written later, or isn't an array."""
    array = scop.array(step.array)
    if sorted(step.order) != list(range(len(array.extents))):
        raise IllegalVariantError(f"{step.order} is no order of the dimensions of `{array.name}`")
    if array.elements > scop.array(array.memory).elements:
        raise IllegalVariantError(f"the last row of `{array.name}` ends beyond `{array.memory}`")
    packed = Array(
        fresh_name(scop, f"{array.name}_packed"),
        array.element,
        array.element_bytes,
        tuple(array.extents[dimension] for dimension in step.order),
        "local",
    )
    depth = len(array.extents)
    straight = tuple(iterator_form(d, depth) for d in range(depth))
    reader = scop.statement(step.statement)
    if not any(access.array == step.array for access in reader.reads):
        raise IllegalVariantError(f"{reader.name} does not read `{array.name}`")
    check_reads_itself(scop, reader, array.name)
    repacked = replace(reader, accesses=tuple(_repacked(reader, access, packed, step) for access in reader.accesses))
    return with_copy(
        scop,
        repacked,
        array,
        packed,
        # Written in its new order, read across.
        iterators=tuple(f"{array.name}_{dimension}" for dimension in step.order),
        box=tuple((0, extent - 1) for extent in packed.extents),
        to=straight,
        source=tuple(straight[step.order.index(dimension)] for dimension in range(depth)),
    )


def _repacked(statement: Statement, access: Access, packed: Array, step: Pack) -> Access:
    if access.array != step.array:
        return access
    if access.subscripts is None:
        raise IllegalVariantError(f"`{access.array}` is not accessed with plain affine subscripts")
    subscripts = tuple(access.subscripts[dimension] for dimension in step.order)
    domain = isl.Set(statement.domain)
    moved = make_access(
        statement.name,
        statement.iterators,
        loop_ranges(statement),
        access.reference,
        packed.name,
        access.kind,
        subscripts,
    )
    if statement.box is not None:
        return moved
    return replace(moved, relation=str(isl.Map(moved.relation).intersect_domain(domain)))


def packing_choices(scop: Scop, statement: Statement) -> tuple[tuple[Pack, ...], ...]:
    """Copies that turn a product's operands so that a GEMM microkernel can read them, the fewest bytes first."""
    form = product_form(scop, statement)
    if isinstance(form, NoMatch) or statement.box is None:
        return ()
    extents = extents_of(statement)
    loops = [loop for loop in range(statement.depth) if extents[loop] > 1]
    found: dict[tuple[Pack, ...], int] = {}
    for oriented in (form, form.swapped()):
        for m, n, k in product(loops, repeat=3):
            packs = _packs(scop, statement, oriented, m, n, k)
            if packs:
                found[packs] = sum(scop.array(pack.array).bytes for pack in packs)
    return tuple(sorted(found, key=lambda packs: (found[packs], str(packs))))


def _packs(scop: Scop, statement: Statement, form: ProductForm, m: int, n: int, k: int) -> tuple[Pack, ...] | None:
    """The copies that make these roles fit; None if the roles are wrong or nothing needs a copy."""
    c, a, b = form.strides_c, form.strides_a, form.strides_b
    if c[m] != 1 or not a[m] or b[m] or c[n] < 1 or a[n] or not b[n] or c[k] or not a[k] or not b[k]:
        return None
    packs: list[Pack] = []
    if a[m] != 1:
        order = order_with_last(form.a, [k, m])
        if order is None:
            return None
        packs.append(Pack(statement.name, form.a.array, order))
    if b[k] != 1 and b[n] != 1:
        order = order_with_last(form.b, [n, k])
        if order is None:
            return None
        packs.append(Pack(statement.name, form.b.array, order))
    stale = any(later_writer(scop, statement, scop.array(pack.array)) for pack in packs)
    if stale or len({pack.array for pack in packs}) != len(packs):
        return None
    return tuple(packs) or None


def order_with_last(access: Access, loops: Sequence[int]) -> tuple[int, ...] | None:
    """The array's dimensions with those that ``loops`` alone walk through moved to the end, in that order."""
    assert access.subscripts is not None
    last = []
    for loop in loops:
        alone = [
            dimension
            for dimension, form in enumerate(access.subscripts)
            if [i for i, coefficient in enumerate(form.coefficients) if coefficient] == [loop]
            and form.coefficients[loop] == 1
        ]
        if not alone:
            return None
        last.append(alone[0])
    return (*(d for d in range(len(access.subscripts)) if d not in last), *last)
