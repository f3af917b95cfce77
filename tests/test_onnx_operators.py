"""Operators of ONNX as kernels, beside the reference implementation of ONNX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from marks import parametrized

import polydl
from polydl.onnx.nodes import Node, needed

pytest.importorskip("onnx")

from onnx.reference import ReferenceEvaluator
from onnx_models import ModelMaker
from written_nests import keep_nests_as_written

pytestmark = [pytest.mark.peers, pytest.mark.native, pytest.mark.usefixtures("second_level")]
ROWS, IMAGES, LINES = (2, 5, 6), (2, 16, 4, 6), (2, 5, 18)


@pytest.fixture(autouse=True)
def as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    keep_nests_as_written(monkeypatch)


def optimized(model: Any, *, compare: bool = False) -> Any:
    from polydl.onnx import optimize

    return optimize(model, threads=1, records=False, compare=compare)


def check(maker: ModelMaker, *outputs: str) -> list[str]:
    """The operators of a model, once its results are those of the reference implementation."""
    model = maker.model(*outputs)
    fast = optimized(model)
    inputs = fast.report().manifest.inputs
    given = {each.name: np.random.default_rng(1).standard_normal(each.shape, dtype=np.float32) for each in inputs}
    results = fast(*given.values())
    wanted = ReferenceEvaluator(model).run(None, given)
    for one, other in zip(results if isinstance(results, tuple) else (results,), wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)
    return [each.operator for each in fast.report().manifest.operators]


def numbers(maker: ModelMaker, *values: Any) -> list[str]:
    """Constant operands of whole numbers."""
    return [maker.constant(np.array(value, np.int64)) for value in values]


@parametrized(
    ("operator", "attributes"),
    [
        ("LeakyRelu", {"alpha": 0.2}), ("LeakyRelu", {}), ("Elu", {"alpha": 0.7}), ("Selu", {}),
        ("Celu", {"alpha": 2.0}), ("Softplus", {}), ("Mish", {}), ("Neg", {}), ("Exp", {}), ("Erf", {}), ("Abs", {}),
    ], quick=4,
)  # fmt: skip
def test_functions_of_each_element(operator: str, attributes: dict[str, Any]) -> None:
    maker = ModelMaker(x=ROWS)
    maker.add(operator, maker.add("Mul", "x", maker.constant(3.0)), **attributes)
    assert len(check(maker)) == 1


def test_roots_logarithms_and_powers() -> None:
    maker = ModelMaker(x=ROWS)
    positive = maker.add("Add", maker.add("Abs", "x"), maker.constant(0.1))
    results = [maker.add(operator, positive) for operator in ("Log", "Sqrt", "Reciprocal")]
    results += [maker.add("Pow", positive, maker.constant(float(each))) for each in (2, 3, 0.5, -0.5, -1)]
    check(maker, *results)


@pytest.mark.parametrize(("shape", "slope"), [(IMAGES, (16, 1, 1)), (IMAGES, (1,)), (IMAGES, (4, 6)), (ROWS, (6,))])
def test_parametric_relu(shape: tuple[int, ...], slope: tuple[int, ...]) -> None:
    maker = ModelMaker(x=shape)
    maker.add("PRelu", "x", maker.weights(*slope))
    check(maker)


def test_differences_quotients_and_sums_of_several() -> None:
    maker = ModelMaker(x=ROWS, y=(2, 5, 1))
    positive = maker.add("Exp", "y")
    results = [
        maker.add(operator, *values) for operator in ("Sub", "Div") for values in (("x", positive), (positive, "x"))
    ]
    constant = maker.weights(5, 6, positive=True)
    results += [maker.add("Div", constant, positive), maker.add("Sub", constant, "x"), maker.add("Sum", "x", "y", "x")]
    check(maker, *results)


@pytest.mark.parametrize("groups", [4, 16])
def test_groups_of_channels_are_normalized(groups: int) -> None:
    maker = ModelMaker(opset=21, x=IMAGES)
    maker.add("GroupNormalization", "x", maker.weights(16), maker.weights(16), num_groups=groups)
    assert any("normalization of" in each for each in check(maker))


@pytest.mark.parametrize("shape", [IMAGES, LINES])
def test_instances_are_normalized(shape: tuple[int, ...]) -> None:
    maker = ModelMaker(x=shape)
    maker.add("InstanceNormalization", "x", maker.weights(shape[1]), maker.weights(shape[1]), epsilon=1e-3)
    check(maker)


def test_groups_that_are_normalized_as_instances() -> None:
    """PyTorch writes group normalization so; its weights become those of the kernel."""
    maker = ModelMaker(x=IMAGES)
    rows = maker.add("Reshape", "x", *numbers(maker, [0, 4, -1]))
    plain = maker.add("InstanceNormalization", rows, maker.constant(np.ones(4)), maker.constant(np.zeros(4)))
    images = maker.add("Reshape", plain, *numbers(maker, IMAGES))
    scaled = maker.add("Mul", images, maker.weights(16, 1, 1))
    maker.add("Relu", maker.add("Add", scaled, maker.weights(16, 1, 1)))
    layout = "change of layout"
    assert check(maker) == [layout, "normalization of 4 groups of 4 channels, relu", layout]


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_softmax_over_any_dimension(axis: int) -> None:
    maker = ModelMaker(x=ROWS)
    check(maker, maker.add("Softmax", "x", axis=axis), maker.add("LogSoftmax", "x", axis=axis))


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_softmax_of_old_versions_is_over_all_dimensions_from_one_on(axis: int) -> None:
    maker = ModelMaker(opset=11, x=ROWS)
    exponents = np.exp(np.random.default_rng(1).standard_normal(ROWS, dtype=np.float32))
    axes = tuple(range(axis % 3, 3))
    wanted = exponents / exponents.sum(axes, keepdims=True)
    values = maker.add("Softmax", "x", axis=axis), maker.add("LogSoftmax", "x", axis=axis)
    results = optimized(maker.model(*values))(np.log(exponents))
    for result, other in zip(results, (wanted, np.log(wanted)), strict=True):
        np.testing.assert_allclose(result, other, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("operator", ["Add", "Sub", "Mul", "Div"])
@pytest.mark.parametrize(
    ("shape", "constant"), [((5, 1), (6,)), ((1, 5), (3, 1)), ((4, 1, 6), (2, 4, 3, 1)), ((5,), (1, 1))]
)
def test_constants_may_be_larger_than_what_they_are_combined_with(operator: str, shape: Any, constant: Any) -> None:
    maker = ModelMaker(x=shape)
    value, other = maker.add("Exp", "x"), maker.weights(*constant, positive=True)
    check(maker, maker.add(operator, value, other), maker.add(operator, other, value))


@pytest.mark.parametrize("computed", [False, True])
@pytest.mark.parametrize("summand", [(), (5,), (1, 5), (4, 1), (4, 5), None])
def test_products_of_matrices_with_a_summand(summand: Any, computed: bool) -> None:
    shapes = {"first": (3, 4), "second": (5, 3), "x": (4, 3)} | ({} if summand is None else {"summand": summand})
    maker = ModelMaker(**shapes)
    constant = maker.weights(5, 3)
    third = [] if summand is None else ["summand" if computed else maker.weights(*summand)]
    second = "second" if computed else constant
    check(
        maker,
        maker.add("Gemm", "first", second, *third, transA=1, transB=1, alpha=0.5, beta=2.0),
        maker.add("Gemm", "x", maker.add("Transpose", second, perm=[1, 0]), *third),
    )


def test_a_bias_of_a_product_becomes_that_of_the_linear_layer() -> None:
    maker = ModelMaker(x=(4, 6))
    maker.add("Gemm", "x", maker.weights(6, 5), maker.weights(1, 5), alpha=0.5, beta=3.0)
    assert check(maker) == ["linear, 6 to 5"]


@pytest.mark.parametrize(("shape", "weight"), [((2, 4, 6), (1, 6, 5)), ((4, 6), (1, 6, 5)), ((1, 4, 6), (1, 1, 6, 5))])
def test_a_constant_factor_may_have_more_dimensions_of_one_element(shape: Any, weight: Any) -> None:
    maker = ModelMaker(x=shape)
    maker.add("MatMul", "x", maker.weights(*weight))
    assert check(maker) == ["linear, 6 to 5"]


def test_exponents_of_integer_types() -> None:
    maker = ModelMaker(x=ROWS)
    check(maker, *(maker.add("Pow", "x", maker.constant(np.array(2, kind))) for kind in (np.int64, np.int32)))


def test_constant_conditions_choose_elements() -> None:
    lower = np.tril(np.ones((5, 6), bool))
    maker = ModelMaker(x=ROWS, y=(1, 5, 6))
    condition, least = maker.constant(lower), maker.constant(-np.inf)
    results = [
        maker.add("Softmax", maker.add("Where", condition, "x", least)),
        maker.add(
            "Softmax", maker.add("Where", maker.constant(~lower), maker.constant(np.array([-1e9], np.float32)), "x")
        ),
        maker.add("Where", condition, "x", "y"),
        maker.add("Where", condition, maker.weights(5, 1), "y"),
        maker.add("Where", maker.constant(lower[None, None, 1:2]), "x", maker.constant(0.5)),
    ]
    assert "masked" in check(maker, *results)
    maker = ModelMaker(x=ROWS)
    maker.add("Relu", maker.add("Where", maker.constant(lower), "x", maker.constant(-np.inf)))
    with pytest.raises(polydl.PolydlError, match="goes into more than softmax"):
        optimized(maker.model())
    maker = ModelMaker(x=(2, 5, 5))
    maker.add("Softmax", maker.add("Where", maker.constant(np.tril(lower[:, :5], -1)), "x", maker.constant(-np.inf)))
    with pytest.raises(polydl.PolydlError, match="it leaves nothing of a row"):
        optimized(maker.model())


def test_maxima_and_minima_of_several_values() -> None:
    maker = ModelMaker(x=ROWS, y=(5, 1))
    check(maker, maker.add("Max", "x", "y", maker.constant(0.1)), maker.add("Min", "y", "x"), maker.add("Max", "x"))


@pytest.mark.parametrize(("axis", "weight"), [(-1, (6,)), (1, (5, 6)), (1, (6,))])
def test_roots_of_mean_squares_are_normalized(axis: int, weight: Any) -> None:
    maker = ModelMaker(opset=23, x=ROWS)
    maker.add("RMSNormalization", "x", maker.weights(*weight), axis=axis)
    assert "root mean square normalization of" in " ".join(check(maker))


def test_layers_of_several_dimensions_are_normalized() -> None:
    maker = ModelMaker(x=IMAGES)
    maker.add("LayerNormalization", "x", maker.weights(4, 6), maker.weights(4, 6), axis=2)
    check(maker)


@pytest.mark.parametrize(
    ("weight", "bias"), [((6, 1), (6,)), ((6,), (6, 1)), ((2, 1, 1), (1, 6, 6)), ((1,), (1, 1, 6)), ((), ())]
)
def test_factors_and_summands_of_a_layer_normalization_are_broadcast(weight: Any, bias: Any) -> None:
    maker = ModelMaker(x=(2, 6, 6))
    factors, summands = maker.weights(*weight), maker.weights(*bias)
    maker.add("LayerNormalization", "x", factors, summands, axis=-1)
    given = np.random.default_rng(1).standard_normal((2, 6, 6), dtype=np.float32)
    mean, variance = given.mean(-1, keepdims=True), given.var(-1, keepdims=True)
    wanted = (given - mean) / np.sqrt(variance + 1e-5) * maker.constants[factors] + maker.constants[summands]
    np.testing.assert_allclose(optimized(maker.model())(given), wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("keeps", [0, 1])
def test_reductions(keeps: int) -> None:
    maker = ModelMaker(x=ROWS, images=IMAGES)
    results = [
        maker.add(operator, value, *numbers(maker, axes), keepdims=keeps)
        for operator in ("ReduceMean", "ReduceSum", "ReduceMax")
        for value, axes in (("x", [1]), ("x", [0, -1]), ("images", [2, 3]))
    ]
    check(maker, *results, maker.add("ReduceMean", "x", keepdims=keeps))


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_arrays_are_split_and_joined(axis: int) -> None:
    maker = ModelMaker(x=(4, 6, 5))
    sizes = {0: [1, 3], 1: [4, 2], 2: [2, 3]}[axis]
    first = maker.add("Split", "x", *numbers(maker, sizes), outputs=2, axis=axis)
    joined = maker.add("Concat", f"{first}.1", maker.add("Relu", first), f"{first}.1", axis=axis)
    check(maker, joined, maker.add("Concat", "x", maker.weights(4, 6, 5), axis=axis))


@pytest.mark.parametrize("left_out", [0, 1])
def test_a_part_that_nothing_needs_may_have_no_name(left_out: int) -> None:
    maker = ModelMaker(x=(2, 4, 4))
    first = maker.add("Split", "x", outputs=2, axis=1, num_outputs=2)
    last = f"{first}.1" if left_out == 0 else first
    maker.add("Relu", last)
    model = maker.model()
    model.graph.node[0].output[left_out] = ""
    before = model.SerializeToString()
    fast, data = optimized(model, compare=True), np.random.default_rng(1).standard_normal((2, 4, 4), dtype=np.float32)
    assert model.SerializeToString() == before
    rows = slice(2, 4) if left_out == 0 else slice(0, 2)
    np.testing.assert_array_equal(fast(data), np.maximum(data[:, rows], 0))


def test_results_and_operands_that_are_left_out_are_no_values() -> None:
    maker, image = ModelMaker(x=(1, 4, 6, 10)), np.random.default_rng(1).standard_normal((1, 4, 6, 10), np.float32)
    pooled = maker.add("MaxPool", "x", outputs=2, kernel_shape=[2, 2], strides=[2, 2])
    maker.nodes[0].output[1] = ""
    maker.add("Resize", pooled, "", maker.constant(np.array([1, 1, 2, 2], np.float32)), mode="nearest")
    expected = image.reshape(1, 4, 3, 2, 5, 2).max((3, 5)).repeat(2, 2).repeat(2, 3)
    np.testing.assert_array_equal(optimized(maker.model())(image), expected)
    dead = Node("dead", "MaxPool", ("x",), ("dead", ""), {})
    resize = Node("result", "Resize", ("x", "", "scales"), ("result",), {})
    assert needed([dead, resize], ["result"]) == (resize,)


@pytest.mark.parametrize(("shape", "extents"), [((1, 1, 1), (2, 4)), ((1, 1), (2, 4)), ((1, 1, 1), (1, 2, 4))])
def test_numbers_of_gelu_may_have_dimensions(shape: tuple[int, ...], extents: tuple[int, ...]) -> None:
    maker = ModelMaker(x=extents)
    erf = maker.add("Erf", maker.add("Div", "x", maker.constant(np.float32(2**0.5))))
    added = maker.add("Add", erf, maker.constant(np.ones(shape, np.float32)))
    maker.add("Mul", maker.add("Mul", "x", added), maker.constant(np.float32(0.5)))
    # With a further dimension, it is no number of the function's.
    parts = ["element-wise, scale, erf", "element-wise, scale, multiply, scale"]
    assert check(maker) == (["element-wise, gelu"] if len(shape) <= len(extents) else parts)


@pytest.mark.parametrize("name", ["../evil", "int", "a;b"])
def test_names_that_c_does_not_have_are_refused(name: str) -> None:
    from polydl.onnx import optimize

    maker = ModelMaker(x=(2, 4))
    maker.add("Relu", "x")
    with pytest.raises(polydl.PolydlError, match="--name"):
        optimize(maker.model(), name=name, records=False, compare=False)


def test_channels_of_images_are_split() -> None:
    maker = ModelMaker(x=(1, 3, 4, 5))
    value = maker.add("Conv", "x", maker.weights(32, 3, 1, 1))
    first = maker.add("Split", value, outputs=2, axis=1, num_outputs=2)
    maker.add("Concat", f"{first}.1", first, axis=1)
    operators = check(maker)
    assert "channels 16 to 31" in operators
    assert operators.count("change of layout") == 2


def test_parts_of_arrays() -> None:
    maker = ModelMaker(x=ROWS)
    results = [
        maker.add("Slice", "x", *numbers(maker, [1, 0], [5, -1], [1, 2], [2, 1])),
        maker.add("Slice", "x", *numbers(maker, [-3], [1000], [1])),
        maker.add("Gather", "x", *numbers(maker, 0), axis=1),
        maker.add("Gather", "x", *numbers(maker, -1), axis=2),
        maker.add("Gather", "x", *numbers(maker, [1, 3]), axis=1),
        maker.add("Expand", maker.add("Slice", "x", *numbers(maker, [0], [1], [1])), *numbers(maker, [2, 3, 6])),
    ]
    check(maker, *results)


def test_padding_by_itself_and_before_a_convolution() -> None:
    maker = ModelMaker(x=(1, 3, 5, 6))
    padded = maker.add("Pad", "x", *numbers(maker, [0, 0, 0, 1, 0, 0, 2, 1]))
    convolved = maker.add("Conv", padded, maker.weights(8, 3, 3, 3), strides=[2, 2], pads=[1, 0, 0, 0])
    other = maker.add("Pad", "x", *numbers(maker, [1, 0]), maker.constant(0.5), *numbers(maker, [-1]))
    assert check(maker, convolved, other).count("padding") == 1


@pytest.mark.parametrize(
    ("opset", "attributes"),
    [
        (20, {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}), (20, {}),
        (13, {"coordinate_transformation_mode": "pytorch_half_pixel"}),
        (11, {"coordinate_transformation_mode": "half_pixel", "nearest_mode": "round_prefer_ceil"}),
    ],
)  # fmt: skip
def test_pixels_are_repeated(opset: int, attributes: dict[str, Any]) -> None:
    maker = ModelMaker(opset=opset, x=(1, 4, 3, 5))
    none = maker.constant(np.zeros(0, np.float32))
    maker.add("Resize", "x", none, maker.constant(np.array([1, 1, 2, 3], np.float32)), mode="nearest", **attributes)
    assert "nearest neighbours, 2x3" in check(maker)


@pytest.mark.parametrize("axes", [[2, 3], [3, -2], [-1]])
def test_pixels_are_repeated_along_some_dimensions(axes: list[int]) -> None:
    maker, image = ModelMaker(x=(1, 4, 3, 5)), np.random.default_rng(1).standard_normal((1, 4, 3, 5), np.float32)
    factors = maker.constant(np.array([2, 3][: len(axes)], np.float32))
    maker.add("Resize", "x", "", factors, mode="nearest", axes=axes)
    wanted = image
    for axis, factor in zip(axes, (2, 3), strict=False):
        wanted = wanted.repeat(factor, axis)
    np.testing.assert_array_equal(optimized(maker.model())(image), wanted)


def test_products_of_images_and_of_what_has_a_frame() -> None:
    maker = ModelMaker(x=(1, 3, 6, 6), y=(1, 3, 5, 6))
    image = maker.add("Conv", "x", maker.weights(3, 3, 1, 1))
    turned = maker.add("Transpose", image, perm=[0, 1, 3, 2])
    framed = maker.add("Pad", "y", *numbers(maker, [0, 0, 0, 0, 0, 0, 1, 0]))
    check(maker, *(maker.add("MatMul", *operands) for operands in ((image, image), ("y", turned), (image, framed))))


def test_channels_become_pixels() -> None:
    maker = ModelMaker(x=(2, 8, 3, 4))
    maker.add("DepthToSpace", "x", blocksize=2, mode="CRD")
    check(maker)


def test_rows_of_channels_are_images_of_one_row() -> None:
    maker = ModelMaker(x=LINES)
    value = maker.add("Conv", "x", maker.weights(16, 5, 3), maker.weights(16), pads=[1, 1], strides=[2])
    value = maker.add("Relu", maker.batch_norm(value, 16))
    value = maker.add("MaxPool", value, kernel_shape=[3], strides=[2], pads=[1, 0])
    value = maker.add("AveragePool", value, kernel_shape=[2], auto_pad="SAME_UPPER")
    maker.add(
        "GlobalAveragePool", maker.add("Conv", value, maker.weights(16, 4, 3), dilations=[2], group=4, pads=[2, 2])
    )
    operators = check(maker)
    assert operators.count("change of layout") == 2
    assert "convolution 1x3, 5 to 16 channels, stride 1x2, relu" in operators


def test_batch_normalization_of_rows() -> None:
    maker = ModelMaker(x=(5, 8))
    maker.add("Relu", maker.batch_norm(maker.add("Gemm", maker.batch_norm("x", 8), maker.weights(8, 4)), 4))
    assert check(maker) == ["constant multiplied", "constant added", "linear, 8 to 4, relu"]


def test_a_normalization_behind_another_name_of_a_value_that_is_needed_is_not_folded_into_it() -> None:
    maker = ModelMaker(x=LINES)
    value = maker.add("Conv", "x", maker.weights(16, 5, 3), maker.weights(16))
    maker.add("Add", value, maker.batch_norm(maker.add("Identity", value), 16))
    check(maker)


def _resized(maker: ModelMaker, rows: float = 1.5, **attributes: Any) -> None:
    none = maker.constant(np.zeros(0, np.float32))
    maker.add("Resize", "x", none, maker.constant(np.array([1, 1, rows, 2], np.float32)), **attributes)


def _normalized(maker: ModelMaker, operator: str, **attributes: Any) -> None:
    """A vector; newer versions have the groups."""
    maker.opset = 21
    flat = maker.add("Reshape", "x", *numbers(maker, [-1]))
    maker.add(operator, flat, maker.weights(768), maker.weights(768), **attributes)


@pytest.mark.parametrize(
    ("add", "message"),
    [
        (lambda maker: _resized(maker, mode="linear"), "its mode is linear"),
        (lambda maker: _resized(maker), "factors are not whole"),
        (lambda maker: _resized(maker, rows=2.2), "scales are no whole numbers"),
        (
            lambda maker: maker.add("ReduceSum", "x", *numbers(maker, []), noop_with_empty_axes=1),
            "it is over no dimension",
        ),
        (lambda maker: _resized(maker, coordinate_transformation_mode="align_corners"), "align_corners"),
        (lambda maker: maker.add("Pad", "x", *numbers(maker, [0, 0, 1, 1] * 2), mode="reflect"), "its mode is reflect"),
        (lambda maker: maker.add("Pad", "x", *numbers(maker, [0, 0, -1, 1] * 2)), "cuts elements off"),
        (lambda maker: maker.add("Slice", "x", *numbers(maker, [3], [0], [2], [-1])), "goes backwards"),
        (lambda maker: maker.add("Gather", "x", *numbers(maker, [1, 0]), axis=2), "increase by one step"),
        (lambda maker: maker.add("Pow", "x", maker.constant(2.5)), "its exponent is 2.5"),
        (lambda maker: maker.add("DepthToSpace", "x", blocksize=2), "its mode is DCR"),
        (lambda maker: _normalized(maker, "InstanceNormalization"), "it is not over images"),
        (lambda maker: _normalized(maker, "GroupNormalization", num_groups=1), "it is not over images"),
    ],
)
def test_what_has_no_kernel_is_refused(add: Callable[[ModelMaker], Any], message: str) -> None:
    maker = ModelMaker(x=IMAGES)
    add(maker)
    with pytest.raises(polydl.PolydlError, match=message):
        optimized(maker.model())
