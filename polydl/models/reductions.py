"""Sums, means and greatest elements over some dimensions of row-major arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Literal

from polydl.models.accumulation import accumulated_in_array, name_of_sums, scratch_of_sums, sums_of
from polydl.models.epilogue import Scale, Step
from polydl.models.kernel_text import function_text, operand_parameters
from polydl.models.layout import Layout, Scratch, declared
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
        place = [0 if axis in self.axes else name for axis, (name, _) in enumerate(loops)]
        target = sums_of(output).at(name_of_sums(output), *place).place
        element, first = array.element("input").value, array.at("input", *place).value
        most = self.operation == "maximum"
        after: Sequence[Step] = steps
        if self.operation == "mean":
            after = (Scale(1.0 / prod(extent for _, extent in over)), *steps)
        body = f"{target} = {target} > {element} ? {target} : {element};" if most else f"{target} += {element};"
        updates = [((*kept, *over), body)]
        nests = accumulated_in_array(output, after, operands, updates, first if most else "0.0f")
        parameters = [declared("input", array), *operand_parameters(steps, operands)]
        return function_text(function, output, parameters, nests, self.scratch(output, inputs))

    def scratch(self, output: Layout, inputs: Sequence[Layout]) -> tuple[Scratch, ...]:
        del inputs
        return scratch_of_sums(output)
