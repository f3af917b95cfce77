"""Pairs of loops, one of each of two statements, that walk through one array in the same way."""

from __future__ import annotations

from collections.abc import Mapping

from polydl.ir.affine import Affine
from polydl.ir.statement import Access, Statement


def _by_coefficient(form: Affine) -> dict[int, int]:
    """``{coefficient: iterator}`` of a form; empty if two iterators have the same coefficient."""
    iterators = {coefficient: iterator for iterator, coefficient in enumerate(form.coefficients) if coefficient}
    return iterators if len(iterators) == sum(1 for coefficient in form.coefficients if coefficient) else {}


def aligned_loops(heavy: Statement, light: Statement, shared: int = 0) -> dict[int, tuple[int, int]] | None:
    """Pair the loops with which two statements walk through the array that ``heavy`` writes.

    ``light`` writes it, too, or reads it alone. Returns ``{heavy iterator: (light iterator, offset)}``: both are at
    the same element where the light iterator is ``heavy iterator + offset``. Both must subscript each dimension of the
    array in the same way: with one iterator and a constant, with the loop over blocks and the loop inside of them, or
    with the same constant. No loop may have two partners, as on a diagonal of the array, and each loop of ``light``
    beyond the ``shared`` outermost ones must have one or a single iteration. Returns None otherwise.
    """
    written = heavy.writes[0]
    touched = next((each for each in (*light.writes, *light.reads) if each.array == written.array), None)
    if touched is None or written.subscripts is None or touched.subscripts is None:
        return None
    matched: list[tuple[int, tuple[int, int]]] = []
    for heavy_form, light_form in zip(written.subscripts, touched.subscripts, strict=True):
        ours, theirs = heavy_form.single_iterator, light_form.single_iterator
        heavy_blocks, light_blocks = _by_coefficient(heavy_form), _by_coefficient(light_form)
        equal_constants = heavy_form.constant == light_form.constant
        if len(heavy_blocks) > 1 and heavy_blocks.keys() == light_blocks.keys() and equal_constants:
            matched += [(iterator, (light_blocks[step], 0)) for step, iterator in heavy_blocks.items()]
        elif ours is None and theirs is None and equal_constants:
            if any(heavy_form.coefficients) or any(light_form.coefficients):
                return None
        elif ours is None or theirs is None:
            return None
        else:
            matched.append((ours, (theirs, heavy_form.constant - light_form.constant)))
    pairs = dict(matched)
    paired = {iterator for iterator, _ in pairs.values()}
    if len(paired) < len(matched):
        return None
    # A loop of one iteration is in no subscript, and needs no partner.
    unpaired = [iterator for iterator in range(shared, light.depth) if iterator not in paired]
    once = all(light.box is not None and light.box[iterator][0] == light.box[iterator][1] for iterator in unpaired)
    return pairs if once else None


def loops_alike(heavy: Statement, light: Statement) -> dict[int, tuple[int, int]] | None:
    """``aligned_loops`` of two statements at exactly the same elements, of which ``light`` writes one array.

    Returns None where the domains are no boxes, or where the ranges of two paired loops differ.
    """
    pairs = aligned_loops(heavy, light)
    if pairs is None or light.box is None or heavy.box is None or len(light.writes) != 1:
        return None
    for ours, (theirs, offset) in pairs.items():
        low, high = heavy.box[ours]
        if light.box[theirs] != (low + offset, high + offset):
            return None
    return pairs


def over_loops_of(
    heavy: Statement, light: Statement, pairs: Mapping[int, tuple[int, int]], access: Access
) -> tuple[Affine, ...]:
    """The subscripts of an access of ``light`` over the loops of ``heavy``, by the ``pairs`` of ``loops_alike``."""
    assert light.box is not None
    partner = {theirs: (ours, ahead) for ours, (theirs, ahead) in pairs.items()}
    forms = []
    for form in access.subscripts or ():
        coefficients, constant = [0] * heavy.depth, form.constant
        for place, coefficient in enumerate(form.coefficients):
            if place in partner:
                ours, ahead = partner[place]
                coefficients[ours] += coefficient
                constant += coefficient * ahead
            else:
                # It has one iteration.
                constant += coefficient * light.box[place][0]
        forms.append(Affine(tuple(coefficients), constant))
    return tuple(forms)
