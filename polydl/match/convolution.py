"""Convolutions among matrix products: an operand that a loop over pixels and one over taps move together."""

from __future__ import annotations

from dataclasses import dataclass

from polydl.ir.scop import Scop
from polydl.ir.statement import Statement
from polydl.match.product import PointProduct, ProductForm, float_forms


@dataclass(frozen=True)
class Convolution(PointProduct):
    """A product ``form`` whose A is an image: ``axes`` are its loops over pixels and over taps of the filter.

    Of the loops over channels, ``made`` is the one closest together in the result, ``summed`` that in the image.
    """

    axes: tuple[tuple[int, int], ...]

    @property
    def filters(self) -> list[int]:
        """Loops that move the filters, but for taps and ``made``; the innermost is the last."""
        b = self.form.strides_b
        found = [loop for loop, step in enumerate(b) if step and loop not in self.gone and loop != self.made]
        return sorted(found, key=lambda loop: -b[loop])


def convolution(scop: Scop, statement: Statement) -> Convolution | None:
    """The statement as a convolution of one or two axes, in steps of one pixel; None if it isn't."""
    for oriented in float_forms(scop, statement):
        c, a, b = oriented.strides_c, oriented.strides_a, oriented.strides_b
        axes = _axes(statement, oriented)
        taps = {tap for _, tap in axes}
        made = [loop for loop in range(len(c)) if c[loop] and b[loop] and not a[loop]]
        summed = [loop for loop in range(len(c)) if a[loop] and b[loop] and not c[loop] and loop not in taps]
        if 0 < len(axes) <= 2 and made and summed:
            return Convolution(
                oriented, frozenset(taps), min(made, key=c.__getitem__), min(summed, key=a.__getitem__), axes
            )
    return None


def _axes(statement: Statement, form: ProductForm) -> tuple[tuple[int, int], ...]:
    """The two loops of each dimension of A that a loop of C's and one of B's move together, in steps of one."""
    assert form.a.subscripts is not None
    assert statement.box is not None
    found = []
    for dimension, subscript in enumerate(form.a.subscripts):
        moving = [loop for loop, step in enumerate(subscript.coefficients) if step]
        pixels = [loop for loop in moving if form.strides_c[loop] and not form.strides_b[loop]]
        taps = [loop for loop in moving if form.strides_b[loop] and not form.strides_c[loop]]
        if len(moving) != 2 or len(pixels) != 1 or len(taps) != 1 or statement.box[taps[0]][1] == 0:
            continue
        others = [each for number, each in enumerate(form.a.subscripts) if number != dimension]
        elsewhere = any(each.coefficients[loop] for each in others for loop in moving)
        if not elsewhere and all(subscript.coefficients[loop] == 1 for loop in moving):
            found.append((pixels[0], taps[0]))
    return tuple(found)
