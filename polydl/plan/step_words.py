"""A variant as a person says it: one line for each rewrite, and one for each nest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from polydl.ir.scop import Scop
from polydl.ir.variant import (
    Interchange,
    NestStep,
    Parallel,
    Stream,
    Tile,
    Unroll,
    UseMicrokernel,
    Variant,
    Vectors,
    tile_loops,
)
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
    for step in steps:
        parts += _words(step, tiles, order)
    return "; ".join(parts)


def _words(step: NestStep, tiles: Mapping[str, str], order: Sequence[str]) -> Iterator[str]:
    match step:
        case Interchange():
            return
        case Tile():
            # Loops over tiles stand in the order, if there is one.
            if f"{step.loop}_t1" not in order:
                yield f"{step.loop} in tiles of {' and '.join(map(str, step.sizes))}"
        case Parallel():
            loops = " and ".join(tiles.get(name, name) for name in (step.loop, step.inner) if name)
            sums = f", each with sums of {', '.join(step.combined)}" if step.combined else ""
            yield f"{loops} on threads{', the next one free' if step.dynamic else ''}{sums}"
        case UseMicrokernel():
            loops = f"{step.m} by {step.n}" + "".join(f" in rows of {name}" for name in step.rows)
            yield f"microkernel {step.name} for {loops}, sums over {', '.join((*step.batch, step.k))}"
        case Unroll():
            yield f"{step.loop} unrolled"
        case Stream():
            yield f"{', '.join(step.arrays)} written past the caches"
        case Vectors():
            yield f"vectors of {step.bytes} bytes"
        case _:
            yield step.json_name.replace("_", " ")
