"""``torch.compile(…, backend="polydl")`` where one captured graph is called with several models, or changed ones."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from torch import nn
from torch_models import Computed, data
from written_nests import keep_nests_as_written

from polydl.torch import backend, optimize

pytestmark = [pytest.mark.peers, pytest.mark.native, pytest.mark.usefixtures("second_level")]
OPTIONS = {"threads": 1, "records": False, "compare": False}


@pytest.fixture(autouse=True)
def programs(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The programs that the backend made."""
    keep_nests_as_written(monkeypatch)
    programs: list[Any] = []

    def recorded(*given: Any, **options: Any) -> Any:
        programs.append(optimize(*given, **options))
        return programs[-1]

    monkeypatch.setattr(backend, "optimize", recorded)
    torch._dynamo.reset()
    return programs


def compiled(model: Any) -> Any:
    return torch.compile(model, backend=backend.compile_graph, options=OPTIONS)


class Layer(nn.Module):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, rows: Any) -> Any:
        return self.linear(rows).relu()


def calls(fast: Any, model: Any, rows: Any, count: int = 3) -> None:
    for _ in range(count):
        with torch.no_grad():
            torch.testing.assert_close(fast(rows), model(rows))


def test_each_instance_of_a_model_has_a_program_of_its_own(programs: list[Any]) -> None:
    models, rows = [Layer().eval() for _ in range(2)], data(3, 4)
    fast = [compiled(model) for model in models]
    for _ in range(3):
        for each, model in zip(fast, models, strict=True):
            calls(each, model, rows, 1)
    assert [program.native_calls for program in programs] == [1, 1]


def test_a_changed_model_gets_another_program(programs: list[Any]) -> None:
    model, rows = Layer().eval(), data(3, 4)
    fast = compiled(model)
    calls(fast, model, rows)
    with torch.no_grad():
        model.linear.weight.mul_(2)
    calls(fast, model, rows)
    model.linear.bias.data = data(4)
    calls(fast, model, rows)
    model.linear = nn.Linear(4, 4)
    calls(fast, model, rows)
    assert len(programs) == 4


def test_nothing_is_made_for_what_changes_at_each_call(programs: list[Any]) -> None:
    class Counting(Layer):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("count", torch.zeros(4))

        def forward(self, rows: Any) -> Any:
            self.count.add_(1)
            torch._dynamo.graph_break()
            return self.linear(rows) + self.count

    model, other, rows = Counting().eval(), Counting().eval(), data(3, 4)
    other.load_state_dict(model.state_dict())
    with pytest.warns(UserWarning, match="only|changes its parameters"):
        calls(compiled(model), other, rows)
    before = len(programs)
    calls(compiled(model), other, rows, 5)
    assert len(programs) == before
    torch._dynamo.reset()
    programs.clear()
    fast = compiled(Computed(lambda _, rows, weight: rows @ weight))
    for seed in range(4):
        weight = nn.Parameter(torch.randn(4, 4, generator=torch.Generator().manual_seed(seed)))
        with torch.no_grad():
            torch.testing.assert_close(fast(rows, weight), rows @ weight)
    assert len(programs) == 1


def test_a_program_goes_with_its_model(programs: list[Any]) -> None:
    models, rows = [Layer().eval() for _ in range(2)], data(3, 4)
    fast = [compiled(model) for model in models]
    for each, model in zip(fast, models, strict=True):
        calls(each, model, rows)
    references = [weakref.ref(program) for program in programs]
    programs.clear()
    del each, model, fast[1], models[1]
    gc.collect()
    assert [program() is None for program in references] == [False, True]


def test_models_under_autocast_are_pytorchs(programs: list[Any]) -> None:
    model, rows = Layer().eval(), data(3, 4)
    with torch.autocast("cpu", dtype=torch.bfloat16), pytest.warns(UserWarning, match="PyTorch runs the graph itself"):
        calls(compiled(model), model, rows, 1)
    assert not programs
