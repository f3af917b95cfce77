"""Operators that compute each element by itself, and those that only move elements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from polydl.models.epilogue import Step, number
from polydl.models.graph import PlainKind
from polydl.models.kernel_text import broadcast, channels_together, element_wise, function_text, operand_parameters
from polydl.models.layout import Image, Layout, Pair, RowMajor, declared, nest
from polydl.models.products import RowMajorKind


@dataclass(frozen=True)
class ElementWise(PlainKind):
    """The steps, applied to each element of the first input."""

    #: what it is called where it has no steps that say it
    label: str = "element-wise"

    def block(self, inputs: Sequence[Layout], channels: int, usual: int) -> int:
        del channels, usual
        blocks = [each.block for each in inputs if isinstance(each, Image)]
        return min(blocks)

    def text(self, function: str, output: Layout, inputs: Sequence[Layout], steps: Sequence[Step]) -> str:
        first, operands = inputs[0], inputs[1:]
        block = channels_together(output, inputs)
        parameters = [declared("input", first), *operand_parameters(steps, operands)]
        body = element_wise(output, first.element("input", block), steps, operands)
        return function_text(function, output, parameters, [body])


@dataclass(frozen=True)
class WithConstant(RowMajorKind):
    """A sum or product with a constant of this shape, which is broadcast to that of the row-major input as by NumPy."""

    operation: Literal["+", "*"]
    #: extents of the constant
    shape: tuple[int, ...]

    @property
    def label(self) -> str:
        return "constant added" if self.operation == "+" else "constant multiplied"

    @property
    def constants(self) -> tuple[str, ...]:
        return ("constant",)

    def text(self, function: str, output: Layout, inputs: Sequence[Layout], steps: Sequence[Step]) -> str:
        first, operands, constant = inputs[0], inputs[1:], RowMajor(self.shape)
        source = f"({first.element('input').value} {self.operation} {broadcast('constant', constant, output).value})"
        parameters = [
            declared("input", first),
            *operand_parameters(steps, operands),
            declared("constant", constant),
        ]
        return function_text(function, output, parameters, [element_wise(output, source, steps, operands)])


@dataclass(frozen=True)
class ParametricRelu(PlainKind):
    """Elements less than 0 times the constant ``slope``: of this shape, as NumPy broadcasts it, or for each channel."""

    #: extents of ``slope``
    shape: tuple[int, ...]

    @property
    def label(self) -> str:
        return "parametric relu"

    @property
    def constants(self) -> tuple[str, ...]:
        return ("slope",)

    def text(self, function: str, output: Layout, inputs: Sequence[Layout], steps: Sequence[Step]) -> str:
        first, operands = inputs[0], inputs[1:]
        block = channels_together(output, inputs)
        if isinstance(output, Image):
            declaration, slope = f"float slope[{output.channels}]", f"slope[t * {block} + k]"
        else:
            constant = RowMajor(self.shape)
            declaration, slope = declared("slope", constant), broadcast("slope", constant, output).value
        element = first.element("input", block).value
        source = f"({element} < 0.0f ? {element} * {slope} : {element})"
        parameters = [declared("input", first), *operand_parameters(steps, operands), declaration]
        return function_text(function, output, parameters, [element_wise(output, source, steps, operands)])


@dataclass(frozen=True)
class Masked(RowMajorKind):
    """A value where a constant of this shape, which is broadcast as by NumPy, is not 0; else the element."""

    #: the element where the constant is not 0
    value: float
    #: extents of the constant
    shape: tuple[int, ...]

    @property
    def label(self) -> str:
        return "masked"

    @property
    def constants(self) -> tuple[str, ...]:
        return ("mask",)

    def text(self, function: str, output: Layout, inputs: Sequence[Layout], steps: Sequence[Step]) -> str:
        first, operands, mask = inputs[0], inputs[1:], RowMajor(self.shape)
        condition = f"{broadcast('mask', mask, output).value} > 0.0f"
        source = f"({condition} ? {number(self.value)} : {first.element('input').value})"
        parameters = [declared("input", first), *operand_parameters(steps, operands), declared("mask", mask)]
        return function_text(function, output, parameters, [element_wise(output, source, steps, operands)])


@dataclass(frozen=True)
class Reorder(PlainKind):
    """Images as PyTorch has them, [images][channels][rows][columns], into blocks of channels, or back."""

    @property
    def label(self) -> str:
        return "change of layout"

    def block(self, inputs: Sequence[Layout], channels: int, usual: int) -> int:
        del inputs, channels
        return usual

    def text(self, function: str, output: Layout, inputs: Sequence[Layout], steps: Sequence[Step]) -> str:
        assert not steps
        blocked, plain = (output, inputs[0]) if isinstance(output, Image) else (inputs[0], output)
        assert isinstance(blocked, Image)
        assert isinstance(plain, RowMajor)
        place = ("n", f"t * {blocked.block} + k", "y", "x")
        if isinstance(output, Image):
            body = output.element("output").assigned(plain.at("input", *place))
        else:
            body = plain.at("output", *place).assigned(blocked.element("input"))
        return function_text(function, output, [declared("input", inputs[0])], [nest(blocked.loops(), body)])


@dataclass(frozen=True)
class Concatenate(PlainKind):
    """Images with the same size, one's channels after the other's."""

    #: of each image
    channels: tuple[int, ...]

    @property
    def label(self) -> str:
        return f"concatenation of {' + '.join(map(str, self.channels))} channels"

    @property
    def borders(self) -> tuple[Pair, ...]:
        return ((0, 0),) * len(self.channels)

    def block(self, inputs: Sequence[Layout], channels: int, usual: int) -> int:
        blocks = {each.block for each in inputs if isinstance(each, Image)}
        whole = all(count % usual == 0 for count in self.channels)
        return usual if whole and blocks == {usual} else channels

    def text(self, function: str, output: Layout, inputs: Sequence[Layout], steps: Sequence[Step]) -> str:
        assert not steps
        assert isinstance(output, Image)
        nests, first = [], 0
        for position, image in enumerate(inputs):
            assert isinstance(image, Image)
            block = min(image.block, output.block)
            target = output.element("output", block, first)
            nests.append(nest(image.loops(block), target.assigned(image.element(f"input{position}", block))))
            first += image.channels
        parameters = [declared(f"input{position}", image) for position, image in enumerate(inputs)]
        return function_text(function, output, parameters, nests)


@dataclass(frozen=True)
class Select(PlainKind):
    """Some of an image's channels, one after the other."""

    #: number of the first of them
    first: int
    #: how many there are
    channels: int

    @property
    def label(self) -> str:
        return f"channels {self.first} to {self.first + self.channels - 1}"

    def block(self, inputs: Sequence[Layout], channels: int, usual: int) -> int:
        image = inputs[0]
        assert isinstance(image, Image)
        return usual if image.block == usual and self.first % usual == 0 else channels

    def text(self, function: str, output: Layout, inputs: Sequence[Layout], steps: Sequence[Step]) -> str:
        assert not steps
        image = inputs[0]
        assert isinstance(image, Image)
        assert isinstance(output, Image)
        if image.block == output.block and self.first % image.block == 0:
            element = image.element("input", first=self.first)
            nests = [nest(output.loops(), output.element("output").assigned(element))]
        else:
            nests = [self._part(image, output, tile) for tile in range(image.tiles)]
        return function_text(function, output, [declared("input", image)], [each for each in nests if each])

    def _part(self, image: Image, output: Image, tile: int) -> str:
        """The nest that copies what is wanted of one block of the image's channels, to the output's only block."""
        begin, end = max(self.first, tile * image.block), min(self.first + self.channels, (tile + 1) * image.block)
        if begin >= end:
            return ""
        target = output.at("output", "n", 0, "y", "x", f"{begin - self.first} + k")
        source = image.at("input", "n", tile, "y", "x", f"{begin - tile * image.block} + k")
        loops = ("n", output.images), ("y", output.height), ("x", output.width), ("k", end - begin)
        return nest(loops, target.assigned(source))


@dataclass(frozen=True)
class Enlarge(PlainKind):
    """Each pixel of an image as a rectangle of equal ones: the nearest neighbour's value."""

    #: rows and columns of the rectangle
    factors: Pair

    @property
    def label(self) -> str:
        return f"nearest neighbours, {self.factors[0]}x{self.factors[1]}"

    def text(self, function: str, output: Layout, inputs: Sequence[Layout], steps: Sequence[Step]) -> str:
        assert not steps
        image = inputs[0]
        assert isinstance(image, Image)
        assert isinstance(output, Image)
        rows, columns = self.factors
        *outer, channels = image.loops()
        loops = (*outer, ("r", rows), ("s", columns), channels)
        target = output.element("output", pixel=(f"y * {rows} + r", f"x * {columns} + s"))
        body = nest(loops, target.assigned(image.element("input")))
        return function_text(function, output, [declared("input", image)], [body])
