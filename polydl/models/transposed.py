"""Transposed convolutions, as a sum for each element of the output.

Rows of the output that are a stride apart read the same rows of the filter. So each remainder of a row, and of a
column, by the stride is a convolution of its own, with those taps alone that meet pixels of the input.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from polydl.models.accumulation import accumulated_in_array, name_of_sums, scratch_of_sums, sums_of
from polydl.models.epilogue import Step
from polydl.models.graph import Array, stored_as
from polydl.models.kernel_text import function_text, operand_parameters
from polydl.models.layout import Image, Layout, Loops, Pair, Scratch, constant, declared, declared_in_pairs, moved


@dataclass(frozen=True)
class TransposedConvolution:
    """Constants are the filters, [channels][filters][rows][columns], and the bias, [filters]."""

    #: of the image
    channels: int
    #: channels of the result
    filters: int
    #: rows and columns of a filter
    kernel: Pair
    #: of the windows in the result, in rows and columns
    stride: Pair
    #: rows and columns that are cut off before the result
    before: Pair
    #: those that are cut off behind it; negative where some are added
    behind: Pair

    @property
    def label(self) -> str:
        size = f"{self.kernel[0]}x{self.kernel[1]}"
        return f"transposed convolution {size}, {self.channels} to {self.filters} channels, stride {self.stride[0]}"

    @property
    def borders(self) -> tuple[Pair, ...]:
        rows, columns = (
            max(0, *((self.kernel[axis] - 1 - cut[axis]) // self.stride[axis] for cut in (self.before, self.behind)))
            for axis in range(2)
        )
        return ((rows, columns),)

    @property
    def _phases(self) -> tuple[Pair, ...]:
        """Remainders of a row and a column of the output by the stride, of those that have taps."""
        every = product(range(self.stride[0]), range(self.stride[1]))
        return tuple(phase for phase in every if self._taps(0, phase[0]) and self._taps(1, phase[1]))

    def _taps(self, axis: int, remainder: int) -> tuple[int, ...]:
        """Rows, or columns, of the filter in the order of the input's that they meet."""
        first = remainder + self.before[axis]
        return tuple(tap for tap in reversed(range(self.kernel[axis])) if (first - tap) % self.stride[axis] == 0)

    @property
    def constants(self) -> tuple[str, ...]:
        return (*(f"filter{row}_{column}" for row, column in self._phases), "bias")

    def block(self, inputs: Sequence[Layout], channels: int, usual: int) -> int:
        del inputs, channels
        return usual

    def text(self, function: str, output: Layout, inputs: Sequence[Layout], steps: Sequence[Step]) -> str:
        image, operands = inputs[0], inputs[1:]
        assert isinstance(image, Image)
        assert isinstance(output, Image)
        filters = [
            constant(name, *self._filter_extents(image, output, phase), value_type=image.value_type)
            for name, phase in zip(self.constants, self._phases, strict=False)
        ]
        parameters = [
            declared_in_pairs("input", image) if _in_pairs(image) else declared("input", image),
            *operand_parameters(steps, operands),
            *filters,
            constant("bias", output.tiles, output.block),
        ]
        updates = [self._update(image, output, phase) for phase in self._phases]
        nests = accumulated_in_array(output, steps, operands, updates, "bias[t][k]")
        return function_text(function, output, parameters, nests, self.scratch(output, inputs))

    def scratch(self, output: Layout, inputs: Sequence[Layout]) -> tuple[Scratch, ...]:
        del inputs
        return scratch_of_sums(output)

    def _filter_extents(self, image: Image, output: Image, phase: Pair) -> tuple[int, ...]:
        taps = map(len, self._both(phase))
        if _in_pairs(image):
            return output.tiles, image.tiles, *taps, image.block // 2, output.block, 2
        return output.tiles, image.tiles, *taps, image.block, output.block

    def _both(self, phase: Pair) -> tuple[tuple[int, ...], tuple[int, ...]]:
        return self._taps(0, phase[0]), self._taps(1, phase[1])

    def _update(self, image: Image, output: Image, phase: Pair) -> tuple[Loops, str]:
        """The loops of a phase, and the statement in them."""
        pair = _in_pairs(image)
        within = ["q"] if pair else []
        rows, columns = self._both(phase)
        extents = (output.height, output.width)
        count = tuple(-(-(extents[axis] - phase[axis]) // self.stride[axis]) for axis in range(2))
        loops: Loops = (
            ("n", output.images), ("t", output.tiles), ("u", image.tiles), ("y", count[0]), ("r", len(rows)),
            ("s", len(columns)), ("x", count[1]), ("c", image.block // (1 + pair)), ("k", output.block),
            *((name, 2) for name in within),
        )  # fmt: skip
        read = (self._position("y", "r", 0, phase, rows), self._position("x", "s", 1, phase, columns))
        written = tuple(moved(name, self.stride[axis], phase[axis]) for axis, name in enumerate("yx"))
        target = sums_of(output).at(name_of_sums(output), "n", "t", *written, "k").place
        tap = image.at(f"filter{phase[0]}_{phase[1]}", "t", "u", "r", "s", "c", "k", *within)
        term = f"{image.at('input', 'n', 'u', *read, 'c', *within).value} * {tap.value}"
        return loops, f"{target} += {term};"

    def _position(self, outer: str, inner: str, axis: int, phase: Pair, taps: Sequence[int]) -> str:
        """The row or column of the padded input that a tap meets."""
        first = (phase[axis] + self.before[axis] - taps[0]) // self.stride[axis] + self.borders[0][axis]
        return f"{outer} + {inner}" + (f" + {first}" if first else "")

    def laid(self, constants: Sequence[Array], output: Layout, inputs: Sequence[Layout]) -> list[Array]:
        filters, bias = constants
        image = inputs[0]
        assert isinstance(image, Image)
        assert isinstance(output, Image)
        arrays = []
        for phase in self._phases:
            rows, columns = self._both(phase)
            taps = filters[:, :, rows][:, :, :, columns]
            pair = 2 if _in_pairs(image) else 1
            blocked = taps.reshape(
                image.tiles, image.block // pair, pair, output.tiles, output.block, len(rows), len(columns)
            ).transpose(3, 0, 5, 6, 1, 4, 2)
            arrays.append(stored_as(blocked, image.value_type))
        return [*arrays, bias]


def _in_pairs(image: Image) -> bool:
    """Whether channels are multiplied in pairs."""
    return image.value_type == "bfloat16" and image.block % 2 == 0
