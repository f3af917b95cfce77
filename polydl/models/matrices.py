"""Products of two computed matrices, as in attention, and transpositions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from polydl.models.accumulation import finished, name_of_sums, scratch_of_sums, sums_of
from polydl.models.epilogue import Step
from polydl.models.kernel_text import element_wise, function_text, operand_parameters
from polydl.models.layout import Element, Layout, Pair, Scratch, declared, nest
from polydl.models.products import RowMajorKind

#: which dimension of a value lies at each place of an array that holds it; the last place is contiguous
Order = tuple[int, ...]


@dataclass(frozen=True)
class Transposition(RowMajorKind):
    """The elements of an array with its dimensions in the order of a value."""

    order: Order

    @property
    def label(self) -> str:
        return "transposition"

    def text(self, function: str, output: Layout, inputs: Sequence[Layout], steps: Sequence[Step]) -> str:
        iterators = [f"i{dimension}" for dimension in range(len(self.order))]
        source = inputs[0].at("input", *(iterators[dimension] for dimension in self.order))
        parameters = [declared("input", inputs[0]), *operand_parameters(steps, inputs[1:])]
        return function_text(function, output, parameters, [element_wise(output, source, steps, inputs[1:])])


@dataclass(frozen=True)
class MatrixProduct(RowMajorKind):
    """A product for each index of the outer dimensions, which are the same in both operands and in the result.

    The orders are those of [outer …][rows][inner], [outer …][inner][columns] and [outer …][rows][columns].
    """

    #: terms of each sum
    inner: int
    first: Order
    second: Order
    result: Order

    @property
    def borders(self) -> tuple[Pair, ...]:
        return ((0, 0), (0, 0))

    @property
    def label(self) -> str:
        return f"product of matrices over {self.inner}"

    def text(self, function: str, output: Layout, inputs: Sequence[Layout], steps: Sequence[Step]) -> str:
        outer = [f"i{dimension}" for dimension in range(len(self.result) - 2)]
        extents = dict(zip(self.result, output.extents, strict=True))
        loops = tuple((name, extents[dimension]) for dimension, name in enumerate([*outer, "row", "column"]))

        def element(layout: Layout, name: str, order: Order, matrix: tuple[str, str]) -> Element:
            iterators = [*outer, *matrix]
            return layout.at(name, *(iterators[dimension] for dimension in order))

        target = element(sums_of(output), name_of_sums(output), self.result, ("row", "column"))
        first = element(inputs[0], "first", self.first, ("row", "k"))
        second = element(inputs[1], "second", self.second, ("k", "column"))
        nests = [
            nest(loops, target.assigned("0.0f")),
            nest((*loops[:-1], ("k", self.inner), loops[-1]), f"{target.place} += {first.value} * {second.value};"),
            *finished(output, steps, inputs[2:]),
        ]
        parameters = [
            declared("first", inputs[0]),
            declared("second", inputs[1]),
            *operand_parameters(steps, inputs[2:]),
        ]
        return function_text(function, output, parameters, nests, self.scratch(output, inputs))

    def scratch(self, output: Layout, inputs: Sequence[Layout]) -> tuple[Scratch, ...]:
        del inputs
        return scratch_of_sums(output)
