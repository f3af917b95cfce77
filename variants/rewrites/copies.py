"""Copies of arrays, in nests of their own, that statements read in place of the arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from math import prod

from polydl.errors import IllegalVariantError
from polydl.ir.affine import Affine, Box, combined
from polydl.ir.construct import assignment, fresh_statement_name, make_access, make_statement
from polydl.ir.scop import Array, Scop
from polydl.ir.statement import Expression, Statement


def copying_statement(
    scop: Scop,
    reader: Statement,
    array: Array,
    packed: Array,
    *,
    iterators: tuple[str, ...],
    box: Box,
    betas: tuple[int, ...],
    to: tuple[Affine, ...],
    source: tuple[Affine, ...],
) -> Statement:
    """The statement that copies elements of ``array`` into ``packed`` for ``reader``, with these subscripts."""
    name = fresh_statement_name(scop, f"pack_{array.name}")
    accesses = (
        make_access(name, iterators, box, f"{name}_to", packed.name, "write", to),
        make_access(name, iterators, box, f"{name}_from", array.name, "read", source),
    )
    body = assignment(f"{name}_to", Expression("access", f"{name}_from"))
    text = f"{packed.name}[...] = {array.name}[...]"
    return make_statement(name, iterators, box, accesses, body, origin="copy", betas=betas, line=reader.line, text=text)


def with_copy(
    scop: Scop,
    reader: Statement,
    array: Array,
    packed: Array,
    *,
    iterators: tuple[str, ...],
    box: Box,
    to: tuple[Affine, ...],
    source: tuple[Affine, ...],
) -> Scop:
    """The scop with ``packed`` filled from ``array`` once that is complete, and with ``reader`` as it reads that.

    ``to`` and ``source`` are the subscripts of the two arrays in the copying nest of ``iterators`` over ``box``.
    Raises IllegalVariantError if the array is written later.
    """
    place = complete_from(scop, reader, array)
    betas = (place, *(0,) * len(box))
    copy = copying_statement(
        scop, reader, array, packed, iterators=iterators, box=box, betas=betas, to=to, source=source
    )
    others = [reader if each.name == reader.name else each for each in scop.statements]
    return replace(scop, statements=inserted(copy, others), arrays=(*scop.arrays, packed))


def inserted(copy: Statement, statements: Sequence[Statement]) -> tuple[Statement, ...]:
    """The statements with one more in a nest of its own, in front of the nest that was at its place."""
    place = copy.betas[0]
    before = [each for each in statements if each.betas[0] < place]
    after = [each for each in statements if each.betas[0] >= place]
    return (*before, copy, *(replace(each, betas=(each.betas[0] + 1, *each.betas[1:])) for each in after))


def complete_from(scop: Scop, reader: Statement, array: Array) -> int:
    """The place among nests from which on a copy of an array holds what ``reader`` reads.

    Nests come one after the other (``distributed``). Raises IllegalVariantError if it is written later.
    """
    require_written_before(scop, reader, array)
    return max((writer.betas[0] + 1 for writer in _writers(scop, array)), default=0)


def require_written_before(scop: Scop, reader: Statement, array: Array) -> None:
    """Raises IllegalVariantError if something writes an array in the nest of ``reader`` or after it."""
    writer = later_writer(scop, reader, array)
    if writer is not None and writer.name == reader.name:
        raise IllegalVariantError(f"`{array.name}` is read and written by {reader.place}: a copy would go stale")
    if writer is not None:
        raise IllegalVariantError(
            f"`{array.name}`, which {reader.place} reads, is written by {writer.place}: a copy would go stale"
        )


def later_writer(scop: Scop, reader: Statement, array: Array) -> Statement | None:
    """The first statement that writes an array in the nest of ``reader`` or after it, if there is one."""
    return next((writer for writer in _writers(scop, array) if writer.betas[0] >= reader.betas[0]), None)


def _writers(scop: Scop, array: Array) -> list[Statement]:
    """The statements that write an array."""
    memory = array.memory
    return [s for s in scop.statements if any(scop.array(each.array).memory == memory for each in s.writes)]


def dimension_groups(joined: Sequence[int]) -> list[range]:
    """Which dimensions become one, so many of them at a time as ``joined`` says."""
    return [range(end - size, end) for size, end in zip(joined, accumulate(joined), strict=True)]


def joined_forms(forms: Sequence[Affine], extents: Sequence[int], groups: Sequence[range]) -> tuple[Affine, ...]:
    """The subscripts of an array from those that it would have if each dimension stood alone, from zero on."""
    return tuple(
        combined([forms[number] for number in group], [prod(extents[number + 1 : group.stop]) for number in group])
        for group in groups
    )
