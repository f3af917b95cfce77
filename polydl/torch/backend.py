"""``torch.compile(model, backend="polydl")``: what Dynamo captures becomes compiled programs."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from polydl.errors import OptionError, PolydlError
from polydl.torch.model import optimize

_OPTIONS = ("threads", "budget", "numerics", "fewer_products", "records", "compare", "progress")


class _Frozen(torch.nn.Module):  # type: ignore[misc]
    """A captured graph whose parameters and buffers are its own, not inputs."""

    def __init__(self, graph: Callable[..., Any], constants: dict[int, torch.Tensor], inputs: int) -> None:
        super().__init__()
        self._graph = graph
        self._inputs = inputs
        self._positions = tuple(constants)
        for position, tensor in constants.items():
            self.register_buffer(f"constant{position}", tensor.detach())

    def forward(self, *users: Any) -> Any:
        left = iter(users)
        given = [
            getattr(self, f"constant{position}") if position in self._positions else next(left)
            for position in range(self._inputs)
        ]
        return self._graph(*given)


def compile_graph(
    graph: torch.fx.GraphModule, example_inputs: Sequence[Any], *, options: Mapping[str, Any] | None = None
) -> Callable[..., Any]:
    """The backend. Parameters are taken as they are now, as in PyTorch's freezing.

    ``options`` are those of ``polydl.torch.optimize``. Raises OptionError for others.

    PyTorch runs the graph itself, with a warning that says why, where gradients are needed, sizes are symbols, or
    polydl refuses it.
    """
    given = dict(options or {})
    for name in given:
        if name not in _OPTIONS:
            raise OptionError(f"backend 'polydl' has no option {name!r}", remedy=f"use some of {', '.join(_OPTIONS)}")
    constants = {number: each for number, each in enumerate(example_inputs) if _is_constant(each)}
    reason = ""
    if torch.is_grad_enabled() and any(
        isinstance(each, torch.Tensor) and each.requires_grad for each in example_inputs
    ):
        reason = "it is compiled with gradients (call it under torch.no_grad())"
    elif not all(isinstance(each, torch.Tensor) for each in example_inputs):
        reason = "its sizes are symbols (compile it with dynamic=False)"
    else:
        users = [each for number, each in enumerate(example_inputs) if number not in constants]
        try:
            fast = optimize(_Frozen(graph, constants, len(example_inputs)).eval(), users, **given)
        except PolydlError as error:
            reason = error.message
    if reason:
        warnings.warn(f"PyTorch runs the graph itself: {reason}", stacklevel=2)
        plain: Callable[..., Any] = graph.forward
        return plain

    def run(*inputs: Any) -> Any:
        return fast(*(each for number, each in enumerate(inputs) if number not in constants))

    return run


def _is_constant(value: Any) -> bool:
    """Whether Dynamo passes a parameter or a buffer of the model's."""
    return isinstance(value, torch.nn.Parameter) or hasattr(value, "_dynamo_static_input_type")
