"""The dimensions of an array that has linear subscripts, ``in[(c * H + y) * W + x]``."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from polydl.ir.affine import Affine, Box, box_extents, value_range
from polydl.ir.scop import Array, Scop
from polydl.ir.statement import Access


def dimensions(scop: Scop, array: Array) -> tuple[int, ...] | None:
    """Extents such that every access keeps within each dimension; None if there is but one, or there are none such.

    The coefficients of loops in the subscripts are the strides of dimensions, if each divides the next.
    """
    accesses = _accesses(scop, array)
    if len(array.extents) != 1 or not accesses:
        return None
    steps = {1}
    for access, box in accesses:
        if access.subscripts is None:
            return None
        lengths = box_extents(box)
        steps |= {abs(c) for c, n in zip(access.subscripts[0].coefficients, lengths, strict=True) if c and n > 1}
    strides = sorted(steps, reverse=True)
    if len(strides) < 2 or any(outer % inner for outer, inner in pairwise(strides)):
        return None
    extents = (-(-array.extents[0] // strides[0]), *(outer // inner for outer, inner in pairwise(strides)))
    for access, box in accesses:
        assert access.subscripts is not None
        ranges = [value_range(form, box) for form in split(access.subscripts[0], strides)]
        if any(low < 0 or high >= extent for (low, high), extent in zip(ranges, extents, strict=True)):
            return None
    return extents


def split(form: Affine, strides: Sequence[int]) -> tuple[Affine, ...]:
    """A linear subscript as one for each dimension, by the strides of these, outermost first; the last stride is 1."""
    constant, left, forms = form.constant, list(form.coefficients), []
    for stride in strides:
        part, constant = divmod(constant, stride)
        parts = [c // stride if c % stride == 0 else 0 for c in left]
        left = [c - stride * p for c, p in zip(left, parts, strict=True)]
        forms.append(Affine(tuple(parts), part))
    return tuple(forms)


def _accesses(scop: Scop, array: Array) -> list[tuple[Access, Box]]:
    """All accesses of an array, with the box of their statement; none if one of them has no box."""
    found = [(access, each.box) for each in scop.statements for access in each.accesses if access.array == array.name]
    boxed = [(access, box) for access, box in found if box is not None]
    return boxed if len(boxed) == len(found) else []
