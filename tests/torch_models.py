"""Checks of optimized PyTorch models whose nests stay as they are written, so that no test takes a search."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

_NORMALIZATIONS = (nn.BatchNorm1d, nn.BatchNorm2d)


class Computed(nn.Module):  # type: ignore[misc]
    """A function of the module and its inputs as a model, with parameters or, of other types, buffers."""

    def __init__(self, function: Callable[..., Any], **tensors: Any) -> None:
        super().__init__()
        self.function = function
        for name, tensor in tensors.items():
            if tensor.is_floating_point():
                self.register_parameter(name, nn.Parameter(tensor))
            else:
                self.register_buffer(name, tensor)

    def forward(self, *inputs: Any) -> Any:
        return self.function(self, *inputs)


def data(*shape: int) -> Any:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(1))


def with_statistics(model: Any) -> Any:
    """Batch normalizations that are not the identity."""
    torch.manual_seed(2)
    for layer in model.modules():
        if isinstance(layer, _NORMALIZATIONS):
            for tensor in (layer.weight, layer.bias, layer.running_mean):
                nn.init.normal_(tensor)
            nn.init.uniform_(layer.running_var, 0.5, 2)
    return model


def check(model: Any, *inputs: Any) -> Any:
    """The optimized model, once its results are PyTorch's, and no further from those in double than rounding takes it.

    The fixture ``as_it_is`` must be in use.
    """
    from polydl.torch import optimize

    fast = optimize(model.eval(), inputs, threads=1, records=False, compare=False)
    with torch.no_grad():
        torch.testing.assert_close(fast(*inputs), model(*inputs), rtol=1e-4, atol=1e-5)
    accuracy = fast.report().accuracy
    assert accuracy is None or accuracy.error < 1e-6 + 3 * accuracy.library_error
    return fast
