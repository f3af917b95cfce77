"""PyTorch's operators on images, and on rows of channels as images of one row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from polydl.models.convolution import Convolution
from polydl.models.normalizing import add_group_norm
from polydl.models.pooling import Pooling
from polydl.models.rearranging import add_enlarged, add_shuffled
from polydl.models.translation import (
    add_channelwise,
    add_convolution,
    add_transposed_convolution,
    need,
    symmetric,
)
from polydl.torch.translation import Translation

Pair = tuple[int, int]


def add_conv(t: Translation) -> None:
    """A convolution of one or two dimensions, with a number of rows of padding or with as many as keep the size."""
    weight, bias = t.parameter("weight"), t.parameter("bias")
    assert weight is not None
    value, shape, name = _images(t, "input")
    line = t.is_line
    stride, dilation = (_of_images(t.pair(each), 1, line=line) for each in ("stride", "dilation"))
    if line:
        weight = weight.reshape(*weight.shape[:2], 1, weight.shape[2])
    filters, _, *kernel = weight.shape
    padding, first = _padding(t, (kernel[0], kernel[1]), dilation, line=line)
    kind = Convolution(
        t.builder.shape(value)[1], filters, (kernel[0], kernel[1]), stride, padding, dilation,
        int(t.argument("groups")), first,
    )  # fmt: skip
    bias = np.zeros(filters) if bias is None else bias
    add_convolution(t.builder, name, shape, value, kind, weight, bias, source=t.name)
    _finish(t, name)


def _padding(t: Translation, kernel: Pair, dilation: Pair, *, line: bool) -> tuple[Pair, Pair]:
    """Rows and columns of padding, and where the first window begins in it."""
    way = t.argument("padding")
    if not isinstance(way, str):
        return _of_images(t.pair("padding"), 0, line=line), (0, 0)
    both = [(kernel[axis] - 1) * dilation[axis] if way == "same" else 0 for axis in range(2)]
    before = both[0] // 2, both[1] // 2
    return symmetric(before, (both[0] - before[0], both[1] - before[1]))


def _of_images(pair: Pair, row: int, *, line: bool) -> Pair:
    """A pair of two dimensions; where there is but one, what goes with the only row."""
    return (row, pair[1]) if line else pair


def _images(t: Translation, argument: str) -> tuple[str, tuple[int, ...], str]:
    """An argument as images, and the shape and the name of a result in the same form."""
    value, shape = t.value(argument), t.shape
    need(len(shape) == (3 if t.is_line else 4), "it is not over several images")
    if t.is_line:
        return t.builder.line(value), (*shape[:2], 1, shape[2]), t.builder.new_name(f"{t.name}.line")
    return value, shape, t.name


def _finish(t: Translation, name: str) -> None:
    """The result of images of one row has the operator's own name."""
    if name != t.name:
        t.builder.add_line(t.name, name)


def add_conv_transpose(t: Translation) -> None:
    """A transposed convolution with constant filters. Raises NotUnderstoodError for groups, and for a single image."""
    weight, bias = t.parameter("weight"), t.parameter("bias")
    assert weight is not None
    need(int(t.argument("groups")) == 1, "it has groups")
    need(len(t.shape) == 4, "it is not over several images")
    add_transposed_convolution(
        t.builder, t.name, t.shape, t.value("input"), weight, np.zeros(weight.shape[1]) if bias is None else bias,
        stride=t.pair("stride"), dilation=t.pair("dilation"), before=t.pair("padding"),
    )  # fmt: skip


def add_batch_norm(t: Translation) -> None:
    """Batch normalization by stored statistics: a factor and a term a channel. Raises NotUnderstoodError for others."""
    value, mean, variance = t.value("input"), t.parameter("running_mean"), t.parameter("running_var")
    need(len(t.shape) in (2, 3, 4), "it is not over images")
    need(mean is not None and variance is not None, "its statistics are those of its input")
    assert mean is not None
    assert variance is not None
    weight, bias = t.parameter("weight"), t.parameter("bias")
    scale = (1 if weight is None else weight) / np.sqrt(variance + t.argument("eps"))
    shift = (0 if bias is None else bias) - mean * scale
    add_channelwise(t.builder, t.name, value, scale, shift, only_use=t.only_use)


def add_instance_norm(t: Translation) -> None:
    """Instance normalization, with a group for each channel. Raises NotUnderstoodError for stored statistics."""
    need(bool(t.argument("use_input_stats")), "its statistics are not those of its input")
    weight, bias = t.parameter("weight"), t.parameter("bias")
    add_group_norm(t.builder, t.name, t.value("input"), t.shape[1], weight, bias, float(t.argument("eps")))


def add_norm_of_groups(t: Translation) -> None:
    """Group normalization, with constant factors and summands if it has some."""
    weight, bias = t.parameter("weight"), t.parameter("bias")
    groups = int(t.argument("num_groups"))
    add_group_norm(t.builder, t.name, t.value("input"), groups, weight, bias, float(t.argument("eps")))


def add_max_pool(t: Translation) -> None:
    """Maximum pooling; without a stride, windows lie side by side. Raises NotUnderstoodError for dilated windows."""
    value, shape, name = _images(t, "self")
    line = t.is_line
    need(set(t.pair("dilation")) == {1}, "dilated windows")
    kernel = _of_images(t.pair("kernel_size"), 1, line=line)
    stride, padding = t.pair("stride"), _of_images(t.pair("padding"), 0, line=line)
    steps = kernel if stride == (0, 0) else _of_images(stride, 1, line=line)
    t.builder.add_image(name, shape, Pooling("maximum", kernel, steps, padding), [value], source=t.name)
    _finish(t, name)


def add_average_pool(t: Translation) -> None:
    """Average pooling; without a stride, windows lie side by side. Raises NotUnderstoodError for what has no kernel."""
    value, shape, name = _images(t, "self")
    line = t.is_line
    kernel, stride = _of_images(t.pair("kernel_size"), 1, line=line), t.pair("stride")
    padding = _of_images(t.pair("padding"), 0, line=line)
    need(not t.argument("ceil_mode"), "windows beyond the border")
    need(line or t.argument("divisor_override") is None, "another divisor")
    counted = padding == (0, 0) or bool(t.argument("count_include_pad"))
    steps = kernel if stride == (0, 0) else _of_images(stride, 1, line=line)
    kind = Pooling("average", kernel, steps, padding, counts_padding=counted)
    t.builder.add_image(name, shape, kind, [value], source=t.name)
    _finish(t, name)


def add_adaptive_pool(operation: Literal["maximum", "average"]) -> Callable[[Translation], None]:
    """Windows that cover the image, where all have one size."""

    def add(t: Translation) -> None:
        value, shape, name = _images(t, "self")
        _, _, height, width = t.builder.shape(value)
        rows, columns = shape[2:]
        need(height % rows == 0 and width % columns == 0, "windows of different sizes")
        window = height // rows, width // columns
        t.builder.add_image(name, shape, Pooling(operation, window, window), [value], source=t.name)
        _finish(t, name)

    return add


def add_nearest(t: Translation) -> None:
    """Images that are enlarged by whole factors, by repeating pixels. Raises NotUnderstoodError for other factors."""
    value, factors = t.value("input"), t.argument("scale_factors")
    before = t.builder.shape(value)[2:]
    given = [None] * len(before) if factors is None else factors
    for extent, outputs, factor in zip(before, t.shape[2:], given, strict=True):
        need(_repeats_evenly(extent, outputs, factor), "it does not repeat all pixels as often")
    add_enlarged(t.builder, t.name, value, t.shape)


def _repeats_evenly(extent: int, outputs: int, factor: float | None) -> bool:
    """Whether PyTorch repeats all pixels as often.

    It finds their places in float, by a factor that is given even where that is not the ratio of the sizes.
    """
    share = np.float32(1.0 / factor if factor else extent / outputs)
    places = np.floor(np.arange(outputs, dtype=np.float32) * share)
    return outputs % extent == 0 and bool(np.array_equal(places, np.arange(outputs) // (outputs // extent)))


def add_pixel_shuffle(t: Translation) -> None:
    """Channels that become pixels of larger images (``add_shuffled``)."""
    add_shuffled(t.builder, t.name, t.value("self"), int(t.argument("upscale_factor")))
