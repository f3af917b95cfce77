"""Convolutions and pooling: which pixels their windows have, and what becomes of them in a graph.

Rows of channels are images of one row.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from polydl.models.convolution import Convolution
from polydl.models.pooling import Pooling
from polydl.models.translation import add_convolution, add_transposed_convolution, need, symmetric
from polydl.onnx.translation import Translation

Pair = tuple[int, int]


def add_conv(t: Translation) -> None:
    """Conv over images or rows of channels, with constant filters. Raises NotUnderstoodError for what has no kernel."""
    value, filters = t.images(), t.numbers(1)
    need(filters.ndim == len(t.shape), f"its filters have {filters.ndim} dimensions, and its images {len(t.shape)}")
    filters = filters if filters.ndim == 4 else filters[:, :, None]
    bias = t.numbers(2) if t.has(2) else np.zeros(filters.shape[0])
    kernel, stride, dilation = (filters.shape[2], filters.shape[3]), _pair(t, "strides"), _pair(t, "dilations")
    before, behind = _padding(t, kernel, stride, dilation)
    channels, groups = t.builder.shape(value)[1], int(t.attribute("group", 1))
    fits = channels == filters.shape[1] * groups and filters.shape[0] % groups == 0
    need(fits, f"its filters are {filters.shape}, in {groups} groups, and its images have {channels} channels")
    need(_ends_inside(t, kernel, stride, dilation, before, behind), "its filters are larger than its padded images")
    padding, first = symmetric(before, behind)
    kind = Convolution(
        channels, filters.shape[0], kernel, stride, padding, dilation, groups, first
    )  # fmt: skip
    name, shape = t.result
    add_convolution(t.builder, name, shape, value, kind, filters, bias, source=t.name)
    t.finish(name)


def add_conv_transpose(t: Translation) -> None:
    """ConvTranspose over images, without groups, with constant filters. Raises NotUnderstoodError for others."""
    value, filters = t.value(), t.numbers(1)
    need(filters.ndim == len(t.shape) == 4, f"it has {filters.ndim - 2} dimensions; there are kernels for two")
    need(int(t.attribute("group", 1)) == 1, "it has groups")
    channels, stride, dilation = t.builder.shape(value)[1], _pair(t, "strides"), _pair(t, "dilations")
    need(channels == filters.shape[0], f"its filters are {filters.shape}, and its images have {channels} channels")
    bias = t.numbers(2) if t.has(2) else np.zeros(filters.shape[1])
    pads = t.attribute("pads", [0, 0, 0, 0])
    before = int(pads[0]), int(pads[1])
    way = t.attribute("auto_pad", "NOTSET")
    if way != "NOTSET" or t.attribute("output_shape"):
        before = _cut(t, (filters.shape[2], filters.shape[3]), stride, dilation, upper=way == "SAME_UPPER")
    add_transposed_convolution(
        t.builder, t.name, t.shape, value, filters, bias, stride=stride, dilation=dilation, before=before
    )  # fmt: skip


def _cut(t: Translation, kernel: Pair, stride: Pair, dilation: Pair, *, upper: bool) -> Pair:
    """Rows and columns before the result, where its shape says how many are cut off on both sides."""
    extents, added = t.builder.shape(t.value())[2:], t.attribute("output_padding", [0, 0])
    both = [
        max(0, (extents[a] - 1) * stride[a] + added[a] + (kernel[a] - 1) * dilation[a] + 1 - t.shape[2 + a])
        for a in range(2)
    ]
    return (both[0] // 2, both[1] // 2) if upper else (both[0] - both[0] // 2, both[1] - both[1] // 2)


def add_max_pool(t: Translation) -> None:
    """MaxPool without dilation. Raises NotUnderstoodError for others, and for windows without a pixel."""
    need(_pair(t, "dilations") == (1, 1), "its windows are dilated")
    kernel, stride = _window(t), _pair(t, "strides")
    before, behind = _padding(t, kernel, stride, (1, 1))
    _check_padding(kernel, before, behind)
    # Windows may end behind the image, wherever that is, but each has a pixel.
    begins = [(t.result[1][2 + a] - 1) * stride[a] for a in range(2)]
    extents = t.builder.shape(t.images())[2:]
    need(all(begins[a] < extents[a] + before[a] for a in range(2)), "its last window begins behind the image")
    _add_pooling(t, Pooling("maximum", kernel, stride, before))


def add_average_pool(t: Translation) -> None:
    """AveragePool without dilation, whose windows end within the padding. Raises NotUnderstoodError for others."""
    need(_pair(t, "dilations") == (1, 1), "its windows are dilated")
    kernel, stride = _window(t), _pair(t, "strides")
    before, behind = _padding(t, kernel, stride, (1, 1))
    _check_padding(kernel, before, behind)
    need(_ends_inside(t, kernel, stride, (1, 1), before, behind), "its windows end behind the padding")
    padding, first = symmetric(before, behind)
    counted = bool(t.attribute("count_include_pad", 0)) or padding == (0, 0)
    _add_pooling(t, Pooling("average", kernel, stride, padding, first, counted))


def add_global(operation: Literal["maximum", "average"], t: Translation) -> None:
    """Over all rows and columns of an image."""
    shape = t.builder.shape(t.images())
    window = shape[2], shape[3]
    _add_pooling(t, Pooling(operation, window, window))


def _add_pooling(t: Translation, kind: Pooling) -> None:
    name, shape = t.result
    t.builder.add_image(name, shape, kind, [t.images()], source=t.name)
    t.finish(name)


def _ends_inside(t: Translation, kernel: Pair, stride: Pair, dilation: Pair, before: Pair, behind: Pair) -> bool:
    """Whether the last window ends before the padding does, which ``ceil_mode`` and images that are too small break."""
    extents = t.builder.shape(t.images())[2:]
    ends = [(t.result[1][2 + a] - 1) * stride[a] + (kernel[a] - 1) * dilation[a] + 1 for a in range(2)]
    return all(ends[a] <= extents[a] + before[a] + behind[a] for a in range(2))


def _pair(t: Translation, name: str) -> Pair:
    """An attribute of two dimensions; that of one row is 1."""
    count = len(t.shape) - 2
    values = t.attribute(name, [1] * count)
    need(len(values) == count, f"{name} are not of {count} dimensions")
    return int(values[0]) if count == 2 else 1, int(values[-1])


def _window(t: Translation) -> Pair:
    t.images()
    same = t.attribute("auto_pad", "NOTSET").startswith("SAME")
    need(not (same and t.attribute("ceil_mode", 0)), "it has ceil_mode with an auto_pad that says the shape")
    return _pair(t, "kernel_shape")


def _check_padding(kernel: Pair, before: Pair, behind: Pair) -> None:
    """Every window must have a pixel."""
    padding = max(before[0], behind[0]), max(before[1], behind[1])
    need(padding[0] < kernel[0] and padding[1] < kernel[1], f"padding {padding} with windows of {kernel}")


def _padding(t: Translation, kernel: Pair, stride: Pair, dilation: Pair) -> tuple[Pair, Pair]:
    """Rows and columns of padding before the image, and those behind it."""
    way = t.attribute("auto_pad", "NOTSET")
    if way == "NOTSET":
        count = len(t.shape) - 2
        pads = [int(each) for each in t.attribute("pads", [0] * (2 * count))]
        need(len(pads) == 2 * count, f"pads are not of {count} dimensions")
        pads = pads if count == 2 else [0, pads[0], 0, pads[1]]
        need(min(pads) >= 0, f"its padding is negative: {pads}")
        return (pads[0], pads[1]), (pads[2], pads[3])
    if way == "VALID":
        return (0, 0), (0, 0)
    extents = t.builder.shape(t.images())[2:]
    both = []
    for axis in range(2):
        last = (t.result[1][2 + axis] - 1) * stride[axis] + (kernel[axis] - 1) * dilation[axis] + 1
        both.append(max(0, last - extents[axis]))
    less = both[0] // 2, both[1] // 2
    more = both[0] - less[0], both[1] - less[1]
    return (less, more) if way == "SAME_UPPER" else (more, less)
