"""PyTorch models as compiled programs: ``optimize`` a model, or ``torch.compile(model, backend="polydl")``.

Needs PyTorch (the extra ``torch``), which is imported on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from polydl.torch.model import OptimizedModel as OptimizedModel
    from polydl.torch.model import optimize as optimize

__all__ = ["OptimizedModel", "optimize"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module("polydl.torch.model"), name)
    raise AttributeError(f"module 'polydl.torch' has no attribute {name!r}")
