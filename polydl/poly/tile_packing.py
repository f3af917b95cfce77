"""An operand packed tile by tile: a copy inside the outer loops of the nest that reads it, into a buffer that stays.

Where a whole operand in panels would go out to memory and come back, one tile of it is packed when the loops get to it
and is still in a cache when it is used (Goto's arrangement of a matrix product). The buffer is an array of the scop as
any other, so that dependences, legality, working sets and traffic count it for what it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from polydl.errors import IllegalVariantError
from polydl.poly.dependences import Dependence
from polydl.poly.forms import iterator_form
from polydl.poly.fusing import fuse
from polydl.poly.nests import Nest
from polydl.poly.panels import moved_read, only_read, subscripts_by_loop, visits_once, walked
from polydl.poly.rewrites import copying_statement, fresh_name
from polydl.types import Affine, Array, Fuse, PackTiles, Scop, SharedLoops

# Prefetchers start anew with each row of a tile where rows lie a page or more apart, and a line takes so many cycles.
_ROW_BYTES = 4096
_LINE_BYTES = 64
_LINE_CYCLES = 20.0


def waiting_cycles(scop: Scop, nest: Nest) -> float:
    """Core cycles for which the copies of a tile wait for its rows, with nothing else to do; 0 for any other nest.

    Copies of tiles reach a third of the speed at which a core reads the last-level cache straight on.
    """
    statement = scop.statement(nest.statements[0])
    arrays = [access.array for access in statement.reads]
    inside = any(statement.name in group.statements and group.loops == nest.depth for group in scop.shared)
    if not inside or len(nest.statements) > 1 or statement.body.text != "=" or len(arrays) != 1:
        return 0.0
    read = statement.reads[0]
    if scop.array(statement.writes[0].array).storage != "local" or read.subscripts is None:
        return 0.0
    rows = max((scop.stride(read, loop) for loop in range(nest.depth, statement.depth)), default=0)
    size = scop.array(read.array).element_bytes
    return statement.instances * size / _LINE_BYTES * _LINE_CYCLES if rows * size >= _ROW_BYTES else 0.0


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
