"""How the values of a model lie in memory, as C declares and subscripts them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Literal

from polydl import bfloat16
from polydl.ir.scop import REAL_BYTES

#: the types that values between operators may have, as C names them
ValueType = Literal["float", "bfloat16"]

Loops = tuple[tuple[str, int], ...]
#: of rows, and of columns
Pair = tuple[int, int]

# Of a function's stack, which may have no more than 8 MB.
_MOST_LOCAL_BYTES = 1 << 20

#: Channels that may lie side by side in blocked images, the first of them that divides an image's: of products of
#: matrices with so many rows, microkernels keep most in registers. The last one is the floats of the longest vector.
BLOCKS = (64, 48, 32, 16)


def brackets(*parts: object) -> str:
    """Extents or subscripts of an array, as C writes them."""
    return "".join(f"[{part}]" for part in parts)


def moved(iterator: str, step: int, first: int) -> str:
    """A subscript in C: an iterator in steps, from the first place on."""
    text = iterator if step == 1 else f"{iterator} * {step}"
    return f"{text} + {first}" if first else text


def in_words(pair: Pair) -> str:
    """A number of rows and one of columns, or the one that both are."""
    return str(pair[0]) if pair[0] == pair[1] else f"{pair[0]}x{pair[1]}"


def nest(loops: Loops, body: str, condition: str = "") -> str:
    """A perfect loop nest in C around one statement, which is executed where ``condition`` holds."""
    lines = [f"{'  ' * depth}for (int {name} = 0; {name} < {extent}; ++{name})"
             for depth, (name, extent) in enumerate(loops, 1)]  # fmt: skip
    if condition:
        lines.append(f"{'  ' * (len(loops) + 1)}if ({condition})")
    return "\n".join([*lines, f"{'  ' * (len(loops) + 2)}{body}"])


def element_bytes(value_type: ValueType) -> int:
    """The size of one element."""
    return 2 if value_type == "bfloat16" else REAL_BYTES["float"]


@dataclass(frozen=True)
class Element:
    """An element of an array in C."""

    #: the array with its subscripts, as it is read and written
    place: str
    #: of the array's elements
    value_type: ValueType = "float"

    @property
    def value(self) -> str:
        """An expression of its value as a float."""
        return self.place if self.value_type == "float" else f"{bfloat16.TO_FLOAT}({self.place})"

    def assigned(self, value: str | Element) -> str:
        """A statement that gives it the value of an expression of type ``float``, or that of another element."""
        if isinstance(value, Element):
            if value.value_type == self.value_type:
                return f"{self.place} = {value.place};"
            value = value.value
        rounded = value if self.value_type == "float" else f"{bfloat16.FROM_FLOAT}({value})"
        return f"{self.place} = {rounded};"


@dataclass(frozen=True)
class Scratch:
    """An array of floats that a nest writes before it reads it."""

    #: as the nest's C has it
    name: str
    #: of its dimensions; none of a single number
    extents: tuple[int, ...]

    @property
    def declarator(self) -> str:
        """Its name and extents in C."""
        return self.name + brackets(*(self.extents or (1,)))

    @property
    def bytes(self) -> int:
        """Its size."""
        return prod(self.extents) * REAL_BYTES["float"]


def provided(scratch: Sequence[Scratch]) -> tuple[Scratch, ...]:
    """The arrays that a nest's function takes as its last parameters: all, or none where they fit onto a stack."""
    return tuple(scratch) if sum(each.bytes for each in scratch) > _MOST_LOCAL_BYTES else ()


class _Stored(ABC):
    """What is the same for arrays of every layout."""

    value_type: ValueType

    @property
    @abstractmethod
    def extents(self) -> tuple[int, ...]:
        """Extents as C declares them."""

    @property
    def elements(self) -> int:
        """Elements of the buffer."""
        return prod(self.extents)

    @property
    def bytes(self) -> int:
        """Size of the buffer."""
        return self.elements * element_bytes(self.value_type)

    def at(self, name: str, *subscripts: object) -> Element:
        """The element of an array of that name at subscripts."""
        return Element(name + brackets(*subscripts), self.value_type)


@dataclass(frozen=True)
class RowMajor(_Stored):
    """An array of any rank whose last dimension is contiguous."""

    #: extents, the outermost dimension first
    shape: tuple[int, ...]
    #: of its elements
    value_type: ValueType = "float"

    @property
    def extents(self) -> tuple[int, ...]:
        """Extents as C declares them: a scalar is an array of one element."""
        return self.shape or (1,)

    @property
    def border(self) -> tuple[int, int]:
        """Rows and columns of zeros around it: none."""
        return 0, 0

    def offset(self, border: tuple[int, int]) -> int:
        """The first element's distance from the begin of the buffer. There is no border."""
        assert border == (0, 0)
        return 0

    @property
    def keeps_zeros(self) -> bool:
        """Whether elements of the buffer are zeros that nobody writes: none are."""
        return False

    def loops(self, block: int = 0) -> Loops:
        """Loops over all elements; with a ``block``, the last dimension in blocks of so many."""
        loops = tuple((f"i{number}", extent) for number, extent in enumerate(self.extents))
        return (*loops[:-1], ("t", loops[-1][1] // block), ("j", block)) if block else loops

    def element(self, name: str, block: int = 0) -> Element:
        """The element in the body of ``loops``, in blocks of the last dimension if there is a ``block``."""
        *outer, last = (iterator for iterator, _ in self.loops())
        return self.at(name, *outer, f"t * {block} + j" if block else last)


@dataclass(frozen=True)
class Image(_Stored):
    """Images with channels in blocks, [images][channels / block][rows][columns][block], with zeros around each.

    A block of all channels is the layout that is known as NHWC or channels last, 16 channels nChw16c. The border of
    zeros is part of the buffer: whoever writes the image leaves it as it is, and a convolution reads its padding there.
    """

    #: of one batch
    images: int
    #: of each image
    channels: int
    #: rows, without those of zeros
    height: int
    #: columns, without those of zeros
    width: int
    #: channels that lie side by side
    block: int
    #: rows above and below, columns to the left and to the right
    border: tuple[int, int] = (0, 0)
    #: of its elements
    value_type: ValueType = "float"
    #: channels of zeros behind those of each block, which are part of the buffer like the border
    padding: int = 0

    @property
    def tiles(self) -> int:
        """Blocks of channels of each image."""
        return self.channels // self.block

    @property
    def extents(self) -> tuple[int, ...]:
        """Extents as C declares them, the border included."""
        rows, columns = self.height + 2 * self.border[0], self.width + 2 * self.border[1]
        return self.images, self.tiles, rows, columns, self.block + self.padding

    @property
    def keeps_zeros(self) -> bool:
        """Whether elements of the buffer are zeros that nobody writes."""
        return self.border != (0, 0) or self.padding > 0

    def offset(self, border: tuple[int, int]) -> int:
        """The distance, in elements, of the array that a kernel sees from the begin of the buffer.

        The kernel's first row and column lie as far outside of the image as ``border`` says.
        """
        rows, columns = self.border[0] - border[0], self.border[1] - border[1]
        assert rows >= 0
        assert columns >= 0
        return (rows * self.extents[3] + columns) * self.extents[4]

    def loops(self, block: int = 0) -> Loops:
        """Loops over all elements inside of the border, with channels in blocks of ``block`` or of the image's own."""
        block = block or self.block
        return ("n", self.images), ("t", self.channels // block), ("y", self.height), ("x", self.width), ("k", block)

    def element(
        self, name: str, channels: int = 0, first: int = 0, pixel: tuple[object, object] = ("y", "x")
    ) -> Element:
        """The element in the body of ``loops`` over blocks of ``channels``, after the first channels.

        ``channels`` is a divisor of the block, which is then that of all channels, or the block itself.
        """
        if not channels or channels == self.block:
            tile = "t" if not first else f"t + {first // self.block}"
            return self.at(name, "n", tile, *pixel, "k")
        channel = f"t * {channels} + k" + (f" + {first}" if first else "")
        return self.at(name, "n", 0, *pixel, channel)


Layout = RowMajor | Image


def declared(name: str, layout: Layout) -> str:
    """The parameter of a kernel's C function."""
    return f"{layout.value_type} {name}{brackets(*layout.extents)}"


def declared_in_pairs(name: str, layout: Layout) -> str:
    """The same with the elements of its last dimension, an even number, in pairs."""
    *outer, last = layout.extents
    return constant(name, *outer, last // 2, 2, value_type=layout.value_type)


def constant(name: str, *extents: int, value_type: ValueType = "float") -> str:
    """The parameter of a kernel's C function that holds constants."""
    return f"{value_type} {name}{brackets(*extents)}"


def common_block(layouts: list[Image]) -> int:
    """The blocks of channels in which loops over several images of the same channels run."""
    return min(layout.block for layout in layouts)
