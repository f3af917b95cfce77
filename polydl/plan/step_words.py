"""A variant as a person says it: one line for each rewrite, and one for each nest."""

from __future__ import annotations

from collections.abc import Sequence

from polydl.ir.scop import Scop
from polydl.ir.variant import Interchange, NestStep, Variant, tile_loops
from polydl.plan.rewrite_steps import description

AS_WRITTEN = "the loops as they are written"


def variant_in_words(scop: Scop, variant: Variant) -> list[str]:
    """Its rewrites in their order, then what is done to each nest; ``scop`` is the source's."""
    lines = [description(scop, step) for step in variant.scop_steps]
    nests = sorted({step.nest for step in variant.nest_steps})
    for nest in nests:
        words = nest_in_words(variant.of_nest(nest))
        lines.append(f"nest {nest}: {words}" if len(nests) > 1 else words)
    return lines or [AS_WRITTEN]


def nest_in_words(steps: Sequence[NestStep]) -> str:
    """The steps of one nest in a line, such as ``loops i, tiles of 64 of j, j; i on threads``."""
    tiles = {name: f"tiles of {size} of {loop}" for name, (loop, size) in tile_loops(steps).items()}
    order = [name for step in steps if isinstance(step, Interchange) for name in step.order]
    parts = [f"loops {', '.join(tiles.get(name, name) for name in order)}"] if order else []
    parts += filter(None, (step.words(tiles, order) for step in steps))
    return "; ".join(parts)
