"""Convolutions on blocked images: strided, dilated, grouped and depthwise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from polydl.models.epilogue import Step
from polydl.models.graph import Array, WithoutScratch
from polydl.models.kernel_text import element_wise, function_text, operand_parameters
from polydl.models.layout import BLOCKS, Image, Layout, Loops, Pair, brackets, declared, in_words, nest


@dataclass(frozen=True)
class Convolution(WithoutScratch):
    """Constants are the filters, [filters][channels / groups][rows][columns], and the bias, [filters]."""

    #: of the image
    channels: int
    #: channels of the result
    filters: int
    #: rows and columns of a filter
    kernel: Pair
    #: of the windows, in rows and columns
    stride: Pair = (1, 1)
    #: rows and columns of zeros on either side of the image
    padding: Pair = (0, 0)
    #: from one tap of a filter to the next, in rows and columns
    dilation: Pair = (1, 1)
    #: of channels, each with its own filters
    groups: int = 1
    #: row and column of the padded image where the first window begins
    first: Pair = (0, 0)

    @property
    def depthwise(self) -> bool:
        """Whether each channel has one filter of its own."""
        return self.groups == self.channels == self.filters and self.groups > 1

    @property
    def supported(self) -> bool:
        """Whether groups, if there are several, have one channel or whole blocks of them."""
        least = BLOCKS[-1]
        whole = self.channels // self.groups % least == 0 and self.filters // self.groups % least == 0
        return self.groups == 1 or self.depthwise or whole

    @property
    def label(self) -> str:
        kind = "depthwise convolution" if self.depthwise else "convolution"
        size = f"{self.kernel[0]}x{self.kernel[1]}"
        words = [f"{kind} {size}, {self.channels} to {self.filters} channels"]
        words += [f"stride {in_words(self.stride)}"] if self.stride != (1, 1) else []
        words += [f"dilation {in_words(self.dilation)}"] if self.dilation != (1, 1) else []
        words += [f"{self.groups} groups"] if self.groups > 1 and not self.depthwise else []
        return ", ".join(words)

    @property
    def borders(self) -> tuple[Pair, ...]:
        return (self.padding,)

    @property
    def constants(self) -> tuple[str, ...]:
        return ("filter", "bias")

    def block(self, inputs: Sequence[Layout], channels: int, usual: int) -> int:
        if self.depthwise:
            image = inputs[0]
            assert isinstance(image, Image)
            return image.block
        del channels
        return usual

    def text(self, function: str, output: Layout, inputs: Sequence[Layout], steps: Sequence[Step]) -> str:
        image, operands = inputs[0], inputs[1:]
        assert isinstance(image, Image)
        assert isinstance(output, Image)
        parameters = [
            declared("input", image),
            *operand_parameters(steps, operands),
            "filter" + brackets(*self._filter_extents(image, output)),
            "bias" + brackets(output.tiles, output.block),
        ]
        nests = [
            nest(output.loops(), f"{output.element('output')} = bias[t][k];"),
            self._sums(image, output),
            element_wise(output, "", steps, operands),
        ]
        return function_text(function, output, parameters, [each for each in nests if each])

    def _filter_extents(self, image: Image, output: Image) -> tuple[int, ...]:
        if self.depthwise:
            return image.tiles, *self.kernel, image.block
        blocks, channels = self._of_group(image)
        return output.tiles, blocks, *self.kernel, channels, output.block

    def _of_group(self, image: Image) -> Pair:
        """How many blocks of the image a group of filters reads, and how many channels of each."""
        whole = image.tiles % self.groups == 0
        return (image.tiles // self.groups, image.block) if whole else (1, self.channels // self.groups)

    def _sums(self, image: Image, output: Image) -> str:
        row = _position("y", self.stride[0], "r", self.dilation[0], self.first[0])
        column = _position("x", self.stride[1], "s", self.dilation[1], self.first[1])
        taps: Loops = (("r", self.kernel[0]), ("s", self.kernel[1]))
        images, rows, columns = ("n", output.images), ("y", output.height), ("x", output.width)
        if self.depthwise:
            loops = (images, ("t", output.tiles), rows, columns, *taps, ("k", output.block))
            product = f"input{brackets('n', 't', row, column, 'k')} * filter[t][r][s][k]"
            return nest(loops, f"{output.element('output')} += {product};")
        blocks, channels = self._of_group(image)
        sums: Loops = (("u", blocks), rows, *taps, columns, ("c", channels), ("k", output.block))
        if self.groups == 1:
            product = f"input{brackets('n', 'u', row, column, 'c')} * filter[t][u][r][s][c][k]"
            return nest((images, ("t", output.tiles), *sums), f"output[n][t][y][x][k] += {product};")
        each = output.tiles // self.groups
        tile = f"g * {each} + t"
        # Several groups share the only block of an image whose channels are no multiple of others.
        block, channel = (f"g * {blocks} + u", "c") if image.tiles > 1 else ("u", f"g * {channels} + c")
        product = f"input{brackets('n', block, row, column, channel)} * filter[{tile}][u][r][s][c][k]"
        return nest((images, ("g", self.groups), ("t", each), *sums), f"output[n][{tile}][y][x][k] += {product};")

    def laid(self, constants: Sequence[Array], output: Layout, inputs: Sequence[Layout]) -> list[Array]:
        filters, bias = constants
        image = inputs[0]
        assert isinstance(image, Image)
        assert isinstance(output, Image)
        rows, columns = self.kernel
        if self.depthwise:
            blocked = filters.reshape(image.tiles, image.block, rows, columns).transpose(0, 2, 3, 1)
        else:
            blocked = filters.reshape(output.tiles, output.block, *self._of_group(image), rows, columns)
            blocked = blocked.transpose(0, 2, 4, 5, 3, 1)
        return [np.ascontiguousarray(blocked), bias]


def _position(outer: str, stride: int, inner: str, dilation: int, begin: int) -> str:
    """The row or column of the input that one of the output needs for one of the filter."""
    first = outer if stride == 1 else f"{outer} * {stride}"
    position = f"{first} + {inner}" if dilation == 1 else f"{first} + {inner} * {dilation}"
    return f"{position} + {begin}" if begin else position
