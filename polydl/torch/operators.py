"""Which operators of PyTorch become kernels, and how: a function for each adds it to a graph."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
import torch
from torch.fx import Node

from polydl.models.builder import GraphBuilder
from polydl.models.elementwise import ParametricRelu
from polydl.models.epilogue import FUNCTIONS, POWERS, ApplyFunction, Arithmetic, Clamp, Exponential, Scale, Slope, Step
from polydl.models.graph import Array
from polydl.models.normalizing import add_layer_norm, add_reduction, add_softmax
from polydl.models.rearranging import add_given, add_repeated
from polydl.models.translation import (
    NO_WEIGHT,
    NotUnderstoodError,
    add_attention,
    add_chosen,
    add_combined,
    add_filled,
    add_linear,
    add_product,
    add_product_and_summand,
    add_with_constant,
    need,
)
from polydl.torch import images, rearranging
from polydl.torch.translation import Parameters, Translation

# SELU's constants (Klambauer et al., 2017).
_SELU = Exponential(1.6732632423543772, 1.0507009873554805)


def _add_steps(t: Translation, *steps: Step) -> None:
    t.builder.add_element_wise(t.name, [t.value("self")], steps)


def _function(name: str) -> Callable[[Translation], None]:
    def add(t: Translation) -> None:
        function = name
        if name == "gelu" and t.argument("approximate") == "tanh":
            function = "gelu_tanh"
        if name == "softplus":
            need((t.argument("beta"), t.argument("threshold")) == (1, 20), "beta is not 1, or threshold not 20")
        _add_steps(t, ApplyFunction(next(each for each in FUNCTIONS if each == function)))

    return add


def _hardtanh(t: Translation) -> None:
    limits = t.argument("min_val"), t.argument("max_val")
    _add_steps(t, ApplyFunction("relu6") if limits == (0, 6) else Clamp(float(limits[0]), float(limits[1])))


def _clamp(least: str, most: str) -> Callable[[Translation], None]:
    """Arguments are those names; "" is none."""

    def add(t: Translation) -> None:
        limits = [None if not name else t.argument(name) for name in (least, most)]
        need(all(each is None or isinstance(each, int | float) for each in limits), "a limit is a tensor")
        low, high = limits
        _add_steps(t, Clamp(-math.inf if low is None else float(low), math.inf if high is None else float(high)))

    return add


def _elu(t: Translation) -> None:
    exponent = float(t.argument("input_scale"))
    need(exponent != 0, "its exponent is 0")
    _add_steps(t, Exponential(float(t.argument("alpha")), float(t.argument("scale")), 1 / exponent))


def _celu(t: Translation) -> None:
    alpha = float(t.argument("alpha"))
    _add_steps(t, Exponential(alpha, 1.0, alpha))


def _prelu(t: Translation) -> None:
    weight = t.parameter("weight")
    assert weight is not None
    value, rank = t.value("self"), len(t.shape)
    if weight.size == 1:
        _add_steps(t, Slope(float(weight.flat[0])))
        return
    shape = (weight.size,) + (1,) * (rank - 2)
    constants = [t.builder.constant(f"{t.name}.slope", weight)]
    if rank == 4:
        t.builder.add_image(t.name, t.shape, ParametricRelu(shape), [value], constants)
    else:
        t.builder.add_rows(t.name, t.shape, ParametricRelu(shape), [value], constants)


def _power(t: Translation) -> None:
    exponent = t.argument("exponent")
    function = POWERS.get(exponent)
    need(function is not None, f"its exponent is {exponent}")
    assert function is not None
    _add_steps(t, ApplyFunction(function))


def _combine(operation: Arithmetic) -> Callable[[Translation], None]:
    def add(t: Translation) -> None:
        if operation in ("+", "-"):
            need(t.argument("alpha") == 1, "alpha is not 1")
        if operation == "/" and any(each.name == "rounding_mode" for each in t.schema):
            need(t.argument("rounding_mode") is None, "it rounds")
        other = t.argument("other")
        if isinstance(other, int | float):
            _add_steps(t, _with_number(operation, float(other)))
        elif t.is_parameter("other") and not t.is_parameter("self"):
            constant = t.parameter("other")
            assert constant is not None
            need(operation != "/" or bool(np.all(constant != 0)), "it divides by 0")
            signed = {"+": constant, "*": constant, "-": -constant}
            array = 1 / constant if operation == "/" else signed[operation]
            _need_rows(array)
            sign: Literal["+", "*"] = "+" if operation in ("+", "-") else "*"
            add_with_constant(t.builder, t.name, t.value("self"), array, sign, only_use=t.only_use)
        elif t.is_parameter("self") and operation in ("+", "*"):
            constant = t.parameter("self")
            assert constant is not None
            _need_rows(constant)
            sign = "+" if operation == "+" else "*"
            only_use = len(other.users) == 1
            add_with_constant(t.builder, t.name, t.value("other"), constant, sign, only_use=only_use)
        else:
            add_combined(t.builder, t.name, [t.value("self"), t.value("other")], operation)

    return add


def _extreme(operation: Literal["max", "min"]) -> Callable[[Translation], None]:
    def add(t: Translation) -> None:
        add_combined(t.builder, t.name, [t.value("self"), t.value("other")], operation)

    return add


def _need_rows(constant: Array) -> None:
    """Softmax of nothing but minus infinity is no number, or none where it is attention, and kernels know none."""
    need(not np.any(np.all(constant == -math.inf, axis=-1 if constant.ndim else None)), "it leaves nothing of a row")


def _with_number(operation: Arithmetic, other: float) -> Step:
    need(operation != "/" or other != 0, "it divides by 0")
    match operation:
        case "+":
            return Scale(1.0, other)
        case "-":
            return Scale(1.0, -other)
        case "*":
            return Scale(other)
        case "/":
            return Scale(1.0 / other)


def _subtract_from_number(t: Translation) -> None:
    other = t.argument("other")
    need(isinstance(other, int | float) and t.argument("alpha") == 1, "it subtracts from a tensor")
    _add_steps(t, Scale(-1.0, float(other)))


def _is_softmax(node: Node) -> bool:
    return getattr(node.target, "__name__", "") in ("softmax.int", "_softmax.default")


def _softmaxes(t: Translation) -> list[int] | None:
    """The dimensions of the softmaxes that the result goes into; None if it goes into anything else."""
    return [user.args[1] for user in t.node.users] if all(map(_is_softmax, t.node.users)) else None


def _masked_fill(t: Translation) -> None:
    mask, fill = t.parameter("mask"), float(t.argument("value"))
    assert mask is not None
    add_filled(t.builder, t.name, t.value("self"), mask != 0, fill, _softmaxes(t))


def _where(t: Translation) -> None:
    """Two values, or a value and a number, of which a constant condition chooses."""
    constant = t.parameter("condition")
    assert constant is not None
    condition = constant != 0
    for name, kept, mask in (("other", "self", ~condition), ("self", "other", condition)):
        fill = t.number(name)
        if fill is not None:
            add_filled(t.builder, t.name, t.value(kept), mask, fill, _softmaxes(t))
            return
    add_chosen(t.builder, t.name, condition, t.value("self"), t.value("other"))


def _filled(fill: float | str) -> Callable[[Translation], None]:
    """A number, or that of an argument, in each element of the result."""

    def add(t: Translation) -> None:
        number = t.builder.new_name(f"{t.name}.number")
        value = float(t.argument(fill)) if isinstance(fill, str) else fill
        need(math.isfinite(value), "its elements are no numbers")
        add_given(t.builder, number, np.full((1,) * len(t.shape), value))
        add_repeated(t.builder, t.name, number, t.shape)

    return add


def _reduction(operation: Literal["sum", "mean", "maximum"]) -> Callable[[Translation], None]:
    def add(t: Translation) -> None:
        value = t.value("self")
        rank = len(t.builder.shape(value))
        some = any(each.name == "dim" for each in t.schema)
        axes = t.dimensions("dim", rank) if some else range(rank)
        keeps = some and bool(t.argument("keepdim"))
        add_reduction(t.builder, t.name, value, axes, operation, keeps=keeps)

    return add


def _linear(t: Translation) -> None:
    weight, bias = t.parameter("weight"), t.parameter("bias")
    assert weight is not None
    add_linear(t.builder, t.name, t.value("input"), weight, np.zeros(len(weight)) if bias is None else bias)


def _product(second: str) -> Callable[[Translation], None]:
    def add(t: Translation) -> None:
        weight = t.parameter(second) if t.is_parameter(second) else None
        if weight is not None and weight.ndim == 2:
            add_linear(t.builder, t.name, t.value("self"), weight.T, np.zeros(weight.shape[1]))
        else:
            add_product(t.builder, t.name, t.value("self"), t.value(second))

    return add


def _addmm(t: Translation) -> None:
    second, summand = (t.parameter(name) if t.is_parameter(name) else t.value(name) for name in ("mat2", "self"))
    assert second is not None
    alpha, beta = float(t.argument("alpha")), float(t.argument("beta"))
    need(not isinstance(second, str) or len(t.builder.shape(second)) == 2, "its second operand is no matrix")
    add_product_and_summand(t.builder, t.name, t.value("mat1"), second, summand, alpha=alpha, beta=beta)


def _attention_mask(t: Translation) -> str | Array | None:
    """A value that is added to the scores, or a constant; of one of type bool, what is false leaves no weight."""
    if t.argument("attn_mask") is None:
        return None
    if not t.is_parameter("attn_mask"):
        return t.value("attn_mask")
    mask = t.parameter("attn_mask")
    assert mask is not None
    summand: Array = np.where(mask != 0, 0.0, -math.inf) if t.type_of("attn_mask") == torch.bool else mask
    _need_rows(summand)
    return np.maximum(summand, NO_WEIGHT)


def _attention(t: Translation) -> None:
    need(t.argument("dropout_p") == 0, "it drops elements")
    need(not t.argument("enable_gqa"), "its queries come in groups")
    scale, query = t.argument("scale"), t.value("query")
    add_attention(
        t.builder, t.name, query, t.value("key"), t.value("value"),
        scale=1.0 / math.sqrt(t.builder.shape(query)[-1]) if scale is None else float(scale),
        mask=_attention_mask(t), causal=bool(t.argument("is_causal")),
    )  # fmt: skip


def _softmax(*, logarithm: bool) -> Callable[[Translation], None]:
    def add(t: Translation) -> None:
        axis = t.dimension("dim", len(t.shape))
        add_softmax(t.builder, t.name, t.value("self"), axis, logarithm=logarithm)

    return add


def _layer_norm(t: Translation) -> None:
    weight, bias, dimensions = t.parameter("weight"), t.parameter("bias"), len(t.argument("normalized_shape"))
    add_layer_norm(t.builder, t.name, t.value("input"), dimensions, weight, bias, float(t.argument("eps")))


def _rms_norm(t: Translation) -> None:
    epsilon = t.argument("eps")
    add_layer_norm(
        t.builder, t.name, t.value("input"), len(t.argument("normalized_shape")), t.parameter("weight"), None,
        torch.finfo(torch.float32).eps if epsilon is None else float(epsilon), centered=False,
    )  # fmt: skip


def _embedding(t: Translation) -> None:
    del t
    raise NotUnderstoodError("the rows that it reads are data, of an integer type")


def _dropout(t: Translation) -> None:
    del t
    raise NotUnderstoodError("it drops elements")


_VIEWS = (
    "view.default", "reshape.default", "flatten.using_ints", "unflatten.int", "_unsafe_view.default", "clone.default",
    "contiguous.default", "detach.default", "alias.default", "lift_fresh_copy.default", "to.dtype", "to.device",
    "to.dtype_layout", "_to_copy.default", "unsqueeze.default", "squeeze.default", "squeeze.dim", "squeeze.dims",
)  # fmt: skip
_HANDLERS: dict[str, Callable[[Translation], None]] = {
    **dict.fromkeys(("conv1d.default", "conv2d.default", "conv1d.padding", "conv2d.padding"), images.add_conv),
    "conv_transpose2d.input": images.add_conv_transpose,
    **dict.fromkeys(("batch_norm.default", "_native_batch_norm_legit_no_training.default"), images.add_batch_norm),
    "instance_norm.default": images.add_instance_norm,
    "group_norm.default": images.add_norm_of_groups,
    **dict.fromkeys(("max_pool1d.default", "max_pool2d.default"), images.add_max_pool),
    **dict.fromkeys(("avg_pool1d.default", "avg_pool2d.default"), images.add_average_pool),
    **dict.fromkeys(
        ("adaptive_avg_pool1d.default", "adaptive_avg_pool2d.default"), images.add_adaptive_pool("average")
    ),
    **dict.fromkeys(
        ("adaptive_max_pool1d.default", "adaptive_max_pool2d.default"), images.add_adaptive_pool("maximum")
    ),
    "upsample_nearest2d.vec": images.add_nearest,
    "pixel_shuffle.default": images.add_pixel_shuffle,
    **{f"{name}.default": _function(name) for name in FUNCTIONS if name != "gelu_tanh"},
    "hardtanh.default": _hardtanh,
    "clamp.default": _clamp("min", "max"),
    "clamp_min.default": _clamp("min", ""),
    "clamp_max.default": _clamp("", "max"),
    "leaky_relu.default": lambda t: _add_steps(t, Slope(float(t.argument("negative_slope")))),
    "elu.default": _elu,
    "celu.default": _celu,
    "selu.default": lambda t: _add_steps(t, _SELU),
    "prelu.default": _prelu,
    "neg.default": lambda t: _add_steps(t, Scale(-1.0)),
    "pow.Tensor_Scalar": _power,
    **dict.fromkeys(("add.Tensor", "add.Scalar"), _combine("+")),
    **dict.fromkeys(("sub.Tensor", "sub.Scalar"), _combine("-")),
    **dict.fromkeys(("mul.Tensor", "mul.Scalar"), _combine("*")),
    **dict.fromkeys(("div.Tensor", "div.Scalar", "div.Tensor_mode"), _combine("/")),
    "rsub.Scalar": _subtract_from_number,
    **dict.fromkeys(("maximum.default", "max.other"), _extreme("max")),
    **dict.fromkeys(("minimum.default", "min.other"), _extreme("min")),
    **dict.fromkeys(("where.self", "where.ScalarOther", "where.ScalarSelf"), _where),
    **dict.fromkeys(("zeros_like.default", "new_zeros.default"), _filled(0.0)),
    **dict.fromkeys(("ones_like.default", "new_ones.default"), _filled(1.0)),
    **dict.fromkeys(("full_like.default", "new_full.default"), _filled("fill_value")),
    "masked_fill.Scalar": _masked_fill,
    **dict.fromkeys(("mean.dim", "mean.default"), _reduction("mean")),
    **dict.fromkeys(("sum.dim_IntList", "sum.default"), _reduction("sum")),
    **dict.fromkeys(("amax.default", "max.default"), _reduction("maximum")),
    **dict.fromkeys(_VIEWS, rearranging.add_view),
    **dict.fromkeys(("dropout.default", "feature_dropout.default"), _dropout),
    "getitem": rearranging.add_getitem,
    "cat.default": rearranging.add_cat,
    "stack.default": rearranging.add_stack,
    **dict.fromkeys(("split.Tensor", "split_with_sizes.default", "chunk.default"), rearranging.add_split),
    "unbind.int": rearranging.add_unbind,
    "select.int": rearranging.add_select,
    "slice.Tensor": rearranging.add_slice,
    "index.Tensor": rearranging.add_indexed,
    "roll.default": rearranging.add_roll,
    "pad.default": rearranging.add_pad,
    "expand.default": rearranging.add_expand,
    "transpose.int": rearranging.add_transpose,
    "t.default": rearranging.add_t,
    "permute.default": rearranging.add_permute,
    "linear.default": _linear,
    "matmul.default": _product("other"),
    **dict.fromkeys(("mm.default", "bmm.default"), _product("mat2")),
    "addmm.default": _addmm,
    "scaled_dot_product_attention.default": _attention,
    **dict.fromkeys(("softmax.int", "_softmax.default"), _softmax(logarithm=False)),
    **dict.fromkeys(("log_softmax.int", "_log_softmax.default"), _softmax(logarithm=True)),
    "layer_norm.default": _layer_norm,
    "rms_norm.default": _rms_norm,
    "embedding.default": _embedding,
}


def is_known(name: str) -> bool:
    """Whether some operators of that name become kernels."""
    return name in _HANDLERS


def add(node: Node, builder: GraphBuilder, parameters: Parameters) -> None:
    """Add what a node computes to a graph. Raises NotUnderstoodError, and has then added nothing that is needed."""
    translation = Translation(node, builder, parameters)
    name = translation.operator
    if name not in _HANDLERS:
        raise NotUnderstoodError(f"no kernel for {name.removesuffix('.default')}")
    _HANDLERS[name](translation)


def is_float(values: Sequence[object]) -> bool:
    """Whether all are tensors of ``float`` in the CPU's memory."""
    return all(
        isinstance(each, torch.Tensor) and each.dtype == torch.float32 and each.device.type == "cpu" for each in values
    )
