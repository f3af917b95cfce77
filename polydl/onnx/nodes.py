"""The nodes of a model, each with its operator, once constants are known and all values have shapes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from polydl.models.graph import Array

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Node:
    """An operator of a model, with the names of the values that it reads and computes."""

    #: as in the file, or that of its first output
    name: str
    #: its type in the standard, such as ``Conv``
    operator: str
    #: "" where an optional one is left out
    inputs: tuple[str, ...]
    #: "" where an optional one is left out
    outputs: tuple[str, ...]
    #: by name, as Python's values and NumPy's arrays
    attributes: Mapping[str, Any]

    def __str__(self) -> str:
        return f"node {self.name!r} ({self.operator})"


@dataclass(frozen=True)
class ShapedGraph:
    """Nodes in an order in which they can run, all of which the outputs need and none of which is constant."""

    nodes: tuple[Node, ...]
    #: by name, in the order of the file
    inputs: Mapping[str, Shape]
    #: names of values, in the order of the file
    outputs: tuple[str, ...]
    #: weights and what was computed from them, by name
    constants: Mapping[str, Array] = field(repr=False)
    #: of inputs and of what nodes compute
    shapes: Mapping[str, Shape]
    #: the version of the operators
    opset: int

    @property
    def uses(self) -> Counter[str]:
        """How often each value is needed; an output counts once, and what is left out has no entry."""
        return Counter([*(name for node in self.nodes for name in node.inputs if name), *self.outputs])


def needed(nodes: Sequence[Node], outputs: Sequence[str]) -> tuple[Node, ...]:
    """Those that the outputs depend on, in their order."""
    wanted, kept = set(outputs), []
    for node in reversed(nodes):
        if wanted & set(node.outputs):
            kept.append(node)
            wanted.update(filter(None, node.inputs))
    return tuple(reversed(kept))
