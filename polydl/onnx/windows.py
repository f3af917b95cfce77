"""Convolutions and pooling: which pixels their windows have, and what becomes of them in a graph."""

from __future__ import annotations

from typing import Literal

import numpy as np

from polydl.models.convolution import Convolution
from polydl.models.pooling import Pooling
from polydl.models.translation import add_convolution, add_transposed_convolution, need, symmetric
from polydl.onnx.translation import Translation

Pair = tuple[int, int]


def add_conv(t: Translation) -> None:
    value, filters = t.value(), t.numbers(1)
    need(filters.ndim == 4, f"it has {filters.ndim - 2} dimensions; there are kernels for two")
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
    add_convolution(t.builder, t.name, t.shape, value, kind, filters, bias)


def add_conv_transpose(t: Translation) -> None:
    value, filters = t.value(), t.numbers(1)
    need(filters.ndim == 4, f"it has {filters.ndim - 2} dimensions; there are kernels for two")
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
    need(_pair(t, "dilations") == (1, 1), "its windows are dilated")
    kernel, stride = _window(t), _pair(t, "strides")
    before, behind = _padding(t, kernel, stride, (1, 1))
    _check_padding(kernel, before, behind)
    # Windows may end behind the image, wherever that is, but each has a pixel.
    begins = [(t.shape[2 + a] - 1) * stride[a] for a in range(2)]
    extents = t.builder.shape(t.value())[2:]
    need(all(begins[a] < extents[a] + before[a] for a in range(2)), "its last window begins behind the image")
    t.builder.add_image(t.name, t.shape, Pooling("maximum", kernel, stride, before), [t.value()])


def add_average_pool(t: Translation) -> None:
    need(_pair(t, "dilations") == (1, 1), "its windows are dilated")
    kernel, stride = _window(t), _pair(t, "strides")
    before, behind = _padding(t, kernel, stride, (1, 1))
    _check_padding(kernel, before, behind)
    need(_ends_inside(t, kernel, stride, (1, 1), before, behind), "its windows end behind the padding")
    padding, first = symmetric(before, behind)
    counted = bool(t.attribute("count_include_pad", 0)) or padding == (0, 0)
    t.builder.add_image(t.name, t.shape, Pooling("average", kernel, stride, padding, first, counted), [t.value()])


def add_global(operation: Literal["maximum", "average"], t: Translation) -> None:
    """Over all rows and columns of an image."""
    shape = t.builder.shape(t.value())
    need(len(shape) == 4, "it is not over images")
    window = shape[2], shape[3]
    kind = Pooling(operation, window, window)
    t.builder.add_image(t.name, t.shape, kind, [t.value()])


def _ends_inside(t: Translation, kernel: Pair, stride: Pair, dilation: Pair, before: Pair, behind: Pair) -> bool:
    """Whether the last window ends before the padding does, which ``ceil_mode`` and images that are too small break."""
    extents = t.builder.shape(t.value())[2:]
    ends = [(t.shape[2 + a] - 1) * stride[a] + (kernel[a] - 1) * dilation[a] + 1 for a in range(2)]
    return all(ends[a] <= extents[a] + before[a] + behind[a] for a in range(2))


def _pair(t: Translation, name: str) -> Pair:
    values = t.attribute(name, [1, 1])
    need(len(values) == 2, f"{name} are not of two dimensions")
    return int(values[0]), int(values[1])


def _window(t: Translation) -> Pair:
    need(len(t.shape) == 4, "it is not over images")
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
        pads = [int(each) for each in t.attribute("pads", [0, 0, 0, 0])]
        need(min(pads) >= 0, f"its padding is negative: {pads}")
        return (pads[0], pads[1]), (pads[2], pads[3])
    if way == "VALID":
        return (0, 0), (0, 0)
    extents = t.builder.shape(t.value())[2:]
    both = []
    for axis in range(2):
        last = (t.shape[2 + axis] - 1) * stride[axis] + (kernel[axis] - 1) * dilation[axis] + 1
        both.append(max(0, last - extents[axis]))
    less = both[0] // 2, both[1] // 2
    more = both[0] - less[0], both[1] - less[1]
    return (less, more) if way == "SAME_UPPER" else (more, less)
