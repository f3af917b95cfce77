"""A graph of PyTorch's as steps: programs of kernels, and between them the operators that stay PyTorch's."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace

import torch
from torch.fx import Node

from polydl.models.builder import GraphBuilder
from polydl.models.fusing import with_steps
from polydl.models.graph import Graph
from polydl.models.translation import NotUnderstoodError
from polydl.torch.operators import add, is_float
from polydl.torch.rearranging import part_name
from polydl.torch.translation import Parameters


@dataclass(frozen=True)
class Kept:
    """An operator that stays PyTorch's, and why."""

    node: Node
    #: a clause, for the report
    reason: str


@dataclass(frozen=True)
class Segment:
    """Operators without a foreign one in between."""

    graph: Graph
    #: nodes that come from outside, in the order of the graph's inputs
    inputs: tuple[Node, ...]
    #: nodes in the order of the graph's outputs; one that is a model's result twice is there twice
    outputs: tuple[Node, ...]


Step = Segment | Kept


def segments(nodes: Sequence[Node], parameters: Parameters, kept: Mapping[str, str]) -> tuple[Step, ...]:
    """What computes the nodes of a functional graph, in an order in which it can run.

    ``kept`` are names of nodes that stay PyTorch's whatever they are, with the reason.
    """
    steps: list[Step] = []
    run: list[Node] = []
    builder = GraphBuilder()

    def close() -> None:
        nonlocal builder, run
        if run and not builder.moves_nothing:
            steps.append(_closed(builder, run, nodes, parameters))
        else:
            steps.extend(Kept(node, "it moves no element") for node in run)
        builder, run = GraphBuilder(), []

    for node in (each for each in nodes if each.op == "call_function"):
        reason = kept.get(node.name, "")
        if not reason:
            try:
                _checked(node)
                _declare_inputs(node, builder, parameters)
                add(node, builder, parameters)
                _check_results(node, builder)
                run.append(node)
                continue
            except NotUnderstoodError as error:
                reason = str(error)
        close()
        steps.append(Kept(node, reason))
    close()
    return tuple(steps)


def _checked(node: Node) -> None:
    results = _tensors(node)
    if not is_float(results[:1]):
        raise NotUnderstoodError("its result is not of type float")
    tensors = [each for each in (*results, *(e for i in node.all_input_nodes for e in _tensors(i))) if each is not None]
    if not all(isinstance(extent, int) for tensor in tensors for extent in tensor.shape):
        raise NotUnderstoodError("its sizes depend on data")
    if not all(all(tensor.shape) for tensor in tensors):
        raise NotUnderstoodError("a value has no elements")


def _tensors(node: Node) -> list[torch.Tensor | None]:
    """What a node gives: one value or several, None in place of other than tensors."""
    value = node.meta.get("val")
    values = value if isinstance(value, list | tuple) else [value]
    return [each if isinstance(each, torch.Tensor) else None for each in values]


def _check_results(node: Node, builder: GraphBuilder) -> None:
    """Whether all that is used of a node's results is there, and has the shape that PyTorch says."""
    value = node.meta.get("val")
    several = isinstance(value, list | tuple)
    if not several and builder.shape(node.name) != tuple(value.shape):
        raise NotUnderstoodError(f"its result is not of shape {builder.shape(node.name)}")
    for user in node.users if several else ():
        index = user.args[1] if user.target is operator.getitem else None
        if part_name(node, index) not in builder and not (index == 0 and node.name in builder):
            raise NotUnderstoodError("a further result of it is used")


def _declare_inputs(node: Node, builder: GraphBuilder, parameters: Parameters) -> None:
    """Values that come from outside of the segment become its inputs."""
    for each in node.all_input_nodes:
        value = each.meta.get("val")
        if each.name not in builder and each.name not in parameters and is_float([value]):
            assert isinstance(value, torch.Tensor)
            builder.input(each.name, tuple(value.shape))


def _closed(builder: GraphBuilder, run: Sequence[Node], nodes: Sequence[Node], parameters: Parameters) -> Segment:
    """The nodes of a run as a segment; where they are the whole model, with its own inputs and results."""
    inside = set(run)
    outputs = tuple(
        node for node in run if node.name in builder and any(user not in inside for user in node.users)
    )  # fmt: skip
    read = {each.name: each for node in run for each in node.all_input_nodes}
    whole = _whole(inside, nodes, parameters)
    if whole is not None:
        inputs, outputs = whole
        for node in inputs:
            if node.name not in read:
                builder.input(node.name, tuple(node.meta["val"].shape))
    graph = with_steps(builder.graph([node.name for node in outputs]))
    if whole is None:
        # An operator that was not understood may have declared others.
        inputs = tuple(read[value] for value in graph.inputs if value in read)
    return Segment(replace(graph, inputs=tuple(node.name for node in inputs)), inputs, outputs)


def _whole(
    inside: Set[Node], nodes: Sequence[Node], parameters: Parameters
) -> tuple[tuple[Node, ...], tuple[Node, ...]] | None:
    """A model's inputs and results in its own order, if these nodes are all that it computes.

    Numbers among the inputs are known. None where others compute a part of it, and where an input is a tensor of
    another type than float or a result is not computed: a program can't stand for such a model.
    """
    places = [node for node in nodes if node.op == "placeholder" and node.name not in parameters]
    inputs = tuple(node for node in places if isinstance(node.meta["val"], torch.Tensor))
    outputs = tuple(next(node for node in nodes if node.op == "output").args[0])
    if any(node.op == "call_function" and node not in inside for node in nodes) or any(
        each not in inside for each in outputs
    ):
        return None
    if not all(is_float([node.meta["val"]]) and all(node.meta["val"].shape) for node in inputs):
        return None
    return inputs, outputs
