"""What readers of models share of softmax, normalizations and reductions."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Literal

import numpy as np

from polydl.models.builder import GraphBuilder
from polydl.models.graph import Array
from polydl.models.group_norm import GroupNorm
from polydl.models.pooling import Pooling
from polydl.models.products import LayerNorm, Softmax
from polydl.models.reductions import ReduceOperator
from polydl.models.translation import need


def add_softmax(
    builder: GraphBuilder, name: str, value: str, axis: int, *, logarithm: bool = False, source: str = ""
) -> None:
    """Over one dimension. If that is not the last, the value is transposed before and behind it.

    ``source`` is the model's own name of the operator, where that is another.
    """
    rank = len(builder.shape(value))
    need(rank > 0, "it is over no dimension")
    kind = Softmax(logarithm)
    if axis == rank - 1:
        builder.add_rows(name, builder.shape(value), kind, [value], source=source)
        return
    order = (*(each for each in range(rank) if each != axis), axis)
    turned, result = builder.new_name(f"{name}.turned"), builder.new_name(f"{name}.result")
    builder.add_transposed(turned, value, order)
    builder.add_rows(result, builder.shape(turned), kind, [turned], source=source or name)
    builder.add_transposed(name, result, tuple(order.index(each) for each in range(rank)))


def add_layer_norm(
    builder: GraphBuilder, name: str, value: str, dimensions: int, weight: Array | None, bias: Array | None,
    epsilon: float, *, centered: bool = True,
) -> None:  # fmt: skip
    """Over the last ``dimensions``; weight and bias have their shape, or are 1 and 0.

    Without a mean that is subtracted (``centered``), which is RMS normalization, there is no bias.
    """
    shape = builder.shape(value)
    elements = prod(shape[len(shape) - dimensions :])
    weight = np.ones(elements) if weight is None else np.broadcast_to(weight.reshape(-1), (elements,))
    bias = np.zeros(elements) if bias is None else np.broadcast_to(bias.reshape(-1), (elements,))
    arrays = {"weight": weight, "bias": bias} if centered else {"weight": weight}
    constants = [builder.constant(f"{name}.{each}", array) for each, array in arrays.items()]
    kind = LayerNorm(elements, epsilon, centered)
    if dimensions == 1:
        builder.add_rows(name, shape, kind, [value], constants)
        return
    flat, result = builder.new_name(f"{name}.flat"), builder.new_name(f"{name}.result")
    whole = (*shape[: len(shape) - dimensions], elements)
    builder.add_view(flat, whole, value)
    builder.add_rows(result, whole, kind, [flat], constants, source=name)
    builder.add_view(name, shape, result)


def add_group_norm(
    builder: GraphBuilder, name: str, value: str, groups: int, weight: Array | None, bias: Array | None, epsilon: float
) -> None:
    """Group normalization of images, or of rows of channels.

    Weight and bias have an element for each channel, or are 1 and 0.
    """
    shape = builder.shape(value)
    need(len(shape) in (3, 4), "it is not over images")
    channels = shape[1]
    constants = [
        builder.constant(f"{name}.weight", np.ones(channels) if weight is None else weight),
        builder.constant(f"{name}.bias", np.zeros(channels) if bias is None else bias),
    ]
    kind = GroupNorm(channels, groups, epsilon)
    if len(shape) == 4:
        builder.add_image(name, shape, kind, [value], constants)
        return
    line, result = builder.line(value), builder.new_name(f"{name}.line")
    builder.add_image(result, builder.shape(line), kind, [line], constants, source=name)
    builder.add_line(name, result)


def add_reduction(
    builder: GraphBuilder, name: str, value: str, axes: Sequence[int],
    operation: Literal["sum", "mean", "maximum"], *, keeps: bool,
) -> None:  # fmt: skip
    """Over some dimensions, which the result has with an extent of 1 if it ``keeps`` them, else not at all."""
    shape = builder.shape(value)
    axes = tuple(sorted(axes))
    need(len(axes) > 0, "it is over no dimension")
    whole = tuple(1 if axis in axes else extent for axis, extent in enumerate(shape))
    result = name if keeps else builder.new_name(f"{name}.kept")
    if len(shape) == 4 and axes == (2, 3) and operation != "sum":
        kind = Pooling("average" if operation == "mean" else "maximum", (shape[2], shape[3]), (shape[2], shape[3]))
        builder.add_image(result, whole, kind, [value], source=name)
    else:
        builder.add_rows(result, whole, ReduceOperator(operation, axes), [value], source=name)
    if not keeps:
        builder.add_view(name, tuple(extent for axis, extent in enumerate(shape) if axis not in axes), result)
