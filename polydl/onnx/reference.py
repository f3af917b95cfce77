"""What another implementation of ONNX computes for a model, to compare with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator

from polydl.models.graph import Array
from polydl.onnx.nodes import Shape
from polydl.onnx.reading import StoredModel


@dataclass(frozen=True)
class Comparison:
    """How far outputs are from those of another implementation."""

    #: norm-wise relative difference of the worst output; infinity where a shape differs, or which elements are numbers
    error: float
    #: name and version of what computed the others
    reference: str


def example_inputs(shapes: Mapping[str, Shape]) -> dict[str, Array]:
    """Random data for a model, the same each time."""
    generator = np.random.default_rng(0)
    return {name: generator.standard_normal(shape, dtype=np.float32) for name, shape in shapes.items()}


def compared(stored: StoredModel, inputs: Mapping[str, Array], outputs: Sequence[Array]) -> Comparison:
    """``outputs``, computed from ``inputs``, beside those of ONNX Runtime, or else of the package ``onnx``."""
    expected, name = _expected(stored, inputs)
    return Comparison(max(_difference(*pair) for pair in zip(outputs, expected, strict=True)), name)


def _expected(stored: StoredModel, inputs: Mapping[str, Array]) -> tuple[Sequence[Array], str]:
    try:
        import onnxruntime
    except ImportError:
        pass
    else:
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        try:
            session = onnxruntime.InferenceSession(
                stored.model.SerializeToString(), options, providers=["CPUExecutionProvider"]
            )
            return session.run(None, dict(inputs)), f"ONNX Runtime {onnxruntime.__version__}"
        # It knows fewer versions of the format than the package onnx does, and says so in several ways.
        except Exception:
            pass
    return ReferenceEvaluator(stored.model).run(None, dict(inputs)), f"onnx.reference {onnx.__version__}"


def _difference(given: Array, wanted: Array) -> float:
    if given.shape != wanted.shape:
        return inf
    result, expected = given.astype(np.float64), wanted.astype(np.float64)
    numbers = np.isfinite(expected)
    # Elsewhere, as where random data have a logarithm of negative numbers, the same infinity or none counts as equal.
    same = np.array_equal(result[~numbers], expected[~numbers], equal_nan=True)
    if not same or not np.isfinite(result[numbers]).all():
        return inf
    norm = float(np.linalg.norm(expected[numbers]))
    return float(np.linalg.norm(result[numbers] - expected[numbers])) / (norm or 1.0)
