"""A PyTorch model as a functional graph with its parameters, or the reason why there is none."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import Node
from torch.utils import _pytree as pytree

from polydl.errors import OptionError, UnsupportedConstructError

_FLOATS = (torch.float16, torch.bfloat16, torch.float64)


@dataclass(frozen=True)
class Exported:
    """``inputs`` are the model's own inputs, ``outputs`` its results in the order of the tree ``form``.

    A result that is no tensor, or a parameter, stands there as itself.
    """

    nodes: tuple[Node, ...]
    parameters: dict[str, torch.Tensor]
    inputs: tuple[Node, ...]
    outputs: tuple[Any, ...]
    form: Any


def exported(model: torch.nn.Module, example_inputs: Sequence[Any]) -> Exported:
    """The graph of a model in evaluation mode.

    Raises OptionError for a model that is trained, of another type than float or on another device, and
    UnsupportedConstructError where PyTorch can't export it, such as for control flow that depends on data.
    """
    _check(model, example_inputs)
    try:
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            program = torch.export.export(model, tuple(example_inputs)).run_decompositions({})
    except Exception as error:
        first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise UnsupportedConstructError(
            f"torch.export can't make a graph of {type(model).__name__}: {first}",
            remedy='torch.compile(model, backend="polydl") takes its parts without control flow on data',
        ) from error
    signature = program.graph_signature
    if signature.buffers_to_mutate or signature.user_inputs_to_mutate:
        raise UnsupportedConstructError(
            f"{type(model).__name__} changes its buffers or its inputs", remedy="use a model that only reads them"
        )
    places = {**signature.inputs_to_parameters, **signature.inputs_to_buffers}
    lifted = signature.inputs_to_lifted_tensor_constants
    state = {**program.state_dict, **program.constants}
    parameters = {name: state[place] for name, place in (*places.items(), *lifted.items())}
    nodes = tuple(program.graph.nodes)
    users = [node for node in nodes if node.op == "placeholder" and node.name not in parameters]
    results = next(node for node in nodes if node.op == "output").args[0]
    assert isinstance(results, tuple | list)
    return Exported(nodes, parameters, tuple(users), tuple(results), program.call_spec.out_spec)


def _check(model: torch.nn.Module, example_inputs: Sequence[Any]) -> None:
    if model.training:
        raise OptionError("the model is in training mode", remedy="call model.eval() first")
    for name, tensor in (*model.named_parameters(), *model.named_buffers()):
        _check_tensor(f"{name} of the model", tensor)
    for number, value in enumerate(pytree.tree_leaves(tuple(example_inputs))):
        if isinstance(value, torch.Tensor):
            _check_tensor(f"example input {number}", value)


def _check_tensor(name: str, tensor: torch.Tensor) -> None:
    if tensor.device.type != "cpu":
        raise OptionError(f"{name} is on the device {tensor.device}", remedy='move it with .to("cpu")')
    if tensor.dtype in _FLOATS:
        raise OptionError(f"{name} is of type {tensor.dtype}", remedy="convert it with .float()")
