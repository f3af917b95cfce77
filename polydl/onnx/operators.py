"""Which operators of ONNX become kernels, and how: a function for each adds it to a graph."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import inf, prod

import numpy as np

from polydl.errors import UnsupportedConstructError
from polydl.models.builder import GraphBuilder
from polydl.models.elementwise import Concatenate
from polydl.models.epilogue import Apply, Clamp, Function, Scale
from polydl.models.fusing import with_steps
from polydl.models.graph import Array, Graph
from polydl.models.pooling import Pooling
from polydl.models.products import LayerNorm, Softmax
from polydl.models.translation import (
    NotUnderstoodError,
    add_channelwise,
    add_combined,
    add_linear,
    add_product,
    add_with_constant,
    need,
)
from polydl.onnx.nodes import Node, ShapedGraph
from polydl.onnx.translation import Translation
from polydl.onnx.windows import add_average_pool, add_conv, add_conv_transpose, add_global, add_max_pool

# From there on, softmax is over one dimension; before, over all from an axis on.
_SOFTMAX_OF_ONE_DIMENSION = 13
_CLIP_WITH_OPERANDS = 11


def _batch_norm(t: Translation) -> None:
    need(len(t.shape) == 4, "it is not over images")
    need(not t.attribute("training_mode", 0), "it is in training mode")
    weight, bias, mean, variance = (t.numbers(position) for position in range(1, 5))
    fits = all(array.shape == (t.shape[1],) for array in (weight, bias, mean, variance))
    need(fits, f"its constants have not {t.shape[1]} elements each")
    scale = weight / np.sqrt(variance + t.attribute("epsilon", 1e-5))
    add_channelwise(t.builder, t.name, t.value(), scale, bias - mean * scale, only_use=t.is_only_use(t.value()))


def _function(function: Function, t: Translation) -> None:
    t.builder.add_element_wise(t.name, [t.value()], [Apply(function)])


def _gelu(t: Translation) -> None:
    _function("gelu_tanh" if t.attribute("approximate", "none") == "tanh" else "gelu", t)


def _hard_sigmoid(t: Translation) -> None:
    slope, offset = float(t.attribute("alpha", 0.2)), float(t.attribute("beta", 0.5))
    t.builder.add_element_wise(t.name, [t.value()], [Scale(slope, offset), Clamp(0.0, 1.0)])


def _clip(t: Translation) -> None:
    if t.opset < _CLIP_WITH_OPERANDS:
        least, most = float(t.attribute("min", -inf)), float(t.attribute("max", inf))
    else:
        least, most = (
            float(t.numbers(position).reshape(-1)[0]) if t.has(position) else limit
            for position, limit in ((1, -inf), (2, inf))
        )
    # The largest number of the type stands for no limit in old files.
    most = inf if most >= np.finfo(np.float32).max else most
    functions: dict[tuple[float, float], Function] = {(0, 6): "relu6", (0, inf): "relu"}
    function = functions.get((least, most))
    step = Clamp(least, most) if function is None else Apply(function)
    t.builder.add_element_wise(t.name, [t.value()], [step])


def _combine(operation: str, t: Translation) -> None:
    """A sum, difference, product or quotient."""
    for position in range(2):
        if t.is_constant(position):
            _with_constant(operation, t, position)
            return
    need(operation in ("+", "*"), "both operands are computed")
    add_combined(t.builder, t.name, [t.value(0), t.value(1)], "+" if operation == "+" else "*")


def _with_constant(operation: str, t: Translation, position: int) -> None:
    array, value = t.numbers(position), t.value(1 - position)
    shape = t.builder.shape(value)
    need(t.shape == shape, "its result is larger than its computed operand")
    need(operation != "/" or position == 1, "it divides a constant")
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
    if not t.is_constant(1):
        add_product(t.builder, t.name, t.value(0), t.value(1))
        return
    weight = t.numbers(1)
    need(weight.ndim == 2, f"its second operand has {weight.ndim} dimensions")
    add_linear(t.builder, t.name, t.value(), weight.T, np.zeros(weight.shape[1]))


def _gemm(t: Translation) -> None:
    need(not t.attribute("transA", 0), "its first operand is transposed")
    weight = t.numbers(1) * t.attribute("alpha", 1.0)
    weight = weight if t.attribute("transB", 0) else weight.T
    bias = t.numbers(2) * t.attribute("beta", 1.0) if t.has(2) else np.zeros(1)
    need(bias.size in (1, weight.shape[0]) and prod(bias.shape[:-1]) == 1, "its third operand is no bias")
    add_linear(t.builder, t.name, t.value(), weight, np.broadcast_to(bias.reshape(-1), weight.shape[:1]))


def _same_elements(t: Translation) -> None:
    """Another shape, or none."""
    value = t.value()
    if t.builder.shape(value) == t.shape:
        t.builder.alias(t.name, value)
    else:
        t.builder.add_view(t.name, t.shape, value)


def _dropout(t: Translation) -> None:
    need(not (t.has(2) and t.constant(2).any()), "it is in training mode")
    _same_elements(t)


def _transpose(t: Translation) -> None:
    shape = t.builder.shape(t.value())
    order = t.attribute("perm", list(range(len(shape)))[::-1])
    moved = [axis for axis in order if shape[axis] > 1]
    if moved == sorted(moved):
        _same_elements(t)
    else:
        t.builder.add_transposed(t.name, t.value(), order)


def _mean(t: Translation) -> None:
    shape = t.builder.shape(t.value())
    axes = t.constant(1).tolist() if t.has(1) else t.attribute("axes", list(range(len(shape))))
    need(len(shape) == 4 and sorted(axis % 4 for axis in axes) == [2, 3], "it is not over rows and columns of images")
    window = shape[2], shape[3]
    pooled = t.name if len(t.shape) == 4 else t.builder.new_name(f"{t.name}.mean")
    t.builder.add_image(pooled, (*shape[:2], 1, 1), Pooling("average", window, window), [t.value()])
    if pooled != t.name:
        t.builder.add_view(t.name, t.shape, pooled)


def _concatenate(t: Translation) -> None:
    values = [t.value(position) for position in range(len(t.node.inputs))]
    need(len(t.shape) == 4 and int(t.attribute("axis", 1)) % 4 == 1, "it is not along the channels of images")
    need(len(set(values)) == len(values), "an operand comes twice")
    kind = Concatenate(tuple(t.builder.shape(value)[1] for value in values))
    t.builder.add_image(t.name, t.shape, kind, values)


def _softmax(t: Translation) -> None:
    rank = len(t.shape)
    axis = int(t.attribute("axis", -1 if t.opset >= _SOFTMAX_OF_ONE_DIMENSION else 1)) % rank
    need(axis == rank - 1, f"it is over dimension {axis} of {rank}, not over the last")
    t.builder.add_rows(t.name, t.shape, Softmax(), [t.value()])


def _layer_norm(t: Translation) -> None:
    rank, elements = len(t.shape), t.shape[-1]
    need(int(t.attribute("axis", -1)) % rank == rank - 1, "it is over several dimensions")
    bias: Array = t.numbers(2) if t.has(2) else np.zeros(elements)
    fits = all(array.size in (1, elements) for array in (t.numbers(1), bias))
    need(fits, f"its constants have not {elements} elements each")
    constants = [
        t.builder.constant(f"{t.name}.{what}", np.broadcast_to(array.reshape(-1), (elements,)))
        for what, array in (("weight", t.numbers(1)), ("bias", bias))
    ]
    kind = LayerNorm(elements, float(t.attribute("epsilon", 1e-5)))
    t.builder.add_rows(t.name, t.shape, kind, [t.value()], constants)


_HANDLERS: dict[str, Callable[[Translation], None]] = {
    "Conv": add_conv,
    "ConvTranspose": add_conv_transpose,
    "BatchNormalization": _batch_norm,
    "MaxPool": add_max_pool,
    "AveragePool": add_average_pool,
    "GlobalAveragePool": partial(add_global, "average"),
    "GlobalMaxPool": partial(add_global, "maximum"),
    "ReduceMean": _mean,
    "Relu": partial(_function, "relu"),
    "Sigmoid": partial(_function, "sigmoid"),
    "Tanh": partial(_function, "tanh"),
    "SiLU": partial(_function, "silu"),
    "HardSwish": partial(_function, "hardswish"),
    "HardSigmoid": _hard_sigmoid,
    "Gelu": _gelu,
    "Clip": _clip,
    "Add": partial(_combine, "+"),
    "Sub": partial(_combine, "-"),
    "Mul": partial(_combine, "*"),
    "Div": partial(_combine, "/"),
    "MatMul": _matmul,
    "Gemm": _gemm,
    "Softmax": _softmax,
    "LayerNormalization": _layer_norm,
    "Concat": _concatenate,
    "Dropout": _dropout,
    "Transpose": _transpose,
    **dict.fromkeys(("Flatten", "Reshape", "Squeeze", "Unsqueeze", "Identity", "Cast"), _same_elements),
}
# These stand in the place of nodes that spell them out, and Erf is among those.
_SPELLED_OUT = {"SiLU"}
_INSIDE = {"Erf"}
SUPPORTED = tuple(sorted(_HANDLERS.keys() - _SPELLED_OUT))


def check_operator(node: Node, path: str) -> None:
    """Raises UnsupportedConstructError for an operator that never has a kernel."""
    if node.operator not in SUPPORTED and node.operator not in _INSIDE:
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
            need(not any(uses[name] for name in node.outputs[1:]), "more than its first result is used")
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
