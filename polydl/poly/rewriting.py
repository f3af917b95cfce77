"""All rewrites of a scop that a variant may begin with, one after the other."""

from __future__ import annotations

from collections.abc import Sequence

from polydl.errors import IllegalVariantError
from polydl.poly.dependences import Dependence, dependences
from polydl.poly.fusing import fuse
from polydl.poly.padding import pad
from polydl.poly.panels import gather, pack_panels, split
from polydl.poly.rewrites import apply as apply_rewrites
from polydl.poly.strassen import strassen
from polydl.poly.tile_packing import pack_tiles
from polydl.poly.unfolding import unfold
from polydl.poly.winograd import winograd
from polydl.types import (
    Attach,
    Fuse,
    Gather,
    PackPanels,
    PackTiles,
    Pad,
    Rewrite,
    Scop,
    Split,
    Strassen,
    Unfold,
    Winograd,
)


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
        elif not isinstance(step, Attach):
            scop = apply_rewrites(scop, [step], found, reassociate=reassociate)
        if step is not steps[-1]:
            found = dependences(scop)
    return scop
