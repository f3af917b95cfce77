"""Which operators of ONNX become kernels, and how: a function for each adds it to a graph."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import inf, prod
from typing import Literal

import numpy as np

from polydl.errors import UnsupportedConstructError
from polydl.models.builder import GraphBuilder
from polydl.models.elementwise import ParametricRelu
from polydl.models.epilogue import (
    POWERS,
    ApplyFunction,
    Arithmetic,
    Clamp,
    Exponential,
    Function,
    Operation,
    Scale,
    Slope,
    Step,
)
from polydl.models.fusing import with_steps
from polydl.models.graph import Array, Graph
from polydl.models.normalizing import add_group_norm, add_layer_norm, add_reduction, add_softmax
from polydl.models.translation import (
    NotUnderstoodError,
    add_channelwise,
    add_chosen,
    add_combined,
    add_filled,
    add_linear,
    add_product,
    add_product_and_summand,
    add_with_constant,
    need,
    need_broadcast,
    repeated,
)
from polydl.onnx import rearranging
from polydl.onnx.nodes import Node, Shape, ShapedGraph
from polydl.onnx.translation import SOFTMAX_OF_ONE_DIMENSION, Translation, softmax_axis
from polydl.onnx.windows import add_average_pool, add_conv, add_conv_transpose, add_global, add_max_pool

_CLIP_WITH_OPERANDS = 11


def _clip(t: Translation) -> None:
    if t.opset < _CLIP_WITH_OPERANDS:
        least, most = float(t.attribute("min", -inf)), float(t.attribute("max", inf))
    else:
        least, most = t.number(1, -inf), t.number(2, inf)
    # The largest number of the type stands for no limit in old files.
    most = inf if most >= np.finfo(np.float32).max else most
    functions: dict[tuple[float, float], Function] = {(0, 6): "relu6", (0, inf): "relu"}
    function = functions.get((least, most))
    _steps(t, Clamp(least, most) if function is None else ApplyFunction(function))


def _steps(t: Translation, *steps: Step) -> None:
    t.builder.add_element_wise(t.name, [t.value()], steps)


def _leaky(t: Translation) -> None:
    _steps(t, Slope(float(t.attribute("alpha", 0.01))))


def _elu(t: Translation) -> None:
    _steps(t, Exponential(float(t.attribute("alpha", 1.0))))


def _selu(t: Translation) -> None:
    scale = float(t.attribute("gamma", 1.05070102214813232421875))
    _steps(t, Exponential(float(t.attribute("alpha", 1.67326319217681884765625)), scale))


def _celu(t: Translation) -> None:
    alpha = float(t.attribute("alpha", 1.0))
    need(alpha != 0, "alpha is 0")
    _steps(t, Exponential(alpha, 1.0, alpha))


def _negative(t: Translation) -> None:
    _steps(t, Scale(-1.0))


def _power(t: Translation) -> None:
    function = POWERS.get(t.number(1, 1.0))
    need(function is not None, f"its exponent is {t.number(1, 1.0):g}")
    assert function is not None
    _steps(t, ApplyFunction(function))


def _parametric(t: Translation) -> None:
    """The slope is broadcast to the value, from the last dimension on."""
    value, slope = t.value(), t.numbers(1)
    shape = t.builder.shape(value)
    need_broadcast(slope.shape, shape)
    if slope.size == 1:
        _steps(t, Slope(float(slope.flat[0])))
        return
    channels = (1,) * (len(shape) - slope.ndim) + slope.shape == (1, *shape[1:2], *(1,) * (len(shape) - 2))
    constants = [t.builder.constant(f"{t.name}.slope", slope.reshape(-1) if len(shape) == 4 and channels else slope)]
    add = t.builder.add_image if len(shape) == 4 and channels else t.builder.add_rows
    add(t.name, shape, ParametricRelu(slope.shape), [value], constants)


def _of_several(operation: Operation, t: Translation) -> None:
    """A sum, maximum or minimum of any number of operands."""
    values = [t.value(position) for position in range(len(t.node.inputs))]
    total = values[0]
    for number, value in enumerate(values[1:], 2):
        name = t.name if number == len(values) else t.builder.new_name(f"{t.name}.sum")
        add_combined(t.builder, name, [total, value], operation)
        total = name
    if len(values) == 1:
        t.builder.alias(t.name, total)


def _reduction(operation: Literal["sum", "mean", "maximum"], t: Translation) -> None:
    value = t.value()
    none = t.constant(1).size == 0 if t.has(1) else not t.attribute("axes")
    need(not (none and t.attribute("noop_with_empty_axes", 0)), "it is over no dimension")
    axes = t.axes(1, len(t.builder.shape(value)))
    add_reduction(t.builder, t.name, value, axes, operation, keeps=bool(t.attribute("keepdims", 1)))


def _softmax(t: Translation, *, logarithm: bool) -> None:
    rank = len(t.shape)
    axis = softmax_axis(t.node, rank, t.opset)
    if t.opset >= SOFTMAX_OF_ONE_DIMENSION or axis == rank - 1:
        add_softmax(t.builder, t.name, t.value(), axis, logarithm=logarithm)
        return
    flat, result = t.builder.new_name(f"{t.name}.flat"), t.builder.new_name(f"{t.name}.result")
    t.builder.add_view(flat, (prod(t.shape[:axis]), prod(t.shape[axis:])), t.value())
    add_softmax(t.builder, result, flat, 1, logarithm=logarithm, source=t.name)
    t.builder.add_view(t.name, t.shape, result)


def _layer_norm(t: Translation) -> None:
    """Factors and summands are broadcast to the value. Those that vary from row to row get kernels of their own."""
    axis = int(t.attribute("axis", -1)) % len(t.shape)
    row, epsilon = t.shape[axis:], float(t.attribute("epsilon", 1e-5))
    weight, bias = t.numbers(1), t.numbers(2) if t.has(2) else np.zeros(1)
    need_broadcast(weight.shape, t.shape)
    need_broadcast(bias.shape, t.shape)
    weights, biases = _of_each_row(weight, row), _of_each_row(bias, row)
    if weights is not None and biases is not None:
        add_layer_norm(t.builder, t.name, t.value(), len(row), weights, biases, epsilon)
        return
    normalized, scaled = t.builder.new_name(f"{t.name}.normalized"), t.builder.new_name(f"{t.name}.scaled")
    add_layer_norm(t.builder, normalized, t.value(), len(row), None, None, epsilon)
    add_with_constant(t.builder, scaled, normalized, weight, "*", only_use=True, source=t.name)
    add_with_constant(t.builder, t.name, scaled, bias, "+", only_use=True)


def _rms_norm(t: Translation) -> None:
    axis, weight = int(t.attribute("axis", -1)) % len(t.shape), t.numbers(1)
    row, epsilon = t.shape[axis:], float(t.attribute("epsilon", 1e-5))
    need_broadcast(weight.shape, row)
    weights = np.broadcast_to(weight, row)
    add_layer_norm(t.builder, t.name, t.value(), len(row), weights, None, epsilon, centered=False)


def _of_each_row(array: Array, row: Shape) -> Array | None:
    """A constant as all rows of that shape have it; None if it varies from row to row."""
    within = array.shape[max(0, array.ndim - len(row)) :]
    return np.broadcast_to(array.reshape(within), row) if array.size == prod(within) else None


def _group_norm(t: Translation) -> None:
    """Weight and bias, if there are any, have an element for each channel."""
    value, groups = t.value(), int(t.attribute("num_groups"))
    channels = _channels(t)
    need(channels % groups == 0, f"{channels} channels are no {groups} groups")
    weight, bias = (t.numbers(position) if t.has(position) else None for position in (1, 2))
    fits = all(array is None or array.shape == (channels,) for array in (weight, bias))
    need(fits, f"its constants have not {channels} elements each")
    add_group_norm(t.builder, t.name, value, groups, weight, bias, float(t.attribute("epsilon", 1e-5)))


def _channels(t: Translation) -> int:
    need(len(t.shape) > 1, "it is not over images")
    return t.shape[1]


def _instance_norm(t: Translation) -> None:
    value, channels = t.value(), _channels(t)
    weight, bias = t.numbers(1), t.numbers(2)
    need(weight.shape == bias.shape == (channels,), f"its constants have not {channels} elements each")
    add_group_norm(t.builder, t.name, value, channels, weight, bias, float(t.attribute("epsilon", 1e-5)))


def _batch_norm(t: Translation) -> None:
    need(len(t.shape) in (2, 3, 4), "it is not over images")
    need(not t.attribute("training_mode", 0), "it is in training mode")
    weight, bias, mean, variance = (t.numbers(position) for position in range(1, 5))
    fits = all(array.shape == (t.shape[1],) for array in (weight, bias, mean, variance))
    need(fits, f"its constants have not {t.shape[1]} elements each")
    scale = weight / np.sqrt(variance + t.attribute("epsilon", 1e-5))
    add_channelwise(t.builder, t.name, t.value(), scale, bias - mean * scale, only_use=t.is_only_use(t.value()))


def _function(function: Function, t: Translation) -> None:
    t.builder.add_element_wise(t.name, [t.value()], [ApplyFunction(function)])


def _gelu(t: Translation) -> None:
    _function("gelu_tanh" if t.attribute("approximate", "none") == "tanh" else "gelu", t)


def _hard_sigmoid(t: Translation) -> None:
    slope, offset = float(t.attribute("alpha", 0.2)), float(t.attribute("beta", 0.5))
    t.builder.add_element_wise(t.name, [t.value()], [Scale(slope, offset), Clamp(0.0, 1.0)])


def _combine(operation: Arithmetic, t: Translation) -> None:
    """A sum, difference, product or quotient."""
    for position in range(2):
        if t.is_constant(position) and not (operation == "/" and position == 0):
            _with_constant(operation, t, position)
            return
    add_combined(t.builder, t.name, [t.value(0), t.value(1)], operation)


def _where(t: Translation) -> None:
    """Two values, or a value and a number, of which a constant condition chooses."""
    condition = t.constant(0).astype(bool)
    for position, mask in ((2, ~condition), (1, condition)):
        if t.is_constant(position) and t.constant(position).size == 1:
            fill = t.number(position, 0.0)
            add_filled(t.builder, t.name, t.value(3 - position), mask, fill, t.softmaxes())
            return
    add_chosen(t.builder, t.name, condition, t.value(1), t.value(2))


def _with_constant(operation: Arithmetic, t: Translation, position: int) -> None:
    array = t.numbers(position)
    value = repeated(t.builder, t.name, t.value(1 - position), array.shape)
    shape = t.builder.shape(value)
    with np.errstate(divide="ignore"):
        inverse = 1 / array
    scale, shift = {
        "+": (np.ones_like(array), array),
        "-": (np.ones_like(array), -array) if position == 1 else (-np.ones_like(array), array),
        "*": (array, np.zeros_like(array)),
        "/": (inverse, np.zeros_like(array)),
    }[operation]
    if array.size == 1:
        t.builder.add_element_wise(t.name, [value], [Scale(float(scale.flat[0]), float(shift.flat[0]))])
        return
    dimensions = (1,) * (len(shape) - array.ndim) + array.shape
    if len(shape) == 4 and dimensions == (1, shape[1], 1, 1):
        only_use = t.is_only_use(value)
        add_channelwise(t.builder, t.name, value, scale.reshape(-1), shift.reshape(-1), only_use=only_use)
        return
    if operation == "-" and position == 0:
        negative = t.builder.new_name(f"{t.name}.negative")
        t.builder.add_element_wise(negative, [value], [Scale(-1.0)])
        value = negative
    only_use = t.is_only_use(value)
    if operation in ("+", "-"):
        add_with_constant(t.builder, t.name, value, shift, "+", only_use=only_use)
    else:
        add_with_constant(t.builder, t.name, value, scale, "*", only_use=only_use)


def _matmul(t: Translation) -> None:
    weight: Array = t.numbers(1) if t.is_constant(1) else np.zeros(0)
    if weight.ndim < 2 or prod(weight.shape[:-2]) > 1:
        add_product(t.builder, t.name, t.value(0), t.value(1))
        return
    name = t.name if len(t.builder.shape(t.value())) == len(t.shape) else t.builder.new_name(f"{t.name}.linear")
    weight = weight.reshape(weight.shape[-2:])
    add_linear(t.builder, name, t.value(), weight.T, np.zeros(weight.shape[1]), source=t.name)
    if name != t.name:
        t.builder.add_view(t.name, t.shape, name)


def _gemm(t: Translation) -> None:
    first = _transposed(t, t.value(0), "transA")
    second: str | Array = t.value(1) if not t.is_constant(1) else t.numbers(1)
    if isinstance(second, str):
        second = _transposed(t, second, "transB")
    elif t.attribute("transB", 0):
        second = second.T
    summand = (t.numbers(2) if t.is_constant(2) else t.value(2)) if t.has(2) else None
    alpha, beta = float(t.attribute("alpha", 1.0)), float(t.attribute("beta", 1.0))
    add_product_and_summand(t.builder, t.name, first, second, summand, alpha=alpha, beta=beta)


def _transposed(t: Translation, value: str, attribute: str) -> str:
    """A matrix, or its transpose where an attribute says so."""
    if not t.attribute(attribute, 0):
        return value
    turned = t.builder.new_name(f"{t.name}.turned")
    t.builder.add_transposed(turned, value, (1, 0))
    return turned


def _dropout(t: Translation) -> None:
    need(not (t.has(2) and t.constant(2).any()), "it is in training mode")
    rearranging.add_view(t)


_FUNCTIONS: dict[str, Function] = {
    "Relu": "relu", "Sigmoid": "sigmoid", "Tanh": "tanh", "SiLU": "silu", "HardSwish": "hardswish", "Exp": "exp",
    "Log": "log", "Sqrt": "sqrt", "Abs": "abs", "Reciprocal": "reciprocal", "Erf": "erf", "Softplus": "softplus",
    "Mish": "mish",
}  # fmt: skip
_HANDLERS: dict[str, Callable[[Translation], None]] = {
    "Conv": add_conv,
    "ConvTranspose": add_conv_transpose,
    "BatchNormalization": _batch_norm,
    "MaxPool": add_max_pool,
    "AveragePool": add_average_pool,
    "GlobalAveragePool": partial(add_global, "average"),
    "GlobalMaxPool": partial(add_global, "maximum"),
    "ReduceMean": partial(_reduction, "mean"),
    "ReduceSum": partial(_reduction, "sum"),
    "ReduceMax": partial(_reduction, "maximum"),
    **{operator: partial(_function, function) for operator, function in _FUNCTIONS.items()},
    "HardSigmoid": _hard_sigmoid,
    "Gelu": _gelu,
    "Clip": _clip,
    "LeakyRelu": _leaky,
    "Elu": _elu,
    "Selu": _selu,
    "Celu": _celu,
    "PRelu": _parametric,
    "Neg": _negative,
    "Pow": _power,
    "Add": partial(_combine, "+"),
    "Sub": partial(_combine, "-"),
    "Mul": partial(_combine, "*"),
    "Div": partial(_combine, "/"),
    "Sum": partial(_of_several, "+"),
    "Max": partial(_of_several, "max"),
    "Min": partial(_of_several, "min"),
    "Where": _where,
    "MatMul": _matmul,
    "Gemm": _gemm,
    "Softmax": partial(_softmax, logarithm=False),
    "LogSoftmax": partial(_softmax, logarithm=True),
    "LayerNormalization": _layer_norm,
    "RMSNormalization": _rms_norm,
    "GroupNormalization": _group_norm,
    "InstanceNormalization": _instance_norm,
    "Concat": rearranging.add_concat,
    "Split": rearranging.add_split,
    "Slice": rearranging.add_slice,
    "Gather": rearranging.add_gather,
    "Pad": rearranging.add_pad,
    **dict.fromkeys(("Resize", "Upsample"), rearranging.add_resize),
    "Expand": rearranging.add_expand,
    "DepthToSpace": rearranging.add_depth_to_space,
    "Dropout": _dropout,
    "Transpose": rearranging.add_transpose,
    **dict.fromkeys(("Flatten", "Reshape", "Squeeze", "Unsqueeze", "Identity", "Cast"), rearranging.add_view),
}
# It stands in the place of nodes that spell it out.
_SPELLED_OUT = {"SiLU"}
_SEVERAL_RESULTS = {"Split"}
SUPPORTED = tuple(sorted(_HANDLERS.keys() - _SPELLED_OUT))


def check_operator(node: Node, path: str) -> None:
    """Raises UnsupportedConstructError for an operator that never has a kernel."""
    if node.operator not in SUPPORTED:
        raise _unsupported(node, path, f"there is no kernel for {node.operator}")


def graph_of(shaped: ShapedGraph, path: str) -> Graph:
    """The graph of kernels. Raises UnsupportedConstructError for a node that none of them computes."""
    builder = GraphBuilder((*shaped.inputs, *(name for node in shaped.nodes for name in node.outputs)))
    for name, shape in shaped.inputs.items():
        builder.input(name, shape)
    uses = shaped.uses
    for node in shaped.nodes:
        try:
            need(node.operator in _HANDLERS, f"there is no kernel for {node.operator} alone")
            further = node.outputs[1:] if node.operator not in _SEVERAL_RESULTS else ()
            need(not any(uses[name] for name in further), "more than its first result is used")
            translation = Translation(node, shaped, uses, builder)
            _HANDLERS[node.operator](translation)
            need(builder.shape(translation.name) == translation.shape, "a constant changes its number of dimensions")
        except NotUnderstoodError as error:
            raise _unsupported(node, path, str(error)) from None
    for name in shaped.outputs:
        if name not in builder:
            raise UnsupportedConstructError(f"the output {name!r} is constant", file=path, remedy="leave it out")
    return with_steps(builder.graph(shaped.outputs))


def _unsupported(node: Node, path: str, reason: str) -> UnsupportedConstructError:
    remedy = f"there are kernels for {', '.join(SUPPORTED)}; cut the model before this node, or keep its runtime"
    return UnsupportedConstructError(f"{node}: {reason}", file=path, remedy=remedy)
