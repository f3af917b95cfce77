"""One node of an ONNX model with its operands, as the functions see it that add it to a graph."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from polydl.models.builder import GraphBuilder
from polydl.models.graph import Array
from polydl.models.rearranging import add_given
from polydl.models.translation import need
from polydl.onnx.nodes import Node, Shape, ShapedGraph

# From there on, softmax is over one dimension; before, over all from an axis on.
SOFTMAX_OF_ONE_DIMENSION = 13


def softmax_axis(node: Node, rank: int, opset: int) -> int:
    """The dimension of a softmax, or the first of them."""
    return int(node.attributes.get("axis", -1 if opset >= SOFTMAX_OF_ONE_DIMENSION else 1)) % rank


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
        """The shape of the node's first output."""
        return self._graph.shapes[self.name]

    def shape_of(self, name: str) -> Shape:
        """The shape of a value, such as a further result."""
        return self._graph.shapes[name]

    def attribute(self, name: str, default: Any = None) -> Any:
        """The node's attribute of that name, or the default."""
        return self.node.attributes.get(name, default)

    def has(self, position: int) -> bool:
        """Whether there is an operand at that position."""
        return position < len(self.node.inputs) and bool(self.node.inputs[position])

    def is_constant(self, position: int) -> bool:
        """Whether there is an operand at that position, and it is the same at every call."""
        return self.has(position) and self.node.inputs[position] in self._graph.constants

    def value(self, position: int = 0) -> str:
        """An operand that is computed, an input of the model's, or a constant as a value."""
        name = self.node.inputs[position]
        if name not in self.builder:
            add_given(self.builder, name, self.numbers(position))
        return name

    def images(self) -> str:
        """The first operand as images, of one row where it has rows of channels."""
        value = self.value()
        rank = len(self.builder.shape(value))
        need(rank in (3, 4) and len(self.shape) == rank, "it is not over images")
        return self.builder.line(value) if rank == 3 else value

    @cached_property
    def result(self) -> tuple[str, Shape]:
        """Name and shape of the images that an operator on images gives; ``finish`` is called with the name."""
        if len(self.shape) != 3:
            return self.name, self.shape
        return self.builder.new_name(f"{self.name}.line"), (*self.shape[:2], 1, self.shape[2])

    def finish(self, name: str) -> None:
        """The images of that name are the operator's result."""
        if name != self.name:
            self.builder.add_line(self.name, name)

    def axes(self, position: int, rank: int) -> tuple[int, ...]:
        """Dimensions, which newer versions have as an operand, older ones as an attribute; none stands for all."""
        given = self.constant(position).tolist() if self.has(position) else self.attribute("axes", [])
        need(all(-rank <= axis < rank for axis in given), f"its axes are {given}")
        return tuple(sorted({axis % rank for axis in given})) if given else tuple(range(rank))

    def number(self, position: int, default: float) -> float:
        """A constant operand of one element, of any type of numbers."""
        if not self.has(position):
            return default
        array = self.constant(position)
        numeric = np.issubdtype(array.dtype, np.integer) or np.issubdtype(array.dtype, np.floating)
        need(array.size == 1 and numeric, f"operand {position + 1} is no number")
        return float(array.flat[0])

    def constant(self, position: int) -> Array:
        """An operand that is known beforehand, as it is stored."""
        need(self.is_constant(position), f"operand {position + 1} is computed, and must be constant")
        return self._graph.constants[self.node.inputs[position]]

    def numbers(self, position: int) -> Array:
        """A constant operand in double."""
        array = self.constant(position)
        need(array.dtype == np.float32, f"operand {position + 1} is of type {array.dtype}")
        return array.astype(np.float64)

    def softmaxes(self) -> list[int] | None:
        """The dimensions of the softmaxes that the first output goes into; None if it goes into anything else."""
        users = [node for node in self._graph.nodes if self.name in node.inputs]
        alone = self.name not in self._graph.outputs and all(user.operator == "Softmax" for user in users)
        return [softmax_axis(user, len(self.shape), self.opset) for user in users] if alone else None

    def is_only_use(self, value: str) -> bool:
        """Whether nothing else needs a value."""
        return self._uses[value] == 1
