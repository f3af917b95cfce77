"""Matrices that turn a short convolution into products of single numbers (Toom and Cook; Winograd, 1980).

``m`` outputs of a filter of ``r`` taps take ``m + r - 1`` products in place of ``m * r``: with a patch ``d`` of the
image and the filter ``g``, ``y = R ((F g) * (D d))``, product by product. Lavin and Gray (2016) use it for the layers
of neural networks. The points at which the polynomials are evaluated come in pairs of opposite signs, which share half
of their sums; of such sets with small denominators, those for five, six and eight points round least.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import prod

from polydl.ir.calls import Matrix

# Beside infinity, in the order in which they are taken; and those for five and for six points.
_POINTS = tuple(map(Fraction, ("0", "1", "-1", "2", "-2", "1/2", "-1/2")))
_OF_SIX = tuple(map(Fraction, ("0", "3/4", "-3/4", "3/2", "-3/2")))
_OF_FIVE = tuple(map(Fraction, ("1/2", "-1/2", "3/2", "-3/2")))
MOST_POINTS = len(_POINTS) + 1


@dataclass(frozen=True)
class ToomCook:
    """The matrices R, F and D of a short convolution: ``y = R ((F g) * (D d))``."""

    #: R: a row per output, a column per product
    result: Matrix
    #: F: a row per product, a column per tap of the filter
    taps: Matrix
    #: D: a row per product, a column per element of the patch
    image: Matrix


@lru_cache(maxsize=64)
def toom_cook(outputs: int, taps: int) -> ToomCook:
    """The matrices for so many outputs and taps of a filter; ``outputs + taps - 1`` is at most ``MOST_POINTS``."""
    count = outputs + taps - 1
    finite = {5: _OF_FIVE, 6: _OF_SIX}.get(count, _POINTS[: count - 1])
    result = [[point**power for point in finite] + [Fraction(power == outputs - 1)] for power in range(outputs)]
    by_taps, by_image = [], []
    for place, point in enumerate(finite):
        others = [*finite[:place], *finite[place + 1 :]]
        divisor = prod(point - other for other in others)
        by_image.append((*_product(others), Fraction(0)))
        by_taps.append(tuple(point**power / divisor for power in range(taps)))
    by_image.append(tuple(_product(finite)))
    by_taps.append(tuple(Fraction(power == taps - 1) for power in range(taps)))
    return ToomCook(Matrix(map(tuple, result)), Matrix(by_taps), Matrix(by_image))


def _product(roots: Sequence[Fraction]) -> list[Fraction]:
    """The coefficients of the product of ``x - root``, the constant first."""
    found = [Fraction(1)]
    for root in roots:
        shifted, scaled = [Fraction(0), *found], [*(root * each for each in found), Fraction(0)]
        found = [one - two for one, two in zip(shifted, scaled, strict=True)]
    return found
