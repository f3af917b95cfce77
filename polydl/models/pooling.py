"""Maxima and averages of windows of images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Literal

import numpy as np

from polydl.models.accumulation import accumulated, in_a_number, scratch_of_sums
from polydl.models.epilogue import Scale, Step, number
from polydl.models.graph import Array
from polydl.models.kernel_text import function_text, operand_parameters
from polydl.models.layout import Image, Layout, Pair, Scratch, constant, declared, in_words

# Not the least finite element: the maximum of nothing but minus infinity is minus infinity.
_LEAST = number(-inf)


@dataclass(frozen=True)
class Pooling:
    """The maximum or average of each window of an image. A maximum passes over the padding."""

    operation: Literal["maximum", "average"]
    #: rows and columns of a window
    kernel: Pair
    #: of the windows, in rows and columns
    stride: Pair
    #: rows and columns on either side of the image
    padding: Pair = (0, 0)
    #: of an average: row and column of the padded image where the first window begins
    first: Pair = (0, 0)
    #: whether an average counts the zeros of the padding among its elements
    counts_padding: bool = True

    @property
    def label(self) -> str:
        return f"{self.operation} of {self.kernel[0]}x{self.kernel[1]}, stride {in_words(self.stride)}"

    @property
    def borders(self) -> tuple[Pair, ...]:
        return (self.padding,) if self.operation == "average" else ((0, 0),)

    @property
    def constants(self) -> tuple[str, ...]:
        return () if self.counts_padding else ("share",)

    def block(self, inputs: Sequence[Layout], channels: int, usual: int) -> int:
        del channels, usual
        assert isinstance(inputs[0], Image)
        return inputs[0].block

    def text(self, function: str, output: Layout, inputs: Sequence[Layout], steps: Sequence[Step]) -> str:
        image, operands = inputs[0], inputs[1:]
        assert isinstance(image, Image)
        assert isinstance(output, Image)
        average = self.operation == "average"
        rows = _positions("y", self.stride[0], "r", self.first[0] if average else -self.padding[0])
        columns = _positions("x", self.stride[1], "s", self.first[1] if average else -self.padding[1])
        pixel = image.at("input", "n", "t", rows, columns, "k").value
        *outer, channels = output.loops()
        loops = (*outer, ("r", self.kernel[0]), ("s", self.kernel[1]), channels)
        after: Sequence[Step] = steps
        condition, shares = "", []
        if not average:
            condition = self._inside(image, output, rows, columns)
        elif self.counts_padding:
            after = (Scale(1.0 / (self.kernel[0] * self.kernel[1])), *steps)
        else:
            shares = [constant("share", output.height, output.width)]
        start = "0.0f" if average else self._first(image, output)

        def update(target: str) -> str:
            if average:
                return f"{target} += {pixel};"
            return f"{target} = {target} > {pixel} ? {target} : {pixel};"

        nests = accumulated(
            output, after, operands, loops, start, update, condition=condition,
            finish=(lambda target: f"{target} * share[y][x]") if shares else None,
        )  # fmt: skip
        parameters = [declared("input", image), *operand_parameters(steps, operands), *shares]
        return function_text(function, output, parameters, nests, self.scratch(output, inputs))

    def scratch(self, output: Layout, inputs: Sequence[Layout]) -> tuple[Scratch, ...]:
        return () if in_a_number(output, inputs[1:]) else scratch_of_sums(output)

    def _first(self, image: Image, output: Image) -> str:
        """What a maximum begins with: a pixel that is in every window, or else minus infinity."""
        places = []
        for axis, (name, extent, outputs) in enumerate(
            (("y", image.height, output.height), ("x", image.width, output.width))
        ):
            if (outputs - 1) * self.stride[axis] >= extent:
                return _LEAST
            places.append(name if self.stride[axis] == 1 else f"{name} * {self.stride[axis]}")
        return image.at("input", "n", "t", *places, "k").value

    def _inside(self, image: Image, output: Image, rows: str, columns: str) -> str:
        """Where a window's pixel is one of the image; "" if all are."""
        conditions = []
        sizes = ((rows, image.height, output.height, 0), (columns, image.width, output.width, 1))
        for position, extent, outputs, axis in sizes:
            if self.padding[axis]:
                conditions.append(f"{position} >= 0")
            if (outputs - 1) * self.stride[axis] + self.kernel[axis] - 1 - self.padding[axis] >= extent:
                conditions.append(f"{position} < {extent}")
        return " && ".join(conditions)

    def laid(self, constants: Sequence[Array], output: Layout, inputs: Sequence[Layout]) -> list[Array]:
        """The share of each pixel in its window's average, [rows][columns], where that depends on the window."""
        image = inputs[0]
        assert isinstance(image, Image)
        assert isinstance(output, Image)
        if self.counts_padding:
            return list(constants)
        rows = self._pixels(0, image.height, output.height)
        return [1.0 / np.outer(rows, self._pixels(1, image.width, output.width))]

    def _pixels(self, axis: int, extent: int, outputs: int) -> Array:
        """How many rows, or columns, of each window are inside of the image."""
        begin = np.arange(outputs) * self.stride[axis] + self.first[axis] - self.padding[axis]
        inside: Array = np.minimum(begin + self.kernel[axis], extent) - np.maximum(begin, 0)
        return inside


def _positions(outer: str, stride: int, inner: str, begin: int) -> str:
    first = outer if stride == 1 else f"{outer} * {stride}"
    return f"{first} + {inner}" + (f" {'+' if begin > 0 else '-'} {abs(begin)}" if begin else "")
