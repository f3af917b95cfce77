"""Variants of one kind: those of which predictions are wrong alike."""

from __future__ import annotations

from polydl.ir.families import RECURSIVE
from polydl.ir.variant import Tile, UseMicrokernel, Variant
from polydl.plan.rewrite_steps import families


def kind(variant: Variant) -> tuple[object, ...]:
    """What variants of one kind share: the rewrites, and the microkernels with their loops and tiles.

    Where there is none, what is summed side by side, what is written past the caches, and how long vectors are. Of
    products by blocks of blocks, the sizes of these and by which microkernels they are multiplied.
    """
    rewrites = [step.json_name for step in variant.scop_steps]
    if RECURSIVE in families(variant.rewrites):
        numbers = [value for step in variant.rewrites for value in vars(step).values() if isinstance(value, int)]
        return (*rewrites, *numbers, *sorted(microkernels_of(variant)))
    tiles = {(step.nest, step.loop): step.sizes[-1] for step in variant.steps if isinstance(step, Tile)}
    steps = [step for step in variant.nest_steps if step.tells_kind]
    return (*rewrites, *((step, *(tiles.get((step.nest, loop)) for loop in step.loops)) for step in steps))


def microkernels_of(variant: Variant) -> frozenset[str]:
    """The names of the microkernels that a variant uses."""
    return frozenset(step.name for step in variant.steps if isinstance(step, UseMicrokernel))
