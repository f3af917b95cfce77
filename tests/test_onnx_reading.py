"""ONNX files as they are read: what is damaged, missing or open, and models that are refused."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import polydl

pytest.importorskip("onnx")

import onnx
from onnx import numpy_helper
from onnx_models import MODELS, SHAPES, ModelMaker, convolution
from written_nests import keep_nests_as_written

from polydl.models.program import lower
from polydl.onnx.folding import shaped
from polydl.onnx.operators import graph_of
from polydl.onnx.reading import input_shapes, read_model

pytestmark = [pytest.mark.peers, pytest.mark.native]


def optimized(source: Any, inputs: Any = None, *, compare: bool = False) -> Any:
    from polydl.onnx import optimize

    return optimize(source, inputs, threads=1, records=False, compare=compare)


def test_weights_whose_file_is_missing_are_random(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    keep_nests_as_written(monkeypatch)
    path = tmp_path / "model.onnx"
    onnx.save(convolution(), path, save_as_external_data=True, location="weights", size_threshold=0)
    assert optimized(path).report().random == ()
    (tmp_path / "weights").unlink()
    report = optimized(path).report()
    assert report.random == ("constant0", "constant1")
    assert "2 weights were missing, and are random" in report.summary


def test_a_model_that_was_read_without_its_weights_is_not_called_damaged(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    onnx.save(convolution(), path, save_as_external_data=True, location="weights", size_threshold=0)
    with pytest.raises(polydl.PolydlError, match=r"'constant0' is in the file weights(?s:.*)pass the model's path"):
        read_model(onnx.load(path, load_external_data=False))
    assert read_model(onnx.load(path)).random == ()


def test_weights_of_more_than_two_gigabytes_are_refused_before_they_are_read(tmp_path: Path) -> None:
    model = convolution()
    large = model.graph.initializer[0]
    large.ClearField("raw_data")
    large.dims[:] = [8, 4, 4096, 8192]
    large.data_location = onnx.TensorProto.EXTERNAL
    large.external_data.add(key="location", value="weights.bin")
    path = tmp_path / "large.onnx"
    path.write_bytes(model.SerializeToString())
    with pytest.raises(polydl.PolydlError, match=r"its weights take 4\.3 GB.* up to 2 GiB"):
        optimized(path)


def test_wrong_shapes_are_named() -> None:
    with pytest.raises(polydl.PolydlError, match=r"'x' is of shape \(1, 4, 7, 8\), and \(1, 4, 7\) is given"):
        optimized(convolution(), (1, 4, 7))
    with pytest.raises(polydl.PolydlError, match=r"shape of the input 'x' is open: \(N, 3, 12, 12\)"):
        optimized(MODELS["residual"]())
    open_model = convolution()
    open_model.graph.input[0].type.tensor_type.shape.dim[0].dim_value = -1
    with pytest.raises(polydl.PolydlError, match=r"shape of the input 'x' is open: \(\?, 4, 7, 8\)"):
        optimized(open_model)
    assert input_shapes(read_model(open_model), (2, 4, 7, 8)) == {"x": (2, 4, 7, 8)}
    with pytest.raises(polydl.PolydlError, match="no input 'image'"):
        optimized(convolution(), {"image": (1, 4, 7, 8)})
    m = ModelMaker(x=("N", "C", 4, 4))
    m.add("Conv", "x", m.weights(8, 4, 3, 3))
    with pytest.raises(polydl.PolydlError, match=r"'conv0' \(Conv\): its filters are \(8, 4, 3, 3\).* have 5 channels"):
        optimized(m.model(), (1, 5, 4, 4))


def test_sparse_constants_are_refused() -> None:
    m = ModelMaker(x=(2, 3))
    m.add("MatMul", "x", m.weights(3, 4))
    model = m.model()
    values = numpy_helper.from_array(np.ones(1, np.float32), "constant0")
    indices = numpy_helper.from_array(np.zeros(1, np.int64), "constant0.indices")
    model.graph.sparse_initializer.append(onnx.helper.make_sparse_tensor(values, indices, [3, 4]))
    del model.graph.initializer[:]
    with pytest.raises(polydl.PolydlError, match="'constant0' is stored as a sparse tensor"):
        optimized(model)


def test_outputs_without_a_shape_get_it_from_the_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    keep_nests_as_written(monkeypatch)
    maker = ModelMaker(x=("N", 4))
    maker.add("Relu", "x")
    model = maker.model()
    model.graph.output[0].type.tensor_type.ClearField("shape")
    before = model.SerializeToString()
    rows = np.random.default_rng(1).standard_normal((3, 4), dtype=np.float32)
    fast = optimized(model, (3, 4), compare=True)
    np.testing.assert_array_equal(fast(rows), np.maximum(rows, 0))
    assert model.SerializeToString() == before
    model.graph.node[0].domain = "custom"
    with pytest.raises(polydl.PolydlError, match="the output 'relu0' has no shape there, and none follows"):
        optimized(model, (3, 4))


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    content = convolution().SerializeToString()
    path = tmp_path / "model.onnx"
    for damaged in (b"", b"no model", content[: len(content) // 2]):
        path.write_bytes(damaged)
        with pytest.raises(polydl.PolydlError, match=r"model\.onnx: is no ONNX model, or damaged"):
            optimized(path)
    with pytest.raises(polydl.PolydlError, match=r"can't be read: No such file"):
        optimized(tmp_path / "nothing.onnx")
    for name in ("model.json", "model.textproto", "model.onnxtxt"):
        (tmp_path / name).write_text("{ no model")
        with pytest.raises(polydl.PolydlError, match=rf"{name}: is no ONNX model, or damaged"):
            optimized(tmp_path / name)
    model = convolution()
    model.graph.initializer[0].CopyFrom(numpy_helper.from_array(np.zeros((8, 4, 3, 3), np.float32), "constant0"))
    model.graph.initializer[0].raw_data = b"1234"
    with pytest.raises(polydl.PolydlError, match="damaged"):
        optimized(model)


@pytest.mark.parametrize("name", MODELS)
def test_damage_of_any_kind_is_an_error_with_a_message(name: str, tmp_path: Path) -> None:
    """Bytes that are others, gone or more; a file that is still a model becomes a graph."""
    content, path, chance = MODELS[name]().SerializeToString(), tmp_path / "model.onnx", Random(0)
    remedies = []
    for _ in range(100):
        damaged, place = bytearray(content), chance.randrange(2500)
        damaged[place : place + chance.randrange(3)] = chance.randbytes(chance.randrange(1, 3))
        path.write_bytes(damaged)
        try:
            stored = read_model(path)
            lower(graph_of(shaped(stored, input_shapes(stored, {"x": SHAPES[name]})), "model.onnx"))
        except polydl.PolydlError as error:
            remedies.append(error.remedy)
    assert len(remedies) > 30
    assert all(remedies)


def test_inputs_must_be_floats() -> None:
    model = convolution()
    model.graph.input[0].type.tensor_type.elem_type = onnx.TensorProto.DOUBLE
    with pytest.raises(polydl.PolydlError, match="'x' is of type double; only float"):
        optimized(model)
