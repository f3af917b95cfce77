"""ONNX models as compiled programs, beside the reference implementation of ONNX."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from marks import parametrized
from written_nests import replace_kernels

import polydl
from polydl.cli import main
from polydl.errors import OptionError
from polydl.models.kernels import as_written

pytest.importorskip("onnx")

import onnx
from onnx.reference import ReferenceEvaluator
from onnx_models import MODELS, ModelMaker, convolution

from polydl.onnx.reading import read_model

pytestmark = [pytest.mark.peers, pytest.mark.native]


@pytest.fixture
def as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nests are compiled as they are written, so that a test takes no search."""
    replace_kernels(monkeypatch, lambda nest: as_written(nest, "a test"))


def optimized(source: Any, inputs: Any = None, **options: Any) -> Any:
    from polydl.onnx import optimize

    return optimize(source, inputs, threads=1, records=False, compare=False, **options)


def check(model: Any, *shapes: tuple[int, ...]) -> Any:
    """The optimized model, once its results are those of the reference implementation."""
    names = [each.name for each in model.graph.input]
    fast = optimized(model, dict(zip(names, shapes, strict=True)) if shapes else None)
    inputs = fast.report().manifest.inputs
    given = {each.name: np.random.default_rng(1).standard_normal(each.shape, dtype=np.float32) for each in inputs}
    wanted = ReferenceEvaluator(model).run(None, given)
    results = fast(*given.values())
    for one, other in zip(results if isinstance(results, tuple) else (results,), wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)
    return fast


def labels(fast: Any) -> list[str]:
    return [each.operator for each in fast.report().manifest.operators]


def test_a_residual_network_is_one_native_call(as_it_is: None, tmp_path: Path) -> None:
    fast = check(MODELS["residual"](), (2, 3, 12, 12))
    shown = labels(fast)
    assert "convolution 3x3, 3 to 16 channels, relu" in shown
    assert "convolution 3x3, 16 to 16 channels, add, relu" in shown
    assert len(shown) == 8
    fast.save(tmp_path / "saved")
    image = np.random.default_rng(2).standard_normal((2, 3, 12, 12), dtype=np.float32)
    np.testing.assert_array_equal(polydl.load(tmp_path / "saved")(image), fast(image))


@pytest.mark.slow
def test_blocks_of_a_mobile_network(as_it_is: None) -> None:
    shown = labels(check(MODELS["mobile"]()))
    assert "depthwise convolution 3x3, 32 to 32 channels, stride 2, hardswish" in shown
    assert "convolution 3x3, 32 to 32 channels, dilation 2, 2 groups, silu" in shown
    assert "convolution 1x1, 8 to 32 channels, scale, clamp" in shown


def test_linear_layers_on_sequences(as_it_is: None) -> None:
    assert labels(check(MODELS["perceptron"]())) == [
        "linear, 12 to 24, gelu", "linear, 24 to 12, add", "layer normalization of 12"
    ]  # fmt: skip


def test_several_inputs_and_outputs(as_it_is: None) -> None:
    m = ModelMaker(x=(1, 4, 6, 6), y=(1, 4, 6, 6))
    joined = m.add("Add", "x", "y")
    fast = check(m.model(joined, m.add("Tanh", m.add("Mul", joined, m.constant(2.0)))))
    image = np.ones((1, 4, 6, 6), np.float32)
    assert [each.shape for each in fast(image, image)] == [image.shape] * 2


def test_old_forms_of_operators(as_it_is: None) -> None:
    m = ModelMaker(opset=9, x=(1, 4, 6, 6))
    limited = m.add("Clip", "x", min=0.0, max=6.0)
    pooled = m.add("AveragePool", limited, kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=1)
    flat = m.add("Reshape", pooled, m.constant(np.array([0, -1])))
    m.add("Softmax", m.add("Gemm", flat, m.weights(144, 5), m.weights(5), alpha=0.5, beta=2.0))
    check(m.model())


@parametrized(
    "attributes",
    [
        {"pads": [0, 1, 2, 0]},
        {"auto_pad": "SAME_UPPER", "strides": [2, 2]},
        {"auto_pad": "SAME_LOWER", "strides": [2, 2]},
        {"auto_pad": "VALID", "dilations": [2, 1]},
    ],
    ids=str,
    quick=2,
)
def test_padding_of_convolutions(as_it_is: None, attributes: dict[str, Any]) -> None:
    check(convolution(**attributes))


@parametrized(
    ("size", "attributes"),
    [
        (2, {"strides": [2, 2]}),
        (3, {"strides": [2, 2], "pads": [1, 1, 1, 1], "output_padding": [1, 1]}),
        (4, {"strides": [2, 3], "pads": [1, 0, 2, 1]}),
        (2, {"strides": [3, 3]}),
        (3, {"pads": [1, 0, 0, 2], "dilations": [2, 1]}),
        (3, {"strides": [2, 2], "auto_pad": "SAME_UPPER"}),
    ],
    ids=str,
    quick=1,
)
def test_transposed_convolutions(as_it_is: None, size: int, attributes: dict[str, Any]) -> None:
    m = ModelMaker(x=(2, 16, 5, 6))
    m.add("Relu", m.add("ConvTranspose", "x", m.weights(16, 8, size, size), m.weights(8), **attributes))
    assert len(labels(check(m.model()))) == 3


def test_the_shape_of_a_transposed_convolution_may_be_given(as_it_is: None) -> None:
    pytest.importorskip("onnxruntime", reason="the reference implementation refuses such shapes")
    from polydl.onnx import optimize

    m = ModelMaker(x=(2, 16, 5, 6))
    m.add("ConvTranspose", "x", m.weights(16, 8, 3, 3), strides=[2, 2], output_shape=[10, 12])
    comparison = optimize(m.model(), threads=1, records=False).report().comparison
    assert comparison is not None
    assert comparison.error < 1e-5


@parametrized(
    ("operator", "attributes"),
    [
        ("MaxPool", {"pads": [0, 1, 1, 0]}),
        ("MaxPool", {"ceil_mode": 1, "strides": [2, 2]}),
        ("AveragePool", {"pads": [0, 1, 1, 0]}),
        ("AveragePool", {"auto_pad": "SAME_UPPER", "strides": [2, 2]}),
    ],
    ids=str,
    quick=2,
)
def test_padding_of_windows(as_it_is: None, operator: str, attributes: dict[str, Any]) -> None:
    m = ModelMaker(x=(1, 4, 7, 8))
    m.add(operator, "x", kernel_shape=[3, 3], **attributes)
    check(m.model())


def test_results_are_compared_and_reported(as_it_is: None, monkeypatch: pytest.MonkeyPatch) -> None:
    from polydl.onnx import model, optimize
    from polydl.onnx.reference import Comparison

    fast = optimize(convolution(), threads=1, records=False)
    comparison = fast.report().comparison
    assert comparison is not None
    assert comparison.error < 1e-5
    assert fast.report().document["comparison"] == {"error": comparison.error, "reference": comparison.reference}
    assert "convolution 3x3, 4 to 8 channels" in str(fast.report())
    monkeypatch.setattr(model, "compared", lambda *_: Comparison(0.5, "a test"))
    with pytest.raises(polydl.PolydlError, match=r"differ from those of a test by 0\.5"):
        optimize(convolution(), threads=1, records=False)


def test_the_command_writes_what_load_runs(as_it_is: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = tmp_path / "small.onnx", tmp_path / "out"
    onnx.save(MODELS["residual"](), path)
    arguments = ["model", str(path), "--input", "1,3,12,12", "--threads", "1", "--records", str(tmp_path / "records")]
    assert main([*arguments, "--out", str(out), "--name", "small", "--report"], standalone_mode=False) == 0
    shown = capsys.readouterr().out
    assert "convolution 3x3, 3 to 16 channels, relu" in shown
    assert shown.startswith("Call    ")
    assert "Model   8 operators, 8 distinct kernels, 1 thread" in shown
    assert max(map(len, shown.splitlines())) <= 110
    assert "libsmall.so" in shown
    assert polydl.load(out).manifest.outputs[0].shape == (1, 10)
    assert main([*arguments, "--out", str(out), "--json", "-"], standalone_mode=False) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["inputs"] == [{"name": "x", "shape": [1, 3, 12, 12]}]
    assert document["comparison"]["error"] < 1e-5
    assert document["call_seconds"] > 0
    assert main([*arguments, "--out", str(out), "--json", "-", "--element", "bfloat16"], standalone_mode=False) == 0
    assert 1e-4 < json.loads(capsys.readouterr().out)["comparison"]["error"] < 2**-6


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--input", "1,a"], "'1,a' is no shape"),
        (["--input", "1,3", "--input", "y=1,3"], "several inputs need names"),
        (["--input", "x=1,3,12,12", "--input", "z=1"], "no input 'z'"),
        (["--input", "x=1,3,12,12", "--input", "x=2,3,12,12"], "the input 'x' has a shape already"),
        (["--input", "1,3,12,12", "--budget", "5parsecs"], "'5parsecs' is no budget"),
    ],
)
def test_wrong_options_of_the_command(tmp_path: Path, options: list[str], message: str) -> None:
    path = tmp_path / "small.onnx"
    onnx.save(MODELS["residual"](), path)
    records = ["--records", str(tmp_path / "records")]
    with pytest.raises(polydl.PolydlError, match=message):
        main(["model", str(path), *options, *records, "--debug"], standalone_mode=False)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--out", "small.onnx"], "no file can be written in small.onnx"),
        (["--out", "small.onnx/deeper"], r"no file can be written in .*small\.onnx"),
        (["--json", "folder"], "folder is a directory"),
        (["--json", "small.onnx"], "would be written over the model"),
    ],
)
def test_places_that_take_no_files_are_refused_before_anything_is_optimized(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], message: str
) -> None:
    from polydl.onnx import model

    def optimized(nest: Any) -> Any:
        raise AssertionError(nest)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(model, "lower", optimized)
    onnx.save(MODELS["residual"](), "small.onnx")
    (tmp_path / "folder").mkdir()
    given = ["model", "small.onnx", "--input", "1,3,12,12", "--records", "records", *options, "--debug"]
    with pytest.raises(OptionError, match=message) as raised:
        main(given, standalone_mode=False)
    assert raised.value.remedy


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("inputs", "1,3", "inputs is '1,3', which is no shape"),
        ("inputs", 5, "inputs is 5, which is no shape"),
        ("inputs", {"x": 5}, r"inputs\['x'\] is 5, which is no shape"),
        ("inputs", (1.0, 3), "an extent of inputs is 1.0, which is no integer"),
        ("inputs", {"x": (1, "3")}, r"an extent of inputs\['x'\] is '3', which is no integer"),
        ("name", 5, "name is 5"),
        ("compare", None, "compare is None"),
        ("fewer_products", "no", "fewer_products is 'no'"),
        ("progress", 3, "progress is 3"),
    ],
)
def test_wrong_arguments_are_refused_with_a_remedy(name: str, value: Any, words: str) -> None:
    from polydl.onnx import optimize

    with pytest.raises(OptionError, match=words) as raised:
        optimize(MODELS["residual"](), **{name: value})
    assert raised.value.remedy


def test_shapes_may_be_of_numpys_integers(as_it_is: None) -> None:
    assert optimized(convolution(), np.array([1, 4, 7, 8])).report().manifest.inputs[0].shape == (1, 4, 7, 8)


@pytest.mark.slow
def test_kernels_are_searched_for(tmp_path: Path) -> None:
    from polydl.onnx import optimize

    m = ModelMaker(x=(8, 16))
    m.add("Relu", m.add("Gemm", "x", m.weights(16, 16), m.weights(16)))
    fast = optimize(m.model(), threads=1, records=tmp_path)
    comparison = fast.report().comparison
    assert comparison is not None
    assert comparison.error < 1e-5
    assert all(each.seconds is not None for each in fast.report().manifest.operators)


def test_results_that_are_no_numbers_are_compared(as_it_is: None) -> None:
    """Of random data, a logarithm has none where these are negative; the same elements are none in both."""
    from polydl.onnx import optimize
    from polydl.onnx.reference import compared

    m = ModelMaker(x=(2, 40))
    model = m.model(m.add("Log", "x"), m.add("Relu", "x"))
    report = optimize(model, threads=1, records=False).report()
    assert report.comparison is not None
    assert report.comparison.error < 1e-5
    stored, x = read_model(model), np.random.default_rng(1).standard_normal((2, 40), dtype=np.float32)
    with np.errstate(invalid="ignore"):
        logarithms = np.log(x)
    right = [logarithms, np.maximum(x, 0)]
    assert compared(stored, {"x": x}, right).error < 1e-6
    for wrong in ([np.zeros_like(x), right[1]], [right[0], np.full_like(x, np.nan)], [right[0], right[1] + np.inf]):
        assert compared(stored, {"x": x}, wrong).error == np.inf


@pytest.mark.parametrize(
    ("operator", "attributes", "message"),
    [
        ("Sort", {}, "damaged: No Op registered for Sort"),
        ("Sort", {"domain": "custom"}, r"node 'sort0' \(custom.Sort\): there is no kernel for custom.Sort"),
        ("Sin", {}, r"node 'sin0' \(Sin\): there is no kernel for Sin\n  remedy: there are kernels for Abs, Add, "),
        ("MaxPool", {"kernel_shape": [2, 2], "pads": [2, 0, 0, 0]}, r"padding \(2, 0\) with windows of \(2, 2\)"),
        ("MaxPool", {"kernel_shape": [2, 2], "ceil_mode": 1, "auto_pad": "SAME_UPPER"}, "ceil_mode with an auto_pad"),
    ],
)
def test_what_has_no_kernel_is_refused(operator: str, attributes: dict[str, Any], message: str) -> None:
    m = ModelMaker(x=(1, 4, 7, 8))
    m.add(operator, "x", **attributes)
    with pytest.raises(polydl.PolydlError, match=message):
        optimized(m.model())


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2)])
def test_outputs_may_be_the_same_elements_in_other_shapes(as_it_is: None, order: tuple[int, ...]) -> None:
    m = ModelMaker(x=(2, 3, 4))
    value = m.add("Relu", "x")
    views = [value, m.add("Reshape", value, m.constant(np.array([2, 12]))), m.add("Flatten", value, axis=2)]
    check(m.model(*(views[place] for place in order), "x"))


def test_values_may_be_called_like_what_is_made_of_others(as_it_is: None) -> None:
    m = ModelMaker(x=(1, 4, 5, 5))
    m.add("Conv", "x", m.weights(4, 4, 1, 1))
    m.add("GlobalAveragePool", "conv0")
    m.add("MatMul", "conv0", m.weights(5, 5))
    model = m.model("conv0", "globalaveragepool1", "matmul2", "x")
    for old, new in {"globalaveragepool1": "x.image", "matmul2": "conv0.rows", "conv0": "int"}.items():
        for node in model.graph.node:
            node.input[:] = [new if name == old else name for name in node.input]
            node.output[:] = [new if name == old else name for name in node.output]
        for each in model.graph.output:
            each.name = new if each.name == old else each.name
    check(model)


def test_numbers_need_not_be_finite(as_it_is: None) -> None:
    m = ModelMaker(x=(2, 3))
    m.add("Clip", m.add("Div", "x", m.constant(0.0)), m.constant(-np.inf), m.constant(2.0))
    check(m.model())


def test_values_may_be_single_numbers(as_it_is: None) -> None:
    m = ModelMaker(x=(1, 1))
    m.add("Mul", m.add("Sigmoid", m.add("Reshape", "x", m.constant(np.array([], np.int64)))), m.constant(3.0))
    check(m.model())


def test_operands_that_must_be_constant() -> None:
    m = ModelMaker(x=(3, 4), y=(4, 5))
    m.add("Pow", "x", m.add("ReduceMax", "y", keepdims=0))
    with pytest.raises(polydl.PolydlError, match="operand 2 is computed, and must be constant"):
        optimized(m.model())


def test_what_a_node_is_given_must_fit_it() -> None:
    m = ModelMaker(x=(1, 4, 7, 6))
    m.add("Conv", "x", m.weights(8, 4, 3, 3), dilations=[2, 3], strides=[3, 3])
    with pytest.raises(polydl.PolydlError, match="its filters are larger than its padded images"):
        optimized(m.model())
    m = ModelMaker(x=(4, 6))
    m.add("Dropout", "x", m.constant(0.5), m.constant(np.array(True)))
    with pytest.raises(polydl.PolydlError, match="it is in training mode"):
        optimized(m.model())


def test_attention_moves_no_elements(as_it_is: None) -> None:
    """Three products with weights, heads as dimensions of their own, and a mask."""
    m = ModelMaker(x=(2, 5, 24), mask=(2, 1, 1, 5))
    heads = []
    for order in ((0, 2, 1, 3), (0, 2, 3, 1), (0, 2, 1, 3)):
        projected = m.add("Add", m.add("MatMul", "x", m.weights(24, 24)), m.weights(24))
        split = m.add("Reshape", projected, m.constant(np.array([2, 5, 3, 8], np.int64)))
        heads.append(m.add("Transpose", split, perm=order))
    query, key, value = heads
    scores = m.add("Div", m.add("MatMul", query, key), m.constant(8.0**0.5))
    weights = m.add("Softmax", m.add("Add", scores, "mask"), axis=3)
    mixed = m.add("Transpose", m.add("MatMul", weights, value), perm=(0, 2, 1, 3))
    m.add("MatMul", m.add("Reshape", mixed, m.constant(np.array([2, 5, 24], np.int64))), m.weights(24, 24))
    assert labels(check(m.model())) == [
        *["linear, 24 to 24"] * 3,
        "product of matrices over 8, scale, add",
        "softmax",
        "product of matrices over 5",
        "linear, 24 to 24",
    ]


@pytest.mark.parametrize("perm", [(1, 0, 2, 3), (3, 2, 1, 0), (0, 3, 1, 2)])
def test_transpositions_of_inputs_and_results(perm: tuple[int, ...], as_it_is: None) -> None:
    m = ModelMaker(x=(2, 3, 4, 5))
    m.add("Sigmoid", m.add("Transpose", m.add("Relu", "x"), perm=perm))
    assert labels(check(m.model()))[-1] == "transposition"


def test_values_are_broadcast(as_it_is: None) -> None:
    m = ModelMaker(x=(2, 3, 4, 5), y=(3, 1, 5), z=(5,))
    m.add("Mul", m.add("Add", "x", "y"), "z")
    check(m.model())


def test_constants_are_broadcast(as_it_is: None) -> None:
    m = ModelMaker(x=(2, 3, 5))
    value = m.add("Sub", m.weights(3, 1), m.add("Add", "x", m.weights(1, 3, 5)))
    value = m.add("Div", m.add("Mul", m.weights(5), value), m.weights(3, 1, positive=True))
    check(m.model(m.add("Sub", value, m.weights(2, 3, 5))))


@pytest.mark.parametrize(
    ("operator", "change", "message"),
    [
        ("Conv", lambda node: node.attribute[0].ints.__setitem__(0, -1), "node 'conv0'.* negative values"),
        ("BatchNormalization", lambda node: node.input.__setitem__(1, node.input[0]), "batchnormalization1"),
        ("Gemm", lambda node: node.input.__setitem__(1, node.input[0]), "gemm10"),
    ],
)
def test_nodes_that_make_no_sense_are_named(operator: str, change: Any, message: str) -> None:
    model = MODELS["residual"]()
    change(next(node for node in model.graph.node if node.op_type == operator))
    with pytest.raises(polydl.PolydlError, match=message):
        optimized(model, (1, 3, 12, 12))
