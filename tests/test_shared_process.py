"""Kernels in one process: they are timed at one size after the other, and one that fails ends nothing but its size."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from execute_nests import HOSTILE, array, kernel, matmul, matmul_kernel, scop, statement

from polydl.execute.contract import Built, Finished, TimingPolicy
from polydl.execute.local import EXECUTOR
from polydl.execute.shared_process import SharedProcess
from polydl.execute.toolchain import Toolchain
from polydl.ir.statement import AccessKind

POLICY = TimingPolicy(rounds=3, minimum_sample_seconds=1e-3, budget_seconds=2.0, timeout_seconds=60.0)
FAILING = ("one-element", "beyond", "ahead", "input", "nan", "segfault", "exit", "abort", "syntax", "undefined")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Built]:
    kernels = [matmul_kernel("original"), *(HOSTILE[name] for name in ("reordered", *FAILING))]
    folder = tmp_path_factory.mktemp("kernels")
    return {each.kernel.id: each for each in EXECUTOR.build(kernels, Toolchain.find(), folder)}


@pytest.fixture(scope="module")
def process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedProcess]:
    with SharedProcess(1, POLICY, 1, tmp_path_factory.mktemp("process"), 1 << 24) as shared:
        yield shared


@pytest.mark.native
def test_kernels_are_timed_beside_each_other(built: dict[str, Built], process: SharedProcess) -> None:
    told: list[Finished] = []
    kernels = [built["original"], built["reordered"]]
    measured = process.measure(kernels, built["original"], matmul(), told.append)
    assert measured is not None
    assert [each.id for each in measured] == ["original", "reordered"]
    assert [each.measurement for each in told] == list(measured)
    assert {each.baseline_seconds for each in told} == {measured[0].seconds_median}
    for each in measured:
        assert each.status == "ok"
        assert each.error is not None
        assert each.error < 1e-5
        assert 1 <= len(each.samples) <= POLICY.rounds
        assert all(sample.seconds > 0 and min(sample.probe_gflops) > 0 for sample in each.samples)
    assert max(len(each.samples) for each in measured) == POLICY.rounds


@pytest.mark.native
@pytest.mark.parametrize("name", FAILING)
def test_where_one_fails_nothing_is_told(name: str, built: dict[str, Built], process: SharedProcess) -> None:
    told: list[Finished] = []
    kernels = [built[each] for each in ("original", "reordered", name)]
    assert process.measure(kernels, built["original"], matmul(), told.append) is None
    assert told == []
    assert process.measure(kernels[:2], built["original"], matmul()) is not None


@pytest.mark.native
def test_a_nest_that_needs_positive_numbers_gets_them(tmp_path: Path, process: SharedProcess) -> None:
    accesses: list[tuple[AccessKind, str, str]] = [("read", "x", "i"), ("write", "y", "i")]
    nest = scop("roots", [array("x", "float", 64), array("y", "float", 64)], [statement("S0", "i", (64,), accesses)])
    code = "void roots(float x[64], float y[64])\n{ for (int i = 0; i < 64; ++i) y[i] = __builtin_sqrtf(x[i]); }\n"
    roots = kernel(nest, "original", code)
    (library,) = EXECUTOR.build([roots], Toolchain.find(), tmp_path)
    measured = process.measure([library], library, nest)
    assert measured is not None
    assert measured[0].status == "ok"
