"""What all readers of models share: operators with their weights become parts of a graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import Literal

import numpy as np

from polydl.divisors import divisors
from polydl.models.builder import GraphBuilder
from polydl.models.convolution import Convolution
from polydl.models.epilogue import Combine
from polydl.models.graph import Array
from polydl.models.products import Linear
from polydl.models.transposed import TransposedConvolution

Pair = tuple[int, int]


class NotUnderstoodError(Exception):
    """There is no kernel for an operator; the message says why."""


def need(condition: bool, reason: str) -> None:
    """Raises NotUnderstoodError with the reason unless the condition holds."""
    if not condition:
        raise NotUnderstoodError(reason)


def add_convolution(
    builder: GraphBuilder, name: str, shape: tuple[int, ...], value: str, kind: Convolution, filters: Array, bias: Array
) -> None:
    """``filters`` are [filters][channels / groups][rows][columns], in whatever groups."""
    whole, wide = in_whole_blocks(kind, filters)
    constants = [builder.constant(f"{name}.filter", wide), builder.constant(f"{name}.bias", bias)]
    builder.add_image(name, shape, whole, [value], constants)


def symmetric(before: Pair, behind: Pair) -> tuple[Pair, Pair]:
    """Padding on both sides that has room for either, and where the first window begins in it."""
    padding = max(before[0], behind[0]), max(before[1], behind[1])
    return padding, (padding[0] - before[0], padding[1] - before[1])


def add_transposed_convolution(
    builder: GraphBuilder,
    name: str,
    shape: tuple[int, ...],
    value: str,
    filters: Array,
    bias: Array,
    *,
    stride: Pair,
    dilation: Pair,
    before: Pair,
) -> None:
    """``filters`` are [channels][filters][rows][columns]; ``before`` are rows and columns cut off before the result.

    Raises NotUnderstoodError for dilated filters with a stride.
    """
    channels, outputs, *_ = filters.shape
    kernel = filters.shape[2], filters.shape[3]
    extents = builder.shape(value)[2:]
    reach = (kernel[0] - 1) * dilation[0], (kernel[1] - 1) * dilation[1]
    rows, columns = (
        (extents[axis] - 1) * stride[axis] + reach[axis] + 1 - shape[2 + axis] - before[axis] for axis in range(2)
    )
    if stride == (1, 1):
        front, back = (reach[0] - before[0], reach[1] - before[1]), (reach[0] - rows, reach[1] - columns)
        need(min(*front, *back) >= 0, "more is cut off than its filters reach")
        padding, first = symmetric(front, back)
        kind = Convolution(channels, outputs, kernel, (1, 1), padding, dilation, 1, first)
        flipped = filters.transpose(1, 0, 2, 3)[:, :, ::-1, ::-1]
        add_convolution(builder, name, shape, value, kind, flipped, bias)
        return
    need(dilation == (1, 1), "its filters are dilated, with a stride")
    transposed = TransposedConvolution(channels, outputs, kernel, stride, before, (rows, columns))
    constants = [builder.constant(f"{name}.filter", filters), builder.constant(f"{name}.bias", bias)]
    builder.add_image(name, shape, transposed, [value], constants)


def in_whole_blocks(kind: Convolution, filters: Array) -> tuple[Convolution, Array]:
    """The same convolution in the most groups whose channels are whole blocks.

    Filters have zeros for the channels of the groups that were joined with theirs.
    """
    groups = next(
        count for count in reversed(divisors(kind.groups)) if replace(kind, groups=count).supported
    )  # fmt: skip
    joined = kind.groups // groups
    if joined == 1:
        return kind, filters
    channels, outputs = kind.channels // kind.groups, kind.filters // kind.groups
    wide = np.zeros((kind.filters, channels * joined, *kind.kernel), filters.dtype)
    for group in range(kind.groups):
        rows, first = slice(group * outputs, (group + 1) * outputs), group % joined * channels
        wide[rows, first : first + channels] = filters[rows]
    return replace(kind, groups=groups), wide


def add_channelwise(
    builder: GraphBuilder, name: str, value: str, scale: Array, shift: Array, *, only_use: bool
) -> None:
    """Each channel of images times a number, plus another; both arrays have an element for each channel.

    The convolution that computes the value does it if this is the ``only_use`` of it.
    """
    producer = builder.producer(value) if only_use else None
    if producer is not None and isinstance(producer.kind, Convolution):
        filters, bias = (builder.constant_value(each) for each in producer.constants)
        folded = [
            builder.constant(f"{name}.filter", filters * scale.reshape(-1, 1, 1, 1)),
            builder.constant(f"{name}.bias", bias * scale + shift),
        ]
        builder.replace_constants(value, folded, name)
        return
    shape = builder.shape(value)
    kind = Convolution(shape[1], shape[1], (1, 1), groups=shape[1])
    add_convolution(builder, name, shape, value, kind, scale.reshape(-1, 1, 1, 1), shift)


def add_combined(builder: GraphBuilder, name: str, values: Sequence[str], operation: Literal["+", "*"]) -> None:
    """Two values of one shape element by element, or images and values that are one pixel of each of their channels.

    Raises NotUnderstoodError for other shapes.
    """
    first, second = sorted(values, key=lambda value: -prod(builder.shape(value)))
    shape, other = builder.shape(first), builder.shape(second)
    need(other == shape or (len(shape) == 4 and other == (*shape[:2], 1, 1)), "its operands have different shapes")
    builder.add_element_wise(name, [first, second], [Combine(operation)])


def add_linear(builder: GraphBuilder, name: str, value: str, weight: Array, bias: Array) -> None:
    """``weight`` is [outputs][inputs]."""
    outputs, inputs = weight.shape
    constants = [builder.constant(f"{name}.weight", weight), builder.constant(f"{name}.bias", bias)]
    builder.add_rows(name, (*builder.shape(value)[:-1], outputs), Linear(inputs, outputs), [value], constants)


def add_to_bias(builder: GraphBuilder, name: str, value: str, shift: Array) -> None:
    """A sum with a number for each element of the last dimension, in the linear layer that computes the value.

    Raises NotUnderstoodError if none does.
    """
    producer = builder.producer(value)
    if producer is None or not isinstance(producer.kind, Linear):
        raise NotUnderstoodError("a constant is added, and no linear layer stands before it")
    weight, bias = producer.constants
    summed = builder.constant(f"{name}.bias", builder.constant_value(bias) + shift)
    builder.replace_constants(value, [weight, summed], name)
