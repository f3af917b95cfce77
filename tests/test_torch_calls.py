"""Calls of optimized PyTorch models in whatever state PyTorch is, with whatever is passed."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest

import polydl

pytest.importorskip("torch")

import torch
from torch import nn
from torch.nn import functional
from torch_models import Computed, check, data
from written_nests import keep_nests_as_written

from polydl.torch import optimize, running

pytestmark = [pytest.mark.peers, pytest.mark.native, pytest.mark.usefixtures("second_level")]


@pytest.fixture(autouse=True)
def as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    keep_nests_as_written(monkeypatch)


def with_a_foreign_operator() -> Any:
    model = Computed(lambda m, x: m.layer(functional.pad(m.layer(x), (2, 2), mode="reflect")[..., 1:-3]))
    model.layer = nn.Linear(8, 8)
    return model


def fast_and_wanted(model: Any, *inputs: Any) -> Any:
    fast = optimize(model.eval(), inputs, threads=1, records=False, compare=False)
    return fast, fast(*inputs)


def test_results_are_floats_of_the_cpu_whatever_the_defaults_are() -> None:
    rows = data(64, 64)
    fast, wanted = fast_and_wanted(nn.Linear(64, 64), rows)
    for changed in (torch.bfloat16, torch.float64):
        before = torch.get_default_dtype()
        torch.set_default_dtype(changed)
        try:
            result = fast(rows)
        finally:
            torch.set_default_dtype(before)
        torch.testing.assert_close(result, wanted, rtol=0, atol=0)
    with torch.device("meta"):
        torch.testing.assert_close(fast(rows), wanted, rtol=0, atol=0)


def test_models_are_optimized_whatever_the_defaults_are() -> None:
    layer, rows = nn.Linear(8, 8).eval(), data(3, 8)
    running.seconds_of_a_call.cache_clear()
    with torch.device("meta"):
        fast = optimize(layer, rows, threads=1, records=False)
    with torch.no_grad():
        torch.testing.assert_close(fast(rows), layer(rows))


def test_types_of_values_are_those_of_the_model_where_pytorch_takes_others() -> None:
    rows = data(3, 8)
    fast, wanted = fast_and_wanted(with_a_foreign_operator(), rows)
    assert fast.foreign_operators > 0
    with torch.autocast("cpu", dtype=torch.bfloat16):
        torch.testing.assert_close(fast(rows), wanted, rtol=0, atol=0)
    model = Computed(lambda m, x: m.layer(functional.conv3d(x, m.filters).flatten(1)), filters=data(2, 1, 2, 2, 2))
    model.layer = nn.Linear(16, 4)
    images = data(2, 1, 3, 3, 3)
    fast, wanted = fast_and_wanted(model, images)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        torch.testing.assert_close(fast(images), wanted, rtol=0, atol=0)


def test_a_tensor_that_is_passed_twice_stands_for_two() -> None:
    model, rows = Computed(lambda m, x, y: x @ m.weight + y, weight=data(4, 4)).eval(), data(2, 4)
    fast = check(model, rows, rows)
    with torch.no_grad():
        torch.testing.assert_close(fast(rows, 2 * rows + 1), model(rows, 2 * rows + 1))
        fast = check(model, model.weight[:2], model.weight[:2])
        torch.testing.assert_close(fast(rows, 2 * rows + 1), model(rows, 2 * rows + 1))


def test_later_changes_of_weights_have_no_effect_on_foreign_operators() -> None:
    model = Computed(lambda m, i, x: (functional.embedding(i, m.table) @ m.weight + x, m.table),
                     table=data(5, 4), weight=data(4, 4))  # fmt: skip
    indices = torch.tensor([0, 1, 2])
    fast, wanted = fast_and_wanted(model, indices, data(3, 4))
    wanted = [each.clone() for each in wanted]
    with torch.no_grad():
        model.table.mul_(2)
    torch.testing.assert_close(list(fast(indices, data(3, 4))), wanted, rtol=0, atol=0)


def test_results_that_are_constants_are_new_at_each_call() -> None:
    model = Computed(lambda m, x: (x @ m.weight, torch.zeros(3), m.weight), weight=data(4, 4))
    fast, _ = fast_and_wanted(model, data(3, 4))
    for result in (fast(data(3, 4)), fast(data(3, 4))):
        assert result[1].eq(0).all()
        torch.testing.assert_close(result[2], model.weight.detach())
        for each in result:
            each.add_(1)


def test_negated_views_are_read_with_their_sign() -> None:
    rows = data(3, 8)
    fast, _ = fast_and_wanted(nn.Linear(8, 8), rows)
    torch.testing.assert_close(fast(torch._neg_view(rows)), fast(-rows), rtol=0, atol=0)
    imaginary = torch.complex(torch.zeros(3, 8), rows).conj().imag
    torch.testing.assert_close(fast(imaginary), fast(-rows), rtol=0, atol=0)


def test_tensors_without_elements_in_memory_are_refused() -> None:
    rows = data(3, 8)
    fast, _ = fast_and_wanted(nn.Linear(8, 8), rows)
    with torch._subclasses.FakeTensorMode() as mode:
        fake = mode.from_tensor(rows)
    for other, message in ((rows.to_sparse(), "stored as torch.sparse_coo"), (rows.to_mkldnn(), "stored as"),
                           (fake, "a FakeTensor")):  # fmt: skip
        with pytest.raises(polydl.PolydlError, match=message):
            fast(other)
    with pytest.raises(polydl.PolydlError, match=r"torch\.func"):
        torch.vmap(fast)(data(2, 3, 8))


def test_subclasses_with_elements_in_memory_are_taken() -> None:
    class Image(torch.Tensor):  # type: ignore[misc]
        pass

    rows = data(3, 8)
    fast, wanted = fast_and_wanted(nn.Linear(8, 8), rows)
    torch.testing.assert_close(fast(rows.as_subclass(Image)), wanted, rtol=0, atol=0)


def test_nothing_is_optimized_where_pytorch_chooses_types() -> None:
    with torch.autocast("cpu", dtype=torch.bfloat16), pytest.raises(polydl.PolydlError, match="autocast"):
        optimize(nn.Linear(8, 8).eval(), data(3, 8), threads=1, records=False, compare=False)


def test_numbers_are_those_of_the_example() -> None:
    rows = data(2, 4)
    for number in (2.5, float("nan")):
        fast, wanted = fast_and_wanted(Computed(lambda _, x, factor: x * factor), rows, number)
        torch.testing.assert_close(fast(rows, number), wanted, rtol=0, atol=0, equal_nan=True)
        for other in (torch.tensor([1.0, 2.0]), torch.tensor(2.5), None, 3.0):
            with pytest.raises(polydl.PolydlError, match=r"pass (2\.5|nan)"):
                fast(rows, other)


def test_the_operator_takes_no_other_inputs() -> None:
    rows = data(2, 8)
    fast, _ = fast_and_wanted(nn.Linear(8, 4), rows)
    number = fast._steps[0].number
    for given in ([rows.double()], [data(1, 1)], [], [rows, rows]):
        with pytest.raises(polydl.PolydlError, match="of a compiled program"):
            torch.ops.polydl.run(given, number)
    with pytest.raises(polydl.PolydlError, match="no compiled program"):
        torch.ops.polydl.run([rows], 10**9)


def test_programs_go_with_the_model() -> None:
    fast, _ = fast_and_wanted(nn.Linear(8, 4), data(2, 8))
    number, program = fast._steps[0].number, weakref.ref(fast._programs[0])
    del fast
    gc.collect()
    assert program() is None
    assert number not in running._PROGRAMS
    assert fast_and_wanted(nn.Linear(8, 4), data(2, 8))[0]._steps[0].number > number


@pytest.mark.parametrize("error", [AssertionError, ValueError, KeyError])
def test_models_that_take_no_doubles_are_optimized(error: type[Exception]) -> None:
    def checked(model: Any, x: Any) -> Any:
        if x.dtype != torch.float32:
            raise error("float32")
        return x @ model.weight

    assert check(Computed(checked, weight=data(4, 4)), data(2, 4)).report().accuracy is None
