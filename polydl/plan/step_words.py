"""A variant as a person says it: one line for each rewrite, and one for each nest."""

from __future__ import annotations

from polydl.ir.scop import Scop
from polydl.ir.variant import NestSchedule, Variant
from polydl.plan.rewrite_steps import description

AS_WRITTEN = "the loops as they are written"


def variant_in_words(scop: Scop, variant: Variant) -> list[str]:
    """Its rewrites in their order, then what is done to each nest; ``scop`` is the source's."""
    lines = [description(scop, step) for step in variant.scop_steps]
    for nest, schedule in variant.nests.items():
        words = nest_in_words(schedule)
        lines.append(f"nest {nest}: {words}" if len(variant.nests) > 1 else words)
    return lines or [AS_WRITTEN]


def nest_in_words(schedule: NestSchedule) -> str:
    """The steps of one nest in a line, such as ``loops i, tiles of 64 of j, j; i on threads``."""
    tiles = {name: f"tiles of {size} of {loop}" for name, (loop, size) in schedule.tile_loops.items()}
    order = schedule.order or ()
    parts = [f"loops {', '.join(tiles.get(name, name) for name in order)}"] if order else []
    parts += filter(None, (step.words(tiles, order) for step in schedule.steps))
    return "; ".join(parts)
