"""Models whose kernels pass bfloat16s on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import polydl
from polydl.errors import OptionError

if TYPE_CHECKING:
    from polydl.models.graph import Graph

pytest.importorskip("torch")

import torch
from torch import nn
from torch.nn import functional
from torch_models import Computed, data, with_statistics
from written_nests import keep_nests_as_written

pytestmark = [pytest.mark.peers, pytest.mark.native]


@pytest.fixture(autouse=True)
def as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    keep_nests_as_written(monkeypatch)


def optimized(model: Any, *inputs: Any, **options: Any) -> Any:
    from polydl.torch import optimize

    # Times of nests as they are written say nothing of which values should be floats.
    kept = {"threads": 1, "records": False, "compare": False, "element": "bfloat16", "fewer_products": False}
    return optimize(with_statistics(model).eval(), inputs, **{**kept, **options})


def c_of(fast: Any, tmp_path: Any) -> str:
    fast.save(tmp_path)
    return "\n".join(path.read_text() for path in sorted(tmp_path.glob("*.c")))


def residual(width: int) -> Any:
    class Residual(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.first = nn.Conv2d(width, 2 * width, 1)
            self.second = nn.Conv2d(2 * width, width, 3, padding=1)

        def forward(self, x: Any) -> Any:
            return (self.second(self.first(x).relu()) + x).relu()

    return Residual()


def joined(_: Any, x: Any) -> Any:
    first, second = x.split((16, 16), 1)
    taller = functional.interpolate(torch.cat((second, x, first), 1), scale_factor=2)
    return functional.avg_pool2d(taller, 3, 2, 1, count_include_pad=False) * taller.mean((2, 3), keepdim=True)


def moved(_: Any, x: Any) -> Any:
    turned = (x * 2).transpose(0, 1)
    padded = functional.pad(turned + 1, (1, 2, 0, 1), value=0.5)
    parts = torch.cat((padded[::2], padded.roll(1, 0)), 0)
    return parts.sum(1), parts.amax(0), (parts * parts.mean(1, keepdim=True)).abs()


def mixed(_: Any, q: Any, k: Any) -> Any:
    scores = (q @ k.transpose(-1, -2)) * 0.25
    masked = scores.masked_fill(torch.eye(12, dtype=torch.bool), -3.0)
    return masked.softmax(-1) @ k, (scores + 1).log_softmax(-1)


CASES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "residual": (
        nn.Sequential(nn.Conv2d(3, 32, 3, 2, 1), nn.BatchNorm2d(32), nn.ReLU(), residual(32), nn.MaxPool2d(3, 2, 1)),
        (data(2, 3, 14, 12),),
    ),
    "depthwise and groups": (
        nn.Sequential(nn.Conv2d(16, 48, 1), nn.ReLU6(), nn.Conv2d(48, 48, 3, 1, 1, groups=48), nn.Hardswish(),
                      nn.Conv2d(48, 96, 3, groups=3), nn.Conv2d(96, 32, 1, groups=2)),
        (data(1, 16, 9, 8),),
    ),
    "odd channels": (nn.Sequential(nn.Conv2d(5, 7, 3), nn.SiLU(), nn.Conv2d(7, 6, 1), nn.Conv2d(6, 3, 2)),
                     (data(1, 5, 8, 8),)),
    "transposed convolutions": (
        nn.Sequential(nn.ConvTranspose2d(4, 16, 3, 2, 1, 1), nn.ReLU(), nn.ConvTranspose2d(16, 8, 2, 2)),
        (data(1, 4, 5, 6),),
    ),
    "images joined": (nn.Sequential(nn.Conv2d(16, 32, 1), Computed(joined)), (data(1, 16, 6, 6),)),
    "normalizations": (
        nn.Sequential(nn.Conv2d(8, 32, 1), nn.GroupNorm(4, 32), nn.PReLU(32), nn.Conv2d(32, 16, 1), nn.Flatten(2),
                      nn.LayerNorm(30), nn.GELU()),
        (data(2, 8, 5, 6),),
    ),
    "linear layers": (
        nn.Sequential(nn.Linear(24, 64), nn.Tanh(), nn.Linear(64, 35), nn.ReLU(), nn.Linear(35, 80), nn.Linear(80, 10)),
        (data(3, 7, 24),),
    ),
    "attention": (Computed(mixed), (data(2, 12, 16), data(2, 12, 16))),
    "elements moved": (nn.Sequential(nn.Linear(10, 12), Computed(moved)), (data(6, 4, 10),)),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_results_are_those_in_double_but_for_rounding_to_8_bits(name: str) -> None:
    model, inputs = CASES[name]
    fast = optimized(model, *inputs)
    assert (fast.native_calls, fast.foreign_operators) == (1, 0), str(fast.report())
    accuracy = fast.report().accuracy
    # Each value is off by 2 ** -9 of itself at most, and some values are.
    assert 1e-4 < accuracy.error < 2**-6
    assert accuracy.error < 4 * accuracy.library_error


@pytest.mark.parametrize("name", CASES)
def test_some_of_the_values_may_be_floats(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from polydl.torch import model as torch_model

    mixed: list[Graph] = []

    def with_floats(graph: Graph, _: object) -> Graph:
        inside = [each for each in sorted(graph.images) if graph.stored(each) not in graph.inputs]
        mixed.append(replace(graph, floats=frozenset(inside[::2])))
        return mixed[-1]

    monkeypatch.setattr(torch_model, "in_mixed_precision", with_floats)
    model, inputs = CASES[name]
    fast = optimized(model, *inputs)
    assert fast.report().accuracy.error < 2**-6
    assert mixed[0].images or not mixed[0].floats


def test_what_only_moves_is_rounded_once() -> None:
    fast = optimized(Computed(lambda _, x: functional.max_pool2d(x, 2) + 0), data(1, 16, 4, 4))
    pooled = functional.max_pool2d(data(1, 16, 4, 4), 2)
    assert torch.equal(fast(data(1, 16, 4, 4)), pooled.bfloat16().float())


def test_filters_lie_in_pairs_of_channels_and_sums_are_floats(tmp_path: Any) -> None:
    text = c_of(optimized(nn.Sequential(nn.Conv2d(32, 32, 1), nn.Conv2d(32, 32, 3)), data(1, 32, 6, 6)), tmp_path)
    assert "const bfloat16 filter[1][1][3][3][16][32][2]" in text
    assert "float result = 0.0f;" in text


def test_a_saved_model_holds_half_the_weights_and_runs_without_pytorch(tmp_path: Any) -> None:
    layers, given = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 64)), data(4, 64)
    fast, floats = optimized(layers, given), optimized(layers, given, element="float")
    fast.save(tmp_path / "narrow")
    floats.save(tmp_path / "floats")
    sizes = [(tmp_path / name / "model.weights").stat().st_size for name in ("narrow", "floats")]
    assert sizes[0] < 0.55 * sizes[1]
    loaded = polydl.load(tmp_path / "narrow")
    np.testing.assert_array_equal(loaded(given.numpy()), fast(given).numpy())


def test_images_with_borders_keep_their_zeros() -> None:
    layers = nn.Sequential(*(nn.Conv2d(16, 16, 3, padding=1) for _ in range(3)))
    fast = optimized(layers, data(1, 16, 5, 7))
    first, again = fast(data(1, 16, 5, 7)), fast(data(1, 16, 5, 7))
    assert torch.equal(first, again)
    assert fast.report().accuracy.error < 2**-6


def test_torch_compile_takes_the_element_type() -> None:
    layers = nn.Sequential(nn.Linear(32, 32), nn.Linear(32, 32)).eval()
    options = {"threads": 1, "records": False, "compare": False, "element": "bfloat16"}
    with torch.no_grad():
        narrow = torch.compile(layers, backend="polydl", options=options)(data(4, 32))
        exact = layers(data(4, 32))
    error = float((narrow - exact).norm() / exact.norm())
    assert 1e-4 < error < 2**-6


def test_other_types_are_refused() -> None:
    with pytest.raises(OptionError, match="float16") as refused:
        optimized(nn.Linear(4, 4), data(2, 4), element="float16")
    assert "bfloat16" in str(refused.value.remedy)
    # Whatever the model has for kernels.
    with pytest.raises(OptionError, match="float16"):
        optimized(Computed(lambda _, x: torch.fft.fft(x).real), data(2, 4), element="float16")


def test_a_bias_is_that_of_the_channel_whatever_the_blocks_of_what_is_added() -> None:
    from polydl.models.convolution import Convolution
    from polydl.models.epilogue import Combine
    from polydl.models.layout import Image

    image, output = (Image(1, channels, 4, 4, 32, value_type="bfloat16") for channels in (32, 64))
    smaller = Image(1, 64, 4, 4, 16, value_type="bfloat16")
    kind = Convolution(32, 64, (1, 1))
    text = kind.text("kernel", output, [image, smaller], [Combine("+")])
    assert [each.name for each in kind.scratch(output, [image, smaller])] == ["sums"]
    assert "sums[n][t][y][x][k] = bias[t][k];" in text
    assert text.count("bias[t][k]") == 1
