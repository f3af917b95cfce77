"""The C function of one operator: its parameters and nests as the front-end reads them."""

from __future__ import annotations

from collections.abc import Sequence

from polydl import bfloat16
from polydl.models.epilogue import Combine, Step, expression
from polydl.models.layout import (
    Element,
    Image,
    Layout,
    RowMajor,
    Scratch,
    common_block,
    declared,
    nest,
    provided,
)


def function_text(
    function: str, output: Layout, parameters: Sequence[str], nests: Sequence[str], scratch: Sequence[Scratch] = ()
) -> str:
    """A C file with one function, whose body is a region of nests.

    ``parameters`` are arrays that it reads, ``scratch`` are local ones or, where these are large, further parameters.
    """
    indent = " " * (len(function) + 6)
    outside = provided(scratch)
    arrays = [declared("output", output), *(f"const {each}" for each in parameters)]
    arrays += [f"float {each.declarator}" for each in outside]
    head = f"void {function}({(',' + chr(10) + indent).join(arrays)})"
    local = [f"  float {each.declarator};" for each in scratch if each not in outside]
    rounded = any(bfloat16.ELEMENT in array for array in arrays)
    included = ["#include <math.h>", *(["#include <polydl/bfloat16.h>"] if rounded else []), ""]
    return "\n".join([*included, head, "{", *local, "#pragma scop", *nests, "#pragma endscop", "}", ""])


def operand_names(steps: Sequence[Step]) -> list[str]:
    """Parameters of the values that the steps combine with."""
    return [f"operand{number}" for number in range(sum(isinstance(step, Combine) for step in steps))]


def operand_parameters(steps: Sequence[Step], layouts: Sequence[Layout]) -> list[str]:
    """Their declarations. ``layouts`` are those of the values, in order."""
    return [declared(name, layout) for name, layout in zip(operand_names(steps), layouts, strict=True)]


def element_wise(
    output: Layout, source: Element | str, steps: Sequence[Step], operands: Sequence[Layout], block: int = 0
) -> str:
    """The nest that writes each element of the output after the steps.

    ``source`` is the element before them, or its expression, in the iterators of the output's loops; "" is the output's
    own element. Without steps there is no nest, and the text is empty, if the element is the output's own. ``block`` is
    that of the loops over channels, where the operands don't say it.
    """
    if not source and not steps:
        return ""
    block = block or channels_together(output, operands)
    return nest(output.loops(block), written(output, source, steps, operands, block))


def written(
    output: Layout, source: Element | str, steps: Sequence[Step], operands: Sequence[Layout], block: int
) -> str:
    """The statement of ``element_wise`` in the body of the output's loops over such blocks of channels."""
    names = operand_names(steps)
    values = [_operand(name, layout, output, block) for name, layout in zip(names, operands, strict=True)]
    target = output.element("output", block)
    if not steps:
        return target.assigned(source)
    before = source.value if isinstance(source, Element) else source
    return target.assigned(expression(f"({before})" if before else target.value, steps, values))


def _operand(name: str, layout: Layout, output: Layout, block: int) -> str:
    """The element of an operand that goes with one of the output: the only one of its channel, where it has one.

    That of a row-major array is found as NumPy broadcasts it.
    """
    if isinstance(layout, Image):
        assert isinstance(output, Image)
        same = (layout.height, layout.width) == (output.height, output.width)
        return (layout.element(name, block) if same else layout.element(name, block, pixel=(0, 0))).value
    return broadcast(name, layout, output, 0 if isinstance(output, Image) else block).value


def broadcast(name: str, array: RowMajor, output: Layout, block: int = 0) -> Element:
    """The element of a row-major array that goes with one of the output in the body of its loops, as NumPy has it.

    Those loops have the last dimension of a row-major output in blocks, if there is a ``block``.
    """
    iterators = [iterator for iterator, _ in output.loops()]
    if block:
        iterators[-1] = f"t * {block} + j"
    last = iterators[len(output.extents) - len(array.extents) :]
    indices = (iterator if extent > 1 else 0 for iterator, extent in zip(last, array.extents, strict=True))
    return array.at(name, *indices)


def channels_together(output: Layout, operands: Sequence[Layout]) -> int:
    """The block in which loops over an image and its operands take channels; 0 where the output is no image."""
    if not isinstance(output, Image):
        return 0
    return common_block([output, *(each for each in operands if isinstance(each, Image))])
