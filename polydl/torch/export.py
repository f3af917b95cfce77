"""A PyTorch model as a functional graph with its parameters, or the reason why there is none."""

from __future__ import annotations

import copy
import inspect
import operator
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.export.graph_signature import OutputKind
from torch.fx import Node
from torch.utils import _pytree as pytree

from polydl.errors import ArgumentError, OptionError, UnsupportedConstructError
from polydl.torch.functional import folded, functional
from polydl.torch.operators import is_known
from polydl.torch.quiet import without_graphs

_FLOATS = (torch.float16, torch.bfloat16, torch.float64)


@dataclass(frozen=True)
class Arguments:
    """What a model is called with: as many arguments by position as its ``forward`` takes so, others by name."""

    positional: tuple[Any, ...]
    named: dict[str, Any]

    @staticmethod
    def bound(signature: inspect.Signature, positional: Sequence[Any], named: Mapping[str, Any]) -> Arguments:
        """Arguments as a function of the signature takes them. Raises ArgumentError for such that it does not take."""
        try:
            bound = signature.bind(*positional, **named)
        except TypeError as error:
            raise ArgumentError(f"{error}", remedy=f"pass the arguments {signature}") from None
        return Arguments(bound.args, dict(sorted(bound.kwargs.items())))

    @property
    def leaves(self) -> list[Any]:
        """All values, in the order of a program's inputs."""
        values: list[Any] = pytree.tree_leaves((self.positional, self.named))
        return values

    @property
    def form(self) -> Any:
        """How they are nested."""
        return pytree.tree_structure((self.positional, self.named))


@dataclass(frozen=True)
class Exported:
    """The graph of a model, with what its nodes stand for."""

    #: in an order in which they can run; what follows from parameters alone is not among them
    nodes: tuple[Node, ...]
    #: those of the model, and what follows from them alone, by the names of nodes
    parameters: dict[str, torch.Tensor]
    #: what else nodes stand for: the graphs of branches, and numbers that follow from parameters alone
    attributes: dict[str, Any]
    #: the model's own inputs
    inputs: tuple[Node, ...]
    #: results in the order of the tree's leaves; one that is no tensor, or a parameter, stands there as itself
    outputs: tuple[Any, ...]
    #: the tree in which PyTorch nests the results (a ``TreeSpec``)
    form: Any


def exported(model: torch.nn.Module, example: Arguments) -> Exported:
    """The graph of a model in evaluation mode.

    Raises OptionError within ``torch.autocast`` and for a model that is trained, of another type than float or on
    another device, ArgumentError for examples that it fails on, and UnsupportedConstructError where PyTorch can't
    export it, such as for control flow that depends on data.
    """
    _check(model, example)
    try:
        with torch.no_grad(), warnings.catch_warnings(), without_graphs():
            warnings.simplefilter("ignore")
            # PyTorch takes a tensor that comes twice as one input.
            positional, named = pytree.tree_map_only(
                torch.Tensor, lambda tensor: tensor.detach().clone(), (example.positional, example.named)
            )
            program = functional(torch.export.export(model, positional, named), is_known)
    except Exception as error:
        first = _first_line(error)
        _check_results(model, results_on(model, example))
        raise UnsupportedConstructError(
            f"torch.export can't make a graph of {name_of(model)}: {first}",
            remedy='torch.compile(model, backend="polydl") takes its parts without control flow on data',
        ) from error
    signature = program.graph_signature
    if any(each.kind is not OutputKind.USER_OUTPUT for each in signature.output_specs):
        raise UnsupportedConstructError(
            f"{name_of(model)} changes its parameters, buffers or inputs, or a part of it is in training mode",
            remedy="use a model that only reads them, and call its eval()",
        )
    places = {**signature.inputs_to_parameters, **signature.inputs_to_buffers}
    lifted = signature.inputs_to_lifted_tensor_constants
    state = {**program.state_dict, **program.constants}
    parameters = {name: state[place] for name, place in (*places.items(), *lifted.items())}
    constants = folded(program.graph, parameters)
    parameters |= {name: value for name, value in constants.items() if isinstance(value, torch.Tensor)}
    nodes = tuple(node for node in program.graph.nodes if node.name not in constants)
    users = [node for node in nodes if node.op == "placeholder" and node.name not in parameters]
    results = next(node for node in nodes if node.op == "output").args[0]
    assert isinstance(results, tuple | list)
    attributes = {
        node.name: operator.attrgetter(str(node.target))(program.graph_module)
        for node in nodes
        if node.op == "get_attr"
    }
    attributes |= {name: value for name, value in constants.items() if not isinstance(value, torch.Tensor)}
    return Exported(nodes, parameters, attributes, tuple(users), tuple(results), program.call_spec.out_spec)


def _check(model: torch.nn.Module, example: Arguments) -> None:
    if torch.is_autocast_enabled("cpu"):
        raise OptionError("types are PyTorch's choice here", remedy="call it outside of torch.autocast")
    for name, part in model.named_modules():
        if part.training:
            what = f"its part {name} is" if name else "the model is"
            raise OptionError(f"{what} in training mode", remedy="call model.eval() first")
    for name, tensor in (*model.named_parameters(), *model.named_buffers()):
        check_tensor(f"{name} of the model", tensor)
    for number, value in enumerate(example.leaves):
        if isinstance(value, torch.Tensor):
            check_tensor(f"example input {number}", value)


def results_on(model: torch.nn.Module, example: Arguments) -> Any:
    """What PyTorch computes for examples. Raises ArgumentError if the model itself fails on them."""
    try:
        trial = copy.deepcopy(model)
    except Exception:
        # It can't be copied, and may change.
        trial = model
    try:
        with torch.no_grad():
            return trial(*example.positional, **example.named)
    except Exception as error:
        raise ArgumentError(
            f"{name_of(model)} fails on the example inputs: {_first_line(error)}",
            remedy="pass inputs that the model takes",
        ) from error


def _check_results(model: torch.nn.Module, results: Any) -> None:
    """Raises UnsupportedConstructError for a result that is of a type of the model's own."""
    known = (torch.Tensor, int, float, complex, str, type(None))
    for each in pytree.tree_leaves(results):
        if not isinstance(each, known):
            text = f"{name_of(model)} returns a value of type {type(each).__name__}, unknown to torch.export"
            remedy = "return tuples, lists or dictionaries, or register the type: torch.export.register_dataclass"
            raise UnsupportedConstructError(text, remedy=remedy)


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__


def name_of(model: torch.nn.Module) -> str:
    """What messages call a model: its class, unless it names itself otherwise."""
    return str(model._get_name())


def check_tensor(name: str, tensor: torch.Tensor) -> None:
    """Raises OptionError, which names the tensor so, for one that no kernel takes, whatever reads it."""
    if tensor.device.type != "cpu":
        raise OptionError(f"{name} is on the device {tensor.device}", remedy='move it with .to("cpu")')
    if tensor.layout != torch.strided:
        raise OptionError(f"{name} is stored as {tensor.layout}", remedy="convert it with .to_dense()")
    if tensor.dtype in _FLOATS:
        raise OptionError(f"{name} is of type {tensor.dtype}", remedy="convert it with .float()")
