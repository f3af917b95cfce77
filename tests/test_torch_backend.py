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


def of_positive(function: Any) -> Any:
    return lambda x: function(x, x.relu())


@pytest.mark.parametrize(
    "function",
    [
        lambda x: (x.view(-1), torch.relu(x.view(-1))),
        lambda x: (x[:, 1], torch.relu(x), x.t()),
        of_positive(lambda x, y: (y[1:], x * 2)),
        of_positive(lambda x, y: (*y.chunk(2), x.exp())),
        of_positive(lambda _, y: (y.t(), y, y[1:], y[:, 2], y.contiguous())),
        of_positive(lambda x, y: (y.view(-1), y.add_(1)[0], x.exp().t())),
        lambda x: (y := torch.relu(x.t()), y[1:], y[:, 2]),
    ],
    ids=["input", "parts of an input", "one", "parts", "views", "changed before", "columns"],
)
def test_results_share_memory_with_each_other_and_with_inputs(function: Any, programs: list[Any]) -> None:
    def shared(values: Any) -> list[list[bool]]:
        addresses = [value.untyped_storage().data_ptr() for value in values]
        return [[address == other for other in addresses] for address in addresses]

    fast, given, others = compiled(function), data(4, 6), data(4, 6)
    with torch.no_grad():
        for _ in range(2):
            results, wanted = (given, *fast(given)), (others, *function(others))
            assert shared(results) == shared(wanted)
            for result, other in zip(results, wanted, strict=True):
                result.mul_(2)
                other.mul_(2)
                torch.testing.assert_close(results, wanted)
    assert [program.foreign_operators for program in programs] == [0]


def test_a_change_behind_a_break_is_one_of_all_that_share_the_memory() -> None:
    def changed(x: Any) -> Any:
        positive = torch.relu(x)
        flat = positive.view(-1)
        torch._dynamo.graph_break()
        flat.mul_(2)
        return positive

    with torch.no_grad(), pytest.warns(UserWarning, match="changes its parameters, buffers or inputs"):
        assert compiled(changed)(torch.ones(2, 2)).sum() == 8


def as_columns(x: Any) -> Any:
    y = torch.relu(x.t())
    torch._dynamo.graph_break()
    return y.as_strided((3,), (1,))


def as_channels(x: Any) -> Any:
    y = torch.relu(x[:2, :, None, None].expand(-1, -1, 2, 3).contiguous(memory_format=torch.channels_last))
    torch._dynamo.graph_break()
    return y.permute(0, 2, 3, 1).view(2, -1)


@pytest.mark.parametrize("function", [as_columns, as_channels])
def test_code_behind_a_break_finds_elements_where_pytorch_has_them(function: Any, programs: list[Any]) -> None:
    calls(compiled(function), function, data(4, 6))
    assert programs


@pytest.mark.parametrize(
    "function",
    [
        of_positive(lambda x, y: (y[:, :1].expand(4, 3), x.view(-1))),
        of_positive(lambda x, y: (y.unfold(0, 2, 1), y[0], x.exp())),
        of_positive(lambda x, y: (y.t().exp()[:, :1].expand(6, 4), x.view(-1))),
        of_positive(lambda _, y: (y.t(), y.exp()[:, 1])),
        of_positive(lambda _, y: (y.t().view(torch.int32),)),
        of_positive(lambda x, y: (y[:, 1:3].unfold(0, 2, 1), x.exp())),
        of_positive(lambda x, y: (y.unfold(0, 2, 1), x.exp())),
    ],
    ids=[
        "repeated",
        "overlapping",
        "repeated columns",
        "transposed and a part",
        "of another type",
        "an overlapping part",
        "larger than what it is a view of",
    ],
)
def test_results_have_the_strides_that_pytorchs_have(function: Any, programs: list[Any]) -> None:
    fast, given = compiled(function), data(4, 6)
    with torch.no_grad():
        results, wanted = fast(given), function(given)
    assert len(programs) == 1
    assert [each.stride() for each in results] == [each.stride() for each in wanted]
    torch.testing.assert_close(results, wanted)


def test_a_small_part_of_a_value_is_computed_without_the_rest(programs: list[Any]) -> None:
    with torch.no_grad():
        last = compiled(lambda x: torch.relu(x)[:, -1])(data(4, 6, 5))
    assert programs[0].report().kept == ()
    assert last.storage_offset() == 0


def test_elements_that_are_read_as_another_type_are_pytorchs() -> None:
    def both(x: Any) -> Any:
        positive = torch.relu(x)
        return positive, positive.view(torch.int32)

    with torch.no_grad(), pytest.warns(UserWarning, match="are no parts of one value"):
        positive, bits = compiled(both)(data(2, 3))
    assert positive.data_ptr() == bits.data_ptr()


@pytest.mark.parametrize("computes", [True, False])
def test_a_result_shares_the_memory_of_a_parameter(computes: bool, programs: list[Any]) -> None:
    class Weights(Layer):
        def forward(self, rows: Any) -> Any:
            weight = self.linear.weight.t()
            return (super().forward(rows), weight) if self.computes else (rows[0], weight)

    model, rows = Weights().eval(), data(3, 4)
    model.computes = computes
    fast, wanted = compiled(model), 2 * model.linear.weight.detach()
    with torch.no_grad():
        fast(rows)[1].mul_(2)
        torch.testing.assert_close(model.linear.weight.detach(), wanted)
        torch.testing.assert_close(fast(rows), model(rows))
    assert len(programs) == 1
