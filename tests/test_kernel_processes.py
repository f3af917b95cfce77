"""The kernels of a model's nests come from several processes."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import polydl
from polydl.errors import OptionError
from polydl.models import kernels
from polydl.models import optimized_kernels as module
from polydl.models.kernels import KernelOptions, ModelSetting, OperatorNest
from polydl.models.optimized_kernels import optimized_kernels

pytestmark = pytest.mark.native


def nest(factor: int) -> OperatorNest:
    text = f"  for (int i = 0; i < 64; ++i)\n    b[i] = {factor}.0f * a[i];\n"
    return OperatorNest(f"void kernel(float b[64], const float a[64]) {{\n{text}}}\n")


def test_a_nest_keeps_its_loops_where_a_process_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    def ended(_: object, tasks: Sequence[OperatorNest], __: object) -> Iterator[tuple[OperatorNest, Any]]:
        return ((task, None) for task in reversed(tasks))

    monkeypatch.setattr(module, "answers", ended)
    nests, seen = [nest(2), nest(3)], list[tuple[int, int]]()
    machine, options = polydl.Machine.detect(threads=1), KernelOptions(records=False)
    found = optimized_kernels([*nests, *nests], machine, options, lambda *done: seen.append(done))
    assert list(found) == nests
    assert {each.choice for each in found.values()} == {"the loops as they are: the process that optimized it ended"}
    assert seen == [(0, 2), (1, 2), (2, 2)]


@pytest.mark.parametrize(
    "option", [{"budget": "5parsecs"}, {"budget": "0s"}, {"budget": "-1s"}, {"budget": 30}, {"numerics": "no"}]
)
def test_an_option_that_is_not_valid_is_refused_before_any_nest_is_there(option: dict[str, Any]) -> None:
    with pytest.raises(OptionError, match=r"is no budget|budget is 30|no numerics level"):
        KernelOptions(**option)


def test_an_option_that_is_not_valid_does_not_leave_the_loops_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> Any:
        raise OptionError("no such option", remedy="another one")

    monkeypatch.setattr(kernels, "_optimized", refused)
    setting = ModelSetting(polydl.Machine.detect(threads=1), KernelOptions(records=False), None)
    with pytest.raises(OptionError, match="no such option"):
        kernels.kernel(nest(2), setting)


@pytest.mark.slow
def test_kernels_that_several_processes_found_are_stored(tmp_path: Path) -> None:
    nests = [nest(factor) for factor in range(2, 6)]
    machine, options = polydl.Machine.detect(threads=1), KernelOptions(top_k=1, max_variants=2, records=tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = optimized_kernels(nests, machine, options)
        assert all(each.seconds is not None and each.compiled for each in found.values())
        assert optimized_kernels(nests, machine, options) == found
