"""An operand packed tile by tile: a copy inside the outer loops of the nest that reads it, into a buffer that stays.

Where a whole operand in panels would go out to memory and come back, one tile of it is packed when the loops get to it
and is still in a cache when it is used (Goto's arrangement of a matrix product). The buffer is an array of the scop as
any other, so that dependences, legality, working sets and traffic count it for what it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from polydl.errors import IllegalVariantError
from polydl.ir.affine import Affine, iterator_form
from polydl.ir.construct import fresh_name
from polydl.ir.scop import Array, Scop, SharedLoops
from polydl.ir.variant import Fuse, PackTiles
from polydl.poly.dependences import Dependence
from polydl.variants.rewrites.copies import copying_statement
from polydl.variants.rewrites.fuse import fuse
from polydl.variants.rewrites.panels import moved_read, only_read, subscripts_by_loop, visits_once, walked


def pack_tiles(scop: Scop, step: PackTiles, found: Sequence[Dependence], *, reassociate: bool = True) -> Scop:
    """Put the ``shared`` loops of a statement outermost, and copy the tile that one iteration of them reads.

    The copy is a statement of its own, inside the same loops and before the statement. Raises IllegalVariantError if a
    dependence forbids that order, if the array is written, or if a tile's loops don't visit each element once.
    """
    statement, array = scop.statement(step.statement), scop.array(step.array)
    read = only_read(scop, statement, step.array)
    inside = [name for name in walked(statement, read) if name not in step.shared]
    if not step.shared or set(step.shared) - set(statement.iterators) or len(set(step.shared)) != len(step.shared):
        raise IllegalVariantError(f"{list(step.shared)} are not different loops of {statement.name}")
    if sorted(step.loops) != sorted(inside) or not visits_once(scop, statement, read):
        raise IllegalVariantError(
            f"the loops {list(step.loops)} don't visit each element of a tile of `{array.name}` once"
        )
    order = (*step.shared, *(name for name in statement.iterators if name not in step.shared))
    scop = fuse(scop, Fuse((statement.name,), (order,), (0,), len(step.shared)), found, reassociate=reassociate)
    statement = scop.statement(step.statement)
    read = only_read(scop, statement, step.array)
    assert statement.box is not None
    assert read.subscripts is not None
    depth = len(step.shared)
    # The buffer is written in whatever order reads the array straight on: that comes from farther away.
    inner = [statement.iterators.index(name) for name in step.loops]
    across = sorted(inner, key=lambda at: -scop.stride(read, at))
    box = tuple(statement.box[at] for at in (*range(depth), *across))
    extents = tuple(high - low + 1 for low, high in (statement.box[at] for at in inner))
    tile = Array(fresh_name(scop, f"{array.name}_tile"), array.element, array.element_bytes, extents, "local")
    names = tuple(fresh_name(scop, f"{array.name}_{number}") for number in range(len(inner)))
    place = statement.betas[0]
    copy = copying_statement(
        statement,
        array,
        tile,
        iterators=(*statement.iterators[:depth], *names),
        box=box,
        betas=(place, *(0,) * len(box)),
        to=tuple(iterator_form(depth + across.index(each), len(box), -statement.box[each][0]) for each in inner),
        source=tuple(
            Affine(tuple(form.coefficients[at] for at in (*range(depth), *across)), form.constant)
            for form in read.subscripts
        ),
    )
    reader = replace(
        moved_read(statement, read, tile.name, subscripts_by_loop(statement, inner)),
        betas=(*statement.betas[:depth], 1, *statement.betas[depth + 1 :]),
    )
    *others, own = scop.shared
    statements = [copy, *(reader if each.name == reader.name else each for each in scop.statements)]
    return replace(
        scop,
        statements=tuple(sorted(statements, key=lambda each: each.betas)),
        arrays=(*scop.arrays, tile),
        shared=(*others, SharedLoops((copy.name, *own.statements), own.loops)),
    )
