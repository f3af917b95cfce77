"""What polydl is not made for: each is right, or an error with a remedy."""

from __future__ import annotations

import logging
import re
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import polydl
from polydl.errors import OptionError

pytest.importorskip("torch")

import torch
from torch import nn
from torch.nn import functional
from torch_models import Computed, check, data
from written_nests import keep_nests_as_written

from polydl.torch.backend import compile_graph

pytestmark = [pytest.mark.peers, pytest.mark.native, pytest.mark.usefixtures("second_level")]


@pytest.fixture(autouse=True)
def as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    keep_nests_as_written(monkeypatch)


def test_inputs_may_lie_in_memory_in_any_order() -> None:
    image = data(2, 3, 6, 12)
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Conv2d(8, 3, 1))
    fast = check(model, image[..., ::2])
    last = image[..., ::2].contiguous(memory_format=torch.channels_last)
    for other in (last, image[..., ::2].contiguous(), image[:1, ..., ::2].expand(2, 3, 6, 6)):
        with torch.no_grad():
            torch.testing.assert_close(fast(other), model(other), rtol=1e-4, atol=1e-5)
    check(model.to(memory_format=torch.channels_last), last)


@pytest.mark.parametrize(
    ("model", "inputs", "message"),
    [
        (nn.Linear(4, 4).bfloat16(), [data(2, 4)], "bfloat16"),
        (nn.Linear(4, 4), [data(2, 4).half()], "float16"),
        (nn.ReLU(), [data(3, 4).to_sparse()], "stored as torch.sparse_coo"),
        (torch.jit.trace(nn.ReLU(), data(2)), [data(2)], "TorchScript"),
        (Computed(lambda _, x: x.relu_()), [data(2, 4)], "only reads them"),
        (Computed(lambda m, x: (m.weight.add_(1), x + m.weight)[1], weight=data(4)), [data(4)], "only reads them"),
    ],
)
def test_what_is_refused_with_a_remedy(model: Any, inputs: list[Any], message: str) -> None:
    from polydl.torch import optimize

    with pytest.raises(polydl.PolydlError, match=message):
        optimize(model.eval(), inputs, threads=1, records=False, compare=False)


@pytest.mark.parametrize("part", [nn.BatchNorm2d(4), nn.Dropout()])
def test_a_part_in_training_mode_is_refused(part: Any) -> None:
    from polydl.torch import optimize

    model = nn.Sequential(nn.Conv2d(3, 4, 1), part).eval()
    model[1].train()
    with pytest.raises(polydl.PolydlError, match=r"part 1 is in training mode(?s:.*)eval\(\)"):
        optimize(model, data(2, 3, 4, 4), threads=1, records=False, compare=False)


def test_other_types_inside_of_a_model_stay() -> None:
    for function in (lambda _, x: (x.half() * 2).float(), lambda _, x: x.double().mean().float() + x):
        assert "not of type float" in str(check(Computed(function), data(2, 4)).report())


def test_a_model_that_fails_on_the_examples_is_not_handed_out() -> None:
    from polydl.torch import optimize

    model = Computed(lambda m, x: functional.linear(x.bfloat16(), m.weight).float(), weight=data(4, 4)).eval()
    with pytest.raises(polydl.PolydlError, match=r"Computed fails on the example inputs: .*same dtype"):
        optimize(model, data(2, 4), threads=1, records=False, compare=False)


def test_results_of_a_type_of_the_models_own_are_named() -> None:
    from polydl.torch import optimize

    @dataclass
    class Answer:
        logits: Any

    model = Computed(lambda _, x: Answer(x * 2)).eval()
    with pytest.raises(polydl.PolydlError, match=r"a value of type Answer(?s:.*)register_dataclass"):
        optimize(model, data(2, 4), threads=1, records=False, compare=False)


def test_results_of_an_operator_of_pytorchs_stay_with_it() -> None:
    report = check(Computed(lambda _, x: (x * 2).topk(2)[0] + 1), data(2, 4)).report()
    assert [each.reason for each in report.kept] == [
        "no kernel for topk", "the operator that it takes a result of stays PyTorch's",
    ]  # fmt: skip


def test_branches_that_the_graph_has_are_run() -> None:
    def branching(_: Any, x: Any) -> Any:
        return torch.relu(torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x - 1, (x,)))

    rows = data(2, 4)
    fast = check(Computed(branching), rows)
    assert "cond" in str(fast.report())
    with torch.no_grad():
        torch.testing.assert_close(fast(-rows), Computed(branching)(-rows))


def test_random_numbers_stay_random() -> None:
    from polydl.torch import optimize

    fast = optimize(Computed(lambda _, x: functional.dropout(x, 0.5)).eval(), data(64), records=False, compare=False)
    assert not torch.equal(fast(data(64)), fast(data(64)))


def test_models_on_which_nothing_can_be_gained() -> None:
    for function, operators in ((lambda _, x: x, 0), (lambda _, x: x.flatten(1), 1), (lambda _, x: x.sort()[0], 2)):
        fast = check(Computed(function), data(2, 3, 4))
        assert (fast.native_calls, fast.foreign_operators) == (0, operators)
    constants = check(Computed(lambda m, x: (2 * m.weight, 3, x + 1, None), weight=data(2)), data(2, 4))
    assert constants.native_calls == 1


def test_sizes_that_are_symbols_are_pytorchs() -> None:
    model, options = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU()).eval(), {"threads": 1, "records": False}
    torch._dynamo.reset()
    compiled = torch.compile(model, backend="polydl", options={**options, "compare": False})
    with torch.no_grad(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for images in (2, 3, 4):
            image = data(images, 3, 6, 6)
            torch.testing.assert_close(compiled(image), model(image), rtol=1e-4, atol=1e-5)
    assert any("sizes are symbols" in str(each.message) for each in caught)


def warnings_of(model: Any, *inputs: Any) -> str:
    """What is said where PyTorch runs a graph itself."""
    torch._dynamo.reset()
    compiled = torch.compile(model, backend="polydl", options={"threads": 1, "records": False, "compare": False})
    with torch.no_grad(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        compiled(*inputs)
    return "\n".join(str(each.message) for each in caught if "PyTorch runs" in str(each.message))


class Block(nn.Module):  # type: ignore[misc]
    """A part of a model, and inputs in a dictionary."""

    def __init__(self) -> None:
        super().__init__()
        self.block = nn.Sequential(nn.ReLU(), nn.Linear(4, 4))

    def forward(self, rows: Any, further: Any) -> Any:
        return self.block(rows) + further["mask"][0]


class Widened(nn.Module):  # type: ignore[misc]
    """Another model of doubles, for floats."""

    def __init__(self, inner: Any) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, rows: Any) -> Any:
        return self.inner(rows.double(), {"mask": [rows]})


def test_what_a_compiled_model_reads_is_named_as_its_code_has_it() -> None:
    model, rows = Block().eval(), data(2, 4)
    model.block[1].weight = nn.Parameter(model.block[1].weight.double())
    model.block[1].bias = nn.Parameter(model.block[1].bias.double())
    said = warnings_of(model, rows.double(), {"mask": [rows]})
    assert "rows is of type torch.float64" in said
    said = warnings_of(Widened(model).eval(), rows)
    assert re.search(r"itself: self\.inner\.block\.1\.(weight|bias) is of type torch\.float64", said), said
    said = warnings_of(Block().eval(), rows, {"mask": [rows.half()]})
    assert "further['mask'][0] is of type torch.float16" in said


class Counting(nn.Module):  # type: ignore[misc]
    """A model that changes its input."""

    def forward(self, rows: Any) -> Any:
        return rows.add_(1)


def test_a_captured_graph_is_named_by_its_function_and_line() -> None:
    assert re.search(
        r"the graph of forward \(test_torch_wrong_use\.py:\d+\) changes", warnings_of(Counting().eval(), data(2, 4))
    )


def test_nothing_is_printed_where_a_graph_depends_on_data(
    capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    from polydl.torch import optimize

    def branching(_: Any, x: Any) -> Any:
        print("of the model", file=sys.stderr)
        return x + 1 if x.sum() > 0 else x - 1

    with pytest.raises(polydl.PolydlError, match=r"torch\.export can't make a graph of Computed"):
        optimize(Computed(branching).eval(), data(2, 4), threads=1, records=False, compare=False)
    shown = capfd.readouterr()
    assert set(shown.err.split("\n")) == {"of the model", ""}
    assert not shown.out
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("name", 5, "name is 5"),
        ("name", "a b", "'a b' is no C identifier"),
        ("compare", 1, "compare is 1"),
        ("fewer_products", "no", "fewer_products is 'no'"),
        ("progress", 3, "progress is 3"),
        ("example_inputs", "x", "example_inputs is of type str"),
        ("example_inputs", {"x": 1}, "example_inputs is of type dict"),
        ("example_keywords", [1], "example_keywords is of type list"),
        ("example_keywords", {1: 2}, "example_keywords is of type dict"),
    ],
)
def test_wrong_arguments_are_refused_with_a_remedy(name: str, value: Any, words: str) -> None:
    from polydl.torch import optimize

    with pytest.raises(OptionError, match=words) as raised:
        optimize(nn.Linear(4, 4).eval(), **{"example_inputs": data(2, 4), name: value})
    assert raised.value.remedy


@pytest.mark.parametrize(("name", "value"), [("compare", 1), ("progress", 3), ("fewer_products", "no")])
def test_wrong_options_of_the_backend_are_no_reason_to_leave_a_graph_to_pytorch(name: str, value: Any) -> None:
    with pytest.raises(OptionError, match=f"{name} is {value!r}"):
        compile_graph(torch.fx.symbolic_trace(nn.ReLU()), [data(2, 4)], options={name: value})


def test_a_saved_model_has_the_name_that_is_asked_for(tmp_path: Path) -> None:
    from polydl.torch import optimize

    rows, model = data(2, 4), nn.Linear(4, 3).eval()
    fast = optimize(model, rows, name="layer", threads=1, records=False, compare=False)
    fast.save(tmp_path)
    assert {"layer.c", "layer.h", "layer.weights", "liblayer.so"} <= {path.name for path in tmp_path.iterdir()}
    with torch.no_grad():
        torch.testing.assert_close(torch.from_numpy(polydl.load(tmp_path)(rows.numpy())), model(rows))


def test_other_types_are_pytorchs_in_a_compiled_model() -> None:
    model, rows = nn.Linear(4, 4).eval().half(), data(2, 4).half()
    torch._dynamo.reset()
    compiled = torch.compile(model, backend="polydl")
    with torch.no_grad(), pytest.warns(UserWarning, match="PyTorch runs the graph itself: .*float16"):
        torch.testing.assert_close(compiled(rows), model(rows))
