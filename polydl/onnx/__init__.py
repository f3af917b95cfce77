"""ONNX files as compiled programs: ``optimize`` a file or a model.

Needs the package ``onnx`` (the extra ``onnx``), which is imported on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from polydl.onnx.model import OptimizedModel as OptimizedModel
    from polydl.onnx.model import optimize as optimize

__all__ = ["OptimizedModel", "optimize"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module("polydl.onnx.model"), name)
    raise AttributeError(f"module 'polydl.onnx' has no attribute {name!r}")
