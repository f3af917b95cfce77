"""Products of any size that are convolutions, which tiles of pixels compute with fewer products (Winograd).

``polydl.variants.rewrites.winograd`` does the same for known sizes. Here sizes are parameters: the edges of an image
are found as tiles are copied, and memory for what is transformed has one size.
"""

from __future__ import annotations

from dataclasses import dataclass

from polydl.ir.numerics import DEFAULT_NUMERICS, Rounding, refusal
from polydl.libraries import extents as sums
from polydl.libraries.product import INNER, Role, SymbolicProduct
from polydl.libraries.start import fewest
from polydl.libraries.symbolic import SymbolicNest
from polydl.plan.bilinear_rounding import Bilinear, error_factor
from polydl.plan.toom_cook import MOST_POINTS, toom_cook


@dataclass(frozen=True)
class SymbolicConvolution:
    """What the loops of a product are to a convolution: A is an image, B holds filters, n are these, k is channels."""

    #: loops over pixels, down and across an image: the one across is m
    pixels: tuple[Role, Role]
    #: loops over taps, in the same order
    taps: tuple[Role, Role]
    #: iterations of each of the loops over taps
    extents: tuple[int, int]
    #: loops over images, innermost first
    images: tuple[Role, ...]

    def rounding(self, outputs: int, channels: int) -> Rounding:
        """How tiles of ``outputs`` by ``outputs`` pixels round, with so many channels."""
        matrices = [toom_cook(outputs, taps) for taps in self.extents]
        axes = [Bilinear(each.result, each.taps, each.image) for each in matrices]
        factor = error_factor(axes, channels, channels * self.extents[0] * self.extents[1])
        return Rounding("nothing", factor, (self.words(outputs),))

    def words(self, outputs: int) -> str:
        """The method's name."""
        return f"Winograd F({outputs}x{outputs}, {self.extents[0]}x{self.extents[1]})"


def symbolic_convolution(product: SymbolicProduct) -> SymbolicConvolution | None:
    """The convolution that a product is, over two axes in steps of one pixel; None for another one.

    A pixel and a tap that are next to each other move the image by as much at all sizes. There is none where the result
    isn't set to zero before, where products have a factor, and where operands are of several types.
    """
    alike = {each.element for each in product.operands.values()} == {product.element}
    if product.scale or product.start is None or product.start.factor or not alike:
        return None
    a, b, c = (product.operands[name].strides for name in ("a", "b", "c"))
    taps = [role for role in product.added if role != "k" and role in a and role in b]
    rows = [role for role in product.outer if role in a and role in c and role not in b]
    if len(taps) != 2 or {*taps, *rows, *INNER} != set(product.loops) or "m" in b:
        return None
    across = [tap for tap in taps if a[tap] == a["m"]]
    if len(across) != 1:
        return None
    (other,) = (tap for tap in taps if tap != across[0])
    down = [role for role in rows if a[role] == a[other]]
    extents = [product.trips[tap] for tap in (other, across[0])]
    if len(down) != 1 or not all(extent.isdigit() and int(extent) > 1 for extent in extents):
        return None
    images = tuple(role for role in reversed(rows) if role != down[0])
    return SymbolicConvolution((down[0], "m"), (other, across[0]), (int(extents[0]), int(extents[1])), images)


def tiles_that_round_well(nest: SymbolicNest, product: SymbolicProduct, outputs: int) -> bool:
    """Whether tiles of ``outputs`` pixels a side round within the usual level, for all channels of the ranges.

    The error over that of the source's sums grows, or falls, from the fewest channels to the most. False where tiles
    have more points along a side than transforms are known for.
    """
    conv = symbolic_convolution(product)
    if conv is None or outputs + max(conv.extents) - 1 > MOST_POINTS:
        return False
    channels = {max(1, fewest(nest, product.trips["k"])), sums.value(product.trips["k"], nest.largest)}
    return all(refusal(conv.rounding(outputs, each), DEFAULT_NUMERICS) is None for each in channels)
