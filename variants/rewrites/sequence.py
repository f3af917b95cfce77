"""All rewrites of a scop that a variant may begin with, one after the other."""

from __future__ import annotations

from collections.abc import Sequence

from polydl.errors import IllegalVariantError
from polydl.ir.scop import Scop
from polydl.ir.variant import (
    Coalesce,
    Fuse,
    Gather,
    Pack,
    PackPanels,
    PackTiles,
    Pad,
    Rewrite,
    Split,
    Strassen,
    Unfold,
    Winograd,
)
from polydl.poly.dependences import Dependence, dependences
from polydl.variants.rewrites.coalesce import coalesce
from polydl.variants.rewrites.fuse import fuse
from polydl.variants.rewrites.pack import pack
from polydl.variants.rewrites.pack_tiles import pack_tiles
from polydl.variants.rewrites.pad import pad
from polydl.variants.rewrites.panels import gather, pack_panels, split
from polydl.variants.rewrites.strassen import strassen
from polydl.variants.rewrites.unfold import unfold
from polydl.variants.rewrites.winograd import winograd


def apply(scop: Scop, steps: Sequence[Rewrite], found: Sequence[Dependence], *, reassociate: bool = True) -> Scop:
    """All rewrites in order. ``scop`` is distributed already. Raises IllegalVariantError.

    An element-wise nest is attached by the plan; here nothing changes for it.
    """
    for step in steps:
        if isinstance(step, Fuse):
            scop = fuse(scop, step, found, reassociate=reassociate)
        elif isinstance(step, Split):
            scop = split(scop, step)
        elif isinstance(step, PackPanels):
            scop = pack_panels(scop, step)
        elif isinstance(step, Gather):
            scop = gather(scop, step)
        elif isinstance(step, Unfold):
            scop = unfold(scop, step)
        elif isinstance(step, Pad):
            scop = pad(scop, step, reassociate=reassociate)
        elif isinstance(step, Winograd | Strassen):
            if not reassociate:
                raise IllegalVariantError("factors are taken out of sums, whose order is to be kept")
            scop = winograd(scop, step) if isinstance(step, Winograd) else strassen(scop, step)
        elif isinstance(step, PackTiles):
            scop = pack_tiles(scop, step, found, reassociate=reassociate)
        elif isinstance(step, Pack):
            scop = pack(scop, step)
        elif isinstance(step, Coalesce):
            scop = coalesce(scop, step, found, reassociate=reassociate)
        if step is not steps[-1]:
            found = dependences(scop)
    return scop
