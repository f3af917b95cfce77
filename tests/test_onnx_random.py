"""ONNX models drawn at random, as compiled programs beside ONNX Runtime."""

from __future__ import annotations

import tempfile
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from marks import parametrized

from polydl.errors import PolydlError
from polydl.models import program
from polydl.models.graph import Array
from polydl.models.kernels import OperatorKernel, OperatorNest, as_written, object_of
from polydl.models.layout import ValueType
from polydl.models.loaded import LoadedModel

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

import onnxruntime
from onnx_random import RandomModel

from polydl.models.program import lower
from polydl.models.rounding import with_values_of
from polydl.onnx.folding import shaped
from polydl.onnx.operators import graph_of
from polydl.onnx.reading import input_shapes, read_model

pytestmark = [pytest.mark.peers, pytest.mark.native]


class Kernels(dict[OperatorNest, OperatorKernel]):
    """Nests as they are written, each compiled once, in a hurry."""

    def __missing__(self, nest: OperatorNest) -> OperatorKernel:
        plain = as_written(nest, "a test")
        plain = replace(plain, object_line=plain.object_line.replace("-O3", "-O0"))
        self[nest] = replace(plain, compiled=object_of(plain))
        return self[nest]


def both(
    model: Any, kernels: Kernels, value_type: ValueType = "float", floats: int | None = None
) -> tuple[list[Array], list[Array]] | None:
    """The outputs of polydl and of ONNX Runtime; None where that refuses a node that no output needs.

    ``floats`` draws images that are floats all the same.
    """
    stored = read_model(model)
    shapes = input_shapes(stored, None)
    graph = with_values_of(graph_of(shaped(stored, shapes), "a model"), value_type)
    if floats is not None:
        draw = Random(floats)
        graph = replace(graph, floats=frozenset(each for each in sorted(graph.images) if draw.random() < 0.5))
    lowered = lower(graph)
    given = {name: np.random.default_rng(3).standard_normal(shape, np.float32) for name, shape in shapes.items()}
    with tempfile.TemporaryDirectory() as folder:
        program.write_program(lowered, {nest: kernels[nest] for nest in lowered.nests}, Path(folder), threads=1)
        results = LoadedModel(Path(folder))(*given.values())
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        wanted = session.run(None, given)
    # Each kind of error has a class of its own there, and they have none in common.
    except Exception:
        return None
    return list(results) if isinstance(results, tuple) else [results], list(wanted)


@parametrized(("first", "last"), [(0, 12), (12, 72)], quick=1)
def test_random_models_compute_what_onnx_runtime_does(first: int, last: int) -> None:
    kernels = Kernels()
    became: Counter[str] = Counter()
    remedies = []
    for seed in range(first, last):
        model = RandomModel(seed).model
        try:
            outputs = both(model, kernels)
        except PolydlError as error:
            remedies.append(error.remedy)
            became["refused"] += 1
            continue
        if outputs is None:
            became["no reference"] += 1
            continue
        became["compared"] += 1
        for result, wanted in zip(*outputs, strict=True):
            assert result.shape == wanted.shape, seed
            np.testing.assert_allclose(result, wanted, rtol=1e-3, atol=1e-4, err_msg=str(seed))
    assert all(remedies)
    assert became["compared"] > 0.6 * became.total(), became
    assert became["no reference"] <= 0.1 * became.total(), became


@parametrized(("first", "last"), [(0, 6), (6, 30)], quick=1)
def test_random_models_with_values_of_bfloat16_are_off_by_rounding_alone(first: int, last: int) -> None:
    kernels = Kernels()
    compared = 0
    for seed in range(first, last):
        outputs = None
        with suppress(PolydlError):
            outputs = both(RandomModel(seed).model, kernels, "bfloat16", seed if seed % 2 else None)
        for result, wanted in zip(*(outputs or ((), ())), strict=True):
            assert result.shape == wanted.shape, seed
            finite = np.isfinite(wanted)
            assert np.isfinite(result[finite]).all(), seed
            norm = np.linalg.norm(wanted[finite].astype(np.float64))
            # 8 bits of each value are kept; a wrong element would be off by all of itself.
            assert np.linalg.norm(result[finite].astype(np.float64) - wanted[finite]) <= 0.05 * norm, seed
            compared += 1
    assert compared > 0.6 * (last - first)
