"""Variants of one kind: those of which predictions are wrong alike."""

from __future__ import annotations

from collections.abc import Iterator

from polydl.ir.families import RECURSIVE
from polydl.ir.variant import NestSchedule, Variant
from polydl.plan.rewrite_steps import families


def kind(variant: Variant) -> tuple[object, ...]:
    """What variants of one kind share: the rewrites, and the microkernels with their loops and tiles.

    Where there is none, what is summed side by side, what is written past the caches, and how long vectors are. Of
    products by blocks of blocks, the sizes of these and by which microkernels they are multiplied.
    """
    rewrites = [step.json_name for step in variant.scop_steps]
    if RECURSIVE in families(variant.rewrites):
        numbers = [value for step in variant.rewrites for value in vars(step).values() if isinstance(value, int)]
        return (*rewrites, *numbers, *sorted({*variant.microkernels.values()}))
    return (*rewrites, *(told for nest in variant.nests.values() for told in _told(nest)))


def keeps_loops(variant: Variant) -> bool:
    """Whether its loops are the source's own, in whatever order and on whatever threads.

    None is tiled, unrolled, rewritten or replaced by a microkernel: a person makes such changes by hand.
    """
    if variant.rewrites or any(nest.tiles for nest in variant.nests.values()):
        return False
    return not any(step.tells_kind for nest in variant.nests.values() for step in nest.steps)


def _told(nest: NestSchedule) -> Iterator[tuple[object, ...]]:
    """The steps that tell the kind, each with the smallest tiles of its loops."""
    tiles = {tile.loop: tile.sizes[-1] for tile in nest.tiles}
    for step in nest.steps:
        if step.tells_kind:
            yield step, *(tiles.get(loop) for loop in step.loops)
