"""Operators that only move elements of row-major arrays: parts, arrays joined, frames, repetitions, constants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from polydl.models.epilogue import Step, number
from polydl.models.kernel_text import broadcast, element_wise, function_text, operand_parameters
from polydl.models.layout import Layout, Pair, RowMajor, declared, moved, nest
from polydl.models.products import RowMajorKind


@dataclass(frozen=True)
class StridedPart(RowMajorKind):
    """Some elements of an array: in each dimension, those from one on, in steps."""

    #: index of the first element, in each dimension
    first: tuple[int, ...]
    #: from one element to the next, in each dimension
    steps: tuple[int, ...]

    @property
    def label(self) -> str:
        return "part of an array"

    def text(self, function: str, output: Layout, inputs: Sequence[Layout], steps: Sequence[Step]) -> str:
        loops, operands = output.loops(), inputs[1:]
        places = [
            moved(iterator, step, begin)
            for (iterator, _), step, begin in zip(loops, self.steps, self.first, strict=True)
        ]
        parameters = [declared("input", inputs[0]), *operand_parameters(steps, operands)]
        body = element_wise(output, inputs[0].at("input", *places), steps, operands)
        return function_text(function, output, parameters, [body])


@dataclass(frozen=True)
class Join(RowMajorKind):
    """Arrays with these extents of one dimension, and the same of all others, one behind the other."""

    #: the dimension along which they are joined, from 0
    axis: int
    #: of each array along it
    extents: tuple[int, ...]

    @property
    def label(self) -> str:
        return f"{len(self.extents)} arrays joined"

    @property
    def borders(self) -> tuple[Pair, ...]:
        return ((0, 0),) * len(self.extents)

    def text(self, function: str, output: Layout, inputs: Sequence[Layout], steps: Sequence[Step]) -> str:
        assert not steps
        nests, first = [], 0
        for position, array in enumerate(inputs):
            loops = array.loops()
            places = [moved(name, 1, first if axis == self.axis else 0) for axis, (name, _) in enumerate(loops)]
            target, element = output.at("output", *places), array.element(f"input{position}")
            nests.append(nest(loops, target.assigned(element)))
            first += self.extents[position]
        parameters = [declared(f"input{position}", array) for position, array in enumerate(inputs)]
        return function_text(function, output, parameters, nests)


@dataclass(frozen=True)
class Extend(RowMajorKind):
    """An array with so many more elements before it, and behind it, in each dimension, all of one value."""

    #: added elements in each dimension
    before: tuple[int, ...]
    #: the same behind the last one
    behind: tuple[int, ...]
    #: of all added elements
    value: float

    @property
    def label(self) -> str:
        return "padding"

    def text(self, function: str, output: Layout, inputs: Sequence[Layout], steps: Sequence[Step]) -> str:
        assert not steps
        loops = inputs[0].loops()
        places = [moved(name, 1, begin) for (name, _), begin in zip(loops, self.before, strict=True)]
        nests = [
            nest(output.loops(), output.element("output").assigned(number(self.value))),
            nest(loops, output.at("output", *places).assigned(inputs[0].element("input"))),
        ]
        return function_text(function, output, [declared("input", inputs[0])], nests)


@dataclass(frozen=True)
class Repeat(RowMajorKind):
    """An array in a larger shape, as NumPy broadcasts it."""

    @property
    def label(self) -> str:
        return "repetition"

    def text(self, function: str, output: Layout, inputs: Sequence[Layout], steps: Sequence[Step]) -> str:
        array, operands = inputs[0], inputs[1:]
        assert isinstance(array, RowMajor)
        parameters = [declared("input", array), *operand_parameters(steps, operands)]
        body = element_wise(output, broadcast("input", array, output), steps, operands)
        return function_text(function, output, parameters, [body])


@dataclass(frozen=True)
class Given(RowMajorKind):
    """A constant array, where an operator takes none but computed ones."""

    @property
    def label(self) -> str:
        return "constant"

    @property
    def borders(self) -> tuple[Pair, ...]:
        return ()

    @property
    def constants(self) -> tuple[str, ...]:
        return ("constant",)

    def text(self, function: str, output: Layout, inputs: Sequence[Layout], steps: Sequence[Step]) -> str:
        assert isinstance(output, RowMajor)
        array = replace(output, value_type="float")
        parameters = [*operand_parameters(steps, inputs), declared("constant", array)]
        return function_text(
            function, output, parameters, [element_wise(output, array.element("constant"), steps, inputs)]
        )
