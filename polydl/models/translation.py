"""What all readers of models share: operators with their weights become parts of a graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf, prod
from typing import Literal

import numpy as np

from polydl.divisors import divisors
from polydl.models.builder import GraphBuilder
from polydl.models.convolution import Convolution
from polydl.models.elementwise import Masked, WithConstant
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

    The convolution, normalization or linear layer that computes the value does it if this is the ``only_use`` of it.
    Images may be rows of channels, or have one element for each channel.
    """
    rank = len(builder.shape(value))
    if rank == 3:
        line = builder.new_name(f"{name}.line")
        add_channelwise(builder, line, builder.line(value), scale, shift, only_use=only_use, source=name)
        builder.add_line(name, line)
        return
    producer = builder.producer(value) if only_use else None
    if producer is not None and isinstance(producer.kind, LinearOperator if rank == 2 else Convolution | GroupNorm):
        weight, bias = (builder.constant_value(each) for each in producer.constants)
        folded = [
            builder.constant(f"{name}.weight", weight * scale.reshape(-1, *(1,) * (weight.ndim - 1))),
            builder.constant(f"{name}.bias", bias * scale + shift),
        ]
        builder.replace_constants(value, folded, name, source)
        return
    if rank == 2:
        scaled = builder.new_name(f"{name}.scaled")
        add_with_constant(builder, scaled, value, scale, "*", only_use=False, source=source or name)
        add_with_constant(builder, name, scaled, shift, "+", only_use=True, source=source)
        return
    shape = builder.shape(value)
    kind = Convolution(shape[1], shape[1], (1, 1), groups=shape[1])
    add_convolution(builder, name, shape, value, kind, scale.reshape(-1, 1, 1, 1), shift)


def add_combined(
    builder: GraphBuilder, name: str, values: Sequence[str], operation: Operation, source: str = ""
) -> None:
    """Two values element by element, which are broadcast as by NumPy. Raises NotUnderstoodError where that fails.

    ``source`` is the model's own name of the operator, where that is another.
    """
    first, second = values
    extents, others = builder.shape(first), builder.shape(second)
    reverse = (prod(others), len(others)) > (prod(extents), len(extents))
    if reverse:
        first, second, extents, others = second, first, others, extents
    first = repeated(builder, source or name, first, others)
    step = Combine(operation, reverse and operation in ("-", "/"))
    builder.add_element_wise(name, [first, second], [step], source)


def repeated(builder: GraphBuilder, name: str, value: str, other: tuple[int, ...]) -> str:
    """A value in the shape that it has together with one of the shape ``other``, as NumPy broadcasts both.

    ``name`` is that of the operator that takes it so. Raises NotUnderstoodError where the shapes don't fit.
    """
    extents = builder.shape(value)
    try:
        shape = np.broadcast_shapes(extents, other)
    except ValueError:
        raise NotUnderstoodError(f"its operands have the shapes {extents} and {other}") from None
    if shape == extents:
        return value
    result = builder.new_name(f"{name}.repeated")
    if prod(shape) == prod(extents):
        builder.add_view(result, shape, value)
    else:
        builder.add_rows(result, shape, Repeat(), [value], source=name)
    return result


def add_with_constant(
    builder: GraphBuilder, name: str, value: str, constant: Array, operation: Literal["+", "*"], *, only_use: bool,
    source: str = "",
) -> None:  # fmt: skip
    """A value and a constant, which are broadcast as by NumPy. Raises NotUnderstoodError where that fails.

    A linear layer takes a sum into its bias if this is the ``only_use`` of its result. ``source`` is the model's own
    name of the operator, where that is another.
    """
    value = repeated(builder, source or name, value, constant.shape)
    shape = builder.shape(value)
    producer = builder.producer(value) if only_use and operation == "+" else None
    if (
        producer is not None
        and isinstance(producer.kind, LinearOperator)
        and constant.size in (1, *constant.shape[-1:])
    ):
        weight, bias = producer.constants
        summed = builder.constant(f"{name}.bias", builder.constant_value(bias) + constant.reshape(-1))
        builder.replace_constants(value, [weight, summed], name, source)
        return
    kind = WithConstant(operation, constant.shape)
    constants = [builder.constant(f"{name}.constant", constant)]
    builder.add_rows(name, shape, kind, [value], constants, source=source)


def add_filled(
    builder: GraphBuilder, name: str, value: str, mask: Array, fill: float, softmaxes: Sequence[int] | None,
    source: str = "",
) -> None:  # fmt: skip
    """A value with a number where the ``mask`` is true; both are broadcast as by NumPy.

    ``softmaxes`` are the dimensions of the softmaxes that the result goes into, None where it goes into anything else:
    what leaves nothing of a weight is written as a finite number, and has to leave something of each row. ``source`` is
    the model's own name of the operator, where that is another. Raises NotUnderstoodError where that fails.
    """
    value = repeated(builder, source or name, value, mask.shape)
    shape = builder.shape(value)
    need(fill < inf, "what it writes is no number")
    if fill <= NO_WEIGHT:
        if softmaxes is None:
            raise NotUnderstoodError("what it writes is infinite, or nearly so, and goes into more than softmax")
        # Softmax of nothing but minus infinity is no number.
        full = np.broadcast_to(mask, shape)
        some = all(not full.all(axis=axis).any() for axis in softmaxes)
        need(some or fill > -inf, "it leaves nothing of a row")
        fill = NO_WEIGHT
    constants = [builder.constant(f"{name}.mask", np.asarray(mask))]
    builder.add_rows(name, shape, Masked(fill, mask.shape), [value], constants, source=source)


def add_chosen(builder: GraphBuilder, name: str, condition: Array, first: str, second: str) -> None:
    """Elements of the first value where a condition is true, else of the second; all are broadcast as by NumPy."""
    parts = [builder.new_name(f"{name}.part") for _ in range(2)]
    for part, value, mask in zip(parts, (first, second), (~condition, condition), strict=True):
        add_filled(builder, part, value, mask, 0.0, (), source=name)
    add_combined(builder, name, parts, "+")


def need_broadcast(shape: Sequence[int], whole: Sequence[int]) -> None:
    """Raises NotUnderstoodError unless NumPy broadcasts ``shape`` to ``whole``."""
    extents = zip(shape[::-1], whole[::-1], strict=False)
    fits = len(shape) <= len(whole) and all(extent in (1, other) for extent, other in extents)
    need(fits, f"its operands have the shapes {tuple(whole)} and {tuple(shape)}")


def add_linear(builder: GraphBuilder, name: str, value: str, weight: Array, bias: Array, source: str = "") -> None:
    """``weight`` is [outputs][inputs]. Raises NotUnderstoodError for a vector.

    ``source`` is the model's own name of the operator, where that is another.
    """
    need(weight.ndim == 2, "its weight is a vector")
    outputs, inputs = weight.shape
    constants = [builder.constant(f"{name}.weight", weight), builder.constant(f"{name}.bias", bias)]
    kind = LinearOperator(inputs, outputs)
    builder.add_rows(name, (*builder.shape(value)[:-1], outputs), kind, [value], constants, source=source)


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


def add_product_and_summand(
    builder: GraphBuilder, name: str, first: str, second: str | Array, summand: str | Array | None, *,
    alpha: float, beta: float,
) -> None:  # fmt: skip
    """The product of two matrices times ``alpha``, plus a summand, which is broadcast to it, times ``beta``.

    The second matrix and the summand are values or constants. A constant of each column becomes the bias of a linear
    layer. Raises NotUnderstoodError as ``add_product`` and ``add_combined`` do.
    """
    product = name if summand is None else builder.new_name(f"{name}.product")
    if not isinstance(second, str):
        add_linear(builder, product, first, alpha * second.T, np.zeros(second.shape[1]), source=name)
    elif alpha == 1:
        add_product(builder, product, first, second, source=name)
    else:
        plain = builder.new_name(f"{name}.plain")
        add_product(builder, plain, first, second, source=name)
        builder.add_element_wise(product, [plain], [Scale(alpha)], name)
    if isinstance(summand, str):
        scaled = builder.new_name(f"{name}.summand")
        builder.add_element_wise(scaled, [summand], [Scale(beta)], name)
        add_combined(builder, name, [product, summand if beta == 1 else scaled], "+")
    elif summand is not None:
        add_with_constant(builder, name, product, beta * summand, "+", only_use=True)


def add_attention(
    builder: GraphBuilder, name: str, query: str, key: str, value: str, *,
    scale: float, mask: str | Array | None = None, causal: bool = False,
) -> None:  # fmt: skip
    """Scaled dot-product attention: softmax of the scaled products of queries and keys, plus a mask, times the values.

    Dimensions are [outer …][positions][elements]. The mask is a value or a constant. If it is ``causal``, no query
    meets keys at later positions.
    Raises NotUnderstoodError as ``add_product`` and ``add_combined`` do.
    """
    queries, keys = builder.shape(query), builder.shape(key)
    need(queries[:-2] == keys[:-2] == builder.shape(value)[:-2], "its operands have different outer dimensions")
    if mask is not None:
        shape = builder.shape(mask) if isinstance(mask, str) else mask.shape
        need_broadcast(shape, (*queries[:-1], keys[-2]))
    rank = len(keys)
    builder.add_transposed(f"{name}.keys", key, (*range(rank - 2), rank - 1, rank - 2))
    add_product(builder, f"{name}.products", query, f"{name}.keys", name)
    scores = f"{name}.scores"
    builder.add_element_wise(scores, [f"{name}.products"], [Scale(scale)])
    if isinstance(mask, str):
        scores = f"{name}.masked"
        add_combined(builder, scores, [f"{name}.scores", mask], "+")
    elif mask is not None:
        scores = f"{name}.masked"
        add_with_constant(builder, scores, f"{name}.scores", mask, "+", only_use=True)
    if causal:
        later = np.triu(np.full((queries[-2], keys[-2]), NO_WEIGHT), 1)
        add_with_constant(builder, f"{name}.causal", scores, later, "+", only_use=True)
        scores = f"{name}.causal"
    builder.add_rows(f"{name}.weights", builder.shape(scores), Softmax(), [scores], source=name)
    add_product(builder, name, f"{name}.weights", value)
