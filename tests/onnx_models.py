"""Small ONNX models with random weights, made in code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod, sqrt
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper, shape_inference

Shape = Sequence[int | str]
OPSET = 20


class ModelMaker:
    """Nodes are added in order; the result of the last one is the output."""

    def __init__(self, opset: int = OPSET, **inputs: Shape) -> None:
        self.opset = opset
        self.generator = np.random.default_rng(0)
        self.inputs = dict(inputs)
        self.nodes: list[Any] = []
        self.constants: dict[str, np.ndarray[Any, Any]] = {}

    def weights(self, *shape: int, positive: bool = False) -> str:
        array = self.generator.standard_normal(shape).astype(np.float32) / sqrt(max(1, prod(shape[1:])))
        return self.constant(np.abs(array) + 0.5 if positive else array)

    def constant(self, value: Any) -> str:
        name = f"constant{len(self.constants)}"
        array = np.asarray(value)
        self.constants[name] = array.astype(np.float32) if array.dtype == np.float64 else array
        return name

    def add(self, operator: str, *inputs: str, outputs: int = 1, **attributes: Any) -> str:
        name = f"{operator.lower()}{len(self.nodes)}"
        names = [name, *(f"{name}.{number}" for number in range(1, outputs))]
        self.nodes.append(helper.make_node(operator, inputs, names, name=name, **attributes))
        return name

    def batch_norm(self, value: str, channels: int) -> str:
        names = [self.weights(channels, positive=number in (0, 3)) for number in range(4)]
        return self.add("BatchNormalization", value, *names)

    def model(self, *outputs: str) -> Any:
        results = outputs or (self.nodes[-1].output[0],)
        graph = helper.make_graph(
            self.nodes,
            "test",
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in self.inputs.items()],
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in results],
            [numpy_helper.from_array(array, name) for name, array in self.constants.items()],
        )
        opsets = [helper.make_opsetid("", self.opset), helper.make_opsetid("custom", 1)]
        bare = helper.make_model(graph, opset_imports=opsets, ir_version=8)
        model = shape_inference.infer_shapes(bare, data_prop=True)
        for output in model.graph.output:
            if not output.type.tensor_type.HasField("shape"):
                output.type.tensor_type.shape.dim.add()
        return model


def residual() -> Any:
    """Convolutions with batch normalization, a residual sum, pooling, a linear layer: what ResNet is made of."""
    m = ModelMaker(x=("N", 3, 12, 12))
    first = m.add("Relu", m.batch_norm(m.add("Conv", "x", m.weights(16, 3, 3, 3), pads=[1, 1, 1, 1]), 16))
    pooled = m.add("MaxPool", first, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    second = m.batch_norm(m.add("Conv", pooled, m.weights(16, 16, 3, 3), m.weights(16), pads=[1, 1, 1, 1]), 16)
    joined = m.add("Relu", m.add("Add", second, pooled))
    flat = m.add("Flatten", m.add("GlobalAveragePool", joined))
    m.add("Softmax", m.add("Gemm", flat, m.weights(10, 16), m.weights(10), transB=1))
    return m.model()


def mobile() -> Any:
    """Blocks of MobileNet: depthwise convolutions, limited functions, squeeze and excitation, shapes computed."""
    m = ModelMaker(x=(2, 8, 9, 9))
    wide = m.add("Conv", "x", m.weights(32, 8, 1, 1))
    wide = m.add("Clip", m.batch_norm(wide, 32), m.constant(np.float32(0)), m.constant(np.float32(6)))
    deep = m.add("Conv", wide, m.weights(32, 1, 3, 3), group=32, strides=[2, 2], auto_pad="SAME_UPPER")
    deep = m.add("HardSwish", m.batch_norm(deep, 32))
    squeezed = m.add("ReduceMean", deep, m.constant(np.array([2, 3])), keepdims=1)
    gate = m.add("Relu", m.add("Conv", squeezed, m.weights(8, 32, 1, 1), m.weights(8)))
    gate = m.add("HardSigmoid", m.add("Conv", gate, m.weights(32, 8, 1, 1), m.weights(32)), alpha=1 / 6)
    scaled = m.add("Mul", gate, deep)
    grouped = m.add("Conv", scaled, m.weights(32, 8, 3, 3), group=4, dilations=[2, 2], pads=[2, 2, 2, 2])
    grouped = m.add("Mul", grouped, m.add("Sigmoid", grouped))
    pooled = m.add("AveragePool", grouped, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 0, 0])
    less = m.add("Sub", m.add("Dropout", pooled), m.constant(1.0))
    joined = m.add("Concat", pooled, less, axis=1)
    images = m.add("Gather", m.add("Shape", joined), m.constant(np.array([0])), axis=0)
    m.add("Reshape", joined, m.add("Concat", images, m.constant(np.array([-1])), axis=0))
    return m.model()


def perceptron() -> Any:
    """Linear layers on sequences, GELU spelled out, layer normalization."""
    m = ModelMaker(x=(2, 5, 12))
    hidden = m.add("Add", m.weights(24), m.add("MatMul", "x", m.weights(12, 24)))
    inner = m.add("Erf", m.add("Div", hidden, m.constant(np.sqrt(2.0))))
    gelu = m.add("Mul", m.add("Mul", hidden, m.add("Add", inner, m.constant(1.0))), m.constant(0.5))
    back = m.add("Add", m.add("MatMul", m.add("Identity", gelu), m.weights(24, 12)), m.weights(12))
    m.add("LayerNormalization", m.add("Add", "x", back), m.weights(12), m.weights(12))
    return m.model()


MODELS: Mapping[str, Any] = {"residual": residual, "mobile": mobile, "perceptron": perceptron}
#: the shape of each one's input
SHAPES = {"residual": (1, 3, 12, 12), "mobile": (2, 8, 9, 9), "perceptron": (2, 5, 12)}


def convolution(**attributes: Any) -> Any:
    """One convolution of an image of a fixed size."""
    m = ModelMaker(x=(1, 4, 7, 8))
    m.add("Conv", "x", m.weights(8, 4, 3, 3), m.weights(8), **attributes)
    return m.model()
