"""``torch.compile(model, backend="polydl")``: what Dynamo captures becomes compiled programs."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from threading import Lock
from typing import Any
from weakref import ref

import torch

from polydl.arguments import require_callable, truth_of, whole
from polydl.errors import OptionError, PolydlError
from polydl.machine import Machine
from polydl.models.kernels import KernelOptions
from polydl.models.rounding import value_type_named
from polydl.torch.captured_names import graph_name, input_names
from polydl.torch.export import check_tensor
from polydl.torch.model import optimize
from polydl.torch.shared_memory import separate_results

_OF_KERNELS = ("budget", "numerics", "fewer_products", "records")
_OPTIONS = ("threads", *_OF_KERNELS, "element", "compare", "progress")


class _Frozen(torch.nn.Module):  # type: ignore[misc]
    """A captured graph whose parameters and buffers are its own, not inputs."""

    def __init__(self, graph: Callable[..., Any], constants: dict[int, torch.Tensor], inputs: int, name: str) -> None:
        super().__init__()
        self._graph = graph
        self._name = name
        self._inputs = inputs
        self._positions = tuple(constants)
        for position, tensor in constants.items():
            self.register_buffer(f"constant{position}", tensor.detach())

    def _get_name(self) -> str:
        """What messages call it."""
        return self._name

    def forward(self, *users: Any) -> Any:
        left = iter(users)
        given = [
            getattr(self, f"constant{position}") if position in self._positions else next(left)
            for position in range(self._inputs)
        ]
        return self._graph(*given)


#: addresses of tensors, and how often each was changed
_State = tuple[tuple[int, ...], tuple[int, ...]]
_address, _version = torch.Tensor.data_ptr, attrgetter("_version")


@dataclass
class _Instance:
    """The tensors that a graph is called with as its constants, as they were at a call."""

    tensors: tuple[ref[torch.Tensor], ...]
    state: _State
    #: what runs the graph with them; None where they were seen once
    run: Callable[..., Any] | None


class _Graph:
    """A captured graph, with a program for each instance of the model.

    PyTorch calls the same graph with the parameters of any instance of a class, and with the same after they were
    changed. But for the first, a program is made at the second call with the same constants in the same state, so that
    none is made for what changes from call to call. It is given up when one of them is gone.

    Raises UnsupportedConstructError as ``separate_results`` does.
    """

    def __init__(
        self, graph: torch.fx.GraphModule, constants: Sequence[int], inputs: int, options: Mapping[str, Any]
    ) -> None:
        self._graph = graph
        self._separate = separate_results(graph)
        self._constants = tuple(constants)
        self._users = tuple(number for number in range(inputs) if number not in self._constants)
        self._options = options
        #: by the identities of their constants
        self._instances: dict[tuple[int, ...], _Instance] = {}
        self._lock = Lock()

    def __call__(self, *inputs: Any) -> Any:
        constants = [inputs[number] for number in self._constants]
        identity, state = _identity(constants), _state(constants)
        instance = self._instances.get(identity)
        if instance is None or instance.state != state:
            self._remember(constants, None)
            return self._graph.forward(*inputs)
        if instance.run is None:
            with self._lock:
                if instance.run is None:
                    try:
                        instance.run = self._program(inputs)
                    except PolydlError as error:
                        instance.run = _itself(self._graph, error.message)
        return instance.run(*inputs)

    def prepare(self, inputs: Sequence[Any]) -> None:
        """Make the program for the constants among the inputs. Raises PolydlError where there is none."""
        self._remember([inputs[number] for number in self._constants], self._program(inputs))

    def _program(self, inputs: Sequence[Any]) -> Callable[..., Any]:
        constants = {number: inputs[number] for number in self._constants}
        users, separate = self._users, self._separate
        frozen = _Frozen(separate.graph, constants, len(inputs), graph_name(self._graph)).eval()
        fast = optimize(frozen, [inputs[number] for number in users], **self._options)
        return lambda *given: separate.shared(fast(*(given[number] for number in users)), given)

    def _remember(self, constants: Sequence[torch.Tensor], run: Callable[..., Any] | None) -> None:
        identity = _identity(constants)
        forget = partial(_forget, ref(self), identity)
        self._instances[identity] = _Instance(tuple(ref(each, forget) for each in constants), _state(constants), run)


def _identity(constants: Sequence[torch.Tensor]) -> tuple[int, ...]:
    return tuple(map(id, constants))


def _state(constants: Sequence[torch.Tensor]) -> _State:
    return tuple(map(_address, constants)), tuple(map(_version, constants))


def _forget(graph: ref[_Graph], identity: tuple[int, ...], _: object) -> None:
    """Another tensor may get the identity of one that is gone."""
    known = graph()
    if known is not None:
        known._instances.pop(identity, None)


def compile_graph(
    graph: torch.fx.GraphModule, example_inputs: Sequence[Any], *, options: Mapping[str, Any] | None = None
) -> Callable[..., Any]:
    """The backend. Each instance of the model gets a program with its parameters as they are at a call.

    ``options`` are those of ``polydl.torch.optimize``. Raises OptionError for others, and for one that is not valid.

    PyTorch runs the graph itself, with a warning that says why, where gradients are needed, sizes are symbols, or
    polydl refuses it.
    """
    given = dict(options or {})
    for name in given:
        if name not in _OPTIONS:
            raise OptionError(f"backend 'polydl' has no option {name!r}", remedy=f"use some of {', '.join(_OPTIONS)}")
    # Here, since an error of ``optimize`` leaves the graph to PyTorch.
    KernelOptions(**{name: given[name] for name in _OF_KERNELS if name in given})
    truth_of("compare", given.get("compare", True))
    require_callable("progress", given.get("progress"))
    value_type_named(given.get("element", "float"))
    if given.get("threads") is not None:
        Machine.detect(threads=whole("threads", given["threads"], 1))
    constants = [number for number, each in enumerate(example_inputs) if _is_constant(each)]
    if torch.is_grad_enabled() and any(
        isinstance(each, torch.Tensor) and each.requires_grad for each in example_inputs
    ):
        return _itself(graph, "it is compiled with gradients (call it under torch.no_grad())")
    if not all(isinstance(each, torch.Tensor) for each in example_inputs):
        return _itself(graph, "its sizes are symbols (compile it with dynamic=False)")
    if any(example_inputs[number].is_inference() for number in constants):
        return _itself(graph, "its parameters are of inference mode (make the model outside of it)")
    try:
        for name, value in zip(input_names(graph), example_inputs, strict=True):
            check_tensor(name, value)
        programs = _Graph(graph, constants, len(example_inputs), given)
        programs.prepare(example_inputs)
    except PolydlError as error:
        return _itself(graph, error.message)
    return programs


def _itself(graph: torch.fx.GraphModule, reason: str) -> Callable[..., Any]:
    """PyTorch's own run of a graph."""
    warnings.warn(f"PyTorch runs the graph itself: {reason}", stacklevel=3)
    plain: Callable[..., Any] = graph.forward
    return plain


def _is_constant(value: Any) -> bool:
    """Whether Dynamo passes a parameter or a buffer of the model's."""
    return isinstance(value, torch.nn.Parameter) or hasattr(value, "_dynamo_static_input_type")
