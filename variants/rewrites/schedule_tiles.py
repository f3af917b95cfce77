"""Tiles of the loops that isl's scheduler finds: the sizes that are worth trying, and what a tile costs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations, product
from math import prod

from polydl.errors import IllegalVariantError
from polydl.ir.affine import Affine, composed
from polydl.ir.construct import make_access, make_statement
from polydl.ir.scop import Scop
from polydl.ir.statement import Statement
from polydl.machine import Machine
from polydl.poly.boxes import loop_ranges

# Sizes of tiles of the outermost loop, of the innermost one, and of those in between.
OUTERMOST = (8, 32)
BETWEEN = (8, 16, 32, 64, 128)
INNERMOST = (64, 256, 1024, 4096)
# The part of a cache that the data of one iteration of the outermost tiled loop may take.
CACHE_SHARE = 0.75


def places_of(rows: Sequence[Affine], depth: int) -> tuple[int, ...] | None:
    """For each iterator of a statement, the common loop that takes its place, unskewed; None if there are too few."""
    for places in permutations(range(len(rows)), depth):
        if all(rows[place].coefficients[iterator] for iterator, place in enumerate(places)):
            return places
    return None


def extents_of(statements: Sequence[Statement], rows: Sequence[Sequence[Affine]]) -> list[int]:
    """How many iterations each common loop would have without skewing, over all statements."""
    extents = [1] * len(rows[0])
    for statement, forms in zip(statements, rows, strict=True):
        places = places_of(forms, statement.depth) or ()
        for place, (low, high) in zip(places, loop_ranges(statement), strict=False):
            extents[place] = max(extents[place], high - low + 1)
    return extents


def tile_sizes(
    scop: Scop,
    statements: Sequence[Statement],
    rows: Sequence[Sequence[Affine]],
    permutable: tuple[int, int],
    machine: Machine,
) -> Iterator[tuple[int, ...]]:
    """Sizes of tiles for all common loops, 1 for those that are not tiled.

    The first or second cache holds what one iteration of the outermost tiled loop uses of a tile, and what the next one
    uses, which lies a little aside: that one then finds in the cache what it needs. Of the loops between the outermost
    and the innermost tiled one, all get the largest size that leaves that so.
    """
    first, end = permutable
    extents = extents_of(statements, rows)
    element = _element_bytes(scop, statements)
    shifts = [_shift(rows, place, first) for place in range(end)]
    between = end - first - 2
    tried: set[tuple[int, ...]] = set()
    for cache, outer, inner in product(machine.caches[:2], OUTERMOST, INNERMOST):
        for middle in sorted(BETWEEN, reverse=True) if between else (1,):
            tile = (outer, *(middle,) * between, inner)
            spans = [min(extents[place], size) for place, size in enumerate(tile, first)]
            widths = [span + shifts[place] for place, span in enumerate(spans[1:], first + 1)]
            if element * prod(widths) > CACHE_SHARE * cache.bytes or any(middle > span for span in spans[1:-1]):
                continue
            sizes = [size if size < extents[place] else 1 for place, size in enumerate(tile, first)]
            whole = (*(1,) * first, *sizes, *(1,) * (len(extents) - end))
            if sizes[0] > 1 and max(sizes[1:]) > 1 and whole not in tried:
                tried.add(whole)
                yield whole
            break


def held_untiled(
    scop: Scop,
    statements: Sequence[Statement],
    rows: Sequence[Sequence[Affine]],
    permutable: tuple[int, int],
    machine: Machine,
) -> bool:
    """Whether the first cache holds what one iteration of the outermost loop that may be tiled uses without tiles."""
    first, end = permutable
    whole = prod(extents_of(statements, rows)[first + 1 : end])
    return _element_bytes(scop, statements) * whole <= CACHE_SHARE * machine.caches[0].bytes


def _element_bytes(scop: Scop, statements: Sequence[Statement]) -> int:
    """The bytes of an element of each array that statements use, scalars aside."""
    arrays = {access.array for statement in statements for access in statement.accesses}
    return sum(scop.array(name).element_bytes for name in arrays if scop.array(name).extents)


def _shift(rows: Sequence[Sequence[Affine]], place: int, first: int) -> int:
    """By how much an iteration of the outermost tiled loop shifts those of another one."""
    shifts = [0]
    for forms in rows:
        carried = [iterator for iterator, factor in enumerate(forms[first].coefficients) if factor]
        shifts += [abs(forms[place].coefficients[iterator]) for iterator in carried[:1] if place != first]
    return max(shifts)


def unskewed(
    statement: Statement,
    rows: Sequence[Affine],
    sizes: Sequence[int],
    iterators: Sequence[str],
    tiles: dict[int, int],
    points: Sequence[int],
    betas: tuple[int, ...],
) -> Statement:
    """The statement in tiles of the same size that are not skewed, over a box of as many instances.

    A tile that is skewed touches as much as one that is not, but for the shift along its sides. ``tiles`` and
    ``points`` are the places, in ``iterators``, of the loop over tiles and of the loop inside a tile, by common loop.
    """
    places = places_of(rows, statement.depth)
    if places is None or any(access.subscripts is None for access in statement.accesses):
        raise IllegalVariantError(f"the loops or subscripts of {statement.name} can't be told apart")
    box = [(0, 0)] * len(iterators)
    old = []
    for (low, high), place in zip(loop_ranges(statement), places, strict=True):
        extent = high - low + 1
        count = -(-extent // sizes[place]) if place in tiles else 1
        factors = [0] * len(iterators)
        factors[points[place]] = 1
        box[points[place]] = 0, max(1, extent // count) - 1
        if place in tiles:
            factors[tiles[place]] = max(1, extent // count)
            box[tiles[place]] = 0, count - 1
        old.append(Affine(tuple(factors), low))
    share = statement.instances / prod(high + 1 for _, high in box)
    most = max(range(len(box)), key=lambda place: box[place][1])
    box[most] = 0, max(1, round((box[most][1] + 1) * min(1.0, share))) - 1
    accesses = tuple(
        make_access(
            statement.name,
            iterators,
            tuple(box),
            access.reference,
            access.array,
            access.kind,
            tuple(composed(form, old, len(iterators)) for form in access.subscripts or ()),
        )
        for access in statement.accesses
    )
    return make_statement(
        statement.name,
        tuple(iterators),
        tuple(box),
        accesses,
        statement.body,
        origin=statement.origin,
        betas=betas,
        line=statement.line,
        text=statement.text,
    )
