"""Operators of PyTorch as kernels, and those that stay PyTorch's."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
from marks import parametrized

import polydl

pytest.importorskip("torch")

import torch
from torch import nn
from torch.nn import functional
from torch_models import Computed, check, data, with_statistics
from written_nests import keep_nests_as_written

from polydl.ir.numerics import Numerics
from polydl.torch import optimize

pytestmark = [pytest.mark.peers, pytest.mark.native]


@pytest.fixture(autouse=True)
def as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    keep_nests_as_written(monkeypatch)


def whole(model: Any, *inputs: Any) -> list[str]:
    """The operators of a model that is one native call."""
    fast = check(with_statistics(model), *inputs)
    assert (fast.native_calls, fast.foreign_operators) == (1, 0), str(fast.report())
    return [each.operator for each in fast.report().operators]


def test_functions_of_each_element() -> None:
    def functions(_: Any, x: Any) -> Any:
        positive = x.abs() + 0.1
        return (
            functional.leaky_relu(x, 0.2), functional.elu(x, 0.7), functional.celu(x, 1.5), functional.selu(x),
            functional.softplus(9 * x), functional.mish(3 * x), x.exp(), positive.log(), positive.sqrt(),
            positive.rsqrt(), x**2, x**3, 1 / positive, torch.erf(x), -x, x.clamp(-0.5, 0.5), x.clamp_min(0.1),
        )  # fmt: skip

    operators = whole(Computed(functions), 2 * data(3, 8))
    assert "element-wise, leaky relu" in operators
    assert "element-wise, scale, softplus" in operators


@pytest.mark.parametrize("numerics", ["strict", "bounded"])
def test_extremes_are_nan_where_either_operand_is(numerics: Numerics) -> None:
    def extremes(_: Any, x: Any, y: Any) -> Any:
        return torch.maximum(x, y), torch.minimum(x, y), torch.maximum(y, x), torch.minimum(y, x)

    x, y = data(3, 8), data(3, 8) + 0.1
    model = Computed(extremes).eval()
    fast = optimize(model, (x, y), threads=1, numerics=numerics)
    x[0, 1] = y[1, 2] = y[2, 7] = float("nan")
    for expected, computed in zip(model(x, y), fast(x, y), strict=True):
        assert torch.equal(expected.isnan(), computed.isnan())
        assert torch.equal(expected.nan_to_num(), computed.nan_to_num())


def test_parametric_relu_for_each_channel_or_for_all() -> None:
    layers = nn.Sequential(nn.Conv2d(4, 8, 1), nn.PReLU(8), nn.Conv2d(8, 4, 1), nn.PReLU())
    for parameter in layers.parameters():
        nn.init.normal_(parameter)
    assert "convolution 1x1, 8 to 4 channels, leaky relu" in whole(layers, data(1, 4, 5, 5))
    assert whole(nn.Sequential(nn.PReLU(5)), data(2, 5)) == ["parametric relu"]


def test_in_place_operators_give_new_values() -> None:
    layers = [nn.Conv2d(4, 8, 3), nn.BatchNorm2d(8), nn.ReLU(inplace=True), nn.Conv2d(8, 8, 1), nn.Hardswish(True)]
    assert len(whole(nn.Sequential(*layers), data(1, 4, 6, 6))) == 4

    def residual(_: Any, x: Any) -> Any:
        x = x * 2
        x += x.relu()
        return x

    whole(Computed(residual), data(3, 8))


def test_a_change_that_a_view_sees_is_kept() -> None:
    def through_a_view(_: Any, x: Any) -> Any:
        x = x * 2
        x[:, 0].relu_()
        return x + 0

    assert "no kernel for select_scatter" in str(check(Computed(through_a_view), data(3, 8)).report())


def test_padding_that_keeps_the_size() -> None:
    layers = nn.Conv2d(4, 8, (4, 3), padding="same", dilation=(1, 2)), nn.Conv2d(8, 4, 3, padding="valid")
    assert len(whole(nn.Sequential(*layers), data(1, 4, 7, 6))) == 4


def test_frames_of_zeros_become_the_padding_of_convolutions() -> None:
    def padded(model: Any, image: Any) -> Any:
        return model.layer(functional.pad(image, (0, 1, 2, 1))), functional.pad(image, (1, 0), value=0.5)

    model = Computed(padded, weight=data(1))
    model.layer = nn.Conv2d(4, 8, 3, 2, padding=(0, 1))
    operators = whole(model, data(2, 4, 6, 5))
    assert [each for each in operators if each == "padding"] == ["padding"]
    assert whole(nn.ZeroPad2d(1), data(1, 3, 2, 2)) == ["padding"]


def test_parts_of_arrays() -> None:
    def parts(_: Any, x: Any) -> Any:
        index = torch.tensor([1, 3])
        return (
            x[:, 0], 2 * x[:, -1], x[:, ::2, 1:4], x[1], *x.chunk(3, -1), *x.unbind(1)[:2],
            x.split([2, 3], 1)[1], torch.roll(x, (1, -2), (1, 2)), x[:, index], x[:, [-1]],
        )  # fmt: skip

    whole(Computed(parts), data(2, 5, 6))


def test_arrays_are_joined_along_any_dimension() -> None:
    def joined(model: Any, rows: Any, image: Any) -> Any:
        first = model.first.expand(2, -1, -1)
        image = torch.relu(model.layer(image))
        return (
            torch.cat([rows, rows * 2, rows], 1), torch.stack([rows, rows.relu()], -1), torch.cat([first, rows], 1),
            torch.cat([image, image], 1), torch.cat([image, image * 2], 2), rows[:, :1].expand(-1, 3, -1) + 1,
        )  # fmt: skip

    model = Computed(joined, first=data(1, 1, 6))
    model.layer = nn.Conv2d(3, 16, 1)
    whole(model, data(2, 5, 6), data(2, 3, 4, 4))


def test_shapes_and_orders_of_dimensions() -> None:
    def changed(_: Any, x: Any) -> Any:
        return (
            x.permute(2, 0, 1).contiguous().view(6, 10), x.unflatten(2, (2, 3)).movedim(1, 3), x.squeeze().mT * 2,
            functional.pixel_shuffle(x.view(2, 5, 2, 3).expand(2, 5, 2, 3).repeat_interleave(4, 1), 2),
        )  # fmt: skip

    check(Computed(changed), data(2, 5, 6))
    assert whole(nn.PixelShuffle(2), data(2, 8, 3, 4)) == ["transposition"]


def test_products_of_images_and_of_what_has_a_frame() -> None:
    def products(model: Any, x: Any, y: Any) -> Any:
        rows, image = model.line(x), model.image(y)
        return (
            rows.mT @ rows, image @ image, functional.pad(x, (0, 1)) @ y[:, 0], rows @ x.mT,
            functional.scaled_dot_product_attention(image, image, image),
        )  # fmt: skip

    model = Computed(products)
    model.line, model.image = nn.Conv1d(3, 4, 1), nn.Conv2d(2, 4, 1)
    whole(model, data(2, 3, 5), data(2, 2, 6, 6))


def test_softmax_over_any_dimension() -> None:
    def several(_: Any, x: Any, image: Any) -> Any:
        return x.softmax(1), functional.log_softmax(x, -1), image.softmax(1), x.log_softmax(0)

    whole(Computed(several), data(2, 5, 6), data(2, 3, 4, 4))


def test_reductions() -> None:
    def reduced(_: Any, x: Any, image: Any) -> Any:
        return (
            x.mean(1), x.mean((0, 2), keepdim=True), x.sum(-1), x.amax(1), x.mean(), x.sum(), image.mean((2, 3)),
            image.amax((2, 3)), image.mean(1, keepdim=True), image.sum((2, 3)),
        )  # fmt: skip

    whole(Computed(reduced), data(2, 5, 6), data(2, 3, 4, 4))


def test_parameters_may_be_larger_than_what_they_are_combined_with() -> None:
    def combined(m: Any, x: Any) -> Any:
        rows = x[:, None]
        return (
            rows + m.weight,
            m.weight + rows,
            rows - m.weight,
            rows * m.weight,
            rows / m.weight,
            m.weight / x.exp()[0],
        )

    whole(Computed(combined, weight=data(1, 6, 8).abs() + 1), data(2, 8))
    infinite = Computed(lambda m, x: x[:, None] + m.weight, weight=torch.full((3, 4), -torch.inf))
    assert "it leaves nothing of a row" in str(check(infinite, data(2, 4)).report())


@pytest.mark.slow
def test_differences_and_quotients() -> None:
    def combined(model: Any, x: Any, image: Any) -> Any:
        positive = x.abs() + 1
        return (
            3 - x, x - 1, x / 2, x[:, :1] - x, x - x[:, :1], x / positive, positive[:, :1] / positive, x / model.weight,
            model.weight - x, x - model.weight, model.weight / positive, torch.relu(x) - x, x - torch.relu(x),
            image - image.mean((2, 3), keepdim=True), image.mean((2, 3), keepdim=True) - image,
        )  # fmt: skip

    whole(Computed(combined, weight=data(5, 6)), data(2, 5, 6), data(2, 3, 4, 4))


def test_normalizations() -> None:
    layers = nn.InstanceNorm2d(16, affine=True), nn.GroupNorm(4, 16), nn.LayerNorm((6, 5)), nn.LayerNorm((16, 6, 5))
    model = nn.Sequential(*layers)
    for parameter in model.parameters():
        nn.init.normal_(parameter)
    whole(model, data(2, 16, 6, 5))


def test_batch_normalization_of_rows_is_folded_into_the_linear_layer_before_it() -> None:
    layers = [nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 4, bias=False), nn.BatchNorm1d(4)]
    assert whole(nn.Sequential(*layers), data(5, 8)) == ["linear, 8 to 16, relu", "linear, 16 to 4"]
    shared = Computed(lambda m, x: (m.layer(x), m.norm(m.layer(x))))
    shared.layer, shared.norm = nn.Linear(8, 16), nn.BatchNorm1d(16)
    whole(shared, data(5, 8))
    used = Computed(lambda m, x: (rows := m.layer(x), m.norm(rows)))
    used.layer, used.norm = nn.Linear(8, 16), nn.BatchNorm1d(16)
    assert whole(used, data(5, 8)) == ["linear, 8 to 16", "constant multiplied", "constant added"]
    assert whole(nn.Sequential(nn.BatchNorm1d(8)), data(5, 8)) == ["constant multiplied", "constant added"]


def test_rows_of_channels_are_images_of_one_row() -> None:
    layers = [
        nn.Conv1d(5, 16, 3, padding=1), nn.BatchNorm1d(16), nn.ReLU(), nn.MaxPool1d(2), nn.Conv1d(16, 16, 3, 2),
        nn.GroupNorm(4, 16), nn.AvgPool1d(3, 1, 1), nn.InstanceNorm1d(16), nn.PReLU(), nn.AdaptiveAvgPool1d(1),
        nn.Flatten(),
    ]  # fmt: skip
    operators = whole(nn.Sequential(*layers), data(2, 5, 18))
    assert operators.count("change of layout") == 2
    assert "convolution 1x3, 5 to 16 channels, relu" in operators
    whole(nn.Conv1d(4, 4, 4, padding="same", groups=4), data(1, 4, 9))


def test_masks_that_are_constant() -> None:
    def masked(model: Any, x: Any) -> Any:
        causal = (x @ x.transpose(1, 2)).masked_fill(model.mask[:, :5, :5] == 0, -torch.inf)
        return causal.softmax(-1) @ x, x.masked_fill(model.mask[0, :5, :6] == 0, 0.25)

    model = Computed(masked, mask=torch.tril(torch.ones(1, 8, 8, dtype=torch.int32)))
    assert "masked" in whole(model, data(2, 5, 6))

    def infinite(model: Any, x: Any) -> Any:
        return torch.relu(x).masked_fill(model.mask == 0, -torch.inf)

    report = check(Computed(infinite, mask=torch.eye(6, dtype=torch.int32)), data(6, 6)).report()
    assert "goes into more than softmax" in str(report)


def test_attention_with_a_constant_mask_of_booleans() -> None:
    def attended(m: Any, x: Any) -> Any:
        return functional.scaled_dot_product_attention(x, x, x, attn_mask=m.mask)

    rows, lower = data(2, 3, 5, 8), torch.ones(5, 5, dtype=torch.bool).tril()
    for mask in (lower, lower[None, None], torch.tensor([[True, False, True, True, False]])):
        whole(Computed(attended, mask=mask), rows)
    nothing = check(Computed(attended, mask=lower.tril(-1)), rows)
    assert "it leaves nothing of a row" in str(nothing.report())


def test_constant_conditions_choose_elements() -> None:
    def chosen(m: Any, x: Any, y: Any) -> Any:
        masked = torch.where(m.mask, x, -torch.inf).softmax(-1), torch.where(~m.mask, -1e9, x).softmax(-1)
        return (
            *masked,
            torch.where(m.mask, x, torch.tensor(0.5)),
            torch.where(m.mask, x, y),
            torch.where(m.mask[0], 1, y),
        )

    model = Computed(chosen, mask=torch.ones(5, 5, dtype=torch.bool).tril())
    assert "masked" in whole(model, data(2, 5, 5), data(5, 1))
    infinite = Computed(lambda m, x: torch.where(m.mask, x, -torch.inf).relu(), mask=model.mask)
    assert "goes into more than softmax" in str(check(infinite, data(5, 5)).report())


def test_roots_of_mean_squares_are_normalized() -> None:
    layers = nn.Sequential(nn.RMSNorm(6), nn.RMSNorm((5, 6), eps=0.1, elementwise_affine=False))
    nn.init.normal_(layers[0].weight)
    assert whole(layers, data(2, 5, 6)) == [f"root mean square normalization of {count}" for count in (6, 30)]


def test_maxima_minima_and_filled_values() -> None:
    def functions(m: Any, x: Any, y: Any) -> Any:
        extremes = torch.maximum(x, y).exp(), torch.minimum(m.weight, x), torch.max(x * 2, y), torch.min(x, y)
        ones = x + torch.ones_like(x) + torch.full_like(x, 0.5) - x.new_full((8,), 3) * x.new_ones(8)
        return *extremes, ones, torch.zeros_like(x) + y

    whole(Computed(functions, weight=data(3, 8)), data(3, 8), data(8))


def test_products_with_a_summand() -> None:
    def products(m: Any, x: Any) -> Any:
        computed = x @ m.weight
        scaled = torch.addmm(m.bias, x, m.weight, alpha=0.5, beta=2), torch.addmm(m.bias[:3], x, x.t(), alpha=0.5)
        return *scaled, torch.addmm(computed, x, m.weight), torch.addmm(m.rows, x, m.weight, beta=3)

    parameters = {"weight": data(5, 6), "bias": data(6), "rows": data(3, 6)}
    assert "linear, 5 to 6" in whole(Computed(products, **parameters), data(3, 5))


def test_what_depends_on_parameters_alone_is_computed_once() -> None:
    def positions(model: Any, x: Any) -> Any:
        return x + functional.embedding(torch.arange(5), model.table) + torch.zeros(5, 1)

    assert whole(Computed(positions, table=data(9, 6)), data(2, 5, 6)) == ["constant added", "constant added"]
    whole(nn.utils.parametrizations.weight_norm(nn.Conv1d(4, 8, 3)), data(1, 4, 9))


def test_types_that_are_checked_split_no_call() -> None:
    whole(Computed(lambda _, x: (x.float() * 2).to(torch.float32) + 1), data(3, 8))


@parametrized(
    ("function", "inputs", "reason"),
    [
        (lambda _, x: torch.einsum("bij,bkj->bik", x * 2, x).relu(), [data(2, 5, 6)], "no kernel for einsum"),
        (lambda m, x: functional.embedding(x, m.weight).relu(), [torch.tensor([[1, 2]])], "it reads are data"),
        (lambda _, x: functional.interpolate(x * 2, scale_factor=2, mode="bilinear"), [data(1, 3, 4, 4)], "bilinear"),
        (lambda _, x: functional.adaptive_avg_pool2d(x * 2, 3), [data(1, 3, 4, 4)], "windows of different sizes"),
        (lambda m, x: functional.conv2d(x * 2, m.filters), [data(3, 6, 6)], "not over several images"),
        (lambda _, x: functional.pad(x * 2, (1, 1), mode="reflect"), [data(1, 3, 8)], "pads by reflect"),
        (lambda _, x: functional.pad(x * 2, (-1, 1)), [data(1, 3, 8)], "cuts elements off"),
        (lambda m, x: (x * 2) ** 2.5, [data(3, 8).abs()], "its exponent is 2.5"),
        (lambda _, x: torch.div(x * 2, 3, rounding_mode="floor"), [data(3, 8)], "rounds"),
        (lambda _, x: functional.conv3d(x * 2, torch.ones(2, 3, 1, 1, 1)), [data(1, 3, 2, 2, 2)], "conv3d"),
    ],
    quick=1,
)
def test_what_has_no_kernel_runs_right_with_the_reason(function: Any, inputs: list[Any], reason: str) -> None:
    fast = check(Computed(function, weight=data(9, 6), filters=data(4, 3, 3, 3)), *inputs)
    assert fast.foreign_operators > 0
    assert reason in str(fast.report())


def test_optimized_models_are_copied_but_not_pickled() -> None:
    rows = data(3, 8)
    fast = check(nn.Linear(8, 4), rows)
    for other in (copy.copy(fast), copy.deepcopy(fast), copy.deepcopy([fast])[0]):
        assert other is not fast
        torch.testing.assert_close(other(rows), fast(rows), rtol=0, atol=0)
    with pytest.raises(polydl.PolydlError, match=r"pickled(?s:.*)save it to a folder"):
        pickle.dumps(fast)
