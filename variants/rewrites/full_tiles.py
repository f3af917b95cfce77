"""Tiles that a statement fills, apart from those at the edges of its domain.

A full tile has the same loops inside, whichever tile it is: nothing in them depends on where it lies, so that a
microkernel may take them. Every tile is either full or not, and the order of the tiles stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod

import islpy as isl

from polydl.errors import IllegalVariantError
from polydl.ir.affine import Affine, iterator_form
from polydl.ir.statement import Statement
from polydl.poly.counting import count
from polydl.poly.substitution import change_of_iterators, renamed, restricted, with_iterators


@dataclass(frozen=True)
class Part:
    """A statement for some of another one's instances."""

    statement: Statement
    #: isl's map from the instances of the other statement to those of this one
    instances: str


def separated(
    statement: Statement,
    tiles: Mapping[int, int],
    sizes: Mapping[int, int],
    wavefront: tuple[int, int] | None,
    rest: str,
) -> tuple[Part, Part]:
    """The full tiles of a statement, in iterators that begin at zero in each tile, and the statement ``rest``.

    ``tiles`` are the places of the loops over tiles by those of the loops inside, ``sizes`` the sizes of the tiles by
    the same. The first of the two loops ``wavefront`` goes over sums of its own tile and that of the second. Raises
    IllegalVariantError where no tile is full, or all are, or a loop inside is not tiled.
    """
    outside = max(tiles.values()) + 1
    if {*tiles} != {*range(outside, statement.depth)}:
        raise IllegalVariantError(f"a loop of {statement.name} is not tiled, so that no tile is full")
    before = isl.Set(statement.domain)
    old = [iterator_form(place, statement.depth) for place in range(statement.depth)]
    for inside, tile in tiles.items():
        factors = [0] * statement.depth
        factors[inside], factors[tile] = 1, sizes[inside]
        if wavefront is not None and tile == wavefront[0]:
            factors[wavefront[1]] = -sizes[inside]
        old[inside] = Affine(tuple(factors), 0)
    change = isl.Map.from_multi_aff(change_of_iterators(statement.name, statement.iterators, old))
    local = change.intersect_range(before).domain()
    over = local.project_out(isl.dim_type.set, outside, statement.depth - outside)
    box = over.add_dims(isl.dim_type.set, statement.depth - outside)
    for inside in tiles:
        box = box.lower_bound_val(isl.dim_type.set, inside, 0)
        box = box.upper_bound_val(isl.dim_type.set, inside, sizes[inside] - 1)
    box = box.set_tuple_name(statement.name)
    partial = box.subtract(local).project_out(isl.dim_type.set, outside, statement.depth - outside)
    filled = over.subtract(partial).coalesce()
    if filled.is_empty():
        raise IllegalVariantError(f"{statement.name} fills no tile of sizes {tuple(sizes.values())}")
    full = box.intersect(filled.add_dims(isl.dim_type.set, statement.depth - outside).set_tuple_name(statement.name))
    inside_full = full.apply(change)
    left = before.subtract(inside_full).coalesce()
    if left.is_empty():
        raise IllegalVariantError(f"all tiles of {statement.name} are full")
    number = count(filled) * prod(sizes[inside] for inside in tiles)
    own = replace(statement, domain=str(inside_full))
    whole = replace(with_iterators(own, statement.iterators, old, full), instances=number)
    others = renamed(replace(restricted(statement, left), instances=statement.instances - number), rest)
    return (
        Part(whole, str(change.reverse().intersect_range(full))),
        Part(others, str(isl.Map.identity(before.get_space().map_from_set()).intersect_domain(left)
                         .set_tuple_name(isl.dim_type.out, rest))),
    )  # fmt: skip


def carried_over(relation: str, source: Part | None, target: Part | None) -> str:
    """The part of a dependence that two parts of its statements have; None for a statement that has no parts."""
    pairs = isl.Map(relation)
    if source is not None:
        pairs = pairs.apply_domain(isl.Map(source.instances))
    if target is not None:
        pairs = pairs.apply_range(isl.Map(target.instances))
    return str(pairs)
