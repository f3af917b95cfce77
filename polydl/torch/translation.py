"""One operator of PyTorch's with its arguments, as the functions see it that add it to a graph."""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import Node

from polydl.models.builder import GraphBuilder
from polydl.models.graph import Array
from polydl.models.rearranging import add_given
from polydl.models.translation import NotUnderstoodError, need

Parameters = dict[str, torch.Tensor]


class Translation:
    """One operator of PyTorch's with its arguments, for the function that adds it to a graph."""

    def __init__(self, node: Node, builder: GraphBuilder, parameters: Parameters) -> None:
        self.name = node.name
        self.builder = builder
        self.node = node
        self._parameters = parameters
        self.schema = node.target._schema.arguments if isinstance(node.target, torch._ops.OpOverload) else ()

    @property
    def operator(self) -> str:
        """What PyTorch calls it, such as ``add.Tensor``."""
        return str(getattr(self.node.target, "__name__", self.node.target))

    @property
    def is_line(self) -> bool:
        """Whether its images have one dimension."""
        return "1d" in self.operator

    @property
    def only_use(self) -> bool:
        """Whether nothing else needs the first argument."""
        node = self.node.args[0]
        return isinstance(node, Node) and len(node.users) == 1

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the operator's result, or of the first one of several."""
        value = self.node.meta["val"]
        return tuple(int(extent) for extent in (value[0] if isinstance(value, list | tuple) else value).shape)

    def argument(self, name: str) -> Any:
        """The argument with the name of the operator's schema, or its default.

        Raises NotUnderstoodError for a number that the graph computes: kernels are compiled for numbers that are known.
        """
        for position, known in enumerate(self.schema):
            if known.name == name:
                given = position < len(self.node.args)
                value = self.node.args[position] if given else self.node.kwargs.get(name, known.default_value)
                values = value if isinstance(value, list | tuple) else [value]
                need(not any(_is_computed_number(part) for part in values), f"{name} is a number that is computed")
                return value
        raise NotUnderstoodError(f"it has no argument {name}")

    def value(self, name: str) -> str:
        """A value that the graph computes or takes, or a parameter as one."""
        return self.value_of(self.argument(name), name)

    def value_of(self, node: Any, name: str) -> str:
        """The same for what stands in an argument of that name."""
        if not isinstance(node, Node):
            raise NotUnderstoodError(f"{name} is no tensor")
        if node.name not in self.builder:
            parameter = self._parameters.get(node.name)
            if parameter is None or parameter.dtype != torch.float32:
                raise NotUnderstoodError(f"{name} is no value of type float")
            add_given(self.builder, node.name, parameter.detach().double().numpy())
        return str(node.name)

    def dimension(self, name: str, rank: int) -> int:
        """An argument that is a dimension of a value."""
        return int(self.argument(name)) % max(rank, 1)

    def dimensions(self, name: str, rank: int) -> tuple[int, ...]:
        """An argument that is several of them; none stands for all."""
        given = self.argument(name)
        given = [given] if isinstance(given, int) else given
        need(rank > 0, "it is over no dimension")
        return tuple(sorted(int(each) % rank for each in given)) if given else tuple(range(rank))

    def is_parameter(self, name: str) -> bool:
        """Whether an argument is one of the model's parameters, not computed."""
        node = self.argument(name)
        return isinstance(node, Node) and node.name in self._parameters

    def type_of(self, name: str) -> torch.dtype:
        """The type of an argument's elements."""
        dtype: torch.dtype = self.argument(name).meta["val"].dtype
        return dtype

    def number(self, name: str) -> float | None:
        """An argument that is a number, or a parameter of one element and no dimension; None for any other."""
        value = self.argument(name)
        if self.is_parameter(name) and not self.parameter_of(value, name).shape:
            return float(self.parameter_of(value, name))
        return None if isinstance(value, Node) else float(value)

    def parameter(self, name: str) -> Array | None:
        """A parameter of the model in double, None if the argument is None."""
        node = self.argument(name)
        return None if node is None else self.parameter_of(node, name)

    def parameter_of(self, node: Any, name: str) -> Array:
        """The same for what stands in an argument of that name."""
        if not isinstance(node, Node) or node.name not in self._parameters:
            raise NotUnderstoodError(f"{name} is computed, not a parameter")
        array: Array = self._parameters[node.name].detach().double().numpy()
        return array

    def pair(self, name: str) -> tuple[int, int]:
        """An argument of one integer or two, as two; (0, 0) for an empty list, which stands for a default.

        Raises NotUnderstoodError if it is computed.
        """
        value = self.argument(name)
        values = [value] if isinstance(value, int) else list(value)
        if not all(isinstance(each, int) for each in values):
            raise NotUnderstoodError(f"{name} is not constant")
        return (values[0], values[-1]) if values else (0, 0)


def _is_computed_number(value: Any) -> bool:
    """Whether it is a node that gives a number, such as an element of a tensor, and no tensor."""
    numbers = int | float | torch.SymInt | torch.SymFloat | torch.SymBool
    return isinstance(value, Node) and isinstance(value.meta.get("val"), numbers)
