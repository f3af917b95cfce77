"""Which operators of PyTorch become kernels, and how: a function for each adds it to a graph."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
import torch
from torch.fx import Node

from polydl.models.builder import GraphBuilder
from polydl.models.convolution import Convolution
from polydl.models.elementwise import Concatenate, Enlarge, Select
from polydl.models.epilogue import FUNCTIONS, Apply, Clamp, Scale
from polydl.models.graph import Array
from polydl.models.group_norm import GroupNorm
from polydl.models.pooling import Pooling
from polydl.models.products import LayerNorm, Softmax
from polydl.models.translation import (
    NotUnderstoodError,
    add_attention,
    add_channelwise,
    add_combined,
    add_convolution,
    add_linear,
    add_product,
    add_transposed_convolution,
    add_with_constant,
    need,
)

Parameters = dict[str, torch.Tensor]


class Translation:
    """One operator of PyTorch's with its arguments, for the function that adds it to a graph."""

    def __init__(self, node: Node, builder: GraphBuilder, parameters: Parameters) -> None:
        self.name = node.name
        self.builder = builder
        self._node = node
        self._parameters = parameters
        self._schema = node.target._schema.arguments if isinstance(node.target, torch._ops.OpOverload) else ()

    @property
    def shape(self) -> tuple[int, ...]:
        value = self._node.meta["val"]
        return tuple(int(extent) for extent in (value[0] if isinstance(value, list | tuple) else value).shape)

    def argument(self, name: str) -> Any:
        """The argument with the name of the operator's schema, or its default."""
        for position, known in enumerate(self._schema):
            if known.name == name:
                if position < len(self._node.args):
                    return self._node.args[position]
                return self._node.kwargs.get(name, known.default_value)
        raise NotUnderstoodError(f"it has no argument {name}")

    def value(self, name: str) -> str:
        """A value that the graph computes or takes."""
        node = self.argument(name)
        if not isinstance(node, Node) or node.name not in self.builder:
            raise NotUnderstoodError(f"{name} is no value of type float")
        return str(node.name)

    def is_parameter(self, name: str) -> bool:
        node = self.argument(name)
        return isinstance(node, Node) and node.name in self._parameters

    def parameter(self, name: str) -> Array | None:
        """A parameter of the model in double, None if the argument is None."""
        node = self.argument(name)
        if node is None:
            return None
        if not isinstance(node, Node) or node.name not in self._parameters:
            raise NotUnderstoodError(f"{name} is computed, not a parameter")
        array: Array = self._parameters[node.name].detach().double().numpy()
        return array

    def pair(self, name: str) -> tuple[int, int]:
        value = self.argument(name)
        values = [value] if isinstance(value, int) else list(value)
        if not all(isinstance(each, int) for each in values):
            raise NotUnderstoodError(f"{name} is not constant")
        return (values[0], values[-1]) if values else (0, 0)


def _convolution(t: Translation) -> None:
    value, weight, bias = t.value("input"), t.parameter("weight"), t.parameter("bias")
    assert weight is not None
    filters, _, *kernel = weight.shape
    kind = Convolution(
        t.builder.shape(value)[1], filters, (kernel[0], kernel[1]),
        t.pair("stride"), t.pair("padding"), t.pair("dilation"), int(t.argument("groups")),
    )  # fmt: skip
    add_convolution(t.builder, t.name, t.shape, value, kind, weight, np.zeros(filters) if bias is None else bias)


def _transposed_convolution(t: Translation) -> None:
    value, weight, bias = t.value("input"), t.parameter("weight"), t.parameter("bias")
    assert weight is not None
    need(int(t.argument("groups")) == 1, "it has groups")
    add_transposed_convolution(
        t.builder, t.name, t.shape, value, weight, np.zeros(weight.shape[1]) if bias is None else bias,
        stride=t.pair("stride"), dilation=t.pair("dilation"), before=t.pair("padding"),
    )  # fmt: skip


def _batch_norm(t: Translation) -> None:
    value, mean, variance = t.value("input"), t.parameter("running_mean"), t.parameter("running_var")
    need(len(t.shape) == 4, "it is not over images")
    assert mean is not None
    assert variance is not None
    weight, bias = t.parameter("weight"), t.parameter("bias")
    scale = (1 if weight is None else weight) / np.sqrt(variance + t.argument("eps"))
    shift = (0 if bias is None else bias) - mean * scale
    node = t._node.args[0]
    only_use = isinstance(node, Node) and len(node.users) == 1
    add_channelwise(t.builder, t.name, value, scale, shift, only_use=only_use)


def _getitem(t: Translation) -> None:
    source, index = t._node.args
    part = f"{getattr(source, 'name', '')}.{index}"
    if part in t.builder:
        t.builder.alias(t.name, part)
        return
    need(index == 0 and isinstance(source, Node) and source.name in t.builder, "a further result is used")
    assert isinstance(source, Node)
    t.builder.alias(t.name, source.name)


def _function(name: str) -> Callable[[Translation], None]:
    def add(t: Translation) -> None:
        function = name
        if name == "gelu" and t.argument("approximate") == "tanh":
            function = "gelu_tanh"
        assert function in FUNCTIONS
        t.builder.add_element_wise(t.name, [t.value("self")], [Apply(function)])

    return add


def _hardtanh(t: Translation) -> None:
    limits = t.argument("min_val"), t.argument("max_val")
    step = Apply("relu6") if limits == (0, 6) else Clamp(float(limits[0]), float(limits[1]))
    t.builder.add_element_wise(t.name, [t.value("self")], [step])


def _combine(operation: Literal["+", "*"]) -> Callable[[Translation], None]:
    def add(t: Translation) -> None:
        if operation == "+":
            need(t.argument("alpha") == 1, "alpha is not 1")
        other = t.argument("other")
        if isinstance(other, int | float):
            step = Scale(float(other)) if operation == "*" else Scale(1.0, float(other))
            t.builder.add_element_wise(t.name, [t.value("self")], [step])
            return
        for one, parameter in (("self", "other"), ("other", "self")):
            if t.is_parameter(parameter):
                constant = t.parameter(parameter)
                assert constant is not None
                only_use = len(t.argument(one).users) == 1
                add_with_constant(t.builder, t.name, t.value(one), constant, operation, only_use=only_use)
                return
        add_combined(t.builder, t.name, [t.value("self"), t.value("other")], operation)

    return add


def _divide(t: Translation) -> None:
    other = t.argument("other")
    need(isinstance(other, int | float) and other != 0, "it divides by a tensor")
    t.builder.add_element_wise(t.name, [t.value("self")], [Scale(1.0 / float(other))])


def _max_pool(t: Translation) -> None:
    need(t.pair("dilation") == (1, 1), "dilated windows")
    kernel = t.pair("kernel_size")
    stride = t.pair("stride")
    kind = Pooling("maximum", kernel, kernel if stride == (0, 0) else stride, t.pair("padding"))
    t.builder.add_image(t.name, t.shape, kind, [t.value("self")])


def _average_pool(t: Translation) -> None:
    kernel, stride, padding = t.pair("kernel_size"), t.pair("stride"), t.pair("padding")
    need(not t.argument("ceil_mode"), "windows beyond the border")
    need(t.argument("divisor_override") is None, "another divisor")
    counted = padding == (0, 0) or bool(t.argument("count_include_pad"))
    steps = kernel if stride == (0, 0) else stride
    kind = Pooling("average", kernel, steps, padding, counts_padding=counted)
    t.builder.add_image(t.name, t.shape, kind, [t.value("self")])


def _adaptive_average(t: Translation) -> None:
    value = t.value("self")
    _, _, height, width = t.builder.shape(value)
    rows, columns = t.shape[2:]
    need(height % rows == 0 and width % columns == 0, "windows of different sizes")
    window = height // rows, width // columns
    t.builder.add_image(t.name, t.shape, Pooling("average", window, window), [value])


def _mean(t: Translation) -> None:
    value = t.value("self")
    shape = t.builder.shape(value)
    axes = sorted(axis % len(shape) for axis in t.argument("dim") or range(len(shape)))
    need(len(shape) == 4 and axes == [2, 3], "a mean over other dimensions than rows and columns")
    window = shape[2], shape[3]
    pooled = t.name if t.argument("keepdim") else f"{t.name}.mean"
    t.builder.add_image(pooled, (*shape[:2], 1, 1), Pooling("average", window, window), [value])
    if pooled != t.name:
        t.builder.add_view(t.name, t.shape, pooled)


def _view(t: Translation) -> None:
    node = t._node.args[0]
    need(isinstance(node, Node) and node.name in t.builder, "it is no value of type float")
    assert isinstance(node, Node)
    if t.builder.shape(node.name) == t.shape:
        t.builder.alias(t.name, node.name)
    else:
        t.builder.add_view(t.name, t.shape, node.name)


def _concatenate(t: Translation) -> None:
    nodes = t.argument("tensors")
    names = [each.name for each in nodes]
    need(len(t.shape) == 4 and int(t.argument("dim")) % 4 == 1, "it is not along the channels of images")
    need(all(name in t.builder for name in names), "an operand is no value of type float")
    need(len(set(names)) == len(names), "an operand comes twice")
    kind = Concatenate(tuple(t.builder.shape(name)[1] for name in names))
    t.builder.add_image(t.name, t.shape, kind, names)


def _select(t: Translation, name: str, value: str, first: int, channels: int) -> None:
    shape = t.builder.shape(value)
    t.builder.add_image(name, (shape[0], channels, *shape[2:]), Select(first, channels), [value])


def _split(t: Translation) -> None:
    """Parts get the name of the operator with their number."""
    value = t.value("self")
    shape = t.builder.shape(value)
    need(len(shape) == 4 and int(t.argument("dim")) % 4 == 1, "it is not along the channels of images")
    first = 0
    for number, part in enumerate(t._node.meta["val"]):
        channels = int(part.shape[1])
        _select(t, f"{t.name}.{number}", value, first, channels)
        first += channels


def _slice(t: Translation) -> None:
    value = t.value("self")
    shape, start, end = t.builder.shape(value), t.argument("start"), t.argument("end")
    axis = int(t.argument("dim")) % len(shape)
    whole = shape[axis] == t.shape[axis]
    if whole:
        t.builder.alias(t.name, value)
        return
    need(len(shape) == 4 and axis == 1 and t.argument("step") == 1, "it is not along the channels of images")
    need(all(each is None or isinstance(each, int) for each in (start, end)), "its limits are not constant")
    first, _, _ = slice(start, end).indices(shape[1])
    _select(t, t.name, value, first, t.shape[1])


def _nearest(t: Translation) -> None:
    value = t.value("input")
    before, after = t.builder.shape(value)[2:], t.shape[2:]
    need(all(a % b == 0 for a, b in zip(after, before, strict=True)), "its factors are not whole")
    kind = Enlarge((after[0] // before[0], after[1] // before[1]))
    t.builder.add_image(t.name, t.shape, kind, [value])


def _group_norm(t: Translation) -> None:
    weight, bias, channels = t.parameter("weight"), t.parameter("bias"), t.shape[1]
    need(len(t.shape) == 4, "it is not over images")
    constants = [
        t.builder.constant(f"{t.name}.weight", np.ones(channels) if weight is None else weight),
        t.builder.constant(f"{t.name}.bias", np.zeros(channels) if bias is None else bias),
    ]
    kind = GroupNorm(channels, int(t.argument("num_groups")), float(t.argument("eps")))
    t.builder.add_image(t.name, t.shape, kind, [t.value("input")], constants)


def _linear(t: Translation) -> None:
    weight, bias = t.parameter("weight"), t.parameter("bias")
    assert weight is not None
    add_linear(t.builder, t.name, t.value("input"), weight, np.zeros(len(weight)) if bias is None else bias)


def _product(second: str) -> Callable[[Translation], None]:
    def add(t: Translation) -> None:
        if t.is_parameter(second):
            weight = t.parameter(second)
            assert weight is not None
            need(weight.ndim == 2, f"its second operand has {weight.ndim} dimensions")
            add_linear(t.builder, t.name, t.value("self"), weight.T, np.zeros(weight.shape[1]))
        else:
            add_product(t.builder, t.name, t.value("self"), t.value(second))

    return add


def _attention(t: Translation) -> None:
    need(t.argument("dropout_p") == 0, "it drops elements")
    need(not t.argument("enable_gqa"), "its queries come in groups")
    scale, mask = t.argument("scale"), t.argument("attn_mask")
    query = t.value("query")
    add_attention(
        t.builder, t.name, query, t.value("key"), t.value("value"),
        scale=1.0 / math.sqrt(t.builder.shape(query)[-1]) if scale is None else float(scale),
        mask=None if mask is None else t.value("attn_mask"), causal=bool(t.argument("is_causal")),
    )  # fmt: skip


def _transpose(t: Translation) -> None:
    rank = len(t.shape)
    dimensions = list(range(rank))
    first, second = (int(t.argument(name)) % rank for name in ("dim0", "dim1"))
    dimensions[first], dimensions[second] = second, first
    t.builder.add_transposed(t.name, t.value("self"), dimensions)


def _permute(t: Translation) -> None:
    rank = len(t.shape)
    t.builder.add_transposed(t.name, t.value("self"), [int(dimension) % rank for dimension in t.argument("dims")])


def _softmax(t: Translation) -> None:
    need(int(t.argument("dim")) in (-1, len(t.shape) - 1), "it is not over the last dimension")
    t.builder.add_rows(t.name, t.shape, Softmax(), [t.value("self")])


def _layer_norm(t: Translation) -> None:
    weight, bias, extents = t.parameter("weight"), t.parameter("bias"), list(t.argument("normalized_shape"))
    need(len(extents) == 1, "it is over several dimensions")
    constants = [
        t.builder.constant(f"{t.name}.weight", np.ones(extents[0]) if weight is None else weight),
        t.builder.constant(f"{t.name}.bias", np.zeros(extents[0]) if bias is None else bias),
    ]
    kind = LayerNorm(extents[0], float(t.argument("eps")))
    t.builder.add_rows(t.name, t.shape, kind, [t.value("input")], constants)


_HANDLERS: dict[str, Callable[[Translation], None]] = {
    "conv2d.default": _convolution,
    "conv_transpose2d.input": _transposed_convolution,
    "_native_batch_norm_legit_no_training.default": _batch_norm,
    "getitem": _getitem,
    **{f"{name}.default": _function(name) for name in FUNCTIONS if name != "gelu_tanh"},
    "hardtanh.default": _hardtanh,
    "add.Tensor": _combine("+"),
    "mul.Tensor": _combine("*"),
    "div.Tensor": _divide,
    "max_pool2d.default": _max_pool,
    "avg_pool2d.default": _average_pool,
    "adaptive_avg_pool2d.default": _adaptive_average,
    "mean.dim": _mean,
    **dict.fromkeys(("view.default", "reshape.default", "flatten.using_ints", "_unsafe_view.default"), _view),
    **dict.fromkeys(("clone.default", "unsqueeze.default", "squeeze.dim", "alias.default"), _view),
    "cat.default": _concatenate,
    "linear.default": _linear,
    "matmul.default": _product("other"),
    **dict.fromkeys(("mm.default", "bmm.default"), _product("mat2")),
    "scaled_dot_product_attention.default": _attention,
    "transpose.int": _transpose,
    "permute.default": _permute,
    "softmax.int": _softmax,
    "_softmax.default": _softmax,
    "layer_norm.default": _layer_norm,
    "group_norm.default": _group_norm,
    "upsample_nearest2d.vec": _nearest,
    **dict.fromkeys(("split.Tensor", "split_with_sizes.default", "chunk.default"), _split),
    "slice.Tensor": _slice,
}


def add(node: Node, builder: GraphBuilder, parameters: Parameters) -> None:
    """Add what a node computes to a graph. Raises NotUnderstoodError, and has then added nothing that is needed."""
    target = node.target
    name = getattr(target, "__name__", str(target))
    if name not in _HANDLERS:
        raise NotUnderstoodError(f"no kernel for {name.removesuffix('.default')}")
    _HANDLERS[name](Translation(node, builder, parameters))


def is_float(values: Sequence[object]) -> bool:
    """Whether all are tensors of ``float`` in the CPU's memory."""
    return all(
        isinstance(each, torch.Tensor) and each.dtype == torch.float32 and each.device.type == "cpu" for each in values
    )
