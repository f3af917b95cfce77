"""Results of a captured graph that share memory with its inputs or with each other.

What changes one of them behind the graph changes the others, so that they have to be views of the same memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import Graph, GraphModule, Node
from torch.multiprocessing.reductions import StorageWeakRef

from polydl.errors import UnsupportedConstructError
from polydl.torch.running import in_order_of


@dataclass(frozen=True)
class _Place:
    """Where a result of the captured graph lies."""

    #: whether it is in an input's memory; else it is in that of a result of the graph that is run
    in_input: bool
    #: of the input or the result
    position: int
    #: that value and the captured graph's result, as Dynamo knows them; None where they are one
    examples: tuple[torch.Tensor, torch.Tensor] | None

    def value(self, results: Sequence[Any], inputs: Sequence[Any]) -> Any:
        """The result of the captured graph, from results in the order of their examples in memory."""
        whole = (inputs if self.in_input else results)[self.position]
        if self.examples is None:
            return whole
        of_whole, wanted = self.examples
        offset = whole.storage_offset() + wanted.storage_offset() - of_whole.storage_offset()
        return whole.as_strided(wanted.shape, wanted.stride(), offset)


@dataclass(frozen=True)
class SeparateResults:
    """A graph whose results share no memory, and how those of the captured one lie in theirs and in the inputs'."""

    graph: GraphModule
    #: of each result; none where its results are those of the captured one
    places: tuple[_Place, ...]
    #: this graph's results, as Dynamo knows them
    examples: tuple[Any, ...] = ()

    def shared(self, results: Any, inputs: Sequence[Any]) -> Any:
        """What the captured graph gives for inputs, from the results of this one."""
        if not self.places:
            return results
        ordered = [in_order_of(result, example) for result, example in zip(results, self.examples, strict=True)]
        return tuple(place.value(ordered, inputs) for place in self.places)


def separate_results(graph: GraphModule) -> SeparateResults:
    """A graph with a result for each memory in which the captured one has some, but for those of inputs.

    It is the captured one where results share none, or all lie in inputs. Raises UnsupportedConstructError where those
    that share some are not parts of one value.
    """
    inputs = [node for node in graph.graph.nodes if node.op == "placeholder"]
    results = next(node for node in graph.graph.nodes if node.op == "output").args[0]
    owners: dict[StorageWeakRef, Node] = {}
    for node in graph.graph.nodes:
        memory = _memory(node)
        if memory is not None:
            owners.setdefault(memory, node)
    memories = [_memory(node) for node in dict.fromkeys(results)]
    kept: list[Any] = []
    places = []
    for result in results:
        memory = _memory(result)
        owner = result if memory is None else owners[memory]
        if owner not in inputs and memories.count(memory) == 1:
            owner = result
        examples = None if owner is result else _examples(owner, result)
        if owner in inputs:
            places.append(_Place(True, inputs.index(owner), examples))
            continue
        if owner not in kept:
            kept.append(owner)
        places.append(_Place(False, kept.index(owner), examples))
    if all(place.examples is None for place in places):
        return SeparateResults(graph, ())
    examples_of = tuple(each.meta.get("example_value") if isinstance(each, Node) else None for each in kept or results)
    if not kept:
        return SeparateResults(graph, tuple(places), examples_of)
    other = Graph()
    copies: dict[Node, Node] = {}
    other.graph_copy(graph.graph, copies)
    other.output(tuple(copies[each] if isinstance(each, Node) else each for each in kept))
    return SeparateResults(GraphModule(graph, other), tuple(places), examples_of)


def _memory(node: object) -> StorageWeakRef | None:
    example = node.meta.get("example_value") if isinstance(node, Node) else None
    if not isinstance(example, torch.Tensor) or example.layout != torch.strided:
        return None
    return StorageWeakRef(example.untyped_storage())


def _examples(owner: Node, result: Node) -> tuple[torch.Tensor, torch.Tensor]:
    """Those of both. Raises UnsupportedConstructError unless the result is a part of the owner."""
    whole, part = owner.meta["example_value"], result.meta["example_value"]
    before = part.storage_offset() < whole.storage_offset()
    if whole.dtype != part.dtype or before or _end(part) > _end(whole):
        raise UnsupportedConstructError(
            "its results share memory, and are no parts of one value", remedy="clone one of them"
        )
    return whole, part


def _end(tensor: torch.Tensor) -> int:
    """How many elements there are in its memory up to its last one."""
    steps = zip(tensor.shape, tensor.stride(), strict=True)
    return int(tensor.storage_offset() + 1 + sum((extent - 1) * stride for extent, stride in steps))
