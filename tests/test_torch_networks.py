"""Blocks of well-known networks as native calls, beside PyTorch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from marks import parametrized

from polydl.models.kernels import as_written

pytest.importorskip("torch")

import torch
from torch import nn
from torch_models import check, data, with_statistics
from torch_networks import GPT, NETWORKS
from written_nests import keep_nests_as_written, replace_kernels

pytestmark = [pytest.mark.peers, pytest.mark.native, pytest.mark.usefixtures("second_level")]


@pytest.fixture(autouse=True)
def as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    keep_nests_as_written(monkeypatch)


@parametrized("name", NETWORKS, quick=1)
def test_a_network_is_one_native_call(name: str) -> None:
    torch.manual_seed(0)
    make, shape = NETWORKS[name]
    fast = check(with_statistics(make()), data(*shape))
    assert (fast.native_calls, fast.foreign_operators) == (1, 0), str(fast.report())


@pytest.mark.slow
def test_a_language_model_is_one_native_call_behind_its_embedding() -> None:
    torch.manual_seed(0)
    fast = check(GPT(), torch.randint(0, 20, (2, 6)))
    assert fast.native_calls == 1, str(fast.report())
    assert [each.operator for each in fast.report().kept] == ["embedding"]


@parametrized("seconds", [1e-9, 10.0], quick=1)
def test_the_choice_between_kernels_and_pytorch_is_remembered(
    seconds: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second model of the same operators, with other weights, is not timed again, whoever was faster."""
    from polydl.torch import model as module
    from polydl.torch import optimize

    replace_kernels(monkeypatch, lambda nest: replace(as_written(nest, "a test"), seconds=seconds))
    torch.manual_seed(0)
    make, shape = NETWORKS["SqueezeNet"]
    first = optimize(make().eval(), data(*shape), threads=1, records=tmp_path)

    def fails(*_: object) -> None:
        raise AssertionError("timed again")

    for function in ("kept_for_speed", "whole_seconds"):
        monkeypatch.setattr(module, function, fails)
    other = make().eval()
    second = optimize(other, data(*shape), threads=1, records=tmp_path)
    with torch.no_grad():
        torch.testing.assert_close(second(data(*shape)), other(data(*shape)), rtol=1e-4, atol=1e-5)
    # All but the errors, which are those of the weights.
    lines = [str(each.report()).splitlines()[:-1] for each in (first, second)]
    assert lines[0] == lines[1]
    stored = next((tmp_path / "models").iterdir())
    stored.write_text("{}")
    with pytest.raises(AssertionError, match="timed again"):
        optimize(other, data(*shape), threads=1, records=tmp_path)


def test_what_one_kernel_computes_in_several_places_is_timed_where_pytorch_has_other_operators(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from polydl.torch import comparison, optimize

    timed: list[list[str]] = []

    def seconds(group: Sequence[Any], *_: object) -> float:
        timed.append([str(node.target) for node in group])
        return 1.0

    monkeypatch.setattr(comparison, "_seconds", seconds)
    first, second, last = (nn.Conv2d(16, 16, 3, padding=1) for _ in range(3))
    model = with_statistics(nn.Sequential(first, second, nn.BatchNorm2d(16), last))
    report = optimize(model.eval(), data(1, 16, 6, 6), threads=1, records=False).report()
    plain, normalized, _ = (each.kernel for each in report.operators if each.operator.startswith("convolution"))
    assert plain == normalized
    alone, folded = ["aten.conv2d.default"], ["aten.conv2d.default", "aten.batch_norm.default"]
    assert sorted(timed, key=len) == [alone, alone, folded]
