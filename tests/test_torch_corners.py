"""PyTorch models at the edges of what kernels know: results are PyTorch's, and what no kernel computes stays there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import polydl

pytest.importorskip("torch")

import torch
from torch import nn
from torch.nn import functional
from torch_models import Computed, check, data
from written_nests import keep_nests_as_written

from polydl.torch.running import NativeStep

pytestmark = [pytest.mark.peers, pytest.mark.native]


@pytest.fixture(autouse=True)
def as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    keep_nests_as_written(monkeypatch)


def kept(function: Any, *inputs: Any, **tensors: Any) -> list[str]:
    """Why PyTorch keeps what it keeps of a model, whose results are right."""
    return [each.reason for each in check(Computed(function, **tensors), *inputs).report().kept]


def test_saving_a_model_leaves_other_files_of_kernels(tmp_path: Path) -> None:
    others = [tmp_path / "kernel_gemm_polydl.c", tmp_path / "kernel_0123456789ab_polydl.c"]
    for other in others:
        other.write_text("")
    check(nn.Linear(4, 3), data(2, 4)).save(tmp_path)
    assert [other.exists() for other in others] == [True, False]


@pytest.mark.parametrize(
    "function",
    [
        lambda _, a, b: torch.relu(b) + a,
        lambda _, a, b: (torch.relu(b) * a, a * 2)[::-1],
        lambda _, a, b: (a + b,) * 2,
        lambda _, a, b: torch.relu(b),
    ],
    ids=["inputs in another order", "results in another order", "one result twice", "an input that nothing reads"],
)
def test_a_model_is_one_program_with_its_own_inputs_and_results(function: Any, tmp_path: Path) -> None:
    inputs = data(2, 3), data(3) + 1
    model = Computed(function).eval()
    check(model, *inputs).save(tmp_path)
    results = polydl.load(tmp_path)(*(each.numpy() for each in inputs))
    expected = model(*inputs)
    pairs = zip(results, expected, strict=True) if isinstance(expected, tuple) else [(results, expected)]
    for result, wanted in pairs:
        torch.testing.assert_close(torch.from_numpy(result), wanted)


def test_a_model_that_no_program_can_stand_for_says_why_it_is_not_saved(tmp_path: Path) -> None:
    numbers = torch.tensor([1, 2])
    for function, inputs in ((lambda _, x: (x, x + 1), [data(3)]), (lambda _, x, other: x * 2, [data(3), numbers])):
        with pytest.raises(polydl.PolydlError, match="no tensors of floats, or results that no kernel computes"):
            check(Computed(function), *inputs).save(tmp_path)


def test_numbers_among_the_inputs_are_no_inputs_of_the_saved_model(tmp_path: Path) -> None:
    first, second = data(3), data(2, 3)
    fast = check(Computed(lambda _, factor, x, summand, y, __: x * factor + summand + y), 2.0, first, 1, second, None)
    fast.save(tmp_path)
    saved = polydl.load(tmp_path)(first.numpy(), second.numpy())
    torch.testing.assert_close(torch.from_numpy(saved), first * 2 + 1 + second)


def test_a_single_image_and_a_weight_that_is_a_vector_are_pytorchs() -> None:
    image = data(4, 5, 6)
    assert check(nn.ConvTranspose2d(4, 8, 3), image).report().kept[0].reason == "it is not over several images"
    assert kept(lambda m, x: functional.linear(x * 2, m.weight), data(3, 8), weight=data(8)) == [
        "its weight is a vector"
    ]


def test_numbers_that_follow_from_parameters_are_known() -> None:
    number = torch.tensor(3)
    assert kept(lambda m, x: x * m.number.item(), data(2, 4), number=number)


@pytest.mark.parametrize(
    "function",
    [
        lambda n, x: functional.leaky_relu(x, n),
        lambda n, x: functional.elu(x, n),
        lambda n, x: x.clamp(-n, n),
        lambda n, x: x.masked_fill(torch.eye(4).bool(), n),
        lambda n, x: x + n,
    ],
)
@pytest.mark.parametrize("constant", [True, False])
def test_numbers_that_are_computed_are_pytorchs(function: Any, constant: bool) -> None:
    def computed(model: Any, x: Any) -> Any:
        number = model.number.item() if constant else x[0, 0].abs().item()
        return function(number, x * 2)

    assert kept(computed, data(4, 4), number=torch.tensor(0.25))


def test_a_maximum_of_minus_infinity_is_that_where_windows_begin_outside_of_the_image() -> None:
    image = data(1, 2, 4, 4)
    image[:, 0] = -torch.inf
    assert check(nn.MaxPool2d(2, stride=2, padding=1), image).foreign_operators == 0


def test_the_transpose_of_a_scalar_is_the_scalar() -> None:
    assert kept(lambda _, x: x.sum().t() + 1, data(2, 3)) == []
    assert kept(lambda _, x: x.sum().transpose(0, -1) * 2, data(2, 3)) == []
    assert kept(lambda _, x: x.sum(1).t() * x[:, 0].permute(0), data(2, 3)) == []


def test_pytorchs_operators_between_kernels_get_the_order_that_they_need() -> None:
    image = data(2, 4, 3, 3).contiguous(memory_format=torch.channels_last)
    for function in (
        lambda _, x: (torch.relu(x).sin().permute(0, 2, 3, 1).view(2, -1).sin(),),
        lambda _, x: (torch.relu(x).as_strided((2, 9, 4), (36, 4, 1)), torch.exp(x)),
        lambda _, x: (torch.relu(x).sin().resize_(2, 2, 3),),
    ):
        assert check(Computed(function), image).foreign_operators > 0


def test_values_that_any_order_serves_are_not_copied_for_pytorchs_operators() -> None:
    def attention(model: Any, x: Any, mask: Any) -> Any:
        query, key, value = (
            part.view(2, 5, 4, 2).transpose(1, 2) for part in functional.linear(x, model.weight).split(8, -1)
        )
        seen = mask.view(2, 1, 1, 5).expand(2, 1, 5, 5).bool()
        return functional.scaled_dot_product_attention(query, key, value, attn_mask=seen).transpose(1, 2).flatten(2)

    fast = check(Computed(attention, weight=data(24, 8)), data(2, 5, 8), torch.ones(2, 5, dtype=torch.int64))
    examples = [each for step in fast._steps if isinstance(step, NativeStep) for each in step.examples]
    assert len(examples) >= 3
    assert not any(each is not None for each in examples)


def test_views_of_inputs_in_another_order_are_those_of_the_example() -> None:
    images = data(2, 3, 4, 5)
    orders = images, images.contiguous(memory_format=torch.channels_last)
    for function in (
        lambda _, x: x.flatten(1).cumsum(1).view_as(x),
        lambda _, x: x.permute(0, 2, 3, 1).contiguous().flatten(0, 2).cumsum(1),
    ):
        for example in orders:
            model = Computed(function).eval()
            fast = check(model, example)
            for given in orders:
                torch.testing.assert_close(fast(given), model(images), rtol=1e-4, atol=1e-5)
