"""What of a model is constant is computed beforehand, and every other value gets its shape."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from polydl.errors import SourceError
from polydl.models.graph import Array
from polydl.onnx.nodes import Node, Shape, ShapedGraph, needed
from polydl.onnx.operators import check_operator
from polydl.onnx.patterns import recognized
from polydl.onnx.reading import StoredModel, first_line, weights

# Operators whose results differ from one run to the next.
_RANDOM = ("Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike")
# Inference does not tell the shape, which is that of the operand.
_LIKE_OPERAND = ("GroupNormalization",)
# Larger constants are no shapes, which inference has to see.
_MOST_ELEMENTS = 64


def shaped(stored: StoredModel, inputs: dict[str, Shape]) -> ShapedGraph:
    """The graph for inputs of these shapes.

    Raises UnsupportedConstructError for a node that there is no kernel for, SourceError where shapes don't fit.
    """
    outputs = tuple(each.name for each in stored.model.graph.output)
    protos = {proto.output[0]: proto for proto in stored.model.graph.node if any(proto.output)}
    folding = _Folding(stored, inputs)
    for node in needed([_node(proto) for proto in protos.values()], outputs):
        folding.add(node, protos[node.outputs[0]])
    nodes = recognized(folding.nodes, folding.constants, folding.shapes, outputs)
    return ShapedGraph(nodes, inputs, outputs, folding.constants, folding.shapes, stored.opset)


def _node(proto: Any) -> Node:
    attributes = {each.name: helper.get_attribute_value(each) for each in proto.attribute}
    text = {
        name: value.decode(errors="replace") if isinstance(value, bytes) else value
        for name, value in attributes.items()
    }
    operator = proto.op_type if proto.domain in ("", "ai.onnx") else f"{proto.domain}.{proto.op_type}"
    return Node(proto.name or proto.output[0], operator, tuple(proto.input), tuple(proto.output), text)


class _Folding:
    def __init__(self, stored: StoredModel, inputs: dict[str, Shape]) -> None:
        self._stored = stored
        self._types = {
            name: helper.make_tensor_type_proto(onnx.TensorProto.FLOAT, shape) for name, shape in inputs.items()
        }  # fmt: skip
        self.shapes = dict(inputs)
        self.constants: dict[str, Array] = weights(stored)
        self.nodes: list[Node] = []

    def add(self, node: Node, proto: Any) -> None:
        """The next node of the model, after those that it depends on."""
        parts = any(each.type in (onnx.AttributeProto.GRAPH, onnx.AttributeProto.GRAPHS) for each in proto.attribute)
        if node.operator == "Shape":
            first, last = node.attributes.get("start", 0), node.attributes.get("end")
            self.constants[node.outputs[0]] = np.array(self._shape(node.inputs[0])[first:last], np.int64)
        elif not parts and node.operator not in _RANDOM and all(n in self.constants for n in node.inputs if n):
            self._evaluate(node, proto)
        else:
            check_operator(node, self._stored.path)
            self._infer(node, proto)
            self.nodes.append(node)

    def _shape(self, value: str) -> Shape:
        return self.constants[value].shape if value in self.constants else self.shapes[value]

    def _evaluate(self, node: Node, proto: Any) -> None:
        given = {name: self.constants[name] for name in node.inputs if name}
        inputs = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
                  for name, array in given.items()]  # fmt: skip
        outputs = [helper.make_empty_tensor_value_info(name) for name in node.outputs]
        graph = helper.make_graph([proto], "constant", inputs, outputs)
        try:
            model = helper.make_model(graph, opset_imports=self._stored.model.opset_import)
            results = ReferenceEvaluator(model).run(None, given)
        except Exception as error:
            raise self._error(node, error) from error
        self.constants.update(zip(node.outputs, map(np.asarray, results), strict=False))

    def _infer(self, node: Node, proto: Any) -> None:
        types, data = {}, {}
        for name in filter(None, node.inputs):
            if name in self.constants:
                constant = self.constants[name]
                kind = helper.np_dtype_to_tensor_dtype(constant.dtype)
                types[name] = helper.make_tensor_type_proto(kind, constant.shape)
                if constant.size <= _MOST_ELEMENTS:
                    data[name] = numpy_helper.from_array(constant, name)
            else:
                types[name] = self._types[name]
        opsets = list(self._stored.model.opset_import)
        try:
            schema = onnx.defs.get_schema(node.operator, self._stored.opset, "")
            inferred = onnx.shape_inference.infer_node_outputs(schema, proto, types, data, opset_imports=opsets)
        except (onnx.shape_inference.InferenceError, onnx.defs.SchemaError, onnx.checker.ValidationError) as error:
            raise self._error(node, error) from None
        if node.operator in _LIKE_OPERAND and node.inputs[0] in self._types:
            inferred = {node.outputs[0]: self._types[node.inputs[0]]}
        for name, kind in inferred.items():
            self._types[name] = kind
            self.shapes[name] = tuple(each.dim_value for each in kind.tensor_type.shape.dim)
        main = inferred.get(node.outputs[0])
        extents = main.tensor_type.shape.dim if main is not None and main.tensor_type.HasField("shape") else None
        if extents is None or not all(each.HasField("dim_value") for each in extents):
            raise self._error(node, ValueError("the shape of its result does not follow from those of the inputs"))
        if not all(each.dim_value for each in extents):
            raise self._error(
                node, ValueError(f"its result has no element: it is of shape {self.shapes[node.outputs[0]]}")
            )
        if main.tensor_type.elem_type != onnx.TensorProto.FLOAT:
            raise self._error(node, ValueError("its result is not of type float"))

    def _error(self, node: Node, error: Exception) -> SourceError:
        shapes = ", ".join(str(self._shape(name)) for name in node.inputs if name)
        return SourceError(
            f"{node} on shapes {shapes}: {first_line(error)}" if shapes else f"{node}: {first_line(error)}",
            file=self._stored.path, remedy="give inputs of the shapes and the type that the model is for",
        )  # fmt: skip
