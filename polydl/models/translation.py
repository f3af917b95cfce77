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
from polydl.models.elementwise import WithConstant
from polydl.models.epilogue import Combine, Operation, Scale
from polydl.models.graph import Array
from polydl.models.group_norm import GroupNorm
from polydl.models.layout import Pair
from polydl.models.matrices import MatrixProduct
from polydl.models.moving import Repeat
from polydl.models.products import LinearOperator, Softmax
from polydl.models.transposed import TransposedConvolution

#: added to a product of a query and a key, it leaves nothing of the weight. It is finite for the sake of -ffast-math.
NO_WEIGHT = -1e30


class NotUnderstoodError(Exception):
    """There is no kernel for an operator; the message says why."""


def need(condition: bool, reason: str) -> None:
    """Raises NotUnderstoodError with the reason unless the condition holds."""
    if not condition:
        raise NotUnderstoodError(reason)


def add_convolution(
    builder: GraphBuilder, name: str, shape: tuple[int, ...], value: str, kind: Convolution, filters: Array,
    bias: Array, source: str = "",
) -> None:  # fmt: skip
    """``filters`` are [filters][channels / groups][rows][columns], in whatever groups. ``source`` is the model's name.

    A frame of zeros around the images becomes part of their padding.
    """
    value, kind = _with_frame(builder, value, shape, kind)
    whole, wide = in_whole_blocks(kind, filters)
    constants = [builder.constant(f"{name}.filter", wide), builder.constant(f"{name}.bias", bias)]
    builder.add_image(name, shape, whole, [value], constants, source=source)


def _with_frame(
    builder: GraphBuilder, value: str, shape: tuple[int, ...], kind: Convolution
) -> tuple[str, Convolution]:
    """The images inside of a frame of zeros, if they have one, and the convolution of them with the same result."""
    inner, frame = builder.unframed(value)
    if frame is None or (*frame.before[:2], *frame.behind[:2]) != (0, 0, 0, 0):
        return value, kind
    extents = builder.shape(inner)
    before, behind = [], []
    for axis in range(2):
        first = kind.padding[axis] - kind.first[axis] + frame.before[2 + axis]
        last = (shape[2 + axis] - 1) * kind.stride[axis] + (kind.kernel[axis] - 1) * kind.dilation[axis] + 1
        before.append(first)
        behind.append(max(0, last - first - extents[2 + axis]))
    padding, first_window = symmetric((before[0], before[1]), (behind[0], behind[1]))
    return inner, replace(kind, padding=padding, first=first_window)


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
    builder: GraphBuilder, name: str, value: str, scale: Array, shift: Array, *, only_use: bool,
    source: str = "",
) -> None:  # fmt: skip
    """Each channel of images times a number, plus another; both arrays have an element for each channel.

    The convolution or normalization that computes the value does it if this is the ``only_use`` of it. Images may be
    rows of channels.
    """
    if len(builder.shape(value)) == 3:
        line = builder.new_name(f"{name}.line")
        add_channelwise(builder, line, builder.line(value), scale, shift, only_use=only_use, source=name)
        builder.add_line(name, line)
        return
    producer = builder.producer(value) if only_use else None
    if producer is not None and isinstance(producer.kind, Convolution | GroupNorm):
        weight, bias = (builder.constant_value(each) for each in producer.constants)
        folded = [
            builder.constant(f"{name}.weight", weight * scale.reshape(-1, *(1,) * (weight.ndim - 1))),
            builder.constant(f"{name}.bias", bias * scale + shift),
        ]
        builder.replace_constants(value, folded, name, source)
        return
    shape = builder.shape(value)
    kind = Convolution(shape[1], shape[1], (1, 1), groups=shape[1])
    add_convolution(builder, name, shape, value, kind, scale.reshape(-1, 1, 1, 1), shift)


def add_combined(builder: GraphBuilder, name: str, values: Sequence[str], operation: Operation) -> None:
    """Two values element by element, which are broadcast as by NumPy. Raises NotUnderstoodError where that fails."""
    first, second = values
    extents, others = builder.shape(first), builder.shape(second)
    reverse = (prod(others), len(others)) > (prod(extents), len(extents))
    if reverse:
        first, second, extents, others = second, first, others, extents
    try:
        shape = np.broadcast_shapes(extents, others)
    except ValueError:
        raise NotUnderstoodError(f"its operands have the shapes {extents} and {others}") from None
    if shape != extents:
        repeated = builder.new_name(f"{name}.repeated")
        builder.add_rows(repeated, shape, Repeat(), [first], source=name)
        first = repeated
    builder.add_element_wise(name, [first, second], [Combine(operation, reverse and operation in ("-", "/"))])


def add_with_constant(
    builder: GraphBuilder, name: str, value: str, constant: Array, operation: Literal["+", "*"], *, only_use: bool
) -> None:
    """A value and a constant, which is broadcast to it as by NumPy. Raises NotUnderstoodError for other shapes.

    A linear layer takes a sum into its bias if this is the ``only_use`` of its result.
    """
    shape = builder.shape(value)
    need_broadcast(constant.shape, shape)
    producer = builder.producer(value) if only_use and operation == "+" else None
    if (
        producer is not None
        and isinstance(producer.kind, LinearOperator)
        and constant.size in (1, *constant.shape[-1:])
    ):
        weight, bias = producer.constants
        summed = builder.constant(f"{name}.bias", builder.constant_value(bias) + constant.reshape(-1))
        builder.replace_constants(value, [weight, summed], name)
        return
    kind = WithConstant(operation, constant.shape)
    builder.add_rows(name, shape, kind, [value], [builder.constant(f"{name}.constant", constant)])


def need_broadcast(shape: Sequence[int], whole: Sequence[int]) -> None:
    """Raises NotUnderstoodError unless NumPy broadcasts ``shape`` to ``whole``."""
    extents = zip(shape[::-1], whole[::-1], strict=False)
    fits = len(shape) <= len(whole) and all(extent in (1, other) for extent, other in extents)
    need(fits, f"its operands have the shapes {tuple(whole)} and {tuple(shape)}")


def add_linear(builder: GraphBuilder, name: str, value: str, weight: Array, bias: Array) -> None:
    """``weight`` is [outputs][inputs]. Raises NotUnderstoodError for a vector."""
    need(weight.ndim == 2, "its weight is a vector")
    outputs, inputs = weight.shape
    constants = [builder.constant(f"{name}.weight", weight), builder.constant(f"{name}.bias", bias)]
    builder.add_rows(name, (*builder.shape(value)[:-1], outputs), LinearOperator(inputs, outputs), [value], constants)


def add_product(builder: GraphBuilder, name: str, first: str, second: str, source: str = "") -> None:
    """The product of two values that are computed, for each index of all dimensions but their last two.

    ``source`` is the model's own name of the operator, where that is another.

    Raises NotUnderstoodError for vectors, and where these dimensions are not the same.
    """
    rows, columns = builder.shape(first), builder.shape(second)
    need(min(len(rows), len(columns)) > 1, "an operand is a vector")
    need(rows[:-2] == columns[:-2], f"its operands have the shapes {rows} and {columns}")
    (left, left_order), (right, right_order) = builder.ordered(first), builder.ordered(second)
    kind = MatrixProduct(rows[-1], left_order, right_order, tuple(range(len(rows))))
    builder.add_rows(name, (*rows[:-1], columns[-1]), kind, [left, right], source=source)


def add_attention(
    builder: GraphBuilder, name: str, query: str, key: str, value: str, *,
    scale: float, mask: str | None = None, causal: bool = False,
) -> None:  # fmt: skip
    """Scaled dot-product attention: softmax of the scaled products of queries and keys, plus a mask, times the values.

    Dimensions are [outer …][positions][elements]. If it is ``causal``, no query meets keys at later positions.
    Raises NotUnderstoodError as ``add_product`` and ``add_combined`` do.
    """
    queries, keys = builder.shape(query), builder.shape(key)
    need(queries[:-2] == keys[:-2] == builder.shape(value)[:-2], "its operands have different outer dimensions")
    if mask is not None:
        need_broadcast(builder.shape(mask), (*queries[:-1], keys[-2]))
    rank = len(keys)
    builder.add_transposed(f"{name}.keys", key, (*range(rank - 2), rank - 1, rank - 2))
    add_product(builder, f"{name}.products", query, f"{name}.keys", name)
    scores = f"{name}.scores"
    builder.add_element_wise(scores, [f"{name}.products"], [Scale(scale)])
    if mask is not None:
        scores = f"{name}.masked"
        add_combined(builder, scores, [f"{name}.scores", mask], "+")
    if causal:
        later = np.triu(np.full((queries[-2], keys[-2]), NO_WEIGHT), 1)
        add_with_constant(builder, f"{name}.causal", scores, later, "+", only_use=True)
        scores = f"{name}.causal"
    builder.add_rows(f"{name}.weights", builder.shape(scores), Softmax(), [scores], source=name)
    add_product(builder, name, f"{name}.weights", value)
