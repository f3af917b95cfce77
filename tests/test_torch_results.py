"""PyTorch models of which part of what an operator gives has no kernel, or is no number: results are PyTorch's."""

from __future__ import annotations

import threading
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from torch import nn
from torch.nn import functional
from torch_models import Computed, check, data, with_statistics
from written_nests import keep_nests_as_written

from polydl.torch import optimize
from polydl.torch.report import _error

pytestmark = [pytest.mark.peers, pytest.mark.native, pytest.mark.usefixtures("second_level")]


@pytest.fixture(autouse=True)
def as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    keep_nests_as_written(monkeypatch)


def test_a_parameter_that_is_a_value_is_no_operator_to_be_timed() -> None:
    model = Computed(lambda self, x: torch.cat([self.token - x, self.token], 1), token=data(2, 3))
    fast = optimize(model.eval(), (data(2, 3),), threads=1, records=False)
    torch.testing.assert_close(fast(data(2, 3)), model(data(2, 3)).detach())


def test_a_normalization_behind_another_name_of_a_value_that_is_needed_is_not_folded_into_it() -> None:
    class Twice(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.convolution, self.normalization = nn.Conv1d(3, 4, 3), nn.BatchNorm1d(4)

        def forward(self, x: Any) -> Any:
            result = self.convolution(x)
            return self.normalization(result.clone()) + result

    check(with_statistics(Twice()), data(2, 3, 9))


def test_a_pooling_whose_indices_are_used_stays_pytorchs() -> None:
    model = Computed(lambda _, x: functional.adaptive_max_pool2d(x, 2, return_indices=True))
    fast = check(model, data(1, 2, 4, 4))
    assert fast(data(1, 2, 4, 4))[1].dtype == torch.int64
    assert "a further result of it is used" in [each.reason for each in fast.report().kept]
    assert check(Computed(lambda _, x: functional.adaptive_max_pool2d(x, 2)), data(1, 2, 4, 4)).foreign_operators == 0


@pytest.mark.parametrize("function", [torch.log_softmax, torch.softmax])
def test_minus_infinity_where_it_shows_stays_pytorchs(function: Any) -> None:
    mask = torch.tensor([[False, True, False], [False, False, False]])
    model = Computed(lambda self, x: function(x.masked_fill(self.mask, float("-inf")), -1), mask=mask)
    assert (check(model, data(2, 3)).foreign_operators == 0) == (function is torch.softmax)


def test_softmax_of_nothing_is_no_number() -> None:
    mask = torch.tensor([[True, True, True], [False, False, True]])
    model = Computed(lambda self, x: x.masked_fill(self.mask, float("-inf")).softmax(-1), mask=mask)
    result = optimize(model.eval(), (data(2, 3),), threads=1, records=False, compare=False)(data(2, 3))
    torch.testing.assert_close(result, model(data(2, 3)), equal_nan=True)
    assert result[0].isnan().all()


def test_a_mask_is_no_index() -> None:
    model = Computed(lambda self, x: x[:, self.mask], mask=torch.tensor([False, True]))
    check(model, data(3, 2))


def test_what_is_no_number_on_one_side_alone_is_the_largest_error() -> None:
    nothing, infinite = float("nan"), float("inf")
    exact = torch.tensor([1.0, nothing, infinite], dtype=torch.float64)
    assert _error(torch.tensor([1.0, nothing, infinite]), exact) == 0
    assert _error(torch.tensor([1.0, 2.0, infinite]), exact) == infinite
    assert _error(torch.tensor([nothing, nothing, infinite]), exact) == infinite
    assert _error(torch.tensor([1.0, nothing, -infinite]), exact) == infinite


@pytest.mark.parametrize(
    "function",
    [
        lambda y, _: y.relu_().ne_(0),
        lambda y, _: y.relu_().logical_not_(),
        lambda y, x: y.add_(x.double()),
        lambda y, _: torch.atleast_3d(y).relu_(),
        lambda y, x: y.type_as(x).relu_(),
    ],
    ids=["comparison", "negation", "promotion", "hidden view", "the same tensor"],
)
def test_what_changes_a_value_leaves_it_its_type_and_changes_its_views(function: Any) -> None:
    def changed(model: Any, x: Any) -> Any:
        y = x @ model.weight
        result = function(y, x)
        return result, y * 2 + x

    fast = optimize(Computed(changed, weight=data(8, 8)).eval(), (data(8, 8),), threads=1, records=False, compare=False)
    for result, wanted in zip(fast(data(8, 8)), Computed(changed, weight=data(8, 8))(data(8, 8)), strict=True):
        torch.testing.assert_close(result, wanted.detach())


@pytest.mark.parametrize(
    "options",
    [{"training": False}, {"training": False, "inplace": True}, {"p": 0.0, "training": True}],
    ids=["changed in place", "changes in place", "of none"],
)
def test_dropouts_of_nothing_are_their_operands(options: dict[str, Any]) -> None:
    def changed(_: Any, x: Any) -> Any:
        positive = torch.relu(x)
        result = functional.dropout(positive, **options)
        result += x
        return result * positive

    model = Computed(changed).eval()
    fast = optimize(model, (data(3, 4),), threads=1, records=False, compare=False)
    torch.testing.assert_close(fast(data(3, 4)), model(data(3, 4)))


def test_sizes_that_depend_on_data_are_pytorchs() -> None:
    def selected(model: Any, x: Any) -> Any:
        y = x @ model.weight
        return y[y > 0] * 2, y[torch.nonzero(x[:, 0] > -9).squeeze(1)].relu()

    report = check(Computed(selected, weight=data(4, 4)), data(3, 4)).report()
    assert "its sizes depend on data" in [each.reason for each in report.kept]


@pytest.mark.parametrize("factors", [(3.2, 2.0), (41.0, 1.0)])
def test_pixels_that_are_not_all_repeated_as_often_are_pytorchs(factors: tuple[float, float]) -> None:
    def enlarged(_: Any, image: Any) -> Any:
        return functional.interpolate(image * 2, scale_factor=factors, mode="nearest")

    report = check(Computed(enlarged), data(1, 3, 4, 4)).report()
    assert "it does not repeat all pixels as often" in [each.reason for each in report.kept]


def test_values_without_elements_and_numbers_are_pytorchs_where_there_is_no_kernel() -> None:
    def empty(_: Any, x: Any, y: Any) -> Any:
        return x.mean(1).isnan(), torch.roll(x, 1, 1), torch.cat([x, y], 1) * 2, y[:, 2:2] * 2, x.sum(1) + 1

    check(Computed(empty), data(3, 0), data(3, 2))

    def numbers(_: Any, x: Any) -> Any:
        number = (x * 2).mean()
        return number.mean(0), number.softmax(0), number.log_softmax(0), number * x

    check(Computed(numbers), data(3))


@pytest.mark.parametrize(
    ("model", "shape"),
    [(nn.Softmax(1), (1, 2, 300000)), (nn.LayerNorm(2), (300000, 2)), (nn.GroupNorm(2, 2), (90000, 2, 1, 2))],
    ids=["softmax", "layer norm", "group norm"],
)
def test_what_is_computed_for_many_rows_is_not_on_the_stack(model: Any, shape: tuple[int, ...]) -> None:
    rows, results = torch.randn(*shape), []
    fast = optimize(model.eval(), rows, threads=1, records=False, compare=False)
    before = threading.stack_size(2 << 20)
    try:
        thread = threading.Thread(target=lambda: results.append(fast(rows)))
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    with torch.no_grad():
        torch.testing.assert_close(results[0], model(rows), rtol=1e-3, atol=1e-3)


def test_maxima_of_nothing_but_minus_infinity() -> None:
    def maxima(_: Any, image: Any) -> Any:
        return (
            functional.max_pool2d(image, 2), functional.max_pool2d(image, 3, 2, 1), image.amax((2, 3)),
            functional.max_pool2d(image, 3, 1, 1), image.amax(1), image.amax(3), image.amax(),
        )  # fmt: skip

    image = data(1, 2, 7, 8)
    image[:, 0] = -torch.inf
    assert check(Computed(maxima), image).foreign_operators == 0
    check(Computed(maxima), torch.full((1, 2, 8, 8), -torch.inf))


def test_constant_masks_that_leave_nothing_of_a_row_are_pytorchs() -> None:
    mask = torch.zeros(4, 4)
    mask[0], mask[1, 2:] = -torch.inf, -torch.inf

    def attention(model: Any, x: Any) -> Any:
        return functional.scaled_dot_product_attention(x, x, x, attn_mask=model.mask)

    def added(model: Any, x: Any) -> Any:
        return (model.mask + x @ x.transpose(-1, -2)).softmax(-1), (x @ x.mT - model.minus).softmax(-1)

    rows = data(2, 4, 8)
    for function in (attention, added):
        model = Computed(function, mask=mask, minus=-mask).eval()
        fast = optimize(model, rows, threads=1, records=False, compare=False)
        with torch.no_grad():
            torch.testing.assert_close(fast(rows), model(rows), equal_nan=True)
        assert "it leaves nothing of a row" in [each.reason for each in fast.report().kept]
    model = Computed(attention, mask=mask[1:2])
    assert check(model, rows).foreign_operators == 0
