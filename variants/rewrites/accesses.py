"""How a statement's loops walk through an array that it reads, and the statement with a copy in the array's place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import prod
from random import Random

import islpy as isl

from polydl.errors import IllegalVariantError
from polydl.ir.affine import Affine, iterator_form, value_range
from polydl.ir.construct import fresh_name, make_access
from polydl.ir.scop import Array, Scop
from polydl.ir.statement import Access, AccessKind, Statement
from polydl.variants.rewrites.copies import complete_from, dimension_groups, joined_forms, with_copy


def only_read(scop: Scop, statement: Statement, array: str) -> Access:
    """The one access of a statement to an array that nothing writes any more, inside of it in all iterations.

    A copy reads the array where a condition of ``?:`` keeps the statement from it. Raises IllegalVariantError.
    """
    check_reads_itself(scop, statement, array)
    reads = [access for access in statement.reads if access.array == array]
    if len(reads) != 1 or reads[0].subscripts is None or statement.box is None:
        raise IllegalVariantError(f"{statement.name} does not read `{array}` once, with affine subscripts")
    extents = scop.array(array).extents
    ranges = [value_range(form, statement.box) for form in reads[0].subscripts]
    if any(low < 0 or high >= extent for (low, high), extent in zip(ranges, extents, strict=True)):
        raise IllegalVariantError(f"{statement.name} reads `{array}` under a condition: a copy would leave the array")
    complete_from(scop, statement, scop.array(array))
    return reads[0]


def check_reads_itself(scop: Scop, statement: Statement, array: str) -> None:
    """Raises IllegalVariantError for a statement that stands for a call, whose reads of the array can't be moved."""
    if scop.has_call(statement.name):
        raise IllegalVariantError(f"{statement.name} stands for a call, which reads `{array}` as it lies")


def access_over(
    statement: str,
    iterators: Sequence[str],
    domain: str,
    reference: str,
    array: str,
    kind: AccessKind,
    subscripts: tuple[Affine, ...],
) -> Access:
    """An access of a statement over any domain; its relation and its index are written from ``subscripts``."""
    head = f"{statement}[{', '.join(iterators)}]"
    elements = ", ".join(f"({form.text(iterators)})" for form in subscripts)
    index = f"{{ {head} -> {array}[{elements}] }}"
    relation = isl.Map(index).intersect_domain(isl.Set(domain))
    return Access(reference, array, kind, str(relation), index, subscripts)


def moved_read(statement: Statement, read: Access, copy: str, subscripts: tuple[Affine, ...]) -> Statement:
    """The statement with one access to a copy in its place."""
    assert statement.box is not None
    moved = make_access(statement.name, statement.iterators, statement.box, read.reference, copy, read.kind, subscripts)
    return replace(statement, accesses=tuple(moved if access == read else access for access in statement.accesses))


def subscripts_by_loop(statement: Statement, places: Sequence[int]) -> tuple[Affine, ...]:
    """Subscripts of a copy that has a dimension for each of the iterators at ``places``."""
    assert statement.box is not None
    return tuple(iterator_form(place, statement.depth, -statement.box[place][0]) for place in places)


def walked(statement: Statement, access: Access) -> tuple[str, ...]:
    """The loops that move an access."""
    assert access.subscripts is not None
    return tuple(
        name
        for place, name in enumerate(statement.iterators)
        if any(form.coefficients[place] for form in access.subscripts)
    )


def drawn_read(statement: Statement, draw: Random) -> tuple[Access, tuple[str, ...]] | None:
    """A read of the statement at random, and the loops that move it in any order.

    None if there is no read, and if no loop moves the one that was drawn.
    """
    reads = [access for access in statement.reads if access.subscripts]
    if not reads:
        return None
    access = draw.choice(reads)
    moving = walked(statement, access)
    return (access, tuple(draw.sample(moving, len(moving)))) if moving else None


def visits_once(scop: Scop, statement: Statement, access: Access) -> bool:
    """Whether the loops that move the access together reach no element twice, as can be told from strides."""
    assert access.subscripts is not None
    assert statement.box is not None
    strides = (abs(scop.stride(access, place)) for place in range(statement.depth))
    extents = (high - low + 1 for low, high in statement.box)
    return apart((stride, extent) for stride, extent in zip(strides, extents, strict=True) if stride)


def apart(loops: Iterable[tuple[int, int]]) -> bool:
    """Whether loops of these strides and iterations run forwards and never come to one element twice."""
    reach = 0
    for stride, extent in sorted(loops):
        if stride <= reach:
            return False
        reach += stride * (extent - 1)
    return True


def copied_along(
    scop: Scop, statement: Statement, read: Access, loops: Sequence[str], name: str, joined: Sequence[int]
) -> Scop:
    """The scop with a copy of what ``loops`` read, complete before the statement, which reads the copy instead.

    The copy has a dimension for so many of the loops at a time as ``joined`` says.
    """
    array, box = scop.array(read.array), statement.box
    assert box is not None
    assert read.subscripts is not None
    places = [statement.iterators.index(loop) for loop in loops]
    extents = [box[place][1] - box[place][0] + 1 for place in places]
    groups = dimension_groups(joined)

    def subscripts(moved_by: Sequence[int], depth: int) -> tuple[Affine, ...]:
        """Subscripts of the copy in a statement whose iterators ``moved_by`` are those of the loops."""
        single = [iterator_form(own, depth, -box[place][0]) for own, place in zip(moved_by, places, strict=True)]
        return joined_forms(single, extents, groups)

    packed = Array(
        fresh_name(scop, f"{array.name}_{name}"),
        array.element,
        array.element_bytes,
        tuple(prod(extents[number] for number in group) for group in groups),
        "local",
    )
    return with_copy(
        scop,
        moved_read(statement, read, packed.name, subscripts(places, statement.depth)),
        array,
        packed,
        iterators=tuple(f"{array.name}_{number}" for number in range(len(places))),
        box=tuple(box[place] for place in places),
        to=subscripts(range(len(places)), len(places)),
        source=tuple(
            Affine(tuple(form.coefficients[place] for place in places), form.constant) for form in read.subscripts
        ),
    )
