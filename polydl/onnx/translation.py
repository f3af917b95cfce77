"""One node of an ONNX model with its operands, as the functions see it that add it to a graph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from polydl.models.builder import GraphBuilder
from polydl.models.graph import Array
from polydl.models.translation import need
from polydl.onnx.nodes import Node, Shape, ShapedGraph


class Translation:
    """``uses`` says how often each value of the graph is needed."""

    def __init__(self, node: Node, graph: ShapedGraph, uses: Mapping[str, int], builder: GraphBuilder) -> None:
        self.node = node
        self.name = node.outputs[0]
        self.builder = builder
        self.opset = graph.opset
        self._graph = graph
        self._uses = uses

    @property
    def shape(self) -> Shape:
        return self._graph.shapes[self.name]

    def attribute(self, name: str, default: Any = None) -> Any:
        return self.node.attributes.get(name, default)

    def has(self, position: int) -> bool:
        """Whether there is an operand at that position."""
        return position < len(self.node.inputs) and bool(self.node.inputs[position])

    def is_constant(self, position: int) -> bool:
        return self.has(position) and self.node.inputs[position] in self._graph.constants

    def value(self, position: int = 0) -> str:
        """An operand that is computed, or an input of the model's."""
        name = self.node.inputs[position]
        need(name in self.builder, f"operand {position + 1} is constant")
        return name

    def constant(self, position: int) -> Array:
        """An operand that is known beforehand, as it is stored."""
        need(self.is_constant(position), f"operand {position + 1} is computed, and must be constant")
        return self._graph.constants[self.node.inputs[position]]

    def numbers(self, position: int) -> Array:
        """A constant operand in double."""
        array = self.constant(position)
        need(array.dtype == np.float32, f"operand {position + 1} is of type {array.dtype}")
        return array.astype(np.float64)

    def is_only_use(self, value: str) -> bool:
        """Whether nothing else needs a value."""
        return self._uses[value] == 1
