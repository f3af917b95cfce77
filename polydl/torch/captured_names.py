"""What messages call the parts of a graph that Dynamo captured: as the code has them that it was captured from."""

from __future__ import annotations

import re
from pathlib import PurePath

import torch

# Dynamo writes self.block[0].weight as L['self']._modules['block']._modules['0']._parameters['weight'].
_VARIABLE = re.compile(r"^[LG]\['(\w+)'\]")
_PART = re.compile(r"\._(?:modules|parameters|buffers)\['([^']+)'\]")
_FRAME = re.compile(r'File "([^"]*)", line (\d+), in (\S+)')


def graph_name(graph: torch.fx.GraphModule) -> str:
    """The function that a graph was captured from, with the file and the line of its first operator."""
    for node in graph.graph.nodes:
        frame = _FRAME.search(node.meta.get("stack_trace") or "")
        if frame is not None:
            file, line, function = frame.groups()
            return f"the graph of {function} ({PurePath(file).name}:{line})"
    return "the captured graph"


def input_names(graph: torch.fx.GraphModule) -> tuple[str, ...]:
    """Its inputs and parameters, in the order of its arguments, such as ``x`` and ``self.block.0.weight``."""
    places = [node for node in graph.graph.nodes if node.op == "placeholder"]
    return tuple(_name(node) or f"input {number}" for number, node in enumerate(places))


def _name(node: torch.fx.Node) -> str:
    """What the code calls a tensor; "" where Dynamo does not say."""
    source = getattr(node, "_dynamo_source", None) or getattr(node.meta.get("grapharg"), "source", None)
    # A method in some versions of PyTorch.
    name = getattr(source, "name", "")
    text = str(name() if callable(name) else name)
    return _PART.sub(r".\1", _VARIABLE.sub(r"\1", text))
