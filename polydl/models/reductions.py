"""Sums, means and greatest elements over some dimensions of row-major arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Literal

from polydl.models.epilogue import Scale, Step
from polydl.models.kernel_text import element_wise, function_text, operand_parameters
from polydl.models.layout import Layout, declared, nest
from polydl.models.products import RowMajorKind


@dataclass(frozen=True)
class ReduceOperator(RowMajorKind):
    """A sum, mean or greatest element over some dimensions of an array."""

    operation: Literal["sum", "mean", "maximum"]
    #: numbers of these dimensions, which the result has with an extent of 1
    axes: tuple[int, ...]

    @property
    def label(self) -> str:
        return f"{self.operation} over {'dimensions' if len(self.axes) > 1 else 'dimension'} " + ", ".join(
            map(str, self.axes)
        )

    def text(self, function: str, output: Layout, inputs: Sequence[Layout], steps: Sequence[Step]) -> str:
        array, operands = inputs[0], inputs[1:]
        loops = array.loops()
        kept = [loop for axis, loop in enumerate(loops) if axis not in self.axes]
        over = [loops[axis] for axis in self.axes]
        target = "output" + "".join("[0]" if axis in self.axes else f"[{name}]" for axis, (name, _) in enumerate(loops))
        element = array.element("input")
        first = "input" + "".join("[0]" if axis in self.axes else f"[{name}]" for axis, (name, _) in enumerate(loops))
        most = self.operation == "maximum"
        after: Sequence[Step] = steps
        if self.operation == "mean":
            after = (Scale(1.0 / prod(extent for _, extent in over)), *steps)
        body = f"{target} = {target} > {element} ? {target} : {element};" if most else f"{target} += {element};"
        nests = [
            nest(output.loops(), f"{output.element('output')} = {first if most else '0.0f'};"),
            nest((*kept, *over), body),
            element_wise(output, "", after, operands),
        ]
        parameters = [declared("input", array), *operand_parameters(steps, operands)]
        return function_text(function, output, parameters, [each for each in nests if each])
