"""Arrays copied with their dimensions in another order."""

from __future__ import annotations

from dataclasses import replace

from polydl.errors import IllegalVariantError
from polydl.ir.affine import iterator_form
from polydl.ir.construct import (
    fresh_name,
    make_access,
)
from polydl.ir.scop import Array, Scop
from polydl.ir.statement import Access, Statement
from polydl.ir.variant import Pack
from polydl.variants.rewrites.copies import with_copy


def pack(scop: Scop, step: Pack) -> Scop:
    """Copy the array once it is complete. Raises IllegalVariantError if it is written later, or isn't an array."""
    array = scop.array(step.array)
    if sorted(step.order) != list(range(len(array.extents))):
        raise IllegalVariantError(f"{step.order} is no order of the dimensions of `{array.name}`")
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
    if access.subscripts is None or statement.box is None:
        raise IllegalVariantError(f"`{access.array}` is not accessed with plain affine subscripts")
    subscripts = tuple(access.subscripts[dimension] for dimension in step.order)
    return make_access(
        statement.name, statement.iterators, statement.box, access.reference, packed.name, access.kind, subscripts
    )
