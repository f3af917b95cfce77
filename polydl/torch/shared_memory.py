"""Results of a captured graph as PyTorch's own run of it leaves them in memory.

What changes one of them behind the graph changes others that share its memory, so that they have to be views of it; and
what reads one as a view of another shape needs its elements in PyTorch's order.
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
    #: this graph's results, as Dynamo knows them; None for one that is in any order
    examples: tuple[torch.Tensor | None, ...]

    def shared(self, results: Any, inputs: Sequence[Any]) -> Any:
        """What the captured graph gives for inputs, from the results of this one."""
        ordered = tuple(in_order_of(result, example) for result, example in zip(results, self.examples, strict=True))
        return tuple(place.value(ordered, inputs) for place in self.places) if self.places else ordered


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
        if owner not in inputs and memories.count(memory) == 1 and not _is_rearranged(owner, result):
            owner = result
        examples = None if owner is result else _examples(owner, result)
        if owner in inputs:
            places.append(_Place(True, inputs.index(owner), examples))
            continue
        if owner not in kept:
            kept.append(owner)
        places.append(_Place(False, kept.index(owner), examples))
    if all(place.examples is None for place in places):
        return SeparateResults(graph, (), tuple(map(_order, results)))
    if not kept:
        return SeparateResults(graph, tuple(places), (None,) * len(results))
    other = Graph()
    copies: dict[Node, Node] = {}
    other.graph_copy(graph.graph, copies)
    other.output(tuple(copies[each] if isinstance(each, Node) else each for each in kept))
    return SeparateResults(GraphModule(graph, other), tuple(places), tuple(map(_order, kept)))


def _strided(node: object) -> torch.Tensor | None:
    """The tensor that a node stands for, if its elements lie in memory."""
    example = node.meta.get("example_value") if isinstance(node, Node) else None
    return example if isinstance(example, torch.Tensor) and example.layout == torch.strided else None


def _memory(node: object) -> StorageWeakRef | None:
    example = _strided(node)
    return None if example is None else StorageWeakRef(example.untyped_storage())


def _order(result: object) -> torch.Tensor | None:
    """The tensor that a result stands for, if its sizes are known."""
    example = _strided(result)
    if example is None or not all(isinstance(each, int) for each in (*example.shape, *example.stride())):
        return None
    return example


def _is_rearranged(owner: Node, result: Node) -> bool:
    """Whether a result is a view of a row-major value that is no larger, in another order: then no element moves.

    Of a larger value, the result alone is computed, and then put in its order.
    """
    whole, part = _order(owner), _order(result)
    if whole is None or part is None or not _is_part(whole, part):
        return False
    return whole.numel() <= part.numel() and whole.is_contiguous() and not part.is_contiguous()


def _examples(owner: Node, result: Node) -> tuple[torch.Tensor, torch.Tensor]:
    """Those of both. Raises UnsupportedConstructError unless the result is a part of the owner."""
    whole, part = owner.meta["example_value"], result.meta["example_value"]
    if not _is_part(whole, part):
        raise UnsupportedConstructError(
            "its results share memory, and are no parts of one value", remedy="clone one of them"
        )
    return whole, part


def _is_part(whole: torch.Tensor, part: torch.Tensor) -> bool:
    """Whether all elements of the one are the other's, if both are in the same memory."""
    before = part.storage_offset() < whole.storage_offset()
    return whole.dtype == part.dtype and not before and _end(part) <= _end(whole)


def _end(tensor: torch.Tensor) -> int:
    """How many elements there are in its memory up to its last one."""
    steps = zip(tensor.shape, tensor.stride(), strict=True)
    return int(tensor.storage_offset() + 1 + sum((extent - 1) * stride for extent, stride in steps))
