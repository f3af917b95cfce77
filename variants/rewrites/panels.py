"""Operands in panels: loops split into blocks, and a copy of an array in the order in which split loops walk it.

Each returns a new scop, to be analysed from scratch. A loop that is split runs in the same order as before, so that
nothing has to be proved; a copy needs an array that nothing writes any more.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import accumulate
from math import prod

from polydl.errors import IllegalVariantError
from polydl.ir.affine import Affine, combined, iterator_form
from polydl.ir.construct import fresh_name, has_loops_alone, make_access, make_domain
from polydl.ir.scop import Array, Scop
from polydl.ir.statement import Access, Statement
from polydl.ir.variant import Gather, PackPanels, Split
from polydl.variants.rewrites.copies import complete_from, with_copy


def split(scop: Scop, step: Split) -> Scop:
    """The scop with one loop of a statement as two. Raises IllegalVariantError if the size doesn't divide it."""
    statement = scop.statement(step.statement)
    if step.loop not in statement.iterators or statement.box is None:
        raise IllegalVariantError(f"{statement.name} has no rectangular loop `{step.loop}`")
    place = statement.iterators.index(step.loop)
    low, high = statement.box[place]
    extent = high - low + 1
    if not 1 < step.size < extent or extent % step.size:
        raise IllegalVariantError(f"blocks of {step.size} don't divide the {extent} iterations of `{step.loop}`")
    if not has_loops_alone(scop, statement) or any(
        name == statement.name for call in scop.annotated_calls for name in call.statements
    ):
        raise IllegalVariantError(f"{statement.name} does not have its loops to itself")
    if any(node.kind == "affine" for node in statement.body.walk()):
        raise IllegalVariantError(f"{statement.name} computes with its loop counters")
    if any(access.subscripts is None for access in statement.accesses) or statement.directions[place] != 1:
        raise IllegalVariantError(f"the subscripts of {statement.name} are not affine, or `{step.loop}` runs backwards")
    outer = fresh_name(scop, f"{step.loop}_block")

    def spread(values: tuple[int, ...], one: int, two: int) -> tuple[int, ...]:
        return (*values[:place], one, two, *values[place + 1 :])

    iterators = (*statement.iterators[:place], outer, *statement.iterators[place:])
    box = (*statement.box[:place], (0, extent // step.size - 1), (0, step.size - 1), *statement.box[place + 1 :])
    accesses = []
    for access in statement.accesses:
        assert access.subscripts is not None
        forms = tuple(
            Affine(
                spread(f.coefficients, f.coefficients[place] * step.size, f.coefficients[place]),
                f.constant + f.coefficients[place] * low,
            )
            for f in access.subscripts
        )
        accesses.append(make_access(statement.name, iterators, box, access.reference, access.array, access.kind, forms))
    made = replace(
        statement,
        iterators=iterators,
        domain=make_domain(statement.name, iterators, box),
        box=box,
        betas=(*statement.betas[: place + 1], 0, *statement.betas[place + 1 :]),
        directions=spread(statement.directions, 1, 1),
        accesses=tuple(accesses),
    )
    return replace(scop, statements=tuple(made if each.name == made.name else each for each in scop.statements))


def pack_panels(scop: Scop, step: PackPanels) -> Scop:
    """Copy what a statement reads of an array into one with a dimension per loop, once it is complete.

    Raises IllegalVariantError if the array is written, or if the loops don't visit each element once.
    """
    statement = scop.statement(step.statement)
    read = only_read(scop, statement, step.array)
    if set(step.loops) != set(walked(statement, read)) or not visits_once(scop, statement, read):
        raise IllegalVariantError(f"the loops {list(step.loops)} don't visit each element of `{step.array}` once")
    return _copied(scop, statement, read, step.loops, "panels", (1,) * len(step.loops))


def gather(scop: Scop, step: Gather) -> Scop:
    """Copy what the iterations of some loops read of an array, one after the other, once it is complete.

    Raises IllegalVariantError if the array is written, or if other loops move the access as well.
    """
    statement = scop.statement(step.statement)
    read = only_read(scop, statement, step.array)
    if sorted(step.loops) != sorted(walked(statement, read)):
        raise IllegalVariantError(f"the loops {list(step.loops)} are not those that move `{step.array}`")
    if sum(step.joined) != len(step.loops) or min(step.joined, default=0) < 1:
        raise IllegalVariantError(f"groups of {list(step.joined)} don't make up {len(step.loops)} loops")
    return _copied(scop, statement, read, step.loops, "gathered", step.joined)


def _copied(
    scop: Scop, statement: Statement, read: Access, loops: Sequence[str], name: str, joined: Sequence[int]
) -> Scop:
    """A copy with a dimension for so many of the loops at a time as ``joined`` says."""
    array, box = scop.array(read.array), statement.box
    assert box is not None
    assert read.subscripts is not None
    places = [statement.iterators.index(loop) for loop in loops]
    extents = [box[place][1] - box[place][0] + 1 for place in places]
    groups = dimension_groups(joined)

    def subscripts(moved_by: Sequence[int], depth: int) -> tuple[Affine, ...]:
        """Of the copy, in a statement whose iterators ``moved_by`` are those of the loops."""
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


def dimension_groups(joined: Sequence[int]) -> list[range]:
    """Which dimensions become one, so many of them at a time as ``joined`` says."""
    return [range(end - size, end) for size, end in zip(joined, accumulate(joined), strict=True)]


def joined_forms(forms: Sequence[Affine], extents: Sequence[int], groups: Sequence[range]) -> tuple[Affine, ...]:
    """The subscripts of an array from those that it would have if each dimension stood alone, from zero on."""
    return tuple(
        combined([forms[number] for number in group], [prod(extents[number + 1 : group.stop]) for number in group])
        for group in groups
    )


def only_read(scop: Scop, statement: Statement, array: str) -> Access:
    """The one access of a statement to an array that nothing writes any more. Raises IllegalVariantError."""
    reads = [access for access in statement.reads if access.array == array]
    if len(reads) != 1 or reads[0].subscripts is None or statement.box is None:
        raise IllegalVariantError(f"{statement.name} does not read `{array}` once, with affine subscripts")
    complete_from(scop, statement, scop.array(array))
    return reads[0]


def moved_read(statement: Statement, read: Access, copy: str, subscripts: tuple[Affine, ...]) -> Statement:
    """The statement with one access to a copy in its place."""
    assert statement.box is not None
    made = make_access(statement.name, statement.iterators, statement.box, read.reference, copy, read.kind, subscripts)
    return replace(statement, accesses=tuple(made if access == read else access for access in statement.accesses))


def subscripts_by_loop(statement: Statement, places: Sequence[int]) -> tuple[Affine, ...]:
    """Of a copy that has a dimension for each of the iterators at ``places``."""
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
