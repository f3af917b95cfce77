"""The bands of loops that are proposed for statements that run in common loops: their order, skewing and tiles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter

from polydl.ir.affine import Affine, combined
from polydl.ir.scop import Scop
from polydl.ir.statement import Statement
from polydl.match.factors import operands
from polydl.poly.boxes import loop_ranges
from polydl.poly.dependences import Dependence
from polydl.poly.scheduling import Band, inverse, meets
from polydl.variants.rewrites.schedule_tiles import places_of

# Sizes of the tiles of products inside of common loops.
PRODUCT_TILES = (32, 64, 128)


def skews(band: Band) -> bool:
    """Whether a loop of the new order is none of the source's."""
    return any(_is_skewed(rows) for rows in band.rows)


def _is_skewed(rows: Sequence[Affine]) -> bool:
    return any(sum(factor != 0 for factor in row.coefficients) > 1 for row in rows)


def numbers_of(band: Band) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """The rows of a band as a step has them."""
    return tuple(tuple((*row.coefficients, row.constant) for row in forms) for forms in band.rows)


def by_diagonals(band: Band, dependences: Sequence[Dependence]) -> Iterator[Band]:
    """The band with the last two loops along diagonals, where each iteration of its last loop waits for the one before.

    No dependence goes back along either loop, so that their sum carries all that one of them does. On a diagonal, where
    the sum is the same, iterations of the last loop are independent.
    """
    _, end = band.permutable
    rows = dict(zip(band.statements, band.rows, strict=True))
    if end != len(band.rows[0]) or not any(
        meets(dependence, rows[dependence.source][:-1], rows[dependence.source][:-1])
        for dependence in dependences
        if dependence.source == dependence.target and not dependence.reduction
    ):
        return
    diagonal = tuple((*forms[: end - 2], combined(forms[end - 2 : end], (1, 1)), forms[end - 2]) for forms in band.rows)
    if all(inverse(forms, len(forms[0].coefficients)) is not None for forms in diagonal):
        yield replace(band, rows=diagonal)


def soonest_apart(band: Band, dependences: Sequence[Dependence]) -> Band:
    """The band with its statements in an order for which they share as few of its loops as possible.

    In one iteration of the loops that they share, each runs after all that it depends on. The band as it is where
    ``dependences`` allow no such order.
    """
    rows = dict(zip(band.statements, band.rows, strict=True))
    between = [d for d in dependences if d.source != d.target]
    for shared in range(1, len(band.rows[0]) + 1):
        between = [d for d in between if meets(d, rows[d.source][:shared], rows[d.target][:shared])]
        before = {name: [d.source for d in between if d.target == name] for name in band.statements}
        try:
            ordered = tuple(TopologicalSorter(before).static_order())
        except CycleError:
            continue
        return replace(band, statements=ordered, rows=tuple(rows[name] for name in ordered))
    return band


def product_tiles(
    scop: Scop, members: Sequence[Statement], band: Band
) -> Iterator[tuple[tuple[int, ...], tuple[str, ...]]]:
    """Sizes of tiles that products fill, with the statements that are such products.

    They divide where the loops end, if that has such divisors, so that no tile at the edge is partial.
    """
    first, end = band.permutable
    if (first, end) != (0, len(band.rows[0])):
        return
    products = tuple(
        statement.name
        for statement, forms in zip(members, band.rows, strict=True)
        if statement.depth == end and not _is_skewed(forms) and operands(scop, statement)
    )
    if not products:
        return
    ends = [0] * end
    for statement, forms in zip(members, band.rows, strict=True):
        for place, (_, high) in zip(places_of(forms, statement.depth) or (), loop_ranges(statement), strict=False):
            ends[place] = max(ends[place], high + 1)
    for target in PRODUCT_TILES:
        if all(number >= 3 * target for number in ends):
            yield (_near(max(ends), target),) * end, products


def _near(number: int, target: int) -> int:
    """The largest divisor of a number from half of a size up to that size, else the size."""
    return next((size for size in range(target, target // 2, -1) if number % size == 0), target)


def contiguous_last(scop: Scop, band: Band) -> Band:
    """The band with the loop innermost, of those that may change places, along which most accesses are contiguous."""
    first, end = band.permutable
    if end != len(band.rows[0]):
        return band
    contiguous = [0] * end
    for name, rows in zip(band.statements, band.rows, strict=True):
        statement = scop.statement(name)
        old = inverse(rows, statement.depth)
        for access in statement.accesses if old is not None else ():
            if old is not None and access.subscripts is not None:
                strides = [scop.stride(access, iterator) for iterator in range(statement.depth)]
                for place in range(first, end):
                    step = sum(s * form.coefficients[place] for s, form in zip(strides, old, strict=True))
                    contiguous[place] += abs(step) == 1
    last = max(range(first, end), key=lambda place: (contiguous[place], place))
    order = [*(place for place in range(end) if place != last), last]
    return replace(band, rows=tuple(tuple(rows[place] for place in order) for rows in band.rows))


def loop_names(members: Sequence[Statement], rows: Sequence[Sequence[Affine]]) -> tuple[str, ...]:
    """Names of the common loops: those of the loops of the source that they are, skewed or not."""
    for statement, forms in zip(members, rows, strict=True):
        places = places_of(forms, statement.depth)
        if places is not None and statement.depth == len(forms):
            return tuple(statement.iterators[places.index(place)] for place in range(len(forms)))
    return tuple(f"common{place}" for place in range(len(rows[0])))
