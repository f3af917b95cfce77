"""Convolutions among matrix products: a pixel loop and a filter-tap loop move one operand together."""

from __future__ import annotations

from dataclasses import dataclass

from polydl.ir.scop import Scop
from polydl.ir.statement import Statement
from polydl.match.product import PointProduct, ProductForm, float_forms


@dataclass(frozen=True)
class ConvolutionMatch(PointProduct):
    """A product whose A is the image and whose B holds the filters.

    ``made`` and ``summed`` are the loops over output and input channels, ``gone`` those over the filter's taps.
    """

    #: (loop over pixels, loop over taps) of each axis of the image, one or two
    axes: tuple[tuple[int, int], ...]

    @property
    def filters(self) -> list[int]:
        """Loops over filters other than the taps and the result's, by decreasing stride in B."""
        b = self.form.strides_b
        loops = [
            loop for loop, step in enumerate(b) if step and loop not in self.transformed and loop != self.result_loop
        ]
        return sorted(loops, key=lambda loop: -b[loop])


def convolution(scop: Scop, statement: Statement) -> ConvolutionMatch | None:
    """The statement as a convolution over one or two axes; None if it isn't one.

    Neighbouring outputs are as many pixels apart as neighbouring taps are: one as a rule, more in a part of a
    convolution in steps of several pixels.
    """
    for oriented in float_forms(scop, statement):
        c, a, b = oriented.strides_c, oriented.strides_a, oriented.strides_b
        axes = tuple((pixel, tap) for pixel, tap, ways in _axes(statement, oriented) if ways[0] == ways[1] > 0)
        taps = {tap for _, tap in axes}
        output_channels = [loop for loop in range(len(c)) if c[loop] and b[loop] and not a[loop]]
        input_channels = [loop for loop in range(len(c)) if a[loop] and b[loop] and not c[loop] and loop not in taps]
        # A loop over taps that has one of them left is a channel like any other.
        several = [loop for loop in input_channels if statement.box is not None and statement.box[loop][1] > 0]
        input_channels = several or input_channels
        if 0 < len(axes) <= 2 and output_channels and input_channels:
            return ConvolutionMatch(
                oriented,
                frozenset(taps),
                min(output_channels, key=c.__getitem__),
                min(input_channels, key=a.__getitem__),
                axes,
            )
    return None


def strided_axes(scop: Scop, statement: Statement) -> tuple[tuple[int, int, int], ...]:
    """(pixel loop, tap loop, stride) of each axis whose neighbouring outputs are several taps apart; () without any.

    There are none for a statement that also has an axis in steps of one.
    """
    for oriented in float_forms(scop, statement):
        found = _axes(statement, oriented)
        if 0 < len(found) <= 2:
            strided = [
                (pixel, tap, apart // near)
                for pixel, tap, (apart, near) in found
                if 0 < near < apart and apart % near == 0
            ]
            return tuple(strided) if len(strided) == len(found) else ()
    return ()


def _axes(statement: Statement, form: ProductForm) -> list[tuple[int, int, tuple[int, int]]]:
    """(pixel loop, tap loop, factors of both) of each dimension of A whose subscript is a sum of multiples of the two.

    The pixel loop also moves C and not B, the tap loop also moves B and not C. Neither is in another subscript of A.
    """
    assert form.a.subscripts is not None
    assert statement.box is not None
    axes = []
    for dimension, subscript in enumerate(form.a.subscripts):
        moving = [loop for loop, step in enumerate(subscript.coefficients) if step]
        pixels = [loop for loop in moving if form.strides_c[loop] and not form.strides_b[loop]]
        taps = [loop for loop in moving if form.strides_b[loop] and not form.strides_c[loop]]
        if len(moving) != 2 or len(pixels) != 1 or len(taps) != 1 or statement.box[taps[0]][1] == 0:
            continue
        others = [other for number, other in enumerate(form.a.subscripts) if number != dimension]
        elsewhere = any(other.coefficients[loop] for other in others for loop in moving)
        if not elsewhere:
            axes.append((pixels[0], taps[0], (subscript.coefficients[pixels[0]], subscript.coefficients[taps[0]])))
    return axes
