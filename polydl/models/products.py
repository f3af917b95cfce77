"""Matrix products of row-major arrays, softmax and layer normalization over their last dimension."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from polydl.models.epilogue import Step, number
from polydl.models.graph import Array, PlainKind
from polydl.models.kernel_text import element_wise, function_text, operand_parameters
from polydl.models.layout import Layout, RowMajor, Scratch, declared, nest


class RowMajorKind(PlainKind):
    """What is the same for all operators on row-major arrays."""

    def block(self, inputs: Sequence[Layout], channels: int, usual: int) -> int:
        raise AssertionError(f"no image comes from {len(inputs)} inputs of {channels} channels in blocks of {usual}")


def _rows(layout: Layout) -> tuple[RowMajor, tuple[str, ...]]:
    """A row-major layout, and the iterators of all its dimensions but the last."""
    assert isinstance(layout, RowMajor)
    return layout, tuple(name for name, _ in layout.loops()[:-1])


def _outer(layout: Layout) -> tuple[int, ...]:
    """The extents of all dimensions of a row-major array but the last."""
    assert isinstance(layout, RowMajor)
    return layout.extents[:-1]


@dataclass(frozen=True)
class LinearOperator(RowMajorKind):
    """Constants are the weight, [outputs][inputs], and the bias, [outputs]."""

    #: features of a row that comes in
    inputs: int
    #: features of a row of the result
    outputs: int

    @property
    def constants(self) -> tuple[str, ...]:
        return ("weight", "bias")

    @property
    def label(self) -> str:
        return f"linear, {self.inputs} to {self.outputs}"

    def text(self, function: str, output: Layout, inputs: Sequence[Layout], steps: Sequence[Step]) -> str:
        rows, iterators = _rows(output)
        row = "".join(f"[{name}]" for name in iterators)
        column = rows.loops()[-1][0]
        nests = [
            nest(rows.loops(), f"output{row}[{column}] = bias[{column}];"),
            nest(
                (*rows.loops()[:-1], ("k", self.inputs), rows.loops()[-1]),
                f"output{row}[{column}] += input{row}[k] * weight[k][{column}];",
            ),
            element_wise(output, "", steps, inputs[1:]),
        ]
        parameters = [
            declared("input", inputs[0]),
            *operand_parameters(steps, inputs[1:]),
            f"weight[{self.inputs}][{self.outputs}]",
            f"bias[{self.outputs}]",
        ]
        return function_text(function, output, parameters, [each for each in nests if each])

    def laid(self, constants: Sequence[Array], output: Layout, inputs: Sequence[Layout]) -> list[Array]:
        del output, inputs
        weight, bias = constants
        return [np.ascontiguousarray(weight.T), bias]


@dataclass(frozen=True)
class Softmax(RowMajorKind):
    """Over the last dimension."""

    #: whether the result is its logarithm
    logarithm: bool = False

    @property
    def label(self) -> str:
        return "logarithm of softmax" if self.logarithm else "softmax"

    def text(self, function: str, output: Layout, inputs: Sequence[Layout], steps: Sequence[Step]) -> str:
        rows, iterators = _rows(output)
        row = "".join(f"[{name}]" for name in iterators)
        outer, last = rows.loops()[:-1], rows.loops()[-1]
        at = row or "[0]"
        element, most = f"input{row}[{last[0]}]", f"most{at}"
        target = f"output{row}[{last[0]}]"
        if self.logarithm:
            result, term = f"{target} - logf(sum{at})", f"expf({target})"
        else:
            result, term = f"{target} / sum{at}", target
        difference = f"{element} - {most}"
        nests = [
            nest(outer, f"{most} = input{row}[0];"),
            nest((*outer, last), f"{most} = {most} > {element} ? {most} : {element};"),
            nest((*outer, last), f"{target} = {difference if self.logarithm else f'expf({difference})'};"),
            nest(outer, f"sum{at} = 0.0f;"),
            nest((*outer, last), f"sum{at} += {term};"),
            element_wise(output, result, steps, inputs[1:]),
        ]
        parameters = [declared("input", inputs[0]), *operand_parameters(steps, inputs[1:])]
        return function_text(function, output, parameters, nests, self.scratch(output, inputs))

    def scratch(self, output: Layout, inputs: Sequence[Layout]) -> tuple[Scratch, ...]:
        del inputs
        return Scratch("most", _outer(output)), Scratch("sum", _outer(output))


@dataclass(frozen=True)
class LayerNorm(RowMajorKind):
    """Over the last dimension. Constants are weight and bias, one element for each of its elements."""

    #: of the last dimension
    elements: int
    #: that is added to the variance
    epsilon: float

    @property
    def constants(self) -> tuple[str, ...]:
        return ("weight", "bias")

    @property
    def label(self) -> str:
        return f"layer normalization of {self.elements}"

    def text(self, function: str, output: Layout, inputs: Sequence[Layout], steps: Sequence[Step]) -> str:
        rows, iterators = _rows(output)
        row = "".join(f"[{name}]" for name in iterators)
        outer, last = rows.loops()[:-1], rows.loops()[-1]
        at = row or "[0]"
        element, share = f"input{row}[{last[0]}]", number(1.0 / self.elements)
        difference = f"({element} - mean{at})"
        normal = f"{difference} * deviation{at} * weight[{last[0]}] + bias[{last[0]}]"
        nests = [
            nest(outer, f"mean{at} = 0.0f;"),
            nest((*outer, last), f"mean{at} += {element} * {share};"),
            nest(outer, f"deviation{at} = 0.0f;"),
            nest((*outer, last), f"deviation{at} += {difference} * {difference};"),
            nest(outer, f"deviation{at} = 1.0f / sqrtf(deviation{at} * {share} + {number(self.epsilon)});"),
            element_wise(output, normal, steps, inputs[1:]),
        ]
        parameters = [
            declared("input", inputs[0]),
            *operand_parameters(steps, inputs[1:]),
            f"weight[{self.elements}]",
            f"bias[{self.elements}]",
        ]
        return function_text(function, output, parameters, nests, self.scratch(output, inputs))

    def scratch(self, output: Layout, inputs: Sequence[Layout]) -> tuple[Scratch, ...]:
        del inputs
        return Scratch("mean", _outer(output)), Scratch("deviation", _outer(output))
