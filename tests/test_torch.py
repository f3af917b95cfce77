"""PyTorch models as compiled programs, beside PyTorch itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from marks import parametrized
from written_nests import replace_kernels

import polydl
from polydl.models.kernels import OperatorKernel, OperatorNest, as_written

pytest.importorskip("torch")

import torch
from torch import nn

pytestmark = [pytest.mark.peers, pytest.mark.native, pytest.mark.usefixtures("second_level")]


@pytest.fixture
def as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nests are compiled as they are written, so that a test takes no search."""
    replace_kernels(monkeypatch, lambda nest: as_written(nest, "a test"))


def optimized(model: Any, *inputs: Any, **options: Any) -> Any:
    from polydl.torch import optimize

    return optimize(model.eval(), inputs, threads=1, records=False, compare=False, **options)


def check(model: Any, *inputs: Any) -> Any:
    """The optimized model, once its results are PyTorch's."""
    fast = optimized(model, *inputs)
    with torch.no_grad():
        torch.testing.assert_close(fast(*inputs), model(*inputs), rtol=1e-4, atol=1e-5)
    return fast


def data(*shape: int) -> Any:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(1))


def with_statistics(model: Any) -> Any:
    """Batch normalizations that are not the identity."""
    torch.manual_seed(2)
    for layer in model.modules():
        if isinstance(layer, nn.BatchNorm2d):
            for tensor in (layer.weight, layer.bias, layer.running_mean):
                nn.init.normal_(tensor)
            nn.init.uniform_(layer.running_var, 0.5, 2)
    return model


class Small:
    """A network with what ResNet has: batch normalization, a residual sum, pooling, a linear layer."""

    def __new__(cls) -> Any:
        class Network(nn.Module):  # type: ignore[misc]
            def __init__(self) -> None:
                super().__init__()
                self.first = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16))
                self.second = nn.Conv2d(16, 16, 3, padding=1)
                self.pool = nn.MaxPool2d(3, 2, 1)
                self.last = nn.Linear(16, 10)

            def forward(self, image: Any) -> Any:
                value = torch.relu(self.first(image))
                value = self.pool(torch.relu(value + self.second(value)))
                return self.last(torch.flatten(nn.functional.adaptive_avg_pool2d(value, 1), 1))

        torch.manual_seed(0)
        return with_statistics(Network())


def test_a_small_network_is_one_native_call(as_it_is: None, tmp_path: Path) -> None:
    image = data(2, 3, 12, 12)
    fast = check(Small(), image)
    assert (fast.native_calls, fast.foreign_operators) == (1, 0)
    kinds = [each.operator for each in fast.report().operators]
    assert "convolution 3x3, 3 to 16 channels, relu" in kinds
    assert "convolution 3x3, 16 to 16 channels, add, relu" in kinds
    assert fast.report().accuracy.error < 1e-5
    fast.save(tmp_path / "small")
    saved = polydl.load(tmp_path / "small")(image.numpy())
    np.testing.assert_array_equal(saved, fast(image).numpy())


@pytest.mark.slow
def test_kernels_are_searched_for_and_stored(tmp_path: Path) -> None:
    from polydl.torch import optimize

    model, image = nn.Sequential(nn.Conv2d(16, 16, 3, padding=1), nn.ReLU()).eval(), data(1, 16, 8, 8)
    first = optimize(model, image, threads=1, records=tmp_path, compare=False)
    with torch.no_grad():
        torch.testing.assert_close(first(image), model(image), rtol=1e-4, atol=1e-5)
    second = optimize(model, image, threads=1, records=tmp_path, compare=False)
    known = [(each.kernel, each.seconds, each.reason) for each in first.report().operators]
    assert [(each.kernel, each.seconds, each.reason) for each in second.report().operators] == known
    assert "loops" in str(first.report())


@parametrized("name", ["SiLU", "Hardswish", "ReLU6", "GELU", "Sigmoid", "Hardsigmoid", "Tanh"], quick=1)
def test_functions_behind_a_convolution(as_it_is: None, name: str) -> None:
    fast = check(nn.Sequential(nn.Conv2d(4, 8, 1), getattr(nn, name)()), 4 * data(1, 4, 5, 5))
    assert fast.foreign_operators == 0
    assert len(fast.report().operators) == 3


def test_depthwise_convolutions_and_batch_normalization_without_one(as_it_is: None) -> None:
    layers = [nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 8, 3, 2, 1, groups=8), nn.Conv2d(8, 4, 1, dilation=1)]
    assert check(with_statistics(nn.Sequential(*layers)), data(1, 8, 9, 9)).foreign_operators == 0


def test_transposed_convolutions(as_it_is: None) -> None:
    layers = [nn.ConvTranspose2d(4, 16, 3, 2, 1, output_padding=1), nn.ReLU(), nn.ConvTranspose2d(16, 4, 2)]
    assert check(nn.Sequential(*layers), data(1, 4, 5, 6)).foreign_operators == 0


def test_branches_are_concatenated(as_it_is: None) -> None:
    class Branches(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.one, self.two = nn.Conv2d(4, 16, 1), nn.Conv2d(4, 16, 3, padding=1)

        def forward(self, image: Any) -> Any:
            joined = torch.cat([self.one(image), self.two(image)], 1)
            return joined, nn.functional.avg_pool2d(joined, 3, 1, 1).mean((2, 3))

    assert check(Branches(), data(1, 4, 6, 6)).native_calls == 1


@parametrized(("channels", "groups"), [(32, 4), (80, 8), (20, 5), (16, 1)], quick=1)
def test_groups_of_channels_are_normalized(as_it_is: None, channels: int, groups: int) -> None:
    """Groups are blocks of channels, or cross them, or there are no blocks."""
    torch.manual_seed(3)
    norm = nn.GroupNorm(groups, channels)
    for tensor in norm.parameters():
        nn.init.normal_(tensor)
    fast = check(nn.Sequential(nn.Conv2d(4, channels, 3, padding=1), norm, nn.SiLU()), 3 * data(2, 4, 6, 5))
    assert fast.foreign_operators == 0
    assert [each.operator for each in fast.report().operators][-2].endswith("channels, silu")


@parametrized("name", ["GELU", "SiLU", "Tanh", "Hardswish"], quick=1)
def test_functions_behind_a_layer_normalization(as_it_is: None, name: str) -> None:
    norm = nn.LayerNorm(8)
    for tensor in norm.parameters():
        nn.init.normal_(tensor)
    fast = check(nn.Sequential(norm, getattr(nn, name)()), 3 * data(2, 5, 8))
    assert len(fast.report().operators) == 1


@parametrized("channels", [64, 40, 12], quick=1)
def test_channels_are_taken_apart_and_pixels_repeated(as_it_is: None, channels: int) -> None:
    class Parts(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            torch.manual_seed(0)
            self.first, self.second = nn.Conv2d(4, channels, 1), nn.Conv2d(channels // 2, channels // 2, 3, padding=1)

        def forward(self, image: Any) -> Any:
            left, right = torch.relu(self.first(image)).chunk(2, 1)
            first, *_ = torch.split(left, [8 if channels > 16 else 2, left.shape[1] - (8 if channels > 16 else 2)], 1)
            joined = torch.cat([left, right, self.second(right) + right], 1)
            larger = nn.functional.interpolate(joined, scale_factor=(2.0, 3.0))
            return larger, torch.relu(first), joined[:, 2:5], joined[:, -4:] * 2, joined[:, -1000:3]

    assert check(Parts(), data(2, 4, 4, 5)).foreign_operators == 0


def test_what_is_not_understood_stays_with_the_reason(as_it_is: None, tmp_path: Path) -> None:
    class Sorting(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = nn.Linear(8, 8), nn.Linear(8, 8)

        def forward(self, rows: Any) -> Any:
            return self.second(torch.sort(torch.relu(self.first(rows)))[0])

    fast = check(Sorting(), data(3, 8))
    assert fast.native_calls == 2
    assert "no kernel for sort" in str(fast.report())
    with pytest.raises(polydl.PolydlError, match="needs PyTorch for sort"):
        fast.save(tmp_path)


@pytest.mark.parametrize(("seconds", "mixed", "stays"), [(10.0, 0.5, True), (10.0, 2.0, False), (1e-9, 0.5, False)])
def test_what_is_faster_in_pytorch_stays_there(
    monkeypatch: pytest.MonkeyPatch, seconds: float, mixed: float, stays: bool
) -> None:
    """By itself, and in the whole."""
    from polydl.torch import model as module
    from polydl.torch import optimize, running

    times = iter((1.0, mixed))
    monkeypatch.setattr(module, "whole_seconds", lambda run, _: run() is None or next(times))
    replace_kernels(monkeypatch, lambda nest: replace(as_written(nest, "a test"), seconds=seconds))
    model, rows = nn.Sequential(nn.Linear(8, 8), nn.ReLU()).eval(), data(3, 8)
    fast = optimize(model, rows, threads=1, records=False)
    assert fast.foreign_operators == (2 if stays else 0)
    report = str(fast.report())
    assert ("the kernel 1e+04 ms" in report) == stays
    assert ("not in the whole: 1e+03 ms without them, 2e+03 ms with them" in report) == (mixed == 2.0)
    assert 0 < running.seconds_of_a_call() < float("inf")
    with torch.no_grad():
        torch.testing.assert_close(fast(rows), model(rows))


class Attention(nn.Module):  # type: ignore[misc]
    """Heads side by side in the last dimension, as in BERT, with a mask that is the same for all heads."""

    def __init__(self, width: int = 24, heads: int = 3) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.heads = heads
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(4))

    def forward(self, rows: Any, mask: Any) -> Any:
        *first, last = self.layers
        split = (*rows.shape[:2], self.heads, rows.shape[2] // self.heads)
        query, key, value = (layer(rows).view(split).transpose(1, 2) for layer in first)
        mixed = nn.functional.scaled_dot_product_attention(query, key, value, mask)
        return last(mixed.transpose(1, 2).reshape(rows.shape)) + rows


def test_attention_is_one_native_call_that_moves_no_elements(as_it_is: None, tmp_path: Path) -> None:
    rows, mask = data(2, 5, 24), data(2, 1, 1, 5)
    fast = check(Attention(), rows, mask)
    assert (fast.native_calls, fast.foreign_operators) == (1, 0)
    operators = [each.operator for each in fast.report().operators]
    assert operators == [
        *["linear, 24 to 24"] * 3,
        "product of matrices over 8, scale, add",
        "softmax",
        "product of matrices over 5",
        "linear, 24 to 24, add",
    ]
    fast.save(tmp_path / "attention")
    saved = polydl.load(tmp_path / "attention")(rows.numpy(), mask.numpy())
    np.testing.assert_array_equal(saved, fast(rows, mask).numpy())


def test_causal_attention(as_it_is: None) -> None:
    class Causal(nn.Module):  # type: ignore[misc]
        def forward(self, query: Any, rows: Any) -> Any:
            return nn.functional.scaled_dot_product_attention(query, rows, rows + 1, is_causal=True, scale=0.25)

    assert check(Causal(), data(2, 4, 8), data(2, 6, 8)).foreign_operators == 0


def test_products_take_transposed_values_and_give_them(as_it_is: None) -> None:
    class Products(nn.Module):  # type: ignore[misc]
        def forward(self, first: Any, second: Any, third: Any) -> Any:
            turned = torch.relu(first.permute(2, 0, 3, 1)) * 0.5
            product = turned @ second.permute(3, 1, 2, 0)
            return product.permute(3, 0, 2, 1), product.transpose(-1, -2) + third, turned

    fast = check(Products(), data(2, 6, 3, 7), data(5, 2, 6, 3), data(2, 5, 1))
    assert (fast.native_calls, fast.foreign_operators) == (1, 0)


def test_parameters_are_added_and_multiplied(as_it_is: None) -> None:
    class Scaled(nn.Module):  # type: ignore[misc]
        """Positions are added as vision transformers do; a sum behind a linear layer becomes its bias."""

        def __init__(self) -> None:
            super().__init__()
            torch.manual_seed(0)
            self.positions, self.scale = (nn.Parameter(torch.randn(size)) for size in ((1, 5, 8), (5, 1)))
            self.layer, self.shift = nn.Linear(8, 8), nn.Parameter(torch.randn(8))

        def forward(self, rows: Any) -> Any:
            return (self.layer(rows + self.positions) + self.shift) * self.scale

    fast = check(Scaled(), data(3, 5, 8))
    operators = [each.operator for each in fast.report().operators]
    assert operators == ["constant added", "linear, 8 to 8", "constant multiplied"]


@pytest.mark.parametrize(
    ("shapes", "reason"),
    [(((3, 4, 5), (5, 6)), "have the shapes (3, 4, 5) and (5, 6)"), (((4, 5), (5,)), "an operand is a vector")],
)
def test_other_products_stay(as_it_is: None, shapes: Sequence[tuple[int, ...]], reason: str) -> None:
    class Product(nn.Module):  # type: ignore[misc]
        def forward(self, first: Any, second: Any) -> Any:
            return torch.matmul(torch.relu(first), second)

    assert reason in str(check(Product(), *(data(*shape) for shape in shapes)).report())


def test_programs_are_proper_operators_of_pytorch(as_it_is: None) -> None:
    from polydl.torch.running import run

    fast = check(nn.Linear(8, 4), data(3, 8))
    number = fast._steps[0].number
    torch.library.opcheck(run, ([data(3, 8)], number))


def test_wrong_use_is_an_error_with_a_remedy(as_it_is: None) -> None:
    from polydl.torch import optimize

    layer, rows = nn.Linear(8, 4).eval(), data(3, 8)
    with pytest.raises(polydl.PolydlError, match="training mode"):
        optimize(nn.Linear(8, 4), rows)
    with pytest.raises(polydl.PolydlError, match="float16"):
        optimize(nn.Linear(8, 4).eval().half(), rows.half())
    with pytest.raises(polydl.PolydlError, match="device meta"):
        optimize(layer, rows.to("meta"))
    fast = optimized(layer, rows)
    with pytest.raises(polydl.PolydlError, match=r"of shape \(2, 8\)"):
        fast(rows[:2])
    with pytest.raises(polydl.PolydlError, match="float64"):
        fast(rows.double())
    with pytest.raises(polydl.PolydlError, match="gradient"):
        fast(rows.clone().requires_grad_())

    class Branching(nn.Module):  # type: ignore[misc]
        def forward(self, value: Any) -> Any:
            return value + 1 if value.sum() > 0 else value - 1

    with pytest.raises(polydl.PolydlError, match=r"torch\.export"):
        optimized(Branching(), rows)
    with pytest.raises(polydl.PolydlError, match="fails on the example inputs"):
        optimized(layer, data(3, 7))
    with pytest.raises(polydl.PolydlError, match=r"no torch\.nn\.Module"):
        optimize(torch.relu, rows)


def test_wrong_results_are_not_handed_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(nest: OperatorNest) -> OperatorKernel:
        return as_written(replace(nest, text=nest.text.replace("+=", "-=")), "a test")

    replace_kernels(monkeypatch, wrong)
    with pytest.raises(polydl.PolydlError, match="the results differ from the model's in double"):
        optimized(nn.Linear(8, 4), data(3, 8))


class Keywords(nn.Module):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, rows: Any, *, shift: Any, factor: float = 1.0, parts: Any = None) -> Any:
        rows = (self.linear(rows) + shift) * factor
        return {"rows": rows, "both": (rows, rows + parts["one"])}


def test_arguments_by_name_and_nested_ones(as_it_is: None) -> None:
    from polydl.torch import optimize

    model, rows = Keywords().eval(), data(3, 8)
    named = {"shift": data(8), "factor": 2.0, "parts": {"one": data(3, 1)}}
    fast = optimize(model, rows, example_keywords=named, threads=1, records=False, compare=False)
    with torch.no_grad():
        torch.testing.assert_close(fast(rows, **named), model(rows, **named))
        torch.testing.assert_close(fast(rows=rows, **dict(reversed(named.items()))), model(rows, **named))
    for changed in ({"factor": 3.0}, {"parts": {"two": data(3, 1)}}, {"more": 1}, {"shift": None}):
        with pytest.raises(polydl.PolydlError):
            fast(rows, **{**named, **changed})
    with pytest.raises(polydl.PolydlError, match=r"factor.* is 3\.0"):
        fast(rows, **{**named, "factor": 3.0})


def test_times_of_operators_within_a_call(as_it_is: None, tmp_path: Path) -> None:
    fast = optimized(Small(), data(1, 3, 12, 12))
    fast.save(tmp_path)
    loaded = polydl.load(tmp_path)
    seconds = loaded.operator_seconds(data(1, 3, 12, 12).numpy(), calls=3)
    assert len(seconds) == len(loaded.manifest.operators) == len(fast.report().operators)
    assert all(0 <= each < 10 for each in seconds)
    with pytest.raises(polydl.PolydlError, match="shape"):
        loaded.operator_seconds(np.zeros((1, 3, 12, 11), np.float32))


@pytest.mark.slow
def test_options_of_the_backend(as_it_is: None) -> None:
    from polydl.torch.backend import compile_graph

    torch._dynamo.reset()
    assert "polydl" in torch._dynamo.list_backends()
    model, rows = nn.Linear(8, 4).eval(), data(3, 8)
    options = {"threads": 1, "records": False, "compare": False}
    with torch.no_grad():
        compiled = torch.compile(model, backend=compile_graph, options=options)
        torch.testing.assert_close(compiled(rows), model(rows))
        torch._dynamo.reset()
        wrong: tuple[dict[str, Any], ...] = (
            {"thread": 1},
            {"budget": "5parsecs"},
            {"numerics": "no"},
            {"element": "half"},
            {"threads": 99999},
        )
        messages = (
            "no option 'thread'",
            "'5parsecs' is no budget",
            "no numerics level",
            "no values of type",
            "99999 threads",
        )
        for options, message in zip(wrong, messages, strict=True):
            with pytest.raises(Exception, match=message):
                torch.compile(model, backend=compile_graph, options=options)(rows)


@pytest.mark.slow
def test_what_dynamo_captures_becomes_programs(as_it_is: None, monkeypatch: pytest.MonkeyPatch) -> None:
    from polydl.torch import backend

    graphs: list[Any] = []

    def recorded(model: Any, inputs: Any) -> Any:
        graphs.append(optimized(model, *inputs))
        return graphs[-1]

    monkeypatch.setattr(backend, "optimize", recorded)

    class Branching(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(8, 8)

        def forward(self, rows: Any) -> Any:
            rows = self.linear(rows)
            return self.linear(rows + 1) if rows.sum() > 0 else self.linear(rows - 1)

    torch._dynamo.reset()
    model, rows = Branching().eval(), data(3, 8)
    compiled = torch.compile(model, backend=backend.compile_graph, dynamic=False)
    with torch.no_grad():
        torch.testing.assert_close(compiled(rows), model(rows), rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(compiled(rows[:2]), model(rows[:2]), rtol=1e-4, atol=1e-5)
    assert len(graphs) >= 3
    assert all(graph.native_calls >= 1 for graph in graphs)
    before = len(graphs)
    with pytest.warns(UserWarning, match="compiled with gradients"):
        compiled(rows).sum().backward()
    assert model.linear.weight.grad is not None
    assert len(graphs) == before
