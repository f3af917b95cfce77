"""Matrix products of row-major arrays, softmax and layer normalization over their last dimension."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from polydl.models.accumulation import accumulated, name_of_sums, scratch_of_sums, started, sums_of
from polydl.models.epilogue import Step, number
from polydl.models.graph import Array, PlainKind, stored_as
from polydl.models.kernel_text import element_wise, function_text, operand_parameters
from polydl.models.layout import BLOCKS, Layout, RowMajor, Scratch, constant, declared, declared_in_pairs, nest


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
        rows, operands = inputs[0], inputs[1:]
        _, iterators = _rows(output)
        weight = constant("weight", *self._weight_extents(rows), value_type=rows.value_type)
        block = self._block(rows)
        *outer, column = output.loops(block) if block else output.loops()
        if not block:
            loops = (*outer, ("k", self.inputs), column)
            product = f"{rows.at('input', *iterators, 'k').value} * weight[k][{column[0]}]"
            place, features = column[0], declared("input", rows)
        elif self.inputs % 2:
            loops = (*outer, ("k", self.inputs), column)
            factors = rows.at("input", *iterators, "k").value, rows.at("weight", "t", "k", "j").value
            product, place, features = " * ".join(factors), f"t * {block} + j", declared("input", rows)
        else:
            loops = (*outer, ("k", self.inputs // 2), column, ("q", 2))
            factors = rows.at("input", *iterators, "k", "q").value, rows.at("weight", "t", "k", "j", "q").value
            product, place = " * ".join(factors), f"t * {block} + j"
            features = declared_in_pairs("input", rows)
        start, finish = started(output, operands, f"bias[{place}]")
        nests = accumulated(
            output, steps, operands, loops, start, lambda target: f"{target} += {product};", finish=finish, block=block
        )
        bias = constant("bias", self.outputs)
        parameters = [features, *operand_parameters(steps, operands), weight, bias]
        return function_text(function, output, parameters, nests)

    def _block(self, rows: Layout) -> int:
        """Columns of the weight that lie side by side, where it is not row-major."""
        if rows.value_type == "float":
            return 0
        return next((block for block in BLOCKS if self.outputs % block == 0), self.outputs)

    def _weight_extents(self, rows: Layout) -> tuple[int, ...]:
        block = self._block(rows)
        if not block:
            return self.inputs, self.outputs
        if self.inputs % 2:
            return self.outputs // block, self.inputs, block
        return self.outputs // block, self.inputs // 2, block, 2

    def laid(self, constants: Sequence[Array], output: Layout, inputs: Sequence[Layout]) -> list[Array]:
        del output
        weight, bias = constants
        rows, block = inputs[0], self._block(inputs[0])
        if not block:
            return [np.ascontiguousarray(weight.T), bias]
        pair = 1 if self.inputs % 2 else 2
        blocked = weight.reshape(self.outputs // block, block, self.inputs // pair, pair).transpose(0, 2, 1, 3)
        return [stored_as(blocked, rows.value_type), bias]


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
        element, most = inputs[0].element("input").value, f"most{at}"
        target = sums_of(output).element(name_of_sums(output)).place
        if self.logarithm:
            result, term = f"{target} - logf(sum{at})", f"expf({target})"
        else:
            result, term = f"{target} / sum{at}", target
        difference = f"{element} - {most}"
        nests = [
            nest(outer, f"{most} = {inputs[0].at('input', *iterators, 0).value};"),
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
        return Scratch("most", _outer(output)), Scratch("sum", _outer(output)), *scratch_of_sums(output)


@dataclass(frozen=True)
class LayerNorm(RowMajorKind):
    """Over the last dimension. Constants are weight and bias, one element for each of its elements."""

    #: of the last dimension
    elements: int
    #: that is added to the variance
    epsilon: float
    #: whether elements are taken by their distance from the mean; else, the root of their mean square becomes 1
    centered: bool = True

    @property
    def constants(self) -> tuple[str, ...]:
        return ("weight", "bias") if self.centered else ("weight",)

    @property
    def label(self) -> str:
        return f"{'layer' if self.centered else 'root mean square'} normalization of {self.elements}"

    def text(self, function: str, output: Layout, inputs: Sequence[Layout], steps: Sequence[Step]) -> str:
        rows, iterators = _rows(output)
        row = "".join(f"[{name}]" for name in iterators)
        outer, last = rows.loops()[:-1], rows.loops()[-1]
        at = row or "[0]"
        element, share = inputs[0].element("input").value, number(1.0 / self.elements)
        mean = [nest(outer, f"mean{at} = 0.0f;"), nest((*outer, last), f"mean{at} += {element} * {share};")]
        difference = f"({element} - mean{at})" if self.centered else element
        normal = f"{difference} * deviation{at} * weight[{last[0]}]" + (f" + bias[{last[0]}]" if self.centered else "")
        nests = [
            *(mean if self.centered else []),
            nest(outer, f"deviation{at} = 0.0f;"),
            nest((*outer, last), f"deviation{at} += {difference} * {difference};"),
            nest(outer, f"deviation{at} = 1.0f / sqrtf(deviation{at} * {share} + {number(self.epsilon)});"),
            element_wise(output, normal, steps, inputs[1:]),
        ]
        parameters = [
            declared("input", inputs[0]),
            *operand_parameters(steps, inputs[1:]),
            *(constant(name, self.elements) for name in self.constants),
        ]
        return function_text(function, output, parameters, nests, self.scratch(output, inputs))

    def scratch(self, output: Layout, inputs: Sequence[Layout]) -> tuple[Scratch, ...]:
        del inputs
        names = ("mean", "deviation") if self.centered else ("deviation",)
        return tuple(Scratch(name, _outer(output)) for name in names)
