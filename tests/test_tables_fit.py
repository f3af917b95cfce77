"""Tables of benchmarks, of many nests, of libraries and of working sets fit the terminal, and lose nothing."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from library_kernels import DECISION, KERNELS
from marks import parametrized
from nest_factory import convolution, make_scop, matmul
from page_documents import document as run_document
from symbolic_nests import RANGES, product, symbolic
from test_explain import planned
from test_shown import longest

from polydl.cli import main
from polydl.execute.toolchain import Toolchain
from polydl.libraries.build import Library
from polydl.libraries.chosen import LibrarySettings
from polydl.libraries.decision import choose
from polydl.libraries.kernel import Kernel
from polydl.libraries.product import symbolic_product
from polydl.machine import Machine
from polydl.optimization.tuning import Tuned, TuningTask
from polydl.presentation.analysis import dependences_text
from polydl.presentation.library import library_text
from polydl.presentation.tuning import tuned_text
from polydl.reuse.working_sets import working_sets

RECORDED = Path(__file__).parent / "data" / "bench_results.json"


def test_a_benchmark_has_a_row_for_each_workload_and_peer(width: int) -> None:
    shown = CliRunner().invoke(main, ["bench", "--show", "--out", str(RECORDED)])
    assert shown.exit_code == 0
    assert longest(shown.output) <= width
    results = json.loads(RECORDED.read_text(encoding="utf-8"))["results"]
    assert results
    assert [name for name in results if name not in shown.output] == []
    peers = {peer for result in results.values() for peer in result["peers"]}
    assert peers
    words = shown.output.split()
    assert [peer for peer in peers if peer not in words] == []


def test_many_nests_have_their_times_and_folders(width: int, tmp_path: Path) -> None:
    names = ["resnet_03", "a_nest_of_a_program_whose_name_says_all_of_its_sizes_1x64x56x56.c", "refused.c"]
    results = [
        Tuned(
            TuningTask(name, tmp_path / f"folder_{number}"),
            f"AuthenticAMD-25-{number}-1-32K-1024K-32768K",
            "ok" if number < 2 else "failed",
            "" if number < 2 else "no candidate passed",
            run_document() if number < 2 else None,
            answered=number == 1,
            seconds=4.0,
        )
        for number, name in enumerate(names)
    ]
    text = tuned_text(results)
    assert longest(text) <= width
    joined = "".join(text.split())
    assert all("".join(name.split()) in joined for name in ("resnet_03", "refused.c", "failed", "folder_1"))
    assert "3 nests: 2 optimized, 1 failed; 1 were answered before" in text


@parametrized("verbose", [False, True], quick=2)
def test_a_library_has_its_kernels_and_the_shapes_that_lose_most(width: int, verbose: bool, tmp_path: Path) -> None:
    text = product().replace("int K,", "int K, int lda,").replace("A[M][K]", "A[M][lda]")
    nest = symbolic(text, tmp_path, (*RANGES, "lda=K.."))
    kernels = {name: Kernel(blocking=blocking) for name, blocking in KERNELS.items()}
    shapes = tuple({"M": m, "N": n, "K": k} for m in (1, 25, 60) for n in (2, 50) for k in (9, 40))
    # The kernel that the decision takes is the slowest one, more so for few terms.
    times = tuple(
        {**dict.fromkeys(kernels, 1e-6), "original": 1e-6, choose(DECISION, shape): 1e-6 * (1 + 9 / shape["K"])}
        for shape in shapes
    )
    files = {kind: Path(f"out/gemm_polydl.{kind}") for kind in ("c", "h", "so", "json", "cmake", "pc")}
    library = Library(
        nest, symbolic_product(nest), Machine.detect(threads=1), Toolchain(Path("gcc"), "gcc", "12.2", ()), kernels,
        DECISION, shapes, times, kernels, LibrarySettings(10, 1.1, 0, False, 60.0), lambda _: nest.scop, files, "gemm",
    )  # fmt: skip
    text = library_text(library, verbose=verbose)
    assert longest(text) <= width
    joined = "".join(text.split())
    assert all("".join(kernel.words(nest, library.product).split()) in joined for kernel in kernels.values())
    assert "at most 2.00 times as long as the fastest kernel at 12 measured shapes" in " ".join(text.split())
    assert "--max-slowdown 1.1: more --shapes may help" in " ".join(text.split())
    full = replace(library, settings=replace(library.settings, max_kernels=len(kernels)))
    assert "more --max-kernels may help" in " ".join(library_text(full, verbose=verbose).split())
    losing = [line for line in text.splitlines() if line.split()[2:3] == ["9"]]
    assert len(losing) == (6 if verbose else 4)
    assert ("if (M * N <= 120)" in text) == verbose


@pytest.mark.parametrize("deep", [False, True])
def test_working_sets_name_references_and_remedies(width: int, deep: bool) -> None:
    scop = make_scop([convolution(14, 16, 8, 3) if deep else matmul(40, 50, 60)])
    plan = planned(scop)
    machine = Machine.detect(cache_sizes="1K,16K", threads=1)
    text = dependences_text(scop, plan, working_sets(scop, plan.schedule, (1024, 16384)), machine)
    assert longest(text) <= width
    assert ("filter" if deep else "B[k][j]") in text
    assert " to " in text
