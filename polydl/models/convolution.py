"""Convolutions on blocked images: strided, dilated, grouped and depthwise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from polydl.models.accumulation import (
    accumulated,
    accumulated_in_array,
    in_a_number,
    name_of_sums,
    scratch_of_sums,
    started,
    sums_of,
)
from polydl.models.epilogue import Step
from polydl.models.graph import Array, stored_as
from polydl.models.kernel_text import function_text, operand_parameters
from polydl.models.layout import (
    BLOCKS,
    Image,
    Layout,
    Loops,
    Pair,
    Scratch,
    constant,
    declared,
    declared_in_pairs,
    in_words,
)


@dataclass(frozen=True)
class Convolution:
    """Constants are the filters, [filters][channels / groups][rows][columns], and the bias, [filters].

    Filters have the type of the image. Those of bfloat16s lie in pairs of channels, and the image is read in pairs, as
    processors multiply them.
    """

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
            declared_in_pairs("input", image) if self._pairs(image) else declared("input", image),
            *operand_parameters(steps, operands),
            constant("filter", *self._filter_extents(image, output), value_type=image.value_type),
            constant("bias", output.tiles, output.block),
        ]
        nests = self._nests(image, output, steps, operands)
        return function_text(function, output, parameters, nests, self.scratch(output, inputs))

    def scratch(self, output: Layout, inputs: Sequence[Layout]) -> tuple[Scratch, ...]:
        alone = (self.groups == 1 or self.depthwise) and in_a_number(output, inputs[1:])
        return () if alone else scratch_of_sums(output)

    def _pairs(self, image: Image) -> bool:
        """Whether channels are multiplied in pairs."""
        return image.value_type == "bfloat16" and not self.depthwise and self._of_group(image)[1] % 2 == 0

    def _filter_extents(self, image: Image, output: Image) -> tuple[int, ...]:
        if self.depthwise:
            return image.tiles, *self.kernel, image.block
        blocks, channels = self._of_group(image)
        if self._pairs(image):
            return output.tiles, blocks, *self.kernel, channels // 2, output.block, 2
        return output.tiles, blocks, *self.kernel, channels, output.block

    def _of_group(self, image: Image) -> Pair:
        """How many blocks of the image a group of filters reads, and how many channels of each, with those of zeros."""
        whole = image.tiles % self.groups == 0
        return (image.tiles // self.groups, image.extents[4]) if whole else (1, self.channels // self.groups)

    def _nests(self, image: Image, output: Image, steps: Sequence[Step], operands: Sequence[Layout]) -> list[str]:
        row = _position("y", self.stride[0], "r", self.dilation[0], self.first[0])
        column = _position("x", self.stride[1], "s", self.dilation[1], self.first[1])
        taps: Loops = (("r", self.kernel[0]), ("s", self.kernel[1]))
        start, finish = started(output, operands, "bias[t][k]")
        images, rows, columns = ("n", output.images), ("y", output.height), ("x", output.width)
        if self.depthwise:
            loops: Loops = (images, ("t", output.tiles), rows, columns, *taps, ("k", output.block))
            product = _product(image, ("n", "t", row, column, "k"), ("t", "r", "s", "k"))
            return accumulated(
                output, steps, operands, loops, start, lambda target: f"{target} += {product};", finish=finish
            )
        blocks, channels = self._of_group(image)
        within = ["q"] if self._pairs(image) else []
        terms = channels // 2 if within else channels
        sums: Loops = (("u", blocks), rows, *taps, columns, ("c", terms), ("k", output.block))
        sums += tuple((name, 2) for name in within)
        if self.groups == 1:
            loops = (images, ("t", output.tiles), *sums)
            product = _product(image, ("n", "u", row, column, "c", *within), ("t", "u", "r", "s", "c", "k", *within))
            return accumulated(
                output, steps, operands, loops, start, lambda target: f"{target} += {product};", finish=finish
            )
        tiles = output.tiles // self.groups
        tile = f"g * {tiles} + t"
        # Several groups share the only block of an image whose channels are no multiple of others.
        block, channel = (f"g * {blocks} + u", "c") if image.tiles > 1 else ("u", f"g * {terms} + c")
        product = _product(image, ("n", block, row, column, channel, *within), (tile, "u", "r", "s", "c", "k", *within))
        target = sums_of(output).at(name_of_sums(output), "n", tile, "y", "x", "k").place
        loops = (images, ("g", self.groups), ("t", tiles), *sums)
        return accumulated_in_array(output, steps, operands, [(loops, f"{target} += {product};")], "bias[t][k]")

    def laid(self, constants: Sequence[Array], output: Layout, inputs: Sequence[Layout]) -> list[Array]:
        filters, bias = constants
        image = inputs[0]
        assert isinstance(image, Image)
        assert isinstance(output, Image)
        rows, columns = self.kernel
        if not self.depthwise:
            filters = np.pad(filters, ((0, 0), (0, image.padding), (0, 0), (0, 0)))
        if self.depthwise:
            blocked = filters.reshape(image.tiles, image.block, rows, columns).transpose(0, 2, 3, 1)
        elif self._pairs(image):
            blocks, channels = self._of_group(image)
            blocked = filters.reshape(output.tiles, output.block, blocks, channels // 2, 2, rows, columns)
            blocked = blocked.transpose(0, 2, 5, 6, 3, 1, 4)
        else:
            blocked = filters.reshape(output.tiles, output.block, *self._of_group(image), rows, columns)
            blocked = blocked.transpose(0, 2, 4, 5, 3, 1)
        return [stored_as(blocked, image.value_type), bias]


def _product(image: Image, pixel: Sequence[str], tap: Sequence[str]) -> str:
    """A pixel of the image times one of a filter's taps, whose type is the image's."""
    return f"{image.at('input', *pixel).value} * {image.at('filter', *tap).value}"


def _position(outer: str, stride: int, inner: str, dilation: int, begin: int) -> str:
    """The row or column of the input that one of the output needs for one of the filter."""
    first = outer if stride == 1 else f"{outer} * {stride}"
    position = f"{first} + {inner}" if dilation == 1 else f"{first} + {inner} * {dilation}"
    return f"{position} + {begin}" if begin else position
