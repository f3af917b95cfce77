"""Normalization of groups of an image's channels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from polydl.models.epilogue import Step, number
from polydl.models.graph import PlainKind
from polydl.models.kernel_text import channels_together, element_wise, function_text, operand_parameters
from polydl.models.layout import Image, Layout, Loops, Scratch, constant, declared, nest


@dataclass(frozen=True)
class GroupNorm(PlainKind):
    """Each group of ``channels / groups`` channels of an image gets mean 0 and variance 1 over all of its elements.

    Constants are weight and bias, one element for each channel. Sums are those of a channel first, in the blocks of the
    image, then those of the channels of a group, which need not be whole blocks.
    """

    #: of the image
    channels: int
    #: that they are dealt out to
    groups: int
    #: that is added to the variance
    epsilon: float

    @property
    def label(self) -> str:
        return f"normalization of {self.groups} groups of {self.channels // self.groups} channels"

    @property
    def constants(self) -> tuple[str, ...]:
        return ("weight", "bias")

    def text(self, function: str, output: Layout, inputs: Sequence[Layout], steps: Sequence[Step]) -> str:
        image, operands = inputs[0], inputs[1:]
        assert isinstance(image, Image)
        assert isinstance(output, Image)
        together = self.channels // self.groups
        share = number(1.0 / (together * image.height * image.width))
        channel, member = f"[n][t * {image.block} + k]", f"[n][g * {together} + c]"
        each: Loops = (("n", image.images), ("t", image.tiles), ("k", image.block))
        groups: Loops = (("n", image.images), ("g", self.groups))
        members: Loops = (*groups, ("c", together))
        difference = f"({image.element('input').value} - mean{channel})"
        block = channels_together(output, operands)
        place = f"t * {block} + k"
        normal = (
            f"({image.element('input', block).value} - mean[n][{place}]) * factor[n][{place}] * weight[{place}]"
            f" + bias[{place}]"
        )
        nests = [
            nest(each, f"sum{channel} = 0.0f;"),
            nest(image.loops(), f"sum{channel} += {image.element('input').value};"),
            nest(groups, "total[n][g] = 0.0f;"),
            nest(members, f"total[n][g] += sum{member};"),
            nest(members, f"mean{member} = total[n][g] * {share};"),
            nest(each, f"squares{channel} = 0.0f;"),
            nest(image.loops(), f"squares{channel} += {difference} * {difference};"),
            nest(groups, "deviation[n][g] = 0.0f;"),
            nest(members, f"deviation[n][g] += squares{member};"),
            nest(groups, f"deviation[n][g] = 1.0f / sqrtf(deviation[n][g] * {share} + {number(self.epsilon)});"),
            nest(members, f"factor{member} = deviation[n][g];"),
            element_wise(output, normal, steps, operands),
        ]
        parameters = [
            declared("input", image),
            *operand_parameters(steps, operands),
            constant("weight", self.channels),
            constant("bias", self.channels),
        ]
        return function_text(function, output, parameters, nests, self.scratch(output, inputs))

    def scratch(self, output: Layout, inputs: Sequence[Layout]) -> tuple[Scratch, ...]:
        del output
        image = inputs[0]
        assert isinstance(image, Image)
        channels = [Scratch(name, (image.images, self.channels)) for name in ("sum", "mean", "squares", "factor")]
        return (*channels, *(Scratch(name, (image.images, self.groups)) for name in ("total", "deviation")))
